use super::*;

/// Cells between the first and the last one are there, and no others; values stay where they
/// were when it widens either way.
#[test]
fn widens_both_ways() {
    let mut cells = Cells::<u32>::default();
    assert_eq!(cells.iter().count(), 0);
    for (cell, value) in [(1000, 1), (1002, 2), (1000, 3), (998, 4), (1002, 5)] {
        *cells.at(cell) += value;
    }
    let all: Vec<(usize, u32)> = cells.iter().collect();
    assert_eq!(all, [(998, 4), (999, 0), (1000, 4), (1001, 0), (1002, 7)]);
    assert_eq!(cells.values.capacity(), 5);
}
