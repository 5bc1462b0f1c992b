//! Protection against wrapped sequence numbers (RFC 7323 section 5).

use super::*;

fn stamped() -> ConnectionConfig {
    ConnectionConfig { timestamps: true, ..config() }
}

/// R1: SEG.TSval < TS.Recent, which is 1000 from the SYN on.
#[test]
fn an_older_timestamp_makes_a_segment_unacceptable() {
    run_established(stamped(), |x| {
        x.write(10).sends("PA 1+10 a301 ts0/1000");
        x.gets("PA 301+10 a11 ts999/0").sends("A 11 a301 ts0/1000").keeps_nothing();
        assert_eq!(x.c.acked(), 0);
        x.gets("PA 301+10 a11 ts1000/0").sends("A 11 a311 w9990 ts0/1000").keeps(0, 0, 10);
        assert_eq!(x.c.acked(), 10);
        x.gets("FA 311 a11 ts999/0").sends("A 11 a311 w9990 ts0/1000").in_state(Established);
        x.gets("FA 311 a11 ts1001/0").sends("A 11 a312 w9989 ts0/1001").in_state(CloseWait);
    });
}

/// RFC 7323 section 4.3 rule (2) has no end with the peer's FIN: its ACKs still have timestamps to
/// echo.
#[test]
fn ts_recent_moves_after_the_fin() {
    run_established(stamped(), |x| {
        x.gets("FA 301 a1 ts1001/0").sends("A 1 a302 w9999 ts0/1001").in_state(CloseWait);
        x.write(10).sends("PA 1+10 a302 w9999 ts0/1001");
        x.gets("A 302 a11 ts1002/0").sends("");
        x.write(10).sends("PA 11+10 a302 w9999 ts0/1002");
        x.gets("A 302 a21 ts1001/0").sends("A 21 a302 w9999 ts0/1002");
    });
}

/// Timestamps wrap as well.
#[test]
fn timestamps_wrap() {
    run(stamped(), |x| {
        x.accept("S 300 ts4294967295/0").sends("SA 0 a301 mss1000 ts0/4294967295");
        x.gets("A 301 a1 ts0/0").sends("").in_state(Established);
        x.gets("PA 301+10 a1 ts4294967295/0").sends("A 1 a301 ts0/0").keeps_nothing();
        x.gets("PA 301+10 a1 ts2147483647/0")
            .sends("A 1 a311 w9990 ts0/2147483647")
            .keeps(0, 0, 10);
    });
    // The half of the space that lies before.
    run_established(stamped(), |x| {
        x.gets("PA 301+10 a1 ts2147484648/0").sends("A 1 a301 ts0/1000").keeps_nothing();
        x.gets("PA 301+10 a1 ts2147484647/0")
            .sends("A 1 a311 w9990 ts0/2147484647")
            .keeps(0, 0, 10);
    });
}

/// In SYN-RECEIVED too.
#[test]
fn the_ack_of_the_handshake_is_checked() {
    run(stamped(), |x| {
        x.accept("S 300 ts1000/0").sends("SA 0 a301 mss1000 ts0/1000");
        x.gets("A 301 a1 ts999/0").sends("A 1 a301 ts0/1000").in_state(SynReceived);
        x.gets("A 301 a1 ts1000/0").sends("").in_state(Established);
    });
}

/// R1: "if the RST bit is not set".
#[test]
fn a_reset_is_exempt() {
    run_established(stamped(), |x| {
        x.gets("R 301 ts1/0").sends("").ended(CloseReason::Reset);
    });
}

/// R3 and section 4.3: only a segment that stands at the left edge moves TS.Recent.
#[test]
fn a_segment_out_of_order_does_not_move_ts_recent() {
    run_established(stamped(), |x| {
        x.gets("PA 401+10 a1 ts2000/0").sends("A 1 a301 ts0/1000").keeps(100, 0, 10);
        x.gets("PA 301+100 a1 ts1500/0").sends("A 1 a411 w9890 ts0/1500").keeps(0, 0, 100);
    });
}

/// Section 5.5: after 24 days without a segment TS.Recent is of no use; before that it is.
#[test]
fn an_idle_connection_forgets_ts_recent() {
    const DAY: u64 = 24 * 60 * 60 * 1000;
    let stamp = |ms: u64| ms as u32;
    run_established(stamped(), |x| {
        x.at(24 * DAY).gets("PA 301+10 a1 ts999/0");
        x.sends(&format!("A 1 a301 ts{}/1000", stamp(24 * DAY))).keeps_nothing();
        x.at(24 * DAY + 1).gets("PA 301+10 a1 ts999/0");
        x.sends(&format!("A 1 a311 w9990 ts{}/999", stamp(24 * DAY + 1))).keeps(0, 0, 10);
    });
    // Any acceptable segment shows that it is not idle.
    run_established(stamped(), |x| {
        x.at(20 * DAY).gets("A 301 a1 ts1000/0").sends("");
        x.at(44 * DAY)
            .gets("A 301 a1 ts999/0")
            .sends(&format!("A 1 a301 ts{}/1000", stamp(44 * DAY)));
    });
}

#[test]
fn timestamps_that_were_not_negotiated_protect_nothing() {
    run_established(config(), |x| {
        x.gets("PA 301+10 a1 ts2000/0").sends("A 1 a311 w9990");
        x.gets("PA 311+10 a1 ts1/0").sends("A 1 a321 w9980").keeps(10, 0, 10);
    });
}
