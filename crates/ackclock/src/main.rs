//! The command; see the library for everything it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    ackclock::main(std::env::args_os())
}
