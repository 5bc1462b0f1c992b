//! What the capture does not have, or has late.

use std::sync::Arc;

use ackclock_tcp::Span;

use super::{Line, MSS, Owed, kinds, ms};
use crate::connection::{Kind, Spurious, StallCause};
use crate::lifetime::Limit;
use crate::sender::{Acked, SenderModel, Sent, Sight, Terms};

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

/// What ends an idle time is missed, and segment 2 behind it is seen: segment 1 has not waited for
/// its ACK since segment 0 got one.
#[test]
fn what_was_missed_ends_an_idle_time() {
    let mut line = Line::sack(50.0);
    line.send(0.0, [0]);
    line.ack(50.0, 1);
    line.model.peer_data(ms(450.0), Owed::Some);
    line.send(451.0, [2]);
    line.ack(501.0, 3);
    let found = line.found();
    assert_eq!((&found.stalls[..], found.unseen), (&[][..], MSS));
    assert!(found.lifetime.of(Limit::Application) >= Span::from_millis(400));
}

/// Segment 1 waits so many milliseconds for an ACK that was seen, at most 320 for its timer; before
/// that ACK others may be missing. Returns what it waited for, and for how long without an ACK.
fn answered(sight: Sight, after: f64, skips: bool) -> Option<(StallCause, f64)> {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = sight;
    line.send(0.0, [0]);
    line.ack(50.0, 1);
    line.send(100.0, [1]);
    line.heard(Acked { skips, with_data: true, ..line.plain(100.0 + after, 2 * MSS) });
    let found = line.found();
    // A round trip that nobody knows is not measured.
    let rtt = found.rtt.map(|rtt| (rtt.max.0 as f64 / 1e6).round());
    found.stalls.first().map(|stall| (stall.cause, rtt.unwrap_or_default()))
}

/// The sender's timer would have retransmitted it, had the ACK that was seen been the first.
#[test]
fn an_ack_that_the_capture_missed() {
    let (gap, late) = (StallCause::CaptureGap, StallCause::Network);
    for sight in [Sight::Sent, Sight::Received] {
        assert_eq!(answered(sight, 900.0, true), Some((gap, 50.0)));
        // The path was slow, and the timer waits for longer than Linux's.
        for after in [900.0, 1700.0] {
            assert_eq!(answered(sight, after, false), Some((late, after)));
        }
    }
    // Nobody else may lose what the receiver has sent, on its way to a capture there.
    assert_eq!(answered(Sight::Received, 200.0, true), Some((gap, 50.0)));
    assert_eq!(answered(Sight::Sent, 200.0, true), Some((late, 200.0)));
    // The timer of 252 ms may expire an eighth, and two ticks of 10 ms, later.
    assert_eq!(answered(Sight::Sent, 303.0, true), Some((late, 303.0)));
    assert_eq!(answered(Sight::Sent, 304.0, true), Some((gap, 50.0)));
    // It may have been lost, as what the timer sent.
    assert_eq!(answered(Sight::Arrived, 1100.0, true), Some((late, 1100.0)));
}

/// After a round trip nothing was outstanding.
#[test]
fn nobody_waits_for_an_ack_that_the_capture_missed() {
    let mut line = Line::sack(50.0);
    line.send(0.0, [0]);
    line.ack(50.0, 1);
    line.send(100.0, [1]);
    line.heard(Acked { skips: true, ..line.plain(2100.0, 2 * MSS) });
    let found = line.found();
    assert_eq!(found.doubts, ["ACKs are missing from the capture"]);
    assert_eq!(found.unacked, Span::from_millis(50));
    assert_eq!(found.lifetime.of(Limit::Application), Span::from_millis(2000));
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
