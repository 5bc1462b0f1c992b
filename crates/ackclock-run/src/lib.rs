//! Runs of a scenario: one for each strategy and seed, in parallel, with results in a fixed order.
//! [`grid()`] unfolds a scenario into many, by the values that some of its keys take.

mod cancel;
#[cfg(not(target_family = "wasm"))]
mod columns;
mod file;
mod file_identity;
mod first_flow;
mod grid;
mod kind;
mod parallel;
mod progress;
mod recovery;
mod set;
mod stats;
mod sweep;
mod unmet;
mod until;
mod whole_file;

use std::ops::ControlFlow;

use ackclock_net::scenario::{BuildOptions, BuiltFlow, Scenario, ScenarioError, Simulation};
use ackclock_net::{FlowId, FlowReport, LinkId, Place, Recorder, Visit};
use ackclock_report::{FlowSummary, Handshake, RecoveryStats};
use ackclock_tcp::{Event, Registry, Sighting, Time};

pub use cancel::Cancel;
#[cfg(not(target_family = "wasm"))]
pub use columns::{Column, Columns, Get, ROWS};
pub use file::{FileError, error_at, parse};
pub use file_identity::FileIdentity;
pub use first_flow::FirstFlowEvents;
pub use grid::{Axis, AxisLabel, GridCell, bracketed, grid, read};
pub use kind::Kind;
pub use parallel::{in_parallel, in_parallel_until};
pub use progress::Progress;
pub use recovery::RecoveryRecorder;
pub use set::{is_strategy_of_flow, overlap, set};
pub use stats::{LinkStats, thread_cpu_s};
pub use sweep::{RunRow, Shortfall, Sweep, SweepRun, Swept, axis, run_rows, sweep};
#[cfg(not(target_family = "wasm"))]
pub use sweep::{flow_columns, run_columns};
pub use unmet::Unmet;
pub use until::{MOST_RUNS, Until};
pub use whole_file::WholeFile;

/// Why a run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong, or a strategy in it.
    #[error(transparent)]
    Scenario(FileError),
    /// A [`Cancel`] ended the runs before their time.
    #[error("interrupted")]
    Cancelled,
    /// The system gave no threads.
    #[error("no threads: {0}")]
    Threads(String),
}

/// The steps of a [`Progress`] that a run takes.
pub const STEPS: u64 = 100;

/// More flows than this in a run are summed up unless each is asked for.
pub const MANY_FLOWS: usize = 10;

/// How many panels each of so many strategies or runs has in a picture: 32 make it full, but each
/// has one at least.
pub fn panels_of_each(all: usize) -> usize {
    (32 / all.max(1)).max(1)
}

/// A scenario and where it comes from.
pub struct Input<'a> {
    /// What the names of strategies mean.
    pub registry: &'a Registry,
    /// The scenario.
    pub scenario: &'a Scenario,
    /// What errors name: the file.
    pub file: String,
    /// What errors find lines in.
    pub text: Option<&'a str>,
}

/// One run to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The strategy of all flows; `None` for the scenario's own.
    pub strategy: Option<String>,
    /// Its seed.
    pub seed: u64,
}

/// What came out of a run.
pub struct Outcome {
    /// Its flows in the order of their numbers.
    pub flows: Vec<FlowSummary>,
    /// Its links by entry of the scenario and direction, copies added up.
    pub links: Vec<LinkStats>,
    /// Seconds of CPU that it took.
    pub cpu_s: f64,
    /// The statistics of recovery, where a [`RecoveryRecorder`] took them; [`Input::run`] leaves
    /// them out.
    pub recovery: Option<RecoveryStats>,
    /// What no packet met.
    pub unmet: Unmet,
}

