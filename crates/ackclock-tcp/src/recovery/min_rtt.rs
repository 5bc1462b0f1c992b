//! The smallest round trip of the last five minutes, from which reordering windows and the length
//! of super-segments are taken (`tcp_update_rtt_min`).

use super::minmax::MinFilter;
use crate::time::{Span, Time};

/// `tcp_min_rtt_wlen`.
const WINDOW: Span = Span::from_secs(300);

/// The smallest round trip.
#[derive(Debug, Default)]
pub(crate) struct MinRtt(MinFilter);

impl MinRtt {
    #[inline(always)]
    pub fn sample(&mut self, rtt: Span, now: Time) {
        self.0.update(WINDOW.0, now.0, rtt.0);
    }

    #[inline(always)]
    pub fn get(&self) -> Option<Span> {
        self.0.get().map(Span)
    }
}

#[cfg(test)]
mod tests;
