//! Whether every name in an experiment means something.

use std::collections::{BTreeMap, HashSet};

use ackclock_net::scenario::{ScenarioError, TraceFile, check_strategy, nearest};
use ackclock_run::{Axis, FileError, error_at, is_strategy_of_flow, overlap, read, set};
use ackclock_tcp::Registry;
use toml::Table;

use crate::cell::{PlannedCell, Traces};
use crate::format::{ChartSpec, Claim, Draw, Experiment, NumberOrText, Population, RowSpec};
use crate::load::ExperimentFile;
use crate::measures::{Value, flow_measures, measures, quantile, unit};
use crate::scale::Scale;
use crate::sequence::ASPECTS;

/// Checks the experiment of a file, whose grid has these cells.
pub(crate) fn check(
    source: &ExperimentFile,
    cells: &[PlannedCell],
    registry: &Registry,
) -> Result<(), FileError> {
    Check { source, e: &source.experiment, cells, registry }.all()
}

/// Whether there is something to draw, and the scenario makes sense with each of the values.
/// Returns the traces that it then has.
pub(crate) fn check_population(
    population: &Population,
    (file, scenario): (&str, &Table),
    registry: &Registry,
) -> Result<Traces, ScenarioError> {
    let mut traces = Traces::default();
    if population.transfers == 0 {
        return Err(error_at("population.transfers", "at least one transfer is expected"));
    }
    for (i, draw) in population.draw.iter().enumerate() {
        let at = format!("population.draw[{i}]");
        draw.check().map_err(|(key, message)| error_at(&format!("{at}.{key}"), message))?;
        for (number, value) in draw.values.iter().enumerate() {
            let mut path = scenario.clone();
            set(&mut path, &draw.key, value.clone())
                .map_err(|message| error_at(&format!("{at}.key"), message))?;
            let path = read(&path, registry)
                .and_then(|mut path| {
                    path.read_traces(file).map_err(|error| error.within("scenario"))?;
                    Ok(path)
                })
                .map_err(|error| of_value(&format!("{at}.values[{number}]"), error))?;
            let read = path.links.into_iter().filter_map(|link| link.trace);
            traces.extend(read.filter_map(|TraceFile { file, trace, .. }| Some((file, trace?))));
        }
    }
    Ok(traces)
}

/// What is wrong with a scenario because of this value, whose key is that of an axis or a draw.
pub(crate) fn of_value(key: &str, mut error: ScenarioError) -> ScenarioError {
    error.line = None;
    error_at(key, error.to_string())
}

impl Draw {
    /// The key that is wrong, and why.
    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.values.is_empty() {
            return Err(("values", "at least one value is expected"));
        }
        let sound = self.weights.iter().all(|w| w.is_finite() && *w >= 0.0)
            && self.weights.iter().sum::<f64>() > 0.0;
        if !self.weights.is_empty() && (self.weights.len() != self.values.len() || !sound) {
            return Err((
                "weights",
                "as many as `values`, none below 0 and not all 0, or none at all",
            ));
        }
        Ok(())
    }
}

struct Check<'a> {
    source: &'a ExperimentFile,
    e: &'a Experiment,
    cells: &'a [PlannedCell],
    registry: &'a Registry,
}

