//! Recovering with limited data: D. Lin and H. T. Kung, *TCP Fast Recovery Strategies: Analysis and
//! Improvements* (INFOCOM 1998), section 6.5. It is sent in place of new data, so that ACKs keep
//! coming. NewReno needs it: its recovery lasts a round trip for each loss.
//!
//! With SACK neither way of section 6.5 draws a duplicate, which has to SACK something new (RFC
//! 6675 section 2). What is retransmitted may arrive where it was missing, but the ACKs stop all
//! the same.

use super::{Fill, Filler};
use crate::state::State;

/// "The sender should re-send the packets starting from the first unacknowledged packet at
/// snd_una."
///
/// Inferred: it goes on where it was when `snd_una` advances, and begins anew at the end. It leaves
/// out what is SACKed, and what the same ACK retransmits anyway.
///
/// What the paper does not say: spurious retransmissions draw duplicates, which may come after the
/// end of recovery. Three of them begin another recovery for data written since, unless `bugfix`
/// refuses them. And `b2b` takes new data that was sent before them for missing.
#[derive(Default)]
pub struct Resend {
    next: u64,
}

impl Fill for Resend {
    fn on_enter(&mut self, s: &State) {
        self.next = s.snd_una;
    }

    fn next(&mut self, s: &State) -> Option<Filler> {
        let (from, len) = (s.board.find(self.next), s.board.len());
        let useful = |&i: &usize| s.board.get(i).is_some_and(|r| !r.sacked && r.last_sent < s.now);
        let index = (from..len).chain(0..from).find(useful)?;
        self.next = s.board.get(index)?.end();
        Some(Filler::Retransmit { index })
    }
}
