//! The class and window of each timeout: Lin & Kung section 4.1 and figure 1.

use ackclock_net::{FlowId, Recorder};
use ackclock_report::{Chart, Curve, Estimate, Plot, Point};
use ackclock_tcp::TimeoutClass::{self, LostRetransmission, MultipleLosses, NonTrigger};
use ackclock_tcp::{Event, EventKind};

use crate::format::{NumberOrText, RowSpec};
use crate::measure::{Measurement, Measurements};

/// Timeouts, and windows in whole segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Window and segments outstanding at each timeout, by class.
    timeouts: [Vec<(u64, u64)>; 3],
    /// Timeouts of a segment that had one already. They are of the class lost retransmission.
    repeated: usize,
    /// ACKs of new data, and the sum of the windows at them.
    acks: u64,
    windows: u64,
}

/// Takes the windows of one transfer down.
pub(crate) struct Windows<'a> {
    mss: u64,
    /// The receiver's window as of the last ACK.
    offered: u64,
    /// The segment of the last timeout.
    timed_out: Option<u64>,
    tally: &'a mut Tally,
}

impl<'a> Windows<'a> {
    /// Of a flow whose full segment has `mss` bytes.
    pub fn new(mss: u64, tally: &'a mut Tally) -> Self {
        Windows { mss, offered: u64::MAX, timed_out: None, tally }
    }

    fn window(&self, cwnd: u64) -> u64 {
        cwnd.min(self.offered) / self.mss
    }
}

impl Recorder for Windows<'_> {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, _: FlowId, event: &Event) {
        match event.kind {
            EventKind::Acked { ack, newly_acked, window_edge, .. } => {
                self.offered = window_edge.saturating_sub(ack);
                if newly_acked > 0 {
                    self.tally.acks += 1;
                    self.tally.windows += self.window(event.cwnd);
                }
            }
            EventKind::TimedOut { seq, class, flight, cwnd_before, .. } => {
                let sizes = (self.window(cwnd_before), flight.div_ceil(self.mss));
                self.tally.timeouts[class as usize].push(sizes);
                self.tally.repeated += usize::from(self.timed_out.replace(seq) == Some(seq));
            }
            _ => {}
        }
    }
}

impl Tally {
    fn count(&self, class: TimeoutClass) -> usize {
        self.timeouts[class as usize].len()
    }

    fn all(&self) -> usize {
        self.timeouts.iter().map(Vec::len).sum()
    }

    /// The share of all timeouts of which `counts` is true.
    fn share(&self, classes: &[TimeoutClass], counts: impl Fn(u64, u64) -> bool) -> f64 {
        let of = |class: &TimeoutClass| self.timeouts[*class as usize].iter().filter(|t| counts(t.0, t.1)).count();
        percent(classes.iter().map(of).sum(), self.all())
    }

    /// The share of these in the timeouts that repeat no other.
    fn of_first(&self, timeouts: usize) -> f64 {
        percent(timeouts, self.all() - self.repeated)
    }
}

/// NaN if there is none.
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

const CLASSES: [TimeoutClass; 3] = [NonTrigger, MultipleLosses, LostRetransmission];

/// What is measured of a run beside the counters of its flows.
pub(crate) struct Measure {
    pub name: &'static str,
    pub unit: &'static str,
    value: fn(&Tally) -> f64,
}

const fn share(name: &'static str, value: fn(&Tally) -> f64) -> Measure {
    Measure { name, unit: "%", value }
}

pub(crate) const MEASURES: [Measure; 7] = [
    share("share-repeated", |t| percent(t.repeated, t.all())),
    share("share-of-first-non-trigger", |t| t.of_first(t.count(NonTrigger))),
    share("share-of-first-multiple-losses", |t| t.of_first(t.count(MultipleLosses))),
    share("share-of-first-lost-retransmission", |t| t.of_first(t.count(LostRetransmission) - t.repeated)),
    share("share-window-above-10", |t| t.share(&CLASSES, |window, _| window > 10)),
    share("share-outstanding-above-10", |t| t.share(&CLASSES, |_, outstanding| outstanding > 10)),
    Measure { name: "mean-window", unit: "segments", value: |t| t.windows as f64 / t.acks as f64 },
];

/// `measure/strategy` for each measure.
pub(crate) fn statistics(strategy: &str, runs: &[&Tally], into: &mut Measurements) {
    for m in &MEASURES {
        let samples = runs.iter().map(|tally| (m.value)(tally)).collect();
        into.insert(format!("{}/{strategy}", m.name), Measurement::Samples(samples));
    }
}

/// The largest window of the figure; 64 KB of 512-byte segments are more, but hardly any timeouts.
const WIDEST: u64 = 32;

/// Figure 1: the share of all timeouts with at least such a window, by class. At a window of 1 it is the share of the class,
/// for which a row may have the paper's number.
pub(crate) fn chart(title: String, strategy: &str, runs: &[&Tally], rows: &[RowSpec]) -> Chart {
    let curve = |name: &str, classes: &[TimeoutClass], measure: &str| {
        let point = |least: u64| {
            let shares: Vec<f64> = runs.iter().map(|t| t.share(classes, |window, _| window >= least)).collect();
            let measured: Vec<f64> = shares.into_iter().filter(|s| !s.is_nan()).collect();
            Some(Point { x: least as f64, y: Estimate::of(&measured)? })
        };
        let row = rows.iter().find(|row| row.measurement == format!("{measure}/{strategy}"));
        let paper = row.and_then(|row| match row.paper {
            Some(NumberOrText::Number(share)) => Some((1.0, share)),
            _ => None,
        });
        let points = (1..=WIDEST).filter_map(point).collect();
        Curve { name: name.into(), points, paper: paper.into_iter().collect(), ..Curve::default() }
    };
    let curves = vec![
        curve("all timeouts", &CLASSES, ""),
        curve("non-trigger", &[NonTrigger], "share-non-trigger"),
        curve("multiple losses", &[MultipleLosses], "share-multiple-losses"),
        curve("lost retransmission", &[LostRetransmission], "share-lost-retransmission"),
    ];
    let (x, y) = ("window (segments)".into(), "share of all timeouts (%)".into());
    Chart { title, x, y, plot: Plot::Curves { curves, log_x: false } }
}

#[cfg(test)]
#[path = "timeouts_tests.rs"]
mod tests;
