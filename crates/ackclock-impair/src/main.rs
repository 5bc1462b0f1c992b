//! The command `ackclock-impair`; see the library for everything it does.

use std::io::{self, Write};
use std::process::ExitCode;

use ackclock_impair::{ImpairArgs, impair, options};
use ackclock_tcp::Registry;
use clap::Parser;

/// Forward TCP connections over a simulated network: loss, delay and reordering without root.
///
/// Exit codes: 0 for success, 2 for wrong input, 3 for a file, 4 for what the system refused.
#[derive(Debug, Parser)]
#[command(name = "ackclock-impair", version)]
struct Cli {
    #[command(flatten)]
    args: ImpairArgs,
}

fn main() -> ExitCode {
    let Cli { args } = options(std::env::args_os()).unwrap_or_else(|error| error.exit());
    match impair(&args, &Registry::default()) {
        Ok(line) => {
            let _ = io::stdout().write_all(line.as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            error.exit_code().into()
        }
    }
}
