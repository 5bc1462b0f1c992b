//! What went out and was lost before the capture, as the numbers of packets say: away from the
//! sender its retransmission looks like new data.

use ackclock_tcp::{Span, Time};

use super::SenderModel;
use super::input::Sent;
use super::silence::{end_of_lost, may_be_lost};
use super::stalls::Now;
use super::stream::Stream;
use super::stream::timers::{latest, nearly};
use crate::standards::{LEAST_RTO_OF_RFC, MOST_EXPIRIES, expiries};

impl SenderModel {
    /// Away from the sender, after as long as a probe waits (RFC 8985 section 7.2), data goes out
    /// without an ACK where the highest ended, and the number of a packet is missing. A sender
    /// sends in order, so that the lost one carried the same: a probe has sent it again. (Once the
    /// retransmission timer has expired, what was lost may be what that sent of the oldest.)
    pub(super) fn repeats_unseen(&mut self, sent: &Sent, asked: bool) {
        let Stream { terms, moments, timers, outstanding, .. } = &self.stream;
        let probe = nearly(timers.pto(false))..nearly(timers.rto());
        let waited = probe.contains(&moments.silence(sent.at));
        let is_next = sent.position == outstanding.max() && sent.payload() > 0;
        let due = self.limits.is_ack_due();
        if !terms.at_sender() && waited && is_next && !due && self.lost(sent, asked) > 0 {
            self.limits.timer_expired(&self.stream);
            self.repeats_up_to(sent.end());
        }
    }

    /// What lies below was lost before the capture, and goes out again.
    fn repeats_up_to(&mut self, end: u64) {
        self.unsettled = true;
        let repair = self.repair.get_or_insert_default();
        repair.repeated = repair.repeated.max(end);
    }

    /// Away from the sender, a silence that no timer outlasts (RFC 6298 section 2.4) is recovery's,
    /// also where all that the timer has sent was lost before the capture: a link has held back
    /// everything.
    pub(super) fn outlast_timers(&mut self, at: Time) {
        let Stream { terms, moments, timers, windows, .. } = &self.stream;
        let least = LEAST_RTO_OF_RFC.max(timers.rto());
        if !terms.at_sender() && windows.offered() > 0 && moments.silence(at) > least {
            self.limits.may_have_expired(&self.stream);
        }
    }

    /// That was found since something was last acknowledged.
    pub(super) fn has_outlasted(&self) -> bool {
        let progress = self.stream.moments.progress();
        self.repair.as_ref().is_some_and(|repair| repair.outlasted > progress)
    }

    /// How much of the time before `sent`, in which nothing was seen to be outstanding, a timer
    /// took at most. Packets were lost before the capture meanwhile, as their numbers say, and the
    /// timer has sent this one again; its interval doubles each time (RFC 6298 section 5.5).
    pub(super) fn repaired_unseen(&mut self, sent: &Sent, asked: bool) -> Span {
        let waited = self.silent(sent.at);
        let repeated = self.repair.as_ref().map_or(0, |repair| repair.repeated);
        if sent.position < repeated && waited > self.stream.timers.srtt() {
            return waited;
        }
        // A lost FIN holds up nothing.
        if sent.missing() == 0 || sent.payload() == 0 || self.stream.terms.at_sender() {
            return Span::ZERO;
        }
        let lost = self.lost(sent, asked);
        let enough = waited >= nearly(self.stream.timers.rto());
        if lost > 0 && enough && may_be_lost(lost, waited, &self.stream) {
            let end = end_of_lost(sent, lost, waited, &self.stream.timers);
            self.repeats_up_to(end);
        }
        self.taken_by_timer(lost, waited)
    }

    /// How much of so long a wait a timer took at most, when so many packets were lost.
    fn taken_by_timer(&self, lost: u16, waited: Span) -> Span {
        let (rto, srtt) = (self.stream.timers.rto(), self.stream.timers.srtt());
        let ends = |interval: Span| {
            let latest = Span(interval.0 / 10 * 11) + srtt;
            (nearly(interval)..=latest).contains(&waited)
        };
        if lost == 0 {
            // What was lost was the ACK alone, or this with the ACK: where ACKs go out with what is
            // sent next, and a timer would expire just now, it was this.
            let is_lost = self.stalls.carries_acks() && ends(rto);
            return if is_lost { waited.min(rto) } else { Span::ZERO };
        }
        if !may_be_lost(lost, waited, &self.stream) {
            return Span::ZERO;
        }
        // RFC 6298 section 2.4 has timers wait for longer than Linux's.
        let slower = expiries(rto.max(LEAST_RTO_OF_RFC), lost.into());
        match () {
            () if waited < nearly(rto) => Span::ZERO,
            () if ends(slower) => waited,
            () => waited.min(expiries(rto, lost.into())),
        }
    }

    /// The timer of what was lost expires as such a wait ends, when it had sent at most so many
    /// packets.
    fn ends_with_timer(&self, lost: u16, waited: Span) -> bool {
        let (rto, srtt) = (self.stream.timers.rto(), self.stream.timers.srtt());
        let times = 1..=u32::from(lost).min(MOST_EXPIRIES);
        times
            .flat_map(|n| [rto, rto.max(LEAST_RTO_OF_RFC)].map(|rto| expiries(rto, n)))
            .any(|interval| (nearly(interval)..=latest(interval) + srtt).contains(&waited))
    }

