//! Runs of a scenario, and what came out of them.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use ackclock_figure::{Figure, Format, Interval};
use ackclock_net::scenario::{BuiltFlow, Scenario, Simulation, check_strategy};
use ackclock_net::{FlowId, Recorder};
use ackclock_report::{
    FlowSummary, Panel, Picture, RecoveryStats, recovery_measures, recovery_table,
    replication_table, summary_table,
};
use ackclock_run::{
    FileError, GridCell, Input, Job, LinkStats, MANY_FLOWS, Outcome, Progress, RecoveryRecorder,
    STEPS, Sweep, SweepRun, Swept, Until, error_at, in_parallel, panels_of_each,
};
use ackclock_tcp::{Event, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::error::{at, of_file, of_path, of_run, plain};
use crate::events::{EventRow, event_columns};
use crate::interrupt::interruptible;
use crate::mechanism::registry;
use crate::plot::Plot;
use crate::table::{Columns, Get, Table};

/// A scenario with all that its runs take.
struct Setup {
    registry: Registry,
    cell: GridCell,
    file: String,
    /// Where errors find lines.
    text: Option<String>,
    jobs: Vec<Job>,
    threads: u16,
}

/// What came out of runs: tables for polars, pandas, pyarrow and DuckDB, and pictures.
///
/// Events and statistics of recovery take time and memory, so that they are had by running again
/// when they are first asked for: the same seeds give the same runs. A mechanism in Python has to
/// be deterministic; that a run came out otherwise is an error.
#[pyclass(frozen, module = "ackclock", name = "Result")]
pub struct RunResult {
    setup: Setup,
    outcomes: Vec<Outcome>,
    unmet: Vec<String>,
    recorded: Mutex<Option<Vec<Recorded>>>,
    flows: PyOnceLock<Py<Table>>,
    links: PyOnceLock<Py<Table>>,
    events: PyOnceLock<Py<Table>>,
    recovery: PyOnceLock<Py<Table>>,
}

/// A run with its events.
struct Recorded {
    seed: u64,
    flows: Vec<BuiltFlow>,
    summaries: Vec<FlowSummary>,
    events: Vec<(u32, Event)>,
}

#[derive(Default)]
struct Log(Vec<(u32, Event)>);

impl Recorder for Log {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        self.0.push((flow.0, *event));
    }
}

