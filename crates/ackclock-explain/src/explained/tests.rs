use ackclock_tcp::{Seq, Span, Time};
use ackclock_trace::{Jump, Lifetime, Limit, Retransmission, Spurious, Stall, StallCause, Vantage};

use crate::clock::Back;
use crate::explained::{End, Found};
use crate::fixture::{self, at, explained};
use crate::overall::Overall;

/// The server stalls from 110 to 1100 ms by the network and to 1500 ms by the client's window.
/// Meanwhile the client stalls, too; and then its application has nothing to send, in part while
/// the server's window is closed.
#[test]
fn where_both_ends_stall_at_once_time_counts_once() {
    let mut explained = explained();
    let stall = |from, to, cause| Stall { frame: 1, ..fixture::stall(at(from), at(to), cause) };
    explained.connections[0].connection.from_client.stalls = vec![
        stall(60, 500, StallCause::Network),
        stall(600, 700, StallCause::Network),
        stall(1400, 1900, StallCause::Application),
    ];
    for counts in [explained.connections[0].counts(), Overall::of(&explained).counts] {
        assert_eq!(counts.stalls, 5);
        assert_eq!(counts.stalled, Span::from_millis(1900 - 60));
        assert_eq!(counts.application, Span::from_millis(1900 - 1500));
        assert_eq!(counts.lost_time(), Span::from_millis(1500 - 60));
    }
    // So the times by cause add up.
    let by_cause: Vec<_> = Overall::of(&explained).stalls.into_iter().collect();
    let sum = by_cause.iter().fold(Span::ZERO, |sum, (_, (_, long))| sum + *long);
    assert_eq!(sum, Span::from_millis(1900 - 60), "{by_cause:?}");
}

/// What held the sender back is open where the receiver's window is not known: that looks like the
/// other window, and like the path or the application.
#[test]
fn a_receive_window_of_unknown_scale() {
    for (window, open) in [(None, true), (Some(1 << 20), false)] {
        let mut explained = explained();
        let flow = &mut explained.connections[0].connection.from_server;
        flow.window = window;
        flow.lifetime.add(Limit::CongestionWindow, Span::from_secs(1));
        flow.lifetime.add_idle(Span::from_secs(1));
        let why = crate::text::why(&explained.connections[0]);
        let doubt = "(100 %), unless the receive window did, whose scale is not known; ";
        assert_eq!(why.contains(doubt), open, "{why}");
        // And there is nothing to advise.
        let flow = &mut explained.connections[0].connection.from_server;
        flow.retransmissions.clear();
        let text = crate::text::short(&explained, 0);
        assert_eq!(text.contains("its window is still growing"), !open, "{text}");
        for (limit, begun) in [(Limit::Path, false), (Limit::Application, true)] {
            let mut other = explained.connections[0].clone();
            // A snap length may cut the option of a SYN off, too.
            other.connection.begun = begun;
            other.connection.from_server.lifetime.add(limit, Span::from_secs(9));
            let why = crate::text::why(&other);
            let doubt = "unless the receive window held it back, whose scale is not known";
            assert_eq!(why.contains(doubt), open, "{why}");
        }
    }
}

