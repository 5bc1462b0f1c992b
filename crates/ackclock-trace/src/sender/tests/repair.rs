//! What only losses need takes memory from the first sign of one on.

use super::*;

/// The answer to the SYN, a late ACK, a repeated one with nothing outstanding, and one with data
/// speak of no loss.
fn calm(line: &mut Line) {
    line.acked_again(100.0);
    line.send(100.1, 0..4);
    line.ack(200.0, 2);
    line.ack(201.0, 4);
    line.ack(260.0, 4);
    line.acked(270.0, 4, &[], false, None, true);
    line.send(280.0, 4..6);
    line.ack(390.0, 6);
}

#[test]
fn a_calm_sender_has_none() {
    let mut line = Line::sack(100.0);
    calm(&mut line);
    let model = &line.model;
    assert!(model.repair.is_none() && model.marks.is_none() && !model.picture.is_on());
}

/// Where no round trip is known, each segment of the first window comes after silence. But only
/// after a probe's time, a second, may it be a probe.
#[test]
fn nor_has_one_that_has_measured_nothing() {
    let terms = Terms { handshake_rtt: None.into(), ..Line::sack(100.0).model.stream.terms };
    let mut line = Line::new(terms, Arc::default());
    line.acked_again(100.0);
    line.send(100.1, 0..4);
    line.send(100.3, 4..6);
    assert!(line.model.repair.is_none());
    line.send(1_100.3, [6]);
    assert!(line.model.repair.is_some());
    assert_eq!(line.found().probes_of_new_data, 1);
}

#[test]
fn a_sign_of_a_loss_makes_room() {
    let mut sacked = Line::sack(100.0);
    sacked.send(0.0, 0..4);
    sacked.ack_sack(100.0, 0, &[(1, 2)]);
    let mut repeated = Line::without_sack(100.0);
    repeated.send(0.0, 0..4);
    repeated.ack(100.0, 1);
    repeated.ack(101.0, 1);
    let mut again = Line::sack(100.0);
    again.send(0.0, [0]);
    again.send(300.0, [0]);
    for line in [&sacked, &repeated, &again] {
        assert!(line.model.repair.is_some());
    }
}

/// With room from the beginning, the same is found.
#[test]
fn it_changes_nothing() {
    let found = |room: bool, sack: bool| {
        let mut line = if sack { Line::sack(100.0) } else { Line::without_sack(100.0) };
        if room {
            line.model.repair.get_or_insert_default();
        }
        calm(&mut line);
        line.send(400.0, 6..10);
        line.ack(500.0, 7);
        line.ack(500.5, 7);
        line.ack(501.0, 7);
        line.ack(501.5, 7);
        line.send(501.6, [7]);
        line.ack(601.6, 10);
        line.send(900.0, 10..11);
        line.ack(1_250.0, 11);
        format!("{:?}", line.found())
    };
    for sack in [false, true] {
        assert_eq!(found(false, sack), found(true, sack));
    }
}

/// A sender that paces sends its next hole among duplicates, at no time at which Reno does: not at
/// once with the third one (RFC 5681 section 3.2 step 2).
#[test]
fn a_paced_hole_among_duplicates_begins_nothing() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..12);
    line.three_acks(50.0, 0);
    line.send(50.21, [0]);
    line.ack(100.3, 5);
    line.three_acks(100.4, 5);
    line.send(101.4, [5]);
    line.ack(151.5, 12);
    assert_eq!(kinds(&line.found()), [(0, Kind::FastRetransmit), (5, Kind::Recovery)]);
}

