//! Pacing: what the windows allow waits until its rate does.

use super::machine::Sender;
use crate::event::Cause;
use crate::state::State;
use crate::strategy::Strategy;
use crate::time::Time;

/// The rate may change.
pub(super) fn update(strategy: &mut Strategy, s: &State) {
    if let Some(pacing) = &mut strategy.pacing {
        pacing.update(s, strategy.window.pacing_rate(s));
    }
}

/// Whether what comes next has to wait; a deadline is set if there may be something to send then.
pub(super) fn holds(c: &mut Sender) -> bool {
    let Some(pacing) = &c.strategy.pacing else { return false };
    let at = pacing.next(&c.s);
    c.timers.pace_at = Time::NEVER;
    let by_timer = |cause| matches!(cause, Cause::Timeout | Cause::BackedOffTimeout);
    if at <= c.s.now || c.window_probe || c.urgent.is_some_and(|urgent| by_timer(urgent.cause)) {
        return false;
    }
    if c.s.snd_una == c.s.written {
        return true;
    }
    let room = c.s.recovering() || c.s.board.is_empty() || c.in_flight() < c.s.cwnd;
    let due = c.urgent.is_some() || c.beyond.bytes > 0;
    if due || (room && (c.s.recovering() || c.s.unsent_len().is_some())) {
        c.timers.pace_at = at;
    }
    true
}
