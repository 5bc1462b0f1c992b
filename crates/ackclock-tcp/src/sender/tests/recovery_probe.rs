//! A probe within recovery: RFC 9002 section 6.2, RFC 8985 section 6.2.

use super::*;

/// The handshake took 80 ms, and so does every round trip.
fn handshake() -> SenderConfig {
    SenderConfig { handshake_rtt: Some(Span::from_millis(80)), ..window(10) }
}

/// Five segments of which the first is lost; it goes again at 80 ms.
fn first_of_five_lost(x: &mut Script) {
    x.write(5_000).sends("0 1 2 3 4").at(80);
    x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]).sends("0F");
    x.sack(0, &[(1, 5)]).sends("");
}

/// A round trip and a quarter after the retransmission, and 2 ms: 80 + 100 + 2, in ticks of Linux.
/// What goes counts in the pipe once. The timeout, of 80 + 200 ms, counts from the probe and backs
/// off after that.
#[test]
fn a_retransmission_without_an_answer_goes_again() {
    run_with("linux+recovery-probe", handshake(), |x| {
        first_of_five_lost(x);
        x.pipe(1).fire(188).sends("0+").pipe(1).phase(Phase::Recovery);
        x.fire(expiry(188, 280)).sends("0T").fire(expiry(472, 560)).sends("0T");
    });
    run_with("linux", handshake(), |x| {
        first_of_five_lost(x);
        x.fire(expiry(80, 280)).sends("0T");
    });
    // A timer beside others, of one second.
    run_with("sack+recovery-probe", handshake(), |x| {
        first_of_five_lost(x);
        x.pipe(1).fire(182).sends("0+").pipe(1).fire(1182).sends("0T");
    });
}

/// Neither the probe nor its ACK changes a window: 10 * 717 / 1024 = 7 is what the recovery left.
#[test]
fn the_windows_stay() {
    run_with("linux+recovery-probe", handshake(), |x| {
        first_of_five_lost(x);
        let (cwnd, ssthresh) = (x.sender.state().cwnd, x.sender.state().ssthresh);
        x.fire(188).sends("0+").windows(cwnd, ssthresh);
        x.at(262).ack(5).sends("").windows(7_000, 7_000).phase(Phase::Open);
    });
}

/// Segment 5 was sent at 20 ms and is reported 80 ms later, which puts the probe off by as much:
/// 100 + 102. So does new data: 110 + 102.
#[test]
fn what_is_delivered_or_sent_puts_it_off() {
    let script = |x: &mut Script, due: fn(u64) -> u64| {
        x.write(5_000).sends("0 1 2 3 4").at(20).write(1_000).sends("5").at(80);
        x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]).sends("0F");
        x.sack(0, &[(1, 5)]).sends("").deadline(due(80)).at(100).sack(0, &[(1, 6)]).sends("");
    };
    let linux: fn(u64) -> u64 = |set| expiry(set, 102);
    let sack: fn(u64) -> u64 = |set| set + 102;
    for (composition, due) in [("linux+recovery-probe", linux), ("sack+recovery-probe", sack)] {
        run_with(composition, handshake(), |x| {
            script(x, due);
            x.fire(due(100)).sends("0+");
        });
        run_with(composition, handshake(), |x| {
            script(x, due);
            x.at(110).write(1_000).sends("6").deadline(due(110));
            // Nothing was lost but the ACK.
            x.at(211).sack(0, &[(1, 6)]).sends("").fire(due(110)).sends("0+");
        });
    }
}

/// Segments `from` and `from + 1` of six are lost, which are sent at `at` ms, and so is the
/// retransmission of `from`.
fn two_of_six_lost(x: &mut Script, from: u64, at: u64) {
    let up_to = |n| [(from + 2, from + n)];
    x.at(at).write(6_000).sends(&numbers(from, from + 6)).at(at + 80);
    x.sack(from, &up_to(3)).sack(from, &up_to(4)).sends("");
    x.sack(from, &up_to(5)).sends(&format!("{from}F"));
    x.sack(from, &up_to(6)).sends(&format!("{}P", from + 1));
}

/// Two are lost, and none was acknowledged before: the path is full, and the timer is left. Once
/// one is repaired, the other is the only one, and has its probe.
#[test]
fn several_losses_are_left_to_the_timer() {
    run_with("linux+recovery-probe", handshake(), |x| {
        two_of_six_lost(x, 0, 0);
        x.fire(expiry(80, 280)).sends("0T");
    });
    run_with("linux+recovery-probe", handshake(), |x| {
        two_of_six_lost(x, 0, 0);
        x.at(160).sack(1, &[(2, 6)]).fire(expiry(160, 102)).sends("1+");
    });
}

