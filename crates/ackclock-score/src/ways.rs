//! How well a sender's ways are named, beside what they are.

use ackclock_net::scenario::{BuiltFlow, Scenario};
use ackclock_report::{Align, align, percent};
use ackclock_tcp::strategy::Axis;
use ackclock_tcp::{Registry, Span};
use ackclock_trace::Ways;
use ackclock_trace::ways::Law;
use serde_json::{Value, json};

use crate::cell::cell;
use crate::kernel::Planned;

/// The names of what is scored.
pub const WAYS: [&str; 6] =
    ["tail_loss_probes", "rack", "f_rto", "least_rto", "initial_window", "reduction"];

/// The ways that a sender has.
#[derive(Clone, Copy, Debug)]
pub struct TrueWays {
    /// `None` for probes that a coarse timer comes before: they wait for two of its round trips,
    /// which are whole ticks.
    probes: Option<bool>,
    rack: bool,
    f_rto: bool,
    least_rto: Span,
    initial_window: u32,
    /// `None` for a law that is neither.
    law: Option<Law>,
}

impl TrueWays {
    /// Of a flow of a scenario; `None` if its strategy is not known.
    pub fn simulated(scenario: &Scenario, flow: &BuiltFlow, registry: &Registry) -> Option<Self> {
        let composition = registry.parse(&flow.strategy).ok()?;
        let without = composition.without_sack().filter(|_| !flow.sack);
        let mechanisms = without.unwrap_or(composition.mechanisms());
        let has = |axis, names: &[&str]| {
            mechanisms.iter().any(|m| m.axis == axis && names.contains(&&*m.name))
        };
        // `tolerant-start` lowers the window less often, and by as much as the law that it wraps.
        let lowers = |name: &str| name != "tolerant-start";
        let mut laws = mechanisms.iter().filter(|m| m.axis == Axis::Window && lowers(&m.name));
        let law = match laws.next_back().map(|m| &*m.name) {
            None | Some("reno-window" | "half-window" | "linux-reno") => Some(Law::Half),
            Some("cubic" | "linux-cubic") => Some(Law::SevenTenths),
            Some(_) => None,
        };
        let timer = mechanisms.iter().rfind(|m| m.axis == Axis::Timer).map(|m| m.name.to_string());
        let timer =
            timer.unwrap_or_else(|| scenario.tcp.timer.unwrap_or_default().mechanism().to_string());
        let least_rto = match &*timer {
            // Two of its ticks.
            "bsd-timer" => Span::from_secs(1),
            _ => scenario.tcp.min_rto.map_or(Span::from_secs(1), |min| min.0),
        };
        let probes =
            flow.sack && has(Axis::Probe, &["tlp", "tlp-fin", "linux-tlp", "linux-tlp-fin"]);
        Some(TrueWays {
            probes: (!probes || timer != "bsd-timer").then_some(probes),
            rack: flow.sack && has(Axis::Detect, &["rack", "linux-rack"]),
            f_rto: has(Axis::Undo, &["f-rto", "linux-f-rto"]),
            least_rto,
            initial_window: scenario.tcp.initial_window?,
            law,
        })
    }

    /// Of Linux 6.18, set as planned. It detects losses by time whatever `tcp_recovery` says: since
    /// 6.17 there is nothing else.
    pub fn kernel(planned: &Planned) -> Self {
        let is_on =
            |key: &str| planned.sysctl.get(key).and_then(toml::Value::as_integer) != Some(0);
        let sack = is_on("tcp_sack");
        TrueWays {
            probes: Some(sack && is_on("tcp_early_retrans")),
            rack: sack,
            f_rto: is_on("tcp_frto"),
            least_rto: Span::from_millis(200),
            initial_window: 10,
            law: match &*planned.congestion {
                "reno" => Some(Law::Half),
                "cubic" => Some(Law::SevenTenths),
                _ => None,
            },
        }
    }

    /// By [`WAYS`]: whether what is named is right; `None` of what is not named.
    fn judge(&self, found: &Ways) -> [Option<bool>; WAYS.len()] {
        [
            found.probes.verdict().zip(self.probes).map(|(is, was)| is == was),
            found.rack.verdict().map(|is| is == self.rack),
            found.f_rto.verdict().map(|is| is == self.f_rto),
            found.least_rto.verdict().map(|is| is == self.least_rto),
            found.initial_window.map(|is| is == self.initial_window),
            found.reductions.verdict().map(|is| Some(is) == self.law),
        ]
    }
}

/// Counts senders whose ways were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaysScore {
    /// Senders.
    pub senders: u64,
    /// By [`WAYS`]: of how many it was named.
    pub named: [u64; WAYS.len()],
    /// Of these, how often rightly.
    pub right: [u64; WAYS.len()],
}

impl WaysScore {
    /// One more sender. Returns the ways that are named wrongly.
    pub fn add(&mut self, truth: &TrueWays, found: &Ways) -> Vec<&'static str> {
        self.senders += 1;
        let judged = truth.judge(found);
        for ((named, right), judged) in self.named.iter_mut().zip(&mut self.right).zip(judged) {
            *named += u64::from(judged.is_some());
            *right += u64::from(judged == Some(true));
        }
        let wrong = WAYS.into_iter().zip(judged).filter(|(_, judged)| *judged == Some(false));
        wrong.map(|(way, _)| way).collect()
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &WaysScore) {
        self.senders += other.senders;
        self.named.iter_mut().zip(other.named).for_each(|(sum, n)| *sum += n);
        self.right.iter_mut().zip(other.right).for_each(|(sum, n)| *sum += n);
    }

    /// A line for each way.
    pub fn table(&self) -> String {
        let named = format!("named, of {} senders", self.senders);
        let mut rows = vec![vec!["way".to_string(), named, "right %".to_string()]];
        for ((way, named), right) in WAYS.iter().zip(self.named).zip(self.right) {
            rows.push(vec![way.to_string(), named.to_string(), cell(percent(right, named))]);
        }
        align(&rows, Align::Right)
    }

    /// The counts.
    pub fn json(&self) -> Value {
        let of = |i: usize| json!({"named": self.named[i], "right": self.right[i]});
        let mut out: serde_json::Map<String, Value> =
            WAYS.iter().enumerate().map(|(i, way)| (way.to_string(), of(i))).collect();
        out.insert("senders".into(), json!(self.senders));
        Value::Object(out)
    }
}
