//! Runs of a scenario: one for each strategy and seed, in parallel, with results in a fixed order.
//! [`grid()`] unfolds a scenario into many, by the values that some of its keys take.

mod cancel;
#[cfg(not(target_family = "wasm"))]
mod columns;
mod file;
mod grid;
mod progress;
mod recovery;
mod set;
mod stats;
mod sweep;
mod until;
mod whole_file;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use ackclock_net::scenario::{
    BuildOptions, BuiltFlow, Loss, OutstandingDrop, Queue, Scenario, ScenarioError, Simulation,
};
use ackclock_net::{FlowId, FlowReport, LinkId, LinkReport, ListedLoss, Place, Recorder, Visit};
use ackclock_report::{FlowSummary, Handshake, RecoveryStats};
use ackclock_tcp::{Event, Registry, Sighting, Time};

pub use cancel::Cancel;
#[cfg(not(target_family = "wasm"))]
pub use columns::{Column, Columns, Get};
pub use file::{FileError, error_at, parse};
pub use grid::{Axis, AxisLabel, GridCell, grid, read};
pub use progress::Progress;
pub use recovery::RecoveryRecorder;
pub use set::set;
pub use stats::{LinkStats, thread_cpu_s};
pub use sweep::{RunRow, Sweep, SweepRun, Swept, axis, run_rows, sweep};
#[cfg(not(target_family = "wasm"))]
pub use sweep::{flow_columns, run_columns};
pub use until::{LEAST_RUNS, MOST_RUNS, Settled, Until, until_enough};
pub use whole_file::WholeFile;

/// Why a run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(FileError),
    /// The run failed.
    #[error(transparent)]
    Run(FileError),
    /// A [`Cancel`] ended the runs before their time.
    #[error("interrupted")]
    Cancelled,
    /// The system gave no threads.
    #[error("no threads: {0}")]
    Threads(String),
}

/// The steps of a [`Progress`] that a run takes.
pub const STEPS: u64 = 100;

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
    pub outstanding: Outstanding,
}

/// What a scenario has in store for packets, and no packet met.
#[derive(Clone, Debug, Default)]
pub struct Outstanding {
    /// `[[link.fate]]`s: the link's place in the scenario, and the fate's in the link.
    pub fates: Vec<(usize, usize)>,
    /// Entries of drop lists.
    pub drops: Vec<OutstandingDrop>,
    /// Segments of `reorder`, after the link's place in the scenario.
    pub segments: Vec<(usize, u64)>,
    /// `[[link]]`s that no packet came to.
    pub links: Vec<usize>,
    /// `[[link]]`s whose queue let none of the packets in that came in a direction.
    pub queues: Vec<usize>,
}