impl Setup {
    fn input(&self) -> Input<'_> {
        Input {
            registry: &self.registry,
            scenario: &self.cell.scenario,
            file: self.file.clone(),
            text: self.text.as_deref(),
        }
    }

    /// Does the runs that nothing is recorded of, and notes their jobs.
    fn measure(&mut self, py: Python<'_>, asked: &Asked) -> PyResult<(Vec<Outcome>, Vec<String>)> {
        let sweep = Sweep {
            registry: &self.registry,
            cells: std::slice::from_ref(&self.cell),
            file: &self.file,
            text: self.text.as_deref(),
            strategies: &asked.strategies,
            seed: asked.seed,
            runs: asked.runs,
            until: &asked.until,
            over: &[],
        };
        let (seed, runs) = (sweep.first_seed(0), sweep.most_runs(0));
        if seed > i64::MAX as u64 - u64::from(runs.saturating_sub(1)) {
            return Err(at("seed", format!("{runs} runs from {seed} on go beyond 2^63 - 1")));
        }
        let input = self.input();
        let swept = interruptible(py, |stop| {
            let progress = Progress::until(0, &stop.cancel);
            let one = |job: &Job| input.run(job, input.build(job, false)?, &mut (), &progress);
            sweep.run_with(|tasks| {
                in_parallel(tasks, self.threads, |(_, job)| stop.guard(|| one(job)).transpose())
            })
        })?;
        let Swept { runs, short } = swept.map_err(|e| of_run(&e))?;
        let entries = input.unmet(runs.iter().map(|run| &run.outcome.unmet));
        let unmet = short.into_iter().map(|short| format!("until: {}", short.sentence));
        let unmet = unmet.chain(entries.iter().map(FileError::to_string)).collect();
        let runs = runs.into_iter().map(|SweepRun { job, outcome, .. }| (job, outcome));
        let (jobs, outcomes) = runs.unzip();
        self.jobs = jobs;
        Ok((outcomes, unmet))
    }

    /// Runs these jobs again, each with a recorder of its own. They have to come out as before.
    fn run<R: Recorder, T: Send>(
        &self,
        py: Python<'_>,
        jobs: &[(&Job, &Outcome)],
        recorder: impl Fn(&Simulation) -> R + Sync,
        done: impl Fn(R, Outcome, Vec<BuiltFlow>, &Job) -> T + Sync,
    ) -> PyResult<Vec<T>> {
        let one = |(job, before): (&Job, &Outcome), progress: &Progress| {
            let input = self.input();
            let simulation = input.build(job, true)?;
            let flows = simulation.flows.clone();
            let mut recorder = recorder(&simulation);
            let outcome = input.run(job, simulation, &mut recorder, progress)?;
            if outcome.flows != before.flows {
                return Err(self.differs(job));
            }
            Ok(done(recorder, outcome, flows, job))
        };
        let results = interruptible(py, |stop| {
            let progress = Progress::until(jobs.len() as u64 * STEPS, &stop.cancel);
            in_parallel(jobs, self.threads, |job| stop.guard(|| one(*job, &progress)).transpose())
        })?;
        // A run that is left out was stopped, which is an error already.
        Ok(results.map_err(|e| of_run(&e))?.into_iter().flatten().collect())
    }

    /// What a mechanism does otherwise whenever it runs is in no event and in no table.
    fn differs(&self, job: &Job) -> ackclock_run::Error {
        let strategy = job.strategy.as_deref().unwrap_or("the scenario's strategies");
        let error = error_at(
            "",
            format!(
                "{strategy} with seed {}: the run came out otherwise when it was done again for \
                 its events; a mechanism in Python has to be deterministic",
                job.seed
            ),
        );
        ackclock_run::Error::Scenario(FileError { file: self.file.clone(), error })
    }
}

/// Reads and checks a scenario. `lines` says that the user has the text, so that its lines help.
pub fn read(text: &str, file: &str, lines: bool, registry: &Registry) -> PyResult<Scenario> {
    Scenario::with_traces(text, file, registry).map_err(|mut error| {
        error.line = error.line.filter(|_| lines);
        of_file(&FileError { file: file.into(), error })
    })
}

/// Which runs are asked for.
struct Asked {
    strategies: Vec<String>,
    runs: Option<u32>,
    seed: Option<u64>,
    until: Vec<Until>,
}

/// Runs a scenario: each strategy with each seed.
#[pyfunction]
#[pyo3(signature = (text, file, lines, strategies, runs, seed, until, jobs))]
#[allow(clippy::too_many_arguments)]
pub fn run(
    py: Python<'_>,
    text: String,
    file: String,
    lines: bool,
    strategies: Vec<String>,
    runs: Option<u32>,
    seed: Option<u64>,
    until: Vec<String>,
    jobs: u16,
) -> PyResult<RunResult> {
    let registry = registry();
    for strategy in &strategies {
        check_strategy(strategy, &registry).map_err(|e| at("strategies", e))?;
    }
    let wrong = |message: String| at("until", message);
    let until = until.iter().map(|text| text.parse().map_err(wrong)).collect::<PyResult<_>>()?;
    let cell = GridCell::of(read(&text, &file, lines, &registry)?);
    let text = lines.then_some(text);
    let mut setup = Setup { registry, cell, file, text, jobs: Vec::new(), threads: jobs };
    let (outcomes, unmet) = setup.measure(py, &Asked { strategies, runs, seed, until })?;
    Ok(RunResult {
        setup,
        outcomes,
        unmet,
        recorded: Mutex::new(None),
        flows: PyOnceLock::new(),
        links: PyOnceLock::new(),
        events: PyOnceLock::new(),
        recovery: PyOnceLock::new(),
    })
}

