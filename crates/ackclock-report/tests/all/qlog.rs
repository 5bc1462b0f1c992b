//! qlog: its structure as the drafts have it, and what becomes of segments and ACKs.

use ackclock_report::{QlogTrace, write_qlog};
use ackclock_tcp::{Cause, Event, EventKind, SackRanges, Time, TimeoutClass};
use serde_json::{Value, json};

fn at(millis: u64, cwnd: u64, kind: EventKind) -> Event {
    let (snd_una, snd_nxt) = (0, 3000);
    Event { at: Time(millis * 1_000_000), cwnd, ssthresh: u64::MAX, snd_una, snd_nxt, kind }
}

fn sent(segment: u64, transmission: u32) -> EventKind {
    let cause = if transmission == 1 { Cause::New } else { Cause::Recovery };
    EventKind::Sent { seq: segment * 1000, len: 1000, cause, transmission, detected_by: None }
}

fn acked(ack: u64, blocks: &[(u64, u64)]) -> EventKind {
    let mut sack: SackRanges = [(0, 0); 4];
    sack[..blocks.len()].copy_from_slice(blocks);
    EventKind::Acked {
        ack,
        dupacks: 0,
        newly_acked: 0,
        newly_sacked: 0,
        window_edge: 100_000,
        sack,
        sacks: blocks.len() as u8,
        dsack: false,
    }
}

/// Four segments, of which the second is lost, and its retransmission as well.
fn lossy() -> Vec<Event> {
    let lost = |transmission, by| EventKind::Lost { seq: 1000, len: 1000, transmission, by };
    let expired = EventKind::TimedOut {
        seq: 1000,
        class: TimeoutClass::LostRetransmission,
        backoff: 0,
        flight: 3000,
        cwnd_before: 2000,
        rto: 1_000_000_000,
    };
    let entered = EventKind::RecoveryEntered { recover: 3000, flight: 3000, pipe: 0, by: "dupack" };
    vec![
        at(0, 4000, sent(0, 1)),
        at(0, 4000, sent(1, 1)),
        at(0, 4000, sent(2, 1)),
        at(0, 4000, sent(3, 1)),
        at(100, 4000, acked(1000, &[])),
        at(101, 4000, acked(1000, &[(2000, 4000)])),
        at(101, 4000, lost(1, "dupack")),
        at(101, 2000, entered),
        at(101, 2000, sent(1, 2)),
        at(150, 2000, acked(1000, &[(2000, 4000)])),
        at(1101, 1000, EventKind::RecoveryLeft { by_timeout: true, cwnd_before: 2000 }),
        at(1101, 1000, lost(2, "linux-rack")),
        at(1101, 1000, expired),
        at(1101, 1000, sent(1, 3)),
        at(1201, 1000, acked(4000, &[])),
    ]
}

