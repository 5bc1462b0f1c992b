//! Tables of what became of flows, and means over runs.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::align::{Align, align};
use crate::flow::{FlowSummary, are_named};
use crate::number::{Written, rate, with_interval, written_rate, written_seconds};
use crate::over::{FlowMeasure, Over};

/// A mean with the half-width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean of the sample.
    pub mean: f64,
    /// Half of the width of the 95 % confidence interval by Student's t; `None` for fewer than two
    /// values.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// From one value per replication; `None` if there is none.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let n = values.len() as f64;
        let first = values.first()?;
        if values.iter().all(|v| v == first) {
            // Of equal values the mean is exact, whatever rounding makes of their sum.
            return Some(Estimate { mean: *first, half_width: (values.len() > 1).then_some(0.0) });
        }
        let mean = values.iter().sum::<f64>() / n;
        let half_width = (values.len() > 1).then(|| {
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
            student_t_975(values.len() - 1) * (variance / n).sqrt()
        });
        Some(Estimate { mean, half_width })
    }
}

/// The 0.975 quantile of Student's t for `df` >= 1 degrees of freedom: tabulated up to 30, above by
/// the Cornish-Fisher expansion around the normal quantile (Abramowitz & Stegun 26.7.5), whose
/// error there is below 1e-7.
pub fn student_t_975(df: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.5705818, 2.4469119, 2.3646243, 2.3060041,
        2.2621572, 2.2281389, 2.2009852, 2.1788128, 2.1603687, 2.1447867, 2.1314495, 2.1199053,
        2.1098156, 2.1009220, 2.0930241, 2.0859634, 2.0796138, 2.0738731, 2.0686576, 2.0638986,
        2.0595386, 2.0555294, 2.0518305, 2.0484071, 2.0452296, 2.0422725,
    ];
    if let Some(t) = df.checked_sub(1).and_then(|i| TABLE.get(i)) {
        return *t;
    }
    let z = 1.959_963_984_540_054_f64;
    let n = df as f64;
    z + (z.powi(3) + z) / (4.0 * n)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n.powi(2))
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * n.powi(3))
        + (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5)
            - 1920.0 * z.powi(3)
            - 945.0 * z)
            / (92160.0 * n.powi(4))
}

/// One aligned line per summary, with a heading. `rto n/m/l/b` counts timeouts by class:
/// non-trigger, multiple losses, lost retransmission, backed off. `syn` counts expiries of the
/// timer of the SYN, and `ecn` reductions for an ECN-Echo, if there are any. `name` is there where
/// several flows have names of their own. Ends with a newline.
pub fn summary_table(summaries: &[FlowSummary]) -> String {
    align(&summary_rows(summaries), Align::Right)
}

/// The rows of [`summary_table`], the heading first.
pub fn summary_rows(summaries: &[FlowSummary]) -> Vec<Vec<String>> {
    let (heading, rows) = FlowSummary::table(&summaries.iter().collect::<Vec<_>>());
    let heading = heading.into_iter().map(String::from).collect();
    std::iter::once(heading).chain(rows).collect()
}

/// The heading of the column with the names of flows.
pub const FLOW_NAME: &str = "name";

/// The columns that are shown only where there is something in them.
const SYN: &str = "syn";
const ECN: &str = "ecn";

/// The headings of what [`summary_rows`] and [`replication_rows`] are for: the last columns that
/// [`align_results`](crate::align_results) leaves out.
pub const RESULTS: [&str; 2] = ["goodput", "completion"];

const SUMMARY_HEADING: [&str; 16] = [
    "strategy",
    "seed",
    "flow",
    FLOW_NAME,
    "bytes acked",
    "sent",
    "rexmit",
    "fast",
    "rto n/m/l/b",
    SYN,
    "recoveries",
    ECN,
    "drops",
    "spurious",
    "goodput",
    "completion",
];

impl FlowSummary {
    fn cells(&self) -> [String; 16] {
        [
            self.strategy.clone(),
            self.seed.to_string(),
            self.flow.to_string(),
            self.name.clone(),
            self.bytes_acked.to_string(),
            self.segments_sent.to_string(),
            self.retransmissions.to_string(),
            self.fast_retransmissions.to_string(),
            format!(
                "{} {}/{}/{}/{}",
                self.timeouts,
                self.timeouts_non_trigger,
                self.timeouts_multiple_losses,
                self.timeouts_lost_retransmission,
                self.timeouts_backed_off
            ),
            self.syn_timeouts.to_string(),
            self.recoveries.to_string(),
            self.ecn_reductions.to_string(),
            count_or_dash(self.drops),
            count_or_dash(self.spurious_retransmissions),
            self.goodput_bps.map_or_else(|| "-".into(), |bps| rate(bps, 3)),
            self.completion_s.map_or_else(|| "unfinished".into(), |s| written_seconds(s).of(s)),
        ]
    }

