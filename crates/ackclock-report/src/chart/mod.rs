//! Plain charts: curves and steps against a number, and bars over categories, with the numbers of a
//! paper beside ours.
//!
//! - `data`: what a chart is made of.
//! - `scale`: where values lie, and which of them are named on the axes.
//! - `signs`: by what series are told apart.
//! - `marks`: the axes and the data between them.
//! - `svg`: what stands around them.

mod data;
mod marks;
mod scale;
mod signs;
mod svg;

pub use data::{Bars, Chart, Curve, Line, Plot, Point};

impl Chart {
    /// The chart as SVG, 720 px wide: a file of its own, or as it stands a part of an HTML page,
    /// where it shrinks with its container. It follows the viewer's choice of a light or a dark
    /// ground, and hovering tells the numbers of a mark.
    pub fn to_svg(&self) -> String {
        svg::render(self)
    }
}
