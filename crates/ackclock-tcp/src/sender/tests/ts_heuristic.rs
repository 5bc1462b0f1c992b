//! Duplicates after a timeout (Gurtov & Floyd 2004), as exact sequences. The figures of the paper
//! are drawn without numbers; these are the scenarios that their captions and sections II to IV
//! describe, in a window of ten segments.

use super::*;

const BUGFIX: &str = "newreno-bugfix";
const NO_BUGFIX: &str = "newreno-nobugfix";
const ACK: &str = "newreno-ack";
const TS: &str = "newreno-ts";

fn each(compositions: &[&str], script: impl Fn(&mut Script)) {
    for composition in compositions {
        run_with(
            composition,
            SenderConfig { initial_window: Some(10), timestamps: true, ..config() },
            &script,
        );
    }
}

impl Script {
    /// An ACK up to segment `n` that echoes the timestamp `echo` arrives at `ms`.
    fn echo(&mut self, ms: u64, n: u64, echo: u32) -> &mut Script {
        self.echo = Some(echo);
        self.at(ms).ack(n)
    }
}

/// Ten segments are sent at 0 ms and the timer expires; the first three retransmissions are
/// acknowledged one by one.
fn up_to_three(x: &mut Script) {
    x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T").windows(1_000, 5_000);
    x.echo(1100, 1, 1000).sends("1S 2S").windows(2_000, 5_000);
    x.echo(1200, 2, 1100).sends("3S 4S").windows(3_000, 5_000);
    x.echo(1201, 3, 1100).sends("5S 6S").windows(4_000, 5_000);
}

/// Figures 1, 2 and 3 (right): all ten are lost, and of the retransmissions that of segment 3.
fn lost_retransmission(x: &mut Script) {
    up_to_three(x);
    x.echo(1300, 3, 1100).sends("").echo(1301, 3, 1100).sends("");
}

#[test]
fn a_lost_retransmission_begins_a_recovery() {
    each(&[NO_BUGFIX, ACK, TS], |x| {
        lost_retransmission(x);
        // 3 to 6 are outstanding: ssthresh 2, cwnd 2 + 3, which has room for one more.
        x.echo(1302, 3, 1100).sends("3F 7S").windows(5_000, 2_000).phase(Phase::Recovery);
        x.echo(1400, 7, 1302).sends("7L 8S").windows(2_000, 2_000);
    });
}

/// Section II: "The retransmit timer is the backup mechanism".
#[test]
fn bugfix_waits_for_a_timeout() {
    each(&[BUGFIX], |x| {
        lost_retransmission(x);
        x.echo(1302, 3, 1100).sends("").echo(1303, 3, 1100).sends("").windows(4_000, 5_000);
        x.fire(2201).sends("3T").classes([1, 0, 1]);
    });
}

/// Figures 1, 2 and 3 (left): 0 to 3 and 7 are lost. The ACK of segment 3's retransmission jumps by
/// four segments, and those of 4, 5 and 6, which had arrived, make three duplicates.
fn spurious_retransmissions(x: &mut Script) {
    up_to_three(x);
    x.echo(1300, 7, 1200).sends("7S 8S 9S 10 11").windows(5_000, 5_000);
    x.echo(1301, 7, 1200).sends("").echo(1302, 7, 1200).sends("");
}

#[test]
fn spurious_retransmissions_begin_no_recovery() {
    each(&[BUGFIX, ACK, TS], |x| {
        spurious_retransmissions(x);
        x.echo(1303, 7, 1200).sends("").windows(5_000, 5_000).phase(Phase::Loss);
        // 7 arrives; 8 and 9 had arrived. Congestion avoidance: 1000 * 1000 / 5000.
        x.echo(1400, 10, 1300).sends("12 13 14").windows(5_200, 5_000).phase(Phase::Open);
    });
    // Section II: "unnecessary Fast Retransmits, and unnecessary reductions of the congestion
    // window".
    each(&[NO_BUGFIX], |x| {
        spurious_retransmissions(x);
        x.echo(1303, 7, 1200).sends("7F").windows(5_500, 2_500).phase(Phase::Recovery);
    });
}

