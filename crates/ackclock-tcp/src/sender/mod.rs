//! The sending half of an established connection.
//!
//! This file holds what a driver calls. `ack.rs` reads from top to bottom what an ACK does, and
//! `plain.rs` what is left of it where the ACK says nothing unusual:
//! `summarise.rs` applies it, `undo.rs` takes a response back, `detection.rs` marks what is lost,
//! and `repair.rs` begins, continues and ends recovery; `ecn.rs` answers ECN-Echo. `deadline.rs`
//! has what time does, `transmit.rs` what is sent, `pacing.rs` how it waits for its rate,
//! `rates.rs` at what rate it is delivered, `by_rate.rs` when the window law hears of that,
//! `mss.rs` what a change of the path's MTU does. `machine.rs` has the fields, `orders.rs` what an
//! input leaves for them to send, `wants.rs` what mechanisms want of it.

mod ack;
mod by_rate;
mod config;
mod deadline;
mod detection;
mod ecn;
mod emit;
mod machine;
mod mss;
mod one_timer;
mod orders;
mod pacing;
mod plain;
mod rates;
mod repair;
mod stats;
mod summarise;
mod timers;
mod transmit;
mod undo;
mod wants;

use crate::event::{Cause, Event, EventKind};
use crate::recovery::detect::{Notice, Notices};
use crate::segment::Segment;
use crate::seq::Seq;
use crate::state::State;
use crate::strategy::Axis;
use crate::time::{Span, Time};

use machine::Turn;
use timers::WaitsFor;

pub use config::SenderConfig;
pub use machine::Sender;
pub use stats::Stats;

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

impl Sender {
    /// The application makes `bytes` more bytes available to send.
    pub fn write(&mut self, now: Time, bytes: u64) {
        self.begin(now);
        by_rate::check_app_limited(self);
        let seq = self.s.written;
        self.s.written = seq.saturating_add(bytes).min(u64::MAX / 2);
        if let Some(buffers) = &mut self.s.buffers {
            buffers.write(self.s.snd_max, self.s.written, self.s.mss);
            emit::fill_buffer(self);
        }
        self.event(EventKind::Written { seq, len: self.s.written - seq });
        self.writing = true;
        self.restart_if_idle();
        self.arm_persist();
        if let Some(segmentation) = &mut self.strategy.segmentation {
            segmentation.on_write(&self.s, seq);
        }
    }

    /// The application has no more to write: Nagle's algorithm no longer holds a short last segment
    /// back.
    pub fn close(&mut self, now: Time) {
        self.begin(now);
        self.s.closed = true;
    }

    /// As [`Sender::close`], and the last byte written is a FIN. Write a byte for it before. It has
    /// no payload: whoever sends a segment with that byte leaves it out, and sets the flag.
    pub fn close_with_fin(&mut self, now: Time) {
        self.close(now);
        self.s.fin = true;
    }

