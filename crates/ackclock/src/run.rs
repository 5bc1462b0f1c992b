//! `ackclock run`.

use std::convert::identity;
use std::io::{self, Write};
use std::path::PathBuf;

use ackclock_net::scenario::Scenario;
use ackclock_report::counted;
use ackclock_run::{
    Axis, FileError, GridCell, Shortfall, Sweep, SweepRun, Swept, Until, axis, error_at,
    is_strategy_of_flow, sweep,
};
use ackclock_tcp::Registry;
use clap::Args;

use crate::args::{OutputArgs, RecordArgs, check_strategies, name};
use crate::error::Error;
use crate::execute::{execute, warn_unmet};
use crate::oracle::{check, distances};
use crate::output::{Measured, Shown, after_files, beside, ended, results, write_parquet};
use crate::record::Records;
use crate::scenario_file::{ScenarioFile, traces};
use crate::wire::cancel_on_signals;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The scenario file; `-` is standard input.
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: PathBuf,
    /// The strategies to compare. Each gets a run of its own, in which all flows use it. `+` adds a
    /// mechanism, as in `sack+lt`. Default: each flow uses the strategy that the scenario names.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = name)]
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
    /// the scenario. With --until this is the most, and the default is 1000. --events, --pcap,
    /// --qlog, --queues and graphs have the first run of each strategy.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: Option<u32>,
    /// Do runs of each strategy, in each combination of --set, until the half-width of the 95 %
    /// confidence interval is at most so much of the mean: `goodput=2%`. There are at least 50.
    /// Without --over, each run counts by the mean of its flows.
    #[arg(long, value_name = "MEASURE=PERCENT%")]
    pub until: Vec<Until>,
    /// How many runs to do at the same time. The results do not depend on it. Default: one per
    /// processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print one line for each flow of each run. Without this option, several runs or more than ten
    /// flows are summed up as means.
    #[arg(long, conflicts_with = "over")]
    pub per_flow: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

