//! RFC 9293 section 3.5: figures 6 to 11, and what else may happen while a connection opens.

use super::*;

/// A whole life between two ends of ours: data with the handshake's last ACK, FIN with the last
/// data, an answer, and FIN.
#[test]
fn a_connection_opens_carries_data_and_closes() {
    let full = ConnectionConfig { sack: true, timestamps: true, wscale: Some(2), ..config() };
    let mut now = Time::ZERO;
    let mut a = Connection::connect(
        now,
        ConnectionConfig { iss: Seq(100), ..full.clone() },
        strategy(&full),
    );
    a.write(now, 3500);
    a.shutdown(now);
    let syn = a.poll_transmit(now).expect("a SYN");
    let mut b = Connection::accept(
        now,
        ConnectionConfig { iss: Seq(300), ..full.clone() },
        strategy(&full),
        &syn.header,
    );
    for _ in 0..10 {
        now += Span::from_millis(10);
        while let Some(o) = b.poll_transmit(now) {
            a.on_segment(now, &o.header, o.len);
        }
        while let Some(o) = a.poll_transmit(now) {
            b.on_segment(now, &o.header, o.len);
        }
        b.read(now, b.readable());
        if b.at_end() && b.can_write() {
            b.write(now, 10);
            b.close(now);
        }
    }
    a.read(now, 10);
    assert_eq!((b.read_position(), a.read_position(), a.at_end()), (3500, 10, true));
    assert_eq!((a.state(), b.state()), (TimeWait, Closed));
    assert_eq!((a.acked(), a.written(), b.acked(), b.written()), (3500, 3500, 10, 10));
}

fn peer_a() -> ConnectionConfig {
    ConnectionConfig { iss: Seq(100), ..config() }
}

#[test]
fn figure_6_peer_a() {
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000").in_state(SynSent);
        x.gets("SA 300 a101").sends("A 101 a301").in_state(Established);
        x.write(10).sends("PA 101+10 a301");
    });
}

#[test]
fn figure_6_peer_b() {
    run(peer_a(), |x| {
        x.accept("S 300 mss1000").sends("SA 100 a301 mss1000").in_state(SynReceived);
        x.gets("A 301 a101").sends("").in_state(Established);
        x.gets("PA 301+10 a101").sends("A 101 a311 w9990").keeps(0, 0, 10).readable(10);
    });
}

/// The ACK that completes the handshake may carry data and a FIN.
#[test]
fn data_and_fin_come_with_the_ack_of_the_handshake() {
    run(peer_a(), |x| {
        x.accept("S 300 mss1000").sends("SA 100 a301 mss1000");
        x.gets("FPA 301+10 a101")
            .sends("A 101 a312 w9989")
            .keeps(0, 0, 10)
            .in_state(CloseWait)
            .readable(10);
    });
}

/// RFC 9293 section 3.10.7.3: "other controls or text in the segment" of a SYN/ACK.
#[test]
fn data_comes_with_the_syn_ack() {
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        x.gets("SPA 300+10 a101")
            .sends("A 101 a311 w9990")
            .keeps(0, 0, 10)
            .in_state(Established)
            .readable(10);
    });
}

/// What was written before goes with the ACK of the SYN/ACK.
#[test]
fn data_written_early_goes_with_the_ack_of_the_handshake() {
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        x.write(1500).sends("");
        x.shutdown().sends("").in_state(SynSent);
        x.gets("SA 300 a101 mss1000")
            .sends("A 101+1000 a301 | FPA 1101+500 a301")
            .in_state(FinWait1);
    });
}

#[test]
fn figure_7_simultaneous_open() {
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000").in_state(SynSent);
        x.gets("S 300 mss1000").sends("SA 100 a301 mss1000").in_state(SynReceived);
        x.gets("SA 300 a101 mss1000").sends("").in_state(Established);
        x.write(10).sends("PA 101+10 a301");
    });
}

/// As the other peer of figure 7 sees it if its SYN/ACK comes too late: the ACK alone will do.
#[test]
fn a_simultaneous_open_ends_with_an_ack() {
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        x.gets("S 300 mss1000").sends("SA 100 a301 mss1000");
        x.gets("A 301 a101").sends("").in_state(Established);
    });
}

/// Neither SYN of a simultaneous open was lost: the initial window is whole, but there is no
/// sample.
#[test]
fn a_simultaneous_open_costs_no_window() {
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        x.at(400).gets("S 300 mss1000").sends("SA 100 a301 mss1000");
        x.at(500).gets("SA 300 a101 mss1000").sends("");
        x.write(5000)
            .sends("A 101+1000 a301 | A 1101+1000 a301 | A 2101+1000 a301 | A 3101+1000 a301");
        assert_eq!(x.c.sender().state().srtt, Span::ZERO);
        x.deadline(1500);
    });
}

