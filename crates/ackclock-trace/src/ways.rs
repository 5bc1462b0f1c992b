//! How a sender goes about losses, named where what it did leaves no other way.
//!
//! Which evidence decides is said by the parts that collect it (`sender/ways/`). Each of them has a
//! chance to speak only in some connections: without a timeout, for example, nothing is known of
//! F-RTO.

use ackclock_tcp::Span;

use crate::standards::LEAST_RTOS;

/// How often something was seen that only a sender with a way does, and how often something that
/// only one without it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// For it.
    pub used: u32,
    /// Against it: a chance that it would have used.
    pub unused: u32,
}

impl Evidence {
    /// Chances that have to go unused: a single one may have had another reason.
    const ENOUGH: u32 = 2;

    /// Whether the sender has this way; `None` where too little was seen, or both.
    pub const fn verdict(self) -> Option<bool> {
        match (self.used, self.unused) {
            (1.., 0) => Some(true),
            (0, Self::ENOUGH..) => Some(false),
            _ => None,
        }
    }

    /// The same on any evidence, where something has to be decided.
    pub const fn leaning(self) -> Option<bool> {
        match (self.used, self.unused) {
            (1.., 0) => Some(true),
            (0, 1..) => Some(false),
            _ => None,
        }
    }
}

/// The ways of one end as a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Tail loss probes (RFC 8985 section 7).
    pub probes: Evidence,
    /// Losses are detected by time (RACK, RFC 8985 section 6), not only by three duplicate ACKs or
    /// SACKed segments (RFC 6675).
    pub rack: Evidence,
    /// F-RTO after a timeout (RFC 5682).
    pub f_rto: Evidence,
    /// The least retransmission timeout.
    pub least_rto: LeastRto,
    /// Segments that went out before the first ACK, where cwnd and nothing else kept it at that.
    pub initial_window: Option<u32>,
    /// What recoveries left of the flight.
    pub reductions: Reductions,
    /// Slow start after idle time (RFC 5681 section 4.1).
    pub restart: Evidence,
}

/// Expiries of the retransmission timer that were as early as this timer's minimum lets them be, by
/// that minimum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeastRto {
    /// By the place in [`LeastRto::KNOWN`].
    pub seen: [u32; LeastRto::KNOWN.len()],
}

impl LeastRto {
    /// The minima that are looked for: Linux's `TCP_RTO_MIN`, and that of RFC 6298 section 2.4.
    pub const KNOWN: [Span; 2] = LEAST_RTOS;

    /// The minimum; `None` where none was seen, or more than one.
    pub fn verdict(&self) -> Option<Span> {
        let mut seen = Self::KNOWN.into_iter().zip(self.seen).filter(|(_, seen)| *seen > 0);
        let (least, _) = seen.next()?;
        seen.next().is_none().then_some(least)
    }
}

/// Recoveries by what they left of the flight: those of which both flights could be measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reductions {
    /// A half (RFC 5681 section 3.1).
    pub half: u32,
    /// Seven tenths (CUBIC, RFC 9438 section 4.6).
    pub seven_tenths: u32,
    /// Something else.
    pub other: u32,
}

/// The law by which a loss lowers the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// To a half (RFC 5681).
    Half,
    /// To seven tenths (CUBIC).
    SevenTenths,
}

impl Law {
    /// What a loss leaves of the window.
    pub const fn factor(self) -> f64 {
        match self {
            Law::Half => 0.5,
            Law::SevenTenths => 0.7,
        }
    }
}

impl Reductions {
    /// Recoveries that have to agree.
    const ENOUGH: u32 = 2;

    /// The law; `None` where fewer than two recoveries speak for one, or any speaks against it.
    pub const fn verdict(&self) -> Option<Law> {
        match (self.half, self.seven_tenths, self.other) {
            (Self::ENOUGH.., 0, 0) => Some(Law::Half),
            (0, Self::ENOUGH.., 0) => Some(Law::SevenTenths),
            _ => None,
        }
    }
}
