//! One lab, from the text of its file.

use ackclock_net::scenario::{ScenarioError, check_strategy};
use ackclock_run::{FileError, GridCell, error_at, grid, parse, set};
use ackclock_tcp::Registry;
use toml::{Table, Value};

use crate::error::Error;
use crate::format::{Lab, Transfers};

impl Lab {
    /// Reads and checks a lab, whose strategies are those of `registry`; `file` is what errors
    /// name.
    ///
    /// # Errors
    /// [`Error::Format`].
    pub fn from_toml(file: &str, text: &str, registry: &Registry) -> Result<Lab, Error> {
        let lab: Lab = parse(file, text)?;
        lab.check(registry)
            .map_err(|error| FileError { file: file.into(), error: error.located(text) })?;
        Ok(lab)
    }

    fn check(&self, registry: &Registry) -> Result<(), ScenarioError> {
        let [_] = &self.scenario.flows[..] else {
            return Err(error_at("scenario.flow", "exactly one flow is expected"));
        };
        self.check_numbers()?;
        self.check_rows(registry)?;
        for (i, aim) in self.aims.iter().enumerate() {
            let known = |(name, labels): (&String, &Vec<String>)| {
                let axis = self.vary.iter().find(|axis| axis.name == *name);
                axis.is_some_and(|axis| labels.iter().all(|label| axis.has(label)))
            };
            if !aim.cells.iter().all(known) {
                let key = format!("aim[{i}].where");
                return Err(error_at(&key, "axes and their labels are expected"));
            }
        }
        self.cells(false, None, registry).map(drop)
    }

    fn check_numbers(&self) -> Result<(), ScenarioError> {
        let counts = [("runs", Some(self.runs)), ("quick_runs", self.quick_runs)];
        for (key, count) in counts {
            if count == Some(0) {
                return Err(error_at(key, "a lab needs at least one run"));
            }
        }
        if self.jobs == 0 {
            return Err(error_at("jobs", "at least one run goes at a time"));
        }
        let Some(transfers) = &self.transfers else { return Ok(()) };
        let Transfers { count, quick_count, least, most, lanes } = *transfers;
        let counts = [("count", count), ("quick_count", quick_count), ("lanes", lanes.into())];
        if let Some((key, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(error_at(&format!("transfers.{key}"), "at least 1"));
        }
        if least > most {
            let message = format!("{least} is above `most`, {most}");
            return Err(error_at("transfers.least", message));
        }
        Ok(())
    }

    fn check_rows(&self, registry: &Registry) -> Result<(), ScenarioError> {
        let check = |strategy: Option<&str>| strategy.map(|s| check_strategy(s, registry));
        for (i, row) in self.rows.iter().enumerate() {
            let wrong =
                |key: &str, message: &str| Err(error_at(&format!("row[{i}]{key}"), message));
            if row.strategy.is_some() == row.kernel.is_some() {
                return wrong("", "exactly one of `strategy` and `kernel` is expected");
            }
            if let Some(Err(message)) = check(row.strategy.as_deref()) {
                return wrong(".strategy", &message);
            }
            let is_kernels =
                |name: &String| self.rows.iter().any(|r| r.name == *name && r.kernel.is_some());
            if !row.against.as_ref().is_none_or(is_kernels) {
                return wrong(".against", "the name of a row with `kernel` is expected");
            }
            if self.rows[..i].iter().any(|r| r.name == row.name) {
                return wrong(".name", "another row has this name");
            }
        }
        Ok(())
    }

    /// The cells of the grid. `seconds` replaces the length of each run.
    pub(crate) fn cells(
        &self,
        quick: bool,
        seconds: Option<u32>,
        registry: &Registry,
    ) -> Result<Vec<GridCell>, ScenarioError> {
        let text = self.scenario.to_toml()?;
        let mut base: Table =
            toml::from_str(&text).map_err(|error| ScenarioError::from_toml(&text, &error))?;
        if quick {
            for (key, value) in &self.quick {
                set(&mut base, key, value.clone()).map_err(|m| error_at("quick", m))?;
            }
        }
        if let Some(seconds) = seconds {
            let duration = Value::String(format!("{seconds}s"));
            set(&mut base, "duration", duration).map_err(|m| error_at("duration", m))?;
        }
        grid(base, &self.vary, quick, registry)
    }
}