/// A capture whose frames are not in order of time says so, in text and JSON.
#[test]
fn frames_that_go_back_in_time() {
    let mut explained = explained();
    let clean = crate::text::captures(&explained, 0);
    assert_eq!(clean.lines().count(), 1);
    let capture = &mut explained.captures[0];
    capture.set_back = Back { times: 1, frame: 7, by: Span::from_millis(500) };
    capture.out_of_order = Back { times: 3, frame: 12, by: Span::from_micros(20) };
    let text = crate::text::captures(&explained, 0);
    let notes: Vec<&str> = text.lines().skip(1).collect();
    assert!(notes[0].starts_with(
        "  the clock of the capture steps back at frame 7, by 0.500000 s: from there"
    ));
    assert!(notes[1].starts_with(
        "  3 packets are out of order, by up to 0.000020 s (frame 12): sort the capture with \
         reordercap"
    ));
    assert_eq!(notes.len(), 2);
    let mut json = Vec::new();
    crate::write_json(&explained, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let capture = &json["captures"][0];
    assert_eq!(capture["set_back"], serde_json::json!({"times": 1, "frame": 7, "by_s": 0.5}));
    assert_eq!(capture["out_of_order"]["by_s"], 2e-5);
}

/// How often something is written.
struct Writes(usize);

impl std::io::Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += 1;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Each connection takes one write, however many values are in it.
#[test]
fn json_is_written_by_the_line() {
    let mut explained = explained();
    let mut writes = |connections: usize| {
        explained.connections.truncate(connections);
        let mut writes = Writes(0);
        crate::write_json(&explained, &mut writes).unwrap();
        writes.0
    };
    assert_eq!(writes(2), writes(1) + 1);
}

/// What timestamps say of a silence, in text and JSON.
#[test]
fn a_clock_that_was_set_ahead_and_a_host_that_stood_still() {
    let mut explained = explained();
    let by = Span::from_millis(10_010);
    let jump = |frame, stood_still| Jump { frame, from: Time(0), by, stood_still };
    explained.captures[0].jumps = vec![jump(23, None), jump(40, "192.0.2.1".parse().ok())];
    let text = crate::text::captures(&explained, 0);
    let notes = "  the clock of the capture was set ahead by 10.0 s before frame 23, by the \
        timestamps of both ends: all times from there on are told as if it had not been\n  \
        192.0.2.1 stood still for 10.0 s before frame 40, as if it was suspended: its timestamps have \
        not moved, and those of another host have\n";
    assert!(text.ends_with(notes), "{text}");
    let mut json = Vec::new();
    crate::write_json(&explained, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let jumps = serde_json::json!([
        {"frame": 23, "by_s": 10.01, "stood_still": null},
        {"frame": 40, "by_s": 10.01, "stood_still": "192.0.2.1"},
    ]);
    assert_eq!(json["captures"][0]["jumps"], jumps);
}

/// Wireshark shows packets by the clock of the capture. What ends a silence may be as late as what
/// came before the step.
#[test]
fn a_filter_has_the_times_of_the_capture() {
    let times = |from: u64| {
        let mut found = explained().connections.swap_remove(0);
        let by = Span::from_secs(3600);
        let mut jumps = explained().captures.swap_remove(0);
        let still = "192.0.2.1".parse().ok();
        jumps.jumps = [None, still]
            .map(|stood_still| Jump { frame: 3, from: at(from), by, stood_still })
            .to_vec();
        found.set_ahead = jumps.set_ahead();
        let stall = found.connection.from_server.stalls[0];
        let filter = crate::names::display_filter(&found, End::Server, &stall);
        let time = |word: &str| filter.split(word).nth(1).unwrap()[..17].to_owned();
        [time("time_epoch >= "), time("time_epoch <= ")]
    };
    // It lasts from 110 ms to 1,100 ms.
    let [early, late] = ["1700000000.610000", "1700003600.610000"];
    assert_eq!(times(109), [late, "1700003601.600000"]);
    assert_eq!(times(110), [early, "1700003601.600000"]);
    assert_eq!(times(1100), [early, "1700003601.600000"]);
    assert_eq!(times(1101), [early, "1700000001.600000"]);
}

/// What never came about is not open.
#[test]
fn a_connection_that_never_opened() {
    let why = |opened: bool| {
        let mut found = explained().connections.swap_remove(0);
        found.connection.opened = opened;
        found.connection.from_server.lifetime.add(Limit::Path, Span::from_millis(1000));
        crate::text::why(&found)
    };
    assert_eq!(why(true), why(false) + "; still open at the end of the capture");
}

/// The same direction in two captures, as two taps on the way have it, makes no whole.
#[test]
fn both_parts_have_one_direction() {
    let parted = |bytes: [[u64; 2]; 2]| {
        let mut explained = explained();
        explained.captures.push(explained.captures[0].clone());
        for (i, [client, server]) in bytes.into_iter().enumerate() {
            let found = &mut explained.connections[i];
            let c = &mut found.connection;
            (found.capture, c.one_way) = (i, true);
            (c.from_client, c.from_server) = Default::default();
            (c.from_client.bytes, c.from_server.bytes) = (client, server);
        }
        explained.parted()
    };
    assert_eq!([[[9, 0], [0, 9]], [[0, 9], [0, 9]], [[9, 0], [9, 0]]].map(parted), [1, 0, 0]);
}

/// Nothing limits anybody where only one direction was captured, and no timeout is counted.
#[test]
fn one_direction_has_no_verdict() {
    let mut explained = explained();
    explained.connections.truncate(1);
    let connection = &mut explained.connections[0].connection;
    connection.one_way = true;
    let server = &mut connection.from_server;
    (server.lifetime, server.bytes, server.segments) = (Lifetime::default(), 1000, 4);
    server.retransmissions.truncate(1);
    server.timeouts.clear();
    server.stalls.clear();
    connection.from_client.lifetime = Lifetime::default();
    let text = crate::text::short(&explained, 0);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains("connection,")).collect();
    let why = crate::text::why(&explained.connections[0]);
    assert_eq!(lines[0], "1 connection, 1000 bytes; 25.0 % of 4 segments were retransmissions");
    assert!(lines[1..].concat().ends_with(&why), "{text}");
    // Unknown is not zero.
    let groups = crate::groups::grouped(&explained, crate::By::Port, 0, None);
    let cells = groups.lines().nth(3).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(cells, "443 1 1000 25.0 - - - - - - - - - - -", "{groups}");
    let begin =
        "only one direction was captured, so nothing says what limited it or whether it stalled; ";
    assert!(why.starts_with(begin) && why.contains(" 25.0 % retransmitted; "), "{why}");
    assert!(why.ends_with("; still open at the end of the capture"), "{why}");
}

/// Whoever sent no data was not held back, however long something of its own was outstanding.
#[test]
fn a_connection_waits_for_an_end_that_sent_data() {
    let mut explained = explained();
    let found = &mut explained.connections[0];
    assert_eq!((found.connection.from_client.bytes, found.sender()), (0, End::Server));
    found.connection.from_client.lifetime.add(Limit::ReceiveWindow, Span::from_secs(3600));
    assert_eq!(found.sender(), End::Server);
    found.connection.from_client.bytes = 1;
    assert_eq!(found.sender(), End::Client);
}

/// A download is told of the server, also where the client's request of three bytes was on its way
/// for longer than the answer; unless the client lost time, or has to ask again.
#[test]
fn a_few_bytes_are_not_what_a_download_waited_for() {
    let mut explained = explained();
    let connection = &mut explained.connections[0].connection;
    connection.begun = true;
    let client = &mut connection.from_client;
    (client.bytes, client.lifetime) = (3, Lifetime::default());
    client.lifetime.add(Limit::Path, Span::from_millis(300));
    let server = &mut connection.from_server;
    (server.bytes, server.lifetime) = (1_000_000, Lifetime::default());
    server.lifetime.add(Limit::Application, Span::from_millis(1800));
    server.lifetime.add(Limit::Path, Span::from_millis(200));
    let found = &mut explained.connections[0];
    assert_eq!(found.sender(), End::Server);
    let why = crate::text::why(found);
    let begin = "the server's application had nothing to send for 1.8 s of 2.0 s (90 %); ";
    assert!(why.starts_with(begin), "{why}");
    let add = |found: &mut Found, millis| {
        found.connection.from_client.lifetime.add_answering(Span::from_millis(millis));
    };
    add(found, 900);
    assert_eq!(found.sender(), End::Server);
    add(found, 1);
    assert_eq!(found.sender(), End::Client);
    // The request was lost, for less than a tenth of its time, and for a tenth of it.
    let lifetime = &mut found.connection.from_client.lifetime;
    *lifetime = Lifetime::default();
    lifetime.add(Limit::Path, Span::from_millis(300));
    lifetime.add(Limit::Recovery, Span::from_millis(33));
    assert_eq!(found.sender(), End::Server);
    found.connection.from_client.lifetime.add(Limit::Recovery, Span::from_millis(1));
    assert_eq!(found.sender(), End::Client);
    // It had nothing to do for longer, which says more where the capture was taken elsewhere; but
    // not until the connection was closed.
    found.connection.from_client.lifetime.add(Limit::Application, Span::from_millis(335));
    assert_eq!(found.sender(), End::Server);
    let position = &mut found.connection.position;
    let server = *position;
    (position.vantage, position.to_client) = (Vantage::Client, Some(Span::ZERO));
    assert_eq!(found.sender(), End::Client);
    found.connection.position = server;
    found.connection.from_client.lifetime.add_closing(Span::from_millis(2));
    assert_eq!(found.sender(), End::Client);
}

/// A client repeats its request three times, for longer than the server is seen to have anything to
/// do. If the last one was not needed, all of them had arrived, and it waited for the server.
#[test]
fn a_request_that_had_arrived_waits_for_its_answer() {
    let sender = |spurious: Option<Spurious>, bytes: u64| {
        let mut explained = explained();
        let connection = &mut explained.connections[0].connection;
        let [r, ..] = connection.from_server.retransmissions[..] else { unreachable!() };
        let client = &mut connection.from_client;
        (client.bytes, client.lifetime) = (1, Lifetime::default());
        client.lifetime.add(Limit::Recovery, Span::from_secs(2));
        let again = Retransmission { position: 0, len: 1, spurious: None, lost: None, ..r };
        client.retransmissions = vec![again, again, Retransmission { spurious, ..again }];
        let server = &mut connection.from_server;
        (server.bytes, server.lifetime) = (bytes, Lifetime::default());
        server.lifetime.add(Limit::Application, Span::from_secs(1));
        server.lifetime.add(Limit::Path, Span::from_secs(1));
        explained.connections[0].sender()
    };
    assert_eq!(sender(Some(Spurious::Dsack), 200_000), End::Server);
    assert_eq!(sender(None, 200_000), End::Client);
    assert_eq!(sender(Some(Spurious::Dsack), 1), End::Client);
}

/// What was never answered is told so, but for an answer that may be on its way.
#[test]
fn a_server_that_never_answers() {
    let told = |wait: u64, idle: u64| {
        let mut explained = explained();
        let found = &mut explained.connections[1];
        let connection = &mut found.connection;
        let client = &mut connection.from_client;
        (client.bytes, client.counted) = (100, true);
        client.rtt = Some(crate::fixture::round_trip(Span::from_millis(100), 1));
        client.lifetime.add(Limit::Path, Span::from_millis(200));
        client.lifetime.add(Limit::Application, Span::from_millis(idle));
        connection.no_answer = Some(Span::from_millis(wait));
        crate::text::why(found)
    };
    let why = told(30_000, 29_800);
    assert!(why.starts_with("the server had not answered after 30.0 s; "), "{why}");
    let idle = |wait, idle| told(wait, idle).starts_with("the client's application had nothing");
    let not = [idle(300, 300), idle(301, 300), idle(30_000, 60_000), idle(30_000, 60_001)];
    assert_eq!(not, [true, false, false, true]);
}

/// A handshake of one round trip is as it has to be; what is beyond it held the connection up.
#[test]
fn a_handshake_of_one_round_trip_holds_nothing_up() {
    let held = |handshake: u64| {
        let mut explained = fixture::explained();
        let connection = &mut explained.connections[0].connection;
        connection.from_client.bytes = 0;
        let server = &mut connection.from_server;
        server.bytes = 1000;
        server.rtt = Some(fixture::round_trip(Span::from_millis(100), 9));
        server.lifetime = Lifetime::default();
        server.lifetime.add(Limit::Handshake, Span::from_millis(handshake));
        server.lifetime.add(Limit::Recovery, Span::from_millis(200));
        server.lifetime.add(Limit::Path, Span::from_millis(300));
        crate::summary::Summary::of(&explained.connections[..1]).held
    };
    assert_eq!([80, 100, 1100].map(held), [200, 200, 1200].map(Span::from_millis));
}

/// Away from the sender, the ACK that a stall begins with passed the capture earlier by the way to
/// the sender and back; by a round trip at most, where that is not known.
#[test]
fn a_filter_shows_the_ack_that_a_stall_begins_with() {
    let begins = |vantage, to_server: Option<u64>| {
        let mut found = explained().connections.swap_remove(0);
        let position = &mut found.connection.position;
        (position.vantage, position.to_client) = (vantage, Some(Span::from_millis(7)));
        position.to_server = to_server.map(Span::from_millis);
        let stall = found.connection.from_server.stalls[0];
        let filter = crate::names::display_filter(&found, End::Server, &stall);
        assert!(filter.ends_with(" <= 1700000001.600000"), "{filter}");
        let (_, from) = filter.split_once("time_epoch >= ").unwrap();
        from[..17].to_owned()
    };
    assert_eq!(begins(Vantage::Client, Some(40)), "1700000000.570000");
    assert_eq!(begins(Vantage::Client, None), "1700000000.510000");
    for vantage in [Vantage::Server, Vantage::Unknown] {
        assert_eq!(begins(vantage, None), "1700000000.610000");
    }
}

/// A download whose server repaired losses is told of the server, also where the client's request
/// was on its way for longer; unless the client was held up itself.
#[test]
fn a_server_that_was_held_up_is_what_a_download_waited_for() {
    let sender = |held: u64| {
        let mut explained = explained();
        let connection = &mut explained.connections[0].connection;
        let client = &mut connection.from_client;
        (client.bytes, client.lifetime) = (3, Lifetime::default());
        client.lifetime.add(Limit::Path, Span::from_millis(1000 - held));
        client.lifetime.add(Limit::Nagle, Span::from_millis(held));
        let server = &mut connection.from_server;
        (server.bytes, server.lifetime) = (1_000_000, Lifetime::default());
        server.lifetime.add(Limit::Recovery, Span::from_millis(900));
        explained.connections[0].sender()
    };
    assert_eq!([0, 99, 100].map(sender), [End::Server, End::Server, End::Client]);
}

/// Two captures of one connection, by its numbers: clocks and delays differ. A simulation that
/// runs twice makes two connections, and so does a client that comes again.
#[test]
fn connections_that_two_captures_have() {
    let repeated = |capture: usize, later: u64, number: u32| {
        let mut explained = explained();
        explained.connections[1].capture = capture;
        let again = &mut explained.connections[1].connection;
        again.start = at(later);
        let numbers = |number: u32| [Some([Seq(number), Seq(9)]), Some([Seq(7), Seq(9)])];
        again.numbers = numbers(number);
        explained.connections[0].connection.numbers = numbers(5);
        explained.repeated()
    };
    assert_eq!(repeated(1, 3, 5), 1);
    assert_eq!([repeated(0, 3, 5), repeated(1, 0, 5), repeated(1, 3, 6)], [0; 3]);
    // Without a SYN nobody knows its numbers.
    assert_eq!(explained().repeated(), 0);
}
