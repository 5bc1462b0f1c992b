//! When deadlines are called. Two segments are sent at 100 ms and one ACK comes 50 ms later; the
//! handshake's round trip is 100 ms, so the timer of `sack`, without a variance left, expires 1 s
//! after the ACK.

use super::{compare, vector};
use crate::Vector;

/// The kernel's timer expires at `timer`, and nothing is heard until `next`.
fn timeout(timer: Option<u64>, next: u64) -> Vector {
    let mut steps = vec![
        r#"{"at":100000,"write":2000,"sent":[[0,1000,1],[1000,1000,1]]}"#.to_string(),
        r#"{"at":150000,"ack":1000,"window":64000}"#.to_string(),
    ];
    steps.extend(timer.map(|at| format!(r#"{{"at":{at},"timer":true,"sent":[[1000,1000,2]]}}"#)));
    steps.push(format!(r#"{{"at":{next},"ack":2000}}"#));
    vector(&steps.iter().map(String::as_str).collect::<Vec<_>>())
}

/// 150 ms and the least timeout of RFC 6298, a second.
const DUE: u64 = 1_150_000;
/// A timer that is set a second ahead expires at the next of the wheel's second level: 8 ticks.
const LATE: u64 = 8_000 + 32_000;

/// When the timeout was sent, whether the answers are the same, and how many expiries were met.
fn answer(v: &Vector) -> (Option<u64>, bool, u64) {
    let comparison = compare(v, "sack");
    let at = comparison.inputs[1].answer.sent.first().and_then(|left| left.timer);
    (at, comparison.first_difference().is_none(), comparison.score().met)
}

#[test]
fn a_timer_within_two_jiffies_expires_when_the_kernels_does() {
    for at in [DUE, DUE + 3_000, DUE + LATE] {
        assert_eq!(answer(&timeout(Some(at), 2_000_000)), (Some(at), true, 1));
    }
    // The engine's own deadline is never called before its time.
    for at in [DUE - 8_000, DUE - 1] {
        assert_eq!(answer(&timeout(Some(at), 2_000_000)), (Some(DUE), true, 1));
    }
}

#[test]
fn outside_of_that_it_expires_at_its_deadline() {
    for at in [DUE - 8_001, DUE + LATE + 1] {
        assert_eq!(answer(&timeout(Some(at), 2_000_000)), (Some(DUE), true, 0));
    }
}

#[test]
fn the_next_input_comes_first_where_the_kernels_timer_may_be_pending() {
    assert_eq!(answer(&timeout(None, DUE + LATE - 1)), (None, true, 0));
    assert_eq!(answer(&timeout(None, DUE - 1)), (None, true, 0));
    // That long it cannot be.
    assert_eq!(answer(&timeout(None, DUE + LATE)), (Some(DUE), false, 0));
}

#[test]
fn a_timer_that_the_kernel_was_early_with_is_no_difference() {
    // The input comes two milliseconds before the deadline, and the kernel's timer three.
    assert_eq!(answer(&timeout(Some(DUE - 3_000), DUE - 2_000)), (Some(DUE), true, 1));
    assert_eq!(answer(&timeout(Some(DUE - 8_001), DUE - 2_000)), (None, false, 0));
}
