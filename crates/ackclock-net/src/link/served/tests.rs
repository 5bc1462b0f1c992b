//! Packets enter a gateway whose one link varies, at times in microseconds. What leaves is held
//! against times worked out by hand.

use std::net::SocketAddr;

use ackclock_tcp::{Registry, Time};

use crate::scenario::Scenario;
use crate::trace::Trace;
use crate::{Gateway, Headers, NodeId, Outcome};

/// A link of 8 Mb/s, so that a byte takes a microsecond, and 5 ms; or what `rate` says instead.
fn scenario(rate: &str, more: &str, trace: Option<&str>) -> Scenario {
    let text = format!(
        "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\n{rate}\ndelay = \"5ms\"\n{more}"
    );
    let mut scenario = Scenario::from_toml(&text, &Registry::default())
        .map_err(|e| e.to_string())
        .expect("a sound scenario");
    if let (Some(file), Some(trace)) = (&mut scenario.links[0].trace, trace) {
        file.trace = Some(Trace::parse(trace).expect("a sound trace"));
    }
    scenario
}

/// What becomes of packets of so many bytes that enter at these microseconds, in the order in which
/// they leave: the number of the packet, when it leaves, and why it was dropped if it was.
fn fates(scenario: &Scenario, packets: &[(u64, u32)]) -> Vec<(u64, u64, &'static str)> {
    let mut gateway = Gateway::new(scenario, 1).expect("a sound scenario");
    let end = |port| SocketAddr::from(([10, 0, 0, 1], port));
    for (token, &(at, len)) in (0..).zip(packets) {
        let headers = Headers {
            len,
            from: end(1),
            to: end(2),
            protocol: 17,
            codepoint: Default::default(),
            tcp: None,
        };
        assert!(gateway.enter(Time(1000 * at), NodeId(0), NodeId(1), &headers, token));
    }
    let mut left = Vec::new();
    while let Some(exit) = gateway.poll(Time(60_000_000_000)) {
        let why = match exit.outcome {
            Outcome::Delivered { .. } => "",
            Outcome::Dropped { why, .. } => why,
        };
        left.push((exit.token, exit.at.0 / 1000, why));
    }
    assert_eq!(gateway.under_way(), 0);
    left
}

const RATE: &str = "rate = \"8mbit\"";

/// Half a packet at 8 Mb/s, the other half at 4 Mb/s; then 8 Mb/s again.
#[test]
fn a_packet_goes_on_at_the_new_rate() {
    let more = "[[link.change]]\nat = \"500us\"\nrate = \"4mbit\"\n\
                [[link.change]]\nat = \"3ms\"\nrate = \"8mbit\"\n";
    assert_eq!(
        fates(&scenario(RATE, more, None), &[(0, 1000), (0, 1000), (0, 1000)]),
        // 500 + 2 * 500; 1500 to 3000 are 750 bytes, and 250 more; 1000.
        [(0, 6500, ""), (1, 8250, ""), (2, 9250, "")]
    );
}

/// 1 ms of every 4 ms is slow: 500 of 1000 bytes.
#[test]
fn a_change_comes_again_every_period() {
    let more = "[[link.change]]\nat = \"1ms\"\nevery = \"4ms\"\nrate = \"4mbit\"\n\
                [[link.change]]\nat = \"2ms\"\nevery = \"4ms\"\nrate = \"8mbit\"\n";
    assert_eq!(
        fates(&scenario(RATE, more, None), &[(0, 1000), (1000, 1000), (9000, 1000)]),
        // The third begins in the third slow millisecond.
        [(0, 6000, ""), (1, 7500, ""), (2, 15_500, "")]
    );
}

/// The second packet enters the wire when its delay is 1 ms.
#[test]
fn with_a_shorter_delay_packets_wait_for_those_before_or_overtake_them() {
    let more = |overtake| {
        format!("[[link.change]]\nat = \"1500us\"\ndelay = \"1ms\"\novertake = {overtake}\n")
    };
    let packets = [(0, 1000), (1000, 1000), (5000, 1000)];
    assert_eq!(
        fates(&scenario(RATE, &more(false), None), &packets),
        [(0, 6000, ""), (1, 6000, ""), (2, 7000, "")]
    );
    assert_eq!(
        fates(&scenario(RATE, &more(true), None), &packets),
        [(1, 3000, ""), (0, 6000, ""), (2, 7000, "")]
    );
}

#[test]
fn losses_and_the_room_of_the_queue_change() {
    let more = "loss = [{ bernoulli = { p = 0, direction = \"both\" } }]\n\
                [[link.change]]\nat = \"1ms\"\nloss = [{ bernoulli = { p = 1, direction = \"both\" } }]\n\
                [[link.change]]\nat = \"2ms\"\nloss = []\nqueue = { droptail = { packets = 1 } }\n";
    assert_eq!(
        fates(
            &scenario(RATE, more, None),
            &[(0, 500), (999, 500), (1000, 500), (2000, 500), (2001, 500)]
        ),
        [(2, 1000, "bernoulli"), (4, 2001, "queue"), (0, 5500, ""), (1, 6499, ""), (3, 7500, "")]
    );
}

