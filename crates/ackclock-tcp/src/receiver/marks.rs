//! Marks with CE, and what ACKs echo of them.

use super::Receiver;
use crate::segment::{Codepoint, Segment};

impl Receiver {
    /// Data within the window came, on a connection with ECN.
    pub(super) fn note_mark(&mut self, segment: &Segment) {
        if self.config.dctcp_echo { self.note_ce(segment) } else { self.note_classic(segment) }
    }

    /// RFC 3168 section 6.1.3, for data within the window (section 6.1.5). A segment with CWR may
    /// be marked itself: the mark is newer. Linux acknowledges the first mark, a CWR and what
    /// cannot be marked at once (`tcp_data_ecn_check`, `tcp_ecn_accept_cwr`).
    fn note_classic(&mut self, segment: &Segment) {
        if segment.ecn.cwr() {
            self.ece = false;
            self.ack_due |= self.linux.is_some();
        }
        let (codepoint, offered) = (segment.ecn.codepoint(), self.offered());
        if let Some(linux) = &mut self.linux {
            linux.on_codepoint(codepoint, !self.ece, offered);
        }
        self.ece |= codepoint == Codepoint::Ce;
    }

    /// RFC 8257 section 3.2; `ece` is DCTCP.CE. The ACK carries the new state also for what waited
    /// for it: the second ACK for that, which the RFC allows, would be two for one segment. CWR
    /// ends nothing here, since CE counts after it.
    fn note_ce(&mut self, segment: &Segment) {
        let ce = segment.ecn.codepoint() == Codepoint::Ce;
        self.ack_due |= ce != self.ece;
        self.ece = ce;
    }
}
