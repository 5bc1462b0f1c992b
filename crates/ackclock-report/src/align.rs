//! Plain tables.

use crate::printable::printable;

/// How the columns after the first are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Left,
    /// To the right, as numbers are.
    Right,
}

/// Text that has less room than this is left out rather than cut.
const LEAST_TEXT: usize = 20;

/// Aligned columns, two spaces between them; the first one to the left. Ends with a newline unless
/// there is no row. Cells are made [`printable`].
pub fn align(rows: &[Vec<String>], columns: Align) -> String {
    align_within(rows, columns, None)
}

/// As [`align`], for a terminal of so many columns. What does not fit is left out from the right,
/// and a last line says what that is by the headings, which are the first row. Of columns aligned
/// to the left, which are text, the first that does not fit is cut. `None` leaves nothing out.
pub fn align_within(rows: &[Vec<String>], columns: Align, width: Option<usize>) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(printable).collect()).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells =
        |c: usize| rows.iter().filter_map(move |r| r.get(c)).map(|cell| cell.chars().count());
    let mut widths: Vec<usize> = (0..count).map(|c| cells(c).max().unwrap_or(0)).collect();
    let limit = width.unwrap_or(usize::MAX);
    let mut used = widths.first().copied().unwrap_or(0);
    let mut kept = 1;
    while kept < count && used + 2 + widths[kept] <= limit {
        used += 2 + widths[kept];
        kept += 1;
    }
    let room = limit.saturating_sub(used + 2);
    let cut = kept < count && columns == Align::Left && room >= LEAST_TEXT;
    if cut {
        widths[kept] = room;
        kept += 1;
    }
    widths.truncate(kept);
    let mut text = String::new();
    for row in &rows {
        let line: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(c, (cell, width))| match columns {
                Align::Right if c > 0 => format!("{cell:>width$}"),
                _ if cell.chars().count() > *width => shortened(cell, *width),
                _ => format!("{cell:<width$}"),
            })
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    let heading = |columns: &[String]| columns.join(", ");
    let headings = rows.first().map_or(&[][..], Vec::as_slice);
    let mut notes = Vec::new();
    if cut {
        notes.push(format!("{} is cut", heading(&headings[kept - 1..kept])));
    }
    if kept < count {
        notes.push(format!("{} left out", heading(headings.get(kept..).unwrap_or_default())));
    }
    if !notes.is_empty() {
        text.push_str(&format!("(terminal of {limit} columns: {})\n", notes.join("; ")));
    }
    text
}

fn shortened(cell: &str, width: usize) -> String {
    let kept: String = cell.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests;
