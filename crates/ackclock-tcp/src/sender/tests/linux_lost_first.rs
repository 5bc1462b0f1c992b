//! Selection as Linux has it: `tcp_xmit_retransmit_queue`; and what a timeout leaves to it.

use super::*;

/// `linux` without probes and F-RTO.
const PLAIN: &str = "linux-rack+linux-alert+response-1+linux-lost-first+linux-prr+linux-undo+linux-cubic+linux-timer";

fn handshake() -> SenderConfig {
    SenderConfig { handshake_rtt: Some(Span::from_millis(100)), ..window(10) }
}

/// After a timeout what is lost goes in order and without what is SACKed, as far as cwnd allows,
/// and then new data. cwnd grows by what is delivered.
#[test]
fn after_a_timeout() {
    run_with(PLAIN, handshake(), |x| {
        x.write(60_000).sends(&numbers(0, 10)).fire(304).sends("0T").windows(1_000, 7_000);
        x.at(400).sack(1, &[(4, 5)]).sends("1S 2S 3S").windows(3_000, 7_000);
        x.at(500).sack(3, &[(4, 5)]).sends("5S 6S 7S 8S").windows(5_000, 7_000);
        x.at(501).ack(5).sends("9S 10").windows(6_000, 7_000);
    });
    // RFC 5681 counts the ACK, and begins with FlightSize / 2.
    run_with("sack", handshake(), |x| {
        x.write(60_000).sends(&numbers(0, 10)).fire(1000).sends("0T").windows(1_000, 5_000);
        x.at(1100).sack(1, &[(4, 5)]).sends("1S 2S").windows(2_000, 5_000);
    });
}

/// A timeout keeps what is SACKed, and within a recovery it leaves ssthresh alone: cwnd is what is
/// in flight and one more.
#[test]
fn a_timeout_within_a_recovery() {
    run_with(PLAIN, handshake(), |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).sack(0, &[(3, 8)]).sends("0F 1P 2P");
        x.windows(7_000, 7_000).fire(404).sends("0T").windows(1_000, 7_000).pipe(1);
        // 1 and 2, and then the tail.
        x.at(500).sack(1, &[(3, 8)]).sends("1S 2S").at(600).ack(8).sends("8S 9S");
    });
}

/// What was sent less than a round trip before the timeout is not given up.
#[test]
fn what_was_sent_lately_is_not_lost() {
    run_with(PLAIN, handshake(), |x| {
        x.write(2_000).sends("0 1").at(100).ack(1).sends("").at(290).write(1_000).sends("2");
        x.fire(404).sends("1T").pipe(1).at(410).write(1_000).sends("");
    });
}

/// `__tcp_retransmit_skb`: what does not fit a window that has shrunk is cut, and what lies beyond
/// it waits. The rest goes as a segment of its own.
#[test]
fn what_goes_again_fits_the_window() {
    run_with(PLAIN, handshake(), |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100);
        x.window = 2_500;
        x.ack(1).sends("").fire(404).sends("1T").at(500);
        x.window = 1_500;
        x.ack(2).sends("2S 3[0..500]S").windows(2_000, 7_000).at(600);
        x.window = 10_000;
        x.ack_bytes(3_500).sends("3[500..1000]S 4S 5S 6S").windows(4_000, 7_000);
    });
    // Within the window as it is with all of a segment, and not with a byte less.
    for (window, sent) in [(2_000, "2S 3S"), (1_999, "2S 3[0..999]S"), (1_000, "2S")] {
        run_with(PLAIN, handshake(), |x| {
            x.write(10_000).sends(&numbers(0, 10)).at(100).ack(1).sends("").fire(404).sends("1T");
            x.at(500).window = window;
            x.ack(2).sends(sent);
        });
    }
    // RFC 9293 section 3.8.6 allows what is beyond the window.
    run("sack", 10, |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).ack(1).sends("").fire(1100).sends("1T");
        x.at(1200).window = 1_000;
        x.ack(2).sends("2S");
        x.window = 2_000;
        x.sack(2, &[(8, 9)]).sends("3S");
    });
}

/// The first unacknowledged segment goes into a closed window, as its probe, and no other one.
#[test]
fn into_a_closed_window_goes_the_head_alone() {
    run_with(PLAIN, handshake(), |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).ack(1).sends("").at(101);
        x.window = 0;
        x.ack(1).sends("").fire(404).sends("1T").at(500).ack(2).sends("2S").windows(2_000, 7_000);
    });
}

/// `tcp_retrans_try_collapse`: short segments go again as one, as far as SMSS and the window allow.
#[test]
fn short_segments_are_joined() {
    let pieces = |x: &mut Script| {
        x.write(300).sends("0[0..300]").write(300).sends("0[300..600]");
        x.write(400).sends("0[600..1000]").write(1_000).sends("1");
    };
    run_with(PLAIN, handshake(), |x| {
        pieces(x);
        x.fire(304).sends("0T").pipe(1).at(400).ack(1).sends("1S").at(500).ack(2).sends("");
    });
    for (window, sent) in [(1_000, "0T"), (999, "0[0..600]T"), (599, "0[0..300]T")] {
        run_with(PLAIN, handshake(), |x| {
            pieces(x);
            x.at(100).window = window;
            x.ack(0).sends("").fire(304).sends(sent);
        });
    }
    // Not with what is SACKed.
    run_with(PLAIN, handshake(), |x| {
        x.write(1_000).sends("0").write(300).sends("1[0..300]").write(700).sends("1[300..1000]");
        let mut header = x.header(0);
        header.sack.push(SackBlock { left: Seq::at(x.isn, 1_300), right: Seq::at(x.isn, 2_000) });
        x.at(100).segment(header).fire(132).sends("0F").at(227).ack(1).sends("1[0..300]P");
    });
    run_with("sack", handshake(), |x| {
        pieces(x);
        x.fire(1000).sends("0[0..300]T 0[300..600]S 0[600..1000]S");
    });
}

/// `tcp_xmit_retransmit_queue`: nothing goes again while as many retransmissions are on their way
/// as segments are lost. 0 is not lost any more, since its timeout was spurious, but counts.
#[test]
fn a_retransmission_of_what_is_not_lost_counts() {
    run_with("linux", handshake(), |x| {
        x.write(60_000).sends(&numbers(0, 10)).fire(208).sends("10+").fire(512).sends("0T");
        x.at(520).sack(0, &[(1, 2)]).sends("").phase(Phase::Open).windows(10_000, UNSET);
        // 2 to 4 are lost; 6 to 10 and twice 0 are in flight.
        x.at(521).sack(0, &[(5, 8), (1, 2)]).sends("2F 3P");
        x.at(522).sack(0, &[(5, 9), (1, 2)]).sends("11");
        x.at(612).ack(2).sends("4P 9P").phase(Phase::Recovery);
    });
}
