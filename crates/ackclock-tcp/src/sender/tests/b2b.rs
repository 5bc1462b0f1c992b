//! Back-to-back recoveries of Lin & Kung, section 6.4.

use super::path::Path;
use super::*;
use crate::recovery::ff96::Ff96Pipe;
use crate::recovery::ns2::Ns2Inflate;
use crate::recovery::regulate::Inflate;
use crate::recovery::regulate::LossSensitive;
use crate::recovery::regulate::Regulate;
use crate::recovery::retransmission::Lrx;
use crate::recovery::retransmission::{DetectRetransmission, Tick};
use crate::summary::AckSummary;

fn steps(path: &mut Path<'_>, n: u32) -> String {
    let sent: Vec<String> = (0..n).map(|_| path.step()).collect();
    sent.join(",")
}

/// Figure 5, segment 0 standing for packet 6554: five losses are repaired, of the new packets 6578
/// is lost, and 6590 goes out on the ACK that ends recovery. The figure does not tell the window:
/// with five losses from it, and no other than 6578, 19 is the only one for which these numbers
/// fit.
fn figure_5(composition: &str, script: impl Fn(&mut Path<'_>)) {
    run(composition, 19, |x| {
        x.write(90_000);
        x.sent.clear();
        let mut path = Path::new(x, &[(0, 1), (3, 1), (4, 1), (8, 1), (12, 1), (24, 1)]);
        let sent = steps(&mut path, 31);
        assert_eq!(
            sent,
            ",,0F,,,,,,,,19,20,21,22,3P,23,24,25,26,4P,27,28,29,8P,30,31,32,12P,33,34,35"
        );
        assert_eq!(path.phase(), Phase::Recovery);
        script(&mut path);
    });
}

/// "The sender sets dupacks counter to two, and transmits a new packet. The second recovery starts
/// when the next ACK comes", and "the sender should indeed reduce the window again".
#[test]
fn the_second_recovery_begins_on_the_next_duplicate() {
    figure_5("newreno-ls+b2b", |path| {
        assert_eq!((path.step().as_str(), path.phase()), ("36+", Phase::Open));
        assert_eq!(path.windows(), (9_500, 9_500));
        assert_eq!((path.step().as_str(), path.phase()), ("24F", Phase::Recovery));
        // Half of 9500, and one segment that has left.
        assert_eq!(path.windows(), (5_750, 4_750));
    });
}

/// Without it the second recovery waits for three duplicates.
#[test]
fn without_it_three_duplicates_begin_the_second_recovery() {
    figure_5("newreno-ls", |path| {
        assert_eq!((steps(path, 3).as_str(), path.phase()), (",,", Phase::Open));
        assert_eq!((path.step().as_str(), path.phase()), ("24F", Phase::Recovery));
        assert_eq!(path.windows(), (6_000 + 3_000, 6_000));
    });
}

/// RFC 6582's bugfix refuses duplicates for the recovery point itself, but not those that the end
/// of recovery stands for.
#[test]
fn bugfix_admits_what_the_end_of_recovery_tells() {
    for (composition, sent) in [("newreno+b2b", "16+,10F,,"), ("newreno", ",,,")] {
        run(composition, 10, |x| {
            x.write(60_000);
            x.sent.clear();
            // The first new segment is lost, which goes out before 5 goes again.
            let mut path = Path::new(x, &[(0, 1), (5, 1), (10, 1)]);
            assert_eq!(steps(&mut path, 11), ",,0F,,,10,11,12,5P 13,14,15");
            assert_eq!(steps(&mut path, 4), sent);
            if composition == "newreno+b2b" {
                // Half of 5000 and one segment that has left, then two more.
                x.windows(2_500 + 1_000 + 2_000, 2_500);
            }
        });
    }
}

/// With SACK everything goes again before new data does, unless a retransmission is lost too: here
/// those of 0 and 10.
#[test]
fn with_sack() {
    for (composition, sent) in
        [("sack-ff96+lrxt+response-1+b2b", "17,18+,10F"), ("sack-ff96+lrxt+response-1", "17,,")]
    {
        run(composition, 10, |x| {
            x.write(60_000);
            x.sent.clear();
            let mut path = Path::new(x, &[(0, 1), (0, 2), (10, 1), (10, 2)]);
            assert_eq!(steps(&mut path, 14), ",,0F,,,10,11,12,13,10P,14,15,16,0L");
            assert_eq!(steps(&mut path, 3), sent);
        });
    }
}

/// 16 goes again after 0 does for the second time. It was lost all the same; if it arrives now,
/// nothing comes of it, and if not, the next ACK tells.
#[test]
fn what_went_again_may_be_missing() {
    for (lost, sent) in [
        (&[(0, 1), (0, 2), (16, 1)][..], "20+,21 22 23,24"),
        (&[(0, 1), (0, 2), (16, 1), (16, 2)], "20+,16F,"),
    ] {
        run("sack-ff96+lrxt+response-1+b2b", 10, |x| {
            x.write(60_000);
            x.sent.clear();
            let mut path = Path::new(x, lost);
            assert_eq!(steps(&mut path, 17), ",,0F,,,10,11,12,13,14,15,16,17,18,0L,16P,19");
            assert_eq!(steps(&mut path, 3), sent);
        });
    }
}

/// Ten segments sent, 0 lost: the state before its retransmission arrives. 11 to 13 are under way
/// behind it.
fn one_loss(composition: &str, script: impl Fn(&mut Script)) {
    run(composition, 10, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        for (ms, sends) in (101..).zip(["", "", "0F", "", "", "10", "11", "12", "13"]) {
            x.at(ms).ack(0).sends(sends);
        }
        x.at(200);
        script(x);
    });
}

