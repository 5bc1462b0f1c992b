//! When the sender's timers expire, by the round trips that it has seen.
//!
//! The estimate is Linux's (`tcp_rtt_estimator`, at least 200 ms above SRTT), which is the earliest
//! in use. Where a sender's timer is seen to wait longer, or less long because of a route's
//! `rto_min`, what was seen counts.

use ackclock_tcp::Span;
use ackclock_tcp::recovery::timer::LinuxTimer;
use ackclock_tcp::recovery::timer::Timer;

use super::trips::Trips;
use crate::compact::Compact;
use crate::connection::RoundTrip;
use crate::standards::{FIRST_RTO, LEAST_RTO, LONGEST_DELAY};

/// What a probe of a single segment waits for a delayed ACK, as Linux does (RFC 8985 section 7.2
/// leaves it open).
const MAX_ACK_DELAY: Span = Span::from_millis(200);

/// Two ticks of the slowest clock that Linux is built with (100 Hz). Its timers are set to no less,
/// and they may be this late.
pub(crate) const TICKS: Span = Span::from_millis(20);

#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    timer: LinuxTimer,
    min: Span,
    max: Span,
    sum: u64,
    samples: u32,
    trips: Trips,
    handshake: Compact<Span>,
    /// What the timer was seen to wait beyond SRTT, where that is not what Linux waits.
    seen: Compact<Span>,
    foreign: bool,
    /// How often an ACK came with data only after nobody delays it any more.
    carried: u8,
    backoff: u32,
    /// Samples by ACKs that may have been delayed.
    delayable: u32,
}

impl Timers {
    /// The round trip of the handshake is the first that the timer takes.
    pub fn new(handshake: Option<Span>) -> Timers {
        let mut timers = Timers { handshake: handshake.into(), ..Timers::default() };
        if let Some(rtt) = handshake {
            timers.take(rtt, 0, 0);
        }
        timers
    }

    /// A round trip measured by data and its ACK: `oldest` from the first segment that the ACK
    /// covers, `newest` from the last.
    #[inline]
    pub fn sample(&mut self, oldest: Span, newest: Span, una: u64, max: u64) {
        self.take(oldest, una, max);
        self.backoff = 0;
        self.min = if self.samples == 0 { newest } else { self.min.min(newest) };
        self.max = self.max.max(newest);
        self.sum = self.sum.saturating_add(newest.0);
        self.samples = self.samples.saturating_add(1);
        self.trips.add(newest);
    }

    /// The answer to a SYN that went again took so long since the SYN whose timestamp it echoes. A
    /// sender begins with that (RFC 7323 section 4.1, `tcp_ack_update_rtt`), though the answer may
    /// have been lost before and sent again. It says nothing of the path.
    pub fn answered_syn(&mut self, rtt: Span) {
        self.timer = LinuxTimer::default();
        self.take(rtt, 0, 0);
    }

    /// The receiver may have delayed the ACK of the last sample ([`RoundTrip::delayable`]).
    pub fn was_delayable(&mut self) {
        self.delayable = self.delayable.saturating_add(1);
    }

    /// A round trip of a retransmission that a timestamp identifies. It counts for the timer, but
    /// not among the round trips of the path.
    pub fn sample_retransmission(&mut self, rtt: Span, una: u64, max: u64) {
        self.take(rtt, una, max);
        self.backoff = 0;
    }

    fn take(&mut self, rtt: Span, una: u64, max: u64) {
        self.timer.sample(rtt, una, max);
    }

    /// The handshake was seen, and with it a round trip that met no queue of this sender's own.
    pub fn has_handshake(&self) -> bool {
        self.handshake.get().is_some()
    }

    /// The timer was seen to wait longer than Linux's and a probe's before it together: this is
    /// another stack.
    pub fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Times that the interval has doubled.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The timer has expired: its interval doubles (RFC 6298 section 5.5).
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Silence that is worth a look: half of what a probe waits, so that the usual case takes one
    /// comparison.
    #[inline]
    pub fn quiet(&self) -> Span {
        self.srtt()
    }

    #[inline]
    pub fn srtt(&self) -> Span {
        self.timer.srtt()
    }

    /// The shortest round trip, that of the handshake included; SRTT before there is one, zero
    /// before that.
    pub fn min_rtt(&self) -> Span {
        match (self.samples, self.handshake.get()) {
            (0, None) => self.srtt(),
            (0, Some(handshake)) => handshake,
            (_, handshake) => handshake.map_or(self.min, |h| h.min(self.min)),
        }
    }

    /// The least time that a transmission takes to be reported. The path may have become a little
    /// shorter than it ever was, so a quarter is allowed for.
    pub fn least_trip(&self) -> Span {
        Span(self.min_rtt().0 / 4 * 3)
    }

    /// The shortest round trip, that of the handshake included, and what so many percent of those
    /// of data do not exceed.
    pub fn least_and(&self, percent: u64) -> Option<(Span, Span)> {
        let trip = self.trips.percentile(percent).clamp(self.min, self.max);
        (self.samples > 0).then_some((self.min_rtt(), trip))
    }

