//! What the links counted, at the end: as a table and as JSON.

use std::fmt::Write as _;

use ackclock_live::{GatewayReport, Lateness};
use ackclock_report::{Align, align_within, counted};
use ackclock_run::LinkStats;
use serde::Serialize;

use crate::output::{LINK_HEADING, link_cells, width};

fn links(report: &GatewayReport) -> impl Iterator<Item = LinkStats> {
    report.links.iter().map(|(from, to, link)| LinkStats::of(from, to, link))
}

pub(super) fn table(report: &GatewayReport) -> String {
    let row = |link: String, cells: Vec<String>| [vec![link], cells].concat();
    let mut rows = vec![row("link".into(), LINK_HEADING.map(String::from).to_vec())];
    rows.extend(links(report).map(|l| row(format!("{} > {}", l.from, l.to), link_cells(&l))));
    let mut text = align_within(&rows, Align::Right, width());
    let late = quantiles(&report.lateness).map(|us| format!("{us:.0}"));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\n{} in, {} out; late by {} us in the median, 99 %: {} us, at most {} us",
        counted(report.entered, "packet"),
        report.delivered,
        late[0],
        late[1],
        late[2]
    );
    let were = if report.refused == 1 { "was" } else { "were" };
    let rare = [
        (report.unroutable, "had no other node to go to".to_string()),
        (report.refused, format!("{were} refused by a kernel")),
    ];
    for (n, what) in rare.into_iter().filter(|&(n, _)| n > 0) {
        let _ = writeln!(text, "{} {what}", counted(n, "packet"));
    }
    if report.stalled > 0 {
        let _ = writeln!(
            text,
            "{} the gateway held all that it may, and the devices had to wait",
            counted(report.stalled, "time")
        );
    }
    text
}

/// The median, the 99th percentile and the maximum in microseconds.
fn quantiles(lateness: &Lateness) -> [f64; 3] {
    [0.5, 0.99, 1.0].map(|q| lateness.quantile(q) as f64 / 1000.0)
}

#[derive(Serialize)]
pub(super) struct Json {
    links: Vec<LinkStats>,
    entered: u64,
    delivered: u64,
    unroutable: u64,
    refused: u64,
    stalled: u64,
    lateness_us: JsonLateness,
}

#[derive(Serialize)]
struct JsonLateness {
    median: f64,
    p99: f64,
    max: f64,
}

impl Json {
    pub fn new(report: &GatewayReport) -> Json {
        let [median, p99, max] = quantiles(&report.lateness);
        Json {
            links: links(report).collect(),
            entered: report.entered,
            delivered: report.delivered,
            unroutable: report.unroutable,
            refused: report.refused,
            stalled: report.stalled,
            lateness_us: JsonLateness { median, p99, max },
        }
    }
}
