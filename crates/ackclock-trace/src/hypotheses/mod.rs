//! Why a segment was retransmitted, where the capture was taken away from the sender: by
//! hypotheses.
//!
//! There, nobody sees what was lost before the capture, nor when exactly a segment was sent. But
//! the ACKs that pass are those that the sender gets. So candidates of the engine ([`candidates`])
//! are put through them ([`script`]), and what they send is compared with what was seen
//! ([`trial`]). A candidate that agrees with it, up to a segment and for some segments after it,
//! says why it was sent; more of them that agree give probabilities.
//!
//! Candidates begin with the connection. Where all go wrong, since an ACK was lost behind the
//! capture, say, others begin anew at a quiet moment before what is not explained ([`start`]).

mod candidates;
mod cost;
mod division;
mod numbers;
mod recoveries;
mod rewrite;
mod script;
mod start;
#[cfg(test)]
pub(crate) mod tests;
mod trial;
mod verdict;
mod waits;
mod whole;

use ackclock_tcp::{Span, Time};

use self::candidates::{Candidate, Least, candidates};
use self::cost::Fit;
use self::division::Divided;
pub(crate) use self::rewrite::rewrite;
use self::script::Script;
use self::start::{Points, Start, beginnings, outages};
use self::trial::{Budget, Lists, Says, Setting, Trial, run};
pub(crate) use self::verdict::Verdict;
use self::verdict::{Looks, verdict};
use self::whole::{Whole, Wholes};
use crate::sender::{Acked, ArrivalRate, Sent, Terms};
use crate::standards::LEAST_RTOS;

/// How many packets of one way are kept at most. Of a longer connection, the rest is explained
/// without hypotheses.
pub(crate) const MOST: usize = 2048;

/// How many segments are compared at most, over all candidates; the commonest of these come first.
const MOST_WORK: usize = 1 << 20;

/// As many at most where nothing is to be explained: any sender does the same then. Chosen: with
/// 2^12 to 2^14 the kinds are the same.
const MOST_CALM_WORK: usize = 1 << 13;
/// A candidate that costs less for each segment fits so well that none is looked for that is
/// better. Chosen: from 0.1 to 0.4 the kinds are the same.
const FITS: f32 = 0.2;

/// Segments after one that a candidate has to agree with, too, and with how many at least where
/// all go wrong soon. Chosen: with 12 to 48, and 2 to 8, the kinds are the same.
const AHEAD: usize = 24;
const LEAST_AHEAD: usize = 4;
/// A candidate that costs more up to there does not agree. Chosen: from 20 to 80 the kinds are
/// nearly the same.
const AGREES: f32 = 40.0;
/// And so much more for each segment before. Chosen: 0.15 to 0.6 give nearly the same kinds.
const PATIENCE: f32 = 0.3;
/// A candidate is given up that costs so much more than the best one so far: it bounds the work.
/// Chosen: from 12 to 48 the kinds are nearly the same.
const HOPELESS: f32 = 24.0;
/// What it costs to assume a least timeout of few senders. Chosen: 3 to 12 give the same kinds.
const UNUSUAL: f32 = 6.0;
/// What a candidate may cost at this segment.
fn allowed(index: usize) -> f32 {
    AGREES + PATIENCE * index as f32
}

/// A packet as a hypothesis needs it: in order of the capture, ACKs with the time at which they
/// passed it, or would have if their way to the sender had been the usual one.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Sent(Sent),
    /// One that is known to be an original: it comes behind what was sent after it.
    Late(Sent),
    Acked(Acked),
}

impl Entry {
    /// When it passed the capture.
    pub fn at(&self) -> Time {
        match self {
            Entry::Sent(sent) | Entry::Late(sent) => sent.at,
            Entry::Acked(acked) => acked.at,
        }
    }

    pub fn sent(&self) -> Option<&Sent> {
        match self {
            Entry::Sent(sent) | Entry::Late(sent) => Some(sent),
            Entry::Acked(_) => None,
        }
    }

    /// One that is no original that comes late.
    pub fn in_time_mut(&mut self) -> Option<&mut Sent> {
        if let Entry::Sent(sent) = self { Some(sent) } else { None }
    }

