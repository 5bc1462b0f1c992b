//! Duplicates that begin no recovery in ns-2.35 (`recv` in `tcp-reno.cc` and `tcp-newreno.cc`):
//! some of its settings let them open the window as those of a recovery do, for old data too.

use crate::recovery::probe::Probe;
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// A segment for each duplicate from the third on, until an ACK advances.
pub struct Ns2Refused {
    /// After every refusal, or only after recoveries that ended without inflation.
    always: bool,
    /// The recovery point of a recovery that ended so, which another one or a timeout replaces.
    ended_at: Option<u64>,
}

impl Ns2Refused {
    /// `exitFastRetrans_ 0`: the third duplicate stands for three segments.
    pub fn always() -> Ns2Refused {
        Ns2Refused { always: true, ended_at: None }
    }

    /// With `partial_window_deflation_ 0` a recovery that no duplicate inflates after its last
    /// partial ACK ends unnoticed: `last_cwnd_action_` stays `CWND_ACTION_DUPACK`. The third
    /// duplicate stands for none.
    pub fn undeflated() -> Ns2Refused {
        Ns2Refused { always: false, ended_at: None }
    }
}

impl Probe for Ns2Refused {
    fn allowance(&self, s: &State) -> u64 {
        if s.phase == Phase::Recovery || s.dupacks < s.dupthresh {
            0
        } else if self.always {
            u64::from(s.dupacks) * s.mss
        } else if self.ended_at == Some(s.recover) {
            u64::from(s.dupacks - s.dupthresh) * s.mss
        } else {
            0
        }
    }

    fn allows_old_data(&self) -> bool {
        true
    }

    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.ended_at = (a.prior_dupacks == 0).then_some(s.recover);
        0
    }
}
