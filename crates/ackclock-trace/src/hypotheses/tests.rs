use ackclock_tcp::{Seq, Span, Time, TimeoutClass};

use super::{Entry, verdicts};
use crate::connection::Kind;
use crate::sender::{Acked, Sent, Sight, Terms};

const MSS: u64 = 1000;

/// Time between the capture, at the receiver, and the sender, and back; there is nothing behind it.
const RTT: f64 = 50.0;

fn ms(t: f64) -> Time {
    Time::ZERO + Span((t * 1e6) as u64) + Span::from_secs(10)
}

fn terms(sack: bool) -> Terms {
    Terms {
        start: ms(0.0),
        header: 40,
        mss: MSS as u32,
        sack,
        timestamps: false,
        sight: Sight::Received,
        handshake_rtt: Some(Span::from_millis(RTT as u64)),
        events: false,
    }
}

/// A full segment arrives.
fn seen(t: f64, segment: u64) -> Entry {
    Entry::Sent(Sent {
        frame: t as u64,
        at: ms(t),
        position: segment * MSS,
        seq: Seq((segment * MSS) as u32),
        len: MSS as u32,
        fin: false,
        tsval: None,
        ip_id: None,
    })
}

/// The receiver has all before segment `n`, and these.
fn ack(t: f64, n: u64, sacks: &[(u64, u64)]) -> Entry {
    let mut sack = [(0, 0); 4];
    sacks.iter().zip(&mut sack).for_each(|((a, b), block)| *block = (a * MSS, b * MSS));
    Entry::Acked(Acked {
        frame: 0,
        at: ms(t),
        ack: n * MSS,
        window: 60_000,
        scaled: true,
        sack,
        sacks: sacks.len() as u8,
        dsack: false,
        tsecr: None,
        with_data: false,
        ece: false,
        timed: true,
    })
}

/// Three segments and a fourth that is lost before the capture: first, then once more after `again`,
/// each in ms after the ACK of the third.
fn lost_tail(again: &[f64]) -> Vec<Entry> {
    let mut all = vec![ack(0.0, 0, &[]), seen(50.0, 0), seen(50.1, 1), seen(50.2, 2)];
    all.push(ack(50.2, 3, &[]));
    for after in again {
        all.push(seen(50.2 + RTT + after, 3));
    }
    all.push(ack(50.2 + RTT + again[again.len() - 1], 4, &[]));
    all
}

fn kind_and_class(entries: &[Entry], sack: bool) -> (Option<Kind>, Option<TimeoutClass>, f64) {
    let all = verdicts(terms(sack), entries, Span::from_millis(RTT as u64));
    let last = all.last().expect("hypotheses agree");
    (last.kind, last.says.expiry.map(|expiry| expiry.class), last.probability)
}

/// What is seen once, and looks like new data after a pause, is what the retransmission timer sent:
/// 200 ms after the last ACK had reached the sender, and what RFC 6298 adds.
#[test]
fn a_lost_tail_is_sent_by_the_timer() {
    let (kind, class, probability) = kind_and_class(&lost_tail(&[200.0]), false);
    assert_eq!((kind, class), (Some(Kind::Timeout), Some(TimeoutClass::NonTrigger)));
    assert!(probability > 0.7, "{probability}");
}

/// 600 ms after it, one was lost in between: the timer's interval doubles.
#[test]
fn a_retransmission_that_was_lost_unseen_is_counted() {
    let (kind, class, probability) = kind_and_class(&lost_tail(&[600.0]), false);
    assert_eq!((kind, class), (Some(Kind::BackedOffTimeout), Some(TimeoutClass::BackedOff)));
    assert!(probability > 0.7, "{probability}");
}

/// At 437 ms no timer in use expires: the application has paused.
#[test]
fn a_pause_is_no_timeout() {
    let (kind, class, _) = kind_and_class(&lost_tail(&[437.0]), false);
    assert_eq!((kind, class), (None, None));
}

/// Without the time from the capture to the sender there is nothing to compare.
#[test]
fn nothing_is_said_without_the_delay() {
    assert!(verdicts(terms(false), &lost_tail(&[200.0]), Span::ZERO).is_empty());
}

/// A SYN that went again measures no round trip: then nothing says when the sender began.
#[test]
fn nothing_is_said_without_a_handshake() {
    let unmeasured = Terms { handshake_rtt: None, ..terms(false) };
    assert!(verdicts(unmeasured, &lost_tail(&[200.0]), Span::from_millis(50)).is_empty());
}

/// Segment 1 of ten is lost before the capture. Three SACKs send it again at once.
#[test]
fn three_sacks_make_a_fast_retransmit() {
    let mut all = vec![ack(0.0, 0, &[]), seen(50.0, 0), ack(50.0, 1, &[])];
    for n in 2..10 {
        all.push(seen(50.0 + n as f64 / 10.0, n));
        all.push(ack(50.0 + n as f64 / 10.0, 1, &[(2, n + 1)]));
    }
    all.push(seen(100.4, 1));
    all.push(ack(100.4, 10, &[]));
    let (kind, class, probability) = kind_and_class(&all, true);
    assert_eq!((kind, class), (Some(Kind::FastRetransmit), None));
    assert!(probability > 0.7, "{probability}");
}

/// The SYN/ACK was lost, and the second one is answered with data, a little sooner than the shortest
/// round trip says: that is no timeout a second after the first.
#[test]
fn data_follows_the_last_syn_ack() {
    let syn_ack = |t| match ack(t, 0, &[]) {
        Entry::Acked(acked) => Entry::Acked(Acked { with_data: true, ..acked }),
        sent => sent,
    };
    let all = [syn_ack(0.0), syn_ack(1000.0), seen(1049.9, 0), ack(1049.9, 1, &[])];
    let (kind, _, probability) = kind_and_class(&all, false);
    assert_eq!((kind, probability), (None, 1.0));
}