    /// Data goes out with nothing outstanding, and its number says that some was lost before the
    /// capture; whether it can say so is known only later ([`SenderModel::number_tells`]).
    ///
    /// A host that numbers all its packets sends others while this connection is silent, and a few
    /// that follow each other do not show that. So the silence has to end when a timer expires.
    pub(super) fn doubts(&mut self, sent: &Sent, asked: bool) {
        let known = Sent { counted: true, ..*sent };
        let lost = self.lost(&known, asked);
        let never = sent.counted || lost == 0 || sent.payload() == 0;
        if never || self.stream.terms.at_sender() {
            return;
        }
        let waited = self.silent(sent.at);
        let taken = self.taken_by_timer(lost, waited);
        if taken > Span::ZERO && self.ends_with_timer(lost, waited) {
            let turn = self.stalls.turn(self.stream.moments.progress());
            let start = turn.max(self.limits.alive());
            self.limits.silence().doubts(sent, start, taken);
        }
    }

    /// The number of this packet tells what is missing before it, as is known only now.
    pub fn number_tells(&mut self, id: u16) {
        let silence = self.limits.last_silence();
        if let Some(doubt) = silence.and_then(|silence| silence.settles(id)) {
            self.limits.was_repairing(doubt.taken);
            if is_most(doubt.taken, doubt.end.since(doubt.start)) {
                self.stalls.was_lost(doubt.start, doubt.end, doubt.frame);
            }
        }
    }

    /// For how long nothing went out that the other end had asked for, with nothing outstanding:
    /// nothing had been lost when a keep-alive went out.
    pub(super) fn silent(&self, at: Time) -> Span {
        let since = self.stream.moments.silence(at).min(self.stalls.since_asked(at));
        since.min(at.since(self.limits.alive()))
    }

    /// A keep-alive goes out, whose number is the one before the next: all that has gone out was
    /// acknowledged.
    pub fn keeps_alive(&mut self, at: Time) {
        let max = self.stream.outstanding.max();
        if let Some(repair) = &mut self.repair {
            repair.repeated = repair.repeated.min(max);
            repair.recovery.keeps_alive();
        }
        self.limits.silence().keeps_alive(at);
    }

    /// The byte that asks for a closed window goes once more, long after the other end has told of
    /// room for a segment, and nothing else does. That was lost, or what the sender sent for it:
    /// its timer had to expire (RFC 9293 section 3.8.6.1).
    #[cold]
    pub fn asks_again(&mut self, at: Time, frame: u64) {
        let Self { stream: Stream { moments, timers, windows, terms, .. }, stalls, .. } = self;
        let told = moments.last_ack();
        let room = windows.offered() >= windows.least_room(terms.mss);
        if !stalls.has_got_room() || !room || at.since(told) <= timers.quiet() {
            return;
        }
        let (progress, newest) = (moments.progress(), moments.newest());
        stalls.asks_again(told, &Now { at, frame, progress, timers, came_twice: false, newest });
        self.elapse(at);
        self.limits.timer_expired(&self.stream);
    }

    /// A segment continues where the highest that was seen ended, but new data has gone out behind
    /// that and was lost: it may be that.
    #[cold]
    pub(super) fn looks_new(&mut self, sent: &Sent) {
        match self.repair.get_or_insert_default().recovery.behind.takes(sent) {
            Some(first_at) => {
                self.stream.holes.unseen.missed(1);
                self.stream.outstanding.append_unseen(first_at, sent.end());
                let records = self.stream.outstanding.cut_out(sent.position, sent.end());
                self.again(sent, records);
            }
            None => self.new_data(sent, false),
        }
    }

    /// How many segments of new data went out before `sent` and were not seen, if that begins a
    /// recovery. What is lost before the first retransmission is none, and an earlier one of the
    /// head would not be found lost within a round trip of the first sign of the loss.
    pub(super) fn new_before(&self, sent: &Sent, first: usize) -> u16 {
        let Stream { terms, timers, moments, .. } = &self.stream;
        let Some(repair) = self.repair.as_ref().filter(|_| !terms.at_sender() && first == 0) else {
            return 0;
        };
        let signs = repair.recovery.evidence.against_head();
        let soon = signs.is_some_and(|first| sent.at.since(first) < timers.least_trip());
        let begins = soon && repair.recovery.phases.is_calm();
        if begins { self.lost(sent, self.stalls.is_asked(moments.last_ack())) } else { 0 }
    }

    /// Packets that were lost before the capture since the last one, by their numbers. One may have
    /// been the ACK of what the other end had `asked`, or of its SYN, unless that was seen.
    pub(super) fn lost(&self, sent: &Sent, asked: bool) -> u16 {
        let owes = (asked || self.stream.bytes() == 0) && self.stalls.owes_ack();
        sent.missing().saturating_sub(owes.into())
    }
}

/// A timer took most of a silence, so that it is no pause of the application.
pub(super) fn is_most(taken: Span, silence: Span) -> bool {
    taken > Span::ZERO && taken.times(2) >= silence
}
