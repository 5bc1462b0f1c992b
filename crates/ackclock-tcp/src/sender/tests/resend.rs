//! Limited data of Lin & Kung, section 6.5.

use std::collections::VecDeque;

use super::*;
use crate::{DelayedAck, Receiver, ReceiverConfig};

/// Ten segments and no more; 0 is lost.
fn nine_duplicates(composition: &str, sent: [&str; 9], script: impl Fn(&mut Script)) {
    run(composition, 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
        for (ms, sends) in (101..).zip(sent) {
            x.at(ms).ack(0).sends(sends);
        }
        script(x);
    });
}

/// The retransmission is lost: without data nothing tells, and the timer expires.
#[test]
fn without_data_the_retransmission_is_not_missed() {
    nine_duplicates("newreno+lrxt", ["", "", "0F", "", "", "", "", "", ""], |x| {
        x.fire(1000).sends("0T");
    });
}

/// One segment for each ACK that would release a new one, from the first on.
#[test]
fn an_ack_without_new_data_releases_old_data() {
    for composition in ["newreno+resend", "newreno-ls+resend"] {
        nine_duplicates(composition, ["", "", "0F", "", "", "0D", "1D", "2D", "3D"], |x| {
            // What 1 and 2 draw; then the recovery ends.
            x.at(200)
                .ack(0)
                .sends("4D")
                .at(201)
                .ack(0)
                .sends("5D")
                .ack(10)
                .sends("")
                .phase(Phase::Open)
                .no_deadline();
        });
    }
}

/// It begins again at the end, and goes on above what is acknowledged.
#[test]
fn resend_goes_round() {
    run("newreno+resend", 4, |x| {
        x.write(4_000).sends("0 1 2 3");
        for (ms, sends) in (101..).zip(["", "", "0F", "0D", "1D", "2D", "3D", "0D"]) {
            x.at(ms).ack(0).sends(sends);
        }
        // Not 3 twice at once.
        x.at(200)
            .ack(3)
            .sends("3L")
            .at(201)
            .ack(3)
            .sends("3D")
            .at(202)
            .ack(3)
            .sends("3D")
            .ack(4)
            .sends("");
    });
}

/// The clock goes on, with the sequence of new data: the retransmission is repeated on the 15th
/// duplicate.
#[test]
fn header_only_segments_keep_the_clock_going() {
    // 64 segments above the highest one: above any window that the receiver can offer.
    for composition in ["newreno+lrxt+header-only", "newreno-ls+lrxt+header-only"] {
        nine_duplicates(composition, ["", "", "0F", "", "", "74Dw", "74Dw", "74Dw", "74Dw"], |x| {
            for _ in 10..15 {
                x.ack(0).sends("74Dw");
            }
            x.ack(0).sends("0L").ack(10).sends("").phase(Phase::Open);
        });
    }
}

/// The guard of section 5.3 waits for duplicates, which only fillers can draw here.
#[test]
fn fillers_serve_the_order_guard() {
    for (composition, sent) in
        [("", ["", ""]), ("+header-only", ["74Dw", "74Dw"]), ("+resend", ["9D", "9D"])]
    {
        run(&format!("newreno-ls+order-guard{composition}"), 10, |x| {
            x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
            // 0 and 9 are lost.
            x.ack(0).ack(0).ack(0).sends("0F");
            x.ack(0).ack(0).sends("");
            if composition.is_empty() {
                x.ack(0).ack(0).ack(0).sends("").ack(9).sends("").fire(1000).sends("9T");
                return;
            }
            for ms in 101..104 {
                x.at(ms).ack(0);
                x.sent.clear();
            }
            x.at(200)
                .ack(9)
                .sends(sent[0])
                .at(201)
                .ack(9)
                .sends(sent[1])
                .at(202)
                .ack(9)
                .sends(if composition == "+resend" { "9L" } else { "9P" });
        });
    }
}

/// New data goes first, a window that is closed counts as no data, and only within recovery.
#[test]
fn when_there_is_no_filler() {
    for composition in ["newreno+resend", "ns2-newreno+resend"] {
        run(composition, 10, |x| {
            x.write(12_000).sends("0 1 2 3 4 5 6 7 8 9");
            for (ms, sends) in (101..).zip(["", "", "0F", "", "", "10", "11", "0D", "1D"]) {
                x.at(ms).ack(0).sends(sends);
            }
            x.write(1_000).sends("").at(200).ack(0).sends("12").ack(0).sends("2D");
            x.ack(12).sends("").phase(Phase::Open).ack(12).ack(12).sends("");
        });
    }
    let config = SenderConfig { initial_window: Some(10), initial_rwnd: 11_000, ..config() };
    run_with("newreno+resend", config, |x| {
        x.window = 11_000;
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        for (ms, sends) in (101..).zip(["", "", "0F", "", "", "10", "0D", "1D", "2D"]) {
            x.at(ms).ack(0).sends(sends);
        }
    });
}

