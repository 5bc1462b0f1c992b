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
    // The first segment took 100 ms, and the third one 110 ms until it was SACKed; it was sent
    // again before it was acknowledged, as was the second one.
    assert_eq!(values(&drawn[1], 0), [(at(6), 100.0)]);
    assert_eq!(values(&drawn[1], 1), [(at(6), 110.0)]);
    // Nothing was measured of what is silent.
    assert_eq!(charts(&[Way::new("client", &[], lasted, None)]).len(), 1);
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
    let drawn = charts(&[Way::new("server", &events, (c.start, c.end), rtt)]);
    // 20 parts: at 100 ms, 110 ms and 1100 ms a segment each.
    let rate = |bytes: f64| bytes * 8e-6 * 20.0 / 2.0;
    assert_eq!(values(&drawn[0], 1), [(0.1, rate(2000.0)), (11.0 * 0.1, rate(1000.0))]);
}
