//! Why each segment was sent, and who found lost what it replaces: the words of events, which the
//! letters of the other files lump together.

use super::*;

/// The retransmissions, and what went beyond the window: segment, cause, who detected the loss.
fn causes(
    composition: &str,
    initial_window: u32,
    expected: &[(u64, &str, Option<&str>)],
    script: impl Fn(&mut Script),
) {
    run_with(composition, SenderConfig { events: true, ..window(initial_window) }, |x| {
        script(x);
        x.sent.clear();
        let events = std::iter::from_fn(|| x.sender.poll_event());
        let sent: Vec<_> = events
            .filter_map(|event| match event.kind {
                EventKind::Sent { seq, cause, detected_by, .. } if cause != Cause::New => {
                    Some((seq / MSS, cause.name(), detected_by))
                }
                _ => None,
            })
            .collect();
        assert_eq!(sent, expected, "{composition}");
    });
}

/// RFC 3042, then RFC 6582: the partial ACK shows 1 lost, and no detector judged it.
#[test]
fn a_partial_ack_has_no_detector() {
    let expected = [
        (10, "limited_transmit", None),
        (11, "limited_transmit", None),
        (0, "fast_retransmit", Some("dupack")),
        (1, "recovery", Some("partial-ack")),
    ];
    causes("newreno+lt", 10, &expected, |x| {
        x.write(12_000).sent.clear();
        for _ in 0..3 {
            x.ack(0).sent.clear();
        }
        x.ack(1).sent.clear();
    });
}

/// RFC 6675: IsLost finds 1; 3 is a hole that rule 3 of NextSeg fills, which nobody judged lost.
#[test]
fn a_hole_that_rule_3_fills_has_no_detector() {
    let expected = [
        (0, "fast_retransmit", Some("is-lost")),
        (1, "recovery", Some("is-lost")),
        (3, "recovery", Some("next-seg")),
    ];
    causes("sack", 6, &expected, |x| {
        x.write(6_000).sent.clear();
        x.sack(0, &[(2, 3)]).sent.clear();
        x.sack(0, &[(4, 5), (2, 3)]).sent.clear();
        x.sack(0, &[(4, 6), (2, 3)]).sent.clear();
        x.sack(1, &[(4, 6), (2, 3)]).sent.clear();
    });
}

/// RFC 8985: a probe of the tail; then RACK finds the loss, and that of the retransmission.
#[test]
fn rack_detects_what_the_probe_shows() {
    let expected = [
        (3, "tail_loss_probe", None),
        (1, "fast_retransmit", Some("rack")),
        (2, "recovery", Some("rack")),
        (1, "recovery", Some("rack")),
    ];
    causes("rack-tlp", 10, &expected, |x| {
        x.write(4_000).sends("0 1 2 3").at(100).ack(1).sends("").fire(300).sent.clear();
        x.at(400).sack(1, &[(3, 4)]).sent.clear();
        x.at(500).sack(1, &[(2, 4)]).sent.clear();
    });
}

/// RFC 6298 and RFC 5682: two timeouts, two new segments that tell, and the slow start.
#[test]
fn timeouts_have_no_detector() {
    let expected = [
        (0, "timeout", None),
        (0, "backed_off_timeout", None),
        (2, "f_rto", None),
        (3, "f_rto", None),
        (1, "slow_start", None),
        (2, "slow_start", None),
    ];
    causes("newreno+f-rto", 2, &expected, |x| {
        x.write(9_000).sent.clear();
        x.fire(1_000).sent.clear();
        x.fire(3_000).sent.clear();
        x.at(3_100).ack(1).sent.clear();
        x.ack(1).sent.clear();
    });
}

/// Lin & Kung section 6.3: the fifth and the seventh duplicate send a marker.
#[test]
fn duplicates_send_markers() {
    let expected =
        [(0, "fast_retransmit", Some("dupack")), (12, "marker", None), (13, "marker", None)];
    causes("newreno-ls+marks-ts", 12, &expected, |x| {
        x.write(14_000).sent.clear();
        for _ in 0..8 {
            x.ack(0).sent.clear();
        }
    });
}

/// Lin & Kung section 6.5: where data ends, old data keeps the ACKs coming.
#[test]
fn old_data_fills_in_where_data_ends() {
    let expected = [(0, "fast_retransmit", Some("dupack")), (0, "filler", None)];
    causes("newreno+resend", 10, &expected, |x| {
        x.write(10_000).sent.clear();
        for ms in 101..107 {
            x.at(ms).ack(0).sent.clear();
        }
    });
}

/// Miyake & Inamura section 3.1: the duplicates exceed what was sent before the retransmission.
#[test]
fn lrx_detects_a_lost_retransmission() {
    let expected = [(0, "fast_retransmit", Some("dupack")), (0, "recovery", Some("lrx"))];
    causes("newreno+lrx+response-1", 6, &expected, |x| {
        x.write(20_000).sent.clear();
        for _ in 0..9 {
            x.ack(0).sent.clear();
        }
    });
}

/// RFC 9293 section 3.8.6.1.
#[test]
fn a_window_probe_has_no_detector() {
    let expected = [(2, "window_probe", None)];
    causes("reno", 2, &expected, |x| {
        x.write(9_000).sent.clear();
        // Open by less than a segment: the probe fills it.
        x.window = 400;
        x.ack(2).fire(1_000).sent.clear();
    });
}
