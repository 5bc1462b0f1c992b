//! Away from the sender: what waited before the capture.

use ackclock_tcp::{Seq, Span, TimeoutClass};

use super::{Line, MSS, Opening, Sent, Sight, kinds, ms};
use crate::connection::{Kind, Spurious};

/// As at a receiver behind a queue that was held up for longer than the timer waits: first comes
/// what was new, and its ACKs are on their way; then what the timer sent, and the slow start after
/// it.
fn behind_a_spike(sight: Sight) -> Line {
    let mut line = Line::without_sack(50.0);
    line.model.stream.terms.sight = sight;
    line.send(0.0, 0..4);
    line.ack(50.0, 4);
    line.send(51.0, 4..12);
    line.send(500.0, [12]);
    line.ack(552.0, 13);
    line
}

#[test]
fn what_the_timer_sent_before_the_ack_came_is_seen_after_it() {
    let mut line = behind_a_spike(Sight::Received);
    line.send(553.0, 4..7);
    line.send(554.0, [13]);
    // Another expiry, of a segment that has gone again before.
    line.send(800.0, [6]);
    line.send(900.0, [6]);
    let found = line.found();
    let (slow_start, by_timer) = (Kind::SlowStart, Kind::Timeout);
    let expected = [
        (4, by_timer),
        (5, slow_start),
        (6, slow_start),
        (6, by_timer),
        (6, Kind::BackedOffTimeout),
    ];
    assert_eq!(kinds(&found), expected);
    let classes =
        [TimeoutClass::NonTrigger, TimeoutClass::LostRetransmission, TimeoutClass::BackedOff];
    assert_eq!(found.timeouts.iter().map(|t| t.class).collect::<Vec<_>>(), classes);
    assert_eq!(found.timeouts.iter().map(|t| t.retransmission).collect::<Vec<_>>(), [0, 3, 4]);
    // The estimate, since nobody saw the wait.
    assert!(found.timeouts.iter().all(|t| t.waited >= Span::from_millis(200)));
}

/// A recovery without need, behind a queue: its ACKs have passed what it sent again, and end it
/// before it has come. A timer cannot have expired so soon after, but later, or for what has gone
/// out since.
#[test]
fn a_recovery_goes_on_whose_acks_have_passed_it() {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = Sight::Received;
    line.send(0.0, 0..10);
    line.ack(50.0, 0);
    line.ack_sack(51.0, 0, &[(2, 10)]);
    line.send(100.0, [0]);
    line.ack(101.0, 10);
    line.send(101.1, 10..14);
    line.ack(151.2, 14);
    line.send(152.0, [1]);
    line.send(200.0, [2]);
    line.send(450.0, [3]);
    line.send(750.0, [11]);
    let found = line.found();
    let (repair, by_timer) = (Kind::Recovery, Kind::Timeout);
    let all = [(0, Kind::FastRetransmit), (1, repair), (2, repair), (3, by_timer), (11, by_timer)];
    assert_eq!(kinds(&found), all);
}

/// Without SACK a sender that was never seen to go on does not do so, nor does one whose head has
/// gone twice, the second time by the timer.
#[test]
fn no_recovery_goes_on_behind_a_queue() {
    for (sack, again, goes_on) in [(true, false, true), (true, true, false), (false, false, false)]
    {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sack = sack;
        line.model.stream.terms.sight = Sight::Received;
        line.send(0.0, 0..10);
        let blocks: &[_] = if sack { &[(2, 10)] } else { &[] };
        for i in 0..3 {
            line.ack_sack(51.0 + f64::from(i), 0, blocks);
        }
        line.send(100.0, [0]);
        if again {
            line.send(110.0, [0]);
        }
        line.ack(111.0, 10);
        line.send(111.1, 10..14);
        line.ack(161.2, 14);
        line.send(162.0, [1]);
        let is_recovery = kinds(&line.found()).last() == Some(&(1, Kind::Recovery));
        assert_eq!(is_recovery, goes_on, "{sack} {again}");
    }
}

