//! RFC 8257 section 3.2: the echo of DCTCP.CE.

use super::*;
use crate::segment::Codepoint;

/// An ACK for every second segment, with ECN.
fn config(dctcp_echo: bool) -> ReceiverConfig {
    let delayed_ack = DelayedAck::After(Span::from_millis(200));
    ReceiverConfig { ecn: true, dctcp_echo, delayed_ack, ..super::config() }
}

/// Segment `n` of 500 bytes arrives; what is answered: up to which segment, and ECN-Echo.
fn arrives(r: &mut Rig, n: u32, ecn: Ecn) -> Option<(u32, bool)> {
    let segment = Segment { ecn, ..r.segment(500 * n, 500 * (n + 1)) };
    r.receiver.on_segment(r.now, &segment);
    r.poll().map(|ack| (r.relative(ack.ack) / 500, ack.ecn.ece()))
}

const CE: Ecn = Ecn::new(Codepoint::Ce, false, false);
const ECT: Ecn = Ecn::new(Codepoint::Ect0, false, false);

/// Every second segment is acknowledged, with the state; a change is acknowledged at once, in
/// either direction, whether a segment waits (5) or not (2).
#[test]
fn a_change_is_acknowledged_at_once() {
    each(0, config(true), |r| {
        assert_eq!(arrives(r, 0, ECT), None);
        assert_eq!(arrives(r, 1, ECT), Some((2, false)));
        assert_eq!(arrives(r, 2, CE), Some((3, true)));
        assert_eq!(arrives(r, 3, CE), None);
        assert_eq!(arrives(r, 4, CE), Some((5, true)));
        assert_eq!(arrives(r, 5, CE), None);
        assert_eq!(arrives(r, 6, ECT), Some((7, false)));
        assert_eq!(r.receiver.next_deadline(), Time::NEVER);
        assert_eq!(arrives(r, 7, ECT), None);
        r.now = at(200);
        r.receiver.on_deadline(r.now);
        assert_eq!(r.poll().map(|ack| ack.ecn.ece()), Some(false));
    });
}

/// CWR ends nothing: it is processed first and CE then, which says what the state is. A segment
/// that is not ECN-capable, as a retransmission, is not marked.
#[test]
fn cwr_ends_nothing() {
    each(0, config(true), |r| {
        assert_eq!(arrives(r, 0, CE), Some((1, true)));
        assert_eq!(arrives(r, 1, Ecn::new(Codepoint::Ce, false, true)), None);
        assert_eq!(arrives(r, 2, CE), Some((3, true)));
        assert_eq!(arrives(r, 3, Ecn::NONE), Some((4, false)));
        assert_eq!(arrives(r, 4, Ecn::new(Codepoint::Ce, false, true)), Some((5, true)));
    });
}

/// Without it the echo goes on until CWR comes, and no change is acknowledged at once.
#[test]
fn without_it_the_echo_waits_for_cwr() {
    each(0, config(false), |r| {
        assert_eq!(arrives(r, 0, CE), None);
        assert_eq!(arrives(r, 1, ECT), Some((2, true)));
        assert_eq!(arrives(r, 2, ECT), None);
        assert_eq!(arrives(r, 3, ECT), Some((4, true)));
        assert_eq!(arrives(r, 4, Ecn::new(Codepoint::Ect0, false, true)), None);
        assert_eq!(arrives(r, 5, ECT), Some((6, false)));
    });
}

/// Where ECN was not negotiated it does nothing.
#[test]
fn without_ecn_nothing_is_echoed() {
    each(0, ReceiverConfig { ecn: false, ..config(true) }, |r| {
        assert_eq!(arrives(r, 0, CE), None);
        assert_eq!(arrives(r, 1, CE), Some((2, false)));
    });
}
