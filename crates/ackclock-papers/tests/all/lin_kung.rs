//! The claims of Lin & Kung's figures 3 to 5 are exact sequences, worked out in `papers/lin-kung`:
//! each of them holds.

use crate::common::{experiment, verdicts};

#[test]
fn figures_3_and_4() {
    assert_eq!(verdicts(&experiment("lin-kung/figures-3-4")), ["holds"; 20]);
}

#[test]
fn figure_5() {
    assert_eq!(verdicts(&experiment("lin-kung/figure-5")), ["holds"; 7]);
}
