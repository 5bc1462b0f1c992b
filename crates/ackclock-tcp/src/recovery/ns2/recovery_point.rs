//! When ns-2.35's SACK lets duplicates begin a recovery (`tcp-sack1.cc`, `recv` and
//! `dupack_action`).

use crate::recovery::ambiguity::Ambiguity;
use crate::state::State;
use crate::summary::AckSummary;

/// The end of a recovery clears `recover_`, so that its recovery point is enough. After a timeout
/// more has to be acknowledged.
#[derive(Default)]
pub struct Ns2RecoveryPoint {
    /// The recovery point of the last recovery, and the last timeout before it.
    last: Option<(u64, Option<u64>)>,
}

impl Ambiguity for Ns2RecoveryPoint {
    fn admits(&mut self, s: &State, _a: &AckSummary) -> bool {
        let by_timeout = s.recover > 0 && self.last != Some((s.recover, s.timed_out));
        let admitted = s.snd_una > s.recover || (s.snd_una == s.recover && !by_timeout);
        if admitted {
            self.last = Some((s.snd_max, s.timed_out));
        }
        admitted
    }
}
