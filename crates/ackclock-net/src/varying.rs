//! Links that are not the same all the time, as their user describes them.

use ackclock_tcp::{Span, Time};

use crate::loss::Loss;
use crate::queue::Limit;
use crate::trace::Trace;

/// How a link varies. The default does not.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Varying {
    /// The link sends by this trace, whatever its rate.
    pub trace: Option<Trace>,
    /// Times from which on settings are others. If two set the same, the one that came last is in
    /// force, and of those at the same time the later one of the list.
    pub changes: Vec<Change>,
    /// Times in which nothing is sent.
    pub outages: Vec<Outage>,
    /// Packets leave in bursts.
    pub aggregate: Option<Aggregate>,
}

impl Varying {
    /// Whether the link does not vary.
    pub fn is_none(&self) -> bool {
        *self == Varying::default()
    }
}

/// From some time on, settings of a link are others. What is `None` stays as it is.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Change {
    /// When.
    pub at: Time,
    /// Again each time that so long has passed, more than nothing.
    pub every: Option<Span>,
    /// Bits per second, at least 1. A packet in transmission goes on at the new rate.
    pub rate: Option<u64>,
    /// Propagation delay of packets that enter the wire from then on.
    pub delay: Option<Span>,
    /// With a shorter delay, packets overtake those that are on the wire. Otherwise none arrives
    /// before those that entered the wire earlier.
    pub overtake: bool,
    /// In place of [`LinkConfig::loss`](crate::LinkConfig::loss). Drop lists have no place here.
    pub loss: Option<Vec<Loss>>,
    /// How much a drop-tail queue holds. What is in it stays.
    pub limit: Option<Limit>,
}

/// A time in which a link sends nothing. A packet that it interrupts goes on afterwards,
/// unless `queued` is [`InOutage::Drop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it begins.
    pub from: Time,
    /// How long it lasts, more than nothing.
    pub lasts: Span,
    /// From one beginning to the next one, longer than it lasts; `None` for one outage.
    pub every: Option<Span>,
    /// What becomes of packets that would have to wait.
    pub queued: InOutage,
}

impl Outage {
    /// Whether every opportunity of `trace` after its beginning falls into it.
    ///
    /// The times of an opportunity since the outage began, modulo its period, are those that leave
    /// one remainder modulo the greatest common divisor of both periods. All are in the outage if
    /// the greatest of them is.
    pub(crate) fn swallows(&self, trace: &Trace) -> bool {
        let Some(every) = self.every.filter(|every| every.0 > 0) else { return false };
        let common = gcd(every.0, trace.period().0);
        let from = common - self.from.0 % common;
        let greatest = |at: u64| every.0 - common + (at % common + from) % common;
        trace.times().all(|at| greatest(at) < self.lasts.0)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What becomes of the packets that an outage keeps from going.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum InOutage {
    /// They wait, as far as the queue holds them.
    #[default]
    Hold,
    /// Those that wait or are in transmission when it begins are dropped, and those that come while
    /// it lasts.
    Drop,
}

/// Packets leave a link in bursts, as from Wi-Fi and cable modems: the first one waits so long
/// after its transmission, and those that follow in this time go with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregate {
    /// How long, more than nothing.
    pub lasts: Span,
    /// The most packets of a burst, at least 1. A burst of so many goes at once.
    pub packets: u32,
}
