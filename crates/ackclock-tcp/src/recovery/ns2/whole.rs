//! Halving in whole packets (`slowdown` in `tcp.cc` with `precisionReduce_ 0`).

use alloc::boxed::Box;

use crate::recovery::regulate::Regulate;
use crate::recovery::wraps;
use crate::state::State;
use crate::summary::AckSummary;

/// A regulation that begins recovery with cwnd in whole segments.
pub struct Ns2Whole(pub Box<dyn Regulate>);

impl Regulate for Ns2Whole {
    wraps!(self.0: Regulate; in_flight, on_ack, on_exit);

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.0.on_enter(s, a) / s.mss * s.mss
    }
}
