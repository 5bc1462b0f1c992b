//! `--vs-oracle`: how far each strategy is from the oracles with its window law.

use std::collections::BTreeMap;

use ackclock_net::scenario::Scenario;
use ackclock_report::{
    Align, Estimate, RecoveryStats, Written, align_within, recovery_measures, with_interval,
};
use ackclock_run::{
    Cancel, Input, Job, Outcome, Progress, STEPS, Sweep, SweepRun, error_at, in_parallel,
};
use ackclock_tcp::Registry;
use ackclock_tcp::strategy::ORACLES;
use serde::Serialize;

use crate::error::Error;
use crate::execute::{SCENARIOS_OWN, measured};

/// What is shown besides the extra time: measures of the statistics of recovery, with their columns
/// and decimals.
const MEASURES: [(&str, &str, usize); 5] = [
    ("spurious-bytes", "spurious bytes", 0),
    ("timeouts-per-1000-recoveries", "timeouts/1000", 1),
    ("window-at-exit", "exit window", 2),
    ("peak-burst", "peak burst", 1),
    ("losses-in-recovery", "losses in recovery", 2),
];

type Measures = BTreeMap<&'static str, Option<Estimate>>;

/// A strategy beside its oracles.
#[derive(Serialize)]
pub(crate) struct Distance {
    /// `null` if flows had the strategies of the scenario.
    strategy: Option<String>,
    runs: usize,
    measures: Measures,
    bounds: Vec<Bound>,
}

/// An oracle, and how much later the strategy was.
#[derive(Serialize)]
struct Bound {
    /// The composition; `null` as in [`Distance`].
    strategy: Option<String>,
    /// Flows of all runs, and how many of them completed in both.
    flows: usize,
    completed: usize,
    /// How much later flows completed, in seconds: the mean over the flows of a run, over runs.
    extra_s: Option<Estimate>,
    /// The same time of all flows of a run, in percent of the oracle's.
    extra_percent: Option<Estimate>,
    measures: Measures,
}

/// Whether there are oracles for all flows: they are notified of what the network loses, which only
/// established connections are.
pub(crate) fn check(sweep: &Sweep<'_>) -> Result<(), Error> {
    for (number, cell) in sweep.cells.iter().enumerate() {
        let tcp = &cell.scenario.tcp;
        for (i, flow) in cell.scenario.flows.iter().enumerate() {
            let key = match flow.tcp.handshake {
                Some(true) => format!("flow[{i}].tcp.handshake"),
                None if tcp.handshake == Some(true) => "tcp.handshake".into(),
                _ => continue,
            };
            let error = error_at(&key, "--vs-oracle is for connections without a handshake")
                .help("leave it out");
            return Err(ackclock_run::Error::Scenario(sweep.input(number).located(error)).into());
        }
    }
    Ok(())
}

/// Runs the oracles that bound the strategies of a sweep, which has the statistics of recovery:
/// the distances in each cell. None if `cancel` is set before the end.
pub(crate) fn distances(
    sweep: &Sweep<'_>,
    runs: &[SweepRun],
    threads: Option<u16>,
    cancel: &Cancel,
) -> Result<Vec<Vec<Distance>>, Error> {
    let of_cell = |runs: &[SweepRun]| of_cell(&sweep.input(runs[0].cell), runs, threads, cancel);
    match runs.chunk_by(|a, b| a.cell == b.cell).map(of_cell).collect() {
        Err(ackclock_run::Error::Cancelled) => Ok(Vec::new()),
        distances => Ok(distances?),
    }
}

/// Runs the oracles that bound the strategies of these runs of one cell. The runs of a strategy
/// follow each other, and have the statistics of recovery.
fn of_cell(
    input: &Input<'_>,
    runs: &[SweepRun],
    threads: Option<u16>,
    cancel: &Cancel,
) -> Result<Vec<Distance>, ackclock_run::Error> {
    let registry = input.registry;
    let mut all = Vec::new();
    for runs in runs.chunk_by(|a, b| a.job.strategy == b.job.strategy) {
        let outcomes: Vec<&Outcome> = runs.iter().map(|run| &run.outcome).collect();
        let strategy = runs.first().and_then(|run| run.job.strategy.clone());
        let measures = measures(&outcomes);
        let distance = Distance { strategy, runs: runs.len(), measures, bounds: Vec::new() };
        all.push((distance, runs, outcomes));
    }
    for oracle in ORACLES {
        // Many strategies have the same window law.
        let wanted: BTreeMap<(Option<String>, u64), Job> = runs
            .iter()
            .map(|run| bound(&run.job, oracle, registry))
            .map(|job| ((job.strategy.clone(), job.seed), job))
            .collect();
        let wanted: Vec<Job> = wanted.into_values().collect();
        let scenario = bounded(input.scenario, oracle, registry);
        let input =
            Input { registry, scenario: &scenario, file: input.file.clone(), text: input.text };
        let progress = Progress::until(wanted.len() as u64 * STEPS, cancel);
        let notified =
            in_parallel(&wanted, threads.unwrap_or(0), |job| measured(&input, job, &progress))?;
        let notified: BTreeMap<(&Option<String>, u64), &Outcome> =
            wanted.iter().map(|job| (&job.strategy, job.seed)).zip(&notified).collect();
        for (distance, runs, outcomes) in &mut all {
            let own = runs.iter().map(|run| bound(&run.job, oracle, registry));
            let notified: Vec<&Outcome> =
                own.filter_map(|job| notified.get(&(&job.strategy, job.seed)).copied()).collect();
            let strategy = runs.first().and_then(|run| bound(&run.job, oracle, registry).strategy);
            distance.bounds.push(beside(strategy, outcomes, &notified));
        }
    }
    Ok(all.into_iter().map(|(distance, ..)| distance).collect())
}