impl Input<'_> {
    fn located(&self, error: ScenarioError) -> FileError {
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
        let outstanding = Outstanding {
            fates: simulation.outstanding_fates(),
            drops: simulation.outstanding_drops(),
            segments: simulation.outstanding_segments(),
            ..idle(&simulation)
        };
        let flows = summaries(simulation, job.seed);
        Ok(Outcome { flows, links, cpu_s, recovery: None, outstanding })
    }

    /// Which `[[link.fate]]`s, which entries of lists and which links no packet met, and in how
    /// many of these runs; which queues hold no packet; and what begins once they have ended.
    pub fn outstanding<'a>(
        &self,
        of_runs: impl IntoIterator<Item = &'a Outstanding>,
    ) -> Vec<FileError> {
        let (mut fates, mut drops, mut all) = (BTreeMap::new(), BTreeMap::new(), 0);
        let [mut links, mut queues] = [BTreeMap::new(), BTreeMap::new()];
        let mut segments = BTreeMap::new();
        for outstanding in of_runs {
            all += 1;
            outstanding.fates.iter().for_each(|fate| *fates.entry(fate).or_insert(0) += 1);
            outstanding.drops.iter().for_each(|drop| *drops.entry(drop).or_insert(0) += 1);
            outstanding.segments.iter().for_each(|one| *segments.entry(*one).or_insert(0) += 1);
            outstanding.links.iter().for_each(|link| *links.entry(*link).or_insert(0) += 1);
            outstanding.queues.iter().for_each(|link| *queues.entry(*link).or_insert(0) += 1);
        }
        let of = |count: usize| match all {
            1 => String::new(),
            all => format!(" in {count} of {all} runs"),
        };
        let told = |key: &str, what: &str, count: usize| {
            self.located(error_at(key, format!("no packet met {what}{}", of(count))))
        };
        let fate = |(&(link, fate), count)| {
            told(&format!("link[{link}].fate[{fate}]"), "this fate", count)
        };
        let mut errors: Vec<FileError> = fates.into_iter().map(fate).collect();
        let mut lists: BTreeMap<_, Vec<ListedLoss>> = BTreeMap::new();
        for (drop, count) in drops {
            lists.entry((drop.link, drop.loss, count)).or_default().push(drop.entry);
        }
        errors.extend(lists.into_iter().map(|((link, loss, count), entries)| {
            let what = format!("{} of this list", listed(&entries));
            told(&format!("link[{link}].loss[{loss}].drop"), &what, count)
        }));
        let mut listed_late: BTreeMap<_, Vec<ListedLoss>> = BTreeMap::new();
        for ((link, segment), count) in segments {
            let entry = ListedLoss { segment, transmission: 1 };
            listed_late.entry((link, count)).or_default().push(entry);
        }
        errors.extend(listed_late.into_iter().map(|((link, count), entries)| {
            let what = format!("{} of this list", listed(&entries));
            told(&format!("link[{link}].reorder.segments"), &what, count)
        }));
        errors.extend(queues.into_iter().filter(|(link, _)| self.is_small(*link)).map(
            |(link, count)| {
                let message = format!("no packet had room in this queue{}", of(count));
                self.located(error_at(&format!("link[{link}].queue"), message))
            },
        ));
        errors.extend(links.into_iter().map(|(link, count)| {
            let why = "a route has the fewest links, and of several between two nodes the first";
            let message = format!("no packet came here{}; {why}", of(count));
            self.located(error_at(&format!("link[{link}]"), message))
        }));
        errors.extend(self.too_late());
        errors
    }

    /// Whether the queue of a link may be too small for a packet.
    fn is_small(&self, link: usize) -> bool {
        let queue = self.scenario.links.get(link).and_then(|link| link.queue.as_ref());
        matches!(queue, Some(Queue::Droptail(queue)) if queue.bytes.is_some())
    }

    /// What begins once the run has ended.
    fn too_late(&self) -> impl Iterator<Item = FileError> {
        let end = self.scenario.duration;
        let links = self.scenario.links.iter().enumerate().flat_map(|(i, link)| {
            let spikes = link.spikes.iter().map(|spike| (spike.at, "spikes", "at"));
            let losses = link.loss.iter().enumerate().filter_map(move |(j, loss)| match loss {
                Loss::ThreeState(l) => Some((j, (l.second_at, "loss", "three_state.second_at"))),
                _ => None,
            });
            let changes = link.changes.iter().map(|change| (change.at, "change", "at"));
            let outages = link.outages.iter().map(|outage| (outage.from, "outage", "from"));
            let all = changes.enumerate().chain(outages.enumerate()).chain(spikes.enumerate());
            all.chain(losses).map(move |(j, (begins, what, key))| {
                (begins, format!("link[{i}].{what}[{j}].{key}"))
            })
        });
        let flows = self.scenario.flows.iter().map(|flow| flow.start).enumerate();
        let flows = flows.map(|(i, begins)| (begins, format!("flow[{i}].start")));
        let cbrs = self.scenario.cbrs.iter().map(|cbr| cbr.start).enumerate();
        let cbrs = cbrs.map(|(i, begins)| (begins, format!("cbr[{i}].start")));
        let late = links.chain(flows).chain(cbrs).filter(move |(begins, _)| begins.0 >= end.0);
        late.map(move |(_, key)| {
            self.located(error_at(&key, format!("the run ends before this, at {end}")))
        })
    }
}

/// Entries of a drop list as scenarios have them: `14`, `16-20`, and `14:1` for a retransmission.
fn listed(entries: &[ListedLoss]) -> String {
    let follows = |a: &ListedLoss, b: &ListedLoss| {
        (a.transmission, b.transmission) == (1, 1) && b.segment - a.segment == 1
    };
    let (first, again): (Vec<ListedLoss>, Vec<_>) =
        entries.iter().partition(|entry| entry.transmission == 1);
    let ranges = first.chunk_by(follows).map(|range| match range {
        [one] => one.segment.to_string(),
        [one, .., last] => format!("{}-{}", one.segment, last.segment),
        [] => String::new(),
    });
    let again = again.iter().map(|entry| format!("{}:{}", entry.segment, entry.transmission - 1));
    ranges.chain(again).collect::<Vec<_>>().join(", ")
}

