//! From the data of an experiment to the runs that it takes, with every name in it checked.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use ackclock_net::scenario::{BuiltFlow, Scenario, check_strategy};
use ackclock_report::recovery_measures;
use ackclock_run::{Input, Job};

use crate::Error;
use crate::bound::{self, bounds};
use crate::chart::{number, quantile};
use crate::format::{ChartSpec, Claim, Experiment, NumberOrText, Paper, RowSpec};
use crate::grid::{Axis, grid, read};
use crate::library::{Entry, Library, format_error};
use crate::measure::MEASURES;
use crate::sequence::ASPECTS;
use crate::substitute::set;
use crate::timeouts;

const NO_CELL: &str = "`where` fits no cell; it names axes and their labels";

/// An experiment ready to run.
#[derive(Debug)]
pub struct Plan<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) paper: &'a Paper,
    pub(crate) quick: bool,
    pub(crate) runs: u32,
    /// Whether the statistics of recovery are asked for, which take the events of all flows.
    pub(crate) recovery: bool,
    /// The compositions that bound the strategies, if the distance to them is asked for.
    pub(crate) bounds: Vec<String>,
    pub(crate) cells: Vec<PlannedCell>,
}

/// One point of the grid that the axes span; the only one if there is no axis.
#[derive(Debug)]
pub(crate) struct PlannedCell {
    /// Axis and label.
    pub labels: Vec<(String, String)>,
    pub scenario: Scenario,
    /// The same as text has it, for what is drawn in each run.
    pub table: toml::Table,
    pub flows: Vec<Group>,
}

/// Flows of a scenario that measurements take together.
#[derive(Debug)]
pub(crate) struct Group {
    /// That of the flow; of copies that arrive, the name in the scenario without `{}`.
    pub name: String,
    /// Their numbers: copies that arrive, or a single flow.
    pub flows: Range<usize>,
}

impl<'a> Plan<'a> {
    /// Plans the experiments that `id` names: one (`paper/experiment`), those of a paper, or `all`. `quick` takes fewer
    /// runs and cells where the experiment says so.
    ///
    /// # Errors
    /// [`Error::Unknown`], and [`Error::Format`] for a name, key or value that makes no sense.
    pub fn of(library: &'a Library, id: &str, quick: bool) -> Result<Vec<Plan<'a>>, Error> {
        library.select(id)?.into_iter().map(|entry| Plan::new(library, entry, quick)).collect()
    }

    fn new(library: &'a Library, entry: &'a Entry, quick: bool) -> Result<Plan<'a>, Error> {
        let e = &entry.experiment;
        let runs = if quick { e.quick_runs.unwrap_or(e.runs).min(e.runs) } else { e.runs };
        let cells = cells(library, entry, quick)?;
        let no_paper = || format_error(&entry.file, "", "there is no paper.toml in this folder".into());
        let paper = library.paper(&entry.id).ok_or_else(no_paper)?;
        let distance = asks_for(e, |measure| bound::MEASURES.iter().any(|(name, _)| *name == measure));
        let bounds = if distance { bounds(&e.strategies) } else { Vec::new() };
        let plan = Plan { entry, paper, quick, runs, recovery: asks_for_recovery(e), bounds, cells };
        plan.check()?;
        Ok(plan)
    }

    /// Whether the first run of each strategy is recorded.
    pub(crate) fn records(&self) -> bool {
        self.entry.experiment.sequence || !self.entry.experiment.steps.is_empty()
    }

    /// Of the first and of the last run; cells may begin with seeds of their own.
    pub(crate) fn seeds(&self) -> (u64, u64) {
        let of = || self.cells.iter().map(|cell| cell.scenario.seed);
        (of().min().unwrap_or_default(), of().max().unwrap_or_default() + u64::from(self.runs) - 1)
    }

