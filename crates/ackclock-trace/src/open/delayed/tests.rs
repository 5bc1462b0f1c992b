use super::*;
use crate::sender::{Opening, Owed};

const DELAY: Span = Span::from_millis(10);

/// The server of a download, captured at the client.
fn sender() -> DelayedSender {
    let terms = Terms {
        start: Time::ZERO,
        mss: 1000,
        header: 40,
        sack: true,
        cut: false,
        timestamps: false,
        sight: Sight::Received,
        near: false,
        opening: Opening::Seen,
        opens: false,
        handshake_rtt: Some(DELAY).into(),
        events: false,
    };
    let mut sender = DelayedSender::default();
    sender.begin(terms, Arc::default(), None);
    sender
}

/// This segment of 1000 bytes goes out, and nothing else is known of it.
fn send(sender: &mut DelayedSender, frame: u64, segment: u64, again: bool, places: &mut Places) {
    sender.data(data(frame, segment, again), DELAY, places);
}

/// It passes at as many milliseconds as the number of its frame.
fn data(frame: u64, segment: u64, again: bool) -> Data {
    let (at, position) = (Time(frame * 1_000_000), segment * 1000);
    let (seq, len, owed) = (Seq(position as u32), 1000, Owed::Some);
    let (fin, tsval, ip_id, skipped, counted) = (false, None, None, 0, false);
    let (cwr, capable) = (false, false);
    Data {
        frame,
        at,
        position,
        seq,
        len,
        fin,
        again,
        tsval,
        tsecr: None,
        ip_id,
        skipped,
        counted,
        all_seen: false,
        cwr,
        capable,
        owed,
    }
}

/// Of so many places for packets, those that are left.
fn left(places: &mut Places) -> usize {
    (0..).take_while(|_| places.take_spare()).count()
}

/// All places for packets but these are taken.
fn with_spare(spare: usize) -> Places {
    let mut places = Places::default();
    let all = left(&mut places);
    places.give_back(spare);
    assert!(all > spare);
    places
}

/// Without a place for all of its packets, a connection in which nothing is to be explained needs
/// none.
#[test]
fn what_is_calm_gives_its_places_back() {
    let (mut places, mut calm) = (with_spare(3), sender());
    (0..3).for_each(|n| send(&mut calm, n, n, false, &mut places));
    assert_eq!(left(&mut places.clone()), 0);
    send(&mut calm, 3, 3, false, &mut places);
    assert_eq!(left(&mut places), 3);
}

/// What was sent again is explained with what is known of it.
#[test]
fn what_repairs_keeps_its_places() {
    let (mut places, mut lossy) = (with_spare(3), sender());
    for (frame, n) in [0, 1, 0, 2].into_iter().enumerate() {
        send(&mut lossy, frame as u64, n, frame == 2, &mut places);
    }
    assert_eq!(left(&mut places.clone()), 0);
    lossy.finish(Time(10_000_000), DELAY, &mut places);
    assert_eq!(left(&mut places), 3);
}

/// The ACK of the second segment passes long before that goes again. If an older one is echoed, it
/// was held up, and the segment was outstanding.
#[test]
fn what_is_echoed_was_heard() {
    let flight = |echo: u32| {
        let (mut places, mut one) = (Places::default(), sender());
        let mut pass = |at: u64, segment: u64, stamp: u32, echo: u32, again: bool| {
            let stamps =
                Data { tsval: Some(at as u32), tsecr: Some(echo), ..data(at, segment, again) };
            one.data(stamps, DELAY, &mut places);
            let Entry::Acked(acked) = crate::hypotheses::tests::ack(0.0, segment + 1, &[]) else {
                unreachable!()
            };
            let at = Time((at + 1) * 1_000_000);
            one.acked(&mut Acked { at, stamp: Some(stamp), ..acked }, DELAY, &mut places);
        };
        pass(1, 0, 10, 5, false);
        pass(1501, 1, 20, 10, false);
        pass(1801, 1, 30, echo, true);
        let found = one.finish(Time(2_000_000_000), DELAY, &mut places).unwrap();
        found.timeouts.iter().map(|t| t.flight).collect::<Vec<_>>()
    };
    assert_eq!(flight(10), [1000]);
    assert_eq!(flight(20), [0]);
}
