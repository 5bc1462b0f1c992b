//! Sweeps: keys of a scenario with the values that they take, `link[1].rate=1mbit,2mbit`.

use ackclock_net::scenario::{Scenario, ScenarioError};
#[cfg(not(target_family = "wasm"))]
use ackclock_report::FlowSummary;
use ackclock_tcp::Registry;
use toml::{Table, Value};

use crate::cancel::Cancel;
#[cfg(not(target_family = "wasm"))]
use crate::columns::Columns;
use crate::file::FileError;
use crate::grid::{Axis, GridCell, grid};
use crate::progress::Progress;
use crate::{Error, Input, Job, Outcome, STEPS, in_parallel_until};

/// The axis of `KEY=VALUE,...`. A value that has a comma in it, such as a list, is quoted.
///
/// # Errors
/// What is wrong with it.
pub fn axis(text: &str) -> Result<Axis, String> {
    let (key, values) = text
        .split_once('=')
        .filter(|(key, values)| !key.trim().is_empty() && !values.trim().is_empty())
        .ok_or_else(|| {
            format!("`{text}` is not KEY=VALUE,..., such as `link[1].rate=1mbit,2mbit`")
        })?;
    let labels = split(values)?;
    let values = labels.iter().map(|label| value(label)).collect();
    let key = key.trim().to_string();
    Ok(Axis { name: key.clone(), key, values, labels, quick: Vec::new() })
}

/// The values between commas that are not in quotes, without their quotes.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    let mut now = String::new();
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None, '[' | '{') => {
                return Err(format!("`{text}`: a value that is a list is quoted: `\"[1, 2]\"`"));
            }
            (None, ',') => all.push(std::mem::take(&mut now)),
            _ => now.push(c),
        }
    }
    all.push(now);
    if quote.is_some() {
        return Err(format!("`{text}`: a quote is not closed"));
    }
    let all: Vec<String> = all.iter().map(|value| value.trim().to_string()).collect();
    if all.iter().any(String::is_empty) {
        return Err(format!("`{text}`: a value between commas is empty"));
    }
    Ok(all)
}

/// As TOML has it, if it is TOML, and else a text.
fn value(text: &str) -> Value {
    let read = format!("value = {text}").parse::<Table>().ok().filter(|table| table.len() == 1);
    let value = read.and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| Value::String(text.into()))
}

/// The cells of a sweep over the scenario that the text of `file` is: all combinations of the
/// values, the last axis the fastest.
///
/// # Errors
/// What is wrong with an axis or a value, or with the scenario.
pub fn sweep(
    (file, text): (&str, &str),
    axes: &[Axis],
    registry: &Registry,
) -> Result<Vec<GridCell>, FileError> {
    // First without axes, for errors with lines.
    Scenario::from_toml(text, registry).map_err(|error| FileError { file: file.into(), error })?;
    let base = text.parse().unwrap_or_default();
    grid(base, axes, false, registry).map_err(|mut error: ScenarioError| {
        let own = |i: &usize| error.key.starts_with(&format!("vary[{i}]"));
        error.key = match (0..axes.len()).find(own) {
            Some(i) => axes[i].key.clone(),
            None => error.key.trim_start_matches("scenario.").into(),
        };
        FileError { file: "--set".into(), error }
    })
}

/// The runs of a sweep: of each cell, one for each strategy and seed.
pub struct Sweep<'a> {
    /// What the names of strategies mean.
    pub registry: &'a Registry,
    /// The cells.
    pub cells: &'a [GridCell],
    /// What errors name: the file.
    pub file: &'a str,
    /// The strategies of all flows; those of the scenario if there are none.
    pub strategies: &'a [String],
    /// The first seed; that of the scenario if left out.
    pub seed: Option<u64>,
    /// Runs of each strategy in each cell; as many as the scenario says if left out.
    pub runs: Option<u32>,
}

/// One run of a sweep.
pub struct SweepRun {
    /// The number of its cell.
    pub cell: usize,
    /// The strategy and the seed.
    pub job: Job,
    /// What came out.
    pub outcome: Outcome,
}

