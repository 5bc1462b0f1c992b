//! What goes out of the sender: SYNs, new data, and what went out before.

use std::ops::Range;

use ackclock_tcp::{Seq, Span, Time};

use super::causes::probes::Silence;
use super::input::{Opening, Sent, Sight};
use super::limits::follows_ack;
use super::lost_before::is_most;
use super::marks::Marks;
use super::recovery::retransmissions::Again;
use super::stalls::{Now, Resumed};
use super::stream::Stream;
use super::stream::moments::HOST_BUSY;
use super::stream::segment::Replaced;
use super::stream::timers::nearly;
use super::ways::Sign;
use super::{Repair, SenderModel, watching};
use crate::connection::Kind;
use crate::standards::LEAST_RTO_OF_RFC;

impl SenderModel {
    /// A SYN or SYN/ACK goes out. Its retransmissions are timeouts like any other. One that answers
    /// a SYN that came again is no timeout, and does not start the timer anew. `stamps`: timestamps
    /// of the first one and of this one.
    pub fn syn(&mut self, frame: u64, at: Time, seq: Seq, answer: bool, stamps: Option<[u32; 2]>) {
        self.stream.count();
        if !self.stream.outstanding.has_started() {
            self.stream.outstanding.start(0);
            self.stream.moments.progressed(at);
            self.stalls.opening();
            if self.stream.terms.opening == Opening::Seen {
                self.limits.opening();
            }
        } else if self.stream.outstanding.max() == 0 {
            let sent = Sent { frame, at, seq, len: 1, fin: true, ..Sent::default() };
            self.unsettled = true;
            let Repair { recovery, causes, .. } = &mut **self.repair.get_or_insert_default();
            let kind = causes.syn(&sent, answer, &self.stream, recovery);
            let (sight, transmission) = (self.stream.terms.sight, self.stream.segments() as u32);
            recovery.syn_retransmitted(&sent, kind, sight, transmission);
            recovery.retransmissions.stamp_syn(stamps);
            self.picture.retransmitted(&sent, self.stream.stand(), transmission);
            self.ways.syn_retransmitted();
        }
    }

    /// The data that goes out next, from here on, has CWR.
    pub fn says_lowered(&mut self, position: u64) {
        let marks = self.marks.get_or_insert_default();
        marks.says_lowered(position, self.stream.terms.at_sender());
    }

    /// The data that goes out next, from here on, can be marked, and has CWR or not.
    #[inline]
    pub fn is_capable(&mut self, position: u64, cwr: bool) {
        if let Some(Repair { recovery, causes, .. }) = self.repair.as_deref_mut()
            && causes.probes.watches()
            && self.stream.terms.at_sender()
        {
            let marks = self.marks.as_deref().map_or(0, Marks::point);
            causes.probes.watch_cwr(position, cwr, marks.max(recovery.phases.recovery_point()));
        }
    }

    /// Data or a FIN goes out. In order of time with [`SenderModel::acked`]. Returns whether it is
    /// known to be an original that comes late.
    // Each segment goes through this and the next one, most from one place. A copy of it is handed
    // on where that is rare, so that others stay in registers.
    #[inline(always)]
    pub fn sent(&mut self, sent: &Sent) -> bool {
        debug_assert!(self.unsettled || !self.is_unsettled());
        self.stream.count();
        self.stream.holes.unseen.passed(sent);
        self.elapse(sent.at);
        if self.limits.is_opening() && sent.at.since(self.stream.moments.progress()) > HOST_BUSY {
            // Data in a SYN and right behind one needs no answer (RFC 7413). Any other was sent
            // after the answer, also where that was not captured.
            self.limits.answered();
        }
        let outstanding = &self.stream.outstanding;
        let is_next = is_next(sent) || sent.all_seen;
        self.limits.is_told(is_next && sent.position >= outstanding.max());
        let late = if sent.position == outstanding.max() && outstanding.has_started() {
            let may_go_again = |r: &Repair| r.recovery.behind.segments() > 0;
            if self.unsettled && self.repair.as_deref().is_some_and(may_go_again) {
                self.looks_new(&{ *sent });
            } else {
                self.new_data(sent, false);
            }
            false
        } else {
            self.out_of_order(&{ *sent })
        };
        self.limits.outstanding(&self.stream);
        self.settles();
        late
    }

