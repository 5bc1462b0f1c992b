//! From an experiment to the runs that it takes.

use ackclock_net::scenario::{Scenario, ScenarioError, check_strategy};
use ackclock_run::{Axis, GridCell, Input, Job, error_at, grid, read, set};
use ackclock_tcp::Registry;
use toml::{Table, Value as TomlValue};

use crate::cell::{PlannedCell, Traces, groups};
use crate::check::{check, check_population, of_value};
use crate::error::Error;
use crate::format::Experiment;
use crate::load::ExperimentFile;
use crate::measures::{Value, measures, over_oracles, quantile};
use crate::oracle;

/// An experiment ready to run.
#[derive(Debug)]
pub struct Plan<'a> {
    pub(crate) source: &'a ExperimentFile,
    pub(crate) registry: &'a Registry,
    pub(crate) quick: bool,
    pub(crate) runs: u32,
    /// Whether the statistics of recovery are asked for, which take the events of all flows.
    pub(crate) recovery: bool,
    /// Whether measures of captures are asked for, which take the packets of all transfers.
    pub(crate) captures: bool,
    /// The compositions that bound the strategies, if the distance to them is asked for.
    pub(crate) bounds: Vec<String>,
    pub(crate) cells: Vec<PlannedCell>,
}

impl<'a> Plan<'a> {
    /// The path of the experiment's file.
    pub fn file(&self) -> &str {
        &self.source.file
    }

    /// The name of the experiment.
    pub fn id(&self) -> &str {
        &self.source.id
    }

    /// Plans an experiment. `quick` takes fewer runs and cells where the experiment says so.
    ///
    /// # Errors
    /// [`Error::Format`] for a name, key or value that makes no sense, and [`Error::Run`] for a
    /// network that cannot be built.
    pub fn new(
        source: &'a ExperimentFile,
        registry: &'a Registry,
        quick: bool,
    ) -> Result<Plan<'a>, Error> {
        let e = &source.experiment;
        let runs = if quick { e.quick_runs.unwrap_or(e.runs).min(e.runs) } else { e.runs };
        let cells = cells(source, registry, quick)?;
        check(source, &cells, registry)?;
        let over_oracle = e.measures().any(|asked| over_oracles().any(|(name, _)| name == asked));
        let bounds = if over_oracle { oracle::bounds(&e.strategies, registry) } else { Vec::new() };
        let recovery = asks_for_recovery(e);
        let captures = asks_for(e, |value| matches!(value, Value::Captured(_)));
        Ok(Plan { source, registry, quick, runs, recovery, captures, bounds, cells })
    }

    /// The scenario of the first cell, with its keys set.
    pub fn scenario(&self) -> Option<&Scenario> {
        self.cells.first().map(|planned| &planned.cell.scenario)
    }

    /// The compositions, under the names that the paper has for them. Those that scenarios name
    /// flow by flow are left out.
    pub fn strategies(&self) -> impl Iterator<Item = (&str, &str)> {
        let strategies = self.source.experiment.strategies.iter();
        strategies.filter_map(|s| Some((s.name.as_str(), s.composition()?)))
    }

    /// A cell, as something to run.
    pub(crate) fn input<'b>(&'b self, planned: &'b PlannedCell) -> Input<'b> {
        Input {
            registry: self.registry,
            scenario: &planned.cell.scenario,
            file: self.source.file.clone(),
            text: None,
        }
    }

    /// Whether the first run of each strategy is recorded, for a time-sequence graph.
    pub fn records(&self) -> bool {
        self.source.experiment.records()
    }
}

/// Whether a row, claim, table or figure shows a statistic of recovery.
fn asks_for_recovery(e: &Experiment) -> bool {
    let mut drawn = e.charts.iter().filter_map(|chart| chart.quantiles.as_ref());
    let recovery = || measures().filter(|m| matches!(m.value, Value::Recovery(_)));
    drawn.any(|of| recovery().any(|m| quantile(m.name, of).is_some()))
        || asks_for(e, |value| matches!(value, Value::Recovery(_)))
}

/// Whether a row, claim or table shows a measure of this kind.
fn asks_for(e: &Experiment, kind: impl Fn(&Value) -> bool) -> bool {
    e.measures().any(|asked| measures().any(|m| m.name == asked && kind(&m.value)))
}

/// The cells of the grid.
fn cells(
    source: &ExperimentFile,
    registry: &Registry,
    quick: bool,
) -> Result<Vec<PlannedCell>, Error> {
    let e = &source.experiment;
    let mut base = source.scenario.clone();
    let set_keys = |(path, value): (&String, &TomlValue)| set(&mut base, path, value.clone());
    e.set
        .iter()
        .try_for_each(set_keys)
        .map_err(|message| source.wrong(error_at("set", message)))?;
    let cells = grid(base.clone(), &e.vary, quick, registry)
        .map_err(|error| source.wrong(by_value(error, &base, &e.vary, registry)))?;
    cells.into_iter().map(|cell| planned(source, registry, cell)).collect()
}

/// An error of a grid, with the value of an axis that by itself brings it about, if there is one.
fn by_value(
    error: ScenarioError,
    base: &Table,
    axes: &[Axis],
    registry: &Registry,
) -> ScenarioError {
    // Axes that make no sense themselves are named already.
    if !error.key.starts_with("scenario") || read(base, registry).is_err() {
        return error;
    }
    let wrong = |i: usize, axis: &Axis| {
        axis.values.iter().enumerate().find_map(|(number, value)| {
            let mut cell = base.clone();
            set(&mut cell, &axis.key, value.clone()).ok()?;
            let error = read(&cell, registry).err()?;
            Some(of_value(&format!("vary[{i}].values[{number}]"), error))
        })
    };
    axes.iter().enumerate().find_map(|(i, axis)| wrong(i, axis)).unwrap_or(error)
}

fn planned(
    source: &ExperimentFile,
    registry: &Registry,
    mut cell: GridCell,
) -> Result<PlannedCell, Error> {
    let e = &source.experiment;
    cell.scenario
        .read_traces(&source.scenario_file)
        .map_err(|error| source.wrong(error.within("scenario")))?;
    if let Some(population) = &e.population {
        let traces = check_population(population, (&source.scenario_file, &cell.table), registry)
            .map_err(|error| source.wrong(error))?;
        // The transfers are many, and none of them is the flow of that name.
        return Ok(PlannedCell { cell, groups: Vec::new(), traces });
    }
    let input = Input { registry, scenario: &cell.scenario, file: source.file.clone(), text: None };
    let strategy = e
        .strategies
        .first()
        .and_then(|s| s.composition().map(str::to_string))
        .filter(|s| check_strategy(s, registry).is_ok());
    let built = input.build(&Job { strategy, seed: cell.scenario.seed }, false)?;
    let groups = groups(&cell.scenario, &built.flows);
    Ok(PlannedCell { cell, groups, traces: Traces::default() })
}
