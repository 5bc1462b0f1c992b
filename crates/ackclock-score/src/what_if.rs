//! How right the answers to "what would have avoided it" are.
//!
//! Each simulated scenario is run again, over the same path with room for everything, with the
//! transmissions lost that were lost before, and no others. Then every strategy that `explain`
//! names runs under the same list of losses, in place of the one of that connection; others that
//! share the path keep theirs. What `explain` says of the capture of the first of these runs is
//! held against that. What it says of the strategy that the sender has is asked for, too: that
//! cannot have avoided its own timeout.

mod summary;

use std::collections::BTreeMap;

use ackclock_explain::{End, Explained, Found, save};
use ackclock_net::scenario::{BuildOptions, Scenario, Simulation};
use ackclock_net::{FlowId, Place, Recorder};
use ackclock_tcp::{Event, EventKind, Registry, Sighting, Time};
use ackclock_trace::{Episode, State};
use rayon::prelude::*;

use crate::captures::{FIRST_PORT, explained, written};
use crate::population;

pub use self::summary::Summary;

/// One answer of `explain`, and what is true.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Of the scenario.
    pub seed: u64,
    /// The flow of the scenario.
    pub flow: usize,
    /// The strategy that it has.
    pub sender: String,
    /// The strategy asked about.
    pub strategy: &'static str,
    /// Whether it repairs the losses without a timeout: as said, and as it is.
    pub avoided: [bool; 2],
    /// Seconds saved: as said, and as they are.
    pub saved: [f64; 2],
    /// What holds the time saved in nine of ten cases, as said.
    pub between: Option<[f64; 2]>,
    /// Nothing was reported behind the loss.
    pub tail: bool,
}

/// Which timeouts of a connection an answer may be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Nothing had been retransmitted before: the other strategy comes to it as the sender did.
    First,
    /// The other strategy has repaired what was lost before in its own way and comes to it with
    /// other windows, at another time.
    Later,
}

impl When {
    /// When this timeout was.
    pub const fn of(episode: &Episode) -> When {
        if episode.slow_start { When::First } else { When::Later }
    }
}

impl Answer {
    /// It is about the strategy that the sender has.
    fn is_of_its_own(&self) -> bool {
        self.sender == self.strategy
    }
}

/// What was asked of timeouts of one sort, and the answers.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Timeouts about which something may have been said.
    pub timeouts: usize,
    /// Of these, those about which something was.
    pub told: usize,
    /// Of the timeouts, those of senders whose own strategy `explain` names.
    pub own: usize,
    /// What was said.
    pub answers: Vec<Answer>,
}

impl Asked {
    /// Adds another scenario's.
    pub fn add(&mut self, other: Asked) {
        self.timeouts += other.timeouts;
        self.told += other.told;
        self.own += other.own;
        self.answers.extend(other.answers);
    }
}

/// What happened to a flow in a run.
#[derive(Default)]
struct Log {
    /// Dropped data: position, length, transmission.
    dropped: Vec<(u64, u32, u32)>,
    /// When, and what was not acknowledged then.
    timeouts: Vec<(Time, u64)>,
    acked: Vec<(Time, u64)>,
    /// New data: when, and to which position.
    sent: Vec<(Time, u64)>,
}

impl Log {
    /// When everything below `position` was acknowledged.
    fn acknowledged(&self, position: u64) -> Option<Time> {
        self.acked.get(self.acked.partition_point(|(_, una)| *una < position)).map(|(at, _)| *at)
    }

    /// When the byte at this position went out first.
    fn began(&self, position: u64) -> Option<Time> {
        self.sent.get(self.sent.partition_point(|(_, end)| *end <= position)).map(|(at, _)| *at)
    }

    /// What became of these bytes: how long it took from when `lost` went out first until all below
    /// `end` was acknowledged, and whether a timeout was needed for anything from `position` on.
    fn repair(&self, position: u64, lost: u64, end: u64) -> Option<(f64, bool)> {
        let took = self.acknowledged(end)?.since(self.began(lost)?).secs_f64();
        Some((took, self.timeouts.iter().any(|(_, una)| (position..end).contains(una))))
    }
}

/// What happened in a run.
struct Logs {
    flows: Vec<Log>,
    /// At the senders.
    seen: Vec<(u32, Sighting)>,
}

