//! How right the answers to "what would have avoided it" are.
//!
//! Each simulated connection is run again, over the same path with room for everything, with the
//! transmissions lost that were lost before, and no others. Then every strategy that `explain`
//! names runs under the same list of losses. What `explain` says of the capture of the first run is
//! held against that.

use std::fmt::Write as _;

use ackclock_explain::{Rescue, replay};
use ackclock_net::scenario::{BuildOptions, Scenario, Simulation};
use ackclock_net::{FlowId, Place, Recorder};
use ackclock_report::{CaptureFormat, CaptureWriter, percentile};
use ackclock_run::handshake;
use ackclock_tcp::{Event, EventKind, Registry, Sighting, Span, Time};
use ackclock_trace::{Connection, Episode, Timeout};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::captures::explained;
use crate::population;

/// Differences in time saved below this are none: two ticks.
const TICKS: f64 = 0.02;

/// The time 0 of a simulation in its capture: the year 2000.
const EPOCH: u64 = 946_684_800_000_000_000;

/// One answer of `explain`, and what is true.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Of the scenario.
    pub seed: u64,
    /// The strategy asked about.
    pub strategy: &'static str,
    /// Whether it repairs the losses without a timeout: as said, and as it is.
    pub avoided: [bool; 2],
    /// Seconds saved: as said, and as they are.
    pub saved: [f64; 2],
    /// What holds the time saved in nine of ten cases, as said.
    pub between: Option<[f64; 2]>,
    /// What the timeout waited, and the round trip, in seconds.
    pub scale: [f64; 2],
}

/// What happened to a flow in a run.
#[derive(Default)]
struct Log {
    /// Dropped data: position, length, transmission.
    dropped: Vec<(u64, u32, u32)>,
    timeouts: Vec<Time>,
    acked: Vec<(Time, u64)>,
    seen: Vec<Sighting>,
}

impl Recorder for Log {
    fn event(&mut self, _: FlowId, event: &Event) {
        match event.kind {
            EventKind::Dropped { seq, len, transmission, .. } => {
                self.dropped.push((seq, len, transmission));
            }
            EventKind::TimedOut { .. } => self.timeouts.push(event.at),
            _ => {}
        }
        if self.acked.last().is_none_or(|(_, una)| *una < event.snd_una) {
            self.acked.push((event.at, event.snd_una));
        }
    }

    fn packet(&mut self, _: FlowId, place: Place, sighting: &Sighting) {
        if place == Place::Sender {
            self.seen.push(*sighting);
        }
    }
}

impl Log {
    /// When everything below `position` was acknowledged.
    fn acknowledged(&self, position: u64) -> Option<Time> {
        self.acked.get(self.acked.partition_point(|(_, una)| *una < position)).map(|(at, _)| *at)
    }
}

fn run(text: &str, seed: u64, strategy: Option<&str>) -> Result<(Log, Simulation), String> {
    let registry = Registry::default();
    let text = match strategy {
        Some(strategy) => with(text, "strategy", &format!("\"{strategy}\"")),
        None => text.to_string(),
    };
    let scenario = Scenario::from_toml(&text, &registry).map_err(|e| e.to_string())?;
    let options = BuildOptions::new(&registry, seed).events(true);
    let mut simulation = scenario.build(&options).map_err(|e| e.to_string())?;
    let mut log = Log::default();
    simulation.run(&mut log).map_err(|e| e.to_string())?;
    Ok((log, simulation))
}