    pub fn acked(&self) -> Option<&Acked> {
        if let Entry::Acked(acked) = self { Some(acked) } else { None }
    }
}

/// What has passed of one way of a connection.
#[derive(Clone, Copy)]
pub(crate) struct Passed<'a> {
    pub entries: &'a [Entry],
    /// Bytes that other connections had outstanding on the path, from each of these entries on; 0
    /// before the first.
    pub others: &'a [(usize, u32)],
    /// Nothing else has passed.
    pub all: bool,
    /// Timestamps say when it was sent.
    pub timed: bool,
    /// As in [`SenderModel::finish`].
    ///
    /// [`SenderModel::finish`]: crate::sender::SenderModel::finish
    pub arrivals: Option<ArrivalRate>,
}

/// Of each segment that was seen and that any hypothesis accounts for. `delay`: the round trip
/// between the capture and the sender; zero if it is not known. With it come that round trip, known
/// or learned, zero still if neither; and the candidates that explain all.
pub(crate) fn verdicts(
    terms: Terms,
    entries: &[Entry],
    delay: Span,
) -> (Vec<Verdict>, Span, Wholes) {
    let sent = entries.iter().filter_map(Entry::sent).count();
    let mut tries = Tries {
        terms,
        entries,
        verdicts: vec![None; sent],
        work: 0,
        best: Best::default(),
        wholes: Wholes::default(),
        lists: Lists::default(),
    };
    let begins = beginnings(terms, entries, delay);
    tries.all_of(&begins);
    let delay = if delay > Span::ZERO { delay } else { tries.best.delay };
    if delay > Span::ZERO {
        for start in outages(terms.mss, entries, delay) {
            tries.all_of(&[start]);
        }
        let mut points = Points::new(entries, delay);
        let places = entries.iter().enumerate().filter_map(|(at, e)| Some((at, e.sent()?)));
        for (index, (at, sent)) in places.enumerate() {
            let is_known =
                tries.verdicts.get(index).is_some_and(|v| v.is_some_and(|v| v.is_sure()));
            if let Some(start) = points.before(at, sent, is_known) {
                tries.all_of(&[start]);
            }
        }
    }
    let Tries { mut verdicts, wholes, .. } = tries;
    numbers::forbid(entries, &mut verdicts);
    (verdicts.into_iter().flatten().collect(), delay, wholes)
}

/// What limited, until `end` at least, a candidate that explains all of a connection in which
/// nothing is to be explained: the first one that fits, and that has retransmitted nothing either.
/// That is asked of each at once, since the first one that is tried fits nearly always. `least`: no
/// round trip is shorter.
pub(crate) fn calm(
    terms: Terms,
    passed: Passed<'_>,
    delay: Span,
    end: Time,
    least: Span,
) -> Option<Divided> {
    let mut lists = Lists::default();
    let mut work = 0;
    let (mut best, mut best_cost) = (None, None);
    for start in beginnings(terms, passed.entries, delay) {
        for paused in [false, true] {
            let script = Script::new(terms, passed.entries, &start, paused);
            let Some(script) = script else { continue };
            if paused && !script.may_pause || Fit::is_never_good(&script) {
                continue;
            }
            // Candidates that begin with this much cost too much in the end.
            let mut hopeless = f32::INFINITY;
            for setting in settings(&script, terms.sack) {
                let most = best_cost.unwrap_or(allowed(script.segments));
                if work > MOST_CALM_WORK {
                    break;
                }
                if setting.cost < hopeless
                    && best_cost.is_some_and(|best| script.least_cost(&setting) >= best)
                {
                    hopeless = setting.cost;
                }
                if setting.cost >= hopeless {
                    continue;
                }
                let mut trial = Trial::divided(&script, &setting, &mut lists, passed, least);
                trial.go(&Budget { most, best: &[] });
                work += 1 + trial.says().len();
                let cost = trial.says().last().map_or(0.0, |says| says.cost);
                let is_whole = trial.says().len() == script.segments && trial.is_good();
                if is_whole && trial.is_calm() && best_cost.is_none_or(|best| cost < best) {
                    (best, best_cost) = (trial.into_divided(end), Some(cost));
                    if cost < FITS * script.segments as f32 {
                        return best;
                    }
                }
            }
        }
    }
    best
}

