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
    let drawn = charts(&[Way::new("server", c, &c.from_server.events, None)]);
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
    // The first segment took 100 ms, and the third one 110 ms until it was SACKed; it was sent
    // again before it was acknowledged, as was the second one.
    assert_eq!(values(&drawn[1], 0), [(at(6), 100.0)]);
    assert_eq!(values(&drawn[1], 1), [(at(6), 110.0)]);
    // An ACK that advances would have come before, and have SACKed the third one then.
    let mut events = c.from_server.events.clone();
    events.retain(|event| !matches!(event.kind, EventKind::Acked { dupacks: 1, .. }));
    if let EventKind::Acked { sack, sacks, .. } = &mut events[3].kind {
        (sack[0], *sacks) = ((2000, 3000), 1);
    }
    events[3].at = fixture::at(500);
    events[1].at = fixture::at(400);
    events[2].at = fixture::at(400);
    let drawn = charts(&[Way::new("server", c, &events, None)]);
    assert_eq!(values(&drawn[1], 1), [(at(30), 500.0)]);
    // Nothing was measured of what is silent.
    assert_eq!(charts(&[Way::new("client", c, &[], None)]).len(), 1);
    assert_eq!(charts(&[]), []);
}

/// A SACK measures while a hole is repaired; what the hole's ACK covers was sent twice, or may
/// have waited behind it. What is sent afterwards is measured at once.
#[test]
fn round_trips_during_a_recovery() {
    let ms = |t: u64| Time(t * 1_000_000);
    let mut sent = Outstanding::default();
    (0..6).for_each(|n| sent.sent(n..n + 1, ms(n), false));
    assert_eq!(sent.acked(1), Some(ms(0)));
    // Of two segments the last one; what has been SACKed before says nothing again.
    assert_eq!(sent.sacked(2..4), Some(ms(3)));
    assert_eq!(sent.sacked(2..5), Some(ms(4)));
    let reversed = Range { start: 5, end: 4 };
    assert_eq!(sent.sacked(reversed), None);
    sent.sent(1..2, ms(50), true);
    sent.sent(6..7, ms(51), false);
    assert_eq!(sent.acked(1), None);
    assert_eq!(sent.acked(6), None);
    assert_eq!(sent.acked(7), Some(ms(51)));
    // A retransmission that covers parts of two segments; and one of what was never seen.
    (7..10).for_each(|n| sent.sent(2 * n..2 * n + 2, ms(n), false));
    sent.sent(15..17, ms(60), true);
    sent.sent(20..21, ms(61), true);
    assert_eq!([sent.sacked(14..16), sent.sacked(16..18)], [None; 2]);
    assert_eq!(sent.sacked(18..21), Some(ms(9)));
    assert_eq!(sent.acked(30), None);
    assert!(sent.0.is_empty());
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
    let drawn = charts(&[Way::new("server", c, &events, rtt)]);
    // 20 parts: at 100 ms, 110 ms and 1100 ms a segment each.
    let rate = |bytes: f64| bytes * 8e-6 * 20.0 / 2.0;
    assert_eq!(values(&drawn[0], 1), [(0.1, rate(2000.0)), (11.0 * 0.1, rate(1000.0))]);
}

/// What the first ACK has is no delivery of the capture's time, and neither are the SACK blocks
/// that report what went out before; until something of the capture arrives, nothing is drawn.
#[test]
fn what_arrived_before_the_capture_began_is_not_delivered_in_it() {
    let explained = fixture::explained();
    let mut c = explained.connections[0].connection.clone();
    c.begun = false;
    let begin = 1 << 24;
    let mut events = c.from_server.events.clone();
    for event in &mut events {
        match &mut event.kind {
            EventKind::Sent { seq, .. } => *seq += begin,
            EventKind::Acked { ack, sack, newly_sacked, sacks, .. } => {
                *ack += begin;
                sack.iter_mut().for_each(|(from, to)| (*from, *to) = (*from + begin, *to + begin));
                *newly_sacked = 1000 * u64::from(*sacks);
            }
            _ => {}
        }
    }
    let rtt = Some(Span::from_millis(100));
    // Data comes first, whose ACK says of no more than itself; then an ACK before it says what the
    // receiver has. Of that, nothing is delivered in the capture.
    let delivered = |events: &[Event]| {
        let drawn = charts(&[Way::new("server", &c, events, rtt)]);
        let Plot::Curves { curves, .. } = &drawn[0].plot else { panic!("no curves") };
        let unknown = curves[1].points.iter().filter(|p| p.y.mean.is_nan()).count();
        (unknown, values(&drawn[0], 1))
    };
    let rate = |bytes: f64| bytes * 8e-6 * 20.0 / 2.0;
    let rest = (11.0 * 0.1, rate(1000.0));
    assert_eq!(delivered(&events), (1, vec![(0.1, rate(1000.0)), rest]));
    let (mut first, mut sack) = (events[3], [(0, 0); 4]);
    sack[0] = (begin + 1000, begin + 2000);
    if let EventKind::Acked { ack, sack: of, sacks, newly_sacked, .. } = &mut first.kind {
        (*ack, *of, *sacks, *newly_sacked) = (begin - 9000, sack, 1, 1000);
    }
    first.at = events[0].at;
    events.insert(0, first);
    assert_eq!(delivered(&events), (1, vec![(0.1, rate(1000.0))]));
}

/// A FIN that goes twice measures nothing, as data does: neither with the ACK of both, nor as new
/// data. A SYN that goes twice leaves the first data alone.
#[test]
fn what_is_no_data_and_goes_twice_measures_nothing() {
    let trips = |millis: [u64; 4]| {
        let explained = fixture::explained();
        let c = &explained.connections[0].connection;
        let [syn, data, fin, acked] = millis;
        let sent = |at, seq, len, transmission| {
            let cause = ackclock_tcp::Cause::New;
            let kind = EventKind::Sent { seq, len, cause, transmission, detected_by: None };
            Event { at: fixture::at(at), kind, ..c.from_server.events[0] }
        };
        let mut events = vec![sent(syn, 0, 0, 2), sent(data, 0, 1000, 1)];
        let mut ack = c.from_server.events[3];
        ack.at = fixture::at(acked);
        events.push(ack);
        events.extend([sent(fin, 1000, 0, 1), sent(fin + 250, 1000, 0, 2)]);
        ack.at = fixture::at(fin + 290);
        if let EventKind::Acked { ack, .. } = &mut ack.kind {
            *ack = 1001;
        }
        events.push(ack);
        let drawn = charts(&[Way::new("server", c, &events, Some(Span::from_millis(100)))]);
        drawn.get(1).map(|chart| values(chart, 1))
    };
    assert_eq!(trips([0, 100, 300, 140]), Some(vec![(0.1, 40.0)]));
}
