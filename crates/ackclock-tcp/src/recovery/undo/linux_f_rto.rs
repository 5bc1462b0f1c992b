//! F-RTO as Linux has it (`tcp_process_loss`), the variant of RFC 5682 section 3.1 with SACK, used
//! without it too. It differs from the RFC:
//!
//! - A timeout is spurious as soon as an ACK, be it the first, reports a segment from before it
//!   that was sent once (`FLAG_ORIG_SACK_ACKED`).
//! - On the first ACK that advances, new data goes as far as cwnd allows, and not two segments.
//! - What ends it is SACKed data or a duplicate once new data was sent.

use super::{Undo, Verdict};
use crate::recovery::linux::retransmits;
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// Judges a timeout by the first original that arrives.
#[derive(Default)]
pub struct LinuxFRto {
    frto: bool,
    /// New data was to be sent on the last ACK.
    tried: bool,
}

impl Undo for LinuxFRto {
    fn name(&self) -> &'static str {
        "linux-f-rto"
    }

    fn on_response(&mut self, s: &State, timeout: bool) {
        // Not within another recovery, unless the timer expires again with nothing acknowledged
        // since, whatever began between.
        self.frto = timeout && (s.phase == Phase::Open || retransmits(s));
        self.tried = false;
    }

    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Verdict {
        if s.phase != Phase::Loss || !self.frto {
            return Verdict::Open;
        }
        // Without SACK an ACK of a retransmission says nothing of what it acknowledges besides.
        let known = s.sack || a.retransmission_acked.is_none();
        if known && a.original.is_some_and(|(_, end)| end <= s.recover) {
            self.frto = false;
            return Verdict::Spurious;
        }
        let sent_new = s.snd_max > s.recover;
        if core::mem::take(&mut self.tried) && !sent_new {
            self.frto = false;
        } else if sent_new {
            self.frto &= a.newly_sacked == 0 && !(a.is_bare_duplicate() && a.dsack.is_none());
        } else if a.newly_acked > 0 && s.snd_una < s.recover {
            self.frto = s.written > s.snd_max && s.window_edge > s.snd_max;
            self.tried = self.frto;
            if self.frto {
                return Verdict::NewFirst;
            }
        }
        Verdict::Open
    }
}
