//! What it costs that a candidate has sent something else than was seen.
//!
//! What it sends and the capture does not show was lost before the capture, or the candidate is
//! wrong; what it does not send, but was seen, speaks against it. Segments wait in queues on their
//! way to the capture, so that one may be seen late, but not before it was sent, and late only if
//! the one before it was late, too. All that is summed as a cost: minus the logarithm of a
//! likelihood.
//!
//! Costs and bounds that have no source are *chosen*. What half and twice of one change is what
//! `ackclock-score kernel` counts in the middle and at the receiver, of the captures of that crate:
//! *the kinds are the same* where no retransmission is named otherwise there, and *nearly the same*
//! where the part named rightly (93 %) moves by two points at most. Probabilities move more.

use ackclock_tcp::{Span, Time};

use super::script::Script;
use super::trial::Own;
use crate::sender::Sent;
use crate::standards::LEAST_RTO;

/// What a segment costs that is seen and not sent. From 4 to 16 the kinds are nearly
/// the same.
const UNSENT: f32 = 8.0;
/// What one costs that is sent and not seen; and what each further one in a row does, since what
/// loses one segment often loses the next. From 0.75 to 3, and 0.15 to 0.6, the kinds are the same.
const UNSEEN: f32 = 1.5;
const UNSEEN_NEXT: f32 = 0.3;
/// Where the sender numbers its packets, the capture shows how many are missing. What a segment
/// costs that is sent and not seen where one is missing, what one where none is, and what a missing
/// one costs that is not sent: it may be an ACK. From 0.05 to 0.2 and from 0.5 to 2 the kinds are
/// the same, from 3 to 12 nearly.
const MISSING: f32 = 0.1;
const NOT_MISSING: f32 = 6.0;
const UNTOLD: f32 = 1.0;
/// What it costs to be seen before or behind others in another order than that of the numbers. From
/// 3 to 12 the kinds are nearly the same.
const OUT_OF_ORDER: f32 = 6.0;
/// Of so many missing packets nothing is known.
const MOST_MISSING: u16 = 64;
/// What one costs that is seen behind a later one. From 1.5 to 6 the kinds are the same.
const OVERTAKEN: f32 = 3.0;
/// A segment costs no more than this, however late it is. From 6 to 24 the kinds are the same.
const LATE: f32 = 12.0;
/// What an ACK lets out goes at once. Where it comes so much later than the segment before did, a
/// timer has sent it in truth: one of [`LEAST_RTO`] or less, that began before that ACK. It costs
/// as much more as if it had not been sent. From 25 to 100 ms the kinds are nearly the same.
const BY_TIMER: Span = Span(LEAST_RTO.0 / 4);
/// Most transmissions of a candidate that are looked through for the one that was seen.
const REACH: usize = 512;
/// Of a candidate that stands for the sender, no more than this part of the time is unexplained.
/// With 10 to 40 the kinds are the same, and what is said to have limited the sender.
const PART_UNEXPLAINED: u64 = 20;

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
        !self.unsent && !self.untold && self.stood_still <= patience(script) && !script.is_unsure
    }

    /// No candidate that retransmits nothing may: the first segment would have been on its way for
    /// too long ([`Comparison::weigh`]).
    pub fn is_never_good(script: &Script) -> bool {
        let waits = script.first_waits;
        script.is_unsure || waits > LEAST_RTO && waits > patience(script)
    }
}

/// For how long what it sends may be on its way without a reason.
fn patience(script: &Script) -> Span {
    Span(script.span().0 / PART_UNEXPLAINED)
}

/// Which transmission of a candidate was seen.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub index: usize,
    /// What that costs.
    pub cost: f32,
    /// How much of it is for the time at which it was seen.
    pub timing: f32,
}

/// What a candidate has sent, beside what was seen.
pub(super) struct Comparison<'a> {
    script: &'a Script<'a>,
    /// The first of its transmissions that none behind it was seen before.
    next: usize,
    /// When the last segment that was seen passed, and how late it was.
    seen_at: Time,
    late: Span,
    /// The highest number of a packet that was seen, if the sender numbers them.
    number: Option<u16>,
    fit: Fit,
}

impl<'a> Comparison<'a> {
    pub fn new(script: &'a Script<'a>) -> Comparison<'a> {
        Comparison {
            script,
            next: 0,
            seen_at: Time::ZERO,
            late: Span::ZERO,
            number: script.number.filter(|_| script.numbers),
            fit: Fit::default(),
        }
    }
}

