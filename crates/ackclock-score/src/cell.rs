//! Numbers as the tables here have them.

/// Percent as tables have it; `-` of nothing.
pub(crate) fn cell(percent: Option<f64>) -> String {
    percent.map_or("-".into(), |percent| format!("{percent:.1}"))
}
