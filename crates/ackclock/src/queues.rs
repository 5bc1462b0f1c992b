//! What packets find at the queues of links: `--queues`, and the charts of a page.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ackclock_net::scenario::{BuiltLink, Scenario};
use ackclock_net::{LinkId, Visit};
use ackclock_report::{Chart, Curve, Line, Plot, Point, csv_line};
use ackclock_run::WholeFile;
use ackclock_tcp::Time;
use serde::Serialize;

use crate::args::check_ending;
use crate::error::Error;
use crate::execute::SCENARIOS_OWN;

/// The most links whose queues a page shows. Those shorter than a tenth of the longest are not
/// shown either.
const SHOWN: usize = 4;

/// The most points of a curve.
const POINTS: usize = 512;

/// The queues of the runs that are recorded.
#[derive(Default)]
pub(crate) struct Queues {
    file: Option<File>,
    /// Whether a page shows them.
    charts: bool,
    /// A gateway has none.
    strategy: Option<String>,
    links: Vec<Named>,
    /// The end of the present run.
    until: Time,
    /// One for each strategy and link at which packets waited.
    series: Vec<Series>,
}

struct File {
    path: PathBuf,
    out: WholeFile,
    csv: bool,
    failed: Option<io::Error>,
}

/// A link of the present run.
struct Named {
    id: LinkId,
    from: String,
    to: String,
}

/// A line of the file.
#[derive(Serialize)]
struct Row<'a> {
    t: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<&'a str>,
    link: u32,
    from: &'a str,
    to: &'a str,
    size: u32,
    packets: u32,
    bytes: u64,
    waited: f64,
    dropped: Option<&'a str>,
    marked: bool,
    waits: bool,
}

const COLUMNS: [&str; 12] = [
    "t", "strategy", "link", "from", "to", "size", "packets", "bytes", "waited", "dropped",
    "marked", "waits",
];

/// The most of a queue in each of some intervals of equal length.
struct Series {
    strategy: String,
    link: LinkId,
    name: String,
    /// Nanoseconds of an interval. It doubles whenever there would be too many.
    interval: u64,
    most: Vec<Most>,
    /// The end of the run.
    until: Time,
}

#[derive(Clone, Copy, Default)]
struct Most {
    /// Waiting or in transmission, the one included that has just come.
    packets: u32,
    /// Nanoseconds; `None` if no packet came of which it is known.
    waited: Option<u64>,
    /// When the last packet that joined has begun to be transmitted: 0 if none joined, `u64::MAX`
    /// if that is not known by the end of the run.
    empty: u64,
}

impl Queues {
    /// For a page, or for none.
    pub fn new(charts: bool) -> Queues {
        Queues { charts, ..Queues::default() }
    }

    /// Has the visits written to this file.
    pub fn write_to(&mut self, path: &Path) -> Result<(), Error> {
        check_ending("--queues", path, &["jsonl", "json", "csv"])?;
        let out = WholeFile::create(path).map_err(Error::write(path))?;
        let csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        let mut file = File { path: path.into(), out, csv, failed: None };
        if csv {
            file.write(csv_line(COLUMNS).as_bytes());
        }
        self.file = Some(file);
        Ok(())
    }

    /// Whether anything needs them.
    pub fn wanted(&self) -> bool {
        self.charts || self.file.is_some()
    }

    /// A run begins, which lasts until then; [`Time::NEVER`] if that is not known.
    pub fn begin(
        &mut self,
        strategy: Option<&str>,
        links: &[BuiltLink],
        scenario: &Scenario,
        until: Time,
    ) {
        self.until = until;
        self.strategy = strategy.map(String::from);
        let named = links.iter().filter_map(|link| {
            let entry = scenario.links.get(link.entry)?;
            let (from, to) = (entry.from.clone(), entry.to.clone());
            let (from, to) = if link.back { (to, from) } else { (from, to) };
            Some(Named { id: link.id, from, to })
        });
        self.links = named.collect();
    }

