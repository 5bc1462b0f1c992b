use super::*;

#[test]
fn the_seeds_are_those_of_the_runs_that_are_done() {
    let cell = |seed, runs| Cell {
        name: String::new(),
        labels: Vec::new(),
        seed,
        runs,
        rows: Vec::new(),
        tables: Vec::new(),
        sequences: Vec::new(),
        measured: Measurements::new(),
        unmet: Vec::new(),
    };
    assert_eq!(seeds(&[cell(1, 10), cell(5, 9), cell(90, 0)]), (1, 13));
    assert_eq!(seeds(&[cell(1, 0)]), (0, 0));
}
