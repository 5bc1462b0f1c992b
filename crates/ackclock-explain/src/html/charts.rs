//! Rates and round trips of a connection over its time.

use std::collections::BTreeMap;
use std::ops::Range;

use ackclock_report::{Chart, Curve, Line, Plot, Point};
use ackclock_tcp::{Event, EventKind, Span, Time};
use ackclock_trace::Connection;

/// Into so many parts the time is divided at least and at most. In between, a part is a round trip:
/// a window goes out in bursts, one in each, which shorter parts would draw as so many teeth.
const LEAST: u64 = 20;
const MOST: u64 = 120;

/// A segment that was neither acknowledged nor SACKed.
struct Sent {
    end: u64,
    /// When it was sent; `None` if it was sent more than once: nobody knows which transmission
    /// arrived (Karn's algorithm, RFC 6298 section 3).
    at: Option<Time>,
}

/// These segments by their first bytes.
#[derive(Default)]
struct Outstanding(BTreeMap<u64, Sent>);

impl Outstanding {
    fn sent(&mut self, bytes: Range<u64>, at: Time, again: bool) {
        if again {
            let before = self.0.range_mut(..bytes.end).rev();
            let overlap = before.take_while(|(_, sent)| sent.end > bytes.start);
            overlap.for_each(|(_, sent)| sent.at = None);
        }
        let sent = Sent { end: bytes.end, at: (!again).then_some(at) };
        if again {
            self.0.entry(bytes.start).or_insert(sent);
        } else {
            // A SYN that went again has no place of its own.
            self.0.insert(bytes.start, sent);
        }
    }

    /// All up to here is acknowledged. When the last of it was sent; `None` if a part was sent more
    /// than once, for then the rest may have waited behind it (Linux's `tcp_clean_rtx_queue`).
    fn acked(&mut self, ack: u64) -> Option<Time> {
        let (mut newest, mut once) = (None, true);
        while let Some(first) = self.0.first_entry().filter(|first| first.get().end <= ack) {
            let at = first.remove().at;
            once &= at.is_some();
            newest = newest.max(at);
        }
        newest.filter(|_| once)
    }

    /// This is SACKed. When the last of it was sent that was sent once (Linux's `tcp_sacktag_one`).
    fn sacked(&mut self, bytes: Range<u64>) -> Option<Time> {
        let within = self.0.range(bytes.start..bytes.end.max(bytes.start));
        let within = within.filter(|(_, sent)| sent.end <= bytes.end);
        let starts: Vec<u64> = within.map(|(start, _)| *start).collect();
        starts.iter().filter_map(|start| self.0.remove(start)?.at).max()
    }
}

/// What happened in a part of the time.
#[derive(Clone, Default)]
struct Part {
    sent: u64,
    /// Acknowledged or SACKed.
    delivered: u64,
    /// The shortest and the longest round trip, in seconds.
    rtt: Option<(f64, f64)>,
}

/// One way of a connection.
pub(super) struct Way {
    name: &'static str,
    parts: Vec<Part>,
    /// The first part of which is known what was delivered.
    known: usize,
    seconds: f64,
}

/// Up to here all may have gone out, and arrived, before the capture began.
fn before(events: &[Event]) -> u64 {
    let sent = events.iter().find_map(|event| match event.kind {
        EventKind::Sent { seq, .. } => Some(seq),
        _ => None,
    });
    let heard = events.iter().find_map(|event| match event.kind {
        EventKind::Acked { ack, sack, sacks, .. } => {
            sack.iter().take(sacks.into()).map(|(_, end)| *end).chain([ack]).max()
        }
        _ => None,
    });
    sent.max(heard).unwrap_or(0)
}

