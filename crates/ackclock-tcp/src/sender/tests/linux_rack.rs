//! RACK as Linux has it: `tcp_rack_detect_loss` and its callers.

use super::*;
use crate::recovery::detect::{Detect, LinuxRack};
use crate::state::DUPTHRESH;
use crate::summary::AckSummary;

fn handshake(ms: u64) -> SenderConfig {
    SenderConfig { handshake_rtt: Some(Span::from_millis(ms)), ..window(10) }
}

/// The handshake's round trip begins the minimum: in the first flight a quarter of it is waited,
/// and 2 ms more.
#[test]
fn the_handshake_begins_the_minimum() {
    run_with("linux", handshake(80), |x| {
        x.write(20_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
        // 0 + 100 + 80 / 4 + 2.
        x.deadline(128).at(119).sack(0, &[(1, 3)]).sends("11+").deadline(144);
        x.at(130).ack(3).sends("12 13").phase(Phase::Open);
    });
    // Without one the first sample is the minimum: 100 / 4.
    run("linux", 10, |x| {
        x.write(20_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
        x.deadline(132);
    });
}

/// As many SACKed segments as `tp->reordering` close the window.
#[test]
fn three_sacked_segments_close_the_window() {
    let two = |x: &mut Script| {
        x.write(20_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
        x.at(101).sack(0, &[(1, 3)]).sends("11+").at(102);
    };
    run_with("linux", handshake(80), |x| {
        two(x);
        x.sack(0, &[(1, 4)]).sends("0F");
    });
    // Bit 0x4 of tcp_recovery: 0 + 102 + 20 + 2.
    run_with("linux+linux-rack-no-dupthresh", handshake(80), |x| {
        two(x);
        x.sack(0, &[(1, 4)]).sends("12+").deadline(128);
    });
}

/// Segments that come late are reordering. Then the window stays open however many are SACKed, and
/// a D-SACK widens it by a quarter of the minimum.
#[test]
fn reordering_keeps_the_window_open_and_a_d_sack_widens_it() {
    let script = |x: &mut Script, window: u64| {
        // 0 comes late by three segments, after its retransmission.
        x.write(200_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
        x.at(101).sack(0, &[(1, 3)]).sends("11+").at(102).sack(0, &[(1, 4)]).sends("0F");
        // 4 comes late by one.
        x.at(103).sack(0, &[(5, 6), (1, 4)]).at(104).sack(0, &[(1, 6)]);
        x.sent.clear();
        x.at(202).sack(10, &[(0, 1)]);
        x.sent.clear();
        x.at(203).ack(12).phase(Phase::Open);
        x.sent.clear();
        // What goes on from here was sent at 200 ms and later.
        let una = x.sender.state().snd_una / MSS;
        x.at(303).sack(una, &[(una + 1, una + 5)]);
        x.sent.clear();
        let sent = x.sender.state().board.head().map(|r| r.last_sent.0 / 1_000_000);
        let rtt = x.sender.state().board.get(4).map(|r| 303 - r.last_sent.0 / 1_000_000);
        x.deadline(expiry(303, sent.unwrap() + rtt.unwrap() + window + 2 - 303));
    };
    run_with("linux", handshake(80), |x| script(x, 40));
    // Bit 0x2 of tcp_recovery.
    run_with("linux+linux-rack-static", handshake(80), |x| script(x, 20));
}

/// A retransmission that is SACKed sooner than the minimum round trip was not what arrived, and
/// says nothing of what was sent before it.
#[test]
fn too_soon_for_a_retransmission() {
    run_with("linux", handshake(80), |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(2, 6)]).sends("0F 1P 10");
        x.at(179).sack(0, &[(1, 6)]).sends("11").phase(Phase::Recovery);
    });
    run_with("linux", handshake(80), |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(2, 6)]).sends("0F 1P 10");
        x.at(180).sack(0, &[(1, 6)]).sends("0L 6P").phase(Phase::Recovery);
    });
}

