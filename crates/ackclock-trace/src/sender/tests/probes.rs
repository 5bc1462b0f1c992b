//! Tail loss probes, and how they differ from timeouts. The round trip is 50 ms, the retransmission
//! timer's interval 250 ms.

use super::{Line, kinds, ms, timeouts};
use ackclock_tcp::{Span, Time, TimeoutClass};

use crate::connection::{Kind, State};
use crate::sender::Acked;

/// RFC 8985 section 7: 2 SRTT after the last ACK the last segment goes out again.
#[test]
fn the_tail_is_probed() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..4);
    line.ack(50.0, 2);
    line.send(152.0, [3]);
    line.ack_sack(202.0, 2, &[(3, 4)]);
    line.send(202.01, [2]);
    line.ack(252.1, 4);
    let found = line.found();
    assert_eq!(kinds(&found), [(3, Kind::TailLossProbe), (2, Kind::FastRetransmit)]);
    assert_eq!(found.timeouts, []);
}

/// New data goes out late, and the retransmission timer of the head is due before 2 SRTT have
/// passed since: Linux's probe comes then (`tcp_schedule_loss_probe`).
#[test]
fn the_probe_comes_no_later_than_the_timer() {
    let mut line = Line::sack(100.0);
    line.send(0.0, 0..4);
    line.ack(100.0, 4);
    line.send(100.1, 4..6);
    line.send(350.0, [6]);
    line.send(402.0, [6]);
    line.ack(502.0, 7);
    assert_eq!(kinds(&line.found()), [(6, Kind::TailLossProbe)]);
}

/// The probe is lost, too: the retransmission timer follows, set anew by the probe, and sends the
/// head. Another segment has been retransmitted, this one not.
#[test]
fn timeout_after_a_probe() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..4);
    line.ack(50.0, 2);
    line.send(152.0, [3]);
    line.send(403.0, [2]);
    line.ack(453.0, 4);
    let found = line.found();
    assert_eq!(kinds(&found), [(3, Kind::TailLossProbe), (2, Kind::Timeout)]);
    assert_eq!(timeouts(&found), [(2, TimeoutClass::MultipleLosses, State::Open)]);
}

/// One segment outstanding: both timers would send it, after about the same time. That the next one
/// comes as soon says that the first was a probe.
#[test]
fn the_interval_after_a_probe_has_not_doubled() {
    let mut line = Line::sack(50.0);
    line.send(0.0, [0]);
    line.send(251.0, [0]);
    line.send(502.0, [0]);
    line.send(1003.0, [0]);
    line.ack(1053.0, 1);
    let found = line.found();
    assert_eq!(
        kinds(&found),
        [(0, Kind::TailLossProbe), (0, Kind::Timeout), (0, Kind::BackedOffTimeout)]
    );
    let expected = [
        (0, TimeoutClass::LostRetransmission, State::Open),
        (0, TimeoutClass::BackedOff, State::Loss),
    ];
    assert_eq!(timeouts(&found), expected);
}

/// That it comes after twice the time says that the first was a timeout.
#[test]
fn the_interval_after_a_timeout_has_doubled() {
    let mut line = Line::sack(50.0);
    line.send(0.0, [0]);
    line.send(251.0, [0]);
    line.send(752.0, [0]);
    line.ack(802.0, 1);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::Timeout), (0, Kind::BackedOffTimeout)]);
    assert_eq!(
        timeouts(&found),
        [(0, TimeoutClass::NonTrigger, State::Open), (0, TimeoutClass::BackedOff, State::Loss)]
    );
    assert_eq!(found.timeouts[0].retransmission, 0);
}

/// Nothing follows: then it was what this sender does elsewhere. Here its timer once expired where
/// a probe would have come first.
#[test]
fn a_sender_without_probes() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..3);
    line.send(251.0, [0]);
    line.ack(301.0, 3);
    // A round trip is measured, and with it ends the back-off.
    line.send(302.0, [3]);
    line.ack(352.0, 4);
    line.send(400.0, [4]);
    line.send(651.0, [4]);
    line.ack(701.0, 5);
    assert_eq!(kinds(&line.found()), [(0, Kind::Timeout), (4, Kind::Timeout)]);
}

/// Without SACK there is no probe.
#[test]
fn no_probe_without_sack() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, [0]);
    line.send(251.0, [0]);
    line.ack(301.0, 1);
    assert_eq!(kinds(&line.found()), [(0, Kind::Timeout)]);
}

