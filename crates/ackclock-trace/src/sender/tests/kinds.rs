//! Each kind of retransmission, and what must not be taken for one.

use ackclock_tcp::{Span, TimeoutClass};

use super::{Line, MSS, kinds, ms, timeouts};
use crate::connection::{Kind, Spurious, State};
use crate::sender::{Found, Sent, Sight};

/// Ten segments, the first is lost; RFC 6675: the third report of something above it sends it
/// again.
#[test]
fn fast_retransmit() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..10);
    for n in 1..4 {
        line.ack_sack(50.0 + n as f64 * 0.1, 0, &[(1, 1 + n)]);
    }
    line.send(50.31, [0]);
    line.ack_sack(50.4, 0, &[(1, 5)]);
    line.ack(100.4, 10);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::FastRetransmit)]);
    assert_eq!(timeouts(&found), []);
    let recovery = found.recoveries[0];
    assert_eq!((recovery.start, recovery.end), (ms(50.31), Some(ms(100.4))));
    assert_eq!(
        (recovery.flight, recovery.retransmissions, recovery.by_timeout, recovery.spurious),
        (10_000, 1, false, false)
    );
    assert_eq!(found.retransmissions[0].lost, Some(false));
}

/// Segments 0 and 3 are lost: the scoreboard names the second.
#[test]
fn recovery_from_the_scoreboard() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..10);
    line.ack_sack(50.1, 0, &[(1, 2)]);
    line.ack_sack(50.2, 0, &[(1, 3)]);
    line.ack_sack(50.3, 0, &[(4, 5), (1, 3)]);
    line.send(50.31, [0]);
    line.ack_sack(50.4, 0, &[(4, 8), (1, 3)]);
    line.send(50.41, [3]);
    line.ack(101.0, 10);
    assert_eq!(kinds(&line.found()), [(0, Kind::FastRetransmit), (3, Kind::Recovery)]);
}

/// NewReno: the partial ACK sends the next hole (RFC 6582 section 3.2 step 3).
#[test]
fn recovery_by_partial_ack() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..8);
    for n in 1..4 {
        line.ack(50.0 + n as f64 * 0.1, 0);
    }
    line.send(50.31, [0]);
    line.ack(50.5, 0);
    line.ack(101.0, 4);
    line.send(101.01, [4]);
    line.ack(152.0, 8);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::FastRetransmit), (4, Kind::Recovery)]);
    assert_eq!(found.recoveries.len(), 1);
}

/// A timer that waits for less than Linux's (SRTT and 200 ms): the retransmission was lost, and
/// ACKs for what was sent before it still come when the timer expires. What such an ACK sends
/// follows it at once.
#[test]
fn an_early_timer_while_acks_come() {
    for mut line in [Line::sack(100.0), Line::without_sack(100.0)] {
        let sack = line.model.stream.terms.sack;
        line.send(0.0, 0..40);
        let report = |line: &mut Line, n: u64| {
            let t = 100.0 + n as f64 * 6.0;
            if sack { line.ack_sack(t, 0, &[(1, 1 + n)]) } else { line.ack(t, 0) }
        };
        (1..4).for_each(|n| report(&mut line, n));
        line.send(118.01, [0]);
        (4..39).for_each(|n| report(&mut line, n));
        line.send(329.0, [0]);
        line.ack(430.0, 40);
        let found = line.found();
        assert_eq!(kinds(&found), [(0, Kind::FastRetransmit), (0, Kind::Timeout)]);
        let timeout = (0, TimeoutClass::LostRetransmission, State::Recovery);
        assert_eq!(timeouts(&found), [timeout]);
    }
    // Lin & Kung section 6.2 finds it by ACKs.
    let mut line = Line::without_sack(100.0);
    line.send(0.0, 0..40);
    (1..4).for_each(|n| line.ack(100.0 + n as f64 * 6.0, 0));
    line.send(118.01, [0]);
    (4..39).for_each(|n| line.ack(100.0 + n as f64 * 6.0, 0));
    line.send(328.01, [0]);
    line.ack(430.0, 40);
    assert_eq!(kinds(&line.found()), [(0, Kind::FastRetransmit), (0, Kind::Recovery)]);
}

