//! The sending half of an established connection.
//!
//! `mod.rs` holds what a driver calls, `ack.rs` what an ACK does, `told.rs` what news of a loss does, `transmit.rs` what is sent,
//! `timers.rs` what time does, `mss.rs` what a change of the path's MTU does.

mod ack;
mod mss;
mod state;
mod timers;
mod told;
mod transmit;

use alloc::collections::VecDeque;

use crate::axes::{AckSummary, Told, Verdict, Windows};
use crate::event::{Cause, Event, EventKind};
use crate::recovery::DUPTHRESH;
use crate::segment::Segment;
use crate::seq::Seq;
use crate::strategy::Strategy;
use crate::time::{Span, Time};

pub use state::{Phase, State};
use timers::Timers;

/// How a sender behaves, apart from its strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderConfig {
    /// Sequence number of the first data byte (the one after the SYN).
    pub isn: Seq,
    /// What our data segments acknowledge.
    pub remote_seq: Seq,
    /// SMSS: payload bytes of a full segment; at least 1.
    pub mss: u32,
    /// Initial window in segments, 1 to 10 (RFC 5681, RFC 6928).
    pub initial_window: u32,
    /// Initial slow start threshold in bytes; `None` leaves it unset (RFC 5681 section 3.1: arbitrarily high).
    pub initial_ssthresh: Option<u64>,
    /// The receive window known before the first ACK arrives, in bytes.
    pub initial_rwnd: u64,
    /// An upper bound on cwnd in bytes (a send buffer); `None` for no bound.
    pub max_cwnd: Option<u64>,
    /// The peer's window scale shift, 0 to 14 (RFC 7323 section 2).
    pub wscale: u8,
    /// SACK was negotiated.
    pub sack: bool,
    /// Timestamps were negotiated: every segment carries one, and every ACK that echoes one gives an RTT sample.
    pub timestamps: bool,
    /// Nagle's algorithm (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Most segments that one input may release (exit-burst control, RFC 6582 section 3.2), at least 1, what has to be sent
    /// again at once not counted; `None` for no limit.
    pub max_burst: Option<u32>,
    /// The round trip that the handshake measured (RFC 6298 section 2.2): the timer's first sample. It does not count in [`Stats`].
    pub handshake_rtt: Option<Span>,
    /// The retransmission timeout before the first sample; `None` takes the timer model's own, 1 s as a rule (RFC 6298 section 2.1).
    /// 3 s where a SYN was lost and the handshake gave no sample (section 5.7). [`SenderConfig::min_rto`] does not raise it.
    pub initial_rto: Option<Span>,
    /// Lower bound of the retransmission timeout; `None` takes the timer model's own.
    pub min_rto: Option<Span>,
    /// Upper bound of the retransmission timeout, back-off included (RFC 6298 section 2.5: at least 60 s). Below a
    /// millisecond it counts as one, so that a timer never expires at the moment that sets it.
    pub max_rto: Span,
    /// Restart from the initial window after an idle time of more than an RTO (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// Record events.
    pub events: bool,
    /// Phase of coarse timers: the first tick comes this long after the origin of time.
    pub tick_phase: Span,
}

impl Default for SenderConfig {
    fn default() -> Self {
        SenderConfig {
            isn: Seq(0),
            remote_seq: Seq(0),
            mss: 1460,
            initial_window: 10,
            initial_ssthresh: None,
            initial_rwnd: 65535,
            max_cwnd: None,
            wscale: 7,
            sack: true,
            timestamps: false,
            nagle: false,
            max_burst: None,
            handshake_rtt: None,
            initial_rto: None,
            min_rto: None,
            max_rto: Span::from_secs(60),
            idle_restart: true,
            events: false,
            tick_phase: Span::ZERO,
        }
    }
}

impl SenderConfig {
    fn initial_window_bytes(&self) -> u64 {
        u64::from(self.initial_window.max(1)) * u64::from(self.mss.max(1))
    }
}

