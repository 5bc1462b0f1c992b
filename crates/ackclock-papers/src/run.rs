//! Runs planned experiments.

use ackclock_net::scenario::{Flow, Scenario, Source};
use ackclock_report::{Chart, FlowSummary};
use ackclock_run::{
    Cancel, FirstFlowEvents, Job, Progress, RecoveryRecorder, STEPS, Unmet, in_parallel_until,
};
use ackclock_tcp::Event;

use crate::cell::PlannedCell;
use crate::chart::{self, chart};
use crate::claims::ClaimOutcome;
use crate::error::Error;
use crate::format::RowSpec;
use crate::measurement::Measurements;
use crate::oracle::distances;
use crate::outcome::{Cell, Outcome, Sequence, Trace};
use crate::plan::Plan;
use crate::population::{self, Transfers};
use crate::rows::{rows, tables};
use crate::samples::{self, RunData};
use crate::sequence::{named, steps};
use crate::timeouts::Tally;
use crate::verdict::judge;

/// One run to do.
struct Task<'a> {
    plan: &'a Plan<'a>,
    planned: &'a PlannedCell,
    job: Job,
    record: bool,
    /// The number of its plan, then of its run: what is cancelled has all cells and strategies, but
    /// fewer runs.
    turn: (usize, u64),
}

/// What a run leaves.
struct Done {
    data: RunData,
    /// The first flow, where it was to be recorded.
    first: Option<FirstFlow>,
    unmet: Unmet,
}

/// What was recorded of the first flow of a run.
struct FirstFlow {
    summary: Option<FlowSummary>,
    events: Vec<Event>,
    mss: u32,
}

