//! The sender as all of its parts see it: its fields, and the small steps that they share.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::fmt;

use super::config::{SenderConfig, Settings};
pub(super) use super::orders::{Beyond, Turn, Urgent};
use super::rates::Rates;
use super::stats::Stats;
use super::timers::{Timers, WaitsFor};
use super::wants::Wants;
use crate::event::{Event, EventKind};
use crate::recovery::probe::ProbeNow;
use crate::recovery::timer::Estimates;
use crate::recovery::window::Windows;
use crate::scoreboard::Judge;
use crate::seq::Seq;
use crate::state::{DUPTHRESH, Phase, State};
use crate::strategy::Strategy;
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// Laws may leave a window unlimited, and others count with it: to what mechanisms answer, products
/// with their factors fit, and sums. No receiver offers more than 2^30 bytes (RFC 7323 section
/// 2.3).
pub(super) const MOST_CWND: u64 = 1 << 48;
/// The largest window that a receiver can offer (RFC 7323 section 2.3).
const MOST_RWND: u64 = 1 << 30;
/// As `MOST_CWND` for duplicates, which those received add to.
pub(super) const MOST_DUPACKS: u32 = u32::MAX / 2;

/// What is restored if a loss response turns out to be spurious.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub recover: u64,
    pub cwr_point: u64,
}

/// The sending half of an established connection. See the [contract](crate).
//
// What every ACK and every segment touch lies together, so that it fills few cache lines: from the
// end of the state to the beginnings of the strategy.
#[repr(C)]
pub struct Sender {
    pub(super) s: State,
    pub(super) timers: Timers,
    pub(super) wants: Wants,
    /// What the last ACK or timer lets out.
    pub(super) turn: Turn,
    /// The input at hand is data of the application.
    pub(super) writing: bool,
    /// No `tcp_write_xmit` follows the input at hand: the one timer's expiry, or ICMP.
    pub(super) no_xmit: bool,
    /// New data was sent since the window law was last asked.
    pub(super) sent_new: bool,
    /// The first retransmission of this recovery waits for room instead.
    pub(super) first_waits: bool,
    /// A window probe has to go out.
    pub(super) window_probe: bool,
    /// Only windows have a say in what is sent, and there is nothing that a plain ACK counts down
    /// (`plain.rs`). While this is not set, that is not known. It is set no longer once anything
    /// comes but a plain ACK.
    pub(super) calm: bool,
    /// No undo and no probe has a say in plain ACKs (`plain.rs`). While this is not set, that is
    /// not known.
    pub(super) quiet: bool,
    /// The next segment of new data carries CWR (`ecn.rs`).
    pub(super) cwr_due: bool,
    /// This ACK may still release a filler.
    pub(super) may_fill: bool,
    /// The response to the loss that is being repaired was undone, and goes on all the same.
    pub(super) undone: bool,
    /// Segments the current input may still release.
    pub(super) burst: u32,
    /// Data or the SYN/ACK came since the last segment without data, so that the next one has a new
    /// sequence number. (Segments without data do not set `wl1`.)
    pub(super) moved: bool,
    /// SND.WL1: the sequence number of the segment with data that last set the window (RFC 9293
    /// section 3.10.7.4), or of the SYN/ACK.
    pub(super) wl1: Seq,
    /// What goes again has this time, that of the input before.
    pub(super) stale: Option<Time>,
    /// When any segment was last sent.
    pub(super) last_sent: Time,
    /// One segment may go out with so many bytes of room beyond cwnd.
    pub(super) one: Option<u64>,
    pub(super) urgent: Option<Urgent>,
    pub(super) beyond: Beyond,
    /// Samples of the delivery rate, if the window law goes by them.
    pub(super) rates: Option<Box<Rates>>,
    pub(super) config: Settings,
    pub(super) strategy: Strategy,
    pub(super) stats: Stats,
    pub(super) events: VecDeque<Event>,
    /// Segments that D-SACKs have reported.
    pub(super) dsacked: u64,
    /// When a segment was last retransmitted.
    pub(super) last_retransmission: Option<Time>,
    pub(super) saved: Option<Saved>,
    /// The next retransmission of the first unacknowledged segment has at most so many bytes of it.
    pub(super) short_head: Option<u32>,
}