/// The whole flight is lost: only the timer is left. RTO = 50 + 200 ms.
#[test]
fn timeout_then_slow_start() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..4);
    line.send(251.0, [0]);
    line.ack(301.0, 1);
    line.send(301.01, [1, 2]);
    line.ack(351.0, 3);
    line.send(351.01, [3, 4, 5]);
    line.ack(401.0, 6);
    let found = line.found();
    assert_eq!(
        kinds(&found),
        [(0, Kind::Timeout), (1, Kind::SlowStart), (2, Kind::SlowStart), (3, Kind::SlowStart)]
    );
    assert_eq!(timeouts(&found), [(0, TimeoutClass::NonTrigger, State::Open)]);
    let timeout = &found.timeouts[0];
    assert_eq!((timeout.flight, timeout.cwnd, timeout.waited.0), (4000, 4000, 251_000_000));
    assert_eq!(found.segments, 11);
    assert_eq!(found.bytes, 6000);
}

/// Reordering by two: a sign of loss, but nothing is retransmitted.
#[test]
fn reordering() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..10);
    line.ack_sack(50.1, 0, &[(1, 2)]);
    line.ack_sack(50.2, 0, &[(1, 3)]);
    line.ack(50.3, 3);
    line.ack(50.4, 10);
    line.send(50.5, 10..12);
    let found = line.found();
    assert_eq!((kinds(&found), found.recoveries.len(), found.stalls.len()), (vec![], 0, 0));
}

/// RACK finds the retransmission lost by what was sent after it (RFC 8985 section 6.2), long before
/// the timer.
#[test]
fn lost_retransmission_is_retransmitted() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..10);
    line.ack_sack(50.1, 0, &[(1, 4)]);
    line.send(50.11, [0]);
    line.ack_sack(50.3, 0, &[(1, 6)]);
    line.send(50.31, [10]);
    line.ack_sack(100.4, 0, &[(10, 11), (1, 10)]);
    line.send(113.5, [0]);
    line.ack(163.6, 11);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::FastRetransmit), (0, Kind::Recovery)]);
    assert_eq!(
        found.retransmissions.iter().map(|r| r.lost).collect::<Vec<_>>(),
        [Some(true), Some(false)]
    );
    assert_eq!(found.retransmissions[1].transmission, 3);
}

/// One SACK block and then silence: RACK's timer waits for a quarter of the round trip, the
/// retransmission timer for much longer.
#[test]
fn reordering_timer_is_no_timeout() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..3);
    line.ack_sack(50.1, 0, &[(1, 2)]);
    line.send(66.0, [0]);
    line.ack(116.1, 3);
    assert_eq!(kinds(&line.found()), [(0, Kind::FastRetransmit)]);
}

/// With a round trip of 42 ms RACK's reordering window may become as long as that. 57 ms after the
/// SACK and 97 ms after the head, no retransmission timer can have expired; 149 ms after the SACK
/// no reordering window is left.
#[test]
fn a_late_reordering_timer_is_no_timeout() {
    for (retransmitted, kind) in [(97.4, Kind::FastRetransmit), (190.0, Kind::Timeout)] {
        let mut line = Line::sack(42.0);
        line.send(0.0, 0..2);
        line.ack_sack(40.6, 0, &[(1, 2)]);
        line.send(retransmitted, [0]);
        line.ack(retransmitted + 42.0, 2);
        assert_eq!(kinds(&line.found()), [(0, kind)]);
    }
}

/// Two duplicate ACKs are too few for a fast retransmit: the timer sends the segment, 200 ms beyond
/// SRTT.
#[test]
fn timeout_in_disorder() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..4);
    line.ack(50.0, 1);
    line.ack(50.1, 1);
    line.ack(50.2, 1);
    line.send(301.0, [1]);
    line.ack(351.0, 4);
    let found = line.found();
    assert_eq!(timeouts(&found), [(1, TimeoutClass::NonTrigger, State::Disorder)]);
    assert_eq!(found.timeouts[0].waited.0, 251_000_000);
}

