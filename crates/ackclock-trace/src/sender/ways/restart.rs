//! Slow start after idle time (RFC 5681 section 4.1; Linux's `tcp_slow_start_after_idle`): after a
//! pause of a retransmission timeout, the sender begins with the initial window again.
//!
//! What goes out before the first ACK after the pause is the window if more goes out on that ACK:
//! then it had waited. Half of what the window had been, or less, is a new beginning. A window that
//! has grown little, or that the receiver limits, says nothing. No more than the initial window
//! does not say that there was no new beginning: it does not go below that (`RW = min(IW, cwnd)`;
//! Linux's `tcp_cwnd_restart`).

use crate::sender::stream::Stream;
use crate::ways::Evidence;

#[derive(Clone, Copy, Debug, Default)]
enum Step {
    #[default]
    Over,
    /// Data goes out after a pause, from this position on. The window was so large before.
    Sending(u64, u64),
    /// The first ACK has come, after so many bytes.
    Acked(u64, u64),
}

#[derive(Debug, Default)]
pub(super) struct Restart {
    step: Step,
    found: Evidence,
}

impl Restart {
    #[inline]
    pub fn is_open(&self) -> bool {
        !matches!(self.step, Step::Over)
    }

    /// Data goes out from this position on, after a pause with nothing outstanding.
    pub fn resumes(&mut self, position: u64, stream: &Stream) {
        self.step = Step::Sending(position, stream.windows.cwnd());
    }

    /// An ACK comes; it is not yet taken in.
    pub fn acked(&mut self, ack: u64, stream: &Stream) {
        self.step = match self.step {
            Step::Sending(from, before) if ack > from && !stream.rwnd_is_full() => {
                Step::Acked(stream.outstanding.max().saturating_sub(from), before)
            }
            Step::Sending(from, before) if ack <= from => Step::Sending(from, before),
            _ => Step::Over,
        };
    }

    /// New data goes out, `on_ack` or later. `initial`: the initial window in bytes.
    pub fn new_data(&mut self, on_ack: bool, initial: u64) {
        let Step::Acked(sent, before) = self.step else { return };
        self.step = Step::Over;
        if on_ack {
            self.found.used += u32::from(sent <= before / 2);
            self.found.unused += u32::from(sent > (before / 4 * 3).max(initial));
        }
    }

    /// Something goes out again.
    pub fn over(&mut self) {
        self.step = Step::Over;
    }

    pub fn found(&self) -> Evidence {
        self.found
    }
}
