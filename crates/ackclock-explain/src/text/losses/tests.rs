use ackclock_trace::{AskedShorter, Lifetime, Limit, Losses, Vantage};

use super::*;
use crate::fixture;

fn flow(cause: LossCause) -> Flow {
    let losses = Losses { counted: 40, episodes: 9, cause: Some(cause) };
    Flow { losses, ..Flow::default() }
}

#[test]
fn sentences() {
    let text = |cause| of(&flow(cause)).unwrap();
    assert_eq!(
        text(LossCause::Policer { rate_bps: 5e6, burst: Some(65_536) }),
        "its losses fit a policer: 5.0 Mbit/s, burst 64.0 KiB"
    );
    assert_eq!(
        text(LossCause::Policer { rate_bps: 5e6, burst: None }),
        "its losses fit a policer: 5.0 Mbit/s"
    );
    assert_eq!(
        text(LossCause::DropTail { delay: Span::from_millis(250), size: Some(102_400) }),
        "its losses fit a queue that overflows: 0.25 s when it is full, with 100.0 KiB of this \
         connection"
    );
    assert_eq!(
        text(LossCause::Random { rate: 0.0123, run: 1.04 }),
        "its losses fit random loss: 1.2 % of segments, 1.0 in a row, with neither a full queue \
         nor a policer"
    );
    assert_eq!(
        text(LossCause::PathMtu { passed: 1076, lost: 1500 }),
        "its losses fit a path MTU that is too small, and of which no router tells: packets of \
         1076 bytes came through, none of 1500 did"
    );
    assert_eq!(of(&Flow::default()), None);
    // A router tells, and the sender does not heed it.
    let (at, router) = (fixture::at(0), [10, 9, 1, 1].into());
    let asked = AskedShorter { messages: 1, first: at, mtu: Some(1400), router, ignored: false };
    let told = flow(LossCause::PathMtu { passed: 1076, lost: 1500 });
    assert_eq!(
        of(&Flow { asked_shorter: Some(Box::new(asked)), ..told }).unwrap(),
        "its losses fit a path MTU that is too small: packets of 1076 bytes came through, none of \
         1500 did"
    );
}

#[test]
fn what_to_do() {
    let text = |cause| advice(cause, None, "A", "B");
    assert_eq!(
        text(LossCause::Policer { rate_bps: 5e6, burst: None }),
        "A to B: a policer drops what exceeds 5.0 Mbit/s; shape or pace below that rate, or \
         raise its burst"
    );
    assert_eq!(
        text(LossCause::Policer { rate_bps: 5e6, burst: Some(65_536) }),
        "A to B: a policer drops what exceeds 5.0 Mbit/s; shape or pace below that rate, or \
         raise its burst of 64.0 KiB"
    );
    let queue = |ms| LossCause::DropTail { delay: Span::from_millis(ms), size: None };
    assert_eq!(
        text(queue(250)),
        "A to B: a queue overflows that delays by 0.25 s; manage it (fq_codel, CAKE), or give it \
         less room"
    );
    let span = Span::from_millis(100);
    let rtt = fixture::round_trip(span, 9);
    assert_eq!(
        advice(queue(5), Some(rtt), "A", "B"),
        "A to B: a queue overflows that holds 5.0 ms; give it room, or pace (fq)"
    );
    assert_eq!(
        text(LossCause::Random { rate: 0.0123, run: 1.0 }),
        "A to B: 1.2 % of the segments are lost at random; repair the link, or use a congestion \
         control that does not take each loss for congestion (bbr)"
    );
}

#[test]
fn what_to_do_about_a_black_hole() {
    let cause = LossCause::PathMtu { passed: 1076, lost: 1500 };
    assert_eq!(
        advice(cause, None, "A", "B"),
        "A to B: packets of 1500 bytes do not come through, shorter ones do; let ICMP through, \
         or lower the MTU or the MSS: the sender finds that out by itself, but only after \
         timeouts"
    );
}

/// Half of the round trip is queueing, and 20 ms at least. Of ACKs that may have been delayed
/// nothing is said.
#[test]
fn bufferbloat() {
    let found = |min: u64, median: u64, delayable: u64| {
        let mut explained = fixture::explained();
        let mut found = explained.connections.remove(0);
        let [min, median] = [min, median].map(Span::from_millis);
        let rtt = RoundTrip { min, delayable, ..fixture::round_trip(median, 9) };
        found.connection.from_client.rtt = Some(rtt);
        found.connection.from_server.rtt = Some(rtt);
        found
    };
    let measured = |min, median, delayable| queueing(&found(min, median, delayable));
    let waits = |min, median| measured(min, median, 0);
    let text = "queueing takes 80.0 ms of a round trip of 0.10 s (bufferbloat)";
    assert_eq!(waits(20, 100).as_deref(), Some(text));
    assert_eq!(waits(60, 100), None);
    assert_eq!(waits(1, 20), None);
    assert_eq!([0, 1].map(|min| waits(min, 100).is_some()), [false, true]);
    assert_eq!(measured(20, 100, 4).as_deref(), Some(text));
    assert_eq!(measured(20, 100, 5), None);
    // The sender is the server.
    let away = |vantage, near, timestamps| {
        let mut found = found(20, 100, 0);
        found.connection.position.vantage = vantage;
        found.connection.position.to_client = Some(Span::from_micros(near));
        found.connection.from_server.timestamps = timestamps;
        queueing(&found).is_some()
    };
    let captured = |vantage, timestamps| away(vantage, 100, timestamps);
    assert!(!captured(Vantage::Client, false));
    // There is a part of the path behind a router, or it is a host that answers slowly.
    assert!(!away(Vantage::Client, 101, false));
    let full = |near, micros: u64, limit: Limit| {
        let mut found = found(20, 100, 0);
        let c = &mut found.connection;
        (c.position.vantage, c.position.to_client) = (Vantage::Client, Some(near));
        c.from_server.timestamps = false;
        let mut lifetime = Lifetime::default();
        let full = Span::from_micros(micros);
        lifetime.add(Limit::Path, Span::from_micros(500));
        lifetime.add(limit, Span::from_micros(1500));
        if limit == Limit::Path {
            lifetime.add_full(full)
        } else {
            lifetime.add_filled(full)
        };
        c.from_server.lifetime = lifetime;
        queueing(&found).is_some()
    };
    let near = [100, 101].map(Span::from_micros);
    for limit in [Limit::Path, Limit::ReceiveWindow] {
        assert_eq!(near.map(|near| full(near, 1000, limit)), [false; 2]);
        assert_eq!(near.map(|near| full(near, 1001, limit)), [false, true]);
    }
    assert!(captured(Vantage::Client, true));
    assert!([Vantage::Middle, Vantage::Server].into_iter().all(|at| captured(at, false)));
    let mut moved = found(20, 100, 0);
    moved.connection.from_client.rerouted = true;
    moved.connection.from_server.rerouted = true;
    assert_eq!(queueing(&moved), None);
}
