//! Plain charts: curves and steps against a number, and bars over categories, with the numbers of a
//! paper beside ours.
//!
//! - `data`: what a chart is made of.
//! - `scale`: where values lie, and which of them are named on the axes.
//! - `signs`: by what series are told apart.
//! - `marks`: the axes and the data between them.
//! - `csv`: the data alone.
//! - `svg`: what stands around them.

mod csv;
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
        svg::render(self, None)
    }

    /// The chart as a part of an HTML page, where the keyboard reads its marks too.
    pub fn to_html(&self) -> String {
        format!(
            "<div class=\"wide chart\" tabindex=\"0\" role=\"group\" aria-label=\"Chart. Arrow keys read \
             its marks.\">\n{}<output></output>\n<script>\n{}</script>\n</div>\n",
            self.to_svg(),
            include_str!("../../assets/chart.js")
        )
    }

    /// As [`Chart::to_svg`], for a page of print: `width_mm` wide, with text of 8 points, and
    /// without the title, which a caption stands for.
    pub fn to_figure(&self, width_mm: f64) -> String {
        svg::render(self, Some(width_mm))
    }

    /// The data as CSV with a line for each number. The columns are `series`, the x axis by its
    /// name or `category`, the y axis by its name, `half_width` of the 95 % confidence interval,
    /// and `paper`, the paper's own number.
    pub fn to_csv(&self) -> String {
        csv::render(self)
    }
}
