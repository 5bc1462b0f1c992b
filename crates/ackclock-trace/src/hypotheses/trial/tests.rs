use super::*;
use crate::hypotheses::Entry;
use crate::hypotheses::candidates::candidates;
use crate::hypotheses::start::Start;
use crate::hypotheses::tests::{ack, seen, terms};
use crate::sender::Terms;

/// A window of one segment, then of two: a coarse clock gives the second one the timestamp of the
/// first.
#[test]
fn an_echo_is_that_of_the_last_segment_with_this_timestamp() {
    let stamped = |t, segment, tsval| match seen(t, segment) {
        Entry::Sent(sent) => Entry::Sent(Sent { tsval: Some(tsval), ..sent }),
        entry => entry,
    };
    let entries = [
        ack(0.0, 0, &[]),
        stamped(50.0, 0, 7),
        ack(50.0, 1, &[]),
        stamped(100.0, 1, 7),
        stamped(100.1, 2, 8),
        ack(100.1, 3, &[]),
    ];
    let delay = Span::from_millis(50);
    let start = Start { delay, resumed: None, outage: None, window: None };
    let terms = Terms { timestamps: true, ..terms(false) };
    let script = Script::new(terms, &entries, &start, false).unwrap();
    let setting = Setting {
        candidate: &candidates(false)[0],
        min_rto: Span::from_millis(200),
        cost: 0.0,
        initial_window: 1,
        initial_ssthresh: None,
        tick_phase: Span::ZERO,
    };
    let mut lists = Lists::default();
    let mut trial = Trial::new(&script, &setting, &mut lists);
    trial.go(&Budget { most: 1e9, best: &[] });
    let own: Vec<u32> = trial.lists.own.iter().map(|own| own.at.timestamp()).collect();
    assert_eq!(own.len(), 3);
    assert_ne!(own[0], own[1]);
    assert_eq!([7, 8, 6].map(|ecr| trial.echoed(ecr)), [own[1], own[2], 0]);
}
