//! The figures of an experiment that are curves or bars, from the rows of its table.

use ackclock_report::{Bars, Chart, Curve, Plot, Point};

use crate::format::{ChartSpec, NumberOrText, Strategy};
use crate::outcome::{Cell, Row};
use crate::plan::PlannedCell;

/// The chart: curves of a measure against an axis, or bars of it for all cells and flows that have a row.
pub(crate) fn chart(spec: &ChartSpec, strategies: &[Strategy], planned: &[PlannedCell], cells: &[Cell]) -> Chart {
    let drawn = || planned.iter().zip(cells).filter(|(cell, _)| cell.is_in(&spec.cells));
    let rows = |cell: &Cell| cell.rows.iter().filter(|row| row.part(0) == spec.measure).cloned().collect::<Vec<_>>();
    let unit = drawn().flat_map(|(_, cell)| rows(cell)).map(|row| row.unit).find(|unit| !unit.is_empty());
    let y = unit.map_or_else(|| spec.measure.clone(), |unit| format!("{} ({unit})", spec.measure));
    let names = strategies.iter().map(|s| s.name.as_str());
    let title = spec.title.clone();
    let Some(axis) = &spec.axis else {
        let (categories, bars) = bars(drawn().map(|(_, cell)| cell), names, &rows);
        return Chart { title, x: spec.x.clone(), y, plot: Plot::Bars { categories, bars } };
    };
    let mut curves: Vec<Curve> = Vec::new();
    for name in names {
        for (cell, point) in drawn() {
            let x = cell.labels.iter().find(|(a, _)| a == axis).and_then(|(_, label)| number(label));
            let own = |row: &Row| row.part(1) == name && row.part(2).is_empty();
            let (Some(x), Some(row)) = (x, rows(point).into_iter().find(own)) else { continue };
            let told = |a: &String| a == axis || spec.cells.contains_key(a);
            let others: Vec<&str> = cell.labels.iter().filter(|(a, _)| !told(a)).map(|(_, l)| l.as_str()).collect();
            let legend = [&[name], &others[..]].concat().join(", ");
            let index = curves.iter().position(|c| c.name == legend).unwrap_or(curves.len());
            if index == curves.len() {
                curves.push(Curve { name: legend, ..Curve::default() });
            }
            curves[index].points.extend(row.ours.map(|y| Point { x, y }));
        }
    }
    let x = if spec.x.is_empty() { axis.clone() } else { spec.x.clone() };
    Chart { title, x, y, plot: Plot::Curves { curves, log_x: spec.log_x } }
}

/// A category for each cell and flow, a bar in it for each strategy.
fn bars<'a>(
    cells: impl Iterator<Item = &'a Cell>,
    strategies: impl Iterator<Item = &'a str>,
    rows: &dyn Fn(&Cell) -> Vec<Row>,
) -> (Vec<String>, Vec<Bars>) {
    let entries: Vec<(String, Row)> = cells
        .flat_map(|cell| rows(cell).into_iter().map(|row| (cell.name.clone(), row)))
        .map(|(cell, row)| {
            let flow = row.part(2);
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
        let find = |category| entries.iter().find(|(c, row)| c == category && row.part(1) == name).map(|(_, row)| row);
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

impl Row {
    /// Measure, strategy and flow of its measurement.
    fn part(&self, index: usize) -> &str {
        self.measurement.splitn(3, '/').nth(index).unwrap_or_default()
    }
}

/// The number that a label begins with: 50 of `50kb`.
pub(crate) fn number(label: &str) -> Option<f64> {
    let end = label.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(label.len());
    label[..end].parse().ok()
}
