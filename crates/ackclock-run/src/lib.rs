//! Runs of a scenario: one for each strategy and seed, in parallel, with results in a fixed order.

mod progress;
mod recovery;
mod stats;

use ackclock_net::scenario::{BuildOptions, Scenario, ScenarioError, Simulation};
use ackclock_net::{FlowId, FlowReport, Recorder, Sighting};
use ackclock_report::{FlowSummary, RecoveryStats};
use ackclock_tcp::{Event, Time};
use rayon::prelude::*;

pub use progress::Progress;
pub use recovery::RecoveryRecorder;
pub use stats::{LinkStats, thread_cpu_s};

/// Why a run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong; `FILE:LINE: KEY: what`.
    #[error("{file}{}{error}", if error.line.is_some() { ":" } else { ": " })]
    Scenario {
        /// The file, or what else made the scenario.
        file: String,
        /// What is wrong.
        error: ScenarioError,
    },
    /// The run failed.
    #[error("{file}{}{error}", if error.line.is_some() { ":" } else { ": " })]
    Run {
        /// As in [`Error::Scenario`].
        file: String,
        /// What is wrong.
        error: ScenarioError,
    },
    /// The system gave no threads.
    #[error("no threads: {0}")]
    Threads(String),
}

/// The steps of a [`Progress`] that a run takes.
pub const STEPS: u64 = 100;

/// A scenario and where it comes from.
pub struct Input<'a> {
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
    /// The statistics of recovery, where a [`RecoveryRecorder`] took them; [`Input::run`] leaves them out.
    pub recovery: Option<RecoveryStats>,
}

impl Input<'_> {
    fn located(&self, error: ScenarioError) -> ScenarioError {
        match self.text {
            Some(text) => error.located(text),
            None => error,
        }
    }

    /// Builds the network of a job. With `events`, a recorder gets the senders' events.
    ///
    /// # Errors
    /// [`Error::Scenario`].
    pub fn build(&self, job: &Job, events: bool) -> Result<Simulation, Error> {
        if self.scenario.flows.is_empty() && self.scenario.cbrs.is_empty() {
            let error = ScenarioError {
                line: None,
                key: "flow".into(),
                message: "nothing to run: there is no `[[flow]]` and no `[[cbr]]`".into(),
                help: Some("`ackclock gateway` puts the links alone between kernels".into()),
            };
            return Err(Error::Scenario { file: self.file.clone(), error });
        }
        let options = BuildOptions { seed: job.seed, strategy: job.strategy.as_deref(), events };
        self.scenario.build(&options).map_err(|e| Error::Scenario { file: self.file.clone(), error: self.located(e) })
    }

    /// Runs a job that is built.
    ///
    /// # Errors
    /// [`Error::Run`].
    pub fn run<R: Recorder>(
        &self,
        job: &Job,
        mut simulation: Simulation,
        recorder: &mut R,
        progress: &Progress,
    ) -> Result<Outcome, Error> {
        let began = thread_cpu_s();
        let mut watched = Watched { inner: recorder, progress, until: simulation.until, steps: 0 };
        simulation
            .run(&mut watched)
            .map_err(|e| self.scenario.explain(&e))
            .map_err(|e| Error::Run { file: self.file.clone(), error: self.located(e) })?;
        let cpu_s = thread_cpu_s() - began;
        progress.advance(STEPS - watched.steps);
        let (flows, links) = (summaries(&simulation, job.seed), links(&simulation, self.scenario));
        Ok(Outcome { flows, links, cpu_s, recovery: None })
    }
}

/// Does `one` for each item on `threads` threads (0: one per processor), with the results in the order of the items.
///
/// # Errors
/// [`Error::Threads`] if there can be no such threads, and the first error of `one`.
pub fn in_parallel<T, R, F>(items: &[T], threads: u16, one: F) -> Result<Vec<R>, Error>
where
    T: Sync,
    R: Send,
    F: Fn(&T) -> Result<R, Error> + Sync + Send,
{
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build();
    let pool = pool.map_err(|e| Error::Threads(e.to_string()))?;
    // One by one, since an item may take a thousand times as long as another.
    let results: Vec<Result<R, Error>> = pool.install(|| items.par_iter().with_max_len(1).map(one).collect());
    results.into_iter().collect()
}

/// Passes what happens on to a recorder, and how far a run has come to the progress bar.
struct Watched<'a, R> {
    inner: &'a mut R,
    progress: &'a Progress,
    until: Time,
    /// Steps of the bar taken so far.
    steps: u64,
}

impl<R: Recorder> Recorder for Watched<'_, R> {
    fn wants_events(&self) -> bool {
        self.inner.wants_events()
    }

    fn wants_packets(&self) -> bool {
        self.inner.wants_packets()
    }

    fn progress(&mut self, now: Time) {
        let steps = (STEPS as f64 * now.secs_f64() / self.until.secs_f64()).min(STEPS as f64) as u64;
        self.progress.advance(steps.saturating_sub(self.steps));
        self.steps = self.steps.max(steps);
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        self.inner.event(flow, event);
    }

    fn packet(&mut self, sighting: &Sighting) {
        self.inner.packet(sighting);
    }
}

fn summaries(simulation: &Simulation, seed: u64) -> Vec<FlowSummary> {
    let flows = simulation.flows.iter().filter_map(|flow| {
        let FlowReport { bytes_acked, stats, completed, drops, spurious_retransmissions, goodput_bps, .. } =
            simulation.network.flow_report(flow.id)?;
        Some(FlowSummary {
            bytes_acked,
            drops: Some(drops),
            spurious_retransmissions: Some(spurious_retransmissions),
            goodput_bps,
            completion_s: completed.map(|at| at.since(flow.start).secs_f64()),
            ..FlowSummary::of_sender(&flow.strategy, seed, flow.id.0, &stats)
        })
    });
    flows.collect()
}

/// The links by entry of the scenario and direction, copies added up.
fn links(simulation: &Simulation, scenario: &Scenario) -> Vec<LinkStats> {
    let mut all: Vec<((usize, bool), LinkStats)> = Vec::new();
    for link in &simulation.links {
        let (Some(r), Some(entry)) = (simulation.network.link_report(link.id), scenario.links.get(link.entry)) else {
            continue;
        };
        let (from, to) = if link.back { (&entry.to, &entry.from) } else { (&entry.from, &entry.to) };
        let stats = LinkStats {
            from: from.clone(),
            to: to.clone(),
            packets: r.packets,
            bytes: r.bytes,
            departed: r.departed,
            dropped_queue: r.dropped_queue,
            dropped_early: r.dropped_early,
            dropped_loss: r.dropped_loss,
            corrupted: r.corrupted,
            max_queue: r.max_queue,
        };
        let key = (link.entry, link.back);
        // Copies follow each other, so that the entry is one of the last two.
        match all.iter_mut().rev().take(2).find(|(k, _)| *k == key) {
            Some((_, sum)) => sum.add(&stats),
            None => all.push((key, stats)),
        }
    }
    all.into_iter().map(|(_, stats)| stats).collect()
}
