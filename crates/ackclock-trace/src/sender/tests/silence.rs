//! Away from the sender: silence with something outstanding, and data out of order.

use ackclock_tcp::{Span, TimeoutClass};

use super::{Acked, Line, MSS, Owed, Sent, Sight};
use crate::connection::StallCause;
use crate::lifetime::Limit;

/// A window of four segments is answered so many ms after it was sent, and the next one after the
/// usual 50 ms. How much of that is recovery's, in ms?
fn recovery(sight: Sight, answered: f64, window: u64) -> f64 {
    let mut line = Line::timestamped(50.0);
    line.model.stream.terms.sight = sight;
    line.send(50.0, 0..4);
    line.ack(100.0, 2);
    line.window = window;
    line.ack(100.0, 4);
    line.send(101.0, 4..8);
    line.ack(101.0 + answered, 8);
    line.send(101.0 + answered, 8..12);
    line.ack(151.0 + answered, 12);
    let Span(ns) = line.found().lifetime.of(Limit::Recovery);
    (ns as f64 / 1e6).round()
}

/// A link holds back everything for 3 s. The sender's timer has expired meanwhile, and what it sent
/// was lost: the path was not what limited it. A timer of a second may outlast 800 ms. At the
/// sender, one that has expired is seen.
#[test]
fn no_timer_outlasts_it() {
    let some = 1 << 20;
    assert_eq!(recovery(Sight::Received, 3000.0, some), 3000.0);
    assert_eq!(recovery(Sight::Arrived, 3000.0, some), 3000.0);
    assert_eq!(recovery(Sight::Received, 800.0, some), 0.0);
    assert_eq!(recovery(Sight::Sent, 3000.0, some), 0.0);
    // What probes a closed window waits for longer.
    assert_eq!(recovery(Sight::Received, 3000.0, 0), 0.0);
}

/// A link holds back everything for 3 s, ACKs as well: they reach the sender later than the capture
/// says, so that new data goes out without one. As the numbers of packets say, its timer has sent
/// three before that are not in the capture. Where no number is missing, an ACK may be.
#[test]
fn acks_are_held_back_as_well() {
    let recovery = |missing| {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.send(50.0, 0..10);
        line.ack(100.0, 5);
        line.ack(100.0, 10);
        line.send(101.0, 10..14);
        let behind = line.segment(super::ms(3101.0), 14 * MSS, MSS as u32);
        line.model.sent(&Sent { frame: 99, skipped: missing, counted: true, ..behind });
        line.send(3101.1, [15]);
        line.ack(3102.0, 14);
        line.ack(3152.0, 16);
        let found = line.found();
        let Span(ns) = found.lifetime.of(Limit::Recovery);
        ((ns as f64 / 1e6).round(), found.unacked)
    };
    assert_eq!(recovery(3), (3000.0, Span::ZERO));
    assert_eq!(recovery(0), (0.0, Span::from_secs(3)));
}

/// Segment 0 comes 10 ms after those behind it, so that it was not lost: its timestamp is older
/// than theirs. Their duplicates reach the sender after that. This takes no time for a repair, at
/// the receiver and in the middle. Where its timestamp is newer, it has gone again.
#[test]
fn reordered_data_is_not_repaired() {
    let recovery = |sight, tsval| {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sight = sight;
        line.ack(50.0, 0);
        line.send(50.0, 1..5);
        let late = line.segment(super::ms(60.0), 0, MSS as u32);
        line.model.sent(&Sent { frame: 9, tsval: Some(tsval), counted: true, ..late });
        for n in 1..5 {
            line.ack_sack(99.0 + n as f64, 0, &[(1, 1 + n)]);
        }
        line.ack(110.0, 5);
        let Span(ns) = line.found().lifetime.of(Limit::Recovery);
        (ns as f64 / 1e6).round()
    };
    assert_eq!(recovery(Sight::Received, 49), 0.0);
    assert_eq!(recovery(Sight::Arrived, 49), 0.0);
    assert!(recovery(Sight::Received, 51) >= 8.0);
}

