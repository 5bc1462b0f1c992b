//! A candidate on trial: an engine `Sender` gets the ACKs that passed the capture, and what it
//! sends is compared with what was seen (`cost.rs`).

use ackclock_tcp::strategy::Axis;
use ackclock_tcp::{
    Cause, Ecn, Phase, SackBlock, SackBlocks, Segment, Sender, SenderConfig, Seq, Span, Time,
    TimeoutClass, Timestamps,
};

use rustc_hash::FxHashMap;

use super::candidates::Candidate;
use super::cost::{Comparison, Fit, Match};
use super::division::{Divided, Division};
use super::script::{Script, Step};
use super::{HOPELESS, Passed};
use crate::connection::{Kind, State};
use crate::sender::{Acked, ArrivalRate, Sent};
use crate::steps;

/// A candidate that sends more than so many times what was seen, and so many segments beside, is no
/// good. Chosen: with 2 to 8, and 32 to 128, the kinds are the same; it bounds the work.
const MOST_SENT: usize = 4;
const SENT_BESIDE: usize = 64;

/// After so many timers in a row that send nothing for the capture to see, as those of window
/// probes do, the rest of a silence is one step: it lasts for decades where a clock was set. By
/// then intervals have doubled from 1 ms to the longest (RFC 6298 section 5.5), and stay.
const MOST_IN_VAIN: usize = 32;

/// What a candidate says of a segment that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Says {
    /// Why it was retransmitted; `None` of a first transmission.
    pub kind: Option<Kind>,
    pub expiry: Option<Expiry>,
    pub transmission: u32,
    /// What all costs up to here.
    pub cost: f32,
    /// What it costs that this segment came when it did.
    pub timing: f32,
}

/// A timeout of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Expiry {
    pub class: TimeoutClass,
    pub state: State,
    pub flight: u64,
    pub cwnd: u64,
    pub waited: Span,
}

/// What a candidate has sent.
#[derive(Clone, Copy)]
pub(super) struct Own {
    pub at: Time,
    pub len: u32,
    pub says: Says,
    pub seen: bool,
    /// It may have gone out by so much later, since a timer has sent it that counts ticks.
    pub ticks: Span,
    /// The transmission before it that begins with the same byte.
    pub before: Option<usize>,
}

/// The lists of a trial, kept for the next one so that they need not grow again.
#[derive(Default)]
pub(super) struct Lists {
    own: Vec<Own>,
    /// The last transmission that begins there, by position.
    last: FxHashMap<u64, usize>,
    /// For each TSval that was seen, the candidate's own of what carried it last.
    stamps: FxHashMap<u32, u32>,
    /// A tail loss probe was sent.
    probed: bool,
    /// What the candidate says of each segment that was seen, as far as it came.
    pub says: Vec<Says>,
}

impl Lists {
    fn clear(&mut self) {
        let Lists { own, last, stamps, probed, says } = self;
        own.clear();
        last.clear();
        stamps.clear();
        says.clear();
        *probed = false;
    }

    /// The candidate has retransmitted nothing, nor what was not seen, and has not probed for a
    /// loss with new data.
    pub fn are_calm(&self) -> bool {
        !self.probed && self.own.iter().all(|own| own.says.kind.is_none())
    }
}

pub(super) struct Trial<'a> {
    script: &'a Script<'a>,
    sender: Sender,
    lists: &'a mut Lists,
    comparison: Comparison<'a>,
    progress: Time,
    backed_off: bool,
    expiry: Option<Expiry>,
    cost: f32,
    /// When cwnd was last in use.
    used: Option<Time>,
    /// As in [`Candidate`].
    ticks: Span,
    /// The sender has come so far.
    now: Time,
    /// A shorter wait is no matter of the timer, whose least interval is twice this.
    patience: Span,
    /// What was done may depend on that interval.
    timed: bool,
    /// What limits it, if anyone asks.
    division: Option<Division<'a>>,
    /// As in [`Passed`].
    arrivals: Option<ArrivalRate>,
}

/// A candidate, and what it begins with.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub candidate: &'static Candidate,
    /// The least interval of its timer, and what it costs to assume that.
    pub min_rto: Span,
    pub cost: f32,
    /// In segments.
    pub initial_window: u32,
    /// The threshold of slow start in bytes, if it has one.
    pub initial_ssthresh: Option<u64>,
    /// As in [`SenderConfig`].
    pub tick_phase: Span,
}

