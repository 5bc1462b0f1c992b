//! Experiments whose runs are many transfers, each over a path of its own that is drawn from a population.

use ackclock_net::Rng;
use ackclock_net::scenario::{Scenario, ScenarioError};
use ackclock_report::{FlowSummary, RecoveryStats};
use ackclock_run::{Error, Input, Job, Progress, RecoveryRecorder};
use serde::Deserialize;
use toml::{Table, Value};

use crate::grid::read;
use crate::substitute::set;
use crate::timeouts::{Tally, Windows};

/// `[population]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Population {
    /// Transfers of a run.
    pub transfers: u32,
    /// The title of a figure with the classes and windows of the timeouts; none if left out.
    pub chart: Option<String>,
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
        // Not by way of its text, which takes longer than most transfers; `check` has told what is wrong with a value.
        Scenario::deserialize(path).map_err(|error| wrong("scenario", error.to_string()))
    }

    /// The transfers of the run `job`, one after the other, each with a seed of its own; with the statistics of recovery if
    /// `recovery`.
    pub fn run(
        &self,
        scenario: &Table,
        file: &str,
        job: &Job,
        recovery: bool,
        progress: &Progress,
    ) -> Result<Transfers, Error> {
        let mut all = Transfers::default();
        for transfer in 0..u64::from(self.transfers) {
            let seed = job.seed.wrapping_mul(self.transfers.into()).wrapping_add(transfer);
            let path = self.path(scenario, seed).map_err(|error| Error::Scenario { file: file.into(), error })?;
            let input = Input { scenario: &path, file: file.into(), text: None };
            let job = Job { seed, ..job.clone() };
            let simulation = input.build(&job, true)?;
            let mss = simulation.flows.first().map_or(1, |f| f.mss.into());
            let recovery = recovery.then(|| RecoveryRecorder::new(&simulation.flows, simulation.until));
            let mut recorder = (Windows::new(mss, &mut all.tally), recovery);
            all.flows.extend(input.run(&job, simulation, &mut recorder, progress)?.flows);
            if let Some(recovery) = recorder.1 {
                all.recovery.add(&recovery.finish());
            }
        }
        Ok(all)
    }
}

fn wrong(key: &str, message: String) -> ScenarioError {
    ScenarioError { line: None, key: key.into(), message, help: None }
}

/// What came of the transfers of a run.
#[derive(Default)]
pub(crate) struct Transfers {
    pub flows: Vec<FlowSummary>,
    pub recovery: RecoveryStats,
    pub tally: Tally,
}

#[cfg(test)]
#[path = "population_tests.rs"]
mod tests;
