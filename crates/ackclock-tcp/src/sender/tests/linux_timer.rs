//! The presets that stand for Linux: what their mechanisms do together.

use super::path::Path;
use super::*;

/// Dukkipati et al. 2011 figure 2, middle, with Reno's window law as there: each row of
/// `rate_halving::figure_2_linux`.
#[test]
fn figure_2_linux_2_6() {
    run_with("linux-2.6+reno-window", window(20), |x| {
        x.write(20_000).sends(&numbers(0, 20)).at(100);
        let mut path = Path::new(x, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
        for sent in ["0F", "1P", "2P", "", "3P"] {
            assert_eq!(path.step(), sent);
        }
        while path.in_network() > 0 {
            assert_eq!(path.step(), "");
        }
        assert_eq!((path.windows(), path.phase()), ((2_000, 10_000), Phase::Open));
        x.at(500).write(10_000).sends("20 21");
    });
}

/// Section 3.2 of the paper: threshold retransmission, rate halving, and a retransmission found
/// lost by the SACK of 10, the first segment that went out after it.
#[test]
fn linux_2_6_finds_a_lost_retransmission() {
    run("linux-2.6", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100);
        // The very first SACK, if it tells of more than three segments; ssthresh is CUBIC's.
        x.sack(0, &[(1, 4)]).sends("0F").windows(7_000, 7_000);
        for (right, sent) in (5..).zip(["10", "11", "12", "13", "14", "15"]) {
            x.sack(0, &[(1, right)]).sends(sent);
        }
        // ssthresh is not lowered for it, and cwnd only as the pipe is.
        x.windows(7_000, 7_000)
            .pipe(7)
            .sack(0, &[(1, 11)])
            .sends("0L")
            .windows(6_000, 7_000)
            .pipe(6);
        x.sack(0, &[(1, 12)])
            .sends("16")
            .windows(6_000, 7_000)
            .ack(13)
            .sends("17 18")
            .phase(Phase::Open);
    });
}

/// NextSeg's rule 3 where nothing else is left to send: 8 of 10 has one segment SACKed above it,
/// which is not enough to mark it.
#[test]
fn linux_2_6_sends_unmarked_holes_last() {
    let until_9 = |x: &mut Script, bytes: u64| {
        x.write(bytes).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 5)]).sends("0F");
        for right in 6..9 {
            x.sack(0, &[(1, right)]);
            x.sent.clear();
        }
        x.sack(0, &[(9, 10), (1, 8)]);
    };
    run("linux-2.6", 10, |x| {
        until_9(x, 10_000);
        x.sends("8P").pipe(3).ack(8).sends("").ack(10).sends("").phase(Phase::Open);
    });
    run("linux-2.6+lost-first", 10, |x| {
        until_9(x, 10_000);
        x.sends("").ack(8).sends("").fire(1100).sends("8T");
    });
    run("linux-2.6", 10, |x| {
        until_9(x, 60_000);
        x.sends("13");
    });
}

/// 8 of 12 goes out by rule 3. Then 11 is SACKed, and so 8 is marked for what its first
/// transmission was: that one is lost, and not the retransmission on its way.
#[test]
fn a_segment_sent_again_before_it_is_marked_has_lost_its_original() {
    run_with("linux-2.6", SenderConfig { events: true, ..window(12) }, |x| {
        x.write(12_000).sends(&numbers(0, 12)).at(100).sack(0, &[(1, 5)]).sends("0F");
        for right in 6..9 {
            x.sack(0, &[(1, right)]).sends("");
        }
        x.sack(0, &[(9, 10), (1, 8)]).sends("8P").sack(0, &[(9, 11), (1, 8)]).sends("");
        x.sack(0, &[(9, 12), (1, 8)]).sends("").ack(12).phase(Phase::Open);
        let mut lost = Vec::new();
        while let Some(event) = x.sender.poll_event() {
            if let EventKind::Lost { seq, transmission, .. } = event.kind {
                lost.push((seq / 1000, transmission));
            }
        }
        assert_eq!(lost, [(0, 1), (8, 1)]);
    });
}

/// "When operating with CUBIC congestion control, the proportional part achieves the 30% window
/// reduction by spacing out seven new segments for every ten incoming ACKs" (section 4). In whole
/// segments fourteen for cwnd of 21, which two that limited transmit sent do not count in.
#[test]
fn linux_sends_seven_segments_for_ten() {
    run_with("linux", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20)).at(100);
        x.ack(1).sends("20 21").sack(1, &[(2, 3)]).sends("22+").sack(1, &[(2, 4)]).sends("23+");
        let rows = ["1F", "24", "", "25", "26", "", "27", "28", "", "29"];
        for (right, sent) in (5..).zip(rows) {
            x.sack(1, &[(2, right)]).sends(sent);
            assert_eq!(x.sender.state().ssthresh, 14_000);
        }
    });
}
