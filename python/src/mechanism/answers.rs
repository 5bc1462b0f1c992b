//! What mechanisms in Python answer. The shapes are those of the classes in `ackclock/_answers.py`.

use ackclock_tcp::State;
use ackclock_tcp::recovery::detect::{Emulated, Lost, Notices, Transmission};
use ackclock_tcp::recovery::fill::Filler;
use ackclock_tcp::recovery::probe::ProbeNow;
use ackclock_tcp::recovery::retransmission::Tick;
use ackclock_tcp::recovery::select::{Next, OnAck};
use ackclock_tcp::recovery::timer::Timed;
use ackclock_tcp::recovery::undo::Verdict;
use ackclock_tcp::recovery::window::Windows;
use pyo3::exceptions::PyValueError;

use super::raise;
use crate::state::{Past, Seconds};

/// ssthresh and cwnd.
pub type BothWindows = (u64, u64);

fn no_such(class: &str, what: &str) -> ! {
    raise(PyValueError::new_err(format!("{class} has no answer `{what}`")))
}

/// Of `Lost`: what, a position, a time, the number of a transmission, `again`.
pub fn lost(answer: Option<(String, u64, Past, u32, bool)>) -> Lost {
    let Some((what, position, at, number, again)) = answer else { return Lost::Nothing };
    let transmission = Transmission { seq: position, number };
    match what.as_str() {
        "head" => Lost::Head,
        "below" => Lost::Below(position),
        "sent_before" => Lost::SentBefore(at.0, position),
        "transmission" => Lost::Transmission { lost: transmission, again },
        "standing" => Lost::Standing,
        "replace" => Lost::Replace(transmission),
        other => no_such("Lost", other),
    }
}

/// Of `Notices`.
pub fn notices(answer: Option<String>) -> Notices {
    match answer.as_deref() {
        None | Some("never") => Notices::Never,
        Some("after_round_trip") => Notices::AfterRoundTrip,
        Some("at_once") => Notices::AtOnce,
        Some(other) => no_such("Notices", other),
    }
}

/// Of `Emulated`: segments, delivered.
pub fn emulated((segments, delivered): (u32, u32)) -> Emulated {
    Emulated { segments, delivered }
}

/// Of `Tick`: what, a position.
pub fn tick(answer: Option<(String, u64)>) -> Tick {
    let Some((what, position)) = answer else { return Tick::Nothing };
    match what.as_str() {
        "lost" => Tick::Lost,
        "lost_before" => Tick::LostBefore(position),
        "mark" => Tick::Mark,
        "round_trip" => Tick::RoundTrip,
        other => no_such("Tick", other),
    }
}

/// Of `Windows`.
pub fn windows((ssthresh, cwnd): BothWindows) -> Windows {
    Windows { ssthresh, cwnd }
}

/// Of `Windows`, which stay as they are without an answer.
pub fn windows_or_same(answer: Option<BothWindows>, s: &State) -> Windows {
    answer.map_or_else(|| Windows::unchanged(s), windows)
}

/// Of `OnAck`.
pub fn on_ack((retransmit_head, restart_timer): (bool, bool)) -> OnAck {
    OnAck { retransmit_head, restart_timer }
}

/// Of `Next`: what, the index of a segment, whether it counts.
pub fn next((what, index, counts): (String, usize, bool)) -> Next {
    match what.as_str() {
        "sequential" => Next::Sequential,
        "retransmit" => Next::Retransmit { index, counts },
        other => no_such("Next", other),
    }
}

/// Of `Filler`: what, an index or a position.
pub fn filler((what, number): (String, u64)) -> Filler {
    match what.as_str() {
        "retransmit" => Filler::Retransmit { index: number as usize },
        "header_only" => Filler::HeaderOnly { position: number },
        other => no_such("Filler", other),
    }
}

/// Of `ProbeNow`.
pub fn probe_now(answer: Option<String>) -> ProbeNow {
    match answer.as_deref() {
        None => ProbeNow::Nothing,
        Some("new_or_last") => ProbeNow::NewOrLast,
        Some("new_or_copy") => ProbeNow::NewOrCopy,
        Some("head") => ProbeNow::Head,
        Some(other) => no_such("ProbeNow", other),
    }
}

/// Of `Verdict`: what, windows, `losses_stand`, `goes_on`, SRTT, RTTVAR.
pub fn verdict(answer: Option<(String, BothWindows, bool, bool, Seconds, Seconds)>) -> Verdict {
    let Some((what, both, losses_stand, goes_on, srtt, rttvar)) = answer else {
        return Verdict::Open;
    };
    match what.as_str() {
        "spurious" => Verdict::Spurious,
        "restore" => Verdict::Restore { windows: windows(both), losses_stand, goes_on },
        "hold" => Verdict::Hold,
        "new_first" => Verdict::NewFirst,
        "send_new" => Verdict::SendNew,
        "needed" => Verdict::Needed,
        "retime" => Verdict::Retime { srtt: srtt.span(), rttvar: rttvar.span() },
        other => no_such("Verdict", other),
    }
}

/// Of `Timed`.
pub fn timed(answer: Option<String>) -> Timed {
    match answer.as_deref() {
        None => Timed::Nothing,
        Some("sampled") => Timed::Sampled,
        Some("acknowledged") => Timed::Acknowledged,
        Some(other) => no_such("Timed", other),
    }
}