impl Setting {
    /// The same but for a timer that waits at least as long.
    pub fn is_patient(&self, other: &Setting) -> bool {
        let begins = |s: &Setting| (s.initial_window, s.initial_ssthresh, s.tick_phase, s.cost);
        std::ptr::eq(self.candidate, other.candidate)
            && begins(self) == begins(other)
            && self.min_rto >= other.min_rto
    }
}

/// What a candidate may cost before it is given up.
pub(super) struct Budget<'a> {
    pub most: f32,
    /// What the best ones before it cost, up to each segment.
    pub best: &'a [f32],
}

impl Budget<'_> {
    /// When so many segments were seen.
    fn at(&self, seen: usize) -> f32 {
        let best = seen.checked_sub(1).and_then(|last| self.best.get(last));
        best.map_or(self.most, |best| self.most.min(best + HOPELESS))
    }
}

/// What the candidate says of each segment that was seen is in `lists` then, as far as it came
/// before it cost more than it may. Returns whether that may depend on how long its timer waits at
/// least, and how it fits.
pub(super) fn run(
    script: &Script,
    setting: &Setting,
    budget: Budget,
    lists: &mut Lists,
) -> (bool, Fit) {
    let mut trial = Trial::new(script, setting, lists);
    trial.go(&budget);
    (trial.timed, trial.comparison.fit())
}

impl<'a> Trial<'a> {
    fn new(script: &'a Script<'a>, setting: &Setting, lists: &'a mut Lists) -> Trial<'a> {
        lists.clear();
        let &Setting { candidate, min_rto, cost, initial_window, initial_ssthresh, tick_phase } =
            setting;
        let terms = &script.terms;
        let config = SenderConfig {
            isn: Seq(0),
            mss: terms.mss.max(1),
            initial_window: Some(initial_window),
            initial_ssthresh,
            initial_rwnd: script.first_window,
            wscale: script.shift,
            sack: terms.sack,
            timestamps: terms.timestamps,
            handshake_rtt: script.trip,
            handshake_end: script.trip_end,
            min_rto: Some(min_rto),
            tick_phase,
            ..SenderConfig::default()
        };
        Trial {
            script,
            sender: Sender::new(config, candidate.composition.build()),
            lists,
            comparison: Comparison::new(script),
            progress: Time::ZERO,
            backed_off: false,
            expiry: None,
            cost,
            used: None,
            ticks: candidate.ticks,
            now: Time::ZERO,
            patience: Span(min_rto.0 / 2),
            timed: false,
            division: None,
            arrivals: None,
        }
    }

    /// One that is asked what limits it ([`Trial::into_divided`]). `least`: no round trip is
    /// shorter.
    pub fn divided(
        script: &'a Script<'a>,
        setting: &Setting,
        lists: &'a mut Lists,
        passed: Passed<'a>,
        least: Span,
    ) -> Trial<'a> {
        let begin = script.steps.first().map_or(Time::ZERO, |(at, _)| *at);
        let division = Some(Division::new(&script.terms, begin, passed, least));
        Trial { division, arrivals: passed.arrivals, ..Trial::new(script, setting, lists) }
    }

    /// Puts it through the script, until it costs more than it may.
    pub fn go(&mut self, budget: &Budget) {
        steps::count(1);
        for (at, step) in &self.script.steps {
            let at = self.now.max(*at);
            self.elapse(at);
            match step {
                Step::Write { bytes, fin, pause } => {
                    self.cost += pause;
                    self.write(at, *bytes, *fin);
                }
                Step::Acked(acked) => self.acked(at, acked),
                Step::Seen { sent, late } => self.seen(sent, *late),
            }
            if self.cost > budget.at(self.lists.says.len()) || self.sends_too_much() {
                break;
            }
        }
    }
}

