//! What else is checked of a segment: its sequence number (RFC 9293 table 6), SYN and
//! acknowledgment (RFC 5961 sections 4 and 5), and whether it may set the window (RFC 9293 section
//! 3.10.7.4).

use super::*;

/// A segment of no length at each edge of the window [301, 10301).
#[test]
fn empty_segments_at_the_edges_of_the_window() {
    for (seq, answer) in [(299, true), (300, true), (301, false), (302, false), (10_300, false)] {
        run_established(config(), |x| {
            x.gets(&format!("A {seq} a1")).sends(if answer { "A 1 a301" } else { "" });
        });
    }
    // What follows a window full of data stands at its edge, and its acknowledgment counts.
    run_established(config(), |x| {
        x.write(10).sends("PA 1+10 a301");
        x.gets("A 10302 a11").sends("A 11 a301");
        assert_eq!(x.c.acked(), 0);
        x.gets("A 10301 a11").sends("");
        assert_eq!(x.c.acked(), 10);
    });
}

/// Data is taken as far as it lies in the window.
#[test]
fn data_at_the_edges_of_the_window() {
    run_established(config(), |x| {
        x.gets("PA 301+100 a1").sends("A 1 a401 w9900").read(100).sends("");
        x.gets("PA 391+10 a1").sends("A 1 a401 w9900").keeps_nothing();
        x.gets("PA 10301+1 a1").sends("A 1 a401 w9900").keeps_nothing();
        x.gets("PA 10291+20 a1").sends("A 1 a401 w9900").keeps(9990, 0, 10);
        x.gets("PA 392+10 a1").sends("A 1 a402 w9899").keeps(100, 9, 1);
        x.gets("PA 402+1 a1").sends("A 1 a403 w9898").keeps(101, 0, 1).readable(2);
        // From before the window to beyond it, which table 6 forgets.
        x.gets("PA 302+20000 a1").sends("A 1 a10301 w0").keeps(102, 101, 9898).readable(9900);
    });
}

/// The acknowledgment of an unacceptable segment does not count.
#[test]
fn an_unacceptable_segment_acknowledges_nothing() {
    run_established(config(), |x| {
        x.write(10).sends("PA 1+10 a301");
        x.gets("PA 200+50 a11").sends("A 11 a301");
        x.gets("A 300 a11").sends("A 11 a301");
        x.gets("PA 10301+1 a11").sends("A 11 a301");
        assert_eq!(x.c.acked(), 0);
    });
}

/// RFC 9293 section 3.10.7.4: with the window closed, "special allowance should be made to accept
/// valid ACKs".
#[test]
fn acknowledgments_count_with_the_window_closed() {
    run_established(config(), |x| {
        x.gets("A 301+10000 a1").sends("A 1 a10301 w0");
        x.write(20).sends("PA 1+20 a10301 w0");
        // A window probe with data, and one without.
        x.gets("A 10301+1 a11").sends("A 21 a10301 w0").keeps_nothing();
        assert_eq!(x.c.acked(), 10);
        x.gets("A 10300 a21").sends("A 21 a10301 w0");
        assert_eq!(x.c.acked(), 10);
        x.gets("A 10301 a21").sends("");
        assert_eq!(x.c.acked(), 20);
    });
}

/// A keep-alive or window probe of the peer, with a byte of garbage or without.
#[test]
fn probes_are_answered() {
    run_established(config(), |x| {
        x.gets("A 300 a1").sends("A 1 a301").keeps_nothing();
        x.gets("A 300+1 a1").sends("A 1 a301").keeps_nothing().readable(0);
    });
}

/// RFC 5961 section 4.2: "irrespective of the sequence number".
#[test]
fn a_syn_is_challenged_whatever_its_number() {
    for flags in ["S", "SA", "SF", "SP"] {
        for seq in [0, 299, 300, 301, 302, 10_300, 10_301, 2_000_000_000] {
            run_established(config(), |x| {
                x.write(10).sends("PA 1+10 a301");
                x.gets(&format!("{flags} {seq} a11"))
                    .sends("A 11 a301")
                    .keeps_nothing()
                    .in_state(Established);
                assert_eq!(x.c.acked(), 0);
            });
        }
    }
}

