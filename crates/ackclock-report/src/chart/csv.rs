//! The data of a chart as CSV: a line for each number, ours or the paper's.

use super::data::{Chart, Plot};
use crate::csv::csv_line;
use crate::summary::Estimate;

pub(super) fn render(chart: &Chart) -> String {
    let x = if chart.x.is_empty() { "category" } else { &chart.x };
    let mut text = csv_line(["series", x, &chart.y, "half_width", "paper"]);
    let mut line = |series: &str, x: &str, ours: Option<Estimate>, paper: Option<f64>| {
        let number = |n: Option<f64>| n.map(|n| n.to_string()).unwrap_or_default();
        let y = number(ours.map(|e| e.mean));
        let half_width = number(ours.and_then(|e| e.half_width));
        text.push_str(&csv_line([series, x, &y, &half_width, &number(paper)]));
    };
    match &chart.plot {
        Plot::Curves { curves, .. } => {
            for curve in curves {
                for point in &curve.points {
                    line(&curve.name, &point.x.to_string(), Some(point.y), None);
                }
                for (x, y) in &curve.paper {
                    line(&curve.name, &x.to_string(), None, Some(*y));
                }
            }
        }
        Plot::Bars { categories, bars } => {
            for bars in bars {
                for (i, category) in categories.iter().enumerate() {
                    let ours = bars.values.get(i).copied().flatten();
                    let paper = bars.paper.get(i).copied().flatten();
                    if ours.is_some() || paper.is_some() {
                        line(&bars.name, category, ours, paper);
                    }
                }
            }
        }
    }
    text
}
