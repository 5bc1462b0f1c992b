//! What an ACK releases that comes late (the ends of `recv` with `aggressive_maxburst_ 0`).

use alloc::boxed::Box;

use crate::recovery::regulate::Regulate;
use crate::recovery::wraps;
use crate::state::State;
use crate::summary::AckSummary;

/// A regulation by which an ACK below one that came before it releases nothing, also where
/// `maxburst_` has held segments back.
pub struct Ns2Late(pub Box<dyn Regulate>);

impl Regulate for Ns2Late {
    wraps!(self.0: Regulate; in_flight, on_enter, on_ack, on_exit);

    fn limits(&self) -> bool {
        true
    }

    fn most(&mut self, s: &State, a: &AckSummary) -> u32 {
        let most = self.0.most(s, a);
        // Nothing outstanding draws no further ACK, on which what is held back could go.
        if a.is_old() && !s.board.is_empty() { 0 } else { most }
    }
}
