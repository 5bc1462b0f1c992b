//! What mechanisms in Python see: copies of what those of the engine see.

use ackclock_tcp::Phase;
use ackclock_tcp::Record;
use ackclock_tcp::recovery::{detect, segmentation};
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
    fn closed(&self) -> bool {
        self.0.closed
    }

    #[getter]
    fn fin(&self) -> bool {
        self.0.fin
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
    fn timed_out(&self) -> Option<u64> {
        self.0.timed_out
    }

    #[getter]
    fn min_rto(&self) -> f64 {
        self.0.min_rto.secs_f64()
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
    fn assumed_dupacks(&self) -> u32 {
        self.0.assumed_dupacks
    }

    #[getter]
    fn emulated(&self) -> u32 {
        self.0.emulated
    }

    #[getter]
    fn limited(&self) -> u64 {
        self.0.limited
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
    fn max_window(&self) -> u64 {
        self.0.max_window
    }

    #[getter]
    fn nagle(&self) -> bool {
        self.0.nagle
    }

    #[getter]
    fn tick_phase(&self) -> f64 {
        self.0.tick_phase.secs_f64()
    }

    #[getter]
    fn recovering(&self) -> bool {
        self.0.recovering()
    }

    #[getter]
    fn received_dupacks(&self) -> u32 {
        self.0.received_dupacks()
    }

    #[getter]
    fn departed(&self) -> u64 {
        self.0.departed()
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
    fn packets_in_flight(&self) -> u32 {
        self.0.packets_in_flight()
    }

    #[getter]
    fn can_send_sequential(&self) -> bool {
        self.0.can_send_sequential()
    }

    #[getter]
    fn sequential_len(&self) -> Option<u32> {
        self.0.sequential_len()
    }

    #[getter]
    fn new_len(&self) -> Option<u32> {
        self.0.new_len()
    }

    #[getter]
    fn unsent_len(&self) -> Option<u32> {
        self.0.unsent_len()
    }

    #[getter]
    fn segments(&self) -> Vec<Segment> {
        self.0.board.iter().map(|record| Segment(*record)).collect()
    }
}

/// An outstanding segment, as the scoreboard has it.
#[pyclass(frozen, module = "ackclock")]
pub struct Segment(pub Record);

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
    #[getter]
    fn waits(&self) -> bool {
        self.0.waits()
    }

    #[getter]
    fn on_its_way(&self) -> bool {
        self.0.on_its_way()
    }

    #[getter]
    fn sent_before(&self) -> u64 {
        self.0.sent_before()
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
    fn sacked_before(&self) -> u64 {
        self.0.sacked_before
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
    fn lost(&self) -> u32 {
        self.0.lost
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
    fn dsack_segments(&self) -> u32 {
        self.0.dsack_segments
    }

    #[getter]
    fn dsack_of_probe(&self) -> bool {
        self.0.dsack_of_probe
    }

    #[getter]
    fn dsack_again(&self) -> u32 {
        self.0.dsack_again
    }

    #[getter]
    fn original(&self) -> Option<(u64, u64)> {
        self.0.original
    }

    #[getter]
    fn sacked_to(&self) -> u64 {
        self.0.sacked_to
    }

    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(Span::secs_f64)
    }

    #[getter]
    fn rtt_latest(&self) -> Option<f64> {
        self.0.rtt_latest.map(Span::secs_f64)
    }

    #[getter]
    fn ts_echo(&self) -> Option<u32> {
        self.0.ts_echo
    }

    #[getter]
    fn retransmission_acked(&self) -> Option<f64> {
        self.0.retransmission_acked.map(seconds)
    }

    #[getter]
    fn last_sent(&self) -> Option<f64> {
        self.0.last_sent.map(seconds)
    }

    #[getter]
    fn unchanged(&self) -> bool {
        self.0.unchanged
    }

    #[getter]
    fn retransmission_lost(&self) -> bool {
        self.0.retransmission_lost
    }
}

/// The network lost a transmission.
#[pyclass(frozen, module = "ackclock")]
pub struct Notice(pub detect::Notice);

#[pymethods]
impl Notice {
    #[getter]
    fn seq(&self) -> u64 {
        self.0.lost.seq
    }

    #[getter]
    fn number(&self) -> u32 {
        self.0.lost.number
    }

    #[getter]
    fn at_once(&self) -> bool {
        self.0.at_once
    }
}

/// A segment with data that is being sent.
#[pyclass(frozen, module = "ackclock")]
pub struct Sending(pub segmentation::Sending);

#[pymethods]
impl Sending {
    #[getter]
    fn seq(&self) -> u64 {
        self.0.seq
    }

    #[getter]
    fn len(&self) -> u32 {
        self.0.len
    }

    #[getter]
    fn first(&self) -> bool {
        self.0.first
    }

    #[getter]
    fn cause(&self) -> &'static str {
        self.0.cause.name()
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }
}
