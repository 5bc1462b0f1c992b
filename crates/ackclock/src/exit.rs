//! The exit codes.

/// An exit code of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The number.
    pub code: u8,
    /// What it is called here.
    pub name: &'static str,
    /// When the command ends with it.
    pub meaning: &'static str,
}

/// All exit codes. A reader of standard output that goes away (`ackclock ... | head`) is no error.
pub const EXIT_CODES: [Exit; 7] = [DONE, FAILED, INPUT, FILE, REFUSED, DISAGREE, INTERRUPTED];

pub(crate) const DONE: Exit = Exit { code: 0, name: "done", meaning: "success" };
pub(crate) const FAILED: Exit =
    Exit { code: 1, name: "failed", meaning: "a connection on the wire failed" };
pub(crate) const INPUT: Exit = Exit {
    code: 2,
    name: "input",
    meaning: "wrong input: an option, a strategy, a scenario, a vector or a damaged capture",
};
pub(crate) const FILE: Exit =
    Exit { code: 3, name: "file", meaning: "a file could not be read or written" };
pub(crate) const REFUSED: Exit = Exit {
    code: 4,
    name: "refused",
    meaning: "the system refused: no permission, no TUN device, no way to the peer",
};
pub(crate) const DISAGREE: Exit = Exit {
    code: 5,
    name: "disagree",
    meaning: "wire and simulation do not agree in a lab; the results are printed",
};
/// What a shell makes of SIGINT.
pub(crate) const INTERRUPTED: Exit = Exit {
    code: 130,
    name: "interrupted",
    meaning: "stopped by Ctrl-C before it was done; the results so far are printed",
};

/// Of a command that reads and writes files.
pub(crate) const PLAIN: &[Exit] = &[DONE, INPUT, FILE];
/// Of a command that measures until it is done.
pub(crate) const MEASURES: &[Exit] = &[DONE, INPUT, FILE, INTERRUPTED];
/// Of a command that runs until it is told to end.
pub(crate) const SERVES: &[Exit] = &[DONE, INPUT, FILE, REFUSED];
/// Of `send` and `recv`.
pub(crate) const TRANSFERS: &[Exit] = &[DONE, FAILED, INPUT, FILE, REFUSED, INTERRUPTED];
/// Of `lab`.
pub(crate) const LAB: &[Exit] = &[DONE, INPUT, FILE, REFUSED, DISAGREE, INTERRUPTED];
/// Of `explain`.
pub(crate) const EXPLAIN: &[Exit] = &[DONE, INPUT, FILE, REFUSED, INTERRUPTED];

/// The section of the help.
pub(crate) fn help(codes: &[Exit]) -> String {
    let line = |exit: &Exit| format!("\n  {:<3}  {}", exit.code, exit.meaning);
    format!("Exit codes:{}", codes.iter().map(line).collect::<String>())
}

/// The end of the help of one command.
pub(crate) fn help_with_example(codes: &[Exit], example: &str) -> String {
    format!("Example:\n  {example}\n\n{}", help(codes))
}
