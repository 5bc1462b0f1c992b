//! Why a segment was retransmitted: by an ACK, by a tail loss probe's timer or by the
//! retransmission timer.

pub(crate) mod aftermath;
mod goes_on;
pub(crate) mod probes;
pub(crate) mod shorter;
pub(crate) mod timeouts;
pub(crate) mod trigger;

use ackclock_tcp::{Span, Time, TimeoutClass};

use self::aftermath::{Aftermath, Answer, NewData};
use self::goes_on::{
    follows_recovery, follows_timer, follows_unseen_timer, is_too_early, lags_behind_acks,
    waited_before_capture,
};
use self::probes::{Ambiguous, Probes};
use self::shorter::Shortened;
use self::timeouts::{Timeouts, hides_another, is_due};
use self::trigger::{Situation, Trigger};
use super::input::{Acked, Sent};
use super::picture::Picture;
use super::recovery::LossRecovery;
use super::stream::Stream;
use super::stream::timers::{TICKS, nearly};
use crate::connection::{Kind, Spurious, State, Timeout};

/// When the first unacknowledged segment last went out.
fn head_sent(stream: &Stream, recovery: &LossRecovery) -> Option<Time> {
    stream.outstanding.head().map(|head| recovery.retransmissions.last_sent(head))
}

/// For how long no ACK has come and nothing was sent, as far as numbers of packets say.
fn silence(sent: &Sent, stream: &Stream, recovery: &LossRecovery) -> Span {
    let again = sent.at.since(recovery.retransmissions.last_at());
    if sent.missing() > 0 { Span::ZERO } else { stream.moments.silence(sent.at).min(again) }
}

/// The parts, each of which owns its fields, and the last cause.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    pub probes: Probes,
    pub timeouts: Timeouts,
    pub shortened: Shortened,
    /// The last packet that retransmitted something, and why.
    last: Option<(u64, Kind)>,
    /// What the timer that has just expired had waited, where it says something of its interval.
    expiry: Option<Span>,
}

impl Causes {
    /// Why old data goes out, in place of the records from index `first` on. The sender's state
    /// follows.
    pub fn retransmission(
        &mut self,
        sent: &Sent,
        first: usize,
        stream: &mut Stream,
        recovery: &mut LossRecovery,
        picture: &mut Picture,
    ) -> Kind {
        let before = stream.outstanding.get(first).map(|s| recovery.retransmissions.last_sent(s));
        let kind = match self.last {
            // Further segments of one packet share its cause; only one of them begins a recovery.
            Some((frame, Kind::FastRetransmit)) if frame == sent.frame => Kind::Recovery,
            Some((frame, kind)) if frame == sent.frame => kind,
            _ if self.is_too_big(sent, before, stream, recovery) => Kind::TooBig,
            _ if waited_before_capture(sent, stream) && follows_timer(sent, recovery) => {
                Kind::SlowStart
            }
            _ if follows_recovery(sent, stream, recovery) => Kind::Recovery,
            _ if is_too_early(sent, stream) => Kind::Unknown,
            _ if lags_behind_acks(sent, stream, recovery) => Kind::SlowStart,
            _ => match self.situation(sent, stream, recovery).trigger() {
                Trigger::Ack => self.by_ack(sent, first, stream, recovery, picture),
                Trigger::Probe => {
                    self.probes.sent(sent.at, sent.end(), None);
                    Kind::TailLossProbe
                }
                Trigger::ProbeOrTimer => self.by_either_timer(sent, first, stream, recovery),
                Trigger::Timer | Trigger::Unknown if waited_before_capture(sent, stream) => {
                    self.by_late_timer(sent, first, stream, recovery, picture)
                }
                // The timer sends the same segment each time, until it is acknowledged.
                Trigger::Timer if !stream.terms.at_sender() && follows_timer(sent, recovery) => {
                    recovery.timed_out_unseen(sent.at, stream, picture)
                }
                Trigger::Timer => self.by_timer(sent, first, stream, recovery, picture),
                Trigger::Unknown if follows_unseen_timer(sent, stream, recovery) => {
                    recovery.timed_out_unseen(sent.at, stream, picture)
                }
                Trigger::Unknown => Kind::Unknown,
            },
        };
        self.last = Some((sent.frame, kind));
        self.shortened.went(sent, kind, before, stream);
        kind
    }

