//! A candidate on trial: an engine `Sender` gets the ACKs that passed the capture, and what it
//! sends is compared with what was seen.
//!
//! What it sends and the capture does not show was lost before the capture, or the candidate is
//! wrong; what it does not send, but was seen, speaks against it. Segments wait in queues on their
//! way to the capture, so that one may be seen late, but not before it was sent, and late only if
//! the one before it was late, too. All that is summed as a cost: minus the logarithm of a
//! likelihood.

use ackclock_tcp::{
    Cause, Ecn, Phase, SackBlock, SackBlocks, Segment, Sender, SenderConfig, Seq, Span, Time,
    TimeoutClass, Timestamps,
};

use rustc_hash::FxHashMap;

use super::candidates::{Candidate, LEAST};
use super::division::{Divided, Division};
use super::script::{Script, Step};
use super::{HOPELESS, Passed};
use crate::connection::{Kind, State};
use crate::sender::{Acked, Sent};

/// What a segment costs that is seen and not sent.
const UNSENT: f32 = 8.0;
/// What one costs that is sent and not seen; and what each further one in a row does, since what
/// loses one segment often loses the next.
const UNSEEN: f32 = 1.5;
const UNSEEN_NEXT: f32 = 0.3;
/// Where the sender numbers its packets, the capture shows how many are missing. What a segment
/// costs that is sent and not seen where one is missing, what one where none is, and what a missing
/// one costs that is not sent: it may be an ACK.
const MISSING: f32 = 0.1;
const NOT_MISSING: f32 = 6.0;
const UNTOLD: f32 = 1.0;
/// What it costs to be seen before or behind others in another order than that of the numbers.
const OUT_OF_ORDER: f32 = 6.0;
/// Of so many missing packets nothing is known.
const MOST_MISSING: u16 = 64;
/// What one costs that is seen behind a later one.
const OVERTAKEN: f32 = 3.0;
/// A segment costs no more than this, however late it is.
const LATE: f32 = 12.0;
/// Most transmissions of a candidate that are looked through for the one that was seen.
const REACH: usize = 512;
/// Of a candidate that stands for the sender, no more than this part of the time is unexplained.
const PART_UNEXPLAINED: u64 = 20;
/// A candidate that sends so many times as much as was seen is no good.
const MOST_SENT: usize = 4;

/// What a candidate says of a segment that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Says {
    /// Why it was retransmitted; `None` of a first transmission.
    pub kind: Option<Kind>,
    pub expiry: Option<Expiry>,
    pub transmission: u32,
    /// What all costs up to here.
    pub cost: f32,
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
struct Own {
    at: Time,
    len: u32,
    says: Says,
    seen: bool,
    /// The transmission before it that begins with the same byte.
    before: Option<usize>,
}

/// The lists of a trial, kept for the next one so that they need not grow again.
#[derive(Default)]
pub(super) struct Lists {
    own: Vec<Own>,
    /// The last transmission that begins there, by position.
    last: FxHashMap<u64, usize>,
    /// TSval of what was seen, with the candidate's own.
    stamps: Vec<(u32, u32)>,
}

impl Lists {
    fn clear(&mut self) {
        let Lists { own, last, stamps } = self;
        own.clear();
        last.clear();
        stamps.clear();
    }
}

struct Trial<'a> {
    script: &'a Script<'a>,
    sender: Sender,
    lists: &'a mut Lists,
    /// The first of `own` that none behind it was seen before.
    next: usize,
    /// When the last segment that was seen passed, and how late it was.
    seen_at: Time,
    late: Span,
    /// The highest number of a packet that was seen, if the sender numbers them.
    number: Option<u16>,
    progress: Time,
    backed_off: bool,
    expiry: Option<Expiry>,
    cost: f32,
    says: Vec<Says>,
    /// When cwnd was last in use.
    used: Option<Time>,
    /// A shorter wait is no matter of the timer, whose least interval is twice this.
    patience: Span,
    /// What was done may depend on that interval.
    timed: bool,
    fit: Fit,
    /// What limits it, if anyone asks.
    division: Option<Division<'a>>,
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
pub(super) struct Limits<'a> {
    pub most: f32,
    /// What the best ones before it cost, up to each segment.
    pub best: &'a [f32],
}

impl Limits<'_> {
    /// When so many segments were seen.
    fn at(&self, seen: usize) -> f32 {
        let best = seen.checked_sub(1).and_then(|last| self.best.get(last));
        best.map_or(self.most, |best| self.most.min(best + HOPELESS))
    }
}

/// What a candidate leaves unexplained, however probable it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fit {
    /// Something was seen that it has not sent.
    unsent: bool,
    /// A timer has sent what the numbers of packets have no room for.
    untold: bool,
    /// For so long segments would have waited in a queue that nothing came out of, or been on their
    /// way alone for longer than timers wait.
    stood_still: Span,
}

impl Fit {
    /// It may stand for the sender.
    pub fn is_good(&self, script: &Script) -> bool {
        let patience = Span(script.span().0 / PART_UNEXPLAINED);
        !self.unsent && !self.untold && self.stood_still <= patience && !script.is_unsure
    }
}

