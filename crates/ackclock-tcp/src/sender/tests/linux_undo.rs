//! Undo as Linux has it: `tcp_may_undo` and what calls it.

use super::*;

/// cwnd 10, and 0 is lost as it seems: retransmitted at 102 ms.
fn lose_head(x: &mut Script) -> &mut Script {
    x.echo = Some(0);
    x.write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
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
