//! What is drawn into a panel beside the events.

use std::collections::BTreeMap;

use ackclock_report::{Band, Fate, MOST_OF_PANEL, Tone, thin};
use ackclock_tcp::{Cause, Event, EventKind, Time};
use ackclock_trace::{Flow, Kind, Stall, StallCause};

use crate::explained::{End, Found};
use crate::{names, text};

/// Of more stalls those are drawn that are longest in each of so many parts of the time: what
/// shares a part shares a pixel.
const PARTS: u64 = 1000;

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

/// Pauses of the application, which are no time lost, do not take the place of others.
fn stalls(found: &Found, end: End, since: impl Fn(Time) -> Time) -> Vec<Band> {
    let all = &found.flow(end).stalls;
    let width = found.connection.end.since(found.connection.start).nanos() / PARTS + 1;
    let mut longest: BTreeMap<_, &Stall> = BTreeMap::new();
    for (place, stall) in (0..).zip(all) {
        let part = (since(stall.start).0 / width).min(PARTS);
        let part = if all.len() as u64 > PARTS { part } else { place };
        let kept = longest.entry((part, stall.cause == StallCause::Application)).or_insert(stall);
        if stall.end.since(stall.start) > kept.end.since(kept.start) {
            *kept = stall;
        }
    }
    let band = |stall: &Stall| Band {
        start: since(stall.start),
        end: since(stall.end),
        tone: tone(stall.cause),
        label: label(found, end, stall),
        why: text::stall(found, end, stall),
    };
    longest.into_values().map(band).collect()
}

fn fates(flow: &Flow) -> Vec<Fate> {
    let fate = |r: &ackclock_trace::Retransmission| Fate {
        seq: r.position,
        transmission: r.transmission,
        lost: r.lost == Some(true),
        spurious: r.spurious.map(names::spurious_text),
        too_big: r.kind == Kind::TooBig,
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