impl Recorder for Logs {
    fn event(&mut self, flow: FlowId, event: &Event) {
        let Some(log) = self.flows.get_mut(flow.0 as usize) else { return };
        match event.kind {
            EventKind::Dropped { seq, len, transmission, .. } => {
                log.dropped.push((seq, len, transmission));
            }
            EventKind::TimedOut { .. } => log.timeouts.push((event.at, event.snd_una)),
            EventKind::Sent { seq, len, transmission: 1, .. } => {
                log.sent.push((event.at, seq + u64::from(len)));
            }
            _ => {}
        }
        if log.acked.last().is_none_or(|(_, una)| *una < event.snd_una) {
            log.acked.push((event.at, event.snd_una));
        }
    }

    fn packet(&mut self, flow: FlowId, place: Place, sighting: &Sighting) {
        if place == Place::Sender {
            self.seen.push((flow.0, *sighting));
        }
    }
}

fn run(text: &str, seed: u64) -> Result<(Logs, Simulation), String> {
    let registry = Registry::default();
    let scenario = Scenario::from_toml(text, &registry).map_err(|e| e.to_string())?;
    let options = BuildOptions::new(&registry, seed).events(true);
    let mut simulation = scenario.build(&options).map_err(|e| e.to_string())?;
    let flows = simulation.flows.iter().map(|_| Log::default()).collect();
    let mut logs = Logs { flows, seen: Vec::new() };
    simulation.run(&mut logs).map_err(|e| e.to_string())?;
    Ok((logs, simulation))
}

/// The scenario with another value for the key of each line that begins with it.
fn with(text: &str, key: &str, value: &str) -> String {
    with_each(text, key, |_| Some(value))
}