    /// New data goes out. `missed`: behind some that has gone out as well and that the capture has
    /// missed, which may have ended an idle time.
    #[inline(always)]
    pub(super) fn new_data(&mut self, sent: &Sent, missed: bool) {
        let resumes = self.stream.outstanding.is_empty();
        let asked = self.stalls.is_asked(self.stream.moments.last_ack());
        if !resumes && self.stream.moments.silence(sent.at) > self.stream.timers.quiet() {
            self.after_silence(&{ *sent }, asked);
        }
        if !resumes && self.stream.moments.since_progress(sent.at) > LEAST_RTO_OF_RFC {
            self.without_acks(&{ *sent }, asked);
        }
        let since = self.stalls.since_asked(sent.at);
        self.limits.new_data(sent, &self.stream, asked, since);
        if sent.payload() == 0 && !self.stream.moments.behind_data(sent.at) {
            self.episodes.closes(sent.position);
        }
        if resumes {
            self.sender_resumes(&{ *sent }, asked);
        }
        if sent.fin && self.stream.moments.behind_data(sent.at) {
            self.limits.closes(sent.end() - 1);
        }
        if missed {
            self.stream.miss(sent);
        }
        if !self.unsettled {
            return self.stream.append(sent, false);
        }
        let Self { stream, repair, .. } = self;
        let goes = |repair: &mut Box<Repair>| repair.recovery.new_data(&{ *sent }, stream);
        let recovering = repair.as_mut().is_some_and(goes);
        self.stream.append(sent, recovering);
        self.watch_new_data(&{ *sent });
    }

    /// New data has gone out, which may tell something.
    #[inline(never)]
    fn watch_new_data(&mut self, sent: &Sent) {
        if let Some(causes) = watching(&mut self.repair) {
            causes.watch_new_data(sent, &self.stream);
        }
        if self.ways.is_on() && sent.payload() > 0 {
            self.ways.new_data(sent.at, &self.stream);
        }
        if self.picture.is_on() {
            self.picture.sent(sent, self.stream.stand());
        }
    }

    /// New data goes out after silence: it may be a probe.
    #[cold]
    fn after_silence(&mut self, sent: &Sent, asked: bool) {
        self.unsettled = true;
        self.repeats_unseen(sent, asked);
        let open = self.repair.as_ref().is_none_or(|repair| repair.recovery.phases.is_open());
        let terms = &self.stream.terms;
        if terms.sack && terms.may_have_probes() && open {
            self.stream.may_have_probed(sent);
            if Silence::before(sent, &self.stream).ends_with_probe(&self.stream.timers) {
                self.repair.get_or_insert_default().causes.probes.sent_new_data(sent);
            }
        }
        self.ways.after_silence();
    }

    /// New data goes out although nothing was acknowledged for long. Where packets were lost before
    /// the capture, the timer has sent them.
    #[cold]
    fn without_acks(&mut self, sent: &Sent, asked: bool) {
        self.unsettled = true;
        if self.lost(sent, asked) > 0 && !self.stream.terms.at_sender() {
            self.outlast_timers(sent.at);
            self.limits.is_told(false);
            self.repair.get_or_insert_default().outlasted = sent.at;
        }
        if !self.has_outlasted() {
            self.look_for_acks(sent.at);
        }
    }

    /// New data goes out although the retransmission timer of what is outstanding has expired, and
    /// has retransmitted nothing: the sender has got ACKs that the capture does not have.
    fn look_for_acks(&mut self, at: Time) {
        let Stream { outstanding, moments, timers, windows, .. } = &mut self.stream;
        let least = moments.since_progress(at).min(moments.since_ack(at));
        let gap = self.stalls.has_gap_since(moments.progress());
        // What goes out may follow an ACK that is about to reach the sender, by the estimate.
        let due = self.limits.is_ack_due();
        let acked = moments.last_ack() > Time::ZERO && windows.offered() > 0 && !due;
        if acked && least > timers.backed_off() && outstanding.retransmitted() == 0 && !gap {
            // The last new data was looked at, too, if it came as late.
            let (all, last) = (moments.since_progress(at), moments.since_new_data(at));
            outstanding.misses_acks(if all - last > LEAST_RTO_OF_RFC { last } else { all });
            self.stalls.gap(at);
        }
    }

