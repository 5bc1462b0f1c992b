//! The `ackclock` command as a library: [`main`] is all that the binary calls.
//!
//! # Exit codes
//! | code | meaning |
//! | --- | --- |
//! | 0 | done |
//! | 1 | a run failed, such as a flow without a route, or a connection on the wire |
//! | 2 | bad usage or bad input: an option, a strategy or a scenario that makes no sense, a damaged capture |
//! | 3 | a file could not be read or written |
//! | 4 | the system refused what the wire needs: no permission, no TUN device, no way to the peer |
//! | 130 | ended by Ctrl-C; what was measured until then is printed |
//!
//! A reader of standard output that goes away (`ackclock ... | head`) is not an error.

mod cli;
mod compare;
mod error;
mod execute;
mod explain;
pub mod http;
mod lab;
mod oracle;
mod output;
mod papers;
mod record;
mod run;
mod strategies;
mod wire;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Verb};
pub use error::Error;

/// Runs the command with these arguments, the first one being its name. Writes to standard output and standard error.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version go to standard output and are no error. A closed pipe is none either.
            let _ = e.print();
            return if e.use_stderr() { Error::USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    let result = match &cli.verb {
        Verb::Strategies(args) => strategies::strategies(args),
        Verb::Run(args) => run::run(args),
        Verb::Schema => output::schema(),
        Verb::Compare(args) => compare::compare(args),
        Verb::Papers(verb) => papers::papers(verb),
        Verb::Send(args) => wire::send(args),
        Verb::Recv(args) => wire::recv(args),
        Verb::Lab(args) => lab::lab(args),
        Verb::Serve(args) => wire::serve(args),
        Verb::Proxy(args) => wire::proxy(args),
        Verb::Gateway(args) => wire::gateway(args),
        Verb::Explain(args) => explain::explain(args),
    };
    match result.and_then(|text| output::print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(io::stderr(), "error: {e}");
            e.code().into()
        }
    }
}

/// The worked example of `ARCHITECTURE.md`, compiled and run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../ARCHITECTURE.md")]
mod architecture {}