/// Section III.A: a jump of three segments is admitted. 0 to 3 and 6 are lost, then the
/// retransmission of 6; 4, 5 and 7 are retransmitted spuriously. The timestamp heuristic sees a
/// jump like any other: 3 was sent at 1200 ms, 5 at 1201 ms.
#[test]
fn the_ack_heuristic_admits_a_jump_of_three_segments() {
    let jump_of_three = |x: &mut Script| {
        up_to_three(x);
        x.echo(1300, 6, 1200).sends("7S 8S 9S 10").windows(5_000, 5_000);
        x.echo(1301, 6, 1200).sends("").echo(1302, 6, 1200).sends("");
    };
    each(&[ACK], |x| {
        jump_of_three(x);
        x.echo(1400, 6, 1200).sends("6F").windows(5_500, 2_500);
    });
    each(&[BUGFIX, TS], |x| {
        jump_of_three(x);
        x.echo(1400, 6, 1200).sends("").windows(5_000, 5_000);
    });
    // One byte more than three segments.
    each(&[ACK], |x| {
        up_to_three(x);
        x.echo = Some(1200);
        x.at(1300).ack_bytes(6_001).sends("7S 8S 9S 10");
        x.ack_bytes(6_001)
            .sends("")
            .ack_bytes(6_001)
            .sends("")
            .ack_bytes(6_001)
            .sends("")
            .windows(5_000, 5_000);
    });
}

/// Figure 4: as [`lost_retransmission`], but it is 7 that is lost again, and the ACKs of 3, 4 and 5
/// are lost. The ACK of 6 jumps by four segments and echoes 6.
#[test]
fn lost_acks_defeat_the_ack_heuristic_but_not_the_timestamp_heuristic() {
    let acks_lost = |x: &mut Script| {
        up_to_three(x);
        x.echo(1301, 7, 1201).sends("7S 8S 9S 10 11").windows(5_000, 5_000);
        x.echo(1400, 7, 1201).sends("").echo(1401, 7, 1201).sends("");
    };
    each(&[BUGFIX, ACK], |x| {
        acks_lost(x);
        x.echo(1402, 7, 1201).sends("").windows(5_000, 5_000).fire(2301).sends("7T");
    });
    each(&[NO_BUGFIX, TS], |x| {
        acks_lost(x);
        x.echo(1402, 7, 1201).sends("7F").windows(5_500, 2_500);
    });
    // With two ACKs lost the jump is one of three segments, and the acknowledgment heuristic still
    // works.
    each(&[ACK, TS], |x| {
        up_to_three(x);
        x.echo(1301, 6, 1201).sends("7S 8S 9S 10").windows(5_000, 5_000);
        x.echo(1302, 6, 1201)
            .sends("")
            .echo(1400, 6, 1201)
            .sends("")
            .echo(1401, 6, 1201)
            .sends("6F");
    });
}

/// The echo has to be that very transmission's: not that of a tick earlier or later, nor the
/// original's.
#[test]
fn the_timestamp_heuristic_compares_for_equality() {
    for (echo, sends) in [(1201, "7F"), (1200, ""), (1202, ""), (0, "")] {
        each(&[TS], |x| {
            up_to_three(x);
            x.echo(1301, 7, echo).sends("7S 8S 9S 10 11");
            x.ack(7).sends("").ack(7).sends("").ack(7).sends(sends);
        });
    }
    // What the duplicates echo is of no interest.
    each(&[TS], |x| {
        lost_retransmission(x);
        x.echo(1302, 3, 7).sends("3F 7S");
    });
}

