//! ECN at the sender: RFC 3168 sections 6.1.2, 6.1.5 and 6.1.6, and Linux's `tcp_enter_cwr`.
//!
//! - An ECN-Echo lowers the windows as a loss does, once in a window of data, and a loss that was
//!   answered in the same window counts. The window law says how far
//!   ([`Window::on_ecn`](crate::recovery::window::Window::on_ecn)).
//! - cwnd becomes ssthresh at once, or follows it ACK by ACK where regulation spreads the reduction
//!   over a round trip ([`Regulate::enters_cwr`](crate::recovery::regulate::Regulate::enters_cwr)).
//!   That ends when more than `cwr_point` is acknowledged, so that CWR has reached the receiver
//!   (`tcp_fastretrans_alert`). A loss found meanwhile lowers nothing again: its recovery goes on
//!   with the same reduction (`tcp_enter_recovery`).
//! - Linux asks the state alone: what is not CWR, Recovery or Loss becomes CWR
//!   ([`Regulate::cwr_is_a_state`](crate::recovery::regulate::Regulate::cwr_is_a_state)).
//! - The first new data after a reduction, for whatever reason, carries CWR.
//! - New data is ECN-capable. Retransmissions, pure ACKs, window probes and a FIN without data are
//!   not, and they carry no CWR (`tcp_ecn_send`). New data into a small window is a window probe
//!   (section 6.1.6), but to Linux it is data (`tcp_write_wakeup`).
//! - cwnd is not lowered below what the window law says, which is two segments. So the rule for
//!   cwnd of one segment, to wait for the timer, does not arise.

use super::machine::Sender;
use crate::event::{Cause, EventKind};
use crate::segment::{Codepoint, Ecn};
use crate::state::Phase;
use crate::summary::AckSummary;

/// ECN of a segment of `len` new bytes that was just sent.
pub(super) fn of_new(c: &mut Sender, cause: Cause, len: u32) -> Ecn {
    let fin_alone = c.s.fin && len == 1 && c.s.snd_max == c.s.written;
    if (cause == Cause::WindowProbe && !c.wants.by_marks) || fin_alone {
        return Ecn::NONE;
    }
    Ecn::new(Codepoint::Ect0, false, core::mem::take(&mut c.cwr_due))
}

/// An ACK came outside recovery, and detection has judged.
#[inline(always)]
pub(super) fn respond(c: &mut Sender, a: &AckSummary) {
    if c.config.ecn && c.s.phase == Phase::Open {
        reduce(c, a);
    }
}

/// Whether the windows were lowered for this window of data already, or there is none.
fn answered(c: &Sender, a: &AckSummary) -> bool {
    if c.strategy.regulate.cwr_is_a_state() {
        return a.prior_flight == 0;
    }
    // 0 is where neither has happened yet.
    let lowered = c.s.cwr_point.max(c.s.recover);
    lowered > 0 && a.ack <= lowered
}

/// Whether a loss that is found now was answered with a mark.
pub(super) fn lowered(c: &Sender) -> bool {
    if c.strategy.regulate.cwr_is_a_state() { c.s.cwr } else { c.s.snd_una < c.s.cwr_point }
}

/// The point at which a recovery that begins now ends: in CWR that of CWR (`high_seq`, which
/// `tcp_enter_recovery` leaves alone then).
pub(super) fn recovery_point(c: &Sender) -> u64 {
    let in_cwr = c.s.cwr && c.strategy.regulate.cwr_is_a_state();
    if in_cwr { c.s.cwr_point } else { c.s.snd_max }
}

/// The mechanisms that undo hear of an ECN-Echo, and of a response that it begins.
#[inline(always)]
pub(super) fn note(c: &mut Sender, a: &AckSummary) {
    if a.ece {
        c.strategy.undo.iter_mut().for_each(|undo| undo.on_echo());
    }
}

fn reduce(c: &mut Sender, a: &AckSummary) {
    if c.s.cwr {
        return c.regulate_cwnd(a);
    }
    if !a.ece || answered(c, a) {
        return;
    }
    // What is lowered for a mark is not spurious (`tcp_enter_cwr`: `undo_marker` is 0).
    c.saved = None;
    for undo in &mut c.strategy.undo {
        undo.forget();
    }
    let cwnd_before = c.s.cwnd;
    c.stats.ecn_reductions += 1;
    c.cwr_due = true;
    c.s.ssthresh = c.strategy.window.on_ecn(&c.s, a.flight_size);
    c.s.cwr_point = c.s.snd_max;
    if c.strategy.regulate.enters_cwr() {
        c.s.cwr = true;
        let cwnd = c.strategy.regulate.on_enter(&c.s, a);
        c.set_cwnd(cwnd);
    } else if !c.wants.rates {
        // A law by rate sets cwnd itself.
        c.set_cwnd(c.s.cwnd.min(c.s.ssthresh));
    }
    c.event(EventKind::Reduced { cwnd_before });
}

/// Ends the reduction if this ACK does; whether cwnd is decided for this ACK.
#[inline(always)]
pub(super) fn leave(c: &mut Sender, a: &AckSummary) -> bool {
    let ends = c.s.cwr && c.s.snd_una > c.s.cwr_point;
    if ends {
        end(c, a);
    }
    ends
}

#[inline(never)]
fn end(c: &mut Sender, a: &AckSummary) {
    c.s.cwr = false;
    let cwnd = c.strategy.regulate.on_exit(&c.s, a);
    c.set_cwnd(cwnd);
}

/// All data that the reduction was spread over is acknowledged, and cwnd is about to restart after
/// an idle time: what regulation would still let go does not count beside it (RFC 5681 section
/// 4.1). Linux's CWR goes on.
pub(super) fn end_before_idle(c: &mut Sender) {
    if c.s.cwr && !c.strategy.regulate.cwr_is_a_state() {
        end(c, &AckSummary::default());
    }
}

/// Recovery begins: whether a reduction is under way, with which it goes on.
pub(super) fn goes_on(c: &mut Sender, a: &AckSummary) -> bool {
    let under_way = core::mem::take(&mut c.s.cwr);
    if under_way {
        // What a timer finds counts one segment delivered (`tcp_rack_reo_timeout`).
        c.regulate_cwnd(&AckSummary { delivered: a.delivered.max(1), ..*a });
        let room = c.s.cwnd.saturating_sub(c.regulated());
        // Linux retransmits as cwnd allows (`tcp_xmit_retransmit_queue`). Elsewhere that makes room
        // for one at least (`tcp_cwnd_reduction`).
        if c.strategy.regulate.cwr_is_a_state() && room < c.s.mss {
            (c.urgent, c.first_waits) = (None, true);
        }
    }
    under_way
}

/// A segment is sent while the reduction is under way.
pub(super) fn on_transmit(c: &mut Sender, cause: Cause, len: u64) {
    let cwnd = c.strategy.regulate.on_transmit(&c.s, cause, len);
    c.set_cwnd(cwnd);
}