impl Comparison<'_> {
    /// What it leaves unexplained.
    pub fn fit(&self) -> Fit {
        self.fit
    }

    /// A segment was seen: which of `all` transmissions of the candidate is it? If it is an
    /// original, the first of its bytes. `last`: the last one that begins there. `None` if there is
    /// none.
    pub fn best_match(
        &self,
        sent: &Sent,
        original: bool,
        all: &[Own],
        last: Option<usize>,
    ) -> Option<Match> {
        let slack = |own: &Own| {
            let due = (own.at + own.ticks).max(self.seen_at);
            Span(sent.at.since(due).0.saturating_sub(self.script.pace.0))
        };
        let step = self.step(sent);
        let is_behind = step.map(is_behind);
        let mut best: Option<(f32, Match)> = None;
        let first = all.len().saturating_sub(REACH);
        let mut same = last;
        while let Some((index, own)) = same.and_then(|i| Some((i, all.get(i)?)))
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
            let cost = cost + if self.is_by_timer(own, late, slack(own)) { UNSENT } else { 0.0 };
            let skipped = match is_behind {
                Some(behind) if behind != overtaken => OUT_OF_ORDER,
                _ if overtaken => 0.0,
                _ => self.skipped(index, step, all),
            };
            let doubt = cost + skipped + self.cost_of(change).min(2.0);
            if best.is_none_or(|(least, ..)| doubt < least) {
                best = Some((doubt, Match { index, cost: cost + skipped, timing: cost }));
            }
        }
        best.map(|(_, of)| of)
    }

    /// A timer has sent in truth what the candidate sends on an ACK, or by a tail loss probe
    /// ([`BY_TIMER`]). `late`, `slack`: how late that is, and how late if it waited behind others.
    fn is_by_timer(&self, own: &Own, late: Span, slack: Span) -> bool {
        let later = Span(late.0.saturating_sub(self.late.0));
        let is_answer = own.says.kind.is_some_and(|kind| !kind.is_timeout());
        is_answer && later.min(slack) > BY_TIMER.max(self.script.grain.times(2))
    }

    /// What was seen has not been sent. Returns what that costs.
    pub fn unsent(&mut self) -> f32 {
        self.fit.unsent = true;
        UNSENT
    }

    /// What was seen is the transmission of this index. Returns what it costs beside if its length
    /// is another.
    pub fn matched(&mut self, sent: &Sent, index: usize, all: &mut [Own]) -> f32 {
        let step = self.step(sent);
        let is_behind = step.is_some_and(is_behind);
        self.weigh(sent, index, step.filter(|_| !is_behind), all);
        let own = &mut all[index];
        own.seen = true;
        if self.script.numbers && !is_behind {
            self.number = sent.ip_id;
        }
        self.late = sent.at.since(own.at);
        self.seen_at = self.seen_at.max(sent.at);
        self.next = self.next.max(index + 1);
        if own.len != sent.payload() && own.len != sent.len { UNSEEN } else { 0.0 }
    }

    /// By so much the number of `sent` is above the highest that was seen; `None` if the sender
    /// does not number its packets, or it is the same.
    fn step(&self, sent: &Sent) -> Option<u16> {
        let step = self.number.and_then(|last| Some(sent.ip_id?.wrapping_sub(last)));
        step.filter(|step| *step != 0)
    }

    /// `sent` is the transmission of this index. What waits in a queue comes out one behind the
    /// other, in twice the time at the most that most segments take.
    /// `step`: as in [`Comparison::skipped`]; a timer has sent nothing where no number is missing,
    /// but for those of ACKs that were seen.
    fn weigh(&mut self, sent: &Sent, index: usize, step: Option<u16>, all: &[Own]) {
        let Own { at, .. } = all[index];
        let gap = sent.at.since(self.seen_at);
        let count = |step: u16| if sent.all_seen { 0 } else { usize::from(step - 1) };
        let missing = step.filter(|_| gap >= LEAST_RTO).map(count);
        if index >= self.next && missing.is_some_and(|missing| missing < self.unseen(index, all)) {
            self.fit.untold = true;
        }
        let queued = at + self.script.grain < self.seen_at;
        let stood_still = if queued { gap } else { sent.at.since(at.max(self.seen_at)) };
        let most = if queued { self.script.service.times(2) } else { LEAST_RTO };
        if stood_still > most {
            self.fit.stood_still = self.fit.stood_still + stood_still;
        }
    }

    /// What it costs not to have seen what was sent before this one. `step`: by so much its number
    /// is above that of the packet seen before.
    fn skipped(&self, index: usize, step: Option<u16>, all: &[Own]) -> f32 {
        let unseen = self.unseen(index, all) as f32;
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

    fn unseen(&self, before: usize, all: &[Own]) -> usize {
        all[self.next..before].iter().filter(|own| !own.seen).count()
    }

    /// What it costs to be late by this: of Cauchy's distribution, since queues have long tails.
    pub fn cost_of(&self, late: Span) -> f32 {
        let times = late.0 as f32 / self.script.grain.0.max(1) as f32;
        (1.0 + times * times).ln().min(LATE)
    }
}

/// Whether a number that is so far above another is below it in truth.
fn is_behind(step: u16) -> bool {
    step > u16::MAX / 2
}

/// What so many misfits in a row count as: a window that is a little too large has many at once.
fn few(misfits: f32) -> f32 {
    (1.0 + misfits).log2()
}

#[cfg(test)]
mod tests;
