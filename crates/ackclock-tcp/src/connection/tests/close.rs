//! Closing: RFC 9293 section 3.6, figures 12 and 13, FIN as a byte of the stream, RFC 2525 section
//! 2.17.

use super::*;

/// As in the figures, which count from 100 and 300.
fn figure() -> ConnectionConfig {
    ConnectionConfig { iss: Seq(99), ..config() }
}

fn open(x: &mut Script) {
    x.connect().sends("S 99 mss1000");
    x.gets("SA 299 a100 mss1000").sends("A 100 a300");
}

#[test]
fn figure_12_peer_a() {
    run(figure(), |x| {
        open(x);
        x.shutdown().sends("FA 100 a300").in_state(FinWait1);
        x.gets("A 300 a101").sends("").in_state(FinWait2);
        x.at(5000).gets("FA 300 a101").sends("A 101 a301 w9999").in_state(TimeWait);
        x.fire(65_000).sends("").in_state(Closed).no_deadline();
    });
}

#[test]
fn figure_12_peer_b() {
    run(figure(), |x| {
        open(x);
        x.gets("FA 300 a100").sends("A 100 a301 w9999").in_state(CloseWait);
        x.shutdown().sends("FA 100 a301 w9999").in_state(LastAck);
        x.gets("A 301 a101").sends("").in_state(Closed).no_deadline();
    });
}

#[test]
fn figure_13_simultaneous_close() {
    run(figure(), |x| {
        open(x);
        x.shutdown().sends("FA 100 a300").in_state(FinWait1);
        x.gets("FA 300 a100").sends("A 101 a301 w9999").in_state(Closing);
        x.at(5000).gets("A 301 a101").sends("").in_state(TimeWait);
        x.fire(65_000).in_state(Closed);
    });
}

/// The transition that figure 5 omits (note 2).
#[test]
fn a_fin_that_acknowledges_ours() {
    run(figure(), |x| {
        open(x);
        x.shutdown().sends("FA 100 a300");
        x.gets("FA 300 a101").sends("A 101 a301 w9999").in_state(TimeWait);
    });
}

/// FIN takes the last place of the segment that carries the end of the data, if there is room.
#[test]
fn fin_goes_with_the_last_data() {
    run_established(config(), |x| {
        x.write(1500).sends("A 1+1000 a301 | PA 1001+500 a301");
        x.shutdown().sends("FA 1501 a301");
    });
    // Written and closed at once.
    run(config(), |x| {
        x.connect().sends("S 0 mss1000").write(1500).shutdown();
        x.gets("SA 300 a1 mss1000").sends("A 1+1000 a301 | FPA 1001+500 a301");
    });
    // A segment full of data has no room for it.
    run(config(), |x| {
        x.connect().sends("S 0 mss1000").write(1000).shutdown();
        x.gets("SA 300 a1 mss1000").sends("PA 1+1000 a301 | FA 1001 a301");
    });
    run(config(), |x| {
        x.connect().sends("S 0 mss1000").write(999).shutdown();
        x.gets("SA 300 a1 mss1000").sends("FPA 1+999 a301");
    });
}

/// Nagle's algorithm does not hold the last data back (RFC 9293 section 3.7.4): nothing will be
/// added to it.
#[test]
fn fin_ends_the_wait_for_more_data() {
    let nagle = SenderConfig { nagle: true, ..config().sender };
    run_established(ConnectionConfig { sender: nagle, ..config() }, |x| {
        x.write(10).sends("PA 1+10 a301");
        x.write(10).sends("");
        x.shutdown().sends("FPA 11+10 a301");
    });
}

/// It waits for the congestion window, as data does, and for the receive window.
#[test]
fn fin_waits_for_the_windows() {
    let small = SenderConfig { initial_window: Some(2), ..config().sender };
    run_established(ConnectionConfig { sender: small, ..config() }, |x| {
        x.write(2000).sends("A 1+1000 a301 | PA 1001+1000 a301");
        x.shutdown().sends("").in_state(FinWait1);
        x.gets("A 301 a1001").sends("FA 2001 a301");
    });
    run_established(config(), |x| {
        x.gets("A 301 a1 w500").sends("");
        x.write(500).sends("PA 1+500 a301");
        x.shutdown().sends("").in_state(FinWait1);
        x.gets("A 301 a501 w0").sends("");
        x.gets("A 301 a501 w1").sends("FA 501 a301");
    });
}

