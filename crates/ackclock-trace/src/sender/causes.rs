//! Why a segment was sent again: by an ACK, by a probe's timer or by the retransmission timer.
//!
//! The retransmission timer sends the head, a probe's timer the tail, and both after silence. An ACK sends what its evidence speaks
//! against: within a millisecond, or, where time detects losses (RACK, delayed early retransmit), after a fraction of the round trip.
//! Whoever might be both is told by what comes next: a timer that has expired waits twice as long the next time, a probe leaves
//! the timer's interval as it was.

use ackclock_tcp::{Seq, Span, Time};

use super::fates::Note;
use super::repair::{Phase, Probe};
use super::timers::{TICKS, nearly};
use super::{Acked, SenderModel, Sent, Sight};
use crate::connection::{Class, Kind, Needless, Retransmission, State, Timeout};

/// An ACK's retransmission follows it within microseconds, on a busy host within a millisecond.
const SOON: Span = Span::from_millis(1);

/// What an ACK's retransmission takes on a host that has nothing else to do.
const AT_ONCE: Span = Span::from_micros(100);

/// Between two segments of a sender that paces, at the least rate that matters here.
const PACE: Span = Span::from_millis(10);

/// A keep-alive comes after at least so much silence: shorter intervals are of use to nobody (RFC 1122 section 4.2.3.6 asks for hours).
const KEEP_ALIVE: Span = Span::from_secs(1);

/// What sent a segment again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    Ack,
    Probe,
    /// The timer: the probe's, unless what follows says that it was the other.
    ProbeOrTimer,
    Timer,
    Nothing,
}

/// A probe that may have been a timeout.
#[derive(Debug)]
pub(super) struct Ambiguous {
    retransmission: usize,
    /// What is to be said if it was one.
    timeout: Timeout,
    waited: Span,
    rto: Span,
}

/// The last packet that carried old data, and what is known of probes.
#[derive(Debug, Default)]
pub(super) struct Last {
    frame: u64,
    kind: Option<Kind>,
    ambiguous: Vec<Ambiguous>,
    /// Probes that can have been nothing else, and timeouts that a probe would have come before.
    probes: u32,
    unprobed: u32,
}

impl SenderModel {
    /// A segment of data that went out before, or was missed then.
    pub(super) fn old_data(&mut self, sent: &Sent) {
        if self.is_no_retransmission(sent) {
            self.found.segments -= 1;
            return;
        }
        let end = sent.position + u64::from(sent.len);
        let from = self.out.cut(sent.position);
        let to = self.out.cut(end);
        // Where there are too many pieces, the record that it ends in is sent again as a whole.
        let to = to + usize::from(self.out.get(to).is_some_and(|s| s.position < end));
        if self.late_original(sent, from, to) {
            return;
        }
        let kind = self.kind(sent, from, end);
        self.record(sent, kind, from, to);
        if kind == Kind::Recovery || kind == Kind::FastRetransmit || kind == Kind::SlowStart {
            self.note_window();
        }
    }

    /// Keep-alives, probes of a closed window, and frames that the capture has twice.
    fn is_no_retransmission(&self, sent: &Sent) -> bool {
        let silence = sent.at.since(self.last_ack.max(self.last_new));
        let keep_alive = sent.len == 1 && !sent.fin && self.out.is_empty() && silence > KEEP_ALIVE;
        let window_probe = sent.len == 1 && self.window == 0 && sent.position == self.una;
        keep_alive || window_probe
    }

    fn kind(&mut self, sent: &Sent, from: usize, end: u64) -> Kind {
        // Further segments of one packet share its cause; only one of them begins a recovery.
        if let Some(kind) = self.last.kind.filter(|_| self.last.frame == sent.frame) {
            return if kind == Kind::FastRetransmit { Kind::Recovery } else { kind };
        }
        let by = self.sent_by(sent, end);
        self.resolve_probe(sent, by);
        match by {
            Sender::Ack => self.by_ack(sent.at, from),
            Sender::Probe | Sender::ProbeOrTimer => {
                self.probe(sent, by == Sender::ProbeOrTimer, end);
                Kind::TailLossProbe
            }
            Sender::Timer => self.expire(sent),
            Sender::Nothing => Kind::Unknown,
        }
    }