/// Before 2012 no sender had probes. A clock that was never set does not say when it was.
#[test]
fn no_probe_before_there_were_any() {
    let found = |secs: u64, sent: &[(f64, u64)], acked: u64| {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.start = Time(Span::from_secs(secs).0);
        sent.iter().for_each(|(t, n)| line.send(*t, [*n]));
        line.ack(403.0, acked);
        let found = line.found();
        (kinds(&found).first().map(|(_, kind)| *kind), found.probes_of_new_data)
    };
    // All that is outstanding, the last of two, and new data behind a full window.
    let all = |secs| {
        [
            found(secs, &[(0.0, 0), (251.0, 0)], 1),
            found(secs, &[(0.0, 0), (0.0, 1), (102.0, 1)], 2),
            found(secs, &[(0.0, 0), (0.0, 1), (102.0, 2)], 3),
        ]
    };
    let probes = [(Some(Kind::ProbeOrTimeout), 0), (Some(Kind::TailLossProbe), 0), (None, 1)];
    // 1980, where some clocks begin, and the first second of 2012.
    assert_eq!(all(315_532_800), probes);
    assert_eq!(all(1_325_376_000), probes);
    let none = [(Some(Kind::Timeout), 0), (Some(Kind::Unknown), 0), (None, 0)];
    assert_eq!(all(1_325_375_999), none);
    assert_eq!(all(1_285_863_333), none);
}

/// There is more to send: the probe is new data beyond what the window had let out, and no
/// retransmission.
#[test]
fn a_probe_of_new_data() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..4);
    line.send(103.0, [4]);
    line.ack(153.0, 5);
    let found = line.found();
    assert_eq!((found.probes_of_new_data, kinds(&found)), (1, vec![]));
}

/// An application that writes at that time is no probe: the window was not full.
#[test]
fn writing_late_is_no_probe() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..10);
    line.ack(50.0, 10);
    line.send(60.0, 10..12);
    line.send(163.0, [12]);
    line.ack(213.0, 13);
    assert_eq!(line.found().probes_of_new_data, 0);
}

/// The timer that has doubled goes on until a round trip is measured; a probe's does not double.
#[test]
fn the_interval_that_has_doubled_is_no_probe() {
    let mut line = Line::sack(50.0);
    // This sender has probes.
    line.send(0.0, 0..4);
    line.ack(50.0, 2);
    line.send(152.0, [3]);
    line.ack(202.0, 4);
    line.send(1000.0, [4]);
    line.send(1251.0, [4]);
    line.send(1502.0, [4]);
    line.send(2003.0, [4]);
    line.ack(2053.0, 5);
    line.send(2060.0, [5]);
    line.send(3061.0, [5]);
    line.ack(3111.0, 6);
    let last = kinds(&line.found()).pop();
    assert_eq!(last, Some((5, Kind::Timeout)));
}

/// RFC 6298's timer of a second is no probe, though one segment is outstanding and SACK is on.
#[test]
fn a_timer_of_a_second() {
    let mut line = Line::sack(50.0);
    line.send(0.0, [0]);
    line.send(1000.0, [0]);
    line.ack(1050.0, 1);
    assert_eq!(kinds(&line.found()), [(0, Kind::Timeout)]);
}

/// Nor is it one later, when nothing has been measured since and a timer that backs off would have
/// doubled.
#[test]
fn a_timer_of_a_second_that_never_doubles() {
    let mut line = Line::sack(50.0);
    for n in 0..5 {
        let t = 2000.0 * n as f64;
        line.send(t, [n]);
        line.send(t + 1000.0, [n]);
        line.ack(t + 1050.0, n + 1);
    }
    assert_eq!(kinds(&line.found()), [0, 1, 2, 3, 4].map(|n| (n, Kind::Timeout)));
}

/// A window of eight segments, and then segment 8, alone, went out again: by a probe or a timeout.
fn sent_alone_again() -> Line {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..8);
    line.ack(50.0, 8);
    line.send(100.0, [8]);
    line.send(351.0, [8]);
    line
}

fn kind_of_8(line: Line) -> Kind {
    let found = line.found();
    let undecided = found.undecided.len();
    let [(8, kind)] = kinds(&found)[..] else { panic!("{:?}", kinds(&found)) };
    assert_eq!(found.timeouts.len(), usize::from(kind == Kind::Timeout));
    assert_eq!(undecided, usize::from(kind == Kind::ProbeOrTimeout));
    let habit = match kind {
        Kind::Timeout => Some(false),
        Kind::TailLossProbe => Some(true),
        _ => None,
    };
    assert_eq!(found.ways.probes.leaning(), habit);
    kind
}