    /// A segment arrived from the peer; its acknowledgment, window and options count here.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        self.begin_ack(now);
        self.turn = Turn::Any;
        self.stats.acks += 1;
        let Some(ack) = ack::position(self, segment) else { return };
        if !plain::on_segment(self, segment, ack) {
            ack::on_segment(self, segment, ack);
        }
    }

    /// Whether and when the driver has to call [`Sender::on_notice`].
    pub fn notices(&self) -> Notices {
        self.strategy.detect.notices()
    }

    /// The network notifies the sender that it lost a transmission ([`Transmit::transmission`]).
    /// Ignored unless the strategy asked for notices ([`Sender::notices`]); harmless for what is
    /// acknowledged or sacked.
    pub fn on_notice(&mut self, now: Time, notice: Notice) {
        self.begin(now);
        let lost = self.strategy.detect.on_notice(&self.s, notice);
        repair::judge_between_acks(self, lost);
        self.arm_persist();
    }

    /// A deadline has come. Harmless if none has.
    pub fn on_deadline(&mut self, now: Time) {
        one_timer::settle(self);
        let due = self.timers.next(&self.strategy, &self.s);
        let before = (self.burst, self.no_xmit);
        let (turn, paced) = (self.turn, self.timers.pace_at <= now);
        self.begin(now);
        // A call without reason releases nothing, and what pacing has held back is no more than
        // before.
        if now < due {
            (self.burst, self.no_xmit) = before;
            self.turn = if paced { self.turn } else { turn };
        }
        by_rate::check_app_limited(self);
        deadline::on_deadline(self);
    }

    /// The path takes segments of `mss` bytes of payload now (RFC 1191 section 6.4, RFC 8201
    /// section 5.4). What is outstanding in larger ones is cut, and retransmitted at once: it is
    /// lost, which says nothing about congestion. A selection that refits cuts it only as it goes
    /// again. cwnd keeps its bytes; with a window law of Linux it keeps the number of its segments
    /// if they become smaller. A larger `mss` counts for new data only.
    ///
    /// Where Linux's mechanisms decide, a smaller one lets nothing else out before the next input
    /// (`tcp_simple_retransmit`): drain first what the input before it has released.
    pub fn set_mss(&mut self, now: Time, mss: u32) {
        // tcp_v4_mtu_reduced does not refresh tcp_mstamp. The last input has, and once more after
        // what it retransmitted if there was something to send (tcp_write_xmit); new data has that
        // time already.
        let s = &self.s;
        let last = s.board.last().map_or(Time::ZERO, |last| last.first_sent);
        let again = Span::from_micros(u64::from(s.written > s.snd_max && last != s.now));
        let before = self.stale.unwrap_or(s.now + again).max(last);
        // What a timeout finds out about the path is a part of it, and so is what an ACK does.
        let no_xmit = self.no_xmit;
        self.begin(now);
        self.no_xmit = no_xmit;
        self.stale = self.wants.by_marks.then_some(before.min(now));
        mss::set(self, mss);
    }

    /// A segment of new data of `len` bytes, more than SMSS, to see whether the path takes it, or
    /// an inner `None` while the windows have no room for it yet; `None` where none may go now.
    pub(crate) fn poll_probe(&mut self, now: Time, len: u32) -> Option<Option<Transmit>> {
        one_timer::settle(self);
        self.s.now = self.s.now.max(now);
        mss::poll_probe(self, len).map(|room| room.map(|sent| sent.transmit(self)))
    }

    /// Whether the outstanding byte at this position was SACKed.
    pub(crate) fn has_sacked(&self, position: u64) -> bool {
        self.s.board.get(self.s.board.find(position)).is_some_and(|r| r.sacked)
    }

    /// The next retransmission of the first unacknowledged segment has at most `most` bytes of it,
    /// above 0; with `None` all of them again.
    pub(crate) fn shorten_head(&mut self, most: Option<u32>) {
        self.short_head = most;
    }

    /// The segment that completed a passive open; SND.WL1 <- SEG.SEQ (RFC 9293 section 3.10.7.4).
    pub(crate) fn set_wl1(&mut self, seq: Seq) {
        self.wl1 = seq;
    }

    /// The next segment to send now, or `None`.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        self.s.now = self.s.now.max(now);
        let sent = match plain::has_room(self) {
            Some(true) => plain::send(self),
            Some(false) => return None,
            None => transmit::poll(self)?,
        };
        Some(sent.transmit(self))
    }

    /// When to call [`Sender::on_deadline`]; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        let next = match self.timers.restart {
            true => one_timer::once_settled(self).min(self.timers.persist_at),
            false => self.timers.next(&self.strategy, &self.s),
        };
        next.min(self.timers.pace_at)
    }

    /// The axis whose deadline that is, for a driver to name where time does not get past it;
    /// [`Axis::Timer`] also where it is of a window probe. `None` if there is none.
    pub fn waits_for(&self) -> Option<Axis> {
        let next = self.next_deadline();
        let (timers, strategy) = (&self.timers, &self.strategy);
        if next == Time::NEVER {
            return None;
        }
        Some(if next == timers.pace_at {
            Axis::Pacing
        } else if next == timers.persist_at {
            Axis::Timer
        } else if timers.serves_all {
            match timers.waits_for {
                WaitsFor::Reordering => Axis::Detect,
                WaitsFor::Probe => Axis::Probe,
                WaitsFor::Retransmission => Axis::Timer,
            }
        } else if next == strategy.detect.deadline() {
            Axis::Detect
        } else if strategy.probes.iter().any(|probe| next == probe.deadline(&self.s)) {
            Axis::Probe
        } else {
            Axis::Timer
        })
    }

    /// The oldest event not yet taken; always `None` unless [`SenderConfig::events`].
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Bytes of memory that the list of outstanding segments takes.
    pub fn memory(&self) -> usize {
        self.s.board.memory()
    }

    /// The state that mechanisms see.
    pub fn state(&self) -> &State {
        &self.s
    }

    /// The timeout interval of a SYN after so many expiries, `answering` of them as a SYN/ACK. An
    /// upper bound below the first one leaves that. It is never nothing, so that they end.
    pub(crate) fn syn_rto(&self, expiries: u32, answering: u32) -> Span {
        let timer = &self.strategy.timer;
        let interval = |all, answering| timer.syn_rto(all, answering).max(Span(1));
        interval(expiries, answering).min(self.timers.max.max(interval(0, 0)))
    }

    /// When the timer of a SYN that is sent now expires after such an interval.
    pub(crate) fn syn_expiry(&self, now: Time, rto: Span) -> Time {
        self.strategy.timer.after(now, self.s.tick_phase, rto)
    }

    /// Whether a SYN or SYN/ACK is given up after intervals of this sum: `retries` would be used up
    /// if each interval had doubled the one before, as all but Linux's do (`tcp_write_timeout`,
    /// `tcp_model_timeout`).
    pub(crate) fn gives_up_syn(&self, waited: Span, retries: u32) -> bool {
        let first = self.syn_rto(0, 0);
        let interval = |often: u32| first.times(1 << often.min(16)).min(self.timers.max.max(first));
        (0..=retries)
            .try_fold(waited.0, |left, often| left.checked_sub(interval(often).0))
            .is_some()
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
        self.begin_ack(now);
        self.calm = false;
        if self.turn == Turn::LostOnly {
            self.turn = Turn::Any;
        }
    }

    /// The same for an ACK, which may leave the sender as calm as it was.
    #[inline(always)]
    fn begin_ack(&mut self, now: Time) {
        one_timer::settle(self);
        self.s.now = self.s.now.max(now);
        self.burst = self.config.max_burst;
        (self.writing, self.no_xmit, self.stale) = (false, false, None);
        self.one = None;
    }

    /// RFC 5681 section 4.1: "before beginning transmission", if no data was sent for more than an
    /// RTO, the window law restarts. Either data was missing until now or the receiver's window (as
    /// Linux has it: `tcp_skb_entail`, `tcp_ack_update_window`). Probes of a closed window carry no
    /// data.
    fn restart_if_idle(&mut self) {
        let rto = self.timers.rto();
        if self.s.idle_restart
            && self.s.board.is_empty()
            && self.s.snd_max > 0
            && self.s.now.since(self.last_sent) > rto
        {
            let idle = self.s.now.since(self.last_sent);
            ecn::end_before_idle(self);
            let windows = self.strategy.window.on_idle(&self.s, idle, rto);
            self.s.ssthresh = windows.ssthresh;
            self.set_cwnd(windows.cwnd);
        }
    }
}

#[cfg(test)]
mod tests;
