//! The pipe of ns-2.35 (`tcp-sack1.cc`).

use crate::recovery::ff96::Ff96Pipe;
use crate::recovery::regulate::Regulate;
use crate::state::State;
use crate::summary::AckSummary;

/// Fall and Floyd's pipe, held at half of the window.
#[derive(Default)]
pub struct Ns2Pipe {
    inner: Ff96Pipe,
}

impl Regulate for Ns2Pipe {
    fn inner(&self) -> Option<&dyn Regulate> {
        Some(&self.inner)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Regulate> {
        Some(&mut self.inner)
    }

    fn in_flight(&self, s: &State) -> u64 {
        self.inner.in_flight(s)
    }

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.inner.on_enter(s, a);
        s.window() / 2
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.inner.on_ack(s, a)
    }

    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.inner.on_exit(s, a)
    }
}
