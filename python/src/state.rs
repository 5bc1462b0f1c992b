//! What mechanisms in Python see: copies of what those of the engine see.

use ackclock_tcp::Phase;
use ackclock_tcp::Record;
use ackclock_tcp::recovery::{detect, segmentation};
use ackclock_tcp::{AckSummary, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Seconds. Nanoseconds survive the way there and back.
pub fn seconds(time: Time) -> f64 {
    time.nanos() as f64 / 1e9
}

/// A span, or a time to come, that Python returned: seconds from 0 on, of which infinitely many are
/// for ever.
pub struct Seconds(f64);

impl<'py> FromPyObject<'_, 'py> for Seconds {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match nanos(object)? {
            nanos if nanos < 0.0 => Err(no_time()),
            nanos => Ok(Seconds(nanos)),
        }
    }
}

impl Seconds {
    pub fn span(self) -> Span {
        Span(self.0 as u64)
    }

    pub fn time(self) -> Time {
        Time(self.0 as u64)
    }
}

/// A deadline that Python returned; never if there is none.
pub fn time(deadline: Option<Seconds>) -> Time {
    deadline.map_or(Time::NEVER, Seconds::time)
}

/// A time in the past that Python returned. One before the beginning, such as `now - rtt` may be,
/// is the beginning.
pub struct Past(pub Time);

impl<'py> FromPyObject<'_, 'py> for Past {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // A conversion of what is below 0 is 0.
        nanos(object).map(|nanos| Past(Time(nanos as u64)))
    }
}

fn nanos(object: Borrowed<'_, '_, PyAny>) -> PyResult<f64> {
    let nanos = (object.extract::<f64>()? * 1e9).round();
    if nanos.is_nan() { Err(no_time()) } else { Ok(nanos) }
}

fn no_time() -> PyErr {
    PyValueError::new_err("times are seconds from 0 on")
}

/// The properties of a class: a field of what it holds, or what is made of that.
macro_rules! getters {
    ($class:ident { $($name:ident: $type:ty $(= |$s:ident| $value:expr)?),* $(,)? }) => {
        #[pymethods]
        impl $class {
            $(
                #[getter]
                fn $name(&self) -> $type {
                    getters!(of &self.0, $name $(, |$s| $value)?)
                }
            )*
        }
    };
    (of $all:expr, $name:ident) => {
        ($all).$name
    };
    (of $all:expr, $name:ident, |$s:ident| $value:expr) => {{
        let $s = $all;
        $value
    }};
}

/// The state of a sender, with the field's names. Positions, bytes, and seconds.
#[pyclass(frozen, module = "ackclock")]
pub struct State(pub ackclock_tcp::State);

getters!(State {
    now: f64 = |s| seconds(s.now),
    mss: u64,
    initial_window: u64,
    sack: bool,
    snd_una: u64,
    snd_nxt: u64,
    snd_max: u64,
    window_edge: u64,
    written: u64,
    closed: bool,
    fin: bool,
    cwnd: u64,
    ssthresh: u64,
    srtt: f64 = |s| s.srtt.secs_f64(),
    rttvar: f64 = |s| s.rttvar.secs_f64(),
    timed_out: Option<u64>,
    min_rto: f64 = |s| s.min_rto.secs_f64(),
    dupthresh: u32,
    dupacks: u32,
    assumed_dupacks: u32,
    emulated: u32,
    limited: u64,
    recover: u64,
    phase: &'static str = |s| match s.phase {
        Phase::Open => "open",
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
    },
    max_window: u64,
    nagle: bool,
    tick_phase: f64 = |s| s.tick_phase.secs_f64(),
    recovering: bool = |s| s.recovering(),
    received_dupacks: u32 = |s| s.received_dupacks(),
    departed: u64 = |s| s.departed(),
    flight: u64 = |s| s.flight(),
    window: u64 = |s| s.window(),
    pipe: u64 = |s| s.board.pipe(),
    packets_in_flight: u32 = |s| s.packets_in_flight(),
    can_send_sequential: bool = |s| s.can_send_sequential(),
    sequential_len: Option<u32> = |s| s.sequential_len(),
    new_len: Option<u32> = |s| s.new_len(),
    unsent_len: Option<u32> = |s| s.unsent_len(),
    segments: Vec<Segment> = |s| s.board.iter().map(|record| Segment(*record)).collect(),
});

/// An outstanding segment, as the scoreboard has it.
#[pyclass(frozen, module = "ackclock")]
pub struct Segment(pub Record);

getters!(Segment {
    seq: u64,
    len: u32,
    end: u64 = |s| s.end(),
    first_sent: f64 = |s| seconds(s.first_sent),
    last_sent: f64 = |s| seconds(s.last_sent),
    transmissions: u16,
    sacked: bool,
    lost: bool,
    retransmitted: bool,
    waits: bool = |s| s.waits(),
    on_its_way: bool = |s| s.on_its_way(),
    sent_before: u64 = |s| s.sent_before(),
});

/// What one ACK says, summed up once for all mechanisms.
#[pyclass(frozen, module = "ackclock")]
pub struct Ack(pub AckSummary);

getters!(Ack {
    ack: u64,
    newly_acked: u64,
    sacked_before: u64,
    newly_sacked: u64,
    newly_lost: u64,
    delivered: u32,
    lost: u32,
    duplicate: bool,
    prior_dupacks: u32,
    prior_una: u64,
    prior_flight: u64,
    flight_size: u64,
    dsack: Option<(u64, u64)>,
    dsack_segments: u32,
    dsack_of_probe: bool,
    dsack_again: u32,
    original: Option<(u64, u64)>,
    sacked_to: u64,
    rtt: Option<f64> = |s| s.rtt.map(Span::secs_f64),
    rtt_latest: Option<f64> = |s| s.rtt_latest.map(Span::secs_f64),
    ts_echo: Option<u32>,
    retransmission_acked: Option<f64> = |s| s.retransmission_acked.map(seconds),
    last_sent: Option<f64> = |s| s.last_sent.map(seconds),
    unchanged: bool,
    retransmission_lost: bool,
});

/// The network lost a transmission.
#[pyclass(frozen, module = "ackclock")]
pub struct Notice(pub detect::Notice);

getters!(Notice { seq: u64 = |s| s.lost.seq, number: u32 = |s| s.lost.number, at_once: bool });

/// A segment with data that is being sent.
#[pyclass(frozen, module = "ackclock")]
pub struct Outgoing(pub segmentation::Outgoing);

getters!(Outgoing {
    seq: u64,
    len: u32,
    first: bool,
    cause: &'static str = |s| s.cause.name(),
    in_flight: u64,
});
