//! `ackclock lab`.

use std::fs;

use ackclock_lab::{Lab, Options, run};
use ackclock_report::{Align, align};

use crate::cli::{Format, LabArgs};
use crate::error::Error;
use crate::output::json_text;

pub(crate) fn lab(args: &LabArgs) -> Result<String, Error> {
    if args.name == "list" {
        return Ok(list(&Lab::all()?));
    }
    let lab = find(&args.name)?;
    let options = Options { quick: args.quick, only: args.only.clone(), seconds: args.seconds, jobs: args.jobs };
    if let Some(path) = &args.html {
        // Before the runs, so that a bad path is found at once.
        fs::write(path, "").map_err(Error::write(path))?;
    }
    let outcome = run(&args.name, &lab, &options)?;
    if let Some(path) = &args.html {
        fs::write(path, outcome.to_html()).map_err(Error::write(path))?;
    }
    Ok(match args.format {
        Format::Json => json_text(&outcome),
        Format::Table => outcome.to_table(),
    })
}

/// One of the project's, or that of a file.
fn find(name: &str) -> Result<Lab, Error> {
    if name.ends_with(".toml") {
        let text = fs::read_to_string(name).map_err(|error| Error::Read { path: name.into(), error })?;
        return Ok(Lab::from_toml(name, &text)?);
    }
    let mut labs = Lab::all()?;
    let known = labs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let place = labs.iter().position(|(lab, _)| lab == name);
    let place =
        place.ok_or_else(|| Error::Usage(format!("there is no lab `{name}`; there are {known}, or give a file")))?;
    Ok(labs.swap_remove(place).1)
}

fn list(labs: &[(String, Lab)]) -> String {
    let mut rows = vec![["lab", "what it shows", "place"].map(String::from).to_vec()];
    rows.extend(labs.iter().map(|(name, lab)| vec![name.clone(), lab.title.clone(), lab.place.clone()]));
    align(&rows, Align::Left)
}
