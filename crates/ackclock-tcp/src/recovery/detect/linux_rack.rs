//! RACK as Linux has it (`tcp_recovery.c`, and its callers in `tcp_input.c`). It differs from RFC
//! 8985 section 6:
//!
//! - RACK.rtt is that of the segment reported last, and not of the one sent last.
//! - Losses are looked for only on an ACK that reports a segment as delivered (`rack.advanced`),
//!   and not if nothing is SACKed, lost or retransmitted and the ACK advances
//!   (`tcp_ack_is_dubious`).
//! - The reordering timer waits 2 ms longer than the window (`TCP_TIMEOUT_MIN_US`).
//! - A D-SACK widens the window only where reordering was seen, and not if it answers a tail loss
//!   probe (`tcp_dsack_seen`, `tcp_rack_update_reo_wnd`).
//! - `tp->reordering` stands for DupThresh, and grows to 300 segments at most with the distance
//!   that a segment came late (`tcp_check_sack_reordering`).
//!
//! Without SACK, duplicates count as segments delivered (`tcp_add_reno_sack`). As many as
//! `tp->reordering` mean that the first unacknowledged segment is lost, and within a recovery every
//! partial acknowledgment does (`tcp_newreno_mark_lost`).
//!
//! Times are compared in microseconds, as in the kernel.

use alloc::vec::Vec;
use core::mem::{replace, take};

