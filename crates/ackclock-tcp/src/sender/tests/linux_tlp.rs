//! Tail loss probe as Linux has it: `tcp_schedule_loss_probe`, `tcp_send_loss_probe`,
//! `tcp_process_tlp_ack`.

use super::*;

fn handshake(ms: u64) -> SenderConfig {
    SenderConfig { handshake_rtt: Some(Span::from_millis(ms)), ..window(10) }
}

/// Two round trips and 2 ms; with one segment outstanding the least timeout in place of them;
/// without a round trip a second. All of it in ticks of 4 ms, and one more (`usecs_to_jiffies`).
#[test]
fn when_it_comes() {
    run_with("linux", handshake(50), |x| {
        x.write(2_000).sends("0 1").deadline(108).fire(108).sends("1+");
    });
    run_with("linux", handshake(50), |x| {
        // SRTT + 200 ms is earlier than 2 SRTT + 200 ms: 63 ticks.
        x.write(1_000).sends("0").deadline(256).fire(256).sends("0+");
    });
    run("linux", 10, |x| {
        x.write(2_000).sends("0 1").deadline(1004).fire(1004).sends("1+");
    });
    run_with(
        "linux",
        SenderConfig { min_rto: Some(Span::from_millis(20)), ..handshake(50) },
        |x| {
            x.write(1_000).sends("0").deadline(124).fire(124).sends("0+");
        },
    );
}

/// Ticks have a phase: 26 of them (102 ms) count from the next one after the segments went out.
#[test]
fn it_comes_with_a_tick() {
    let config = SenderConfig { tick_phase: Span::from_millis(1), ..handshake(50) };
    run_with("linux", config, |x| {
        x.write(2_000).sends("0 1").deadline(105).fire(105).sends("1+");
    });
}

/// The timeout counts from the probe. What the probe retransmits counts in the pipe once.
#[test]
fn the_timeout_follows() {
    run_with("linux", handshake(50), |x| {
        x.write(2_000).sends("0 1").fire(108).sends("1+").pipe(2).fire(364).sends("0T");
    });
    // New data is a better probe, and goes whatever the window says.
    run_with("linux", SenderConfig { initial_window: Some(2), ..handshake(50) }, |x| {
        x.write(9_000).sends("0 1").fire(108).sends("2+").fire(364).sends("0T");
    });
}

/// While a probe is on its way, the next one sends nothing; the timeout is then counted from when
/// the head was sent.
#[test]
fn one_at_a_time() {
    run_with("linux", handshake(50), |x| {
        x.write(2_000).sends("0 1").fire(108).sends("1+").write(1_000).sends("2");
        // 102 + 2 * 50 + 2, and 0 + 252.
        x.fire(216).sends("").fire(256).sends("0T");
    });
}

/// `__tcp_retransmit_skb` sends nothing beyond a window that has shrunk, but the first segment. So
/// no probe goes, and the timeout is counted from when the head was sent.
#[test]
fn none_beyond_a_window_that_has_shrunk() {
    run_with("linux", handshake(50), |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(50).window = 4_000;
        x.ack(1).sends("").fire(156).sends("").fire(256).sends("1T");
    });
    // The last segment is the first, too.
    run_with("linux", handshake(50), |x| {
        x.write(2_000).sends("0 1").at(50).window = 0;
        x.ack(1).sends("").fire(304).sends("1+");
    });
}

/// The ACK of a probe that repaired a loss lowers the windows, and may then open them again: 10 *
/// 717 / 1024 = 7.
#[test]
fn a_repaired_loss_lowers_the_windows() {
    run_with("linux", handshake(50), |x| {
        x.write(2_000).sends("0 1").at(50).ack(1).sends("").fire(304).sends("1+");
        x.at(310).write(1_000).sends("2").at(350).ack(3).sends("").windows(7_000, 7_000);
    });
    // The D-SACK of what the probe repeated says that nothing was lost.
    run_with("linux", handshake(50), |x| {
        x.write(2_000).sends("0 1").at(50).ack(1).sends("").fire(304).sends("1+");
        x.at(350).ack(2).sends("").at(351).sack(2, &[(1, 2)]).sends("");
        x.write(1_000).sends("2").at(400).ack(3).sends("").windows(10_000, UNSET);
    });
}

/// The ACK of a probe that was new data ends it (`tcp_process_tlp_ack`: no `tlp_retrans`): the next
/// tail has a probe of its own.
#[test]
fn new_data_acknowledged_leaves_no_probe() {
    run_with("linux", SenderConfig { initial_window: Some(2), ..handshake(50) }, |x| {
        x.write(3_000).sends("0 1").fire(108).sends("2+").at(150).ack(3).sends("");
        let at = x.at(160).write(2_000).sends("3 4").sender.next_deadline();
        x.fire(at.0 / 1_000_000).sends("4+");
    });
}
