//! One timer for three ends (RFC 8985 section 8; Linux's `icsk_retransmit_timer`): retransmission,
//! a probe, or the end of RACK's reordering window. It waits for one of them at a time, where
//! [`Timer::serves_all`](crate::recovery::timer::Timer::serves_all) says so.
//!
//! `rto_at` is when it expires, whatever it waits for.
//!
//! Almost every plain ACK lets new data out at once, which sets the timer anew. So such an ACK
//! leaves its own setting (`restart`) until nothing more goes out, or until the next input.

use super::machine::Sender;
use super::timers::WaitsFor;
use crate::recovery::probe::ProbeNow;
use crate::state::Phase;
use crate::time::{Span, Time};

/// Detection waits for the end of the reordering window, and so for nothing else
/// (`tcp_rack_mark_lost`).
pub(super) fn wait_for_reordering(c: &mut Sender) {
    if c.strategy.detect.armed() {
        let wait = c.strategy.detect.deadline().since(c.s.now).min(c.timers.rto());
        set(c, WaitsFor::Reordering, wait);
        c.timers.restart = false;
    }
}

/// An ACK has been dealt with (`tcp_set_xmit_timer`).
pub(super) fn after_ack(c: &mut Sender) {
    if core::mem::take(&mut c.timers.restart) && !c.s.board.is_empty() {
        let (waits_for, at) = restarted(c);
        expire_at(c, waits_for, at);
    } else if c.timers.waits_for == WaitsFor::Probe {
        // What was delivered may put off a probe within recovery.
        probes_within_recovery(c);
    }
}

/// Does what a plain ACK has left.
#[inline(always)]
pub(super) fn settle(c: &mut Sender) {
    if c.timers.restart {
        after_ack(c);
    }
}

/// When the timer expires once that is done.
#[cold]
pub(super) fn once_settled(c: &Sender) -> Time {
    if c.timers.runs { restarted(c).1 } else { c.timers.rto_at }
}

/// What the timer waits for after an ACK that restarts it, and until when.
fn restarted(c: &Sender) -> (WaitsFor, Time) {
    match probe_in(c) {
        Some(wait) => {
            let latest = c.strategy.timer.expiry(&c.s, c.timers.rto());
            (WaitsFor::Probe, after(c, wait).min(latest))
        }
        None => (WaitsFor::Retransmission, rearmed(c)),
    }
}

/// New data was sent; `first`: nothing was outstanding (`tcp_event_new_data_sent`, and then
/// `tcp_schedule_loss_probe`).
#[inline(never)]
pub(super) fn after_new(c: &mut Sender, first: bool) {
    match probe_in(c) {
        Some(wait) => {
            let rest = Some(from_head(c)).filter(|rest| *rest > Span::ZERO);
            set(c, WaitsFor::Probe, rest.map_or(wait, |rest| wait.min(rest)));
            c.timers.restart = false;
        }
        None => after_new_without_probe(c, first),
    }
}

/// The same where no probe is to come. A function of its own, since almost always one is.
#[inline(never)]
fn after_new_without_probe(c: &mut Sender, first: bool) {
    settle(c);
    if first || c.timers.waits_for == WaitsFor::Probe {
        rearm(c);
    }
}

/// A window probe went, or an ACK came while nothing was outstanding (`tcp_send_probe0`,
/// `tcp_ack_probe`): the next probe waits from now on. A window that is open ends the back-off.
pub(super) fn wait_for_window(c: &mut Sender) {
    if !c.timers.serves_all {
        return;
    }
    if c.timers.persist_at == Time::NEVER {
        c.timers.persist_backoff = 0;
    } else {
        c.timers.persist_at = after(c, c.timers.persist_interval());
    }
}

/// The first unacknowledged segment was retransmitted (`tcp_xmit_retransmit_queue`).
pub(super) fn after_head(c: &mut Sender) {
    if c.timers.waits_for != WaitsFor::Reordering && !probes_within_recovery(c) {
        c.start_rto();
    }
}

/// The retransmission timer expires so soon, whatever an ACK or new data would set it to
/// (`tcp_check_sack_reneging`).
pub(super) fn expire_in(c: &mut Sender, wait: Span) {
    set(c, WaitsFor::Retransmission, wait);
    c.timers.restart = false;
}

/// What goes as the timer has waited for a probe: the one that was due first.
pub(super) fn probe(c: &mut Sender) -> ProbeNow {
    let first = c.strategy.probes.iter_mut().min_by_key(|probe| probe.deadline(&c.s));
    match first.filter(|probe| probe.deadline(&c.s) != Time::NEVER) {
        Some(probe) => probe.on_deadline(&c.s),
        None => ProbeNow::Nothing,
    }
}

/// How soon a probe is due; `None` if there is none to come.
#[inline(always)]
fn probe_in(c: &Sender) -> Option<Span> {
    let mut due = Time::NEVER;
    for probe in &c.strategy.probes {
        due = due.min(probe.deadline(&c.s));
    }
    (due != Time::NEVER).then(|| due.since(c.s.now))
}

/// Waits for a probe within recovery only; whether there is one to come. No probe of Linux is.
pub(super) fn probes_within_recovery(c: &mut Sender) -> bool {
    if c.s.phase != Phase::Recovery {
        return false;
    }
    let wait = probe_in(c);
    if let Some(wait) = wait {
        let latest = c.strategy.timer.expiry(&c.s, c.timers.rto());
        expire_at(c, WaitsFor::Probe, after(c, wait).min(latest));
    }
    wait.is_some()
}

/// `tcp_rearm_rto`: if the timer waited for something else, the timeout runs from when the first
/// unacknowledged segment was last sent.
pub(super) fn rearm(c: &mut Sender) {
    let at = rearmed(c);
    expire_at(c, WaitsFor::Retransmission, at);
}

fn rearmed(c: &Sender) -> Time {
    if c.timers.rto_at == Time::NEVER || c.timers.waits_for == WaitsFor::Retransmission {
        c.strategy.timer.expiry(&c.s, c.timers.rto())
    } else {
        after(c, from_head(c).max(Span::from_micros(1)))
    }
}

/// What is left of the timeout since the first unacknowledged segment was last sent
/// (`tcp_rto_delta_us`, which compares microseconds).
fn from_head(c: &Sender) -> Span {
    let sent = c.s.board.head().map_or(c.s.now, |head| head.last_sent);
    let elapsed = Span::from_micros(c.s.now.micros() - sent.micros());
    Span(c.timers.rto().0.saturating_sub(elapsed.0))
}

/// No wait is longer than a timeout may be (`inet_csk_reset_xmit_timer`).
fn after(c: &Sender, wait: Span) -> Time {
    c.strategy.timer.after(c.s.now, c.s.tick_phase, wait.min(c.timers.max))
}

fn set(c: &mut Sender, waits_for: WaitsFor, wait: Span) {
    let at = after(c, wait);
    expire_at(c, waits_for, at);
}

fn expire_at(c: &mut Sender, waits_for: WaitsFor, at: Time) {
    if c.timers.runs {
        (c.timers.waits_for, c.timers.rto_at) = (waits_for, at);
    }
}
