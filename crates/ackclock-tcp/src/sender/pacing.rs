//! Pacing: what the windows allow waits until its rate does.

use super::machine::Sender;
use crate::event::Cause;
use crate::state::Phase;
use crate::time::Time;

/// Whether what comes next has to wait; a deadline is set if there may be something to send then.
pub(super) fn holds(c: &mut Sender) -> bool {
    let Some(pacing) = &c.strategy.pacing else { return false };
    let at = pacing.next(&c.s);
    c.timers.pace_at = Time::NEVER;
    let by_timer = |cause| matches!(cause, Cause::Timeout | Cause::BackedOffTimeout);
    // What waits to be retransmitted may have been acknowledged meanwhile.
    if let Some(urgent) = c.urgent
        && !by_timer(urgent.cause)
        && c.s.board.get(c.s.board.find(urgent.seq)).is_none_or(|r| r.seq != urgent.seq || r.sacked)
    {
        c.urgent = None;
    }
    if at <= c.s.now || c.window_probe || c.urgent.is_some_and(|urgent| by_timer(urgent.cause)) {
        return false;
    }
    if c.s.snd_una == c.s.written {
        return true;
    }
    if c.urgent.is_some() || c.beyond.bytes > 0 || goes_on(c) {
        c.timers.pace_at = at;
    }
    true
}

/// Whether there is something to send for which the windows have room, as `transmit::by_phase` asks
/// it. What recovery would select is not known before it is asked.
fn goes_on(c: &Sender) -> bool {
    let s = &c.s;
    // The rest of a bundle goes though silly window avoidance would hold it back.
    let unsent = match s.window_edge.min(s.written).saturating_sub(s.snd_max) {
        0 => None,
        room if c.wants.segments => Some(room.min(s.mss)),
        _ => s.unsent_len().map(u64::from),
    };
    let (len, in_flight) = match s.phase {
        Phase::Open if c.wants.everywhere || s.cwr => (unsent.map(|_| s.mss), c.in_flight()),
        Phase::Open => (unsent, c.in_flight()),
        Phase::Loss if !c.wants.by_marks => (s.sequential_len().map(u64::from), c.flight_of_loss()),
        Phase::Recovery | Phase::Loss => (Some(s.mss), c.regulated()),
    };
    let Some(len) = len else { return false };
    // cwnd smaller than a segment must not stop a connection.
    let alone = match s.phase {
        Phase::Loss if !c.wants.by_marks => in_flight == 0,
        _ => s.board.is_empty(),
    };
    alone || in_flight + len <= s.cwnd.saturating_add(c.allowance(s.snd_nxt < s.snd_max))
}
