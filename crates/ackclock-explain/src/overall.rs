//! All connections together: the sums, figure 1 of Lin & Kung, and tables 1 to 3 of the PRR paper.

use std::collections::BTreeMap;

use ackclock_report::percent;
use ackclock_tcp::{Span, TimeoutClass};
use ackclock_trace::{Flow, Kind, State};
use serde::Serialize;

use crate::explained::{Counts, Explained};
use crate::names;
use crate::replay::Rescue;

/// The widest window of figure 1, in segments; wider ones count as this.
const WIDEST: u64 = 64;

/// Sums over connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overall {
    pub connections: u64,
    /// Connections that use SACK.
    pub sack: u64,
    /// Connections that use timestamps.
    pub timestamps: u64,
    /// Connections with a retransmission.
    pub lossy: u64,
    pub counts: Counts,
    /// Retransmissions after which nothing came back any more ("TCP failed to make any forward
    /// progress", PRR paper section 2.1). Inferred: those at the end of all that an end
    /// retransmitted, as far as they were lost.
    failed: u64,
    /// The others by kind: the rows of table 2 add up to all.
    repaired: [u64; Kind::ALL.len()],
    /// Of the others upon a timeout, those that were not backed off, by the state before it.
    repaired_in: [u64; 4],
    /// Timeouts by window in whole segments, at least 1, and class.
    windows: BTreeMap<u64, [u64; TimeoutClass::ALL.len()]>,
    /// How many stalls and how long, by cause and class.
    pub stalls: BTreeMap<(&'static str, Option<&'static str>), (u64, Span)>,
    /// What would have helped, in the order of the replay.
    pub rescues: Vec<RescueSum>,
}

/// What one strategy would have made of the timeouts that were replayed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RescueSum {
    pub strategy: &'static str,
    pub mechanism: &'static str,
    /// How many timeouts were replayed with it.
    pub replayed: u64,
    /// How many it would have avoided.
    pub avoided: u64,
    /// Seconds that it would have saved in those.
    pub saved_s: f64,
}

/// A point of figure 1: the timeouts with a window of at least so many segments, in % of all
/// timeouts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Point {
    pub window: u64,
    pub all: f64,
    pub non_trigger: f64,
    pub multiple_losses: f64,
    pub lost_retransmission: f64,
    pub backed_off: f64,
    pub handshake: f64,
    pub unknown: f64,
}

/// The paper's numbers of figure 1 at a window of 1 (section 4.1): non-trigger, multiple losses,
/// lost retransmission.
pub(crate) const FIGURE_1: [f64; 3] = [85.0, 11.0, 4.0];

/// A table of the PRR paper, with what was measured here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PaperTable {
    pub title: &'static str,
    /// What the paper's columns are.
    pub columns: &'static [&'static str],
    pub rows: Vec<PaperRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PaperRow {
    pub name: &'static str,
    /// `%`, or nothing of a ratio.
    pub unit: &'static str,
    /// `None` where nothing was measured.
    pub here: Option<f64>,
    /// The paper's, in the order of the columns; empty where it has none.
    pub paper: &'static [f64],
}

impl PaperTable {
    /// The rows of which something was found here.
    pub fn found(&self) -> impl Iterator<Item = &PaperRow> {
        self.rows.iter().filter(|row| row.here.is_some_and(|here| here > 0.0))
    }
}

impl Overall {
    /// What would have avoided a timeout.
    pub fn helpful(&self) -> impl Iterator<Item = &RescueSum> {
        self.rescues.iter().filter(|sum| sum.avoided > 0)
    }

    pub fn of(explained: &Explained) -> Overall {
        let mut all = Overall::default();
        for found in explained.counted() {
            let either = |of: fn(&Flow) -> bool| u64::from(found.flows().any(|(_, flow)| of(flow)));
            all.connections += 1;
            all.sack += either(|f| f.sack);
            all.timestamps += either(|f| f.timestamps);
            all.lossy += either(|f| !f.retransmissions.is_empty());
            all.counts.count(found);
            found.flows().for_each(|(_, flow)| all.flow(flow));
            for (_, stall, lasted) in found.stalled() {
                let cause = (names::cause(stall.cause), names::cause_class(stall.cause));
                let (count, long) = all.stalls.entry(cause).or_default();
                *count += 1;
                *long = *long + lasted;
            }
            found.saved.iter().flat_map(|saved| &saved.by).for_each(|rescue| all.rescue(rescue));
        }
        all
    }

    fn flow(&mut self, flow: &Flow) {
        let failed = flow.retransmissions.iter().rev().take_while(|r| r.lost == Some(true)).count();
        let repaired = flow.retransmissions.len() - failed;
        self.failed += failed as u64;
        flow.retransmissions[..repaired].iter().for_each(|r| self.repaired[r.kind as usize] += 1);
        for timeout in &flow.timeouts {
            let window = (timeout.cwnd / u64::from(flow.mss.max(1))).clamp(1, WIDEST);
            self.windows.entry(window).or_default()[timeout.class as usize] += 1;
            if timeout.class != TimeoutClass::BackedOff && timeout.retransmission < repaired {
                self.repaired_in[timeout.state as usize] += 1;
            }
        }
    }

