//! Lin & Kung 1998 section 5.3, for NewReno: a partial ACK that leaves little below the marker may
//! stem from segments out of order. Then further duplicates have to confirm the loss.
//!
//! The marker is `snd_nxt` at each retransmission. The text also calls it "the in-flight packet
//! with the largest sequence number", which is one less. With `snd_nxt`, D counts what was sent
//! after the missing segment and has arrived: the D - 1 segments between it and the marker, and the
//! retransmission.
//!
//! SACK needs no guard. There a partial ACK alone is no evidence of a loss, and what is
//! retransmitted is a hole below a segment reported to have arrived.
//!
//! Where there is no new segment to send, no further duplicates come, and the data waits for the
//! timer; section 6.5 is for that.

use super::{Next, OnAck, Select};
use crate::event::Cause;
use crate::state::DUPTHRESH;
use crate::state::State;
use crate::summary::AckSummary;

/// As NewReno, but a retransmission on a partial ACK only if D = (M - A) / S is at least three.
#[derive(Default)]
pub struct OrderGuard {
    /// M.
    marker: u64,
    /// Duplicates still awaited before the first unacknowledged segment is retransmitted; 0 if none
    /// are.
    awaited: u64,
}

impl Select for OrderGuard {
    fn name(&self) -> &'static str {
        "order-guard"
    }

    fn on_enter(&mut self, _s: &State) {
        self.awaited = 0;
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> OnAck {
        if a.newly_acked > 0 {
            let d = self.marker.saturating_sub(a.ack) / s.mss;
            self.awaited = u64::from(DUPTHRESH).saturating_sub(d);
            // BSD restarts the timer on every ACK of new data.
            return OnAck { retransmit_head: self.awaited == 0, restart_timer: true };
        }
        if !a.duplicate || self.awaited == 0 {
            return OnAck::default();
        }
        self.awaited -= 1;
        OnAck { retransmit_head: self.awaited == 0, restart_timer: false }
    }

    fn next(&mut self, _s: &State) -> Option<Next> {
        Some(Next::Sequential)
    }

    fn on_transmit(&mut self, s: &State, cause: Cause) {
        if matches!(cause, Cause::FastRetransmit | Cause::Recovery) {
            self.marker = s.snd_nxt;
        }
    }
}