pub(crate) fn run(args: &RunArgs, registry: &Registry) -> Result<String, Error> {
    check_strategies(&args.strategy, registry)?;
    let source = ScenarioFile::read(&args.scenario, registry)?;
    // Only now: who waits for standard input to end can break off by Ctrl-C.
    let cancel = &cancel_on_signals()?;
    let mut inputs = source.inputs();
    let ScenarioFile { file, text, scenario } = source;
    let mut axes = axes(args)?;
    let (mut text, mut cells) = (Some(text), vec![GridCell::of(scenario)]);
    if !axes.is_empty() {
        let file = (file.as_str(), text.as_deref().unwrap_or_default());
        cells = sweep(file, &axes, registry).map_err(ackclock_run::Error::Scenario)?;
        inputs.extend(cells.iter().flat_map(|cell| traces(file.0, &cell.scenario)));
        // Its lines are no longer those of the file.
        text = None;
        if cells.len() == 1 {
            axes.clear();
        }
    }
    let sweep = Sweep {
        registry,
        cells: &cells,
        file: &file,
        text: text.as_deref(),
        strategies: &args.strategy,
        seed: args.seed,
        runs: args.runs,
        until: &args.until,
        over: &args.output.over,
    };
    (0..cells.len()).try_for_each(|cell| check_seeds(&sweep, cell))?;
    if args.output.vs_oracle {
        check(&sweep)?;
    }
    if cells.len() > 1 {
        refuse_recordings(&args.output.records, args.output.queues.is_some())?;
    }
    args.output.check(inputs.iter().map(PathBuf::as_path))?;
    let (seed, scenario) = (sweep.first_seed(0), &cells[0].scenario);
    let mut records = records(&args.output, scenario, seed, args.strategy.len())?;
    let Swept { runs, short } = execute(&sweep, args.jobs, &mut records, cancel)?;
    let distances = if args.output.vs_oracle && !cancel.is_cancelled() {
        distances(&sweep, &runs, args.jobs, cancel)?
    } else {
        Vec::new()
    };
    let title = if scenario.name.is_empty() { &file } else { &scenario.name };
    let written = records.finish(title, &parameters(scenario, seed, runs_of_each(&runs)));
    note_shortfalls(short);
    if scenario.flows.is_empty() && !args.output.stats {
        let note = "there is no `[[flow]]`; --stats has what became of the packets of `[[cbr]]`";
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    warn_unmet(&sweep, &runs, identity);
    let measured = Measured { cells: &cells, axes: &axes, runs: &runs };
    let shown = Shown::of(&args.output, args.per_flow, &distances);
    let written = written.and(write_parquet(&measured, &shown));
    let text = beside(&args.output.records, results(&measured, &shown))?;
    ended(after_files(text, written)?, cancel.is_cancelled())
}

/// The axes of `--set`.
fn axes(args: &RunArgs) -> Result<Vec<Axis>, Error> {
    let axes = args.set.iter().map(|set| axis(set)).collect::<Result<Vec<Axis>, _>>();
    let axes = axes.map_err(|message| Error::Usage(format!("--set: {message}")))?;
    match axes.iter().find(|axis| is_strategy_of_flow(&axis.key)) {
        Some(Axis { key, .. }) if !args.strategy.is_empty() => Err(Error::Usage(format!(
            "--set: with --strategy all flows have the same one, and `{key}` has no effect"
        ))),
        _ => Ok(axes),
    }
}

/// The files that are written as the runs go.
fn records(
    output: &OutputArgs,
    scenario: &Scenario,
    seed: u64,
    strategies: usize,
) -> Result<Records, Error> {
    let measures = output.measures_recovery();
    let mut records = Records::new(&output.records, measures, seed, strategies)?;
    records.capture_at(&output.pcap_at, scenario)?;
    if let Some(path) = &output.queues {
        records.queues.write_to(path)?;
    }
    Ok(records)
}

/// What `--until` asked for and did not get.
fn note_shortfalls(short: Vec<Shortfall>) {
    for Shortfall { sentence, wants_runs } in short {
        let more = if wants_runs { "; a greater --runs allows more" } else { "" };
        let _ = writeln!(io::stderr(), "note: --until: {sentence}{more}");
    }
}

/// What is recorded of one scenario is refused for a grid.
fn refuse_recordings(records: &RecordArgs, queues: bool) -> Result<(), Error> {
    let of_one = records.recordings().map(|(option, _)| option);
    match of_one.chain(queues.then_some("--queues")).next() {
        Some(option) => Err(Error::Usage(format!(
            "{option} records one scenario: give each --set one value, or leave {option} out"
        ))),
        None => Ok(()),
    }
}

fn check_seeds(sweep: &Sweep<'_>, cell: usize) -> Result<(), Error> {
    let (seed, runs) = (sweep.first_seed(cell), sweep.most_runs(cell));
    // Seeds are integers of TOML and Parquet.
    match seed.checked_add(runs.saturating_sub(1).into()) {
        Some(last) if i64::try_from(last).is_ok() => Ok(()),
        _ => {
            let message = format!("{seed} leaves no room for {}", counted(runs.into(), "run"));
            if sweep.seed.is_some() {
                return Err(Error::Usage(format!("--seed: {message}")));
            }
            let error = error_at("seed", message);
            let error = sweep.text.map_or(error.clone(), |text| error.located(text));
            let file = sweep.file.to_string();
            Err(ackclock_run::Error::Scenario(FileError { file, error }).into())
        }
    }
}

/// How many runs there are of each strategy.
fn runs_of_each(runs: &[SweepRun]) -> usize {
    let first = runs.first().map(|run| &run.job.strategy);
    runs.iter().filter(|run| Some(&run.job.strategy) == first).count()
}

fn parameters(scenario: &Scenario, seed: u64, runs: usize) -> Vec<(String, String)> {
    let mut all = Vec::new();
    if !scenario.description.is_empty() {
        all.push(("description".into(), scenario.description.trim().to_string()));
    }
    all.push(("duration".into(), scenario.duration.to_string()));
    let of = if runs > 1 { format!(", the first of {runs} runs") } else { String::new() };
    all.push(("seed".into(), format!("{seed}{of}")));
    all
}
