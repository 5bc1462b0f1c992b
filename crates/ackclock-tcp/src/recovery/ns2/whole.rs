//! Halving in whole packets (`slowdown` in `tcp.cc` with `precisionReduce_ 0`).

use alloc::boxed::Box;

use crate::recovery::regulate::Regulate;
use crate::state::State;
use crate::summary::AckSummary;

/// A regulation that begins recovery with cwnd in whole segments.
pub struct Ns2Whole(pub Box<dyn Regulate>);

impl Regulate for Ns2Whole {
    fn inner(&self) -> Option<&dyn Regulate> {
        Some(&*self.0)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Regulate> {
        Some(&mut *self.0)
    }

    fn in_flight(&self, s: &State) -> u64 {
        self.0.in_flight(s)
    }

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.0.on_enter(s, a) / s.mss * s.mss
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.0.on_ack(s, a)
    }

    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.0.on_exit(s, a)
    }
}
