//! What a chart is made of.

use crate::summary::Estimate;

/// A chart with its axes and legend.
///
/// ```
/// use ackclock_report::{Chart, Curve, Estimate, Plot, Point};
///
/// let at = |kb, mean| Point { x: kb, y: Estimate { mean, half_width: Some(0.4) } };
/// let newreno = Curve {
///     name: "newreno".into(),
///     points: vec![at(100.0, 41.5), at(1000.0, 187.0)],
///     paper: vec![(100.0, 40.0)],
///     ..Curve::default()
/// };
/// let chart = Chart {
///     title: "Figure 10".into(),
///     x: "transfer size (kB)".into(),
///     y: "throughput (kb/s)".into(),
///     plot: Plot::Curves { curves: vec![newreno], log_x: true },
/// };
/// assert!(chart.to_svg().starts_with("<svg"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The heading.
    pub title: String,
    /// What the x axis shows, with its unit in parentheses; may be empty over categories.
    pub x: String,
    /// What the y axis shows, with its unit in parentheses. This axis always shows 0, and goes
    /// below it for values but not for intervals.
    pub y: String,
    /// What is drawn.
    pub plot: Plot,
}

/// What a [`Chart`] shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Against a number.
    Curves {
        /// One for each entry of the legend.
        curves: Vec<Curve>,
        /// Whether the x axis is logarithmic; what is not above 0 is then left out.
        log_x: bool,
    },
    /// Grouped over categories.
    Bars {
        /// The names of the groups, from left to right.
        categories: Vec<String>,
        /// One for each entry of the legend; each has a bar in each group.
        bars: Vec<Bars>,
    },
}

/// One series of numbers against numbers. A number that is not finite is not drawn, and interrupts
/// the line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// How its points are joined.
    pub line: Line,
    /// What we measured, in the order of the line.
    pub points: Vec<Point>,
    /// The paper's own numbers, as x and y.
    pub paper: Vec<(f64, f64)>,
}

/// How the points of a [`Curve`] are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Line {
    /// By straight lines, each point with a sign.
    #[default]
    Straight,
    /// Each value holds until the next point, the last one as far as the chart's data go; without
    /// signs or intervals.
    Steps,
}

/// A point of a [`Curve`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// In the unit of the x axis.
    pub x: f64,
    /// In the unit of the y axis, with an error bar if it has an interval.
    pub y: Estimate,
}

/// A value known exactly.
impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Point {
        Point { x, y: Estimate { mean: y, half_width: None } }
    }
}

/// One series of bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Its name in the legend.
    pub name: String,
    /// What we measured, in the order of the categories; `None` leaves its place empty, as does a
    /// list that is too short.
    pub values: Vec<Option<Estimate>>,
    /// The paper's own numbers, in the order of the categories.
    pub paper: Vec<Option<f64>>,
}
