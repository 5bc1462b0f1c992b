//! Runs planned experiments.

use ackclock_net::scenario::{Flow, Scenario, Source};
use ackclock_net::{FlowId, Recorder};
use ackclock_report::{Estimate, FlowSummary, RecoveryStats};
use ackclock_run::{Input, Job, Progress, RecoveryRecorder, STEPS, in_parallel};
use ackclock_tcp::Event;

use crate::Error;
use crate::bound::distances;
use crate::chart::chart;
use crate::format::RowSpec;
use crate::measure::{Measurement, Measurements, Totals, recovery, statistics, totals, unit};
use crate::outcome::{Cell, ClaimOutcome, Outcome, Row, Sequence, Trace};
use crate::plan::{Plan, PlannedCell};
use crate::population::Transfers;
use crate::sequence::{named, steps};
use crate::side_by_side::{Table, TableSpec};
use crate::timeouts::{self, Tally};
use crate::verdict::{estimate, judge};

/// One run to do.
struct Task<'a> {
    plan: &'a Plan<'a>,
    cell: &'a PlannedCell,
    job: Job,
    record: bool,
}

/// What a run left.
struct Done {
    totals: Totals,
    /// The first flow; none of many transfers.
    first: Option<FlowSummary>,
    /// Empty unless something of it is asked for.
    recovery: RecoveryStats,
    /// Of many transfers.
    tally: Tally,
    events: Vec<Event>,
    mss: u32,
}

/// Takes the events of the first flow.
#[derive(Default)]
struct Log(Vec<Event>);

impl Recorder for Log {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        if flow.0 == 0 {
            self.0.push(*event);
        }
    }
}

/// Runs all plans on `threads` threads (0: one per processor); their number does not change any result.
///
/// # Errors
/// [`Error::Run`].
pub fn run(plans: &[Plan<'_>], threads: u16) -> Result<Vec<Outcome>, Error> {
    let tasks: Vec<Task<'_>> = plans.iter().flat_map(tasks).collect();
    let progress = Progress::new(tasks.iter().map(|task| task.simulations() * task.weight() * STEPS).sum());
    let mut done = in_parallel(&tasks, threads, |task| task.run(&progress.weighing(task.weight())))?.into_iter();
    Ok(plans.iter().map(|plan| outcome(plan, &mut done)).collect())
}

/// Cells, then strategies and what bounds them, then seeds: the order in which [`outcome`] takes the results.
fn tasks<'a>(plan: &'a Plan<'a>) -> impl Iterator<Item = Task<'a>> {
    plan.cells.iter().flat_map(move |cell| {
        let strategies = plan.entry.experiment.strategies.iter().map(|s| (s.composition(), plan.records()));
        strategies.chain(plan.bounds.iter().map(|b| (Some(b.as_str()), false))).flat_map(move |(strategy, records)| {
            (0..u64::from(plan.runs)).map(move |run| {
                let job = Job { strategy: strategy.map(str::to_string), seed: cell.scenario.seed + run };
                Task { plan, cell, job, record: run == 0 && records }
            })
        })
    })
}

/// Setting a simulation up takes about as long as so many kilobytes.
const SET_UP: f64 = 300.0;

impl Task<'_> {
    fn simulations(&self) -> u64 {
        self.plan.entry.experiment.population.as_ref().map_or(1, |p| p.transfers.into())
    }

    /// How long each of its simulations takes, in the time that a kilobyte takes: what the flows have to send, or what the slowest
    /// link carries, and the setting up.
    fn weight(&self) -> u64 {
        let Scenario { links, flows, duration, .. } = &self.cell.scenario;
        let slowest = links.iter().map(|link| link.rate.0).min().unwrap_or_default() as f64;
        let room = duration.0.secs_f64() * slowest / 8000.0;
        let wants = |flow: &Flow| match &flow.source {
            Source::Segments(n) => *n as f64,
            Source::Bytes(bytes) => bytes.0 as f64 / 1000.0,
            Source::Draw(size) => size.mean() / 1000.0,
            Source::Web(web) => web.responses * web.size.mean() / 1000.0,
            Source::Bulk | Source::OnOff(_) | Source::Writes(_) => room,
        };
        let wanted: f64 = flows.iter().map(|flow| f64::from(flow.count) * wants(flow)).sum();
        (SET_UP + wanted.min(room)).min(1e6) as u64
    }

    fn run(&self, progress: &Progress) -> Result<Done, ackclock_run::Error> {
        if let Some(population) = &self.plan.entry.experiment.population {
            let Transfers { flows, recovery, tally } =
                population.run(&self.cell.table, &self.plan.entry.file, &self.job, self.plan.recovery, progress)?;
            let totals = totals(&flows, &[]);
            return Ok(Done { totals, first: None, recovery, tally, events: Vec::new(), mss: 1 });
        }
        let input = Input { scenario: &self.cell.scenario, file: self.plan.entry.file.clone(), text: None };
        let events = self.record || self.plan.recovery;
        let simulation = input.build(&self.job, events)?;
        let mss = simulation.flows.first().map_or(1, |f| f.mss);
        let log = self.record.then(Log::default);
        let mut recorder =
            (log, self.plan.recovery.then(|| RecoveryRecorder::new(&simulation.flows, simulation.until)));
        let flows = input.run(&self.job, simulation, &mut recorder, progress)?.flows;
        let events = recorder.0.unwrap_or_default().0;
        let recovery = recorder.1.map(RecoveryRecorder::finish).unwrap_or_default();
        let totals = totals(&flows, &self.cell.flows);
        Ok(Done { totals, first: flows.into_iter().next(), recovery, tally: Tally::default(), events, mss })
    }
}

