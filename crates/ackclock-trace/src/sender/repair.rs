//! Where the sender stands in loss recovery, and how ACKs move it: the states of Linux and of the PRR paper (section 2.1).
//!
//! A recovery or a slow start after a timeout lasts until what was outstanding at its beginning is acknowledged (RFC 6582, RFC
//! 6675, RFC 5681), unless the sender finds it needless and undoes it.

use ackclock_tcp::{EventKind, Span, Time};

use super::outstanding::Segment;
use super::{Acked, SenderModel};
use crate::connection::{Recovery, State};

/// How many segments of an ACK are looked at for their timestamps.
const REACH: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Open,
    Recovery,
    /// After a timeout.
    Loss,
}

/// A probe in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// It is answered when this position is acknowledged.
    pub end: u64,
    pub at: Time,
}

#[derive(Debug, Default)]
pub(super) struct Repair {
    pub phase: Phase,
    /// The phase lasts until this position is acknowledged.
    pub recover: u64,
    /// Number of its first retransmission.
    pub first: u32,
    /// How many of those from there on D-SACKs have reported.
    pub dsacked: usize,
    /// Which of the recoveries found it is.
    pub recovery: Option<usize>,
    /// What an undo ended before its time, if the sender undoes: phase and recovery point.
    pub undone: Option<(Phase, u64)>,
    /// Timeouts since `una` advanced.
    pub without_progress: u32,
    /// When the first sign came that the last transmission of the head is lost.
    pub evidence: Option<Time>,
    /// When an ACK last spoke of a loss: by a duplicate, a SACK block, or as a partial ACK.
    pub news: Time,
    /// A phase that has just ended, and that a sender without SACK stays in until more is acknowledged (RFC 6582 section 3.2).
    held: Option<Phase>,
    /// A recovery that Linux begins at once when one ends and retransmissions are outstanding; up to this position.
    resumed: Option<u64>,
    /// Timestamp of the first retransmission since none was outstanding (Linux's `retrans_stamp`).
    pub stamp: Option<u32>,
    /// Nothing but what the timer sent has been sent again since it expired: F-RTO (RFC 5682) may still find it spurious.
    pub f_rto: bool,
    /// The ACK at hand reports data that was outstanding then and never sent again.
    original: bool,
    /// Of what has arrived, what was sent last: when, and its position (RACK.segment of RFC 8985).
    latest: (Time, u64),
    /// Duplicate ACKs since the head was sent again, and segments outstanding at that time.
    pub head_dupacks: u32,
    pub head_flight: u32,
    pub probe: Option<Probe>,
}

impl Repair {
    pub fn is_calm(&self) -> bool {
        self.phase == Phase::Open && self.undone.is_none()
    }

    /// Whether the retransmission with this number is one of this phase.
    pub fn has(&self, again: u32) -> bool {
        again > 0 && again >= self.first
    }
}

impl SenderModel {
    /// The state before what happens now, with the names of Linux.
    pub(super) fn state(&self) -> State {
        let held = self.repair.held.filter(|_| self.repair.phase == Phase::Open && self.una == self.repair.recover);
        let resumed = self.repair.resumed.is_some_and(|recover| self.una < recover);
        match held.unwrap_or(self.repair.phase) {
            Phase::Recovery => State::Recovery,
            Phase::Open if resumed => State::Recovery,
            Phase::Loss => State::Loss,
            Phase::Open if self.out.sacked_bytes > 0 || self.dupacks > 0 => State::Disorder,
            Phase::Open => State::Open,
        }
    }