/// RFC 5681 section 3.1: the ACK of what a timeout sent opens cwnd to two segments, whatever waits.
#[test]
fn two_segments_after_it_and_more_on_their_ack() {
    let mut line = sent_alone_again();
    line.ack(401.0, 9);
    line.send(401.1, 9..11);
    line.ack(451.0, 11);
    line.send(451.1, 11..15);
    line.ack(501.0, 15);
    assert_eq!(kind_of_8(line), Kind::Timeout);
}

/// A cwnd of two segments would let out as many. But only slow start lets out two for each of them.
#[test]
fn four_segments_on_the_ack_of_two() {
    for (end, kind) in [(15, Kind::Timeout), (14, Kind::ProbeOrTimeout)] {
        let mut line = Line::sack(50.0);
        for n in 0..4_u32 {
            line.send(50.1 * f64::from(n), 2 * u64::from(n)..2 * u64::from(n) + 2);
            line.ack(50.1 * f64::from(n) + 50.0, 2 * u64::from(n) + 2);
        }
        line.send(210.0, [8]);
        line.send(461.0, [8]);
        line.ack(511.0, 9);
        line.send(511.1, 9..11);
        line.ack(561.0, 11);
        line.send(561.1, 11..end);
        line.ack(611.0, end);
        assert_eq!(kind_of_8(line), kind, "{end}");
    }
}

/// A response of three segments, the last of which is lost. A probe leaves cwnd as it was (RFC 8985
/// section 7.4.2), with room for the next three. The last of them, which is not full, went out
/// beside others before, so that Nagle's algorithm does not hold it back now.
#[test]
fn the_third_segment_of_three_waits() {
    let third = |len: u32, small: bool, until: f64| {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..6);
        line.ack(50.0, 6);
        line.send(50.1, 6..8);
        if small {
            line.sent(ms(50.2), 8_000, 500, false);
        } else {
            line.send(50.2, [8]);
        }
        line.ack(100.1, 8);
        let first = if small { (8_000, 500) } else { (8_000, 1_000) };
        line.sent(ms(351.0), first.0, first.1, false);
        let end = first.0 + u64::from(first.1);
        line.acked_at(401.0, end);
        line.sent(ms(until), end, 1_000, false);
        line.sent(ms(until), end + 1_000, 1_000, false);
        line.acked_at(until + 50.0, end + 2_000);
        line.sent(ms(until + 50.1), end + 2_000, len, false);
        line.acked_at(until + 100.0, end + 2_000 + u64::from(len));
        kind_of_8(line)
    };
    assert_eq!(third(1_000, false, 401.1), Kind::Timeout);
    assert_eq!(third(500, true, 401.1), Kind::Timeout);
    // Nagle's algorithm may have held it back.
    assert_eq!(third(500, false, 401.1), Kind::ProbeOrTimeout);
    // A sender that was idle for longer than its timer may start slowly.
    assert_eq!(third(1_000, false, 801.0), Kind::ProbeOrTimeout);
}

/// RFC 8985 section 7.4.2: after a probe cwnd is as it was.
#[test]
fn three_segments_after_it() {
    let mut line = sent_alone_again();
    line.ack(401.0, 9);
    line.send(401.1, 9..12);
    line.ack(451.0, 12);
    assert_eq!(kind_of_8(line), Kind::TailLossProbe);
}

/// BBR takes the cwnd from before up again after a timeout, and paces what it then sends: pairs of
/// segments, no closer than a third of a round trip for each of cwnd. A burst is none of its own.
#[test]
fn a_pace_of_bbr_does_not_tell() {
    for (gap, kind) in [(2.1, Kind::ProbeOrTimeout), (1.5, Kind::TailLossProbe)] {
        let mut line = sent_alone_again();
        line.ack(401.0, 9);
        line.send(410.0, 9..11);
        for n in 1..4_u32 {
            let first = 9 + 2 * u64::from(n);
            line.send(410.0 + gap * f64::from(n), first..first + 2);
        }
        line.ack(460.0, 17);
        assert_eq!(kind_of_8(line), kind, "{gap}");
    }
}

/// A cwnd of one segment has no room beside the retransmission.
#[test]
fn new_data_before_its_ack() {
    let mut line = sent_alone_again();
    line.send(380.0, [9]);
    line.ack(401.0, 9);
    line.ack(430.0, 10);
    assert_eq!(kind_of_8(line), Kind::TailLossProbe);
}

