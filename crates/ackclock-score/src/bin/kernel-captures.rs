//! Takes the captures of `kernel.toml`: `kernel-captures DIRECTORY [--jobs N] [NAME...]`.

use std::path::PathBuf;
use std::process::ExitCode;

use ackclock_score::kernel::{Plan, Truth, take};
use clap::Parser;

#[derive(Debug, Parser)]
struct Args {
    /// Where to.
    directory: PathBuf,
    /// How many at the same time.
    #[arg(long, default_value_t = 4)]
    jobs: usize,
    /// Score what is there.
    #[arg(long)]
    score: bool,
    /// Only those whose names begin like one of these.
    names: Vec<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.score {
        return match ackclock_score::kernel::score(&args.directory) {
            Ok(score) => {
                print!("{}", score.table());
                for (name, mistakes) in score.mistakes {
                    println!("{name}:");
                    mistakes.iter().for_each(|mistake| println!("    {mistake}"));
                }
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("{}: {error}", args.directory.display());
                ExitCode::FAILURE
            }
        };
    }
    let mut plan = match Plan::built_in() {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("kernel.toml: {error}");
            return ExitCode::from(2);
        }
    };
    let wanted = |name: &str| args.names.is_empty() || args.names.iter().any(|n| name.starts_with(n.as_str()));
    plan.capture.retain(|c| wanted(&c.name));
    let taken = take(&plan, &args.directory, args.jobs, |name, truth| match truth {
        Ok(truth) => println!("{name}: {}", line(truth)),
        Err(error) => eprintln!("{name}: {error}"),
    });
    if taken.is_err() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn line(truth: &Truth) -> String {
    let count = |name: &str| truth.counters.get(name).copied().unwrap_or(0);
    let mut kinds = std::collections::BTreeMap::new();
    let all = || truth.connections.iter().flat_map(|c| &c.retransmissions);
    for r in all() {
        *kinds.entry(r.kind.as_deref().unwrap_or("?")).or_insert(0) += 1;
    }
    let timeouts: usize = truth.connections.iter().map(|c| c.timeouts.len()).sum();
    format!(
        "{} retransmissions (counted {}), {timeouts} timeouts (counted {}), {} needless, {} lost, {} drops, late {:.0} us; {kinds:?} {:?}",
        all().count(),
        count("RetransSegs"),
        count("TCPTimeouts"),
        all().filter(|r| r.needless).count(),
        all().filter(|r| r.lost).count(),
        truth.drops.len(),
        truth.late_p99_us,
        truth.missing,
    )
}
