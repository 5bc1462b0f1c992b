//! Two captures of the same connection, made byte by byte, and what happened between them.

use std::fs;
use std::path::PathBuf;

use ackclock_explain::{
    Comparison, Error, Explained, Options, Source, compare, compared, read, write_compared,
};
use ackclock_run::Cancel;
use serde_json::{Value, json};

const SYN: u8 = 2;
const SYN_ACK: u8 = 0x12;
const ACK: u8 = 0x10;

/// A segment: when in microseconds, whether the client sent it, its sequence number without that of
/// the SYN, its control bits and its payload.
pub(super) type Sent = (u64, bool, u32, u8, usize);

/// A segment, and the acknowledgment number without that of the SYN.
type Acking = (Sent, u32);

/// A capture of raw IP, with a clock that is `ahead` by so many microseconds, and the client's port
/// as it is there.
pub(super) fn capture(name: &str, ahead: u64, port: u16, sent: &[Sent]) -> PathBuf {
    let sent: Vec<Acking> = sent.iter().map(|&sent| (sent, 1)).collect();
    file(name, &[records(1000, ahead, port, &sent)])
}

/// A capture of these records.
fn file(name: &str, records: &[Vec<u8>]) -> PathBuf {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
    file.extend([0, 0, 101, 0, 0, 0]);
    file.extend(records.concat());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, file).unwrap();
    path
}

/// The packets of a connection whose client begins to count with `isn`.
fn records(isn: u32, ahead: u64, port: u16, sent: &[Acking]) -> Vec<u8> {
    let mut file = Vec::new();
    for &((micros, client, seq, control, len), ack) in sent {
        let (mine, theirs) = if client { (isn, 9000_u32) } else { (9000, isn) };
        let total = (40 + len) as u16;
        let mut bytes = vec![0x45, 0, 0, 0, 0, 1, 0, 0, 64, 6, 0, 0];
        bytes[2..4].copy_from_slice(&total.to_be_bytes());
        // The identification: another one each millisecond.
        bytes[4..6].copy_from_slice(&((micros / 1000) as u16 + 1).to_be_bytes());
        let ends = [[10, 0, 0, 1], [10, 0, 0, 2]];
        let ports = [port.to_be_bytes(), 80_u16.to_be_bytes()];
        let (from, to) = if client { (0, 1) } else { (1, 0) };
        bytes.extend([ends[from], ends[to]].concat());
        bytes.extend([ports[from], ports[to]].concat());
        let ack = if control == SYN { 0 } else { theirs + ack };
        bytes.extend((mine + seq).to_be_bytes());
        bytes.extend(ack.to_be_bytes());
        bytes.extend([0x50, control, 0xff, 0xff, 0, 0, 0, 0]);
        bytes.resize(usize::from(total), 7);
        let (at, len) = (1_700_000_000_000_000 + micros + ahead, u32::from(total));
        let words = [(at / 1_000_000) as u32, (at % 1_000_000) as u32, len, len];
        file.extend(words.map(u32::to_le_bytes).concat());
        file.extend(bytes);
    }
    file
}

/// The server's second segment is lost between the captures, the third overtakes the first there,
/// and the fourth is lost behind the second capture. It takes 20 ms from one to the other, and 5 ms
/// more for the first segment.
fn near_server() -> Vec<Sent> {
    vec![
        (20_000, true, 0, SYN, 0),
        (20_000, false, 0, SYN_ACK, 0),
        (60_000, true, 1, ACK, 100),
        (61_000, false, 1, ACK, 1000),
        (62_000, false, 1001, ACK, 1000),
        (63_000, false, 2001, ACK, 1000),
        (64_000, false, 3001, ACK, 1000),
        (300_000, false, 1001, ACK, 1000),
        (310_000, false, 3001, ACK, 1000),
    ]
}

