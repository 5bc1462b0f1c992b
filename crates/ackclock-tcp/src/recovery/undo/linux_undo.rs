//! Undo as Linux has it (`tcp_may_undo`): a response was spurious if D-SACKs have reported as many
//! segments as were retransmitted since, or if an ACK that advances echoes a timestamp from before
//! the first retransmission (`tcp_packet_delayed`). Names are those of the kernel.
//!
//! - D-SACKs are counted. One of data below `snd_una` counts whatever was retransmitted
//!   (`tcp_check_dsack`), one above for each segment of it that was (`tcp_sacktag_one`). What lies
//!   below `undo_marker`, `snd_una` as the response began, does not belong to it.
//! - A tail loss probe is not counted, unless a response begins while it is on its way.
//! - A timeout within a recovery belongs to the response of that recovery (`tcp_enter_loss`).
//! - What was restored is the larger window of now and then (`tcp_undo_cwnd_reduction`).
//! - An ACK of an original while retransmissions are on their way stops them for this ACK, and
//!   restores nothing yet (`tcp_try_undo_partial`).
//! - An ECN-Echo leaves nothing to restore: the windows stay, the phase ends.
//! - Without SACK the phase goes on at the recovery point, until an ACK of more
//!   (`tcp_is_non_sack_preventing_reopen`), and after a timeout also before it
//!   (`tcp_try_undo_loss`).

use super::{Undo, Verdict};
use crate::recovery::linux::{any_retransmitted, current_ssthresh, lowers_on_timeout};
use crate::recovery::window::Windows;
use crate::segment::Timestamps;
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// Judges by timestamps and by the number of D-SACKs.
#[derive(Default)]
pub struct LinuxUndo {
    undo_marker: Option<u64>,
    /// Retransmissions that no D-SACK has reported; `None` before the first.
    undo_retrans: Option<u32>,
    /// The timestamp of the first retransmission.
    retrans_stamp: Option<u32>,
    /// The windows as the response began.
    prior: Option<Windows>,
    /// A tail loss probe retransmitted the segment that ends here.
    probed: Option<u64>,
}

impl LinuxUndo {
    /// `tcp_init_undo`.
    fn begin(&mut self, s: &State, timeout: bool) {
        self.undo_marker = Some(s.snd_una);
        let probe = u32::from(self.probed.is_some_and(|end| end > s.snd_una));
        // What a timeout finds on its way is counted with what it sends, once it has judged the
        // others (tcp_timeout_mark_lost).
        let on_way = if timeout { 0 } else { s.board.retransmitted_segments() };
        self.undo_retrans = Some(on_way + probe).filter(|&n| n > 0);
        // What an ECN-Echo has lowered stays so (tcp_enter_recovery); a timeout in CWR lowers it
        // again, or begins nothing (tcp_enter_loss).
        self.prior =
            (timeout || !s.cwr).then(|| Windows { ssthresh: current_ssthresh(s), cwnd: s.cwnd });
    }

    fn count_dsacks(&mut self, a: &AckSummary) {
        let (Some((_, end)), Some(marker)) = (a.dsack, self.undo_marker) else { return };
        // One that may be the network's says nothing.
        if end > marker
            && a.dsack_segments > 0
            && let Some(left) = &mut self.undo_retrans
        {
            let below = end <= a.prior_una;
            *left = left.saturating_sub(if below { a.dsack_segments } else { a.dsack_again });
        }
    }

    fn all_reported(&self) -> bool {
        self.undo_marker.is_some() && self.undo_retrans == Some(0)
    }

    /// `tcp_packet_delayed`.
    fn delayed(&self, s: &State, a: &AckSummary) -> bool {
        match (self.retrans_stamp, a.rcv_tsecr()) {
            (Some(sent), Some(echo)) => Timestamps::is_older(echo, sent),
            (Some(_), None) => false,
            (None, _) => s.sack || s.snd_una < s.recover,
        }
    }