/// At the sender, the ACK of segment 1 was lost on its way, as all that followed. It sends new data
/// long after its timer would have expired, if nothing had made it longer; then its timer sends
/// segment 1 again: the capture misses no ACK. Had it not, the ACK would be missing.
#[test]
fn acks_are_lost_before_the_sender() {
    let unacked = |again: bool| {
        let mut line = Line::sack(50.0);
        line.send(0.0, [0]);
        line.ack(50.0, 1);
        line.send(60.0, [1]);
        line.send(4660.0, [2]);
        if again {
            line.send(11_060.0, [1]);
            line.dsack(11_110.0, 3, (1, 2));
        } else {
            line.ack(4710.0, 3);
        }
        line.found().unacked
    };
    assert_eq!(unacked(true), Span::ZERO);
    assert_eq!(unacked(false), Span::from_millis(4600));
}

/// At the receiver, four segments come so many ms after all before them was acknowledged, and so
/// many ms later the first of them comes again. How much of that is recovery's, in ms, and why did
/// nothing go on?
fn held_back(silence: f64, again: f64) -> (f64, Option<StallCause>) {
    let mut line = Line::without_sack(50.0);
    line.model.stream.terms.sight = Sight::Received;
    line.send(50.0, 0..4);
    line.ack(100.0, 4);
    line.send(100.0 + silence, 4..8);
    if again < 50.0 {
        line.send(100.0 + silence + again, [4]);
    }
    line.ack(150.0 + silence, 8);
    if again > 50.0 {
        line.send(100.0 + silence + again, [4]);
    }
    let found = line.found();
    let Span(ns) = found.lifetime.of(Limit::Recovery);
    ((ns as f64 / 1e6).round(), found.stalls.first().map(|stall| stall.cause))
}

/// The path holds segments back for 2 s, and what the timer has sent meanwhile comes with them: no
/// ACK of them can have reached the sender. After 8 s a single timer has not run all the time: 252
/// ms are known. So are the 50 ms until the ACK, with what went again outstanding. Without what the
/// timer has sent, the application has paused.
#[test]
fn a_timer_expired_in_what_looks_like_a_pause() {
    assert_eq!(held_back(2000.0, 1.0), (2000.0 + 50.0, Some(StallCause::Network)));
    assert_eq!(held_back(8000.0, 1.0), (252.0 + 50.0, Some(StallCause::Network)));
    assert_eq!(held_back(2000.0, 60.0).1, Some(StallCause::Application));
}

