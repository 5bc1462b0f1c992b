//! What mechanisms in Python see: copies of what those of the engine see.

use ackclock_tcp::Phase;
use ackclock_tcp::Record;
use ackclock_tcp::{AckSummary, Span, Time};
use pyo3::prelude::*;

/// Seconds. Nanoseconds survive the way there and back.
pub fn seconds(time: Time) -> f64 {
    time.nanos() as f64 / 1e9
}

/// A time of so many seconds; never if there are none.
pub fn time(seconds: Option<f64>) -> Time {
    seconds.map_or(Time::NEVER, |s| Time(nanos(s)))
}

/// A span of so many seconds.
pub fn span(seconds: f64) -> Span {
    Span(nanos(seconds))
}

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// The state of a sender, with the field's names. Positions, bytes, and seconds.
#[pyclass(frozen, module = "ackclock")]
pub struct State(pub ackclock_tcp::State);

#[pymethods]
impl State {
    #[getter]
    fn now(&self) -> f64 {
        seconds(self.0.now)
    }

    #[getter]
    fn mss(&self) -> u64 {
        self.0.mss
    }

    #[getter]
    fn initial_window(&self) -> u64 {
        self.0.initial_window
    }

    #[getter]
    fn sack(&self) -> bool {
        self.0.sack
    }

    #[getter]
    fn snd_una(&self) -> u64 {
        self.0.snd_una
    }

    #[getter]
    fn snd_nxt(&self) -> u64 {
        self.0.snd_nxt
    }

    #[getter]
    fn snd_max(&self) -> u64 {
        self.0.snd_max
    }

    #[getter]
    fn window_edge(&self) -> u64 {
        self.0.window_edge
    }

    #[getter]
    fn written(&self) -> u64 {
        self.0.written
    }

    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd
    }

    #[getter]
    fn ssthresh(&self) -> u64 {
        self.0.ssthresh
    }

    #[getter]
    fn srtt(&self) -> f64 {
        self.0.srtt.secs_f64()
    }

    #[getter]
    fn rttvar(&self) -> f64 {
        self.0.rttvar.secs_f64()
    }

    #[getter]
    fn dupthresh(&self) -> u32 {
        self.0.dupthresh
    }

    #[getter]
    fn dupacks(&self) -> u32 {
        self.0.dupacks
    }

    #[getter]
    fn recover(&self) -> u64 {
        self.0.recover
    }

    #[getter]
    fn phase(&self) -> &'static str {
        match self.0.phase {
            Phase::Open => "open",
            Phase::Recovery => "recovery",
            Phase::Loss => "loss",
        }
    }

    #[getter]
    fn flight(&self) -> u64 {
        self.0.flight()
    }

    #[getter]
    fn window(&self) -> u64 {
        self.0.window()
    }

    #[getter]
    fn pipe(&self) -> u64 {
        self.0.board.pipe()
    }

    #[getter]
    fn can_send_sequential(&self) -> bool {
        self.0.can_send_sequential()
    }

    #[getter]
    fn segments(&self) -> Vec<Segment> {
        self.0.board.iter().map(|record| Segment(*record)).collect()
    }
}

/// An outstanding segment, as the scoreboard has it.
#[pyclass(frozen, module = "ackclock")]
pub struct Segment(Record);

#[pymethods]
impl Segment {
    #[getter]
    fn seq(&self) -> u64 {
        self.0.seq
    }

    #[getter]
    fn len(&self) -> u32 {
        self.0.len
    }

    #[getter]
    fn end(&self) -> u64 {
        self.0.end()
    }

    #[getter]
    fn first_sent(&self) -> f64 {
        seconds(self.0.first_sent)
    }

    #[getter]
    fn last_sent(&self) -> f64 {
        seconds(self.0.last_sent)
    }

    #[getter]
    fn transmissions(&self) -> u16 {
        self.0.transmissions
    }

    #[getter]
    fn sacked(&self) -> bool {
        self.0.sacked
    }

    #[getter]
    fn lost(&self) -> bool {
        self.0.lost
    }

    #[getter]
    fn retransmitted(&self) -> bool {
        self.0.retransmitted
    }
}

/// What one ACK says, summed up once for all mechanisms.
#[pyclass(frozen, module = "ackclock")]
pub struct Ack(pub AckSummary);

#[pymethods]
impl Ack {
    #[getter]
    fn ack(&self) -> u64 {
        self.0.ack
    }

    #[getter]
    fn newly_acked(&self) -> u64 {
        self.0.newly_acked
    }

    #[getter]
    fn newly_sacked(&self) -> u64 {
        self.0.newly_sacked
    }

    #[getter]
    fn newly_lost(&self) -> u64 {
        self.0.newly_lost
    }

    #[getter]
    fn delivered(&self) -> u32 {
        self.0.delivered
    }

    #[getter]
    fn duplicate(&self) -> bool {
        self.0.duplicate
    }

    #[getter]
    fn prior_dupacks(&self) -> u32 {
        self.0.prior_dupacks
    }

    #[getter]
    fn prior_una(&self) -> u64 {
        self.0.prior_una
    }

    #[getter]
    fn prior_flight(&self) -> u64 {
        self.0.prior_flight
    }

    #[getter]
    fn flight_size(&self) -> u64 {
        self.0.flight_size
    }

    #[getter]
    fn dsack(&self) -> Option<(u64, u64)> {
        self.0.dsack
    }

    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(Span::secs_f64)
    }

    #[getter]
    fn ts_echo(&self) -> Option<u32> {
        self.0.ts_echo
    }

    #[getter]
    fn retransmission_lost(&self) -> bool {
        self.0.retransmission_lost
    }
}