/// An ACK of all that was sent before the retransmission is as expected; duplicates then have to be
/// three.
#[test]
fn an_ack_of_all_that_was_expected_counts_nothing() {
    one_loss("newreno+b2b+no-bugfix", |x| {
        x.ack(10).sends("14").phase(Phase::Open);
        assert_eq!((x.sender.state().dupacks, x.sender.state().assumed_dupacks), (0, 0));
        x.ack(10).ack(10).sends("").ack(10).sends("10F");
    });
}

/// A segment and a retransmission that change places by one: the next ACK advances and clears the
/// counter. By two they begin a spurious recovery: the price of the mechanism.
#[test]
fn reordering_at_the_end_of_recovery() {
    let reordered = |x: &mut Script| {
        for (ms, sends) in (201..).zip(["5P 13", "14", "15"]) {
            x.at(ms).ack(5).sends(sends);
        }
    };
    let until_second_retransmission = |script: &dyn Fn(&mut Script)| {
        run("newreno+b2b", 10, |x| {
            x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
            // 0 and 5 are lost: eight duplicates.
            for (ms, sends) in (101..).zip(["", "", "0F", "", "", "10", "11", "12"]) {
                x.at(ms).ack(0).sends(sends);
            }
            // 12 is late.
            reordered(x);
            x.at(300);
            script(x);
        });
    };
    until_second_retransmission(&|x| {
        x.ack(12).sends("16+").ack(13).sends("17").phase(Phase::Open);
        assert_eq!((x.sender.state().dupacks, x.sender.state().assumed_dupacks), (0, 0));
    });
    until_second_retransmission(&|x| {
        x.ack(12).sends("16+").ack(12).sends("12F").phase(Phase::Recovery);
    });
    // 13 was sent right after the retransmission, and is not expected yet.
    until_second_retransmission(&|x| {
        x.ack(13).sends("16").phase(Phase::Open);
        assert_eq!(x.sender.state().dupacks, 0);
    });
    // An ACK lost makes the next one tell more, not less.
    until_second_retransmission(&|x| {
        x.ack(14).sends("16").phase(Phase::Open);
        assert_eq!(x.sender.state().dupacks, 0);
    });
}