/// The first packet has 600 of 1000 microseconds behind it when the outage begins.
#[test]
fn an_outage_holds_what_waits() {
    let more = "queue = { droptail = { packets = 3 } }\n\
                [[link.outage]]\nfrom = \"600us\"\nfor = \"2ms\"\nevery = \"10ms\"\n";
    assert_eq!(
        fates(
            &scenario(RATE, more, None),
            &[(0, 1000), (500, 1000), (700, 1000), (800, 1000), (10_700, 1000)]
        ),
        [(3, 800, "queue"), (0, 8000, ""), (1, 9000, ""), (2, 10_000, ""), (4, 18_600, "")]
    );
}

/// What has left the transmitter arrives, the rest is dropped when the outage begins, and what
/// comes at once.
#[test]
fn an_outage_drops_what_waits() {
    let more = "[[link.outage]]\nfrom = \"1600us\"\nfor = \"2ms\"\nqueued = \"drop\"\n";
    assert_eq!(
        fates(
            &scenario(RATE, more, None),
            &[(0, 1000), (500, 1000), (700, 1000), (1600, 1000), (3599, 1000), (3600, 1000)]
        ),
        [
            (1, 1600, "outage"),
            (2, 1600, "outage"),
            (3, 1600, "outage"),
            (4, 3599, "outage"),
            (0, 6000, ""),
            (5, 9600, "")
        ]
    );
}

/// The first packet of a burst is sent after 100 us and waits for 1 ms. Three are a burst.
#[test]
fn packets_leave_in_bursts() {
    let more = "aggregate = { for = \"1ms\", packets = 3 }\n";
    assert_eq!(
        fates(
            &scenario(RATE, more, None),
            &[(0, 100), (900, 100), (2000, 100), (2100, 100), (2200, 100), (2300, 100)]
        ),
        [(0, 6100, ""), (1, 6100, ""), (2, 7300, ""), (3, 7300, ""), (4, 7300, ""), (5, 8400, "")]
    );
}

/// Mahimahi's link_queue.cc, with the delay of 5 ms after it. An opportunity carries a packet of
/// 1500 bytes, which is 1504 there. That of 0 ms finds nothing: a packet that comes at the time of
/// an opportunity is too late for it.
#[test]
fn a_trace_delivers_as_mahimahi_does() {
    let packets = [(0, 1500), (0, 1500), (3999, 1500), (4000, 1500), (21_000, 1500)];
    assert_eq!(
        fates(&scenario("trace = \"t\"", "", Some("0\n4\n10\n")), &packets),
        // 4, 10 and again 10 (the 0 of the next pass), 14; at 20 nothing waits, and the next is 24.
        [(0, 9000, ""), (1, 15_000, ""), (2, 15_000, ""), (3, 19_000, ""), (4, 29_000, "")]
    );
}

/// What a packet leaves of an opportunity serves those behind it, and a packet may take two.
/// 704 + 4, 400 + 4 and 388 + 4 bytes are 1504; 1300 + 4 leaves 200, and 1500 + 4 takes them and
/// 1304 of the next opportunity, which has 200 left for the 196 + 4 behind it.
#[test]
fn opportunities_are_shared_to_the_byte() {
    let packets = [(0, 704), (0, 400), (0, 388), (0, 1300), (0, 1500), (0, 196), (0, 1)];
    assert_eq!(
        fates(&scenario("trace = \"t\"", "", Some("1\n2\n3\n4\n")), &packets),
        [
            (0, 6000, ""),
            (1, 6000, ""),
            (2, 6000, ""),
            (3, 7000, ""),
            (4, 8000, ""),
            (5, 8000, ""),
            (6, 9000, "")
        ]
    );
}

/// The rest of an opportunity is lost if nothing waits.
#[test]
fn an_opportunity_is_not_saved() {
    assert_eq!(
        fates(&scenario("trace = \"t\"", "", Some("1\n2\n")), &[(0, 100), (1000, 1500), (1500, 4)]),
        [(0, 6000, ""), (1, 7000, ""), (2, 8000, "")]
    );
}

/// A packet of which a part has gone is no longer in Mahimahi's queue, so that another one fits in.
#[test]
fn of_a_trace_what_has_begun_to_go_takes_no_room() {
    let more = "queue = { droptail = { packets = 2 } }\n";
    assert_eq!(
        fates(
            &scenario("trace = \"t\"", more, Some("10\n20\n30\n")),
            &[(0, 1000), (0, 1500), (1, 1500), (10_000, 100), (10_001, 100), (10_002, 100)]
        ),
        [
            (2, 1, "queue"),
            (5, 10_002, "queue"),
            (0, 15_000, ""),
            (1, 25_000, ""),
            (3, 25_000, ""),
            (4, 25_000, "")
        ]
    );
}

