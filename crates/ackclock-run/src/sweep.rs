//! Sweeps: keys of a scenario with the values that they take, `link[1].rate=1mbit,2mbit`.

use ackclock_net::scenario::{Scenario, ScenarioError};
use ackclock_report::{FlowMeasure, FlowSummary, Over};
use ackclock_tcp::Registry;
use toml::{Table, Value};

use crate::cancel::Cancel;
#[cfg(not(target_family = "wasm"))]
use crate::columns::Columns;
use crate::file::FileError;
use crate::grid::{Axis, GridCell, grid};
use crate::progress::Progress;
use crate::until::{LEAST_RUNS, MOST_RUNS, Settled, Until, until_enough};
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
    if let "seed" | "runs" = key.as_str() {
        return Err(format!("`{key}` is an option: --{key}"));
    }
    Ok(Axis { name: key.clone(), key, values, labels, quick: Vec::new() })
}

/// The values between commas that are not in quotes, without their quotes.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    let mut now = String::new();
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None, '[' | '{') if now.trim().is_empty() => {
                let value = bracketed(&text[at..]);
                let quote = if value.contains('"') { '\'' } else { '"' };
                return Err(format!(
                    "`{text}`: a value that is a list or a table is quoted: `{quote}{value}{quote}`"
                ));
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

/// What a text begins with, to the bracket that closes its first one.
fn bracketed(text: &str) -> &str {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' => open += 1,
            ']' | '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return &text[..at + c.len_utf8()];
        }
    }
    text
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
    let cells = grid(base, axes, false, registry).and_then(|mut cells| {
        cells.iter_mut().try_for_each(|cell| cell.scenario.read_traces(file))?;
        Ok(cells)
    });
    cells.map_err(|mut error: ScenarioError| {
        let own = |i: &usize| error.key.starts_with(&format!("vary[{i}]"));
        error.key = match (0..axes.len()).find(own) {
            Some(i) => axes[i].key.clone(),
            None => error.key.trim_start_matches("scenario.").into(),
        };
        FileError { file: "--set".into(), error }
    })
}

/// The runs of a sweep: of each cell, some of each strategy, one for each seed.
pub struct Sweep<'a> {
    /// What the names of strategies mean.
    pub registry: &'a Registry,
    /// The cells.
    pub cells: &'a [GridCell],
    /// What errors name: the file.
    pub file: &'a str,
    /// What errors find lines in.
    pub text: Option<&'a str>,
    /// The strategies of all flows; those of the scenario if there are none.
    pub strategies: &'a [String],
    /// The first seed; that of the scenario if left out.
    pub seed: Option<u64>,
    /// Runs of each strategy in each cell; as many as the scenario says if left out. With `until`
    /// the most, [`MOST_RUNS`] if left out.
    pub runs: Option<u32>,
    /// Do runs until these means are known well enough, in each cell and of each strategy.
    pub until: &'a [Until],
    /// How the flows of a run make one number for `until`; their mean if left out.
    pub over: &'a [Over],
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

/// What came out of a sweep.
pub struct Swept {
    /// The runs by cell, then by strategy, then by seed.
    pub runs: Vec<SweepRun>,
    /// What is not known as well as [`Sweep::until`] asks. Nothing of a sweep that was cancelled.
    pub short: Vec<Shortfall>,
}

/// A mean that is not known well enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// Of what, how well it is known, and how well it was to be.
    pub sentence: String,
    /// More runs may tell.
    pub wants_runs: bool,
}

/// The runs of one strategy in one cell.
struct Group<'a> {
    cell: usize,
    /// `None` for the scenario's own.
    strategy: &'a Option<String>,
}