#[test]
fn a_lost_fin_goes_again() {
    run_established(config(), |x| {
        x.shutdown().sends("FA 1 a301").deadline(1000);
        x.fire(1000).sends("FA 1 a301");
        x.fire(3000).sends("FA 1 a301");
        x.gets("A 301 a2").sends("").in_state(FinWait2).no_deadline();
    });
}

/// A segment that carries both keeps them together when it is retransmitted.
#[test]
fn a_lost_fin_with_data_goes_again_with_them() {
    run(config(), |x| {
        x.connect().sends("S 0 mss1000").write(500).shutdown();
        x.gets("SA 300 a1 mss1000").sends("FPA 1+500 a301").in_state(FinWait1);
        x.fire(1000).sends("FPA 1+500 a301");
        // All but the FIN is acknowledged: what is left of the segment goes again.
        x.gets("A 301 a501").sends("").in_state(FinWait1);
        assert_eq!(x.c.acked(), 500);
        x.gets("A 301 a502").sends("").in_state(FinWait2);
        assert_eq!((x.c.acked(), x.c.written()), (500, 500));
    });
}

/// Three duplicates find the FIN's segment lost as any other.
#[test]
fn fin_is_found_lost_by_duplicates() {
    run_established(config(), |x| {
        x.write(3000).sends("A 1+1000 a301 | A 1001+1000 a301 | PA 2001+1000 a301");
        x.shutdown().sends("FA 3001 a301");
        x.gets("A 301 a1").gets("A 301 a1").sends("");
        x.gets("A 301 a1").sends("A 1+1000 a301");
        x.gets("A 301 a3001").sends("FA 3001 a301").in_state(FinWait1);
        x.gets("A 301 a3002").sends("").in_state(FinWait2);
    });
}

#[test]
fn data_still_arrives_after_a_half_close() {
    run_established(config(), |x| {
        x.shutdown().sends("FA 1 a301");
        x.gets("PA 301+100 a1").sends("A 2 a401 w9900").keeps(0, 0, 100).in_state(FinWait1);
        x.gets("A 401 a2").sends("").in_state(FinWait2);
        x.gets("FPA 401+100 a2")
            .sends("A 2 a502 w9799")
            .keeps(100, 0, 100)
            .in_state(TimeWait)
            .readable(200);
        assert!(!x.c.at_end());
        x.read(200).sends("");
        assert!(x.c.at_end());
    });
}

#[test]
fn data_still_goes_after_the_peers_fin() {
    run_established(config(), |x| {
        x.gets("FA 301 a1").sends("A 1 a302 w9999").in_state(CloseWait);
        assert!(x.c.at_end() && x.c.can_write());
        x.write(100).sends("PA 1+100 a302 w9999");
        x.shutdown().sends("FA 101 a302 w9999").in_state(LastAck);
        assert!(!x.c.can_write());
        x.gets("A 302 a101").sends("").in_state(LastAck);
        x.gets("A 302 a102").sends("").in_state(Closed);
    });
}

/// Nothing is written after a shutdown, and a second one does nothing.
#[test]
fn what_is_written_after_a_shutdown_is_ignored() {
    run_established(config(), |x| {
        x.shutdown().sends("FA 1 a301");
        x.write(10).sends("");
        x.shutdown().sends("");
        assert_eq!(x.c.written(), 0);
        x.gets("A 301 a2").in_state(FinWait2);
        x.write(10).shutdown().sends("").in_state(FinWait2);
    });
    run(config(), |x| {
        x.connect().sends("S 0 mss1000").shutdown().write(10);
        x.gets("SA 300 a1").sends("FA 1 a301").in_state(FinWait1);
    });
}

/// A FIN out of order ends the stream once what comes before it is there.
#[test]
fn a_fin_out_of_order() {
    run_established(config(), |x| {
        x.gets("FPA 401+10 a1")
            .sends("A 1 a301")
            .keeps(100, 0, 10)
            .in_state(Established)
            .readable(0);
        assert!(!x.c.at_end());
        x.gets("PA 301+100 a1")
            .sends("A 1 a412 w9889")
            .keeps(0, 0, 100)
            .in_state(CloseWait)
            .readable(110);
    });
    run_established(config(), |x| {
        x.gets("FA 401 a1").sends("A 1 a301").keeps_nothing().in_state(Established);
        x.gets("PA 301+100 a1")
            .sends("A 1 a402 w9899")
            .keeps(0, 0, 100)
            .in_state(CloseWait)
            .readable(100);
    });
}

