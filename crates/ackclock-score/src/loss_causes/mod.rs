//! Scores what `explain` says of why packets were lost, with simulated connections whose losses
//! have a known cause.

mod population;

use std::collections::BTreeMap;

use ackclock_net::scenario::{BuildOptions, Scenario};
use ackclock_net::{FlowId, NodeId, Place, Recorder};
use ackclock_report::{Align, align, percent, percentile};
use ackclock_tcp::{Event, EventKind, Registry, Sighting};
use ackclock_trace::LossCause;
use rayon::prelude::*;
use serde_json::{Value, json};

pub use self::population::{Drawn, drawn};
use crate::captures::{explained, written};
use crate::cell::cell;
use crate::places::PLACES;

/// Not named, or not one cause.
const NONE: &str = "none";

/// A cause is the true one if it has taken so much of what was lost.
const MOSTLY: f64 = 0.75;

/// What was said of a connection, at each of [`PLACES`], and what was so.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Of the scenario.
    pub seed: u64,
    /// Data segments lost on their first transmission.
    pub lost: u64,
    /// The cause; `none` if there were several, or one that is none of those that are named.
    pub truth: &'static str,
    /// What was found.
    pub found: [Option<LossCause>; PLACES.len()],
    /// Data packets lost, of all that were sent.
    rate: f64,
    drawn: Drawn,
}

/// The first flow of a run.
struct Log {
    router: NodeId,
    /// Data packets that were dropped.
    all: u64,
    dropped: BTreeMap<&'static str, u64>,
    seen: [Vec<(u32, Sighting)>; PLACES.len()],
}

impl Recorder for Log {
    fn event(&mut self, flow: FlowId, event: &Event) {
        if let (0, EventKind::Dropped { why, transmission, .. }) = (flow.0, event.kind) {
            self.all += 1;
            *self.dropped.entry(why).or_default() += u64::from(transmission == 1);
        }
    }

    fn packet(&mut self, flow: FlowId, place: Place, sighting: &Sighting) {
        let place = match place {
            Place::Sender => 0,
            Place::Node(node) if node == self.router => 1,
            Place::Node(_) => return,
            Place::Receiver => 2,
        };
        if flow.0 == 0 {
            self.seen[place].push((0, *sighting));
        }
    }
}

/// The answer about the scenario of a seed.
///
/// # Errors
/// When the scenario is wrong, or the network.
pub fn answer(seed: u64) -> Result<Answer, String> {
    let drawn = drawn(seed);
    let registry = Registry::default();
    let scenario = Scenario::from_toml(&drawn.text, &registry).map_err(|e| e.to_string())?;
    let options = BuildOptions::new(&registry, seed).events(true);
    let mut simulation = scenario.build(&options).map_err(|e| e.to_string())?;
    let router = scenario.node("router").ok_or("there is no node `router`")?;
    let mut log = Log { router, all: 0, dropped: BTreeMap::new(), seen: Default::default() };
    simulation.run(&mut log).map_err(|e| e.to_string())?;
    let mut found = [None; PLACES.len()];
    for ((found, seen), place) in found.iter_mut().zip(&log.seen).zip(PLACES) {
        let capture = written(&simulation, seen, place).map_err(|e| e.to_string())?;
        let connections = explained(&capture)?;
        *found = connections.first().and_then(|c| c.from_client.losses.cause);
    }
    let lost = log.dropped.values().sum();
    let mostly = log.dropped.iter().find(|(_, n)| **n as f64 >= MOSTLY * lost as f64);
    let truth = match mostly {
        Some((&"queue", _)) if drawn.full.is_some() => LossCause::NAMES[0],
        Some((&"policer", _)) => LossCause::NAMES[1],
        Some((&("bernoulli" | "gilbert_elliott"), _)) => LossCause::NAMES[2],
        _ => NONE,
    };
    let sent = log.seen[0].iter().filter(|(_, s)| s.to_receiver && s.len > 0).count();
    let rate = log.all as f64 / sent.max(1) as f64;
    Ok(Answer { seed, lost, truth, found, rate, drawn })
}

/// The answers about the scenarios of these seeds.
///
/// # Errors
/// The first one's, as [`answer`].
pub fn all(seeds: std::ops::Range<u64>) -> Result<Vec<Answer>, String> {
    seeds.into_par_iter().map(|s| answer(s).map_err(|e| format!("seed {s}: {e}"))).collect()
}

impl Answer {
    /// Whether a cause was named at the sender that is not the true one.
    pub fn is_wrong(&self) -> bool {
        self.found[0].is_some_and(|found| found.name() != self.truth)
    }

    /// The scenario, and what was said.
    pub fn text(&self) -> String {
        let Answer { seed, lost, truth, found, drawn, .. } = self;
        format!("# seed {seed}: {lost} lost, {truth}, found {found:?}\n{}\n", drawn.text)
    }
}

