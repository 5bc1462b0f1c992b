//! What the capture does not have, or has late.

use std::sync::Arc;

use super::{Line, MSS, kinds, ms};
use crate::connection::{Kind, Spurious};
use crate::sender::{SenderModel, Sent, Sight, Terms};

fn piece(line: &mut Line, t: f64, n: u64, tsval: Option<u32>, ip_id: Option<u16>) {
    line.frame += 1;
    line.end = ms(t);
    let sent = Sent { tsval, ip_id, ..line.segment(ms(t), n * MSS, MSS as u32) };
    line.model.sent(&sent);
}

/// Segments 0, 1 and 3 pass the capture, then 2, so many milliseconds after 3.
fn overtaken(after: f64, tsvals: [Option<u32>; 2], ids: [Option<u16>; 3]) -> Vec<(u64, Kind)> {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = Sight::Arrived;
    piece(&mut line, 0.0, 0, tsvals[0], None);
    piece(&mut line, 0.1, 1, tsvals[0], ids[0]);
    piece(&mut line, 0.2, 3, tsvals[0], ids[1]);
    line.ack_sack(50.0, 2, &[(3, 4)]);
    piece(&mut line, 0.2 + after, 2, tsvals[1], ids[2]);
    kinds(&line.found())
}

const NONE: [Option<u16>; 3] = [None; 3];

#[test]
fn time_separates_an_overtaken_segment_from_a_retransmission() {
    assert_eq!(overtaken(30.0, [None; 2], NONE), []);
    assert_eq!(overtaken(60.0, [None; 2], NONE), [(2, Kind::FastRetransmit)]);
}

/// Before the first round trip, what a capture of several queues exchanges is no retransmission.
#[test]
fn without_a_round_trip_a_millisecond_separates_them() {
    for (after, found) in [(0.03, vec![]), (1.1, vec![(1, Kind::FastRetransmit)])] {
        let mut line = Line::sack(50.0);
        let terms = Terms { handshake_rtt: None.into(), ..line.model.stream.terms };
        line.model = SenderModel::new(terms, Arc::default());
        piece(&mut line, 0.0, 0, None, None);
        piece(&mut line, 0.1, 2, None, None);
        piece(&mut line, 0.1 + after, 1, None, None);
        assert_eq!(kinds(&line.found()), found);
    }
}

#[test]
fn a_timestamp_decides_whatever_the_time() {
    assert_eq!(overtaken(60.0, [Some(7), Some(6)], NONE), []);
    assert_eq!(overtaken(30.0, [Some(7), Some(8)], NONE), [(2, Kind::FastRetransmit)]);
    // Of the same tick, so time decides.
    assert_eq!(overtaken(60.0, [Some(7), Some(7)], NONE), [(2, Kind::FastRetransmit)]);
}

#[test]
fn an_identification_that_counts_decides() {
    assert_eq!(overtaken(60.0, [None; 2], [Some(65_535), Some(1), Some(0)]), []);
    assert_eq!(
        overtaken(30.0, [None; 2], [Some(65_535), Some(1), Some(2)]),
        [(2, Kind::FastRetransmit)]
    );
    // One that does not count shows nothing.
    assert_eq!(
        overtaken(60.0, [None; 2], [Some(9), Some(9), Some(8)]),
        [(2, Kind::FastRetransmit)]
    );
}

/// Bytes that are acknowledged and were never seen.
#[test]
fn unseen_bytes_are_counted() {
    let mut line = Line::sack(50.0);
    line.send(0.0, [0, 1, 3]);
    line.ack(50.0, 4);
    line.ack(60.0, 6);
    line.send(61.0, [6]);
    let found = line.found();
    assert_eq!((found.unseen, found.bytes, kinds(&found)), (3000, 4000, vec![]));
}

/// Seen when it is retransmitted, the payload of a hole has been seen, once; the first transmission
/// is still none that measures anything.
#[test]
fn a_retransmission_fills_a_hole() {
    for sight in [Sight::Arrived, Sight::Received] {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sight = sight;
        line.send(0.0, [0, 1, 4, 5, 6]);
        line.ack_sack(50.0, 2, &[(4, 7)]);
        line.send(100.0, [2]);
        line.send(160.0, [2]);
        line.ack_sack(210.0, 3, &[(4, 7)]);
        line.send(260.0, [3]);
        line.ack(310.0, 7);
        let found = line.found();
        assert_eq!((found.unseen, found.bytes), (0, 7 * MSS));
        assert_eq!(found.rtt.map(|r| r.samples), Some(1));
    }
}

/// Filled within a millisecond, a hole is filled: what comes again is a retransmission, and its
/// payload has been counted.
#[test]
fn a_hole_is_filled_once() {
    let mut line = Line::sack(0.1);
    line.model.stream.terms.sight = Sight::Arrived;
    line.send(0.0, [0, 1, 3]);
    line.ack_sack(0.1, 2, &[(3, 4)]);
    line.send(0.3, [2]);
    line.ack(0.4, 4);
    line.send(0.6, [2]);
    let found = line.found();
    assert_eq!((found.unseen, found.bytes, found.retransmissions.len()), (0, 4 * MSS, 2));
}

/// A capture that begins in the middle: the first data in it is not what the receiver waits for.
#[test]
fn data_before_the_capture_has_not_arrived() {
    let mut line = cut(8..12);
    line.send(51.0, [4]);
    line.ack(101.0, 12);
    line.send(102.0, [4]);
    let spurious: Vec<_> = line.found().retransmissions.iter().map(|r| r.spurious).collect();
    assert_eq!(spurious, [None, Some(Spurious::Arrival)]);
}

/// The first ACK says where the receiver stands.
#[test]
fn the_first_ack_goes_back_before_the_capture() {
    let mut line = cut(8..12);
    for (n, t) in [50.0, 50.1, 50.2].into_iter().enumerate() {
        line.ack_sack(t, 4, &[(8, 9 + n as u64)]);
    }
    line.send(50.3, [4, 5]);
    line.ack(100.4, 12);
    let found = line.found();
    assert_eq!(kinds(&found), [(4, Kind::FastRetransmit), (5, Kind::Recovery)]);
    assert!(found.retransmissions.iter().all(|r| r.spurious.is_none()));
    assert_eq!((found.unseen, found.bytes), (2 * MSS, 6 * MSS));
}

/// A capture without the handshake, and without ACKs so far.
fn cut(segments: core::ops::Range<u64>) -> Line {
    let mut line = Line::sack(50.0);
    line.model = SenderModel::new(line.model.stream.terms, Arc::default());
    line.send(0.0, segments);
    line
}
