//! Experiments whose runs are many transfers, each over a path of its own that is drawn from a population, and the class and
//! window of each of their timeouts: Lin & Kung section 4.1 and figure 1.

use ackclock_net::scenario::{Scenario, ScenarioError};
use ackclock_net::{Direction, FlowId, Recorder, Rng};
use ackclock_report::{Chart, Curve, Estimate, FlowSummary, Plot, Point};
use ackclock_run::{Error, Input, Job, Progress};
use ackclock_tcp::TimeoutClass::{self, LostRetransmission, MultipleLosses, NonTrigger};
use ackclock_tcp::{Cause, Event, EventKind, Segment, Time};
use serde::Deserialize;
use toml::{Table, Value};

use crate::format::{NumberOrText, RowSpec};
use crate::measure::{Measurement, Measurements};
use crate::substitute::set;

/// `[population]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Population {
    /// Transfers of a run.
    pub transfers: u32,
    /// The title of the figure with the classes and windows of the timeouts.
    pub chart: String,
    pub draw: Vec<Draw>,
}

/// A key of the scenario that takes one of these values for each transfer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draw {
    pub key: String,
    pub values: Vec<Value>,
    /// How likely each of them is beside the others; all alike if left out.
    #[serde(default)]
    pub weights: Vec<f64>,
}

impl Draw {
    fn check(&self) -> Result<(), &'static str> {
        if self.values.is_empty() {
            return Err("values: at least one is expected");
        }
        let sound = self.weights.iter().all(|w| w.is_finite() && *w >= 0.0) && self.weights.iter().sum::<f64>() > 0.0;
        if !self.weights.is_empty() && (self.weights.len() != self.values.len() || !sound) {
            return Err("weights: as many as values, none of them negative, or none");
        }
        Ok(())
    }

    /// The value at this place, from 0 to 1, of all of them side by side with their weights as widths.
    fn at(&self, place: f64) -> Option<&Value> {
        let width = |i: usize| self.weights.get(i).copied().unwrap_or(1.0);
        let mut left = place * (0..self.values.len()).map(width).sum::<f64>();
        self.values.iter().enumerate().find_map(|(i, value)| {
            left -= width(i);
            (left < 0.0).then_some(value)
        })
    }
}

impl Population {
    /// Whether there is something to draw, and the scenario makes sense with each of the values.
    pub fn check(&self, scenario: &Table) -> Result<(), ScenarioError> {
        if self.transfers == 0 {
            return Err(wrong("population.transfers", "at least one transfer is expected".into()));
        }
        for (i, draw) in self.draw.iter().enumerate() {
            let at = format!("population.draw[{i}]");
            draw.check().map_err(|message| wrong(&at, message.into()))?;
            for value in &draw.values {
                let mut path = scenario.clone();
                set(&mut path, &draw.key, value.clone()).map_err(|message| wrong(&at, message))?;
                read(&path)?;
            }
        }
        Ok(())
    }

    /// The path of one transfer. Each key has random numbers of its own, so that no draw moves another.
    fn path(&self, scenario: &Table, seed: u64) -> Result<Scenario, ScenarioError> {
        let mut path = scenario.clone();
        for draw in &self.draw {
            let place = Rng::new(seed, &format!("population/{}", draw.key)).unit();
            if let Some(value) = draw.at(place) {
                set(&mut path, &draw.key, value.clone()).map_err(|message| wrong(&draw.key, message))?;
            }
        }
        read(&path)
    }

    /// The transfers of the run `job`, one after the other, each with a seed of its own.
    pub fn run(&self, scenario: &Table, file: &str, job: &Job, progress: &Progress) -> Result<Transfers, Error> {
        let mut all = Transfers::default();
        for transfer in 0..u64::from(self.transfers) {
            let seed = job.seed.wrapping_mul(self.transfers.into()).wrapping_add(transfer);
            let path = self.path(scenario, seed).map_err(|error| Error::Scenario { file: file.into(), error })?;
            let input = Input { scenario: &path, file: file.into(), text: None };
            let job = Job { seed, ..job.clone() };
            let simulation = input.build(&job, true)?;
            let mss = simulation.flows.first().map_or(1, |f| f.mss.into());
            let mut windows = Windows { mss, offered: u64::MAX, timed_out: None, tally: &mut all.tally };
            all.flows.extend(input.run(&job, simulation, &mut windows, progress)?.flows);
        }
        Ok(all)
    }
}

/// The scenario in a table whose text is nowhere to be seen, so that lines would tell nothing.
pub(crate) fn read(table: &Table) -> Result<Scenario, ScenarioError> {
    Scenario::from_toml(&table.to_string()).map_err(|error| {
        let key = format!("scenario.{}", error.key);
        ScenarioError { line: None, key, ..error }
    })
}

fn wrong(key: &str, message: String) -> ScenarioError {
    ScenarioError { line: None, key: key.into(), message, help: None }
}

/// What came of the transfers of a run.
#[derive(Default)]
pub(crate) struct Transfers {
    pub flows: Vec<FlowSummary>,
    pub tally: Tally,
}

/// Timeouts, and windows in whole segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Window and segments outstanding at each timeout, by class.
    timeouts: [Vec<(u64, u64)>; 3],
    /// Timeouts of a segment that had one already. They are of the class lost retransmission.
    repeated: usize,
    /// ACKs of new data, and the sum of the windows at them.
    acks: u64,
    windows: u64,
}