/// The scenario with another value for the key of each line that begins with it.
fn with(text: &str, key: &str, value: &str) -> String {
    let line = |line: &str| match line.strip_prefix(key).map(str::trim_start) {
        Some(rest) if rest.starts_with('=') => format!("{key} = {value}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The same with these losses alone, and room in every queue.
fn listed(text: &str, mss: u32, dropped: &[(u64, u32, u32)]) -> String {
    let of = |&(seq, _, transmission): &(u64, u32, u32)| (seq / u64::from(mss), transmission);
    let first = dropped.iter().map(of).filter(|(_, t)| *t == 1).map(|(n, _)| n.to_string());
    let again = dropped.iter().map(of).filter(|(_, t)| *t > 1);
    let again = again.map(|(n, t)| format!("\"{n}:{}\"", t - 1));
    let loss = format!(
        "[{{ drop = {{ segments = [{}], retransmissions = [{}] }} }}]",
        first.collect::<Vec<_>>().join(", "),
        again.collect::<Vec<_>>().join(", ")
    );
    let room = with(text, "queue", "{ droptail = { packets = 100000 } }");
    with(&room, "loss", &loss)
}

/// The answers about one scenario; none where nothing timed out, or more than losses happened.
///
/// # Errors
/// When the scenario is wrong, or the network.
pub fn answers(seed: u64) -> Result<Vec<Answer>, String> {
    let text = population::scenario(seed, None);
    let more = ["reorder", "spikes", "jitter", "duplicate", "count = 3"];
    if more.iter().any(|key| text.contains(key)) {
        return Ok(Vec::new());
    }
    let (before, simulation) = run(&text, seed, None)?;
    let Some(mss) = simulation.flows.first().map(|flow| flow.mss) else { return Ok(Vec::new()) };
    if before.dropped.iter().all(|(_, _, transmission)| *transmission == 0) {
        return Ok(Vec::new());
    }
    let text = listed(&text, mss, &before.dropped);
    let (log, simulation) = run(&text, seed, None)?;
    let Some(connection) = captured(&simulation, &log.seen)? else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    let asked = |timeout: &&Timeout| timeout.episode.as_ref().is_some_and(|e| e.slow_start);
    for timeout in connection.from_client.timeouts.iter().filter(asked) {
        let Some(episode) = &timeout.episode else { continue };
        let scale = [timeout.waited.secs_f64(), episode.rtt.secs_f64()];
        for rescue in replay(timeout) {
            all.extend(answer(seed, &text, &log, episode, &rescue, scale)?);
        }
    }
    Ok(all)
}

/// One of the answers, and the truth.
fn answer(
    seed: u64,
    text: &str,
    log: &Log,
    episode: &Episode,
    rescue: &Rescue,
    scale: [f64; 2],
) -> Result<Option<Answer>, String> {
    let end = episode.position + episode.repaired;
    let start = Time(episode.start.0 - EPOCH);
    // Linux has one timer for three ends, which is part of what it does.
    let text = match rescue.strategy {
        "linux" => &with(text, "timer", "\"linux\""),
        _ => text,
    };
    let (other, _) = run(text, seed, Some(rescue.strategy))?;
    let (Some(was), Some(is)) = (log.acknowledged(end), other.acknowledged(end)) else {
        return Ok(None);
    };
    let timed_out = other.timeouts.iter().any(|at| *at >= start && *at <= is);
    let saved = Span(was.0).secs_f64() - Span(is.0).secs_f64();
    Ok(Some(Answer {
        seed,
        strategy: rescue.strategy,
        avoided: [rescue.avoided, !timed_out],
        saved: [rescue.saved_s, saved],
        between: rescue.saved_90_s,
        scale,
    }))
}

/// The first connection of a capture at the sender.
fn captured(simulation: &Simulation, seen: &[Sighting]) -> Result<Option<Connection>, String> {
    let text = |error: std::io::Error| error.to_string();
    let mut capture =
        CaptureWriter::new(Vec::new(), CaptureFormat::Pcap, "sender").map_err(text)?;
    if let Some(flow) = simulation.flows.first() {
        capture.connection(0, [0; 2], handshake(flow));
    }
    seen.iter().try_for_each(|packet| capture.packet(0, packet)).map_err(text)?;
    let file = capture.finish().map_err(text)?;
    explained(&file).map(|all| all.into_iter().next())
}

/// The answers about the scenarios of these seeds.
///
/// # Errors
/// The first one's, as [`answers`].
pub fn all(seeds: std::ops::Range<u64>) -> Result<Vec<Answer>, String> {
    let all: Result<Vec<Vec<Answer>>, String> = seeds.into_par_iter().map(answers).collect();
    Ok(all?.concat())
}

/// How right they are.
pub struct Summary {
    pairs: usize,
    /// Whose "avoided" is right.
    right: usize,
    /// Off by how much, in parts of what is saved: of those that do save, sorted.
    off: Vec<f64>,
    /// Of those said to avoid the timeout: whose interval holds what is saved.
    held: usize,
    /// Of them, sorted: what is saved beyond what was said, in parts of what the timeout waited,
    /// and in round trips.
    beyond: [Vec<f64>; 2],
}

impl Summary {
    /// Of these.
    pub fn of(answers: &[Answer]) -> Summary {
        let saves = answers.iter().filter(|a| a.avoided[1] && a.saved[1] > TICKS);
        let mut off: Vec<f64> =
            saves.map(|a| (a.saved[0] - a.saved[1]).abs() / a.saved[1]).collect();
        off.sort_by(f64::total_cmp);
        let right = answers.iter().filter(|a| a.avoided[0] == a.avoided[1]).count();
        let (mut held, mut beyond) = (0, [Vec::new(), Vec::new()]);
        for a in answers {
            let Some([least, most]) = a.between else { continue };
            held += usize::from(least <= a.saved[1] && a.saved[1] <= most);
            for (beyond, unit) in beyond.iter_mut().zip(a.scale) {
                beyond.push((a.saved[1] - a.saved[0]) / unit.max(1e-9));
            }
        }
        beyond.iter_mut().for_each(|beyond| beyond.sort_by(f64::total_cmp));
        Summary { pairs: answers.len(), right, off, held, beyond }
    }

    /// How many intervals there are.
    fn intervals(&self) -> usize {
        self.beyond[0].len()
    }

    /// The part of the intervals that hold what is saved.
    fn coverage(&self) -> f64 {
        self.held as f64 / self.intervals().max(1) as f64
    }

    /// What the intervals are made of: in one of twenty cases less is saved than said by so many
    /// times what the timeout waited, and more by so many round trips.
    fn bounds(&self) -> Option<[f64; 2]> {
        Some([-percentile(&self.beyond[0], 5.0)?, percentile(&self.beyond[1], 95.0)?])
    }

    /// A few lines.
    pub fn table(&self) -> String {
        let percent = 100.0 * self.right as f64 / self.pairs.max(1) as f64;
        let mut out = format!("pairs {}, \"avoided\" right in {percent:.1} %\n", self.pairs);
        let _ = writeln!(out, "error of the time saved, of {} that save:", self.off.len());
        for at in [50.0, 90.0] {
            let _ = match percentile(&self.off, at) {
                Some(off) => writeln!(out, "  {at} % are off by at most {:.1} %", 100.0 * off),
                None => Ok(()),
            };
        }
        if let Some([less, more]) = self.bounds() {
            let percent = 100.0 * self.coverage();
            let _ = writeln!(out, "90 % intervals, of {}: {percent:.1} % hold", self.intervals());
            let _ = writeln!(
                out,
                "  here they would reach {less:.2} of what was waited below, {more:.1} round trips \
                 above"
            );
        }
        out
    }

    /// The same.
    pub fn json(&self) -> Value {
        json!({
            "pairs": self.pairs,
            "avoided_right": self.right,
            "saving": self.off.len(),
            "median_error": percentile(&self.off, 50.0),
            "error_90": percentile(&self.off, 90.0),
            "intervals": self.intervals(),
            "intervals_hold": self.held,
            "interval_bounds": self.bounds(),
        })
    }
}

#[cfg(test)]
mod tests;