/// With SACK what has arrived is left out; the ACK of what arrives twice is no duplicate, and the
/// flow ends.
#[test]
fn with_sack_only_holes_are_filled() {
    run("sack-ls+resend", 6, |x| {
        x.write(6_000).sends("0 1 2 3 4 5");
        // 0 and 4 are lost.
        x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]).sends("0F");
        x.sack(0, &[(5, 6), (1, 4)]).sends("4P");
        x.at(100).sack(4, &[(5, 6)]).sends("4D").ack(6).sends("").phase(Phase::Open);
    });
}

/// RFC 9293 section 3.10.7.4: an empty segment draws an ACK only outside the window.
#[test]
fn a_header_only_segment_draws_a_duplicate() {
    run("newreno+lrxt+header-only", 10, |x| {
        let config = ReceiverConfig {
            isn: x.isn,
            mss: 1000,
            delayed_ack: DelayedAck::Off,
            sack: false,
            buffer: 64_000,
            wscale: 0,
            ..ReceiverConfig::default()
        };
        let mut receiver = Receiver::new(config);
        let now = Time::ZERO;
        x.sender.write(now, 10_000);
        let mut wire: VecDeque<_> = std::iter::from_fn(|| x.sender.poll_transmit(now)).collect();
        let mut fillers = 0;
        for _ in 0..60 {
            let Some(t) = wire.pop_front() else { break };
            // 0 and its first retransmission are lost.
            if t.position == 0 && t.transmission < 3 {
                continue;
            }
            fillers += u64::from(t.segment.len == 0);
            receiver.on_segment(now, &t.segment);
            let ack = receiver.poll_transmit(now).expect("an ACK");
            assert!(
                x.sender.acked() == 0 || t.segment.len == 0,
                "a filler may be answered after the end"
            );
            x.sender.on_segment(now, &ack);
            wire.extend(std::iter::from_fn(|| x.sender.poll_transmit(now)));
        }
        // On the sixth to the 14th duplicate.
        assert_eq!((fillers, x.sender.acked(), x.sender.stats().timeouts), (9, 10_000, 0));
        // Inside the window it would draw none.
        let inside = Segment { seq: Seq::at(x.isn, 10_001), ..Segment::default() };
        receiver.on_segment(now, &inside);
        assert_eq!(receiver.poll_transmit(now), None);
    });
}

/// What `resend` sent spuriously draws duplicates after the end of recovery: three of them begin
/// another one, for data that was written since and is under way. RFC 6582's bugfix lets them pass.
#[test]
fn the_duplicates_of_resend_outlive_the_recovery() {
    for (composition, third) in [("newreno-ls+resend", "10F"), ("newreno-ls+resend+bugfix", "")] {
        nine_duplicates(composition, ["", "", "0F", "", "", "0D", "1D", "2D", "3D"], |x| {
            x.at(200).ack(10).sends("").phase(Phase::Open).write(1_000).sends("10");
            // 0 to 2 arrive for the second time.
            x.ack(10).ack(10).sends("").ack(10).sends(third);
        });
    }
}

/// The ACK that ends recovery answers 0F, and 10 went out after that; but 0 to 2 went again later
/// still, and so 10 seems missing.
#[test]
fn resend_misleads_back_to_back_recoveries() {
    for (composition, dupacks) in [("newreno-ls+b2b+resend", 2), ("newreno-ls+b2b", 0)] {
        run(composition, 10, |x| {
            x.write(11_000).sends("0 1 2 3 4 5 6 7 8 9");
            let fillers = if dupacks > 0 { ["0D", "1D", "2D"] } else { ["", "", ""] };
            for (ms, sends) in (101..).zip(["", "", "0F", "", "", "10"].into_iter().chain(fillers))
            {
                x.at(ms).ack(0).sends(sends);
            }
            x.at(200).ack(10).sends("");
            assert_eq!(x.sender.state().dupacks, dupacks);
        });
    }
}

/// A window larger than any that a receiver can offer (RFC 7323 section 2.3) counts as the largest:
/// 2^30 bytes after the ten segments that are out.
#[test]
fn a_window_that_no_receiver_can_offer() {
    let config = SenderConfig { initial_rwnd: u64::MAX, ..window(10) };
    run_with("newreno+header-only", config, |x| {
        x.write(10_000).sends(&numbers(0, 10));
        assert_eq!((x.sender.state().window_edge, x.sender.state().max_window), (1 << 30, 1 << 30));
        // The first one moves the edge, and is no duplicate.
        x.ack(0).ack(0).ack(0).ack(0).sends("0F");
        x.ack(0).ack(0).sends("").ack(0).sends("1073751[824..824]Dw");
    });
}