    fn sent_by(&self, sent: &Sent, end: u64) -> Sender {
        let (at, head, tail) = (sent.at, sent.position <= self.una, end >= self.max);
        let idle = at.since(self.progress.max(self.last_new));
        let open = self.repair.phase == Phase::Open && !self.resumes();
        let probing = self.terms.sack && open && self.repair.probe.is_none();
        let recent = at.since(self.repair.news) <= self.settle();
        if !head {
            let disorder = recent || self.out.sacked_bytes > 0 || self.dupacks > 0;
            // Two round trips after the last progress (RFC 8985 section 7.2); if nothing else sends the tail again, whatever the
            // sender's estimate of them is.
            let pto = if disorder { nearly(self.clock.pto(false)) } else { nearly(self.clock.min_rtt()) };
            if tail && probing && idle >= pto && at.since(self.last_ack) >= pto {
                return Sender::Probe;
            }
            return if open && !disorder { Sender::Nothing } else { Sender::Ack };
        }
        let waited = self.waited(at);
        let rto = self.clock.backed_off();
        let due = waited >= nearly(rto);
        if let Some(evidence) = self.repair.evidence {
            // Without SACK nothing but the ACK itself sends again; with it time may have to pass (RFC 8985 section 6.2).
            let settle = self.settle();
            let (settling, prompt) = if self.terms.sack {
                (at.since(evidence) <= settle, at.since(self.last_ack) <= settle)
            } else {
                (false, self.follows(at))
            };
            // Away from the sender, how long an answer takes to come by is known by its shortest time only.
            let prompt = prompt || self.terms.sight != Sight::Sent;
            if settling || prompt && !due || self.coincides(at, waited) {
                return Sender::Ack;
            }
        } else if self.coincides(at, waited) || recent && !due && self.follows(at) {
            return Sender::Ack;
        }
        if tail && probing && self.out.sacked_bytes == 0 {
            // Linux sets the probe's timer to the earlier of its own time and the retransmission timer's.
            let late = rto + Span(rto.0 / 10) + TICKS;
            return match () {
                () if idle < nearly(self.clock.pto(false)) => Sender::Nothing,
                () if self.clock.outwaits_probes(idle) => Sender::Timer,
                () if idle < nearly(rto) => Sender::Probe,
                () if idle <= late => Sender::ProbeOrTimer,
                () => Sender::Timer,
            };
        }
        // No timer is shorter than a round trip; but that of NewReno may go on from before a partial ACK (RFC 6582 section 4).
        if open && self.repair.without_progress == 0 && at.since(self.progress) < nearly(self.clock.min_rtt()) {
            return Sender::Nothing;
        }
        Sender::Timer
    }

    /// How long after the first sign of a loss a segment may still be sent again because of it. Between the ends, and at the receiver, it
    /// may have waited in queues on its way: a round trip more.
    fn settle(&self) -> Span {
        let way = if self.terms.sight == Sight::Sent { Span::ZERO } else { self.clock.srtt() };
        self.clock.settle(self.found.dsacks) + way
    }

    /// An ACK with news came just before, and not because ACKs come all the time: that a timer expires by chance in such a
    /// small part of the time between two ACKs has one chance in fifty. Where the timer is due to the millisecond, both are
    /// coincidences, and the ACK must have been followed at once.
    fn coincides(&self, at: Time, waited: Span) -> bool {
        let lag = at.since(self.last_ack);
        let soon = if self.clock.expires_now(waited) { AT_ONCE } else { SOON };
        (self.ack_fresh || self.resumes()) && lag <= soon && self.ack_gap >= lag.times(50)
    }

    /// Whether an ACK may be what sends the head, and no later sign of a loss: it does so at once, or as fast as the sender paces. The
    /// first retransmission of a segment may have to wait for a pace of up to a segment in a round trip.
    fn follows(&self, at: Time) -> bool {
        let in_turn = self.out.head().is_some_and(|h| h.again == 0 || !self.repair.has(h.again));
        let pace = if in_turn { self.clock.srtt() } else { Span(self.clock.srtt().0 / 4).min(PACE) };
        at.since(self.last_ack) <= pace
    }

    /// An undo was due, but nothing says that the sender has made it.
    fn resumes(&self) -> bool {
        self.repair.undone.is_some() && self.out.sacked_bytes == 0 && self.dupacks == 0
    }

