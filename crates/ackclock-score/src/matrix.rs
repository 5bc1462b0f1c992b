//! What was true beside what was found, counted.

use std::fmt::Write;

use crate::calibration::Calibration;
use crate::cell::cell;
use crate::shares::Shares;
use crate::truth::{Expiry, Retransmitted};
use crate::ways::WaysScore;
use ackclock_report::{Align, align, percent};
use ackclock_tcp::TimeoutClass;
use ackclock_trace::{Kind, Retransmission, State, Timeout};
use serde_json::{Value, json};

/// How often each answer was given to each truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    rows: Vec<&'static str>,
    columns: Vec<&'static str>,
    counts: Vec<u64>,
}

impl Matrix {
    /// All zero. A row and a column of the same name mean the same.
    pub fn new(rows: &[&'static str], columns: &[&'static str]) -> Matrix {
        Matrix {
            rows: rows.to_vec(),
            columns: columns.to_vec(),
            counts: vec![0; rows.len() * columns.len()],
        }
    }

    /// Counts one more case. Names that the matrix does not have count nothing.
    pub fn add(&mut self, truth: &str, found: &str) {
        if let Some(count) = self.index(truth, found).and_then(|i| self.counts.get_mut(i)) {
            *count += 1;
        }
    }

    /// Adds all of another matrix of the same shape.
    pub fn merge(&mut self, other: &Matrix) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, n)| *sum += n);
    }

    /// How often `found` was the answer where `truth` was true.
    pub fn count(&self, truth: &str, found: &str) -> u64 {
        self.index(truth, found).map_or(0, |i| self.counts[i])
    }

    /// Cases of which this is true.
    pub fn of_truth(&self, truth: &str) -> u64 {
        self.columns.iter().map(|found| self.count(truth, found)).sum()
    }

    /// Cases of which this was found.
    pub fn of_found(&self, found: &str) -> u64 {
        self.rows.iter().map(|truth| self.count(truth, found)).sum()
    }

    /// All cases.
    pub fn all(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Cases in which the truth was found.
    pub fn right(&self) -> u64 {
        self.rows.iter().map(|name| self.count(name, name)).sum()
    }

    /// Of how many of the cases in which this was found it is true, in percent; `None` if there
    /// are none.
    pub fn precision(&self, name: &str) -> Option<f64> {
        percent(self.count(name, name), self.of_found(name))
    }

    /// In how many of the cases of which this is true it was found, in percent; `None` if there are
    /// none.
    pub fn recall(&self, name: &str) -> Option<f64> {
        percent(self.count(name, name), self.of_truth(name))
    }

    fn index(&self, truth: &str, found: &str) -> Option<usize> {
        let row = self.rows.iter().position(|name| *name == truth)?;
        let column = self.columns.iter().position(|name| *name == found)?;
        Some(row * self.columns.len() + column)
    }

    /// An aligned table, a row for each truth, with recall at the end of rows and precision below.
    pub fn table(&self, title: &str) -> String {
        let mut lines = vec![vec![title.to_string()]];
        lines[0].extend(self.columns.iter().map(|name| name.to_string()));
        lines[0].push("found %".into());
        for truth in self.rows.iter().filter(|truth| self.of_truth(truth) > 0) {
            let mut line = vec![truth.to_string()];
            line.extend(self.columns.iter().map(|found| blank_zero(self.count(truth, found))));
            line.push(if self.columns.contains(truth) {
                cell(self.recall(truth))
            } else {
                String::new()
            });
            lines.push(line);
        }
        let mut last = vec!["right %".to_string()];
        let right = |found: &&str| {
            if self.of_truth(found) > 0 { cell(self.precision(found)) } else { String::new() }
        };
        last.extend(self.columns.iter().map(right));
        last.push(cell(percent(self.right(), self.all())));
        lines.push(last);
        align(&lines, Align::Right)
    }

    /// `{"truth": {"found": count, ...}, ...}`.
    pub fn json(&self) -> Value {
        let row = |truth: &&str| {
            let counts = self
                .columns
                .iter()
                .map(|found| (found.to_string(), json!(self.count(truth, found))));
            (truth.to_string(), Value::Object(counts.collect()))
        };
        Value::Object(self.rows.iter().map(row).collect())
    }
}

