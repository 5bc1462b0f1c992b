//! RFC 5681 section 4.3: "the loss of a retransmission [...] should be taken as two indications of
//! congestion". The window law says by how much they lower the window, as it would for a timeout in
//! place of the second.

use super::Response;
use crate::recovery::window::{Window, Windows};
use crate::state::State;

/// The first retransmission lost in a recovery lowers ssthresh; later ones change nothing.
#[derive(Default)]
pub struct LowerOnce {
    lowered: bool,
}

impl Response for LowerOnce {
    fn on_enter(&mut self) {
        self.lowered = false;
    }

    fn on_lost(&mut self, s: &State, law: &mut dyn Window) -> Windows {
        if core::mem::replace(&mut self.lowered, true) {
            return Windows::unchanged(s);
        }
        // No more is halved than what recovery was to hold.
        let flight = s.flight().min(s.ssthresh).saturating_sub(s.limited);
        Windows { ssthresh: law.on_loss(s, flight).min(s.ssthresh), cwnd: s.cwnd }
    }
}