    fn check(&self) -> Result<(), Error> {
        let e = &self.entry.experiment;
        let wrong = |key: String, message: String| Err(format_error(&self.entry.file, &key, message));
        if e.strategies.is_empty() || e.runs == 0 || e.quick_runs == Some(0) {
            return wrong(String::new(), "an experiment needs at least one strategy and one run".into());
        }
        if !e.steps.is_empty() && e.runs > 1 {
            return wrong("runs".into(), "steps are of a single run: leave `runs` out".into());
        }
        if e.population.is_some() && self.records() {
            return wrong("population".into(), "there is no sequence to show of many transfers".into());
        }
        let mut names = HashSet::new();
        for (i, s) in e.strategies.iter().enumerate() {
            if let Some(Err(message)) = s.composition().map(check_strategy) {
                return wrong(format!("strategy[{i}]"), message);
            }
            if s.name.contains('/') || !names.insert(&s.name) {
                return wrong(format!("strategy[{i}].name"), format!("`{}` must be another name, without `/`", s.name));
            }
        }
        for (i, measure) in e.show.iter().enumerate() {
            if !self.measures().contains(&measure.as_str()) {
                return wrong(
                    format!("show[{i}]"),
                    format!("there is no `{measure}`; there are {}", self.measures().join(", ")),
                );
            }
        }
        for (i, step) in e.steps.iter().enumerate() {
            if step.name.contains('/') || e.steps[..i].iter().any(|s| s.name == step.name) {
                return wrong(format!("step[{i}].name"), format!("`{}` must be another name, without `/`", step.name));
            }
            if let Some(since) = step.since.as_ref().filter(|since| e.steps.iter().all(|s| s.name != **since)) {
                return wrong(format!("step[{i}].since"), format!("there is no step `{since}`"));
            }
        }
        e.charts.iter().enumerate().try_for_each(|(i, chart)| self.check_chart(i, chart))?;
        for (i, row) in e.rows.iter().enumerate() {
            self.check_name(&format!("row[{i}].measurement"), &row.measurement)?;
        }
        for (i, table) in e.tables.iter().enumerate() {
            for (j, row) in table.rows.iter().enumerate() {
                let key = format!("table[{i}].rows[{j}]");
                row.rows(&table.title, &e.strategies).try_for_each(|row| self.check_name(&key, &row.measurement))?;
                if let Some(name) = row.paper.keys().find(|name| !names.contains(name)) {
                    return wrong(format!("{key}.paper"), format!("there is no strategy `{name}`"));
                }
            }
        }
        e.claims.iter().enumerate().try_for_each(|(i, claim)| self.check_claim(i, claim))
    }

    fn check_chart(&self, i: usize, chart: &ChartSpec) -> Result<(), Error> {
        let e = &self.entry.experiment;
        let shown = match (&chart.quantiles, chart.measure.as_str()) {
            (Some(of), "") => chart.axis.is_none() && self.measures().iter().any(|m| quantile(m, of).is_some()),
            (Some(_), _) => false,
            (None, measure) => {
                let in_rows = |row: &RowSpec| row.measurement.split('/').next() == Some(measure);
                e.show.iter().any(|shown| shown == measure) || e.rows.iter().any(in_rows)
            }
        };
        let numbers = |axis: &String| {
            let of = |cell: &PlannedCell| cell.labels.iter().find(|(a, _)| a == axis).and_then(|(_, l)| number(l));
            self.cells.iter().all(|cell| of(cell).is_some())
        };
        let flow = |name: &String| self.cells.iter().any(|cell| cell.flows.iter().any(|f| f.name == *name));
        let message = if !chart.flows.keys().all(flow) {
            "`flows` names flows of the scenario"
        } else if !shown || !chart.axis.as_ref().is_none_or(numbers) {
            "it draws a `measure` of `row` or `show`, against an `axis` whose labels begin with numbers, or the \
             `quantiles` of a distribution"
        } else if !self.has_cells(&chart.cells) {
            NO_CELL
        } else if chart.strategies.iter().any(|name| e.strategies.iter().all(|s| s.name != *name)) {
            "`strategies` are names of strategies of this experiment"
        } else {
            return Ok(());
        };
        Err(format_error(&self.entry.file, &format!("chart[{i}]"), message.into()))
    }

    fn check_claim(&self, i: usize, claim: &Claim) -> Result<(), Error> {
        let wrong = |message: &str| Err(format_error(&self.entry.file, &format!("claim[{i}]"), message.into()));
        self.check_name(&format!("claim[{i}].measurement"), &claim.measurement)?;
        let Some((relation, other)) = claim.relation() else {
            return wrong("exactly one of `equals`, `above`, `below`, `at_least`, `at_most`, `near` is expected");
        };
        if (relation == "near") != claim.tolerance.is_some() {
            return wrong("`near` needs a `tolerance`, and nothing else has one");
        }
        if claim.by.is_some() && matches!(relation, "equals" | "near") {
            return wrong("`by` goes with `above`, `below`, `at_least` and `at_most`");
        }
        if let (NumberOrText::Text(name), true) = (other, relation != "equals") {
            self.check_name(&format!("claim[{i}].{relation}"), name)?;
        }
        if !self.has_cells(&claim.cells) {
            return wrong(NO_CELL);
        }
        Ok(())
    }

    /// Whether the grid has cells with these labels; `--quick` may leave all of them out.
    fn has_cells(&self, labels: &BTreeMap<String, String>) -> bool {
        let has = |axis: &Axis, label: &String| axis.all().any(|(known, _)| known == *label);
        let axes = &self.entry.experiment.vary;
        labels.iter().all(|(name, label)| axes.iter().any(|axis| axis.name == *name && has(axis, label)))
    }

    /// Whether there is such a measurement in every cell.
    fn check_name(&self, key: &str, name: &str) -> Result<(), Error> {
        if self.cells.iter().all(|cell| self.knows(cell, name)) {
            return Ok(());
        }
        let e = &self.entry.experiment;
        let list = |names: Vec<&str>| names.join(", ");
        let mut message = format!(
            "there is no measurement `{name}`; it is MEASURE/STRATEGY or MEASURE/STRATEGY/FLOW with the measures {}, \
             the strategies {}, the flows {}",
            self.measures().join(", "),
            list(e.strategies.iter().map(|s| s.name.as_str()).collect()),
            list(self.cells.iter().take(1).flat_map(|c| &c.flows).map(|f| f.name.as_str()).collect()),
        );
        if !e.steps.is_empty() {
            let steps = list(e.steps.iter().map(|s| s.name.as_str()).collect());
            message += &format!("; or STEP/STRATEGY/ASPECT with the steps {steps}, the aspects {}", ASPECTS.join(", "));
        }
        Err(format_error(&self.entry.file, key, message))
    }