/// The same timer, expired in the middle of duplicates that new data draws: a retransmission that
/// was lost, and a sender that knows no better. The ACK clock ticks each 10 ms; the timer expires
/// between two of its ticks.
#[test]
fn timeout_among_duplicates() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..8);
    for n in 0..3 {
        line.ack(50.0 + f64::from(n), 0);
    }
    line.send(52.01, [0]);
    for n in 0..25 {
        line.ack(60.0 + 10.0 * f64::from(n), 0);
        line.send(60.01 + 10.0 * f64::from(n), [8 + n as u64]);
    }
    line.send(305.0, [0]);
    line.ack(355.0, 33);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::FastRetransmit), (0, Kind::Timeout)]);
    assert_eq!(timeouts(&found), [(0, TimeoutClass::LostRetransmission, State::Recovery)]);
    assert!(found.recoveries[0].by_timeout);
}

/// Plain Reno leaves recovery with the first ACK that advances, and needs three more duplicates
/// (RFC 5681 section 3.2).
#[test]
fn reno_retransmits_fast_once_more() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..12);
    line.three_acks(50.0, 0);
    line.send(50.21, [0]);
    line.ack(100.3, 5);
    line.three_acks(100.4, 5);
    line.send(100.61, [5]);
    line.ack(150.7, 12);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::FastRetransmit), (5, Kind::FastRetransmit)]);
    assert_eq!(found.recoveries.len(), 2);
}

/// One that has gone on after a partial ACK is not Reno (RFC 6582 section 3.2 step 3): the next
/// time it has waited for room, until the third duplicate came.
#[test]
fn who_goes_on_after_a_partial_ack_needs_no_duplicates() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..12);
    line.three_acks(50.0, 0);
    line.send(50.21, [0]);
    line.ack(100.3, 5);
    line.send(100.31, [5]);
    line.ack(150.5, 12);
    line.send(160.0, 12..24);
    line.three_acks(210.0, 12);
    line.send(210.21, [12]);
    line.ack(260.3, 17);
    line.three_acks(260.4, 17);
    line.send(260.61, [17]);
    line.ack(310.7, 24);
    let (fast, goes_on) = (Kind::FastRetransmit, Kind::Recovery);
    assert_eq!(kinds(&line.found()), [(0, fast), (5, goes_on), (12, fast), (17, goes_on)]);
}

/// One ACK releases two retransmissions after a fast retransmit without SACK. `cut`: options are.
fn two_on_one_ack(cut: bool) -> Line {
    let mut line = Line::without_sack(50.0);
    line.model.stream.terms.cut = cut;
    line.send(0.0, 0..8);
    line.three_acks(50.0, 0);
    line.send(50.21, [0]);
    line.ack(100.3, 2);
    line.send(100.31, [2, 3]);
    line.ack(150.4, 8);
    line
}

/// Tahoe is in slow start after its fast retransmit: one ACK releases two retransmissions, which
/// NewReno's never does.
#[test]
fn tahoe_goes_back() {
    let line = two_on_one_ack(false);
    assert_eq!(
        kinds(&line.found()),
        [(0, Kind::FastRetransmit), (2, Kind::SlowStart), (3, Kind::SlowStart)]
    );
}

/// Where options are cut off, SACK blocks may have asked for both.
#[test]
fn two_holes_on_an_ack_whose_blocks_are_cut_off() {
    let line = two_on_one_ack(true);
    let hole = Kind::Recovery;
    assert_eq!(kinds(&line.found()), [(0, Kind::FastRetransmit), (2, hole), (3, hole)]);
}

/// Tahoe has gone back over two segments on one ACK; of a later loss the last of six segments is
/// left behind a partial ACK, and new data goes out with it. On the duplicates before that goes
/// `inflates`.
fn a_later_loss(inflates: std::ops::Range<u64>) -> Vec<(u64, Kind)> {
    let mut line = two_on_one_ack(false);
    line.send(150.41, 8..14);
    line.three_acks(200.5, 8);
    line.send(200.71, [8]);
    line.ack(200.8, 8);
    let next = inflates.end.max(14);
    line.send(200.81, inflates);
    line.ack(250.8, 13);
    line.send(250.81, [13, next]);
    line.ack(300.9, next + 1);
    kinds(&line.found())[3..].to_vec()
}

