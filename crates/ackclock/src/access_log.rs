//! `ackclock access-log`: the strategies of an access log side by side, with intervals.
//!
//! Each measure is a ratio of sums over connections, as of retransmissions to segments. Its
//! variance is that of the linearised ratio (Cochran, "Sampling Techniques", 1977, section 2.11).
//! Where nothing was counted that is zero, and says nothing: then there is a bound instead (Hanley
//! & Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 1983).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use ackclock_report::{
    Align, Estimate, Written, align, counted, printable, student_t_975, with_interval,
};
use clap::Args;
use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;

use crate::error::Error;

#[derive(Debug, Args)]
pub(crate) struct AccessLogArgs {
    /// Access logs of `serve` and `proxy`, also compressed by gzip; `-` reads from standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// What is read of a line.
#[derive(Deserialize)]
struct Line {
    strategy: String,
    ended: String,
    duration_s: f64,
    bytes_sent: f64,
    segments_sent: f64,
    retransmissions: f64,
    timeouts: f64,
    smoothed_rtt_s: Option<f64>,
    limited_s: BTreeMap<String, f64>,
}

/// Sums over connections for the ratio of two numbers of each, `y` to `x`.
#[derive(Clone, Copy, Default)]
struct Ratio {
    n: usize,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Ratio {
    fn add(&mut self, y: f64, x: f64) {
        self.n += 1;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    /// The ratio and the half-width of its 95 % interval, unless all is zero; `None` without
    /// anything to divide by.
    fn estimate(&self) -> Option<Estimate> {
        if self.x <= 0.0 {
            return None;
        }
        let mean = self.y / self.x;
        let half_width = (self.n > 1 && self.yy > 0.0).then(|| {
            let n = self.n as f64;
            let residuals = self.yy - 2.0 * mean * self.xy + mean * mean * self.xx;
            // Rounding may take sums of equal numbers below zero.
            let variance = residuals.max(0.0) / (n - 1.0) / n;
            student_t_975(self.n - 1) * variance.sqrt() * n / self.x
        });
        Some(Estimate { mean, half_width })
    }

    /// Where no event was counted: what there is at most with 95 %.
    fn bound(&self, of: Bound) -> Option<f64> {
        (self.x > 0.0 && self.y == 0.0).then(|| of(self.x))
    }
}

/// With 95 %, what there is at most of independent events of which none came in so many trials.
type Bound = fn(f64) -> f64;

/// In percent, where a trial has one event at most (Clopper & Pearson 1934).
fn share(trials: f64) -> f64 {
    100.0 * (1.0 - 0.05_f64.powf(1.0 / trials))
}

/// Of 1000 trials, each of which may have several (Poisson): the rule of three.
fn per_thousand(trials: f64) -> f64 {
    -1000.0 * 0.05_f64.ln() / trials
}

/// A measure: its name, the decimals to show, and what it is at most where nothing was counted.
type Measure = (&'static str, usize, Option<Bound>);
const MEASURES: [Measure; 5] = [
    ("retransmitted (%)", 3, Some(share)),
    ("timeouts / 1000 connections", 2, Some(per_thousand)),
    ("round trip (ms)", 2, None),
    ("while sending (Mbit/s)", 2, None),
    ("duration (s)", 3, None),
];

/// A strategy.
#[derive(Clone, Copy, Default)]
struct Arm {
    connections: usize,
    measures: [Ratio; MEASURES.len()],
}

impl Arm {
    fn add(&mut self, line: &Line) {
        self.connections += 1;
        let [retransmitted, timeouts, rtt, rate, duration] = &mut self.measures;
        retransmitted.add(100.0 * line.retransmissions, line.segments_sent);
        timeouts.add(1000.0 * line.timeouts, 1.0);
        if let Some(seconds) = line.smoothed_rtt_s {
            rtt.add(1000.0 * seconds, 1.0);
        }
        let idle = line.limited_s.get("application").copied().unwrap_or(0.0);
        rate.add(line.bytes_sent * 8e-6, (line.duration_s - idle).max(0.0));
        duration.add(line.duration_s, 1.0);
    }
}

pub(crate) fn access_log(args: &AccessLogArgs) -> Result<String, Error> {
    let mut arms = BTreeMap::new();
    for path in &args.files {
        let read = |error| Error::Read { path: path.clone(), error };
        let mut lines: Box<dyn BufRead> = match path.as_os_str() == "-" {
            true => Box::new(io::stdin().lock()),
            false => Box::new(BufReader::new(File::open(path).map_err(read)?)),
        };
        // RFC 1952 section 2.3.1: what logrotate has compressed.
        if lines.fill_buf().map_err(read)?.starts_with(&[0x1f, 0x8b]) {
            lines = Box::new(BufReader::new(MultiGzDecoder::new(lines)));
        }
        let mut cut = 0;
        // Not as text: a line may be cut within a character.
        for (i, line) in lines.split(b'\n').enumerate() {
            cut += u64::from(!take(&mut arms, path, i + 1, &line.map_err(read)?)?);
        }
        if cut > 0 {
            let (file, cut) = (printable(path.display()), counted(cut, "line"));
            let _ = writeln!(io::stderr(), "warning: {file}: {cut} cut short, not counted");
        }
    }
    Ok(table(&arms))
}

/// Counts a line; `false` if it ends too early, as where a log is still written, or a disk was
/// full.
fn take(
    arms: &mut BTreeMap<String, Arm>,
    path: &Path,
    number: usize,
    line: &[u8],
) -> Result<bool, Error> {
    let line: Line = match serde_json::from_slice(line) {
        Ok(line) => line,
        Err(e) if e.is_eof() => return Ok(false),
        Err(e) => {
            let file = path.display();
            let text = format!("{file}:{number}: this is no line of an access log: {e}");
            return Err(Error::Usage(text));
        }
    };
    // Nothing was sent to who was refused.
    if !line.ended.starts_with("refused_") {
        arms.entry(line.strategy.clone()).or_default().add(&line);
    }
    Ok(true)
}

fn table(arms: &BTreeMap<String, Arm>) -> String {
    let head = ["strategy", "connections"].into_iter().chain(MEASURES.map(|(name, ..)| name));
    let mut rows = vec![head.map(String::from).collect::<Vec<_>>()];
    let estimates = |arm: &Arm| arm.measures.map(|ratio| ratio.estimate());
    for (name, arm) in arms {
        let begin = [name.clone(), arm.connections.to_string()].into_iter();
        let cells = arm.measures.iter().zip(MEASURES).map(|(ratio, (_, decimals, bound))| {
            match bound.and_then(|bound| ratio.bound(bound)) {
                Some(bound) => format!("<= {}", Written::plain(decimals, "").of(bound)),
                None => cell(ratio.estimate(), decimals),
            }
        });
        rows.push(begin.chain(cells).collect());
    }
    if let Some((first, base)) = arms.iter().next() {
        for (name, arm) in arms.iter().skip(1) {
            let pairs = estimates(arm).into_iter().zip(estimates(base)).zip(MEASURES);
            let cells = pairs.map(|((this, base), (_, decimals, _))| {
                cell(this.zip(base).and_then(|(this, base)| difference(this, base)), decimals)
            });
            let begin = [format!("{name} - {first}"), String::new()].into_iter();
            rows.push(begin.chain(cells).collect());
        }
    }
    align(&rows, Align::Right)
}

/// Of two independent estimates. Nothing can be said where neither has counted anything.
fn difference(this: Estimate, base: Estimate) -> Option<Estimate> {
    if this.mean == 0.0 && base.mean == 0.0 {
        return None;
    }
    let half_width = this.half_width.zip(base.half_width).map(|(a, b)| a.hypot(b));
    Some(Estimate { mean: this.mean - base.mean, half_width })
}

fn cell(estimate: Option<Estimate>, decimals: usize) -> String {
    with_interval(estimate, |_| Written::plain(decimals, ""))
}

#[cfg(test)]
mod tests;