/// The same; `value` says which for each of these lines, counted from 0.
fn with_each<'a>(text: &str, key: &str, value: impl Fn(usize) -> Option<&'a str>) -> String {
    let mut place = 0..;
    let line = |line: &str| match line.strip_prefix(key).map(str::trim_start) {
        Some(rest) if rest.starts_with('=') => match place.next().and_then(&value) {
            Some(value) => format!("{key} = {value}\n"),
            None => format!("{line}\n"),
        },
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The scenario in which one flow has another strategy.
fn of_another(text: &str, flow: usize, strategy: &str) -> String {
    // Linux has one timer for three ends, which is part of what it does.
    let text = match strategy {
        "linux" => &with(text, "timer", "\"linux\""),
        _ => text,
    };
    let strategy = format!("\"{strategy}\"");
    with_each(text, "strategy", |place| (place == flow).then_some(&*strategy))
}

/// What was dropped of a flow: its name, its SMSS, and the transmissions.
type Dropped<'a> = (&'a str, u32, &'a [(u64, u32, u32)]);

/// The same with these losses alone, and room in every queue.
fn listed(text: &str, flows: &[Dropped<'_>]) -> String {
    let drop = |&(flow, mss, dropped): &Dropped<'_>| {
        // A drop list names the segment whose first byte is in the packet.
        let of = |&(seq, len, transmission): &(u64, u32, u32)| {
            let segment = seq.div_ceil(u64::from(mss));
            (segment * u64::from(mss) < seq + u64::from(len)).then_some((segment, transmission))
        };
        let first = dropped.iter().filter_map(of).filter(|(_, t)| *t == 1);
        let first: Vec<String> = first.map(|(n, _)| n.to_string()).collect();
        let again = dropped.iter().filter_map(of).filter(|(_, t)| *t > 1);
        let again: Vec<String> = again.map(|(n, t)| format!("\"{n}:{}\"", t - 1)).collect();
        (!first.is_empty() || !again.is_empty()).then(|| {
            let (first, again) = (first.join(", "), again.join(", "));
            format!(
                "{{ drop = {{ segments = [{first}], retransmissions = [{again}], flow = \"{flow}\" \
                 }} }}"
            )
        })
    };
    let lists: Vec<String> = flows.iter().filter_map(drop).collect();
    let room = with(text, "queue", "{ droptail = { packets = 100000 } }");
    with(&room, "loss", &format!("[{}]", lists.join(", ")))
}

/// What is said and true of one scenario of single connections; nothing where several compete. The
/// first of the two are of [`When::First`].
///
/// # Errors
/// When the scenario is wrong, or the network.
pub fn single(seed: u64) -> Result<[Asked; 2], String> {
    match population::scenario(seed, None) {
        text if text.contains("count = 3") => Ok(Default::default()),
        text => asked(&text, seed),
    }
}

/// The same of one scenario of Web users behind a shared bottleneck.
///
/// # Errors
/// When the scenario is wrong, or the network.
pub fn web(seed: u64) -> Result<[Asked; 2], String> {
    asked(&population::web(seed), seed)
}

fn asked(text: &str, seed: u64) -> Result<[Asked; 2], String> {
    let (before, simulation) = run(text, seed)?;
    let flows = simulation.flows.iter().zip(&before.flows);
    let dropped: Vec<Dropped<'_>> =
        flows.map(|(flow, log)| (&*flow.name, flow.mss, &*log.dropped)).collect();
    if dropped.iter().all(|(_, _, dropped)| dropped.iter().all(|(.., again)| *again == 0)) {
        return Ok(Default::default());
    }
    let text = listed(text, &dropped);
    let (logs, simulation) = run(&text, seed)?;
    let capture = written(&simulation, &logs.seen, "sender").map_err(|e| e.to_string())?;
    let mut others = Others { text: &text, seed, runs: BTreeMap::new() };
    let mut both = [Asked::default(), Asked::default()];
    for found in said(&capture)? {
        let flow = usize::from(found.connection.client.port() - FIRST_PORT);
        let (Some(log), Some(built)) = (logs.flows.get(flow), simulation.flows.get(flow)) else {
            continue;
        };
        for (place, timeout) in found.connection.from_client.timeouts.iter().enumerate() {
            let Some(episode) = timeout.episode.as_ref().filter(|e| e.repaired > 0) else {
                continue;
            };
            let all = &mut both[When::of(episode) as usize];
            let rescues = found.rescues(End::Client, place);
            all.timeouts += 1;
            all.told += usize::from(!rescues.is_empty());
            all.own += usize::from(NAMED.contains(&&*built.strategy));
            for rescue in rescues {
                let other = others.log(flow, rescue.strategy)?;
                let of = |(avoided, saved)| Answer {
                    seed,
                    flow,
                    sender: built.strategy.clone(),
                    strategy: rescue.strategy,
                    avoided: [rescue.avoided, avoided],
                    saved: [rescue.saved_s, saved],
                    between: rescue.saved_90_s,
                    tail: timeout.state == State::Open,
                };
                all.answers.extend(truth(episode, log, other).map(of));
            }
        }
    }
    Ok(both)
}

/// Strategies that `explain` names and that are a sender's own here.
const NAMED: [&str; 6] = ["sack", "rack-tlp", "linux", "newreno", "net-reno", "net-reno-sack"];

/// The connections of a capture, with what `explain` says would have avoided their timeouts.
pub(crate) fn said(capture: &[u8]) -> Result<Vec<Found>, String> {
    let found = |(number, connection)| Found {
        number,
        capture: 0,
        same_as: None,
        connection: Box::new(connection),
        saved: Vec::new(),
        set_ahead: Default::default(),
        got_through: Vec::new(),
    };
    let connections = explained(capture)?.into_iter().enumerate().map(found).collect();
    let mut all = Explained { connections, ..Explained::default() };
    save(&mut all, 1).map_err(|e| e.to_string())?;
    Ok(all.connections)
}

/// Whether the timeout is avoided in the other run, and how much sooner all is repaired there.
fn truth(episode: &Episode, log: &Log, other: &Log) -> Option<(bool, f64)> {
    let (position, end) = (episode.position, episode.position + episode.repaired);
    let first = episode.lost.iter().position(|lost| *lost > 0)?;
    let lost = position + first as u64 * u64::from(episode.mss);
    let (was, _) = log.repair(position, lost, end)?;
    let (is, timed_out) = other.repair(position, lost, end)?;
    Some((!timed_out, was - is))
}

/// Runs in which one flow has another strategy.
struct Others<'a> {
    text: &'a str,
    seed: u64,
    runs: BTreeMap<(usize, &'static str), Log>,
}

impl Others<'_> {
    /// What happens to this flow with this strategy.
    fn log(&mut self, flow: usize, strategy: &'static str) -> Result<&Log, String> {
        use std::collections::btree_map::Entry;
        Ok(match self.runs.entry((flow, strategy)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let (mut logs, _) = run(&of_another(self.text, flow, strategy), self.seed)?;
                entry.insert(logs.flows.swap_remove(flow))
            }
        })
    }
}

/// What is said and true of the scenarios of these seeds.
///
/// # Errors
/// The first one's, as [`single`] and [`web`].
pub fn all(
    seeds: std::ops::Range<u64>,
    of: fn(u64) -> Result<[Asked; 2], String>,
) -> Result<[Asked; 2], String> {
    let all: Result<Vec<[Asked; 2]>, String> = seeds.into_par_iter().map(of).collect();
    let [mut first, mut later] = [Asked::default(), Asked::default()];
    for [one, other] in all? {
        first.add(one);
        later.add(other);
    }
    Ok([first, later])
}

#[cfg(test)]
mod tests;
