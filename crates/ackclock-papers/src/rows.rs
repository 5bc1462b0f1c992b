//! The rows of tables: the paper's numbers beside ours.

use ackclock_report::Estimate;

use crate::format::{Experiment, RowSpec, TableRow, TableSpec};
use crate::measurement::{Measurement, Measurements};
use crate::measures::unit;
use crate::numbers::estimate;
use crate::outcome::{Row, Table};

/// The rows of the file, then those of `show`.
pub(crate) fn rows(e: &Experiment, all: &Measurements) -> Vec<Row> {
    let shown = e.show.iter().flat_map(|measure| {
        e.strategies.iter().map(move |s| RowSpec {
            measurement: format!("{measure}/{}", s.name),
            label: None,
            paper: None,
            scale: 1.0,
            unit: None,
            place: String::new(),
        })
    });
    e.rows.iter().cloned().chain(shown).map(|spec| row(spec, all)).collect()
}

/// The tables with a column for each strategy.
pub(crate) fn tables(e: &Experiment, all: &Measurements) -> Vec<Table> {
    let line = |table: &TableSpec, line: &TableRow| -> Vec<Row> {
        let spec = |strategy: &str| RowSpec {
            measurement: format!("{}/{strategy}", line.measure),
            label: Some(line.label.as_ref().unwrap_or(&line.measure).clone()),
            paper: line.paper.get(strategy).cloned(),
            scale: 1.0,
            unit: None,
            place: table.title.clone(),
        };
        e.strategies.iter().map(|s| row(spec(&s.name), all)).collect()
    };
    let table = |t: &TableSpec| Table {
        title: t.title.clone(),
        lines: t.rows.iter().map(|row| line(t, row)).collect(),
    };
    e.tables.iter().map(table).collect()
}

fn row(spec: RowSpec, all: &Measurements) -> Row {
    let (ours, shown) = match all.get(&spec.measurement) {
        Some(Measurement::Samples(samples)) => {
            let scaled: Vec<f64> = samples.iter().map(|s| s * spec.scale).collect();
            (Estimate::of(&scaled).filter(|e| !e.mean.is_nan()), estimate(&scaled))
        }
        Some(Measurement::Text(text)) => (None, text.clone()),
        None => (None, "nothing measured".into()),
    };
    Row {
        label: spec.label.unwrap_or_else(|| spec.measurement.clone()),
        unit: spec.unit.unwrap_or_else(|| unit(&spec.measurement).into()),
        measurement: spec.measurement,
        place: spec.place,
        paper: spec.paper,
        ours,
        shown,
    }
}