    pub fn round_trip(&self) -> Option<RoundTrip> {
        let mean = Span(self.sum.checked_div(self.samples.into())?);
        let percentile = |p| self.trips.percentile(p).clamp(self.min, self.max);
        let (median, p99) = (percentile(50), percentile(99));
        let Timers { min, max, .. } = *self;
        let (samples, delayable) = (self.samples.into(), self.delayable.into());
        Some(RoundTrip { min, mean, median, p99, max, samples, delayable })
    }

    /// Round trips vary so little that Linux's timer is at its minimum.
    pub fn is_at_minimum(&self) -> bool {
        self.samples > 0 && self.timer.rto() <= self.srtt() + LEAST_RTO + TICKS
    }

    /// A round trip was measured by data, not only by the handshake.
    pub fn has_sample(&self) -> bool {
        self.samples > 0
    }

    /// The retransmission timer's interval without back-off.
    pub fn rto(&self) -> Span {
        if self.srtt() == Span::ZERO {
            return FIRST_RTO;
        }
        self.seen.get().map_or(self.timer.rto(), |beyond| self.srtt() + beyond)
    }

    /// Data waited so long for an ACK that comes with data: has no receiver delayed it (RFC 9293
    /// section 3.8.6.3)?
    #[inline]
    pub fn was_carried(&mut self, span: Span) {
        let late = span > self.min_rtt() + LONGEST_DELAY;
        self.carried = self.carried.saturating_add(late.into());
    }

    /// How often none had.
    pub fn carried(&self) -> u8 {
        self.carried
    }

    /// The same with back-off.
    pub fn backed_off(&self) -> Span {
        self.rto().times(1 << self.backoff.min(16))
    }

    /// The timer has expired by then.
    pub fn latest_expiry(&self) -> Span {
        latest(self.backed_off())
    }

    /// Whether this sender's timer is known to wait longer than Linux's, and `waited` is longer
    /// than any probe would have taken.
    pub fn outwaits_probes(&self, waited: Span) -> bool {
        let pto = self.pto(true);
        self.rto() > self.timer.rto() && waited.0 > pto.0 / 10 * 11 + TICKS.0
    }

    /// The timer expired this long after it was set, at the least.
    pub fn expired_after(&mut self, waited: Span) {
        self.foreign |= self.samples > 0 && waited.0 > self.timer.rto().0 * 2 + TICKS.0;
    }

    /// Whether the timer's interval ends about now: within a few percent, or late by its ticks.
    pub fn expires_now(&self, waited: Span) -> bool {
        let rto = self.backed_off();
        waited.0 >= rto.0 / 100 * 97 && waited.0 <= rto.0 / 100 * 103 + TICKS.0
    }

    /// Whether no retransmission timer expires as early: Linux's waits for 200 ms and more
    /// (`TCP_RTO_MIN`), and all others longer, unless this one was seen to be shorter.
    pub fn is_early(&self, waited: Span) -> bool {
        waited < nearly(LEAST_RTO)
            && self.seen.get().is_none_or(|beyond| beyond >= nearly(LEAST_RTO))
    }

    /// What a tail loss probe waits, with a `single` segment outstanding or more (Linux's
    /// `tcp_schedule_loss_probe`).
    pub fn pto(&self, single: bool) -> Span {
        if self.srtt() == Span::ZERO {
            return FIRST_RTO;
        }
        let delayed = if single { MAX_ACK_DELAY } else { Span::ZERO };
        (self.srtt().times(2) + delayed).min(self.rto())
    }

    /// What a probe of a single segment waits at the most: its own time, which does not double, or
    /// the retransmission timer's, which does.
    pub fn latest_probe(&self) -> Span {
        if self.srtt() == Span::ZERO {
            return self.backed_off();
        }
        (self.srtt().times(2) + MAX_ACK_DELAY).min(self.backed_off())
    }

    /// How long after the first sign of a loss a segment may still be retransmitted because of it.
    /// A quarter of a round trip is for reordering: RFC 8985 section 6.2 widens it with D-SACKs up
    /// to a round trip, and RFC 5827 section 3.3 asks for no less than 25 ms. Then come the
    /// timer's ticks. Away from the sender the segment may have waited in queues before it reached
    /// the capture: a round trip more.
    pub fn settle(&self, dsacks: u64, at_sender: bool) -> Span {
        let quarter = Span(self.srtt().0 / 4);
        let way = if at_sender { Span::ZERO } else { self.srtt() };
        quarter.times(1 + dsacks.min(3)).max(Span::from_millis(25)) + TICKS + way
    }

    /// The timer expired for the first time, `waited` after it was set, and nothing else can have
    /// sent the segment.
    pub fn expired(&mut self, waited: Span) {
        let expected = self.rto();
        // A tenth for the estimate of the variance, and the ticks.
        let (low, high) = (Span(expected.0 / 10 * 9), Span(expected.0 / 10 * 11) + TICKS);
        if self.srtt() > Span::ZERO && (waited < low || waited > high) {
            self.seen.set(waited - self.srtt());
        }
    }
}

/// A timer that is set to this has expired by then. Linux counts ticks, and what waits for many of
/// them may wait for an eighth more (`kernel/time/timer.c`).
pub(crate) fn latest(interval: Span) -> Span {
    interval + Span(interval.0 / 8) + TICKS
}

/// By how much a timer may have been set differently from the estimate: a tenth.
pub(crate) fn nearly(span: Span) -> Span {
    Span(span.0 / 10 * 9)
}
