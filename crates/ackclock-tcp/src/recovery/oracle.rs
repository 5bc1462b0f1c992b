//! The oracle: no protocol but a bound on all of them. A simulated network tells the sender of each lost segment, and so that
//! nothing is left to infer: exactly one round trip after it was sent (`told`), or at the moment of the loss (`told-at-once`).
//! No paper has it; everything here is our own.
//!
//! What it knows:
//! - What was delivered it learns from the receiver's ACKs as they are sent, of which none is lost for it. It needs SACK.
//! - What was lost it is told when the ACK would have come that a receiver without delayed ACKs would have sent, had the network
//!   let the segment in (`ackclock-net`, `notice.rs`). So it sends nothing needlessly, and has no retransmission timer.
//! - `told-at-once` hears of a loss at its moment too, or rather when the segment would have left the transmitter that dropped
//!   it (`notice.rs`), and replaces the segment then. Its window learns of it a round trip later.
//!   (If the window was lowered at once, it would be lowered a round trip too early, in slow start from half of what it would
//!   have been: of 2,000 random transfers 1,212 then took longer than with `told`.)
//! - It does not know the queues of the network, nor what will be lost.
//!
//! What binds it as it binds others:
//! - The window law, which is the one composed with it. A recovery begins with the first loss told, lowers the window once, and
//!   ends when everything sent before it began has been acknowledged. What is told meanwhile is repaired within it; a lost
//!   retransmission lowers the window again, once. Losses of data sent since, still unacknowledged at its end, begin the next
//!   one, as in RFC 6675.
//! - Packet conservation: a lost segment has left the network just as a delivered one has, so that either releases the share
//!   ssthresh / FlightSize of a segment, until what is in the network has come down to ssthresh, where it is held. That is
//!   PRR-UB (Dukkipati et al. 2011, section 4) with losses counted as departures. By the time that d bytes of a flight F
//!   have left, it has sent d * ssthresh / F; RFC 6675's pipe has sent d - (F - ssthresh), which is less.
//!
//! So it bounds what could be gained by knowing more, not by sending more. A strategy may complete before it
//! (`ackclock-net/tests/oracle.rs`; in 69 to 166 of 20,000 random transfers, depending on the strategy, and before
//! `told-at-once` in 24 to 143):
//! - if it sends again what nothing tells to be lost, and that was lost. `told-at-once` is sooner, if only by a part of a
//!   round trip;
//! - if it lowers its window less often, or from a larger one: two losses that it hears of so late that it takes them for one,
//!   or a timeout that comes after the window has grown;
//! - if its last segments just fall into an earlier round trip, by one round trip at most.

use crate::axes::{AckSummary, Detect, Lost, Regulate, Told};
use crate::event::Cause;
use crate::sender::State;

/// Judges lost what it is told.
pub struct Oracle(Told);

impl Oracle {
    /// Told one round trip after the transmission.
    pub fn after_round_trip() -> Oracle {
        Oracle(Told::AfterRoundTrip)
    }

    /// Told at the moment of the loss.
    pub fn at_once() -> Oracle {
        Oracle(Told::AtOnce)
    }
}

impl Detect for Oracle {
    fn name(&self) -> &'static str {
        "told"
    }

    fn told(&self) -> Told {
        self.0
    }

    fn on_ack(&mut self, _s: &State, _a: &AckSummary) -> Lost {
        Lost::Nothing
    }
}

/// Sends in proportion to what leaves the network, delivered or lost.
#[derive(Default)]
pub struct Conserve {
    /// Bytes in the network as recovery began.
    initial: u64,
    /// Bytes sent since.
    out: u64,
}

impl Conserve {
    fn cwnd(&self, s: &State) -> u64 {
        let pipe = s.board.pipe();
        let left = (self.initial + self.out).saturating_sub(pipe);
        // In whole segments, the first one at once. Where the product saturates, far more has left than was there at first, and
        // ssthresh decides.
        let share = left.saturating_mul(s.ssthresh.min(self.initial));
        let target = share.div_ceil(self.initial.max(1).saturating_mul(s.mss)).saturating_mul(s.mss);
        // A window of less than a segment would never send.
        (pipe + target.saturating_sub(self.out)).max(s.ssthresh).max(s.mss)
    }
}

impl Regulate for Conserve {
    fn in_flight(&self, s: &State) -> u64 {
        s.board.pipe()
    }

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        let left = a.newly_acked - a.sacked_before + a.newly_sacked + a.newly_lost;
        (self.initial, self.out) = (s.board.pipe() + left, 0);
        self.cwnd(s)
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
        self.cwnd(s)
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.ssthresh
    }

    fn on_transmit(&mut self, s: &State, _cause: Cause, len: u64) -> u64 {
        self.out += len;
        s.cwnd
    }
}
