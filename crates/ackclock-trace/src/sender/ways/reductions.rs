//! The window law: what a recovery leaves of the window. To a half (RFC 5681 section 3.1), or to
//! seven tenths (CUBIC, RFC 9438 section 4.6; `bictcp_recalc_ssthresh`).
//!
//! Compared are two flights that cwnd has limited: the network's share of it when the recovery
//! begins, and the most in the round trip after its end. The second is the lowered window and at
//! most what a round trip adds, a segment; both are whole segments. So a factor fits if it lies
//! between the ratios that a segment more or less makes.

use ackclock_tcp::Time;

use crate::connection::Kind;
use crate::sender::stream::Stream;
use crate::ways::{Law, Reductions};

/// From this flight on, in segments, both factors are apart by more than what they are uncertain
/// by.
const LARGE: u64 = 16;

#[derive(Clone, Copy, Debug, Default)]
enum Step {
    #[default]
    Over,
    /// A recovery goes on that began with this flight.
    Recovery { before: u64 },
    /// It has ended. `after`: the most since then, up to `until`. `waited`: new data went out on
    /// ACKs.
    After { before: u64, after: u64, until: Time, waited: bool },
}

#[derive(Debug, Default)]
pub(super) struct Measured {
    step: Step,
    found: Reductions,
}

impl Measured {
    #[inline]
    pub fn is_open(&self) -> bool {
        matches!(self.step, Step::After { .. })
    }

    /// Something goes out again.
    pub fn retransmitted(&mut self, kind: Kind, stream: &Stream) {
        self.step = match (kind, self.step) {
            (Kind::FastRetransmit, _) => {
                let (pipe, cwnd) = (stream.windows.pipe(), stream.windows.cwnd());
                let limited = pipe >= cwnd / 10 * 9 && !stream.rwnd_is_full();
                if limited { Step::Recovery { before: pipe } } else { Step::Over }
            }
            (Kind::Recovery, step @ Step::Recovery { .. }) => step,
            _ => Step::Over,
        };
    }

    /// A recovery has ended: its recovery point is acknowledged, or it was undone.
    pub fn recovered(&mut self, at: Time, complete: bool, stream: &Stream) {
        self.step = match self.step {
            Step::Recovery { before } if complete => {
                let until = at + stream.timers.srtt();
                Step::After { before, after: stream.windows.pipe(), until, waited: false }
            }
            _ => Step::Over,
        };
    }

    pub fn new_data(&mut self, on_ack: bool, stream: &Stream) {
        if let Step::After { after, waited, .. } = &mut self.step {
            *after = (*after).max(stream.windows.pipe());
            *waited |= on_ack;
            if stream.rwnd_is_full() {
                self.step = Step::Over;
            }
        }
    }

    pub fn next_ack(&mut self, at: Time, stream: &Stream) {
        if let Step::After { before, after, until, waited } = self.step
            && at >= until
        {
            if waited && before >= LARGE * u64::from(stream.terms.mss) {
                self.measured(before, after, u64::from(stream.terms.mss));
            }
            self.step = Step::Over;
        }
    }

    fn measured(&mut self, before: u64, after: u64, mss: u64) {
        let ratio = |after: u64, before: u64| after as f64 / before as f64;
        let (low, high) =
            (ratio(after.saturating_sub(2 * mss), before), ratio(after + mss, before));
        let fits = |law: Law| low <= law.factor() && law.factor() <= high;
        match (fits(Law::Half), fits(Law::SevenTenths)) {
            (true, false) => self.found.half += 1,
            (false, true) => self.found.seven_tenths += 1,
            (false, false) => self.found.other += 1,
            (true, true) => {}
        }
    }

    pub fn found(&self) -> Reductions {
        self.found
    }
}