fn bounds(strategy: &str, oracle: &str, registry: &Registry) -> String {
    registry
        .parse(strategy)
        .map_or_else(|_| oracle.to_string(), |composition| composition.bound(oracle))
}

/// The job that bounds another.
fn bound(job: &Job, oracle: &str, registry: &Registry) -> Job {
    Job {
        strategy: job.strategy.as_deref().map(|strategy| bounds(strategy, oracle, registry)),
        seed: job.seed,
    }
}

/// The scenario with the oracles of its own strategies.
fn bounded(scenario: &Scenario, oracle: &str, registry: &Registry) -> Scenario {
    let mut scenario = scenario.clone();
    for flow in &mut scenario.flows {
        flow.strategy = Some(
            flow.strategy
                .as_deref()
                .map_or_else(|| oracle.to_string(), |own| bounds(own, oracle, registry)),
        );
    }
    scenario
}

fn measures(outcomes: &[&Outcome]) -> Measures {
    let of = |value: fn(&RecoveryStats) -> f64| {
        let values = outcomes.iter().filter_map(|o| o.recovery.as_ref()).map(value);
        Estimate::of(&values.filter(|value| value.is_finite()).collect::<Vec<_>>())
    };
    let all = recovery_measures().filter(|m| MEASURES.iter().any(|(name, ..)| *name == m.name));
    all.map(|m| (m.name, of(m.value))).collect()
}

/// Run by run and flow by flow.
fn beside(strategy: Option<String>, outcomes: &[&Outcome], notified: &[&Outcome]) -> Bound {
    let (mut extra_s, mut extra_percent, mut flows, mut completed) = (Vec::new(), Vec::new(), 0, 0);
    for (outcome, notified) in outcomes.iter().zip(notified) {
        let pairs = outcome
            .flows
            .iter()
            .zip(&notified.flows)
            .filter_map(|(x, o)| Some((x.completion_s?, o.completion_s?)));
        let (n, sum, bound) =
            pairs.fold((0, 0.0, 0.0), |(n, sum, bound), (x, o)| (n + 1, sum + x - o, bound + o));
        flows += outcome.flows.len();
        completed += n;
        if n > 0 {
            extra_s.push(sum / n as f64);
            extra_percent.push(100.0 * sum / bound);
        }
    }
    let (extra_s, extra_percent) = (Estimate::of(&extra_s), Estimate::of(&extra_percent));
    Bound { strategy, flows, completed, extra_s, extra_percent, measures: measures(notified) }
}

/// One line per strategy, then one for each of the oracles.
pub(crate) fn distance_text(all: &[Distance], width: Option<usize>) -> String {
    let mut heading = vec!["strategy".to_string()];
    heading.extend(ORACLES.iter().flat_map(|oracle| [format!("over {oracle}"), "in %".into()]));
    heading.extend(MEASURES.iter().map(|(_, column, _)| column.to_string()));
    let mut rows = vec![heading];
    let name =
        |strategy: &Option<String>, own: &str| strategy.clone().unwrap_or_else(|| own.into());
    for distance in all {
        let mut row = vec![name(&distance.strategy, SCENARIOS_OWN)];
        for bound in &distance.bounds {
            row.push(with_interval(bound.extra_s, |_| Written::plain(3, "s")));
            row.push(with_interval(bound.extra_percent, |_| Written::plain(1, "")));
        }
        row.extend(cells(&distance.measures));
        rows.push(row);
    }
    for (oracle, bound) in all.iter().flat_map(|distance| ORACLES.iter().zip(&distance.bounds)) {
        let mut row = vec![name(&bound.strategy, oracle)];
        row.resize(1 + 2 * ORACLES.len(), "-".into());
        row.extend(cells(&bound.measures));
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let sum = |of: fn(&Bound) -> usize| all.iter().flat_map(|d| &d.bounds).map(of).sum::<usize>();
    let (flows, completed) = (sum(|b| b.flows), sum(|b| b.completed));
    let unfinished = match flows - completed {
        0 => String::new(),
        n => format!("; {n} of {flows} pairs of flows left out that did not complete"),
    };
    format!(
        "Completion time over that of the oracles with the same window law: mean of flows, of the \
         same seeds{unfinished}\n\n{}",
        align_within(&rows, Align::Right, width)
    )
}

fn cells(measures: &Measures) -> impl Iterator<Item = String> {
    MEASURES.iter().map(|&(name, _, decimals)| {
        with_interval(measures.get(name).copied().flatten(), |_| Written::plain(decimals, ""))
    })
}
