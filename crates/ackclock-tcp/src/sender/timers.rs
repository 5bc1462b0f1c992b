//! The timers: retransmission (RFC 6298), persist (RFC 9293 section 3.8.6.1), and those of mechanisms.

use super::ack::{self, Detection};
use super::{Phase, Sender, SenderConfig, State};
use crate::axes::{AckSummary, ProbeNow, Told};
use crate::event::{Cause, EventKind, TimeoutClass};
use crate::strategy::Strategy;
use crate::time::{Span, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub rto_at: Time,
    pub persist_at: Time,
    /// Timeouts since the last valid round-trip sample (RFC 6298 section 5.5).
    pub backoff: u32,
    /// The first unacknowledged byte when the timer last expired.
    timed_out: Option<u64>,
    /// Window probes since the window closed.
    persist_backoff: u32,
    /// The timeout interval with its bounds, before back-off; kept because it changes with a sample only.
    base: Span,
}

impl Timers {
    pub fn new(strategy: &Strategy, config: &SenderConfig) -> Timers {
        let mut timers = Timers {
            rto_at: Time::NEVER,
            persist_at: Time::NEVER,
            backoff: 0,
            timed_out: None,
            persist_backoff: 0,
            base: Span::ZERO,
        };
        timers.refresh(strategy, config);
        if let Some(initial) = config.initial_rto {
            timers.base = initial.min(config.max_rto);
        }
        timers
    }

    /// The first sample, taken before anything was sent: the origin of time stands for the sending of the SYN.
    pub fn take_handshake(&mut self, rtt: Span, s: &mut State, strategy: &mut Strategy, config: &SenderConfig) {
        s.now = Time::ZERO + rtt;
        strategy.timer.on_sample(s, Time::ZERO);
        s.now = Time::ZERO;
        (s.srtt, s.rttvar) = (strategy.timer.srtt(), strategy.timer.rttvar());
        self.refresh(strategy, config);
    }

    /// The earliest deadline.
    #[inline]
    pub fn next(&self, strategy: &Strategy, s: &State) -> Time {
        let mut next = self.rto_at.min(self.persist_at).min(strategy.detect.deadline());
        for probe in &strategy.probes {
            next = next.min(probe.deadline(s));
        }
        next
    }

    pub fn refresh(&mut self, strategy: &Strategy, config: &SenderConfig) {
        let min = config.min_rto.unwrap_or(strategy.timer.min_rto());
        self.base = strategy.timer.rto().max(min).min(config.max_rto);
    }

    /// The timeout interval, back-off included.
    pub fn rto(&self, config: &SenderConfig) -> Span {
        if self.backoff == 0 { self.base } else { backed_off(self.base, self.backoff, config) }
    }
}

fn backed_off(base: Span, backoff: u32, config: &SenderConfig) -> Span {
    base.times(1 << backoff.min(32)).min(config.max_rto)
}

pub(super) fn on_deadline(c: &mut Sender) {
    let now = c.s.now;
    if c.strategy.detect.deadline() <= now {
        let pipe = c.s.board.pipe();
        let found = ack::mark(c, Detection::OnDeadline);
        let a = AckSummary { ack: c.s.snd_una, prior_una: c.s.snd_una, ..AckSummary::default() };
        if found.head && !c.s.recovering() && c.strategy.ambiguity.admits(&c.s, &a) {
            ack::enter_recovery(c, &a, true);
        } else if c.s.phase == Phase::Recovery && c.s.board.pipe() < pipe {
            if found.retransmission {
                ack::lose_retransmission(c, found.head);
            }
            let cwnd = c.strategy.regulate.on_lost(&c.s, pipe - c.s.board.pipe());
            c.set_cwnd(cwnd);
        }
    }
    for i in 0..c.strategy.probes.len() {
        let due = c.strategy.probes[i].deadline(&c.s);
        let comes = due != Time::NEVER && due.min(c.timers.rto_at) <= now;
        if comes && c.strategy.probes[i].on_deadline(&c.s) == ProbeNow::NewOrLast {
            (c.probe, c.probe_last) = (c.s.mss, true);
            // RFC 8985 section 7.3: the timer starts anew with the probe.
            if !c.s.board.is_empty() {
                c.start_rto();
            }
        }
    }
    if c.timers.rto_at <= now {
        on_timeout(c);
    }
    if c.timers.persist_at <= now {
        c.timers.persist_backoff += 1;
        c.timers.persist_at = Time::NEVER;
        c.window_probe = true;
        c.arm_persist();
    }
}