/// Takes the windows of one transfer down.
struct Windows<'a> {
    mss: u64,
    /// The receiver's window as of the last ACK.
    offered: u64,
    /// The segment of the last timeout.
    timed_out: Option<u64>,
    tally: &'a mut Tally,
}

impl Windows<'_> {
    fn window(&self, cwnd: u64) -> u64 {
        cwnd.min(self.offered) / self.mss
    }
}

impl Recorder for Windows<'_> {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, _: FlowId, event: &Event) {
        match event.kind {
            EventKind::Acked { ack, newly_acked, window_edge, .. } => {
                self.offered = window_edge.saturating_sub(ack);
                if newly_acked > 0 {
                    self.tally.acks += 1;
                    self.tally.windows += self.window(event.cwnd);
                }
            }
            EventKind::TimedOut { seq, class, flight, cwnd_before, .. } => {
                let sizes = (self.window(cwnd_before), flight.div_ceil(self.mss));
                self.tally.timeouts[class as usize].push(sizes);
                self.tally.repeated += usize::from(self.timed_out.replace(seq) == Some(seq));
            }
            _ => {}
        }
    }

    fn packet(&mut self, _: FlowId, _: Time, _: Direction, _: &Segment, _: Option<(Cause, u32)>) {}
}

impl Tally {
    fn count(&self, class: TimeoutClass) -> usize {
        self.timeouts[class as usize].len()
    }

    fn all(&self) -> usize {
        self.timeouts.iter().map(Vec::len).sum()
    }

    /// The share of all timeouts of which `counts` is true.
    fn share(&self, classes: &[TimeoutClass], counts: impl Fn(u64, u64) -> bool) -> f64 {
        let of = |class: &TimeoutClass| self.timeouts[*class as usize].iter().filter(|t| counts(t.0, t.1)).count();
        percent(classes.iter().map(of).sum(), self.all())
    }

    /// The share of these in the timeouts that repeat no other.
    fn of_first(&self, timeouts: usize) -> f64 {
        percent(timeouts, self.all() - self.repeated)
    }
}

/// NaN if there is none.
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

const CLASSES: [TimeoutClass; 3] = [NonTrigger, MultipleLosses, LostRetransmission];

/// What is measured of a run beside the counters of its flows.
pub(crate) struct Measure {
    pub name: &'static str,
    pub unit: &'static str,
    value: fn(&Tally) -> f64,
}

const fn share(name: &'static str, value: fn(&Tally) -> f64) -> Measure {
    Measure { name, unit: "%", value }
}

pub(crate) const MEASURES: [Measure; 7] = [
    share("share-repeated", |t| percent(t.repeated, t.all())),
    share("share-of-first-non-trigger", |t| t.of_first(t.count(NonTrigger))),
    share("share-of-first-multiple-losses", |t| t.of_first(t.count(MultipleLosses))),
    share("share-of-first-lost-retransmission", |t| t.of_first(t.count(LostRetransmission) - t.repeated)),
    share("share-window-above-10", |t| t.share(&CLASSES, |window, _| window > 10)),
    share("share-outstanding-above-10", |t| t.share(&CLASSES, |_, outstanding| outstanding > 10)),
    Measure { name: "mean-window", unit: "segments", value: |t| t.windows as f64 / t.acks as f64 },
];

/// `measure/strategy` for each measure.
pub(crate) fn statistics(strategy: &str, runs: &[&Tally], into: &mut Measurements) {
    for m in &MEASURES {
        let samples = runs.iter().map(|tally| (m.value)(tally)).collect();
        into.insert(format!("{}/{strategy}", m.name), Measurement::Samples(samples));
    }
}

/// The largest window of the figure; 64 KB of 512-byte segments are more, but hardly any timeouts.
const WIDEST: u64 = 32;

/// Figure 1: the share of all timeouts with at least such a window, by class. At a window of 1 it is the share of the class,
/// for which a row may have the paper's number.
pub(crate) fn chart(title: String, strategy: &str, runs: &[&Tally], rows: &[RowSpec]) -> Chart {
    let curve = |name: &str, classes: &[TimeoutClass], measure: &str| {
        let point = |least: u64| {
            let shares: Vec<f64> = runs.iter().map(|t| t.share(classes, |window, _| window >= least)).collect();
            let measured: Vec<f64> = shares.into_iter().filter(|s| !s.is_nan()).collect();
            Some(Point { x: least as f64, y: Estimate::of(&measured)? })
        };
        let row = rows.iter().find(|row| row.measurement == format!("{measure}/{strategy}"));
        let paper = row.and_then(|row| match row.paper {
            Some(NumberOrText::Number(share)) => Some((1.0, share)),
            _ => None,
        });
        let points = (1..=WIDEST).filter_map(point).collect();
        Curve { name: name.into(), points, paper: paper.into_iter().collect(), ..Curve::default() }
    };
    let curves = vec![
        curve("all timeouts", &CLASSES, ""),
        curve("non-trigger", &[NonTrigger], "share-non-trigger"),
        curve("multiple losses", &[MultipleLosses], "share-multiple-losses"),
        curve("lost retransmission", &[LostRetransmission], "share-lost-retransmission"),
    ];
    let (x, y) = ("window (segments)".into(), "share of all timeouts (%)".into());
    Chart { title, x, y, plot: Plot::Curves { curves, log_x: false } }
}

#[cfg(test)]
#[path = "population_tests.rs"]
mod tests;