fn blank_zero(count: u64) -> String {
    if count == 0 { ".".into() } else { count.to_string() }
}

/// In the place of a kind: it was no retransmission at all, or was not found to be one.
pub(crate) const NONE: &str = "none";

/// How well captures of one sort were explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// Captures.
    pub captures: u64,
    /// Captures in which as many retransmissions were found as there were.
    pub exact: u64,
    /// Kinds of retransmissions.
    pub kinds: Matrix,
    /// Spurious ones, where the receiver reports them.
    pub spurious: Matrix,
    /// Spurious ones, where only the capture can.
    pub spurious_unreported: Matrix,
    /// Lost ones.
    pub lost: Matrix,
    /// Classes of timeouts.
    pub classes: Matrix,
    /// States before timeouts.
    pub states: Matrix,
    /// Where captures were taken.
    pub places: Matrix,
    /// How lifetimes were divided.
    pub shares: Shares,
    /// How ways of senders were named.
    pub ways: WaysScore,
    /// Probabilities beside kinds.
    pub calibration: Calibration,
}

impl Default for Score {
    fn default() -> Self {
        let named = |names: &[&'static str], more: &[&'static str]| [names, more].concat();
        let kinds = Kind::ALL.map(Kind::name);
        let classes = TimeoutClass::ALL.map(TimeoutClass::name);
        let states = State::ALL.map(State::name);
        let yes_no = ["yes", "no"];
        let answers = Matrix::new(&yes_no, &["yes", "no", "unknown"]);
        Score {
            captures: 0,
            exact: 0,
            shares: Shares::default(),
            ways: WaysScore::default(),
            calibration: Calibration::default(),
            kinds: Matrix::new(&named(&kinds, &[NONE]), &named(&kinds, &[NONE])),
            spurious: answers.clone(),
            spurious_unreported: answers.clone(),
            lost: answers,
            classes: Matrix::new(&named(&classes, &[NONE]), &named(&classes, &[NONE])),
            states: Matrix::new(&states, &states),
            places: Matrix::new(
                &["sender", "middle", "receiver"],
                &["sender", "middle", "receiver", "unknown"],
            ),
        }
    }
}

fn answer(answer: Option<bool>) -> &'static str {
    match answer {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}

impl Score {
    /// A capture with so many retransmissions, in which so many were found.
    pub fn capture(&mut self, truth: u64, found: u64) {
        self.captures += 1;
        self.exact += u64::from(truth == found);
    }

    /// A segment of the capture that was retransmitted, or was found to be, or both.
    pub fn retransmission(
        &mut self,
        truth: Option<&Retransmitted>,
        found: Option<&Retransmission>,
    ) {
        let kind = |kind: Option<Kind>| kind.map_or(NONE, Kind::name);
        self.kinds.add(kind(truth.map(|t| t.kind)), kind(found.map(|f| f.kind)));
        if let Some((found, probability)) = found.and_then(|f| Some((f, f.probability?))) {
            self.calibration.add(probability, truth.is_some_and(|t| t.kind == found.kind));
        }
        let (Some(truth), Some(found)) = (truth, found) else { return };
        if let Some(spurious) = truth.spurious {
            let said = match found.spurious {
                Some(_) => Some(true),
                None => found.known.then_some(false),
            };
            let matrix =
                if truth.reported { &mut self.spurious } else { &mut self.spurious_unreported };
            matrix.add(answer(Some(spurious)), answer(said));
        }
        if let Some(lost) = truth.lost {
            self.lost.add(answer(Some(lost)), answer(found.lost));
        }
    }

    /// A timeout of the capture, or one that was found, or both.
    pub fn timeout(&mut self, truth: Option<&Expiry>, found: Option<&Timeout>) {
        let class = |class: Option<TimeoutClass>| class.map_or(NONE, TimeoutClass::name);
        self.classes.add(class(truth.map(|t| t.class)), class(found.map(|f| f.class)));
        if let (Some(Expiry { state: Some(state), .. }), Some(found)) = (truth, found) {
            self.states.add(state.name(), found.state.name());
        }
    }

