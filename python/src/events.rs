//! Events as rows, with the names of the command's JSON lines.

use ackclock_tcp::{Event, EventKind};

use crate::table::{Columns, Get};

/// An event of a flow.
pub struct EventRow<'a> {
    /// The strategy of the flow.
    pub strategy: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The number of the flow.
    pub flow: u32,
    /// Its name.
    pub name: &'a str,
    /// What happened.
    pub event: &'a Event,
}

/// The field of an event that only some kinds have.
macro_rules! of {
    ($get:ident, $field:ident of $($kind:ident)|+ => $value:expr) => {
        Get::$get(|r| match &r.event.kind {
            $(EventKind::$kind { $field, .. })|+ => $value,
            _ => None,
        })
    };
}

/// The columns of events.
pub fn event_columns<'a>() -> Columns<EventRow<'a>> {
    vec![
        ("strategy", Get::Text(|r| Some(r.strategy))),
        ("seed", Get::Int(|r| Some(r.seed))),
        ("flow", Get::Int(|r| Some(r.flow.into()))),
        ("name", Get::Text(|r| Some(r.name))),
        ("t", Get::Number(|r| Some(r.event.at.nanos() as f64 / 1e9))),
        ("event", Get::Text(|r| Some(r.event.kind.name()))),
        ("seq", of!(Int, seq of Sent | Lost | Arrived | Dropped | TimedOut => Some(*seq))),
        ("len", of!(Int, len of Sent | Lost | Arrived | Dropped => Some((*len).into()))),
        ("cause", of!(Text, cause of Sent => Some(cause.name()))),
        ("cwnd", Get::Int(|r| Some(r.event.cwnd))),
        ("ssthresh", Get::Int(|r| Some(r.event.ssthresh).filter(|s| *s != u64::MAX))),
        ("snd_una", Get::Int(|r| Some(r.event.snd_una))),
        ("snd_nxt", Get::Int(|r| Some(r.event.snd_nxt))),
        (
            "transmission",
            of!(Int, transmission of Sent | Lost | Dropped => Some((*transmission).into())),
        ),
        ("detected_by", of!(Text, detected_by of Sent => *detected_by)),
        ("ack", of!(Int, ack of Acked | AckDropped => Some(*ack))),
        ("dupacks", of!(Int, dupacks of Acked => Some((*dupacks).into()))),
        ("newly_acked", of!(Int, newly_acked of Acked => Some(*newly_acked))),
        ("newly_sacked", of!(Int, newly_sacked of Acked => Some(*newly_sacked))),
        ("window_edge", of!(Int, window_edge of Acked => Some(*window_edge))),
        (
            "sack",
            Get::Ranges(|r| match &r.event.kind {
                EventKind::Acked { sack, sacks, .. } => sack.get(..usize::from(*sacks)),
                _ => None,
            }),
        ),
        ("dsack", of!(Flag, dsack of Acked => Some(*dsack))),
        ("from", of!(Int, seq of Written => Some(*seq))),
        ("bytes", of!(Int, len of Written => Some(*len))),
        (
            "by",
            Get::Text(|r| match r.event.kind {
                EventKind::Lost { by, .. }
                | EventKind::Undone { by }
                | EventKind::RecoveryEntered { by, .. } => Some(by),
                _ => None,
            }),
        ),
        ("recover", of!(Int, recover of RecoveryEntered => Some(*recover))),
        ("flight", of!(Int, flight of RecoveryEntered | TimedOut => Some(*flight))),
        ("pipe", of!(Int, pipe of RecoveryEntered => Some(*pipe))),
        ("by_timeout", of!(Flag, by_timeout of RecoveryLeft => Some(*by_timeout))),
        (
            "cwnd_before",
            of!(Int, cwnd_before of RecoveryLeft | TimedOut | Reduced => Some(*cwnd_before)),
        ),
        ("class", of!(Text, class of TimedOut => Some(class.name()))),
        ("backoff", of!(Int, backoff of TimedOut => Some((*backoff).into()))),
        ("rto", of!(Int, rto of TimedOut => Some(*rto))),
        ("mss", of!(Int, mss of MssChanged => Some((*mss).into()))),
        ("lost", of!(Int, lost of MssChanged => Some(*lost))),
        ("spurious", of!(Flag, spurious of Arrived => Some(*spurious))),
        ("link", of!(Int, link of Dropped | AckDropped => Some((*link).into()))),
        (
            "why",
            Get::Text(|r| match r.event.kind {
                EventKind::Dropped { why, .. } | EventKind::AckDropped { why, .. } => Some(why),
                _ => None,
            }),
        ),
    ]
}
