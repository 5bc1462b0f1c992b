//! `ackclock lab`.

use std::path::{Path, PathBuf};

use ackclock_lab::{Lab, Options, run};
use ackclock_net::scenario::nearest;
use ackclock_report::{Align, align_within};
use ackclock_run::{FileError, Kind, WholeFile};
use ackclock_tcp::Registry;
use clap::Args;

use crate::args::{Format, file};
use crate::error::Error;
use crate::input::text_of;
use crate::output::{NOTHING, after_files, ended, json_text, print, width};
use crate::overwrite;
use crate::wire::cancel_on_signals;

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// `list` to list the labs, the name of a lab, or a lab file (the guide describes the format).
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Do fewer and shorter runs, for a first look.
    #[arg(long)]
    pub quick: bool,
    /// How to print the results.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write the results and a chart to this HTML file.
    #[arg(long, value_name = "FILE.html", value_parser = file())]
    pub html: Option<PathBuf>,
    /// The rows of the table to run. The row that they are compared with has to be one of them.
    /// Default: all.
    #[arg(long, value_name = "ROW,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How long each run lasts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: Option<u32>,
    /// How many runs to do at the same time, each in namespaces of its own. Default: what the lab
    /// file says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
}

pub(crate) fn lab(args: &LabArgs, registry: &Registry) -> Result<String, Error> {
    if args.name == "list" {
        return Ok(list(&Lab::all(registry)?));
    }
    overwrite::check([Path::new(&args.name)], &args.html)?;
    let lab = find(&args.name, registry)?;
    let options = Options {
        quick: args.quick,
        only: args.only.clone(),
        seconds: args.seconds,
        jobs: args.jobs,
    };
    if let Some(path) = &args.html {
        // Before the runs, so that a bad path is found at once.
        WholeFile::check(path).map_err(Error::write(path))?;
    }
    let cancel = &cancel_on_signals()?;
    let outcome = run(&args.name, &lab, &options, registry, cancel)?;
    let written = args.html.as_ref().map_or(Ok(()), |path| {
        WholeFile::write(path, outcome.to_html()).map_err(Error::write(path))
    });
    let text = match args.format {
        Format::Json => json_text(&outcome),
        Format::Table if outcome.cells.is_empty() => NOTHING.into(),
        Format::Table => outcome.to_table(width()),
    };
    let text = ended(after_files(text, written)?, cancel.is_cancelled())?;
    match outcome.disagreements() {
        (0, _) => Ok(text),
        (apart, of) => {
            print(&text)?;
            Err(Error::Disagree { apart, of })
        }
    }
}

/// One of the project's, or that of a file.
fn find(name: &str, registry: &Registry) -> Result<Lab, Error> {
    if name.ends_with(".toml") {
        let text = text_of(Path::new(name))?;
        let read = Lab::from_toml(name, &text, registry);
        if let (Err(_), Some(other)) = (&read, Kind::of(&text).filter(|kind| *kind != Kind::Lab)) {
            let error = other.instead_of(Kind::Lab, name);
            let error = FileError { file: name.into(), error };
            return Err(ackclock_run::Error::Scenario(error).into());
        }
        return Ok(read?);
    }
    let mut labs = Lab::all(registry)?;
    let known: Vec<&str> = labs.iter().map(|(name, _)| name.as_str()).collect();
    let place = labs.iter().position(|(lab, _)| lab == name);
    let place = place.ok_or_else(|| Error::Usage(unknown(name, &known)))?;
    Ok(labs.swap_remove(place).1)
}

fn unknown(name: &str, known: &[&str]) -> String {
    if Path::new(name).exists() {
        return format!("{name}: the name of a file of a lab has to end in `.toml`");
    }
    let instead = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}, or give a file", known.join(", ")),
    };
    format!("there is no lab `{name}`; {instead}")
}

fn list(labs: &[(String, Lab)]) -> String {
    let mut rows = vec![["lab", "what it shows", "place"].map(String::from).to_vec()];
    rows.extend(
        labs.iter().map(|(name, lab)| vec![name.clone(), lab.title.clone(), lab.place.clone()]),
    );
    align_within(&rows, Align::Left, width())
}
