//! Runs of a scenario, as lines and as rows of numbers.

use std::collections::HashMap;
use std::ops::ControlFlow;

use ackclock_net::scenario::{BuiltFlow, Scenario, Simulation};
use ackclock_net::{FlowId, Place, Recorder};
use ackclock_report::{EventWriter, FlowSummary};
use ackclock_run::{Input, Job, Progress};
use ackclock_tcp::strategy::ORACLES;
use ackclock_tcp::wire::Control;
use ackclock_tcp::{Cause, Event, EventKind, Registry, Seq, Sighting, Time, TimeoutClass};
use serde::Serialize;

use crate::{FILE, read};

/// Numbers of a row of [`Rows::rows`].
pub const ROW: usize = 11;

/// What the page draws of a run.
#[derive(Default)]
pub struct Rows {
    /// Events in the order of time, [`ROW`] numbers each: the kind (as in [`EventKind`]), the time
    /// in nanoseconds, four numbers of the event, cwnd, ssthresh (-1 while unset), `snd_una` and
    /// `snd_nxt` right after it, and of an ACK its number among those of the receiver, from 1. A
    /// text is its place in `words` of `about`.
    pub rows: Vec<f64>,
    /// ACKs in the order in which the receiver sent them, four numbers each: its number, when it
    /// left in nanoseconds, the position that it acknowledges, and when it came (-1 if it did not).
    pub acks: Vec<f64>,
    /// The rest, as JSON.
    pub about: String,
}

/// What the page says of a run.
#[derive(Serialize)]
struct About<'a> {
    strategy: &'a str,
    mss: u32,
    words: Vec<&'static str>,
    summary: &'a FlowSummary,
    /// How many seconds later than with each oracle the flow completed; `null` where one of both
    /// did not complete, or there is no oracle.
    over: Vec<Option<f64>>,
}

/// The most events that are drawn of a run: some 70,000 segments.
const MOST: usize = 300_000;

/// A scenario of which each run has one strategy in all flows.
pub(crate) struct Bench<'a> {
    registry: Registry,
    scenario: Scenario,
    text: &'a str,
}

impl<'a> Bench<'a> {
    pub fn new(text: &'a str) -> Result<Bench<'a>, String> {
        let registry = Registry::default();
        Ok(Bench { scenario: read(text, &registry)?, registry, text })
    }

    fn input(&self) -> Input<'_> {
        let file = FILE.into();
        let (registry, scenario) = (&self.registry, &self.scenario);
        Input { registry, scenario, file, text: Some(self.text) }
    }

    fn job(&self, strategy: &str) -> Job {
        Job { strategy: Some(strategy.into()), seed: self.scenario.seed }
    }

    /// A network to run, and the flow that is shown.
    pub fn build(&self, strategy: &str, events: bool) -> Result<(Simulation, BuiltFlow), String> {
        let simulation = self.input().build(&self.job(strategy), events);
        let simulation = simulation.map_err(|error| error.to_string())?;
        let flow = simulation.flows.first().cloned();
        Ok((simulation, flow.ok_or("there is no `[[flow]]` to show")?))
    }

    /// Runs a network that was built for this strategy, as the command does.
    pub fn run<R: Recorder>(
        &self,
        strategy: &str,
        simulation: Simulation,
        recorder: &mut R,
    ) -> Result<FlowSummary, String> {
        let outcome =
            self.input().run(&self.job(strategy), simulation, recorder, &Progress::new(0));
        let flows = outcome.map_err(|error| error.to_string())?.flows;
        flows.into_iter().next().ok_or_else(|| "there is no `[[flow]]` to show".into())
    }

    /// When the flow completes with each oracle of this strategy; `bounds` keeps what was found.
    fn bounds(
        &self,
        strategy: &str,
        bounds: &mut HashMap<String, Option<f64>>,
    ) -> Vec<Option<f64>> {
        let completion = |bound: &str| {
            let (simulation, _) = self.build(bound, false).ok()?;
            self.run(bound, simulation, &mut ()).ok()?.completion_s
        };
        let bound = |oracle| {
            let bound = self.registry.parse(strategy).ok()?.bound(oracle);
            *bounds.entry(bound).or_insert_with_key(|bound| completion(bound))
        };
        ORACLES.map(bound).into()
    }

    /// A run with this strategy; the first flow is drawn.
    fn drawn(
        &self,
        strategy: &str,
        bounds: &mut HashMap<String, Option<f64>>,
    ) -> Result<Rows, String> {
        let (simulation, flow) = self.build(strategy, true)?;
        let mut drawn = Drawn { isn: flow.isn, ..Drawn::default() };
        let summary = self.run(strategy, simulation, &mut drawn);
        if drawn.is_full() {
            return Err(format!(
                "the first flow has more than {MOST} events, which is too much to draw; send less"
            ));
        }
        let summary = summary?;
        let over = |bound: Option<f64>| Some(summary.completion_s? - bound?);
        let about = About {
            strategy,
            mss: flow.mss,
            over: self.bounds(strategy, bounds).into_iter().map(over).collect(),
            words: drawn.words,
            summary: &summary,
        };
        let about = serde_json::to_string(&about).map_err(|error| error.to_string())?;
        Ok(Rows { rows: drawn.rows, acks: drawn.acks.concat(), about })
    }
}