/// An ACK that advances within a recovery does not put the timeout in place of the reordering
/// window that it waits for (`FLAG_SET_XMIT_TIMER`, `tcp_rack_identify_loss`).
#[test]
fn within_a_recovery_too_the_reordering_window_is_waited_for() {
    run_with("linux", handshake(80), |x| {
        x.write(200_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
        x.at(101).sack(0, &[(1, 3)]).sends("11+").at(102).sack(0, &[(1, 4)]).sends("0F");
        // 4 comes late by one.
        x.at(103).sack(0, &[(5, 6), (1, 4)]).at(104).sack(0, &[(1, 6)]);
        x.sent.clear();
        // The retransmission of 0 took 80. Of what was sent before it, 11 went last: 101 + 80 +
        // 80 / 4, and 2.
        x.at(182).ack(6).phase(Phase::Recovery);
        x.sent.clear();
        x.deadline(208);
    });
}

/// `tcp_enter_loss`: a timeout before any recovery, with three segments SACKed, says that
/// reordering was overestimated.
#[test]
fn a_timeout_lowers_the_reordering() {
    let reordering_after = |timed_out: &State| {
        let mut rack = LinuxRack::default();
        // More duplicates than ten segments can have caused (tcp_check_reno_reordering).
        let a = AckSummary { duplicate: true, ..AckSummary::default() };
        rack.emulate(&State { emulated: 9, ..timed_out.clone() }, &a);
        assert_eq!(rack.dupthresh(timed_out, &a), 10);
        rack.on_timeout(timed_out);
        rack.dupthresh(timed_out, &a)
    };
    run_with("linux", handshake(80), |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 3)]).sends("");
        assert_eq!(reordering_after(x.sender.state()), 10);
        x.at(101).sack(0, &[(1, 4)]).sends("0F").phase(Phase::Recovery);
        assert_eq!(reordering_after(x.sender.state()), 10);
        let open = State { phase: Phase::Open, ..x.sender.state().clone() };
        assert_eq!(reordering_after(&open), 3);
    });
}

/// An ACK of an original stops retransmissions, but what it reports was delivered when it came: the
/// round trip is 100 ms, and on the next ACK the retransmission of 1 is lost (`tcp_rack_advance`
/// comes before `tcp_try_undo_partial`).
#[test]
fn an_ack_that_holds_is_taken_note_of() {
    let config = SenderConfig { timestamps: true, ..handshake(80) };
    run_with("linux", config, |x| {
        x.echo = Some(1);
        x.at(1).write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(2, 6)]).sends("0F 1P 10");
        // 0 was late. 10 was sent after the retransmission of 1.
        x.at(200).sack(1, &[(10, 11), (2, 6)]).sends("11 12").phase(Phase::Recovery);
        // 100 + 100 + 80 / 4.
        x.at(230).sack(1, &[(0, 1)]).sends("1L 6P").phase(Phase::Recovery);
    });
}

/// A D-SACK for a tail loss probe widens nothing: no reordering drew the probe (`FLAG_DSACK_TLP`).
#[test]
fn a_d_sack_for_a_probe_does_not_widen_the_window() {
    run_with("linux", handshake(80), |x| {
        x.write(12_000).sends(&numbers(0, 10)).at(80).sack(0, &[(1, 2)]).sends("10+");
        // 0 comes late by one: reordering.
        x.at(81).ack(2).sends("11").at(161).ack(11).sends("");
        x.at(x.sender.next_deadline().0 / 1_000_000)
            .input(|s, now| s.on_deadline(now))
            .sends("11+");
        let at = x.now.0 / 1_000_000;
        x.at(at + 1).ack(12).sends("").at(at + 80).sack(12, &[(11, 12)]).sends("");
        x.at(at + 100).write(5_000).sends("12 13 14 15 16");
        // 80 / 4, and 2.
        x.at(at + 180).sack(12, &[(13, 14)]).sends("").deadline(expiry(at + 180, 22));
    });
}

/// Reordering is looked for after a timeout, too: 1 comes four segments late
/// (`tcp_sacktag_write_queue`).
#[test]
fn reordering_after_a_timeout() {
    let linux = Registry::default();
    let mechanisms = &linux.preset("linux").expect("a preset").mechanisms;
    let without: Vec<&str> =
        mechanisms.iter().map(|m| &**m).filter(|m| *m != "linux-f-rto").collect();
    run_with(&without.join("+"), handshake(80), |x| {
        x.write(10_000).sends(&numbers(0, 10)).fire(168).sends("9+").fire(452).sends("0T");
        x.at(460).sack(0, &[(4, 5)]).sends("").phase(Phase::Loss);
        // Where reordering is more than usual, cwnd grows by SACKs too (tcp_may_raise_cwnd).
        x.at(461).sack(0, &[(1, 2), (4, 5)]).sends("2S").phase(Phase::Loss);
        assert_eq!(x.sender.state().dupthresh, 4);
    });
}

/// `tcp_enter_loss`: with three segments SACKed or more, reordering was overestimated, unless the
/// timer expires in CWR (`icsk_ca_state <= TCP_CA_Disorder`). 0 came late by ten segments.
#[test]
fn a_timeout_in_cwr_keeps_reordering() {
    for (cwr, reordering) in [(false, DUPTHRESH), (true, 10)] {
        run_with("linux", handshake(80), |x| {
            x.write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(9, 10)]);
            x.sent.clear();
            x.at(101).ack(10);
            x.sent.clear();
            x.at(202).sack(10, &[(11, 14)]).phase(Phase::Open);
            x.sent.clear();
            let mut s = x.sender.state().clone();
            assert_eq!((s.dupthresh, s.board.sacked_segments()), (10, 3));
            s.cwr = cwr;
            let detect = &mut x.sender.strategy.detect;
            detect.on_timeout(&s);
            assert_eq!(detect.dupthresh(&s, &AckSummary::default()), reordering);
        });
    }
}

