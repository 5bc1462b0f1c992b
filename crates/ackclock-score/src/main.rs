//! `ackclock-score`: prints how well captures of simulated connections are explained, and of the
//! kernel's.

mod format;
mod kernel_commands;
mod linux_commands;

use std::process::ExitCode;

use ackclock_score::kernel::pairs;
use ackclock_score::{EVERYWHERE, Missing, PLACES, Scores, scenario, score, score_all, steady};
use ackclock_score::{ceiling, loss_causes, what_if};
use clap::{Parser, Subcommand};
use serde_json::{Map, Value, json};

use crate::format::Format;

/// Scores `ackclock explain` with simulated connections, of which everything is known.
#[derive(Debug, Parser)]
#[command(name = "ackclock-score", version, args_conflicts_with_subcommands = true)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// How many scenarios.
    #[arg(long, value_name = "N", default_value_t = 5000)]
    connections: u64,
    /// The seed of the first; the others have those after it.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The least retransmission timeout of all senders, as `30ms`; else 200 ms or 1 s.
    #[arg(long, value_name = "TIME")]
    min_rto: Option<String>,
    /// Applications that write at a steady rate instead, below what the path carries and above.
    #[arg(long)]
    steady: bool,
    /// How to print the scores.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print the scenario of the seed, and what is wrong in its captures, instead.
    #[arg(long)]
    wrong: bool,
}