    /// It goes out since a router has asked for shorter packets; `before` it went out last.
    fn is_too_big(
        &self,
        sent: &Sent,
        before: Option<Time>,
        stream: &Stream,
        recovery: &LossRecovery,
    ) -> bool {
        before.is_some_and(|before| self.shortened.concerns(sent, before, stream))
            && self.shortened.sends(sent, &self.situation(sent, stream, recovery), stream)
    }

    /// A SYN or SYN/ACK goes out once more; `answer` if it answers one that came again.
    pub fn syn(
        &mut self,
        sent: &Sent,
        answer: bool,
        stream: &Stream,
        recovery: &LossRecovery,
    ) -> Kind {
        let (class, kind) = match self.timeouts.in_a_row() {
            _ if answer => (TimeoutClass::Unknown, Kind::Unknown),
            0 => (TimeoutClass::Handshake, Kind::Timeout),
            _ => (TimeoutClass::BackedOff, Kind::BackedOffTimeout),
        };
        if !answer {
            let (flight, cwnd) = (0, u64::from(stream.terms.mss));
            let state = if kind == Kind::Timeout { State::Open } else { State::Loss };
            let timeout = self.describe(sent, 0, stream, recovery);
            self.timeouts.push(Timeout { class, state, flight, cwnd, ..timeout });
        }
        self.last = Some((sent.frame, kind));
        kind
    }

    /// Whether a sender with probes would have sent one in the silence before an ACK (RFC 8985
    /// section 7.2). Twice its time is enough for one that is late.
    pub fn misses_probe(&self, at: Time, stream: &Stream, recovery: &LossRecovery) -> bool {
        let Stream { terms, outstanding, timers, moments, windows, .. } = stream;
        let single = outstanding.len() == 1;
        let pto = if single { timers.latest_probe() } else { timers.pto(false) };
        let may_probe = terms.sack
            && terms.at_sender()
            && timers.has_sample()
            && windows.offered() > 0
            && !outstanding.is_empty()
            && outstanding.retransmitted() == 0
            && recovery.state(stream) == State::Open
            && self.probes.may_follow(outstanding.una());
        may_probe && moments.silence(at) > pto.times(2) + TICKS
    }

    /// New data goes out after what may have been a probe or a timeout. Nothing holds a FIN back.
    #[cold]
    pub fn watch_new_data(&mut self, sent: &Sent, stream: &Stream) {
        if sent.payload() > 0 {
            self.probes.watch_new_data(&NewData {
                at: sent.at,
                srtt: stream.timers.srtt(),
                outstanding: stream.outstanding.len(),
                len: sent.payload(),
                since_ack: stream.moments.since_ack(sent.at),
                after_idle: stream.moments.since_ack(sent.at) > stream.timers.rto(),
            });
        }
    }

    /// An ACK comes after it; `before` it so many segments were outstanding.
    #[cold]
    pub fn watch_answer(
        &mut self,
        a: &Acked,
        before: usize,
        stream: &Stream,
        recovery: &LossRecovery,
    ) {
        let answer = Answer {
            outstanding: before,
            acked: before.saturating_sub(stream.outstanding.len()),
            with_data: a.with_data,
            room: a.allowed() / u64::from(stream.terms.mss.max(1)),
        };
        let last = self.probes.in_doubt().and_then(|index| recovery.retransmissions.get(index));
        // A short round trip tells a sender nothing that has no timestamps.
        let undone = last
            .and_then(|r| r.spurious)
            .is_some_and(|by| by != Spurious::RoundTrip || stream.terms.timestamps);
        self.probes.watch_answer(&answer, undone);
    }

