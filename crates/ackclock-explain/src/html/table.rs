//! Tables as HTML.

use std::fmt::Write;

use ackclock_report::escape;

use super::words::word;

/// A cell.
pub(super) struct Cell {
    /// HTML.
    html: String,
    /// What it is sorted by, if not by its text.
    sort: Option<String>,
    class: &'static str,
}

impl Cell {
    /// What is HTML already.
    pub fn html(html: String) -> Cell {
        Cell { html, sort: None, class: "" }
    }

    pub fn class(self, class: &'static str) -> Cell {
        Cell { class, ..self }
    }

    pub fn sorted_by(self, value: impl ToString) -> Cell {
        Cell { sort: Some(value.to_string()), ..self }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::html(escape(text))
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::from(text.as_str())
    }
}

impl From<u64> for Cell {
    fn from(n: u64) -> Cell {
        Cell::html(n.to_string())
    }
}

/// A table that can be sorted by any column, if a script in the page does that. A heading that
/// begins with `<` is that of a column of words, and one that begins with `*` of a column of
/// sentences, which may take several lines.
pub(super) fn table(html: &mut String, headings: &[&str], rows: impl Iterator<Item = Vec<Cell>>) {
    let columns: Vec<(&str, &str)> = headings.iter().map(|heading| column(heading)).collect();
    html.push_str("<div class=\"wide\" tabindex=\"0\"><table class=\"sortable\">\n<thead><tr>");
    for (class, heading) in &columns {
        let _ = write!(html, "<th{}>{}</th>", attribute(class, ""), word(heading));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (Cell { html: text, sort, class }, (of_column, _)) in row.into_iter().zip(&columns) {
            // Writing into a String cannot fail.
            let _ = write!(html, "<td{}", attribute(of_column, class));
            if let Some(sort) = sort {
                let _ = write!(html, " data-sort=\"{}\"", escape(&sort));
            }
            let _ = write!(html, ">{text}</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
}

/// The class and the text of a heading.
fn column(heading: &str) -> (&'static str, &str) {
    match heading.split_at_checked(1) {
        Some(("<", words)) => ("words", words),
        Some(("*", sentences)) => ("text", sentences),
        _ => ("", heading),
    }
}

fn attribute(one: &str, other: &str) -> String {
    match [one, other].join(" ").trim() {
        "" => String::new(),
        both => format!(" class=\"{both}\""),
    }
}