/// Peer A: the SYN/ACK answers a SYN that is not ours.
#[test]
fn figure_8_peer_a() {
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        x.gets("SA 300 a91").sends("R 91").in_state(SynSent);
        x.gets("SA 400 a101").sends("A 101 a401").in_state(Established);
    });
}

#[test]
fn figure_8_peer_b() {
    run(ConnectionConfig { iss: Seq(300), ..config() }, |x| {
        x.accept("S 90").sends("SA 300 a91 mss1000").in_state(SynReceived);
        x.gets("R 91").sends("").ended(CloseReason::Reset);
    });
}

/// "If the SYN at line 6 had arrived before the RST": it is handed to the listener.
#[test]
fn a_new_syn_returns_a_passive_open_to_listen() {
    run(ConnectionConfig { iss: Seq(300), ..config() }, |x| {
        x.accept("S 90").sends("SA 300 a91 mss1000");
        x.gets("S 100").sends("").ended(CloseReason::Reset);
    });
    // One from outside of the window does not.
    run(ConnectionConfig { iss: Seq(300), ..config() }, |x| {
        x.accept("S 90").sends("SA 300 a91 mss1000");
        x.gets("S 10091").sends("A 301 a91").in_state(SynReceived);
        x.gets("S 89").sends("A 301 a91").in_state(SynReceived);
        x.gets("S 10090").sends("").ended(CloseReason::Reset);
    });
    // Nor does any one end an active open (RFC 5961 section 4.2).
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        x.gets("S 300").sends("SA 100 a301 mss1000");
        x.gets("S 301").sends("A 101 a301").in_state(SynReceived);
    });
}

/// Peer A after its reboot.
#[test]
fn figure_9_peer_a() {
    run(ConnectionConfig { iss: Seq(400), ..config() }, |x| {
        x.connect().sends("S 400 mss1000");
        x.gets("A 300 a100").sends("R 100").in_state(SynSent);
        x.fire(1000).sends("S 400 mss1000");
    });
}

/// Peer B, which knows nothing of the reboot.
#[test]
fn figure_9_peer_b() {
    run(ConnectionConfig { iss: Seq(299), ..config() }, |x| {
        x.accept("S 99").sends("SA 299 a100 mss1000");
        x.gets("A 100 a300").sends("").in_state(Established);
        x.gets("S 400").sends("A 300 a100").in_state(Established);
        x.gets("R 100").sends("").ended(CloseReason::Reset);
    });
}

#[test]
fn figure_10_peer_b() {
    run(ConnectionConfig { iss: Seq(299), ..config() }, |x| {
        x.accept("S 99").sends("SA 299 a100 mss1000");
        x.gets("A 100 a300").sends("");
        x.write(10).sends("PA 300+10 a100");
        x.gets("R 100").sends("").ended(CloseReason::Reset);
    });
}

/// Peer B is that of figure 8; this is what an end that never sent its SYN does.
#[test]
fn figure_11_nothing_acknowledges_a_syn_that_was_never_sent() {
    run(peer_a(), |x| {
        x.c = Connection::connect(x.now, x.config.clone(), strategy(&x.config));
        let (header, len) = x.parse("SA 300 a101");
        assert_eq!(x.c.on_segment(x.now, &header, len), None);
        x.drain();
        x.sends("R 101 | S 100 mss1000").in_state(SynSent);
    });
}

/// RFC 9293 section 3.10.7.3, first check: SEG.ACK =< ISS or SEG.ACK > SND.NXT.
#[test]
fn only_the_ack_of_our_syn_is_acceptable_in_syn_sent() {
    for ack in [99, 100, 102] {
        for flags in ["SA", "A", "FA"] {
            run(peer_a(), |x| {
                x.connect().sends("S 100 mss1000");
                x.gets(&format!("{flags} 300 a{ack}")).sends(&format!("R {ack}")).in_state(SynSent);
            });
        }
        run(peer_a(), |x| {
            x.connect().sends("S 100 mss1000");
            x.gets(&format!("RA 300 a{ack}")).sends("").in_state(SynSent);
        });
    }
}

/// RFC 9293 section 3.10.7.3, second and fifth check.
#[test]
fn what_else_comes_in_syn_sent() {
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        x.gets("R 300").sends("").in_state(SynSent);
        x.gets("SR 300").sends("").in_state(SynSent);
        x.gets("A 300 a101").sends("").in_state(SynSent);
        x.gets("FP 300+10").sends("").in_state(SynSent);
        x.gets("RA 300 a101").sends("").ended(CloseReason::Refused);
        x.gets("SA 300 a101").sends("").ended(CloseReason::Refused);
    });
}

