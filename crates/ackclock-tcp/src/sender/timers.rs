//! When the timers expire: retransmission (RFC 6298), persist (RFC 9293 section 3.8.6.1), and those
//! of mechanisms.

use super::config::SenderConfig;
use crate::recovery::detect::Notices;
use crate::recovery::linux::RTO_MIN;
use crate::recovery::timer::Estimates;
use crate::state::State;
use crate::strategy::Strategy;
use crate::time::{Span, Time};

/// What the one timer waits for (`one_timer.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum WaitsFor {
    /// A retransmission is due.
    #[default]
    Retransmission,
    /// The reordering window is over.
    Reordering,
    /// A probe is due.
    Probe,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub rto_at: Time,
    pub persist_at: Time,
    /// When pacing lets out what it holds back.
    pub pace_at: Time,
    /// The retransmission timer runs. With SACK it does not where the network notifies the sender
    /// of every loss: it could only be wrong.
    pub runs: bool,
    /// Timeouts since the last valid round-trip sample (RFC 6298 section 5.5).
    pub backoff: u32,
    /// It serves all ends, and what it waits for.
    pub serves_all: bool,
    pub waits_for: WaitsFor,
    /// Where it serves all ends: the ACK restarts it, once nothing more goes out.
    pub restart: bool,
    /// Window probes since the window closed. Where the timer serves all ends, timeouts since the
    /// last valid round-trip sample count too (Linux's `icsk_backoff`).
    pub persist_backoff: u32,
    /// The largest timeout interval, back-off included.
    pub max: Span,
    /// The least timeout interval.
    min: Span,
    /// The timeout interval with its bounds, before back-off; kept because it changes with a
    /// sample only.
    base: Span,
}

impl Timers {
    pub fn new(strategy: &Strategy, config: &SenderConfig, sack: bool) -> Timers {
        let mut timers = Timers {
            rto_at: Time::NEVER,
            persist_at: Time::NEVER,
            pace_at: Time::NEVER,
            runs: !sack || strategy.detect.notices() == Notices::Never,
            backoff: 0,
            serves_all: strategy.timer.serves_all(),
            waits_for: WaitsFor::Retransmission,
            restart: false,
            persist_backoff: 0,
            max: config.max_rto.unwrap_or(strategy.timer.max_rto()).max(Span::from_millis(1)),
            min: config.min_rto.unwrap_or_else(|| strategy.timer.min_rto()),
            base: Span::ZERO,
        };
        timers.bound(strategy.timer.rto());
        if let Some(initial) = config.initial_rto {
            timers.base = initial.max(Span::from_millis(1)).min(timers.max);
        }
        timers
    }

    /// The first sample, taken when the handshake ended.
    pub fn take_handshake(
        &mut self,
        (rtt, end): (Span, Time),
        s: &mut State,
        strategy: &mut Strategy,
    ) {
        let sent = Time(end.0.saturating_sub(rtt.0));
        s.now = sent + rtt;
        let sampled = strategy.timer.on_sample(s, sent);
        strategy.detect.on_handshake(rtt);
        s.now = Time::ZERO;
        self.take(s, sampled.unwrap_or_else(|| strategy.timer.estimates()));
    }

    /// The timer's estimates have changed.
    #[inline]
    pub fn take(&mut self, s: &mut State, Estimates { rto, srtt, rttvar }: Estimates) {
        self.bound(rto);
        (s.srtt, s.rttvar) = (srtt, rttvar);
    }

    fn bound(&mut self, rto: Span) {
        self.base = rto.max(self.min).min(self.max);
    }

    /// The earliest deadline, but for pacing's.
    #[inline]
    pub fn next(&self, strategy: &Strategy, s: &State) -> Time {
        if self.serves_all {
            return self.rto_at.min(self.persist_at);
        }
        let mut next = self.rto_at.min(self.persist_at).min(strategy.detect.deadline());
        for probe in &strategy.probes {
            next = next.min(probe.deadline(s));
        }
        next
    }

    /// The timeout interval, back-off included.
    pub fn rto(&self) -> Span {
        if self.backoff == 0 { self.base } else { self.backed_off(self.base, self.backoff) }
    }

    /// How long the first window probe waits where the timer serves all ends: a timeout with its
    /// back-off, and 200 ms at least, whatever the least timeout is (`tcp_probe0_base`).
    pub fn first_persist_interval(&self) -> Span {
        self.rto().max(RTO_MIN).min(self.max)
    }

    /// How long the next window probe waits (`tcp_probe0_when` where the timer serves all ends).
    pub fn persist_interval(&self) -> Span {
        let from = if self.serves_all { self.first_persist_interval() } else { self.base };
        self.backed_off(from, self.persist_backoff)
    }

    fn backed_off(&self, from: Span, backoff: u32) -> Span {
        from.times(1 << backoff.min(32)).min(self.max)
    }
}
