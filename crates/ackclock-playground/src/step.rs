//! A sender at one moment of a run.

use ackclock_net::{FlowId, Recorder};
use ackclock_report::EventWriter;
use ackclock_tcp::{Event, Phase, State, Time};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::run::Bench;

/// What happened at one moment, and the sender right after it.
#[derive(Serialize)]
struct Moment {
    /// The events of the moment, as `ackclock run --events` writes them.
    events: Vec<Box<RawValue>>,
    /// `null` while the connection is not open.
    sender: Option<SenderState>,
}

/// All positions and amounts are bytes.
#[derive(Serialize)]
struct SenderState {
    phase: &'static str,
    cwnd: u64,
    /// `null` while unset.
    ssthresh: Option<u64>,
    pipe: u64,
    flight: u64,
    snd_una: u64,
    snd_nxt: u64,
    window_edge: u64,
    recover: u64,
    dupacks: u32,
    dupthresh: u32,
    /// Seconds.
    srtt: f64,
    /// The outstanding segments: first byte, bytes, transmissions, and whether each was sacked,
    /// was judged lost, and is on its way again.
    board: Vec<(u64, u32, u16, bool, bool, bool)>,
}

/// The first flow at the moment `at`, in nanoseconds, as JSON.
///
/// # Errors
/// What is wrong with the scenario or the strategy.
pub fn step(text: &str, strategy: &str, at: u64) -> Result<String, String> {
    let (mut simulation, _) = Bench::new(text)?.build(strategy, true)?;
    let at = Time(at);
    let name = simulation.flows.first().map(|flow| flow.name.clone()).unwrap_or_default();
    let mut here = Here { at, name: &name, strategy, lines: Vec::new() };
    simulation.network.run(at, &mut here).map_err(|error| error.to_string())?;
    let sender = simulation.network.sender_state(FlowId(0)).map(SenderState::of);
    let line = |line: &[u8]| {
        let text = String::from_utf8_lossy(line).trim_end().to_string();
        RawValue::from_string(text).map_err(|error| error.to_string())
    };
    let events = here.lines.iter().map(|l| line(l)).collect::<Result<_, _>>()?;
    serde_json::to_string(&Moment { events, sender }).map_err(|error| error.to_string())
}

impl SenderState {
    fn of(s: &State) -> SenderState {
        let records = s.board.iter();
        SenderState {
            phase: match s.phase {
                Phase::Open if s.dupacks > 0 => "disorder",
                Phase::Open => "open",
                Phase::Recovery => "recovery",
                Phase::Loss => "loss",
            },
            cwnd: s.cwnd,
            ssthresh: (s.ssthresh != u64::MAX).then_some(s.ssthresh),
            pipe: s.board.pipe(),
            flight: s.flight(),
            snd_una: s.snd_una,
            snd_nxt: s.snd_nxt,
            window_edge: s.window_edge,
            recover: s.recover,
            dupacks: s.dupacks,
            dupthresh: s.dupthresh,
            srtt: s.srtt.secs_f64(),
            board: records
                .map(|r| (r.seq, r.len, r.transmissions, r.sacked, r.lost, r.retransmitted))
                .collect(),
        }
    }
}

/// The lines of the events of one moment.
struct Here<'a> {
    at: Time,
    name: &'a str,
    strategy: &'a str,
    lines: Vec<Vec<u8>>,
}

impl Recorder for Here<'_> {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        if flow.0 == 0 && event.at == self.at {
            let mut line = Vec::new();
            // Writing into memory cannot fail.
            let _ = EventWriter::new(&mut line).record(0, self.name, self.strategy, event);
            self.lines.push(line);
        }
    }
}
