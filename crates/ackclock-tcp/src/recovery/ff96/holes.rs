//! Which hole goes next: Fall & Floyd 1996 section 3.4.

use crate::recovery::select::{Next, OnAck, Select, fill_hole};
use crate::state::State;
use crate::summary::AckSummary;

/// Any hole below the highest SACKed byte that was not retransmitted in this recovery, then new
/// data.
#[derive(Default)]
pub struct Ff96Holes {
    high_rxt: u64,
}

impl Select for Ff96Holes {
    fn name(&self) -> &'static str {
        "ff96-holes"
    }

    fn uses_sacks_after_timeout(&self) -> bool {
        false
    }

    fn on_enter(&mut self, s: &State) {
        self.high_rxt = s.board.head().map_or(s.snd_una, |r| r.end());
    }

    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> OnAck {
        OnAck { retransmit_head: false, restart_timer: a.newly_acked > 0 }
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        fill_hole(s, &mut self.high_rxt, s.board.highest_sacked(), |_| false)
            .or_else(|| s.can_send_sequential().then_some(Next::Sequential))
    }
}
