//! Where the sender stands in loss recovery, by what ACKs have said, and what became of what it
//! retransmitted.

mod answers;
mod behind;
mod copies;
pub(crate) mod evidence;
mod one_by_one;
pub(crate) mod phases;
pub(crate) mod reports;
pub(crate) mod retransmissions;

use ackclock_tcp::{EventKind, Time};

use self::answers::Answers;
use self::behind::Behind;
use self::copies::Copies;
use self::evidence::Evidence;
use self::one_by_one::OneByOne;
use self::phases::Phases;
use self::retransmissions::{Again, Echo, Retransmissions};
use super::input::{Acked, Sent, Sight};
use super::picture::Picture;
use super::stream::Stream;
use super::stream::moments::HOST_IDLE;
use super::stream::segment::Segment;
use crate::connection::{Kind, Recovery, Retransmission, State};

/// The parts, each of which owns its fields.
#[derive(Debug, Default)]
pub(crate) struct LossRecovery {
    pub evidence: Evidence,
    pub phases: Phases,
    pub retransmissions: Retransmissions,
    pub behind: Behind,
    answers: Answers,
    /// Until new data goes out behind the ACK of a segment that went out again alone.
    copies: Option<Box<Copies>>,
    /// From the first retransmission without SACK on.
    one_by_one: Option<Box<OneByOne>>,
}

