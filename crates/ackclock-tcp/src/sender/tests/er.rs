//! Early retransmit (RFC 5827) and its mitigations (Dukkipati et al. 2011 section 6).

use super::*;
use crate::recovery::detect::Transmission;
use crate::recovery::detect::{Detect, EarlyRetransmit, Emulated, Lost, Notice, Notices};
use crate::summary::AckSummary;

fn sent(composition: &str, segments: u64, script: impl Fn(&mut Script)) {
    let all = ["0", "0 1", "0 1 2", "0 1 2 3"][segments as usize - 1];
    run(composition, 4, |x| {
        x.write(segments * MSS).sends(all).at(100);
        script(x);
    });
}

/// Equation 2: ER_thresh = oseg - 1. Section 6 of the paper: "to 1 or 2 when the outstanding data
/// drops to 2 or 3 segments".
#[test]
fn one_duplicate_less_than_segments() {
    // ssthresh is two segments at least; inflated by what has left the network.
    sent("newreno+er", 2, |x| {
        x.ack(0).sends("0F").windows(3_000, 2_000).phase(Phase::Recovery);
        x.at(200).ack(2).sends("").windows(2_000, 2_000).phase(Phase::Open);
    });
    sent("newreno+er", 3, |x| {
        x.ack(0).sends("").ack(0).sends("0F").windows(4_000, 2_000);
    });
    sent("newreno+er", 4, |x| {
        x.acks(0, ["", "", "0F"]).windows(5_000, 2_000);
    });
    sent("newreno", 3, |x| {
        x.ack(0).sends("").ack(0).sends("").fire(1000).sends("0T");
    });
    sent("newreno+er", 1, |x| {
        x.ack(0).sends("").fire(1000).sends("0T");
    });
}

/// Condition 3.b: with new data to send, limited transmit comes first; without window for it, early
/// retransmit.
#[test]
fn only_without_new_data() {
    run("newreno+lt+er", 3, |x| {
        x.write(4_000).sends("0 1 2").at(100).acks(0, ["3+", "", "0F"]);
    });
    run("newreno+er", 3, |x| {
        x.write(4_000)
            .sends("0 1 2")
            .at(100)
            .ack(0)
            .sends("")
            .ack(0)
            .sends("")
            .fire(1000)
            .sends("0T");
    });
    run_with(
        "newreno+lt+er",
        SenderConfig { initial_window: Some(3), initial_rwnd: 3_000, ..config() },
        |x| {
            x.window = 3_000;
            x.write(4_000).sends("0 1 2").at(100).ack(0).sends("").ack(0).sends("0F");
        },
    );
}

/// Section 3.2: with SACK all segments but one have to be SACKed.
#[test]
fn with_sack() {
    sent("sack+er", 3, |x| {
        x.sack(0, &[(2, 3)]).sends("").sack(0, &[(1, 3)]).sends("0F").windows(2_000, 2_000);
    });
    // The ACK of the first SACK is lost.
    sent("sack+er", 3, |x| {
        x.sack(0, &[(1, 3)]).sends("0F");
    });
    sent("sack+er", 3, |x| {
        x.ack(2).sends("").fire(1100).sends("2T");
    });
    sent("sack", 3, |x| {
        x.sack(0, &[(1, 3)]).sends("").fire(1000).sends("0T");
    });
}

/// Condition 3.a: four segments are not few, even where they are too small for IsLost.
#[test]
fn four_small_segments() {
    run("sack+er", 4, |x| {
        x.write(500).sends("0[0..500]").write(500).sends("0[500..1000]");
        x.write(500).sends("1[0..500]").write(500).sends("1[500..1000]").at(100);
        let mut segment = x.header(0);
        segment.sack.push(SackBlock { left: Seq::at(x.isn, 500), right: Seq::at(x.isn, 2000) });
        x.segment(segment).sends("");
    });
}

/// Section 4.1: S2 of three is lost. (A) the ACK of S1 is delayed: with SACK only. (B) it is not:
/// either way.
#[test]
fn section_4_1() {
    sent("sack+er", 3, |x| {
        x.sack(1, &[(2, 3)]).sends("1F");
    });
    sent("newreno+er", 3, |x| {
        x.ack(1).sends("").fire(1100).sends("1T");
    });
    sent("sack+er", 3, |x| {
        x.ack(1).sends("").sack(1, &[(2, 3)]).sends("1F");
    });
    sent("newreno+er", 3, |x| {
        x.ack(1).sends("").ack(1).sends("1F");
    });
}