/// The timestamp clock ticks once a millisecond: here 3 and 6 were sent in the same tick, so that
/// duplicates from spurious retransmissions look like a loss.
#[test]
fn the_timestamp_heuristic_cannot_see_within_a_tick() {
    each(&[TS], |x| {
        x.write(30_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .fire(1000)
            .sends("0T")
            .echo(1100, 1, 1000)
            .sends("1S 2S");
        x.echo(1200, 2, 1100).sends("3S 4S").echo(1200, 3, 1100).sends("5S 6S");
        x.echo(1300, 7, 1200).sends("7S 8S 9S 10 11").acks(7, ["", "", "7F"]);
    });
}

/// A delayed ACK echoes the first of two segments: here 3 and 4, sent in the same tick, then 4 and
/// 5, which were not.
#[test]
fn the_timestamp_heuristic_needs_both_segments_of_a_delayed_ack_in_a_tick() {
    each(&[TS], |x| {
        up_to_three(x);
        x.echo(1300, 5, 1200).sends("7S 8S 9S").acks(5, ["", "", "5F"]);
    });
    each(&[TS], |x| {
        up_to_three(x);
        x.echo(1300, 4, 1200).sends("7S 8S").echo(1301, 6, 1200).sends("9S 10");
        x.acks(6, ["", "", ""]);
    });
}

/// Without timestamps the timestamp heuristic is bugfix, and nothing is undone.
#[test]
fn without_timestamps_the_timestamp_heuristic_is_bugfix() {
    run_with(TS, SenderConfig { initial_window: Some(10), ..config() }, |x| {
        lost_retransmission(x);
        x.echo(1302, 3, 1100).sends("").windows(4_000, 5_000).fire(3201).sends("3T");
    });
    run_with(ACK, SenderConfig { initial_window: Some(10), ..config() }, |x| {
        lost_retransmission(x);
        x.echo(1302, 3, 1100).sends("3F 7S");
    });
}

/// Section III.A: no fast retransmit right after a timeout, "when duplicate acknowledgments from
/// the previous flight of packets might still be arriving", but as soon as cwnd is greater than one
/// segment by a byte.
#[test]
fn a_window_of_one_segment_begins_no_recovery() {
    let first_acked = |x: &mut Script| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").echo(100, 1, 0).sends("10 11");
        x.fire(1100).sends("1T").windows(1_000, 5_500);
    };
    each(&[BUGFIX, ACK, TS], |x| {
        first_acked(x);
        x.echo(1110, 1, 0).sends("").acks(1, ["", "", ""]).windows(1_000, 5_500);
    });
    each(&[NO_BUGFIX], |x| {
        first_acked(x);
        x.echo(1110, 1, 0).sends("").ack(1).sends("").ack(1).sends("1F 2S 3S 4S 5S");
    });
    each(&[ACK, TS], |x| {
        first_acked(x);
        x.echo = Some(1100);
        x.at(1200).ack_bytes(1_001).sends("").windows(1_001, 5_500);
        x.ack_bytes(1_001)
            .sends("")
            .ack_bytes(1_001)
            .sends("")
            .ack_bytes(1_001)
            .sends("1[1..1000]F 2S 3S 4S 5S");
    });
}

/// Retransmissions reordered by one and by two, and ACKs lost without a loss of data: nothing to
/// begin a recovery for.
#[test]
fn reordering_and_lost_acks_after_a_timeout_begin_no_recovery() {
    each(&[NO_BUGFIX, ACK, TS], |x| {
        up_to_three(x);
        // 4 overtakes 3: one duplicate, then an ACK of both.
        x.echo(1300, 3, 1100).sends("").echo(1301, 5, 1200).sends("7S 8S 9S").windows(5_000, 5_000);
        // 6 and 7 overtake 5.
        x.echo(1302, 5, 1200)
            .sends("")
            .echo(1400, 5, 1200)
            .sends("")
            .echo(1401, 8, 1201)
            .sends("10 11 12");
        x.windows(5_200, 5_000).phase(Phase::Loss);
        // The ACK of 8 is lost.
        x.echo(1403, 10, 1301).sends("13 14").windows(5_392, 5_000).phase(Phase::Open);
        assert_eq!(x.sender.stats().recoveries, 0);
    });
}

/// Above the recovery point the heuristics have no say: 12 to 15 are acknowledged at once by an ACK
/// that echoes 12, and then 16 is lost.
#[test]
fn above_the_recovery_point_three_duplicates_are_enough() {
    each(&[BUGFIX, ACK, TS], |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T");
        x.echo(1100, 10, 1000).sends("10 11").windows(2_000, 5_000);
        x.echo(1200, 11, 1100).sends("12 13").echo(1201, 12, 1100).sends("14 15");
        x.echo(1302, 16, 1200).sends("16 17 18 19 20").windows(5_000, 5_000);
        x.echo(1400, 16, 1200)
            .sends("")
            .ack(16)
            .sends("")
            .ack(16)
            .sends("16F")
            .windows(5_500, 2_500);
    });
}