    #[cold]
    pub(super) fn acked_slowly(&mut self, a: &Acked) {
        if !self.started {
            self.started = true;
            (self.una, self.max, self.progress) = (a.ack, a.ack, a.at);
            return;
        }
        self.terms.sack |= a.sacks > 0;
        if a.ack > self.max {
            self.found.unseen += a.ack - self.max;
            self.max = a.ack;
        }
        self.repair.original = false;
        let disorder = self.out.sacked_bytes > 0 || self.dupacks > 0 || self.held_by_receiver(a);
        if a.dsack {
            self.found.dsacks += 1;
            self.duplicate_reported(a);
        }
        let newly_sacked = self.take_sacks(a);
        let advance = a.ack > self.una;
        if advance {
            self.take_advance(a, disorder, newly_sacked);
        } else {
            self.take_duplicate(a, newly_sacked);
            self.f_rto_undoes(a);
        }
        if self.ack_fresh || a.dsack {
            self.repair.news = a.at;
        }
        self.weigh(a.at);
    }

    /// Whether the receiver held what is behind the head when that arrived, so that the ACK echoes the head alone.
    fn held_by_receiver(&self, a: &Acked) -> bool {
        let last = a.ack.checked_sub(1).and_then(|byte| self.out.get(self.out.find(byte)));
        let (Some(head), Some(last)) = (self.out.head(), last) else { return false };
        // Data that went out before what was sent again.
        if head.again > 0 && last.position > head.position && self.last_sent(last) < self.last_sent(head) {
            return true;
        }
        // A delayed ACK stands for two arrivals (RFC 5681 section 4.2). A third one with a timestamp of its own was there before.
        let Some(echo) = a.tsecr else { return false };
        let mut second = None;
        for segment in (1..REACH).map_while(|i| self.out.get(i)).take_while(|s| s.position < a.ack) {
            let note = segment.again.checked_sub(1).and_then(|i| self.notes.get(i as usize));
            let later = note.and_then(|n| n.tsval).filter(|tsval| (tsval.wrapping_sub(echo) as i32) > 0);
            match (second, later) {
                (Some(second), Some(third)) if second != third => return true,
                (None, Some(_)) => second = later,
                _ => {}
            }
        }
        false
    }

    /// The SACK blocks, whose first may be a D-SACK. Returns whether they report anything new.
    fn take_sacks(&mut self, a: &Acked) -> bool {
        let mut newly = core::mem::take(&mut self.newly);
        newly.clear();
        for &(left, right) in a.sack.iter().take(usize::from(a.sacks)).skip(usize::from(a.dsack)) {
            self.out.sack(left.max(self.una), right, |s| newly.push(*s));
        }
        let (mut oldest, mut newest) = (None, Time::ZERO);
        for segment in &newly {
            self.pipe = self.pipe.saturating_sub(u64::from(segment.len));
            self.arrived(segment, a, false);
            if segment.again == 0 && !segment.unseen {
                oldest = Some(oldest.map_or(segment.first_at, |o: Time| o.min(segment.first_at)));
                newest = newest.max(segment.first_at);
            }
        }
        // What the ACK advances over is the better sample.
        if let Some(oldest) = oldest.filter(|_| a.ack <= self.una) {
            self.measure(a, oldest, newest);
        }
        let any = !newly.is_empty();
        self.newly = newly;
        any
    }

    /// Tells fates and recent arrivals of a segment that was reported for the first time.
    fn arrived(&mut self, segment: &Segment, a: &Acked, echo: bool) {
        let sent = self.delivered(segment, a, echo);
        self.repair.latest = self.repair.latest.max((sent, segment.position));
        self.repair.original |= segment.again == 0 && !segment.unseen && segment.end() <= self.repair.recover;
    }

