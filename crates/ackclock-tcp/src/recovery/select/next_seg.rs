//! NextSeg of RFC 6675 section 4 (and of RFC 3517, which has no rule 4).
//!
//! A recovery may end with losses above its point that it has retransmitted itself. The next one
//! responds to them with the windows, and leaves them alone. Section 5 step 4.3 would send the
//! first of them again by its letter, "the segment starting with sequence number HighACK + 1", and
//! set HighRxt back to it. But it wants "the first data segment presumed dropped", and "to prevent
//! repeated retransmission of the same data"; what is on its way is not presumed dropped, and the
//! pipe counts it. So the first one that is not on its way is meant here, and HighRxt passes over
//! what is. That is more precise than a sender can be that keeps no segment boundaries, which
//! section 3 leaves open.

use super::{Next, OnAck, Select};
use crate::scoreboard::Record;
use crate::state::State;
use crate::summary::AckSummary;

/// Which segment the pipe has room for.
pub struct NextSeg {
    rescue: bool,
    /// HighRxt: position after the highest byte retransmitted in this recovery.
    high_rxt: u64,
    /// RescueRxt, as a position after a byte: HighACK has to be beyond it before another rescue.
    rescue_rxt: u64,
}

impl NextSeg {
    /// All four rules.
    pub fn rfc6675() -> NextSeg {
        NextSeg { rescue: true, high_rxt: 0, rescue_rxt: 0 }
    }

    /// Rules 1 to 3.
    pub fn rfc3517() -> NextSeg {
        NextSeg { rescue: false, ..NextSeg::rfc6675() }
    }
}

/// Retransmits the first segment from `high_rxt` up to `below` that is not SACKed, nor one of those
/// left out. Moves `high_rxt` past it and past the others, which need no second look. Below
/// `judged` of the scoreboard such a segment is lost (rule 1); up to the highest SACKed byte it
/// need not be (rule 3).
pub(crate) fn fill_hole(
    s: &State,
    high_rxt: &mut u64,
    below: u64,
    left_out: impl Fn(&Record) -> bool,
) -> Option<Next> {
    // It is where a segment ends, and the next one begins.
    if *high_rxt >= below {
        return None;
    }
    let mut index = s.board.find(*high_rxt);
    while let Some(r) = s.board.get(index) {
        if r.seq >= below {
            return None;
        }
        *high_rxt = (*high_rxt).max(r.end());
        if !r.sacked && !left_out(r) {
            return Some(Next::Retransmit { index, counts: true });
        }
        index += 1;
    }
    None
}

impl Select for NextSeg {
    fn name(&self) -> &'static str {
        if self.rescue { "next-seg" } else { "next-seg-3517" }
    }

    fn on_enter(&mut self, s: &State) {
        // Section 5 step 4.3: both are set to the end of the first retransmission.
        let first = s.board.get(s.board.first_waiting().unwrap_or(0));
        let end = first.map_or(s.snd_una, |r| r.end());
        self.high_rxt = end;
        self.rescue_rxt = end;
    }

    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> OnAck {
        // RFC 6298 section 5.3.
        OnAck { retransmit_head: false, restart_timer: a.newly_acked > 0 }
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        let highest_sacked = s.board.highest_sacked();
        let on_its_way = |r: &Record| r.retransmitted;
        let lost_below = s.board.judged().min(highest_sacked);
        let by_rule = fill_hole(s, &mut self.high_rxt, lost_below, on_its_way)
            .or_else(|| s.can_send_sequential().then_some(Next::Sequential))
            .or_else(|| fill_hole(s, &mut self.high_rxt, highest_sacked, on_its_way));
        if by_rule.is_some() {
            return by_rule;
        }
        // Rule 4: "If HighACK is greater than RescueRxt"; HighRxt is not updated, so the pipe does
        // not count it.
        if self.rescue && s.snd_una > self.rescue_rxt {
            let index =
                (0..s.board.len()).rev().find(|&i| s.board.get(i).is_some_and(|r| !r.sacked))?;
            self.rescue_rxt = s.recover;
            return Some(Next::Retransmit { index, counts: false });
        }
        None
    }
}
