//! How well lifetimes are divided by what limited the sender.

use ackclock_report::{Align, align, percent};
use ackclock_tcp::Span;
use ackclock_trace::{Lifetime, Limit};
use serde_json::{Value, json};

use crate::cell::cell;

/// A share is right if it is off by no more than this part of the lifetime.
pub(crate) const WITHIN: f64 = 0.05;

/// The part of a lifetime that such a limit has.
pub fn part(lifetime: &Lifetime, limit: Limit) -> f64 {
    match lifetime.whole() {
        Span::ZERO => 0.0,
        whole => lifetime.of(limit).secs_f64() / whole.secs_f64(),
    }
}

/// Counts connections whose shares were right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// Connections.
    pub connections: u64,
    /// By [`Limit::ALL`]: with this share within 5 % of the lifetime.
    pub within: [u64; Limit::ALL.len()],
    /// With every share so.
    pub all: u64,
    /// Whose largest share was found to be the largest.
    pub main: u64,
}

impl Shares {
    /// One more connection. Returns the shares that are wrong, and by how much.
    pub fn add(&mut self, truth: &Lifetime, found: &Lifetime) -> Vec<(Limit, f64)> {
        let off = |limit: &Limit| (*limit, part(found, *limit) - part(truth, *limit));
        let wrong: Vec<_> =
            Limit::ALL.iter().map(off).filter(|(_, off)| off.abs() > WITHIN).collect();
        self.connections += 1;
        for (limit, within) in Limit::ALL.iter().zip(&mut self.within) {
            *within += u64::from(wrong.iter().all(|(wrong, _)| wrong != limit));
        }
        self.all += u64::from(wrong.is_empty());
        self.main += u64::from(truth.main() == found.main());
        wrong
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Shares) {
        self.connections += other.connections;
        self.all += other.all;
        self.main += other.main;
        self.within.iter_mut().zip(other.within).for_each(|(sum, n)| *sum += n);
    }

    /// A line for each limit.
    pub fn table(&self) -> String {
        let row = |name: &str, n| vec![name.to_string(), cell(percent(n, self.connections))];
        let limits = Limit::ALL.iter().zip(self.within).map(|(limit, n)| row(limit.name(), n));
        let sums = [row("all of them", self.all), row("largest found", self.main)];
        let rows: Vec<_> = limits.chain(sums).collect();
        let what = "share within 5 % of the lifetime, in % of connections";
        format!("{what}\n{}", align(&rows, Align::Right))
    }

    /// The counts.
    pub fn json(&self) -> Value {
        let within = Limit::ALL.iter().zip(self.within).map(|(l, n)| (l.name().into(), json!(n)));
        json!({
            "connections": self.connections,
            "within": Value::Object(within.collect()),
            "all": self.all,
            "main": self.main,
        })
    }
}