/// Counters of one sender; they only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stats {
    /// Segments with payload sent, retransmissions included.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Segments sent again, for whatever cause.
    pub retransmissions: u64,
    /// Of those, the ones that began a recovery.
    pub fast_retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Of those, by class in the order of [`TimeoutClass`](crate::TimeoutClass).
    pub timeouts_by_class: [u64; 3],
    /// Recoveries entered by other than a timeout.
    pub recoveries: u64,
    /// ACKs received.
    pub acks: u64,
    /// Round trips measured, and their sum.
    pub rtt_samples: u64,
    /// In whole nanoseconds; stops at its greatest value.
    pub rtt_sum: Span,
}

/// A segment to send: its header, and which bytes of the stream it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The header.
    pub segment: Segment,
    /// Stream position of the first payload byte; the length is `segment.len`.
    pub position: u64,
    /// Why.
    pub cause: Cause,
    /// 1 for the first transmission of this segment; 0 for a window probe, which carries no data.
    pub transmission: u32,
}

/// What is restored if a loss response turns out to be spurious.
#[derive(Clone, Copy, Debug)]
struct Saved {
    cwnd: u64,
    ssthresh: u64,
    recover: u64,
}

/// The sending half of an established connection. See the [contract](crate).
pub struct Sender {
    config: SenderConfig,
    strategy: Strategy,
    s: State,
    timers: Timers,
    stats: Stats,
    events: VecDeque<Event>,
    /// Detection wants to hear of each segment delivered.
    watched: bool,
    /// Detection wants to be told by the network.
    told: Told,
    /// When a recovery last began with what it was told, and the first transmission of it that was a retransmission and lost.
    entered: Time,
    second: Option<(u64, u32)>,
    /// The segment at this position has to go out again at once, for this cause.
    urgent: Option<(u64, Cause)>,
    /// A window probe has to go out.
    window_probe: bool,
    /// Bytes of new data that may go out once, whatever cwnd; and whether the last segment goes again without new data.
    probe: u64,
    probe_last: bool,
    /// Segments the current input may still release.
    burst: u32,
    /// The ACK at hand may still release a filler.
    may_fill: bool,
    /// When a segment was last sent again, and when any was last sent.
    last_retransmission: Option<Time>,
    last_sent: Time,
    saved: Option<Saved>,
    /// SND.WL1: the sequence number of the segment that last set the window (RFC 9293 section 3.10.7.4).
    wl1: Seq,
}

impl Sender {
    /// A sender that has sent nothing yet.
    pub fn new(mut config: SenderConfig, mut strategy: Strategy) -> Sender {
        let (s, timers) = Sender::start(&mut config, &mut strategy);
        let remote_seq = config.remote_seq;
        let (watched, told) = (strategy.detect.watches_deliveries(), strategy.detect.told());
        Sender {
            config,
            strategy,
            s,
            timers,
            stats: Stats::default(),
            events: VecDeque::new(),
            watched,
            told,
            entered: Time::ZERO,
            second: None,
            urgent: None,
            window_probe: false,
            probe: 0,
            probe_last: false,
            burst: u32::MAX,
            may_fill: false,
            last_retransmission: None,
            last_sent: Time::ZERO,
            saved: None,
            wl1: remote_seq,
        }
    }

    /// Begins with what a handshake has found out; nothing may have been written yet.
    pub(crate) fn configure(&mut self, mut config: SenderConfig) {
        (self.s, self.timers) = Sender::start(&mut config, &mut self.strategy);
        self.wl1 = config.remote_seq;
        self.config = config;
    }

