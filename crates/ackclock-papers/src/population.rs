//! Runs that are many transfers, each over a path of its own that is drawn from a population.

use std::io;

use ackclock_net::Rng;
use ackclock_net::scenario::{Scenario, ScenarioError};
use ackclock_report::{FlowSummary, RecoveryStats};
use ackclock_run::{Error, FileError, Input, Job, Progress, RecoveryRecorder, error_at, set};
use serde::Deserialize;
use toml::{Table, Value};

use crate::captures::Capture;
use crate::cell::{PlannedCell, Traces};
use crate::format::{Draw, Population};
use crate::plan::Plan;
use crate::timeouts::{Tally, Windows};

/// The transfers of a run.
#[derive(Default)]
pub(crate) struct Transfers {
    pub flows: Vec<FlowSummary>,
    /// Where it is asked for.
    pub recovery: Option<RecoveryStats>,
    pub timeouts: Tally,
    /// Where it is asked for: as captures show them.
    pub captured: Option<Tally>,
}

/// Appends the flows of a transfer, the first of which begins when those before it are over.
fn append(all: &mut Vec<FlowSummary>, flows: Vec<FlowSummary>) {
    let before = all.iter().map(|flow| flow.active[1]).max().unwrap_or_default();
    let begins = flows.iter().map(|flow| flow.active[0]).min().unwrap_or_default();
    all.extend(flows.into_iter().map(|flow| {
        let active = flow.active.map(|at| before + at.since(begins));
        FlowSummary { active, ..flow }
    }));
}

/// The transfers of the run `job` of a plan, one after the other, each with a seed of its own.
pub(crate) fn run(
    population: &Population,
    planned: &PlannedCell,
    job: &Job,
    plan: &Plan<'_>,
    progress: &Progress,
) -> Result<Transfers, Error> {
    let (registry, file) = (plan.registry, &plan.source.file);
    // None in practice: a capture is written to memory.
    let unwritten = |error: io::Error| {
        Error::Scenario(FileError { file: file.clone(), error: error_at("", error.to_string()) })
    };
    let transfers = u64::from(population.transfers);
    let mut all = Transfers {
        recovery: plan.recovery.then(RecoveryStats::default),
        captured: plan.captures.then(Tally::default),
        ..Transfers::default()
    };
    for transfer in 0..transfers {
        let seed = job.seed.wrapping_mul(transfers).wrapping_add(transfer);
        let path = population
            .path(&planned.cell.table, &planned.traces, seed)
            .and_then(|mut path| path.read_traces(&plan.source.scenario_file).map(|()| path))
            .map_err(|error| Error::Scenario(FileError { file: file.clone(), error }))?;
        let input = Input { registry, scenario: &path, file: file.clone(), text: None };
        let job = Job { seed, ..job.clone() };
        let simulation = input.build(&job, true)?;
        let mss = simulation.flows.first().map_or(1, |f| f.mss.into());
        let recovery =
            plan.recovery.then(|| RecoveryRecorder::new(&simulation.flows, simulation.until));
        let capture = plan.captures.then(|| Capture::new(&simulation.flows)).transpose();
        let capture = capture.map_err(unwritten)?;
        let mut recorder = ((Windows::new(mss, &mut all.timeouts), recovery), capture);
        let flows = input.run(&job, simulation, &mut recorder, progress)?.flows;
        append(&mut all.flows, flows);
        let ((_, recovery), capture) = recorder;
        if let (Some(sum), Some(recorder)) = (&mut all.recovery, recovery) {
            sum.add(&recorder.finish());
        }
        if let (Some(tally), Some(capture)) = (&mut all.captured, capture) {
            capture.read(tally).map_err(unwritten)?;
        }
    }
    Ok(all)
}

impl Draw {
    /// The value at a place from 0 to 1, where all values lie side by side and a weight is a width.
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
    /// The path of one transfer, with those of its `traces` that have been read. Each key has
    /// random numbers of its own, so that no draw moves another.
    fn path(
        &self,
        scenario: &Table,
        traces: &Traces,
        seed: u64,
    ) -> Result<Scenario, ScenarioError> {
        let mut path = scenario.clone();
        for draw in &self.draw {
            let place = Rng::new(seed, &format!("population/{}", draw.key)).unit();
            if let Some(value) = draw.at(place) {
                set(&mut path, &draw.key, value.clone())
                    .map_err(|message| error_at(&draw.key, message))?;
            }
        }
        // Not by way of its text, which takes longer than most transfers. `check` has found what is
        // wrong with a value.
        let mut path =
            Scenario::deserialize(path).map_err(|error| error_at("scenario", error.to_string()))?;
        for trace in path.links.iter_mut().filter_map(|link| link.trace.as_mut()) {
            trace.trace = traces.get(&trace.file).cloned();
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests;
