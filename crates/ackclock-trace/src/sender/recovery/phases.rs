//! Where the sender stands in loss recovery: the states of Linux and of the PRR paper (section
//! 2.1), and the recoveries that it went through.
//!
//! A recovery, or the slow start after a timeout, lasts until what was outstanding at its beginning
//! is acknowledged (RFC 6582, RFC 6675, RFC 5681). It ends sooner if the sender finds it spurious
//! and undoes it.

use ackclock_tcp::{Time, Timestamps};

use super::reports::Reports;
use super::retransmissions::Retransmissions;
use crate::connection::{Kind, Recovery, State};
use crate::sender::stream::outstanding::Outstanding;
use crate::sender::stream::segment::Segment;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    Recovery,
    /// After a timeout.
    Loss,
}

#[derive(Debug, Default)]
pub(crate) struct Phases {
    phase: Phase,
    /// The phase lasts until this position is acknowledged.
    recover: u64,
    /// Number of the phase's first retransmission.
    first: u32,
    /// A recovery has begun while the sender went back over all that had been outstanding at a
    /// timeout: that of its first retransmission, or 0.
    goes_back_from: u32,
    /// So many retransmissions of the recovery were of that.
    gone_back: u32,
    /// What D-SACKs say of the response that the phase belongs to.
    pub reports: Reports,
    recoveries: Vec<Recovery>,
    /// The last of `recoveries` has not ended.
    recovering: bool,
    /// What an undo ended before its time, if the sender undoes: phase and recovery point.
    undone: Option<(Phase, u64)>,
    /// How often an undo was due and new data went out next, less how often the recovery went on.
    undoes: i16,
    /// What went out since an undo was due has been counted.
    counted: bool,
    /// Retransmissions that went on with what was due to be undone, though enough spoke of a loss:
    /// if this sender undoes, each has begun a recovery.
    anew: Vec<Anew>,
    /// A partial ACK alone has let the next hole go.
    goes_on: bool,
    /// One partial ACK has let two go: the sender is in slow start since its fast retransmit, as
    /// Tahoe is.
    pub slow_starts: bool,
    /// A phase that has just ended, and that a sender without SACK stays in until more is
    /// acknowledged (RFC 6582 section 3.2).
    lingering: Option<Phase>,
    /// A recovery that Linux begins at once when one ends and retransmissions are outstanding. It
    /// lasts until this position is acknowledged.
    follow_up: Option<u64>,
    /// Timestamp of the first retransmission since none was outstanding (Linux's `retrans_stamp`).
    stamp: Option<u32>,
    /// Since the timer expired, only the timer has retransmitted: F-RTO (RFC 5682) may still find
    /// the timeout spurious.
    f_rto: bool,
    /// An ACK has advanced since then.
    advanced: bool,
    /// The ACK at hand reports data that was outstanding when the phase began and that was never
    /// retransmitted.
    reports_original: bool,
}

/// A retransmission that may have begun a recovery.
#[derive(Clone, Copy, Debug)]
struct Anew {
    number: u32,
    at: Time,
    flight: u64,
    /// When the undo was due that has ended the one before.
    undone: Time,
}