    /// The first segment that goes out with nothing outstanding.
    fn sender_resumes(&mut self, sent: &Sent, asked: bool) {
        let had_waited = follows_ack(sent.at, &self.stream, asked);
        let repaired = self.repaired_unseen(sent, asked);
        if sent.missing() == 0 && sent.payload() > 0 {
            self.stalls.ends_turn();
        }
        self.limits.was_repairing(repaired);
        let silent = self.silent(sent.at);
        if !self.stream.terms.at_sender() && silent >= nearly(self.stream.timers.rto()) {
            self.limits.silence().ends(sent, silent, repaired);
        }
        if sent.payload() == 0 {
            // A FIN alone answers nothing. If the server has spoken last, nobody waits for it.
            let answered = asked == self.stream.terms.opens;
            if answered && silent >= nearly(self.stream.timers.rto()) {
                self.limits.closes_late(silent);
            }
        } else if asked && repaired == Span::ZERO {
            let since = self.stalls.since_asked(sent.at);
            self.limits.unasked(self.stream.moments.since_progress(sent.at) - since);
            self.limits.answers(since, sent.position);
        }
        self.doubts(sent, asked);
        let is_first = self.stream.bytes() == 0;
        if !is_first && self.stream.moments.since_progress(sent.at) > self.stream.timers.rto() {
            self.unsettled = true;
            self.ways.resumes(sent.position, &self.stream);
        }
        let Stream { moments, timers, windows, outstanding, terms, .. } = &mut self.stream;
        let (at, frame, progress) = (sent.at, sent.frame, moments.progress());
        let now = Now { at, frame, progress, timers, came_twice: false, newest: at };
        let resumed = Resumed {
            is_first,
            fin_alone: sent.payload() == 0,
            room: windows.least_room(terms.mss),
            probes_window: windows.offered() == 0 && sent.len == 1,
            was_lost: is_most(repaired, silent),
            alive: self.limits.alive(),
        };
        self.stalls.sender_resumes(&now, &resumed);
        if !had_waited {
            self.episodes.idle(outstanding.max());
        }
        moments.progressed(sent.at);
        windows.set_pipe(0);
    }

    /// What does not continue where the highest ended: a retransmission, or something was missed.
    /// Returns the same as [`SenderModel::sent`].
    #[cold]
    fn out_of_order(&mut self, sent: &Sent) -> bool {
        self.unsettled = true;
        if !self.stream.outstanding.has_started() {
            self.stream.outstanding.start(sent.position);
            self.later_data(sent, false);
            return false;
        }
        let max = self.stream.outstanding.max();
        if sent.position > max {
            // Elsewhere than at the sender, what is missing may have been lost, and a timer may
            // have ended the idle time.
            let missed = self.stream.terms.at_sender();
            if !missed {
                self.stream.miss(sent);
            }
            self.later_data(sent, missed);
        } else if sent.end() <= max {
            return self.old_data(sent);
        } else {
            // Old and new data in one segment.
            let old = (max - sent.position) as u32;
            if !self.stream.has_probed_window(sent.position, old) {
                let before = self.retransmissions();
                self.old_data(&Sent { len: old, fin: false, ..*sent });
                // Of one segment, away from the sender, the new part was lost before the capture:
                // that the old part was a duplicate does not make it spurious.
                let Stream { terms, .. } = &self.stream;
                if !terms.at_sender() && sent.len <= terms.mss && self.retransmissions() > before {
                    self.repair
                        .get_or_insert_default()
                        .recovery
                        .retransmissions
                        .reaches(sent.end());
                }
            }
            let (position, seq) = (max, sent.seq + old);
            self.later_data(&Sent { position, seq, len: sent.len - old, ..*sent }, false);
        }
        false
    }

