//! The retransmission timer: when does it expire?

mod bsd_timer;
mod linux_timer;
mod rfc6298_timer;
mod rto_restart;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::event::Cause;
use crate::recovery::row;
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::{Span, Time};

pub use bsd_timer::BsdTimer;
pub use linux_timer::LinuxTimer;
pub use rfc6298_timer::Rfc6298Timer;
pub use rto_restart::RtoRestart;

/// What an ACK means to a timer that times segments itself ([`Timer::on_advance`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// Nothing.
    Nothing,
    /// The estimates have changed.
    Sampled,
    /// A back-off ends.
    Acknowledged,
}

/// What a timer estimates ([`Timer::estimates`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimates {
    /// The timeout interval before back-off.
    pub rto: Span,
    /// SRTT.
    pub srtt: Span,
    /// RTTVAR.
    pub rttvar: Span,
}

/// The retransmission timer.
pub trait Timer: Send {
    /// The timer that this one wraps.
    fn inner(&self) -> Option<&dyn Timer> {
        None
    }

    /// The same, to be changed.
    fn inner_mut(&mut self) -> Option<&mut dyn Timer> {
        None
    }

    /// A valid round-trip sample: a segment sent at `sent` was acknowledged now. Returns what
    /// follows from it if the timer used it, which ends a back-off (RFC 6298 section 5).
    fn on_sample(&mut self, s: &State, sent: Time) -> Option<Estimates>;

    /// The least timeout that the configuration asks for. Linux's timer builds it in
    /// (`tcp_rto_min`), others are held to it from outside.
    fn set_min_rto(&mut self, min: Span) {
        if let Some(inner) = self.inner_mut() {
            inner.set_min_rto(min);
        }
    }

    /// Whether segments that SACK blocks report give samples, as in Linux (`tcp_ack_update_rtt`),
    /// and what was SACKed before gives none when it is acknowledged.
    fn samples_sacks(&self) -> bool {
        self.inner().is_some_and(|t| t.samples_sacks())
    }

    /// Whether it times one segment at a time itself, in place of the samples that the connection
    /// takes. Only ns-2's does, which has another rule for what gives a sample.
    fn times(&self) -> bool {
        self.inner().is_some_and(|t| t.times())
    }

    /// New data was sent now that ends at this position. Asked only if it [`times`](Self::times),
    /// as the following two.
    fn on_new(&mut self, s: &State, end: u64) {
        if let Some(inner) = self.inner_mut() {
            inner.on_new(s, end);
        }
    }

    /// A recovery begins, or a timeout.
    fn on_response(&mut self, timeout: bool) {
        if let Some(inner) = self.inner_mut() {
            inner.on_response(timeout);
        }
    }

    /// An ACK advanced `snd_una`, and recovery has dealt with it.
    fn on_advance(&mut self, s: &State, a: &AckSummary) -> Timed {
        self.inner_mut().map_or(Timed::Nothing, |t| t.on_advance(s, a))
    }

    /// Whether one timer serves retransmission, probes and the reordering window, so that it waits
    /// for one of them at a time (RFC 8985 section 8; Linux's `icsk_retransmit_timer`).
    fn serves_all(&self) -> bool {
        self.inner().is_some_and(|t| t.serves_all())
    }

    /// The timeout interval of a SYN after so many expiries, `answering` of them as a SYN/ACK (RFC
    /// 6298 sections 2.1 and 5.5).
    fn syn_rto(&self, expiries: u32, answering: u32) -> Span {
        self.inner().map_or(doubled(expiries), |t| t.syn_rto(expiries, answering))
    }

    /// The timeout interval before back-off.
    fn rto(&self) -> Span;

    /// SRTT; zero before the first sample, and for a timer that keeps none.
    fn srtt(&self) -> Span {
        self.inner().map_or(Span::ZERO, |t| t.srtt())
    }

    /// RTTVAR (RFC 6298 section 2); zero before the first sample, and for a timer that keeps none.
    fn rttvar(&self) -> Span {
        self.inner().map_or(Span::ZERO, |t| t.rttvar())
    }

    /// [`rto`](Self::rto), [`srtt`](Self::srtt) and [`rttvar`](Self::rttvar), in one call.
    fn estimates(&self) -> Estimates {
        Estimates { rto: self.rto(), srtt: self.srtt(), rttvar: self.rttvar() }
    }