/// RFC 6298 section 5.4 to 5.6 and RFC 5681 section 3.1.
fn on_timeout(c: &mut Sender) {
    let Some(&head) = c.s.board.head() else {
        c.timers.rto_at = Time::NEVER;
        return;
    };
    let class = classify(c, head.transmissions, head.first_sent);
    let flight = c.flight_size();
    let event = EventKind::TimedOut {
        seq: head.seq,
        class,
        backoff: c.timers.backoff,
        flight: c.s.flight(),
        cwnd_before: c.s.cwnd,
        rto: c.timers.rto(&c.config).0,
    };
    c.stats.timeouts += 1;
    c.stats.timeouts_by_class[class as usize] += 1;
    // RFC 5681 section 3.1: "already been retransmitted by way of the retransmission timer at least once".
    let repeated = c.timers.timed_out == Some(c.s.snd_una);
    c.timers.timed_out = Some(c.s.snd_una);
    c.save(true);
    if c.s.phase == Phase::Recovery {
        c.event(EventKind::RecoveryLeft { by_timeout: true, cwnd_before: c.s.cwnd });
    }
    c.s.ssthresh = c.strategy.window.on_timeout(&c.s, flight, repeated);
    c.set_cwnd(c.s.mss);
    c.s.phase = Phase::Loss;
    c.s.recover = c.s.snd_max;
    (c.s.dupacks, c.s.carried) = (0, 0);
    c.s.limited = 0;
    // RFC 2018 section 8; a SACKed head means that the receiver has reneged.
    if c.strategy.select.forgets_sacks() || head.sacked {
        c.s.board.forget_sacks();
    }
    let sent_by = c.strategy.detect.on_timeout(&c.s);
    c.s.board.mark_all_lost(sent_by);
    c.s.snd_nxt = c.s.snd_una;
    c.timers.backoff += 1;
    c.urgent = Some((c.s.snd_una, Cause::Timeout));
    c.start_rto();
    c.event(event);
}

/// Lin & Kung section 4.1: the segment was sent again already; or others were, since it was first sent; or none was.
fn classify(c: &Sender, transmissions: u16, first_sent: Time) -> TimeoutClass {
    if transmissions > 1 {
        TimeoutClass::LostRetransmission
    } else if c.last_retransmission.is_some_and(|t| t > first_sent) {
        TimeoutClass::MultipleLosses
    } else {
        TimeoutClass::NonTrigger
    }
}

impl Sender {
    /// The timer's estimates have changed: a back-off ends (RFC 6298 section 5.7).
    pub(super) fn take_estimates(&mut self) {
        self.timers.backoff = 0;
        self.timers.refresh(&self.strategy, &self.config);
        (self.s.srtt, self.s.rttvar) = (self.strategy.timer.srtt(), self.strategy.timer.rttvar());
    }

    pub(super) fn start_rto(&mut self) {
        if self.told != Told::Never && self.s.sack {
            return;
        }
        let rto = self.timers.rto(&self.config);
        self.timers.rto_at = self.strategy.timer.expiry(&self.s, rto);
    }

    /// RFC 9293 section 3.8.6.1: while the window holds everything back and nothing is outstanding, probe it.
    pub(super) fn arm_persist(&mut self) {
        let s = &self.s;
        if !s.board.is_empty() && self.timers.persist_at == Time::NEVER {
            return;
        }
        let held_back = s.board.is_empty() && s.written > s.snd_max && s.window_edge < s.snd_nxt + s.mss;
        if !held_back || s.can_send_sequential() {
            self.timers.persist_at = Time::NEVER;
            self.timers.persist_backoff = 0;
        } else if self.timers.persist_at == Time::NEVER && !self.window_probe {
            self.timers.persist_at = s.now + backed_off(self.timers.base, self.timers.persist_backoff, &self.config);
        }
    }
}