pub(super) fn near_client() -> Vec<Sent> {
    vec![
        (0, true, 0, SYN, 0),
        (40_000, false, 0, SYN_ACK, 0),
        (40_000, true, 1, ACK, 100),
        (83_000, false, 2001, ACK, 1000),
        (84_000, false, 3001, ACK, 1000),
        (86_000, false, 1, ACK, 1000),
        (320_000, false, 1001, ACK, 1000),
        (330_000, false, 3001, ACK, 1000),
    ]
}

fn both(paths: [PathBuf; 2]) -> (Explained, Comparison) {
    let options = Options { jobs: 2, filter: None, events_of_streams: 0 };
    let sources = paths.map(Source::File);
    let explained = read(&sources, &options, &Cancel::default()).unwrap();
    let comparison = compare(&sources, &explained, &options, &Cancel::default()).unwrap();
    (explained, comparison)
}

fn document((explained, comparison): &(Explained, Comparison)) -> Value {
    let mut out = Vec::new();
    write_compared(explained, comparison, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// In either order of the captures, with clocks that differ, and with a port that was translated.
#[test]
fn what_happened_between_two_captures_is_found() {
    for near_client_first in [true, false] {
        let client =
            capture(&format!("client-{near_client_first}.pcap"), 0, 40_000, &near_client());
        let server =
            capture(&format!("server-{near_client_first}.pcap"), 3_000_000, 50_000, &near_server());
        let pair = if near_client_first { [client, server] } else { [server, client] };
        let found = document(&both(pair));
        let both = &found["both"];
        assert_eq!(both["near_client"], if near_client_first { 0 } else { 1 });
        // The clocks differ by 3 s.
        assert_eq!(both["there_and_back_s"], 0.04);
        let ahead = if near_client_first { 3.0 } else { -3.0 };
        assert_eq!(both["clock_ahead_s"], ahead);
        assert_eq!((&both["alone"], &both["left_out"]), (&json!([0, 0]), &json!(0)));
        let from_servers = json!({
            "bytes": 6000, "lost_between": 1000, "syns_lost_between": 0, "again_behind": 1000, "not_before": 0,
            "not_compared": 0,
            // The first and the third came past both once; the first was overtaken.
            "segments": 2, "out_of_order": 1, "delay_median_s": 0.0, "delay_p99_s": 0.005
        });
        let from_clients = json!({
            "bytes": 100, "lost_between": 0, "syns_lost_between": 0, "again_behind": 0, "not_before": 0,
            "not_compared": 0, "segments": 1, "out_of_order": 0, "delay_median_s": 0.0, "delay_p99_s": 0.0
        });
        assert_eq!((&both["from_servers"], &both["from_clients"]), (&from_servers, &from_clients));
        let connection = &both["connections"][0];
        assert_eq!(connection["numbers"], json!([0, 1]));
        let port = if near_client_first { 40_000 } else { 50_000 };
        assert_eq!(connection["client"], format!("10.0.0.1:{port}"));
        assert_eq!(connection["from_server"], from_servers);
        let bytes = |capture: usize| &found["totals"][capture]["bytes"];
        assert_eq!((bytes(0), bytes(1)), (&json!(4100), &json!(4100)));
    }
}

/// A capture, and a copy of it: nothing happened between them. Not so where one packet differs.
#[test]
fn a_capture_and_its_copy_are_the_same() {
    let copies = |name: &str, sent: &[Sent]| {
        let one = capture(&format!("{name}-one.pcap"), 0, 40_000, &near_client());
        both([one, capture(&format!("{name}-copy.pcap"), 0, 40_000, sent)])
    };
    let found = copies("same", &near_client());
    assert_eq!(document(&found)["same"], true);
    let text = compared(&found.0, &found.1, 0);
    let end = "\nBoth are the same capture: their packets and times are the same.\n";
    assert!(text.ends_with(end), "{text}");
    let mut later = near_client();
    later[7].0 += 1;
    let found = copies("later", &later);
    assert_eq!(document(&found)["same"], false);
    assert!(compared(&found.0, &found.1, 0).contains("1 connection is in both captures"));
}

/// A capture of all interfaces of a host may have each frame twice.
#[test]
fn what_a_capture_has_twice_is_one_segment() {
    let once = near_client();
    let twice: Vec<Sent> = once
        .iter()
        .flat_map(|&(at, a, b, c, d)| [(at, a, b, c, d), (at + 10, a, b, c, d)])
        .collect();
    let server = capture("twice-server.pcap", 0, 40_000, &near_server());
    let found = |name: &str, sent: &[Sent]| {
        document(&both([capture(name, 0, 40_000, sent), server.clone()]))["both"].clone()
    };
    assert_eq!(
        found("twice.pcap", &twice)["from_servers"],
        found("once.pcap", &once)["from_servers"]
    );
}

/// A host captures 3000 bytes as one segment, and the network carries three.
#[test]
fn super_segments_are_compared_with_what_they_are_cut_into() {
    let one = |at| (at, false, 1, ACK, 3000);
    let cut = |at, part: u32| (at, false, 1 + 1000 * part, ACK, 1000);
    let syns = |at: u64, delay: u64| {
        [(at + delay, true, 0, SYN, 0), (at + 40_000 - delay, false, 0, SYN_ACK, 0)]
    };
    let near = [&syns(0, 20_000)[..], &[one(100_000), (101_000, false, 3001, ACK, 1000)]].concat();
    let arrive = [cut(121_000, 0), cut(122_000, 1), cut(130_000, 2), cut(131_000, 3)];
    let far = [&syns(0, 0)[..], &arrive].concat();
    let found = document(&both([
        capture("tso-server.pcap", 0, 40_000, &near),
        capture("tso-client.pcap", 0, 40_000, &far),
    ]));
    let way = &found["both"]["from_servers"];
    assert_eq!((&way["bytes"], &way["lost_between"]), (&json!(4000), &json!(0)));
    assert_eq!((&way["segments"], &way["out_of_order"]), (&json!(4), &json!(0)));
    // 21, 22, 30 and 30 ms, and 20 ms of the SYN.
    assert_eq!((&way["delay_median_s"], &way["delay_p99_s"]), (&json!(0.002), &json!(0.01)));
    assert_eq!(found["both"]["clock_ahead_s"], 0.0);
    assert_eq!(found["both"]["near_client"], 1);
}

/// What the shorter capture did not see to its end is not lost.
#[test]
fn what_comes_after_the_end_of_a_capture_is_not_lost() {
    let short = capture("short.pcap", 0, 40_000, &near_client()[..4]);
    let found = document(&both([short, capture("long.pcap", 0, 40_000, &near_server())]));
    // It ended at 83 ms, and a packet takes 20 ms. Two of the first three segments did not come,
    // the fourth and both retransmissions may have come later.
    let way = &found["both"]["from_servers"];
    let (bytes, lost, not_compared) = (&way["bytes"], &way["lost_between"], &way["not_compared"]);
    assert_eq!((bytes, lost, not_compared), (&json!(3000), &json!(2000), &json!(3000)));
    // The same of the first capture of what a client sent.
    let sent: Vec<Sent> =
        (0..4).map(|n| (50_000 * u64::from(n), true, 1 + 10 * n, ACK, 10)).collect();
    let syns = |delay| [(0, true, 0, SYN, 0), (delay, false, 0, SYN_ACK, 0)];
    let late = |sent: &[Sent]| sent.iter().map(|s| (s.0 + 10_000, s.1, s.2, s.3, s.4)).collect();
    let sent = [&syns(20_000)[..], &sent].concat();
    let arrived: Vec<Sent> = late(&[&syns(0), &sent[2..]].concat());
    let pair =
        [capture("first.pcap", 0, 40_000, &sent[..4]), capture("second.pcap", 0, 40_000, &arrived)];
    let way = document(&both(pair))["both"]["from_clients"].clone();
    let (bytes, not_before) = (&way["bytes"], &way["not_before"]);
    assert_eq!((bytes, not_before, &way["not_compared"]), (&json!(20), &json!(0), &json!(20)));
}

/// The last segment is lost, and its retransmission arrives as both captures end, quicker than one
/// before it that had waited in a queue: the loss is the original's.
#[test]
fn a_repaired_tail_is_compared() {
    let syns = |delay: u64| -> [Sent; 2] {
        [(delay, true, 0, SYN, 0), (40 - delay, false, 0, SYN_ACK, 0)]
    };
    let segment = |at: u64, n: u32| (at, false, 1 + 1000 * n, ACK, 1000);
    let server = [segment(100, 0), segment(1000, 1), segment(300_000, 1)];
    let client = [segment(100_100, 0), segment(300_020, 1)];
    let pair = [
        capture("tail-client.pcap", 0, 40_000, &[&syns(0)[..], &client].concat()),
        capture("tail-server.pcap", 0, 40_000, &[&syns(20)[..], &server].concat()),
    ];
    let way = document(&both(pair))["both"]["from_servers"].clone();
    let (bytes, lost, not_compared) = (&way["bytes"], &way["lost_between"], &way["not_compared"]);
    assert_eq!((bytes, lost, not_compared), (&json!(3000), &json!(1000), &json!(0)));
}

/// A path that dies: whether the tail was lost tells a capture that goes on.
#[test]
fn what_never_arrived_is_lost_if_the_other_capture_goes_on() {
    let syns = |delay: u64| -> [Sent; 2] {
        [(delay, true, 0, SYN, 0), (40 - delay, false, 0, SYN_ACK, 0)]
    };
    let segment = |at: u64, n: u32| (at, false, 1 + 1000 * n, ACK, 1000);
    let tail = [segment(2000, 1), segment(2001, 2), segment(300_000, 1), segment(900_000, 1)];
    let server = [&syns(20)[..], &[segment(100, 0)], &tail].concat();
    let client = [&syns(0)[..], &[segment(120, 0)]].concat();
    let server = capture("dead-server.pcap", 0, 40_000, &server);
    let of = |name: &str, more: &[Sent]| {
        let client = [&client[..], more].concat();
        let found = both([capture(name, 0, 40_000, &client), server.clone()]);
        let way = document(&found)["both"]["from_servers"].clone();
        let text = compared(&found.0, &found.1, 20);
        (way["bytes"].clone(), way["lost_between"].clone(), way["not_compared"].clone(), text)
    };
    let (bytes, lost, not_compared, text) = of("dead-ended.pcap", &[]);
    assert_eq!((bytes, lost, not_compared), (json!(1000), json!(0), json!(4000)));
    let line = "\nnot compared: 4000 bytes that one capture has after the other one ended\n";
    assert!(text.contains(line), "{text}");
    // The client closes after 700 ms, and after 2 s.
    let fin = |at| [(at, true, 1, 0x11, 0)];
    let (bytes, lost, not_compared, _) = of("dead-700.pcap", &fin(700_000));
    assert_eq!((bytes, lost, not_compared), (json!(4000), json!(3000), json!(1000)));
    let (bytes, lost, not_compared, text) = of("dead-2000.pcap", &fin(2_000_000));
    assert_eq!((bytes, lost, not_compared), (json!(5000), json!(4000), json!(0)));
    assert!(!text.contains("\nnot compared"), "{text}");
}

/// The captures of `pair` in both orders: which is nearer the client, and what it says of it.
fn nearer(name: &str, pair: [&[Vec<u8>]; 2]) -> [(Value, String); 2] {
    [[0, 1], [1, 0]].map(|order| {
        let paths = order.map(|n: usize| file(&format!("{name}-{n}.pcap"), pair[n]));
        let found = both(paths);
        (document(&found)["both"].clone(), compared(&found.0, &found.1, 20))
    })
}

/// Synthetic SYNs take no time: data and their ACKs tell, and how long a packet takes, too.
#[test]
fn data_and_acks_tell_if_syns_take_no_time() {
    let syns = [((0, true, 0, SYN, 0), 0), ((0, false, 0, SYN_ACK, 0), 1)];
    let data = |at, n: u32| ((at, true, 1 + 100 * n, ACK, 100), 1);
    let ack = |at, n: u32| ((at, false, 1, ACK, 0), 1 + 100 * n);
    let client = [data(0, 0), data(10, 1), data(20, 2), ack(40_020, 3)];
    // The second one is lost, and sent again. The server waits with its first ACK.
    let client = [&syns[..], &client, &[data(60_000, 1)], &[ack(100_000, 4)]].concat();
    let server = [&syns[..], &[data(20_000, 0), data(20_020, 2), ack(20_020, 3)]].concat();
    let records = |sent: &[Acking]| vec![records(1000, 0, 40_000, sent)];
    let found = nearer("no-time", [&records(&client), &records(&server)]);
    for ((both, text), near) in found.into_iter().zip([0, 1]) {
        assert_eq!((&both["near_client"], &both["there_and_back_s"]), (&json!(near), &json!(0.04)));
        assert_eq!(both["clock_ahead_s"], 0.0, "{text}");
        let way = &both["from_clients"];
        assert_eq!((&way["lost_between"], &way["not_before"]), (&json!(100), &json!(0)));
        // All took 20 ms, and not those of the SYN more.
        assert_eq!(way["delay_p99_s"], 0.0);
    }
}

/// The second clock gains 20 µs each second, and the way takes 15 µs: connections are 17 s apart.
#[test]
fn a_clock_that_drifts_does_not_turn_captures_around() {
    let at = |second: bool, begin: u64| -> Vec<Acking> {
        let (there, gained) = if second { (15, 20 * begin / 1_000_000) } else { (0, 0) };
        let syn = (begin + there + gained, true, 0, SYN, 0);
        let answer = (begin + 30 - there + gained, false, 0, SYN_ACK, 0);
        let data = (begin + 100 + there + gained, true, 1, ACK, 10);
        vec![(syn, 0), (answer, 1), (data, 1)]
    };
    let pair = [false, true].map(|second| {
        let begins = [0, 17_000_000].into_iter().zip([1000, 5000]);
        let all =
            begins.map(|(begin, isn)| records(isn, 0, 40_000 + isn as u16, &at(second, begin)));
        all.collect::<Vec<_>>()
    });
    let found = nearer("drift", [&pair[0], &pair[1]]);
    for ((both, text), near) in found.into_iter().zip([0, 1]) {
        assert_eq!(
            (&both["near_client"], &both["there_and_back_s"]),
            (&json!(near), &json!(0.00003))
        );
        assert!(text.contains("drift-0.pcap is nearer the client;"), "{text}");
    }
}

/// Where the times are the same, bytes that only one capture has do, and else nothing.
#[test]
fn what_one_capture_lacks_tells_if_times_do_not() {
    let syns = [(0, true, 0, SYN, 0), (0, false, 0, SYN_ACK, 0)];
    let data = |n: u32| (u64::from(n), false, 1 + 100 * n, ACK, 100);
    let all: Vec<Sent> = syns.into_iter().chain((0..4).map(data)).collect();
    let records = |sent: &[Sent]| {
        let sent: Vec<Acking> = sent.iter().map(|&sent| (sent, 1)).collect();
        vec![records(1000, 0, 40_000, &sent)]
    };
    let lossy = [&all[..3], &all[4..]].concat();
    let found = nearer("lacks", [&records(&lossy), &records(&all)]);
    for ((both, text), near) in found.into_iter().zip([0, 1]) {
        assert_eq!((&both["near_client"], &both["there_and_back_s"]), (&json!(near), &json!(null)));
        assert_eq!(both["from_servers"]["lost_between"], 100, "{text}");
        assert!(text.contains("lacks-0.pcap is nearer the client\n"), "{text}");
    }
    // An ACK more, so that they are not the same capture.
    let other = [&all[..], &[(9, true, 1, ACK, 0)]].concat();
    let [(both, text), _] = nearer("same", [&records(&all), &records(&other)]);
    assert_eq!((&both["near_client"], &both["clock_ahead_s"]), (&json!(null), &json!(null)));
    let line = "\nNothing tells which capture is nearer the client; the numbers are as if the first \
                were\n";
    assert!(text.contains(line), "{text}");
}

/// One began before the second capture, one was refused, and one is in the first alone.
#[test]
fn what_cannot_be_compared_may_be_in_both() {
    let acking = |sent: &[Sent]| sent.iter().map(|&sent| (sent, 1)).collect::<Vec<Acking>>();
    let begun = acking(&near_client());
    let refused = acking(&[(500_000, true, 0, SYN, 0), (500_100, false, 0, 0x14, 0)]);
    let alone = acking(&[(600_000, true, 0, SYN, 0), (600_100, false, 0, SYN_ACK, 0)]);
    let first = [
        records(1000, 0, 40_000, &begun),
        records(2000, 0, 40_001, &refused),
        records(3000, 0, 40_002, &alone),
    ];
    let second = [records(1000, 0, 40_000, &begun[3..]), records(2000, 0, 40_001, &refused)];
    let [(both, text), (turned, _)] = nearer("not-compared", [&first, &second]);
    assert_eq!((&both["left_out"], &both["unanswered"]), (&json!(1), &json!(1)));
    assert_eq!((&both["alone"], &turned["alone"]), (&json!([1, 0]), &json!([0, 1])));
    assert_eq!((&both["near_client"], &both["connections"]), (&json!(null), &json!([])));
    let line = "\n2 connections are in both captures, 1 of these not compared since a SYN is missing \
                or memory was full, 1 of these without a SYN of the server; 1 in ";
    assert!(text.contains(line) && text.ends_with("not-compared-1.pcap alone\n"), "{text}");
}

/// The first SYN of one connection is lost between the captures, and so is an answer to the second
/// one. None of the SYNs of another connection comes to the second capture, and a third one is in
/// both without an answer.
#[test]
fn syns_are_lost_between_two_captures() {
    let acking = |sent: &[Sent]| sent.iter().map(|&sent| (sent, 1)).collect::<Vec<Acking>>();
    let syn = |ms: u64| (1000 * ms, true, 0, SYN, 0);
    let answer = |ms: u64| (1000 * ms, false, 0, SYN_ACK, 0);
    let data = |ms: u64| (1000 * ms, true, 1, ACK, 100);
    let client = [syn(0), syn(1000), answer(2040), data(2041)];
    let server = [syn(1020), answer(1021), answer(2020), data(2061)];
    let twice = [syn(0), syn(1000)];
    let first = [
        records(1000, 0, 40_000, &acking(&client)),
        records(2000, 0, 40_001, &acking(&twice)),
        records(3000, 0, 40_002, &acking(&twice)),
    ];
    let second = [
        records(1000, 0, 40_000, &acking(&server)),
        records(3000, 0, 40_002, &acking(&[syn(1020)])),
    ];
    for ((both, text), near) in nearer("syns", [&first, &second]).into_iter().zip([0, 1]) {
        assert_eq!(both["near_client"], near, "{text}");
        let lost = |way: &str| both[way]["syns_lost_between"].clone();
        assert_eq!((lost("from_clients"), lost("from_servers")), (json!(2), json!(1)), "{text}");
        let line = "\nlost between the captures: 2 SYNs of the clients, 1 SYN of the servers\n";
        assert!(text.contains(line), "{text}");
        let alone = "2 SYNs without an answer in ";
        assert!(text.contains(alone), "{text}");
    }
    // Nothing came to the second capture at all.
    let paths = [file("syns-alone-0.pcap", &first[1..2]), file("syns-alone-1.pcap", &[])];
    let found = both(paths);
    let text = compared(&found.0, &found.1, 3);
    let line = "\nNo connection is in both captures.\n2 SYNs without an answer in ";
    assert!(text.contains(line) && text.ends_with("syns-alone-1.pcap does not have\n"), "{text}");
    assert_eq!(document(&found)["unheard_syns"], json!([2, 0]));
}

/// Two connections with the same numbers in one capture, and one in the other.
#[test]
fn a_connection_is_in_the_other_capture_once() {
    let sent: Vec<Acking> = near_client().into_iter().map(|sent| (sent, 1)).collect();
    let of = |port| records(1000, 0, port, &sent);
    let [(both, _), (turned, _)] = nearer("once", [&[of(40_001), of(40_000)], &[of(40_000)]]);
    assert_eq!((&both["alone"], &turned["alone"]), (&json!([1, 0]), &json!([0, 1])));
}

#[test]
fn rows_without_anything_are_left_out() {
    let one = capture("one-row.pcap", 0, 40_000, &[(0, true, 0, SYN, 0), (9, true, 1, ACK, 100)]);
    let [empty, other] = ["no-row.pcap", "no-row-2.pcap"].map(|name| file(name, &[]));
    let rows = |pair| {
        let found = both(pair);
        let text = compared(&found.0, &found.1, 20);
        let table = text.lines().skip_while(|line| !line.is_empty()).skip(1);
        table.map(|line| line.split("  ").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let nothing = ["No connection is in both captures."];
    assert_eq!(rows([empty.clone(), other]), nothing);
    let some = rows([one, empty]);
    assert_eq!(some[1..5], ["connections", "bytes", "segments", ""], "{some:?}");
}

#[test]
fn captures_of_other_connections_are_compared_by_their_totals() {
    let before = capture("before.pcap", 0, 40_000, &near_server());
    let after = capture("after.pcap", 0, 40_000, &[(0, true, 7, SYN, 0), (9, true, 8, ACK, 100)]);
    let found = both([before.clone(), after.clone()]);
    assert_eq!(document(&found)["both"], Value::Null);
    let text = compared(&found.0, &found.1, 20);
    let (before, after) = (before.display().to_string(), after.display().to_string());
    let rows: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).skip(3).collect();
    assert_eq!(rows[0], [&before, &after]);
    assert_eq!(rows[1], ["connections", "1", "1"]);
    assert_eq!(rows[2], ["bytes", "4100", "100"]);
    // In neither was the receiver's window full.
    assert!(text.contains("retransmitted (%)") && !text.contains("receive window"), "{text}");
    assert!(text.ends_with("\nNo connection is in both captures.\n"), "{text}");
}

#[test]
fn the_text_says_where_it_was_lost() {
    let client = capture("text-client.pcap", 0, 40_000, &near_client());
    let server = capture("text-server.pcap", 3_000_000, 40_000, &near_server());
    let found = both([client.clone(), server.clone()]);
    let text = compared(&found.0, &found.1, 20);
    let (client, server) = (client.display(), server.display());
    let expected = format!(
        "\n1 connection is in both captures; 0 in {client} alone; 0 in {server} alone\n\
         {client} is nearer the client; from one to the other and back takes 40.0 ms at least; the \
         clock of {server} is 3.0 s ahead, if both ways take as long\n"
    );
    assert!(text.contains(&expected), "{text}");
    let row: Vec<&str> =
        text.lines().find(|l| l.contains("from the servers")).unwrap().split_whitespace().collect();
    let row = row.join(" ");
    assert_eq!(row, "from the servers 6000 1000 16.7 1000 16.7 0 1 0.0 5.0");
    let line = "\n#0 and #1 10.0.0.1:40000 > 10.0.0.2:80: 1000 of 6000 bytes of the server\n";
    assert!(text.ends_with(line), "{text}");
}

#[test]
fn two_files_are_compared() {
    let file = capture("one.pcap", 0, 40_000, &near_client());
    let options = Options { jobs: 1, filter: None, events_of_streams: 0 };
    let refused = |sources: &[Source]| {
        compare(sources, &Explained::default(), &options, &Cancel::default()).unwrap_err()
    };
    let one = refused(&[Source::File(file.clone())]);
    assert!(matches!(one, Error::Usage(what) if what.ends_with("two captures, and here are 1")));
    let stream = refused(&[Source::File(file), Source::stream(std::io::empty())]);
    assert!(matches!(stream, Error::Usage(_)));
}