/// It goes back after each fast retransmit. One that sends new data on further duplicates is not
/// Tahoe: that has no room before it has gone back over all.
#[test]
fn tahoe_goes_back_each_time() {
    let fast = (8, Kind::FastRetransmit);
    assert_eq!(a_later_loss(14..14), [fast, (13, Kind::SlowStart)]);
    assert_eq!(a_later_loss(14..15), [fast, (13, Kind::Recovery)]);
}

/// A super-segment of two is two retransmissions, of which one begins the recovery.
#[test]
fn super_segment() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..8);
    line.ack_sack(50.1, 0, &[(2, 5)]);
    line.frame += 1;
    line.sent(ms(50.11), 0, 1000, false);
    line.sent(ms(50.11), 1000, 1000, false);
    line.ack(100.2, 8);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::FastRetransmit), (1, Kind::Recovery)]);
    assert_eq!(
        (found.retransmissions[0].frame, found.recoveries[0].retransmissions),
        (found.retransmissions[1].frame, 2)
    );
}

/// A FIN is retransmitted like data, and has no payload.
#[test]
fn fin() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..1);
    line.ack(50.0, 1);
    line.sent(ms(60.0), 1000, 1, true);
    line.frame += 1;
    line.sent(ms(311.0), 1000, 1, true);
    let found = line.found();
    assert_eq!(kinds(&found), [(1, Kind::Timeout)]);
    assert_eq!((found.retransmissions[0].len, found.bytes, found.segments), (0, 1000, 4));
}

/// Retransmitted SYNs are timeouts, the second one backed off.
#[test]
fn syn() {
    let mut line = Line::sack(50.0);
    line.model.syn(2, ms(1000.0), ackclock_tcp::Seq(0), false, None);
    line.model.syn(3, ms(3000.0), ackclock_tcp::Seq(0), false, None);
    line.ack(3050.0, 0);
    line.send(3051.0, 0..2);
    line.ack(3101.0, 2);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::Timeout), (0, Kind::BackedOffTimeout)]);
    assert_eq!(
        timeouts(&found),
        [(0, TimeoutClass::Handshake, State::Open), (0, TimeoutClass::BackedOff, State::Loss)]
    );
    assert_eq!(found.segments, 5);
}

/// What the SYN/ACK echoes has arrived, so that SYNs after that one were not needed; what is echoed
/// by no SYN says nothing.
#[test]
fn the_echo_of_a_syn() {
    let spurious = |echo: f64| {
        let mut line = Line::timestamped(50.0);
        for (frame, at) in [(2, 1000), (3, 3000)] {
            line.model.syn(frame, ms(at as f64), ackclock_tcp::Seq(0), false, Some([7, at]));
        }
        line.ack_echo(3050.0, 0, echo);
        line.send(3051.0, 0..2);
        line.ack_echo(3101.0, 2, 3051.0);
        let found = line.found();
        found.retransmissions.iter().map(|r| (r.spurious, r.known)).collect::<Vec<_>>()
    };
    let (needed, known) = ((None, false), (Some(Spurious::Timestamp), true));
    assert_eq!(spurious(7.0), [known, known]);
    assert_eq!(spurious(1000.0), [needed, known]);
    assert_eq!(spurious(3000.0), [needed, needed]);
    assert_eq!(spurious(0.0), [needed, needed]);
}

/// Each timeout without progress after the first is backed off; progress begins anew.
#[test]
fn back_off() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..2);
    line.send(251.0, [0]);
    line.send(752.0, [0]);
    line.send(1753.0, [0]);
    line.ack(1803.0, 1);
    line.send(1803.01, [1]);
    line.send(3805.0, [1]);
    line.ack(3855.0, 2);
    let found = line.found();
    let expected = [
        (0, Kind::Timeout),
        (0, Kind::BackedOffTimeout),
        (0, Kind::BackedOffTimeout),
        (1, Kind::SlowStart),
        (1, Kind::Timeout),
    ];
    assert_eq!(kinds(&found), expected);
    let classes = [
        TimeoutClass::NonTrigger,
        TimeoutClass::BackedOff,
        TimeoutClass::BackedOff,
        TimeoutClass::LostRetransmission,
    ];
    assert_eq!(found.timeouts.iter().map(|t| t.class).collect::<Vec<_>>(), classes);
    assert_eq!(found.timeouts.iter().map(|t| t.retransmission).collect::<Vec<_>>(), [0, 1, 2, 4]);
    let states = [State::Open, State::Loss, State::Loss, State::Loss];
    assert_eq!(found.timeouts.iter().map(|t| t.state).collect::<Vec<_>>(), states);
}

