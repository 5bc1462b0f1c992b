//! Results as HTML and as figures: an index and a page for each experiment. Each page is one file
//! that needs no network.

mod experiment;
mod index;
mod parts;

use ackclock_figure::{Figure, Interval, Width};

use crate::outcome::Outcome;
use parts::{file_name, panels, picture};

/// File names and their text: `index.html`, and a page for each experiment.
pub fn pages(outcomes: &[Outcome]) -> Vec<(String, String)> {
    let mut files = vec![("index.html".to_string(), index::page(outcomes))];
    files.extend(outcomes.iter().map(|o| (file_name(o), experiment::page(o))));
    files
}

/// The figures of an experiment: its charts, and the time-sequence graphs if it has any. The
/// interval is that of the graphs.
///
/// # Errors
/// Of an interval that is empty, or in which nothing is there.
pub fn figures(
    outcome: &Outcome,
    width: Width,
    interval: Interval,
) -> Result<Vec<Figure>, ackclock_figure::Error> {
    let mut figures: Vec<Figure> =
        outcome.charts.iter().map(|chart| Figure::of_chart(chart, width)).collect();
    let panels = panels(&outcome.traces);
    if !panels.is_empty() {
        figures.push(Figure::of_picture(&picture(outcome, &panels), width, interval)?);
    }
    Ok(figures)
}
