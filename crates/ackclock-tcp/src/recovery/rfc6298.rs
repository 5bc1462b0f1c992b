//! RFC 6298 section 2, with the traditional one sample a round trip (section 3).

use crate::axes::Timer;
use crate::event::Cause;
use crate::sender::State;
use crate::time::{Span, Time};

/// Clock granularity G (section 4 recommends 100 ms or finer).
const G: Span = Span::from_millis(1);

/// The standard timer.
pub struct Rfc6298 {
    /// Retransmissions for these causes restart it.
    restarts_on: &'static [Cause],
    /// The interval before the first sample.
    initial: Span,
    srtt: Span,
    rttvar: Span,
    /// The next sample is taken once this position is acknowledged.
    next_sample: u64,
}

impl Default for Rfc6298 {
    fn default() -> Rfc6298 {
        // (2.1)
        let initial = Span::from_secs(1);
        Rfc6298 { restarts_on: &[], initial, srtt: Span::ZERO, rttvar: Span::ZERO, next_sample: 0 }
    }
}

impl Rfc6298 {
    /// Restarted by "each retransmission that is sent during recovery" too ("a more careful variant", RFC 6675 section 6).
    pub fn careful() -> Rfc6298 {
        Rfc6298 {
            restarts_on: &[Cause::FastRetransmit, Cause::PartialAck, Cause::LostRetransmission],
            ..Rfc6298::default()
        }
    }

    /// Restarted by what duplicates draw: the retransmission that begins a recovery, as ns-2.35 and BSD do, and one that
    /// takes the place of a lost one, which these do not have.
    pub fn ns2() -> Rfc6298 {
        Rfc6298 { restarts_on: &[Cause::FastRetransmit, Cause::LostRetransmission], ..Rfc6298::default() }
    }

    /// As ns-2 was until January 2006: 6 s before the first sample (`rtxcur_init_`). On paths with a round trip of a second
    /// or more, RFC 6298's 1 s would expire before the first ACK.
    pub fn ns2_until_2006() -> Rfc6298 {
        Rfc6298 { initial: Span::from_secs(6), ..Rfc6298::ns2() }
    }
}

impl Timer for Rfc6298 {
    fn on_sample(&mut self, s: &State, sent: Time) -> bool {
        // What was to be acknowledged is not under way any more if a timeout has set snd_nxt back: then the next sample, which
        // takes timestamps, ends the back-off (section 5.7).
        let set_back = self.next_sample > s.snd_nxt + 1;
        if s.snd_una < self.next_sample && !set_back {
            return false;
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
        true
    }

    fn rto(&self) -> Span {
        if self.srtt == Span::ZERO {
            return self.initial;
        }
        self.srtt + self.rttvar.times(4).max(G)
    }

    fn restarts_on(&self, cause: Cause) -> bool {
        self.restarts_on.contains(&cause)
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