    fn by_ack(&mut self, at: Time, from: usize) -> Kind {
        if self.resumes()
            && let Some((phase, recover)) = self.repair.undone.take()
        {
            (self.repair.phase, self.repair.recover) = (phase, recover);
        }
        let again = self.out.get(from).is_some_and(|s| self.repair.has(s.again));
        // Reno leaves a recovery with the first ACK that advances (RFC 5681 section 3.2 step 6), sends nothing again for it, and
        // needs new duplicates.
        let alone = self.notes.len() == self.repair.first as usize;
        let anew = !self.terms.sack && !again && from == 0 && self.dupacks >= 2 && alone;
        if self.repair.phase == Phase::Recovery && !self.terms.sack && from > 0 && self.dupacks == 0 {
            self.is_tahoe(at);
        }
        match self.repair.phase {
            Phase::Recovery if !anew => Kind::Recovery,
            // What the slow start sends has not been sent since the timeout.
            Phase::Loss if !again => Kind::SlowStart,
            _ => {
                self.enter_recovery(at);
                Kind::FastRetransmit
            }
        }
    }

    /// A partial ACK releases one retransmission (RFC 6582 section 3.2 step 3). A second one on the same ACK says that there
    /// is no recovery: the sender has been in slow start since its fast retransmit, as Tahoe is.
    fn is_tahoe(&mut self, at: Time) {
        let first = self.repair.first as usize;
        let of_this_ack = self.found.retransmissions.last().is_some_and(|r| r.at >= self.last_ack);
        if of_this_ack && at.since(self.last_ack) <= SOON && self.notes.len() > first {
            self.repair.phase = Phase::Loss;
            for r in self.found.retransmissions.iter_mut().skip(first).filter(|r| r.kind == Kind::Recovery) {
                r.kind = Kind::SlowStart;
            }
        }
    }

    fn probe(&mut self, sent: &Sent, ambiguous: bool, end: u64) {
        self.repair.probe = Some(Probe { end, at: sent.at });
        if ambiguous {
            let timeout = self.timeout(sent);
            let (waited, rto) = (sent.at.since(self.progress.max(self.last_new)), self.clock.rto());
            self.last.ambiguous.push(Ambiguous { retransmission: self.notes.len(), timeout, waited, rto });
        } else {
            self.last.probes += 1;
        }
    }

    /// A probe is answered when all is acknowledged that was outstanding with it.
    pub(super) fn probe_answered(&mut self, a: &Acked) {
        if self.repair.probe.is_some_and(|p| a.ack >= p.end) {
            self.repair.probe = None;
        }
    }

    /// The timer that comes after a probe tells whether that was one: it has doubled if not.
    fn resolve_probe(&mut self, sent: &Sent, by: Sender) {
        let Some(open) = self.last.ambiguous.last() else { return };
        let Some(first) = self.found.retransmissions.get(open.retransmission) else { return };
        if by != Sender::Timer || first.position != sent.position || self.una > first.position {
            return;
        }
        let waited = sent.at.since(first.at);
        if self.repair.without_progress == 0 && waited.0.abs_diff(open.waited.0 * 2) < waited.0.abs_diff(open.rto.0) {
            self.was_timeout();
            self.repair.without_progress = 1;
            self.repair.phase = Phase::Loss;
            self.last.unprobed += 1;
        } else {
            self.last.ambiguous.pop();
            self.last.probes += 1;
        }
    }

    /// Whether one of the retransmissions from this one on is a probe that may have been a timeout.
    pub(super) fn has_open_probe(&self, from: usize) -> bool {
        self.last.ambiguous.last().is_some_and(|a| a.retransmission >= from)
    }

    fn was_timeout(&mut self) {
        let Some(open) = self.last.ambiguous.pop() else { return };
        if let Some(r) = self.found.retransmissions.get_mut(open.retransmission) {
            r.kind = Kind::Timeout;
        }
        self.picture_late_timeout(&open.timeout, open.rto);
        self.found.timeouts.push(open.timeout);
    }

