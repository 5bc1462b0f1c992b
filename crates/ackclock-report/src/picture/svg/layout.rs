//! Where everything lies, in pixels, and its colours on white.

use super::super::style::OTHERS;
use crate::drawing;

/// Width and height of a panel with its heading, and the space between panels and around all.
pub(super) const PANEL: (f64, f64) = (600.0, 440.0);
pub(super) const SPACE: f64 = 20.0;
/// Where the plots lie within a panel: left, right and top of both, bottom of the graph, top and
/// bottom of the strip.
pub(super) const LEFT: f64 = 46.0;
pub(super) const RIGHT: f64 = PANEL.0 - 10.0;
pub(super) const TOP: f64 = 56.0;
pub(super) const GRAPH_BOTTOM: f64 = 296.0;
pub(super) const STRIP_TOP: f64 = 322.0;
pub(super) const STRIP_BOTTOM: f64 = 402.0;

pub(super) const INK: &str = drawing::INK[0];
pub(super) const SOFT: &str = drawing::SOFT[0];
pub(super) const GRID: &str = drawing::GRID[0];

pub(super) fn colour(key: &str) -> &'static str {
    OTHERS.iter().find(|l| l.key == key).map_or(INK, |l| l.light)
}
