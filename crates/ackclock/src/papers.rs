//! `ackclock papers`.

use std::fs;
use std::path::PathBuf;

use ackclock_papers::{ExperimentFile, Library, pages, run, summary};
use ackclock_report::{Align, align};
use ackclock_tcp::Registry;
use clap::{Args, Subcommand};

use crate::args::Format;
use crate::error::Error;
use crate::exit;
use crate::output::json_text;

#[derive(Debug, Subcommand)]
pub(crate) enum PapersVerb {
    /// List the experiments.
    #[command(after_help = exit::help_with_example("ackclock papers list"))]
    List,
    /// Run one experiment, all experiments of a paper, or all. A claim that does not hold is a
    /// result, and no error.
    #[command(
        after_help = exit::help_with_example("ackclock papers run lin-kung --quick --html \
            out/papers")
    )]
    Run(PapersRunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PapersRunArgs {
    /// What to run: `all`, a paper such as `lin-kung`, or an experiment such as
    /// `lin-kung/tables-1-2`.
    #[arg(value_name = "ID")]
    pub id: String,
    /// How to print the results. JSON is an array with one object per experiment.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write HTML into this directory: an index, and a page with figures for each experiment.
    #[arg(long, value_name = "DIR")]
    pub html: Option<PathBuf>,
    /// Do fewer runs, for a first look. The confidence intervals get wider.
    #[arg(long)]
    pub quick: bool,
    /// How many runs to do at the same time. The results do not depend on it. Default: one per
    /// processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

pub(crate) fn papers(verb: &PapersVerb, registry: &Registry) -> Result<String, Error> {
    let library = Library::embedded(registry.clone())?;
    match verb {
        PapersVerb::List => Ok(list(&library)),
        PapersVerb::Run(args) => run_papers(&library, args),
    }
}

fn list(library: &Library) -> String {
    let mut rows =
        vec![["experiment", "what it shows", "place", "paper"].map(String::from).to_vec()];
    for ExperimentFile { id, paper, experiment, .. } in library.experiments() {
        let paper = format!("{} ({})", paper.title, paper.published);
        rows.push(vec![id.clone(), experiment.title.clone(), experiment.place.clone(), paper]);
    }
    align(&rows, Align::Left)
}

fn run_papers(library: &Library, args: &PapersRunArgs) -> Result<String, Error> {
    let plans = library.plan(&args.id, args.quick)?;
    if let Some(folder) = &args.html {
        // Before the runs, so that a bad path is found at once.
        fs::create_dir_all(folder).map_err(Error::write(folder))?;
    }
    let outcomes = run(&plans, args.jobs.unwrap_or(0))?;
    if let Some(folder) = &args.html {
        for (name, text) in pages(&outcomes) {
            let path = folder.join(name);
            fs::write(&path, text).map_err(Error::write(&path))?;
        }
    }
    Ok(match args.format {
        Format::Json => json_text(&outcomes),
        Format::Table => {
            outcomes.iter().map(|o| o.to_table() + "\n").collect::<String>() + &summary(&outcomes)
        }
    })
}