impl Sweep<'_> {
    /// The jobs of a cell, strategies first.
    pub fn jobs(&self, scenario: &Scenario) -> Vec<Job> {
        let own = [None];
        let given: Vec<Option<String>> = self.strategies.iter().cloned().map(Some).collect();
        let strategies = if given.is_empty() { &own[..] } else { &given[..] };
        let first = self.seed.unwrap_or(scenario.seed);
        let runs = u64::from(self.runs.unwrap_or(scenario.runs));
        let of = |strategy: &Option<String>| {
            let strategy = strategy.clone();
            (0..runs).map(move |i| Job { strategy: strategy.clone(), seed: first.wrapping_add(i) })
        };
        strategies.iter().flat_map(of).collect()
    }

    /// Does all runs on `threads` threads (0: one per processor), or those that are done when
    /// `cancel` is set. They come by cell, then by strategy, then by seed.
    ///
    /// # Errors
    /// [`Error::Scenario`], [`Error::Run`] and [`Error::Threads`].
    pub fn run(&self, threads: u16, cancel: &Cancel) -> Result<Vec<SweepRun>, Error> {
        let tasks: Vec<(usize, Job)> = self
            .cells
            .iter()
            .enumerate()
            .flat_map(|(i, cell)| self.jobs(&cell.scenario).into_iter().map(move |job| (i, job)))
            .collect();
        let progress = Progress::until(tasks.len() as u64 * STEPS, cancel);
        let done = in_parallel_until(
            &tasks,
            (threads, cancel),
            |(_, job)| job.seed,
            |(cell, job)| {
                let scenario = &self.cells[*cell].scenario;
                let file = self.file.to_string();
                let input = Input { registry: self.registry, scenario, file, text: None };
                input.run(job, input.build(job, false)?, &mut (), &progress)
            },
        )?;
        let with_result = tasks.into_iter().zip(done);
        Ok(with_result
            .filter_map(|((cell, job), outcome)| Some(SweepRun { cell, job, outcome: outcome? }))
            .collect())
    }
}

/// The columns of flows with the cells that they ran in: one for each axis, then those of
/// [`FlowSummary`].
#[cfg(not(target_family = "wasm"))]
pub fn flow_columns<'a>(axes: &[Axis]) -> Columns<(Option<&'a GridCell>, &'a FlowSummary)> {
    let mut columns = Columns::<(Option<&'a GridCell>, &'a FlowSummary)>::new();
    for axis in axes {
        let name = axis.name.clone();
        columns = columns.text(&axis.name, move |row| row.0?.label(&name).map(String::from));
    }
    columns
        .text("strategy", |row| Some(row.1.strategy.clone()))
        .int("seed", |row| Some(row.1.seed))
        .int("flow", |row| Some(row.1.flow.into()))
        .int("bytes_acked", |row| Some(row.1.bytes_acked))
        .int("segments_sent", |row| Some(row.1.segments_sent))
        .int("retransmissions", |row| Some(row.1.retransmissions))
        .int("fast_retransmissions", |row| Some(row.1.fast_retransmissions))
        .int("timeouts", |row| Some(row.1.timeouts))
        .int("timeouts_non_trigger", |row| Some(row.1.timeouts_non_trigger))
        .int("timeouts_multiple_losses", |row| Some(row.1.timeouts_multiple_losses))
        .int("timeouts_lost_retransmission", |row| Some(row.1.timeouts_lost_retransmission))
        .int("timeouts_backed_off", |row| Some(row.1.timeouts_backed_off))
        .int("recoveries", |row| Some(row.1.recoveries))
        .int("drops", |row| row.1.drops)
        .int("spurious_retransmissions", |row| row.1.spurious_retransmissions)
        .number("goodput_bps", |row| Some(row.1.goodput_bps))
        .number("completion_s", |row| row.1.completion_s)
        .number("mean_rtt_s", |row| row.1.mean_rtt_s)
}

#[cfg(test)]
mod tests;