/// The SYN was lost, the answer to the next one too, and the answer's timer sent it again after a
/// second. It echoes the SYN that had arrived, so that the sender begins with a round trip of one
/// second (`tcp_ack_update_rtt`): no retransmission timer expires after 400 ms. The third duplicate
/// has sent the segment, which waits for the pace. Where the first SYN was lost alone, it is a
/// timeout.
#[test]
fn an_answer_to_a_syn_that_comes_late_makes_the_timer_slow() {
    let kind = |answered: f64| {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sack = false;
        line.model.syn(2, ms(1000.0), Seq(0), false, Some([0, 1000]));
        line.ack_echo(answered, 0, 1000.0);
        line.send(answered + 1.0, 0..5);
        for n in 0..3 {
            line.ack_echo(answered + 400.0 + f64::from(n), 0, answered + 1.0);
        }
        line.send(answered + 405.0, [0]);
        line.ack_echo(answered + 455.0, 5, answered + 405.0);
        kinds(&line.found())[1..].to_vec()
    };
    assert_eq!(kind(2000.0), [(0, Kind::FastRetransmit)]);
    assert_eq!(kind(1050.0), [(0, Kind::Timeout)]);
}

/// What losses have begun is asked about until all is repaired, and not after that.
#[test]
fn nothing_is_asked_once_all_is_repaired() {
    let mut line = Line::sack(100.0);
    line.send(0.0, 0..2);
    line.ack(100.0, 2);
    line.send(100.1, 2..4);
    line.ack(200.1, 4);
    assert!(!line.model.unsettled);
    line.send(200.2, 4..10);
    assert!(!line.model.unsettled);
    line.ack_sack(300.2, 4, &[(5, 8)]);
    assert!(line.model.unsettled);
    line.send(300.3, [4]);
    line.ack(400.3, 10);
    line.send(400.4, 10..12);
    line.ack(500.4, 12);
    line.send(500.5, 12..14);
    line.ack(600.5, 14);
    assert!(line.model.repair.is_some() && !line.model.unsettled);
}

/// A sender goes back over so many segments after a timeout, whose ACK acknowledges `acked`, and
/// three duplicates follow.
fn goes_back_until_duplicates(segments: u64, acked: u64) -> Line {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..segments);
    line.send(251.0, [0]);
    line.ack(301.0, acked);
    line.send(301.01, [acked, acked + 1]);
    line.three_acks(302.0, acked);
    line
}

/// A sender goes back over ten segments after a timeout. Duplicates begin a recovery meanwhile, as
/// the heuristics of RFC 6582 section 4 let them. What it had not come to yet goes out in its
/// order, a segment for each that has left the path, and is no part of the repair: that is the
/// first unacknowledged segment at each partial ACK (section 3.2 step 3), whether it was sent since
/// the timeout or not.
#[test]
fn a_recovery_while_the_sender_goes_back() {
    let mut line = goes_back_until_duplicates(10, 2);
    line.send(302.21, [2, 4]);
    line.ack(351.0, 3);
    line.send(351.01, [3, 5]);
    line.ack(352.0, 6);
    line.send(352.01, [6, 7, 8]);
    line.ack(402.0, 9);
    line.send(402.01, [9, 10]);
    line.ack(452.0, 11);
    let found = line.found();
    let (fast, hole, back) = (Kind::FastRetransmit, Kind::Recovery, Kind::SlowStart);
    assert_eq!(
        kinds(&found),
        [
            (0, Kind::Timeout),
            (2, back),
            (3, back),
            (2, fast),
            (4, back),
            (3, hole),
            (5, back),
            (6, hole),
            (7, back),
            (8, back),
            (9, hole),
        ]
    );
    assert_eq!(found.recoveries.len(), 1);
}

/// With new data out there the sender has been over all that was outstanding at the timeout: of a
/// recovery that begins then, all is repair. So is what went out since the timeout and is lost once
/// more.
#[test]
fn a_recovery_once_the_sender_has_gone_back() {
    let (fast, hole, back) = (Kind::FastRetransmit, Kind::Recovery, Kind::SlowStart);
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..4);
    line.send(251.0, [0]);
    line.ack(301.0, 1);
    line.send(301.01, [1, 2]);
    line.ack_sack(351.0, 1, &[(2, 3)]);
    line.send(351.01, 4..10);
    line.ack_sack(401.2, 1, &[(5, 10), (2, 3)]);
    line.send(401.21, [1, 3, 4]);
    line.ack(451.3, 10);
    let all = [(0, Kind::Timeout), (1, back), (2, back), (1, fast), (3, hole), (4, hole)];
    assert_eq!(kinds(&line.found()), all);
    // A sender that counts duplicates is in both; RACK, which waits for none, is in the recovery.
    for (duplicates, last) in [(1, hole), (3, back)] {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..9);
        line.send(251.0, [0]);
        line.ack(301.0, 1);
        line.send(301.01, [1, 2, 3, 4, 5, 6]);
        for n in (0..duplicates).rev() {
            line.ack_sack(351.2, 1, &[(4, 7 - n)]);
        }
        line.send(351.21, [1, 2, 7]);
        line.ack(401.3, 9);
        let all = kinds(&line.found());
        assert_eq!(all[7..], [(1, fast), (2, hole), (7, last)]);
    }
}

