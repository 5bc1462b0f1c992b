//! Rates and round trips of a connection over its time.

use std::collections::VecDeque;

use ackclock_report::{Chart, Curve, Line, Plot, Point};
use ackclock_tcp::{Event, EventKind, Span, Time};

/// Into so many parts the time is divided at least and at most. In between, a part is a round trip:
/// a window goes out in bursts, one in each, which shorter parts would draw as so many teeth.
const LEAST: u64 = 20;
const MOST: u64 = 120;

/// A segment that was sent once: where it ends, and when it was sent.
struct Sent {
    end: u64,
    at: Time,
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
    seconds: f64,
}

impl Way {
    /// Of the events of one way of a connection that lasted from `start` to `end`, with round trips
    /// of `rtt`.
    pub fn new(
        name: &'static str,
        events: &[Event],
        (start, end): (Time, Time),
        rtt: Option<Span>,
    ) -> Way {
        let long = end.since(start).secs_f64();
        let parts = rtt.map_or(MOST, |rtt| end.since(start).nanos() / rtt.nanos().max(1));
        let parts = parts.clamp(LEAST, MOST) as usize;
        let mut way = Way { name, parts: vec![Part::default(); parts], seconds: long };
        let mut sent: VecDeque<Sent> = VecDeque::new();
        let (mut acked, mut sacked, mut nxt, mut recover) = (0, 0, 0, 0);
        for event in events {
            let share = event.at.since(start).secs_f64() / long.max(f64::MIN_POSITIVE);
            let place = ((share * parts as f64) as usize).min(parts - 1);
            let part = &mut way.parts[place];
            match event.kind {
                EventKind::Sent { seq, len, transmission, .. } => {
                    part.sent += u64::from(len);
                    nxt = nxt.max(seq + u64::from(len));
                    if transmission > 1 {
                        // RFC 6298 section 3; and what is behind a hole is acknowledged with it.
                        recover = nxt;
                        sent.clear();
                    } else {
                        sent.push_back(Sent { end: seq + u64::from(len), at: event.at });
                    }
                }
                EventKind::Acked { ack, newly_sacked, .. } => {
                    sacked += newly_sacked;
                    part.delivered += newly_sacked;
                    let Some(advance) = ack.checked_sub(acked).filter(|bytes| *bytes > 0) else {
                        continue;
                    };
                    // What was SACKed has been counted.
                    let counted = advance.min(sacked);
                    sacked -= counted;
                    part.delivered += advance - counted;
                    let mut newest = None;
                    while sent.front().is_some_and(|s| s.end <= ack) {
                        newest = sent.pop_front();
                    }
                    if let Some(newest) = newest.filter(|_| acked >= recover) {
                        let rtt = event.at.since(newest.at).secs_f64();
                        let (least, most) = part.rtt.unwrap_or((rtt, rtt));
                        part.rtt = Some((least.min(rtt), most.max(rtt)));
                    }
                    acked = ack;
                }
                _ => {}
            }
        }
        way
    }

    fn curve(&self, name: &str, value: impl Fn(&Part) -> Option<f64>) -> Curve {
        let width = self.seconds / self.parts.len() as f64;
        let point =
            |(place, part)| Point::from((place as f64 * width, value(part).unwrap_or(f64::NAN)));
        // The last part ends where the connection does.
        let end = self.parts.last().map(|part| point((self.parts.len(), part)));
        Curve {
            name: format!("{} {name}", self.name),
            line: Line::Steps,
            points: self.parts.iter().enumerate().map(point).chain(end).collect(),
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
            way.curve("sent", |part| way.rate(part.sent)),
            way.curve("delivered", |part| way.rate(part.delivered)),
        ]
    });
    let trips = ways.iter().filter(|way| way.parts.iter().any(|part| part.rtt.is_some()));
    let trips = trips.flat_map(|way| {
        [
            way.curve("shortest", |part| part.rtt.map(|(least, _)| 1000.0 * least)),
            way.curve("longest", |part| part.rtt.map(|(_, most)| 1000.0 * most)),
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
mod tests {
    use super::*;
    use crate::fixture;

    /// Values above 0 of a curve.
    fn values(chart: &Chart, curve: usize) -> Vec<(f64, f64)> {
        let Plot::Curves { curves, .. } = &chart.plot else { panic!("no curves") };
        curves[curve].points.iter().map(|p| (p.x, p.y.mean)).filter(|(_, y)| *y > 0.0).collect()
    }

    #[test]
    fn rates_and_round_trips_are_those_of_the_events() {
        let explained = fixture::explained();
        let c = &explained.connections[0].connection;
        let lasted = (c.start, c.end);
        let drawn = charts(&[Way::new("server", &c.from_server.events, lasted, None)]);
        let titles: Vec<&str> = drawn.iter().map(|chart| chart.title.as_str()).collect();
        assert_eq!(titles, ["Throughput", "Round trip"]);
        // 3000 bytes at once, 1000 at 0.11 s, at 1 s and at 1.05 s; parts of a sixtieth of a
        // second.
        let at = |part: usize| part as f64 * (2.0 / 120.0);
        let rate = |bytes: f64| bytes * 8e-6 * 120.0 / 2.0;
        let kilobytes = [(0, 3.0), (6, 1.0), (60, 1.0), (63, 1.0)];
        let sent = kilobytes.map(|(part, kb)| (at(part), rate(1000.0 * kb)));
        assert_eq!(values(&drawn[0], 0), sent);
        assert_eq!(values(&drawn[0], 1), [(at(6), rate(1000.0)), (at(66), rate(2000.0))]);
        // The first segment took 100 ms; the others were retransmitted, or waited behind one.
        assert_eq!(values(&drawn[1], 0), [(at(6), 100.0)]);
        assert_eq!(values(&drawn[1], 1), [(at(6), 100.0)]);
        // Nothing was measured of what is silent.
        assert_eq!(charts(&[Way::new("client", &[], lasted, None)]).len(), 1);
        assert_eq!(charts(&[]), []);
    }

    /// What fills a hole does not deliver again what was SACKed.
    #[test]
    fn each_byte_is_delivered_once_and_when_it_was_sacked() {
        let explained = fixture::explained();
        let c = &explained.connections[0].connection;
        let mut events = c.from_server.events.clone();
        for event in &mut events {
            if let EventKind::Acked { newly_sacked, dupacks: 1, .. } = &mut event.kind {
                *newly_sacked = 1000;
            }
        }
        let rtt = Some(Span::from_millis(100));
        let drawn = charts(&[Way::new("server", &events, (c.start, c.end), rtt)]);
        // 20 parts: at 100 ms, 110 ms and 1100 ms a segment each.
        let rate = |bytes: f64| bytes * 8e-6 * 20.0 / 2.0;
        assert_eq!(values(&drawn[0], 1), [(0.1, rate(2000.0)), (11.0 * 0.1, rate(1000.0))]);
    }
}