/// Where two were acknowledged before, two losses are taken for chance; but not again, and not
/// after a timeout.
#[test]
fn several_losses_at_first() {
    for (before, probe) in [(1, false), (2, true)] {
        run_with("linux+recovery-probe", handshake(), |x| {
            x.write(before * 1_000).sends(&numbers(0, before)).at(80).ack(before).sends("");
            two_of_six_lost(x, before, 100);
            x.deadline(expiry(180, if probe { 102 } else { 280 }));
        });
    }
    run_with("linux+recovery-probe", handshake(), |x| {
        x.write(2_000).sends("0 1").at(80).ack(2).sends("");
        two_of_six_lost(x, 2, 100);
        x.fire(288).sends("2+").at(362).ack(8).sends("").phase(Phase::Open);
        two_of_six_lost(x, 8, 400);
        x.deadline(expiry(480, 280));
    });
    let config = SenderConfig { handshake_rtt: Some(Span::from_millis(80)), ..window(40) };
    run_with("linux+recovery-probe", config, |x| {
        x.write(40_000).sends(&numbers(0, 40)).fire(168).sends("39+").fire(452).sends("0T");
        x.at(522).ack(40).sends("");
        two_of_six_lost(x, 40, 600);
        x.fire(expiry(680, 280)).sends("40T");
    });
}

/// Three losses are more than the two segments acknowledged before.
#[test]
fn more_losses_than_were_acknowledged() {
    run_with("linux+recovery-probe", handshake(), |x| {
        x.write(2_000).sends("0 1").at(80).ack(2).sends("");
        x.at(100).write(8_000).sends(&numbers(2, 10)).at(180);
        x.sack(2, &[(5, 6)]).sack(2, &[(5, 7)]).sends("").sack(2, &[(5, 8)]).sends("2F");
        x.sack(2, &[(5, 9)]).sends("3P").sack(2, &[(5, 10)]).sends("4P").deadline(expiry(180, 280));
    });
}

/// It is for recovery. After a timeout that none preceded, the timer backs off alone.
#[test]
fn not_after_a_timeout() {
    run_with("sack+recovery-probe", handshake(), |x| {
        x.write(2_000).sends("0 1").at(80).sack(0, &[(1, 2)]).sends("").fire(1_000).sends("0T");
        x.at(1_010).sack(0, &[(1, 2)]).sends("").phase(Phase::Loss).deadline(3_000);
    });
}

/// Segments 5 and 6 were sent at 20 ms. That 5 is reported after the probe does not have the probe
/// go again. The timeout counts from then: srtt is 80 + 90 / 8, and 200 ms more.
#[test]
fn one_for_each_segment() {
    run_with("linux+recovery-probe", handshake(), |x| {
        x.write(5_000).sends("0 1 2 3 4").at(20).write(2_000).sends("5 6").at(80);
        x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]).sends("0F");
        x.sack(0, &[(1, 5)]).sends("").fire(188).sends("0+");
        x.at(190).sack(0, &[(1, 6)]).sends("").fire(expiry(190, 292)).sends("0T");
    });
}

/// Where the last segment alone is left, its ACK may be delayed, and only a FIN keeps that from
/// happening.
#[test]
fn only_where_the_ack_is_not_delayed() {
    for (fin, deadline) in [(false, expiry(160, 280)), (true, expiry(160, 102))] {
        run_with("linux+recovery-probe", handshake(), |x| {
            let x = if fin { x.close_with_fin() } else { x.close_now() };
            x.write(5_000).sends("0 1 2 3 4").at(80);
            x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]).sends("0F");
            x.at(160).ack(4).sends("4P").phase(Phase::Recovery).deadline(deadline);
        });
    }
    // The FIN is on the segment after it.
    run_with("linux+recovery-probe", handshake(), |x| {
        x.close_with_fin().write(6_000).sends("0 1 2 3 4 5").at(80);
        x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]).sends("0F");
        x.at(160).ack(4).sends("4P").deadline(expiry(160, 280));
    });
}

/// It looks for reports above a gap, so that it takes SACK.
#[test]
fn it_takes_sack() {
    for composition in ["linux", "linux+recovery-probe"] {
        run_with(composition, SenderConfig { sack: false, ..handshake() }, |x| {
            x.write(5_000).sends("0 1 2 3 4").at(80);
            x.ack(0).ack(0).acks(0, ["", "0F", ""]).deadline(expiry(80, 280));
        });
    }
}

/// RACK's reordering window comes first where it is open: segment 2 is not lost before 82 + 20 ms
/// and 2 more. The probe is due 102 ms after that.
#[test]
fn the_reordering_window_comes_first() {
    run_with("linux+linux-rack-no-dupthresh+recovery-probe", handshake(), |x| {
        x.write(5_000).sends("0 1 2 3 4").at(80).sack(0, &[(1, 5)]).sends("");
        x.fire(108).sends("0F").fire(216).sends("0+");
    });
}