impl RunResult {
    /// The first run of each strategy.
    fn first(&self) -> Vec<(&Job, &Outcome)> {
        let seed = self.setup.jobs.first().map(|job| job.seed);
        let all = self.setup.jobs.iter().zip(&self.outcomes);
        all.filter(|(job, _)| Some(job.seed) == seed).collect()
    }

    /// Does `with` with the first run of each strategy, recorded.
    fn recorded<T>(&self, py: Python<'_>, with: impl FnOnce(&[Recorded]) -> T) -> PyResult<T> {
        let taken = self.recorded.lock().map_err(plain)?.take();
        let recorded = match taken {
            Some(recorded) => recorded,
            None => self.setup.run(
                py,
                &self.first(),
                |_| Log::default(),
                |log, outcome, flows, job| {
                    // Streams without TCP come after the flows.
                    let events =
                        log.0.into_iter().filter(|(flow, _)| (*flow as usize) < flows.len());
                    Recorded {
                        seed: job.seed,
                        events: events.collect(),
                        flows,
                        summaries: outcome.flows,
                    }
                },
            )?,
        };
        let done = with(&recorded);
        *self.recorded.lock().map_err(plain)? = Some(recorded);
        Ok(done)
    }

    fn event_table(&self, py: Python<'_>) -> PyResult<Table> {
        self.recorded(py, |runs| {
            let rows = runs.iter().flat_map(|run| {
                run.events.iter().map(|(flow, event)| EventRow {
                    strategy: &run.flows[*flow as usize].strategy,
                    seed: run.seed,
                    flow: *flow,
                    name: &run.flows[*flow as usize].name,
                    event,
                })
            });
            Table::new(&event_columns(), rows)
        })?
    }

    fn recovery_table(&self, py: Python<'_>) -> PyResult<Vec<(String, u64, RecoveryStats)>> {
        let all: Vec<(&Job, &Outcome)> = self.setup.jobs.iter().zip(&self.outcomes).collect();
        let stats = self.setup.run(
            py,
            &all,
            |simulation| RecoveryRecorder::new(&simulation.flows, simulation.until),
            |recorder, _, _, _| recorder.finish(),
        )?;
        let mut sums: Vec<(String, u64, RecoveryStats)> = Vec::new();
        for ((job, _), stats) in all.iter().zip(stats) {
            let name = job.strategy.clone().unwrap_or_default();
            match sums.last_mut() {
                Some((last, runs, sum)) if *last == name => {
                    *runs += 1;
                    sum.add(&stats);
                }
                _ => sums.push((name, 1, stats)),
            }
        }
        Ok(sums)
    }
}

fn cached<'py>(
    py: Python<'py>,
    cell: &'py PyOnceLock<Py<Table>>,
    make: impl FnOnce() -> PyResult<Table>,
) -> PyResult<Py<Table>> {
    cell.get_or_try_init(py, || Py::new(py, make()?)).map(|table| table.clone_ref(py))
}

#[pymethods]
impl RunResult {
    /// One row for each flow of each run, with the keys of the command's JSON.
    #[getter]
    fn flows(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        cached(py, &self.flows, || {
            Table::new(&flow_columns(), self.outcomes.iter().flat_map(|o| &o.flows))
        })
    }

    /// One row for each link, direction and run.
    #[getter]
    fn links(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        cached(py, &self.links, || {
            let runs = self.setup.jobs.iter().zip(&self.outcomes);
            let rows = runs.flat_map(|(job, outcome)| {
                outcome.links.iter().map(move |link| LinkRow { job, link })
            });
            Table::new(&link_columns(), rows)
        })
    }

    /// One row for each event of the first run of each strategy, with the keys of the command's
    /// `--events`.
    #[getter]
    fn events(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        cached(py, &self.events, || self.event_table(py))
    }