/// Slow start goes on by a segment for each one that is acknowledged: no more than that speaks for
/// a probe.
#[test]
fn more_than_slow_start_lets_out() {
    for (more, kind) in [(4, Kind::ProbeOrTimeout), (5, Kind::TailLossProbe)] {
        let mut line = sent_alone_again();
        line.ack(401.0, 9);
        line.send(410.0, 9..11);
        line.ack(460.0, 11);
        line.send(500.0, 11..11 + more);
        line.ack(550.0, 11 + more);
        assert_eq!(kind_of_8(line), kind, "{more}");
    }
}

/// None of these says anything: the application may have had no more.
#[test]
fn what_does_not_tell_the_timers_apart() {
    let mut nothing = sent_alone_again();
    nothing.ack(401.0, 9);

    let mut later = sent_alone_again();
    later.ack(401.0, 9);
    later.send(401.1, 9..11);
    later.ack(451.0, 11);
    later.send(460.0, 11..13);
    later.ack(510.0, 13);

    // A FIN waits for no room.
    let mut closed = sent_alone_again();
    closed.ack(401.0, 9);
    closed.send(401.1, 9..11);
    closed.sent(ms(401.2), 11_000, 1, true);
    closed.ack_with(452.0, 11, &[], false, None);

    let mut short = sent_alone_again();
    short.ack(401.0, 9);
    short.send(401.1, [9]);
    short.sent(ms(401.2), 10_000, 500, false);

    for line in [nothing, later, closed, short] {
        assert_eq!(kind_of_8(line), Kind::ProbeOrTimeout);
    }
}

/// RFC 3168 section 6.1.2: the first new data after a timeout has CWR. After a probe it has none,
/// nor does that of a sender whose echoes or recoveries have lowered cwnd.
#[test]
fn cwr_tells_what_has_lowered_the_window() {
    let after = |mut line: Line, cwr: bool| {
        line.ece = false;
        if cwr {
            line.model.says_lowered(9_000);
        }
        line.model.is_capable(9_000, cwr);
        line.send(420.0, [9]);
        line.ack(470.0, 10);
        line
    };
    let acked = |ece: bool| {
        let mut line = sent_alone_again();
        line.ece = ece;
        line.ack(401.0, 9);
        line
    };
    assert_eq!(kind_of_8(after(acked(false), true)), Kind::Timeout);
    assert_eq!(kind_of_8(after(acked(false), false)), Kind::TailLossProbe);
    // An echo asks for CWR, too.
    assert_eq!(kind_of_8(after(acked(true), true)), Kind::ProbeOrTimeout);
    // Another segment with the ACK of before is no duplicate ACK, which would end the probe.
    let mut with_data = acked(false);
    with_data.heard(Acked { with_data: true, ..with_data.plain(402.0, 9_000) });
    assert_eq!(kind_of_8(after(with_data, false)), Kind::TailLossProbe);
    let mut update = acked(false);
    update.window = 1 << 19;
    update.ack(402.0, 9);
    assert_eq!(kind_of_8(after(update, false)), Kind::TailLossProbe);
    let mut duplicate = acked(false);
    duplicate.ack(402.0, 9);
    assert_eq!(kind_of_8(after(duplicate, false)), Kind::ProbeOrTimeout);
}

/// Away from the sender the data that had CWR may have been lost before.
#[test]
fn no_cwr_says_nothing_away_from_the_sender() {
    let mut line = sent_alone_again();
    line.ack(401.0, 9);
    line.model.stream.turns_out_arrived();
    line.model.is_capable(9_000, false);
    line.send(420.0, [9]);
    line.ack(470.0, 10);
    assert_eq!(kind_of_8(line), Kind::ProbeOrTimeout);
}

/// What fills the receiver's window may have been sent by the timer that probes it for room, which
/// sets no probe's timer (`tcp_write_wakeup`): a timeout then says nothing of others.
#[test]
fn what_fills_the_window_may_have_no_probe() {
    for (window, habit) in [(1_500, None), (1 << 20, Some(false))] {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..8);
        line.window = window;
        line.ack(50.0, 8);
        line.send(300.0, [8]);
        line.send(551.0, [8]);
        line.send(1_052.0, [8]);
        line.ack(1_102.0, 9);
        let found = line.found();
        assert_eq!(kinds(&found), [(8, Kind::Timeout), (8, Kind::BackedOffTimeout)]);
        assert_eq!(found.ways.probes.leaning(), habit, "{window}");
    }
}

