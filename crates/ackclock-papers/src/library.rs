//! The papers and experiments that are built in.

use std::collections::BTreeMap;

use ackclock_run::{FileError, error_at, parse};
use ackclock_tcp::Registry;
use include_dir::{Dir, include_dir};

use crate::error::Error;
use crate::format::Paper;
use crate::load::ExperimentFile;
use crate::plan::Plan;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/papers");

/// Papers and their experiments.
#[derive(Debug, Default)]
pub struct Library {
    registry: Registry,
    papers: BTreeMap<String, Paper>,
    experiments: Vec<ExperimentFile>,
}

impl Library {
    /// The papers of this project, with the strategies of `registry`.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is wrong.
    pub fn embedded(registry: Registry) -> Result<Library, Error> {
        fn collect(dir: &Dir<'_>, files: &mut Vec<(String, String)>) {
            for file in dir.files() {
                if let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8()) {
                    files.push((path.to_string(), text.to_string()));
                }
            }
            dir.dirs().for_each(|d| collect(d, files));
        }
        let mut files = Vec::new();
        collect(&FILES, &mut files);
        Library::from_files(files, registry)
    }

    /// From pairs of a path below `papers/` and a text, with the strategies of `registry`.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is wrong.
    pub fn from_files(files: Vec<(String, String)>, registry: Registry) -> Result<Library, Error> {
        let files: BTreeMap<String, String> =
            files.into_iter().map(|(path, text)| (format!("papers/{path}"), text)).collect();
        let mut library = Library { registry, ..Library::default() };
        for (file, text) in &files {
            if let ["papers", paper, "paper.toml"] = file.split('/').collect::<Vec<_>>()[..] {
                library.papers.insert(paper.to_string(), parse(file, text)?);
            }
        }
        for (file, text) in &files {
            let ["papers", paper, name] = file.split('/').collect::<Vec<_>>()[..] else { continue };
            let Some(name) = name.strip_suffix(".toml").filter(|name| *name != "paper") else {
                continue;
            };
            let of = library.papers.get(paper).ok_or_else(|| FileError {
                file: file.clone(),
                error: error_at("", "there is no paper.toml in this folder"),
            })?;
            library.experiments.push(ExperimentFile::from_toml(
                &format!("{paper}/{name}"),
                of.clone(),
                (file, text),
                &library.registry,
                |path| files.get(path).cloned(),
            )?);
        }
        // What goes beyond the papers comes after them.
        library.experiments.sort_by_key(|e| (e.id.starts_with("beyond/"), natural(&e.id)));
        Ok(library)
    }

    /// The experiments in the order of their names, those beyond the papers last.
    pub fn experiments(&self) -> &[ExperimentFile] {
        &self.experiments
    }

    /// Plans the experiments that `id` names: one (`paper/experiment`), those of a paper, or `all`.
    ///
    /// # Errors
    /// [`Error::Unknown`], and those of [`Plan::new`].
    pub fn plan(&self, id: &str, quick: bool) -> Result<Vec<Plan<'_>>, Error> {
        let named =
            |e: &&ExperimentFile| id == "all" || e.id == id || e.id.split('/').next() == Some(id);
        let selected: Vec<&ExperimentFile> = self.experiments.iter().filter(named).collect();
        if selected.is_empty() {
            let mut known: Vec<&str> = self.papers.keys().map(String::as_str).collect();
            known.push("all");
            known.extend(self.experiments.iter().map(|e| e.id.as_str()));
            return Err(Error::Unknown { id: id.into(), known: known.join(", ") });
        }
        selected
            .into_iter()
            .map(|experiment| Plan::new(experiment, &self.registry, quick))
            .collect()
    }
}

/// Sorts `figure-2` before `figure-10`.
fn natural(id: &str) -> Vec<(u64, String)> {
    id.split('-').map(|part| (part.parse().unwrap_or(0), part.to_string())).collect()
}
