use super::*;

#[test]
fn every_drawn_path_can_be_built() {
    for seed in 0..2000 {
        let planned = Planned::drawn(seed).expect("a link");
        planned.scenario().unwrap_or_else(|error| panic!("{seed}: {error}"));
    }
}

#[test]
fn a_seed_draws_the_same_again_and_another_seed_something_else() {
    let link = |seed| Planned::drawn(seed).expect("a link").link;
    assert_eq!(link(7), link(7));
    assert_ne!(link(7), link(8));
}
