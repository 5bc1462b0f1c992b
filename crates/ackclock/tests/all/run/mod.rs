//! What the tests of single commands share: a run of the command, and what it left.

use std::process::{Command, Output};

use serde_json::Value;

/// What a run of the command left.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackclock"));
    command.args(args);
    command
}

pub fn ackclock(args: &[&str]) -> Run {
    command(args).output().unwrap().into()
}

/// Its standard output, and that it had nothing to complain about.
pub fn ok(args: &[&str]) -> String {
    let run = ackclock(args);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}");
    run.out
}

pub fn json(args: &[&str]) -> Value {
    serde_json::from_str(&ok(args)).unwrap()
}
