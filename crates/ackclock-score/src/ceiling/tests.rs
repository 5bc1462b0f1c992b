use super::Bound;
use crate::matrix::NONE;

/// Of three captures that look the same, a timeout in two and a probe in one, and a packet
/// that is a retransmission in one.
#[test]
fn the_best_answer_is_the_commonest_truth() {
    let timeout = ["timeout", "non_trigger"];
    let none = [NONE, NONE];
    let mut bound = Bound::default();
    bound.add(&[
        vec![timeout, none],
        vec![timeout, ["recovery", NONE]],
        vec![["tail_loss_probe", NONE], none],
    ]);
    let [kinds, classes] = bound.parts;
    assert_eq!((kinds.cases, kinds.twins, kinds.best), (4, 4, 2));
    // Whoever calls all three timeouts is wrong once.
    assert_eq!((classes.cases, classes.twins, classes.best), (3, 3, 2));
    bound.add(&[vec![timeout]]);
    assert_eq!((bound.parts[0].cases, bound.parts[0].twins, bound.parts[0].best), (5, 4, 3));
}