    fn take_advance(&mut self, a: &Acked, disorder: bool, newly_sacked: bool) {
        let (mut oldest, mut newest, mut again) = (None, Time::ZERO, None);
        let mut first = true;
        while let Some(segment) = self.out.pop_acked(a.ack) {
            if segment.is_hole() {
                self.found.unseen += u64::from(segment.len);
            }
            if segment.sacked {
                first = false;
                continue;
            }
            self.pipe = self.pipe.saturating_sub(u64::from(segment.len));
            // The ACK echoes the segment that let it advance: the first one, or with it what had waited behind it.
            self.arrived(&segment, a, first || disorder);
            first = false;
            if segment.again > 0 {
                again = Some(self.repair.latest.0);
            } else if !segment.unseen {
                oldest = oldest.or(Some(segment.first_at));
                newest = segment.first_at;
            }
        }
        self.out.forget_sacked_below(a.ack);
        self.una = a.ack;
        self.take_samples(a, oldest, newest, again);
        self.dupacks = 0;
        self.advanced(a);
        self.repair.head_dupacks = 0;
        self.repair.evidence = None;
        self.probe_answered(a);
        self.ack_fresh = newly_sacked || self.repair.phase != Phase::Open;
        self.end_phase(a);
        if self.repair.phase == Phase::Open && self.out.sacked_bytes == 0 {
            self.pipe = self.max - self.una;
        }
        self.forget_stamp();
        self.period_ends(a.at);
        if self.repair.undone.is_some_and(|(_, recover)| self.una >= recover) {
            self.repair.undone = None;
        }
    }

    fn forget_stamp(&mut self) {
        let head_again = self.out.head().is_some_and(|head| head.again > 0);
        if self.repair.phase == Phase::Open && self.out.retransmitted == 0 && !head_again {
            self.repair.stamp = None;
        }
    }

    /// Karn's rule: an ACK of anything that was sent again measures nothing, unless a timestamp tells which transmission it answers.
    fn take_samples(&mut self, a: &Acked, oldest: Option<Time>, newest: Time, again: Option<Time>) {
        match (oldest, again) {
            (Some(oldest), None) => {
                self.measure(a, oldest, newest);
            }
            (_, Some(sent)) if a.tsecr.is_some() && a.timed => {
                self.clock.begin(a.at.since(sent), self.una, self.max);
                self.clock.backoff = 0;
            }
            _ => {}
        }
    }

    fn take_duplicate(&mut self, a: &Acked, newly_sacked: bool) {
        let repeats = a.ack == self.una && !a.with_data && !self.out.is_empty();
        // RFC 5681 section 2: the window must not have changed. RFC 6675 section 2: with SACK, news make the duplicate.
        let duplicate = if self.terms.sack { newly_sacked } else { repeats && a.window == self.window };
        self.ack_fresh = duplicate;
        if duplicate {
            self.dupacks += 1;
            self.repair.head_dupacks += 1;
            if !self.terms.sack {
                self.pipe = self.pipe.saturating_sub(u64::from(self.terms.mss));
            }
        }
    }

    /// The phase ends when its recovery point is acknowledged, or when the sender learns that it was needless.
    fn end_phase(&mut self, a: &Acked) {
        if self.repair.phase == Phase::Open {
            return;
        }
        if self.una >= self.repair.recover {
            let held = (!self.terms.sack).then_some(self.repair.phase);
            self.leave(a.at, false);
            self.repair.held = held;
            self.repair.resumed = (self.terms.sack && self.out.retransmitted > 0).then_some(self.max);
        } else if !self.clock.foreign && self.echo_undoes(a) {
            self.undo(a.at, "eifel");
        } else {
            self.f_rto_undoes(a);
        }
    }

    /// F-RTO with SACK (RFC 5682 section 3.1), as Linux does it: data arrives that was outstanding and never sent again.
    fn f_rto_undoes(&mut self, a: &Acked) {
        let lasts = self.repair.phase == Phase::Loss && self.repair.f_rto && self.una < self.repair.recover;
        if lasts && self.repair.original && self.terms.sack && !self.clock.foreign {
            self.undo(a.at, "f-rto");
        }
    }

    /// Eifel detection (RFC 3522), as Linux does it: at once after a timeout, in a recovery when nothing sent again is outstanding.
    fn echo_undoes(&self, a: &Acked) -> bool {
        let (Some(first), Some(echo)) = (self.repair.stamp, a.tsecr) else { return false };
        (echo.wrapping_sub(first) as i32) < 0 && (self.repair.phase == Phase::Loss || self.out.retransmitted == 0)
    }

