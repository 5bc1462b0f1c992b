//! `ackclock papers`.

use std::fs;

use ackclock_papers::{Library, Plan, pages, run, summary};
use ackclock_report::{Align, align};

use crate::cli::{Format, PapersRunArgs, PapersVerb};
use crate::error::Error;
use crate::output::json_text;

pub(crate) fn papers(verb: &PapersVerb) -> Result<String, Error> {
    let library = Library::embedded()?;
    match verb {
        PapersVerb::List => Ok(list(&library)),
        PapersVerb::Run(args) => run_papers(&library, args),
    }
}

fn list(library: &Library) -> String {
    let mut rows = vec![["experiment", "what it shows", "place", "paper"].map(String::from).to_vec()];
    for (id, paper, experiment) in library.list() {
        let paper = paper.map(|p| format!("{} ({})", p.title, p.published)).unwrap_or_default();
        rows.push(vec![id.into(), experiment.title.clone(), experiment.place.clone(), paper]);
    }
    align(&rows, Align::Left)
}

fn run_papers(library: &Library, args: &PapersRunArgs) -> Result<String, Error> {
    let plans = Plan::of(library, &args.id, args.quick)?;
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
        Format::Table => outcomes.iter().map(|o| o.to_table() + "\n").collect::<String>() + &summary(&outcomes),
    })
}