    /// New data after silence: a probe if the sender has waited for about as long as a probe does, and nothing let it send.
    #[cold]
    pub(super) fn after_silence(&mut self, sent: &Sent) {
        let idle = sent.at.since(self.progress.max(self.last_new));
        let pto = self.clock.pto(self.out.len() == 1);
        let open = self.repair.phase == Phase::Open && self.repair.probe.is_none();
        let in_time = idle >= nearly(pto) && idle.0 <= pto.0 / 10 * 11 + TICKS.0;
        // What waits for a probe is held back by the window: it was full.
        let held_back = self.pipe + u64::from(self.terms.mss) > self.peak;
        if self.terms.sack && open && in_time && held_back && at_least(sent.at, self.last_ack, pto) {
            self.found.probes_of_new_data += 1;
            self.repair.probe = Some(Probe { end: sent.position + u64::from(sent.len), at: sent.at });
        }
    }

    /// The retransmission timer has expired (RFC 6298 section 5.4 to 5.6).
    fn expire(&mut self, sent: &Sent) -> Kind {
        let timeout = self.timeout(sent);
        // A single segment a probe would have sent by then, whatever this one waited for.
        let single = self.out.len() == 1;
        let unprobed = self.terms.sack && self.repair.phase == Phase::Open && self.repair.probe.is_none();
        let tells = !single || unprobed && self.clock.backoff == 0 && self.terms.sight == Sight::Sent;
        let evident = timeout.class == Class::NonTrigger && self.repair.evidence.is_none() && tells;
        if evident {
            self.clock.expired(sent.at.since(self.progress));
            if self.terms.sack && self.repair.probe.is_none() && self.clock.pto(false) < nearly(self.clock.rto()) {
                self.last.unprobed += 1;
            }
        }
        let backed_off = self.repair.without_progress > 0;
        // RFC 5682 section 2.1 step 1: not within a recovery, unless the timer expires again.
        let open = matches!(timeout.state, State::Open | State::Disorder);
        let f_rto = open || backed_off && self.repair.f_rto;
        if !backed_off && self.clock.backoff == 0 {
            self.clock.expired_after(self.waited(sent.at).min(sent.at.since(self.progress.max(self.last_new))));
        }
        self.picture_timeout(sent.at, &timeout, self.repair.without_progress, self.clock.backed_off());
        self.found.timeouts.push(timeout);
        self.leave(sent.at, true);
        self.repair.phase = Phase::Loss;
        self.repair.recover = self.max;
        (self.repair.first, self.repair.dsacked) = (self.notes.len() as u32 + 1, 0);
        self.repair.f_rto = f_rto;
        self.repair.without_progress += 1;
        self.repair.probe = None;
        self.clock.backoff += 1;
        self.dupacks = 0;
        self.pipe = u64::from(sent.len);
        self.peak = self.pipe;
        if self.out.head().is_some_and(|head| head.sacked) {
            self.out.forget_sacks();
        }
        if backed_off { Kind::BackedOffTimeout } else { Kind::Timeout }
    }

    /// What is to be said of a timeout that sends this.
    fn timeout(&self, sent: &Sent) -> Timeout {
        let head = self.out.head();
        let first_at = head.map_or(sent.at, |h| h.first_at);
        let since = |at: Time| self.found.retransmissions.last().is_some_and(|r| r.at > at);
        // Lin & Kung section 4.1. A probe that sent this segment again was an attempt, as for the engine.
        let class = match head {
            _ if self.repair.without_progress > 0 => Class::Backoff,
            None => Class::Unknown,
            Some(head) if head.again > 0 => Class::LostRetransmission,
            // Elsewhere than at the sender a fast retransmit may have been lost unseen, or an earlier timeout.
            Some(_) if self.terms.sight != Sight::Sent && self.may_hide_another(sent.at) => Class::Unknown,
            Some(_) if since(first_at) => Class::MultipleLosses,
            Some(_) => Class::NonTrigger,
        };
        Timeout {
            at: sent.at,
            seq: sent.seq,
            position: sent.position,
            retransmission: self.found.retransmissions.len(),
            class,
            state: self.state(),
            flight: self.max - self.una,
            cwnd: self.peak.max(self.pipe),
            waited: sent.at.since(self.progress),
            needless: None,
            episode: None,
        }
    }

    /// Whether something was due to be sent before this timeout, so that it may have been sent and lost before the capture.
    fn may_hide_another(&self, at: Time) -> bool {
        let three = 3 * u64::from(self.terms.mss);
        let rto = self.clock.rto();
        self.dupacks >= 3 || self.out.sacked_bytes >= three || at.since(self.progress) > rto + Span(rto.0 / 2)
    }