impl Sweep<'_> {
    /// The scenario of a cell, for its runs.
    pub fn input(&self, cell: usize) -> Input<'_> {
        let scenario = &self.cells[cell].scenario;
        Input { registry: self.registry, scenario, file: self.file.into(), text: self.text }
    }

    /// The seed of the first run in a cell.
    pub fn first_seed(&self, cell: usize) -> u64 {
        self.seed.unwrap_or(self.cells[cell].scenario.seed)
    }

    /// The most runs of each strategy in a cell.
    pub fn most_runs(&self, cell: usize) -> u32 {
        match self.until {
            [] => self.runs.unwrap_or(self.cells[cell].scenario.runs),
            _ => self.runs.unwrap_or(MOST_RUNS),
        }
    }

    /// Does the runs with `more`, which gets their cells and jobs, and returns `None` for one that
    /// was cancelled.
    ///
    /// # Errors
    /// What `more` returns.
    pub fn run_with<E>(
        &self,
        more: impl FnMut(&[(usize, Job)]) -> Result<Vec<Option<Outcome>>, E>,
    ) -> Result<Swept, E> {
        let own = [None];
        let given: Vec<Option<String>> = self.strategies.iter().cloned().map(Some).collect();
        let strategies = if given.is_empty() { &own[..] } else { &given[..] };
        let groups: Vec<Group<'_>> = (0..self.cells.len())
            .flat_map(|cell| strategies.iter().map(move |strategy| Group { cell, strategy }))
            .collect();
        match self.until {
            [] => self.fixed_runs(&groups, more),
            _ => self.until_known(&groups, more),
        }
    }

    fn task(&self, group: &Group<'_>, number: u32) -> (usize, Job) {
        let seed = self.first_seed(group.cell).wrapping_add(number.into());
        (group.cell, Job { strategy: group.strategy.clone(), seed })
    }

    fn fixed_runs<E>(
        &self,
        groups: &[Group<'_>],
        mut more: impl FnMut(&[(usize, Job)]) -> Result<Vec<Option<Outcome>>, E>,
    ) -> Result<Swept, E> {
        let mut tasks: Vec<(usize, Job)> = Vec::new();
        for group in groups {
            let numbers = 0..self.most_runs(group.cell);
            tasks.extend(numbers.map(|number| self.task(group, number)));
        }
        let done = more(&tasks)?;
        let runs = tasks
            .into_iter()
            .zip(done)
            .filter_map(|((cell, job), outcome)| Some(SweepRun { cell, job, outcome: outcome? }));
        Ok(Swept { runs: runs.collect(), short: Vec::new() })
    }

    fn until_known<E>(
        &self,
        groups: &[Group<'_>],
        mut more: impl FnMut(&[(usize, Job)]) -> Result<Vec<Option<Outcome>>, E>,
    ) -> Result<Swept, E> {
        // With `until` the number of runs does not depend on the cell.
        let most = self.most_runs(0);
        let asked = self.asked();
        let shares: Vec<f64> = asked.iter().map(|(until, _)| until.share).collect();
        let values = |outcome: &Outcome| {
            let of = |flows: &[&FlowSummary]| -> Vec<f64> {
                let one = |(until, over): &(&Until, Over)| {
                    until.measure.over(*over, flows.iter().copied()).unwrap_or(f64::NAN)
                };
                asked.iter().map(one).collect()
            };
            by_strategy(&outcome.flows).into_iter().flat_map(|(_, flows)| of(&flows)).collect()
        };
        let mut cancelled = false;
        let settled = until_enough(groups.len(), (&shares, most), values, |wanted| {
            let task = |&(group, number): &(usize, u32)| self.task(&groups[group], number);
            let done = more(&wanted.iter().map(task).collect::<Vec<_>>())?;
            cancelled |= done.iter().any(Option::is_none);
            Ok(done)
        })?;
        let mut swept = Swept { runs: Vec::new(), short: Vec::new() };
        for (group, settled) in groups.iter().zip(settled) {
            if !cancelled {
                swept.short.extend(self.shortfalls(group.cell, &settled));
            }
            let outcomes = (0..).zip(settled.runs).map(|(number, outcome)| {
                let (cell, job) = self.task(group, number);
                SweepRun { cell, job, outcome }
            });
            swept.runs.extend(outcomes);
        }
        Ok(swept)
    }

    /// What is to be known of the flows of each strategy in a run.
    fn asked(&self) -> Vec<(&Until, Over)> {
        let overs = if self.over.is_empty() { &[Over::Mean] } else { self.over };
        let of = |until| overs.iter().map(move |over| (until, *over));
        self.until.iter().flat_map(of).collect()
    }

    /// What the runs of a group in this cell do not tell well enough.
    fn shortfalls(
        &self,
        cell: usize,
        Settled { runs, short }: &Settled<Outcome>,
    ) -> Vec<Shortfall> {
        let flows = runs.first().map_or(&[][..], |outcome| &outcome.flows[..]);
        let asked = self.asked();
        let named = by_strategy(flows)
            .into_iter()
            .flat_map(|(strategy, _)| asked.iter().map(move |asked| (strategy, asked)));
        let place = match self.cells[cell].name() {
            name if name.is_empty() => name,
            name => format!(" ({name})"),
        };
        let ended = short.iter().flatten().any(|precision| precision.is_nan());
        let sentence = |(precision, (strategy, (until, over))): (&f64, (&str, &(&Until, Over)))| {
            let over = if self.over.is_empty() { "" } else { &format!(", {over}") };
            let what = format!("{} of {strategy}{place}{over}", until.measure.name);
            let n = runs.len();
            let (got, share) = (percent(*precision), percent(until.share));
            let sentence = if precision.is_nan() {
                format!(
                    "{what}: some of {n} runs have none, which no further ones mend; try a longer \
                     `duration`, or another `over`"
                )
            } else if precision.is_infinite() {
                format!("{what}: after {n} runs its mean is 0, and has no precision")
            } else if *precision > until.share {
                format!("{what}: ± {got} after {n} runs, and not ± {share}")
            } else if n < LEAST_RUNS as usize {
                format!("{what}: ± {got} after {n} runs, of which it takes at least {LEAST_RUNS}")
            } else {
                return None;
            };
            Some(Shortfall { sentence, wants_runs: !ended })
        };
        short.iter().flatten().zip(named).filter_map(sentence).collect()
    }

    /// Does all runs on `threads` threads (0: one per processor), or those that are done when
    /// `cancel` is set.
    ///
    /// # Errors
    /// [`Error::Scenario`] and [`Error::Threads`].
    pub fn run(&self, threads: u16, cancel: &Cancel) -> Result<Swept, Error> {
        let progress = Progress::until(0, cancel);
        self.run_with(|tasks| {
            progress.lengthen(tasks.len() as u64 * STEPS);
            in_parallel_until(
                tasks,
                (threads, cancel),
                |(_, job)| job.seed,
                |(cell, job)| {
                    let input = self.input(*cell);
                    input.run(job, input.build(job, false)?, &mut (), &progress)
                },
            )
        })
    }
}

/// A share in percent, to two figures.
fn percent(share: f64) -> String {
    let decimals =
        1_i32.saturating_sub((share * 100.0).log10().floor() as i32).clamp(0, 6) as usize;
    format!("{:.decimals$} %", share * 100.0)
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
        .text("name", |row| Some(row.1.name.clone()))
        .int("bytes_acked", |row| Some(row.1.bytes_acked))
        .int("segments_sent", |row| Some(row.1.segments_sent))
        .int("retransmissions", |row| Some(row.1.retransmissions))
        .int("fast_retransmissions", |row| Some(row.1.fast_retransmissions))
        .int("timeouts", |row| Some(row.1.timeouts))
        .int("timeouts_non_trigger", |row| Some(row.1.timeouts_non_trigger))
        .int("timeouts_multiple_losses", |row| Some(row.1.timeouts_multiple_losses))
        .int("timeouts_lost_retransmission", |row| Some(row.1.timeouts_lost_retransmission))
        .int("timeouts_backed_off", |row| Some(row.1.timeouts_backed_off))
        .int("syn_timeouts", |row| Some(row.1.syn_timeouts))
        .int("recoveries", |row| Some(row.1.recoveries))
        .int("ecn_reductions", |row| Some(row.1.ecn_reductions))
        .int("drops", |row| row.1.drops)
        .int("spurious_retransmissions", |row| row.1.spurious_retransmissions)
        .number("goodput_bps", |row| row.1.goodput_bps)
        .number("completion_s", |row| row.1.completion_s)
        .number("mean_rtt_s", |row| row.1.mean_rtt_s)
}

/// All flows of a strategy in a run as one row.
pub struct RunRow<'a> {
    /// The cell that they ran in.
    pub cell: Option<&'a GridCell>,
    /// The strategy.
    pub strategy: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// How the flows make one number.
    pub over: Over,
    /// The flows.
    pub flows: Vec<&'a FlowSummary>,
}