/// What the candidate says of each segment that was seen, as far as it came before it cost more
/// than it may; whether that may depend on how long its timer waits at least; and how it fits.
pub(super) fn run(
    script: &Script,
    setting: &Setting,
    limits: Limits,
    lists: &mut Lists,
) -> (Vec<Says>, bool, Fit) {
    let mut trial = Trial::new(script, setting, lists);
    trial.go(&limits);
    (trial.says, trial.timed, trial.fit)
}

/// What limited a candidate until `end`. `least`: no round trip is shorter.
pub(super) fn divide<'a>(
    script: &'a Script<'a>,
    setting: &Setting,
    passed: Passed<'a>,
    end: Time,
    least: Span,
) -> Option<Divided> {
    let begin = script.steps.first().map_or(Time::ZERO, |(at, _)| *at);
    let mut lists = Lists::default();
    let mut trial = Trial::new(script, setting, &mut lists);
    trial.division = Some(Division::new(&script.terms, begin, passed, least));
    trial.go(&Limits { most: f32::INFINITY, best: &[] });
    trial.elapse(end);
    let Trial { division, sender, .. } = trial;
    division.map(|division| division.into_divided(end, &sender, passed.arrivals))
}

impl<'a> Trial<'a> {
    fn new(script: &'a Script<'a>, setting: &Setting, lists: &'a mut Lists) -> Trial<'a> {
        lists.clear();
        let &Setting { candidate, min_rto, cost, initial_window, initial_ssthresh, tick_phase } =
            setting;
        let strategy = candidate.composition.build();
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
            min_rto: Some(min_rto),
            tick_phase,
            ..SenderConfig::default()
        };
        Trial {
            script,
            sender: Sender::new(config, strategy),
            lists,
            next: 0,
            seen_at: Time::ZERO,
            late: Span::ZERO,
            number: script.number.filter(|_| script.numbers),
            progress: Time::ZERO,
            backed_off: false,
            expiry: None,
            cost,
            says: Vec::new(),
            used: None,
            patience: Span(min_rto.0 / 2),
            timed: false,
            fit: Fit::default(),
            division: None,
        }
    }

    /// Puts it through the script, until it costs more than it may.
    fn go(&mut self, limits: &Limits) {
        for (at, step) in &self.script.steps {
            self.elapse(*at);
            match step {
                Step::Write { bytes, fin, pause } => {
                    self.cost += pause;
                    self.write(*at, *bytes, *fin);
                }
                Step::Acked(acked) => self.acked(*at, acked),
                Step::Seen { sent, late } => self.seen(sent, *late),
            }
            if self.cost > limits.at(self.says.len())
                || self.lists.own.len() > 64 + MOST_SENT * self.script.segments
            {
                break;
            }
        }
    }
}

