//! ECN negotiated in the handshake, and what travels afterwards (RFC 3168 section 6.1). E is ECE, W
//! is CWR.

use super::*;

fn ecn() -> ConnectionConfig {
    ConnectionConfig { ecn: true, ..config() }
}

/// Section 6.1.1: an ECN-setup SYN, an ECN-setup SYN-ACK, then data with ECT(0). The ACK of the
/// handshake is no data.
#[test]
fn both_sides_agree() {
    run(ecn(), |x| {
        x.connect().sends("SEW 0 mss1000");
        x.gets("SAE 300 a1 mss1000").sends("A 1 a301");
        x.write(2000).sends("A 1+1000 a301 Ect0 | PA 1001+1000 a301 Ect0");
    });
    run(ecn(), |x| {
        x.accept("SEW 300 mss1000").sends("SAE 0 a301 mss1000");
        x.gets("A 301 a1").sends("").write(100).sends("PA 1+100 a301 Ect0");
    });
}

/// A SYN-ACK without ECE refuses, and one with both flags comes from a peer that reflects reserved
/// bits. A SYN with one of the flags offers nothing.
#[test]
fn one_side_refuses() {
    for answer in ["SA 300 a1 mss1000", "SAEW 300 a1 mss1000", "SAW 300 a1 mss1000"] {
        run(ecn(), |x| {
            x.connect().sends("SEW 0 mss1000").gets(answer).sends("A 1 a301");
            x.write(100).sends("PA 1+100 a301");
        });
    }
    for syn in ["S 300 mss1000", "SE 300 mss1000", "SW 300 mss1000"] {
        run(ecn(), |x| {
            x.accept(syn).sends("SA 0 a301 mss1000").gets("A 301 a1").sends("");
            x.write(100).sends("PA 1+100 a301");
        });
    }
    run(config(), |x| {
        x.accept("SEW 300 mss1000").sends("SA 0 a301 mss1000").gets("A 301 a1").sends("");
    });
}

/// Section 6.1.1.1: the second SYN does without, and then there is no ECN, whichever SYN was
/// answered.
#[test]
fn a_syn_goes_again_without() {
    run(ecn(), |x| {
        x.connect().sends("SEW 0 mss1000").fire(1000).sends("S 0 mss1000");
        x.gets("SAE 300 a1 mss1000").sends("A 1 a301").write(100).sends("PA 1+100 a301");
    });
    run(ecn(), |x| {
        x.accept("SEW 300 mss1000").sends("SAE 0 a301 mss1000");
        x.fire(1000).sends("SAE 0 a301 mss1000");
        x.gets("S 300 mss1000").sends("SA 0 a301 mss1000").gets("A 301 a1").sends("");
        x.write(100).sends("PA 1+100 a301").gets("PA 301+100 a1 Ce").sends("A 101 a401 w9900");
    });
}

/// Section 6.1.3: after a mark every ACK carries ECE, with data or without, until CWR comes. A
/// segment with CWR that is marked itself keeps it up.
#[test]
fn marks_are_echoed_until_cwr() {
    run(ecn(), |x| {
        x.connect().sends("SEW 0 mss1000").gets("SAE 300 a1 mss1000").sends("A 1 a301");
        x.gets("A 301+100 a1").sends("A 1 a401 w9900");
        x.gets("A 401+100 a1 Ce").sends("AE 1 a501 w9800");
        x.gets("A 501+100 a1").sends("AE 1 a601 w9700");
        x.write(100).sends("PAE 1+100 a601 Ect0 w9700");
        x.gets("AW 601+100 a101 Ce").sends("AE 101 a701 w9600");
        x.gets("AW 701+100 a101").sends("A 101 a801 w9500");
        x.gets("A 801+100 a101").sends("A 101 a901 w9400");
    });
}

/// Section 6.1.5: what lies outside the window says nothing.
#[test]
fn a_mark_outside_the_window_is_ignored() {
    run(ecn(), |x| {
        x.connect().sends("SEW 0 mss1000").gets("SAE 300 a1 mss1000").sends("A 1 a301");
        x.gets("A 301+100 a1").sends("A 1 a401 w9900");
        x.gets("A 301+100 a1 Ce").sends("A 1 a401 w9900");
        x.gets("A 20301+100 a1 Ce").sends("A 1 a401 w9900");
    });
}