/// What says where it stands, without each segment ([`Sender::state`] has them).
impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("phase", &self.s.phase)
            .field("snd_una", &self.s.snd_una)
            .field("snd_nxt", &self.s.snd_nxt)
            .field("snd_max", &self.s.snd_max)
            .field("written", &self.s.written)
            .field("window_edge", &self.s.window_edge)
            .field("cwnd", &self.s.cwnd)
            .field("ssthresh", &self.s.ssthresh)
            .field("mss", &self.s.mss)
            .field("next_deadline", &self.next_deadline())
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

impl Sender {
    /// A sender that has sent nothing yet.
    pub fn new(config: SenderConfig, strategy: Strategy) -> Sender {
        let mut sender = Sender::before_handshake(config, strategy);
        sender.strategy.without_sack = None;
        sender
    }

    /// The same, where a handshake may still [configure](Self::configure) it otherwise.
    pub(crate) fn before_handshake(config: SenderConfig, mut strategy: Strategy) -> Sender {
        let sack = strategy.settle_sack(config.sack);
        let (s, timers) = start(&config, &mut strategy, sack);
        let wl1 = config.remote_seq - 1;
        let wants = Wants::of(&mut strategy, &config, sack);
        let rates = wants.rates.then(|| Rates::new(config.handshake_rtt));
        let mut stats = Stats::default();
        if let Some(rtt) = config.handshake_rtt {
            stats.round_trip(rtt);
        }
        Sender {
            config: Settings::of(&config),
            strategy,
            s,
            timers,
            stats,
            events: VecDeque::new(),
            wants,
            turn: Turn::Any,
            writing: false,
            no_xmit: false,
            stale: None,
            sent_new: false,
            dsacked: 0,
            rates,
            urgent: None,
            first_waits: false,
            window_probe: false,
            calm: false,
            quiet: false,
            beyond: Beyond::NONE,
            one: None,
            burst: u32::MAX,
            cwr_due: false,
            may_fill: false,
            last_retransmission: None,
            last_sent: Time::ZERO,
            saved: None,
            short_head: None,
            undone: false,
            moved: true,
            wl1,
        }
    }

    /// Begins with what a handshake has found out; nothing may have been written yet.
    pub(crate) fn configure(&mut self, config: SenderConfig) {
        let sack = self.strategy.settle_sack(config.sack);
        (self.s, self.timers) = start(&config, &mut self.strategy, sack);
        self.wants = Wants::of(&mut self.strategy, &config, sack);
        self.rates = self.wants.rates.then(|| Rates::new(config.handshake_rtt));
        if let Some(rtt) = config.handshake_rtt {
            self.stats.round_trip(rtt);
        }
        self.strategy.without_sack = None;
        (self.wl1, self.moved) = (config.remote_seq - 1, true);
        self.config = Settings::of(&config);
    }

    /// What a loss halves: FlightSize without what limited transmit sent (RFC 5681 section 3.2 step
    /// 2). After a timeout most of what is outstanding has been given up, and "the amount of
    /// outstanding data in the network" (RFC 5681 section 3.1) is what was sent since. A timeout
    /// within recovery means that a retransmission was lost, for which ssthresh "MUST be lowered
    /// twice" (section 4.3). So no more is halved than recovery was to hold. In the second of two
    /// recoveries back to back no more than cwnd is halved: more is outstanding only because a loss
    /// holds back the acknowledgment.
    pub(super) fn flight_size(&self) -> u64 {
        let flight = match self.s.phase {
            Phase::Open if self.s.assumed_dupacks > 0 => self.s.flight().min(self.s.cwnd),
            Phase::Open => self.s.flight(),
            Phase::Recovery => self.s.flight().min(self.s.ssthresh),
            Phase::Loss if self.s.sack => self.s.board.pipe(),
            Phase::Loss => self.s.snd_nxt - self.s.snd_una,
        };
        flight.saturating_sub(self.s.limited)
    }

