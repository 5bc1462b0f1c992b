//! All connections together.

use ackclock_report::{Align, align_results, align_within, in_words, wrap};

use super::words::count;
use crate::explained::Explained;
use crate::overall::{FIGURE_1, Overall, PaperTable, Point};

/// The windows at which figure 1 is printed.
const WINDOWS: [u64; 12] = [1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 32, 64];

pub(super) fn text(explained: &Explained, width: Option<usize>) -> String {
    let all = Overall::of(explained);
    if all.connections == 0 {
        return String::new();
    }
    let mut parts = vec![format!(
        "All together: {}, {} in {}; {}, {}\n",
        count(all.connections, "connection"),
        count(all.counts.bytes, "byte"),
        count(all.counts.segments, "segment"),
        count(all.counts.all_retransmissions(), "retransmission"),
        count(all.counts.all_timeouts(), "timeout"),
    )];
    parts.extend([stalls(&all, width), rescues(&all, explained, width)].into_iter().flatten());
    if all.counts.all_retransmissions() > 0 {
        parts.extend(figure_1(&all.figure_1(), width));
        parts.extend(all.prr_tables().iter().filter_map(|t| paper_table(t, width)));
    }
    parts.join("\n")
}

fn cells<const N: usize>(row: [&str; N]) -> Vec<String> {
    row.map(String::from).to_vec()
}

fn stalls(all: &Overall, width: Option<usize>) -> Option<String> {
    let mut rows = vec![cells(["stalls by cause", "stalls", "time (s)"])];
    for ((cause, class), (stalls, long)) in &all.stalls {
        let class = class.map_or(String::new(), |class| format!(", {class}"));
        let name = in_words(&format!("{cause}{class}"));
        rows.push(vec![name, stalls.to_string(), format!("{:.3}", long.secs_f64())]);
    }
    (rows.len() > 1).then(|| align_within(&rows, Align::Right, width))
}

fn rescues(all: &Overall, explained: &Explained, width: Option<usize>) -> Option<String> {
    let mut rows =
        vec![cells(["what would have avoided timeouts", "strategy", "avoided", "of", "saved (s)"])];
    for sum in all.helpful() {
        let (avoided, replayed) = (sum.avoided.to_string(), sum.replayed.to_string());
        rows.push(vec![
            sum.mechanism.into(),
            sum.strategy.into(),
            avoided,
            replayed,
            format!("{:.3}", sum.saved_s),
        ]);
    }
    let note = match (explained.replayable, explained.replayed) {
        (all, some) if all > some => format!("the {some} of {all} timeouts that waited longest; "),
        _ => String::new(),
    };
    let untold = match explained.untold() {
        0 => String::new(),
        n => format!("; of {} nothing can be told", count(n as u64, "timeout")),
    };
    let note = format!(
        "({note}an estimate: the same transmissions are lost again, and no others{untold})\n"
    );
    let note = wrap(&note, width);
    match (rows.len(), all.rescues.first()) {
        (_, None) if explained.untold() > 0 => {
            Some("What would have avoided the timeouts cannot be told\n".into())
        }
        (_, None) => None,
        (1, Some(_)) => {
            let tried = all.rescues.iter().map(|sum| sum.replayed).max().unwrap_or(0);
            Some(format!("What was tried would have avoided no timeout: 0 of {tried}\n{note}"))
        }
        _ => Some(align_results(&rows, 2, &["saved (s)"], width) + &note),
    }
}

fn figure_1(points: &[Point], width: Option<usize>) -> Option<String> {
    if points.is_empty() {
        return None;
    }
    let heading = [
        "window >=",
        "all",
        "non-trigger",
        "multiple losses",
        "lost retransmission",
        "backed off",
        "handshake",
        "unknown",
    ];
    let shares = |p: &Point| {
        [
            p.all,
            p.non_trigger,
            p.multiple_losses,
            p.lost_retransmission,
            p.backed_off,
            p.handshake,
            p.unknown,
        ]
    };
    let mut rows = vec![cells(heading)];
    for p in points.iter().filter(|p| WINDOWS.contains(&p.window)) {
        let shares = shares(p).map(|share| format!("{share:.1}"));
        rows.push(std::iter::once(p.window.to_string()).chain(shares).collect());
    }
    let [a, b, c] = FIGURE_1;
    rows.push(vec!["paper, 1".into(), "100".into(), a.to_string(), b.to_string(), c.to_string()]);
    // What was found here stays in a narrow terminal. The paper has numbers for what was not.
    let found = |column: &usize| points.iter().any(|p| shares(p)[*column] > 0.0);
    let found: Vec<&str> = (1..heading.len() - 1).filter(found).map(|c| heading[c + 1]).collect();
    let title = "Timeouts by class and estimated cwnd in segments, in % of all timeouts (Lin & \
        Kung 1998, figure 1)\n";
    Some(wrap(title, width) + &align_results(&rows, 2, &found, width))
}

/// Without the rows of which nothing was found here.
fn paper_table(table: &PaperTable, width: Option<usize>) -> Option<String> {
    let mut heading = cells(["", "unit", "here"]);
    heading.extend(table.columns.iter().map(|c| c.to_string()));
    let mut rows = vec![heading];
    for row in table.found() {
        let decimals = if row.unit.is_empty() { 2 } else { 1 };
        let number = |n: Option<f64>| n.map_or("-".into(), |n| format!("{n:.decimals$}"));
        let mut cells = vec![row.name.into(), row.unit.into(), number(row.here)];
        cells.extend((0..table.columns.len()).map(|c| number(row.paper.get(c).copied())));
        rows.push(cells);
    }
    let title = wrap(&format!("{} (Dukkipati et al. 2011)\n", table.title), width);
    (rows.len() > 1).then(|| title + &align_within(&rows, Align::Right, width))
}
