//! What `ackclock-score loss-causes` prints must not get worse: its first 300 connections.

use ackclock_report::percentile;
use ackclock_score::loss_causes::{Summary, all};

#[test]
fn no_worse_than_measured() {
    let sum = Summary::of(&all(1..301).unwrap());
    let of = |name| sum.named(0, name);
    let ([queues, queues_right], [policers, policers_right], [random, random_right]) =
        (of("drop_tail"), of("policer"), of("random"));
    // As many are named as were, and no more of them wrongly.
    assert!(queues >= 17 && queues - queues_right <= 1, "{queues}, {queues_right} right");
    assert!(policers >= 16 && policers == policers_right, "{policers}, {policers_right} right");
    assert!(random >= 58 && random - random_right <= 3, "{random}, {random_right} right");
    // The rate of a policer is right to 1 % in half of the cases, and a queue's delay to 10 %.
    assert!(percentile(&sum.off[0], 50.0).unwrap() < 0.01, "{:?}", sum.off[0]);
    assert!(percentile(&sum.off[2], 50.0).unwrap() < 0.1, "{:?}", sum.off[2]);
    // At the receiver nothing is known of what was lost.
    assert!(sum.counts[2].keys().all(|(_, found)| *found == "none"), "{:?}", sum.counts[2]);
}