    /// Takes windows that a mechanism answers with; cwnd only where that is not the window law's
    /// alone.
    pub(super) fn take(&mut self, windows: Windows) {
        self.s.ssthresh = windows.ssthresh;
        if !self.wants.rates {
            self.set_cwnd(windows.cwnd);
        }
    }

    pub(super) fn set_cwnd(&mut self, cwnd: u64) {
        self.s.cwnd = cwnd.clamp(1, MOST_CWND);
    }

    /// Regulation sets cwnd on an ACK within a response.
    #[inline]
    pub(super) fn regulate_cwnd(&mut self, a: &AckSummary) {
        let cwnd = self.strategy.regulate.on_ack(&self.s, a);
        self.set_cwnd(cwnd);
    }

    /// A probe goes out next.
    pub(super) fn probe(&mut self, what: ProbeNow) {
        match what {
            ProbeNow::Nothing => {}
            ProbeNow::NewOrLast | ProbeNow::NewOrCopy => {
                self.beyond = Beyond::probe(self.s.mss, what == ProbeNow::NewOrLast);
            }
            ProbeNow::Head => self.urgent = Some(Urgent::probe(self.s.snd_una)),
        }
    }

    /// Begins a loss response: remembers what an undo restores.
    pub(super) fn save(&mut self, timeout: bool) {
        if self.strategy.undo.is_empty() {
            return;
        }
        (self.undone, self.quiet) = (false, false);
        if self.s.phase == Phase::Open || self.saved.is_none() {
            self.saved = Some(Saved {
                cwnd: self.s.cwnd,
                ssthresh: self.s.ssthresh,
                recover: self.s.recover,
                cwr_point: self.s.cwr_point,
            });
        }
        for undo in &mut self.strategy.undo {
            undo.on_response(&self.s, timeout);
        }
    }

