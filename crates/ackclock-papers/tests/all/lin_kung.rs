//! The claims of Lin & Kung's figures 3 to 5 are exact sequences, worked out in `papers/lin-kung`:
//! each of them holds, but for a label of figure 4 that disagrees with the text.

use crate::common::{experiment, verdicts};

#[test]
fn figures_3_and_4() {
    let outcome = experiment("lin-kung/figures-3-4");
    let mut expected = ["holds"; 21];
    expected[14] = "does not hold";
    assert_eq!(verdicts(&outcome), expected);
    // Three packets of two units more than the 70 of the label.
    assert_eq!(outcome.claims[14].cells[0].judgement.measured, "0.7614 s");
}

#[test]
fn figure_5() {
    assert_eq!(verdicts(&experiment("lin-kung/figure-5")), ["holds"; 7]);
}
