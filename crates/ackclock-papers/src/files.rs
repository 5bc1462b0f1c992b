//! Experiments in files of one's own.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ackclock_net::scenario::Scenario;
use ackclock_run::{FileError, Kind, parse};
use ackclock_tcp::Registry;

use crate::error::Error;
use crate::format::Paper;
use crate::load::{ExperimentFile, SCENARIOS};

/// Describes the paper of the experiments in a folder.
const PAPER: &str = "paper.toml";

/// Standard input.
const STDIN: &str = "-";

/// Whether this is a pattern.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// The files that a path or a pattern stands for; `None` if there is nothing of that name.
pub(crate) fn find(name: &str) -> Result<Option<Vec<String>>, Error> {
    let path = Path::new(name);
    // A pipe is one, too.
    if name == STDIN || (path.exists() && !path.is_dir()) {
        return Ok(Some(vec![name.into()]));
    }
    let mut found = Vec::new();
    if path.is_dir() {
        walk(path, &mut found)?;
    } else {
        let matches = match glob::glob(name) {
            Ok(paths) if is_pattern(name) => paths.filter_map(Result::ok).collect(),
            _ => Vec::new(),
        };
        if matches.is_empty() {
            return Ok(None);
        }
        for path in matches {
            if path.is_dir() {
                walk(&path, &mut found)?;
            } else if is_experiment(&path) {
                found.push(path);
            }
        }
    }
    if found.is_empty() {
        return Err(Error::NoExperiment(name.into()));
    }
    Ok(Some(found.iter().map(|path| path.display().to_string()).collect()))
}

/// The experiments in a folder and its folders, in the order of their names.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable = |error| Error::Read { file: folder.display().to_string(), error };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    paths.sort_by_key(|path| natural(&path.with_extension("").display().to_string()));
    for path in paths {
        if path.is_dir() && path.file_name().is_some_and(|name| name != SCENARIOS) {
            walk(&path, found)?;
        } else if path.is_file() && is_experiment(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_experiment(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml") && path.file_name() != Some(PAPER.as_ref())
}

/// Reads an experiment from its file, or from standard input. It is called after its folder and
/// its file, and belongs to a paper if `paper.toml` is beside it.
pub(crate) fn read(file: &str, registry: &Registry) -> Result<ExperimentFile, Error> {
    let unreadable = |file: &str| {
        let file = file.to_string();
        move |error| Error::Read { file, error }
    };
    if file == STDIN {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map_err(unreadable("standard input"))?;
        return load("stdin", None, ("<stdin>", &text), registry);
    }
    let path = Path::new(file);
    let text = fs::read_to_string(path).map_err(unreadable(file))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.canonicalize().map_err(unreadable(file))?;
    let folder = folder.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let paper = path.with_file_name(PAPER);
    let paper = if paper.is_file() {
        let shown = paper.display().to_string();
        let text = fs::read_to_string(&paper).map_err(unreadable(&shown))?;
        Some(parse(&shown, &text)?)
    } else {
        None
    };
    load(&format!("{folder}/{stem}"), paper, (file, &text), registry)
}

fn load(
    id: &str,
    paper: Option<Paper>,
    (file, text): (&str, &str),
    registry: &Registry,
) -> Result<ExperimentFile, Error> {
    let of_scenario = |path: &str| fs::read_to_string(path).ok();
    let read = ExperimentFile::from_toml(id, paper, (file, text), registry, of_scenario);
    if read.is_err() && Scenario::from_toml(text, registry).is_ok() {
        let error = Kind::Scenario.instead_of(Kind::Experiment, file);
        return Err(FileError { file: file.into(), error }.into());
    }
    Ok(read?)
}

/// Sorts `figure-2` before `figure-10`.
pub(crate) fn natural(id: &str) -> Vec<(u64, String)> {
    id.split('-').map(|part| (part.parse().unwrap_or(0), part.to_string())).collect()
}
