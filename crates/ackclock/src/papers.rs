//! `ackclock papers` and `ackclock experiment`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ackclock_papers::{
    ExperimentFile, Library, Outcome, Plan, figures, pages, run_until, sample_columns, samples,
    summary,
};
use ackclock_report::{Align, align_within};
use ackclock_run::WholeFile;
use ackclock_tcp::Registry;
use clap::{Args, Subcommand, ValueEnum};

use crate::args::file;
use crate::error::Error;
use crate::exit;
use crate::figure::FigureArgs;
use crate::output::{NOTHING, after_files, ended, json_text, width};
use crate::overwrite;
use crate::wire::cancel_on_signals;

#[derive(Debug, Subcommand)]
pub(crate) enum PapersVerb {
    /// List the experiments.
    #[command(after_help = exit::help_with_example(exit::PLAIN, "ackclock papers list"))]
    List,
    /// Run experiments, all of a paper, or all. A claim that does not hold is a result, and no
    /// error.
    #[command(
        after_help = exit::help_with_example(
            exit::MEASURES,
            "ackclock papers run lin-kung --quick --html out/papers"
        )
    )]
    Run(PapersRunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PapersRunArgs {
    /// What to run: `all`, a paper such as `lin-kung`, an experiment such as
    /// `lin-kung/tables-1-2`, or a pattern such as `*/figure-2`. Also files, folders and patterns
    /// of files, as for `ackclock experiment`.
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub options: ExperimentOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// Files of experiments, folders of them, or patterns of either in quotes. `-` is standard
    /// input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub options: ExperimentOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ExperimentOptions {
    /// How to print the results. JSON is an array with one object per experiment. CSV has a line
    /// for each number that was measured in each run.
    #[arg(long, value_enum, default_value_t = ExperimentFormat::Table)]
    pub format: ExperimentFormat,
    /// Write each number that was measured in each run to this Parquet file. The columns are those
    /// of `--format csv`.
    #[arg(long, value_name = "FILE.parquet", value_parser = file())]
    pub parquet: Option<PathBuf>,
    /// Write HTML into this directory: an index, and a page with figures for each experiment.
    #[arg(long, value_name = "DIR", value_parser = file())]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub figure: FigureArgs,
    /// Do fewer runs, for a first look. The confidence intervals get wider.
    #[arg(long)]
    pub quick: bool,
    /// How many runs to do at the same time. The results do not depend on it. Default: one per
    /// processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExperimentFormat {
    /// Aligned text.
    Table,
    /// JSON.
    Json,
    /// CSV.
    Csv,
}

pub(crate) fn papers(verb: &PapersVerb, registry: &Registry) -> Result<String, Error> {
    let library = Library::embedded(registry.clone())?;
    match verb {
        PapersVerb::List => Ok(list(&library)),
        PapersVerb::Run(args) => run_experiments(library, &args.ids, &args.options),
    }
}

pub(crate) fn experiment(args: &ExperimentArgs, registry: &Registry) -> Result<String, Error> {
    run_experiments(Library::empty(registry.clone()), &args.files, &args.options)
}

fn list(library: &Library) -> String {
    let mut rows =
        vec![["experiment", "what it shows", "place", "paper"].map(String::from).to_vec()];
    for ExperimentFile { id, paper, experiment, .. } in library.experiments() {
        let paper = paper.as_ref().map(|p| format!("{} ({})", p.title, p.published));
        let (title, place) = (experiment.title.clone(), experiment.place.clone());
        rows.push(vec![id.clone(), title, place, paper.unwrap_or_default()]);
    }
    align_within(&rows, Align::Left, width())
}

fn run_experiments(
    mut library: Library,
    names: &[String],
    options: &ExperimentOptions,
) -> Result<String, Error> {
    let plans = library.plan_all(names, options.quick)?;
    let figure = &options.figure;
    figure.check()?;
    let inputs = plans.iter().map(|plan| Path::new(plan.file()));
    overwrite::check(inputs, figure.figures.iter().chain(&options.parquet))?;
    if !figure.figures.is_empty() && plans.len() > 1 {
        let count = plans.len();
        return Err(Error::Usage(format!("--figure: this takes one experiment, not {count}")));
    }
    let graph = plans.iter().all(Plan::records);
    if let (false, Some(option)) = (graph, figure.interval_option()) {
        let message = "it is of time-sequence graphs, which `sequence = true` gives an experiment";
        return Err(Error::Usage(format!("{option}: {message}")));
    }
    // Before the runs, so that a bad path is found at once.
    for path in &figure.figures {
        WholeFile::check(path).map_err(Error::write(path))?;
    }
    if let Some(folder) = &options.html {
        fs::create_dir_all(folder).map_err(Error::write(folder))?;
    }
    if let Some(path) = &options.parquet {
        WholeFile::check(path).map_err(Error::write(path))?;
    }
    // Only now: who waits for standard input to end can break off by Ctrl-C.
    let cancel = &cancel_on_signals()?;
    let outcomes = run_until(&plans, options.jobs.unwrap_or(0), cancel)?;
    let written = write_files(options, &outcomes);
    for plan in plans.iter().filter(|plan| !outcomes.iter().any(|o| o.id == plan.id())) {
        let _ = writeln!(io::stderr(), "warning: {}: interrupted before its first run", plan.id());
    }
    for sentence in outcomes.iter().flat_map(Outcome::unmet) {
        let _ = writeln!(io::stderr(), "warning: {sentence}");
    }
    let text = match options.format {
        ExperimentFormat::Json => json_text(&outcomes),
        ExperimentFormat::Csv => sample_columns(&outcomes).to_csv(samples(&outcomes)),
        ExperimentFormat::Table if outcomes.is_empty() => NOTHING.into(),
        ExperimentFormat::Table => {
            outcomes.iter().map(|o| o.to_table(width()) + "\n").collect::<String>()
                + &summary(&outcomes)
        }
    };
    ended(after_files(text, written)?, cancel.is_cancelled())
}

/// Writes the files that are asked for.
fn write_files(options: &ExperimentOptions, outcomes: &[Outcome]) -> Result<(), Error> {
    if let Some(folder) = &options.html {
        for (name, text) in pages(outcomes) {
            let path = folder.join(name);
            WholeFile::write(&path, text).map_err(Error::write(&path))?;
        }
    }
    if let Some(path) = &options.parquet {
        let written = sample_columns(outcomes).write_parquet(path, "samples", samples(outcomes));
        written.map_err(Error::write(path))?;
    }
    let figure = &options.figure;
    if let ([outcome], false) = (outcomes, figure.figures.is_empty()) {
        let drawn = figures(outcome, figure.width(), figure.interval());
        let drawn = drawn.map_err(|error| Error::Usage(format!("--figure: {error}")))?;
        if drawn.is_empty() {
            return Err(Error::Usage(format!("--figure: {} has no figure", outcome.id)));
        }
        figure.write(&drawn)?;
    }
    Ok(())
}