    fn start(config: &mut SenderConfig, strategy: &mut Strategy) -> (State, Timers) {
        config.max_rto = config.max_rto.max(Span::from_millis(1));
        let initial_window = config.initial_window_bytes();
        let mut s = State {
            now: Time::ZERO,
            mss: u64::from(config.mss.max(1)),
            initial_window,
            sack: config.sack && strategy.uses_sack,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            window_edge: config.initial_rwnd,
            written: 0,
            closed: false,
            fin: false,
            cwnd: initial_window.min(config.max_cwnd.unwrap_or(u64::MAX)),
            ssthresh: config.initial_ssthresh.unwrap_or(u64::MAX),
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            dupthresh: DUPTHRESH,
            dupacks: 0,
            carried: 0,
            limited: 0,
            recover: 0,
            phase: Phase::Open,
            board: Default::default(),
            max_window: config.initial_rwnd,
            nagle: config.nagle,
            tick_phase: config.tick_phase,
        };
        let mut timers = Timers::new(strategy, config);
        if let Some(rtt) = config.handshake_rtt {
            timers.take_handshake(rtt, &mut s, strategy, config);
        }
        (s, timers)
    }

    /// The application makes `bytes` more bytes available to send.
    pub fn write(&mut self, now: Time, bytes: u64) {
        self.begin(now);
        let seq = self.s.written;
        self.s.written = seq.saturating_add(bytes).min(u64::MAX / 2);
        self.event(EventKind::Written { seq, len: self.s.written - seq });
        self.restart_if_idle();
        self.arm_persist();
    }

    /// The application has no more to write: Nagle's algorithm no longer holds a short last segment back.
    pub fn close(&mut self, now: Time) {
        self.begin(now);
        self.s.closed = true;
    }

    /// As [`Sender::close`], and the last byte written is a FIN.
    pub(crate) fn close_with_fin(&mut self, now: Time) {
        self.close(now);
        self.s.fin = true;
    }

