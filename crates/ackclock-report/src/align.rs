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
    fitted(rows, columns, width, &[], (1..count(rows)).rev())
}

/// As [`align_within`], for a table of numbers of which some matter more: the first `names`
/// columns, which say what a row is, and those with the headings of `results`. Left out are, as far
/// as it takes,
/// 1. columns that are the same in all rows, from the left, of which the last line has the value;
///    of a single row these are its names,
/// 2. then columns that are neither names nor results, from the right,
/// 3. then results, and at last names, from the right.
///
/// The first column always stays.
pub fn align_results(
    rows: &[Vec<String>],
    names: usize,
    results: &[&str],
    width: Option<usize>,
) -> String {
    let (heading, rest) = rows.split_first().unwrap_or((const { &Vec::new() }, &[]));
    let is_same = |c: &usize| match rest {
        [] => false,
        // Nothing has to be told from a single row.
        [_] => *c < names,
        rest => rest.windows(2).all(|two| two[0].get(*c) == two[1].get(*c)),
    };
    let (same, others): (Vec<usize>, Vec<usize>) = (1..count(rows)).partition(is_same);
    let weight = |c: usize| match heading.get(c) {
        _ if c < names => 2,
        Some(name) if results.contains(&name.as_str()) => 1,
        _ => 0,
    };
    let mut others: Vec<usize> = others.into_iter().rev().collect();
    others.sort_by_key(|c| weight(*c));
    let order = same.iter().copied().chain(others);
    fitted(rows, Align::Right, width, &same, order)
}

fn count(rows: &[Vec<String>]) -> usize {
    rows.iter().map(Vec::len).max().unwrap_or(0)
}

/// The columns of `order` are left out one after the other until the rest fits. `same` are those of
/// which a note tells the value.
fn fitted(
    rows: &[Vec<String>],
    columns: Align,
    width: Option<usize>,
    same: &[usize],
    order: impl Iterator<Item = usize>,
) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(printable).collect()).collect();
    let cells =
        |c: usize| rows.iter().filter_map(move |r| r.get(c)).map(|cell| cell.chars().count());
    // `None` is left out.
    let mut widths: Vec<Option<usize>> = (0..count(&rows)).map(|c| cells(c).max()).collect();
    let used = |widths: &[Option<usize>]| {
        widths.iter().flatten().map(|width| width + 2).sum::<usize>().saturating_sub(2)
    };
    let limit = width.unwrap_or(usize::MAX);
    let mut out = Vec::new();
    for c in order {
        if used(&widths) <= limit {
            break;
        }
        widths[c] = None;
        out.push(c);
    }
    let room = limit.saturating_sub(used(&widths) + 2);
    let cut = out.last().copied().filter(|_| columns == Align::Left && room >= LEAST_TEXT);
    if let Some(c) = cut {
        widths[c] = Some(room);
        out.pop();
    }
    let mut text = String::new();
    for row in &rows {
        let line: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .filter_map(|(c, (cell, width))| Some((c, cell, (*width)?)))
            .map(|(c, cell, width)| match columns {
                Align::Right if c > 0 => format!("{cell:>width$}"),
                _ if cell.chars().count() > width => shortened(cell, width),
                _ => format!("{cell:<width$}"),
            })
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    let cell = |row: usize, c: usize| rows.get(row).and_then(|row| row.get(c)).map_or("", |c| c);
    out.sort_unstable();
    let (same, left): (Vec<usize>, Vec<usize>) = out.into_iter().partition(|c| same.contains(c));
    let mut notes = Vec::new();
    notes.extend(cut.map(|c| format!("{} is cut", cell(0, c))));
    if !left.is_empty() {
        let left: Vec<&str> = left.into_iter().map(|c| cell(0, c)).collect();
        notes.push(format!("{} left out", left.join(", ")));
    }
    if !same.is_empty() {
        let value = |c: usize| format!("{} {}", cell(0, c), cell(1, c));
        let same: Vec<String> = same.into_iter().map(value).collect();
        let rows = if let [_, _] = rows[..] { "" } else { "in all rows " };
        notes.push(format!("{rows}{}", same.join(", ")));
    }
    if !notes.is_empty() {
        let note = format!("(terminal of {limit} columns: {})\n", notes.join("; "));
        text.push_str(&wrap(&note, width));
    }
    text
}

/// Prose with its lines broken between words, for a terminal of so many columns; a word that is
/// longer stays whole. `None` breaks nothing.
pub fn wrap(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.into() };
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            let len = word.trim_end().chars().count();
            if used > 0 && used + len > width {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                used = 0;
            }
            out.push_str(word);
            used += word.chars().count();
        }
    }
    out
}

/// A label with prose beside it, whose further lines stand below the first one: for a terminal of
/// so many columns, in which prose has twenty at least. `None` breaks nothing.
pub fn hanging(label: &str, prose: &str, width: Option<usize>) -> String {
    let indent = label.chars().count();
    let width = width.map(|width| width.saturating_sub(indent).max(LEAST_TEXT));
    format!("{label}{}", wrap(prose, width).replace('\n', &format!("\n{:indent$}", "")))
}

fn shortened(cell: &str, width: usize) -> String {
    let kept: String = cell.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests;