fn outcome(plan: &Plan<'_>, done: &mut impl Iterator<Item = Done>) -> Outcome {
    let e = &plan.entry.experiment;
    let mut cells = Vec::new();
    let mut traces = Vec::new();
    let mut drawn = Vec::new();
    let mut claims: Vec<_> = e.claims.iter().map(|claim| ClaimOutcome::new(claim, e.why.as_ref())).collect();
    for cell in &plan.cells {
        let name = cell.labels.iter().map(|(axis, label)| format!("{axis} {label}")).collect::<Vec<_>>().join(", ");
        let mut all = Measurements::new();
        let mut sequences = Vec::new();
        for strategy in &e.strategies {
            let mut runs: Vec<Done> = done.take(plan.runs as usize).collect();
            let totals: Vec<&Totals> = runs.iter().map(|r| &r.totals).collect();
            statistics(&strategy.name, &cell.flows, &totals, &mut all);
            if plan.recovery {
                recovery(&strategy.name, runs.iter().map(|r| &r.recovery), &mut all);
            }
            let title = if name.is_empty() { strategy.name.clone() } else { format!("{}, {name}", strategy.name) };
            if let Some(population) = &e.population {
                let tallies: Vec<&Tally> = runs.iter().map(|r| &r.tally).collect();
                timeouts::statistics(&strategy.name, &tallies, &mut all);
                let chart = population.chart.iter().map(|chart| format!("{chart}: {title}"));
                drawn.extend(chart.map(|title| timeouts::chart(title, &strategy.name, &tallies, &e.rows)));
            }
            let Some(first) = runs.first_mut().filter(|_| plan.records()) else { continue };
            let steps = steps(&first.events, first.mss);
            named(&strategy.name, &e.steps, &steps, &mut all);
            sequences.push(Sequence { strategy: strategy.name.clone(), steps });
            let (events, summary) = (std::mem::take(&mut first.events), first.first.take());
            traces.push(Trace { name: title, mss: first.mss, events, summary });
        }
        for bound in &plan.bounds {
            let runs: Vec<Done> = done.take(plan.runs as usize).collect();
            statistics(bound, &[], &runs.iter().map(|r| &r.totals).collect::<Vec<_>>(), &mut all);
        }
        distances(&e.strategies, &mut all);
        for (claim, outcome) in e.claims.iter().zip(&mut claims).filter(|(claim, _)| cell.is_in(&claim.cells)) {
            outcome.add(&name, &cell.labels, judge(claim, &all));
        }
        cells.push(Cell { name, rows: rows(plan, &all), tables: tables(plan, &all), sequences, measured: all });
    }
    // Those about no cell that `--quick` runs.
    claims.retain(|claim| !claim.cells.is_empty());
    let specs = e.charts.iter().filter(|spec| plan.cells.iter().any(|cell| cell.is_in(&spec.cells)));
    let charts = specs.map(|spec| chart(spec, &e.strategies, &plan.cells, &cells)).chain(drawn).collect();
    Outcome {
        id: plan.entry.id.clone(),
        paper: plan.paper.clone(),
        title: e.title.clone(),
        place: e.place.clone(),
        notes: e.notes.trim().into(),
        quick: plan.quick,
        strategies: e.strategies.iter().map(|s| s.name.clone()).collect(),
        runs: plan.runs,
        seeds: plan.seeds(),
        transfers: e.population.as_ref().map(|p| p.transfers),
        cells,
        claims,
        charts,
        traces,
    }
}

/// The rows of the file, then those of `show`.
fn rows(plan: &Plan<'_>, all: &Measurements) -> Vec<Row> {
    let e = &plan.entry.experiment;
    let shown = e.show.iter().flat_map(|measure| {
        e.strategies.iter().map(move |s| RowSpec {
            measurement: format!("{measure}/{}", s.name),
            label: None,
            paper: None,
            scale: 1.0,
            unit: None,
            place: String::new(),
        })
    });
    e.rows.iter().cloned().chain(shown).map(|spec| row(spec, all)).collect()
}

fn tables(plan: &Plan<'_>, all: &Measurements) -> Vec<Table> {
    let e = &plan.entry.experiment;
    let table = |t: &TableSpec| {
        let lines = t.rows.iter().map(|line| line.rows(&t.title, &e.strategies).map(|spec| row(spec, all)).collect());
        Table { title: t.title.clone(), lines: lines.collect() }
    };
    e.tables.iter().map(table).collect()
}

fn row(spec: RowSpec, all: &Measurements) -> Row {
    let (ours, shown) = match all.get(&spec.measurement) {
        Some(Measurement::Samples(samples)) => {
            let scaled: Vec<f64> = samples.iter().map(|s| s * spec.scale).collect();
            (Estimate::of(&scaled).filter(|e| !e.mean.is_nan()), estimate(&scaled))
        }
        Some(Measurement::Text(text)) => (None, text.clone()),
        None => (None, "nothing measured".into()),
    };
    Row {
        label: spec.label.unwrap_or_else(|| spec.measurement.clone()),
        unit: spec.unit.unwrap_or_else(|| unit(&spec.measurement).into()),
        measurement: spec.measurement,
        place: spec.place,
        paper: spec.paper,
        ours,
        shown,
    }
}