use super::{Detect, Emulated, Lost, MinRtt, Sent, keep_later, standing};
use crate::recovery::linux::{TIMEOUT_MIN, any_retransmitted, most_emulated};
use crate::scoreboard::Record;
use crate::segment::Timestamps;
use crate::state::{DUPTHRESH, Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// `TCP_RACK_RECOVERY_THRESH`.
const PERSIST: u8 = 16;
/// The least wait for a receiver that seems to have discarded data (`tcp_check_sack_reneging`).
const RENEGE: Span = Span::from_millis(10);
/// `tcp_max_reordering`.
const MAX_REORDERING: u32 = 300;

/// A segment that an ACK reported for the first time.
#[derive(Clone, Copy)]
struct Delivery {
    seq: u64,
    sent: Sent,
    again: bool,
}

/// RACK, and duplicates where there is no SACK.
pub struct LinuxRack {
    /// What this ACK delivered first, and what it delivered besides: almost always nothing.
    first: Option<Delivery>,
    others: Vec<Delivery>,
    /// `rack.mstamp` and `rack.end_seq`.
    segment: Sent,
    rtt: Span,
    /// When the segment was sent that was reported last, if it was a retransmission.
    again: Option<Time>,
    min_rtt: MinRtt,
    /// The highest SACKed position as the ACKs before this one left it, `snd_una` if there was
    /// none.
    fack: u64,
    /// Where the segment begins that was acknowledged in part, and where it did before.
    cut: (u64, u64),
    /// `tp->reordering`.
    reordering: u32,
    reord_seen: bool,
    /// ICMP began the slow start at hand, which has no `undo_marker`.
    unmarked: bool,
    advanced: bool,
    dsack_seen: bool,
    reo_wnd_steps: u8,
    reo_wnd_persist: u8,
    /// When the steps were last raised.
    raised: Time,
    /// The last ACK found nothing SACKED, lost or retransmitted.
    open: bool,
    /// A loss was being repaired as this ACK came, and its response was not undone by it.
    needed: bool,
    /// Without SACK: duplicates that stood as the slow start after a timeout was left.
    at_exit: u32,
    deadline: Time,
    armed: bool,
    /// `TCP_RACK_STATIC_REO_WND`: the window keeps its one step.
    fixed: bool,
    /// `TCP_RACK_NO_DUPTHRESH`: many SACKed segments do not close the window.
    no_dupthresh: bool,
}

impl Default for LinuxRack {
    fn default() -> LinuxRack {
        LinuxRack {
            first: None,
            others: Vec::new(),
            segment: (Time::ZERO, 0),
            rtt: Span::ZERO,
            again: None,
            min_rtt: MinRtt::default(),
            fack: 0,
            cut: (0, 0),
            reordering: DUPTHRESH,
            reord_seen: false,
            unmarked: false,
            advanced: false,
            dsack_seen: false,
            reo_wnd_steps: 1,
            reo_wnd_persist: 0,
            raised: Time::ZERO,
            open: true,
            needed: false,
            at_exit: 0,
            deadline: Time::NEVER,
            armed: false,
            fixed: false,
            no_dupthresh: false,
        }
    }
}

/// The last nanosecond of a microsecond.
fn end_of(micros: u64) -> Time {
    Time(micros.saturating_mul(1000).saturating_add(999))
}

impl LinuxRack {
    /// With bit 0x2 of `tcp_recovery`.
    pub fn fixed_window() -> LinuxRack {
        LinuxRack { fixed: true, ..LinuxRack::default() }
    }

    /// With bit 0x4 of `tcp_recovery`.
    pub fn without_dupthresh() -> LinuxRack {
        LinuxRack { no_dupthresh: true, ..LinuxRack::default() }
    }

    /// `tcp_rack_advance` for each segment delivered: those that SACK blocks report, in sequence,
    /// and then those acknowledged. Returns when the one sent last was sent.
    fn advance(&mut self, s: &State, a: &AckSummary) -> Option<Time> {
        let first = self.first.take()?;
        if !self.others.is_empty() {
            return self.advance_each(s, a, first);
        }
        self.advance_to(s, a, first);
        Some(first.sent.0)
    }

    #[inline(never)]
    fn advance_each(&mut self, s: &State, a: &AckSummary, first: Delivery) -> Option<Time> {
        let mut all = take(&mut self.others);
        all.push(first);
        all.sort_unstable_by_key(|d| (d.sent.1 <= s.snd_una, d.seq));
        all.iter().for_each(|&d| self.advance_to(s, a, d));
        let newest = all.iter().map(|d| d.sent.0).max();
        all.clear();
        self.others = all;
        newest
    }

    /// `tcp_rack_advance`.
    #[inline(always)]
    fn advance_to(&mut self, s: &State, a: &AckSummary, d: Delivery) {
        let (acked, rtt) = (d.sent.1 <= s.snd_una, s.now.since(d.sent.0));
        // tcp_skb_spurious_retrans, of what is acknowledged.
        let older = |echo: u32| Timestamps::is_older(echo, d.sent.0.timestamp());
        let spurious = || acked && a.rcv_tsecr().is_some_and(older);
        if d.again && (spurious() || self.min_rtt.get().is_none_or(|min| rtt < min)) {
            return;
        }
        (self.advanced, self.rtt) = (true, rtt);
        self.again = d.again.then_some(d.sent.0);
        keep_later(&mut self.segment, d.sent);
    }

    /// `tcp_check_sack_reordering`.
    #[inline(never)]
    fn check_reordering(&mut self, s: &State, low: u64, fack: u64) {
        if low >= fack {
            return;
        }
        let metric = fack - low;
        if metric > u64::from(self.reordering) * s.mss {
            let segments = metric.div_ceil(s.mss);
            self.reordering = u32::try_from(segments).unwrap_or(u32::MAX).min(MAX_REORDERING);
        }
        self.reord_seen = true;
    }

    /// `tcp_rack_update_reo_wnd`. `newest` is when the last of what was delivered was sent: a round
    /// trip after the steps were last raised, that is later.
    fn update_window(&mut self, s: &State, newest: Time) {
        if self.fixed {
            return;
        }
        if take(&mut self.dsack_seen) && newest >= self.raised {
            self.reo_wnd_steps = self.reo_wnd_steps.saturating_add(1);
            self.reo_wnd_persist = PERSIST;
            self.raised = s.now;
        } else if self.reo_wnd_persist == 0 {
            self.reo_wnd_steps = 1;
        }
    }

    /// `tcp_rack_reo_wnd`.
    fn window(&self, s: &State) -> Span {
        let enough = s.board.sacked_segments() >= self.reordering && !self.no_dupthresh;
        if !self.reord_seen && (s.recovering() || enough) {
            return Span::ZERO;
        }
        let quarter = self.min_rtt.get().map_or(0, |min| min.micros() >> 2);
        Span::from_micros(quarter * u64::from(self.reo_wnd_steps)).min(s.srtt)
    }

    /// `tcp_rack_detect_loss`. Returns what is lost, and when something more may be.
    #[inline(always)]
    fn detect(&self, s: &State) -> (Lost, Time) {
        // Often nothing outstanding was sent before what was delivered.
        match s.board.sent_before(self.segment, 0) {
            Some(first) => self.judge(s, first),
            None => (standing(s), Time::NEVER),
        }
    }

    /// The same, of all that was sent before. `first` is the first of it.
    #[inline(never)]
    fn judge(&self, s: &State, first: (usize, &Record)) -> (Lost, Time) {
        let wait = (self.rtt + self.window(s)).micros();
        let now = s.now.micros();
        // Sent no later than the microsecond that is `wait` before this one.
        let by = now.checked_sub(wait).map_or((Time::ZERO, 0), |t| (end_of(t), u64::MAX));
        let mut by = by.min((self.segment.0, self.segment.1.saturating_sub(1)));
        let (mut lost, mut remaining, mut next) = (false, 0, Some(first));
        while let Some((index, r)) = next {
            // tcp_write_xmit looks at the clock anew: new data leaves some microseconds later than
            // what goes again on the same ACK.
            let later = r.transmissions == 1 && self.again == Some(r.last_sent);
            match (r.last_sent.micros() + wait + u64::from(later)).checked_sub(now) {
                None | Some(0) => lost = true,
                Some(left) => {
                    remaining = remaining.max(left);
                    if later {
                        by = by.min((r.last_sent, r.seq));
                    }
                }
            }
            next = s.board.sent_before(self.segment, index + 1);
        }
        let lost = if lost { Lost::SentBefore(by.0, by.1) } else { standing(s) };
        let next = if remaining > 0 {
            s.now + Span::from_micros(remaining) + TIMEOUT_MIN
        } else {
            Time::NEVER
        };
        (lost, next)
    }

    /// What each ACK says of reordering (`tcp_dsack_seen`, `tcp_clean_rtx_queue`).
    fn watch(&mut self, s: &State, a: &AckSummary) {
        // It comes first, and so knows of no reordering that this ACK shows.
        self.dsack_seen |= a.dsack_segments > 0 && !a.dsack_of_probe && self.reord_seen;
        let fack = if s.board.sacked_segments() > 0 { s.board.highest_sacked() } else { s.snd_una };
        // tcp_sacktag_one, before what the ACK acknowledges is taken off.
        let late = a.dsack_late.filter(|_| a.dsack_segments > 0 && !self.ignores_sacks(s));
        if let Some(low) = late {
            let fack = if s.board.sacked_segments() > 0 { fack.max(self.fack) } else { self.fack };
            self.check_reordering(s, low, fack);
        }
        self.note_fack(s, a, fack);
        if let Some(from) = a.cut {
            self.cut = (a.ack, if from == self.cut.0 { self.cut.1 } else { from });
        }
    }

    /// `fack` is the highest SACKed position as this ACK leaves it.
    #[inline(always)]
    fn note_fack(&mut self, s: &State, a: &AckSummary, fack: u64) {
        let by_sack = |low| low >= s.snd_una;
        if let Some((low, _)) = a.original.filter(|o| !by_sack(o.0) || !self.ignores_sacks(s)) {
            // `tcp_clean_rtx_queue` leaves a segment whole until all of it is acknowledged.
            let low = if low == self.cut.0 { self.cut.1 } else { low };
            if low < self.fack {
                self.check_reordering(s, low, fack.max(self.fack));
            }
        }
        self.fack = fack.max(s.snd_una);
    }

    /// `tcp_sacktag_write_queue`: SACKs show no reordering within Loss without `undo_marker`.
    fn ignores_sacks(&self, s: &State) -> bool {
        self.unmarked && s.phase == Phase::Loss
    }

    /// `tcp_newreno_mark_lost`.
    fn duplicates(&mut self, s: &State, a: &AckSummary) -> Lost {
        let Some(head) = s.board.head() else { return Lost::Nothing };
        let lost = match s.phase {
            Phase::Open => s.emulated.max(take(&mut self.at_exit)) >= self.reordering,
            Phase::Recovery => a.newly_acked > 0 && s.snd_una < s.recover,
            Phase::Loss => false,
        };
        if lost && !head.lost { Lost::Below(head.end()) } else { standing(s) }
    }
}

impl Detect for LinuxRack {
    fn name(&self) -> &'static str {
        "linux-rack"
    }

    fn watches_deliveries(&self) -> bool {
        true
    }

    fn on_delivered(&mut self, r: &Record, _now: Time) {
        let (sent, again) = ((r.last_sent, r.end()), r.transmissions > 1);
        let delivered = Delivery { seq: r.seq, sent, again };
        match self.first {
            None => self.first = Some(delivered),
            Some(_) => self.others.push(delivered),
        }
    }

    fn on_handshake(&mut self, rtt: Span) {
        self.min_rtt.sample(rtt, Time::ZERO);
    }

    fn dupthresh(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        self.reordering
    }

    /// `tcp_remove_reno_sacks`, and then what each state of `tcp_fastretrans_alert` does with
    /// duplicates.
    fn emulate(&mut self, s: &State, a: &AckSummary) -> Option<Emulated> {
        let outstanding = s.board.len() as u32;
        let (mut segments, mut delivered) = (s.emulated, 0);
        let mut limit = |segments: u32, more: u32| {
            let most = most_emulated(s);
            if segments > most {
                // More duplicates than segments that could have caused them.
                self.reordering = (outstanding + more).min(MAX_REORDERING);
                self.reord_seen = true;
            }
            segments.min(most)
        };
        if a.delivered > 0 {
            // One of them was the hole; the others eat duplicates.
            delivered += a.delivered.saturating_sub(segments).max(1);
            segments = limit(segments.saturating_sub(a.delivered - 1), a.delivered);
        }
        let advances = a.newly_acked > 0;
        let over = s.recovering() && s.snd_una >= s.recover;
        match s.phase {
            Phase::Recovery if over => segments = 0,
            // At the recovery point it waits for an ACK of more, which is judged by the duplicates
            // before it.
            Phase::Loss if s.snd_una == s.recover => {}
            Phase::Loss if over => self.at_exit = take(&mut segments),
            Phase::Loss | Phase::Open if advances => segments = 0,
            _ => {}
        }
        // After a timeout only new data can have drawn a duplicate.
        let counts = !over && (s.phase != Phase::Loss || s.snd_max > s.recover);
        if !advances && a.duplicate && !a.moved && counts && a.dsack.is_none() {
            let before = segments;
            segments = limit(segments + 1, 0);
            delivered += segments.saturating_sub(before);
        }
        Some(Emulated { segments: if outstanding == 0 { 0 } else { segments }, delivered })
    }

    fn observe(&mut self, s: &State, a: &AckSummary) {
        if !s.sack {
            self.first = None;
            return self.others.clear();
        }
        let newest = self.advance(s, a);
        if let Some(rtt) = a.rtt_latest {
            self.min_rtt.sample(rtt, s.now);
        }
        self.watch(s, a);
        if let Some(newest) = newest {
            self.update_window(s, newest);
        }
        (self.needed, self.armed) = (s.recovering(), false);
    }

    fn sums_plain_acks(&self) -> bool {
        true
    }

    fn on_plain_ack(&mut self, s: &State, a: &AckSummary) -> bool {
        // `tcp_rack_advance` for the last of them, which overrides the others.
        let Some(sent) = a.last_sent else { return false };
        (self.advanced, self.rtt, self.again) = (true, s.now.since(sent), None);
        keep_later(&mut self.segment, (sent, a.ack));
        // As on any ACK, but for what SACK blocks and recoveries bring about: it has neither.
        if let Some(rtt) = a.rtt_latest {
            self.min_rtt.sample(rtt, s.now);
        }
        self.note_fack(s, a, s.snd_una);
        self.update_window(s, sent);
        (self.needed, self.armed) = (false, false);
        // tcp_ack_is_dubious. Reordering that this ACK has shown counts from now on.
        let sent_once = s.board.head().is_none_or(|head| head.transmissions == 1);
        let in_order = self.open && self.reordering == s.dupthresh && sent_once;
        if in_order {
            self.deadline = Time::NEVER;
        }
        in_order
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        if !s.sack {
            return self.duplicates(s, a);
        }
        // tcp_try_undo_recovery: a recovery that was needed.
        if take(&mut self.needed) && !s.recovering() {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        }
        let nothing_missing = s.board.sacked_segments() + s.board.lost_segments() == 0;
        let open = s.phase == Phase::Open && nothing_missing && !any_retransmitted(s);
        if open {
            self.deadline = Time::NEVER;
        }
        if replace(&mut self.open, open) && open && a.newly_acked > 0 {
            return Lost::Nothing;
        }
        if !take(&mut self.advanced) {
            return standing(s);
        }
        let (lost, next) = self.detect(s);
        self.armed = next != Time::NEVER;
        self.deadline = next;
        lost
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn armed(&self) -> bool {
        self.armed
    }

    fn on_deadline(&mut self, s: &State) -> Lost {
        (self.deadline, self.open) = (Time::NEVER, false);
        self.detect(s).0
    }

    fn on_spurious(&mut self, s: &State, a: &AckSummary, undone: bool, losses_stand: bool) {
        let partial = s.phase == Phase::Recovery && s.snd_una < s.recover;
        // tcp_try_undo_partial: the hole was filled by a segment that came late.
        if partial && a.newly_acked > 0 && !losses_stand {
            let fack = if s.sack { self.fack.max(s.snd_una) } else { s.snd_una };
            self.check_reordering(s, a.prior_una, fack);
        }
        if undone {
            // tcp_try_undo_dsack.
            if losses_stand && (partial || s.phase == Phase::Open) {
                self.reo_wnd_persist = (self.reo_wnd_persist + 1).min(PERSIST);
            }
            (self.advanced, self.needed) = (true, false);
        }
    }

    /// `tcp_check_sack_reneging`: half of `srtt`, which Linux keeps in eighths of microseconds.
    fn reneges(&self, s: &State) -> Option<Span> {
        Some(Span::from_micros(s.srtt.micros() / 2).max(RENEGE))
    }

    fn judges_again(&self) -> bool {
        false
    }

    fn keeps_sacks(&self, s: &State) -> bool {
        s.board.head().is_some_and(|head| !head.sacked)
    }

    fn on_too_big(&mut self) {
        self.unmarked = true;
    }

    fn on_timeout(&mut self, s: &State) -> Time {
        (self.deadline, self.open) = (Time::NEVER, false);
        // tcp_init_undo.
        self.unmarked = false;
        // tcp_enter_loss: after that many duplicates reordering was overestimated. Not in CWR
        // (`icsk_ca_state <= TCP_CA_Disorder`).
        if s.phase == Phase::Open && !s.cwr && s.board.sacked_segments() >= DUPTHRESH {
            self.reordering = self.reordering.min(DUPTHRESH);
        }
        // tcp_timeout_mark_lost: nothing was sent lately enough if the receiver has reneged.
        if s.board.head().is_some_and(|head| head.forgotten) {
            self.fack = s.snd_una;
            return Time::NEVER;
        }
        // tcp_rack_skb_timeout without a reordering window.
        end_of(s.now.micros().saturating_sub(self.rtt.micros()))
    }
}
