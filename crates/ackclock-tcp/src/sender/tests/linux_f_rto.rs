//! F-RTO as Linux has it: `tcp_process_loss`.

use super::*;

/// A round trip of 100 ms, a probe after 202 ms and a timeout 300 ms later, in ticks: ten segments
/// were outstanding, ssthresh is 7.
fn time_out(x: &mut Script) -> &mut Script {
    x.write(60_000).sends(&numbers(0, 10)).fire(208).sends("10+").fire(512).sends("0T");
    x.windows(1_000, 7_000).phase(Phase::Loss)
}

fn handshake() -> SenderConfig {
    SenderConfig { handshake_rtt: Some(Span::from_millis(100)), ..window(10) }
}

/// The first original that an ACK reports is enough, be it SACKed.
#[test]
fn the_first_original_undoes_the_timeout() {
    run_with("linux", handshake(), |x| {
        time_out(x).at(520).sack(0, &[(1, 2)]).sends("").phase(Phase::Open);
        x.windows(10_000, UNSET);
    });
    run_with("linux", handshake(), |x| {
        // 0 may have been either; 1 was not retransmitted.
        time_out(x).at(520).ack(1).sends("11+ 12+").phase(Phase::Loss).windows(2_000, 7_000);
        x.at(521).ack(2).phase(Phase::Open);
        x.sent.clear();
        x.windows(11_000, UNSET);
    });
    // RFC 5682 waits for the second ACK.
    run_with("linux+f-rto", handshake(), |x| {
        time_out(x).at(520).sack(0, &[(1, 2)]).phase(Phase::Open);
        x.sent.clear();
    });
}

/// SACKed new data after the first ACK: the timeout was needed. What is lost goes again.
#[test]
fn new_data_sacked_means_loss() {
    run_with("linux", handshake(), |x| {
        time_out(x).at(602).ack(1).sends("11+ 12+").windows(2_000, 7_000);
        x.at(702).sack(1, &[(11, 12)]).sends("1S").phase(Phase::Loss);
    });
}

/// Without new data what is lost goes at once.
#[test]
fn without_new_data() {
    run_with("linux", handshake(), |x| {
        x.write(10_000).sends(&numbers(0, 10)).fire(208).sends("9+").fire(512).sends("0T");
        x.at(602).ack(1).sends("1S 2S").windows(2_000, 7_000);
    });
}

/// So does a duplicate without SACK blocks, once new data was sent.
#[test]
fn a_bare_duplicate_means_loss() {
    run_with("linux", handshake(), |x| {
        time_out(x).at(602).ack(1).sends("11+ 12+").at(650).ack(1).sends("");
        x.at(702).ack(2).sends("2S").phase(Phase::Loss).windows(3_000, 7_000);
    });
    // Not a D-SACK, nor a change of the window.
    run_with("linux", handshake(), |x| {
        time_out(x).at(602).ack(1).sends("11+ 12+").at(650).sack(1, &[(0, 1)]).sends("");
        x.window = 63_000;
        x.ack(1).sends("").at(702).ack(2).phase(Phase::Open);
        x.sent.clear();
    });
}

/// Not within a recovery; but a second timeout with nothing acknowledged since the first one, be
/// there a recovery between (`icsk_retransmits`).
#[test]
fn a_second_timeout_tries_again() {
    run_with("linux", handshake(), |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).sack(0, &[(2, 10)]).sends("0F 1P");
        x.at(380).write(2_000).sends("10 11").fire(404).sends("0T").phase(Phase::Loss);
        // Within a recovery 10, an original, decides nothing.
        x.at(480).sack(0, &[(2, 11)]).sends("1S").phase(Phase::Loss);
        // 1 was sent after the retransmission of 0, which is lost: a recovery begins.
        x.at(580).sack(0, &[(1, 11)]).sends("0F").phase(Phase::Recovery);
        x.fire(884).sends("0T").phase(Phase::Loss);
        x.at(890).sack(0, &[(1, 12)]).sends("").phase(Phase::Open);
    });
}

/// The first ACK lets new data out whatever Nagle's algorithm says (`tcp_xmit_recovery`:
/// `TCP_NAGLE_OFF`). Linux 6.18 was seen to send the tail of 50 bytes on it, and what is lost on
/// the next.
#[test]
fn a_short_tail_is_not_held_back() {
    run_with("linux", SenderConfig { nagle: true, sack: false, ..window(10) }, |x| {
        x.write(2_750).sends("0 1 2[0..750]").write(50).sends("").fire(1004).sends("0T");
        x.at(1080).ack(1).sends("2[750..800]+").phase(Phase::Loss);
    });
}
