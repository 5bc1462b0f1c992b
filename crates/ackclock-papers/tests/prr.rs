//! Figures 2 to 4 of Dukkipati et al., and what the verdicts on them are.

use ackclock_papers::{Library, Plan, run};

fn verdicts(id: &str) -> Vec<String> {
    let library = Library::embedded().unwrap();
    let outcome = run(&Plan::of(&library, &format!("prr/{id}"), false).unwrap(), 2).unwrap().remove(0);
    outcome.claims.iter().map(|claim| claim.verdict()).collect()
}

#[test]
fn the_figures_come_out() {
    // cwnd = 2 after recovery takes three round trips to ten segments (2 + 4 + 4) and not four.
    let mut expected = ["holds"; 11];
    expected[9] = "does not hold";
    assert_eq!(verdicts("figure-2"), expected);
    assert_eq!(verdicts("figure-3"), ["holds"; 4]);
    assert_eq!(verdicts("figure-4"), ["holds"; 5]);
}
