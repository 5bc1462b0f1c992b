//! When did marks lower the window?
//!
//! An ECN-Echo lowers it once in a window of data, and not where a loss has done so in the same
//! window (RFC 3168 section 6.1.2). Whether the ACK has shown a loss is known by what goes out
//! next. Linux answers an echo also on the ACK that ends a recovery; here that counts for the
//! recovery.
//!
//! Away from the sender it is not known how much had gone out as an echo came. But CWR is on the
//! first new data after it (section 6.1.2), so that the window ends where that begins.

use ackclock_tcp::Time;

use super::input::Acked;
use super::recovery::phases::Phases;
use super::stream::Stream;

#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Up to where data had gone out when a mark last lowered the window; 0 before.
    point: u64,
    /// That is known once CWR comes by.
    waits: bool,
    /// Where the last CWR stood that nothing had waited for.
    cwr: u64,
    /// The reduction may be spread over a round trip (RFC 9937), and that is not over.
    under_way: bool,
    /// An echo that lowers the window unless the same ACK has shown a loss.
    pending: Option<Echo>,
    reductions: Vec<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Echo {
    at: Time,
    ack: u64,
    /// Up to where data had gone out.
    max: u64,
}

impl Marks {
    /// An ACK has been dealt with.
    #[inline]
    pub fn acked(&mut self, a: &Acked, stream: &mut Stream, phases: &Phases) {
        if a.ece || self.under_way || self.pending.is_some() {
            self.take(a, stream, phases);
        }
    }

    #[cold]
    fn take(&mut self, a: &Acked, stream: &mut Stream, phases: &Phases) {
        self.confirm(stream.terms.at_sender());
        if self.under_way && a.ack > self.point {
            self.under_way = false;
            stream.windows.lowered();
        }
        let point = self.point.max(phases.recovery_point());
        let later = !self.waits && (point == 0 || a.ack > point);
        if a.ece && later && phases.is_open() && a.ack == stream.outstanding.una() {
            self.pending = Some(Echo { at: a.at, ack: a.ack, max: stream.outstanding.max() });
            stream.windows.lowered();
        }
    }

    /// Something was retransmitted: a loss has been found unless the phase is still `open`.
    #[inline]
    pub fn retransmitted(&mut self, open: bool) {
        if !open {
            self.pending = None;
        }
    }

    fn confirm(&mut self, at_sender: bool) {
        if let Some(Echo { at, ack, max }) = self.pending.take() {
            // The round trip to the sender is an estimate: CWR may seem to come before the echo.
            let answered = !at_sender && self.cwr > ack;
            self.point = if answered { self.cwr } else { max };
            (self.under_way, self.waits) = (true, !at_sender && !answered);
            self.reductions.push(at);
        }
    }

    /// Data from here on goes out, and it has CWR.
    pub fn says_lowered(&mut self, position: u64, at_sender: bool) {
        self.confirm(at_sender);
        if self.waits {
            (self.point, self.waits) = (position, false);
        } else {
            self.cwr = position;
        }
    }

    /// Up to where data had gone out when a mark last lowered the window.
    pub fn point(&self) -> u64 {
        self.point.max(self.pending.map_or(0, |echo| echo.max))
    }

    pub fn into_all(mut self) -> Vec<Time> {
        self.confirm(true);
        self.reductions
    }
}
