use super::super::start::Start;
use super::super::tests::{ack, ms, seen, terms};
use super::super::trial::Says;
use super::super::{Entry, Script};
use super::*;
use crate::connection::Kind;

/// What it costs more that segment 1 is seen at 200 ms, which a candidate has sent so many
/// milliseconds before, if it did so for this reason and not as new data. Segment 0 was seen at
/// this time, so many milliseconds late.
fn more(kind: Kind, late: f64, [before_at, before_late]: [f64; 2]) -> f32 {
    // Others come in a row, so that segments are no 40 ms apart.
    let mut all = vec![ack(0.0, 0, &[]), seen(before_at, 0)];
    all.extend((1..9).map(|n| seen(200.0, n)));
    let start = Start { delay: Span::from_millis(50), resumed: None, outage: None, window: None };
    let script = Script::new(terms(true), &all, &start, false).expect("something was sent");
    let cost = |kind| {
        let says = Says { kind, ..Says::default() };
        let own =
            |at| Own { at: ms(at), len: 1000, says, seen: false, ticks: Span::ZERO, before: None };
        let mut sent = [own(before_at - before_late), own(200.0 - late)];
        let mut comparison = Comparison::new(&script);
        let [Entry::Sent(zero), Entry::Sent(one)] = &all[1..3] else { panic!("both were sent") };
        comparison.matched(zero, 0, &mut sent);
        comparison.best_match(one, false, &sent, Some(1)).expect("it has sent it").cost
    };
    (cost(Some(kind)) - cost(None)).round()
}

/// Beyond 50 ms, a quarter of the least timeout of Linux, it costs 8 more, as what was not sent;
/// times are known to 3 ms. How long a timeout waits is not known so well, and new data may have
/// been given late.
#[test]
fn what_comes_late_was_sent_by_a_timer() {
    let of = |kind| [0.0, 30.0, 53.0, 53.3, 300.0].map(|late| more(kind, late, [100.0, 0.0]));
    for kind in [Kind::FastRetransmit, Kind::Recovery, Kind::SlowStart, Kind::TailLossProbe] {
        assert_eq!(of(kind), [0.0, 0.0, 0.0, 8.0, 8.0], "{kind:?}");
    }
    for kind in [Kind::Timeout, Kind::BackedOffTimeout] {
        assert_eq!(of(kind), [0.0; 5], "{kind:?}");
    }
}

/// Not so where the segment before was as late, nor where it may have waited behind that.
#[test]
fn a_queue_makes_late_as_well() {
    let before = [[120.0, 0.0], [120.0, 15.0], [160.0, 0.0]];
    assert_eq!(before.map(|before| more(Kind::Recovery, 60.0, before)), [8.0, 0.0, 0.0]);
}
