//! Results as text.

use std::iter;

use ackclock_report::{Align, Written, align_within, with_interval};

use crate::measure::Measure;
use crate::outcome::{AGREEMENT, AimOutcome, Cell, Outcome, RowOutcome};

impl Measure {
    /// A value of it.
    fn shown(self, row: &RowOutcome) -> String {
        let Some(value) = row.get(self) else { return String::new() };
        match self {
            Measure::Goodput
            | Measure::P50
            | Measure::P90
            | Measure::P99
            | Measure::P999
            | Measure::P99Handshake
            | Measure::Late => {
                format!("{value:.0}")
            }
            Measure::Simulation => with_interval(row.simulation(), |_| Written::plain(0, "")),
            Measure::Difference => format!("{value:+.1}"),
            Measure::DifferenceInterval => format!("{value:.1}"),
            Measure::GoodputRatio
            | Measure::GoodputInterval
            | Measure::QueueRatio
            | Measure::QueueInterval
            | Measure::P99Ratio
            | Measure::PerDrop
            | Measure::RetransmittedRatio => {
                format!("{value:.3}")
            }
            Measure::Retransmitted | Measure::LossRate | Measure::Queue => format!("{value:.2}"),
            Measure::Timeouts | Measure::SimulatedTimeouts => {
                format!("{}", (value * 10.0).round() / 10.0)
            }
        }
    }
}

impl Cell {
    /// A heading and a line for each row, without the columns in which nothing stands.
    pub(crate) fn table_rows(&self) -> Vec<Vec<String>> {
        let paper = |row: &RowOutcome| row.paper.map(|n| n.to_string()).unwrap_or_default();
        let agrees = |row: &RowOutcome| match row.agrees() {
            Some(true) => "agrees".into(),
            Some(false) => "differs".into(),
            None => String::new(),
        };
        let column = |heading: &str, cell: &dyn Fn(&RowOutcome) -> String| -> Vec<String> {
            iter::once(heading.to_string()).chain(self.rows.iter().map(cell)).collect()
        };
        let mut columns = vec![column("row", &|row| row.name.clone()), column("paper", &paper)];
        for measure in Measure::ALL {
            columns.push(column(measure.heading(), &|row| measure.shown(row)));
            if measure == Measure::DifferenceInterval {
                columns.push(column("", &agrees));
            }
        }
        columns.retain(|column| column[1..].iter().any(|cell| !cell.is_empty()));
        (0..=self.rows.len())
            .map(|i| columns.iter().map(|column| column[i].clone()).collect())
            .collect()
    }

    /// Whether wire and simulation agree, in a sentence.
    pub(crate) fn agreement_text(&self) -> Option<String> {
        let a = self.agreement.as_ref()?;
        let in_all = if a.holds() { "agree" } else { "do not agree" };
        let among = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        Some(format!(
            "{among}wire and simulation {in_all}: goodput within {AGREEMENT} % in {} of {} rows, \
             the same order in {} of the {} pairs that are further apart in simulation",
            a.agree, a.rows, a.same_order, a.pairs
        ))
    }
}

impl AimOutcome {
    /// `reached in 11 of 12`.
    pub(crate) fn verdict(&self) -> String {
        match (self.reached, self.of) {
            (true, 1) => "reached".into(),
            (false, 1) => "not reached".into(),
            (true, all) => format!("reached in all {all}"),
            (false, all) => format!("reached in {} of {all}", self.reached_in),
        }
    }
}

impl Outcome {
    /// How it was run: `20 s each, in short`.
    pub(crate) fn ran(&self) -> String {
        let runs =
            self.cells.first().and_then(|cell| cell.rows.first()).map_or(0, |row| row.runs.len());
        let first =
            self.cells.first().and_then(|cell| cell.rows.first()).and_then(|row| row.runs.first());
        let (times, quick) = (
            if runs == 1 { "run" } else { "runs" },
            if self.quick { ", in short (--quick)" } else { "" },
        );
        match first.map_or(0, |m| m.completions_s.len()) {
            0 => format!("{runs} {times} of {} s each{quick}", self.seconds),
            transfers => format!("{runs} {times} of {transfers} transfers each{quick}"),
        }
    }

    /// The table, for a terminal of so many columns, whether wire and simulation agree, and the
    /// aims.
    pub fn to_table(&self, width: Option<usize>) -> String {
        let place =
            if self.place.is_empty() { String::new() } else { format!(" ({})", self.place) };
        let mut text = format!("{}: {}{place}; {}\n", self.lab, self.title, self.ran());
        for cell in &self.cells {
            text.push('\n');
            if !cell.name.is_empty() {
                text.push_str(&format!("{}\n", cell.name));
            }
            text.push_str(&align_within(&cell.table_rows(), Align::Right, width));
        }
        let agreements: Vec<String> = self.cells.iter().filter_map(Cell::agreement_text).collect();
        for sentence in &agreements {
            text.push_str(&format!("\n{sentence}\n"));
        }
        if !self.aims.is_empty() {
            text.push('\n');
        }
        for aim in &self.aims {
            text.push_str(&format!("{}: {}\n", aim.says, aim.verdict()));
            aim.missed.iter().for_each(|missed| text.push_str(&format!("    not {missed}\n")));
        }
        if !self.why.is_empty() && self.aims.iter().any(|aim| !aim.reached) {
            text.push_str(&format!("\n{}\n", self.why));
        }
        text
    }
}