    /// A segment arrived from the peer; its acknowledgment, window and options count here.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        self.begin(now);
        ack::on_segment(self, segment);
    }

    /// Whether and when the driver has to call [`Sender::on_lost`].
    pub fn told(&self) -> Told {
        self.told
    }

    /// The network tells that this transmission ([`Transmit::transmission`]) of the segment at stream position `seq` is lost;
    /// `when` is the occasion. Ignored unless the strategy asked for it ([`Sender::told`]); harmless for what is acknowledged,
    /// sacked, or, with [`Told::AfterRoundTrip`], sent again since.
    pub fn on_lost(&mut self, now: Time, seq: u64, transmission: u32, when: Told) {
        self.begin(now);
        told::on_lost(self, seq, transmission, when);
    }

    /// A deadline has come. Harmless if none has.
    pub fn on_deadline(&mut self, now: Time) {
        self.begin(now);
        timers::on_deadline(self);
    }

    /// The path takes segments of `mss` bytes of payload now (RFC 1191 section 6.5, RFC 8201 section 5.4). What is outstanding in
    /// larger ones is cut, and sent again at once: it is lost, which says nothing about congestion. cwnd keeps its bytes. A larger
    /// `mss` counts for new data only.
    pub fn set_mss(&mut self, now: Time, mss: u32) {
        self.begin(now);
        mss::set(self, mss);
    }

    /// The next segment to send now, or `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        self.s.now = self.s.now.max(now);
        transmit::poll(self)
    }

    /// When to call [`Sender::on_deadline`]; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        self.timers.next(&self.strategy, &self.s)
    }

    /// The oldest event not yet taken; always `None` unless [`SenderConfig::events`].
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The state that mechanisms see.
    pub fn state(&self) -> &State {
        &self.s
    }

    /// Bytes acknowledged cumulatively.
    pub fn acked(&self) -> u64 {
        self.s.snd_una
    }

    /// Whether everything written has been acknowledged.
    pub fn is_idle(&self) -> bool {
        self.s.snd_una == self.s.written
    }

    fn begin(&mut self, now: Time) {
        self.s.now = self.s.now.max(now);
        self.burst = self.config.max_burst.map_or(u32::MAX, |most| most.max(1));
    }

    /// RFC 5681 section 4.1: after an idle time of more than an RTO, cwnd is at most the initial window.
    fn restart_if_idle(&mut self) {
        let rto = self.timers.rto(&self.config);
        if self.config.idle_restart
            && self.s.board.is_empty()
            && self.s.snd_max > 0
            && self.s.now.since(self.last_sent) > rto
        {
            self.set_cwnd(self.s.cwnd.min(self.config.initial_window_bytes()));
        }
    }

    /// What a loss halves: FlightSize without what limited transmit sent (RFC 5681 section 3.2 step 2). After a timeout
    /// most of what is outstanding has been given up, and "the amount of outstanding data in the network" (RFC 5681
    /// section 3.1) is what was sent since. A timeout within recovery means that a retransmission was lost, for which
    /// ssthresh "MUST be lowered twice" (section 4.3): no more is halved than what recovery was to hold. Nor is it in the second
    /// of two recoveries back to back, where more than cwnd is outstanding because a loss holds back the acknowledgment.
    fn flight_size(&self) -> u64 {
        let flight = match self.s.phase {
            Phase::Open if self.s.carried > 0 => self.s.flight().min(self.s.cwnd),
            Phase::Open => self.s.flight(),
            Phase::Recovery => self.s.flight().min(self.s.ssthresh),
            Phase::Loss if self.s.sack => self.s.board.pipe(),
            Phase::Loss => self.s.snd_nxt - self.s.snd_una,
        };
        flight.saturating_sub(self.s.limited)
    }

    fn set_cwnd(&mut self, cwnd: u64) {
        self.s.cwnd = cwnd.max(1);
    }

    /// Begins a loss response: remembers what an undo restores.
    fn save(&mut self, timeout: bool) {
        if self.strategy.undo.is_empty() {
            return;
        }
        if self.s.phase == Phase::Open || self.saved.is_none() {
            self.saved = Some(Saved { cwnd: self.s.cwnd, ssthresh: self.s.ssthresh, recover: self.s.recover });
        }
        for undo in &mut self.strategy.undo {
            undo.on_response(&self.s, timeout);
        }
    }

    /// Restores what was saved when the response began, unless a mechanism has another answer; nothing is lost any more.
    /// Returns whether cwnd is settled for this ACK.
    fn undo(&mut self, verdict: Verdict, by: &'static str, a: &AckSummary) -> bool {
        match verdict {
            Verdict::Open => {}
            Verdict::Retime { srtt, rttvar } => {
                self.strategy.timer.retime(srtt, rttvar);
                self.take_estimates();
                if !self.s.board.is_empty() {
                    self.start_rto();
                }
            }
            // The response that they are about has given way to another one.
            Verdict::SendNew | Verdict::Needed if self.saved.is_none() => {}
            Verdict::SendNew => {
                self.s.snd_nxt = self.s.snd_max;
                self.probe = 2 * self.s.mss;
            }
            Verdict::Needed => self.s.snd_nxt = self.s.snd_una,
            Verdict::Spurious => {
                let Some(saved) = self.saved.take() else { return false };
                let response = self.strategy.undo.iter_mut().find_map(|undo| undo.respond(&self.s, a));
                let windows = response.unwrap_or(Windows { ssthresh: saved.ssthresh, cwnd: saved.cwnd });
                self.s.ssthresh = windows.ssthresh;
                // Within recovery cwnd may be inflated, which says nothing.
                let grown = if self.s.phase == Phase::Recovery { 0 } else { self.s.cwnd };
                self.set_cwnd(grown.max(windows.cwnd));
                self.strategy.window.on_undo(&self.s);
                // RFC 4015 section 4: what is not sent again makes no duplicates, so that three of them mean a loss.
                self.s.recover = saved.recover;
                self.s.board.unmark_lost();
                self.s.snd_nxt = self.s.snd_max;
                self.s.phase = Phase::Open;
                self.urgent = None;
                self.event(EventKind::Undone { by });
                return response.is_some();
            }
        }
        false
    }

    #[inline]
    fn event(&mut self, kind: EventKind) {
        if self.config.events {
            self.push_event(kind);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_event(&mut self, kind: EventKind) {
        let s = &self.s;
        self.events.push_back(Event {
            at: s.now,
            cwnd: s.cwnd,
            ssthresh: s.ssthresh,
            snd_una: s.snd_una,
            snd_nxt: s.snd_nxt,
            kind,
        });
    }
}

#[cfg(test)]
mod tests;