/// Mitigation 1: segment 0 comes late by one; later segments are only delayed too.
#[test]
fn off_after_reordering() {
    for (composition, sends) in [("newreno+er", "3F"), ("newreno+er-1", ""), ("newreno+er-2", "")] {
        sent(composition, 3, |x| {
            x.ack(0).sends("").ack(2).sends("").ack(3).sends("").write(3_000).sends("3 4 5");
            x.at(200).ack(3).sends("").ack(3).sends(sends);
            assert_eq!(x.sender.stats().retransmissions, u64::from(sends == "3F"));
        });
    }
    // It acts until then, and also after a genuine loss.
    sent("newreno+er-1", 3, |x| {
        x.ack(0).sends("").ack(0).sends("0F").at(200).ack(3).sends("").write(2_000).sends("3 4");
        x.at(300).ack(3).sends("").write(1_000).sends("");
    });
    sent("sack+er-1", 3, |x| {
        x.sack(0, &[(1, 3)]).sends("0F").at(200).ack(3).sends("").write(2_000).sends("3 4");
        x.at(300).sack(3, &[(4, 5)]).sends("3F");
    });
    // A retransmission has closed the gap: the next segment in order is none that came late.
    sent("sack+er-1", 3, |x| {
        x.sack(0, &[(1, 3)]).sends("0F").at(200).ack(3).sends("").write(1_000).sends("3");
        x.at(300).ack(4).sends("").write(2_000).sends("4 5").at(400).sack(4, &[(5, 6)]).sends("4F");
    });
    // A D-SACK says that an early retransmission was spurious.
    sent("sack+er-1", 3, |x| {
        x.sack(0, &[(1, 3)]).sends("0F").ack(3).sends("").at(200).sack(3, &[(0, 1)]).sends("");
        x.write(2_000).sends("3 4").at(300).sack(3, &[(4, 5)]).sends("").fire(1200).sends("3T");
    });
}

/// Mitigation 2: SRTT/4, and an ACK in the meantime cancels it.
#[test]
fn after_a_delay() {
    for (rtt, delay) in [(40, 25), (100, 25), (104, 26), (400, 100), (960, 240)] {
        run("newreno+er-2", 3, |x| {
            x.write(3_000).sends("0 1 2").at(rtt).ack(3).sends("").write(3_000).sends("3 4 5");
            x.at(2 * rtt).ack(3).sends("").ack(3).sends("").deadline(2 * rtt + delay);
            x.fire(2 * rtt + delay).sends("3F").windows(4_000, 2_000).phase(Phase::Recovery);
        });
        // 3 comes late by two, and just in time.
        run("newreno+er-2", 3, |x| {
            x.write(3_000).sends("0 1 2").at(rtt).ack(3).sends("").write(3_000).sends("3 4 5");
            x.at(2 * rtt)
                .ack(3)
                .sends("")
                .ack(3)
                .sends("")
                .at(2 * rtt + delay - 1)
                .ack(6)
                .sends("")
                .no_deadline();
            assert_eq!(x.sender.stats().retransmissions, 0);
        });
    }
    // Samples of 400 and 880 ms: SRTT is 460 ms.
    run("newreno+er-2", 3, |x| {
        x.write(1_000)
            .sends("0")
            .at(400)
            .ack(1)
            .sends("")
            .write(1_000)
            .sends("1")
            .at(1280)
            .ack(2)
            .sends("");
        x.write(2_000).sends("2 3").at(2000).ack(2).sends("").fire(2115).sends("2F");
    });
    // No sample yet: the longest delay.
    sent("newreno+er-2", 3, |x| {
        x.ack(0).sends("").ack(0).sends("").fire(600).sends("0F");
    });
    // The retransmission timer comes first.
    sent("newreno+er-2", 3, |x| {
        x.at(600)
            .ack(0)
            .sends("")
            .ack(0)
            .sends("")
            .fire(1000)
            .sends("0T")
            .fire(1100)
            .sends("")
            .windows(1_000, 2_000);
    });
}