/// Segment 3 was late, and the ACK of it and of segment 4 is not in the capture. This goes out at
/// 410 ms, and `later` what follows.
fn behind_an_unseen_ack(sight: Sight, missing: u16, first: u64, later: &[(f64, u64)]) -> Found {
    let mut line = Line::sack(100.0);
    line.model.stream.terms.sight = sight;
    line.send(0.0, 0..10);
    line.ack_sack(100.0, 3, &[(4, 5)]);
    let segment = line.segment(ms(410.0), first * MSS, MSS as u32);
    line.model.sent(&Sent { frame: 20, counted: true, skipped: missing, ..segment });
    for &(t, n) in later {
        line.send(t, [n]);
    }
    line.ack(2410.0, 10);
    line.found()
}

/// The timer sends segment 5, which is the sender's head: nothing else sends after such a silence.
/// What follows it within a timeout is no timer's.
#[test]
fn a_timer_whose_ack_was_not_captured() {
    let later = [(1010.0, 5), (2210.0, 5), (2310.01, 6), (2310.02, 7)];
    let found = behind_an_unseen_ack(Sight::Sent, 0, 5, &later);
    let again = (5, Kind::BackedOffTimeout);
    let slow_start = [6, 7].map(|n| (n, Kind::SlowStart));
    let expected = [&[(5, Kind::Timeout), again, again], &slow_start[..]].concat();
    assert_eq!(kinds(&found), expected);
    assert_eq!(timeouts(&found)[0].1, TimeoutClass::NonTrigger);
    assert_eq!(found.timeouts[0].waited, Span::from_millis(310));
    // Another ACK that was not captured: the timer of segment 7 has not backed off.
    let found = behind_an_unseen_ack(Sight::Sent, 0, 5, &[(1010.0, 7)]);
    assert_eq!(kinds(&found), [5, 7].map(|n| (n, Kind::Timeout)));
}

/// Something was sent in between, as the packet's number says; or the path has held it back; or
/// the tail may be a probe.
#[test]
fn what_is_behind_an_unseen_ack_and_not_the_timers() {
    let first = |sight, missing, n| kinds(&behind_an_unseen_ack(sight, missing, n, &[]))[0].1;
    assert_eq!(first(Sight::Sent, 0, 5), Kind::Timeout);
    assert_ne!(first(Sight::Sent, 1, 5), Kind::Timeout);
    assert_ne!(first(Sight::Arrived, 0, 5), Kind::Timeout);
    assert_ne!(first(Sight::Sent, 0, 9), Kind::Timeout);
}

/// A round trip that is longer than what is known of the timer, after which slow start goes on.
#[test]
fn a_round_trip_is_no_timeout() {
    let mut line = Line::sack(300.0);
    line.model.stream.timers.expired(Span::from_millis(310));
    line.send(0.0, 0..10);
    line.ack_sack(300.0, 3, &[(4, 5)]);
    line.send(310.0, [5]);
    line.send(612.0, [6]);
    line.ack(2410.0, 10);
    assert!(kinds(&line.found()).iter().all(|(_, kind)| !kind.is_by_timer()));
}

/// What the timer sends is not in the capture, but its answer is: after a timeout's silence slow
/// start goes on with it. Where the ACK has come sooner, no timer can have expired.
#[test]
fn slow_start_after_a_timer_that_was_not_captured() {
    let kinds = |acked: f64| {
        let mut line = Line::without_sack(50.0);
        line.send(0.0, 0..6);
        line.ack(acked, 1);
        line.send(acked + 0.01, [1, 2]);
        line.ack(acked + 50.0, 3);
        line.send(acked + 50.01, [3]);
        line.ack(acked + 100.0, 6);
        kinds(&line.found())
    };
    assert_eq!(kinds(301.0), [1, 2, 3].map(|n| (n, Kind::SlowStart)));
    assert_eq!(kinds(101.0)[..2], [1, 2].map(|n| (n, Kind::Unknown)));
}

