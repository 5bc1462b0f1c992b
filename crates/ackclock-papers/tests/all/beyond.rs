//! The experiments beyond the papers whose numbers can be derived, and what the verdicts on them
//! are.

use ackclock_papers::Outcome;

use crate::common::{experiment, verdicts};

/// What was measured, cell by cell.
fn measured(outcome: &Outcome, measurement: &str) -> Vec<f64> {
    let row = |rows: &[ackclock_papers::Row]| {
        rows.iter().find(|r| r.measurement == measurement).unwrap().ours.unwrap()
    };
    outcome.cells.iter().map(|cell| row(&cell.rows).mean).collect()
}

#[test]
fn tail_loss() {
    let outcome = experiment("beyond/tail-loss");
    let verdicts = verdicts(&outcome);
    // With an RTO of 2.5 round trips the restarted timer is earlier than the probe.
    assert!(verdicts[10].starts_with("holds in 13 of 16 cells"), "{verdicts:?}");
    assert!(verdicts[11].starts_with("holds in 13 of 16 cells"), "{verdicts:?}");
    let others: Vec<&String> = verdicts[..10].iter().chain(&verdicts[12..]).collect();
    assert!(others.iter().all(|v| *v == "holds" || v.starts_with("holds in all ")), "{verdicts:?}");
    assert_eq!(others.len(), 20);
    // Losses of 9; 8 and 9; 7 to 9; each with a least RTO of 1 s and of 200 ms. A loss is
    // notified after one round trip of 100 ms, or at once; what the network adds to these is below
    // a thousandth of them.
    let near = |measurement: &str, derived: [f64; 6]| {
        let ours = measured(&outcome, measurement);
        let off = ours
            .iter()
            .zip(derived)
            .any(|(ours, derived)| (ours - derived).abs() > 0.002 * (1.0 + derived));
        assert!(!off, "{measurement}: {ours:?}");
    };
    near("completion/oracle", [0.2, 0.2, 0.2, 0.2, 0.3, 0.3]);
    near("completion/oracle-drop", [0.1; 6]);
    near("over-oracle/sack", [500.0, 125.0, 550.0, 175.0, 1000.0 / 3.0, 250.0 / 3.0]);
    near("over-oracle/rack-tlp", [200.0, 125.0, 150.0, 150.0, 200.0 / 3.0, 200.0 / 3.0]);
    near("over-oracle-drop/rack-tlp", [500.0, 350.0, 400.0, 400.0, 400.0, 400.0]);
}

#[test]
fn reordered_pairs() {
    let outcome = experiment("beyond/reordered-pairs");
    let verdicts = verdicts(&outcome);
    assert!(
        verdicts.iter().all(|v| v == "holds" || v.starts_with("holds in all ")),
        "{verdicts:?}"
    );
    // Late by 10 ms from the first and from the second pair on, then by 40 ms. RACK knows the round
    // trip from the start, and so how long to wait.
    assert_eq!(measured(&outcome, "spurious/rack-tlp"), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(measured(&outcome, "spurious/oracle"), [0.0; 4]);
}
