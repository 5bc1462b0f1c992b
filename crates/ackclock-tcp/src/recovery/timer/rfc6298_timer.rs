//! RFC 6298 section 2, with the traditional one sample a round trip (section 3).

use super::{Estimates, Timer};
use crate::event::Cause;
use crate::state::State;
use crate::time::{Span, Time};

/// Clock granularity G (section 4 recommends 100 ms or finer).
const G: Span = Span::from_millis(1);

/// The standard timer.
#[derive(Default)]
pub struct Rfc6298Timer {
    /// Each retransmission within recovery restarts it.
    careful: bool,
    srtt: Span,
    rttvar: Span,
    /// The next sample is taken once this position is acknowledged.
    next_sample: u64,
}

impl Rfc6298Timer {
    /// Restarted by "each retransmission that is sent during recovery" too ("a more careful
    /// variant", RFC 6675 section 6).
    pub fn careful() -> Rfc6298Timer {
        Rfc6298Timer { careful: true, ..Rfc6298Timer::default() }
    }
}

impl Timer for Rfc6298Timer {
    fn on_sample(&mut self, s: &State, sent: Time) -> Option<Estimates> {
        // If a timeout has set snd_nxt back, what was to be acknowledged is not under way any more.
        // Then the next sample, which takes timestamps, ends the back-off (section 5).
        let set_back = self.next_sample > s.snd_nxt + 1;
        if s.snd_una < self.next_sample && !set_back {
            return None;
        }
        self.next_sample = s.snd_nxt + 1;
        let r = s.now.since(sent);
        if self.srtt == Span::ZERO {
            // (2.2)
            self.srtt = Span(r.0.max(1));
            self.rttvar = Span(r.0 / 2);
        } else {
            // (2.3), beta = 1/4 and alpha = 1/8; the variance first.
            self.rttvar = Span(self.rttvar.0 - self.rttvar.0 / 4 + self.srtt.0.abs_diff(r.0) / 4);
            self.srtt = Span((self.srtt.0 - self.srtt.0 / 8 + r.0 / 8).max(1));
        }
        Some(self.estimates())
    }

    fn rto(&self) -> Span {
        if self.srtt == Span::ZERO {
            // (2.1)
            return Span::from_secs(1);
        }
        self.srtt + self.rttvar.times(4).max(G)
    }

    fn restarts_on(&self, cause: Cause, _replaces_lost: bool) -> bool {
        self.careful && matches!(cause, Cause::FastRetransmit | Cause::Recovery)
    }

    fn srtt(&self) -> Span {
        self.srtt
    }

    fn rttvar(&self) -> Span {
        self.rttvar
    }

    fn retime(&mut self, srtt: Span, rttvar: Span) {
        (self.srtt, self.rttvar) = (srtt, rttvar);
    }

    fn min_rto(&self) -> Span {
        // (2.4)
        Span::from_secs(1)
    }
}