/// One byte below what is acknowledged, after a minute of silence; and the first byte beyond a
/// closed window.
#[test]
fn keep_alives_and_window_probes() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..1);
    line.ack(50.0, 1);
    line.sent(ms(60_000.0), 999, 1, false);
    line.ack(60_050.0, 1);
    line.closed_window(60_051.0, 1);
    line.sent(ms(60_300.0), 1000, 1, false);
    line.closed_window(60_350.0, 1);
    line.sent(ms(60_700.0), 1000, 1, false);
    let found = line.found();
    assert_eq!((kinds(&found), found.segments), (vec![], 3));
}

/// A head that is retransmitted for no known reason: no sign of a loss, and sooner than any timer.
#[test]
fn unknown() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..4);
    line.ack(50.0, 1);
    line.send(60.0, [1]);
    line.ack(100.0, 4);
    assert_eq!(kinds(&line.found()), [(1, Kind::Unknown)]);
}

/// Linux: a recovery that ends while a retransmission is outstanding runs into the next one, whose
/// point is what was sent then.
#[test]
fn one_recovery_runs_into_the_next() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..10);
    line.ack_sack(50.0, 0, &[(1, 4)]);
    line.send(50.01, [0]);
    line.ack_sack(50.1, 0, &[(1, 8)]);
    line.send(50.11, 10..13);
    line.ack_sack(50.2, 0, &[(1, 10)]);
    // 10 is lost, and found lost while 0 is still on its way.
    line.ack_sack(100.1, 0, &[(11, 13), (1, 10)]);
    line.send(100.11, [10]);
    line.ack_sack(100.2, 10, &[(11, 13)]);
    line.send(100.21, 13..16);
    line.ack_sack(150.1, 10, &[(15, 16), (11, 13)]);
    line.send(150.11, [13]);
    // Up to here goes the second recovery; 13 is on its way, so that the third one follows at once.
    line.ack_sack(150.2, 13, &[(15, 16)]);
    line.send(150.21, [14]);
    line.ack(200.3, 16);
    let found = line.found();
    let expected = [
        (0, Kind::FastRetransmit),
        (10, Kind::Recovery),
        (13, Kind::FastRetransmit),
        (14, Kind::FastRetransmit),
    ];
    assert_eq!(kinds(&found), expected);
    assert_eq!(found.recoveries.iter().map(|r| r.retransmissions).collect::<Vec<_>>(), [2, 1, 1]);
}

/// Half of a round trip after a partial ACK: a sender that paces sends the next segment that late,
/// and no timer is that early.
#[test]
fn paced_slow_start() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..4);
    line.send(251.0, [0]);
    line.ack(301.0, 1);
    line.send(326.0, [1]);
    line.ack(376.0, 2);
    assert_eq!(kinds(&line.found()), [(0, Kind::Timeout), (1, Kind::SlowStart)]);
}

/// A timer that is shorter than Linux's expires within a round trip after a duplicate. A sender
/// whose new data followed an ACK at once does not pace a fast retransmit; an early one waits for a
/// quarter of the round trip (RFC 5827 section 3.3).
#[test]
fn no_pace_holds_a_retransmission_that_does_not_hold_new_data() {
    let (timer, fast) = (Kind::Timeout, Kind::FastRetransmit);
    for (new_at, after, kind) in [(100.01, 90.0, timer), (160.0, 90.0, fast), (100.01, 25.1, fast)]
    {
        let mut line = Line::without_sack(100.0);
        line.send(0.0, 0..2);
        line.ack(100.0, 2);
        line.send(new_at, 2..4);
        line.ack(new_at + 100.1, 2);
        line.send(new_at + 100.1 + after, [2]);
        line.ack(new_at + 200.2 + after, 4);
        assert_eq!(kinds(&line.found()), [(2, kind)], "{new_at}");
    }
}

/// Within a repair only a pace lets a sender wait: no timer expires so soon after a partial ACK.
#[test]
fn a_pace_within_a_repair() {
    let mut line = Line::without_sack(100.0);
    line.send(0.0, 0..2);
    line.ack(100.0, 2);
    line.send(100.01, 2..10);
    line.three_acks(200.1, 2);
    line.send(200.31, [2]);
    line.ack(300.4, 5);
    line.send(340.0, [5]);
    line.ack(440.1, 10);
    assert_eq!(kinds(&line.found()), [(2, Kind::FastRetransmit), (5, Kind::Recovery)]);
}

