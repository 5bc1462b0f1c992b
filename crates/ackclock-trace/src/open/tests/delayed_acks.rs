//! How far the receiver is, where it delays its ACKs. The captures begin late.

use super::*;
use crate::connection::{Position, Vantage};
use ackclock_tcp::Span;

const MSS: u64 = 1460;

/// What lies between the capture and the server and back, in microseconds.
fn to_server(talk: Talk) -> Option<u64> {
    talk.one().position.to_server.map(|trip| trip.0 / 1000)
}

/// Segments come every 12 ms, and 50 us behind each `n`-th one the ACK of all.
fn every(n: u64) -> Option<u64> {
    let mut talk = Talk::new(ISNS[1]);
    for segment in 0..4 * n {
        let ms = 12.0 * segment as f64;
        talk.at(ms, c(MSS * segment, 1460));
        if segment % n == n - 1 {
            talk.at(ms + 0.05, s(0, 0).ack(MSS * (segment + 1)));
        }
    }
    to_server(talk)
}

/// Each segment as in quick ACKs, each second one, and all of what an offload has put together.
#[test]
fn the_last_segment_draws_the_ack_out() {
    assert_eq!([1, 2, 3, 10].map(every), [Some(50); 4]);
}

/// Three segments pass before the ACK of two: which of these was the last one to arrive is not
/// told, but that the third had not. A FIN is no exception.
#[test]
fn a_segment_that_was_not_acknowledged_measures_nothing() {
    let trip = |third: P| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, c(0, 1460)).at(4.0, c(MSS, 1460)).at(20.0, third);
        talk.at(25.0, s(0, 0).ack(2 * MSS));
        to_server(talk)
    };
    let fin = c(2 * MSS, 0).with(Control::FIN);
    assert_eq!([trip(c(2 * MSS, 1460)), trip(fin)], [Some(25_000); 2]);
}

/// One segment alone may have waited for a timer, two have not.
#[test]
fn a_timer_measures_nothing() {
    let server = |segments: u64, ms: f64, ttls: Option<[u8; 2]>| {
        let mut talk = Talk::new(ISNS[0]);
        let ttl = |p: P, end: usize| ttls.map_or(p, |ttls| p.ttl(ttls[end]));
        for round in 0..3 {
            let (at, from) = (1000.0 * round as f64, MSS * segments * round);
            for n in 0..segments {
                talk.at(at, ttl(c(from + MSS * n, 1460), 0));
            }
            talk.at(at + ms, ttl(s(0, 0).ack(from + MSS * segments), 1));
        }
        let Position { vantage, confidence, to_server, .. } = talk.one().position;
        (vantage, confidence, to_server.map(|trip| trip.0 / 1_000_000))
    };
    let here = Some([50, 64]);
    assert_eq!(server(1, 40.0, here), (Vantage::Server, 0.3, None));
    assert_eq!(server(1, 500.0, here), (Vantage::Server, 0.3, None));
    assert_eq!(server(1, 29.0, here), (Vantage::Server, 0.3, Some(29)));
    assert_eq!(server(2, 40.0, here), (Vantage::Server, 0.3, Some(40)));
    // Shorter than what was measured, it is no farther.
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, c(0, 1460)).at(0.0, c(1460, 1460)).at(60.0, s(0, 0).ack(2920));
    talk.at(100.0, c(2920, 100)).at(140.0, s(0, 0).ack(3020));
    talk.at(200.0, c(3020, 100)).at(250.0, s(0, 0).ack(3120));
    assert_eq!(to_server(talk), Some(40_000));
    // What nothing else tells is how far it is at the most.
    let learned = server(1, 40.0, None);
    assert_eq!(learned, (Vantage::Unknown, 0.0, Some(40)));
}

/// The same of echoes: one without data may be that of a segment that has waited.
#[test]
fn an_echo_of_what_waited_measures_nothing() {
    let trip = |answer: P| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, c(0, 100).ts(7, 1).ttl(50)).at(40.0, answer.ttl(64));
        talk.one().position.to_server
    };
    assert_eq!(trip(s(0, 0).ack(100).ts(9, 7)), None);
    assert_eq!(trip(s(0, 10).ack(100).ts(9, 7)), Some(Span::from_millis(40)));
}

/// An upload of 1024-byte segments with room for four, captured at the server. The client answers
/// the SYN/ACK after 50 ms, and each ACK of two segments after `ms` by the two that it makes room
/// for; unless the window is `wide`, so that they need no room. The capture lacks the ACKs that are
/// `lost`. Returns the median round trip in milliseconds.
fn upload(ms: f64, wide: bool, lost: fn(u64) -> bool) -> f64 {
    let (first, wnd, pairs) = if wide { (60_000, 1 << 13, 25) } else { (4096, 1 << 5, 200) };
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, syn(0)).at(0.1, syn(1).wnd(first)).at(50.1, c(0, 0));
    let mut packets = Vec::new();
    for n in 0..pairs {
        // Of two pairs on their way, each is answered on its own.
        let at = 60.0 + 0.9 * ms * (n % 2) as f64 + (n / 2) as f64 * (ms + 0.3);
        let from = 2048 * n;
        packets.extend([(at, c(from, 1024)), (at + 0.01, c(from + 1024, 1024))]);
        if !lost(n) {
            packets.push((at + 0.3, s(0, 0).ack(from + 2048).wnd(wnd)));
        }
    }
    packets.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, p) in packets {
        talk.at(at, p);
    }
    talk.one().from_client.rtt.unwrap().median.0 as f64 / 1e6
}

/// The ACK of a SYN/ACK may come late: what goes beyond the window says how far the client is.
/// Where ACKs were not captured, others seem to be answered sooner than they can have been.
#[test]
fn what_needs_room_answers_the_ack_that_makes_it() {
    let none = |_| false;
    assert!((1.5..2.5).contains(&upload(1.5, false, none)));
    assert!((50.0..51.0).contains(&upload(1.5, true, none)));
    assert!((50.0..51.0).contains(&upload(50.0, false, none)));
    assert!((50.0..51.0).contains(&upload(50.0, false, |n| n % 10 == 0)));
    // Sooner, but not much.
    assert!((50.0..51.0).contains(&upload(13.0, false, none)));
}