/// RFC 5827 section 3.2: what is written during the delay goes out, or waits for cwnd. With four or
/// more segments outstanding, or unsent data, early retransmit "MUST NOT" be used.
#[test]
fn new_data_during_the_delay() {
    for composition in ["newreno+er-2", "sack+er-2"] {
        for (written, sends) in [(1_000, "6"), (20_000, "6 7 8")] {
            run(composition, 3, |x| {
                x.write(3_000).sends("0 1 2").at(100).ack(1).ack(2).ack(3).sends("");
                x.write(3_000).sends("3 4 5").at(200).sack(3, &[(4, 5)]).sends("");
                x.sack(3, &[(4, 6)]).sends("").deadline(225);
                x.at(210).write(written).sends(sends);
                x.fire(225).sends("").phase(Phase::Open);
                assert_eq!(x.sender.stats().retransmissions, 0);
            });
        }
    }
}

/// After a round trip of 2.4 s the delay is not 600 but 500 ms. What a deadline finds lost is
/// subject to the check of ambiguity too: here RFC 6582's, for the ACK covers no more than
/// `recover`.
#[test]
fn the_longest_delay() {
    for (composition, sends) in [("sack+er-2", "1F"), ("newreno+sack+er-2+bugfix", "")] {
        run_with(
            composition,
            SenderConfig { initial_window: Some(1), timestamps: true, ..config() },
            |x| {
                x.write(1_000).sends("0").fire(1000).sends("0T");
                x.echo = Some(0);
                x.at(2400).ack(1).sends("").write(2_000).sends("1 2").at(4800);
                x.sack(1, &[(2, 3)]).sends("").fire(5300).sends(sends);
            },
        );
    }
}

/// The detection beneath keeps its own deadline: RACK's, 100 + 25 ms after 1 was sent (RFC 8985
/// section 6.2 step 5).
#[test]
fn the_timer_of_the_detection_beneath() {
    run("rack+er-2+recovery-point+lost-first+pipe", 10, |x| {
        x.write(200_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(1).sends("10 11");
        x.sack(1, &[(2, 3)]).sends("").fire(125).sends("1F").windows(5_500, 5_500);
    });
}

/// Answers every question otherwise than a detection that leaves it to the trait.
struct Beneath;

impl Detect for Beneath {
    fn watches_deliveries(&self) -> bool {
        true
    }

    fn dupthresh(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        9
    }

    fn emulate(&mut self, _s: &State, _a: &AckSummary) -> Option<Emulated> {
        Some(Emulated { segments: 1, delivered: 2 })
    }

    fn on_ack(&mut self, _s: &State, _a: &AckSummary) -> Lost {
        Lost::Nothing
    }

    fn counts_advances(&self) -> bool {
        true
    }

    fn armed(&self) -> bool {
        true
    }

    fn notices(&self) -> Notices {
        Notices::AtOnce
    }

    fn on_notice(&mut self, _s: &State, _notice: Notice) -> Lost {
        Lost::Head
    }

    fn keeps_sacks(&self, _s: &State) -> bool {
        true
    }

    fn judges_again(&self) -> bool {
        false
    }

    fn reneges(&self, _s: &State) -> Option<Span> {
        Some(Span::from_millis(3))
    }

    fn counts_repeat(&self, _s: &State, _a: &AckSummary) -> bool {
        true
    }

    fn recounts(&self) -> bool {
        false
    }

    fn on_timeout(&mut self, _s: &State) -> Time {
        Time(7)
    }
}

/// What it has no answer of its own to is asked of the detection beneath.
#[test]
fn it_hands_on_every_other_question() {
    sent("newreno", 3, |x| {
        let (s, a) = (x.sender.state(), AckSummary::default());
        let mut er = EarlyRetransmit::naive(Box::new(Beneath));
        assert!(er.watches_deliveries() && er.counts_advances() && er.armed());
        assert!(er.keeps_sacks(s) && er.counts_repeat(s, &a));
        assert!(!er.judges_again() && !er.recounts());
        assert_eq!(er.dupthresh(s, &a), 9);
        assert_eq!(er.emulate(s, &a), Some(Emulated { segments: 1, delivered: 2 }));
        assert_eq!(er.reneges(s), Some(Span::from_millis(3)));
        assert_eq!(er.notices(), Notices::AtOnce);
        let notice = Notice { lost: Transmission { seq: 0, number: 1 }, at_once: true };
        assert_eq!(er.on_notice(s, notice), Lost::Head);
        assert_eq!(er.on_timeout(s), Time(7));
    });
}
