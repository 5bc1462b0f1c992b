//! Tail loss probe (RFC 8985 section 7), beside RACK.

use super::*;

/// Ten segments, the last of which is not acknowledged; a round trip of 100 ms.
fn tail(x: &mut Script) -> &mut Script {
    x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(9).sends("").windows(11_000, UNSET)
}

/// Figure 1 of section 3.4: P1 to P3 are lost, then the retransmission of P1.
#[test]
fn a_probe_finds_the_losses_of_figure_1() {
    run("rack-tlp", 10, |x| {
        x.write(4_000).sends("0 1 2 3").at(100).ack(1).sends("");
        x.fire(300).sends("3+").deadline(1_300);
        x.at(400).sack(1, &[(3, 4)]).sends("1F 2P").windows(2_000, 2_000).phase(Phase::Recovery);
        x.at(500).sack(1, &[(2, 4)]).sends("1L");
        x.at(600).ack(4).sends("").phase(Phase::Open).no_deadline().classes([0, 0, 0]);
    });
    run("sack", 10, |x| {
        x.write(4_000).sends("0 1 2 3").at(100).ack(1).sends("").fire(1_100).sends("1T");
    });
}

/// The probe's time is two of SRTT, whatever wraps the timer that keeps it.
#[test]
fn a_wrapped_timer_tells_its_srtt() {
    for composition in ["rack-tlp", "rack-tlp+rto-restart"] {
        run(composition, 10, |x| {
            x.write(4_000).sends("0 1 2 3").at(100).ack(1).sends("").fire(300).sends("3+");
        });
    }
}

/// The example of section 3.2, with ten segments for its hundred: the last three are lost. The
/// total recovery takes four round trips from the ACK that did not come, and the window is reduced,
/// not reset.
#[test]
fn the_last_three_of_a_flight() {
    run("rack-tlp", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(7).sends("");
        x.fire(300).sends("9+").at(400).sack(7, &[(9, 10)]).sends("7F 8P").windows(2_000, 2_000);
        x.at(500).ack(10).sends("").phase(Phase::Open).classes([0, 0, 0]);
    });
}

