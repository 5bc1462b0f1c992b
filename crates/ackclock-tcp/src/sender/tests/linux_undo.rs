//! Undo as Linux has it: `tcp_may_undo` and what calls it.

use super::*;
use crate::summary::AckSummary;

/// cwnd 10, and 0 is lost as it seems: retransmitted at 102 ms.
fn lose_head(x: &mut Script) -> &mut Script {
    x.echo = Some(1);
    x.at(1).write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
    x.at(101).sack(0, &[(1, 3)]).sends("11+").at(102).sack(0, &[(1, 4)]).sends("0F");
    x.windows(9_000, 7_000).phase(Phase::Recovery)
}

fn timestamps() -> SenderConfig {
    SenderConfig { timestamps: true, ..window(10) }
}

/// An ACK that echoes a timestamp from before the first retransmission.
#[test]
fn an_earlier_timestamp() {
    run_with("linux", timestamps(), |x| {
        // 0 arrived after all: cwnd is that of before, and grows by what is new, one segment.
        lose_head(x).at(103);
        x.ack(4).sends("12 13 14").windows(11_000, UNSET).phase(Phase::Open);
    });
    // The retransmission is what is acknowledged.
    run_with("linux", timestamps(), |x| {
        lose_head(x).at(103).sack(0, &[(1, 10)]);
        x.sent.clear();
        x.at(202).echo = Some(102);
        x.ack(10).phase(Phase::Recovery);
        x.sent.clear();
    });
    run_with("linux", window(10), |x| {
        lose_head(x).at(103).ack(4).phase(Phase::Recovery);
        x.sent.clear();
    });
}

/// As many D-SACKs as retransmissions.
#[test]
fn a_d_sack_for_each_retransmission() {
    run("linux", 10, |x| {
        lose_head(x).at(202).ack(12);
        x.sent.clear();
        x.phase(Phase::Open);
        // 10 segments of before, and cwnd of the recovery is less.
        x.at(203).sack(12, &[(0, 1)]);
        x.sent.clear();
        x.windows(10_000, UNSET);
    });
    // A second one has nothing to undo, and a first one of the network says nothing.
    run("linux", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100).ack(1).sends("10 11");
        x.at(101).sack(1, &[(0, 1)]).sends("").windows(11_000, UNSET);
    });
}

/// A SYN that went again counts among what D-SACKs may report, also where the first one had arrived
/// (`tcp_dsack_seen`: `total_retrans`). RFC strategies count data alone.
#[test]
fn a_d_sack_may_answer_a_spurious_syn() {
    for (composition, delivered) in [("linux", 1), ("sack+linux-timer", 0)] {
        let syn = SenderConfig { syn_retransmissions: 2, syn_spurious: true, ..timestamps() };
        run_with(composition, syn, |x| {
            x.at(1).write(60_000);
            x.sent.clear();
            x.at(100).ack(1);
            x.sent.clear();
            let segment = Segment { sack: x.blocks(&[(0, 1)]), ..x.header(1) };
            let mut a = AckSummary { ack: 1_000, prior_una: 1_000, ..AckSummary::default() };
            summarise::apply(&mut x.sender, &segment, &mut a, &mut summarise::Ranges::default());
            assert_eq!((a.dsack, a.delivered), (Some((0, 1_000)), delivered));
        });
    }
}

/// A D-SACK that no window had room for is forged, and is not remembered (`tcp_dsack_seen`): with
/// it more segments would have been reported than were retransmitted, and no later one would count.
#[test]
fn a_d_sack_larger_than_the_window() {
    run_with("linux", SenderConfig { initial_rwnd: 12_000, ..window(10) }, |x| {
        x.window = 12_000;
        lose_head(x).at(202).ack(12);
        x.sent.clear();
        x.at(302).ack(14);
        x.sent.clear();
        x.phase(Phase::Open).windows(8_000, 7_000);
        x.at(303).sack(14, &[(0, 13)]);
        x.sent.clear();
        x.windows(8_000, 7_000).at(304).sack(14, &[(0, 1)]);
        x.sent.clear();
        x.windows(10_000, UNSET);
    });
}

/// Without SACK a timeout that an earlier timestamp undoes goes on, and so does F-RTO
/// (`tcp_try_undo_loss`). What F-RTO undoes is over.
#[test]
fn without_sack_a_timeout_goes_on() {
    let config = SenderConfig { sack: false, ..timestamps() };
    run_with("linux", config.clone(), |x| {
        x.echo = Some(1);
        x.at(1).write(60_000).sends(&numbers(0, 10)).fire(1004).sends("0T").windows(1_000, 7_000);
        x.at(1010).ack(1).sends("10 11").windows(11_000, UNSET).phase(Phase::Loss);
        // What were three duplicates are new data that has arrived.
        x.acks(1, ["12", "13", "14"]);
        x.phase(Phase::Loss).windows(11_000, UNSET);
    });
    run_with("linux", config, |x| {
        x.echo = Some(1);
        x.at(1).write(60_000).sends(&numbers(0, 10)).fire(1004).sends("0T");
        x.at(1010).ack(1).sends("10 11").phase(Phase::Loss);
        x.ack(2).sends("12 13").phase(Phase::Open).windows(12_000, UNSET);
    });
}

/// Three duplicates begin a recovery, and the late original undoes it; no ACK of more has come.
fn until_undone_without_sack(x: &mut Script) {
    x.echo = Some(1);
    x.at(1).write(60_000).sends(&numbers(0, 10)).at(100).ack(0).sends("");
    x.acks(0, ["10+", "11+", "0F"]).phase(Phase::Recovery);
    x.at(103).ack(12);
    x.sent.clear();
    x.phase(Phase::Recovery);
}

/// Without SACK a recovery waits at its end for an ACK of more, undone or not
/// (`tcp_is_non_sack_preventing_reopen`).
#[test]
fn without_sack_an_undone_recovery_waits_for_more() {
    run_with("linux", SenderConfig { sack: false, ..timestamps() }, |x| {
        until_undone_without_sack(x);
        assert_eq!(x.sender.state().ssthresh, UNSET);
        x.ack(13).phase(Phase::Open);
        x.sent.clear();
    });
}

/// What was undone keeps its cwnd when the recovery ends after all: ssthresh is that of before,
/// none (`tcp_end_cwnd_reduction`).
#[test]
fn without_sack_the_end_of_an_undone_recovery_leaves_cwnd() {
    run_with("linux", SenderConfig { sack: false, ..timestamps() }, |x| {
        until_undone_without_sack(x);
        // cwnd is what is in flight, and grows by the segment that the ACK delivers.
        let cwnd = x.sender.state().cwnd;
        x.ack(13).phase(Phase::Open).windows(cwnd + MSS, UNSET);
        x.sent.clear();
    });
}