impl Input<'_> {
    /// An error in this file, with the line of its key.
    pub fn located(&self, error: ScenarioError) -> FileError {
        let error = match self.text {
            Some(text) => error.located(text),
            None => error,
        };
        FileError { file: self.file.clone(), error }
    }

    /// Builds the network of a job. With `events`, a recorder gets the senders' events.
    ///
    /// # Errors
    /// [`Error::Scenario`].
    pub fn build(&self, job: &Job, events: bool) -> Result<Simulation, Error> {
        if self.scenario.flows.is_empty() && self.scenario.cbrs.is_empty() {
            let error = error_at("flow", "nothing to run: there is no `[[flow]]` and no `[[cbr]]`")
                .help("`ackclock gateway` puts the links alone between kernels");
            return Err(Error::Scenario(FileError { file: self.file.clone(), error }));
        }
        let options = BuildOptions::new(self.registry, job.seed)
            .strategy(job.strategy.as_deref())
            .events(events);
        self.scenario.build(&options).map_err(|e| Error::Scenario(self.located(e)))
    }

    /// Runs a job that is built.
    ///
    /// # Errors
    /// [`Error::Scenario`], also where a flow has no route; [`Error::Cancelled`] if the flag of
    /// `progress` is set before the end.
    pub fn run<R: Recorder>(
        &self,
        job: &Job,
        mut simulation: Simulation,
        recorder: &mut R,
        progress: &Progress,
    ) -> Result<Outcome, Error> {
        let began = thread_cpu_s();
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let until = simulation.until;
        let mut watched = Watched { inner: recorder, progress, until, steps: 0, broken_off: false };
        simulation
            .run(&mut watched)
            .map_err(|e| Error::Scenario(self.located(self.scenario.explain(&e))))?;
        if watched.broken_off {
            return Err(Error::Cancelled);
        }
        if watched.wants_queues() {
            simulation.network.waiting(&mut watched);
        }
        let cpu_s = thread_cpu_s() - began;
        progress.advance(STEPS - watched.steps);
        let links = links(&simulation, self.scenario);
        let unmet = Unmet::of(&simulation);
        let flows = summaries(simulation, job.seed);
        Ok(Outcome { flows, links, cpu_s, recovery: None, unmet })
    }
}

/// Passes what happens on to a recorder, and how far a run has come to the progress bar.
struct Watched<'a, R> {
    inner: &'a mut R,
    progress: &'a Progress,
    until: Time,
    /// Steps of the bar taken so far.
    steps: u64,
    /// Whether the run was cancelled before its end.
    broken_off: bool,
}

impl<R: Recorder> Recorder for Watched<'_, R> {
    fn wants_events(&self) -> bool {
        self.inner.wants_events()
    }

    fn wants_packets(&self) -> bool {
        self.inner.wants_packets()
    }

    fn wants_queues(&self) -> bool {
        self.inner.wants_queues()
    }

    fn progress(&mut self, now: Time) -> ControlFlow<()> {
        let steps =
            (STEPS as f64 * now.secs_f64() / self.until.secs_f64()).min(STEPS as f64) as u64;
        self.progress.advance(steps.saturating_sub(self.steps));
        self.steps = self.steps.max(steps);
        if self.progress.is_cancelled() {
            self.broken_off = true;
            return ControlFlow::Break(());
        }
        self.inner.progress(now)
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        self.inner.event(flow, event);
    }

    fn packet(&mut self, flow: FlowId, place: Place, sighting: &Sighting) {
        self.inner.packet(flow, place, sighting);
    }

    fn queue(&mut self, link: LinkId, visit: &Visit) {
        self.inner.queue(link, visit);
    }
}

fn summaries(simulation: Simulation, seed: u64) -> Vec<FlowSummary> {
    let flows = simulation.into_reports().map(|(flow, report)| {
        let FlowReport {
            bytes_acked,
            stats,
            syn_timeouts,
            completed,
            until,
            drops,
            spurious_retransmissions,
            goodput_bps,
            ..
        } = report;
        FlowSummary {
            bytes_acked,
            syn_timeouts: syn_timeouts.into(),
            drops: Some(drops),
            spurious_retransmissions: Some(spurious_retransmissions),
            goodput_bps,
            completion_s: completed.map(|at| at.since(flow.start).secs_f64()),
            active: [flow.start, until],
            name: flow.name.clone(),
            ..FlowSummary::of_sender(&flow.strategy, seed, flow.id.0, &stats)
        }
    });
    flows.collect()
}

/// The links by entry of the scenario and direction, copies added up.
fn links(simulation: &Simulation, scenario: &Scenario) -> Vec<LinkStats> {
    let mut all: Vec<((usize, bool), LinkStats)> = Vec::new();
    for link in &simulation.links {
        let (Some(report), Some(entry)) =
            (simulation.network.link_report(link.id), scenario.links.get(link.entry))
        else {
            continue;
        };
        let (from, to) =
            if link.back { (&entry.to, &entry.from) } else { (&entry.from, &entry.to) };
        let stats = LinkStats::of(from, to, &report);
        let key = (link.entry, link.back);
        // Copies follow each other, so that the entry is one of the last two.
        match all.iter_mut().rev().take(2).find(|(k, _)| *k == key) {
            Some((_, sum)) => sum.add(&stats),
            None => all.push((key, stats)),
        }
    }
    all.into_iter().map(|(_, stats)| stats).collect()
}

/// What the ends of a simulated flow agreed on, for its capture.
pub fn handshake(flow: &BuiltFlow) -> Handshake {
    Handshake {
        mss: flow.mss,
        sack: flow.sack,
        ecn: flow.ecn,
        sender_wscale: 0,
        receiver_wscale: flow.wscale,
        rwnd: flow.rwnd,
    }
}

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
