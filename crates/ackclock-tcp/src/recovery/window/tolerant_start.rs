//! A slow start that goes on through a few losses, as the Startup of BBR version 3 does
//! (draft-ietf-ccwg-bbr-06, "Exiting Startup Based on Packet Loss"): only a loss rate above 2 %
//! (`BBR.LossThresh`), of at least six losses (`BBR.StartupFullLossCnt`), ends it. It wraps the
//! window law that a composition names before it: `linux-cubic+tolerant-start`.
//!
//! Why: a short transfer that loses one of its first ten segments by chance would grow by segments
//! from there on, for as many round trips as it has windows of seven segments left.
//!
//! It differs from the draft:
//! - Segments are counted and not ranges of them, so that a burst of losses counts in full.
//! - What is lost and not yet repaired stands for the losses of a round trip: a retransmission
//!   takes one.
//! - cwnd stays as it is while a recovery repairs the losses, and slow start goes on after it. In
//!   the draft it goes on meanwhile.
//! - That the bandwidth has stopped growing does not end it. What ends the wrapped law's slow start
//!   does: HyStart, a mark, a timeout, or more losses than that.
//!
//! Only the first slow start of a connection is so, with ssthresh unset. A law that goes by the
//! rate of delivery has a way of its own, and is left alone.

use alloc::boxed::Box;

use super::Window;
use crate::recovery::wraps;
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// `BBR.StartupFullLossCnt`.
const FULL_LOSSES: u64 = 6;
/// `BBR.LossThresh` is 1 / 50.
const LOSS_THRESH: u64 = 50;

/// An ssthresh that is not set yet.
const UNSET: u64 = u64::MAX;

/// Holds the window through a few losses.
pub struct TolerantStart {
    law: Box<dyn Window>,
    /// ssthresh is cwnd until the losses are repaired.
    holds: bool,
    /// A recovery that began with few losses has turned out to have too many.
    lowered: bool,
}

impl TolerantStart {
    /// Around this law.
    pub fn new(law: Box<dyn Window>) -> TolerantStart {
        TolerantStart { law, holds: false, lowered: false }
    }
}

fn too_many(s: &State) -> bool {
    let lost = u64::from(s.board.lost_segments());
    lost >= FULL_LOSSES && lost * LOSS_THRESH > s.board.len() as u64
}

impl Window for TolerantStart {
    wraps!(self.law: Window);

    fn measures(&self) -> bool {
        true
    }

    fn on_measured(&mut self, s: &State, a: &AckSummary) -> Option<u64> {
        let measured = self.law.on_measured(s, a);
        if !self.holds {
            return measured;
        }
        let over = s.phase == Phase::Open;
        self.holds = !over && !too_many(s);
        if self.holds {
            measured
        } else if over {
            measured.or(Some(UNSET))
        } else {
            self.lowered = true;
            Some(self.law.on_loss(s, s.flight().min(s.ssthresh)))
        }
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        // Not every regulation follows ssthresh within a recovery, or sets cwnd as one ends.
        if core::mem::take(&mut self.lowered) && s.cwnd > s.ssthresh {
            return s.ssthresh;
        }
        self.law.on_ack(s, a)
    }

    fn on_loss(&mut self, s: &State, flight: u64) -> u64 {
        let starts = self.holds || s.ssthresh == UNSET;
        self.holds = starts && !too_many(s) && self.law.by_rate().is_none();
        if self.holds { s.cwnd } else { self.law.on_loss(s, flight) }
    }

    fn on_ecn(&mut self, s: &State, flight: u64) -> u64 {
        self.holds = false;
        self.law.on_ecn(s, flight)
    }

    fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64 {
        self.holds = false;
        self.law.on_timeout(s, flight, repeated)
    }

    fn on_undo(&mut self, s: &State) {
        self.holds = false;
        self.law.on_undo(s);
    }
}