fn file(traces: &[QlogTrace]) -> Value {
    let mut text = Vec::new();
    write_qlog(&mut text, "a \"title\"", traces).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn of(events: &[Event]) -> Value {
    let mut trace = QlogTrace::new("sack: flow0");
    events.iter().for_each(|event| trace.record(event));
    file(&[trace])
}

/// The events of this name: times and data.
fn named(file: &Value, name: &str) -> Vec<(f64, Value)> {
    let all = file["traces"][0]["events"].as_array().unwrap();
    let of_name = all.iter().filter(|event| event["name"] == name);
    of_name.map(|event| (event["time"].as_f64().unwrap(), event["data"].clone())).collect()
}

#[test]
fn packets_count_transmissions() {
    let file = of(&lossy());
    let sent: Vec<(f64, u64, u64)> = named(&file, "transport:packet_sent")
        .iter()
        .map(|(time, data)| {
            let number = data["header"]["packet_number"].as_u64().unwrap();
            (*time, number, data["frames"][0]["offset"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(
        sent,
        [
            (0.0, 0, 0),
            (0.0, 1, 1000),
            (0.0, 2, 2000),
            (0.0, 3, 3000),
            (101.0, 4, 1000),
            (1101.0, 5, 1000)
        ]
    );
}

#[test]
fn an_ack_stands_for_the_last_transmission_of_what_it_covers_first() {
    let file = of(&lossy());
    let ranges: Vec<(f64, Value)> = named(&file, "transport:packet_received")
        .into_iter()
        .map(|(time, data)| (time, data["frames"][0]["acked_ranges"].clone()))
        .collect();
    let expected = [
        (100.0, json!([[0, 0]])),
        (101.0, json!([[2, 3]])),
        // Nothing new: the greatest number so far.
        (150.0, json!([[3, 3]])),
        (1201.0, json!([[5, 5]])),
    ];
    assert_eq!(ranges, expected);
    let lost: Vec<(f64, Value, Value)> = named(&file, "recovery:packet_lost")
        .into_iter()
        .map(|(t, data)| (t, data["header"]["packet_number"].clone(), data["trigger"].clone()))
        .collect();
    assert_eq!(
        lost,
        [
            (101.0, json!(1), json!("reordering_threshold")),
            (1101.0, json!(4), json!("time_threshold"))
        ]
    );
}

#[test]
fn windows_are_told_when_they_change() {
    let metrics = named(&of(&lossy()), "recovery:metrics_updated");
    let windows: Vec<(f64, &Value)> =
        metrics.iter().map(|(time, data)| (*time, &data["congestion_window"])).collect();
    assert_eq!(windows, [(0.0, &json!(4000)), (101.0, &json!(2000)), (1101.0, &json!(1000))]);
    let states: Vec<Value> = named(&of(&lossy()), "recovery:congestion_state_updated")
        .into_iter()
        .map(|(_, data)| data["new"].clone())
        .collect();
    assert_eq!(states, ["recovery", "slow_start"]);
}

/// What a value has to be.
enum Is {
    Number,
    Count,
    Text,
    OneOf(&'static [&'static str]),
    /// A list of at least one of these.
    List(&'static Is),
    /// Two counts, the second one not less.
    Range,
    /// Fields, and whether each of them has to be there. There are no others.
    Fields(&'static [(&'static str, bool, Is)]),
}
use Is::*;

/// Main schema, section 3.1 (`QlogFile`, `Trace`), 3.3.2 (vantage point) and 3.4.2 (time).
const FILE: Is = Fields(&[
    ("qlog_version", true, OneOf(&["0.3"])),
    ("qlog_format", true, OneOf(&["JSON"])),
    ("title", false, Text),
    ("traces", true, List(&TRACE)),
]);
const TRACE: Is = Fields(&[
    ("title", false, Text),
    ("vantage_point", true, Fields(&[("name", false, Text), ("type", true, OneOf(&["server"]))])),
    (
        "common_fields",
        false,
        Fields(&[
            ("time_format", false, OneOf(&["relative"])),
            ("reference_time", false, Number),
            ("protocol_type", false, List(&Text)),
        ]),
    ),
    ("events", true, List(&EVENT)),
]);
/// Main schema, section 3.4: time, name and data.
const EVENT: Is = Fields(&[("time", true, Number), ("name", true, Text), ("data", true, DATA)]);
/// The data depend on the name: see [`data`].
const DATA: Is = Fields(&[]);

/// QUIC events, appendix A.2 (`PacketHeader`) and section 3.4 of the main schema (`RawInfo`).
const HEADER: Is =
    Fields(&[("packet_type", true, OneOf(&["1RTT"])), ("packet_number", true, Count)]);
const RAW: Is = Fields(&[("length", false, Count)]);
/// Appendix A.7: the stream frame and the ack frame.
const STREAM: Is = Fields(&[
    ("frame_type", true, OneOf(&["stream"])),
    ("stream_id", true, Count),
    ("offset", true, Count),
    ("length", true, Count),
]);
const ACK: Is =
    Fields(&[("frame_type", true, OneOf(&["ack"])), ("acked_ranges", false, List(&Range))]);

/// The data of an event: QUIC events, sections 4.2.5 and 4.2.6 (packets), 5.4.2 (metrics), 5.4.3
/// (states), 5.4.4 (timers) and 5.4.5 (losses).
fn data(name: &str) -> Option<Is> {
    Some(match name {
        "transport:packet_sent" => Fields(&[
            ("header", true, HEADER),
            ("raw", false, RAW),
            ("frames", false, List(&STREAM)),
        ]),
        "transport:packet_received" => {
            Fields(&[("header", true, HEADER), ("raw", false, RAW), ("frames", false, List(&ACK))])
        }
        "recovery:metrics_updated" => Fields(&[
            ("congestion_window", false, Count),
            ("bytes_in_flight", false, Count),
            ("ssthresh", false, Count),
        ]),
        "recovery:congestion_state_updated" => {
            Fields(&[("new", true, OneOf(&["slow_start", "congestion_avoidance", "recovery"]))])
        }
        "recovery:loss_timer_updated" => Fields(&[
            ("event_type", true, OneOf(&["set", "expired", "cancelled"])),
            ("timer_type", false, OneOf(&["ack", "pto"])),
        ]),
        "recovery:packet_lost" => Fields(&[
            ("header", false, HEADER),
            ("trigger", false, OneOf(&["reordering_threshold", "time_threshold", "pto_expired"])),
        ]),
        _ => return None,
    })
}

/// What is wrong with a value, with the place where.
fn wrong(value: &Value, is: &Is, place: &str) -> Vec<String> {
    let say = |good: bool| if good { Vec::new() } else { vec![format!("{place}: {value}")] };
    match is {
        Number => say(value.is_number()),
        Count => say(value.is_u64()),
        Text => say(value.is_string()),
        OneOf(words) => say(value.as_str().is_some_and(|word| words.contains(&word))),
        Range => say(value.as_array().is_some_and(|pair| {
            pair.len() == 2
                && matches!((pair[0].as_u64(), pair[1].as_u64()), (Some(a), Some(b)) if a <= b)
        })),
        List(item) => match value.as_array().filter(|list| !list.is_empty()) {
            Some(list) => list.iter().flat_map(|v| wrong(v, item, place)).collect(),
            None => say(false),
        },
        Fields(fields) => {
            let Some(object) = value.as_object() else { return say(false) };
            let mut found = Vec::new();
            for (name, needed, is) in *fields {
                let place = format!("{place}.{name}");
                match (object.get(*name), place.ends_with(".events.data")) {
                    (Some(data_of), true) => match data(object["name"].as_str().unwrap_or("")) {
                        Some(is) => found.extend(wrong(data_of, &is, &place)),
                        None => found.push(format!("{place}: of {}", object["name"])),
                    },
                    (Some(field), false) => found.extend(wrong(field, is, &place)),
                    (None, _) if *needed => found.push(format!("{place}: missing")),
                    (None, _) => {}
                }
            }
            let unknown = object.keys().filter(|key| fields.iter().all(|field| field.0 != **key));
            found.extend(unknown.map(|key| format!("{place}.{key}: unknown")));
            found
        }
    }
}

#[test]
fn the_structure_is_that_of_the_drafts() {
    let good = of(&lossy());
    assert_eq!(wrong(&good, &FILE, ""), Vec::<String>::new());
    // The schema is no sieve.
    for (pointer, bad) in [
        ("/qlog_version", json!("0.4")),
        ("/traces/0/vantage_point/type", json!("sender")),
        ("/traces/0/events/0/time", json!("0")),
        ("/traces/0/events/0/data/header/packet_number", json!(-1)),
        ("/traces/0/events/0/name", json!("transport:sent")),
        ("/traces/0/events/0/data/frames/0/frame_type", json!("ack")),
    ] {
        let mut file = good.clone();
        *file.pointer_mut(pointer).unwrap() = bad;
        assert!(!wrong(&file, &FILE, "").is_empty(), "{pointer}");
    }
}

#[test]
fn each_flow_is_a_trace() {
    let file = file(&[QlogTrace::new("sack: flow0"), QlogTrace::new("sack: flow1")]);
    let titles: Vec<&Value> =
        file["traces"].as_array().unwrap().iter().map(|trace| &trace["title"]).collect();
    assert_eq!(titles, ["sack: flow0", "sack: flow1"]);
    assert_eq!(file["title"], "a \"title\"");
}