impl Args {
    fn scenario(&self, seed: u64) -> String {
        let population = if self.steady { steady } else { scenario };
        population(seed, self.min_rto.as_deref())
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Take(kernel_commands::TakeArgs),
    Kernel(kernel_commands::KernelArgs),
    Linux(linux_commands::LinuxArgs),
    WhatIf(WhatIfArgs),
    Ceiling(CeilingArgs),
    LossCauses(LossCausesArgs),
}

/// Measures how right an answer could be at most, by captures that look the same.
#[derive(Debug, clap::Args)]
struct CeilingArgs {
    /// How many paths.
    #[arg(long, value_name = "N", default_value_t = 16)]
    paths: u64,
    /// The seed of the first.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Scenarios that are made up.
#[derive(Debug, clap::Args)]
struct Scenarios {
    /// How many scenarios.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    connections: u64,
    /// The seed of the first.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How to print the score.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Scores what `explain` says of why packets were lost, with simulated connections whose losses
/// have a known cause.
#[derive(Debug, clap::Args)]
struct LossCausesArgs {
    #[command(flatten)]
    of: Scenarios,
    /// Print each scenario whose cause is named wrongly from a capture at the sender, too.
    #[arg(long)]
    wrong: bool,
}

/// Scores what `explain` says would have avoided a timeout, with simulated pairs of strategies.
#[derive(Debug, clap::Args)]
struct WhatIfArgs {
    #[command(flatten)]
    of: Scenarios,
    /// Print each answer that is wrong, too.
    #[arg(long)]
    wrong: bool,
    /// So many pairs of the kernel's connections instead: one without tail loss probes or SACK,
    /// the other with. Takes root, tcpdump and ip.
    #[arg(long, value_name = "N", conflicts_with = "connections")]
    kernel: Option<u64>,
    /// How many pairs of the kernel at the same time: they mostly sleep.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "kernel")]
    jobs: usize,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<String, String> {
    match &args.command {
        Some(Command::Take(args)) => return kernel_commands::take(args),
        Some(Command::Kernel(args)) => return kernel_commands::score(args),
        Some(Command::Linux(args)) => return linux_commands::linux(args),
        Some(Command::WhatIf(args)) => return what_if(args),
        Some(Command::LossCauses(args)) => return loss_causes(args),
        Some(Command::Ceiling(args)) => {
            let bounds = ceiling::bounds(seeds(args.seed, args.paths))?;
            return Ok(match args.format {
                Format::Table => ceiling::table(&bounds),
                Format::Json => format!("{:#}\n", ceiling::json(&bounds)),
            });
        }
        None => {}
    }
    if args.wrong {
        return wrong(args);
    }
    let range = seeds(args.seed, args.connections);
    let scores = score_all(range, |seed| args.scenario(seed), &EVERYWHERE)?;
    Ok(match args.format {
        Format::Table => table(&scores),
        Format::Json => format!("{:#}\n", json(args, &scores)),
    })
}

/// So many seeds from the first on.
fn seeds(first: u64, many: u64) -> std::ops::Range<u64> {
    first..first.saturating_add(many)
}

fn loss_causes(args: &LossCausesArgs) -> Result<String, String> {
    let answers = loss_causes::all(seeds(args.of.seed, args.of.connections))?;
    let wrong = answers.iter().filter(|a| args.wrong && a.is_wrong());
    let out: String = wrong.map(loss_causes::Answer::text).collect();
    let summary = loss_causes::Summary::of(&answers);
    Ok(match args.of.format {
        Format::Table => out + &summary.table(),
        Format::Json => format!("{:#}\n", summary.json()),
    })
}

fn what_if(args: &WhatIfArgs) -> Result<String, String> {
    let range = seeds(args.of.seed, args.of.connections);
    let parts = match args.kernel {
        Some(pairs) => vec![(
            "pairs of the kernel",
            pairs::answers(seeds(args.of.seed, pairs), args.jobs)
                .map_err(|error| error.to_string())?,
        )],
        None => {
            let [single, single_later] = what_if::all(range.clone(), what_if::single)?;
            let [web, web_later] = what_if::all(range, what_if::web)?;
            let mut first = single.clone();
            first.add(web.clone());
            vec![
                ("single connections, first timeouts", single),
                ("Web users, first timeouts", web),
                ("first timeouts", first),
                ("single connections, later timeouts", single_later),
                ("Web users, later timeouts", web_later),
            ]
        }
    };
    let mut out = String::new();
    let mut json = Map::new();
    for (name, asked) in parts {
        let wrong = args.wrong && name != "first timeouts";
        for a in asked.answers.iter().filter(|_| wrong) {
            let off = (a.saved[0] - a.saved[1]).abs() > 0.1 * a.saved[1].abs();
            if a.avoided[0] != a.avoided[1] || off {
                out += &format!("{a:?}\n");
            }
        }
        let summary = what_if::Summary::of(&asked);
        out += &format!("{name}\n{}\n", summary.table());
        json.insert(name.into(), summary.json());
    }
    Ok(match args.of.format {
        Format::Table => out.trim_end().to_string() + "\n",
        Format::Json => format!("{:#}\n", Value::Object(json)),
    })
}

/// The matrices of whole captures, then one line for each sort of capture.
fn table(scores: &Scores) -> String {
    let mut out = String::new();
    for (place, scores) in PLACES.iter().zip(scores) {
        out += &format!("{}\n", scores[0].table(&format!("At the {place}")));
    }
    let mut lines = Vec::new();
    for (place, scores) in PLACES.iter().zip(scores) {
        for (missing, score) in Missing::ALL.iter().zip(scores) {
            lines.push((format!("{place}, {}", missing.name()), score));
        }
    }
    out + &ackclock_score::summary(&lines)
}

fn json(args: &Args, scores: &Scores) -> Value {
    let mut out = json!({"connections": args.connections, "seed": args.seed});
    for (place, scores) in PLACES.iter().zip(scores) {
        let of = |(missing, score): (&Missing, &ackclock_score::Score)| {
            (missing.name().to_string(), score.json())
        };
        out[*place] = Value::Object(Missing::ALL.iter().zip(scores).map(of).collect::<Map<_, _>>());
    }
    out
}

fn wrong(args: &Args) -> Result<String, String> {
    let mut out = String::new();
    for seed in seeds(args.seed, args.connections) {
        let text = args.scenario(seed);
        let (_, wrong) = score(&text, seed, &EVERYWHERE)?;
        if !wrong.is_empty() {
            out += &format!("# seed {seed}\n{text}\n");
        }
        for w in &wrong {
            out += &format!("{}, {}: {}\n", PLACES[w.place], w.missing.name(), w.what);
        }
    }
    Ok(out)
}
