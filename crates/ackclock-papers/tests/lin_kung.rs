//! The claims of Lin & Kung's figures 3 to 5 are exact sequences, worked out in `papers/lin-kung`: each of them holds.

use ackclock_papers::{Library, Plan, run};

fn holds(id: &str, claims: usize) {
    let library = Library::embedded().unwrap();
    let outcome = run(&Plan::of(&library, &format!("lin-kung/{id}"), false).unwrap(), 1).unwrap().remove(0);
    assert_eq!(outcome.claims.len(), claims);
    for claim in outcome.claims {
        assert_eq!((claim.holds, claim.does_not_hold), (1, 0), "{}: {:?}", claim.says, claim.cells);
    }
}

#[test]
fn figures_3_and_4() {
    holds("figures-3-4", 20);
}

#[test]
fn figure_5() {
    holds("figure-5", 7);
}
