//! `ackclock completions` and `ackclock man`: what shells and `man` want to know of the command.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::Error;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The directory. It is made if it does not exist.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Result<String, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "ackclock", &mut script);
    Ok(String::from_utf8_lossy(&script).into_owned())
}

pub(crate) fn man(args: &ManArgs, command: Command) -> Result<String, Error> {
    fs::create_dir_all(&args.dir).map_err(Error::write(&args.dir))?;
    clap_mangen::generate_to(command, &args.dir).map_err(Error::write(&args.dir))?;
    Ok(String::new())
}
