//! `ackclock run`.

use std::io::{self, Write};
use std::path::PathBuf;

use ackclock_net::scenario::Scenario;
use ackclock_run::{Input, Job};
use ackclock_tcp::Registry;
use clap::Args;

use crate::args::{OutputArgs, check_strategies};
use crate::error::Error;
use crate::execute::execute;
use crate::oracle::distances;
use crate::output::{Shown, results};
use crate::record::Records;
use crate::scenario_file::ScenarioFile;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The scenario file.
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: PathBuf,
    /// The strategies to compare. Each gets a run of its own, in which all flows use it. `+` adds a
    /// mechanism, as in `sack+lt`. Default: each flow uses the strategy that the scenario names.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub strategy: Vec<String>,
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

pub(crate) fn run(args: &RunArgs, registry: &Registry) -> Result<String, Error> {
    check_strategies(&args.strategy, registry)?;
    let ScenarioFile { file, text, scenario } = ScenarioFile::read(&args.scenario, registry)?;
    let seed = args.seed.unwrap_or(scenario.seed);
    let jobs = jobs(&args.strategy, seed, args.runs.unwrap_or(scenario.runs))?;
    let mut records = Records::new(
        &args.output.records,
        args.output.measures_recovery(),
        seed,
        args.strategy.len(),
    )?;
    records.capture_at(&args.output.pcap_at, &scenario)?;
    let input = Input { registry, scenario: &scenario, file, text: Some(&text) };
    let outcomes = execute(&input, &jobs, args.jobs, &mut records)?;
    let title = if scenario.name.is_empty() { &input.file } else { &scenario.name };
    let distances = if args.output.vs_oracle {
        distances(&input, &jobs, &outcomes, args.jobs)?
    } else {
        Vec::new()
    };
    records.finish(title, &parameters(&scenario, seed))?;
    for outstanding in input.outstanding_fates(&outcomes) {
        let _ = writeln!(io::stderr(), "warning: {outstanding}");
    }
    Ok(results(&jobs, &outcomes, &Shown::of(&args.output, args.per_flow, &distances)))
}

/// One job per strategy and seed, strategies first.
fn jobs(strategies: &[String], seed: u64, runs: u32) -> Result<Vec<Job>, Error> {
    if seed.checked_add(runs.into()).is_none() {
        return Err(Error::Usage(format!("--seed: {seed} leaves no room for {runs} runs")));
    }
    let own = [None];
    let given: Vec<Option<String>> = strategies.iter().cloned().map(Some).collect();
    let strategies = if given.is_empty() { &own[..] } else { &given[..] };
    let runs = |strategy: &Option<String>| {
        let strategy = strategy.clone();
        (0..u64::from(runs)).map(move |i| Job { strategy: strategy.clone(), seed: seed + i })
    };
    Ok(strategies.iter().flat_map(runs).collect())
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