/// RFC 5961 section 5.2: SND.UNA - MAX.SND.WND =< SEG.ACK =< SND.NXT, or the segment is dropped and
/// answered.
#[test]
fn an_acknowledgment_outside_of_its_range_is_challenged() {
    run_established(config(), |x| {
        x.write(3000);
        x.sent.clear();
        x.gets("A 301 a1001 w5000").sends("");
        // SND.UNA 1001, SND.NXT 3001, MAX.SND.WND 10000.
        let below = 1001u32.wrapping_sub(10_000);
        x.gets(&format!("PA 301+10 a{below}")).sends("A 3001 a311 w9990").keeps(0, 0, 10);
        x.gets(&format!("PA 311+10 a{}", below.wrapping_sub(1)))
            .sends("A 3001 a311 w9990")
            .keeps_nothing();
        x.gets("PA 311+10 a3002").sends("A 3001 a311 w9990").keeps_nothing();
        x.gets("FA 311 a3002").sends("A 3001 a311 w9990").in_state(Established);
        assert_eq!(x.c.acked(), 1000);
        x.gets("PA 311+10 a3001").sends("A 3001 a321 w9980").keeps(10, 0, 10);
        assert_eq!(x.c.acked(), 3000);
    });
}

/// RFC 9293 section 3.10.7.4: a segment without ACK is dropped.
#[test]
fn a_segment_without_ack_is_dropped() {
    run_established(config(), |x| {
        x.gets("P 301+10").sends("").keeps_nothing();
        x.gets("F 301").sends("").in_state(Established);
    });
}

/// SND.WL1 and SND.WL2: an old segment neither closes nor moves the window.
#[test]
fn an_old_segment_does_not_set_the_window() {
    let edge = |x: &Script| x.c.sender().state().window_edge;
    run_established(config(), |x| {
        x.write(3000);
        x.sent.clear();
        // Overtaken by one with a higher sequence number: the segment at 301 fills the hole.
        x.gets("PA 401+100 a1 w8000").sends("A 3001 a301");
        assert_eq!(edge(x), 8000);
        x.gets("PA 301+100 a1 w500").sends("A 3001 a501 w9800");
        assert_eq!(edge(x), 8000);
        // The same sequence number counts.
        x.gets("PA 401+101 a1 w7000").sends("A 3001 a502 w9799");
        assert_eq!(edge(x), 7000);
        // Overtaken by one with a higher acknowledgment.
        x.gets("A 502 a2001 w4000").sends("");
        assert_eq!(edge(x), 6000);
        x.gets("A 502 a1001 w100").sends("");
        assert_eq!(edge(x), 6000);
        // What acknowledges more is new, whatever its sequence number.
        x.gets("A 9000 a2001 w1000").sends("");
        assert_eq!(edge(x), 3000);
        x.gets("A 502 a3001 w2000").sends("");
        assert_eq!(edge(x), 5000);
    });
}

/// RFC 5681 section 2: what carries data, or changes the window, is no duplicate.
#[test]
fn what_is_no_duplicate() {
    let dupacks = |x: &Script| x.c.sender().state().dupacks;
    run_established(config(), |x| {
        x.write(4000);
        x.sent.clear();
        x.gets("PA 301+10 a1").sends("A 4001 a311 w9990");
        x.gets("PA 311+10 a1").sends("A 4001 a321 w9980");
        x.gets("PA 321+10 a1").sends("A 4001 a331 w9970");
        assert_eq!(dupacks(x), 0);
        for wnd in [9000, 9001, 9000] {
            x.gets(&format!("A 331 a1 w{wnd}")).sends("");
        }
        assert_eq!(dupacks(x), 0);
        x.gets("A 331 a1 w9000").gets("A 331 a1 w9000").sends("");
        assert_eq!(dupacks(x), 2);
        x.gets("A 331 a1 w9000").sends("A 1+1000 a331 w9970");
    });
}
