//! What reports as HTML have in common.

use crate::drawing::escape;

/// The style of all pages. Texts, tables, verdicts and figures of a report stand in a
/// `<div class="report">`.
const STYLE: &str = include_str!("../assets/style.css");

/// A page in the style of all pages, for the HTML in `body`.
pub fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// Sentences as HTML: what stands between backticks is code.
pub fn prose(text: &str) -> String {
    let pair = |(i, part): (usize, &str)| match i % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    // Without its partner a backtick is one.
    match text.split('`').count() % 2 {
        0 => escape(text),
        _ => text.split('`').enumerate().map(pair).collect(),
    }
}

/// Appends a table of plain text. Its first row is the heading.
pub fn html_table(html: &mut String, rows: &[Vec<String>]) {
    html.push_str("<div class=\"wide\" tabindex=\"0\"><table>\n");
    for (i, row) in rows.iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        let cells = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
        html.push_str(&format!("<tr>{}</tr>\n", cells.collect::<String>()));
    }
    html.push_str("</table></div>\n");
}
