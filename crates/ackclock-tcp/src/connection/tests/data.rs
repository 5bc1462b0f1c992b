//! Data both ways: acknowledgments that ride on data, and those that must not.

use super::*;

/// A data segment carries what is to be acknowledged.
#[test]
fn an_acknowledgment_rides_on_data() {
    let delayed = ReceiverConfig {
        delayed_ack: DelayedAck::After(Span::from_millis(200)),
        ..config().receiver
    };
    let delayed = ConnectionConfig { receiver: delayed, ..config() };
    run_established(delayed.clone(), |x| {
        x.gets("PA 301+100 a1").sends("").deadline(200);
        x.at(50).write(10).sends("PA 1+10 a401 w9900");
        // It is not due any more; the retransmission timer runs.
        x.deadline(1050);
        x.at(100).gets("PA 401+100 a11").sends("").deadline(300);
        x.fire(300).sends("A 11 a501 w9800").no_deadline();
    });
    run_established(delayed, |x| {
        x.gets("A 301+1000 a1").sends("");
        x.gets("A 1301+1000 a1").sends("A 1 a2301 w8000");
    });
}

/// A segment as GRO delivers it, merged of many: acknowledged at once (RFC 5681 section 4.2).
#[test]
fn a_merged_segment_is_acknowledged_at_once() {
    let receiver = ReceiverConfig {
        delayed_ack: DelayedAck::After(Span::from_millis(200)),
        buffer: 1 << 20,
        ..config().receiver
    };
    run_established(ConnectionConfig { receiver, wscale: Some(5), ..config() }, |x| {
        x.gets("PA 301+65000 a1").sends("A 1 a65301 w30736").keeps(0, 0, 65_000).readable(65_000);
        x.gets("PA 65301+2000 a1").sends("A 1 a67301 w30674").keeps(65_000, 0, 2000);
        x.gets("PA 67301+1000 a1").sends("").keeps(67_000, 0, 1000);
    });
}

/// With timestamps a full segment is 12 bytes less, and the second one is acknowledged at once all
/// the same.
#[test]
fn every_second_full_segment_is_acknowledged() {
    let receiver = ReceiverConfig {
        delayed_ack: DelayedAck::After(Span::from_millis(200)),
        ..config().receiver
    };
    run_established(ConnectionConfig { receiver, timestamps: true, ..config() }, |x| {
        x.gets("A 301+988 a1 ts1000/0").sends("");
        x.gets("A 1289+988 a1 ts1000/0").sends("A 1 a2277 w8024 ts0/1000");
    });
}

/// A duplicate ACK goes without data, so that the peer may count it (RFC 5681 section 2); data
/// follows.
#[test]
fn a_duplicate_ack_goes_alone() {
    run_established(config(), |x| {
        x.write(5000);
        x.sends("A 1+1000 a301 | A 1001+1000 a301 | A 2001+1000 a301 | A 3001+1000 a301");
        x.gets("PA 401+10 a4001").sends("A 4001 a301 | PA 4001+1000 a301").keeps(100, 0, 10);
        x.gets("PA 411+10 a5001").sends("A 5001 a301");
        x.gets("PA 301+100 a5001").sends("A 5001 a421 w9880");
    });
}

/// So does one that reports a duplicate (RFC 2883).
#[test]
fn a_report_of_a_duplicate_goes_alone() {
    run_established(ConnectionConfig { sack: true, ..config() }, |x| {
        x.gets("PA 301+10 a1").sends("A 1 a311 w9990");
        x.write(5000);
        x.sends(
            "A 1+1000 a311 w9990 | A 1001+1000 a311 w9990 | A 2001+1000 a311 w9990 | A \
            3001+1000 a311 w9990",
        );
        // Old data with news behind it.
        x.gets("PA 301+20 a4001")
            .sends("A 4001 a321 w9980 k301-311 | PA 4001+1000 a321 w9980")
            .keeps(10, 10, 10);
    });
}

/// SACK blocks ride on data that leaves room for them.
#[test]
fn sack_blocks_ride_on_short_segments() {
    run_established(ConnectionConfig { sack: true, ..config() }, |x| {
        x.gets("PA 401+10 a1").sends("A 1 a301 k401-411");
        // 4 + 8 bytes of options beside 988 of data.
        x.write(989).sends("PA 1+989 a301");
        x.write(988).sends("PA 990+988 a301 k401-411");
    });
    run_established(ConnectionConfig { sack: true, timestamps: true, ..config() }, |x| {
        x.gets("PA 401+10 a1 ts1001/0").sends("A 1 a301 ts0/1000 k401-411");
        x.write(977).sends("PA 1+977 a301 ts0/1000");
        x.write(976).sends("PA 978+976 a301 ts0/1000 k401-411");
    });
}

/// The window that a segment of ours offers is remembered.
#[test]
fn data_updates_the_window() {
    run_established(config(), |x| {
        x.gets("A 301+9000 a1").sends("A 1 a9301 w1000");
        x.read(3000).sends("A 1 a9301 w4000");
        x.read(1000).sends("");
        x.write(10).sends("PA 1+10 a9301 w5000");
        x.read(1000).sends("");
        x.read(1000).sends("A 11 a9301 w7000");
    });
}

/// A copy keeps the edges of its segment, and PSH marks the end of what has been written.
#[test]
fn retransmissions_keep_their_edges() {
    run_established(config(), |x| {
        x.write(10).sends("PA 1+10 a301");
        x.write(1500).sends("A 11+1000 a301 | PA 1011+500 a301");
        x.fire(1000).sends("A 1+10 a301");
        x.gets("A 301 a11").sends("A 11+1000 a301");
        x.gets("A 301 a1011").sends("PA 1011+500 a301");
        x.gets("A 301 a1511").sends("");
        x.write(10).sends("PA 1511+10 a301");
    });
}

/// An ACK does not stand beyond the edge of a window that the peer has taken back, where it would
/// not be acceptable.
#[test]
fn an_ack_stays_within_a_shrunken_window() {
    run_established(config(), |x| {
        x.write(4000);
        x.sent.clear();
        x.gets("A 301 a1 w2500").sends("");
        x.gets("PA 301+10 a1 w2500").sends("A 2501 a311 w9990");
        x.gets("PA 311+10 a1 w0").sends("A 1 a321 w9980");
        x.gets("PA 321+10 a1 w4000").sends("A 4001 a331 w9970");
    });
}

/// Bytes of both directions past every wrap: the scripts begin right before it.
#[test]
fn a_long_exchange() {
    run_established(config(), |x| {
        let (mut ours, mut theirs) = (1, 301);
        for round in 0..10 {
            x.write(1000).sends(&format!("PA {ours}+1000 a{theirs}"));
            ours += 1000;
            x.gets(&format!("PA {theirs}+1000 a{ours}"))
                .sends(&format!("A {ours} a{} w9000", theirs + 1000));
            theirs += 1000;
            x.keeps(1000 * round, 0, 1000).read(1000).sends("");
            x.write(1).sends(&format!("PA {ours}+1 a{theirs}"));
            ours += 1;
            x.gets(&format!("A {theirs} a{ours}")).sends("");
        }
        assert_eq!((x.c.acked(), x.c.read_position()), (10_010, 10_000));
    });
}
