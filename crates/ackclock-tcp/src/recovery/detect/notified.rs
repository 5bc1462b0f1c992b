//! The oracle: no protocol but a bound on all of them. A simulated network notifies the sender of
//! each lost segment: exactly one round trip after it was sent (`notified`), or at the moment of
//! the loss (`notified-at-once`). So nothing is left to infer. No paper has it; everything here is
//! our own.
//!
//! What it knows:
//! - It learns what was delivered from the receiver's ACKs, of which none is lost for it. It needs
//!   SACK.
//! - It is notified of a loss when the ACK would have come that a receiver without delayed ACKs
//!   would have sent, had the network let the segment in (`loss_notices.rs` of `ackclock-net`). So
//!   none of its retransmissions is spurious, and it has no retransmission timer.
//! - `notified-at-once` is notified earlier as well: when the segment would have left the
//!   transmitter that dropped it (`loss_notices.rs`). It replaces the segment then. Its window
//!   learns of the loss a round trip later. (If the window was lowered at once, it would be lowered
//!   a round trip too early, in slow start from half of what it would have been. Of 2,000 random
//!   transfers 1,212 then took longer than with `notified`.)
//! - It does not know the queues of the network, nor what will be lost.
//!
//! What binds it as it binds others:
//! - The window law, which is the one composed with it. A recovery begins with the first notice,
//!   lowers the window once, and ends when everything sent before it began has been acknowledged.
//!   Losses notified meanwhile are repaired within it; a lost retransmission lowers the window
//!   again, once. Losses of data sent since, still unacknowledged at its end, begin the next one,
//!   as in RFC 6675.
//! - Packet conservation: a lost segment has left the network just as a delivered one has. Either
//!   releases the share ssthresh / FlightSize of a segment, until what is in the network has come
//!   down to ssthresh. There it is held. That is PRR-UB (Dukkipati et al. 2011, section 4)
//!   with losses counted as departures. By the time that d bytes of a flight F have left, it has
//!   sent d * ssthresh / F; RFC 6675's pipe has sent d - (F - ssthresh), which is less.
//!
//! So it bounds what could be gained by knowing more, not by sending more. A strategy may complete
//! before it (`tests/all/oracle.rs` of `ackclock-net`; in 52 to 96 of 20,000 random transfers,
//! depending on the strategy, and before `notified-at-once` in 24 to 105):
//! - if it retransmits on suspicion what was indeed lost. `notified-at-once` is sooner, if only by
//!   a part of a round trip;
//! - if it lowers its window less often, or from a larger one: it detects two losses so late that
//!   it takes them for one, or a timeout comes after the window has grown;
//! - if its last segments just fall into an earlier round trip, by one round trip at most.

use super::{Detect, Lost, Notice, Notices, Transmission, standing};
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::Time;

/// Judges lost what the network notifies it of.
pub struct Notified {
    at_once: bool,
    /// When it last judged that a recovery begins.
    began: Time,
    /// The first retransmission of that recovery that was lost.
    again: Option<Transmission>,
}

impl Notified {
    /// Notified one round trip after the transmission.
    pub fn after_round_trip() -> Notified {
        Notified { at_once: false, began: Time::ZERO, again: None }
    }

    /// Notified at the moment of the loss too, which replaces the segment.
    pub fn at_once() -> Notified {
        Notified { at_once: true, ..Notified::after_round_trip() }
    }

    fn begin(&mut self, s: &State) {
        (self.began, self.again) = (s.now, None);
    }
}

impl Detect for Notified {
    fn name(&self) -> &'static str {
        if self.at_once { "notified-at-once" } else { "notified" }
    }

    fn notices(&self) -> Notices {
        if self.at_once { Notices::AtOnce } else { Notices::AfterRoundTrip }
    }

    fn on_notice(&mut self, s: &State, notice: Notice) -> Lost {
        let lost = notice.lost;
        let Some(r) = s.board.get(s.board.find(lost.seq)) else { return Lost::Nothing };
        let last = lost.number == r.transmissions.into();
        // One sent before the windows were lowered was lost with the rest.
        if last && lost.number > 1 && s.phase == Phase::Recovery && r.last_sent >= self.began {
            self.again.get_or_insert(lost);
        }
        if notice.at_once {
            return if self.at_once { Lost::Replace(lost) } else { Lost::Nothing };
        }
        // What was retransmitted since for another reason is judged by its own notices.
        if !last && !self.at_once {
            return Lost::Nothing;
        }
        if s.phase == Phase::Open {
            self.begin(s);
        }
        Lost::Transmission { lost, again: self.again == Some(lost) }
    }

    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> Lost {
        let lost = standing(s);
        if lost == Lost::Standing {
            self.begin(s);
        }
        lost
    }
}