    fn may_undo(&self, s: &State, a: &AckSummary) -> bool {
        self.undo_marker.is_some() && (self.undo_retrans == Some(0) || self.delayed(s, a))
    }

    /// `tcp_undo_cwnd_reduction`.
    fn windows(&mut self, s: &State) -> Windows {
        self.undo_marker = None;
        let now = Windows::unchanged(s);
        self.prior.take().map_or(now, |prior| Windows {
            ssthresh: prior.ssthresh.max(now.ssthresh),
            cwnd: prior.cwnd.max(now.cwnd),
        })
    }

    fn restore(&mut self, s: &State, losses_stand: bool) -> Verdict {
        let goes_on = !s.sack && s.recovering() && s.snd_una == s.recover;
        Verdict::Restore { windows: self.windows(s), losses_stand, goes_on }
    }

    fn within_recovery(&mut self, s: &State, a: &AckSummary) -> Verdict {
        if s.snd_una >= s.recover {
            return if self.may_undo(s, a) { self.restore(s, true) } else { Verdict::Open };
        }
        if a.newly_acked > 0 && self.undo_marker.is_some() && self.delayed(s, a) {
            if s.board.retransmitted_segments() > 0 {
                return Verdict::Hold;
            }
            if !any_retransmitted(s) {
                self.retrans_stamp = None;
            }
            return self.restore(s, false);
        }
        if self.all_reported() { self.restore(s, true) } else { Verdict::Open }
    }
}

impl Undo for LinuxUndo {
    fn name(&self) -> &'static str {
        "linux-undo"
    }

    fn on_response(&mut self, s: &State, timeout: bool) {
        if !timeout {
            if !any_retransmitted(s) {
                self.retrans_stamp = None;
            }
            self.begin(s, false);
        } else if lowers_on_timeout(s) {
            self.begin(s, true);
        }
        self.probed = None;
    }

    fn forget(&mut self) {
        (self.undo_marker, self.prior) = (None, None);
    }

    fn on_echo(&mut self) {
        self.prior = None;
    }

    fn withdraws_cwr(&self) -> bool {
        true
    }

    fn on_retransmit(&mut self, s: &State, seq: u64, len: u32) {
        // Outside of recovery only a probe goes again.
        if s.phase == Phase::Open {
            self.probed = Some(seq + u64::from(len));
            return;
        }
        self.retrans_stamp.get_or_insert(s.now.timestamp());
        let counted = self.undo_retrans.map(|n| n + 1);
        self.undo_retrans = counted.or(Some(s.board.retransmitted_segments().max(1)));
    }

    fn skips_plain_acks(&self) -> bool {
        self.retrans_stamp.is_none() && !self.all_reported()
    }

    fn sums_plain_acks(&self) -> bool {
        !self.all_reported()
    }

    fn on_plain_ack(&mut self, s: &State) {
        if !any_retransmitted(s) {
            self.retrans_stamp = None;
        }
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Verdict {
        self.count_dsacks(a);
        let over = s.snd_una >= s.recover;
        let verdict = match s.phase {
            Phase::Open if self.all_reported() => self.restore(s, true),
            Phase::Open => Verdict::Open,
            Phase::Recovery => self.within_recovery(s, a),
            Phase::Loss => {
                if a.newly_acked > 0 && self.may_undo(s, a) {
                    let windows = self.windows(s);
                    Verdict::Restore { windows, losses_stand: false, goes_on: !s.sack }
                } else if over && self.may_undo(s, a) {
                    self.restore(s, true)
                } else {
                    Verdict::Open
                }
            }
        };
        // tcp_try_to_open, and tcp_is_non_sack_preventing_reopen at the recovery point.
        if s.phase == Phase::Open || over {
            self.on_plain_ack(s);
        }
        verdict
    }

    fn respond(&mut self, s: &State, _a: &AckSummary) -> Option<Windows> {
        Some(self.windows(s))
    }
}
