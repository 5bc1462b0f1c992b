//! Where everything lies, in pixels, and its colours on white.

use super::super::style::OTHERS;
use crate::drawing::{self, PIXELS_PER_MM};

/// Where the panels lie, and the plots within a panel.
pub(super) struct Layout {
    /// Panels beside each other.
    pub columns: usize,
    /// Width and height of a panel with its heading.
    pub panel: (f64, f64),
    /// Between panels and around all.
    pub space: f64,
    /// The edges of both plots within a panel.
    pub left: f64,
    pub right: f64,
    /// The graph of the sequence.
    pub top: f64,
    pub graph_bottom: f64,
    /// The strip of the windows.
    pub strip_top: f64,
    pub strip_bottom: f64,
    /// The size of the name of a panel; 0 if it has none.
    pub name: f64,
    /// For a page of print, whose caption says what else stands above panels.
    pub print: bool,
}

/// Two panels stand beside each other on a page from this width on.
const BOTH: f64 = 150.0 * PIXELS_PER_MM;

impl Layout {
    pub fn screen(panels: usize) -> Layout {
        Layout {
            columns: if panels < 2 { 1 } else { 2 },
            panel: (600.0, 440.0),
            space: 20.0,
            left: 46.0,
            right: 590.0,
            top: 56.0,
            graph_bottom: 296.0,
            strip_top: 322.0,
            strip_bottom: 402.0,
            name: 15.0,
            print: false,
        }
    }

    /// `width` millimetres wide.
    pub fn print(panels: usize, width: f64) -> Layout {
        let width = width * PIXELS_PER_MM;
        let columns = if panels > 1 && width >= BOTH { 2 } else { 1 };
        let space = 4.0;
        let panel = (width - space) / columns as f64 - space;
        let (name, top) = if panels > 1 { (13.0, 38.0) } else { (0.0, 20.0) };
        let graph_bottom = top + 190.0;
        let strip_top = graph_bottom + 26.0;
        let strip_bottom = strip_top + 60.0;
        Layout {
            columns,
            panel: (panel, strip_bottom + 36.0),
            space,
            left: 40.0,
            right: panel - 8.0,
            top,
            graph_bottom,
            strip_top,
            strip_bottom,
            name,
            print: true,
        }
    }

    /// The width of the whole drawing.
    pub fn width(&self) -> f64 {
        self.columns as f64 * (self.panel.0 + self.space) + self.space
    }
}

pub(super) const INK: &str = drawing::INK[0];
pub(super) const SOFT: &str = drawing::SOFT[0];
pub(super) const GRID: &str = drawing::GRID[0];

pub(super) fn colour(key: &str) -> &'static str {
    OTHERS.iter().find(|l| l.key == key).map_or(INK, |l| l.light)
}