/// The receiver has 1 when the timeout's segment 0 arrives, and acknowledges both. A delayed ACK of
/// 0 and 1, both retransmitted, would echo 0's timestamp as well (RFC 7323 section 4.3), but not
/// 30 ms after 1 on a path of 50.
#[test]
fn an_echo_that_comes_too_soon_proves_what_followed_spurious() {
    for (acked_at, proved) in [(380.0, [None, Some(Spurious::Timestamp)]), (401.0, [None, None])] {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sack = false;
        line.send(0.0, 0..4);
        line.send(330.0, [0]);
        line.send(350.0, [1]);
        line.ack_echo(acked_at, 2, 330.0);
        let found = line.found();
        assert_eq!(kinds(&found)[0], (0, Kind::Timeout));
        assert_eq!(
            found.retransmissions.iter().map(|r| r.spurious).collect::<Vec<_>>(),
            proved,
            "{acked_at}"
        );
    }
}

/// Linux without SACK: partial ACKs echo what was sent before the retransmission, so that the
/// recovery is undone, and new data goes out. As long as three duplicates are left, the next ACK
/// begins another one (`tcp_fastretrans_alert`). A sender that does not undo sends the next hole at
/// once.
#[test]
fn an_undone_recovery_begins_anew() {
    let kind = |duplicates: u32, new_data: bool, next: u64| {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sack = false;
        line.send(0.0, 0..10);
        for n in 0..duplicates {
            line.ack_echo(50.0 + 0.1 * f64::from(n), 0, 0.0);
        }
        line.send(50.7, [0]);
        line.ack_echo(52.0, 1, 0.0);
        if new_data {
            line.send(52.1, [10]);
        }
        line.ack_echo(53.0, next, 0.0);
        line.send(53.1, [next]);
        line.ack(103.0, 11);
        kinds(&line.found())[1].1
    };
    assert_eq!(kind(6, true, 2), Kind::FastRetransmit);
    assert_eq!(kind(6, false, 2), Kind::Recovery);
    // Of five duplicates the ACK takes three.
    assert_eq!(kind(5, true, 5), Kind::Recovery);
}

/// The timer expires while ACKs are delayed, and then those of all that was outstanding come at
/// once. The sender takes in one after the other: it goes on in slow start with what is
/// acknowledged already, also where new data went out meanwhile.
#[test]
fn slow_start_behind_the_acks() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..6);
    line.send(251.0, [0]);
    for n in 1..7 {
        line.ack(600.0 + 0.001 * n as f64, n);
    }
    line.send(600.3, [1, 2]);
    line.send(600.31, [6]);
    line.send(600.32, [3]);
    line.ack(650.4, 7);
    let found = line.found();
    let slow_start = [1, 2, 3].map(|n| (n, Kind::SlowStart));
    assert_eq!(kinds(&found), [&[(0, Kind::Timeout)], &slow_start[..]].concat());
    assert_eq!((found.recoveries.len(), found.timeouts.len()), (0, 1));
}

/// Without SACK, the head and its fast retransmit are lost. More duplicates come than segments were
/// outstanding, but the sender sends nothing on the first of these. So it is the timer that sends
/// the head 150 ms later, though another duplicate came just before.
#[test]
fn a_timer_among_duplicates() {
    let mut line = Line::without_sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..10);
    (1..4).for_each(|n| line.ack(100.0 + 0.1 * n as f64, 0));
    line.send(100.31, [0]);
    (4..10).for_each(|n| line.ack(100.0 + 0.1 * n as f64, 0));
    line.send(101.0, 10..18);
    (0..8).for_each(|n| line.ack(151.0 + 0.1 * n as f64, 0));
    line.send(249.0, 18..20);
    line.ack(299.0, 0);
    line.ack(300.0, 0);
    line.send(301.2, [0]);
    line.ack(351.2, 20);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::FastRetransmit), (0, Kind::Timeout)]);
    assert_eq!(timeouts(&found), [(0, TimeoutClass::LostRetransmission, State::Recovery)]);
}