    fn situation<'a>(
        &self,
        sent: &Sent,
        stream: &'a Stream,
        recovery: &LossRecovery,
    ) -> Situation<'a> {
        let (at, moments, outstanding) = (sent.at, &stream.moments, &stream.outstanding);
        let (evidence, phases) = (&recovery.evidence, &recovery.phases);
        let head = outstanding.head();
        let first_sent = head.map_or(Time::ZERO, |head| head.first_at);
        let last_sent = head_sent(stream, recovery);
        Situation {
            timers: &stream.timers,
            sack: stream.terms.sack,
            cut: stream.terms.cut,
            probes_exist: stream.terms.may_have_probes(),
            at_sender: stream.terms.at_sender(),
            near: stream.terms.at_sender() || stream.terms.near,
            is_head: sent.position <= outstanding.una(),
            is_tail: sent.end() >= outstanding.max(),
            open: phases.is_open(),
            undo_in_doubt: recovery.is_undo_in_doubt(stream),
            probe_open: !self.probes.may_follow(outstanding.una()),
            timed_out: self.timeouts.in_a_row() > 0,
            head_in_turn: head.is_some_and(|head| !phases.has(head.again)),
            sacked: outstanding.sacked_bytes() > 0,
            duplicates: evidence.duplicates() > 0,
            fresh: evidence.is_fresh(),
            since_evidence: evidence.against_head().map(|first| at.since(first)),
            since_news: at.since(evidence.news()),
            since_progress: moments.since_progress(at),
            since_ack: moments.since_ack(at),
            at_once: moments.was_on_ack(),
            ack_gap: moments.ack_gap(),
            idle: moments.idle(at),
            silence: silence(sent, stream, recovery),
            waited: self.waited(at, stream, recovery),
            waited_from_first: at.since(first_sent.max(moments.progress())),
            sent_since_ack: last_sent.is_some_and(|sent| sent >= moments.last_ack()),
            dsacks: recovery.retransmissions.dsacks(),
        }
    }

    /// Time since the retransmission timer was last set, at the least.
    fn waited(&self, at: Time, stream: &Stream, recovery: &LossRecovery) -> Span {
        let head = head_sent(stream, recovery).unwrap_or(Time::ZERO);
        // With SACK Linux counts from when the head was sent, otherwise from the last progress.
        let set = if stream.terms.sack { head } else { head.max(stream.moments.progress()) };
        at.since(set.max(self.probes.sent_at().unwrap_or(Time::ZERO)))
    }

    fn by_ack(
        &mut self,
        sent: &Sent,
        first: usize,
        stream: &Stream,
        recovery: &mut LossRecovery,
        picture: &mut Picture,
    ) -> Kind {
        let kind = recovery.by_ack(sent.at, first, stream, picture);
        if kind == Kind::FastRetransmit {
            self.probes.forget();
        }
        kind
    }

    /// A probe's timer has expired, or the retransmission timer. What follows has to tell.
    fn by_either_timer(
        &mut self,
        sent: &Sent,
        first: usize,
        stream: &Stream,
        recovery: &LossRecovery,
    ) -> Kind {
        let doubt = Ambiguous {
            timeout: self.describe(sent, first, stream, recovery),
            waited: stream.moments.idle(sent.at),
            rto: stream.timers.rto(),
            // What fills the receiver's window may have been sent by the timer that probes this one
            // for room, which sets no other (`tcp_write_wakeup`).
            armed: !stream.rwnd_is_full(),
            told: None,
        };
        let (mss, cwnd) = (stream.terms.mss, stream.windows.cwnd());
        let cwnd = if self.probes.has_lowered(sent.position) { cwnd / 2 } else { cwnd };
        let sends_small =
            stream.outstanding.head().is_some_and(|head| head.len < mss && head.flight > head.len);
        self.probes.sent(
            sent.at,
            sent.end(),
            Some((doubt, Aftermath::new(cwnd, mss, sends_small))),
        );
        Kind::ProbeOrTimeout
    }

    /// The retransmission timer expired before the ACK came that is on its way to the sender now.
    /// The sender's state of now is another one, and stays as it is.
    fn by_late_timer(
        &mut self,
        sent: &Sent,
        first: usize,
        stream: &Stream,
        recovery: &LossRecovery,
        picture: &mut Picture,
    ) -> Kind {
        use Kind::{BackedOffTimeout, Timeout as ByTimer};
        let last = recovery.retransmissions.last();
        let (class, kind) = match last.filter(|last| last.position == sent.position) {
            Some(last) if matches!(last.kind, ByTimer | BackedOffTimeout) => {
                (TimeoutClass::BackedOff, BackedOffTimeout)
            }
            Some(_) => (TimeoutClass::LostRetransmission, ByTimer),
            None if sent.payload() == 0 => (TimeoutClass::Handshake, ByTimer),
            None => (TimeoutClass::NonTrigger, ByTimer),
        };
        // How long it waited is not seen: no longer than the connection lasts.
        let waited = stream.timers.rto().min(sent.at.since(stream.terms.start));
        let timeout = Timeout { class, waited, ..self.describe(sent, first, stream, recovery) };
        let backoff = u32::from(kind == BackedOffTimeout);
        picture.timed_out(&timeout, stream.stand(), backoff, waited);
        self.timeouts.push_late(timeout);
        kind
    }

    /// The retransmission timer has expired (RFC 6298 section 5.4 to 5.6).
    fn by_timer(
        &mut self,
        sent: &Sent,
        first: usize,
        stream: &mut Stream,
        recovery: &mut LossRecovery,
        picture: &mut Picture,
    ) -> Kind {
        self.resolve_probe(sent, stream, recovery, picture);
        if first > 0 && self.timeouts.is_of_another(sent.position) {
            self.timeouts.progressed();
        }
        let timeout = self.describe(sent, first, stream, recovery);
        if first == 0 {
            self.learn_timers(&timeout, stream, recovery);
        }
        let in_a_row = self.timeouts.in_a_row();
        let (backed_off, state) = (in_a_row > 0, timeout.state);
        picture.timed_out(&timeout, stream.stand(), in_a_row, stream.timers.backed_off());
        self.timeouts.push(timeout);
        recovery.time_out(sent.at, state, backed_off, stream, picture);
        self.probes.forget();
        stream.time_out(sent.len);
        if backed_off { Kind::BackedOffTimeout } else { Kind::Timeout }
    }

    /// The timer retransmits what may have been sent by a probe. Now it is known which it was.
    fn resolve_probe(
        &mut self,
        sent: &Sent,
        stream: &Stream,
        recovery: &mut LossRecovery,
        picture: &mut Picture,
    ) {
        let doubt = self.probes.in_doubt().and_then(|i| recovery.retransmissions.get(i));
        let Some(&first) = doubt.filter(|first| first.position == sent.position) else { return };
        let first_expiry = self.timeouts.in_a_row() == 0;
        if stream.outstanding.una() <= first.position
            && let Some((late, was_timeout)) = self.probes.resolve(sent.at, first.at, first_expiry)
        {
            self.decide(late, was_timeout, recovery, picture);
            if was_timeout {
                self.timeouts.still_in_a_row();
                recovery.phases.has_timed_out(stream.outstanding.una());
            }
        }
    }

    /// Now it is known which timer expired.
    fn decide(
        &mut self,
        late: Ambiguous,
        was_timeout: bool,
        recovery: &mut LossRecovery,
        picture: &mut Picture,
    ) {
        let index = late.timeout.retransmission;
        if was_timeout {
            recovery.retransmissions.decide(index, Kind::Timeout);
            picture.timed_out_late(&late.timeout, late.rto);
            self.timeouts.push_late(late.timeout);
        } else {
            recovery.retransmissions.decide(index, Kind::TailLossProbe);
        }
    }

    /// What a timeout says of this sender's timers.
    fn learn_timers(&mut self, timeout: &Timeout, stream: &mut Stream, recovery: &LossRecovery) {
        let sack = stream.terms.sack;
        let no_probe = self.probes.may_follow(stream.outstanding.una());
        let first = stream.timers.backoff() == 0;
        let waited = self.waited(timeout.at, stream, recovery);
        // A probe would have sent a single segment by then, whatever this one waited for.
        let single = stream.outstanding.len() == 1;
        let unprobed = sack && recovery.phases.is_open() && no_probe;
        let sure = !single || unprobed && first && stream.terms.at_sender();
        let surprising = recovery.evidence.against_head().is_none();
        let first_attempt =
            matches!(timeout.class, TimeoutClass::NonTrigger | TimeoutClass::Handshake);
        // A probe with new data starts the timer anew (`tcp_send_loss_probe`).
        let restarted = stream.waits_for_probe();
        if first_attempt && surprising && sure && !restarted {
            stream.timers.expired(timeout.waited);
            self.expiry = no_probe.then_some(timeout.waited);
            if sack && no_probe && stream.timers.pto(false) < nearly(stream.timers.rto()) {
                self.probes.was_missing(stream);
            }
        }
        if self.timeouts.in_a_row() == 0 && first {
            stream.timers.expired_after(waited.min(stream.moments.idle(timeout.at)));
        }
    }

    /// What the timer that has just expired for the first time had waited since the last progress,
    /// if nothing else can have sent the segment.
    pub fn take_expiry(&mut self) -> Option<Span> {
        self.expiry.take()
    }

    /// What is to be said of a timeout that sends this, in place of the records from `first` on.
    fn describe(
        &self,
        sent: &Sent,
        first: usize,
        stream: &Stream,
        recovery: &LossRecovery,
    ) -> Timeout {
        // Behind the head, an ACK is missing that was progress.
        let progressed = stream.moments.since_progress(sent.at);
        let waited = if first > 0 { silence(sent, stream, recovery) } else { progressed };
        let (outstanding, duplicates) = (&stream.outstanding, recovery.evidence.duplicates());
        let (mss, sacked) = (stream.terms.mss, outstanding.sacked_bytes());
        let last = recovery.retransmissions.last_at();
        // Away from the sender, a retransmission may have been lost before the capture, unless the
        // numbers of packets say that none was.
        let lost_again = stream.holes.unseen.lost_again();
        let may_hide = !stream.terms.at_sender()
            && lost_again != Some(0)
            && hides_another(duplicates, sacked, mss, waited, stream.timers.rto());
        // The first one is of the head.
        let hides_head = may_hide
            && lost_again.is_some()
            && outstanding.retransmitted() == 0
            && recovery.phases.is_open()
            && is_due(duplicates, sacked, mss);
        let (class, state) = if hides_head && self.timeouts.in_a_row() == 0 {
            (TimeoutClass::LostRetransmission, State::Recovery)
        } else {
            let class = self.timeouts.class(sent, outstanding.get(first), last, may_hide);
            (class, recovery.state(stream))
        };
        Timeout {
            at: sent.at,
            seq: sent.seq,
            position: sent.position,
            retransmission: recovery.retransmissions.len(),
            class,
            state,
            flight: stream.outstanding.flight(),
            cwnd: stream.cwnd().max(stream.windows.pipe()),
            waited,
            spurious: None,
            passed: Time::ZERO,
            episode: None,
        }
    }

    /// The retransmission that the last timeout sent, or may have sent.
    pub fn last_timeout(&self) -> Option<usize> {
        self.timeouts.last_retransmission().max(self.probes.in_doubt())
    }

    /// At the end: what may have been a probe or a timeout. Returns what is still in doubt, as
    /// timeouts in order.
    pub fn settle(&mut self, recovery: &mut LossRecovery, picture: &mut Picture) -> Vec<Timeout> {
        let mut undecided = Vec::new();
        for (was_timeout, late) in self.probes.settle() {
            match was_timeout {
                Some(was_timeout) => self.decide(late, was_timeout, recovery, picture),
                None => undecided.push(late.timeout),
            }
        }
        undecided.reverse();
        undecided
    }
}
