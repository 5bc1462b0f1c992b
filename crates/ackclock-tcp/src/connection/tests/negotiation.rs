//! What the SYNs agree on: MSS (RFC 9293 section 3.7.1, RFC 6691), window scale and timestamps (RFC
//! 7323), SACK (RFC 2018).

use super::*;

fn full() -> ConnectionConfig {
    ConnectionConfig { sack: true, timestamps: true, wscale: Some(2), ..config() }
}

#[test]
fn an_active_open_offers_what_it_is_told_to() {
    run(full(), |x| {
        x.at(5).connect().sends("S 0 mss1000 ws2 sack ts5/0");
    });
    run(ConnectionConfig { sack: true, ..config() }, |x| {
        x.connect().sends("S 0 mss1000 sack");
    });
    run(ConnectionConfig { wscale: Some(15), ..config() }, |x| {
        x.connect().sends("S 0 mss1000 ws14");
    });
}

/// Each option is in the SYN/ACK only if it was in the SYN.
#[test]
fn a_passive_open_accepts_what_is_offered() {
    for (offered, accepted) in [
        ("S 300", "SA 0 a301 mss1000"),
        ("S 300 mss536", "SA 0 a301 mss1000"),
        ("S 300 ws3", "SA 0 a301 mss1000 ws2"),
        ("S 300 sack", "SA 0 a301 mss1000 sack"),
        ("S 300 ts77/0", "SA 0 a301 mss1000 ts5/77"),
        ("S 300 mss536 ws3 sack ts77/0", "SA 0 a301 mss1000 ws2 sack ts5/77"),
    ] {
        run(full(), |x| {
            x.at(5).accept(offered).sends(accepted);
        });
    }
    run(config(), |x| {
        x.accept("S 300 mss536 ws3 sack ts77/0").sends("SA 0 a301 mss1000");
    });
}

/// The smaller of the peer's MSS and the path's, less the options of every segment; 536 if the SYN
/// names none.
#[test]
fn smss() {
    for (options, path_mss, timestamps, smss) in [
        ("mss1000", 1000, false, 1000),
        ("mss1001", 1000, false, 1000),
        ("mss999", 1000, false, 999),
        ("ws3", 1000, false, 536),
        ("ws3", 500, false, 500),
        ("mss1000 ts0/0", 1000, true, 988),
        ("mss700 ts0/0", 1000, true, 688),
        // Linux takes no less, options included.
        ("mss1", 1000, false, 48),
        ("mss0 ts0/0", 1000, true, 36),
        ("mss1000", 3, false, 48),
    ] {
        run(ConnectionConfig { path_mss, timestamps, wscale: Some(0), ..config() }, |x| {
            x.accept(&format!("S 300 {options}"));
            x.sent.clear();
            x.gets(if timestamps { "A 301 a1 ts0/0" } else { "A 301 a1" }).sends("");
            assert_eq!(x.c.sender().state().mss, smss, "{options} {path_mss}");
        });
    }
}

/// RFC 7323 section 2.2: the window of a SYN is not scaled, on either side; all others are, if both
/// offered to.
#[test]
fn windows_are_scaled_after_the_syns() {
    run(ConnectionConfig { wscale: Some(2), ..config() }, |x| {
        x.connect().sends("S 0 mss1000 ws2");
        x.gets("SA 300 a1 w500 mss1000 ws3").sends("A 1 a301 w2500");
        assert_eq!(x.c.sender().state().window_edge, 500);
        x.gets("A 301 a1 w500").sends("");
        assert_eq!(x.c.sender().state().window_edge, 4000);
    });
    run(ConnectionConfig { wscale: Some(2), ..config() }, |x| {
        x.accept("S 300 w500 mss1000 ws3").sends("SA 0 a301 mss1000 ws2");
        x.gets("A 301 a1 w500").sends("");
        assert_eq!(x.c.sender().state().window_edge, 4000);
        x.gets("PA 301+10 a1 w500").sends("A 1 a311 w2497");
    });
}

/// Nor is that of the SYN/ACK which ends a simultaneous open.
#[test]
fn the_window_of_a_simultaneous_open_is_not_scaled() {
    run(ConnectionConfig { wscale: Some(2), ..config() }, |x| {
        x.connect().sends("S 0 mss1000 ws2");
        x.gets("S 300 w500 mss1000 ws3").sends("SA 0 a301 mss1000 ws2");
        x.gets("SA 300 a1 w500 mss1000 ws3").sends("");
        assert_eq!(x.c.sender().state().window_edge, 500);
        x.gets("A 301 a1 w500").sends("");
        assert_eq!(x.c.sender().state().window_edge, 4000);
    });
}