    /// The same as [`SenderModel::new_data`], of what does not continue where the highest ended.
    #[inline(never)]
    fn later_data(&mut self, sent: &Sent, missed: bool) {
        self.new_data(sent, missed);
    }

    /// How many were found so far.
    fn retransmissions(&self) -> usize {
        self.repair.as_ref().map_or(0, |repair| repair.recovery.retransmissions.len())
    }

    /// A segment of data that went out before, or was missed then. Returns the same as
    /// [`SenderModel::sent`].
    fn old_data(&mut self, sent: &Sent) -> bool {
        if self.stream.is_keep_alive_or_window_probe(sent) {
            self.stream.uncount();
            return false;
        }
        let records = self.stream.outstanding.cut_out(sent.position, sent.end());
        let behind_again = self.is_behind_retransmission(sent);
        if behind_again || self.stream.is_late_original(sent, records.clone()) {
            let overtaken = behind_again || self.stream.was_overtaken(sent);
            if let Some(repair) = self.repair.as_mut().filter(|_| overtaken) {
                repair.recovery.retransmissions.came_late(sent);
            }
            return overtaken;
        }
        self.again(sent, records);
        false
    }

    /// A segment goes out again, in place of these records.
    pub(super) fn again(&mut self, sent: &Sent, records: Range<usize>) {
        self.limits.was_missing(true);
        self.reconsider_silence(sent);
        let (new, max) = (self.new_before(sent, records.start), self.stream.outstanding.max());
        let recovery = &mut self.repair.get_or_insert_default().recovery;
        let speaks_against_head = recovery.evidence.against_head().is_some();
        if new > 0 {
            recovery.behind.lost(new, max, sent);
        }
        let kind = self.explain(sent, records.start);
        if new > 0 && kind != Kind::FastRetransmit {
            self.repair.get_or_insert_default().recovery.behind.lost(0, max, sent);
        }
        let behind_head = records.start > 0;
        let is_head = !behind_head && !records.is_empty();
        if !is_by_ack(kind) {
            self.timer_expired(sent, is_head);
        }
        let is_acked = records.is_empty() && self.stream.outstanding.is_acked(sent.end());
        let delayed = is_head && !speaks_against_head && self.stream.may_delay_ack(sent.at);
        let cuts = |repair: &mut Repair| repair.causes.shortened.cuts(sent, kind, &self.stream);
        let too_big = self.repair.as_deref_mut().is_some_and(cuts);
        // Before `retransmitted` adds to the retransmissions: the records take the next index.
        let replaced = self.replace(sent, records, too_big);
        // At the receiver, what was seen has arrived. But the head would have been acknowledged, so
        // it was lost behind the capture, unless the receiver delays that ACK.
        let received = self.stream.terms.sight == Sight::Received && replaced.unseen == 0;
        let had_arrived = is_acked || sent.end() <= self.passed || received && behind_head;
        let in_doubt = received && !had_arrived && delayed;
        if received && is_head && !had_arrived && speaks_against_head {
            // What was behind it has arrived: the capture is not at the receiver, and what it shows
            // may be lost.
            self.stream.turns_out_arrived();
        }
        let replaced = &replaced;
        self.retransmitted(&Again {
            sent,
            kind,
            replaced,
            is_head,
            had_arrived,
            in_doubt,
            too_big,
        });
    }

    /// Whether `sent` is an original that comes behind its retransmission, by timestamps. What
    /// showed its hole may have gone out in the same tick; a retransmission goes out after that.
    fn is_behind_retransmission(&self, sent: &Sent) -> bool {
        self.stream.holes.is_of_same_tick(sent)
            && self.repair.as_ref().is_some_and(|r| r.recovery.retransmissions.has_later(sent))
    }

    /// What ended the last silence goes out again: a loss may have made that silence.
    fn reconsider_silence(&mut self, sent: &Sent) {
        let Some(silence) = self.limits.last_silence() else { return };
        if let Some(taken) = silence.is_refuted(sent, &self.stream) {
            self.stalls.was_held_back(silence.ended(), false);
            return self.limits.was_repairing_none(taken);
        }
        let (held_back, paused) = silence.comes_again(sent, &self.stream.timers);
        let ended = silence.ended();
        if held_back > Span::ZERO {
            self.limits.was_repairing(held_back);
            if !paused {
                self.stalls.was_held_back(ended, true);
            }
        }
    }

