//! How ns-2.35 counts duplicates (`recv` and `timeout` in `tcp.cc` and `tcp-sack1.cc`).

use crate::recovery::detect::{Detect, DupackCount, Lost};
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// The third duplicate ACK, as an agent of ns-2 counts.
pub struct Ns2Dupack {
    sack: bool,
}

impl Ns2Dupack {
    /// A timeout leaves the count as it is.
    pub fn tahoe() -> Ns2Dupack {
        Ns2Dupack { sack: false }
    }

    /// An ACK that advances forgets SACK blocks, so that the first duplicate after it counts though
    /// its blocks may be known; but not after a timeout.
    pub fn sack() -> Ns2Dupack {
        Ns2Dupack { sack: true }
    }
}

impl Detect for Ns2Dupack {
    fn name(&self) -> &'static str {
        if self.sack { "ns2-dupack-sack" } else { "ns2-dupack" }
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        DupackCount.on_ack(s, a)
    }

    fn counts_repeat(&self, s: &State, a: &AckSummary) -> bool {
        self.sack
            && a.newly_acked == 0
            && s.dupacks == 0
            && s.phase != Phase::Recovery
            && s.timed_out != Some(s.snd_una)
    }

    fn recounts(&self) -> bool {
        self.sack
    }
}
