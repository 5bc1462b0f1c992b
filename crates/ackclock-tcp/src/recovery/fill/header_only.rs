//! Header-only segments in place of new data: D. Lin and H. T. Kung, *TCP Fast Recovery Strategies:
//! Analysis and Improvements* (INFOCOM 1998), section 6.5.
//!
//! With SACK they draw no duplicate: a duplicate has to SACK something new (RFC 6675 section 2).

use super::{Fill, Filler};
use crate::state::State;

/// "Header-only packets with sequence numbers higher than snd_una."
///
/// Not any such number will do. A receiver answers an empty segment only if it lies outside the
/// window (RFC 9293 section 3.10.7.4). These segments lie above all that was sent, by the largest
/// window that the receiver ever offered: its window ends there or below. They may be answered
/// slowly: Linux limits the rate of such ACKs (`tcp_invalid_ratelimit`).
pub struct HeaderOnly;

impl Fill for HeaderOnly {
    fn next(&mut self, s: &State) -> Option<Filler> {
        Some(Filler::HeaderOnly { position: s.snd_max + s.max_window })
    }
}
