//! Whether wire and simulation agree, and whether aims are reached.

use ackclock_run::GridCell;

use crate::format::{Aim, Bound};
use crate::measure::Measure;
use crate::outcome::{AGREEMENT, Agreement, AimOutcome, Cell, RowOutcome};

/// Whether the wire agrees with the simulation; `None` if no row was simulated.
pub(crate) fn agreement(rows: &[RowOutcome]) -> Option<Agreement> {
    let both: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| row.get(Measure::Goodput).zip(row.get(Measure::Simulation)))
        .collect();
    let apart = |a: f64, b: f64| (a / b).max(b / a) > 1.0 + AGREEMENT / 100.0;
    let pairs =
        || both.iter().enumerate().flat_map(|(i, a)| both[..i].iter().map(move |b| (*a, *b)));
    let ordered = || pairs().filter(|((_, a), (_, b))| apart(*a, *b));
    let agree =
        |(wire, simulated): &&(f64, f64)| (100.0 * (wire / simulated - 1.0)).abs() <= AGREEMENT;
    (!both.is_empty()).then(|| Agreement {
        rows: both.len(),
        agree: both.iter().filter(agree).count(),
        pairs: ordered().count(),
        same_order: ordered()
            .filter(|((w, s), (wire, simulated))| (w > wire) == (s > simulated))
            .count(),
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
