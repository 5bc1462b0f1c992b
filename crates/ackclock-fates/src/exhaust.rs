//! Every case of a space, and what the runs come to.

use std::collections::BTreeMap;

use ackclock_run::{Error, Progress, in_parallel};
use ackclock_tcp::{Composition, Registry, Time};
use serde::Serialize;

use crate::path::{Outcome, Path};
use crate::schedule::Schedule;
use crate::space::{Case, Space};

/// What all runs of a strategy over a space come to. Counts are runs.
///
/// *The paper's condition* (Lin & Kung 1998, section 8: "as long as the network keeps at least one
/// packet alive for each round trip time") is defined so. Time is cut into round trips of 100 ms
/// from the moment at which the window is written. The condition holds of a run if, of the data
/// segments that the sender sent in each of them up to its first timeout, at least one arrived, and
/// an ACK that one of them drew arrived too. A round trip in which it sent nothing is kept: the
/// network was given nothing to keep alive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tally {
    /// All runs.
    pub runs: u64,
    /// Runs not done after 120 s.
    pub incomplete: Found,
    /// Runs with a timeout.
    pub timed_out: Found,
    /// Of those, the ones of which no part times out: with any of its events left out it would not
    /// be so, nor with any more left out.
    pub minimal: Minimal,
    /// Runs of which the paper's condition holds.
    pub alive: u64,
    /// Those of them with a timeout.
    pub alive_timed_out: Found,
    /// Runs with a spurious retransmission.
    pub spurious: Found,
    /// Runs with one, and no timeout.
    pub spurious_alone: Found,
    /// Spurious retransmissions of all runs.
    pub spurious_segments: u64,
    /// The most segments that one ACK or timer released.
    pub burst: u32,
    /// The smallest case in which it did.
    pub burst_case: String,
    /// How much later than the oracle with the same window law and timer a run is complete.
    pub over_oracle: OverOracle,
}

/// Runs of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// How many.
    pub runs: u64,
    /// The one with the fewest events; of equals the first.
    pub smallest: Option<String>,
    #[serde(skip)]
    events: usize,
}

/// Cases of which no part is like them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Minimal {
    /// How many.
    pub cases: u64,
    /// The smallest of them, at most [`Minimal::SHOWN`].
    pub smallest: Vec<String>,
}

/// Seconds over the oracle, of runs that complete in both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverOracle {
    /// The oracle's composition.
    pub oracle: String,
    /// Seconds over it in the mean.
    pub mean_s: f64,
    /// Seconds over it in the worst case.
    pub worst_s: f64,
    /// The worst case; of several, the smallest.
    pub worst: String,
    /// Runs that are complete before the oracle.
    pub earlier: u64,
    /// Seconds over it, and of how many runs.
    #[serde(skip)]
    sum: (f64, u64),
    /// The events of the worst case.
    #[serde(skip)]
    events: usize,
}

impl Minimal {
    /// So many are named.
    pub const SHOWN: usize = 12;
}

impl Found {
    fn add(&mut self, case: &Case) {
        self.runs += 1;
        let events = case.events();
        if self.smallest.is_none() || events < self.events {
            (self.smallest, self.events) = (Some(case.to_string()), events);
        }
    }
}

impl OverOracle {
    fn new(oracle: String) -> OverOracle {
        OverOracle {
            oracle,
            mean_s: f64::NAN,
            worst_s: f64::NEG_INFINITY,
            worst: String::new(),
            earlier: 0,
            sum: (0.0, 0),
            events: usize::MAX,
        }
    }

    /// A run is complete at `at`, and the oracle's at `least`.
    fn add(&mut self, case: &Case, at: Time, least: Time) {
        let over = at.secs_f64() - least.secs_f64();
        self.sum = (self.sum.0 + over, self.sum.1 + 1);
        self.mean_s = self.sum.0 / self.sum.1 as f64;
        self.earlier += u64::from(at < least);
        let (by, events) = (over - self.worst_s, case.events());
        if by > 1e-9 || (by > -1e-9 && events < self.events) {
            (self.worst_s, self.events) = (over, events);
            self.worst = case.to_string();
        }
    }
}

/// Runs strategies over spaces.
pub struct Sweep<'a> {
    /// What their names mean.
    pub registry: &'a Registry,
    /// Threads; 0 for one a processor.
    pub threads: u16,
    /// A step for each number of a space.
    pub progress: &'a Progress,
    /// Asked from time to time whether to give up.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// When oracles were done, by composition.
    oracles: BTreeMap<String, Vec<Option<Time>>>,
    space: &'a Space,
}

/// So many numbers of a space are one piece of work.
const PIECE: u64 = 1 << 12;

