//! `ackclock run`.

use std::io::{self, Write};
use std::path::PathBuf;

use ackclock_net::scenario::Scenario;
use ackclock_run::{Axis, Cancel, GridCell, Input, Sweep, axis, sweep};
use ackclock_tcp::Registry;
use clap::Args;

use crate::args::{OutputArgs, check_strategies};
use crate::error::Error;
use crate::execute::execute;
use crate::oracle::distances;
use crate::output::{Shown, ended, results, sweep_results};
use crate::record::Records;
use crate::scenario_file::ScenarioFile;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The scenario file; `-` is standard input.
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: PathBuf,
    /// The strategies to compare. Each gets a run of its own, in which all flows use it. `+` adds a
    /// mechanism, as in `sack+lt`. Default: each flow uses the strategy that the scenario names.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub strategy: Vec<String>,
    /// A key of the scenario and the values that it takes, such as `link[1].rate=1mbit,2mbit`.
    /// Tables of a list count from 0; `flow[*]` is each of them. A value that is a list is quoted:
    /// `'link[0].loss[0].drop.segments="[14]","[14, 26]"'`. Several --set make a grid: each
    /// strategy runs in each combination.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub set: Vec<String>,
    /// The seed of the first run. Further runs use the numbers after it. Default: the seed of the
    /// scenario.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How many runs to do of each strategy, each with a seed of its own. Default: the number in
    /// the scenario.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: Option<u32>,
    /// How many runs to do at the same time. The results do not depend on it. Default: one per
    /// processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print one line for each flow of each run. Without this option, several runs or more than ten
    /// flows are summed up as means.
    #[arg(long)]
    pub per_flow: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

pub(crate) fn run(args: &RunArgs, registry: &Registry, cancel: &Cancel) -> Result<String, Error> {
    check_strategies(&args.strategy, registry)?;
    let ScenarioFile { file, text, mut scenario } = ScenarioFile::read(&args.scenario, registry)?;
    let axes = args.set.iter().map(|set| axis(set)).collect::<Result<Vec<Axis>, _>>();
    let axes = axes.map_err(|message| Error::Usage(format!("--set: {message}")))?;
    let mut text = Some(text);
    if !axes.is_empty() {
        let cells = sweep((&file, text.as_deref().unwrap_or_default()), &axes, registry)
            .map_err(ackclock_run::Error::Scenario)?;
        if let [only] = &cells[..] {
            // Its lines are no longer those of the file.
            (scenario, text) = (only.scenario.clone(), None);
        } else {
            return run_sweep(args, registry, (&file, &cells, &axes), cancel);
        }
    }
    let seed = args.seed.unwrap_or(scenario.seed);
    check_seeds(seed, args.runs.unwrap_or(scenario.runs))?;
    let jobs = all_jobs(args, registry, &file, &[]).jobs(&scenario);
    let mut records = Records::new(
        &args.output.records,
        args.output.measures_recovery(),
        seed,
        args.strategy.len(),
    )?;
    records.capture_at(&args.output.pcap_at, &scenario)?;
    let input = Input { registry, scenario: &scenario, file, text: text.as_deref() };
    let (jobs, outcomes) = execute(&input, &jobs, args.jobs, &mut records, cancel)?;
    let title = if scenario.name.is_empty() { &input.file } else { &scenario.name };
    let distances = if args.output.vs_oracle && !cancel.is_cancelled() {
        distances(&input, &jobs, &outcomes, args.jobs, cancel)?
    } else {
        Vec::new()
    };
    records.finish(title, &parameters(&scenario, seed))?;
    for outstanding in input.outstanding_fates(&outcomes) {
        let _ = writeln!(io::stderr(), "warning: {outstanding}");
    }
    let text = results(&jobs, &outcomes, &Shown::of(&args.output, args.per_flow, &distances))?;
    ended(text, cancel)
}

/// The runs that the options ask for.
fn all_jobs<'a>(
    args: &'a RunArgs,
    registry: &'a Registry,
    file: &'a str,
    cells: &'a [GridCell],
) -> Sweep<'a> {
    let RunArgs { strategy, seed, runs, .. } = args;
    Sweep { registry, cells, file, strategies: strategy, seed: *seed, runs: *runs }
}

/// Runs a grid of several cells.
fn run_sweep(
    args: &RunArgs,
    registry: &Registry,
    (file, cells, axes): (&str, &[GridCell], &[Axis]),
    cancel: &Cancel,
) -> Result<String, Error> {
    let OutputArgs { records, vs_oracle, stats, .. } = &args.output;
    let of_one = [
        ("--recovery", records.recovery),
        ("--vs-oracle", *vs_oracle),
        ("--stats", *stats),
        ("--events", records.events.is_some()),
        ("--pcap", records.pcap.is_some()),
        ("--qlog", records.qlog.is_some()),
        ("--html", records.html.is_some()),
        ("--svg", records.svg.is_some()),
        ("--figure", !records.figure.figures.is_empty()),
    ];
    if let Some((option, _)) = of_one.iter().find(|(_, given)| *given) {
        return Err(Error::Usage(format!(
            "{option} is about one scenario: give each --set one value, or leave {option} out"
        )));
    }
    for cell in cells {
        let scenario = &cell.scenario;
        check_seeds(args.seed.unwrap_or(scenario.seed), args.runs.unwrap_or(scenario.runs))?;
    }
    Records::new(records, false, 0, args.strategy.len())?;
    let runs = all_jobs(args, registry, file, cells).run(args.jobs.unwrap_or(0), cancel)?;
    ended(sweep_results(records, (cells, axes), &runs, args.per_flow)?, cancel)
}

fn check_seeds(seed: u64, runs: u32) -> Result<(), Error> {
    match seed.checked_add(runs.into()) {
        Some(_) => Ok(()),
        None => Err(Error::Usage(format!("--seed: {seed} leaves no room for {runs} runs"))),
    }
}

fn parameters(scenario: &Scenario, seed: u64) -> Vec<(String, String)> {
    let mut all = Vec::new();
    if !scenario.description.is_empty() {
        all.push(("description".into(), scenario.description.trim().to_string()));
    }
    all.push(("duration".into(), scenario.duration.to_string()));
    all.push(("seed".into(), seed.to_string()));
    all
}
