//! When Linux begins a recovery (`tcp_fastretrans_alert`, `tcp_time_to_recover`): whenever
//! something is marked lost. An earlier recovery's point is no obstacle, since what is on its way
//! is not retransmitted. In the slow start after a timeout an ACK has to show that a retransmission
//! was lost; the reordering timer asks for nothing.

use super::Ambiguity;
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// Losses begin a recovery, after a timeout only those of retransmissions.
pub struct LinuxAlert;

impl Ambiguity for LinuxAlert {
    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn admits(&mut self, s: &State, a: &AckSummary) -> bool {
        s.phase == Phase::Open || a.retransmission_lost
    }

    fn admits_after_timeout(&self) -> bool {
        true
    }
}