/// The estimate of the timer is longer than the connection, of which it says nothing then.
#[test]
fn a_timer_waits_no_longer_than_the_connection_lasts() {
    let mut line = Line::without_sack(50.0);
    line.model.stream.terms.sight = Sight::Received;
    line.model.stream.terms.start = ms(10.0);
    line.send(60.0, 0..4);
    line.ack(110.0, 4);
    line.send(111.0, 4..8);
    line.ack(161.0, 8);
    line.send(235.0, 4..6);
    let found = line.found();
    assert_eq!(kinds(&found), [(4, Kind::Timeout), (5, Kind::SlowStart)]);
    assert_eq!(found.timeouts[0].waited, Span::from_millis(225));
}

/// At the sender an ACK that has come is known: nothing waits before the capture.
#[test]
fn at_the_sender_nothing_waits_before_the_capture() {
    let mut line = behind_a_spike(Sight::Sent);
    line.send(553.0, 4..6);
    assert_eq!(kinds(&line.found()), [(4, Kind::Unknown), (5, Kind::Unknown)]);
}

/// The ACK of 0 comes to the capture before what the timer sent does. So 1 is not sent by the
/// timer, which sends the same segment each time, but by that ACK.
#[test]
fn a_timer_backs_off_with_the_same_segment_alone() {
    for (sight, kind) in [(Sight::Received, Kind::SlowStart), (Sight::Sent, Kind::BackedOffTimeout)]
    {
        let mut line = Line::without_sack(50.0);
        line.model.stream.terms.sight = sight;
        line.send(0.0, 0..4);
        line.ack(50.0, 1);
        line.send(300.0, [0]);
        line.send(400.0, [1]);
        assert_eq!(kinds(&line.found())[1], (1, kind), "{sight:?}");
    }
}

/// 2 of five segments is late: 3 and 4 overtake it, and so does its retransmission, with what went
/// out after that. What comes last was sent before 3 if its timestamp or its number says so.
#[test]
fn an_original_behind_its_retransmission_is_none() {
    let again = |stamps: bool, late: (u32, u16)| {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sight = Sight::Received;
        let mut send = |t: f64, n: u64, tsval: u32, id: u16| {
            line.frame += 1;
            let (position, seq, len) = (n * MSS, Seq((1 + n * MSS) as u32), MSS as u32);
            let (tsval, ip_id) = (stamps.then_some(tsval), Some(id));
            let (frame, at) = (line.frame, ms(t));
            let sent = Sent { frame, at, position, seq, len, tsval, ip_id, ..Sent::default() };
            line.model.sent(&sent)
        };
        send(0.0, 0, 7, 65_533);
        send(1.0, 1, 7, 65_534);
        send(2.0, 3, 8, 0);
        send(3.0, 4, 8, 1);
        send(62.0, 2, 58, 2);
        send(63.0, 5, 58, 3);
        let known = send(130.0, 2, late.0, late.1);
        line.ack(131.0, 6);
        let found = line.found();
        let frames: Vec<_> = found.retransmissions.iter().map(|r| r.frame).collect();
        assert_eq!(known, !frames.contains(&8));
        // The original has come: its retransmission was not needed.
        let spurious = known.then_some(Spurious::Arrival);
        assert_eq!(found.retransmissions[0].spurious, spurious);
        (frames, found.bytes)
    };
    // By its number alone, also across the wrap, and where the clock has not ticked.
    assert_eq!(again(false, (0, 65_535)), (vec![6], 6 * MSS));
    assert_eq!(again(true, (8, 65_535)), (vec![6], 6 * MSS));
    // By its timestamp.
    assert_eq!(again(true, (7, 9)), (vec![6], 6 * MSS));
    // In the tick of 3, and before its retransmission.
    assert_eq!(again(true, (8, 40_000)), (vec![6], 6 * MSS));
    // It was sent after 3.
    assert_eq!(again(false, (0, 9)), (vec![6, 8], 6 * MSS));
    assert_eq!(again(true, (9, 65_535)), (vec![6, 8], 6 * MSS));
    // A number that does not count says nothing.
    assert_eq!(again(false, (0, 40_000)), (vec![6, 8], 6 * MSS));
}