    pub fn visit(&mut self, link: LinkId, visit: &Visit) {
        let Ok(at) = self.links.binary_search_by_key(&link, |named| named.id) else { return };
        let Named { from, to, .. } = &self.links[at];
        if let Some(file) = &mut self.file {
            let visit = &until(self.until, *visit);
            file.row(&Row {
                t: visit.came.secs_f64(),
                strategy: self.strategy.as_deref(),
                link: link.0,
                from,
                to,
                size: visit.size,
                packets: visit.packets,
                bytes: visit.bytes,
                waited: visit.waited.secs_f64(),
                dropped: visit.dropped,
                marked: visit.marked,
                waits: visit.waits,
            });
        }
        if self.charts && visit.packets > 0 {
            let strategy = self.strategy.as_deref().unwrap_or_default();
            let of_run = self.series.iter_mut().rev().take_while(|s| s.strategy == strategy);
            let series = match of_run.into_iter().find(|series| series.link == link) {
                Some(series) => series,
                None => {
                    let alike = self.links.iter().filter(|l| (&l.from, &l.to) == (from, to));
                    let number = if alike.count() > 1 {
                        format!(" (link {})", link.0)
                    } else {
                        String::new()
                    };
                    let name = format!("{from} > {to}{number}");
                    self.series.push(Series::new(strategy.into(), link, name, self.until));
                    let last = self.series.len() - 1;
                    &mut self.series[last]
                }
            };
            series.visit(visit);
        }
    }

    /// The file is complete.
    pub fn finish_file(&mut self) -> Result<(), Error> {
        let Some(File { path, out, failed, .. }) = self.file.take() else { return Ok(()) };
        failed.map_or(Ok(()), Err).and_then(|()| out.finish()).map_err(Error::write(&path))
    }

    /// The file, if it is still to be completed.
    pub fn path(&self) -> Option<&PathBuf> {
        self.file.as_ref().map(|file| &file.path)
    }

    /// The charts as HTML: of the links with the longest queues, those of all strategies in one.
    pub fn to_html(&self) -> String {
        let mut links: Vec<(u32, LinkId)> = Vec::new();
        for series in &self.series {
            let most = series.most.iter().map(|most| most.packets).max().unwrap_or(0);
            match links.iter_mut().find(|(_, link)| *link == series.link) {
                Some(link) => link.0 = link.0.max(most),
                None => links.push((most, series.link)),
            }
        }
        links.sort_by_key(|&(most, link)| (std::cmp::Reverse(most), link));
        let all = links.len();
        let longest = links.first().map_or(0, |(most, _)| *most);
        links.retain(|(most, _)| most.saturating_mul(10) >= longest);
        links.truncate(SHOWN);
        if links.is_empty() {
            return String::new();
        }
        let mut html = String::from(
            "<div class=\"report\">\n<h2>Queues</h2>\n<p>The most packets that waited or were in \
             transmission as one came, and how long packets waited before their transmission.",
        );
        if all > links.len() {
            let shown = links.len();
            html.push_str(&format!(" Shown are the longest: {shown} of {all} queues."));
        }
        html.push_str("</p>\n");
        for (_, link) in links {
            let series: Vec<&Series> = self.series.iter().filter(|s| s.link == link).collect();
            let chart = |what: &str, y: &str, value: fn(&Most) -> Option<f64>| Chart {
                title: format!("{what} at {}", series[0].name),
                x: "time (s)".into(),
                y: y.into(),
                plot: Plot::Curves {
                    curves: series.iter().map(|series| series.curve(value)).collect(),
                    log_x: false,
                },
            };
            let length = chart("Queue length", "packets", length);
            let waited = chart("Time in the queue", "milliseconds", waited);
            html.push_str(&length.to_html());
            html.push_str(&waited.to_html());
        }
        html.push_str("</div>\n");
        html
    }
}

fn length(most: &Most) -> Option<f64> {
    Some(most.packets.into())
}

