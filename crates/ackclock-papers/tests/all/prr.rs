//! Figures 2 to 4 of Dukkipati et al., and what the verdicts on them are.

use crate::common::{experiment, verdicts};

#[test]
fn the_figures_come_out() {
    // cwnd = 2 after recovery takes three round trips to ten segments (2 + 4 + 4) and not four,
    // unless ACKs are delayed.
    let mut expected = ["holds"; 12];
    expected[9] = "does not hold";
    // Recovery takes a quarter of a second here, and 460 ms in the paper.
    expected[11] = "does not hold";
    assert_eq!(verdicts(&experiment("prr/figure-2")), expected);
    let mut expected = ["holds"; 10];
    expected[9] = "does not hold";
    assert_eq!(verdicts(&experiment("prr/figure-2-delayed-acks")), expected);
    assert_eq!(verdicts(&experiment("prr/figure-3")), ["holds"; 4]);
    assert_eq!(verdicts(&experiment("prr/figure-4")), ["holds"; 5]);
}
