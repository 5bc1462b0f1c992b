//! PRR as Linux has it: `tcp_cwnd_reduction` and what calls it. The expected windows follow from
//! its rules by hand; the recorded answers of the kernel agree with them.

use super::*;

/// A round trip of 100 ms, cwnd 11, segments 1 to 11 outstanding. Segments 2, 3 and 4 are SACKed,
/// the first two of which release one each, and 1 is lost. ssthresh = 11 * 717 / 1024 = 7.
///
/// In flight are 13 - 3 - 1 = 9. Of what is delivered ceil(7 n / 11) may go.
fn lose_one(x: &mut Script) -> &mut Script {
    x.write(60_000).sends(&numbers(0, 10)).at(100).ack(1).sends("10 11").windows(11_000, UNSET);
    x.at(101).sack(1, &[(2, 3)]).sends("12+").at(102).sack(1, &[(2, 4)]).sends("13+");
    x.at(103).sack(1, &[(2, 5)]).sends("1F").windows(10_000, 7_000).phase(Phase::Recovery)
}

/// In proportion, rounded up, until in flight is ssthresh; then what has been delivered in excess.
#[test]
fn in_proportion_in_segments() {
    run("linux", 10, |x| {
        lose_one(x);
        // 2, 3, 3, 4, 4 and 4 of two to seven delivered.
        for (right, sent, cwnd) in
            [(6, "14", 10), (7, "", 9), (8, "15", 9), (9, "16", 9), (10, "", 8)]
        {
            x.at(98 + right).sack(1, &[(2, right)]).sends(sent).windows(cwnd * MSS, 7_000);
        }
        // Eight delivered, four sent.
        x.at(200).sack(1, &[(2, 11)]).sends("").windows(7_000, 7_000);
        for (right, sent) in [(12, "17"), (13, "18"), (14, "19")] {
            x.at(202).sack(1, &[(2, right)]).sends(sent).windows(7_000, 7_000);
        }
        x.at(203).ack(14).sends("20").windows(7_000, 7_000).phase(Phase::Open);
    });
    // RFC 9937 counts bytes: of one delivered 7/11 of a segment may go, of two 14/11.
    run("linux+prr+lt", 10, |x| {
        lose_one(x).at(104).sack(1, &[(2, 6)]).sends("").windows(9_273, 7_000);
    });
}

/// A law by FlightSize leaves out what left for SACKed segments beyond cwnd: half of 11 segments,
/// and not of 13 (RFC 5681 section 3.2 step 2). Once all was only reordered, all counts.
#[test]
fn what_left_beyond_cwnd_is_not_halved() {
    let disorder = |x: &mut Script| {
        x.write(60_000).sends(&numbers(0, 10)).at(100).ack(1).sends("10 11").windows(11_000, UNSET);
        x.at(101).sack(1, &[(2, 3)]).sends("12+").at(102).sack(1, &[(2, 4)]).sends("13+");
    };
    run("linux+abc", 10, |x| {
        disorder(x);
        x.at(103).sack(1, &[(2, 5)]).sends("1F").windows(10_000, 5_500).phase(Phase::Recovery);
    });
    // No probe sees to it.
    run("sack+abc+linux-prr", 10, |x| {
        disorder(x);
        x.at(103).ack(4).sends("14 15 16").windows(13_000, UNSET).at(200);
        x.sack(4, &[(5, 6)]).sends("17+").sack(4, &[(5, 7)]).sends("18+");
        x.sack(4, &[(5, 8)]).sends("4F").windows(12_000, 6_500).phase(Phase::Recovery);
    });
    // An ACK that fills one gap of two leaves more beyond cwnd than it takes off: half of 10
    // segments.
    let config = SenderConfig { initial_ssthresh: Some(10_000), ..window(10) };
    run_with("sack+abc+linux-prr", config, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100);
        x.sack(0, &[(2, 3)]).sends("10+").sack(0, &[(2, 4)]).sends("11+");
        x.at(102).sack(1, &[(2, 4)]).sends("12+").windows(10_000, 10_000);
        x.at(103).sack(1, &[(2, 5)]).windows(9_000, 5_000).phase(Phase::Recovery);
        x.sent.clear();
    });
}

/// Six of ten are lost, and so in flight is below ssthresh at once. An ACK that advances and shows
/// no loss lets one more go than it delivers.
#[test]
fn one_more_for_an_ack_that_advances() {
    run("linux", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(6, 9)]).sends("0F 1P 2P");
        x.windows(4_000, 7_000).at(101).sack(0, &[(6, 10)]).sends("3P").windows(4_000, 7_000);
        x.at(200).sack(1, &[(6, 10)]).sends("4P 5P").windows(5_000, 7_000);
        x.at(201).sack(2, &[(6, 10)]).sends("10 11").windows(6_000, 7_000);
        x.at(202).sack(3, &[(6, 10)]).sends("12 13").windows(7_000, 7_000);
        // ssthresh is reached, and one goes for one.
        x.at(203).sack(4, &[(6, 10)]).sends("14").windows(7_000, 7_000);
    });
}

/// The reordering timer begins a recovery, and one segment counts as delivered: one goes.
#[test]
fn a_recovery_that_time_begins_counts_one() {
    run("linux", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100).ack(1).sends("10 11");
        x.sack(1, &[(2, 3)]).sends("12+").deadline(132);
        x.fire(132).sends("1F").windows(11_000, 7_000).pipe(11);
    });
}

/// `prior_cwnd` is cwnd, and so is what ssthresh is taken from, also where the application sends
/// less: of ten five are outstanding. What it writes then goes, up to ssthresh.
#[test]
fn prior_cwnd_is_cwnd() {
    run("linux", 10, |x| {
        x.write(5_000).sends("0 1 2 3 4").at(100).sack(0, &[(1, 4)]).sends("0F");
        x.windows(4_000, 7_000).write(20_000).sends("5 6");
        x.at(101).sack(0, &[(1, 5)]).sends("7").windows(4_000, 7_000);
        x.at(200).ack(5).sends("8 9 10 11").windows(7_000, 7_000);
    });
}

/// Without SACK duplicates count as delivered, and release new data. Three of them mean a loss.
/// Nothing is inflated, and a partial acknowledgment shows the next loss.
#[test]
fn without_sack() {
    let config = SenderConfig { sack: false, ..window(10) };
    run_with("linux", config.clone(), |x| {
        // 0 and 4 are lost: eight duplicates after the first ACK.
        x.write(60_000).sends(&numbers(0, 10)).at(100).ack(0).sends("");
        x.ack(0).sends("10+").ack(0).sends("11+");
        // In flight 12 - 3 - 1 = 8, above ssthresh = 7: ceil(7 n / 10).
        x.at(101).ack(0).sends("0F").windows(9_000, 7_000);
        x.acks(0, ["12", "13", "", ""]);
        x.at(102).ack(0).sends("14").windows(7_000, 7_000);
        // Three of the eight that the duplicates stood for are acknowledged: 11 - 5 - 1 in flight.
        x.at(201).ack(4).sends("4P 15").windows(7_000, 7_000);
    });
    // RFC 5681 inflates.
    run_with("newreno", config, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100).ack(0).ack(0).ack(0).sends("0F");
        x.windows(8_000, 5_000);
    });
}