/// Reno leaves the recovery with the first ACK that advances (RFC 5681 section 3.2 step 6), goes on
/// going back, and needs duplicates for what it has not sent since the timeout.
#[test]
fn a_second_recovery_while_reno_goes_back() {
    let mut line = goes_back_until_duplicates(10, 1);
    line.send(302.21, [1, 3]);
    line.ack(352.3, 5);
    line.three_acks(352.4, 5);
    line.send(352.61, [5, 6]);
    line.ack(402.7, 10);
    let found = line.found();
    let (fast, back) = (Kind::FastRetransmit, Kind::SlowStart);
    let all =
        [(0, Kind::Timeout), (1, back), (2, back), (1, fast), (3, back), (5, fast), (6, back)];
    assert_eq!(kinds(&found), all);
    assert_eq!(found.recoveries.len(), 2);
}

/// A recovery begins while the sender goes back over twelve segments, an ACK advances to the fifth,
/// which goes out, and so many duplicates let it go once more.
fn head_once_more_while_going_back(duplicates: u32, cut: bool) -> Found {
    let mut line = goes_back_until_duplicates(12, 1);
    line.model.stream.terms.cut = cut;
    line.send(302.21, [1, 3]);
    line.ack(352.3, 5);
    line.send(352.31, [5, 6]);
    for n in 0..duplicates {
        line.ack(353.0 + 0.1 * f64::from(n), 5);
    }
    line.send(353.0 + 0.1 * f64::from(duplicates), [5, 7]);
    line.ack(405.0, 12);
    line.found()
}

/// Three say that the sender is Reno, which had left the recovery: what went out meanwhile belongs
/// to the slow start after the timeout.
#[test]
fn reno_begins_with_the_same_segment() {
    let found = head_once_more_while_going_back(3, false);
    let (fast, back) = (Kind::FastRetransmit, Kind::SlowStart);
    assert_eq!(kinds(&found)[..4], [(0, Kind::Timeout), (1, back), (2, back), (1, fast)]);
    assert_eq!(kinds(&found)[4..], [(3, back), (5, back), (6, back), (5, fast), (7, back)]);
    assert_eq!(found.recoveries.len(), 2);
}

/// One for each of the seven segments outstanding, and one more: a sender that counts them so has
/// found its retransmission lost within the recovery (Lin & Kung section 6.2). Fewer than three
/// begin no recovery, nor do three where SACK blocks may be cut off that have asked for it.
#[test]
fn a_lost_retransmission_while_going_back() {
    let (hole, back) = (Kind::Recovery, Kind::SlowStart);
    for (duplicates, cut) in [(2, false), (8, false), (3, true)] {
        let found = head_once_more_while_going_back(duplicates, cut);
        assert_eq!(kinds(&found)[4..], [(3, back), (5, hole), (6, back), (5, hole), (7, back)]);
        assert_eq!(found.recoveries.len(), 1);
    }
}

/// Before an ACK advances, Reno has not left the recovery: it does not begin again.
#[test]
fn a_recovery_goes_on_while_reno_goes_back() {
    let mut line = goes_back_until_duplicates(12, 1);
    line.send(302.21, [1]);
    line.ack(302.5, 1);
    line.send(302.51, [1]);
    line.ack(355.0, 12);
    let found = line.found();
    assert_eq!(kinds(&found)[3..], [(1, Kind::FastRetransmit), (1, Kind::Recovery)]);
    assert_eq!(found.recoveries.len(), 1);
}
