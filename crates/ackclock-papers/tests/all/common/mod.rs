//! The experiments of this project, run in full.

use ackclock_papers::{Library, Outcome, run};

/// What comes out of `paper/experiment`.
pub fn experiment(id: &str) -> Outcome {
    let library = Library::embedded(ackclock_tcp::Registry::default()).unwrap();
    run(&library.plan(id, false).unwrap(), 2).unwrap().remove(0)
}

/// The verdicts on its claims.
pub fn verdicts(outcome: &Outcome) -> Vec<String> {
    outcome.claims.iter().map(|claim| claim.verdict()).collect()
}