impl Trial<'_> {
    /// What it says of each segment that was seen, as far as it came.
    pub fn says(&self) -> &[Says] {
        &self.lists.says
    }

    /// It may stand for the sender.
    pub fn is_good(&self) -> bool {
        self.comparison.fit().is_good(self.script)
    }

    /// As in [`Lists`].
    pub fn is_calm(&self) -> bool {
        self.lists.are_calm()
    }

    /// What limited it until `end` at least; `None` if that was not asked.
    pub fn into_divided(mut self, end: Time) -> Option<Divided> {
        // The model of the sender may not have known how long the last ACK was on its way.
        let acked = |step: &&(Time, Step)| matches!(step.1, Step::Acked(_));
        let last = self.script.steps.iter().rev().find(acked);
        let end = last.map_or(end, |(at, _)| end.max(*at)).max(self.now);
        self.elapse(end);
        let Trial { division, sender, arrivals, .. } = self;
        division.map(|division| division.into_divided(end, &sender, arrivals))
    }

    fn sends_too_much(&self) -> bool {
        self.lists.own.len() > SENT_BESIDE + MOST_SENT * self.script.segments
    }

    /// The timers that expire until then.
    fn elapse(&mut self, until: Time) {
        let mut in_vain = 0;
        while self.sender.next_deadline() <= until && !self.sends_too_much() {
            steps::count(1);
            let due = if in_vain < MOST_IN_VAIN { self.sender.next_deadline() } else { until };
            let sent = self.lists.own.len();
            let (state, before) = (self.state(), self.sender.state());
            let (flight, cwnd) = (before.flight(), before.cwnd);
            let timeouts = self.sender.stats().timeouts_by_class;
            self.timed = true;
            if let Some(division) = &mut self.division {
                division.elapse(due, &self.sender);
            }
            // Pacing has a finer clock (Linux's `hrtimer`).
            let paces = self.sender.waits_for() == Some(Axis::Pacing);
            let ticks = if paces { Span::ZERO } else { self.ticks };
            self.sender.on_deadline(due);
            let now = self.sender.stats().timeouts_by_class;
            if let Some(class) = timeouts.iter().zip(&now).position(|(before, now)| before != now)
                && let Some(&class) = TimeoutClass::ALL.get(class)
            {
                let class = if self.backed_off { TimeoutClass::BackedOff } else { class };
                let waited = due.since(self.progress);
                self.backed_off = true;
                self.expiry = Some(Expiry { class, state, flight, cwnd, waited });
                if let Some(division) = &mut self.division {
                    division.waited();
                }
            }
            self.drain(due, ticks);
            in_vain = if self.lists.own.len() == sent { in_vain + 1 } else { 0 };
        }
        if let Some(division) = &mut self.division {
            division.elapse(until, &self.sender);
        }
        self.now = until;
    }

    fn write(&mut self, at: Time, bytes: u64, fin: bool) {
        if self.sender.is_idle() {
            self.progress = at;
        }
        self.sender.write(at, bytes);
        if fin {
            self.sender.close_with_fin(at);
        }
        self.timed |= self.may_restart(at);
        let first = self.lists.own.is_empty();
        if let Some(division) = self.division.as_mut().filter(|_| !first) {
            division.writes(true);
        }
        self.drain(at, Span::ZERO);
        if let Some(division) = &mut self.division {
            division.writes(false);
        }
    }

    fn acked(&mut self, at: Time, a: &Acked) {
        let mut sack = SackBlocks::NONE;
        for &(left, right) in a.sack.iter().take(usize::from(a.sacks)) {
            if left >= self.script.base {
                sack.push(SackBlock { left: self.seq(left), right: self.seq(right) });
            }
        }
        let ecr = a.tsecr.map(|ecr| self.echoed(ecr));
        let segment = Segment {
            ack: self.seq(a.ack),
            len: u32::from(a.with_data),
            wnd: (a.window >> self.script.shift).min(u64::from(u16::MAX)) as u16,
            ecn: if a.ece { Ecn::NONE.with_ece() } else { Ecn::NONE },
            timestamps: ecr.map(|ecr| Timestamps { val: 0, ecr }),
            sack,
            ..Segment::default()
        };
        let una = self.sender.acked();
        // It may be the window that held data back.
        self.timed |= self.sender.state().flight() == 0 && self.may_restart(at);
        self.sender.on_segment(at, &segment);
        let advanced = [una, self.sender.acked()];
        if advanced[1] > una {
            self.progress = at;
            self.backed_off = false;
        }
        if let Some(division) = &mut self.division {
            division.acked(advanced, a);
        }
        self.drain(at, Span::ZERO);
    }

    /// After a pause of the interval of the timer the window restarts (RFC 5681 section 4.1).
    fn may_restart(&self, at: Time) -> bool {
        self.lists.own.last().is_some_and(|own| at.since(own.at) >= self.patience)
    }

    fn seq(&self, position: u64) -> Seq {
        Seq::at(Seq(0) - self.script.base as u32, position)
    }

    /// The candidate's own timestamp in place of the one that is echoed.
    fn echoed(&self, ecr: u32) -> u32 {
        self.lists.stamps.get(&ecr).copied().unwrap_or(0)
    }

    fn state(&self) -> State {
        let state = self.sender.state();
        match state.phase {
            Phase::Loss => State::Loss,
            Phase::Recovery => State::Recovery,
            Phase::Open if state.dupacks > 0 => State::Disorder,
            Phase::Open => State::Open,
        }
    }

    /// Takes what the candidate sends. `ticks`: as in [`Own`].
    fn drain(&mut self, at: Time, ticks: Span) {
        let mut is_new = false;
        while let Some(transmit) = self.sender.poll_transmit(at) {
            if transmit.transmission == 0 {
                continue;
            }
            is_new |= transmit.transmission == 1;
            self.lists.probed |= transmit.cause == Cause::TailLossProbe;
            if let Some(division) = &mut self.division {
                division.sent(&transmit);
            }
            let timed_out = matches!(transmit.cause, Cause::Timeout | Cause::BackedOffTimeout);
            let expiry = if timed_out { self.expiry.take() } else { None };
            let kind = (transmit.transmission > 1).then(|| kind(transmit.cause, expiry.as_ref()));
            let says =
                Says { kind, expiry, transmission: transmit.transmission, ..Says::default() };
            let (position, len) = (transmit.position + self.script.base, transmit.segment.len);
            let before = self.lists.last.insert(position, self.lists.own.len());
            self.lists.own.push(Own { at, len, says, seen: false, ticks, before });
        }
        // A window that is long not in use shrinks, but not below the initial one
        // (`tcp_cwnd_application_limited`).
        let s = self.sender.state();
        let is_full = u64::from(s.packets_in_flight() + 1) * s.mss > s.cwnd;
        if is_full && (is_new || s.written > s.snd_max) {
            self.used = Some(at);
        } else {
            let lasts = |used| at.since(used) >= self.patience;
            self.timed |= self.used.map_or(s.cwnd > s.initial_window, lasts);
        }
    }

    /// A timer may have expired before it is due: it counts ticks, or times are known no better. It
    /// has, if it may send what was seen, and all else that was sent fits worse than that.
    fn hasten(&mut self, sent: &Sent, original: bool) {
        let due = self.sender.next_deadline();
        let early = self.ticks.max(self.script.grain);
        if due > self.now + early {
            return;
        }
        let s = self.sender.state();
        let position = sent.position - self.script.base;
        let may_send = match self.sender.waits_for() {
            Some(Axis::Timer) => position == s.snd_una,
            Some(Axis::Probe) => position + u64::from(sent.len) >= s.snd_max,
            axis => axis == Some(Axis::Detect),
        };
        let Lists { own, last, .. } = &*self.lists;
        let last = last.get(&sent.position).copied();
        let fits = self.comparison.best_match(sent, original, own, last);
        if may_send && fits.is_none_or(|fits| fits.cost > self.comparison.cost_of(early)) {
            self.elapse(due);
        }
    }

    /// A segment was seen: which of its own transmissions is it? If it is an original, the first.
    fn seen(&mut self, sent: &Sent, original: bool) {
        self.hasten(sent, original);
        let Lists { own, last, stamps, says: all, .. } = &mut *self.lists;
        let last = last.get(&sent.position).copied();
        let best = self.comparison.best_match(sent, original, own, last);
        let Some(Match { index, cost, timing }) = best else {
            self.cost += self.comparison.unsent();
            return all.push(Says { cost: self.cost, ..Says::default() });
        };
        self.cost += cost;
        self.cost += self.comparison.matched(sent, index, own);
        let Own { at, mut says, .. } = own[index];
        if let Some(theirs) = sent.tsval {
            stamps.insert(theirs, at.timestamp());
        }
        if sent.payload() == 0
            && let Some(expiry) = &mut says.expiry
            && expiry.class == TimeoutClass::NonTrigger
        {
            // A FIN without data says nothing about fast retransmit.
            expiry.class = TimeoutClass::Handshake;
        }
        all.push(Says { cost: self.cost, timing, ..says });
    }
}

/// The kind of a retransmission. What keeps ACKs coming in a recovery belongs to it.
fn kind(cause: Cause, expiry: Option<&Expiry>) -> Kind {
    match cause {
        Cause::FastRetransmit => Kind::FastRetransmit,
        Cause::Recovery | Cause::Filler => Kind::Recovery,
        Cause::SlowStart => Kind::SlowStart,
        Cause::Timeout | Cause::BackedOffTimeout => {
            match expiry.is_some_and(|expiry| expiry.class == TimeoutClass::BackedOff) {
                true => Kind::BackedOffTimeout,
                false => Kind::Timeout,
            }
        }
        Cause::TailLossProbe => Kind::TailLossProbe,
        _ => Kind::Unknown,
    }
}

#[cfg(test)]
mod tests;
