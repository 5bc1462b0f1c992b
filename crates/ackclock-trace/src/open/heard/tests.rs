use super::*;
use crate::hypotheses::Entry;

/// An ACK with this timestamp.
fn ack(stamp: Option<u32>, with_data: bool) -> Acked {
    let Entry::Acked(acked) = crate::hypotheses::tests::ack(0.0, 1, &[]) else { unreachable!() };
    Acked { stamp, with_data, ..acked }
}

/// Whether each has reached a sender that echoes `echo`. Timestamps wrap.
fn has(waiting: &[(Option<u32>, bool)], echo: u32) -> Vec<Option<bool>> {
    let all = [0, u32::MAX - 11].map(|base: u32| {
        let moved = |stamp: u32| base.wrapping_add(stamp);
        let acks: Vec<Acked> =
            waiting.iter().map(|(stamp, data)| ack(stamp.map(moved), *data)).collect();
        let mut heard = Heard::default();
        acks.iter().for_each(|acked| heard.passes(acked));
        heard.learn(moved(echo), &acks);
        let has = |acked| {
            let has = heard.has(acked, moved(echo));
            heard.reached(acked);
            has
        };
        acks.iter().map(has).collect::<Vec<_>>()
    });
    assert_eq!(all[0], all[1]);
    all[0].clone()
}

/// What is older than the echo has arrived, and what is newer has not. Of two in one tick only the
/// first is known to have.
#[test]
fn an_echo_tells_what_has_arrived() {
    let waiting = [10, 11, 11, 12].map(|stamp| (Some(stamp), false));
    assert_eq!(has(&waiting, 11), [Some(true), Some(true), None, Some(false)]);
    assert_eq!(has(&waiting, 12), [Some(true); 4]);
    assert_eq!(has(&[(Some(10), false), (None, false)], 10), [Some(true), None]);
}

/// A host that has echoed nothing but what came with data may take no notice of ACKs alone, also if
/// one had the same timestamp.
#[test]
fn echoes_of_data_alone_tell_nothing() {
    let waiting = [(Some(10), false), (Some(10), true), (Some(11), false)];
    assert_eq!(has(&waiting, 10), [None; 3]);
    assert_eq!(has(&waiting, 11), [Some(true); 3]);
    assert_eq!(has(&waiting, 9), [None; 3]);
}

/// A sender that goes on with new data has heard what was due long ago, whatever it echoes. A
/// timer sends a few segments all the same, and so does one that has just missed it.
#[test]
fn a_sender_that_goes_on_has_heard() {
    for (overdue, segments, told) in [(201, 5, false), (201, 4, true), (200, 50, true)] {
        let mut heard = Heard::default();
        heard.learn(10, &[ack(Some(10), false)]);
        (0..segments).for_each(|_| heard.goes_on(Span::from_millis(overdue)));
        assert_eq!(heard.is_told(), told);
    }
    let mut heard = Heard::default();
    heard.learn(10, &[ack(Some(10), false)]);
    (0..4).for_each(|_| heard.goes_on(LEAST_RTO.times(2)));
    heard.reached(&ack(Some(10), false));
    (0..4).for_each(|_| heard.goes_on(LEAST_RTO.times(2)));
    assert!(heard.is_told());
}
