//! Exact JSON lines.

use ackclock_report::EventWriter;
use ackclock_tcp::{Cause, Event, EventKind, Time, TimeoutClass};

/// The line of one event of flow 3.
fn line(strategy: &str, event: Event) -> String {
    let mut writer = EventWriter::new(Vec::new());
    writer.record(3, "b\"c", strategy, &event).unwrap();
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn event(kind: EventKind) -> Event {
    Event {
        at: Time(1_000_000_042),
        cwnd: 4000,
        ssthresh: u64::MAX,
        snd_una: 1000,
        snd_nxt: 5000,
        kind,
    }
}

/// What every line of `event` has before and after `seq`, `len` and `cause`.
fn expect(name: &str, seq_len_cause: &str, own: &str) -> String {
    format!(
        "{{\"t\":1.000000042,\"flow\":3,\"name\":\"b\\\"c\",\"strategy\":\"sack\",\"event\":\"{name}\",{seq_len_cause},\
         \"cwnd\":4000,\"ssthresh\":null,\"snd_una\":1000,\"snd_nxt\":5000,{own}}}\n"
    )
}

#[test]
fn every_kind_of_event_has_its_fields_in_order() {
    let none = "\"seq\":null,\"len\":null,\"cause\":null";
    let data = "\"seq\":1000,\"len\":500,\"cause\":null";
    let (seq, len) = (1000, 500);
    let sack = [(3000, 4000), (1500, 2000), (7, 7), (8, 8)];
    let cases = [
        (
            EventKind::Sent {
                seq,
                len,
                cause: Cause::FastRetransmit,
                transmission: 2,
                detected_by: Some("is-lost"),
            },
            expect(
                "sent",
                "\"seq\":1000,\"len\":500,\"cause\":\"fast_retransmit\"",
                "\"transmission\":2,\"detected_by\":\"is-lost\"",
            ),
        ),
        (
            EventKind::Acked {
                ack: 1000,
                dupacks: 2,
                newly_acked: 0,
                newly_sacked: 1000,
                window_edge: 65000,
                sack,
                sacks: 2,
                dsack: true,
            },
            expect(
                "acked",
                none,
                "\"ack\":1000,\"dupacks\":2,\"newly_acked\":0,\"newly_sacked\":1000,\"window_edge\":65000,\
                 \"sack\":[[3000,4000],[1500,2000]],\"dsack\":true",
            ),
        ),
        (
            EventKind::Lost { seq, len, transmission: 2, by: "rack" },
            expect("lost", data, "\"transmission\":2,\"by\":\"rack\""),
        ),
        (
            EventKind::RecoveryEntered { recover: 5000, flight: 4000, pipe: 1000, by: "dupack" },
            expect(
                "recovery_entered",
                none,
                "\"recover\":5000,\"flight\":4000,\"pipe\":1000,\"by\":\"dupack\"",
            ),
        ),
        (
            EventKind::RecoveryLeft { by_timeout: true, cwnd_before: 7000 },
            expect("recovery_left", none, "\"by_timeout\":true,\"cwnd_before\":7000"),
        ),
        (EventKind::Written { seq: 5, len: 9 }, expect("written", none, "\"from\":5,\"bytes\":9")),
        (
            EventKind::TimedOut {
                seq,
                class: TimeoutClass::MultipleLosses,
                backoff: 1,
                flight: 4000,
                cwnd_before: 6000,
                rto: 1_500_000_000,
            },
            expect(
                "timed_out",
                "\"seq\":1000,\"len\":null,\"cause\":null",
                "\"class\":\"multiple_losses\",\"backoff\":1,\"flight\":4000,\"cwnd_before\":6000,\"rto\":1500000000",
            ),
        ),
        (
            EventKind::Reduced { cwnd_before: 10_000 },
            expect("reduced", none, "\"cwnd_before\":10000"),
        ),
        (EventKind::Undone { by: "eifel" }, expect("undone", none, "\"by\":\"eifel\"")),
        (
            EventKind::MssChanged { mss: 536, lost: 4000 },
            expect("mss_changed", none, "\"mss\":536,\"lost\":4000"),
        ),
        (
            EventKind::Arrived { seq, len, spurious: false },
            expect("arrived", data, "\"spurious\":false"),
        ),
        (
            EventKind::Dropped { seq, len, transmission: 3, link: 1, why: "queue" },
            expect("dropped", data, "\"transmission\":3,\"link\":1,\"why\":\"queue\""),
        ),
        (
            EventKind::AckDropped { ack: 1000, link: 2, why: "bernoulli" },
            expect("ack_dropped", none, "\"ack\":1000,\"link\":2,\"why\":\"bernoulli\""),
        ),
    ];
    for (kind, expected) in cases {
        assert_eq!(line("sack", event(kind)), expected);
    }
}

#[test]
fn numbers_at_the_ends_of_their_ranges() {
    let event = Event {
        at: Time(u64::MAX),
        cwnd: u64::MAX,
        ssthresh: u64::MAX - 1,
        snd_una: u64::MAX,
        snd_nxt: u64::MAX,
        kind: EventKind::Sent {
            seq: u64::MAX,
            len: u32::MAX,
            cause: Cause::New,
            transmission: u32::MAX,
            detected_by: None,
        },
    };
    assert_eq!(
        line("reno", event),
        "{\"t\":18446744073.709551615,\"flow\":3,\"name\":\"b\\\"c\",\"strategy\":\"reno\",\"event\":\"sent\",\
         \"seq\":18446744073709551615,\"len\":4294967295,\"cause\":\"new\",\"cwnd\":18446744073709551615,\
         \"ssthresh\":18446744073709551614,\"snd_una\":18446744073709551615,\"snd_nxt\":18446744073709551615,\
         \"transmission\":4294967295,\"detected_by\":null}\n"
    );
}

#[test]
fn a_strategy_name_is_escaped() {
    let text = line("a\"b\\\n</script>", event(EventKind::Undone { by: "x\u{1}" }));
    assert_eq!(text.lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["strategy"], "a\"b\\\n</script>");
    assert_eq!(value["by"], "x\u{1}");
}

#[test]
fn more_sack_blocks_claimed_than_there_are() {
    let kind = EventKind::Acked {
        ack: 0,
        dupacks: 0,
        newly_acked: 0,
        newly_sacked: 0,
        window_edge: 0,
        sack: [(1, 2), (3, 4), (5, 6), (7, 8)],
        sacks: 255,
        dsack: false,
    };
    assert!(
        line("sack", event(kind))
            .ends_with("\"sack\":[[1,2],[3,4],[5,6],[7,8]],\"dsack\":false}\n")
    );
}
