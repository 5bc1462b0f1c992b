//! What reports as HTML have in common.

use crate::drawing::escape;

/// The style of reports: texts, tables, verdicts and figures in a `<div class="report">`.
pub const REPORT_CSS: &str = include_str!("../assets/report.css");

/// Appends a table of plain text. Its first row is the heading.
pub fn html_table(html: &mut String, rows: &[Vec<String>]) {
    html.push_str("<div class=\"wide\"><table>\n");
    for (i, row) in rows.iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        let cells = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
        html.push_str(&format!("<tr>{}</tr>\n", cells.collect::<String>()));
    }
    html.push_str("</table></div>\n");
}