/// Candidates that are tried, and what comes of it.
struct Tries<'a> {
    terms: Terms,
    entries: &'a [Entry],
    /// Of each segment that was seen.
    verdicts: Vec<Option<Verdict>>,
    /// Segments that were compared so far.
    work: usize,
    best: Best,
    wholes: Wholes,
    lists: Lists,
}

/// The candidate that went farthest, and cost least up to there.
#[derive(Default)]
struct Best {
    segments: usize,
    cost: f32,
    /// The delay between the capture and the sender that it was tried with.
    delay: Span,
}

impl Tries<'_> {
    /// Puts all candidates on trial that begin in one of these ways, all with the same segment.
    /// What they say is kept where nothing was sure before.
    fn all_of(&mut self, starts: &[Start]) {
        if self.work > MOST_WORK {
            return;
        }
        let mut scripts = Vec::new();
        for start in starts {
            let script = |paused| Script::new(self.terms, self.entries, start, paused);
            let Some(plain) = script(false) else { continue };
            let paused = if plain.may_pause { script(true) } else { None };
            scripts.extend([plain].into_iter().chain(paused));
        }
        let Some(&Script { skipped, base, segments, .. }) = scripts.first() else { return };
        let mut all = Vec::new();
        self.run(&scripts, self.terms.sack, &mut all);
        if self.terms.sack && all.iter().all(|says| says.len() < segments) {
            // A sender may negotiate SACK and make no use of it.
            self.run(&scripts, false, &mut all);
        }
        // What the best one costs up to each segment.
        let mut least: Vec<f32> = Vec::new();
        for says in &all {
            take_least(&mut least, says);
        }
        let mut max = 0;
        let sent = self.entries.iter().filter_map(Entry::sent).map(|sent| {
            let is_first = sent.position >= max;
            max = max.max(sent.end());
            (sent, is_first)
        });
        let places =
            sent.zip(&mut self.verdicts).skip(skipped).filter(|((s, _), _)| s.position >= base);
        for (index, ((sent, is_first), place)) in places.enumerate() {
            // The last segments have fewer ahead of them.
            let most = (index + AHEAD).min(least.len().saturating_sub(1));
            let few = (index + LEAST_AHEAD).min(most);
            let agrees = |until: &usize| least.get(*until).is_some_and(|l| *l <= allowed(index));
            let until = (few..=most).rev().find(agrees);
            // What was given up before says nothing from here on.
            all.retain(|says| says.len() > index);
            // What ends an outage was sent before, whatever it looks like.
            let again = index == 0 && starts.iter().any(|start| start.outage.is_some());
            let old = place.filter(|old| !again || old.kind.is_some());
            if old.is_some_and(|old| old.is_sure()) {
                continue;
            }
            let is_first = is_first && !again;
            let looks =
                Looks { is_first, to_the_end: until == Some((index + AHEAD).min(segments - 1)) };
            if let Some(new) = until.and_then(|until| verdict(sent, index, until, &all, looks))
                && old.is_none_or(|old| old.doubt > new.doubt)
                && (!again || new.kind.is_some())
            {
                *place = Some(new);
            }
        }
    }

    /// Adds what each candidate says of each segment, as far as it was not given up.
    fn run(&mut self, scripts: &[Script], sack: bool, all: &mut Vec<Vec<Says>>) {
        // What the best one costs that explains all: none is better up to any segment that costs
        // so much more.
        let mut least_of_all = f32::INFINITY;
        for script in scripts {
            let mut least = allowed(script.segments);
            let mut best: Vec<f32> = Vec::new();
            // Candidates that would have done the same with a timer that waits longer, and what
            // they say.
            let mut untimed: Vec<(Setting, usize)> = Vec::new();
            for setting in settings(script, sack) {
                if self.work > MOST_WORK {
                    return;
                }
                if setting.cost > least {
                    // Others explain all for less.
                    continue;
                }
                let most = least.min(least_of_all) + HOPELESS;
                let budget = Budget { most, best: &best };
                let same = untimed.iter().rfind(|(other, _)| setting.is_patient(other));
                let (says, fit) = if let Some(says) = same.and_then(|(_, index)| all.get(*index)) {
                    debug_assert!({
                        run(script, &setting, budget, &mut self.lists);
                        says.iter().zip(&self.lists.says).all(|(a, b)| a == b)
                    });
                    (says.clone(), None)
                } else {
                    let (is_timed, fit) = run(script, &setting, budget, &mut self.lists);
                    if !is_timed {
                        untimed.push((setting, all.len()));
                    }
                    (self.lists.says.clone(), Some(fit))
                };
                if says.len() == script.segments {
                    least = least.min(says.last().map_or(0.0, |says| says.cost));
                    least_of_all = least_of_all.min(least);
                    let cost = says.last().map_or(0.0, |says| says.cost);
                    let Script { start, paused, .. } = *script;
                    let is_whole =
                        start.resumed.is_none() && fit.is_some_and(|fit| fit.is_good(script));
                    let whole = Whole { cost, start, paused, setting };
                    let is_better = |old: Option<Whole>| old.is_none_or(|old| cost < old.cost);
                    if is_whole && is_better(self.wholes.any) {
                        self.wholes.any = Some(whole);
                    }
                    if is_whole && self.lists.are_calm() && is_better(self.wholes.calm) {
                        self.wholes.calm = Some(whole);
                    }
                }
                take_least(&mut best, &says);
                self.work += 1 + says.len();
                let (segments, cost) = (says.len(), says.last().map_or(0.0, |says| says.cost));
                if (segments, -cost) > (self.best.segments, -self.best.cost) {
                    self.best = Best { segments, cost, delay: script.delay };
                }
                all.push(says);
            }
        }
    }
}

