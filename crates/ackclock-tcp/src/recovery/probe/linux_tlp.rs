//! Tail loss probe as Linux has it (`tcp_schedule_loss_probe`, `tcp_send_loss_probe`,
//! `tcp_process_tlp_ack`). It differs from RFC 8985 section 7:
//!
//! - The probe comes 2 ms after two round trips (`TCP_TIMEOUT_MIN_US`), or after the least timeout
//!   in place of them if one segment is outstanding, which its ACK may be delayed for. Without a
//!   round trip it comes after a second. The timer counts ticks (`usecs_to_jiffies`), where
//!   `linux-timer` serves it.
//! - While a probe is on its way, the timer runs for another all the same. That one sends nothing,
//!   and the retransmission timer follows, counted from when the first unacknowledged segment was
//!   last sent.
//! - Where the window has shrunk to below the last segment, none goes, and the retransmission timer
//!   follows in the same way.
//! - What it retransmits counts in the pipe once, and starts no recovery's account.
//! - It needs no new round-trip sample between two probes.
//! - The windows are lowered before the ACK may open them again.
//!
//! `linux-tlp-fin` does not wait for a delayed ACK of a segment with a FIN, as `tlp-fin` (own).

use super::{Probe, ProbeNow};
use crate::recovery::linux::TIMEOUT_MIN;
use crate::recovery::window::{Window, Windows};
use crate::scoreboard::Record;
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// `TCP_TIMEOUT_INIT`.
const FIRST: Span = Span::from_secs(1);

/// One probe at a time.
#[derive(Default)]
pub struct LinuxTlp {
    /// `tlp_high_seq`, and `tlp_retrans`.
    probe: Option<(u64, bool)>,
    /// Where the last CWR began before it.
    cwr_point: u64,
    /// The timer has expired since.
    fired: Option<Time>,
    fin_at_once: bool,
}

impl LinuxTlp {
    /// Without allowance for a delayed ACK of a FIN.
    pub fn fin_at_once() -> LinuxTlp {
        LinuxTlp { fin_at_once: true, ..LinuxTlp::default() }
    }

    /// `tcp_process_tlp_ack`: whether the probe has repaired a loss.
    fn process(&mut self, s: &State, a: &AckSummary) -> bool {
        let Some((high_seq, again)) = self.pending(s) else {
            self.probe = None;
            return false;
        };
        if a.ack < high_seq {
            return false;
        }
        let beyond = a.ack > high_seq;
        let bare_duplicate = a.is_bare_duplicate() && a.newly_sacked == 0;
        if !again || a.dsack_of_probe || beyond || bare_duplicate {
            self.probe = None;
        }
        again && !a.dsack_of_probe && beyond
    }

    /// The probe, if nothing has taken its place: a recovery, a timeout, or CWR
    /// (`tcp_init_cwnd_reduction`).
    fn pending(&self, s: &State) -> Option<(u64, bool)> {
        self.probe.filter(|(high_seq, _)| s.recover < *high_seq && s.cwr_point == self.cwr_point)
    }

    /// When the interval at hand began, with the last segment outstanding.
    fn since(s: &State, last: &Record) -> Time {
        s.advanced.max(last.first_sent)
    }
}

impl Probe for LinuxTlp {
    /// `tcp_dsack_seen`, counted or not.
    fn reported(&self, s: &State, a: &AckSummary) -> bool {
        let (Some((high_seq, _)), Some((left, right))) = (self.pending(s), a.dsack) else {
            return false;
        };
        right == high_seq && right - left <= s.mss
    }

    fn skips_plain_acks(&self) -> bool {
        self.probe.is_none()
    }

    fn on_ack_first(&mut self, s: &State, a: &AckSummary, law: &mut dyn Window) -> Option<Windows> {
        self.process(s, a).then(|| {
            let ssthresh = law.on_loss(s, a.flight_size);
            Windows { ssthresh, cwnd: ssthresh }
        })
    }

    fn deadline(&self, s: &State) -> Time {
        let Some(last) = s.board.last() else { return Time::NEVER };
        let since = Self::since(s, last);
        let disorder = s.board.sacked_segments() > 0 || s.board.retransmitted_segments() > 0;
        // CWR stays CWR.
        let disorder = disorder && !s.cwr;
        if !s.sack || s.phase != Phase::Open || disorder || self.fired == Some(since) {
            return Time::NEVER;
        }
        let fin = s.fin && last.end() == s.written;
        let may_be_delayed = s.board.len() == 1 && !(fin && self.fin_at_once);
        let pto = match s.srtt {
            Span::ZERO => FIRST,
            srtt => {
                // srtt_us >> 2: srtt_us is kept in eighths.
                let two = Span::from_micros(srtt.times(2).micros());
                two + if may_be_delayed { s.min_rto } else { TIMEOUT_MIN }
            }
        };
        since + pto
    }

    fn on_deadline(&mut self, s: &State) -> ProbeNow {
        self.fired = s.board.last().map(|last| Self::since(s, last));
        if self.pending(s).is_some() {
            return ProbeNow::Nothing;
        }
        let new = s.unsent_len();
        // __tcp_retransmit_skb: nothing but the first goes beyond a window that has shrunk.
        let beyond = |last: &Record| last.seq >= s.window_edge && last.seq > s.snd_una;
        if new.is_none() && s.board.last().is_some_and(beyond) {
            return ProbeNow::Nothing;
        }
        self.cwr_point = s.cwr_point;
        self.probe = Some((s.snd_max + u64::from(new.unwrap_or(0)), new.is_none()));
        ProbeNow::NewOrCopy
    }
}
