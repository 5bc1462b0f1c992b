//! DeliveredData (RFC 6937 section 2, kept by RFC 9937): how many bytes an ACK says have arrived,
//! with and without SACK.
//!
//! Without SACK it is "estimated to be 1 SMSS on duplicate acknowledgements, and on a subsequent
//! partial or full ACK [...] the change in snd.una, minus 1 SMSS for each preceding duplicate ACK".
//! Inferred: bytes that duplicates stood for beyond that change are kept for the next one, so that
//! "the sum of DeliveredData must agree with the forward progress" with several losses too.

use crate::state::State;
use crate::summary::AckSummary;

/// What has been delivered in this recovery.
#[derive(Default)]
pub(super) struct Delivered {
    /// Bytes since recovery began.
    pub total: u64,
    /// FlightSize as recovery began.
    flight: u64,
    /// Without SACK: bytes that duplicates stood for and that are not acknowledged yet.
    by_duplicates: u64,
}

impl Delivered {
    /// Recovery begins with this ACK.
    pub fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        let earlier =
            if a.duplicate { s.received_dupacks().saturating_sub(1) } else { s.received_dupacks() };
        let by_duplicates = if s.sack { 0 } else { u64::from(earlier) * s.mss };
        *self = Delivered { total: 0, flight: s.flight(), by_duplicates };
        self.on_ack(s, a)
    }

    /// Bytes that this ACK of the recovery reports for the first time.
    pub fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        let bytes = if s.sack {
            // What a SACK block has reported counts once, and not again when it is acknowledged.
            a.newly_acked - a.sacked_before + a.newly_sacked
        } else if a.newly_acked > 0 {
            let ahead = self.by_duplicates;
            self.by_duplicates = ahead.saturating_sub(a.newly_acked);
            a.newly_acked.saturating_sub(ahead)
        } else if a.duplicate && self.total < self.flight {
            // RFC 9937: no more than was outstanding, since duplicates can be forged.
            self.by_duplicates += s.mss;
            s.mss
        } else {
            0
        };
        self.total += bytes;
        bytes
    }

    /// Bytes estimated to be in the network: the pipe, from which duplicates take what SACK blocks
    /// do.
    pub fn in_flight(&self, s: &State) -> u64 {
        s.board.pipe().saturating_sub(self.by_duplicates)
    }
}
