//! The figures of an experiment that are curves or bars: from the rows of its table, from measured
//! quantiles, or from timeouts.

use std::iter;

use ackclock_report::{Bars, Chart, Curve, Estimate, Plot, Point};
use ackclock_run::Axis;

use ackclock_tcp::TimeoutClass::{self, LostRetransmission, MultipleLosses, NonTrigger};

use crate::cell::PlannedCell;
use crate::format::{ChartSpec, NumberOrText, RowSpec, Strategy};
use crate::measurement::Measurement;
use crate::measures::{quantile, unit, with_unit};
use crate::outcome::{Cell, Row};
use crate::scale::Scale;
use crate::timeouts::{CLASSES, Tally};

/// The chart: curves of a measure against an axis, bars of it for all cells and flows that have a
/// row, or distributions.
pub(crate) fn chart(
    spec: &ChartSpec,
    (strategies, axes): (&[Strategy], &[Axis]),
    planned: &[PlannedCell],
    cells: &[Cell],
) -> Chart {
    let drawn: Vec<_> =
        planned.iter().zip(cells).filter(|(cell, _)| cell.is_in(&spec.cells)).collect();
    let is_drawn =
        |name: &str| spec.strategies.is_empty() || spec.strategies.iter().any(|s| s == name);
    let names = || strategies.iter().map(|s| s.name.as_str()).filter(|name| is_drawn(name));
    if let Some(measure) = &spec.quantiles {
        return distribution(spec, measure, names(), &drawn);
    }
    // One that `show` has too is the same number again.
    let rows = |cell: &Cell| {
        let mut drawn: Vec<Row> = Vec::new();
        for row in cell.rows.iter().filter(|row| row.part(0) == spec.measure) {
            if drawn.iter().all(|other| other.measurement != row.measurement) {
                drawn.push(row.clone());
            }
        }
        drawn
    };
    let unit = drawn
        .iter()
        .flat_map(|(_, cell)| rows(cell))
        .map(|row| row.unit)
        .find(|unit| !unit.is_empty());
    let y = with_unit(&spec.measure, &unit.unwrap_or_default());
    let title = spec.title.clone();
    let Some(axis) = &spec.axis else {
        let (categories, bars) = bars(spec, drawn.iter().map(|(_, cell)| *cell), names(), &rows);
        return Chart { title, x: spec.x.clone(), y, plot: Plot::Bars { categories, bars } };
    };
    let mut curves: Vec<Curve> = Vec::new();
    let scale = Scale::of(axes, axis);
    let x = |cell: &PlannedCell| scale.as_ref()?.number(cell.cell.label(axis)?);
    for name in names() {
        for (cell, point) in &drawn {
            let Some(x) = x(cell) else { continue };
            for row in rows(point).into_iter().filter(|row| row.part(1) == name) {
                let of_flow = || {
                    if strategies.len() > 1 {
                        format!("{name}, {}", row.part(2))
                    } else {
                        row.part(2).into()
                    }
                };
                let legend = if row.part(2).is_empty() { name.to_string() } else { of_flow() };
                let curve = curve(&mut curves, spec, &legend, cell);
                curve.points.extend(row.ours.map(|y| Point { x, y }));
            }
        }
    }
    let x = match &scale {
        Some(scale) if spec.x.is_empty() => scale.title(axis),
        Some(scale) if scale.converted => scale.title(&spec.x),
        _ => spec.x.clone(),
    };
    Chart { title, x, y, plot: Plot::Curves { curves, log_x: spec.log_x } }
}

/// The cumulative distribution through the measured quantiles: a curve for each strategy and cell.
fn distribution<'a>(
    spec: &ChartSpec,
    measure: &str,
    strategies: impl Iterator<Item = &'a str>,
    drawn: &[(&PlannedCell, &Cell)],
) -> Chart {
    let mut curves: Vec<Curve> = Vec::new();
    for name in strategies {
        for (cell, measured) in drawn {
            let measured = measured.measured.iter().filter_map(|(key, measurement)| {
                let percent = quantile(key.strip_suffix(name)?.strip_suffix('/')?, measure)?;
                let Measurement::Samples(samples) = measurement else { return None };
                Some((Estimate::of(samples)?.mean, percent))
            });
            let mut points: Vec<(f64, f64)> = measured.collect();
            points.sort_by(|a, b| a.1.total_cmp(&b.1));
            curve(&mut curves, spec, name, cell).points.extend(points.into_iter().map(Point::from));
        }
    }
    let unit = unit(&format!("{measure}-p50"));
    let x = if spec.x.is_empty() { with_unit(measure, unit) } else { spec.x.clone() };
    let y = "share that is no greater (%)".into();
    Chart { title: spec.title.clone(), x, y, plot: Plot::Curves { curves, log_x: spec.log_x } }
}