impl RunRow<'_> {
    /// The number that they make.
    pub fn value(&self, measure: FlowMeasure) -> Option<f64> {
        measure.over(self.over, self.flows.iter().copied())
    }
}

/// The flows of a run as rows: for each strategy one of each of these.
pub fn run_rows<'a>(
    cell: Option<&'a GridCell>,
    run: &'a SweepRun,
    over: &'a [Over],
) -> impl Iterator<Item = RunRow<'a>> {
    by_strategy(&run.outcome.flows).into_iter().flat_map(move |(strategy, flows)| {
        let row = move |over: &Over| {
            let (over, seed, flows) = (*over, run.job.seed, flows.clone());
            RunRow { cell, strategy, seed, over, flows }
        };
        over.iter().map(row)
    })
}

/// The flows of each strategy, in order of first appearance.
fn by_strategy(flows: &[FlowSummary]) -> Vec<(&str, Vec<&FlowSummary>)> {
    let mut all: Vec<(&str, Vec<&FlowSummary>)> = Vec::new();
    for flow in flows {
        match all.iter_mut().find(|(strategy, _)| *strategy == flow.strategy) {
            Some((_, flows)) => flows.push(flow),
            None => all.push((&flow.strategy, vec![flow])),
        }
    }
    all
}

/// The columns of runs whose flows are summed up: one for each axis, then strategy, seed, how, of
/// how many flows, and the numbers of [`FlowSummary`].
#[cfg(not(target_family = "wasm"))]
pub fn run_columns<'a>(axes: &[Axis]) -> Columns<RunRow<'a>> {
    let mut columns = Columns::<RunRow<'a>>::new();
    for axis in axes {
        let name = axis.name.clone();
        columns = columns.text(&axis.name, move |row| row.cell?.label(&name).map(String::from));
    }
    columns = columns
        .text("strategy", |row| Some(row.strategy.into()))
        .int("seed", |row| Some(row.seed))
        .text("over", |row| Some(row.over.to_string()))
        .int("flows", |row| Some(row.flows.len() as u64));
    FlowMeasure::all().fold(columns, |columns, measure| {
        columns.number(measure.key, move |row| row.value(measure))
    })
}

#[cfg(test)]
mod tests;
