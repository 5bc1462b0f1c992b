//! `ackclock run`.

use std::fs;
use std::path::Path;

use ackclock_net::scenario::Scenario;
use ackclock_run::{Input, Job};

use crate::cli::RunArgs;
use crate::error::Error;
use crate::execute::execute;
use crate::oracle::distances;
use crate::output::{Shown, results};
use crate::record::Records;

/// A scenario and where it comes from.
pub(crate) struct Source {
    pub file: String,
    pub text: String,
    pub scenario: Scenario,
}

impl Source {
    pub fn read(path: &Path) -> Result<Source, Error> {
        let bytes = fs::read(path).map_err(|error| Error::Read { path: path.to_path_buf(), error })?;
        let file = path.display().to_string();
        let text = String::from_utf8(bytes).map_err(|_| Error::Usage(format!("{file}: this is not UTF-8 text")))?;
        match Scenario::from_toml(&text) {
            Ok(scenario) => Ok(Source { file, text, scenario }),
            Err(error) => Err(ackclock_run::Error::Scenario { file, error }.into()),
        }
    }
}

pub(crate) fn run(args: &RunArgs) -> Result<String, Error> {
    let Source { file, text, scenario } = Source::read(&args.scenario)?;
    let seed = args.seed.unwrap_or(scenario.seed);
    let jobs = jobs(&args.strategy, seed, args.runs.unwrap_or(scenario.runs))?;
    let mut records = Records::new(&args.output.records, args.output.measures_recovery(), seed, args.strategy.len())?;
    records.capture_at(&args.output.pcap_at, &scenario)?;
    let input = Input { scenario: &scenario, file, text: Some(&text) };
    let outcomes = execute(&input, &jobs, args.jobs, &mut records)?;
    let title = if scenario.name.is_empty() { &input.file } else { &scenario.name };
    let distances = if args.output.vs_oracle { distances(&input, &jobs, &outcomes, args.jobs)? } else { Vec::new() };
    records.finish(title, &parameters(&scenario, seed))?;
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
