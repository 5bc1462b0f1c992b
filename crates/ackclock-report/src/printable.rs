//! Names that come from elsewhere, for a terminal.

use std::fmt::{Display, Write};

/// A name without control characters, which a terminal would obey: escape sequences colour text or
/// move the cursor, and a line break makes one line look like two. They become what Rust writes,
/// `\u{1b}` and `\n`.
pub fn printable(name: impl Display) -> String {
    escaped(&name.to_string(), |c| c.is_control())
}

/// The same of a message of several lines, which keeps line breaks and tabs.
pub fn printable_lines(message: impl Display) -> String {
    escaped(&message.to_string(), |c| c.is_control() && !matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, is_bad: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_bad(c) {
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests;
