//! A path that takes less (RFC 1191, RFC 5927 section 7).

use super::*;

fn told(x: &mut Script, seq: u32, path_mss: u16) -> &mut Script {
    let seq = Seq(seq.wrapping_add(x.ours));
    x.input(|c, now| c.on_path_mss(now, seq, path_mss))
}

#[test]
fn what_is_outstanding_is_cut_and_sent_again() {
    run_established(config(), |x| {
        x.write(2000).sends("A 1+1000 a301 | PA 1001+1000 a301");
        told(x, 1, 600).sends("A 1+600 a301 | A 601+400 a301 | A 1001+600 a301 | PA 1601+400 a301");
        x.gets("A 301 a2001").sends("");
        x.write(700).sends("A 2001+600 a301 | PA 2601+100 a301");
    });
}

/// RFC 5927 section 7: SND.UNA =< SEG.SEQ < SND.NXT.
#[test]
fn a_sequence_number_that_is_not_outstanding_is_ignored() {
    run_established(config(), |x| {
        x.write(3000);
        x.sent.clear();
        x.gets("A 301 a1001").sends("");
        for seq in [0, 1, 1000, 3001, 3002, 2_147_483_648] {
            told(x, seq, 600).sends("");
        }
        assert_eq!(x.c.sender().state().mss, 1000);
        told(x, 3000, 600);
        assert_eq!(x.c.sender().state().mss, 600);
        x.sent.clear();
    });
    run_established(config(), |x| {
        told(x, 1, 600).sends("");
        assert_eq!(x.c.sender().state().mss, 1000);
    });
}

#[test]
fn a_path_that_takes_no_less_is_ignored() {
    run_established(config(), |x| {
        x.write(1000).sends("PA 1+1000 a301");
        told(x, 1, 1000).sends("");
        told(x, 1, 1001).sends("");
        told(x, 1, 999).sends("A 1+999 a301 | PA 1000+1 a301");
        told(x, 1, 1000).sends("");
        assert_eq!(x.c.sender().state().mss, 999);
    });
}

/// Timestamps come off; and nothing is so narrow that it is not worth its headers.
#[test]
fn the_options_of_every_segment_come_off() {
    run_established(ConnectionConfig { timestamps: true, ..config() }, |x| {
        x.write(900).sends("PA 1+900 a301 ts0/1000");
        told(x, 1, 512).sends("A 1+500 a301 ts0/1000 | PA 501+400 a301 ts0/1000");
        told(x, 1, 0);
        assert_eq!(x.c.sender().state().mss, 36);
        x.sent.clear();
    });
}

/// A SYN that was too big says what the path takes.
#[test]
fn a_syn_may_be_told_of() {
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        told(x, 1, 500).sends("");
        told(x, 0, 700).sends("");
        x.gets("SA 300 a1 mss1000").sends("A 1 a301");
        assert_eq!(x.c.sender().state().mss, 700);
    });
}

/// A FIN is cut off like any other byte.
#[test]
fn a_fin_is_cut_off_the_segment_it_came_with() {
    run(config(), |x| {
        x.connect().sends("S 0 mss1000").write(600).shutdown();
        x.gets("SA 300 a1 mss1000").sends("FPA 1+600 a301");
        told(x, 1, 600).sends("PA 1+600 a301 | FA 601 a301");
        x.gets("A 301 a602").sends("").in_state(FinWait2);
    });
}

/// The path was found to take 400 bytes at time 0. Data flows from 599 s on, and 2400 to 3200 bytes
/// are outstanding when the second ACK from 600 s on comes.
fn flows_for_ten_minutes(x: &mut Script) {
    x.write(1000).sends("PA 1+1000 a301");
    told(x, 1, 400).sends("A 1+400 a301 | A 401+400 a301 | PA 801+200 a301");
    x.gets("A 301 a1001").sends("");
    x.at(599_000).write(40_000);
    for ack in [1401, 1801, 2201, 2601] {
        x.sent.clear();
        x.at(599_999).gets(&format!("A 301 a{ack}"));
    }
    x.sends("A 5001+400 a301 | A 5401+400 a301");
}

/// The probe waits for room in cwnd, and more data with it.
fn probes(x: &mut Script) {
    flows_for_ten_minutes(x);
    x.at(600_000).gets("A 301 a3001").sends("");
    x.gets("A 301 a3401").sends("A 5801+1000 a301 | A 6801+400 a301");
    assert_eq!(x.c.sender().state().cwnd, 4_000);
}

