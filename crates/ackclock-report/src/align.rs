//! Plain tables.

/// How the columns after the first are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Left,
    /// To the right, as numbers are.
    Right,
}

/// Aligned columns, two spaces between them; the first one to the left. Ends with a newline unless
/// there is no row.
pub fn align(rows: &[Vec<String>], columns: Align) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells =
        |c: usize| rows.iter().filter_map(move |r| r.get(c)).map(|cell| cell.chars().count());
    let widths: Vec<usize> = (0..count).map(|c| cells(c).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(c, (cell, width))| match columns {
                Align::Right if c > 0 => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            })
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}
