//! Tables as HTML.

use std::fmt::Write;

use ackclock_report::escape;

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

    /// Sentences, which may take several lines.
    pub fn long(text: &str) -> Cell {
        Cell::from(text).class("text")
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

/// A table with a heading; `class` is `sortable` or nothing. Of a heading that ends in `*` the column holds sentences.
pub(super) fn table(html: &mut String, class: &str, headings: &[&str], rows: impl Iterator<Item = Vec<Cell>>) {
    // Writing into a String cannot fail.
    let _ = write!(html, "<div class=\"wide\"><table class=\"{class}\">\n<thead><tr>");
    for heading in headings {
        let _ = match heading.strip_suffix('*') {
            Some(text) => write!(html, "<th class=\"text\">{}</th>", escape(text)),
            None => write!(html, "<th>{}</th>", escape(heading)),
        };
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for Cell { html: text, sort, class } in row {
            html.push_str("<td");
            if !class.is_empty() {
                let _ = write!(html, " class=\"{class}\"");
            }
            if let Some(sort) = sort {
                let _ = write!(html, " data-sort=\"{}\"", escape(&sort));
            }
            let _ = write!(html, ">{text}</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
}
