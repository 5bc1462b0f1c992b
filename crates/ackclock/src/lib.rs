//! The `ackclock` command as a library: [`main`] is all that the binary calls. [`EXIT_CODES`] says
//! how it ends.

mod access_log;
mod args;
mod cli;
mod compare;
mod error;
mod execute;
mod exhaust;
mod exit;
mod explain;
mod figure;
mod generate;
pub mod http;
mod input;
mod lab;
mod oracle;
mod output;
mod overwrite;
mod papers;
mod proc;
mod queues;
mod record;
mod replay;
mod run;
mod scenario_file;
mod schema;
mod strategies;
mod trace;
mod wire;
mod worst;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use ackclock_report::printable_lines;
use ackclock_tcp::Registry;
use clap::CommandFactory;
use nix::sys::signal::{SigSet, Signal};

use cli::{Cli, Verb};
pub use compare::compare_scenario;
pub use error::Error;
pub use exit::{EXIT_CODES, Exit};

/// Runs the command with these arguments, the first one being its name. Writes to standard output
/// and standard error.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    main_with(&Registry::default(), args)
}

/// As [`main()`], with the mechanisms and presets of this registry: `run`, `compare`, experiments,
/// labs and the wire know their names.
pub fn main_with(registry: &Registry, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    // A file that grows beyond `ulimit -f` is an error of the write, as a full disk is, and no end
    // of the process. Before there are threads.
    let mut beyond = SigSet::empty();
    beyond.add(Signal::SIGXFSZ);
    let _ = beyond.thread_block();
    run_with(registry, args).into()
}

/// As [`main_with`], for who is no process of its own: returns the number of the exit code.
pub fn run_with(registry: &Registry, args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match ackclock_impair::options::<Cli>(args) {
        Ok(cli) => cli,
        Err(e) if e.use_stderr() => {
            let _ = e.print();
            return exit::INPUT.code;
        }
        // Help and version go to standard output and are no error.
        Err(e) => return ended(output::print_with(|_| e.print())),
    };
    let result = match &cli.verb {
        Verb::Strategies(args) => strategies::strategies(args, registry),
        Verb::Run(args) => run::run(args, registry),
        Verb::Schema(args) => schema::schema(args),
        Verb::Compare(args) => compare::compare(args, registry),
        Verb::Exhaust(args) => exhaust::exhaust(args, registry),
        Verb::Worst(args) => worst::worst(args, registry),
        Verb::Experiment(args) => papers::experiment(args, registry),
        Verb::Papers(verb) => papers::papers(verb, registry),
        Verb::Send(args) => wire::send(args, registry),
        Verb::Recv(args) => wire::recv(args, registry),
        Verb::Lab(args) => lab::lab(args, registry),
        Verb::Serve(args) => wire::serve(args, registry),
        Verb::Proxy(args) => wire::proxy(args, registry),
        Verb::AccessLog(args) => access_log::access_log(args),
        Verb::Gateway(args) => wire::gateway(args, registry),
        Verb::Impair(args) => ackclock_impair::impair(args, registry).map_err(Error::from),
        Verb::Explain(args) => explain::explain(args),
        Verb::Replay(args) => replay::replay(args, registry),
        Verb::Trace(args) => trace::trace(args),
        Verb::Completions(args) => generate::completions(args, Cli::command()),
        Verb::Man(args) => generate::man(args, Cli::command()),
    };
    ended(result.and_then(|text| output::print(&text)))
}

/// Says what went wrong. Returns the exit code.
fn ended(result: Result<(), Error>) -> u8 {
    match result {
        Ok(()) => 0,
        // Nobody reads it any more.
        Err(e) if e.is_closed_pipe() => 0,
        Err(e) => {
            let _ = writeln!(io::stderr(), "error: {}", printable_lines(&e));
            e.exit().code
        }
    }
}

/// The worked example of `ARCHITECTURE.md`, compiled and run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../ARCHITECTURE.md")]
mod architecture {}

/// The example of the guide's chapter on mechanisms, compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/mechanism.md")]
mod guide {}
