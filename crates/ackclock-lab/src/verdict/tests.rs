use ackclock_report::FlowSummary;
use ackclock_tcp::Stats;

use super::*;
use crate::measure::measures;
use crate::measured::Measured;

/// A row with these goodputs on the wire and in simulation, for seeds from 0 on.
fn row(wire: &[f64], simulation: &[f64]) -> RowOutcome {
    let runs: Vec<Measured> = (0..)
        .zip(wire)
        .map(|(seed, &goodput_bps)| Measured { seed, goodput_bps, ..Measured::default() })
        .collect();
    let simulated: Vec<FlowSummary> = (0..)
        .zip(simulation)
        .map(|(seed, &goodput_bps)| FlowSummary {
            goodput_bps: Some(goodput_bps),
            ..FlowSummary::of_sender("", seed, 0, &Stats::default())
        })
        .collect();
    RowOutcome {
        name: String::new(),
        strategy: None,
        against: None,
        paper: None,
        measures: measures(&runs, &[], &simulated),
        runs,
        simulated,
    }
}

fn verdict(rows: &[RowOutcome]) -> Option<(usize, usize, usize, usize)> {
    agreement(rows).map(|a| (a.rows, a.agree, a.pairs, a.same_order))
}

/// Seeds differ by a half, wire and simulation of a seed by 2, 4 and 6 %: 4 % with an interval of
/// 5 %, which reaches 3 %. With 3.9, 4 and 4.1 % it does not.
#[test]
fn a_row_differs_if_all_of_the_interval_does() {
    let simulation = [100.0, 150.0, 200.0];
    let near = row(&[102.0, 156.0, 212.0], &simulation);
    assert_eq!(near.agrees(), Some(true));
    let above = row(&[103.9, 156.0, 208.2], &simulation);
    assert_eq!(above.agrees(), Some(false));
    let below = row(&[96.1, 144.0, 191.8], &simulation);
    assert_eq!(below.agrees(), Some(false));
    assert_eq!(verdict(&[near, above, below]), Some((3, 1, 0, 0)));
    // A single run has no interval.
    assert_eq!(row(&[102.9], &[100.0]).agrees(), Some(true));
    assert_eq!(row(&[103.1], &[100.0]).agrees(), Some(false));
    assert_eq!(row(&[103.1], &[]).agrees(), None);
    assert_eq!(agreement(&[row(&[103.1], &[])]), None);
}

/// The second row has 10 % more than the first in each seed, the third 4 % more give or take 9 %.
#[test]
fn the_order_counts_where_the_simulation_is_certain_of_it() {
    let first = || row(&[100.0, 150.0, 200.0], &[100.0, 150.0, 200.0]);
    let third = || row(&[100.0, 150.0, 200.0], &[104.0, 162.0, 200.0]);
    let second = row(&[110.0, 165.0, 220.0], &[110.0, 165.0, 220.0]);
    assert_eq!(verdict(&[first(), second, third()]), Some((3, 3, 1, 1)));
    let reversed = row(&[99.0, 149.0, 199.0], &[110.0, 165.0, 220.0]);
    assert_eq!(verdict(&[first(), reversed]), Some((2, 1, 1, 0)));
}