impl LossRecovery {
    /// Nothing is lost, and nothing is repaired.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.phases.is_calm() && self.evidence.duplicates() == 0
    }

    /// The same, and nothing that was noted waits for what follows.
    pub fn is_idle(&self) -> bool {
        let evidence = &self.evidence;
        self.is_calm()
            && !self.phases.has_begun_anew()
            && !evidence.is_fresh()
            && !evidence.shows_loss()
            && self.behind.segments() == 0
            && self.copies.is_none()
            && !self.one_by_one.as_deref().is_some_and(OneByOne::is_on)
    }

    pub fn state(&self, stream: &Stream) -> State {
        let disorder = stream.is_disorder(self.evidence.duplicates());
        self.phases.state(stream.outstanding.una(), disorder)
    }

    /// An undo was due, and since then nothing has spoken of a loss.
    pub fn is_undo_in_doubt(&self, stream: &Stream) -> bool {
        // Undone, and begun anew at once (`tcp_fastretrans_alert`).
        let evident = !stream.terms.sack && self.phases.undoes() && self.evidence.shows_loss();
        let disorder = stream.is_disorder(self.evidence.duplicates());
        self.phases.is_undo_in_doubt() && !disorder && !evident
    }

    /// An ACK made the sender retransmit the records from index `first` on.
    pub fn by_ack(
        &mut self,
        at: Time,
        first: usize,
        stream: &Stream,
        picture: &mut Picture,
    ) -> Kind {
        let evident = !stream.terms.sack && self.evidence.shows_loss();
        let in_doubt = self.is_undo_in_doubt(stream);
        let undone = in_doubt.then(|| self.phases.resume(evident)).flatten();
        let (sack, duplicates) = (stream.terms.sack, self.evidence.duplicates());
        let segment = stream.outstanding.get(first);
        let repeated = segment.is_some_and(|s| self.phases.has(s.again));
        if first > 0 && segment.is_some_and(|s| self.phases.goes_back(s)) {
            self.phases.has_gone_back();
            return Kind::SlowStart;
        }
        // Reno leaves a recovery with the first ACK that advances (RFC 5681 section 3.2 step 6),
        // retransmits nothing more for it, and needs new duplicates. One that has gone on before is
        // none, and has waited for room.
        let alone = self.phases.is_alone(self.retransmissions.last_number());
        let alone = alone && !self.phases.goes_on();
        // A sender that paces may send its next hole while duplicates come.
        let at_once = !stream.terms.at_sender() || stream.moments.since_ack(at) <= HOST_IDLE;
        let anew = !sack && !repeated && first == 0 && duplicates >= 2 && alone && at_once;
        // With blocks that are cut off, a sender may know more than shows.
        let shows_all = !sack && !stream.terms.cut;
        let later = segment.is_some_and(|s| s.again > self.phases.first());
        let once_more = shows_all && later && first == 0 && at_once && self.begins_once_more();
        if once_more {
            self.retransmissions.were_slow_start(self.phases.first() as usize);
        }
        let anew = anew || once_more;
        if self.phases.is_recovery() && shows_all && duplicates == 0 {
            self.check_slow_start(at, first, stream);
        }
        let kind = self.phases.by_ack(repeated, anew).unwrap_or_else(|| {
            self.enter_recovery(at, stream, picture);
            Kind::FastRetransmit
        });
        if kind == Kind::Recovery && !sack && first == 0 && duplicates == 0 && undone.is_none() {
            self.phases.has_gone_on();
        }
        if let Some(undone) = undone.filter(|_| evident && first == 0 && kind == Kind::Recovery) {
            let number = self.retransmissions.last_number() + 1;
            self.phases.may_begin_anew(at, number, stream.outstanding.flight(), undone);
        }
        kind
    }

    /// Reno leaves a recovery with the first ACK that advances (RFC 5681 section 3.2 step 6), and
    /// goes on with the slow start after a timeout, which sends the head once more: three
    /// duplicates may begin a recovery with it again. Within one, so few do not speak against it.
    fn begins_once_more(&self) -> bool {
        let evidence = &self.evidence;
        let few = evidence.against_head().is_none();
        self.phases.is_going_back() && evidence.duplicates() >= 3 && few
    }

    /// New data goes out. Returns whether that is within a recovery.
    #[inline]
    pub fn new_data(&mut self, sent: &Sent, stream: &Stream) -> bool {
        if let Some(one_by_one) = &mut self.one_by_one {
            one_by_one.new_data(sent, stream.outstanding.max());
        }
        self.phases.new_data();
        self.copies = None;
        if self.phases.has_begun_anew() {
            self.phases.begin_anew(&mut self.retransmissions);
        }
        let recovers = self.phases.is_recovery();
        if recovers && self.phases.slow_starts {
            // Tahoe has no room for it until it has gone back over all.
            let last = stream.outstanding.ending_at(self.phases.recovery_point());
            self.phases.slow_starts = last.is_none_or(|last| self.phases.has(last.again));
        }
        recovers
    }

    /// A partial ACK releases one retransmission (RFC 6582 section 3.2 step 3). A second one on the
    /// same ACK says that there is no recovery: the sender has been in slow start since its fast
    /// retransmit, as Tahoe is. So it is after each later one, also where a single one is left.
    fn check_slow_start(&mut self, at: Time, first: usize, stream: &Stream) {
        let number = self.phases.first();
        let of_this_ack = self.retransmissions.last_at() >= stream.moments.last_ack();
        let more = self.retransmissions.last_number() > number;
        if first > 0 && of_this_ack && stream.moments.on_ack(at) && more {
            self.phases.is_slow_start();
            self.phases.slow_starts = true;
            self.retransmissions.were_slow_start(number as usize);
        } else if first == 0 && self.phases.slow_starts && stream.moments.on_ack(at) {
            self.phases.is_slow_start();
        }
    }

    fn enter_recovery(&mut self, at: Time, stream: &Stream, picture: &mut Picture) {
        let first = self.retransmissions.last_number() + 1;
        // What went out behind all that was seen, and was lost, is part of the recovery.
        let behind = u64::from(self.behind.segments()) * u64::from(stream.terms.mss);
        let recover = stream.outstanding.max() + behind;
        let early = stream.terms.sack && self.evidence.duplicates() < 2;
        let left = self.phases.enter_recovery(at, &stream.outstanding, recover, first, early);
        self.phase_left(at, left, false, stream, picture);
        let (flight, pipe) = (stream.outstanding.flight(), stream.windows.pipe());
        let kind = EventKind::RecoveryEntered { recover, flight, pipe, by: "capture" };
        picture.draw(at, stream.stand(), kind);
    }

    /// The retransmission timer has expired in this state.
    pub fn time_out(
        &mut self,
        at: Time,
        state: State,
        backed_off: bool,
        stream: &Stream,
        picture: &mut Picture,
    ) {
        let first = self.retransmissions.last_number() + 1;
        let (outstanding, foreign) = (&stream.outstanding, stream.timers.is_foreign());
        let left = self.phases.time_out(at, outstanding, first, state, backed_off, foreign);
        self.phase_left(at, left, true, stream, picture);
        self.evidence.timed_out();
    }

    /// The timer has expired, but what that sent is not in the capture: its slow start goes on.
    pub fn timed_out_unseen(&mut self, at: Time, stream: &Stream, picture: &mut Picture) -> Kind {
        self.time_out(at, self.state(stream), false, stream, picture);
        Kind::SlowStart
    }

    /// A segment was retransmitted.
    pub fn retransmitted(&mut self, again: &Again, stream: &Stream) {
        self.retransmissions.push(again, self.phases.recovery(), stream.terms.sight.lost());
        self.phases.retransmitted(again.kind, again.sent.tsval);
        match again.kind {
            Kind::TailLossProbe | Kind::ProbeOrTimeout => {
                self.phases.reports.probed(again.sent.end());
            }
            _ => self.phases.reports.retransmitted(),
        }
        if !stream.terms.sack {
            let number = self.retransmissions.last_number();
            let one_by_one = self.one_by_one.get_or_insert_default();
            one_by_one.again(again.sent, number, &stream.outstanding);
        }
        if again.is_head {
            self.evidence.head_retransmitted(stream.outstanding.len() as u32);
        }
    }

    /// A SYN or SYN/ACK was retransmitted, for the how-manieth time `transmission` says.
    pub fn syn_retransmitted(&mut self, sent: &Sent, kind: Kind, sight: Sight, transmission: u32) {
        self.phases.retransmitted(kind, None);
        self.retransmissions.push_syn(sent, kind, sight.lost(), transmission);
    }

    /// An ACK comes with a D-SACK.
    pub fn dsacked(&mut self, a: &Acked, stream: &Stream, picture: &mut Picture) {
        let (left, right) = a.sack[0];
        let again = self.retransmissions.dsacked(a, stream.timers.least_trip());
        let segments = right.saturating_sub(left).div_ceil(stream.terms.mss.max(1).into()) as u32;
        let (una, all) = (stream.outstanding.una(), self.retransmissions.last_number());
        self.phases.reports.dsacked(right, una, segments, again, all);
        if self.phases.is_reported() && !stream.timers.is_foreign() {
            self.undo(a.at, "dsack", stream, picture);
        }
    }

    /// An ACK comes, before anything else is made of it.
    pub fn next_ack(&mut self, a: &Acked, stream: &Stream) {
        if let Some(one_by_one) = &mut self.one_by_one {
            let answered = one_by_one.acked(a, stream.outstanding.max());
            self.retransmissions.were_answered(answered);
        }
    }

    /// A keep-alive goes out, which is answered as what had arrived is.
    pub fn keeps_alive(&mut self) {
        self.copies = None;
        if let Some(one_by_one) = &mut self.one_by_one {
            one_by_one.ends();
        }
    }

    /// A segment is reported for the first time. Of all transmissions that have arrived, returns
    /// when the latest was sent.
    pub fn arrived(&mut self, segment: &Segment, a: &Acked, echo: Echo, stream: &Stream) -> Time {
        let sent = self.retransmissions.arrived(segment, a, echo, &stream.timers, &stream.terms);
        self.phases.arrived(segment);
        self.evidence.arrived(sent, segment.position)
    }

    /// An ACK has advanced. The phase ends when its recovery point is acknowledged, or when the
    /// sender learns that it was spurious.
    pub fn advanced(
        &mut self,
        a: &Acked,
        newly_sacked: bool,
        segments: u32,
        stream: &Stream,
        picture: &mut Picture,
    ) {
        self.evidence.advanced(newly_sacked || !self.phases.is_open(), segments);
        if self.phases.is_calm() {
            self.evidence.recovered();
        }
        if self.phases.is_open() {
            return;
        }
        let (una, sack) = (stream.outstanding.una(), stream.terms.sack);
        if !sack && self.phases.f_rto_by_acks() {
            self.retransmissions.were_not_needed(self.phases.first());
            self.undo(a.at, "f-rto", stream, picture);
        } else if self.phases.is_complete(una)
            && (stream.timers.is_foreign() || !self.phases.is_loss_reported())
        {
            let left = self.phases.complete(a.at, &stream.outstanding, sack);
            self.evidence.recovered();
            self.phase_left(a.at, left, false, stream, picture);
        } else if !stream.timers.is_foreign()
            && let Some(by) =
                self.phases.found_spurious(a.tsecr, stream.outstanding.retransmitted(), una, sack)
        {
            self.undo(a.at, by, stream, picture);
        }
    }

    /// An ACK has advanced, as the answer to what was sent at `sent`; the one before did at
    /// `progress`.
    pub fn answered(&mut self, a: &Acked, sent: Time, progress: Time, stream: &Stream) {
        if stream.terms.sack {
            return;
        }
        // New data behind a gap would be answered in the same way.
        let news = stream.moments.since_new_data(a.at) < a.at.since(sent);
        let is_all = stream.outstanding.is_empty();
        if is_all || !news {
            let numbers = self.retransmissions.sent_after(sent, a.ack);
            let since = self.retransmissions.first_since(progress);
            self.answers.acknowledged(a, numbers, since, is_all, stream.timers.least_trip());
        }
    }

    /// An ACK has advanced, over this segment alone if there is one.
    pub fn acknowledged_alone(&mut self, a: &Acked, segment: Option<Segment>, stream: &Stream) {
        let alone = segment.filter(|segment| segment.again > 0 && stream.outstanding.is_empty());
        // An echo says which copy came first.
        let unsaid = a.tsecr.is_none() && self.retransmissions.dsacks() == 0;
        let exact = stream.terms.at_sender() && unsaid;
        let copies = || self.retransmissions.copies_of(&alone.filter(|_| exact)?);
        self.copies = copies().map(|(first, lasted)| Box::new(Copies::new(a, first, lasted)));
    }

    /// An ACK has not advanced.
    pub fn repeated(
        &mut self,
        a: &Acked,
        is_duplicate: bool,
        stream: &Stream,
        picture: &mut Picture,
    ) {
        if !stream.terms.sack
            && !a.with_data
            && let Some(numbers) = self.answers.repeated(a, stream.timers.least_trip())
        {
            self.retransmissions.were_answered(numbers);
        }
        if let Some(copies) = &mut self.copies
            && let Some((first, again)) = copies.repeated(a)
        {
            self.retransmissions.came_again(first, again);
        }
        self.evidence.repeated(is_duplicate);
        if is_duplicate && !stream.terms.sack {
            self.phases.repeated();
        }
        if !stream.timers.is_foreign()
            && let Some(by) = self.phases.f_rto(stream.outstanding.una(), stream.terms.sack)
        {
            self.undo(a.at, by, stream, picture);
        }
    }

    /// An ACK has been taken in: does what ACKs have said speak against the head?
    pub fn weigh(&mut self, a: &Acked, stream: &Stream) {
        self.evidence.note_news(a.at, a.dsack.is_some());
        let Some(head) = stream.outstanding.head() else { return self.evidence.clear() };
        let sent = self.retransmissions.last_sent(head);
        let next = !self.phases.is_open() && !self.phases.has(head.again);
        self.evidence.weigh(a.at, head, sent, next, stream.terms.sack);
    }

    /// The sender may undo what it did.
    fn undo(&mut self, at: Time, by: &'static str, stream: &Stream, picture: &mut Picture) {
        let left = self.phases.undo(at);
        self.phase_left(at, left, false, stream, picture);
        picture.draw(at, stream.stand(), EventKind::Undone { by });
    }

    /// A phase is over; `recovery` says that it was a recovery.
    fn phase_left(
        &mut self,
        at: Time,
        recovery: bool,
        by_timeout: bool,
        stream: &Stream,
        picture: &mut Picture,
    ) {
        if recovery {
            let cwnd_before = stream.cwnd();
            let kind = EventKind::RecoveryLeft { by_timeout, cwnd_before };
            picture.draw(at, stream.stand(), kind);
        }
        self.evidence.clear();
    }

    /// At the end: all recoveries and retransmissions.
    pub fn into_found(self) -> (Vec<Recovery>, Vec<Retransmission>) {
        (self.phases.into_recoveries(&self.retransmissions), self.retransmissions.into_all())
    }
}
