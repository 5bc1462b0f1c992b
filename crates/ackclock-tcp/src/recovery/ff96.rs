//! SACK TCP as K. Fall and S. Floyd, *Simulation-based Comparisons of Tahoe, Reno, and SACK TCP* (1996), section 3.4, had
//! it, and ns-2's `Sack1` after it: recovery begins on the third duplicate, and `pipe` counts segments, not their fates.

use crate::axes::{AckSummary, Next, Regulate, Select, Urgent};
use crate::event::Cause;
use crate::recovery::dupack::departed;
use crate::recovery::next_seg::fill_hole;
use crate::sender::State;

/// Any hole below the highest SACKed byte that was not sent again in this recovery, then new data.
#[derive(Default)]
pub struct Ff96Holes {
    high_rxt: u64,
}

impl Select for Ff96Holes {
    fn uses_sacks_after_timeout(&self) -> bool {
        false
    }

    fn on_enter(&mut self, s: &State) {
        self.high_rxt = s.board.head().map_or(s.snd_una, |r| r.end());
    }

    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> Urgent {
        Urgent { retransmit_head: false, restart_timer: a.newly_acked > 0 }
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        fill_hole(s, &mut self.high_rxt, s.board.highest_sacked())
            .or_else(|| s.can_send_sequential().then_some(Next::Sequential))
    }
}

/// "The variable pipe is incremented by one when the sender sends a packet [...] decremented by one when the sender
/// receives a dup ACK [...] for a partial ACK, decremented by two".
#[derive(Default)]
pub struct Ff96Pipe {
    pipe: u64,
}

impl Regulate for Ff96Pipe {
    fn in_flight(&self, _s: &State) -> u64 {
        self.pipe
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        // Three segments have left, and the one sent again replaces one that was lost: it is added when it is sent.
        let head = s.board.head().map_or(0, |r| u64::from(r.len));
        self.pipe = s.flight().saturating_sub(departed(s) + head);
        s.ssthresh
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        let left = if a.newly_acked > 0 { 2 * s.mss } else { s.mss };
        self.pipe = self.pipe.saturating_sub(left);
        s.cwnd
    }

    fn on_round_trip(&mut self, s: &State) -> u64 {
        // What was lost without ever being counted out must not hold everything back.
        self.pipe = self.pipe.min(s.cwnd);
        s.cwnd
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }

    fn on_transmit(&mut self, s: &State, _cause: Cause, len: u64) -> u64 {
        self.pipe += len;
        s.cwnd
    }
}
