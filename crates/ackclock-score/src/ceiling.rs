//! How right an answer could be at most: captures that look the same cannot be told apart.
//!
//! Over each of some paths a short transfer runs with every strategy and composition of the
//! population, with three timers, two least intervals and many lists of
//! losses. Captures of one place and path look the same if they have the same packets, with times
//! (timestamps, too) rounded to max(1 ms, RTT / 16). Whoever sees one of them can at best answer
//! for each packet what is true of it in most of them.
//!
//! That is a bound from above: what no other run of the same path happens to look like counts as
//! known. How much has a twin is counted, too.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use ackclock_net::Rng;
use ackclock_report::{Align, align, percent};
use ackclock_tcp::Sighting;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::captures::{Judged, Missing, Run, explained, uncounted, without, written};
use crate::cell::cell;
use crate::matrix::{NONE, Score};
use crate::places::PLACES;
use crate::population;

/// Whether packets have an IPv4 identification that their host counts.
const COUNTED: [bool; 2] = [true, false];

/// What can be found at a place, and what is.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    /// Of kinds and of classes.
    parts: [Part; 2],
    /// Beside it what is found in the same captures.
    found: Score,
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    cases: u64,
    /// Those in captures that another run looks like.
    twins: u64,
    best: u64,
}

/// By place, with counted identifications and without.
pub type Bounds = [[Bound; COUNTED.len()]; PLACES.len()];

/// What is true of a packet: kind and class.
type Truth = [&'static str; 2];

/// The bounds over the paths of these seeds.
///
/// # Errors
/// When a run fails.
pub fn bounds(seeds: std::ops::Range<u64>) -> Result<Bounds, String> {
    let mut sum = Bounds::default();
    for seed in seeds {
        let texts = population::siblings(seed);
        let runs: Result<Vec<_>, String> = texts.par_iter().map(|text| captures(text)).collect();
        let mut groups: HashMap<(usize, usize, u64), Vec<Vec<Truth>>> = HashMap::new();
        for captures in runs? {
            for (place, counted, looks, truths, score) in captures {
                sum[place][counted].found.merge(&score);
                groups.entry((place, counted, looks)).or_default().push(truths);
            }
        }
        for ((place, counted, _), group) in groups {
            sum[place][counted].add(&group);
        }
    }
    Ok(sum)
}

impl Bound {
    /// Captures that look the same.
    fn add(&mut self, group: &[Vec<Truth>]) {
        let packets = group.first().map_or(0, Vec::len);
        for (index, part) in self.parts.iter_mut().enumerate() {
            for packet in 0..packets {
                let mut counts: HashMap<&str, u64> = HashMap::new();
                for truths in group {
                    *counts.entry(truths[packet][index]).or_default() += 1;
                }
                let none = counts.remove(NONE).unwrap_or(0);
                let some: u64 = counts.values().sum();
                let most = counts.values().max().copied().unwrap_or(0);
                // Whoever says nothing is wrong where there was something, and only there.
                let (cases, best) = if most >= none { (some + none, most) } else { (some, 0) };
                if some > 0 {
                    part.cases += cases;
                    part.best += best;
                    part.twins += if group.len() > 1 { cases } else { 0 };
                }
            }
        }
    }
}

/// What a run's captures look like, by place and identification, what is true of each packet, and
/// how right `explain` is.
type Captured = (usize, usize, u64, Vec<Truth>, Score);

fn captures(text: &str) -> Result<Vec<Captured>, String> {
    let run = Run::of(text, 1)?;
    let mut all = Vec::new();
    for (place, seen) in run.recording.seen.iter().enumerate() {
        let capture = written(&run.simulation, seen, PLACES[place]).map_err(|e| e.to_string())?;
        let (whole, keys) = without(&capture, Missing::Nothing, &mut Rng::new(1, "score/ceiling"));
        let judged = Judged { recording: &run.recording, keys: &keys, made_up: run.made_up };
        let truth = |frame: u64| {
            let t = judged.transmission(frame).map(|(.., t)| t);
            let kind = t.and_then(|t| t.retransmitted()).map_or(NONE, |r| r.kind.name());
            [kind, t.and_then(|t| t.expiry).map_or(NONE, |expiry| expiry.class.name())]
        };
        let truths: Vec<Truth> = (1..=keys.len() as u64).map(truth).collect();
        let grid = run.round_trip().max(16_000_000) / 16;
        for (index, counted) in COUNTED.into_iter().enumerate() {
            let file = if counted { whole.clone() } else { uncounted(whole.clone()) };
            let mut score = Score::default();
            judged.score(&explained(&file)?, &mut score, &mut |_| ());
            all.push((place, index, looks(seen, grid, counted), truths.clone(), score));
        }
    }
    Ok(all)
}

/// What packets look like, with times rounded to the `grid` in nanoseconds.
fn looks(seen: &[(u32, Sighting)], grid: u64, counted: bool) -> u64 {
    let mut hash = DefaultHasher::new();
    let began = seen.first().map_or(0, |(_, first)| first.at.0);
    for (_, packet) in seen {
        let header = &packet.header;
        ((packet.at.0 - began + grid / 2) / grid, packet.to_receiver, packet.len).hash(&mut hash);
        (header.seq.0, header.ack.0, header.wnd).hash(&mut hash);
        let options = header.options;
        format!("{:?} {:?}", header.control, options.sack).hash(&mut hash);
        (options.mss, options.wscale, options.sack_permitted).hash(&mut hash);
        let coarse = |ms: u32| u64::from(ms) * 1_000_000 / grid;
        options.timestamps.map(|t| (coarse(t.val), coarse(t.ecr))).hash(&mut hash);
        counted.then_some(packet.number).hash(&mut hash);
    }
    hash.finish()
}

/// In percent: how many have a twin, what could be found at best, and what is found.
pub fn table(bounds: &Bounds) -> String {
    let heading = ["", "kinds", "twins", "best", "found", "classes", "twins", "best", "found"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    for (place, by_count) in PLACES.iter().zip(bounds) {
        for (bound, counted) in by_count.iter().zip(COUNTED) {
            let mut row =
                vec![format!("{place}, {}", if counted { "IPv4" } else { "no identification" })];
            for (part, found) in bound.parts.iter().zip([&bound.found.kinds, &bound.found.classes])
            {
                row.push(part.cases.to_string());
                row.extend([part.twins, part.best].map(|n| cell(percent(n, part.cases))));
                row.push(cell(percent(found.right(), found.all())));
            }
            rows.push(row);
        }
    }
    let mut out = align(&rows, Align::Right);
    for (place, [bound, _]) in PLACES.iter().zip(bounds) {
        if bound.found.calibration.verdicts() > 0 {
            let _ = write!(out, "\n{place}, IPv4: {}", bound.found.calibration.table());
        }
    }
    out
}

/// The same counts.
pub fn json(bounds: &Bounds) -> Value {
    let part = |part: &Part| json!({"cases": part.cases, "twins": part.twins, "best": part.best});
    let one = |bound: &Bound| {
        json!({
            "kinds": part(&bound.parts[0]),
            "classes": part(&bound.parts[1]),
            "found": bound.found.json(),
        })
    };
    let place =
        |bounds: &[Bound; 2]| json!({"ipv4": one(&bounds[0]), "uncounted": one(&bounds[1])});
    PLACES.iter().zip(bounds).map(|(name, b)| (name.to_string(), place(b))).collect::<Value>()
}

#[cfg(test)]
mod tests;