    /// Why a segment is retransmitted that has these records from index `first` on.
    fn explain(&mut self, sent: &Sent, first: usize) -> Kind {
        let Self { stream, repair, ways, picture, .. } = self;
        let Repair { recovery, causes, .. } = &mut **repair.get_or_insert_default();
        let sign = Sign::of(sent, stream, recovery);
        let kind = causes.retransmission(sent, first, stream, recovery, picture);
        ways.retransmitted(sent.at, kind, &sign, stream);
        if let Some(waited) = causes.take_expiry() {
            ways.expired(waited, stream);
        }
        kind
    }

    /// A timer has sent this, and not an ACK. `is_head`: it is the first outstanding segment.
    fn timer_expired(&mut self, sent: &Sent, is_head: bool) {
        let Self { stream, repair, limits, .. } = self;
        let Repair { recovery, causes, .. } = &mut **repair.get_or_insert_default();
        causes.timeouts.passed(recovery.retransmissions.len(), limits.passed());
        limits.timer_expired(stream);
        let moments = &stream.moments;
        let holds_up = sent.payload() > 0;
        if holds_up && stream.outstanding.is_empty() {
            // The ACK was lost behind the capture, or in the sender's host: the sender has waited
            // for it ever since.
            limits.was_repairing(moments.silence(sent.at));
        }
        if is_head {
            let went_on = moments.since_progress(sent.at) - moments.since_new_data(sent.at);
            stream.outstanding.misses_none(went_on);
        }
    }

    /// The segment takes the place of these records, which say what was lost, and what a replay
    /// needs to know. What was too big was lost to no queue.
    fn replace(&mut self, sent: &Sent, records: Range<usize>, too_big: bool) -> Replaced {
        let Self { stream, repair, losses, episodes, .. } = self;
        let index = repair.get_or_insert_default().recovery.retransmissions.len();
        let (window, rtt) = (stream.windows.offered(), stream.timers.min_rtt());
        let first = stream.outstanding.get(records.start);
        let begins = first.is_some_and(|segment| episodes.begins_with(segment));
        let soon = Span(rtt.0 / 2);
        let flight = if begins { stream.outstanding.burst(records.start, soon) } else { 0 };
        if let Some(segment) = first.filter(|_| !records.is_empty() && !too_big) {
            losses.retransmitted(segment, index, stream);
        }
        stream.retransmit(sent, records, index as u32 + 1, |segment| {
            episodes.retransmitted(segment, index, window, flight, rtt);
        })
    }

    /// All that a retransmission changes but for the records.
    fn retransmitted(&mut self, again: &Again<'_>) {
        let Self { stream, repair, marks, picture, .. } = self;
        let recovery = &mut repair.get_or_insert_default().recovery;
        let Again { sent, kind, .. } = *again;
        recovery.retransmitted(again, stream);
        if let Some(marks) = marks {
            marks.retransmitted(recovery.phases.is_open());
        }
        if matches!(kind, Kind::SlowStart | Kind::TailLossProbe | Kind::ProbeOrTimeout) {
            stream.windows.sent(sent.len);
        }
        let transmission = recovery.retransmissions.last().map_or(1, |r| r.transmission);
        picture.retransmitted(sent, stream.stand(), transmission);
        if is_by_ack(kind) {
            stream.windows.estimate_cwnd(recovery.phases.is_recovery());
        }
    }
}

/// No packet was lost before the capture since the last one, as its number says.
fn is_next(sent: &Sent) -> bool {
    sent.counted && sent.missing() == 0
}

/// Whether an ACK has let this go, or a router; what else did was silence.
fn is_by_ack(kind: Kind) -> bool {
    matches!(kind, Kind::FastRetransmit | Kind::Recovery | Kind::SlowStart | Kind::TooBig)
}