/// Takes over, for each segment, what this one costs up to there, if that is less.
fn take_least(least: &mut Vec<f32>, says: &[Says]) {
    least.resize(least.len().max(says.len()), f32::INFINITY);
    least.iter_mut().zip(says).for_each(|(least, says)| *least = least.min(says.cost));
}

/// All candidates, with what they may begin with; those with a least timeout as few have it come
/// last.
fn settings<'a>(script: &'a Script, sack: bool) -> impl Iterator<Item = Setting> + 'a {
    let probes = script.terms.may_have_probes();
    let all = move || candidates(sack).iter().filter(move |c| probes || !c.probes);
    let usual = move || {
        all().flat_map(move |c| {
            // The least interval of a timer of ticks is its own.
            let (least, cost) = match c.least {
                Least::Ticks => (&LEAST_RTOS[..1], script.phase_cost()),
                Least::Whole | Least::BesideTrip => (&LEAST_RTOS[..], 0.0),
            };
            least.iter().map(move |&least| (c, least, cost))
        })
    };
    let learned = move |c: &'static Candidate| {
        let least: &[Span] = match c.least {
            Least::Whole => &script.waits,
            Least::BesideTrip => &script.waits_beside_trip,
            Least::Ticks => &[],
        };
        least.iter().map(move |&least| (c, least, UNUSUAL))
    };
    let unusual = move || all().flat_map(learned);
    starts(script, usual).chain(starts(script, unusual))
}

/// The same of these senders: each with its least interval, and what it costs to assume that.
fn starts<'a, S>(
    script: &'a Script,
    senders: impl Fn() -> S + 'a,
) -> impl Iterator<Item = Setting> + 'a
where
    S: Iterator<Item = (&'static Candidate, Span, f32)> + 'a,
{
    script.windows.iter().flat_map(move |&initial_window| {
        senders().flat_map(move |(candidate, min_rto, cost)| {
            let ticks = candidate.least == Least::Ticks;
            let phases = if ticks { &script.phases[..] } else { &[Span::ZERO] };
            phases.iter().flat_map(move |&tick_phase| {
                let of = move |&initial_ssthresh: &Option<u64>| Setting {
                    candidate,
                    min_rto,
                    cost,
                    initial_window,
                    initial_ssthresh,
                    tick_phase,
                };
                script.thresholds.iter().map(of)
            })
        })
    })
}
