//! Whether wire and simulation agree, and whether aims are reached.

use ackclock_report::FlowSummary;
use ackclock_run::GridCell;

use crate::format::{Aim, Bound};
use crate::measure::above;
use crate::outcome::{Agreement, AimOutcome, Cell, RowOutcome, apart};

/// Whether the wire agrees with the simulation; `None` if no row was simulated.
pub(crate) fn agreement(rows: &[RowOutcome]) -> Option<Agreement> {
    let both: Vec<&RowOutcome> = rows.iter().filter(|row| row.agrees().is_some()).collect();
    let wire = |row: &RowOutcome| row.runs.iter().map(|m| m.goodput_bps).collect::<Vec<_>>();
    let simulation = |row: &RowOutcome| {
        let goodput = |s: &FlowSummary| s.goodput_bps.unwrap_or(f64::NAN);
        row.simulated.iter().map(goodput).collect::<Vec<_>>()
    };
    // Rows have the same seeds, whose losses are the same.
    let order = |a: &[f64], b: &[f64]| above(a, b).map_or(0.0, |difference| difference.mean);
    let (mut pairs, mut same_order) = (0, 0);
    for (i, a) in both.iter().enumerate() {
        for b in &both[..i] {
            let Some(simulated) = above(&simulation(a), &simulation(b)) else { continue };
            if apart(simulated) {
                pairs += 1;
                same_order += usize::from(order(&wire(a), &wire(b)) * simulated.mean > 0.0);
            }
        }
    }
    (!both.is_empty()).then(|| Agreement {
        rows: both.len(),
        agree: both.iter().filter(|row| row.agrees() == Some(true)).count(),
        pairs,
        same_order,
    })
}

impl Aim {
    fn is_about(&self, cell: &GridCell) -> bool {
        let has = |(axis, labels): (&String, &Vec<String>)| {
            cell.label(axis).is_some_and(|label| labels.iter().any(|known| known == label))
        };
        self.cells.iter().all(has)
    }
}

impl Bound {
    fn holds(&self, value: f64) -> bool {
        self.at_least.is_none_or(|least| value >= least)
            && self.at_most.is_none_or(|most| value <= most)
    }
}

/// Whether an aim is reached; `None` if no row has the measures that it bounds.
pub(crate) fn judge(aim: &Aim, grid: &[GridCell], cells: &[Cell]) -> Option<AimOutcome> {
    let (mut reached_in, mut of, mut missed) = (0, 0, Vec::new());
    for (_, cell) in grid.iter().zip(cells).filter(|(place, _)| aim.is_about(place)) {
        let place = |row: &str| {
            [cell.name.as_str(), row]
                .into_iter()
                .filter(|p| !p.is_empty())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut results = Vec::new();
        for row in cell.rows.iter().filter(|row| row.strategy.is_some()) {
            let values: Option<Vec<f64>> =
                aim.bounds.iter().map(|bound| row.get(bound.measure)).collect();
            let Some(values) = values else { continue };
            let reached = aim.bounds.iter().zip(&values).all(|(bound, value)| bound.holds(*value));
            let shown =
                values.iter().map(|value| format!("{value:.3}")).collect::<Vec<_>>().join(" and ");
            results.push((reached, format!("{}: {shown}", place(&row.name))));
        }
        if aim.any && !results.is_empty() {
            of += 1;
            let reached = results.iter().any(|(reached, _)| *reached);
            reached_in += usize::from(reached);
            missed.extend(results.into_iter().filter(|_| !reached).map(|(_, shown)| shown));
        } else {
            of += results.len();
            reached_in += results.iter().filter(|(reached, _)| *reached).count();
            missed.extend(
                results.into_iter().filter(|(reached, _)| !reached).map(|(_, shown)| shown),
            );
        }
    }
    (of > 0).then(|| AimOutcome {
        says: aim.says.clone(),
        reached: missed.is_empty(),
        reached_in,
        of,
        missed,
    })
}

#[cfg(test)]
mod tests;