    fn record(&mut self, sent: &Sent, kind: Kind, from: usize, to: usize) {
        let number = self.notes.len() as u32 + 1;
        self.repair.f_rto &= matches!(kind, Kind::Timeout | Kind::BackedOffTimeout);
        let (mut previous, mut transmissions, mut hole) = (0, 1, 0);
        for index in from..to {
            if let Some(segment) = self.out.get(index) {
                previous = segment.again.max(previous);
                transmissions = segment.transmissions.max(transmissions);
                hole += if segment.is_hole() { segment.len } else { 0 };
                let segment = *segment;
                self.period_begins(&segment);
            }
            self.out.sent_again(index, number);
        }
        if matches!(kind, Kind::Timeout | Kind::BackedOffTimeout | Kind::SlowStart | Kind::TailLossProbe) {
            self.pipe += if kind == Kind::Timeout || kind == Kind::BackedOffTimeout { 0 } else { u64::from(sent.len) };
        }
        // Of a hole that could not be cut it fills a part. A FIN, which ends what is sent, is no payload.
        self.found.bytes += u64::from(hole.min(sent.len).saturating_sub(u32::from(sent.fin)));
        let below = from >= to && self.acked.is_some_and(|acked| acked >= sent.position + u64::from(sent.len));
        // The head would have been acknowledged: it was lost behind the capture.
        let arrives_again = self.terms.sight == Sight::Received && hole == 0 && from > 0;
        let needless = (below || arrives_again).then_some(Needless::Arrival);
        let arrived = (self.terms.sight == Sight::Received).then_some(false);
        self.found.retransmissions.push(Retransmission {
            frame: sent.frame,
            at: sent.at,
            seq: sent.seq,
            position: sent.position,
            len: sent.len - u32::from(sent.fin),
            kind,
            needless,
            known: needless.is_some() || arrived.is_some(),
            lost: arrived,
            transmission: u32::from(transmissions.max(1)) + 1,
        });
        self.notes.push(Note {
            tsval: sent.tsval,
            previous,
            end: sent.position + u64::from(sent.len),
            recovery: if self.repair.phase == Phase::Recovery { self.found.recoveries.len() as u32 } else { 0 },
            event: 0,
            reported: false,
        });
        self.repair.stamp = self.repair.stamp.or(sent.tsval);
        if from == 0 && to > 0 {
            self.head_goes_again();
        }
        (self.last.frame, self.last.kind) = (sent.frame, Some(kind));
        if self.terms.events {
            self.picture_sent(sent, Some(number));
        }
    }

    /// At the end: probes that may have been timeouts were what this sender was seen to make use of.
    pub(super) fn settle_probes(&mut self) {
        let without = self.last.probes == 0 && self.last.unprobed > 0;
        while without && !self.last.ambiguous.is_empty() {
            self.was_timeout();
        }
        self.found.timeouts.sort_by_key(|t| t.at);
    }

    /// A SYN or SYN/ACK of this end, each time that it is sent: its retransmissions are timeouts like any other.
    /// One that answers a SYN that came again is no timeout, and does not start the timer anew.
    pub fn syn(&mut self, frame: u64, at: Time, seq: Seq, answer: bool) {
        self.found.segments += 1;
        if !self.started {
            (self.started, self.progress, self.stall.opening) = (true, at, true);
            return;
        }
        if self.max > 0 {
            return;
        }
        let sent = Sent { frame, at, position: 0, seq, len: 1, fin: true, tsval: None, ip_id: None };
        let (class, kind) = match self.repair.without_progress {
            _ if answer => (Class::Unknown, Kind::Unknown),
            0 => (Class::NonTrigger, Kind::Timeout),
            _ => (Class::Backoff, Kind::BackedOffTimeout),
        };
        if !answer {
            let timeout = Timeout { class, flight: 0, cwnd: u64::from(self.terms.mss), ..self.timeout(&sent) };
            self.found.timeouts.push(timeout);
            self.repair.without_progress += 1;
        }
        self.record(&sent, kind, 0, 0);
        if let (Some(r), Some(n)) = (self.found.retransmissions.last_mut(), self.notes.last_mut()) {
            (r.needless, r.known, r.transmission) = (None, false, self.found.segments as u32);
            n.end = 0;
        }
    }
}

fn at_least(at: Time, since: Time, span: Span) -> bool {
    at.since(since) >= nearly(span)
}