#[test]
fn windows_are_not_scaled_if_only_one_side_offers() {
    run(ConnectionConfig { wscale: Some(2), ..config() }, |x| {
        x.connect().sends("S 0 mss1000 ws2");
        x.gets("SA 300 a1 w500 mss1000").sends("A 1 a301");
        x.gets("A 301 a1 w500").sends("");
        assert_eq!(x.c.sender().state().window_edge, 500);
    });
    run(config(), |x| {
        x.accept("S 300 mss1000 ws3").sends("SA 0 a301 mss1000");
        x.gets("A 301 a1 w500").sends("");
        assert_eq!(x.c.sender().state().window_edge, 500);
    });
}

/// A buffer of more than 64 KiB is offered as far as a field without scale goes, and whole from the
/// first ACK on.
#[test]
fn a_large_buffer() {
    let receiver = ReceiverConfig { buffer: 1 << 20, ..config().receiver };
    run(ConnectionConfig { wscale: Some(5), receiver, ..config() }, |x| {
        x.connect().sends("S 0 w65535 mss1000 ws5");
        x.gets("SA 300 a1 mss1000 ws0").sends("A 1 a301 w32768");
    });
}

/// RFC 7323 section 3.2: once negotiated, timestamps are on every segment; on a reset as section
/// 5.2 has it.
#[test]
fn timestamps_are_on_every_segment() {
    run(ConnectionConfig { timestamps: true, ..config() }, |x| {
        x.at(1).connect().sends("S 0 mss1000 ts1/0");
        x.at(2).gets("SA 300 a1 mss1000 ts70/1").sends("A 1 a301 ts2/70");
        x.at(3).write(988).sends("PA 1+988 a301 ts3/70");
        x.at(4).gets("PA 301+10 a989 ts80/3").sends("A 989 a311 w9990 ts4/80");
        x.at(5).shutdown().sends("FA 989 a311 w9990 ts5/80");
        x.at(6).abort().sends("R 990 ts6/80");
    });
    run(ConnectionConfig { timestamps: true, ..config() }, |x| {
        x.at(1).connect().sends("S 0 mss1000 ts1/0");
        x.gets("A 300 a77 ts70/1").sends("R 77 ts0/70");
    });
}

/// RFC 7323 section 3.2: "SHOULD silently drop".
#[test]
fn a_segment_without_the_negotiated_timestamps_is_dropped() {
    run_established(ConnectionConfig { timestamps: true, ..config() }, |x| {
        x.gets("PA 301+10 a1").sends("").keeps_nothing();
        x.gets("PA 301+10 a1 ts1000/0").sends("A 1 a311 w9990 ts0/1000").keeps(0, 0, 10);
        x.gets("R 311").sends("").ended(CloseReason::Reset);
    });
}

/// Options that were not negotiated mean nothing.
#[test]
fn options_that_were_not_negotiated_are_ignored() {
    run_established(config(), |x| {
        x.gets("PA 301+10 a1 ts1000/0").sends("A 1 a311 w9990").keeps(0, 0, 10);
        x.gets("PA 311+10 a1 ts1/0").sends("A 1 a321 w9980").keeps(10, 0, 10);
        x.write(3000)
            .sends("A 1+1000 a321 w9980 | A 1001+1000 a321 w9980 | PA 2001+1000 a321 w9980");
        x.gets("A 321 a1 k1001-3001").sends("");
        assert_eq!(x.c.sender().state().board.sacked_bytes(), 0);
    });
}

/// RFC 2018 section 4: blocks tell what came out of order, if SACK was negotiated.
#[test]
fn sack_blocks_are_sent_if_negotiated() {
    run_established(ConnectionConfig { sack: true, ..config() }, |x| {
        x.gets("PA 401+10 a1").sends("A 1 a301 k401-411").keeps(100, 0, 10).readable(0);
    });
    run_established(config(), |x| {
        x.gets("PA 401+10 a1").sends("A 1 a301").keeps(100, 0, 10).readable(0);
    });
}

/// The peer's SACK blocks reach the sender.
#[test]
fn sack_blocks_are_read_if_negotiated() {
    run_established(ConnectionConfig { sack: true, ..config() }, |x| {
        x.write(3000);
        x.sent.clear();
        x.gets("A 301 a1 k1001-2001").sends("");
        assert_eq!(x.c.sender().state().board.sacked_bytes(), 1000);
    });
}

/// A strategy that detects losses by SACK counts duplicates if the peer has no SACK.
#[test]
fn a_peer_without_sack_gets_a_fast_retransmit() {
    let duplicates = |x: &mut Script| {
        x.write(4000);
        x.sent.clear();
        x.gets("A 301 a1").sends("").gets("A 301 a1").sends("").gets("A 301 a1");
    };
    run(ConnectionConfig { sack: true, ..config() }, |x| {
        x.connect().sends("S 0 mss1000 sack");
        x.gets("SA 300 a1 mss1000").sends("A 1 a301");
        duplicates(x);
        x.sends("A 1+1000 a301");
    });
    run_established(ConnectionConfig { sack: true, ..config() }, |x| {
        duplicates(x);
        x.sends("").gets("A 301 a1 k1001-4001").sends("A 1+1000 a301");
    });
}