/// RFC 9293 section 3.10.7.4, fifth check: SND.UNA < SEG.ACK =< SND.NXT, or a reset.
#[test]
fn a_wrong_ack_in_syn_received_is_answered_with_a_reset() {
    for ack in [100, 102, 5000] {
        run(peer_a(), |x| {
            x.accept("S 300").sends("SA 100 a301 mss1000");
            x.gets(&format!("A 301 a{ack}")).sends(&format!("R {ack}")).in_state(SynReceived);
            x.gets("A 301 a101").sends("").in_state(Established);
        });
    }
}

#[test]
fn a_segment_without_ack_opens_nothing() {
    run(peer_a(), |x| {
        x.accept("S 300").sends("SA 100 a301 mss1000");
        x.gets("P 301+10").sends("").keeps_nothing().in_state(SynReceived);
        x.gets("F 301").sends("").in_state(SynReceived);
    });
}

#[test]
fn a_refused_simultaneous_open() {
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        x.gets("S 300").sends("SA 100 a301 mss1000");
        x.gets("R 301").sends("").ended(CloseReason::Refused);
    });
}

/// A handshake that a cookie remembers: as if a SYN had come that offered this.
#[test]
fn established_by_a_cookie() {
    let full = ConnectionConfig { sack: true, timestamps: true, wscale: Some(2), ..peer_a() };
    run(full, |x| {
        x.at(50);
        let (syn, _) = x.parse("S 300 mss500 ws3 sack ts0/0");
        let (ack, len) = x.parse("PA 301+10 a101 w600 ts3000000070/20");
        x.c = Connection::established(
            x.now,
            x.config.clone(),
            strategy(&x.config),
            syn.seq,
            &syn.options,
            &ack,
        );
        x.in_state(Established);
        assert!(x.c.on_segment(x.now, &ack, len).is_some());
        x.drain();
        // The window in units of 4 bytes, rounded up where the buffer has room.
        x.sends("A 101 a311 w2497 ts50/3000000070").readable(10);
        x.write(1000).sends(
            "A 101+488 a311 w2497 ts50/3000000070 | A 589+488 a311 w2497 ts50/3000000070 | \
                PA 1077+24 a311 w2497 ts50/3000000070",
        );
        assert_eq!(x.c.sender().state().window_edge, 4800);
    });
}

#[test]
fn only_a_hard_error_about_our_syn_ends_an_opening() {
    let unreachable = |x: &mut Script, seq: u32, hard| {
        let seq = Seq(seq.wrapping_add(x.ours));
        x.input(|c, now| c.on_unreachable(now, seq, hard));
    };
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        unreachable(x, 99, true);
        unreachable(x, 101, true);
        unreachable(x, 100, false);
        x.in_state(SynSent);
        unreachable(x, 100, true);
        x.ended(CloseReason::Unreachable);
    });
    run(peer_a(), |x| {
        x.accept("S 300").sends("SA 100 a301 mss1000");
        unreachable(x, 100, true);
        x.ended(CloseReason::Unreachable);
    });
    run(peer_a(), |x| {
        x.connect().sends("S 100 mss1000");
        x.gets("SA 300 a101 mss1000").sends("A 101 a301");
        x.write(10).sends("PA 101+10 a301");
        unreachable(x, 100, true);
        unreachable(x, 101, true);
        x.in_state(Established);
    });
}

/// The segment that completes the handshake sets SND.WL1 (RFC 9293 section 3.10.7.4): what an ACK
/// says afterwards at the same sequence number is a duplicate to Linux, while after a SYN/ACK the
/// first one is none (`tcp_init_wl`).
#[test]
fn the_last_segment_of_a_handshake_sets_snd_wl1() {
    let linux = || Registry::default().parse("linux").expect("a composition").build();
    run(config(), |x| {
        let (syn, _) = x.parse("S 300 mss1000");
        x.c = Connection::accept(x.now, x.config.clone(), linux(), &syn);
        x.drain();
        x.sends("SA 0 a301 mss1000").gets("A 301 a1").sends("");
        x.write(4000).sent.clear();
        x.gets("A 301 a1").gets("A 301 a1").sends("").gets("A 301 a1").sends("A 1+1000 a301");
    });
    run(config(), |x| {
        x.c = Connection::connect(x.now, x.config.clone(), linux());
        x.drain();
        x.sends("S 0 mss1000").gets("SA 300 a1 mss1000").sends("A 1 a301");
        x.write(4000).sent.clear();
        x.gets("A 301 a1").gets("A 301 a1").gets("A 301 a1").sends("");
        x.gets("A 301 a1").sends("A 1+1000 a301");
    });
}
