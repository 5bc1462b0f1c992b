//! Proportional rate reduction: algorithm 2 of N. Dukkipati, M. Mathis, Y. Cheng and M. Ghobadi,
//! *Proportional Rate Reduction for TCP* (2011), with the reduction bounds of RFC 6937 sections 3
//! and 5 (CRB, SSRB, UB), and as RFC 9937 has it.
//!
//! The paper counts segments: its CEIL yields a whole number of them, and "+ 1" is one of them. RFC
//! 9937 counts bytes, and less than a segment waits for the next ACK.
//!
//! RFC 9937 is implemented from its pseudocode (section 6.2) as others quote it, and from a summary
//! of the rest. Inferred:
//! - RecoverFS (section 6.1) counts what this ACK acknowledges cumulatively only as far as it had
//!   not been SACKed.
//! - The first segment of a recovery is sent whatever the bound says, by the connection itself. So
//!   "nothing sent, and SndCnt = 0" is read as "less than a segment".
//!
//! RACK's timer may find losses between two ACKs, but the texts speak of ACKs only. In algorithm 2
//! and in RFC 9937 an ACK sets cwnd to the pipe and SndCnt. So a pipe that falls before the next
//! ACK leaves as much room, and what is lost goes at once (inferred). No more is in flight then
//! than the last ACK allowed, but more may have been sent than twice what was delivered (section
//! 4.3 of the paper). PRR-CRB alone waits for the next ACK if as much was sent as was delivered:
//! its bound holds "under all conditions and sequences of events" (RFC 6937 section 4).
//!
//! On an ACK that delivers nothing RFC 9937 leaves SndCnt as it is. The paper's form departs from
//! algorithm 2 there: nothing is released. Algorithm 2 would release a segment, and so break
//! `prr_out <= 2 * prr_delivered` (section 4.3).

use super::Regulate;
use super::delivered::Delivered;
use crate::event::Cause;
use crate::state::State;
use crate::summary::AckSummary;

/// What bounds the data sent while the pipe is below ssthresh.
enum Bound {
    /// Conservative: as much as was delivered.
    Crb,
    /// Slow start: a segment more for each ACK.
    Ssrb,
    /// None: up to ssthresh at once, as RFC 3517.
    Unlimited,
    /// RFC 9937: conservative, and slow start on an ACK that shows progress and no further loss.
    SafeAck,
}

/// Sends in proportion to what arrives.
pub struct Prr {
    bound: Bound,
    /// FlightSize at the start of recovery.
    recover_fs: u64,
    /// prr_delivered.
    delivered: Delivered,
    prr_out: u64,
    /// What is left of SndCnt. "Exactly how many bytes should be sent in response to each ACK" (RFC
    /// 6937 section 2) must not depend on how the pipe counts them: a segment retransmitted while a
    /// copy of it is on its way counts once.
    sndcnt: u64,
}

impl Prr {
    /// PRR-CRB.
    pub fn conservative() -> Prr {
        Prr {
            bound: Bound::Crb,
            recover_fs: 0,
            delivered: Delivered::default(),
            prr_out: 0,
            sndcnt: 0,
        }
    }

    /// PRR-SSRB, which the paper calls PRR.
    pub fn slow_start() -> Prr {
        Prr { bound: Bound::Ssrb, ..Prr::conservative() }
    }

    /// PRR-UB.
    pub fn unlimited() -> Prr {
        Prr { bound: Bound::Unlimited, ..Prr::conservative() }
    }

    /// RFC 9937.
    pub fn rfc9937() -> Prr {
        Prr { bound: Bound::SafeAck, ..Prr::conservative() }
    }

    fn in_bytes(&self) -> bool {
        matches!(self.bound, Bound::SafeAck)
    }

    /// The window after an ACK that delivered this much: `pipe + sndcnt`.
    fn cwnd(&mut self, s: &State, a: &AckSummary, delivered: u64) -> u64 {
        let pipe = self.delivered.in_flight(s);
        self.sndcnt = if delivered > 0 {
            self.send_count(s, pipe, a, delivered)
        } else if self.in_bytes() {
            self.sndcnt
        } else {
            0
        };
        if delivered > 0 && self.in_bytes() && self.prr_out == 0 {
            self.sndcnt = self.sndcnt.max(s.mss);
        }
        pipe + self.sndcnt
    }

    fn send_count(&self, s: &State, pipe: u64, a: &AckSummary, delivered: u64) -> u64 {
        if pipe > s.ssthresh {
            self.proportional(s)
        } else {
            self.limit(s, a, delivered).min(s.ssthresh - pipe)
        }
    }

    /// `CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out`. Both factors are windows, less than
    /// 2^31 bytes each (RFC 7323 section 2.3), so that 64 bits hold the product.
    fn proportional(&self, s: &State) -> u64 {
        let unit = if self.in_bytes() { 1 } else { s.mss };
        let target =
            (self.delivered.total * s.ssthresh).div_ceil(self.recover_fs.max(1) * unit) * unit;
        target.saturating_sub(self.prr_out)
    }

    fn limit(&self, s: &State, a: &AckSummary, delivered: u64) -> u64 {
        let banked = self.delivered.total.saturating_sub(self.prr_out);
        let safe_ack = a.newly_acked > 0 && a.newly_lost == 0 && !a.retransmission_lost;
        match self.bound {
            Bound::Crb => banked,
            Bound::Ssrb => banked.max(delivered) + s.mss,
            Bound::Unlimited => u64::MAX,
            Bound::SafeAck => banked.max(delivered) + if safe_ack { s.mss } else { 0 },
        }
    }
}

impl Regulate for Prr {
    fn enters_cwr(&self) -> bool {
        true
    }

    fn in_flight(&self, s: &State) -> u64 {
        s.cwnd.saturating_sub(self.sndcnt)
    }

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        let delivered = self.delivered.on_enter(s, a);
        (self.prr_out, self.sndcnt) = (0, 0);
        self.recover_fs = s.flight();
        if self.in_bytes() && s.sack {
            // What had been SACKed before this ACK will not be delivered within recovery.
            self.recover_fs = s.flight() - s.board.sacked_bytes() + delivered;
        }
        self.cwnd(s, a, delivered)
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        let delivered = self.delivered.on_ack(s, a);
        self.cwnd(s, a, delivered)
    }

    fn on_lost(&mut self, s: &State, bytes: u64) -> u64 {
        let pipe = self.delivered.in_flight(s);
        self.sndcnt = match self.bound {
            Bound::Crb => self.send_count(s, pipe, &AckSummary::default(), 0),
            _ => self.sndcnt + bytes,
        };
        pipe + self.sndcnt
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.ssthresh
    }

    fn on_transmit(&mut self, s: &State, _cause: Cause, len: u64) -> u64 {
        self.prr_out += len;
        self.sndcnt = self.sndcnt.saturating_sub(len);
        s.cwnd
    }
}