/// 2 and 3 of the first data come before 0 and 1. Their numbers say that these were sent before
/// them, if they are near that of the packet before: then they are no retransmissions.
#[test]
fn first_data_that_was_overtaken_is_no_retransmission() {
    let again = |skipped: u16| {
        let mut line = Line::without_sack(50.0);
        line.model.stream.terms.sight = Sight::Received;
        let mut send = |t: f64, n: u64, id: u16, skipped: u16| {
            line.frame += 1;
            let segment = line.segment(ms(t), n * MSS, MSS as u32);
            line.model.sent(&Sent { ip_id: Some(id), skipped, ..segment })
        };
        send(100.0, 2, 7, skipped);
        let late = send(400.0, 0, 5, 0);
        line.ack(400.1, 1);
        (late, line.found().retransmissions.len())
    };
    assert_eq!(again(2), (true, 0));
    // The number of the packet before is none of this sequence.
    assert_eq!(again(0), (false, 1));
}

/// What had arrived comes again behind its ACK, so long after the connection has begun: the timer
/// has sent it, unless it has not run for as long since then. Of a connection that has begun before
/// the capture nobody knows.
#[test]
fn no_timer_waits_for_longer_than_the_connection_lasts() {
    let kind = |after: f64, opening| {
        let mut line = Line::without_sack(5.0);
        line.model.stream.terms.sight = Sight::Received;
        line.model.stream.terms.opening = opening;
        line.send(10.0, [0]);
        line.ack(15.0, 1);
        line.send(after, [0]);
        kinds(&line.found())[0].1
    };
    assert_eq!(kind(100.0, Opening::Seen), Kind::Unknown);
    assert_eq!(kind(300.0, Opening::Seen), Kind::Timeout);
    assert_eq!(kind(100.0, Opening::Unseen), Kind::Timeout);
}

/// At the receiver, a segment has passed alone. The timer sends it again before an ACK of it had to
/// go: whether it had arrived is not known. One of two segments had to go at once, one that is
/// later than any may be says that it was lost behind the capture, and with SACK a D-SACK tells.
#[test]
fn an_ack_that_the_receiver_may_delay() {
    let known = |segments: u64, after: f64, sack: bool| {
        let mut line = if sack { Line::sack(50.0) } else { Line::without_sack(50.0) };
        line.model.stream.terms.sight = Sight::Received;
        line.send(0.0, [0]);
        line.ack(50.0, 1);
        line.send(60.0, 1..1 + segments);
        line.send(60.0 + after, [1]);
        line.ack(110.0 + after, 1 + segments);
        let found = line.found();
        assert_eq!(found.retransmissions[0].spurious, None);
        found.retransmissions[0].known
    };
    assert!(!known(1, 300.0, false));
    assert!(known(1, 500.0, false) && known(2, 300.0, false) && known(1, 300.0, true));
}

/// Something may be lost between the sender and the capture: but if that hardly takes time, what
/// goes out so long after the last duplicate has not waited in a queue.
#[test]
fn a_timer_beside_the_sender() {
    let kind = |near: bool| {
        let mut line = Line::without_sack(100.0);
        line.model.is_away(near);
        line.send(0.0, 0..10);
        (0..4).for_each(|n| line.ack(100.0 + f64::from(n), 0));
        line.send(250.0, [0]);
        line.ack(350.0, 10);
        kinds(&line.found())
    };
    assert_eq!(
        [true, false].map(kind),
        [Kind::Timeout, Kind::FastRetransmit].map(|k| vec![(0, k)])
    );
}

/// The first partial ACK of a recovery restarts the timer, which expires no sooner than after 200
/// ms. What goes out before waited in a queue on its way to the capture, though the timer that was
/// set when the head went out would be due. Where a timer was seen to be shorter, it may be that.
#[test]
fn a_queue_behind_a_partial_ack() {
    let kind = |after: f64, shorter: bool| {
        let mut line = Line::sack(57.0);
        line.model.stream.terms.sight = Sight::Arrived;
        if shorter {
            line.model.stream.timers.expired(Span::from_millis(157));
        }
        line.send(0.0, 0..6);
        line.ack_sack(57.0, 0, &[(5, 6)]);
        line.send(100.0, [0]);
        line.ack_sack(157.0, 1, &[(5, 6)]);
        line.send(157.0 + after, [1]);
        line.ack(220.0 + after, 6);
        kinds(&line.found())
    };
    let of = |second| vec![(0, Kind::FastRetransmit), (1, second)];
    assert_eq!(kind(150.0, false), of(Kind::Recovery));
    assert_eq!(kind(210.0, false), of(Kind::Timeout));
    assert_eq!(kind(150.0, true), of(Kind::Timeout));
}