impl Phases {
    /// Up to where data had gone out when a loss was last found; 0 before.
    pub fn recovery_point(&self) -> u64 {
        self.recover
    }

    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    pub fn is_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }

    /// After a timeout.
    pub fn is_loss(&self) -> bool {
        self.phase == Phase::Loss
    }

    /// The ACK at hand reports data that the phase found outstanding and that was never
    /// retransmitted.
    pub fn reports_original(&self) -> bool {
        self.reports_original
    }

    /// Nothing is repaired, and no undo is in doubt.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.is_open() && self.undone.is_none()
    }

    /// Whether the retransmission with this number is one of this phase.
    pub fn has(&self, number: u32) -> bool {
        number > 0 && number >= self.first
    }

    /// Number of the phase's first retransmission.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The recovery that goes on, counted from 1; 0 for none.
    pub fn recovery(&self) -> u32 {
        if self.is_recovery() { self.recoveries.len() as u32 } else { 0 }
    }

    /// The state with the names of Linux. `disorder`: duplicates or SACKed data speak of a loss.
    pub fn state(&self, una: u64, disorder: bool) -> State {
        let lingering = self.lingering.filter(|_| self.is_open() && una == self.recover);
        match lingering.unwrap_or(self.phase) {
            Phase::Recovery => State::Recovery,
            Phase::Open if self.follow_up.is_some_and(|recover| una < recover) => State::Recovery,
            Phase::Loss => State::Loss,
            Phase::Open if disorder => State::Disorder,
            Phase::Open => State::Open,
        }
    }

    /// The next ACK.
    pub fn next_ack(&mut self) {
        self.reports_original = false;
    }

    /// The ACK reports this segment for the first time.
    pub fn arrived(&mut self, segment: &Segment) {
        self.reports_original |=
            segment.again == 0 && !segment.unseen && segment.end() <= self.recover;
    }

    /// Everything is acknowledged that the phase is about.
    pub fn is_complete(&self, una: u64) -> bool {
        una >= self.recover
    }

    /// By which means the sender may find, with an ACK that advances, that it had no reason for
    /// this phase; `outstanding` retransmissions are not acknowledged yet.
    pub fn found_spurious(
        &self,
        tsecr: Option<u32>,
        outstanding: u32,
        una: u64,
        sack: bool,
    ) -> Option<&'static str> {
        if self.reports.are_complete() {
            Some("dsack")
        } else if self.eifel(tsecr, outstanding) {
            Some("eifel")
        } else {
            self.f_rto(una, sack)
        }
    }

    /// Eifel detection (RFC 3522), as Linux does it: at once after a timeout, in a recovery when no
    /// retransmission is outstanding.
    fn eifel(&self, tsecr: Option<u32>, outstanding: u32) -> bool {
        let (Some(first), Some(echo)) = (self.stamp, tsecr) else { return false };
        Timestamps::is_older(echo, first) && (self.phase == Phase::Loss || outstanding == 0)
    }

    /// F-RTO with SACK (RFC 5682 section 3.1), as Linux does it: data arrives that was outstanding
    /// and never retransmitted.
    pub fn f_rto(&self, una: u64, sack: bool) -> Option<&'static str> {
        let lasts = self.phase == Phase::Loss && self.f_rto && una < self.recover;
        (lasts && self.reports_original && sack).then_some("f-rto")
    }

    /// F-RTO without SACK (RFC 5682 section 2.1 steps 2 and 3): the ACK at hand is the second in a
    /// row that advances, and it reports data that was never retransmitted.
    pub fn f_rto_by_acks(&mut self) -> bool {
        let lasts = self.phase == Phase::Loss && self.f_rto;
        lasts && std::mem::replace(&mut self.advanced, true) && self.reports_original
    }

    /// A duplicate ACK comes: the timeout was needed, as far as F-RTO can tell.
    pub fn repeated(&mut self) {
        self.f_rto = false;
    }

    /// D-SACKs have reported all of a recovery. After a timeout that says nothing until an ACK
    /// advances (`tcp_process_loss`).
    pub fn is_reported(&self) -> bool {
        self.is_recovery() && self.reports.are_complete()
    }

    /// D-SACKs have reported all after a timeout: the ACK that advances next undoes it, also where
    /// it reaches the recovery point (`tcp_process_loss`).
    pub fn is_loss_reported(&self) -> bool {
        self.is_loss() && self.reports.are_complete()
    }

    /// The recovery point is acknowledged. Like every way out of a phase it returns whether that
    /// was a recovery.
    pub fn complete(&mut self, at: Time, outstanding: &Outstanding, sack: bool) -> bool {
        let lingering = (!sack).then_some(self.phase);
        let left = self.leave(at, false);
        self.lingering = lingering;
        if sack && outstanding.retransmitted() > 0 {
            self.follow_up = Some(outstanding.max());
            self.reports.begin(outstanding.una(), outstanding.retransmitted());
        }
        left
    }

    /// The sender may have found that it had no reason; what it does next shows.
    pub fn undo(&mut self, at: Time) -> bool {
        let was = (self.phase, self.recover);
        let left = self.leave(at, false);
        (self.undone, self.counted) = (Some(was), false);
        left
    }

    /// A recovery up to `recover` begins with the retransmission that comes next, with number
    /// `first`; `early` with a single duplicate, which is too few for a sender that counts them.
    pub fn enter_recovery(
        &mut self,
        at: Time,
        outstanding: &Outstanding,
        recover: u64,
        first: u32,
        early: bool,
    ) -> bool {
        let una = outstanding.una();
        let follow_up = self.follow_up.filter(|&recover| una < recover);
        // With new data out there, it has been over all of it.
        let goes_back_from = match self.phase {
            _ if recover != self.recover => 0,
            // RACK is no longer in the slow start then (`tcp_fastretrans_alert`).
            Phase::Loss if early => 0,
            Phase::Loss => self.first,
            // Reno has begun another one meanwhile.
            Phase::Recovery => self.goes_back_from,
            Phase::Open => 0,
        };
        let left = self.leave(at, false);
        if follow_up.is_none() {
            self.reports.begin(una, outstanding.retransmitted());
        }
        self.begin(Phase::Recovery, follow_up.unwrap_or(recover), first);
        self.goes_back_from = goes_back_from;
        self.recovering = true;
        self.recoveries.push(Recovery {
            start: at,
            end: None,
            by_timeout: false,
            flight: recover - una,
            retransmissions: 0,
            spurious: false,
        });
        left
    }

    /// The retransmission timer has expired, in this state, and sends the retransmission with
    /// number `first`.
    pub fn time_out(
        &mut self,
        at: Time,
        outstanding: &Outstanding,
        first: u32,
        state: State,
        backed_off: bool,
        foreign: bool,
    ) -> bool {
        // RFC 5682 section 2.1 step 1: not within a recovery. But in Linux, when the timer expires
        // again, whatever the first time was (`tcp_enter_loss`).
        let open = matches!(state, State::Open | State::Disorder);
        let f_rto = open || backed_off && (self.f_rto || !foreign);
        // The response of a recovery goes on in it, as that of a timeout does in the next one that
        // nothing was acknowledged before (`tcp_enter_loss`).
        let una = outstanding.una();
        let recovers = self.is_recovery() || self.follow_up.is_some_and(|recover| una < recover);
        let goes_on = recovers || self.is_loss() && backed_off;
        if !goes_on {
            self.reports.begin(una, 0);
        }
        let left = self.leave(at, true);
        self.begin(Phase::Loss, outstanding.max(), first);
        (self.f_rto, self.advanced) = (f_rto, false);
        left
    }

    fn begin(&mut self, phase: Phase, recover: u64, first: u32) {
        (self.phase, self.recover, self.first) = (phase, recover, first);
        (self.goes_back_from, self.gone_back) = (0, 0);
    }

    fn leave(&mut self, at: Time, by_timeout: bool) -> bool {
        self.phase = Phase::Open;
        (self.undone, self.lingering, self.follow_up) = (None, None, None);
        let left = std::mem::take(&mut self.recovering);
        if let Some(recovery) = self.recoveries.last_mut().filter(|_| left) {
            recovery.end = Some(at);
            recovery.by_timeout = by_timeout;
        }
        left
    }

    /// What seemed to be a recovery, or to be no phase at all, turns out to be the slow start after
    /// a loss. What went out in it after the first retransmission begins no recovery.
    pub fn is_slow_start(&mut self) {
        self.phase = Phase::Loss;
        self.anew.retain(|begin| begin.number <= self.first);
    }

    /// What may have been a probe, and goes again, was a timeout.
    pub fn has_timed_out(&mut self, una: u64) {
        self.is_slow_start();
        self.reports.begin(una, 0);
    }

    /// An undo was due, but nothing says that the sender has made it.
    pub fn is_undo_in_doubt(&self) -> bool {
        self.undone.is_some()
    }

    /// This sender was seen to undo. An ACK that is missing in the capture may say the contrary.
    pub fn undoes(&self) -> bool {
        self.undoes > 0
    }

    /// New data goes out. In a recovery without SACK the next hole would come first (RFC 6582
    /// section 3.2 step 3).
    #[inline]
    pub fn new_data(&mut self) {
        if matches!(self.undone, Some((Phase::Recovery, _))) && !self.counted {
            (self.undoes, self.counted) = (self.undoes.saturating_add(1), true);
        }
    }

    /// The sender has not undone anything, as far as is known: the phase goes on. `evident`: enough
    /// speaks of a loss for a sender that undoes to begin anew at once (`tcp_fastretrans_alert`).
    /// With less, this one does not undo. Returns when the undo was due, of a recovery.
    pub fn resume(&mut self, evident: bool) -> Option<Time> {
        if !evident {
            self.anew = Vec::new();
        }
        let (phase, recover) = self.undone.take()?;
        (self.phase, self.recover) = (phase, recover);
        if phase != Phase::Recovery {
            return None;
        }
        if !evident {
            self.undoes = self.undoes.saturating_sub(1);
        }
        self.recovering = true;
        self.recoveries.last_mut()?.end.take()
    }

    /// The retransmission with this number, and with so much outstanding, begins a recovery if this
    /// sender undoes. The undo was due at `undone`.
    pub fn may_begin_anew(&mut self, at: Time, number: u32, flight: u64, undone: Time) {
        self.anew.push(Anew { number, at, flight, undone });
    }

    /// Whether some retransmissions have begun recoveries, as is known only now.
    #[inline]
    pub fn has_begun_anew(&self) -> bool {
        self.undoes() && !self.anew.is_empty()
    }

    /// Each of these has begun a recovery.
    pub fn begin_anew(&mut self, retransmissions: &mut Retransmissions) {
        let anew = std::mem::take(&mut self.anew);
        let of = retransmissions.began_recoveries(anew.iter().map(|begin| begin.number));
        let mut begins = anew.iter().zip(of).peekable();
        let mut all = Vec::with_capacity(self.recoveries.len() + anew.len());
        for (number, mut recovery) in (1..).zip(std::mem::take(&mut self.recoveries)) {
            while let Some((begin, _)) = begins.next_if(|(_, of)| *of == number) {
                let next = Recovery { start: begin.at, flight: begin.flight, ..recovery };
                all.push(Recovery { end: Some(begin.undone), by_timeout: false, ..recovery });
                recovery = next;
            }
            all.push(recovery);
        }
        self.recoveries = all;
    }

    /// Whether this sender goes on with a recovery after a partial ACK (RFC 6582), as was seen.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// A partial ACK has let the next hole go, without duplicates.
    pub fn has_gone_on(&mut self) {
        self.goes_on = true;
    }

    /// Whether the sender goes on with the slow start after a timeout, from where that had come to
    /// when the recovery began: `segment`, which is not the head, has not been sent since.
    pub fn goes_back(&self, segment: &Segment) -> bool {
        self.is_recovery() && segment.again < self.goes_back_from && segment.end() <= self.recover
    }

    /// Whether duplicates have let the head go in a recovery that began while the sender went back.
    pub fn is_going_back(&self) -> bool {
        self.is_recovery() && self.goes_back_from > 0
    }

    /// Another retransmission is of that.
    pub fn has_gone_back(&mut self) {
        self.gone_back += 1;
    }

    /// With retransmissions up to this number, only the first one of the phase is a repair.
    pub fn is_alone(&self, last: u32) -> bool {
        last == self.first + self.gone_back
    }

    /// What an ACK retransmits: a `repeated` retransmission of this phase, or one for which the
    /// sender begins `anew`. `None` if a recovery begins with it.
    pub fn by_ack(&self, repeated: bool, anew: bool) -> Option<Kind> {
        match self.phase {
            Phase::Recovery if !anew => Some(Kind::Recovery),
            // What the slow start sends has not been sent since the timeout.
            Phase::Loss if !repeated => Some(Kind::SlowStart),
            _ => None,
        }
    }

    /// A segment was retransmitted.
    pub fn retransmitted(&mut self, kind: Kind, tsval: Option<u32>) {
        self.f_rto &= kind.is_timeout();
        self.stamp = self.stamp.or(tsval);
    }

    /// An ACK has advanced to `una`; `clean` if no retransmission is outstanding.
    pub fn advanced(&mut self, una: u64, clean: bool) {
        if self.is_open() && clean {
            self.stamp = None;
        }
        if self.undone.is_some_and(|(_, recover)| una >= recover) {
            self.undone = None;
        }
    }

    /// At the end: the recoveries with their retransmissions counted.
    pub fn into_recoveries(mut self, retransmissions: &Retransmissions) -> Vec<Recovery> {
        let mut all_spurious = vec![true; self.recoveries.len()];
        for (recovery, spurious) in retransmissions.of_recoveries() {
            if let (Some(found), Some(all)) =
                (self.recoveries.get_mut(recovery), all_spurious.get_mut(recovery))
            {
                found.retransmissions += 1;
                *all &= spurious;
            }
        }
        for (recovery, all) in self.recoveries.iter_mut().zip(all_spurious) {
            recovery.spurious = all && recovery.retransmissions > 0;
        }
        self.recoveries
    }
}
