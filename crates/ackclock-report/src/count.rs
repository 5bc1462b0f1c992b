//! Numbers of things, in words and as parts of a whole, and their names.

/// `1 packet`, `2 packets`: so many of something, whose plural has an `s`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// What part of the whole this is, in percent; `None` of nothing.
pub fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// A name of JSON, such as that of a cause or of a class of timeouts, in words.
pub fn in_words(name: &str) -> String {
    name.replace("non_trigger", "non-trigger").replace('_', " ")
}

#[cfg(test)]
mod tests;
