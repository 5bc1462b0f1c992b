//! Recovery: how it begins, what an ACK does within it, and how it ends.

use super::detection::{self, Found};
use super::machine::{Beyond, MOST_DUPACKS, Sender, Turn, Urgent};
use super::{by_rate, ecn};
use crate::event::{Cause, EventKind};
use crate::recovery::detect::Lost;
use crate::scoreboard::Judge;
use crate::state::Phase;
use crate::summary::AckSummary;
use crate::time::Time;

/// Asks detection on an ACK outside recovery, which may begin one.
pub(super) fn detect(c: &mut Sender, a: &mut AckSummary) {
    let found = detection::on_ack(c, a);
    a.retransmission_lost = found.retransmission;
    begin(c, a, found);
}

/// Detection has judged between two ACKs: on a deadline, or on a notice of the network.
pub(super) fn judge_between_acks(c: &mut Sender, lost: Lost) {
    c.turn = Turn::Any;
    let pipe = c.s.board.pipe();
    let found = detection::mark(c, lost);
    by_rate::between_acks(c);
    let fallen = pipe.saturating_sub(c.s.board.pipe());
    let after_timeout = c.s.phase == Phase::Loss && c.strategy.ambiguity.admits_after_timeout();
    if !c.s.recovering() || after_timeout {
        let a = AckSummary {
            ack: c.s.snd_una,
            prior_una: c.s.snd_una,
            prior_dupacks: c.s.dupacks,
            prior_flight: c.s.flight(),
            newly_lost: fallen,
            lost: found.segments,
            retransmission_lost: after_timeout && found.segments > 0,
            ..AckSummary::default()
        };
        begin(c, &a, found);
    } else if c.s.phase == Phase::Recovery && (fallen > 0 || found.any) {
        if found.retransmission {
            detection::lose_retransmission(c, found.head);
        }
        let cwnd = c.strategy.regulate.on_lost(&c.s, fallen);
        c.set_cwnd(cwnd);
    }
}

#[inline]
fn begin(c: &mut Sender, a: &AckSummary, found: Found) {
    if (found.head || found.any) && c.strategy.ambiguity.admits(&c.s, a) {
        enter(c, a, found.head);
    }
}

/// RFC 5681 section 3.2 steps 2 and 3, RFC 6582 section 3.2 step 2, RFC 6675 section 5 step 4.
/// `head`: the first unacknowledged segment is lost.
#[inline(never)]
fn enter(c: &mut Sender, a: &AckSummary, head: bool) {
    let flight = c.flight_size();
    c.save(false);
    ecn::note(c, a);
    if c.wants.times {
        c.strategy.timer.on_response(false);
    }
    c.stats.recoveries += 1;
    let lowered = ecn::lowered(c);
    c.s.recover = ecn::recovery_point(c);
    if !lowered {
        c.s.ssthresh = c.strategy.window.on_loss(&c.s, flight);
        c.cwr_due = c.config.ecn;
    }
    c.s.limited = 0;
    let by = c.strategy.detect.name();
    let first = if head {
        detection::lose(c, 0, Judge::Detect);
        Some(c.s.snd_una)
    } else {
        c.s.board.first_waiting().and_then(|index| c.s.board.get(index)).map(|r| r.seq)
    };
    // Selection by marks says whether it goes (`tcp_xmit_retransmit_queue`), before new data
    // (`REXMIT_LOST`).
    (c.urgent, c.first_waits) = match c.wants.by_marks {
        true => (None, true),
        false => (first.map(Urgent::fast_retransmit), false),
    };
    c.turn = Turn::Any;
    let pipe = c.s.board.pipe();
    if c.strategy.select.goes_back() {
        (c.s.phase, c.s.cwr) = (Phase::Loss, false);
        c.s.snd_nxt = c.s.snd_una;
        c.s.board.mark_all_lost(Time::NEVER);
        c.strategy.window.on_go_back(&c.s);
        c.set_cwnd(c.s.mss);
    } else {
        c.s.phase = Phase::Recovery;
        c.strategy.select.on_enter(&c.s);
        if !(lowered && ecn::goes_on(c, a)) {
            c.s.cwr = false;
            let cwnd = c.strategy.regulate.on_enter(&c.s, a);
            c.set_cwnd(cwnd);
        }
        if let Some(retransmission) = &mut c.strategy.retransmission {
            retransmission.on_enter(&c.s);
        }
        c.strategy.response.on_enter();
        if let Some(fill) = &mut c.strategy.fill {
            fill.on_enter(&c.s);
        }
    }
    // It takes the place of a probe.
    c.beyond.bytes = 0;
    c.event(EventKind::RecoveryEntered { recover: c.s.recover, flight, pipe, by });
}

/// An ACK that does not end recovery.
pub(super) fn within(c: &mut Sender, a: &mut AckSummary) {
    let mut found = detection::on_ack(c, a);
    let asked = c.strategy.select.on_ack(&c.s, a);
    // One timer for all may wait for the reordering window already.
    if asked.restart_timer && !c.timers.serves_all {
        c.restart_rto();
    }
    if asked.retransmit_head {
        if detection::lose(c, 0, Judge::Select) {
            // A partial ACK shows another loss (`tcp_newreno_mark_lost`).
            a.newly_lost += c.s.board.get(0).map_or(0, |head| u64::from(head.len));
            a.lost += 1;
        }
        c.urgent = Some(Urgent {
            seq: c.s.snd_una,
            cause: Cause::Recovery,
            judge: Judge::Select,
            replaces_lost: false,
        });
    }
    detection::judge_retransmission(c, a, &mut found);
    a.retransmission_lost = found.retransmission;
    if found.retransmission {
        detection::lose_retransmission(c, found.head);
    }
    // A filler draws a duplicate as the retransmission does: both on one ACK would feed each other
    // without end.
    c.may_fill = c.urgent.is_none();
    c.regulate_cwnd(a);
    // A marked segment is there to draw an ACK where nothing else does.
    if c.beyond.bytes > 0
        && (c.urgent.is_some() || c.s.cwnd.saturating_sub(c.regulated()) >= c.s.mss)
    {
        c.beyond.bytes = 0;
    }
}

/// An ACK ends recovery.
pub(super) fn leave(c: &mut Sender, a: &AckSummary) {
    let cwnd_before = c.s.cwnd;
    // What was undone has its windows back already, and ssthresh may be unset again
    // (tcp_end_cwnd_reduction).
    if !c.undone {
        let cwnd = c.strategy.regulate.on_exit(&c.s, a);
        let cwnd = c.strategy.response.on_exit(&c.s, cwnd);
        c.set_cwnd(cwnd);
    }
    // A recovery that began after a timeout may leave data still to be retransmitted.
    c.s.phase = if c.s.snd_nxt < c.s.snd_max { Phase::Loss } else { Phase::Open };
    c.urgent = None;
    c.s.limited = 0;
    let counted = c.strategy.probes.iter_mut().map(|p| p.on_exit(&c.s, a)).max();
    let counted = counted.unwrap_or(0).min(MOST_DUPACKS);
    // The counter is set, not raised: with SACK the ACK that ends recovery may be a duplicate in
    // itself.
    if counted > c.s.dupacks {
        c.s.assumed_dupacks = counted - c.s.dupacks;
        c.s.dupacks = counted;
        c.beyond = Beyond::new(c.s.mss, Cause::LimitedTransmit);
    }
    c.restart_rto();
    c.s.board.fit();
    c.event(EventKind::RecoveryLeft { by_timeout: false, cwnd_before });
}
