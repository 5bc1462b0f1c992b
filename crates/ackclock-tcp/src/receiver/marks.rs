//! Marks with CE, and what ACKs echo of them.

use super::Receiver;
use crate::segment::{Codepoint, Segment};

impl Receiver {
    /// Data within the window came, on a connection with ECN.
    pub(super) fn note_mark(&mut self, segment: &Segment) {
        if self.config.dctcp_echo { self.note_ce(segment) } else { self.note_classic(segment) }
    }

    /// RFC 3168 section 6.1.3, for data within the window (section 6.1.5). A segment with CWR may
    /// be marked itself: the mark is newer. Linux acknowledges the first mark and a CWR at once
    /// (`__tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`).
    fn note_classic(&mut self, segment: &Segment) {
        if segment.ecn.cwr() {
            self.ece = false;
            self.ack_due |= self.linux.is_some();
        }
        if segment.ecn.codepoint() == Codepoint::Ce {
            if !self.ece
                && let Some(linux) = &mut self.linux
            {
                linux.on_duplicate(self.window.edge() - self.last_ack_sent.min(self.window.edge()));
            }
            self.ece = true;
        }
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
