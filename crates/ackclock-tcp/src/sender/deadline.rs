//! What time does: detection's deadline, probes, the retransmission timer, the persist timer.

use super::machine::{Sender, Turn, Urgent};
use super::timers::WaitsFor;
use super::{by_rate, one_timer, repair};
use crate::event::{Cause, EventKind, TimeoutClass};
use crate::recovery::probe::ProbeNow;
use crate::scoreboard::Judge;
use crate::state::Phase;
use crate::time::Time;

pub(super) fn on_deadline(c: &mut Sender) {
    let now = c.s.now;
    c.quiet = false;
    if c.timers.serves_all {
        if c.timers.rto_at <= now {
            expire(c);
        }
        return persist(c);
    }
    if c.strategy.detect.deadline() <= now {
        let lost = c.strategy.detect.on_deadline(&c.s);
        repair::judge_between_acks(c, lost);
    }
    for i in 0..c.strategy.probes.len() {
        let due = c.strategy.probes[i].deadline(&c.s);
        let comes = due != Time::NEVER && due.min(c.timers.rto_at) <= now;
        let what = if comes { c.strategy.probes[i].on_deadline(&c.s) } else { ProbeNow::Nothing };
        if what != ProbeNow::Nothing {
            c.probe(what);
            // RFC 8985 section 7.3: the timer starts anew with the probe.
            if !c.s.board.is_empty() {
                c.start_rto();
            }
        }
    }
    if c.timers.rto_at <= now {
        on_timeout(c);
    }
    persist(c);
}

/// The one timer has expired (`tcp_write_timer_handler`).
fn expire(c: &mut Sender) {
    c.no_xmit = true;
    match c.timers.waits_for {
        WaitsFor::Retransmission => on_timeout(c),
        WaitsFor::Reordering => {
            let lost = c.strategy.detect.on_deadline(&c.s);
            repair::judge_between_acks(c, lost);
            if !one_timer::probes_within_recovery(c) {
                one_timer::rearm(c);
            }
        }
        WaitsFor::Probe => match one_timer::probe(c) {
            ProbeNow::Nothing => one_timer::rearm(c),
            now => {
                c.probe(now);
                c.start_rto();
            }
        },
    }
}

fn persist(c: &mut Sender) {
    if c.timers.persist_at <= c.s.now {
        c.timers.persist_backoff += 1;
        c.timers.persist_at = Time::NEVER;
        c.window_probe = true;
        c.arm_persist();
    }
}

/// RFC 6298 section 5.4 to 5.6 and RFC 5681 section 3.1.
fn on_timeout(c: &mut Sender) {
    c.turn = Turn::Any;
    let Some(&head) = c.s.board.head() else {
        c.timers.rto_at = Time::NEVER;
        return;
    };
    // RFC 5681 section 3.1: "already been retransmitted by way of the retransmission timer at least
    // once".
    let repeated = c.s.timed_out == Some(c.s.snd_una);
    let class = classify(c, repeated, head.transmissions, head.first_sent);
    let flight = c.flight_size();
    let event = EventKind::TimedOut {
        seq: head.seq,
        class,
        backoff: c.timers.backoff,
        flight: c.s.flight(),
        cwnd_before: c.s.cwnd,
        rto: c.timers.rto().0,
    };
    c.stats.timeouts += 1;
    c.stats.timeouts_by_class[class as usize] += 1;
    c.save(true);
    if c.s.phase == Phase::Recovery {
        c.event(EventKind::RecoveryLeft { by_timeout: true, cwnd_before: c.s.cwnd });
        if let Some(cwnd) = c.strategy.regulate.deflated(&c.s) {
            c.set_cwnd(cwnd);
        }
    }
    c.s.ssthresh = c.strategy.window.on_timeout(&c.s, flight, repeated);
    c.s.timed_out = Some(c.s.snd_una);
    // RFC 2018 section 8: the receiver may have discarded what it had SACKed.
    if !c.strategy.detect.keeps_sacks(&c.s) {
        c.s.board.forget_sacks();
    }
    by_rate::before_expiry(c);
    let sent_by = c.strategy.detect.on_timeout(&c.s);
    c.s.board.mark_all_lost(sent_by);
    c.s.board.fit();
    c.s.phase = Phase::Loss;
    c.s.recover = c.s.snd_max;
    (c.s.cwr, c.cwr_due) = (false, c.config.ecn);
    if c.strategy.detect.recounts() {
        c.s.dupacks = 0;
    }
    (c.s.assumed_dupacks, c.s.emulated) = (0, 0);
    c.s.limited = 0;
    let cwnd = c.strategy.regulate.on_timeout(&c.s);
    c.set_cwnd(cwnd);
    by_rate::on_expired(c);
    if !c.wants.by_marks {
        c.s.snd_nxt = c.s.snd_una;
    }
    c.timers.backoff += 1;
    if c.timers.serves_all {
        c.timers.persist_backoff += 1;
    }
    if c.wants.times {
        c.strategy.timer.on_response(true);
    }
    let cause = if repeated { Cause::BackedOffTimeout } else { Cause::Timeout };
    c.urgent = Some(Urgent { seq: c.s.snd_una, cause, judge: Judge::Nobody, replaces_lost: false });
    c.start_rto();
    c.event(event);
}

/// Lin & Kung section 4.1: the segment itself had been retransmitted already; or others have been
/// since it was first sent; or none has.
fn classify(c: &Sender, repeated: bool, transmissions: u16, first_sent: Time) -> TimeoutClass {
    if repeated {
        TimeoutClass::BackedOff
    } else if transmissions > 1 {
        TimeoutClass::LostRetransmission
    } else if c.last_retransmission.is_some_and(|t| t > first_sent) {
        TimeoutClass::MultipleLosses
    } else {
        TimeoutClass::NonTrigger
    }
}
