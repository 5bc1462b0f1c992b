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
    /// What happened.
    pub event: &'a Event,
}

/// The field of an event that only some kinds have.
macro_rules! of {
    ($get:ident, $($kind:ident { $field:ident })|+ => $value:expr) => {
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
        ("seed", Get::Seed(|r| r.seed)),
        ("flow", Get::Int(|r| Some(r.flow.into()))),
        ("t", Get::Number(|r| Some(r.event.at.nanos() as f64 / 1e9))),
        ("event", Get::Text(|r| Some(r.event.kind.name()))),
        (
            "seq",
            of!(Int, Sent { seq } | Lost { seq } | Arrived { seq } | Dropped { seq } | TimedOut { seq }
                => Some(*seq)),
        ),
        (
            "len",
            of!(Int, Sent { len } | Lost { len } | Arrived { len } | Dropped { len }
                => Some((*len).into())),
        ),
        ("cause", of!(Text, Sent { cause } => Some(cause.name()))),
        ("cwnd", Get::Int(|r| Some(r.event.cwnd))),
        ("ssthresh", Get::Int(|r| Some(r.event.ssthresh).filter(|s| *s != u64::MAX))),
        ("snd_una", Get::Int(|r| Some(r.event.snd_una))),
        ("snd_nxt", Get::Int(|r| Some(r.event.snd_nxt))),
        (
            "transmission",
            of!(Int, Sent { transmission } | Lost { transmission } | Dropped { transmission }
                => Some((*transmission).into())),
        ),
        ("detected_by", of!(Text, Sent { detected_by } => *detected_by)),
        ("ack", of!(Int, Acked { ack } | AckDropped { ack } => Some(*ack))),
        ("dupacks", of!(Int, Acked { dupacks } => Some((*dupacks).into()))),
        ("newly_acked", of!(Int, Acked { newly_acked } => Some(*newly_acked))),
        ("newly_sacked", of!(Int, Acked { newly_sacked } => Some(*newly_sacked))),
        ("window_edge", of!(Int, Acked { window_edge } => Some(*window_edge))),
        (
            "sack",
            Get::Ranges(|r| match &r.event.kind {
                EventKind::Acked { sack, sacks, .. } => sack.get(..usize::from(*sacks)),
                _ => None,
            }),
        ),
        ("dsack", of!(Flag, Acked { dsack } => Some(*dsack))),
        ("from", of!(Int, Written { seq } => Some(*seq))),
        ("bytes", of!(Int, Written { len } => Some(*len))),
        (
            "by",
            Get::Text(|r| match r.event.kind {
                EventKind::Lost { by, .. }
                | EventKind::Undone { by }
                | EventKind::RecoveryEntered { by, .. } => Some(by),
                _ => None,
            }),
        ),
        ("recover", of!(Int, RecoveryEntered { recover } => Some(*recover))),
        ("flight", of!(Int, RecoveryEntered { flight } | TimedOut { flight } => Some(*flight))),
        ("pipe", of!(Int, RecoveryEntered { pipe } => Some(*pipe))),
        ("by_timeout", of!(Flag, RecoveryLeft { by_timeout } => Some(*by_timeout))),
        (
            "cwnd_before",
            of!(Int, RecoveryLeft { cwnd_before } | TimedOut { cwnd_before } => Some(*cwnd_before)),
        ),
        ("class", of!(Text, TimedOut { class } => Some(class.name()))),
        ("backoff", of!(Int, TimedOut { backoff } => Some((*backoff).into()))),
        ("rto", of!(Int, TimedOut { rto } => Some(*rto))),
        ("mss", of!(Int, MssChanged { mss } => Some((*mss).into()))),
        ("lost", of!(Int, MssChanged { lost } => Some(*lost))),
        ("spurious", of!(Flag, Arrived { spurious } => Some(*spurious))),
        ("link", of!(Int, Dropped { link } | AckDropped { link } => Some((*link).into()))),
        (
            "why",
            Get::Text(|r| match r.event.kind {
                EventKind::Dropped { why, .. } | EventKind::AckDropped { why, .. } => Some(why),
                _ => None,
            }),
        ),
    ]
}
