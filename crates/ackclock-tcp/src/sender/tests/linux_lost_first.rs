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
        x.write(60_000).sends(&numbers(0, 10)).fire(300).sends("0T").windows(1_000, 7_000);
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
        x.windows(7_000, 7_000).fire(400).sends("0T").windows(1_000, 7_000).pipe(1);
        // 1 and 2, and then the tail.
        x.at(500).sack(1, &[(3, 8)]).sends("1S 2S").at(600).ack(8).sends("8S 9S");
    });
}

/// What was sent less than a round trip before the timeout is not given up.
#[test]
fn what_was_sent_lately_is_not_lost() {
    run_with(PLAIN, handshake(), |x| {
        x.write(2_000).sends("0 1").at(100).ack(1).sends("").at(290).write(1_000).sends("2");
        x.fire(400).sends("1T").pipe(1).at(410).write(1_000).sends("");
    });
}