    /// The sender may have found that it had no reason; what it does next shows.
    pub(super) fn undo(&mut self, at: Time, by: &'static str) {
        let was = (self.repair.phase, self.repair.recover);
        self.leave(at, false);
        self.repair.undone = Some(was);
        self.picture(at, EventKind::Undone { by });
    }

    pub(super) fn leave(&mut self, at: Time, by_timeout: bool) {
        if let Some(recovery) = self.repair.recovery.take().and_then(|i| self.found.recoveries.get_mut(i)) {
            recovery.end = Some(at);
            recovery.by_timeout = by_timeout;
            self.picture(at, EventKind::RecoveryLeft { by_timeout, cwnd_before: self.peak });
        }
        self.repair.phase = Phase::Open;
        self.repair.undone = None;
        (self.repair.held, self.repair.resumed) = (None, None);
        self.repair.evidence = None;
    }

    /// A recovery begins with the retransmission that comes next.
    pub(super) fn enter_recovery(&mut self, at: Time) {
        let resumed = self.repair.resumed.filter(|&recover| self.una < recover);
        self.leave(at, false);
        let flight = self.max - self.una;
        self.repair.phase = Phase::Recovery;
        self.repair.recover = resumed.unwrap_or(self.max);
        (self.repair.first, self.repair.dsacked) = (self.notes.len() as u32 + 1, 0);
        self.repair.recovery = Some(self.found.recoveries.len());
        self.repair.probe = None;
        self.found.recoveries.push(Recovery {
            start: at,
            end: None,
            by_timeout: false,
            flight,
            retransmissions: 0,
            needless: false,
        });
        self.picture(at, EventKind::RecoveryEntered { recover: self.max, flight, pipe: self.pipe, by: "capture" });
    }

    /// When the head was last sent; `None` if nothing is outstanding.
    pub(super) fn head_sent(&self) -> Option<Time> {
        self.out.head().map(|head| self.last_sent(head))
    }

    /// When `segment` was last sent.
    pub(super) fn last_sent(&self, segment: &Segment) -> Time {
        let again = segment.again.checked_sub(1).and_then(|i| self.found.retransmissions.get(i as usize));
        again.map_or(segment.first_at, |r| r.at)
    }

    /// Notes when the first sign came that the head is lost.
    pub(super) fn weigh(&mut self, at: Time) {
        let Some(head) = self.out.head() else {
            self.repair.evidence = None;
            return;
        };
        let repairing = self.repair.phase != Phase::Open;
        let sent_again = self.repair.has(head.again);
        let told = if repairing && !sent_again {
            // It is next in turn.
            true
        } else if self.terms.sack {
            // Something sent later has arrived (RFC 8985 section 6.2).
            self.repair.latest > (self.last_sent(head), head.position)
        } else if sent_again || head.again > 0 {
            // Everything outstanding when it was sent again has drawn a duplicate, and then one more (Lin & Kung section 6.2).
            self.repair.head_dupacks > self.repair.head_flight
        } else {
            self.dupacks > 0
        };
        if !told {
            self.repair.evidence = None;
        } else if self.repair.evidence.is_none() {
            self.repair.evidence = Some(at);
        }
    }

    /// The head goes out again: what spoke against it spoke against an earlier transmission.
    pub(super) fn head_goes_again(&mut self) {
        self.repair.evidence = None;
        self.repair.head_dupacks = 0;
        self.repair.head_flight = self.out.len() as u32;
    }

    /// Time since the retransmission timer was last set, at the least.
    pub(super) fn waited(&self, at: Time) -> Span {
        let probe = self.repair.probe.map_or(Time::ZERO, |p| p.at);
        let head = self.head_sent().unwrap_or(Time::ZERO);
        // With SACK Linux counts from when the head was sent, otherwise from the last progress.
        let base = if self.terms.sack { head } else { head.max(self.progress) };
        at.since(base.max(probe))
    }
}