    /// One row for each strategy: its statistics of recovery over all flows and runs.
    #[getter]
    fn recovery(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        cached(py, &self.recovery, || {
            let sums = self.recovery_table(py)?;
            let mut arrays = crate::table::named(&sums);
            for measure in recovery_measures() {
                let of = |(_, _, stats): &(String, u64, RecoveryStats)| {
                    Some((measure.value)(stats)).filter(|value| !value.is_nan())
                };
                arrays.push((measure.name.to_string(), crate::table::numbers(&sums, of)));
            }
            Table::of_arrays(arrays)
        })
    }

    /// What did not happen although it was asked for, one sentence each.
    #[getter]
    fn unmet(&self) -> Vec<String> {
        self.unmet.clone()
    }

    /// The time-sequence picture of the first run of each strategy.
    fn plot(&self, py: Python<'_>) -> PyResult<Plot> {
        let scenario = &self.setup.cell.scenario;
        let title = if scenario.name.is_empty() { &self.setup.file } else { &scenario.name };
        let plot = |picture: &Picture<'_>| Plot { html: picture.to_html(), svg: picture.to_svg() };
        self.recorded(py, |runs| py.detach(|| picture(title, runs, plot)))
    }

    /// Writes the picture as a figure for a paper: `.pdf`, `.svg`, `.png`, or its data as `.csv`.
    #[pyo3(signature = (path, width="84mm", start=None, stop=None))]
    fn figure(
        &self,
        py: Python<'_>,
        path: PathBuf,
        width: &str,
        start: Option<f64>,
        stop: Option<f64>,
    ) -> PyResult<()> {
        let wrong = |error: ackclock_figure::Error| PyValueError::new_err(error.to_string());
        let ending = || PyValueError::new_err("the name has to end in .pdf, .svg, .png or .csv");
        let format = Format::of(&path).ok_or_else(ending)?;
        for (key, time) in [("start", start), ("stop", stop)] {
            if let Some(time) = time.filter(|time| !time.is_finite() || *time < 0.0) {
                let text = format!("{key}: {time} is no time; it is a number of seconds from 0 on");
                return Err(PyValueError::new_err(text));
            }
        }
        let (width, interval) = (width.parse().map_err(wrong)?, Interval { from: start, to: stop });
        let draw = |picture: &Picture<'_>| {
            Figure::of_picture(picture, width, interval).and_then(|figure| figure.encode(format))
        };
        let content = self.recorded(py, |runs| py.detach(|| picture("", runs, draw)))?;
        fs::write(&path, content.map_err(wrong)?).map_err(of_path(&path))
    }

    fn __str__(&self) -> String {
        let flows: Vec<FlowSummary> =
            self.outcomes.iter().flat_map(|o| o.flows.iter().cloned()).collect();
        let several = self.setup.jobs.windows(2).any(|pair| pair[0].seed != pair[1].seed);
        let many = several || self.outcomes.iter().any(|o| o.flows.len() > MANY_FLOWS);
        if many { replication_table(&flows) } else { summary_table(&flows) }
    }

    fn __repr__(&self) -> String {
        format!("<ackclock.Result of {} runs>\n{}", self.outcomes.len(), self.__str__())
    }

    /// The table of recovery statistics as the command prints it.
    fn recovery_text(&self, py: Python<'_>) -> PyResult<String> {
        let sums = self.recovery_table(py)?;
        let columns: Vec<(&str, &RecoveryStats)> =
            sums.iter().map(|(name, _, stats)| (name.as_str(), stats)).collect();
        Ok(recovery_table(&columns))
    }
}