/// "We set the dupacks counter to two": where the ACK that ends recovery is a duplicate in itself
/// (RFC 6675 section 2; an ACK was lost, and this one has SACK news), it does not begin the second
/// recovery alone.
#[test]
fn the_counter_is_set_to_two_and_not_raised_by_two() {
    run("sack+b2b", 10, |x| {
        x.write(13_000).sends("0 1 2 3 4 5 6 7 8 9");
        // 0, 9 and 10 are lost. Without new data 9 goes again after 10 did for the first time.
        x.at(101).sack(0, &[(1, 4)]).sends("0F").at(102).sack(0, &[(1, 9)]).sends("10 11 12");
        x.at(103).sack(0, &[(11, 12), (1, 9)]).sends("9P").write(10_000).sends("");
        x.at(104).sack(10, &[(11, 13)]).sends("13+ 14").phase(Phase::Open);
        assert_eq!((x.sender.state().dupacks, x.sender.state().assumed_dupacks), (2, 1));
        x.at(105).sack(10, &[(11, 14)]).sends("10F").phase(Phase::Recovery);
    });
}

/// The retransmission takes the place of the new segment where that ACK is enough to begin the
/// second recovery.
#[test]
fn a_recovery_that_begins_at_once_sends_no_probe() {
    run("sack+b2b", 10, |x| {
        x.write(14_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.at(101).sack(0, &[(1, 4)]).sends("0F").at(102).sack(0, &[(1, 9)]).sends("10 11 12");
        x.at(103).sack(0, &[(11, 12), (1, 9)]).sends("13");
        x.at(104).sack(0, &[(11, 13), (1, 9)]).sends("9P").write(10_000).sends("");
        // Three segments above 10 are SACKed. Half of the four outstanding: 10 and one more.
        x.at(105)
            .sack(10, &[(11, 14)])
            .sends("10F 14")
            .windows(2_000, 2_000)
            .phase(Phase::Recovery);
    });
}

/// Without data or window there is no new segment to send; the counter is set all the same.
#[test]
fn without_data_the_counter_is_set_too() {
    run("newreno-ls+b2b", 10, |x| {
        x.write(11_000);
        x.sent.clear();
        let mut path = Path::new(x, &[(0, 1), (5, 1), (9, 1), (10, 1)]);
        assert_eq!(steps(&mut path, 10), ",,0F,,,10,,5P,9P,");
        x.phase(Phase::Open);
        assert_eq!((x.sender.state().dupacks, x.sender.state().assumed_dupacks), (2, 2));
    });
}

/// No segment has left the network for the two duplicates: one has, when the third begins the
/// second recovery.
#[test]
fn the_next_recovery_counts_what_has_left() {
    run("reno", 10, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        let a = AckSummary { duplicate: true, ..AckSummary::default() };
        for (carried, left) in [(0, 3), (2, 1)] {
            let s = State {
                dupacks: 3,
                assumed_dupacks: carried,
                ssthresh: 4_000,
                ..x.sender.state().clone()
            };
            assert_eq!(Inflate::to_ssthresh().on_enter(&s, &a), 4_000 + left * MSS);
            assert_eq!(LossSensitive.on_enter(&s, &a), 4_000 + left * MSS);
            assert_eq!(Ns2Inflate::to_half_window().on_enter(&s, &a), 5_000 + left * MSS);
            // And the first segment, which is lost.
            let mut pipe = Ff96Pipe::default();
            pipe.on_enter(&s, &a);
            assert_eq!(pipe.in_flight(&s), (10 - left - 1) * MSS);
            // FlightSize + DupThresh duplicates, those that are received.
            let mut lrx = Lrx::default();
            lrx.on_enter(&s);
            let further = (1..).find(|_| lrx.on_ack(&s, &a) == Tick::Lost);
            assert_eq!(further, Some(10 + 3 - left));
        }
    });
}
