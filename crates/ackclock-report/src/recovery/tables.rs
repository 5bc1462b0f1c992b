//! The tables of the paper as text, and as JSON.

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde::ser::SerializeMap;

use super::{RECOVERY_TABLES, RecoveryMeasure, RecoveryStats, recovery_measures};
use crate::align::{Align, align_within};

/// Every table, under its title and in the paper's order, with one column for each of the named
/// statistics. `-` is what was not measured. Ends with a newline.
pub fn recovery_table(columns: &[(&str, &RecoveryStats)]) -> String {
    recovery_table_within(columns, None)
}

/// As [`recovery_table`], for a terminal of so many columns: a last line says which of the named
/// statistics did not fit. `None` leaves nothing out.
pub fn recovery_table_within(columns: &[(&str, &RecoveryStats)], width: Option<usize>) -> String {
    let mut heading = vec![String::new(), "unit".into()];
    heading.extend(columns.iter().map(|(name, _)| name.to_string()));
    let row = |measure: &RecoveryMeasure| {
        let mut cells = vec![measure.definition.to_string(), measure.unit.to_string()];
        let values: Vec<f64> = columns.iter().map(|(_, stats)| (measure.value)(stats)).collect();
        let decimals = decimals(measure.unit, &values);
        cells.extend(
            values.iter().map(|n| if n.is_nan() { "-".into() } else { format!("{n:.decimals$}") }),
        );
        cells
    };
    // All tables are aligned as one, so that a strategy keeps its column.
    let rows: Vec<_> = std::iter::once(heading).chain(recovery_measures().map(row)).collect();
    let text = align_within(&rows, Align::Right, width);
    let mut lines = text.lines();
    let heading = lines.next().unwrap_or_default();
    let mut tables = Vec::new();
    for table in &RECOVERY_TABLES {
        let rows: Vec<&str> = lines.by_ref().take(table.measures.len()).collect();
        tables.push(format!("{}\n{heading}\n{}\n", table.title, rows.join("\n")));
    }
    let left_out: String = lines.map(|line| format!("{line}\n")).collect();
    tables.extend(Some(left_out).filter(|note| !note.is_empty()));
    tables.join("\n")
}

/// The same for all columns of a line; none if all values are whole.
fn decimals(unit: &str, values: &[f64]) -> usize {
    match unit {
        "%" | "ms" => 1,
        "s" => 3,
        _ if values.iter().all(|n| n.is_nan() || n.fract() == 0.0) => 0,
        _ => 2,
    }
}

/// An object with each measure under its name (`null` where nothing was measured), and as
/// `recovery_time_cdf` figure 5: pairs of milliseconds and the share of recoveries that took no
/// longer.
impl Serialize for RecoveryStats {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for measure in recovery_measures() {
            map.serialize_entry(measure.name, &(measure.value)(self))?;
        }
        let cdf: Vec<(f64, f64)> =
            self.recovery_time.cdf().map(|(us, share)| (us as f64 / 1000.0, share)).collect();
        map.serialize_entry("recovery_time_cdf", &cdf)?;
        map.end()
    }
}