/// What `draw` makes of the picture of these runs.
fn picture<T>(title: &str, runs: &[Recorded], draw: impl FnOnce(&Picture<'_>) -> T) -> T {
    let share = panels_of_each(runs.len());
    let mut panels = Vec::new();
    for run in runs {
        for (number, flow) in run.flows.iter().enumerate().take(share) {
            let own = run.events.iter().filter(|(of, _)| *of as usize == number);
            let events: Vec<Event> = own.map(|(_, event)| *event).collect();
            let name = match run.flows.len() {
                1 => flow.strategy.clone(),
                _ => format!("{} {}", flow.strategy, flow.name),
            };
            panels.push((name, flow.mss, events, run.summaries.get(number)));
        }
    }
    let panels: Vec<Panel<'_>> = panels
        .iter()
        .map(|(name, mss, events, summary)| Panel {
            name,
            mss: *mss,
            events,
            summary: *summary,
            ..Panel::default()
        })
        .collect();
    draw(&Picture { title, panels: &panels, ..Picture::default() })
}

/// A link of a run.
struct LinkRow<'a> {
    job: &'a Job,
    link: &'a LinkStats,
}

/// The names of the columns of [`RunResult::flows`].
#[pyfunction(name = "flow_columns")]
pub fn flow_column_names() -> Vec<&'static str> {
    flow_columns().iter().map(|(name, _)| *name).collect()
}

fn flow_columns<'a>() -> Columns<&'a FlowSummary> {
    vec![
        ("strategy", Get::Text(|f| Some(&f.strategy))),
        ("seed", Get::Int(|f| Some(f.seed))),
        ("flow", Get::Int(|f| Some(f.flow.into()))),
        ("name", Get::Text(|f| Some(&f.name))),
        ("bytes_acked", Get::Int(|f| Some(f.bytes_acked))),
        ("segments_sent", Get::Int(|f| Some(f.segments_sent))),
        ("retransmissions", Get::Int(|f| Some(f.retransmissions))),
        ("fast_retransmissions", Get::Int(|f| Some(f.fast_retransmissions))),
        ("timeouts", Get::Int(|f| Some(f.timeouts))),
        ("timeouts_non_trigger", Get::Int(|f| Some(f.timeouts_non_trigger))),
        ("timeouts_multiple_losses", Get::Int(|f| Some(f.timeouts_multiple_losses))),
        ("timeouts_lost_retransmission", Get::Int(|f| Some(f.timeouts_lost_retransmission))),
        ("timeouts_backed_off", Get::Int(|f| Some(f.timeouts_backed_off))),
        ("syn_timeouts", Get::Int(|f| Some(f.syn_timeouts))),
        ("recoveries", Get::Int(|f| Some(f.recoveries))),
        ("ecn_reductions", Get::Int(|f| Some(f.ecn_reductions))),
        ("drops", Get::Int(|f| f.drops)),
        ("spurious_retransmissions", Get::Int(|f| f.spurious_retransmissions)),
        ("goodput_bps", Get::Number(|f| f.goodput_bps)),
        ("completion_s", Get::Number(|f| f.completion_s)),
        ("mean_rtt_s", Get::Number(|f| f.mean_rtt_s)),
    ]
}

fn link_columns<'a>() -> Columns<LinkRow<'a>> {
    vec![
        ("strategy", Get::Text(|r| r.job.strategy.as_deref())),
        ("seed", Get::Int(|r| Some(r.job.seed))),
        ("from", Get::Text(|r| Some(&r.link.from))),
        ("to", Get::Text(|r| Some(&r.link.to))),
        ("packets", Get::Int(|r| Some(r.link.packets))),
        ("bytes", Get::Int(|r| Some(r.link.bytes))),
        ("departed", Get::Int(|r| Some(r.link.departed))),
        ("dropped_queue", Get::Int(|r| Some(r.link.dropped_queue))),
        ("dropped_early", Get::Int(|r| Some(r.link.dropped_early))),
        ("dropped_loss", Get::Int(|r| Some(r.link.dropped_loss))),
        ("marked", Get::Int(|r| Some(r.link.marked))),
        ("corrupted", Get::Int(|r| Some(r.link.corrupted))),
        ("max_queue", Get::Int(|r| Some(r.link.max_queue))),
    ]
}