/// After 2 s of silence, segments 4 to 9 come, and 1 ms later these again. No timer sends what is
/// neither the first nor the last of them: the application has paused, whatever came again before.
/// Where segment 3, from before, comes again as well, its ACK may have let them go.
#[test]
fn no_timer_sends_what_lies_between() {
    let repaired = |again: &[u64]| {
        let mut line = Line::without_sack(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.send(50.0, 0..4);
        line.ack(100.0, 4);
        line.send(2100.0, 4..10);
        line.send(2101.0, again.iter().copied());
        line.ack(2150.0, 10);
        let found = line.found();
        let Span(ns) = found.lifetime.of(Limit::Recovery);
        ((ns as f64 / 1e6).round(), found.stalls.first().map(|stall| stall.cause))
    };
    let held_back = (2000.0 + 50.0, Some(StallCause::Network));
    let paused = (50.0, Some(StallCause::Application));
    for (again, expected) in [
        (&[4][..], held_back),
        (&[4, 4], held_back),
        (&[9, 4], held_back),
        (&[4, 5], paused),
        (&[8, 4], paused),
        (&[4, 4, 8], paused),
        (&[4, 5, 4], paused),
        (&[3, 4, 5], held_back),
    ] {
        assert_eq!(repaired(again), expected, "{again:?}");
    }
}

/// A timer sends as many short segments as a full one has bytes (RFC 5681 section 3.1).
#[test]
fn a_timer_sends_several_short_segments() {
    let repaired = |again: u64| {
        let mut line = Line::without_sack(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.send(50.0, 0..4);
        line.ack(100.0, 4);
        for (at, segments) in [(2100.0, 20), (2101.0, again)] {
            (0..segments).for_each(|n| line.send_bytes(at, 4000 + 100 * n, 100));
        }
        line.ack(2150.0, 6);
        let Span(ns) = line.found().lifetime.of(Limit::Recovery);
        (ns as f64 / 1e6).round()
    };
    assert_eq!(repaired(10), 2050.0);
    assert_eq!(repaired(11), 50.0);
}

/// What came again in one packet of several segments, one transmission of the first of them may
/// have been.
#[test]
fn a_packet_of_several_segments_comes_again() {
    let repaired = |frames: [u64; 2]| {
        let mut line = Line::without_sack(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.send(50.0, 0..4);
        line.ack(100.0, 4);
        line.send(2100.0, 4..10);
        for (n, frame) in (4..).zip(frames) {
            let segment = line.segment(super::ms(2101.0), n * MSS, MSS as u32);
            line.model.sent(&Sent { frame, ..segment });
        }
        line.ack(2150.0, 10);
        let Span(ns) = line.found().lifetime.of(Limit::Recovery);
        (ns as f64 / 1e6).round()
    };
    assert_eq!(repaired([99, 99]), 2050.0);
    assert_eq!(repaired([99, 100]), 50.0);
}

/// The same after 2 s, with timestamps: a segment ends the silence that was written `ticks` before
/// what the timer has sent. Until it was written the application paused. A clock of 10 ms does not
/// tell.
#[test]
fn a_pause_before_what_is_held_back() {
    let held_back = |ticks: u32| {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.send(50.0, 0..4);
        line.ack(100.0, 4);
        for (ms, tsval) in [(2100.0, 2100 - ticks), (2101.0, 2100)] {
            let segment = line.segment(super::ms(ms), 4 * MSS, MSS as u32);
            line.model.sent(&Sent { frame: 99, tsval: Some(tsval), ..segment });
        }
        line.ack(2150.0, 5);
        let found = line.found();
        let Span(ns) = found.lifetime.of(Limit::Recovery);
        ((ns as f64 / 1e6).round(), found.stalls.first().map(|stall| stall.cause))
    };
    let (paused, late) = (Some(StallCause::Application), Some(StallCause::Network));
    assert_eq!(held_back(260), (260.0 + 50.0, paused));
    assert_eq!(held_back(1900), (1900.0 + 50.0, late));
    assert_eq!(held_back(26), (2000.0 + 50.0, late));
}

/// Twelve packets are lost before the capture, one of them sent by the timer, which ends 800 ms of
/// silence. Then the timer sends each of the others after 250 ms: only behind them does the
/// application pause. The ACK of each takes 50 ms.
#[test]
fn what_was_lost_in_a_silence_is_not_new() {
    let recovery = |missing, segments: u64| {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.send(50.0, 0..4);
        line.ack(100.0, 4);
        let first = line.segment(super::ms(900.0), 4 * MSS, MSS as u32);
        line.model.sent(&Sent { frame: 99, skipped: missing, counted: true, ..first });
        line.ack(950.0, 5);
        for n in 1..segments {
            line.send(950.0 + 300.0 * n as f64 - 50.0, [4 + n]);
            line.ack(950.0 + 300.0 * n as f64, 5 + n);
        }
        let Span(ns) = line.found().lifetime.of(Limit::Recovery);
        (ns as f64 / 1e6).round()
    };
    assert_eq!(recovery(12, 1), 850.0);
    assert_eq!(recovery(12, 11), 850.0 + 10.0 * 300.0);
    assert_eq!(recovery(12, 13), 850.0 + 10.0 * 300.0);
    assert_eq!(recovery(0, 11), 0.0);
}

/// At the receiver, twelve packets are lost before the capture, as in
/// [`what_was_lost_in_a_silence_is_not_new`]. A keep-alive shows then that nothing more was. Where
/// numbers are missing behind it, something may have been lost since: 100 ms are too short for a
/// timer.
#[test]
fn nothing_is_lost_before_a_keep_alive() {
    let recovery = |alive: Option<f64>, missing| {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.send(50.0, 0..4);
        line.ack(100.0, 4);
        let first = line.segment(super::ms(900.0), 4 * MSS, MSS as u32);
        line.model.sent(&Sent { frame: 99, skipped: 12, counted: true, ..first });
        line.ack(950.0, 5);
        if let Some(at) = alive {
            line.model.keeps_alive(super::ms(at));
        }
        let last = line.segment(super::ms(60_000.0), 5 * MSS, MSS as u32);
        line.model.sent(&Sent { frame: 100, skipped: missing, counted: true, ..last });
        line.ack(60_050.0, 6);
        let Span(ns) = line.found().lifetime.of(Limit::Recovery);
        (ns as f64 / 1e6).round()
    };
    assert_eq!(recovery(None, 0), 60_000.0 - 50.0);
    assert_eq!(recovery(Some(30_000.0), 0), 850.0);
    assert!(recovery(Some(30_000.0), 3) > 1000.0);
    assert_eq!(recovery(Some(59_900.0), 3), 850.0);
}

/// At the receiver, numbers of packets are missing before what ends a silence. After four segments
/// no window lets more go than ten; the others are those of other connections.
#[test]
fn more_numbers_are_missing_than_a_window_has_segments() {
    let recovery = |missing| {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.send(50.0, 0..4);
        line.ack(100.0, 4);
        let first = line.segment(super::ms(900.0), 4 * MSS, MSS as u32);
        line.model.sent(&Sent { frame: 99, skipped: missing, counted: true, ..first });
        line.ack(950.0, 5);
        let Span(ns) = line.found().lifetime.of(Limit::Recovery);
        (ns as f64 / 1e6).round()
    };
    assert_eq!([13, 14].map(recovery), [850.0, 0.0]);
}

/// In the middle, ACKs come 2 s late, and no number of a packet is missing: no timer has sent
/// anything. Data that comes 0.1 ms before the ACK is thought to reach the sender follows it:
/// the capture misses none.
#[test]
fn acks_that_come_late_are_no_gap() {
    let found = |early: bool| {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sight = Sight::Arrived;
        line.send(50.0, 0..4);
        line.ack(100.0, 4);
        line.send(100.1, 4..12);
        let next =
            Sent { frame: 99, counted: true, ..line.segment(super::ms(2100.0), 12_000, 1000) };
        if early {
            line.model.ack_is_due(next.at, Some((super::ms(2100.1), 12_000)));
            line.model.sent(&next);
            line.ack(2100.1, 12);
        } else {
            line.ack(2099.9, 12);
            line.model.sent(&next);
        }
        line.ack(2150.0, 13);
        let found = line.found();
        (found.lifetime.of(Limit::Recovery), found.unacked, found.stalls[0].cause)
    };
    assert_eq!(found(true), (Span::ZERO, Span::ZERO, StallCause::Network));
    assert_eq!(found(false), (Span::ZERO, Span::ZERO, StallCause::Network));
}

/// Without SACK, at the receiver: what had arrived comes again and draws duplicates. With the next
/// ACK nothing is held (Linux's `tcp_reset_reno_sack`): what follows repairs nothing.
#[test]
fn duplicates_of_what_had_arrived_are_forgotten() {
    let mut line = Line::without_sack(50.0);
    line.model.stream.terms.sight = Sight::Received;
    line.send(50.0, 0..8);
    for _ in 0..6 {
        line.ack(100.0, 4);
    }
    line.ack(101.0, 8);
    for n in 2..20 {
        let t = 50.0 * n as f64;
        line.send(t + 1.1, 4 * n..4 * n + 4);
        line.ack(t + 51.0, 4 * n + 4);
    }
    line.send(1001.1, [4 * 19]);
    line.ack(1051.0, 80);
    assert!(line.found().lifetime.of(Limit::Recovery) < Span::from_millis(100));
}

/// A request carries the ACK of the answer before, and is lost before the capture, as the number of
/// the packet says in which it comes again. That one was the ACK alone is as likely, unless a timer
/// would have expired just then: after 250 ms, and not after 150 or 600. The client must send its
/// ACKs with its requests: the one of the answer before, and this one. If the ACK was seen before,
/// what is missing is the request, however long the client is silent: then a timer has expired at
/// least once, and the rest is a pause.
#[test]
fn a_request_that_carried_an_ack() {
    let found = |waited: f64, owed: [Owed; 2]| {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.ack(50.0, 0);
        line.send(50.0, [0]);
        line.model.peer_data(super::ms(100.0), owed[0]);
        line.acked(100.0, 1, &[], false, None, true);
        line.send(110.0, [1]);
        line.model.peer_data(super::ms(160.0), owed[1]);
        line.acked(160.0, 2, &[], false, None, true);
        let again = line.segment(super::ms(160.0 + waited), 2 * MSS, MSS as u32);
        line.model.sent(&Sent { frame: 9, skipped: 1, counted: true, ..again });
        line.ack(210.0 + waited, 3);
        let found = line.found();
        let Span(ns) = found.lifetime.of(Limit::Recovery);
        (ns / 10_000_000, found.stalls.iter().map(|stall| stall.cause).collect::<Vec<_>>())
    };
    let timeout = StallCause::Timeout(TimeoutClass::Unknown);
    let (carried, some, nothing) = (Owed::Carried, Owed::Some, Owed::Nothing);
    assert_eq!(found(270.0, [carried; 2]), (25, vec![timeout]));
    assert_eq!(found(600.0, [carried; 2]), (0, vec![StallCause::Application]));
    assert_eq!(found(150.0, [carried; 2]).0, 0);
    for owed in [[some, carried], [carried, some], [nothing, carried]] {
        assert_eq!(found(270.0, owed), (0, vec![StallCause::Application]));
    }
    assert_eq!(found(270.0, [some, nothing]), (30, vec![timeout]));
    assert_eq!(found(2000.0, [some, nothing]), (30, vec![StallCause::Application]));
    assert_eq!(found(150.0, [some, nothing]).0, 0);
}

/// Of requests that are shorter than a segment, one is lost before the capture, and so was the ACK
/// before it. The pauses before those that follow are none of recovery's. The ACK of the one that
/// goes again takes 50 ms.
#[test]
fn short_requests_behind_a_lost_one() {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = Sight::Received;
    line.ack(50.0, 0);
    for n in 0..6 {
        let t = 100.0 + 2000.0 * n as f64;
        let request = line.segment(super::ms(t), 100 * n, 100);
        let skipped = if n == 1 { 2 } else { 0 };
        line.model.sent(&Sent { frame: n + 9, skipped, counted: true, ..request });
        line.model.peer_data(super::ms(t + 50.0), Owed::Some);
        let acked = line.plain(t + 50.0, 100 * (n + 1));
        line.heard(Acked { with_data: true, ..acked });
    }
    let Span(ns) = line.found().lifetime.of(Limit::Recovery);
    assert_eq!(ns / 10_000_000, 30);
}

/// The last segment is lost before the capture, and a probe sends it again after 110 ms, while the
/// ACK of the one before is delayed. Where no number is missing, the application wrote it then;
/// where it comes after 60 ms, no timer has expired.
#[test]
fn a_probe_of_what_was_lost_before_the_capture() {
    let recovery = |after: f64, missing| {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.ack(50.0, 0);
        line.send(50.0, 0..3);
        line.ack(100.0, 2);
        let last = line.segment(super::ms(100.0 + after), 3 * MSS, MSS as u32);
        line.model.sent(&Sent { frame: 9, skipped: missing, counted: true, ..last });
        line.ack(150.0 + after, 4);
        let Span(ns) = line.found().lifetime.of(Limit::Recovery);
        (ns as f64 / 1e6).round()
    };
    assert_eq!(recovery(110.0, 1), 160.0);
    assert_eq!(recovery(110.0, 0), 0.0);
    assert_eq!(recovery(60.0, 1), 0.0);
}

/// In the middle, the capture has a gap: whether a timer has expired in it is not known, and it is
/// no recovery and no pause. What is shorter than a timer waits was in flight. Where a FIN may be
/// all that it lacks, the time is known.
#[test]
fn a_gap_is_no_recovery() {
    let found = |span: f64, fin| {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sight = Sight::Arrived;
        line.send(0.0, [0]);
        line.ack(50.0, 1);
        line.send(100.0, [1]);
        line.model.gap(super::ms(100.0 + span), fin);
        line.ack(100.0 + span, 9);
        let found = line.found();
        let shares = [Limit::Recovery, Limit::Application].map(|l| found.lifetime.of(l));
        (shares.map(|Span(ns)| ns / 1_000_000), found.unknown)
    };
    assert_eq!(found(9000.0, false), ([0, 0], Span::from_secs(9)));
    assert_eq!(found(200.0, false), ([0, 0], Span::ZERO));
    assert_eq!(found(9000.0, true).1, Span::ZERO);
}

/// The receiver lacks segment 0, as its SACK blocks say, and has it so many ms later: a timer of
/// 250 ms has sent it again, or the path has held it back. Where the capture shows that it goes
/// again, it misses nothing.
#[test]
fn a_repair_that_the_capture_missed() {
    let cause = |after: f64, seen: bool| {
        let mut line = Line::sack(50.0);
        line.send(50.0, 0..3);
        line.ack_sack(100.0, 0, &[(1, 2)]);
        if seen {
            line.send(100.0 + after, [0]);
        }
        line.ack(150.0 + after, 3);
        line.found().stalls[0].cause
    };
    assert_eq!(cause(1000.0, false), StallCause::CaptureGap);
    assert_eq!(cause(150.0, false), StallCause::Network);
    assert!(matches!(cause(1000.0, true), StallCause::Timeout(_)));
}