fn with_sack() -> ConnectionConfig {
    ConnectionConfig { sack: true, ..config() }
}

/// RFC 4821 section 7.6.1.
#[test]
fn a_probe_that_arrives_makes_segments_large_again() {
    run_established(with_sack(), |x| {
        probes(x);
        x.gets("A 301 a6801");
        x.sends("A 7201+1000 a301 | A 8201+1000 a301 | A 9201+1000 a301 | A 10201+1000 a301");
        assert_eq!((x.c.sender().state().mss, x.c.sender().state().cwnd), (1000, 4_400));
    });
}

/// A connection that begins with what an earlier one has found looks for more, too.
#[test]
fn a_connection_that_begins_with_small_segments_probes() {
    let wide = Some((1000, Time(600_000_000_000)));
    run_established(ConnectionConfig { path_mss: 400, wide_path_mss: wide, ..with_sack() }, |x| {
        x.at(599_000).write(40_000);
        for ack in [401, 801, 1201, 1601] {
            x.sent.clear();
            x.at(599_999).gets(&format!("A 301 a{ack}"));
        }
        x.sent.clear();
        x.at(600_000).gets("A 301 a2001").sends("");
        x.gets("A 301 a2401").sends("A 4801+1000 a301 | A 5801+400 a301");
        x.gets("A 301 a5801");
        x.sends("A 6201+1000 a301 | A 7201+1000 a301 | A 8201+1000 a301 | A 9201+1000 a301");
        assert_eq!(x.c.sender().state().mss, 1000);
    });
}

/// Segments before it were lost, and it was not: that recovery goes its way.
#[test]
fn a_probe_arrives_among_losses() {
    run_established(with_sack(), |x| {
        probes(x);
        x.gets("A 301 a3401 k5801-6801");
        x.sends("A 3401+400 a301 | A 3801+400 a301 | A 4201+400 a301");
        x.gets("A 301 a3401 k6801-7201").sent.clear();
        x.gets("A 301 a7201").sent.clear();
        assert_eq!((x.c.sender().state().mss, x.c.sender().stats().recoveries), (1000, 1));
    });
}

/// RFC 4821 section 7.6.2, `tcp_mtup_probe_failed`: it goes again in pieces, cwnd stays, and after
/// ten minutes comes the next.
#[test]
fn a_probe_that_is_lost_does_no_harm() {
    run_established(with_sack(), |x| {
        probes(x);
        x.gets("A 301 a5801");
        x.sends(
            "A 7201+400 a301 | A 7601+400 a301 | A 8001+400 a301 | A 8401+400 a301 | \
             A 8801+400 a301 | A 9201+400 a301 | A 9601+400 a301",
        );
        // Four segments at once, which would begin a recovery.
        x.gets("A 301 a5801 k6801-8401");
        x.sends(
            "A 5801+400 a301 | A 6201+400 a301 | A 6601+200 a301 | \
             A 10001+400 a301 | A 10401+400 a301 | A 10801+400 a301 | A 11201+400 a301",
        );
        x.gets("A 301 a11601").sent.clear();
        let (state, stats) = (x.c.sender().state(), x.c.sender().stats());
        assert_eq!((state.cwnd, state.ssthresh, state.mss), (4_800, u64::MAX, 400));
        assert_eq!((stats.retransmissions, stats.recoveries, stats.timeouts), (6, 0, 0));
        x.at(1_199_999).gets("A 301 a12001").sends("A 16401+400 a301 | A 16801+400 a301");
        x.at(1_200_000).gets("A 301 a12401").sends("");
        x.gets("A 301 a12801").sends("A 17201+1000 a301 | A 18201+400 a301");
    });
}

/// A timeout tells nothing of the probe, which goes again in pieces like what was before it.
#[test]
fn a_timeout_ends_a_probe() {
    run_established(with_sack(), |x| {
        probes(x);
        let at = x.c.next_deadline();
        x.fire(at.nanos() / 1_000_000).sends("A 3401+400 a301");
        x.gets("A 301 a5801").sends("A 5801+400 a301 | A 6201+400 a301");
        assert_eq!(x.c.sender().state().mss, 400);
    });
}

/// Without SACK the loss of a probe would be seen late, and all of the window would go again.
#[test]
fn without_sack_there_is_no_probe() {
    run_established(config(), |x| {
        flows_for_ten_minutes(x);
        x.at(600_000).gets("A 301 a3001").sends("A 5801+400 a301 | A 6201+400 a301");
    });
}