/// How right they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// By place, truth and what was found, each a name or `none`.
    pub counts: [BTreeMap<(&'static str, &'static str), u64>; PLACES.len()],
    /// At the sender, of those rightly named, in parts of the truth and sorted: how much rate and
    /// burst of a policer, the delay of a full queue, and the rate of random losses are off.
    pub off: [Vec<f64>; 4],
}

/// What is measured beside names.
const MEASURED: [&str; 4] =
    ["policer's rate", "policer's burst", "delay of a full queue", "random losses"];

impl Summary {
    /// Of these. With fewer than five losses there is nothing to explain.
    pub fn of(answers: &[Answer]) -> Summary {
        let mut sum = Summary::default();
        for answer in answers.iter().filter(|answer| answer.lost >= 5) {
            for (counts, found) in sum.counts.iter_mut().zip(&answer.found) {
                let found = found.map_or(NONE, |found| found.name());
                *counts.entry((answer.truth, found)).or_default() += 1;
            }
            if !answer.is_wrong() {
                sum.measure(answer);
            }
        }
        sum.off.iter_mut().for_each(|off| off.sort_by(f64::total_cmp));
        sum
    }

    fn measure(&mut self, answer: &Answer) {
        let mut add = |index: usize, found: f64, truth: Option<f64>| {
            self.off[index].extend(truth.map(|truth| (found - truth).abs() / truth));
        };
        let drawn = &answer.drawn;
        match answer.found[0] {
            Some(LossCause::Policer { rate_bps, burst }) => {
                add(0, rate_bps, drawn.policer.map(|[rate, _]| rate));
                if let Some(burst) = burst {
                    add(1, burst as f64, drawn.policer.map(|[_, burst]| burst));
                }
            }
            Some(LossCause::DropTail { delay, .. }) => add(2, delay.secs_f64(), drawn.full),
            Some(LossCause::Random { rate, .. }) => add(3, rate, Some(answer.rate)),
            Some(LossCause::PathMtu { .. }) | None => {}
        }
    }

    /// Connections with this truth, of these how many were named, and of those how many rightly.
    pub fn of_truth(&self, place: usize, truth: &str) -> [u64; 3] {
        let of = |found: &dyn Fn(&str) -> bool| {
            let counts = self.counts[place].iter();
            counts.filter(|((t, f), _)| *t == truth && found(f)).map(|(_, n)| n).sum()
        };
        [of(&|_| true), of(&|f| f != NONE), of(&|f| f == truth && f != NONE)]
    }

    /// How often a name was given at this place, and how often that was right.
    pub fn named(&self, place: usize, name: &str) -> [u64; 2] {
        let counts = &self.counts[place];
        let of = |truth: &dyn Fn(&str) -> bool| {
            counts.iter().filter(|((t, f), _)| *f == name && truth(t)).map(|(_, n)| n).sum()
        };
        [of(&|_| true), of(&|t| t == name)]
    }

    /// As tables.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let columns = LossCause::NAMES.into_iter().chain([NONE]);
        for (place, name) in PLACES.iter().enumerate() {
            let mut rows = vec![vec![format!("At the {name}")]];
            rows[0].extend(columns.clone().map(String::from));
            for truth in columns.clone().filter(|truth| self.of_truth(place, truth)[0] > 0) {
                let count = |found| self.counts[place].get(&(truth, found)).copied().unwrap_or(0);
                let counts = columns.clone().map(|found| count(found).to_string());
                rows.push([truth.to_string()].into_iter().chain(counts).collect());
            }
            let right = LossCause::NAMES.map(|found| {
                let [named, right] = self.named(place, found);
                cell(percent(right, named))
            });
            rows.push(["right of named, %".to_string()].into_iter().chain(right).collect());
            out += &(align(&rows, Align::Right) + "\n");
        }
        let mut rows = vec![["Off by, %", "cases", "median", "90 %"].map(String::from).to_vec()];
        for (name, off) in MEASURED.iter().zip(&self.off) {
            let at = |p| percentile(off, p).map_or("-".into(), |off| format!("{:.2}", 100.0 * off));
            rows.push(vec![name.to_string(), off.len().to_string(), at(50.0), at(90.0)]);
        }
        out += &align(&rows, Align::Right);
        out
    }

    /// The same.
    pub fn json(&self) -> Value {
        let mut out = json!({});
        for (place, counts) in PLACES.iter().zip(&self.counts) {
            for ((truth, found), n) in counts {
                out[*place][*truth][*found] = json!(n);
            }
        }
        for (name, off) in MEASURED.iter().zip(&self.off) {
            out["off"][*name] = json!({
                "cases": off.len(), "median": percentile(off, 50.0).unwrap_or(0.0),
                "p90": percentile(off, 90.0).unwrap_or(0.0)
            });
        }
        out
    }
}