    /// The heading and the cells of [`summary_table`], for the HTML table.
    pub(crate) fn table(summaries: &[&FlowSummary]) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let syn = summaries.iter().any(|s| s.syn_timeouts > 0);
        let ecn = summaries.iter().any(|s| s.ecn_reductions > 0);
        let named = are_named(summaries.iter().map(|s| (s.flow, s.name.as_str())));
        let shown = |name: &str| match name {
            FLOW_NAME => named,
            SYN => syn,
            ECN => ecn,
            _ => true,
        };
        let rows = summaries.iter().map(|s| {
            let cells = SUMMARY_HEADING.into_iter().zip(s.cells());
            cells.filter(|(name, _)| shown(name)).map(|(_, cell)| cell).collect()
        });
        let heading = SUMMARY_HEADING.into_iter().filter(|name| shown(name));
        (heading.collect(), rows.collect())
    }
}

/// One line per strategy, in order of first appearance: mean and 95 % confidence interval over the
/// replications.
///
/// A replication is one seed: where it has several flows, their mean is its one value, because
/// flows that share a network are no independent sample. A run with an unfinished flow has no
/// completion time: where others have one, theirs is shown, and how many they are (`(4 of 5)`), and
/// else `unfinished`. Ends with a newline.
pub fn replication_table(summaries: &[FlowSummary]) -> String {
    align(&replication_rows(summaries, &[]), Align::Right)
}

/// The rows of [`replication_table`], the heading first. With some of `over`, each strategy has a
/// row for each of them instead of that of the mean, which a column names.
pub fn replication_rows(summaries: &[FlowSummary], over: &[Over]) -> Vec<Vec<String>> {
    let mut strategies: Vec<&str> = Vec::new();
    for s in summaries {
        if !strategies.contains(&s.strategy.as_str()) {
            strategies.push(&s.strategy);
        }
    }
    type Show = fn(f64) -> Written;
    let count: Show = |_| Written::plain(2, "");
    let columns: [(&str, &str, Show, &str); 6] = [
        ("goodput", "goodput", |bps| written_rate(bps, 3), "-"),
        ("completion", "completion", written_seconds, "unfinished"),
        ("rexmit", "retransmissions", count, "-"),
        ("timeouts", "timeouts", count, "-"),
        ("recoveries", "recoveries", count, "-"),
        ("drops", "drops", count, "-"),
    ];
    let mut heading = vec!["strategy", "runs"];
    heading.extend((!over.is_empty()).then_some("over"));
    heading.extend(columns.map(|(heading, ..)| heading));
    let mut rows = vec![heading.into_iter().map(String::from).collect::<Vec<_>>()];
    for strategy in strategies {
        let mut seeds: BTreeMap<u64, Vec<&FlowSummary>> = BTreeMap::new();
        for s in summaries.iter().filter(|s| s.strategy == strategy) {
            seeds.entry(s.seed).or_default().push(s);
        }
        for &each in if over.is_empty() { &[Over::Mean] } else { over } {
            let mut row = vec![strategy.to_string(), seeds.len().to_string()];
            row.extend((!over.is_empty()).then(|| each.to_string()));
            for (_, name, show, missing) in columns {
                let measure = FlowMeasure::named(name);
                let of_run = |flows: &Vec<&FlowSummary>| measure?.over(each, flows.iter().copied());
                let values: Vec<f64> = seeds.values().filter_map(of_run).collect();
                let (some, all) = (values.len(), seeds.len());
                let mut cell = with_interval(Estimate::of(&values), show);
                if some == 0 {
                    cell = missing.into();
                } else if some < all {
                    cell = format!("{cell} ({some} of {all})");
                }
                row.push(cell);
            }
            rows.push(row);
        }
    }
    rows
}

fn count_or_dash(count: Option<u64>) -> String {
    count.map_or_else(|| "-".into(), |n| n.to_string())
}