/// The stream ends at the first FIN: what comes after it is no data, and another FIN is none.
#[test]
fn nothing_follows_a_fin() {
    run_established(config(), |x| {
        x.gets("FA 401 a1").sends("A 1 a301");
        x.gets("PA 401+10 a1").sends("").keeps_nothing();
        x.gets("FPA 350+100 a1").sends("A 1 a301").keeps(49, 0, 51);
        x.gets("FA 350 a1").sends("").keeps_nothing();
        x.gets("PA 301+200 a1")
            .sends("A 1 a402 w9899")
            .keeps(0, 0, 100)
            .in_state(CloseWait)
            .readable(100);
        x.gets("PA 402+10 a1").sends("").keeps_nothing().readable(100);
    });
}

/// A FIN beyond the window has not arrived.
#[test]
fn a_fin_beyond_the_window_is_cut_off() {
    run_established(config(), |x| {
        x.gets("FPA 301+10000 a1").sends("A 1 a10301 w0").keeps(0, 0, 10_000).in_state(Established);
        x.gets("FA 10301 a1").sends("A 1 a10301 w0").in_state(Established);
        x.read(10_000).sends("A 1 a10301");
        x.gets("FA 10301 a1").sends("A 1 a10302 w9999").in_state(CloseWait);
    });
    // So it is not where the stream ends either.
    run_established(config(), |x| {
        x.gets("FPA 301+10000 a1").sends("A 1 a10301 w0").read(10_000).sends("A 1 a10301");
        x.gets("PA 10301+10 a1").sends("A 1 a10311 w9990").keeps(10_000, 0, 10);
    });
    run_established(config(), |x| {
        x.gets("FPA 301+9999 a1").sends("A 1 a10301 w0").keeps(0, 0, 9999).in_state(CloseWait);
    });
}

/// The peer's FIN comes again: our ACK was lost.
#[test]
fn a_fin_that_comes_again_is_acknowledged_again() {
    run_established(config(), |x| {
        x.gets("FPA 301+10 a1").sends("A 1 a312 w9989").in_state(CloseWait);
        x.gets("FPA 301+10 a1").sends("A 1 a312 w9989").keeps_nothing().in_state(CloseWait);
        x.shutdown().sends("FA 1 a312 w9989").in_state(LastAck);
        x.gets("FA 311 a1").sends("A 2 a312 w9989").in_state(LastAck);
    });
}

/// RFC 9293 section 3.6.1 and RFC 2525 section 2.17: new data for nobody is answered with a reset.
#[test]
fn data_after_close_is_answered_with_a_reset() {
    use CloseReason::Aborted;
    run_established(config(), |x| {
        x.close().sends("FA 1 a301").in_state(FinWait1);
        x.gets("PA 301+10 a1").sends("R 2").keeps_nothing().ended(Aborted);
    });
    run_established(config(), |x| {
        x.close().sends("FA 1 a301");
        x.gets("A 301 a2").sends("").in_state(FinWait2);
        x.gets("FPA 301+10 a2").sends("R 2").ended(Aborted);
    });
    // Out of order too.
    run_established(config(), |x| {
        x.close().sends("FA 1 a301");
        x.gets("PA 311+10 a2").sends("R 2").ended(Aborted);
    });
    // Old data, and a FIN, are none of that.
    run_established(config(), |x| {
        x.gets("PA 301+10 a1").sends("A 1 a311 w9990").read(10).sends("");
        x.close().sends("FA 1 a311 w9990");
        x.gets("PA 301+10 a1").sends("A 2 a311 w9990").in_state(FinWait1);
        x.gets("FPA 301+10 a2").sends("A 2 a312 w9989").in_state(TimeWait);
    });
    run_established(config(), |x| {
        x.close().sends("FA 1 a301");
        x.gets("FA 401 a2").sends("A 2 a301").in_state(FinWait2);
    });
    // A shutdown still reads.
    run_established(config(), |x| {
        x.shutdown().sends("FA 1 a301");
        x.gets("PA 301+10 a1").sends("A 2 a311 w9990").keeps(0, 0, 10).in_state(FinWait1);
    });
}

