//! What follows when a loss response turns out to be spurious.

use super::machine::{Beyond, Sender, Turn};
use crate::event::{Cause, EventKind};
use crate::recovery::undo::Verdict;
use crate::recovery::window::Windows;
use crate::state::Phase;
use crate::summary::AckSummary;

/// What follows from the verdicts.
#[derive(Clone, Copy, Default)]
pub(super) struct Judged {
    /// cwnd is decided for this ACK.
    pub cwnd_decided: bool,
    /// Nothing is judged lost on this ACK.
    pub hold: bool,
    /// An ECN-Echo of this ACK has no answer: `tcp_fastretrans_alert` does not open after
    /// `tcp_try_undo_partial`.
    pub ignores_ece: bool,
}

/// The first verdict on a response counts.
pub(super) fn judge(c: &mut Sender, a: &AckSummary) -> Judged {
    // What a notice says is lost is lost, and no timer would find it again.
    if !c.timers.runs {
        return Judged::default();
    }
    for i in 0..c.strategy.undo.len() {
        let verdict = c.strategy.undo[i].on_ack(&c.s, a);
        if verdict == Verdict::Open {
            continue;
        }
        let by = c.strategy.undo[i].name();
        let partial = c.s.phase == Phase::Recovery
            && matches!(verdict, Verdict::Restore { losses_stand: false, .. });
        let cwnd_decided = apply(c, verdict, by, a);
        if !matches!(verdict, Verdict::Retime { .. }) {
            return Judged { cwnd_decided, hold: verdict == Verdict::Hold, ignores_ece: partial };
        }
    }
    Judged::default()
}

/// Restores what was saved when the response began, unless a mechanism has another answer;
/// nothing is lost any more. Returns whether cwnd is decided for this ACK.
fn apply(c: &mut Sender, verdict: Verdict, by: &'static str, a: &AckSummary) -> bool {
    let ssthresh = c.s.ssthresh;
    let cwnd_decided = restore(c, verdict, by, a);
    if c.s.ssthresh > ssthresh && c.strategy.undo.iter().any(|undo| undo.withdraws_cwr()) {
        c.cwr_due = false;
    }
    cwnd_decided
}

fn restore(c: &mut Sender, verdict: Verdict, by: &'static str, a: &AckSummary) -> bool {
    match verdict {
        Verdict::Open => {}
        Verdict::Retime { srtt, rttvar } => {
            c.strategy.timer.retime(srtt, rttvar);
            c.take_estimates(c.strategy.timer.estimates());
            if !c.s.board.is_empty() {
                c.start_rto();
            }
        }
        // The response that they are about has given way to another one, or its slow start is over:
        // only there may `snd_nxt` lie below what was sent.
        Verdict::SendNew | Verdict::Needed if c.saved.is_none() || c.s.phase != Phase::Loss => {}
        Verdict::SendNew => {
            c.s.snd_nxt = c.s.snd_max;
            c.beyond = Beyond::new(2 * c.s.mss, Cause::FRto);
        }
        Verdict::Needed => c.s.snd_nxt = c.s.snd_una,
        Verdict::NewFirst => c.turn = Turn::NewFirst,
        Verdict::Hold => {
            c.strategy.detect.on_spurious(&c.s, a, false, false);
            c.turn = Turn::NothingAgain;
        }
        Verdict::Restore { windows, losses_stand, goes_on } => {
            c.s.timed_out = None;
            c.undone = goes_on;
            // What goes on may still be found spurious, and end with that.
            if !goes_on {
                c.saved = None;
            }
            c.take(windows);
            c.strategy.window.on_undo(&c.s);
            resume(c, a, losses_stand, goes_on, by);
        }
        Verdict::Spurious => {
            let Some(saved) = c.saved.take() else { return false };
            let response = c.strategy.undo.iter_mut().find_map(|undo| undo.respond(&c.s, a));
            let windows =
                response.unwrap_or(Windows { ssthresh: saved.ssthresh, cwnd: saved.cwnd });
            let stands = a.ece && windows == Windows::unchanged(&c.s);
            // Then it answers the echo, too: once in a window of data (RFC 3168 section 6.1.2).
            c.s.cwr_point = if stands { c.s.recover } else { saved.cwr_point };
            c.s.ssthresh = windows.ssthresh;
            // Within recovery cwnd may be inflated, which says nothing.
            let grown = if c.s.phase == Phase::Recovery { 0 } else { c.s.cwnd };
            c.set_cwnd(grown.max(windows.cwnd));
            // RFC 4015 section 4: what is not retransmitted draws no duplicates, so that three of
            // them mean a loss.
            c.s.recover = saved.recover;
            if !stands {
                c.strategy.window.on_undo(&c.s);
            }
            resume(c, a, false, false, by);
            return response.is_some();
        }
    }
    false
}

/// Goes on as if the response had not been.
fn resume(c: &mut Sender, a: &AckSummary, losses_stand: bool, goes_on: bool, by: &'static str) {
    c.strategy.detect.on_spurious(&c.s, a, true, losses_stand);
    if !losses_stand {
        c.s.board.unmark_lost(c.strategy.detect.judges_again());
    }
    c.s.snd_nxt = c.s.snd_max;
    if !goes_on {
        c.s.phase = Phase::Open;
    }
    c.urgent = None;
    c.event(EventKind::Undone { by });
}