/// Opportunities in an outage are lost.
#[test]
fn a_trace_has_outages() {
    let more = "[[link.outage]]\nfrom = \"2ms\"\nfor = \"2ms\"\n";
    assert_eq!(
        fates(&scenario("trace = \"t\"", more, Some("1\n")), &[(0, 1500), (0, 1500), (0, 1500)]),
        [(0, 6000, ""), (1, 9000, ""), (2, 10_000, "")]
    );
}

/// Two outages share the opportunities: nothing is ever sent, and nothing goes on for ever.
#[test]
fn a_trace_whose_opportunities_are_all_lost_ends_with_the_run() {
    let outage =
        |from| format!("[[link.outage]]\nfrom = \"{from}ms\"\nfor = \"1us\"\nevery = \"2ms\"\n");
    let more = outage(1) + &outage(2);
    let scenario = scenario("trace = \"t\"", &more, Some("1\n"));
    let mut gateway = Gateway::new(&scenario, 1).expect("a sound scenario");
    let end = |port| SocketAddr::from(([10, 0, 0, 1], port));
    let headers = Headers {
        len: 100,
        from: end(1),
        to: end(2),
        protocol: 17,
        codepoint: Default::default(),
        tcp: None,
    };
    assert!(gateway.enter(Time::ZERO, NodeId(0), NodeId(1), &headers, 0));
    assert_eq!(gateway.poll(Time(10_000_000_000)), None);
    assert_eq!(gateway.under_way(), 1);
}

/// 300 packets at once, of which one leaves every millisecond: the one that leaves at t has waited
/// for t. From 5 ms on that is the target, so that dropping begins at 105 with packet 105. The next
/// ones are due at 205 and 205 + 100 / sqrt(2) = 275.71. Those behind take their places.
#[test]
fn codel_drops_packets_as_they_leave() {
    let fates = fates(&scenario(RATE, "queue = { codel = {} }", None), &[(0, 1000); 300]);
    let dropped: Vec<_> = fates.iter().filter(|(_, _, why)| !why.is_empty()).copied().collect();
    assert_eq!(
        dropped,
        [(105, 105_000, "early"), (206, 205_000, "early"), (278, 276_000, "early")]
    );
    assert_eq!((fates.len(), fates[299]), (300, (299, 302_000, "")));
}

/// One is in transmission, and two may wait.
#[test]
fn a_codel_queue_has_a_limit() {
    let more = "queue = { codel = { limit = 2 } }";
    assert_eq!(
        fates(&scenario(RATE, more, None), &[(0, 1000), (0, 1000), (0, 1000), (0, 1000)]),
        [(3, 0, "queue"), (0, 6000, ""), (1, 7000, ""), (2, 8000, "")]
    );
}

/// An opportunity every millisecond: one that a dropped packet leaves is the next one's.
#[test]
fn codel_drops_packets_of_a_trace() {
    let codel = scenario("trace = \"t\"", "queue = { codel = {} }", Some("1\n"));
    let fates = fates(&codel, &[(0, 1500); 150]);
    let dropped: Vec<_> = fates.iter().filter(|(_, _, why)| !why.is_empty()).copied().collect();
    // Packet k leaves at k + 1, and packet 4 at 5.
    assert_eq!(dropped, [(104, 105_000, "early")]);
    assert_eq!((fates.len(), fates[149]), (150, (149, 154_000, "")));
}

/// One is in transmission and two may wait: the fourth packet costs those that wait half of their
/// 3000 bytes, at once.
#[test]
fn fq_codel_makes_room_at_the_head() {
    let more = "queue = { fq_codel = { limit = 2 } }";
    assert_eq!(
        fates(
            &scenario(RATE, more, None),
            &[(0, 1000), (0, 1000), (0, 1000), (1, 1000), (2, 1000)]
        ),
        [(1, 1, "queue"), (2, 1, "queue"), (0, 6000, ""), (3, 7000, ""), (4, 8000, "")]
    );
}

#[test]
fn an_outage_drops_what_waits_in_all_queues() {
    let more = "queue = { fq_codel = {} }\n\
                [[link.outage]]\nfrom = \"500us\"\nfor = \"2ms\"\nqueued = \"drop\"\n";
    assert_eq!(
        fates(&scenario(RATE, more, None), &[(0, 1000), (0, 1000), (2500, 1000)]),
        [(0, 500, "outage"), (1, 500, "outage"), (2, 8500, "")]
    );
}