    fn measures(&self) -> Vec<&'static str> {
        let of_many = self.entry.experiment.population.iter().flat_map(|_| &timeouts::MEASURES).map(|m| m.name);
        let distances = bound::MEASURES.iter().map(|(name, _)| *name);
        let counters = MEASURES.iter().map(|m| m.name);
        counters.chain(distances).chain(recovery_measures().map(|m| m.name)).chain(of_many).collect()
    }

    fn knows(&self, cell: &PlannedCell, name: &str) -> bool {
        let e = &self.entry.experiment;
        let mut parts = name.splitn(3, '/');
        let (Some(what), Some(strategy)) = (parts.next(), parts.next()) else { return false };
        if !e.strategies.iter().any(|s| s.name == strategy) {
            return false;
        }
        let measured = self.measures().contains(&what);
        let step = e.steps.iter().any(|s| s.name == what);
        match parts.next() {
            None => measured,
            Some(last) => {
                let of_flows = MEASURES.iter().any(|m| m.name == what);
                (of_flows && cell.flows.iter().any(|f| f.name == last)) || (step && ASPECTS.contains(&last))
            }
        }
    }
}

impl PlannedCell {
    /// Whether it has these labels.
    pub fn is_in(&self, cells: &BTreeMap<String, String>) -> bool {
        cells.iter().all(|(axis, label)| self.labels.contains(&(axis.clone(), label.clone())))
    }
}

/// Whether a row, claim or figure names a statistic of recovery.
fn asks_for_recovery(e: &Experiment) -> bool {
    let mut drawn = e.charts.iter().filter_map(|chart| chart.quantiles.as_ref());
    drawn.any(|of| recovery_measures().any(|m| quantile(m.name, of).is_some()))
        || asks_for(e, |measure| recovery_measures().any(|m| m.name == measure))
}

/// Whether a row or claim names such a measure.
fn asks_for(e: &Experiment, is_such: impl Fn(&str) -> bool) -> bool {
    let others = e.claims.iter().filter_map(|c| match c.relation() {
        Some((_, NumberOrText::Text(name))) => Some(name),
        _ => None,
    });
    let named = e.rows.iter().map(|r| &r.measurement).chain(e.claims.iter().map(|c| &c.measurement)).chain(others);
    let measures = named.filter_map(|name| name.split('/').next()).chain(e.show.iter().map(String::as_str));
    let of_tables = e.tables.iter().flat_map(|t| &t.rows).map(|row| row.measure.as_str());
    measures.chain(of_tables).any(is_such)
}

/// The cartesian product of the axes.
fn cells(library: &Library, entry: &Entry, quick: bool) -> Result<Vec<PlannedCell>, Error> {
    let e = &entry.experiment;
    let mut base = library.scenario(entry)?;
    for (path, value) in &e.set {
        set(&mut base, path, value.clone()).map_err(|m| format_error(&entry.file, "set", m))?;
    }
    let points = grid(&entry.file, base, &e.vary, quick)?;
    points.into_iter().map(|(labels, table)| cell(entry, e, labels, &table)).collect()
}

fn cell(
    entry: &Entry,
    e: &Experiment,
    labels: Vec<(String, String)>,
    table: &toml::Table,
) -> Result<PlannedCell, Error> {
    let unread = |error| Error::Format { file: entry.file.clone(), error };
    let scenario = read(table).map_err(unread)?;
    if let Some(population) = &e.population {
        population.check(table).map_err(unread)?;
        // Their transfers are many, and none of them is the flow of that name.
        return Ok(PlannedCell { labels, scenario, table: table.clone(), flows: Vec::new() });
    }
    let input = Input { scenario: &scenario, file: entry.file.clone(), text: None };
    let strategy =
        e.strategies.first().and_then(|s| s.composition().map(str::to_string)).filter(|s| check_strategy(s).is_ok());
    let built = input.build(&Job { strategy, seed: scenario.seed }, false)?;
    let flows = groups(&scenario, &built.flows);
    Ok(PlannedCell { labels, scenario, table: table.clone(), flows })
}

fn groups(scenario: &Scenario, built: &[BuiltFlow]) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut first = 0;
    for flow in &scenario.flows {
        let copies = first..first + flow.count as usize;
        first = copies.end;
        match (flow.arrivals, &flow.name) {
            (Some(_), Some(name)) => groups.push(Group { name: name.replace("{}", ""), flows: copies }),
            _ => groups.extend(copies.map(|i| Group { name: built[i].name.clone(), flows: i..i + 1 })),
        }
    }
    groups
}
