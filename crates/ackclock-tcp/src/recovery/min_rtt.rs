//! The smallest round trip of the last minutes, from which reordering windows and the length of
//! super-segments are taken.

use crate::time::{Span, Time};

/// The smallest round trip of the present period and of the one before it.
#[derive(Debug)]
pub(crate) struct MinRtt {
    this: Span,
    last: Span,
    since: Time,
}

/// In place of a round trip before the first.
const NONE: Span = Span(u64::MAX);

impl Default for MinRtt {
    fn default() -> MinRtt {
        MinRtt { this: NONE, last: NONE, since: Time::ZERO }
    }
}

impl MinRtt {
    const PERIOD: Span = Span::from_secs(300);

    #[inline(always)]
    pub fn sample(&mut self, rtt: Span, now: Time) {
        if now.since(self.since) > Self::PERIOD {
            (self.last, self.this, self.since) = (self.this, NONE, now);
        }
        self.this = self.this.min(rtt);
    }

    pub fn get(&self) -> Option<Span> {
        Some(self.this.min(self.last)).filter(|&min| min != NONE)
    }
}