impl Trial<'_> {
    /// The timers that expire until then.
    fn elapse(&mut self, until: Time) {
        while self.sender.next_deadline() <= until
            && self.lists.own.len() <= 64 + 4 * self.script.segments
        {
            let due = self.sender.next_deadline();
            let (state, before) = (self.state(), self.sender.state());
            let (flight, cwnd) = (before.flight(), before.cwnd);
            let timeouts = self.sender.stats().timeouts_by_class;
            self.timed = true;
            if let Some(division) = &mut self.division {
                division.elapse(due, &self.sender);
            }
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
            self.drain(due);
        }
        if let Some(division) = &mut self.division {
            division.elapse(until, &self.sender);
        }
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
        self.drain(at);
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
        self.drain(at);
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
        let seen = self.lists.stamps.iter().rev().find(|(theirs, _)| *theirs == ecr);
        seen.map_or(0, |(_, own)| *own)
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

    /// Takes what the candidate sends.
    fn drain(&mut self, at: Time) {
        let mut is_new = false;
        while let Some(transmit) = self.sender.poll_transmit(at) {
            if transmit.transmission == 0 {
                continue;
            }
            is_new |= transmit.transmission == 1;
            if let Some(division) = &mut self.division {
                division.sent(&transmit);
            }
            let timed_out = matches!(transmit.cause, Cause::Timeout | Cause::BackedOffTimeout);
            let expiry = if timed_out { self.expiry.take() } else { None };
            let kind = (transmit.transmission > 1).then(|| kind(transmit.cause, expiry.as_ref()));
            let says = Says { kind, expiry, transmission: transmit.transmission, cost: 0.0 };
            let (position, len) = (transmit.position + self.script.base, transmit.segment.len);
            let before = self.lists.last.insert(position, self.lists.own.len());
            self.lists.own.push(Own { at, len, says, seen: false, before });
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

    /// A segment was seen: which of its own transmissions is it? If it is an original, the first.
    fn seen(&mut self, sent: &Sent, original: bool) {
        let slack = |own: &Own| {
            let due = own.at.max(self.seen_at);
            Span(sent.at.since(due).0.saturating_sub(self.script.pace.0))
        };
        let step = self.number.and_then(|last| Some(sent.ip_id?.wrapping_sub(last)));
        let step = step.filter(|step| *step != 0);
        let is_behind = step.map(|step| step > u16::MAX / 2);
        let mut best: Option<(f32, f32, usize)> = None;
        let first = self.lists.own.len().saturating_sub(REACH);
        let mut same = self.lists.last.get(&sent.position).copied();
        while let Some((index, own)) = same.and_then(|i| Some((i, self.lists.own.get(i)?)))
            && index >= first
        {
            same = own.before;
            if own.seen || original && own.says.kind.is_some() {
                continue;
            }
            let overtaken = index < self.next;
            let late = sent.at.since(own.at);
            let change = Span(late.0.abs_diff(self.late.0));
            let cost = if overtaken {
                let late = Span(change.0.saturating_sub(self.script.pace.0));
                let unseen = if is_behind.is_some() { MISSING } else { UNSEEN };
                OVERTAKEN - unseen + self.cost_of(late)
            } else {
                // What is late for the segment before it, or late by as much as that one.
                let late = Span(change.0.saturating_sub(self.script.pace.0));
                self.cost_of(slack(own).min(late))
            };
            let skipped = match is_behind {
                Some(behind) if behind != overtaken => OUT_OF_ORDER,
                _ if overtaken => 0.0,
                _ => self.skipped(index, step),
            };
            let doubt = cost + skipped + self.cost_of(change).min(2.0);
            if best.is_none_or(|(least, ..)| doubt < least) {
                best = Some((doubt, cost + skipped, index));
            }
        }
        let Some((_, cost, index)) = best else {
            self.cost += UNSENT;
            self.fit.unsent = true;
            return self.says.push(Says { cost: self.cost, ..Says::default() });
        };
        self.cost += cost;
        self.fit(sent, index, step.filter(|_| is_behind != Some(true)));
        let own = &mut self.lists.own[index];
        own.seen = true;
        if own.len != sent.payload() && own.len != sent.len {
            self.cost += UNSEEN;
        }
        if let Some(theirs) = sent.tsval {
            let stamp = (theirs, own.at.timestamp());
            match self.lists.stamps.last_mut() {
                Some(last) if last.0 == theirs => *last = stamp,
                _ => self.lists.stamps.push(stamp),
            }
        }
        let mut says = own.says;
        if sent.payload() == 0
            && let Some(expiry) = &mut says.expiry
            && expiry.class == TimeoutClass::NonTrigger
        {
            // A FIN without data says nothing about fast retransmit.
            expiry.class = TimeoutClass::Handshake;
        }
        if self.script.numbers && is_behind != Some(true) {
            self.number = sent.ip_id;
        }
        self.late = sent.at.since(own.at);
        self.seen_at = self.seen_at.max(sent.at);
        self.next = self.next.max(index + 1);
        self.says.push(Says { cost: self.cost, ..says });
    }

    /// `sent` is the transmission of this index. What waits in a queue comes out one behind the
    /// other, in twice the time at the most that most segments take.
    /// `step`: as in [`Trial::skipped`]; a timer has sent nothing where no number is missing.
    fn fit(&mut self, sent: &Sent, index: usize, step: Option<u16>) {
        let Own { at, .. } = self.lists.own[index];
        let gap = sent.at.since(self.seen_at);
        let missing = step.filter(|_| gap >= LEAST[0]).map(|step| usize::from(step - 1));
        if index >= self.next && missing.is_some_and(|missing| missing < self.unseen(index)) {
            self.fit.untold = true;
        }
        let queued = at + self.script.grain < self.seen_at;
        let stood_still = if queued { gap } else { sent.at.since(at.max(self.seen_at)) };
        let most = if queued { self.script.service.times(2) } else { LEAST[0] };
        if stood_still > most {
            self.fit.stood_still = self.fit.stood_still + stood_still;
        }
    }

    /// What it costs not to have seen what was sent before this one. `step`: by so much its number
    /// is above that of the packet seen before.
    fn skipped(&self, index: usize, step: Option<u16>) -> f32 {
        let unseen = self.unseen(index) as f32;
        match step.map(|step| step - 1).filter(|missing| *missing <= MOST_MISSING) {
            Some(missing) => {
                let missing = f32::from(missing);
                MISSING * unseen.min(missing)
                    + NOT_MISSING * few((unseen - missing).max(0.0))
                    + UNTOLD * few((missing - unseen).max(0.0))
            }
            None if unseen > 0.0 => UNSEEN + UNSEEN_NEXT * (unseen - 1.0),
            None => 0.0,
        }
    }

    fn unseen(&self, before: usize) -> usize {
        self.lists.own[self.next..before].iter().filter(|own| !own.seen).count()
    }

    /// What it costs to be late by this: of Cauchy's distribution, since queues have long tails.
    fn cost_of(&self, late: Span) -> f32 {
        let times = late.0 as f32 / self.script.grain.0.max(1) as f32;
        (1.0 + times * times).ln().min(LATE)
    }
}

/// What so many misfits in a row count as: a window that is a little too large has many at once.
fn few(misfits: f32) -> f32 {
    (1.0 + misfits).log2()
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
