//! `ackclock exhaust`: every fate of a window.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

use ackclock_fates::{
    After, Case, MAX_DISTURBED, MAX_WINDOW, MSS, Row, Schedule, Space, Sweep, Swept, page, text,
};
use ackclock_net::scenario::ScenarioError;
use ackclock_run::{FileError, Progress, WholeFile};
use ackclock_tcp::Registry;
use clap::{Args, ValueEnum};

use crate::args::{Format, check_strategies, file, name};
use crate::error::Error;
use crate::output::{after_files, ended, json_text, width};
use crate::wire::Interrupt;

#[derive(Debug, Args)]
pub(crate) struct ExhaustArgs {
    /// The strategies. `+` adds a mechanism, as in `sack+lt`. Default: all presets.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = name)]
    pub strategy: Vec<String>,
    /// Segments in the window, the first of which is segment 20; at most 12. There
    /// are 3^N fates.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 6,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WINDOW))
    )]
    pub window: u32,
    /// What comes after the window. Default: both, one after the other.
    #[arg(long, value_enum)]
    pub after: Option<AfterArg>,
    /// Also lose none, one or two of the ACKs that the first two windows draw, and delay none or
    /// one segment by half a round trip. For a window of 6 at most.
    #[arg(long)]
    pub disturbed: bool,
    /// Bytes of payload in a segment.
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = MSS,
        value_parser = clap::value_parser!(u32).range(1..=65_495)
    )]
    pub mss: u32,
    /// Print one case as a scenario file, and run nothing: `20,22-24:2` loses segment 20, and 22 to
    /// 24 with their first retransmission; `late:25` delays 25, and `ack:24` loses the 24th ACK.
    /// With one strategy, and new data after the window unless --after says otherwise.
    #[arg(long, value_name = "CASE", conflicts_with_all = ["disturbed", "format", "html", "jobs"])]
    pub case: Option<Case>,
    /// How to print the results. JSON is an array with one object for what comes after the window.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write the tables, and pictures of the smallest counterexamples, to this file.
    #[arg(long, value_name = "FILE.html", value_parser = file())]
    pub html: Option<PathBuf>,
    /// How many runs to do at the same time. The results do not depend on it. Default: one per
    /// processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// [`After`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AfterArg {
    /// Three windows of new data.
    Data,
    /// Nothing: the transfer ends.
    End,
}

impl From<AfterArg> for After {
    fn from(after: AfterArg) -> After {
        match after {
            AfterArg::Data => After::Data,
            AfterArg::End => After::End,
        }
    }
}

pub(crate) fn exhaust(args: &ExhaustArgs, registry: &Registry) -> Result<String, Error> {
    check_strategies(&args.strategy, registry)?;
    if let Some(case) = &args.case {
        return scenario(args, case, registry);
    }
    if args.disturbed && args.window > MAX_DISTURBED {
        return Err(Error::Usage(format!(
            "--disturbed: a window of {MAX_DISTURBED} at most; {} segments have too many fates",
            args.window
        )));
    }
    let strategies = strategies(args, registry);
    let after: Vec<After> =
        args.after.map_or(After::ALL.to_vec(), |after| vec![After::from(after)]);
    // Before there are threads.
    let interrupt = Mutex::new(Interrupt::new()?);
    if let Some(path) = &args.html {
        // A bad path is found before a long run.
        WholeFile::check(path).map_err(Error::write(path))?;
    }
    let stop = || interrupt.lock().is_ok_and(|mut interrupt| interrupt.taken() > 0);
    let space = |after: After| {
        let connection = after.connection(args.window, args.mss);
        if args.disturbed { Space::disturbed(connection) } else { Space::losses(connection) }
    };
    let steps: u64 = after.iter().map(|&after| space(after).numbers()).sum();
    let oracles: BTreeSet<String> = strategies
        .iter()
        .filter_map(|name| Some(registry.parse(name).ok()?.bound("oracle")))
        .collect();
    let progress = Progress::new(steps * (strategies.len() + oracles.len()) as u64);
    let mut all = Vec::new();
    let mut interrupted = false;
    for after in after {
        let space = space(after);
        let mut sweep = Sweep::new(registry, &space, args.jobs.unwrap_or(0), &progress, &stop);
        let mut swept = Swept {
            after,
            window: args.window,
            mss: args.mss,
            disturbed: args.disturbed,
            strategies: Vec::new(),
        };
        for strategy in &strategies {
            let composition = registry.parse(strategy).map_err(|e| Error::Usage(e.to_string()))?;
            let Some(tally) = sweep.strategy(&composition)? else {
                interrupted = true;
                break;
            };
            swept.strategies.push(Row { strategy: strategy.clone(), tally });
        }
        if !swept.strategies.is_empty() {
            all.push(swept);
        }
        if interrupted {
            break;
        }
    }
    let mut written = Ok(());
    if let (Some(path), false) = (&args.html, all.is_empty()) {
        let page = page(&all, registry).map_err(failed)?;
        written = WholeFile::write(path, page).map_err(Error::write(path));
    }
    ended(after_files(shown(args, &all), written)?, interrupted)
}

fn strategies(args: &ExhaustArgs, registry: &Registry) -> Vec<String> {
    match &args.strategy[..] {
        [] => registry.presets().iter().map(|preset| preset.name.to_string()).collect(),
        given => given.to_vec(),
    }
}

fn shown(args: &ExhaustArgs, all: &[Swept]) -> String {
    match args.format {
        Format::Table if all.is_empty() => "nothing was measured: no strategy was done\n".into(),
        Format::Table => text(all, width()),
        Format::Json => json_text(&all),
    }
}

fn scenario(args: &ExhaustArgs, case: &Case, registry: &Registry) -> Result<String, Error> {
    let [strategy] = &args.strategy[..] else {
        return Err(Error::Usage("--case: needs one --strategy".into()));
    };
    if !case.fits(args.window) {
        return Err(Error::Usage(format!(
            "--case: `{case}` has more than a window of {}: segments 20 to {}, and ACKs 21 to {}",
            args.window,
            19 + args.window,
            20 + 2 * args.window
        )));
    }
    let after = After::from(args.after.unwrap_or(AfterArg::Data));
    let connection = after.connection(args.window, args.mss);
    let mut schedule = Schedule::default();
    case.schedule(&mut schedule);
    let mut scenario = connection.scenario(strategy, registry, &schedule);
    scenario.name = format!("{case} of a window of {}", args.window);
    scenario.to_toml().map_err(failed)
}

fn failed(error: ScenarioError) -> Error {
    Error::Run(ackclock_run::Error::Scenario(FileError { file: "exhaust".into(), error }))
}
