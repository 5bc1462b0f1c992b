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
