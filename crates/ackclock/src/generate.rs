//! `ackclock completions` and `ackclock man`: what shells and `man` want to know of the command.

use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

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
    let mut command = command.disable_help_subcommand(true);
    command.build();
    pages(&command, &args.dir)?;
    Ok(String::new())
}

/// Writes the page of a command, and those of its subcommands.
fn pages(command: &Command, dir: &Path) -> Result<(), Error> {
    let end = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let page = Man::new(command.clone().after_help(Resettable::Reset))
        .source(concat!("ackclock ", env!("CARGO_PKG_VERSION")));
    let path = dir.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text).map_err(Error::write(&path))?;
    text.extend(sections(&end).into_bytes());
    fs::write(&path, text).map_err(Error::write(&path))?;
    command.get_subcommands().try_for_each(|command| pages(command, dir))
}

/// The end of a help as sections of a page (man-pages(7)), line by line as it is.
fn sections(end: &str) -> String {
    let mut out = String::new();
    for section in end.split("\n\n").filter(|section| !section.is_empty()) {
        let (title, lines) = section.split_once(":\n").unwrap_or(("Notes", section));
        let title = match title {
            "Example" => "EXAMPLES".into(),
            "Exit codes" => "EXIT STATUS".into(),
            other => other.to_uppercase(),
        };
        out += &format!(".SH \"{title}\"\n.nf\n");
        for line in lines.lines() {
            let line = line.strip_prefix("  ").unwrap_or(line);
            let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
            // What begins with a point would be a request.
            out += &format!("\\&{line}\n");
        }
        out += ".fi\n";
    }
    out
}