    fn rescue(&mut self, r: &Rescue) {
        let known = self
            .rescues
            .iter()
            .position(|sum| (sum.strategy, sum.mechanism) == (r.strategy, r.mechanism));
        let place = known.unwrap_or_else(|| {
            let (strategy, mechanism) = (r.strategy, r.mechanism);
            self.rescues.push(RescueSum {
                strategy,
                mechanism,
                replayed: 0,
                avoided: 0,
                saved_s: 0.0,
            });
            self.rescues.len() - 1
        });
        let sum = &mut self.rescues[place];
        sum.replayed += 1;
        if r.avoided {
            sum.avoided += 1;
            sum.saved_s += r.saved_s;
        }
    }

    /// Figure 1 of Lin & Kung up to the widest window; empty if there was no timeout.
    pub fn figure_1(&self) -> Vec<Point> {
        let all = self.counts.all_timeouts();
        let point = |window: u64| {
            let share = |class: TimeoutClass| {
                let wide: u64 =
                    self.windows.range(window..).map(|(_, classes)| classes[class as usize]).sum();
                percent(wide, all).unwrap_or_default()
            };
            Point {
                window,
                all: TimeoutClass::ALL.into_iter().map(share).sum(),
                non_trigger: share(TimeoutClass::NonTrigger),
                multiple_losses: share(TimeoutClass::MultipleLosses),
                lost_retransmission: share(TimeoutClass::LostRetransmission),
                backed_off: share(TimeoutClass::BackedOff),
                handshake: share(TimeoutClass::Handshake),
                unknown: share(TimeoutClass::Unknown),
            }
        };
        let widest = self.windows.last_key_value().map_or(0, |(widest, _)| *widest);
        (1..=widest).map(point).collect()
    }

    /// Tables 1 to 3 of the PRR paper, which calls all retransmissions of a recovery fast
    /// retransmits: about three in each.
    pub fn prr_tables(&self) -> [PaperTable; 3] {
        let row = |name, here, paper: &'static [f64]| PaperRow { name, unit: "%", here, paper };
        let counts = &self.counts;
        let all = counts.all_retransmissions();
        let fast = counts.of(Kind::FastRetransmit) + counts.of(Kind::Recovery);
        let repaired =
            |kinds: &[Kind]| percent(kinds.iter().map(|k| self.repaired[*k as usize]).sum(), all);
        let timeout_in = |state: State| percent(self.repaired_in[state as usize], all);
        let one = PaperTable {
            title: "Table 1: connections and retransmissions",
            columns: &["paper"],
            rows: vec![
                row("connections with SACK", percent(self.sack, self.connections), &[96.0]),
                row(
                    "connections with timestamps",
                    percent(self.timestamps, self.connections),
                    &[12.0],
                ),
                row("segments that are retransmissions", percent(all, counts.segments), &[2.8]),
                row("connections with retransmissions", percent(self.lossy, self.connections), &[]),
            ],
        };
        let two = PaperTable {
            title: "Table 2: retransmissions by kind, of all retransmissions",
            columns: &["DC1", "DC2"],
            rows: vec![
                row(
                    "retransmissions of recoveries",
                    repaired(&[Kind::FastRetransmit, Kind::Recovery]),
                    &[24.0, 54.0],
                ),
                row(
                    "timeout retransmits",
                    repaired(&[Kind::Timeout, Kind::BackedOffTimeout]),
                    &[43.0, 17.0],
                ),
                row("timeout in Open", timeout_in(State::Open), &[30.0, 8.0]),
                row("timeout in Disorder", timeout_in(State::Disorder), &[2.0, 3.0]),
                row("timeout in Recovery", timeout_in(State::Recovery), &[1.0, 2.0]),
                row("timeout in Loss", timeout_in(State::Loss), &[]),
                row("timeout, backed off", repaired(&[Kind::BackedOffTimeout]), &[10.0, 4.0]),
                row("slow start retransmits", repaired(&[Kind::SlowStart]), &[17.0, 29.0]),
                row("tail loss probes", repaired(&[Kind::TailLossProbe]), &[]),
                row("for which a router had asked", repaired(&[Kind::TooBig]), &[]),
                row("unknown", repaired(&[Kind::Unknown, Kind::ProbeOrTimeout]), &[]),
                row("failed retransmits", percent(self.failed, all), &[15.0, 0.0]),
            ],
        };
        let per_recovery = |n| percent(n, counts.recoveries);
        let mean = (counts.recoveries > 0).then(|| fast as f64 / counts.recoveries as f64);
        let three = PaperTable {
            title: "Table 3: fast recovery, and all retransmissions in it",
            columns: &["DC1", "DC2"],
            rows: vec![
                PaperRow { unit: "", ..row("retransmissions per recovery", mean, &[3.15, 2.93]) },
                row("D-SACKs per recovery", per_recovery(counts.dsacks), &[12.0, 4.0]),
                row("D-SACKs per retransmission", percent(counts.dsacks, fast), &[3.8, 1.4]),
                row(
                    "lost retransmissions per recovery",
                    per_recovery(counts.lost_fast),
                    &[6.0, 9.0],
                ),
                row(
                    "lost retransmissions per retransmission",
                    percent(counts.lost_fast, fast),
                    &[1.9, 3.1],
                ),
            ],
        };
        [one, two, three]
    }
}
