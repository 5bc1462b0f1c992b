//! The timer of ns-2 (`tcp.cc`: `output`, `newack`, `rtt_update`, `rtt_backoff`,
//! `reset_rtx_timer`). It differs from RFC 6298 in five ways:
//!
//! - One segment is timed at a time, and it is one sent for the first time. A recovery or a timeout
//!   gives it up. An ACK of it is a sample, also where the ACK covers retransmissions as well; RFC
//!   6298 section 3 leaves that case open, and this engine's other timers take none.
//! - With timestamps each ACK of new data is a sample, but a partial ACK within recovery.
//! - The retransmission that begins a recovery restarts the timer, as BSD's does, and so does one
//!   in place of a lost retransmission, which ns-2 never detects.
//! - The fourth timeout in a row forgets the estimate.
//! - Round trips and estimates are counted in ticks (`tcpTick_`), rounded down.

use crate::event::Cause;
use crate::recovery::timer::{Estimates, Timed, Timer};
use crate::segment::Timestamps;
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// The timer of ns-2.35.
pub struct Ns2Timer {
    tick: Span,
    /// With timestamps any new ACK ends a back-off (`ts_resetRTO_`).
    any_ack_ends: bool,
    /// The interval in ticks, 0 before the first sample, and what it is until then.
    rto: u64,
    initial: Span,
    /// Smoothed round trip in ticks, scaled by 8; 0 where there is none.
    srtt: i64,
    /// Mean deviation in ticks, scaled by 4.
    rttvar: i64,
    /// What is timed: the position after it, and when it was sent.
    timed: Option<(u64, Time)>,
    /// Timeouts since a back-off last ended.
    timeouts: u32,
}

/// Longer round trips, 2 years where a tick is a nanosecond, count as this: what is scaled fits.
const MOST_TICKS: u64 = 1 << 56;

impl Ns2Timer {
    /// With so fine a tick that nothing is rounded, and `ts_resetRTO_ 1`.
    pub fn fine() -> Ns2Timer {
        Ns2Timer {
            tick: Span(1),
            any_ack_ends: true,
            rto: 0,
            initial: Span::from_secs(1),
            srtt: 0,
            rttvar: 0,
            timed: None,
            timeouts: 0,
        }
    }

    /// As ns-2 was until January 2006: 6 s before the first sample (`rtxcur_init_`). On paths with
    /// a round trip of a second or more, RFC 6298's 1 s would expire before the first ACK.
    pub fn until_2006() -> Ns2Timer {
        Ns2Timer { initial: Span::from_secs(6), ..Ns2Timer::fine() }
    }

    /// As ns-2 was until 2004: also with ticks of 100 ms (`tcpTick_`).
    pub fn coarse() -> Ns2Timer {
        Ns2Timer { tick: Span::from_millis(100), ..Ns2Timer::until_2006() }
    }

    /// With timestamps too a back-off ends with the segment that is timed, which is one sent after
    /// the timeout (`ts_resetRTO_ 0`).
    pub fn keeping_back_off() -> Ns2Timer {
        Ns2Timer { any_ack_ends: false, ..Ns2Timer::fine() }
    }

    fn sample(&mut self, ticks: u64) {
        let rtt = ticks.clamp(1, MOST_TICKS) as i64;
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = (rtt << 3, rtt << 1);
        } else {
            let delta = rtt - (self.srtt >> 3);
            self.srtt = (self.srtt + delta).max(1);
            self.rttvar = (self.rttvar + delta.abs() - (self.rttvar >> 2)).max(1);
        }
        self.rto = (((self.rttvar << 3) + self.srtt) >> 3) as u64;
    }

    /// Ticks between two times, counted on a clock with a phase of its own.
    fn ticks(&self, s: &State, sent: Time) -> u64 {
        let tick = self.tick.0;
        let into = (sent.0 % tick + s.tick_phase.0 % tick) % tick;
        let since = s.now.since(sent).0;
        since / tick + (since % tick + into) / tick
    }
}

impl Timer for Ns2Timer {
    fn on_sample(&mut self, s: &State, sent: Time) -> Option<Estimates> {
        // The handshake's, which ns-2 models by its packet 0.
        if s.snd_max > 0 {
            return None;
        }
        self.sample(self.ticks(s, sent));
        Some(self.estimates())
    }

    fn times(&self) -> bool {
        true
    }

    fn on_new(&mut self, s: &State, end: u64) {
        self.timed.get_or_insert((end, s.now));
    }

    fn on_response(&mut self, timeout: bool) {
        self.timed = None;
        self.timeouts += u32::from(timeout);
        if timeout && self.timeouts >= 4 {
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
    }

    fn on_advance(&mut self, s: &State, a: &AckSummary) -> Timed {
        if s.phase == Phase::Recovery {
            // A partial ACK: with SACK it ends a back-off, and is no sample.
            if s.sack {
                self.timeouts = 0;
            }
            return if s.sack { Timed::Acknowledged } else { Timed::Nothing };
        }
        let timed = self.timed.take_if(|(end, _)| *end <= a.ack);
        if let Some(ecr) = a.ts_echo {
            let ms = Timestamps::ticks_since(ecr, s.now.timestamp());
            self.sample((Span::from_millis(u64::from(ms)).0 + self.tick.0 / 2) / self.tick.0);
        } else if let Some((_, sent)) = timed {
            self.sample(self.ticks(s, sent));
        }
        if timed.is_some() || (self.any_ack_ends && a.ts_echo.is_some()) {
            self.timeouts = 0;
            return Timed::Acknowledged;
        }
        if a.ts_echo.is_some() { Timed::Sampled } else { Timed::Nothing }
    }

    fn rto(&self) -> Span {
        if self.rto == 0 { self.initial } else { self.tick.times(self.rto.max(2)) }
    }

    fn srtt(&self) -> Span {
        self.tick.times(self.srtt as u64 >> 3)
    }

    fn rttvar(&self) -> Span {
        Span(self.tick.times(self.rttvar as u64).0 / 4)
    }

    fn retime(&mut self, srtt: Span, rttvar: Span) {
        self.srtt = (srtt.0 / self.tick.0).min(MOST_TICKS) as i64 * 8;
        self.rttvar = (rttvar.times(4).0 / self.tick.0).min(4 * MOST_TICKS) as i64;
        self.rto = (((self.rttvar << 3) + self.srtt) >> 3) as u64;
    }

    fn min_rto(&self) -> Span {
        Span::from_secs(1)
    }

    fn restarts_on(&self, cause: Cause, replaces_lost: bool) -> bool {
        cause == Cause::FastRetransmit || (cause == Cause::Recovery && replaces_lost)
    }
}
