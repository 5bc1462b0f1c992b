//! Long connections are thinned for a picture.

use std::borrow::Cow;

use ackclock_report::thin;
use ackclock_tcp::{Cause, Event, EventKind, Time, TimeoutClass};

const MSS: u32 = 1000;

fn at(micros: u64, kind: EventKind) -> Event {
    Event {
        at: Time(micros * 1000),
        cwnd: 10_000,
        ssthresh: u64::MAX,
        snd_una: 0,
        snd_nxt: 0,
        kind,
    }
}

fn sent(segment: u64, cause: Cause) -> EventKind {
    EventKind::Sent { seq: segment * 1000, len: MSS, cause, transmission: 1, detected_by: None }
}

fn acked(segment: u64, edge: u64) -> EventKind {
    EventKind::Acked {
        ack: segment * 1000,
        dupacks: 0,
        newly_acked: 1000,
        newly_sacked: 0,
        window_edge: segment * 1000 + edge,
        sack: Default::default(),
        sacks: 0,
        dsack: false,
    }
}

/// A segment each 10 us, acknowledged 5 us later.
fn bulk(segments: u64) -> Vec<Event> {
    (0..segments)
        .flat_map(|n| [at(10 * n, sent(n, Cause::New)), at(10 * n + 5, acked(n + 1, 60_000))])
        .collect()
}

/// How many bytes were sent and acknowledged.
fn totals(events: &[Event]) -> (u64, u64) {
    events.iter().fold((0, 0), |(sent, acked), event| match event.kind {
        EventKind::Sent { len, .. } => (sent + u64::from(len), acked),
        EventKind::Acked { newly_acked, .. } => (sent, acked + newly_acked),
        _ => (sent, acked),
    })
}

#[test]
fn few_events_stay_as_they_are() {
    let events = bulk(50);
    assert!(matches!(thin(&events, 100), Cow::Borrowed(kept) if kept == events));
    assert!(matches!(thin(&events, 99), Cow::Owned(_)));
}

#[test]
fn what_shares_a_cell_becomes_one_mark() {
    // 40,000 events in 199.995 ms. In 1000 columns there would be 1000 marks of segments and as
    // many of ACKs, and in 500 still too many; 250 columns of 799.98 us hold 80 segments each,
    // and a row, one of 125, holds 160.
    let events = bulk(20_000);
    let kept = thin(&events, 1000);
    assert_eq!(totals(&kept), (20_000_000, 20_000_000));
    let data = |seq| EventKind::Sent {
        seq,
        len: 80_000,
        cause: Cause::New,
        transmission: 1,
        detected_by: None,
    };
    assert_eq!((kept[0], kept[2]), (at(0, data(0)), at(800, data(80_000))));
    let EventKind::Acked { ack, newly_acked, .. } = kept[1].kind else { panic!("{:?}", kept[1]) };
    assert_eq!((kept[1].at, ack, newly_acked), (Time(795_000), 80_000, 80_000));
    // The last ACK stands on the edge, in a column of its own.
    assert_eq!(kept.len(), 501);
}

#[test]
fn trouble_and_what_is_near_it_stays_whole() {
    let mut events = bulk(20_000);
    let middle = events.len() / 2;
    let time = events[middle].at;
    events.insert(middle, Event { at: time, ..at(0, sent(5, Cause::FastRetransmit)) });
    let kept = thin(&events, 8000);
    assert!(kept.len() <= 8000, "{}", kept.len());
    let found = kept.iter().position(|event| *event == events[middle]).unwrap();
    assert!(kept[found - 64..=found + 64] == events[middle - 64..=middle + 64]);
    assert!(kept[found - 65] != events[middle - 65]);
}

/// Of a thousand recoveries, each of a retransmission, there is room for every retransmission but
/// for nothing around them.
#[test]
fn recoveries_stay_closed() {
    let mut events = bulk(200_000);
    for n in 1..=1000 {
        let at = events[200 * n].at.0 / 1000;
        let entered = EventKind::RecoveryEntered { recover: 0, flight: 0, pipe: 0, by: "dupack" };
        let left = EventKind::RecoveryLeft { by_timeout: false, cwnd_before: 0 };
        let resent = sent(n as u64, Cause::FastRetransmit);
        events.extend([entered, resent, left].map(|kind| self::at(at, kind)));
    }
    events.sort_by_key(|event| event.at);
    let count =
        |kept: &[Event], of: fn(&EventKind) -> bool| kept.iter().filter(|e| of(&e.kind)).count();
    for most in [30_000, 10_000] {
        let kept = thin(&events, most);
        assert!(kept.len() <= most);
        let resent =
            count(&kept, |k| matches!(k, EventKind::Sent { cause: Cause::FastRetransmit, .. }));
        let bounds = count(&kept, |k| {
            matches!(k, EventKind::RecoveryEntered { .. } | EventKind::RecoveryLeft { .. })
        });
        assert_eq!((resent, bounds), (1000, 2000), "{most}");
    }
    // Below that only the bounds of recoveries stay, and then not even these.
    let bounds =
        |most| count(&thin(&events, most), |k| matches!(k, EventKind::RecoveryLeft { .. }));
    assert_eq!(bounds(8000), 1000);
    assert!(bounds(2000) < 1000);
}

#[test]
fn a_closed_window_is_trouble() {
    let mut events = bulk(20_000);
    let time = events[30_000].at;
    events.insert(30_000, Event { at: time, ..at(0, acked(3, 0)) });
    assert!(thin(&events, 8000).contains(&events[30_000]));
}

/// Whatever happens, there are no more than were asked for.
#[test]
fn all_trouble_is_bounded_too() {
    let trouble = |n: u64| match n % 5 {
        0 => sent(n * 7919 % 100_000, Cause::Timeout),
        1 => sent(n * 7907 % 100_000, Cause::SlowStart),
        2 => acked(n * 7901 % 100_000, 0),
        3 => EventKind::Lost { seq: n, len: MSS, transmission: 1, by: "dupack" },
        _ => EventKind::TimedOut {
            seq: n,
            class: TimeoutClass::NonTrigger,
            backoff: 0,
            flight: 0,
            cwnd_before: 0,
            rto: 0,
        },
    };
    let events: Vec<Event> = (0..100_000).map(|n| at(n, trouble(n))).collect();
    for most in [0, 1, 100, 5000, 50_000] {
        let kept = thin(&events, most);
        assert!(kept.len() <= most, "{} of {most}", kept.len());
        assert!(kept.is_sorted_by_key(|event| event.at));
    }
    // 50,000 allow a raster on which one can still see each millisecond.
    assert!(thin(&events, 50_000).len() > 20_000);
}

/// A cross stands over a segment that the network dropped, and needs its bar: also where the drop
/// itself comes long after it.
#[test]
fn what_was_dropped_is_kept() {
    let mut events = bulk(20_000);
    let lost = 10_000;
    assert_eq!(events[lost].kind, sent(5000, Cause::New));
    let drop =
        EventKind::Dropped { seq: 5_000_000, len: MSS, transmission: 1, link: 0, why: "list" };
    events.insert(lost + 1000, Event { at: events[lost + 999].at, ..at(0, drop) });
    // With room for all around it, and with none.
    for most in [8000, 600] {
        let kept = thin(&events, most);
        assert!(kept.len() <= most);
        assert!(kept.contains(&events[lost]) && kept.contains(&events[lost + 1000]), "{most}");
    }
}
