//! Which segment carries the FIN.

use super::*;

/// `tcp_send_fin` sets the flag on the last buffer that is not sent, also where that is full. It
/// stays there when it goes again, and nothing is cut for it.
#[test]
fn a_fin_goes_on_a_full_segment() {
    for composition in ["linux", "linux+linux-reno", "linux+linux-tso"] {
        run(composition, 10, |x| {
            x.close_with_fin().write(2_001).sends("0 1[0..1001]").at(100).ack(1).sends("");
            x.fire(404).sends("1[0..1001]+");
        });
    }
    // What sends it decides, and not the window law.
    for composition in ["reno", "sack+linux-cubic", "reno+linux-reno", "rack-tlp+linux-reno"] {
        run(composition, 10, |x| {
            x.close_with_fin().write(2_001).sends("0 1 2[0..1]");
        });
    }
}

/// `tcp_skb_seglen` is without the FIN: a segment with one is no larger than SMSS.
#[test]
fn a_fin_makes_no_segment_too_big() {
    for mss in [1_000, 1_001] {
        run("linux", 10, |x| {
            x.close_with_fin().write(2_001).sends("0 1[0..1001]").at(50);
            x.input(|s, now| s.set_mss(now, mss)).sends("");
        });
    }
    run("linux", 10, |x| {
        x.close_with_fin().write(2_001).sends("0 1[0..1001]").at(50);
        let sent = "0[0..900]S 0[900..1000]S 1[0..900]S 1[900..1001]S";
        x.input(|s, now| s.set_mss(now, 900)).sends(sent);
    });
}

/// What was sent before stays as it was: a full segment takes in nothing, and a short one what
/// follows (`tcp_retrans_try_collapse`).
#[test]
fn a_fin_after_the_last_segment_goes_alone() {
    for (bytes, sent, fin, again) in
        [(2_000, "0 1", "2[0..1]", "1T"), (1_500, "0 1[0..500]", "1[500..501]", "1[0..501]T")]
    {
        run("linux", 10, |x| {
            x.write(bytes).sends(sent).close_with_fin().write(1).sends(fin).at(100).ack(1);
            let due = |x: &Script| x.sender.next_deadline().0 / 1_000_000;
            // The probe, and then the timeout.
            let probe = format!("{fin}+");
            x.fire(due(x)).sends(&probe);
            x.fire(due(x)).sends(again);
        });
    }
}
