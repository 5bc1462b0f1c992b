//! Names that stand for many: `{}` is the number of the copy.

/// The name of copy `index`.
pub(super) fn expand(pattern: &str, index: u32) -> String {
    pattern.replace("{}", &index.to_string())
}

/// Whether the pattern gives each copy another name.
pub(super) fn numbered(pattern: &str) -> bool {
    pattern.contains("{}")
}
