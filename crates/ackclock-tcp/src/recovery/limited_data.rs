//! Recovering with limited data: D. Lin and H. T. Kung, *TCP Fast Recovery Strategies: Analysis and Improvements* (INFOCOM
//! 1998), section 6.5. What goes out in place of new data, so that ACKs keep coming: for NewReno, whose recovery lasts a round
//! trip for each loss.
//!
//! With SACK neither way draws a duplicate, which has to SACK something new (RFC 6675 section 2): what is sent again may arrive
//! where it was missing, but the ACKs stop all the same.

use crate::axes::{Fill, Filler};
use crate::sender::State;

/// "The sender should re-send the packets starting from the first unacknowledged packet at snd_una."
///
/// Inferred: it goes on where it was when `snd_una` advances, begins again when it has come to the end, and leaves out what
/// is SACKed, or goes out on the same ACK anyway.
///
/// What the paper does not say: what goes again needlessly draws duplicates, which may come after the end of recovery.
/// Three of them begin another one for data written since, unless bugfix refuses them; and `b2b` takes new data that went
/// out before them for missing.
#[derive(Default)]
pub struct Resend {
    next: u64,
}

impl Fill for Resend {
    fn on_enter(&mut self, s: &State) {
        self.next = s.snd_una;
    }

    fn next(&mut self, s: &State) -> Option<Filler> {
        let (from, len) = (s.board.find(self.next), s.board.len());
        let useful = |&i: &usize| s.board.get(i).is_some_and(|r| !r.sacked && r.last_sent < s.now);
        let index = (from..len).chain(0..from).find(useful)?;
        self.next = s.board.get(index)?.end();
        Some(Filler::Again { index })
    }
}

/// "Header-only packets with sequence numbers higher than snd_una."
///
/// Not any such number will do. A receiver answers an empty segment only if it lies outside the window (RFC 9293 section
/// 3.10.7.4). Its window ends at most the largest window that it ever offered above all that was sent, and there
/// these segments lie. They may be answered slowly: Linux limits the rate of such ACKs (`tcp_invalid_ratelimit`).
pub struct HeaderOnly;

impl Fill for HeaderOnly {
    fn next(&mut self, s: &State) -> Option<Filler> {
        Some(Filler::HeaderOnly { position: s.snd_max + s.max_window })
    }
}