/// Runs all plans on `threads` threads (0: one per processor); their number does not change any
/// result.
///
/// # Errors
/// [`Error::Run`].
pub fn run(plans: &[Plan<'_>], threads: u16) -> Result<Vec<Outcome>, Error> {
    run_until(plans, threads, &Cancel::default())
}

/// As [`run`]. When `cancel` is set, a cell has the seeds that every strategy was done with by
/// then, and the outcomes are those of plans with such a cell.
///
/// # Errors
/// [`Error::Run`].
pub fn run_until(plans: &[Plan<'_>], threads: u16, cancel: &Cancel) -> Result<Vec<Outcome>, Error> {
    let tasks: Vec<Task<'_>> = plans.iter().enumerate().flat_map(tasks).collect();
    let steps = tasks.iter().map(|task| task.simulations() * task.weight() * STEPS).sum();
    let progress = Progress::until(steps, cancel);
    let mut done = in_parallel_until(
        &tasks,
        (threads, cancel),
        |task| task.turn,
        |task| task.run(&progress.weighing(task.weight())),
    )?
    .into_iter();
    let outcomes = plans.iter().map(|plan| outcome(plan, &mut done));
    Ok(outcomes.filter(|outcome| outcome.cells.iter().any(Cell::is_measured)).collect())
}

/// Cells, then strategies and what bounds them, then seeds. [`outcome`] takes the results in this
/// order.
fn tasks<'a>((number, plan): (usize, &'a Plan<'a>)) -> impl Iterator<Item = Task<'a>> {
    plan.cells.iter().flat_map(move |planned| {
        let strategies =
            plan.source.experiment.strategies.iter().map(|s| (s.composition(), plan.records()));
        strategies.chain(plan.bounds.iter().map(|b| (Some(b.as_str()), false))).flat_map(
            move |(strategy, records)| {
                (0..u64::from(plan.runs)).map(move |run| {
                    let job = Job {
                        strategy: strategy.map(str::to_string),
                        seed: planned.cell.scenario.seed + run,
                    };
                    let (record, turn) = (run == 0 && records, (number, run));
                    Task { plan, planned, job, record, turn }
                })
            },
        )
    })
}

/// Setting a simulation up takes about as long as simulating so many kilobytes.
const SET_UP: f64 = 300.0;

impl Task<'_> {
    fn simulations(&self) -> u64 {
        self.plan.source.experiment.population.as_ref().map_or(1, |p| p.transfers.into())
    }

    /// How long each of its simulations takes, in the time that a kilobyte takes: what the flows
    /// have to send, or what the slowest link carries, and the setting up.
    fn weight(&self) -> u64 {
        let Scenario { links, flows, duration, .. } = &self.planned.cell.scenario;
        let slowest = links.iter().map(|link| link.rate.0).min().unwrap_or_default() as f64;
        let room = duration.0.secs_f64() * slowest / 8000.0;
        let wants = |flow: &Flow| match &flow.source {
            Source::Segments(n) => *n as f64,
            Source::Bytes(bytes) => bytes.0 as f64 / 1000.0,
            Source::Draw(size) => size.mean() / 1000.0,
            Source::Web(web) => web.responses * web.size.mean() / 1000.0,
            _ => room,
        };
        let wanted: f64 = flows.iter().map(|flow| f64::from(flow.count) * wants(flow)).sum();
        (SET_UP + wanted.min(room)).min(1e6) as u64
    }

    fn run(&self, progress: &Progress) -> Result<Done, ackclock_run::Error> {
        let Task { plan, planned, job, record, .. } = self;
        if let Some(population) = &plan.source.experiment.population {
            let Transfers { flows, recovery, timeouts, captured } =
                population::run(population, planned, job, plan, progress)?;
            let data = RunData::new(&flows, &[], recovery, Some(timeouts), captured);
            return Ok(Done { data, first: None, unmet: Unmet::default() });
        }
        let input = plan.input(planned);
        let simulation = input.build(job, *record || plan.recovery)?;
        let mss = simulation.flows.first().map_or(1, |f| f.mss);
        let recovery =
            plan.recovery.then(|| RecoveryRecorder::new(&simulation.flows, simulation.until));
        let mut recorder = (record.then(FirstFlowEvents::default), recovery);
        let ackclock_run::Outcome { flows, unmet, .. } =
            input.run(job, simulation, &mut recorder, progress)?;
        let recovery = recorder.1.map(RecoveryRecorder::finish);
        let data = RunData::new(&flows, &planned.groups, recovery, None, None);
        let summary = flows.into_iter().next();
        let first = recorder.0.map(|FirstFlowEvents(events)| FirstFlow { summary, events, mss });
        // Experiments have more arrivals than a run has time for.
        Ok(Done { data, first, unmet: Unmet { flows: Vec::new(), ..unmet } })
    }
}

/// Takes the runs of a plan from those that are done.
fn outcome(plan: &Plan<'_>, done: &mut impl Iterator<Item = Option<Done>>) -> Outcome {
    let e = &plan.source.experiment;
    let mut cells = Vec::new();
    let mut traces = Vec::new();
    let mut of_timeouts = Vec::new();
    let mut claims: Vec<_> =
        e.claims.iter().map(|claim| ClaimOutcome::new(claim, e.why.as_ref())).collect();
    for planned in &plan.cells {
        let (cell, recorded, charts) = cell_outcome(plan, planned, done);
        for (claim, outcome) in e.claims.iter().zip(&mut claims) {
            if planned.is_in(&claim.cells) && cell.is_measured() {
                let mut judgement = judge(claim, &cell.measured);
                // The table has them multiplied.
                let scaled =
                    |row: &RowSpec| row.measurement == claim.measurement && row.scale != 1.0;
                if e.rows.iter().any(scaled) {
                    judgement.measured.insert_str(0, "in one run ");
                }
                outcome.add(&cell.name, &planned.cell.labels, judgement);
            }
        }
        cells.push(cell);
        traces.extend(recorded);
        of_timeouts.extend(charts);
    }
    // `--quick` may run none of the cells that a claim or a chart is about.
    claims.retain(|claim| !claim.cells.is_empty());
    let specs = e.charts.iter().filter(|spec| plan.cells.iter().any(|c| c.is_in(&spec.cells)));
    let charts = specs.map(|spec| chart(spec, (&e.strategies, &e.vary), &plan.cells, &cells));
    Outcome {
        id: plan.source.id.clone(),
        paper: plan.source.paper.clone(),
        title: e.title.clone(),
        place: e.place.clone(),
        notes: e.notes.trim().into(),
        quick: plan.quick,
        strategies: e.strategies.iter().map(|s| s.name.clone()).collect(),
        runs: plan.runs,
        seeds: seeds(&cells),
        transfers: e.population.as_ref().map(|p| p.transfers),
        charts: charts.chain(of_timeouts).collect(),
        claims,
        traces,
        complete: cells.iter().all(|cell: &Cell| cell.runs == plan.runs),
        cells,
        sensitivity: e.sensitivity,
        marks: e.marks.clone(),
        window: e.window,
    }
}

/// The seeds of the first and of the last run that is done.
fn seeds(cells: &[Cell]) -> (u64, u64) {
    let done = || cells.iter().filter(|cell| cell.is_measured());
    let last = |cell: &Cell| cell.seed + u64::from(cell.runs) - 1;
    (done().map(|c| c.seed).min().unwrap_or(0), done().map(last).max().unwrap_or(0))
}

/// A cell, with the recorded connections and the figures of timeouts in it.
fn cell_outcome(
    plan: &Plan<'_>,
    planned: &PlannedCell,
    done: &mut impl Iterator<Item = Option<Done>>,
) -> (Cell, Vec<Trace>, Vec<Chart>) {
    let e = &plan.source.experiment;
    let name = planned.cell.name();
    let mut all = Measurements::new();
    let (mut sequences, mut traces, mut charts) = (Vec::new(), Vec::new(), Vec::new());
    let mut unmet = Vec::new();
    let (runs, done) = with_same_seeds(plan, done);
    let mut done = done.into_iter();
    for (strategy, mut runs) in e.strategies.iter().zip(done.by_ref()) {
        unmet.extend(runs.iter_mut().map(|run| std::mem::take(&mut run.unmet)));
        let data: Vec<&RunData> = runs.iter().map(|run| &run.data).collect();
        samples::add(&strategy.name, &planned.groups, &data, &mut all);
        let title = match name.as_str() {
            "" => strategy.name.clone(),
            name => format!("{}, {name}", strategy.name),
        };
        charts.extend(charts_of_timeouts(plan, &strategy.name, &title, &data));
        let Some(first) = runs.first_mut().and_then(|run| run.first.take()) else { continue };
        let FirstFlow { summary, events, mss } = first;
        let steps = steps(&events, mss);
        named(&strategy.name, &e.steps, &steps, &mut all);
        sequences.push(Sequence { strategy: strategy.name.clone(), steps });
        traces.push(Trace { name: title, mss, events, summary });
    }
    for (bound, runs) in plan.bounds.iter().zip(done) {
        let data: Vec<&RunData> = runs.iter().map(|run| &run.data).collect();
        samples::add(bound, &[], &data, &mut all);
    }
    distances(&e.strategies, plan.registry, &mut all);
    let unmet = plan.input(planned).unmet(&unmet);
    let unmet = unmet.into_iter().map(|told| plan.source.wrong(told.error.within("scenario")));
    let cell = Cell {
        name,
        labels: planned.cell.labels.clone(),
        seed: planned.cell.scenario.seed,
        runs: runs as u32,
        rows: rows(e, &all),
        tables: tables(e, &all),
        sequences,
        measured: all,
        unmet: unmet.map(|told| told.to_string()).collect(),
    };
    (cell, traces, charts)
}

/// How many runs a cell has, and these: of each strategy, then of what bounds them; none at all if
/// there are 0. What is compared has the same seeds: those up to the first that was cancelled.
fn with_same_seeds(
    plan: &Plan<'_>,
    done: &mut impl Iterator<Item = Option<Done>>,
) -> (usize, Vec<Vec<Done>>) {
    let of_all = plan.source.experiment.strategies.len() + plan.bounds.len();
    let mut done: Vec<Vec<Done>> = (0..of_all)
        .map(|_| done.take(plan.runs as usize).collect::<Vec<_>>())
        .map(|of| of.into_iter().map_while(|run| run).collect())
        .collect();
    let runs = done.iter().map(Vec::len).min().unwrap_or(0);
    done.iter_mut().for_each(|of| of.truncate(runs));
    if runs == 0 {
        done.clear();
    }
    (runs, done)
}

/// The figures of the timeouts of a population with this strategy, as the experiment wants them.
fn charts_of_timeouts(
    plan: &Plan<'_>,
    strategy: &str,
    title: &str,
    data: &[&RunData],
) -> Vec<Chart> {
    let e = &plan.source.experiment;
    let Some(figure) = e.population.as_ref().and_then(|p| p.chart.as_ref()) else {
        return Vec::new();
    };
    let title = format!("{figure}: {title}");
    let chart = |title: String, tally: fn(&RunData) -> Option<&Tally>| {
        let tallies: Vec<&Tally> = data.iter().filter_map(|data| tally(data)).collect();
        chart::timeouts(title, strategy, &tallies, &e.rows)
    };
    let mut charts = vec![chart(title.clone(), |data| data.timeouts.as_ref())];
    if plan.captures {
        charts.push(chart(format!("{title}, from captures"), |data| data.captured.as_ref()));
    }
    charts
}

#[cfg(test)]
mod tests;