/// The curve of a strategy and a cell. Its name has the labels of the cell that are neither on the
/// axis nor in `where`.
fn curve<'c>(
    curves: &'c mut Vec<Curve>,
    spec: &ChartSpec,
    strategy: &str,
    cell: &PlannedCell,
) -> &'c mut Curve {
    let known = |axis: &String| spec.axis.as_ref() == Some(axis) || spec.cells.contains_key(axis);
    let others = cell.cell.labels.iter().filter(|at| !known(&at.axis)).map(|at| at.label.as_str());
    let name = iter::once(strategy).chain(others).collect::<Vec<_>>().join(", ");
    let index = curves.iter().position(|c| c.name == name).unwrap_or(curves.len());
    if index == curves.len() {
        curves.push(Curve { name, ..Curve::default() });
    }
    &mut curves[index]
}

/// A category for each cell and flow, a bar in it for each strategy.
fn bars<'a>(
    spec: &ChartSpec,
    cells: impl Iterator<Item = &'a Cell>,
    strategies: impl Iterator<Item = &'a str>,
    rows: &dyn Fn(&Cell) -> Vec<Row>,
) -> (Vec<String>, Vec<Bars>) {
    let entries: Vec<(String, Row)> = cells
        .flat_map(|cell| rows(cell).into_iter().map(|row| (cell.name.clone(), row)))
        .map(|(cell, row)| {
            let flow = row.part(2);
            let flow = spec.flows.get(flow).map_or(flow, String::as_str);
            let category = match (cell.as_str(), flow) {
                ("", "") => "total".to_string(),
                ("", only) | (only, "") => only.to_string(),
                (cell, flow) => format!("{cell}, {flow}"),
            };
            (category, row)
        })
        .collect();
    let mut categories: Vec<String> = Vec::new();
    for (category, _) in &entries {
        if !categories.contains(category) {
            categories.push(category.clone());
        }
    }
    let series = |name: &str| {
        let find = |category| {
            entries.iter().find(|(c, row)| c == category && row.part(1) == name).map(|(_, row)| row)
        };
        let paper = |row: &Row| match row.paper {
            Some(NumberOrText::Number(n)) => Some(n),
            _ => None,
        };
        Bars {
            name: name.into(),
            values: categories.iter().map(|c| find(c)?.ours).collect(),
            paper: categories.iter().map(|c| paper(find(c)?)).collect(),
        }
    };
    let bars = strategies.map(series).collect();
    (categories, bars)
}

/// The largest window of the figure; 64 KB of 512-byte segments are more, but hardly any timeouts.
const WIDEST: u64 = 32;

/// Lin & Kung's figure 1: the share of all timeouts with at least such a window, by class. At a
/// window of 1 it is the share of the class, for which a row may have the paper's number.
pub(crate) fn timeouts(title: String, strategy: &str, runs: &[&Tally], rows: &[RowSpec]) -> Chart {
    let curve = |name: &str, classes: &[TimeoutClass], measure: &str| {
        let point = |least: u64| {
            let shares: Vec<f64> =
                runs.iter().map(|t| t.share(classes, |window, _| window >= least)).collect();
            let measured: Vec<f64> = shares.into_iter().filter(|s| !s.is_nan()).collect();
            Some(Point { x: least as f64, y: Estimate::of(&measured)? })
        };
        let row = rows.iter().find(|row| row.measurement == format!("{measure}/{strategy}"));
        let paper = row.and_then(|row| match row.paper {
            Some(NumberOrText::Number(share)) => Some((1.0, share)),
            _ => None,
        });
        let points = (1..=WIDEST).filter_map(point).collect();
        Curve { name: name.into(), points, paper: paper.into_iter().collect(), ..Curve::default() }
    };
    let curves = vec![
        curve("all timeouts", &CLASSES, ""),
        curve("non-trigger", &[NonTrigger], "share-non-trigger"),
        curve("multiple losses", &[MultipleLosses], "share-multiple-losses"),
        curve("lost retransmission", &[LostRetransmission], "share-lost-retransmission"),
    ];
    let (x, y) = ("window (segments)".into(), "share of all timeouts (%)".into());
    Chart { title, x, y, plot: Plot::Curves { curves, log_x: false } }
}

#[cfg(test)]
mod tests;
