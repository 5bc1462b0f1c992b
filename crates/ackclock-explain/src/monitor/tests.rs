use std::fs::File;

use ackclock_tcp::Timestamps;
use ackclock_tcp::wire::{Control, Options};
use ackclock_trace::{Packet, Reader};

use super::*;
use crate::fixture;

/// A monitor that has seen so many frames of a capture of 30 connections, and when the last
/// was.
fn seen(frames: usize) -> (Monitor, Time) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernel.pcap.gz");
    let mut reader = Reader::new(Box::new(File::open(path).unwrap())).unwrap();
    let (mut monitor, mut last) = (Monitor::new("eth0"), Time::ZERO);
    for _ in 0..frames {
        let Some(frame) = reader.next().unwrap() else { break };
        monitor.frame(&frame);
        last = frame.at;
        // Nothing is said for ten seconds after the end, in which late packets may come.
        assert!(monitor.turn(last).is_empty());
    }
    (monitor, last)
}

#[test]
fn each_bad_connection_is_told_of_when_it_has_ended() {
    let (mut monitor, last) = seen(usize::MAX);
    assert_eq!((monitor.open(), monitor.all().connections), (29, 1));
    let told = monitor.turn(last + Span::from_secs(10));
    assert_eq!((monitor.open(), monitor.all().connections), (0, 30));
    let numbers: Vec<usize> = told.iter().map(|found| found.number).collect();
    // The first request of three was lost before the capture.
    assert_eq!(numbers, [7, 9, 12, 22, 23, 27, 28, 29]);
    assert_eq!(monitor.bad().connections, 8);
    assert_eq!(monitor.all().counts.all_retransmissions(), 27);
    let line = Monitor::line(&told[0]);
    let wanted = "Sat, 21 Nov 2026 21:31:16 GMT #7 10.55.2.1:55120 > 10.55.1.1:5001: the server \
        repaired losses or waited for its timer for 0.32 s of 0.48 s (68 %); 251.5 kbit/s, round \
        trip 40.3 ms (median 45.1 ms, 99th 50.9 ms), 13.3 % retransmitted; \
        server stalled 0.33 s at 0.11 s: timeout, lost retransmission of 1448 bytes\n";
    assert_eq!(line, wanted);
    let json: serde_json::Value = serde_json::from_str(&monitor.json(&told[0]).unwrap()).unwrap();
    assert_eq!((&json["number"], &json["capture"]), (&7.into(), &"eth0".into()));
    let capture = monitor.capture();
    assert_eq!((capture.packets, capture.segments), (929, 929));
    assert!(monitor.headline().starts_with("30 connections, 453000 bytes; 5.3 % of 507"));
    assert!(monitor.finish().is_empty());
}

/// A server that takes a second for an answer is told of as well, though nothing was lost.
#[test]
fn a_slow_answer_is_told_of() {
    let told = |took: u64| {
        let mut found = fixture::explained().connections.swap_remove(1);
        found.connection.from_client.stalls.clear();
        let flow = &mut found.connection.from_server;
        flow.stalls.clear();
        flow.lifetime.note_answer(Span::from_millis(took));
        let told = Monitor::new("eth0").count(vec![*found.connection]);
        told.first().map(Monitor::line)
    };
    assert_eq!(told(999), None);
    let line = told(1000).unwrap();
    assert!(line.ends_with("; an answer took 1.0 s\n"), "{line}");
}

/// What the tracker has left out is told of before the end and afterwards.
#[test]
fn damaged_packets_are_counted() {
    let (mut monitor, last) = seen(10);
    let client = "10.55.2.1:1".parse().unwrap();
    let damaged = |frame: u64, packet: &Packet| Packet {
        frame,
        at: last,
        src: client,
        control: Control::ACK,
        len: 0,
        damaged: true,
        ..*packet
    };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernel.pcap.gz");
    let mut reader = Reader::new(Box::new(File::open(path).unwrap())).unwrap();
    let first = decode(&reader.next().unwrap().unwrap()).unwrap();
    for frame in [11, 12] {
        monitor.tracker.packet(&damaged(frame, &first));
    }
    assert_eq!(monitor.capture().ignored["damaged"], 2);
    monitor.finish();
    assert_eq!(monitor.capture().ignored["damaged"], 2);
}

/// An hour after its beginning a connection is told of and forgotten, and when all ends.
#[test]
fn what_does_not_end_is_told_of_as_well() {
    let numbers = |told: Vec<Found>| told.iter().map(|f| f.number).collect::<Vec<_>>();
    let (mut monitor, last) = seen(706);
    assert_eq!(monitor.open(), 23);
    assert_eq!(numbers(monitor.turn(last + Span::from_secs(3500))), [7, 9, 12]);
    assert_eq!((monitor.open(), monitor.all().connections), (1, 22));
    assert_eq!(numbers(monitor.turn(last + Span::from_secs(3601))), [22]);
    assert_eq!((monitor.open(), monitor.all().connections), (0, 23));
    let (mut monitor, _) = seen(706);
    assert_eq!(numbers(monitor.finish()), [7, 9, 12, 22]);
    assert_eq!((monitor.open(), monitor.all().connections), (0, 23));
}

/// Steps of the clock, and fragments: whoever watches for years keeps the last step, and knows of
/// fragments that wait for others.
#[test]
fn memory_is_bounded() {
    let mut monitor = Monitor::new("eth0");
    let [a, b] = ["192.0.2.1:1", "192.0.2.2:2"].map(|end| end.parse().unwrap());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernel.pcap.gz");
    let mut reader = Reader::new(Box::new(File::open(path).unwrap())).unwrap();
    let first = decode(&reader.next().unwrap().unwrap()).unwrap();
    let mut frame = 0;
    for step in 0..4_u64 {
        for n in 0..20_u32 {
            // 10 s between the steps, of which no clock but that of the capture knows.
            let ms = 10 * (20 * step + u64::from(n));
            let at = first.at + Span::from_millis(ms) + Span::from_secs(10 * step);
            let from_a = n % 2 == 0;
            let (src, dst) = if from_a { (a, b) } else { (b, a) };
            let mut packet = Packet { frame, at, src, dst, control: Control::ACK, len: 0, ..first };
            let [val, ecr] = [ms as u32 + 1000, ms as u32 + 990];
            packet.options = Options::default();
            packet.options.timestamps = Some(Timestamps { val, ecr });
            frame += 1;
            monitor.tracker.packet(&packet);
        }
        let jumps = monitor.capture().jumps.len();
        assert_eq!(jumps, if step == 0 { 0 } else { 1 + usize::from(step > 1) });
        monitor.turn(first.at);
        assert_eq!(monitor.capture().jumps.len(), usize::from(step > 0));
    }
    // The first fragment of a TCP segment, in IPv4.
    let mut data = vec![0x45, 0, 0, 44, 0, 7, 0x20, 0, 64, 6, 0, 0];
    data.extend([192, 0, 2, 1, 192, 0, 2, 2]);
    data.resize(44, 0);
    let link = ackclock_trace::LinkType(101);
    monitor.frame(&Frame { number: 1, at: first.at, link, data: &data, wire_len: 44 });
    assert_eq!(monitor.capture().ignored["fragment"], 1);
}