    /// Goes on from these estimates
    /// ([`Verdict::Retime`](crate::recovery::undo::Verdict::Retime)).
    fn retime(&mut self, srtt: Span, rttvar: Span) {
        if let Some(inner) = self.inner_mut() {
            inner.retime(srtt, rttvar);
        }
    }

    /// The smallest interval this model allows unless the configuration says otherwise.
    fn min_rto(&self) -> Span;

    /// The largest interval, back-off included, unless the configuration says otherwise (RFC 6298
    /// section 2.5: "at least 60 seconds").
    fn max_rto(&self) -> Span {
        self.inner().map_or(Span::from_secs(60), |t| t.max_rto())
    }

    /// Whether a retransmission for this cause restarts the timer. `replaces_lost` says that it
    /// takes the place of a retransmission that was lost. RFC 6298 restarts it on new
    /// acknowledgments only. BSD restarts it with the retransmission that begins a recovery, and
    /// RFC 6675 section 6 allows it for every one.
    fn restarts_on(&self, cause: Cause, replaces_lost: bool) -> bool {
        self.inner().is_some_and(|t| t.restarts_on(cause, replaces_lost))
    }

    /// When a timer set now for `wait` expires, whatever it waits for: one that counts ticks does
    /// at a tick ([`State::tick_phase`]).
    fn after(&self, now: Time, tick_phase: Span, wait: Span) -> Time {
        self.inner().map_or(now + wait, |t| t.after(now, tick_phase, wait))
    }

    /// When the retransmission timer, set now for `rto`, expires.
    fn expiry(&self, s: &State, rto: Span) -> Time {
        match self.inner() {
            Some(inner) => inner.expiry(s, rto),
            None => self.after(s.now, s.tick_phase, rto),
        }
    }
}

/// The interval before the first sample (RFC 6298 section 2.1).
const FIRST: Span = Span::from_secs(1);

/// The same, doubled so often (RFC 6298 section 5.5).
fn doubled(often: u32) -> Span {
    FIRST.times(1 << often.min(16))
}

type Row = row::Row<dyn Timer>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("rfc6298-timer", || Box::new(Rfc6298Timer::default()))
            .source(
                "RFC 6298 section 2",
                "\"To compute the current RTO, a TCP sender maintains two state variables, SRTT \
                 (smoothed round-trip time) and RTTVAR (round-trip time variation).\"",
            )
            .summary("a sample each round trip, at least 1 s"),
        Row::new("careful-timer", || Box::new(Rfc6298Timer::careful()))
            .file("rfc6298_timer")
            .source(
                "RFC 6298; RFC 6675 section 6",
                "\"[...] a more careful variant that re-arms the RTO timer on each \
                 retransmission that is sent during recovery MAY be used.\"",
            )
            .summary("as rfc6298-timer, restarted by each retransmission within recovery too"),
        Row::new("linux-timer", || Box::new(LinuxTimer::default()))
            .source(
                "Linux tcp_input.c, tcp_rtt_estimator",
                "The RTO is SRTT and four times the largest mean deviation of a round trip, \
                 which counts as 200 ms at least.",
            )
            .summary(
                "a sample each ACK, a variance that falls slowly and is at least 200 ms; one timer \
                 for timeouts, probes and RACK, which counts ticks of 4 ms",
            ),
        Row::new("linux-timer-alone", || Box::new(LinuxTimer::estimate()))
            .file("linux_timer")
            .source(
                "Linux tcp_input.c, tcp_rtt_estimator",
                "The RTO is SRTT and four times the largest mean deviation of a round trip, \
                 which counts as 200 ms at least.",
            )
            .summary(
                "as linux-timer, without ticks, without samples of SACKs, and beside other timers",
            ),
        Row::new("bsd-timer", || Box::new(BsdTimer::default()))
            .source(
                "Wright & Stevens 1995 chapter 25; Lin & Kung 1998 section 3",
                "Round trips and timeouts are counted in ticks of a timer that runs every 500 \
                 ms.",
            )
            .summary("counts ticks of 500 ms with a phase; a timeout takes at least two"),
        Row::around("rto-restart", |inner| Box::new(RtoRestart(inner)))
            .source(
                "RFC 7765 section 4",
                "\"Restart the retransmission timer so that it will expire after [...] RTO - \
                 T_earliest, if RTO - T_earliest > 0.\"",
            )
            .summary(
                "added to the timer named before it: with fewer than four segments to go, the \
                 timer runs from when the earliest was sent",
            ),
    ]
}
