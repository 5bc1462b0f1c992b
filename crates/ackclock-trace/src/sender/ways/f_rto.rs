//! F-RTO (RFC 5682 section 2.1 step 2b, section 3.1 step 2; Linux `tcp_process_loss`): after a
//! timeout outside a recovery, on the first ACK that advances and leaves something outstanding, the
//! sender sends new data. Others go back and send again what follows.
//!
//! A sender with F-RTO that has nothing new to send, or no room for it at the receiver, goes back
//! too. So going back counts only if new data went out on an ACK before all of it was repaired:
//! then it had waited.

use crate::sender::stream::Stream;
use crate::ways::Evidence;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Over,
    /// The timer has expired.
    TimedOut,
    /// The first ACK after it has advanced.
    Advanced,
    /// Then old data went out. Was new data there?
    WentBack,
}

#[derive(Debug, Default)]
pub(super) struct FRto {
    step: Step,
    found: Evidence,
}

impl FRto {
    #[inline]
    pub fn is_open(&self) -> bool {
        self.step != Step::Over
    }

    /// The timer has expired; `open`: not in a recovery.
    pub fn timed_out(&mut self, open: bool) {
        self.step = if open { Step::TimedOut } else { Step::Over };
    }

    /// The next ACK comes: what the one before let out has gone.
    pub fn next_ack(&mut self) {
        if self.step == Step::Advanced {
            self.step = Step::Over;
        }
    }

    /// An ACK has advanced. `partial`: the slow start after a timeout goes on. `original`: data has
    /// arrived that was never sent again, so that a sender with F-RTO finds the timeout spurious.
    pub fn advanced(&mut self, partial: bool, original: bool, stream: &Stream) {
        self.step = match self.step {
            Step::TimedOut if partial && !original && !stream.rwnd_is_full() => Step::Advanced,
            Step::WentBack if partial => Step::WentBack,
            _ => Step::Over,
        };
    }

    /// New data goes out, `on_ack` or later.
    pub fn new_data(&mut self, on_ack: bool) {
        match self.step {
            Step::Advanced if on_ack => self.found.used += 1,
            Step::WentBack if on_ack => self.found.unused += 1,
            _ => {}
        }
        self.step = Step::Over;
    }

    /// Old data goes out in slow start.
    pub fn goes_back(&mut self, on_ack: bool) {
        self.step = match self.step {
            Step::Advanced if on_ack => Step::WentBack,
            Step::WentBack => Step::WentBack,
            _ => Step::Over,
        };
    }

    /// Something else goes out again.
    pub fn over(&mut self) {
        self.step = Step::Over;
    }

    pub fn found(&self) -> Evidence {
        self.found
    }
}