impl Check<'_> {
    fn wrong<T>(&self, key: &str, message: impl Into<String>) -> Result<T, FileError> {
        Err(self.source.wrong(error_at(key, message)))
    }

    fn all(&self) -> Result<(), FileError> {
        self.runs()?;
        self.draws()?;
        self.strategies()?;
        self.strategies_of_flows()?;
        self.show()?;
        self.steps()?;
        for (i, chart) in self.e.charts.iter().enumerate() {
            self.chart(&format!("chart[{i}]"), chart)?;
        }
        for (i, row) in self.e.rows.iter().enumerate() {
            if !row.scale.is_finite() {
                return self.wrong(&format!("row[{i}].scale"), "a finite number is expected");
            }
            self.measurement(&format!("row[{i}].measurement"), &row.measurement)?;
        }
        self.tables()?;
        for (i, claim) in self.e.claims.iter().enumerate() {
            self.claim(&format!("claim[{i}]"), claim)?;
        }
        Ok(())
    }

    fn runs(&self) -> Result<(), FileError> {
        let e = self.e;
        if e.strategies.is_empty() {
            return self.wrong("strategy", "an experiment needs at least one `[[strategy]]`");
        }
        if e.window.is_some_and(|(from, to)| !(from >= 0.0 && to > from && to.is_finite())) {
            let message = "two times in seconds are expected, the second above the first";
            return self.wrong("window", message);
        }
        let in_table = e.scenario_file.is_none() && self.source.scenario.contains_key("runs");
        if in_table || e.sets("runs") {
            let message = "`runs` of the scenario counts nothing here; that of the experiment does";
            return self.wrong("scenario.runs", message);
        }
        for (key, runs) in [("runs", Some(e.runs)), ("quick_runs", e.quick_runs)] {
            if runs == Some(0) {
                return self.wrong(key, "an experiment needs at least one run");
            }
        }
        if !e.steps.is_empty() && e.runs > 1 {
            return self.wrong("runs", "steps take a single run: leave `runs` out");
        }
        if e.population.is_some() && e.records() {
            return self.wrong("population", "many transfers have no sequence to show");
        }
        Ok(())
    }

    /// What is drawn for each transfer would replace what an axis or another draw gave.
    fn draws(&self) -> Result<(), FileError> {
        let draws = self.e.population.as_ref().map_or(&[][..], |p| &p.draw);
        for (i, draw) in draws.iter().enumerate() {
            let varied = self.e.vary.iter().map(|axis| &axis.key);
            let mut others = varied.chain(draws[..i].iter().map(|other| &other.key));
            if let Some(other) = others.find(|other| overlap(other, &draw.key)) {
                let message = format!("`{other}` is varied or drawn already");
                return self.wrong(&format!("population.draw[{i}].key"), message);
            }
        }
        Ok(())
    }

    /// A key of the scenario that gives flows a strategy, where each `[[strategy]]` is that of all
    /// flows.
    fn strategies_of_flows(&self) -> Result<(), FileError> {
        if self.e.strategies.iter().any(|s| s.of_flows) {
            return Ok(());
        }
        let draws = self.e.population.iter().flat_map(|population| &population.draw);
        let varied =
            self.e.vary.iter().enumerate().map(|(i, a)| (format!("vary[{i}].key"), &a.key));
        let drawn = draws.enumerate().map(|(i, d)| (format!("population.draw[{i}].key"), &d.key));
        let set = self.e.set.keys().map(|key| (format!("set.{key}"), key));
        let mut keys = set.chain(varied).chain(drawn);
        if let Some((at, key)) = keys.find(|(_, key)| is_strategy_of_flow(key)) {
            let message = format!(
                "each `[[strategy]]` is that of all flows, and `{key}` has no effect; one with \
                 `of_flows` is expected"
            );
            return self.wrong(&at, message);
        }
        Ok(())
    }

    fn strategies(&self) -> Result<(), FileError> {
        let mut names = HashSet::new();
        for (i, s) in self.e.strategies.iter().enumerate() {
            if let Some(Err(message)) = s.composition().map(|s| check_strategy(s, self.registry)) {
                return self.wrong(&format!("strategy[{i}]"), message);
            }
            if s.of_flows && s.composition.is_some() {
                let message = "either `of_flows` or `composition`, not both";
                return self.wrong(&format!("strategy[{i}].of_flows"), message);
            }
            if s.name.contains('/') || !names.insert(&s.name) {
                return self.another_name(&format!("strategy[{i}].name"), &s.name);
            }
        }
        Ok(())
    }

    fn another_name(&self, key: &str, name: &str) -> Result<(), FileError> {
        self.wrong(key, format!("`{name}` is taken or has a `/`; another name is expected"))
    }

    fn is_strategy(&self, name: &str) -> bool {
        self.e.strategies.iter().any(|s| s.name == name)
    }

    fn show(&self) -> Result<(), FileError> {
        for (i, measure) in self.e.show.iter().enumerate() {
            let known = self.measures();
            if self.e.show[..i].contains(measure) {
                return self.wrong(&format!("show[{i}]"), format!("`{measure}` is there twice"));
            }
            if !known.contains(&measure.as_str()) {
                return self.wrong(&format!("show[{i}]"), none_of("measure", measure, &known));
            }
        }
        Ok(())
    }

    fn steps(&self) -> Result<(), FileError> {
        let steps = &self.e.steps;
        for (i, step) in steps.iter().enumerate() {
            if step.name.contains('/') || steps[..i].iter().any(|s| s.name == step.name) {
                return self.another_name(&format!("step[{i}].name"), &step.name);
            }
            if let Some(since) = step.since.as_ref().filter(|since| !self.is_step(since)) {
                let message = format!("there is no step `{since}`");
                return self.wrong(&format!("step[{i}].since"), message);
            }
            if step.since.as_ref() == Some(&step.name) {
                let message = format!("the time of `{}` cannot count from itself", step.name);
                return self.wrong(&format!("step[{i}].since"), message);
            }
        }
        Ok(())
    }

    fn is_step(&self, name: &str) -> bool {
        self.e.steps.iter().any(|step| step.name == name)
    }

    fn chart(&self, key: &str, chart: &ChartSpec) -> Result<(), FileError> {
        let drawn = match (&chart.quantiles, chart.measure.as_str()) {
            (Some(of), "") => {
                chart.axis.is_none() && self.measures().iter().any(|m| quantile(m, of).is_some())
            }
            (Some(_), _) => false,
            (None, measure) => {
                let in_row = |row: &RowSpec| row.measurement.split('/').next() == Some(measure);
                self.e.show.iter().any(|shown| shown == measure) || self.e.rows.iter().any(in_row)
            }
        };
        let scale = chart.axis.as_ref().map(|axis| Scale::of(&self.e.vary, axis));
        let above_0 = |axis: &String, scale: &Scale| {
            let mut labels = self.e.vary.iter().filter(|a| a.name == *axis).flat_map(Axis::labels);
            labels.all(|label| scale.number(&label).is_some_and(|x| x > 0.0))
        };
        let is_flow =
            |name: &String| self.cells.iter().any(|c| c.groups.iter().any(|g| g.name == *name));
        let (part, message) = if !chart.flows.keys().all(is_flow) {
            (".flows", "names of flows of the scenario are expected".into())
        } else if !drawn {
            let message = "a `measure` of `row` or `show` is expected, or the `quantiles` of a \
                           distribution alone, without `measure` and `axis`";
            (".measure", message.into())
        } else if let Some(None) = scale {
            let message = "the name of a `[[vary]]` is expected whose labels begin with numbers, \
                           all of one unit or of one kind";
            (".axis", message.into())
        } else if let (true, Some(axis), Some(Some(scale))) = (chart.log_x, &chart.axis, &scale)
            && !above_0(axis, scale)
        {
            let message = format!("labels of `{axis}` above 0 are expected; 0 has no logarithm");
            (".log_x", message)
        } else if let Some(row) = self.other_unit(&chart.measure) {
            let message = format!(
                "`row[{row}]` has another `unit` or `scale` than what else has this measure: a \
                 chart needs one; `show` has the measure's own"
            );
            (".measure", message)
        } else if !self.has_cells(&chart.cells) {
            (".where", self.no_cell())
        } else if !chart.strategies.iter().all(|name| self.is_strategy(name)) {
            (".strategies", "names of strategies of this experiment are expected".into())
        } else {
            return Ok(());
        };
        self.wrong(&format!("{key}{part}"), message)
    }

    /// A row of the measure that is in another unit than the other rows, or than those of `show`.
    fn other_unit(&self, measure: &str) -> Option<usize> {
        let of = |row: &&RowSpec| row.measurement.split('/').next() == Some(measure);
        let drawn = |row: &RowSpec| {
            (row.scale, row.unit.clone().unwrap_or_else(|| unit(&row.measurement).into()))
        };
        let own = (1.0, unit(measure).to_string());
        let shown = self.e.show.iter().any(|shown| shown == measure).then_some(own);
        let first = shown.or_else(|| self.e.rows.iter().find(of).map(drawn))?;
        self.e.rows.iter().position(|row| of(&row) && drawn(row) != first)
    }

    fn tables(&self) -> Result<(), FileError> {
        for (i, table) in self.e.tables.iter().enumerate() {
            for (j, row) in table.rows.iter().enumerate() {
                let key = format!("table[{i}].rows[{j}]");
                for strategy in &self.e.strategies {
                    self.measurement(&key, &format!("{}/{}", row.measure, strategy.name))?;
                }
                if let Some(name) = row.paper.keys().find(|name| !self.is_strategy(name)) {
                    let message = format!("there is no strategy `{name}`");
                    return self.wrong(&format!("{key}.paper"), message);
                }
            }
        }
        Ok(())
    }

    fn claim(&self, key: &str, claim: &Claim) -> Result<(), FileError> {
        self.measurement(&format!("{key}.measurement"), &claim.measurement)?;
        let Some((relation, other)) = claim.relation() else {
            let message = "exactly one of `equals`, `above`, `below`, `at_least`, `at_most`, \
                           `near` is expected";
            return self.wrong(key, message);
        };
        if (relation == "near") != claim.tolerance.is_some() {
            return self.wrong(key, "`near` needs a `tolerance`, and nothing else has one");
        }
        if claim.tolerance.is_some_and(|margin| margin.is_below_zero()) {
            return self.wrong(&format!("{key}.tolerance"), "at least 0 is expected");
        }
        match claim.in_runs {
            Some(_) if relation != "equals" => {
                return self.wrong(&format!("{key}.in_runs"), "it goes with `equals`");
            }
            Some(0) => return self.wrong(&format!("{key}.in_runs"), "at least 1 is expected"),
            _ => {}
        }
        if claim.by.is_some() && matches!(relation, "equals" | "near") {
            return self.wrong(key, "`by` goes with `above`, `below`, `at_least` and `at_most`");
        }
        // A step is compared with a text, and what is no step with a number or a measurement.
        let is_step = claim.measurement.split('/').next().is_some_and(|first| self.is_step(first));
        if let NumberOrText::Text(name) = other
            && !(relation == "equals" && (is_step || name.parse().is_ok_and(f64::is_finite)))
        {
            self.measurement(&format!("{key}.{relation}"), name)?;
            self.same_unit(&format!("{key}.{relation}"), &claim.measurement, name)?;
            if claim.in_runs.is_some() {
                let message = "it goes with a number, not with a measurement";
                return self.wrong(&format!("{key}.in_runs"), message);
            }
        }
        if !self.has_cells(&claim.cells) {
            return self.wrong(&format!("{key}.where"), self.no_cell());
        }
        Ok(())
    }

    /// Whether two measurements can be compared.
    fn same_unit(&self, key: &str, one: &str, other: &str) -> Result<(), FileError> {
        let units = [one, other].map(unit);
        if units[0] == units[1] {
            return Ok(());
        }
        let [one_in, other_in] = units.map(|unit| if unit.is_empty() { "a number" } else { unit });
        let message = format!(
            "`{other}` ({other_in}) cannot be compared with `{one}` ({one_in}); a measurement of \
             the same unit is expected"
        );
        self.wrong(key, message)
    }

    /// Whether the grid has cells with these labels; `--quick` may leave all of them out.
    fn has_cells(&self, labels: &BTreeMap<String, String>) -> bool {
        let has = |(name, label): (&String, &String)| {
            self.e.vary.iter().any(|axis| axis.name == *name && axis.has(label))
        };
        labels.iter().all(has)
    }

    fn no_cell(&self) -> String {
        let axes = self.e.vary.iter().map(|axis| {
            let labels: Vec<String> = axis.labels().map(|label| format!("`{label}`")).collect();
            format!("`{}` with {}", axis.name, labels.join(", "))
        });
        match axes.collect::<Vec<_>>() {
            none if none.is_empty() => "no cell has these labels; there is no `[[vary]]`".into(),
            axes => format!("no cell has these labels; the axes are {}", axes.join("; ")),
        }
    }

    /// Whether every cell has a measurement of this name.
    fn measurement(&self, key: &str, name: &str) -> Result<(), FileError> {
        let why = match self.cells.iter().find(|cell| !self.is_measured(cell, name)) {
            Some(cell) => self.why_not(cell, name),
            None => return Ok(()),
        };
        self.wrong(key, format!("there is no measurement `{name}`: {why}"))
    }

    /// What is wrong with the name of a measurement that a cell does not have.
    fn why_not(&self, cell: &PlannedCell, name: &str) -> String {
        let mut parts = name.splitn(3, '/');
        let (Some(first), Some(strategy)) = (parts.next(), parts.next()) else {
            return "it is MEASURE/STRATEGY or MEASURE/STRATEGY/FLOW".into();
        };
        let steps: Vec<&str> = self.e.steps.iter().map(|step| step.name.as_str()).collect();
        let mut known = self.measures();
        known.extend(&steps);
        if !known.contains(&first) {
            return none_of("measure", first, &known);
        }
        if !self.is_strategy(strategy) {
            let strategies: Vec<&str> = self.e.strategies.iter().map(|s| s.name.as_str()).collect();
            return none_of("strategy", strategy, &strategies);
        }
        let last = parts.next().unwrap_or_default();
        if steps.contains(&first) {
            return none_of("aspect", last, &ASPECTS);
        }
        let flows: Vec<&str> = cell.groups.iter().map(|group| group.name.as_str()).collect();
        if flows.is_empty() || !flow_measures().any(|(name, _)| name == first) {
            return format!("`{first}` is of all flows together; it is `{first}/{strategy}`");
        }
        none_of("flow", last, &flows)
    }

    /// The names of the measures that this experiment has.
    fn measures(&self) -> Vec<&'static str> {
        let has_timeouts = self.e.population.is_some();
        measures()
            .filter(|m| has_timeouts || !matches!(m.value, Value::Timeouts(_) | Value::Captured(_)))
            .map(|m| m.name)
            .collect()
    }

    fn is_measured(&self, cell: &PlannedCell, name: &str) -> bool {
        let mut parts = name.splitn(3, '/');
        let (Some(first), Some(strategy)) = (parts.next(), parts.next()) else { return false };
        if !self.is_strategy(strategy) {
            return false;
        }
        let Some(last) = parts.next() else { return self.measures().contains(&first) };
        let of_flow = flow_measures().any(|(name, _)| name == first)
            && cell.groups.iter().any(|group| group.name == last);
        let of_step = self.is_step(first) && ASPECTS.contains(&last);
        of_flow || of_step
    }
}

/// There is none of this name: the one that was meant, or all that there are.
fn none_of(what: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
        None => format!("there is no {what} `{name}`; there are {}", known.join(", ")),
    }
}
