//! What is drawn into a panel beside the events.

use ackclock_report::{Band, Fate, MOST_OF_PANEL, Tone, thin};
use ackclock_tcp::{Cause, Event, EventKind, Time};
use ackclock_trace::{Flow, Stall, StallCause};

use crate::explained::{End, Found};
use crate::{names, text};

/// The most stalls that are drawn: the longest ones.
const MOST_STALLS: usize = 1000;

/// The findings on one way of a connection, with times since its start.
pub(super) struct Drawn {
    pub events: Vec<Event>,
    pub stalls: Vec<Band>,
    pub fates: Vec<Fate>,
    pub classes: Vec<(Time, &'static str)>,
}

impl Drawn {
    pub fn new(found: &Found, end: End) -> Drawn {
        let (flow, start) = (found.flow(end), found.connection.start);
        let since = |at: Time| Time(at.0.saturating_sub(start.0));
        let mut events = thin(&flow.events, MOST_OF_PANEL).into_owned();
        for event in &mut events {
            event.at = since(event.at);
            if let EventKind::Sent { len: 0, cause: cause @ Cause::Unknown, .. } = &mut event.kind {
                *cause = Cause::Handshake;
            }
        }
        let classes = flow.timeouts.iter().map(|t| (since(t.at), t.class.name())).collect();
        Drawn { events, stalls: stalls(found, end, since), fates: fates(flow), classes }
    }
}

fn stalls(found: &Found, end: End, since: impl Fn(Time) -> Time) -> Vec<Band> {
    let mut longest: Vec<_> = found.flow(end).stalls.iter().collect();
    longest.sort_by_key(|stall| std::cmp::Reverse(stall.end.since(stall.start)));
    longest.truncate(MOST_STALLS);
    longest.sort_by_key(|stall| stall.start);
    let band = |stall: &Stall| Band {
        start: since(stall.start),
        end: since(stall.end),
        tone: tone(stall.cause),
        label: label(found, end, stall),
        why: text::stall(found, end, stall),
    };
    longest.into_iter().map(band).collect()
}

fn fates(flow: &Flow) -> Vec<Fate> {
    let fate = |r: &ackclock_trace::Retransmission| Fate {
        seq: r.position,
        transmission: r.transmission,
        lost: r.lost == Some(true),
        spurious: r.spurious.map(names::spurious_text),
    };
    flow.retransmissions.iter().map(fate).collect()
}

/// A few words: `1.2 s: timeout, lost retransmission`.
pub(crate) fn label(found: &Found, from: End, stall: &Stall) -> String {
    format!("{}: {}", text::time(stall.end.since(stall.start)), names::verdict(found, from, stall))
}

/// By what kind of thing time was lost.
pub(super) fn tone(cause: StallCause) -> Tone {
    match cause {
        StallCause::Timeout(_)
        | StallCause::TailLossProbe
        | StallCause::ProbeOrTimeout
        | StallCause::Recovery => Tone::Loss,
        StallCause::ReceiveWindow | StallCause::ZeroWindow => Tone::Window,
        StallCause::Application
        | StallCause::CaptureGap
        | StallCause::Network
        | StallCause::Unknown => Tone::Other,
    }
}