/// The events of a run with this strategy in all flows, as `ackclock run --events` writes them.
///
/// # Errors
/// What is wrong with the scenario or the strategy.
pub fn events(text: &str, strategy: &str) -> Result<Vec<u8>, String> {
    let bench = Bench::new(text)?;
    let (simulation, _) = bench.build(strategy, true)?;
    let names = simulation.flows.iter().map(|flow| flow.name.clone()).collect();
    let mut lines = Lines { writer: EventWriter::new(Vec::new()), strategy, names };
    bench.run(strategy, simulation, &mut lines)?;
    lines.writer.finish().map_err(|error| error.to_string())
}

/// A run with each of these strategies in all flows, or what is wrong with the strategy.
///
/// # Errors
/// What is wrong with the scenario.
pub fn runs(text: &str, strategies: &[String]) -> Result<Vec<Result<Rows, String>>, String> {
    let bench = Bench::new(text)?;
    let mut bounds = HashMap::new();
    Ok(strategies.iter().map(|strategy| bench.drawn(strategy, &mut bounds)).collect())
}

struct Lines<'a> {
    writer: EventWriter<Vec<u8>>,
    strategy: &'a str,
    names: Vec<String>,
}

impl Recorder for Lines<'_> {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        // Writing into memory cannot fail.
        let name = self.names.get(flow.0 as usize).map_or("", |name| name);
        let _ = self.writer.record(flow.0, name, self.strategy, event);
    }
}

#[derive(Default)]
struct Drawn {
    rows: Vec<f64>,
    words: Vec<&'static str>,
    acks: Vec<[f64; 4]>,
    /// SYNs that the receiver has sent, which count as no ACKs.
    syns: u32,
    /// The number of the ACK that the sender got last.
    received: f64,
    /// The sequence number of the first data byte, and what the receiver acknowledged last.
    isn: Seq,
    acked: u64,
}

impl Drawn {
    fn is_full(&self) -> bool {
        self.rows.len() > MOST * ROW
    }

    fn word(&mut self, word: &'static str) -> f64 {
        let known = self.words.iter().position(|known| *known == word);
        known.unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
        }) as f64
    }
}

fn place<T: PartialEq>(of: T, all: &[T]) -> f64 {
    all.iter().position(|one| *one == of).unwrap_or_default() as f64
}

impl Recorder for Drawn {
    fn progress(&mut self, _now: Time) -> ControlFlow<()> {
        if self.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        if flow.0 != 0 {
            return;
        }
        let mut number = 0.0;
        let (kind, of): (u8, [f64; 4]) = match event.kind {
            EventKind::Sent { seq, len, cause, transmission, .. } => {
                (0, [seq as f64, len.into(), place(cause, &Cause::ALL), transmission.into()])
            }
            EventKind::Acked { ack, dupacks, newly_acked, newly_sacked, .. } => {
                number = self.received;
                (1, [ack as f64, dupacks.into(), newly_acked as f64, newly_sacked as f64])
            }
            EventKind::Written { seq, len } => (2, [seq as f64, len as f64, 0.0, 0.0]),
            EventKind::Lost { seq, len, transmission, by } => {
                (3, [seq as f64, len.into(), transmission.into(), self.word(by)])
            }
            EventKind::RecoveryEntered { recover, flight, pipe, by } => {
                (4, [recover as f64, flight as f64, pipe as f64, self.word(by)])
            }
            EventKind::RecoveryLeft { by_timeout, cwnd_before } => {
                (5, [u8::from(by_timeout).into(), cwnd_before as f64, 0.0, 0.0])
            }
            EventKind::TimedOut { seq, class, backoff, rto, .. } => {
                (6, [seq as f64, place(class, &TimeoutClass::ALL), backoff.into(), rto as f64])
            }
            EventKind::Undone { by } => (7, [self.word(by), 0.0, 0.0, 0.0]),
            EventKind::MssChanged { mss, lost } => (8, [mss.into(), lost as f64, 0.0, 0.0]),
            EventKind::Arrived { seq, len, spurious } => {
                (9, [seq as f64, len.into(), u8::from(spurious).into(), 0.0])
            }
            EventKind::Dropped { seq, len, transmission, why, .. } => {
                (10, [seq as f64, len.into(), transmission.into(), self.word(why)])
            }
            EventKind::AckDropped { ack, why, .. } => (11, [ack as f64, self.word(why), 0.0, 0.0]),
            EventKind::Reduced { cwnd_before } => (12, [cwnd_before as f64, 0.0, 0.0, 0.0]),
        };
        let ssthresh = if event.ssthresh == u64::MAX { -1.0 } else { event.ssthresh as f64 };
        self.rows.extend([kind.into(), event.at.0 as f64]);
        self.rows.extend(of);
        let state = [event.cwnd as f64, ssthresh, event.snd_una as f64, event.snd_nxt as f64];
        self.rows.extend(state);
        self.rows.push(number);
    }

    fn packet(&mut self, flow: FlowId, place: Place, seen: &Sighting) {
        if flow.0 != 0 || seen.to_receiver {
            return;
        }
        let syn = seen.header.control.contains(Control::SYN);
        let number = f64::from(seen.number.saturating_sub(self.syns));
        match place {
            Place::Receiver if syn => self.syns += 1,
            Place::Receiver => {
                self.acked = seen.header.ack.position(self.isn, self.acked).unwrap_or(self.acked);
                self.acks.push([number, seen.at.0 as f64, self.acked as f64, -1.0]);
            }
            Place::Sender if !syn => {
                self.received = number;
                if let Some(ack) = self.acks.iter_mut().rev().find(|ack| ack[0] == number) {
                    ack[3] = seen.at.0 as f64;
                }
            }
            _ => {}
        }
    }
}
