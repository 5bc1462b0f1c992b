//! When the sender's timers expire, as far as its round trips tell.
//!
//! The estimate is Linux's (`tcp_rtt_estimator`, at least 200 ms above SRTT), the earliest of those in use; a sender whose timer is
//! seen to wait longer, or by a route's `rto_min` less long, is believed.

use ackclock_tcp::Span;
use ackclock_tcp::axes::Timer;
use ackclock_tcp::recovery::LinuxTimer;

use crate::connection::RoundTrip;

/// What a probe of a single segment waits for a delayed ACK, as Linux does (RFC 8985 section 7.2 leaves it open).
const MAX_ACK_DELAY: Span = Span::from_millis(200);

/// Two ticks of the slowest clock that Linux is built with (100 Hz): the least that its timers are set to, and by how much
/// they may be late.
pub(super) const TICKS: Span = Span::from_millis(20);

/// Before the first round trip (RFC 6298 section 2.1).
const FIRST_RTO: Span = Span::from_secs(1);

#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    timer: LinuxTimer,
    min: Span,
    max: Span,
    sum: u64,
    samples: u64,
    pub handshake: Option<Span>,
    /// What the timer was seen to wait beyond SRTT, where that is not what Linux waits.
    seen: Option<Span>,
    /// The timer was seen to wait longer than Linux's and a probe's before it together: this is another stack.
    pub foreign: bool,
    /// Times that the interval has doubled.
    pub backoff: u32,
    /// New data after so much silence may be a probe: half of the interval, so that the usual case is one comparison.
    pub quiet: Span,
}

impl Clock {
    /// A round trip measured by data and its ACK: `oldest` from the first segment that the ACK covers, `newest` from the last.
    pub fn sample(&mut self, oldest: Span, newest: Span, una: u64, max: u64) {
        self.begin(oldest, una, max);
        self.backoff = 0;
        self.min = if self.samples == 0 { newest } else { self.min.min(newest) };
        self.max = self.max.max(newest);
        self.sum = self.sum.saturating_add(newest.0);
        self.samples += 1;
    }

    /// The round trip of the handshake is the first that the timer takes.
    pub fn begin(&mut self, rtt: Span, una: u64, max: u64) {
        self.timer.sample(rtt, una, max);
        self.quiet = Span(self.timer.srtt().0);
    }

    pub fn srtt(&self) -> Span {
        self.timer.srtt()
    }

    /// The shortest round trip, that of the handshake included; SRTT before there is one, zero before that.
    pub fn min_rtt(&self) -> Span {
        match (self.samples, self.handshake) {
            (0, None) => self.srtt(),
            (0, Some(handshake)) => handshake,
            (_, handshake) => handshake.map_or(self.min, |h| h.min(self.min)),
        }
    }

    pub fn round_trip(&self) -> Option<RoundTrip> {
        let mean = Span(self.sum.checked_div(self.samples)?);
        Some(RoundTrip { min: self.min, mean, max: self.max, samples: self.samples })
    }

    /// The retransmission timer's interval without back-off.
    pub fn rto(&self) -> Span {
        if self.srtt() == Span::ZERO {
            return FIRST_RTO;
        }
        self.seen.map_or(self.timer.rto(), |beyond| self.srtt() + beyond)
    }

    /// The same with back-off.
    pub fn backed_off(&self) -> Span {
        self.rto().times(1 << self.backoff.min(16))
    }

    /// Whether a timer that was seen to wait longer than Linux's has waited longer than any probe would have.
    pub fn outwaits_probes(&self, waited: Span) -> bool {
        let pto = self.pto(true);
        self.rto() > self.timer.rto() && waited.0 > pto.0 / 10 * 11 + TICKS.0
    }

    /// The timer expired this long after it was set, at the least.
    pub fn expired_after(&mut self, waited: Span) {
        self.foreign |= self.samples > 0 && waited.0 > self.timer.rto().0 * 2 + TICKS.0;
    }

    /// Whether the timer's interval ends about now: to a few percent, and no more than the ticks later.
    pub fn expires_now(&self, waited: Span) -> bool {
        let rto = self.backed_off();
        waited.0 >= rto.0 / 100 * 97 && waited.0 <= rto.0 / 100 * 103 + TICKS.0
    }

    /// What a tail loss probe waits, with a `single` segment outstanding or more (Linux's `tcp_schedule_loss_probe`).
    pub fn pto(&self, single: bool) -> Span {
        if self.srtt() == Span::ZERO {
            return FIRST_RTO;
        }
        let delayed = if single { MAX_ACK_DELAY } else { Span::ZERO };
        (self.srtt().times(2) + delayed).min(self.rto())
    }

    /// How long after the first sign of a loss a segment may still be sent again because of it: a quarter of a round trip for
    /// reordering (RFC 8985 section 6.2, where D-SACKs widen it up to a round trip; RFC 5827 section 3.3 asks for no less
    /// than 25 ms), and the timer's ticks.
    pub fn settle(&self, dsacks: u64) -> Span {
        let quarter = Span(self.srtt().0 / 4);
        quarter.times(1 + dsacks.min(3)).max(Span::from_millis(25)) + TICKS
    }

    /// The timer expired for the first time, and nothing but the timer can have done it: `waited` since it was set.
    pub fn expired(&mut self, waited: Span) {
        let expected = self.rto();
        // A tenth for the estimate of the variance, and the ticks.
        let (low, high) = (Span(expected.0 / 10 * 9), Span(expected.0 / 10 * 11) + TICKS);
        if self.srtt() > Span::ZERO && (waited < low || waited > high) {
            self.seen = Some(waited - self.srtt());
        }
    }
}

/// By how much a timer may have been set differently from the estimate: a tenth.
pub(super) fn nearly(span: Span) -> Span {
    Span(span.0 / 10 * 9)
}
