//! The papers and experiments that are built in.

use std::collections::{BTreeMap, HashMap, HashSet};

use ackclock_net::scenario::nearest;
use ackclock_run::{FileError, error_at, parse};
use ackclock_tcp::Registry;
use glob::{MatchOptions, Pattern};
use include_dir::{Dir, include_dir};

use crate::error::Error;
use crate::files;
use crate::format::Paper;
use crate::load::ExperimentFile;
use crate::plan::Plan;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/papers");

/// Papers and their experiments.
#[derive(Debug, Default)]
pub struct Library {
    registry: Registry,
    papers: BTreeMap<String, Paper>,
    /// The experiments of the library, then those that were read from files.
    experiments: Vec<ExperimentFile>,
    /// How many experiments the library has.
    built_in: usize,
}

impl Library {
    /// A library without experiments: all have to come from files.
    pub fn empty(registry: Registry) -> Library {
        Library { registry, ..Library::default() }
    }

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
        let mut library = Library::empty(registry);
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
                Some(of.clone()),
                (file, text),
                &library.registry,
                |path| files.get(path).cloned(),
            )?);
        }
        // What goes beyond the papers comes after them.
        library.experiments.sort_by_key(|e| (e.id.starts_with("beyond/"), files::natural(&e.id)));
        library.built_in = library.experiments.len();
        Ok(library)
    }

    /// The experiments in the order of their names, those beyond the papers last.
    pub fn experiments(&self) -> &[ExperimentFile] {
        &self.experiments
    }

    /// Plans the experiments that `id` names: one (`paper/experiment`), those of a paper, those
    /// that a pattern such as `*/figure-2` matches, or `all`.
    ///
    /// # Errors
    /// [`Error::Unknown`], and those of [`Plan::new`].
    pub fn plan(&self, id: &str, quick: bool) -> Result<Vec<Plan<'_>>, Error> {
        let selected = self.named(id);
        if selected.is_empty() { Err(self.unknown(id)) } else { self.plans(&selected, quick) }
    }

    /// Plans the experiments that the names stand for, each once. A name is one as in
    /// [`Library::plan`], or a file, a folder with its folders, a pattern of paths, or `-` for
    /// standard input. Names of the library come first.
    ///
    /// In folders, files called `paper.toml` and folders called `scenarios` are left out.
    ///
    /// # Errors
    /// Those of [`Library::plan`], and what is wrong with a file.
    pub fn plan_all(&mut self, names: &[String], quick: bool) -> Result<Vec<Plan<'_>>, Error> {
        let mut selected: Vec<usize> = Vec::new();
        for name in names {
            let mut found = self.named(name);
            if found.is_empty() {
                found = self.read(name)?;
            }
            selected.extend(found);
        }
        let mut seen = HashSet::new();
        selected.retain(|index| seen.insert(*index));
        let mut files: HashMap<&str, &str> = HashMap::new();
        for ExperimentFile { id, file, .. } in selected.iter().map(|i| &self.experiments[*i]) {
            if let Some(first) = files.insert(id, file) {
                let (id, first, second) = (id.clone(), first.into(), file.clone());
                return Err(Error::Twice { id, first, second });
            }
        }
        self.plans(&selected, quick)
    }

    fn plans(&self, selected: &[usize], quick: bool) -> Result<Vec<Plan<'_>>, Error> {
        let experiments = selected.iter().map(|index| &self.experiments[*index]);
        experiments.map(|experiment| Plan::new(experiment, &self.registry, quick)).collect()
    }

    /// The experiments of the library that have this name.
    fn named(&self, id: &str) -> Vec<usize> {
        let pattern = Pattern::new(id).ok().filter(|_| files::is_pattern(id));
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let matches = |e: &ExperimentFile| {
            id == "all"
                || e.id == id
                || e.id.split('/').next() == Some(id)
                || pattern.as_ref().is_some_and(|p| p.matches_with(&e.id, options))
        };
        let of_library = self.experiments[..self.built_in].iter().enumerate();
        of_library.filter(|(_, e)| matches(e)).map(|(index, _)| index).collect()
    }

    /// Reads the files that a path or a pattern stands for, unless they have been read.
    fn read(&mut self, name: &str) -> Result<Vec<usize>, Error> {
        let found = files::find(name)?.ok_or_else(|| self.unknown(name))?;
        let mut all = Vec::new();
        for path in found {
            let known =
                self.experiments[self.built_in..].iter().position(|known| known.file == path);
            all.push(match known {
                Some(index) => self.built_in + index,
                None => {
                    self.experiments.push(files::read(&path, &self.registry)?);
                    self.experiments.len() - 1
                }
            });
        }
        Ok(all)
    }

    fn unknown(&self, id: &str) -> Error {
        if self.built_in == 0 {
            return Error::NoFile(id.into());
        }
        let mut known: Vec<&str> = self.papers.keys().map(String::as_str).collect();
        known.push("all");
        known.extend(self.experiments[..self.built_in].iter().map(|e| e.id.as_str()));
        let instead = match nearest(id, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "there are {}, all; `ackclock papers list` lists the experiments",
                self.papers.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
            ),
        };
        Error::Unknown { id: id.into(), instead }
    }
}
