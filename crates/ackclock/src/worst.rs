//! `ackclock worst`: the schedule that is furthest from the oracle.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ackclock_fates::worst::{CONNECTION, Search, Worst, schedule};
use ackclock_net::scenario::{ScenarioError, units};
use ackclock_report::counted;
use ackclock_run::{FileError, Progress, WholeFile};
use ackclock_tcp::{Registry, Span};
use clap::Args;
use serde::Serialize;

use crate::args::{Format, check_strategies, file, seconds};
use crate::error::Error;
use crate::output::{after_files, ended, json_text};
use crate::wire::Interrupt;

/// Climbs between two looks at the clock.
const BATCH: u64 = 32;

#[derive(Debug, Args)]
pub(crate) struct WorstArgs {
    /// The strategy. `+` adds a mechanism, as in `sack+lt`.
    #[arg(long, value_name = "NAME")]
    pub strategy: String,
    /// Search for so long: a number of seconds, or a time such as `500ms`. How far it gets depends
    /// on the machine; --climbs does not.
    #[arg(long, value_name = "N", default_value = "60", value_parser = search_time)]
    pub seconds: units::Duration,
    /// Do so many climbs instead. Each begins with six events drawn at random, and changes one of
    /// them 400 times.
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "seconds",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub climbs: Option<u32>,
    /// Names the random numbers: the same seed and number of climbs find the same schedule.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the schedule as a scenario file, for `ackclock run`.
    #[arg(long, value_name = "FILE.toml", value_parser = file())]
    pub out: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// How many climbs to do at the same time. The result does not depend on it. Default: one per
    /// processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// A time above 0, of a day at most.
fn search_time(text: &str) -> Result<units::Duration, String> {
    let time = seconds(text).map_err(|error| error.to_string())?;
    let most = units::Duration(Span::from_secs(86_400));
    match time.0 {
        Span::ZERO => Err("a time above 0 is expected".into()),
        span if span > most.0 => Err(format!("at most a day, {most}, is expected")),
        _ => Ok(time),
    }
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Found<'a> {
    strategy: &'a str,
    oracle: &'a str,
    seed: u64,
    climbs: u64,
    events: Vec<String>,
    over_oracle_s: f64,
}

pub(crate) fn worst(args: &WorstArgs, registry: &Registry) -> Result<String, Error> {
    check_strategies(std::slice::from_ref(&args.strategy), registry)?;
    let parse = |name: &str| registry.parse(name).map_err(|e| Error::Usage(e.to_string()));
    let composition = parse(&args.strategy)?;
    let oracle = parse(&composition.bound("oracle"))?;
    if let Some(path) = &args.out {
        WholeFile::check(path).map_err(Error::write(path))?;
    }
    // Before there are threads.
    let mut interrupt = Interrupt::new()?;
    let search = Search { composition: &composition, oracle: &oracle, seed: args.seed };
    let (began, limit) = (Instant::now(), Duration::from_nanos(args.seconds.0.0));
    let most = args.climbs.map(u64::from);
    let progress = Progress::new(most.unwrap_or(limit.as_secs()));
    let (mut worst, mut climbs, mut shown) = (Worst { events: Vec::new(), over: 0 }, 0, 0);
    let goes_on = |climbs| match most {
        Some(most) => climbs < most,
        None => began.elapsed() < limit,
    };
    let mut interrupted = false;
    while goes_on(climbs) {
        interrupted = interrupt.taken() > 0;
        if interrupted {
            break;
        }
        let after = (climbs + BATCH).min(most.unwrap_or(u64::MAX));
        let found = search.climbs(climbs..after, args.jobs.unwrap_or(0))?;
        if found.beats(&worst) {
            worst = found;
        }
        climbs = after;
        let done = if most.is_some() { climbs } else { began.elapsed().min(limit).as_secs() };
        progress.advance(done - shown);
        shown = done;
    }
    drop(progress);
    let mut written = Ok(());
    if let (Some(path), 1..) = (&args.out, climbs) {
        let mut scenario = CONNECTION.scenario(&args.strategy, registry, &schedule(&worst.events));
        scenario.name =
            format!("the worst of {} after {}", args.strategy, counted(climbs, "climb"));
        let failed = |error: ScenarioError| {
            Error::Run(ackclock_run::Error::Scenario(FileError { file: "worst".into(), error }))
        };
        let text = scenario.to_toml().map_err(failed)?;
        written = WholeFile::write(path, text).map_err(Error::write(path));
    }
    let found = Found {
        strategy: &args.strategy,
        oracle: oracle.name(),
        seed: args.seed,
        climbs,
        events: worst.events.iter().map(ToString::to_string).collect(),
        over_oracle_s: worst.over as f64 / 1e9,
    };
    let text = match args.format {
        Format::Json => json_text(&found),
        Format::Table => text(&found),
    };
    ended(after_files(text, written)?, interrupted)
}

fn text(found: &Found<'_>) -> String {
    if found.climbs == 0 {
        return "nothing was found: no climb was done\n".into();
    }
    let mut out = format!(
        "{}: complete {:.3} s after {}, found in {} with --seed {}\n",
        found.strategy,
        found.over_oracle_s,
        found.oracle,
        counted(found.climbs, "climb"),
        found.seed
    );
    for event in &found.events {
        out += &format!("  {event}\n");
    }
    out
}