    /// Adds another score.
    pub fn merge(&mut self, other: &Score) {
        self.captures += other.captures;
        self.exact += other.exact;
        self.shares.merge(&other.shares);
        self.ways.merge(&other.ways);
        self.calibration.merge(&other.calibration);
        for (mine, theirs) in self.matrices_mut().into_iter().zip(other.matrices()) {
            mine.merge(theirs.1);
        }
    }

    /// The matrices, with what they are about.
    pub fn matrices(&self) -> [(&'static str, &Matrix); 7] {
        [
            ("kind", &self.kinds),
            ("spurious, reported", &self.spurious),
            ("spurious, unreported", &self.spurious_unreported),
            ("lost", &self.lost),
            ("class", &self.classes),
            ("state", &self.states),
            ("place", &self.places),
        ]
    }

    fn matrices_mut(&mut self) -> [&mut Matrix; 7] {
        [
            &mut self.kinds,
            &mut self.spurious,
            &mut self.spurious_unreported,
            &mut self.lost,
            &mut self.classes,
            &mut self.states,
            &mut self.places,
        ]
    }

    /// Of how many timeouts and fast retransmits it was found which of both they are, in percent.
    pub fn timer(&self) -> Option<f64> {
        let timeouts = [Kind::Timeout, Kind::BackedOffTimeout].map(Kind::name);
        let fast = Kind::FastRetransmit.name();
        let all = timeouts.iter().map(|kind| self.kinds.of_truth(kind)).sum::<u64>()
            + self.kinds.of_truth(fast);
        let both =
            timeouts.iter().flat_map(|truth| timeouts.map(|found| self.kinds.count(truth, found)));
        percent(both.sum::<u64>() + self.kinds.count(fast, fast), all)
    }

    /// All matrices as aligned tables.
    pub fn table(&self, title: &str) -> String {
        let mut out = format!(
            "{title}: {} captures, retransmissions exact in {}\n",
            self.captures, self.exact
        );
        for (name, matrix) in self.matrices().into_iter().filter(|(_, matrix)| matrix.all() > 0) {
            let _ = write!(out, "\n{}", matrix.table(name));
        }
        if self.calibration.verdicts() > 0 {
            let _ = write!(out, "\n{}", self.calibration.table());
        }
        if self.shares.connections > 0 {
            let _ = write!(out, "\n{}", self.shares.table());
        }
        if self.ways.senders > 0 {
            let _ = write!(out, "\n{}", self.ways.table());
        }
        out
    }

    /// The counts.
    pub fn json(&self) -> Value {
        let mut out =
            json!({"captures": self.captures, "exact": self.exact, "shares": self.shares.json()});
        out["ways"] = self.ways.json();
        out["calibration"] = self.calibration.json();
        for (name, matrix) in self.matrices() {
            out[name.replace(", ", "_")] = matrix.json();
        }
        out
    }
}

/// One line for each score, in percent: retransmissions counted exactly, kinds, timeouts apart from
/// fast retransmits, classes, spurious ones where the receiver reports them (of those found, how
/// many are; of those that are, how many were found), lost ones likewise, places, and by how much
/// probabilities beside kinds are off on average.
pub fn summary(scores: &[(String, &Score)]) -> String {
    let head = [
        "",
        "captures",
        "count",
        "kind",
        "timer",
        "class",
        "spurious: right",
        "found",
        "lost: right",
        "found",
        "place",
        "probabilities off",
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    for (name, score) in scores {
        let right = |matrix: &Matrix| cell(percent(matrix.right(), matrix.all()));
        lines.push(vec![
            name.clone(),
            score.captures.to_string(),
            cell(percent(score.exact, score.captures)),
            right(&score.kinds),
            cell(score.timer()),
            right(&score.classes),
            cell(score.spurious.precision("yes")),
            cell(score.spurious.recall("yes")),
            cell(score.lost.precision("yes")),
            cell(score.lost.recall("yes")),
            right(&score.places),
            match score.calibration.verdicts() {
                0 => cell(None),
                _ => cell(Some(score.calibration.error())),
            },
        ]);
    }
    align(&lines, Align::Right)
}

#[cfg(test)]
mod tests;