    /// The name under which events report who judged.
    pub(super) fn judged_by(&self, judge: Judge) -> Option<&'static str> {
        match judge {
            Judge::Nobody => None,
            Judge::Detect => Some(self.strategy.detect.name()),
            Judge::Retransmission => self.strategy.retransmission.as_ref().map(|r| r.name()),
            Judge::Select => Some(self.strategy.select.name()),
        }
    }

    /// The timer's estimates have changed: a back-off ends (RFC 6298 section 5).
    #[inline]
    pub(super) fn take_estimates(&mut self, estimates: Estimates) {
        self.timers.backoff = 0;
        if self.timers.serves_all {
            self.timers.persist_backoff = 0;
        }
        self.timers.take(&mut self.s, estimates);
    }

    #[inline(always)]
    pub(super) fn start_rto(&mut self) {
        if !self.timers.runs {
            return;
        }
        let rto = self.timers.rto();
        self.timers.waits_for = WaitsFor::Retransmission;
        self.timers.rto_at = self.strategy.timer.expiry(&self.s, rto);
    }

    /// An ACK restarts the timer (RFC 6298 section 5.3).
    #[inline(always)]
    pub(super) fn restart_rto(&mut self) {
        // A recovery may wait for more than its point with nothing outstanding.
        if self.s.board.is_empty() {
            return;
        }
        if self.timers.serves_all {
            self.timers.restart = true;
        } else {
            self.start_rto();
        }
    }

    /// What counts against cwnd.
    pub(super) fn in_flight(&self) -> u64 {
        if self.wants.everywhere {
            u64::from(self.s.packets_in_flight()) * self.s.mss
        } else if self.s.cwr {
            self.regulated()
        } else {
            self.s.flight()
        }
    }

    /// What counts against cwnd within recovery.
    pub(super) fn regulated(&self) -> u64 {
        self.strategy.regulate.in_flight(&self.s).min(MOST_CWND)
    }

    /// After a timeout, what goes follows SACK blocks.
    pub(super) fn uses_sacks_after_timeout(&self) -> bool {
        self.s.sack && self.strategy.select.uses_sacks_after_timeout()
    }

    /// What counts against cwnd after a timeout.
    pub(super) fn flight_of_loss(&self) -> u64 {
        let s = &self.s;
        if self.uses_sacks_after_timeout() { s.board.pipe() } else { s.snd_nxt - s.snd_una }
    }

    /// What the probes allow beyond cwnd, for new data or for old; the largest counts. Nothing
    /// unless duplicates are counted (RFC 3042 section 2, RFC 6675 section 5 step 3).
    pub(super) fn allowance(&self, old: bool) -> u64 {
        if self.s.dupacks == 0 {
            return 0;
        }
        let probes = self.strategy.probes.iter().filter(|p| !old || p.allows_old_data());
        probes.map(|p| p.allowance(&self.s)).max().unwrap_or(0)
    }

    /// RFC 9293 section 3.8.6.1: while the window holds everything back and nothing is outstanding,
    /// probe it.
    #[inline]
    pub(super) fn arm_persist(&mut self) {
        let persists = self.timers.persist_at != Time::NEVER;
        if self.s.board.is_empty() || persists || !self.timers.runs {
            self.rearm_persist();
        }
    }

    #[inline(never)]
    fn rearm_persist(&mut self) {
        let s = &self.s;
        let held_back = match s.board.head() {
            None => s.written > s.snd_max && s.window_edge < s.snd_nxt + s.mss,
            // No retransmission timer sends into a window that has shrunk.
            Some(head) => !self.timers.runs && s.board.pipe() == 0 && head.end() > s.window_edge,
        };
        if !held_back || s.can_send_sequential() {
            self.timers.persist_at = Time::NEVER;
            if !self.timers.serves_all {
                self.timers.persist_backoff = 0;
            }
        } else if self.timers.persist_at == Time::NEVER && !self.window_probe {
            // tcp_check_probe_timer.
            let first = self.timers.serves_all;
            let wait = match first {
                true => self.timers.first_persist_interval(),
                false => self.timers.persist_interval(),
            };
            self.timers.persist_at = self.strategy.timer.after(s.now, s.tick_phase, wait);
        }
    }

    #[inline]
    pub(super) fn event(&mut self, kind: EventKind) {
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

/// The state and the timers before anything is sent.
fn start(config: &SenderConfig, strategy: &mut Strategy, sack: bool) -> (State, Timers) {
    let settings = Settings::of(config);
    let window = config.initial_rwnd.min(MOST_RWND);
    let mss = settings.segment_bytes(window, &*strategy.window);
    let initial_window = settings.initial_window_bytes(mss, &*strategy.window);
    let mut s = State {
        now: Time::ZERO,
        mss,
        initial_window,
        sack,
        snd_una: 0,
        snd_nxt: 0,
        snd_max: 0,
        window_edge: window,
        written: 0,
        advanced: Time::ZERO,
        closed: false,
        fin: false,
        joins_fin: strategy.regulate.everywhere() && strategy.select.refits(),
        cwnd: settings.first_cwnd(mss, initial_window, &*strategy.window),
        ssthresh: config.initial_ssthresh.unwrap_or(u64::MAX),
        srtt: Span::ZERO,
        rttvar: Span::ZERO,
        timed_out: None,
        min_rto: Span::ZERO,
        dupthresh: DUPTHRESH,
        dupacks: 0,
        assumed_dupacks: 0,
        emulated: 0,
        limited: 0,
        recover: 0,
        phase: Phase::Open,
        cwr_point: 0,
        cwr: false,
        buffers: None,
        board: Default::default(),
        max_window: window,
        nagle: config.nagle,
        waits_for_short: strategy.window.waits_for_short(),
        short_end: 0,
        paces: strategy.pacing.is_some(),
        idle_restart: config.idle_restart,
        tick_phase: config.tick_phase,
    };
    if let Some(min) = config.min_rto {
        strategy.timer.set_min_rto(min);
    }
    s.min_rto = strategy.timer.min_rto();
    let mut timers = Timers::new(strategy, config, sack);
    if let Some(rtt) = config.handshake_rtt {
        timers.take_handshake((rtt, config.handshake_end), &mut s, strategy);
    }
    strategy.update_pacing(&s);
    (s, timers)
}