/// Section 7.3: a new segment goes first, even beyond cwnd. It repairs nothing, so no window is cut
/// for it.
#[test]
fn a_new_segment_is_the_better_probe() {
    run("rack-tlp", 10, |x| {
        x.write(30_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .at(100)
            .ack(1)
            .sends("10 11")
            .fire(300)
            .sends("12+");
        x.deadline(1_300).at(400).ack(13).windows(12_000, UNSET);
        x.sends("13 14 15 16 17 18 19 20 21 22 23 24")
            .at(500)
            .ack(14)
            .sends("25 26")
            .windows(13_000, UNSET);
    });
    // The first ACK beyond it.
    run("rack-tlp", 10, |x| {
        x.write(30_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .at(100)
            .ack(1)
            .sends("10 11")
            .fire(300)
            .sends("12+");
        x.at(350).ack(2).sends("13").at(450).ack(14).windows(13_000, UNSET);
        x.sends("14 15 16 17 18 19 20 21 22 23 24 25 26");
    });
    // What was sent before it is lost.
    run("rack-tlp", 10, |x| {
        x.write(30_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .at(100)
            .ack(1)
            .sends("10 11")
            .fire(300)
            .sends("12+");
        x.at(400).sack(1, &[(12, 13)]).sends("1F 2P").windows(2_000, 6_000);
    });
    // The receive window has no room for it.
    run("rack-tlp", 10, |x| {
        x.window = 9_000;
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(1).sends("").fire(300).sends("9+");
    });
}

/// Section 7.4.2: the probe repairs the only loss, and the first ACK beyond it brings the response:
/// half of eight segments.
#[test]
fn a_loss_that_the_probe_repaired_cuts_the_window() {
    run("rack-tlp", 10, |x| {
        tail(x).fire(500).sends("9+").at(600).ack(10).sends("").windows(12_000, UNSET);
        x.write(8_000)
            .sends("10 11 12 13 14 15 16 17")
            .at(700)
            .ack(11)
            .sends("")
            .windows(4_000, 4_000);
        // Once.
        x.ack(12).sends("").windows(4_250, 4_000).phase(Phase::Open);
    });
    // A D-SACK of another segment, a window update and a segment with data are no answer to the
    // probe.
    run("rack-tlp", 10, |x| {
        tail(x).fire(500).sends("9+").at(600).sack(10, &[(8, 9)]).sends("");
        x.window = 50_000;
        x.ack(10).sends("");
        let data = with_payload(x.header(10), false);
        x.segment(data).sends("");
        x.write(8_000)
            .sends("10 11 12 13 14 15 16 17")
            .at(700)
            .ack(11)
            .sends("")
            .windows(4_000, 4_000);
    });
}

/// Case 1: a D-SACK tells that both have arrived, with the ACK of the original, after it, or with
/// the first ACK beyond it.
#[test]
fn a_probe_answered_by_a_dsack_costs_nothing() {
    for one_ack in [true, false] {
        run("rack-tlp", 10, |x| {
            tail(x).fire(500).sends("9+");
            if !one_ack {
                x.at(550).ack(10).sends("");
            }
            x.at(600).sack(10, &[(9, 10)]).sends("").windows(12_000, UNSET);
            x.write(8_000)
                .sends("10 11 12 13 14 15 16 17")
                .at(700)
                .ack(11)
                .sends("")
                .windows(13_000, UNSET);
        });
    }
    run("rack-tlp", 10, |x| {
        tail(x).fire(500).sends("9+").at(550).ack(10).sends("").write(2_000).sends("10 11");
        x.at(600).sack(11, &[(9, 10)]).sends("").windows(13_000, UNSET);
        x.at(601).ack(12).sends("").windows(14_000, UNSET);
    });
}

/// Case 2: a receiver without D-SACK sends a bare duplicate.
#[test]
fn a_probe_answered_by_a_bare_duplicate_costs_nothing() {
    run("rack-tlp", 10, |x| {
        tail(x).fire(500).sends("9+").at(550).ack(10).sends("").at(600).ack(10).sends("");
        x.write(8_000)
            .sends("10 11 12 13 14 15 16 17")
            .at(700)
            .ack(11)
            .sends("")
            .windows(13_000, UNSET);
    });
}

/// Section 7.1: a recovery makes the probe irrelevant; its response is the only one. So does a
/// timeout.
#[test]
fn a_recovery_answers_for_the_probe() {
    run("rack-tlp", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(7).sends("").fire(300).sends("9+");
        x.at(400)
            .sack(7, &[(9, 10)])
            .sends("7F 8P")
            .windows(2_000, 2_000)
            .at(500)
            .ack(10)
            .sends("");
        x.write(2_000).sends("10 11").at(600).ack(11).sends("").windows(2_500, 2_000);
    });
    run("rack-tlp", 10, |x| {
        tail(x)
            .fire(500)
            .sends("9+")
            .fire(1_500)
            .sends("9T")
            .windows(1_000, 2_000)
            .at(1_600)
            .ack(10)
            .sends("");
        x.windows(2_000, 2_000)
            .write(2_000)
            .sends("10 11")
            .at(1_700)
            .ack(12)
            .sends("")
            .windows(2_500, 2_000);
    });
}

/// Section 7.3: one probe at a time, and none before a new round-trip sample.
#[test]
fn no_probe_without_a_new_sample() {
    run("rack-tlp", 10, |x| {
        tail(x).fire(500).sends("9+").deadline(1_500);
        // The probe is done with, but by Karn's rule its ACK is no sample.
        x.at(600).sack(10, &[(9, 10)]).sends("").write(2_000).sends("10 11").deadline(1_600);
        // Now there is one, and one segment is out.
        x.at(700).ack(11).sends("").deadline(1_100).fire(1_100).sends("11+");
    });
    // With a sample, by its timestamp, but before an ACK has shown what became of the probe.
    run_with("rack-tlp", SenderConfig { timestamps: true, ..config() }, |x| {
        x.echo = Some(0);
        tail(x).fire(500).sends("9+");
        x.echo = Some(500);
        x.at(600).ack(10).sends("").write(2_000).sends("10 11").deadline(1_600);
    });
    // With a sample, but before the ACK of a probe that was new data (section 7.3: TLP.end_seq is
    // SND.NXT).
    run("rack-tlp", 10, |x| {
        x.write(14_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(1).sends("10 11");
        x.fire(300).sends("12+").at(310).ack(11).sends("13").deadline(1_310);
    });
    // Nor in the first flight, which has given no round-trip sample.
    run("rack-tlp", 10, |x| {
        x.write(2_000).sends("0 1").deadline(1_000).fire(1_000).sends("0T");
    });
}

/// Section 7.2: without SRTT, which BSD's timer does not keep, "the PTO SHOULD be 1 second". It
/// needs a round trip all the same.
#[test]
fn without_srtt_a_probe_waits_for_a_second() {
    let timer = SenderConfig { min_rto: Some(Span::from_secs(5)), ..config() };
    run_with("rack-tlp+bsd-timer", timer, |x| {
        x.write(4_000).sends("0 1 2 3").deadline(6_000);
        x.at(100).ack(1).sends("").fire(1_100).sends("3+");
        // One segment or more, there is no allowance for a delayed ACK.
        x.at(1_200).ack(4).sends("").write(1_000).sends("4").at(1_300).ack(5).sends("");
        x.write(1_000).sends("5").fire(2_300).sends("5+");
    });
}

/// Section 7.3: "a previously unsent data segment, if one exists and the receive window allows".
#[test]
fn nagle_does_not_hold_a_probe_back() {
    run_with("rack-tlp", SenderConfig { nagle: true, ..config() }, |x| {
        x.write(9_000).sends("0 1 2 3 4 5 6 7 8").at(100).ack(8).sends("");
        x.write(500).sends("").fire(500).sends("9[0..500]+");
        // It repairs nothing, so no window is cut for it.
        x.at(600).ack_bytes(9_500).sends("").windows(12_000, UNSET);
    });
    // The second of F-RTO's two segments it does.
    run_with("sack+f-rto", SenderConfig { nagle: true, ..window(3) }, |x| {
        x.write(4_500).sends("0 1 2").fire(1_000).sends("0T").at(1_100).ack(1).sends("3+");
    });
}

/// Section 7.2: the probe takes the place of a timeout that would come before it.
#[test]
fn a_probe_comes_no_later_than_the_timeout() {
    run_with("rack-tlp", SenderConfig { min_rto: Some(Span::from_millis(1)), ..config() }, |x| {
        // RTO = 100 + 4 * 50 ms; PTO = 2 * 100 + 200 ms.
        tail(x).fire(400).sends("9+").deadline(700).fire(700).sends("9T").classes([0, 0, 1]);
    });
}

/// Section 7.2: every new segment and every ACK of new data puts it off; SACKed data and recovery
/// do without it.
#[test]
fn when_a_probe_is_scheduled() {
    run("rack-tlp", 10, |x| {
        x.write(4_000).sends("0 1 2 3").at(100).ack(1).sends("").deadline(300);
        x.at(150).write(1_000).sends("4").deadline(350).at(160).ack(2).sends("").deadline(360);
        // The reordering timer, and after the loss the retransmission timer.
        x.at(170).sack(2, &[(3, 4)]).sends("").deadline(195).fire(195).sends("2F").deadline(1_160);
    });
    // Without RACK nothing but the retransmission timer is left then.
    run("sack+tlp", 10, |x| {
        x.write(4_000)
            .sends("0 1 2 3")
            .at(100)
            .ack(1)
            .sends("")
            .deadline(300)
            .sack(1, &[(2, 3)])
            .deadline(1_100);
    });
    run_with("rack-tlp", SenderConfig { sack: false, ..config() }, |x| {
        x.write(4_000).sends("0 1 2 3").at(100).ack(1).sends("").fire(1_100).sends("1T");
    });
}

/// What limited transmit has sent is no part of FlightSize (RFC 5681 section 3.2 step 2): five
/// segments are halved, not six.
#[test]
fn the_response_leaves_out_limited_transmit() {
    run("rack-tlp+lt", 4, |x| {
        x.write(4_000)
            .sends("0 1 2 3")
            .at(100)
            .ack(1)
            .sends("")
            .fire(300)
            .sends("3+")
            .at(400)
            .write(20_000)
            .sends("4 5");
        x.sack(1, &[(2, 3)]).sends("6+").windows(5_000, UNSET);
        x.ack(5).sends("").windows(2_500, 2_500).phase(Phase::Open);
    });
}

/// Section 7.3: a round trip "since [...] the start of the connection" may be that of the
/// handshake, and a second probe waits for another one.
#[test]
fn the_handshake_is_a_round_trip() {
    run_with(
        "rack-tlp",
        SenderConfig { handshake_rtt: Some(Span::from_millis(100)), ..window(4) },
        |x| {
            x.write(4_000).sends("0 1 2 3").fire(200).sends("3+").fire(1_200).sends("0T");
        },
    );
    run("rack-tlp", 4, |x| {
        x.write(4_000).sends("0 1 2 3").fire(1_000).sends("0T");
    });
}

/// `tlp-fin`: the allowance for a delayed ACK is for a lone segment without FIN only.
#[test]
fn the_ack_of_a_fin_is_not_delayed() {
    for (composition, fin, probe) in
        [("sack+tlp", true, 500), ("sack+tlp-fin", true, 300), ("sack+tlp-fin", false, 500)]
    {
        run(composition, 10, |x| {
            let x = if fin { x.close_with_fin() } else { x.close_now() };
            x.write(10_000)
                .sends("0 1 2 3 4 5 6 7 8 9")
                .at(100)
                .ack(9)
                .sends("")
                .fire(probe)
                .sends("9+");
        });
    }
    // It is yet to come.
    run_with(
        "sack+tlp-fin",
        SenderConfig { handshake_rtt: Some(Span::from_millis(100)), ..window(1) },
        |x| {
            x.close_with_fin()
                .write(2_000)
                .sends("0")
                .deadline(400)
                .at(100)
                .ack(1)
                .sends("1")
                .deadline(300);
        },
    );
    // It goes with one more segment: no allowance, whatever there is.
    run_with(
        "sack+tlp-fin",
        SenderConfig { handshake_rtt: Some(Span::from_millis(100)), ..window(2) },
        |x| {
            x.close_with_fin().write(2_000).sends("0 1").deadline(200).fire(200).sends("1+");
        },
    );
}

/// `last-mile`: the probe for a lone last segment comes two round trips after the last ACK if there
/// is a FIN on it, and an RTO after the segment was sent if not; with `linux` an RTO after the last
/// ACK.
#[test]
fn the_tail_of_a_transfer() {
    for (composition, fin, probe) in [
        ("last-mile", true, 248),
        ("last-mile", false, 284),
        ("linux", true, 364),
        ("linux", false, 364),
    ] {
        run(composition, 10, |x| {
            let x = if fin { x.close_with_fin() } else { x.close_now() };
            x.write(10_000)
                .sends("0 1 2 3 4 5 6 7 8 9")
                .at(80)
                .ack(9)
                .sends("")
                .fire(probe)
                .sends("9+");
        });
    }
}
