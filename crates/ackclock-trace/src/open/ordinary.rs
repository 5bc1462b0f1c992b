//! Nearly all packets are ordinary. For them all that a packet goes through is compiled by itself,
//! and asks for nothing that an ordinary packet does not have.

use ackclock_tcp::wire::Control;

use super::ecn::EcnCounts;
use super::{Budget, Open};
use crate::packet::Packet;

impl Open {
    /// The next packet, from the end with the lower or the higher address.
    #[inline]
    pub fn packet(&mut self, p: &Packet, from_low: bool, budget: &mut Budget) {
        if is_ordinary(p) {
            self.take(p, from_low, budget);
        } else {
            self.take_unusual(p, from_low, budget);
        }
    }

    #[inline(never)]
    fn take_unusual(&mut self, p: &Packet, from_low: bool, budget: &mut Budget) {
        self.take(p, from_low, budget);
    }
}

/// It only acknowledges, perhaps with payload, and has nothing of ECN.
#[inline(always)]
fn is_ordinary(p: &Packet) -> bool {
    p.control.0 & !Control::PSH.0 == Control::ACK.0 && !EcnCounts::concern(p)
}
