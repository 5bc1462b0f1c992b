//! `ackclock-score take` and `ackclock-score kernel`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use ackclock_score::PLACES;
use ackclock_score::kernel::{self, Plan, Planned, Truth};
use clap::Args;
use serde_json::{Map, Value};

use crate::format::Format;

/// Takes captures of the kernel's TCP between two network namespaces: at the sender, in the middle
/// and at the receiver, with what was true of them. Takes root, tcpdump and ip; without tracefs on
/// /sys/kernel/tracing the causes of retransmissions stay unknown.
#[derive(Debug, Args)]
pub(crate) struct TakeArgs {
    /// Where to write them.
    directory: PathBuf,
    /// How many at the same time: they mostly sleep.
    #[arg(long, value_name = "N", default_value_t = 4)]
    jobs: usize,
    /// Added to the seeds of the links' random numbers, for captures that nobody has seen yet.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Instead of those of `kernel.toml`, so many captures whose paths, settings and applications
    /// the seed draws, and those after it.
    #[arg(long, value_name = "N", conflicts_with = "names")]
    drawn: Option<u64>,
    /// Only those of `kernel.toml` whose names begin like this.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Scores captures of the kernel's TCP that `take` has written.
#[derive(Debug, Args)]
pub(crate) struct KernelArgs {
    /// Where they are.
    directory: PathBuf,
    /// How to print the score.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print what is wrong in each capture, too.
    #[arg(long)]
    wrong: bool,
}

pub(crate) fn take(args: &TakeArgs) -> Result<String, String> {
    let mut plan = Plan::built_in().map_err(|error| format!("kernel.toml: {error}"))?;
    let wanted = |name: &str| {
        args.names.is_empty() || args.names.iter().any(|n| name.starts_with(n.as_str()))
    };
    if let Some(count) = args.drawn {
        let drawn: Result<_, _> = (0..count).map(|n| Planned::drawn(args.seed + n)).collect();
        plan.capture = drawn.map_err(|error| format!("a link that was drawn: {error}"))?;
    } else {
        plan.capture.retain(|c| wanted(&c.name));
        plan.capture.iter_mut().for_each(|c| c.seed += args.seed);
    }
    kernel::take(&plan, &args.directory, args.jobs, |name, truth| match truth {
        Ok(truth) => eprintln!("{name}: {}", line(truth)),
        Err(error) => eprintln!("{name}: {error}"),
    })
    .map_err(|error| error.to_string())?;
    Ok(String::new())
}

/// What came of a capture.
fn line(truth: &Truth) -> String {
    let again = || truth.connections.iter().flat_map(|c| &c.retransmissions);
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    for r in again() {
        *kinds.entry(r.kind.as_deref().unwrap_or("unknown")).or_default() += 1;
    }
    let mut out = format!("{} retransmissions", again().count());
    // Writing to a string cannot fail.
    for (kind, count) in kinds {
        let _ = write!(out, ", {count} {kind}");
    }
    for missing in &truth.missing {
        let _ = write!(out, "; {missing}");
    }
    out
}

pub(crate) fn score(args: &KernelArgs) -> Result<String, String> {
    let score = kernel::score(&args.directory)
        .map_err(|error| format!("{}: {error}", args.directory.display()))?;
    let places = || PLACES.iter().zip(&score).filter(|(_, score)| score.score.captures > 0);
    if args.format == Format::Json {
        let all: Map<_, _> =
            places().map(|(place, score)| (place.to_string(), score.json())).collect();
        return Ok(format!("{:#}\n", Value::Object(all)));
    }
    let mut out = String::new();
    for (place, score) in places() {
        out += &format!("{}\n", score.table(&format!("the kernel's captures at the {place}")));
        for (name, mistakes) in score.mistakes.iter().filter(|_| args.wrong) {
            let _ = writeln!(out, "{name}, {place}\n  {}\n", mistakes.join("\n  "));
        }
    }
    let lines: Vec<_> = places().map(|(place, score)| (place.to_string(), &score.score)).collect();
    Ok(out + &ackclock_score::summary(&lines))
}
