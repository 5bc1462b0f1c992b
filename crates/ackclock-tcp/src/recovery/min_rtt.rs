//! The smallest round trip of the last minutes, from which reordering windows and the length of
//! super-segments are taken.

use crate::time::{Span, Time};

/// The smallest round trip of the present period and of the one before it.
#[derive(Debug, Default)]
pub(crate) struct MinRtt {
    this: Option<Span>,
    last: Option<Span>,
    since: Time,
}

impl MinRtt {
    const PERIOD: Span = Span::from_secs(300);

    pub fn sample(&mut self, rtt: Span, now: Time) {
        if now.since(self.since) > Self::PERIOD {
            (self.last, self.this, self.since) = (self.this.take(), None, now);
        }
        self.this = Some(self.this.map_or(rtt, |min| min.min(rtt)));
    }

    pub fn get(&self) -> Option<Span> {
        match (self.this, self.last) {
            (Some(this), Some(last)) => Some(this.min(last)),
            (this, last) => this.or(last),
        }
    }
}