/// Once a sender knows that a timeout was spurious, an undo restores cwnd: much goes out as after a
/// probe. A D-SACK lets it know, and so does the ACK of before, if that has a timestamp.
#[test]
fn what_follows_a_spurious_one_tells_until_the_sender_knows() {
    let after = |acked: &dyn Fn(&mut Line)| {
        let mut line = sent_alone_again();
        acked(&mut line);
        line.send(401.1, 9..14);
        line.dsack(410.0, 9, (8, 9));
        line.ack(451.2, 14);
        kind_of_8(line)
    };
    assert_eq!(after(&|line| line.dsack(401.0, 9, (8, 9))), Kind::ProbeOrTimeout);
    let with_d_sack = |line: &mut Line| {
        line.ack(361.0, 9);
        line.dsack(401.0, 9, (8, 9));
    };
    assert_eq!(after(&with_d_sack), Kind::ProbeOrTimeout);
    // It comes too soon for what went out again, which a sender without timestamps does not see.
    assert_eq!(after(&|line| line.ack(361.0, 9)), Kind::TailLossProbe);
    let with_timestamps = |line: &mut Line| {
        line.model.stream.terms.timestamps = true;
        line.ack(361.0, 9);
    };
    assert_eq!(after(&with_timestamps), Kind::ProbeOrTimeout);
}

/// Eifel (RFC 3522): the ACK echoes the timestamp of before.
#[test]
fn a_timestamp_lets_the_sender_know_at_once() {
    for (echo, kind) in [(100.0, Kind::ProbeOrTimeout), (351.0, Kind::TailLossProbe)] {
        let mut line = Line::timestamped(50.0);
        line.send(0.0, 0..8);
        line.ack_with(50.0, 8, &[], false, Some(0.0));
        line.send(100.0, [8]);
        line.send(351.0, [8]);
        line.ack_with(401.0, 9, &[], false, Some(echo));
        line.send(401.1, 9..14);
        line.ack_with(451.2, 14, &[], false, Some(401.0));
        assert_eq!(kind_of_8(line), kind, "{echo}");
    }
}

/// RFC 8985 section 7.3: no probe follows another one before an ACK beyond it. So the FIN goes out
/// again by a timeout in any case, which says nothing of the segment before.
#[test]
fn one_probe_until_an_ack_beyond_it() {
    for (beyond, kind) in [(false, Kind::Timeout), (true, Kind::ProbeOrTimeout)] {
        let mut line = sent_alone_again();
        line.ack(401.0, 9);
        let end = if beyond { 10 } else { 9 };
        if beyond {
            line.send(420.0, [9]);
            line.ack(470.0, 10);
        }
        line.sent(ms(500.0), end * 1_000, 1, true);
        line.sent(ms(751.0), end * 1_000, 1, true);
        line.acked_at(801.0, end * 1_000 + 1);
        let found = line.found();
        assert_eq!(kinds(&found), [(8, Kind::ProbeOrTimeout), (end, kind)]);
        assert_eq!(found.ways.probes.leaning(), None);
    }
}

/// A probe has repaired a loss: the next ACK beyond it lowers cwnd (RFC 8985 section 7.4.2). So the
/// third segment waits after the next probe, too, and does not tell it from a timeout.
#[test]
fn what_a_probe_has_repaired_lowers_the_window() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..4);
    line.ack(50.0, 4);
    line.send(100.0, [4]);
    line.send(351.0, [4]);
    line.ack(401.0, 5);
    line.send(401.1, 5..8);
    line.ack(451.1, 8);
    line.send(500.0, [8]);
    line.send(751.0, [8]);
    line.ack(801.0, 9);
    line.send(801.1, 9..11);
    line.ack(851.1, 11);
    line.send(851.2, [11]);
    line.ack(901.2, 12);
    assert_eq!(kinds(&line.found()), [4, 8].map(|n| (n, Kind::TailLossProbe)));
}

/// A probe with new data starts the retransmission timer anew (`tcp_send_loss_probe`): that this
/// has expired late says nothing of its interval. Later, with longer round trips, a probe comes as
/// late as theirs make it.
#[test]
fn after_a_probe_with_new_data_the_timer_says_nothing() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..4);
    line.ack(50.0, 4);
    line.send(50.1, 4..8);
    line.send(152.0, [8]);
    line.send(403.0, [4]);
    line.ack(453.0, 9);
    for n in 0..3 {
        let t = 460.0 * (n + 1) as f64;
        line.send(t, [9 + n]);
        line.ack(t + 450.0, 10 + n);
    }
    line.send(1840.0, [12]);
    line.send(2420.0, [12]);
    line.ack(2870.0, 13);
    assert_eq!(kinds(&line.found()), [(4, Kind::Timeout), (12, Kind::ProbeOrTimeout)]);
}