/// RFC 2525 section 2.17: so is data that was there and not read.
#[test]
fn unread_data_makes_close_a_reset() {
    run_established(config(), |x| {
        x.gets("PA 301+10 a1").sends("A 1 a311 w9990").read(9).sends("");
        x.close().sends("R 1").ended(CloseReason::Aborted);
    });
    run_established(config(), |x| {
        x.gets("PA 301+10 a1").sends("A 1 a311 w9990").read(10).sends("");
        x.close().sends("FA 1 a311 w9990").in_state(FinWait1);
    });
    run_established(config(), |x| {
        x.gets("FPA 301+10 a1").sends("A 1 a312 w9989");
        x.shutdown().sends("FA 1 a312 w9989").in_state(LastAck);
        x.close().sends("R 2").ended(CloseReason::Aborted);
    });
    // In TIME-WAIT the peer has forgotten.
    run_established(config(), |x| {
        x.shutdown().sends("FA 1 a301");
        x.gets("FPA 301+10 a2").sends("A 2 a312 w9989");
        x.close().sends("").in_state(TimeWait);
    });
}

/// FIN-WAIT-2 has an end once nobody reads, counted from the later of both.
#[test]
fn fin_wait_2_ends_after_close() {
    run_established(config(), |x| {
        x.close().sends("FA 1 a301");
        x.at(100).gets("A 301 a2").sends("").in_state(FinWait2);
        x.fire(30_100).sends("").ended(CloseReason::TimedOut);
    });
    run_established(config(), |x| {
        x.shutdown().sends("FA 1 a301");
        x.at(100).gets("A 301 a2").sends("").in_state(FinWait2).no_deadline();
        x.at(1000).close().sends("").in_state(FinWait2);
        x.fire(31_000).sends("").ended(CloseReason::TimedOut);
    });
    // The peer's FIN comes in time.
    run_established(config(), |x| {
        x.close().sends("FA 1 a301");
        x.gets("A 301 a2").sends("").deadline(30_000);
        x.at(29_999).gets("FA 301 a2").sends("A 2 a302 w9999").in_state(TimeWait).deadline(89_999);
    });
}

/// RFC 9293 section 3.10.5.
#[test]
fn abort_in_each_state() {
    use CloseReason::Aborted;
    run_established(config(), |x| {
        x.write(10).sends("PA 1+10 a301");
        x.abort().sends("R 11").ended(Aborted);
        x.abort().close().write(10).shutdown().sends("").ended(Aborted);
        x.gets("PA 301+10 a1").sends("").keeps_nothing();
    });
    for (reach, sent) in [
        (&["PA 301+10 a1"][..], "R 1"),
        (&["FA 301 a1"], "R 1"),
        (&["close"], "R 2"),
        (&["close", "A 301 a2"], "R 2"),
        (&["close", "FA 301 a1"], ""),
        (&["FA 301 a1", "close"], ""),
        (&["close", "FA 301 a2"], ""),
    ] {
        run_established(config(), |x| {
            for &step in reach {
                if step == "close" {
                    x.shutdown()
                } else {
                    x.gets(step)
                };
                x.sent.clear();
            }
            x.abort().sends(sent).ended(Aborted);
        });
    }
}

/// Both have closed, but our FIN waits behind data for which cwnd has no room: the peer does not
/// know of it.
#[test]
fn abort_before_the_fin_is_sent() {
    use CloseReason::Aborted;
    for peer_first in [true, false] {
        run_established(config(), |x| {
            x.write(50_000);
            x.sent.clear();
            if peer_first {
                x.gets("FA 301 a1").sends("A 4001 a302 w9999").shutdown().in_state(LastAck);
            } else {
                x.shutdown().gets("FA 301 a1").sends("A 4001 a302 w9999").in_state(Closing);
            }
            x.abort().sends("R 4001").ended(Aborted);
        });
    }
}

/// Nothing more can come: the window says nothing, and a peer that has closed and forgotten the
/// connection would answer it with a reset.
#[test]
fn what_is_read_after_a_fin_draws_no_window_update() {
    run_established(config(), |x| {
        x.gets("PA 301+9000 a1")
            .sends("A 1 a9301 w1000")
            .gets("FA 9301 a1")
            .sends("A 1 a9302 w999")
            .in_state(CloseWait);
        x.read(9000).sends("");
    });
    run_established(config(), |x| {
        x.gets("PA 301+9000 a1").sends("A 1 a9301 w1000").read(9000).sends("A 1 a9301");
    });
}