/// An ACK whose sequence number is above those before it updates the window, be it to the same, and
/// is no duplicate (`tcp_may_update_window`). Of five ACKs of 0 in a constant window Linux 6.18 was
/// seen to count the last four. After a request it was the same: 0, 0, 1, 2, 3.
#[test]
fn an_ack_with_a_new_sequence_number_is_no_duplicate() {
    let config = SenderConfig { sack: false, ..window(10) };
    run_with("linux", config.clone(), |x| {
        x.write(8_000).sends(&numbers(0, 8)).at(66).ack(0).ack(0).ack(0).sends("");
        x.ack(0).sends("0F").phase(Phase::Recovery).ack(0).sends("");
    });
    run_with("linux", config.clone(), |x| {
        x.write(3_000).sends("0 1 2").at(66).ack(1).ack(2).sends("");
        // A request of 100 bytes, and what it asks for.
        x.at(100).ack(3);
        let request = Segment { len: 100, ..x.header(3) };
        x.segment(request).write(8_000).sends(&numbers(3, 11));
        let ack = Segment { seq: Seq(100), ..x.header(3) };
        x.at(166).segment(ack).segment(ack).segment(ack).sends("").segment(ack).sends("3F");
    });
    // Where an ACK of something new had that sequence number first, the next is a duplicate.
    run_with("linux", config, |x| {
        x.write(11_000).sends(&numbers(0, 10)).at(66).ack(1).sends("10");
        x.ack(1).ack(1).sends("").ack(1).sends("1F");
    });
}

/// Only an ACK that advances sets the timer of a receiver that has discarded data
/// (`tcp_check_sack_reneging`: `FLAG_SND_UNA_ADVANCED`): duplicates do not put it off.
#[test]
fn duplicates_do_not_put_reneging_off() {
    run_with("linux", handshake(80), |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(80).sack(0, &[(1, 2)]).sends("");
        // 1 was SACKed, and is not acknowledged with 0: half of 80 ms.
        x.ack(1).sends("").deadline(124);
        x.at(90).sack(1, &[(0, 1)]).sends("").deadline(124).fire(124).sends("1T");
    });
}

/// A window that a D-SACK has widened stays so for 16 recoveries (`TCP_RACK_RECOVERY_THRESH`), as
/// `tcp_try_undo_recovery` counts them. That which the D-SACK undoes is none of them.
#[test]
fn a_wide_window_stays_for_16_recoveries() {
    run_with("linux", handshake(80), |x| {
        x.write(12_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
        x.at(101).sack(0, &[(1, 3)]).sends("11+").at(102).sack(0, &[(1, 4)]).sends("0F");
        // 4 comes late by one.
        x.at(103).sack(0, &[(5, 6), (1, 4)]).sends("").at(104).sack(0, &[(1, 6)]).sends("");
        x.at(202).sack(10, &[(0, 1)]).sends("").at(203).ack(12).sends("").phase(Phase::Open);
        let mut windows = Vec::new();
        for n in 0..17 {
            let (first, at) = (12 + 2 * n, 300 * (n + 1));
            x.at(at).write(2_000).sends(&numbers(first, first + 2));
            x.at(at + 100).sack(first, &[(first + 1, first + 2)]).sends("");
            let due = x.sender.next_deadline().0 / 1_000_000;
            windows.push([20, 40].into_iter().find(|w| due == expiry(at + 100, w + 2)));
            x.fire(due).sends(&format!("{first}F")).at(at + 250).ack(first + 2).sends("");
            x.phase(Phase::Open);
        }
        assert_eq!(windows, [[Some(40); 16].as_slice(), &[Some(20)]].concat());
    });
}

/// A request that comes again has no new sequence number: the ACK after it is a duplicate, as the
/// one before it is (`tcp_may_update_window`).
#[test]
fn after_a_request_that_comes_again_an_ack_is_a_duplicate() {
    run_with("linux", SenderConfig { sack: false, ..window(10) }, |x| {
        x.write(3_000).sends("0 1 2").at(66).ack(1).ack(2).sends("").at(100).ack(3);
        let request = Segment { len: 100, ..x.header(3) };
        x.segment(request).write(8_000).sends(&numbers(3, 11));
        let ack = Segment { seq: Seq(100), ..x.header(3) };
        x.at(166).segment(ack).segment(ack).segment(request).segment(ack).sends("");
        x.segment(ack).sends("3F");
    });
}