/// Milliseconds.
fn waited(most: &Most) -> Option<f64> {
    most.waited.map(|waited| waited as f64 / 1e6)
}

/// What is known of a visit as the run ends: a link whose rate stays says at once how long a packet
/// will wait, be it beyond the end.
fn until(end: Time, visit: Visit) -> Visit {
    let so_far = end.since(visit.came);
    if visit.waited <= so_far {
        return visit;
    }
    Visit { waited: so_far, waits: true, ..visit }
}

impl File {
    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
    }

    fn row(&mut self, row: &Row<'_>) {
        if self.csv {
            let Row { t, strategy, link, from, to, size, packets, bytes, waited, .. } = row;
            let cells = [
                t.to_string(),
                strategy.unwrap_or_default().to_string(),
                link.to_string(),
                from.to_string(),
                to.to_string(),
                size.to_string(),
                packets.to_string(),
                bytes.to_string(),
                waited.to_string(),
                row.dropped.unwrap_or_default().to_string(),
                row.marked.to_string(),
                row.waits.to_string(),
            ];
            self.write(csv_line(cells).as_bytes());
        } else if let Ok(mut line) = serde_json::to_vec(row) {
            line.push(b'\n');
            self.write(&line);
        }
    }
}

impl Series {
    fn new(strategy: String, link: LinkId, name: String, until: Time) -> Series {
        Series { strategy, link, name, interval: 1_000_000, most: Vec::new(), until }
    }

    fn visit(&mut self, visit: &Visit) {
        while visit.came.0 / self.interval >= POINTS as u64 {
            let pairs = self.most.chunks(2).map(|pair| match pair {
                [one, other] => one.and(other),
                [one, ..] => *one,
                [] => Most::default(),
            });
            self.most = pairs.collect();
            self.interval *= 2;
        }
        let at = (visit.came.0 / self.interval) as usize;
        if self.most.len() <= at {
            self.most.resize(at + 1, Most::default());
        }
        let joined = visit.dropped.is_none();
        let empty = match (joined, visit.waits) {
            (false, _) => 0,
            (true, false) => visit.came.0.saturating_add(visit.waited.0),
            (true, true) => u64::MAX,
        };
        self.most[at] = self.most[at].and(&Most {
            packets: visit.packets + u32::from(joined),
            waited: (joined && !visit.waits).then_some(visit.waited.0),
            empty,
        });
    }

    fn curve(&self, value: fn(&Most) -> Option<f64>) -> Curve {
        let mut points: Vec<Point> = Vec::new();
        let mut point = |at: u64, value: f64| points.push((at as f64 / 1e9, value).into());
        point(0, 0.0);
        let (mut empty, mut left) = (0, 0);
        for (at, most) in (0..).map(|i| i * self.interval).zip(&self.most) {
            if most.packets == 0 {
                continue;
            }
            // Nothing came for so long that what there was has left.
            if empty < at && empty > 0 {
                point(empty, 0.0);
            }
            if let Some(value) = value(most) {
                point(at, value);
            }
            // One that is dropped says nothing of those before it, which still wait.
            left = most.empty.max(left);
            empty = left.max(at + self.interval);
        }
        if empty <= self.until.0 {
            point(empty, 0.0);
        } else if left <= self.until.0 {
            point(self.until.0, 0.0);
        } else if let Some(last) = points.last().map(|point| point.y.mean) {
            // What still waits at the end does so to the end.
            points.push((self.until.secs_f64(), last).into());
        }
        let name = match self.strategy.as_str() {
            SCENARIOS_OWN => "each flow its own strategy",
            strategy => strategy,
        };
        Curve { name: name.into(), line: Line::Steps, points, paper: Vec::new() }
    }
}

impl Most {
    fn and(&self, other: &Most) -> Most {
        Most {
            packets: self.packets.max(other.packets),
            waited: self.waited.max(other.waited),
            empty: self.empty.max(other.empty),
        }
    }
}

#[cfg(test)]
mod tests;
