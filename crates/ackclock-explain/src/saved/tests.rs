//! What all connections of a host tell of a sender decides what can be told of one of its timeouts.

use ackclock_tcp::{Span, Time, TimeoutClass};
use ackclock_trace::ways::Evidence;
use ackclock_trace::{Episode, State};

use super::*;
use crate::fixture;

/// A lost tail, which a probe would have repaired.
fn tail() -> Episode {
    Episode {
        start: Time::ZERO,
        position: 0,
        mss: 1000,
        rtt: Span::from_millis(100),
        rtt_before: Span::from_millis(100),
        rtt_after: None,
        rtt_least: Span::from_millis(100),
        rate_bps: None,
        cwnd: 5,
        rwnd: 1 << 20,
        bytes: 5000,
        repaired: 5000,
        lost: vec![0, 0, 0, 0, 1],
        slow_start: true,
        delayed_ack: false,
        sack: true,
        timestamps: false,
        took: Span::from_millis(600),
    }
}

/// The first connection of a host let a chance for a probe go by; the second has such evidence.
fn told(second: Evidence) -> Explained {
    told_with(second, Span::from_millis(100))
}

/// The same where 99 % of the round trips are no longer than this.
fn told_with(second: Evidence, p99: Span) -> Explained {
    let mut all = fixture::explained();
    all.connections.iter_mut().for_each(|found| found.saved.clear());
    let flow = &mut all.connections[0].connection.from_server;
    flow.ways.probes = Evidence { used: 0, unused: 1 };
    flow.rtt.as_mut().unwrap().p99 = p99;
    let timeout = &mut flow.timeouts[0];
    (timeout.class, timeout.state) = (TimeoutClass::NonTrigger, State::Open);
    (timeout.waited, timeout.episode) = (Span::from_millis(500), Some(tail()));
    all.connections[1].connection.from_server.ways.probes = second;
    save(&mut all, 1).unwrap();
    all
}

#[test]
fn a_probe_of_another_connection_shows_that_the_sender_sends_probes() {
    let without = told(Evidence { used: 0, unused: 3 });
    let avoided = without.connections[0].saved[0].by.iter().filter(|r| r.avoided);
    assert_eq!(avoided.map(|r| r.strategy).collect::<Vec<_>>(), ["sack+tlp", "rack-tlp", "linux"]);
    assert_eq!(without.untold(), 0);

    let with = told(Evidence { used: 1, unused: 0 });
    assert_eq!(with.connections[0].saved[0].by, []);
    assert_eq!((with.replayed, with.untold()), (1, 1));
    let text = crate::table(&with, 0, None);
    assert!(text.contains("\nWhat would have avoided the timeouts cannot be told\n"), "{text}");
}

/// The probe, its ACK and the repair may take as long as the longest round trips of the connection.
#[test]
fn the_round_trips_of_the_connection_say_how_little_is_saved() {
    let least = |p99| {
        let all = told_with(Evidence::default(), Span::from_millis(p99));
        let rack = all.connections[0].saved[0].by.iter().find(|r| r.strategy == "rack-tlp");
        rack.unwrap().saved_90_s.unwrap()[0]
    };
    assert!(least(1000) < least(100) - 0.4, "{} {}", least(1000), least(100));
}
