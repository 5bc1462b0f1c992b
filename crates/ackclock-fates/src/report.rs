//! What came out, as tables.

use ackclock_report::{Align, align_results, align_within, hanging, wrap};
use serde::Serialize;

use crate::connection::Connection;
use crate::exhaust::{Found, Tally};

/// What follows the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// Three windows of new data.
    Data,
    /// Nothing: the transfer ends.
    End,
}

impl After {
    /// Both.
    pub const ALL: [After; 2] = [After::Data, After::End];

    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            After::Data => "data",
            After::End => "end",
        }
    }

    /// The connection.
    pub fn connection(self, window: u32, mss: u32) -> Connection {
        let connection = match self {
            After::Data => Connection::followed(window),
            After::End => Connection::tail(window),
        };
        Connection { mss, ..connection }
    }
}

/// All strategies over a space.
#[derive(Clone, Debug, Serialize)]
pub struct Swept {
    /// What follows the window.
    pub after: After,
    /// Segments in the window.
    pub window: u32,
    /// Bytes in a segment.
    pub mss: u32,
    /// Lost ACKs and late segments too.
    pub disturbed: bool,
    /// What came out.
    pub strategies: Vec<Row>,
}

/// A strategy.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub strategy: String,
    /// What its runs come to.
    #[serde(flatten)]
    pub tally: Tally,
}

impl Swept {
    /// What was swept.
    pub fn title(&self) -> String {
        let after = match self.after {
            After::Data => "new data after it",
            After::End => "nothing after it",
        };
        let disturbed = if self.disturbed { ", times lost ACKs and a late segment" } else { "" };
        let runs = self.strategies.first().map_or(0, |row| row.tally.runs);
        format!(
            "A window of {}, {after}{disturbed}: {} fates, each run with each strategy",
            self.window,
            thousands(runs)
        )
    }

    /// Counts.
    pub fn counts(&self) -> Vec<Vec<String>> {
        let heading = [
            "strategy",
            "completes",
            "timeout",
            "minimal",
            "alive",
            "& timeout",
            "spurious",
            "& none",
            "burst",
            "over oracle",
            "worst",
        ];
        let mut rows = vec![heading.map(String::from).to_vec()];
        for Row { strategy, tally: t } in &self.strategies {
            let completes = match t.incomplete.runs {
                0 => "all".into(),
                n => format!("not {}", thousands(n)),
            };
            rows.push(vec![
                strategy.clone(),
                completes,
                thousands(t.timed_out.runs),
                thousands(t.minimal.cases),
                thousands(t.alive),
                thousands(t.alive_timed_out.runs),
                thousands(t.spurious.runs),
                thousands(t.spurious_alone.runs),
                t.burst.to_string(),
                format!("{:.3}s", t.over_oracle.mean_s),
                format!("{:.3}s", t.over_oracle.worst_s),
            ]);
        }
        rows
    }

    /// The smallest case of each kind.
    pub fn smallest(&self) -> Vec<Vec<String>> {
        let heading = ["strategy", "timeout", "alive & timeout", "spurious & none"];
        let mut rows = vec![heading.map(String::from).to_vec()];
        let case = |found: &Found, of: u64| match &found.smallest {
            Some(case) => case.clone(),
            None => format!("none in {}", thousands(of)),
        };
        for Row { strategy, tally: t } in &self.strategies {
            rows.push(vec![
                strategy.clone(),
                case(&t.timed_out, t.runs),
                case(&t.alive_timed_out, t.alive),
                case(&t.spurious_alone, t.runs),
            ]);
        }
        rows
    }

    /// Whether no timeout comes as long as the paper's condition holds, in a sentence for each
    /// strategy.
    pub fn verdict(&self) -> Vec<String> {
        let verdict = |row: &Row| {
            let (alive, found) = (row.tally.alive, &row.tally.alive_timed_out);
            match &found.smallest {
                None => format!("{}: holds in all {}", row.strategy, thousands(alive)),
                Some(case) => format!(
                    "{}: does not hold in {} of {}, first {case}",
                    row.strategy,
                    thousands(found.runs),
                    thousands(alive)
                ),
            }
        };
        self.strategies.iter().map(verdict).collect()
    }
}

/// The headings of [`Swept::counts`] that stay longest.
const RESULTS: [&str; 2] = ["over oracle", "worst"];

/// Where the texts of [`LEGEND`] begin.
const TEXT: usize = 13;

/// What the columns of [`Swept::counts`] are.
pub(crate) const LEGEND: &str = "\
completes    runs that are done in the end
timeout      runs with a timeout; minimal: of those, no part of the fates alone has one
alive        runs in which the network keeps a packet alive for each round trip until the
             first timeout (Lin & Kung 1998, section 8); & timeout: and that have one
spurious     runs with a spurious retransmission; & none: and with no timeout
burst        the most segments that one ACK or timer releases
over oracle  how much later than the oracle runs are complete: mean, and worst
";

/// What [`Swept::verdict`] judges.
pub(crate) const CONDITION: &str =
    "No timeout as long as the network keeps a packet alive for each round trip";

/// The legend, for a terminal of so many columns.
fn legend(width: Option<usize>) -> String {
    if width.is_none() {
        return LEGEND.into();
    }
    let mut entries: Vec<(&str, String)> = Vec::new();
    for line in LEGEND.lines() {
        let (label, text) = line.split_at_checked(TEXT).unwrap_or((line, ""));
        match entries.last_mut() {
            Some((_, entry)) if label.trim().is_empty() => *entry += &format!(" {text}"),
            _ => entries.push((label, text.into())),
        }
    }
    entries.iter().map(|(label, text)| hanging(label, text, width) + "\n").collect()
}

/// As text, with tables for a terminal of so many columns.
pub fn text(all: &[Swept], width: Option<usize>) -> String {
    let mut out = String::new();
    for swept in all.iter().filter(|swept| !swept.strategies.is_empty()) {
        out += &format!(
            "{}\n\n{}\n{}\n{}\n{}\n\nThe smallest case of each kind\n\n{}\n",
            swept.title(),
            align_results(&swept.counts(), 1, &RESULTS, width),
            legend(width),
            wrap(CONDITION, width),
            wrap(&swept.verdict().join("\n"), width),
            align_within(&swept.smallest(), Align::Left, width),
        );
        let option = if swept.mss == crate::connection::MSS {
            String::new()
        } else {
            format!(" --mss {}", swept.mss)
        };
        out += &format!(
            "A case as a scenario for `ackclock run`:\n  ackclock exhaust --window {}{option} --after {} \
             --strategy NAME --case CASE\n\n",
            swept.window,
            swept.after.name(),
        );
    }
    out.pop();
    out
}

/// With commas.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