impl<'a> Sweep<'a> {
    /// A sweep over one space.
    pub fn new(
        registry: &'a Registry,
        space: &'a Space,
        threads: u16,
        progress: &'a Progress,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Sweep<'a> {
        Sweep { registry, threads, progress, stop, oracles: BTreeMap::new(), space }
    }

    /// All runs of a strategy and of its oracle, unless that has run already. `None` if it was
    /// stopped.
    ///
    /// # Errors
    /// If there are no threads.
    pub fn strategy(&mut self, composition: &Composition) -> Result<Option<Tally>, Error> {
        let oracle = composition.bound("oracle");
        if !self.oracles.contains_key(&oracle)
            && let Ok(bound) = self.registry.parse(&oracle)
        {
            let Some(outcomes) = self.all(&bound)? else { return Ok(None) };
            let completed = outcomes.iter().map(|o| o.and_then(|o| o.completed)).collect();
            self.oracles.insert(oracle.clone(), completed);
        }
        let Some(outcomes) = self.all(composition)? else { return Ok(None) };
        let bound = self.oracles.get(&oracle).map_or(&[][..], |all| all);
        Ok(Some(tally(self.space, &outcomes, bound, oracle)))
    }

    /// Every outcome, by number.
    fn all(&self, composition: &Composition) -> Result<Option<Vec<Option<Outcome>>>, Error> {
        let pieces: Vec<u64> = (0..self.space.numbers().div_ceil(PIECE)).collect();
        let done = in_parallel(&pieces, self.threads, |piece| {
            if (self.stop)() {
                return Ok(None);
            }
            let numbers = piece * PIECE..self.space.numbers().min((piece + 1) * PIECE);
            self.progress.advance(numbers.end - numbers.start);
            Ok(Some(outcomes(self.space, numbers, composition)))
        })?;
        Ok(done.into_iter().collect::<Option<Vec<_>>>().map(|pieces| pieces.concat()))
    }
}

/// The outcomes of these numbers; `None` where a number is no case.
fn outcomes(
    space: &Space,
    numbers: std::ops::Range<u64>,
    composition: &Composition,
) -> Vec<Option<Outcome>> {
    let (mut path, mut schedule) = (Path::default(), Schedule::default());
    let one = |number| {
        space.case(number)?.schedule(&mut schedule);
        Some(path.run(space.connection, composition, &schedule, false))
    };
    numbers.map(one).collect()
}

fn tally(
    space: &Space,
    outcomes: &[Option<Outcome>],
    bound: &[Option<Time>],
    oracle: String,
) -> Tally {
    let mut t = Tally {
        runs: 0,
        incomplete: Found::default(),
        timed_out: Found::default(),
        minimal: Minimal::default(),
        alive: 0,
        alive_timed_out: Found::default(),
        spurious: Found::default(),
        spurious_alone: Found::default(),
        spurious_segments: 0,
        burst: 0,
        burst_case: String::new(),
        over_oracle: OverOracle::new(oracle),
    };
    // Whether this case or a part of it times out.
    let mut within = vec![false; outcomes.len()];
    let (mut minimal, mut burst) = (Vec::new(), usize::MAX);
    for (number, outcome) in (0..).zip(outcomes) {
        let (Some(outcome), Some(case)) = (outcome, space.case(number)) else { continue };
        let (place, events) = (number as usize, case.events());
        t.runs += 1;
        t.alive += u64::from(outcome.alive);
        t.spurious_segments += u64::from(outcome.spurious);
        let below = space.smaller(number).any(|other| within[other as usize]);
        within[place] = below || outcome.timeouts > 0;
        if outcome.completed.is_none() {
            t.incomplete.add(&case);
        }
        if outcome.timeouts > 0 {
            t.timed_out.add(&case);
            if !below {
                minimal.push((events, number));
            }
            if outcome.alive {
                t.alive_timed_out.add(&case);
            }
        }
        if outcome.spurious > 0 {
            t.spurious.add(&case);
            if outcome.timeouts == 0 {
                t.spurious_alone.add(&case);
            }
        }
        if (outcome.burst, burst) > (t.burst, events) || t.burst_case.is_empty() {
            (t.burst, burst, t.burst_case) = (outcome.burst, events, case.to_string());
        }
        if let (Some(at), Some(Some(least))) = (outcome.completed, bound.get(place)) {
            t.over_oracle.add(&case, at, *least);
        }
    }
    minimal.sort_unstable();
    let shown = minimal.iter().take(Minimal::SHOWN);
    t.minimal.cases = minimal.len() as u64;
    t.minimal.smallest =
        shown.filter_map(|(_, n)| space.case(*n)).map(|case| case.to_string()).collect();
    t
}