impl Way {
    /// Of the events of one way of a connection, with round trips of `rtt`.
    pub fn new(name: &'static str, c: &Connection, events: &[Event], rtt: Option<Span>) -> Way {
        let (start, end) = (c.start, c.end);
        let long = end.since(start).secs_f64();
        let parts = rtt.map_or(MOST, |rtt| end.since(start).nanos() / rtt.nanos().max(1));
        let parts = parts.clamp(LEAST, MOST) as usize;
        let known = if c.begun { 0 } else { parts };
        let mut way = Way { name, parts: vec![Part::default(); parts], known, seconds: long };
        let mut outstanding = Outstanding::default();
        let began = if c.begun { 0 } else { before(events) };
        let (mut acked, mut sacked) = (began, 0);
        for event in events {
            let share = event.at.since(start).secs_f64() / long.max(f64::MIN_POSITIVE);
            let place = ((share * parts as f64) as usize).min(parts - 1);
            let part = &mut way.parts[place];
            match event.kind {
                EventKind::Sent { seq, len, transmission, .. } => {
                    part.sent += u64::from(len);
                    // A FIN is one byte of the stream.
                    let bytes = seq..seq + u64::from(len.max(1));
                    outstanding.sent(bytes, event.at, transmission > 1);
                }
                EventKind::Acked { ack, newly_sacked, sack, sacks, dsack, .. } => {
                    let blocks = || sack.iter().take(sacks.into()).skip(dsack.into());
                    let seen = blocks().map(|(start, end)| end.saturating_sub(began.max(*start)));
                    let newly_sacked = newly_sacked.min(seen.sum());
                    let advance = ack.saturating_sub(acked);
                    acked += advance;
                    sacked += newly_sacked;
                    // What was SACKed has been counted.
                    let counted = advance.min(sacked);
                    sacked -= counted;
                    let delivered = newly_sacked + advance - counted;
                    part.delivered += delivered;
                    if delivered > 0 {
                        way.known = way.known.min(place);
                    }
                    let mut newest = outstanding.acked(ack);
                    for (start, end) in blocks() {
                        let sacked = outstanding.sacked(*start..*end);
                        // With an ACK that advances, an earlier one that reported this was lost.
                        newest = newest.max(sacked.filter(|_| advance == 0));
                    }
                    if let Some(newest) = newest {
                        let rtt = event.at.since(newest).secs_f64();
                        let (least, most) = part.rtt.unwrap_or((rtt, rtt));
                        part.rtt = Some((least.min(rtt), most.max(rtt)));
                    }
                }
                _ => {}
            }
        }
        way
    }

    fn curve(&self, name: &str, value: impl Fn(usize, &Part) -> Option<f64>) -> Curve {
        let width = self.seconds / self.parts.len() as f64;
        let point = |place: usize, y: Option<f64>| {
            Point::from((place as f64 * width, y.unwrap_or(f64::NAN)))
        };
        let ys = self.parts.iter().enumerate().map(|(place, part)| value(place, part));
        // The last part ends where the connection does.
        let end = ys.clone().last();
        Curve {
            name: format!("{} {name}", self.name),
            line: Line::Steps,
            points: ys.chain(end).enumerate().map(|(place, y)| point(place, y)).collect(),
            paper: Vec::new(),
        }
    }

    /// Megabits a second.
    fn rate(&self, bytes: u64) -> Option<f64> {
        (self.seconds > 0.0).then(|| bytes as f64 * 8e-6 * self.parts.len() as f64 / self.seconds)
    }
}

/// What was sent and acknowledged, and the round trips; without what was not measured.
pub(super) fn charts(ways: &[Way]) -> Vec<Chart> {
    let rates = ways.iter().flat_map(|way| {
        [
            way.curve("sent", |_, part| way.rate(part.sent)),
            way.curve("delivered", |place, part| {
                way.rate(part.delivered).filter(|_| place >= way.known)
            }),
        ]
    });
    let trips = ways.iter().filter(|way| way.parts.iter().any(|part| part.rtt.is_some()));
    let trips = trips.flat_map(|way| {
        [
            way.curve("shortest", |_, part| part.rtt.map(|(least, _)| 1000.0 * least)),
            way.curve("longest", |_, part| part.rtt.map(|(_, most)| 1000.0 * most)),
        ]
    });
    let chart = |title: &str, y: &str, curves: Vec<Curve>| Chart {
        title: title.into(),
        x: "time (s)".into(),
        y: y.into(),
        plot: Plot::Curves { curves, log_x: false },
    };
    let mut charts = vec![
        chart("Throughput", "throughput (Mbit/s)", rates.collect()),
        chart("Round trip", "round trip (ms)", trips.collect()),
    ];
    charts.retain(|chart| matches!(&chart.plot, Plot::Curves { curves, .. } if !curves.is_empty()));
    charts
}

#[cfg(test)]
mod tests;