/// Does `one` for each item on `threads` threads (0: one per processor), with the results in the
/// order of the items. In a browser there is one thread.
///
/// # Errors
/// [`Error::Threads`] if there can be no such threads, and the first error of `one`.
#[cfg(not(target_family = "wasm"))]
pub fn in_parallel<T, R, F>(items: &[T], threads: u16, one: F) -> Result<Vec<R>, Error>
where
    T: Sync,
    R: Send,
    F: Fn(&T) -> Result<R, Error> + Sync + Send,
{
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::{iter, thread};

    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads.into(),
    };
    let threads = threads.min(items.len().max(1));
    // One by one, since an item may take a thousand times as long as another; and in their order,
    // so that what is cancelled is their end.
    let next = AtomicUsize::new(0);
    let work = || {
        let turn = || next.fetch_add(1, Ordering::Relaxed);
        let items = iter::repeat_with(turn).map_while(|i| Some((i, items.get(i)?)));
        items.map(|(i, item)| (i, one(item))).collect::<Vec<_>>()
    };
    // A thread of its own would not use what the allocator has free here.
    let done = if threads == 1 {
        vec![work()]
    } else {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|e| Error::Threads(e.to_string()))?.broadcast(|_| work())
    };
    let mut done: Vec<(usize, Result<R, Error>)> = done.into_iter().flatten().collect();
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// One after the other: a browser has no threads for it.
#[cfg(target_family = "wasm")]
pub fn in_parallel<T, R, F>(items: &[T], _threads: u16, one: F) -> Result<Vec<R>, Error>
where
    F: Fn(&T) -> Result<R, Error>,
{
    items.iter().map(one).collect()
}

/// As [`in_parallel`], but what was [cancelled](Error::Cancelled) is `None`, and what was done
/// before is kept. Items begin in the order of their turns, and none once `cancel` is set.
///
/// # Errors
/// [`Error::Threads`], and the first other error of `one`.
pub fn in_parallel_until<T, R, F, K: Ord>(
    items: &[T],
    (threads, cancel): (u16, &Cancel),
    turn: impl Fn(&T) -> K,
    one: F,
) -> Result<Vec<Option<R>>, Error>
where
    T: Sync,
    R: Send,
    F: Fn(&T) -> Result<R, Error> + Sync + Send,
{
    let mut turns: Vec<(usize, &T)> = items.iter().enumerate().collect();
    turns.sort_by_key(|(_, item)| turn(item));
    let results = in_parallel(&turns, threads, |(_, item)| {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        match one(item) {
            Ok(result) => Ok(Some(result)),
            Err(Error::Cancelled) => Ok(None),
            Err(error) => Err(error),
        }
    })?;
    let mut placed: Vec<_> = turns.into_iter().map(|(i, _)| i).zip(results).collect();
    placed.sort_by_key(|(i, _)| *i);
    Ok(placed.into_iter().map(|(_, result)| result).collect())
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
            completed,
            drops,
            spurious_retransmissions,
            goodput_bps,
            ..
        } = report;
        FlowSummary {
            bytes_acked,
            drops: Some(drops),
            spurious_retransmissions: Some(spurious_retransmissions),
            goodput_bps,
            completion_s: completed.map(|at| at.since(flow.start).secs_f64()),
            ..FlowSummary::of_sender(&flow.strategy, seed, flow.id.0, &stats)
        }
    });
    flows.collect()
}

/// The links that no packet passed.
fn idle(simulation: &Simulation) -> Outstanding {
    let mut idle = Outstanding::default();
    for links in simulation.links.chunk_by(|a, b| a.entry == b.entry) {
        let report = |back: bool| {
            let links = links.iter().filter(move |link| link.back == back);
            let reports = links.filter_map(|link| simulation.network.link_report(link.id));
            reports.fold([0; 4], |[came, lost, full, departed], r| {
                let LinkReport { packets, dropped_loss, dropped_queue, .. } = r;
                let departed = departed + r.departed;
                [came + packets, lost + dropped_loss, full + dropped_queue, departed]
            })
        };
        let ways = [false, true].map(report);
        if ways.iter().all(|[came, lost, ..]| came + lost == 0) {
            idle.links.push(links[0].entry);
        }
        if ways.iter().any(|[_, _, full, departed]| *full > 0 && *departed == 0) {
            idle.queues.push(links[0].entry);
        }
    }
    idle
}

/// The links by entry of the scenario and direction, copies added up.
fn links(simulation: &Simulation, scenario: &Scenario) -> Vec<LinkStats> {
    let mut all: Vec<((usize, bool), LinkStats)> = Vec::new();
    for link in &simulation.links {
        let (Some(r), Some(entry)) =
            (simulation.network.link_report(link.id), scenario.links.get(link.entry))
        else {
            continue;
        };
        let (from, to) =
            if link.back { (&entry.to, &entry.from) } else { (&entry.from, &entry.to) };
        let stats = LinkStats {
            from: from.clone(),
            to: to.clone(),
            packets: r.packets,
            bytes: r.bytes,
            departed: r.departed,
            dropped_queue: r.dropped_queue,
            dropped_early: r.dropped_early,
            marked: r.marked,
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
