//! Super-segments as Linux makes them where segmentation is left to the device or to the last
//! moment (`tcp_write_xmit`, `tcp_tso_autosize`, `tcp_tso_should_defer`, `tcp_mss_split_point`).
//!
//! - What the application writes lies in buffers. What leaves at once is part of one buffer: a
//!   bundle of at least two segments, and more on fast or short paths, as long as cwnd, half of
//!   cwnd and the window have room for them.
//! - Outside of recovery the rest of a buffer waits where it could fill more of a bundle soon: the
//!   next ACK is expected within a millisecond, the last segment left less than a millisecond
//!   ago, and less than a third of the window would leave. No timer ends the wait: an ACK does.
//! - A bundle of several segments has PSH (`__tcp_transmit_skb`), which receivers answer at once
//!   since Linux 6.7 (`tcp_measure_rcv_mss`). So has a buffer that was full when half of the
//!   largest window had been written since the last one (`forced_push`).
//!
//! Bundles stay together when they are retransmitted, as far as all of one is lost.

use alloc::collections::VecDeque;

use super::{Outgoing, Segmentation};
use crate::event::Cause;
use crate::recovery::linux::{GSO_MAX_SIZE, PACING_SHIFT, bound_to_half_window, pacing_rate};
use crate::recovery::min_rtt::MinRtt;
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// `tcp_min_tso_segs`.
const MIN_TSO_SEGS: u64 = 2;
/// `tcp_tso_rtt_log`.
const TSO_RTT_LOG: u32 = 9;
/// `tcp_tso_win_divisor`.
const TSO_WIN_DIVISOR: u64 = 3;
const MILLISECOND: Span = Span::from_millis(1);

/// Where an outstanding bundle ends, or a buffer.
#[derive(Clone, Copy, Debug)]
struct End {
    at: u64,
    /// It had PSH for where it ends, and not for its length.
    pushed: bool,
}

/// Linux's bundles of segments.
#[derive(Default)]
pub struct LinuxTso {
    /// Where the buffer ends that leaves next.
    head_end: u64,
    /// Those behind it that earlier writes have left, the last of which has taken of the last
    /// write what it had room for.
    behind: VecDeque<End>,
    /// Where the one behind all of these ends if that is full.
    next_end: u64,
    /// That buffer is the one that the application fills, and what of it leaves makes room.
    filling: bool,
    /// It has PSH.
    marked: bool,
    /// All of it leaves before the application goes on.
    pushing: bool,
    /// What a buffer holds, and half of the largest window, when the application last wrote.
    goal: u64,
    half: u64,
    /// `pushed_seq`.
    pushed: u64,
    /// Where the bundle ends that is leaving, and where it began.
    bundle_end: u64,
    bundle_from: u64,
    held: bool,
    /// The outstanding bundles.
    ends: VecDeque<End>,
    /// The retransmission before this one ended here and goes on.
    goes_on: Option<u64>,
    /// `tcp_wstamp_ns`.
    last_sent: Time,
    min_rtt: MinRtt,
    /// `sk_pacing_rate`, in bytes a second.
    rate: u64,
}

/// `tcp_xmit_size_goal`: what a buffer holds, half of the largest window at most
/// (`tcp_bound_to_half_wnd`).
fn size_goal(s: &State) -> u64 {
    let most = bound_to_half_window(GSO_MAX_SIZE, s.max_window);
    (most / s.mss).max(1) * s.mss
}

impl LinuxTso {
    /// `tcp_tso_segs`.
    fn max_segments(&mut self, s: &State) -> u64 {
        if self.rate == 0 {
            self.rate = pacing_rate(s);
        }
        let min_rtt = self.min_rtt.get().unwrap_or(s.srtt).micros();
        let halvings = min_rtt >> TSO_RTT_LOG;
        let near = if halvings < 32 { GSO_MAX_SIZE >> halvings } else { 0 };
        let bytes = ((self.rate >> PACING_SHIFT) + near).min(GSO_MAX_SIZE);
        (bytes / s.mss).max(MIN_TSO_SEGS)
    }

    /// A buffer ends here: whether it has PSH for that (`forced_push`).
    fn mark(&mut self, end: u64) -> bool {
        let forced = end > self.pushed + self.half;
        if forced {
            self.pushed = end;
        }
        forced
    }

    /// What has left while the application wrote has made room in the last buffer
    /// (`tcp_sendmsg_locked`).
    fn fill(&mut self, sent: u64, written: u64) {
        let end = (sent + self.goal).min(written);
        if self.filling && end > self.head_end {
            self.head_end = end;
            self.next_end = end + self.goal;
            self.pushing = self.mark(end);
            self.marked |= self.pushing;
        }
    }

    /// The buffer that leaves next, once the one before it has left.
    fn advance(&mut self, s: &State) {
        if !self.pushing || self.head_end <= s.snd_max {
            self.fill(s.snd_max, s.written);
        }
        self.leave(s.snd_max);
        if self.head_end <= s.snd_max {
            let behind = self.next_end > s.snd_max;
            let end = if behind { self.next_end } else { s.snd_max + self.goal };
            self.head_end = end.min(s.written);
            self.next_end = self.head_end + self.goal;
            self.marked = self.mark(self.head_end);
        }
    }

    /// The buffers that have left are none any more.
    fn leave(&mut self, sent: u64) {
        while self.head_end <= sent
            && let Some(next) = self.behind.pop_front()
        {
            (self.head_end, self.marked) = (next.at, next.pushed);
        }
    }

    /// `tcp_grow_skb`: the buffer takes from the one behind it what a bundle lacks, and PSH where
    /// that takes all. Behind the one that is filled is none.
    fn grow(&mut self, s: &State, to: u64) {
        let next = self.behind.front().copied();
        let behind = next.map_or(self.next_end.min(s.written), |next| next.at);
        if self.filling || to <= self.head_end || behind <= self.head_end {
            return;
        }
        self.head_end = to.min(behind);
        if let Some(next) = next.filter(|next| next.at == self.head_end) {
            self.marked |= next.pushed;
            self.behind.pop_front();
        } else if next.is_none() && self.head_end == self.next_end {
            self.marked |= self.mark(self.head_end);
            self.next_end += self.goal;
        }
    }

    /// What was written before this position, and has not left, lies in buffers from now on. The
    /// last one has PSH (`tcp_push`) unless more is written into it.
    fn settle(&mut self, sent: u64, from: u64) {
        let mut end = self.behind.back().map_or(self.head_end, |last| last.at).max(sent);
        while end < from {
            let full = if self.next_end > end { self.next_end } else { end + self.goal };
            end = full.min(from);
            let pushed = end == from || self.mark(end);
            self.behind.push_back(End { at: end, pushed });
        }
        self.pushed = self.pushed.max(from);
    }

    /// More is written than fits into the last of several buffers.
    fn extend(&mut self, written: u64) {
        let before = self.behind.iter().rev().nth(1).map_or(self.head_end, |last| last.at);
        let Some(last) = self.behind.back() else { return };
        let (at, full) = (last.at, before + self.goal);
        if full > at {
            let end = full.min(written);
            let pushed = end == full && self.mark(end);
            self.behind.pop_back();
            self.behind.push_back(End { at: end, pushed });
        }
        self.next_end = full.max(at) + self.goal;
    }

    /// `tcp_tso_should_defer`. `room` segments have room in cwnd, the buffer has `len` bytes.
    fn defers(&mut self, s: &State, room: u64, len: u64, max: u64) -> bool {
        if s.phase != Phase::Open || s.now.since(self.last_sent) > MILLISECOND {
            return false;
        }
        let send_win = s.window_edge.saturating_sub(s.snd_max);
        let cong_win = room * s.mss;
        let limit = send_win.min(cong_win);
        let tail = self.head_end == s.written;
        let third = s.cwnd.min(s.window_edge.saturating_sub(s.snd_una)) / TSO_WIN_DIVISOR;
        if limit >= max * s.mss || (!tail && limit >= len) || limit >= third {
            return false;
        }
        let Some(head) = s.board.head() else { return false };
        let soon = Span(s.srtt.0 / 2).min(MILLISECOND);
        if head.last_sent + s.srtt > s.now + soon {
            return false;
        }
        self.held = cong_win < send_win && cong_win <= len;
        let by_window = cong_win >= send_win && send_win <= len;
        self.held || by_window || !(s.fin && tail)
    }
}

impl Segmentation for LinuxTso {
    fn on_write(&mut self, s: &State, from: u64) {
        self.fill(s.snd_max, from);
        self.settle(s.snd_max, from);
        self.leave(s.snd_max);
        (self.goal, self.half) = (size_goal(s), s.max_window / 2);
        self.filling = self.behind.is_empty();
        if self.filling {
            self.marked = s.snd_max + self.goal <= self.head_end;
            self.fill(s.snd_max, s.written);
        } else {
            self.extend(s.written);
        }
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) {
        self.fill(s.snd_max, s.written);
        self.filling = false;
        if self.min_rtt.get().is_none() {
            self.min_rtt.sample(s.srtt, s.now);
        }
        if let Some(rtt) = a.rtt {
            self.min_rtt.sample(rtt, s.now);
        }
        self.rate = pacing_rate(s);
    }

    fn next(&mut self, s: &State, in_flight: u64) -> Option<u32> {
        self.held = false;
        let whole = |left: u64| Some(left.min(s.most_from(s.snd_max)) as u32);
        if self.bundle_end > s.snd_max && self.bundle_from < s.snd_max {
            return whole(self.bundle_end - s.snd_max);
        }
        let cwnd = s.cwnd / s.mss;
        let room = cwnd.saturating_sub(in_flight.div_ceil(s.mss));
        let window = s.window_edge.saturating_sub(s.snd_max);
        if room == 0 {
            return s.new_len();
        }
        self.advance(s);
        let max = self.max_segments(s);
        // tcp_cwnd_test.
        let quota = room.min((cwnd / 2).max(1)).min(max);
        self.grow(s, s.snd_max + quota * s.mss);
        // `skb->len` is without a FIN.
        let fin = u64::from(s.joined_fin().is_some_and(|fin| fin + 1 == self.head_end));
        let len = (self.head_end - s.snd_max).saturating_sub(fin);
        // Also tcp_snd_wnd_test.
        if len <= s.mss || window < s.mss {
            return s.new_len();
        }
        if self.defers(s, room, len, max) {
            return None;
        }
        // tcp_mss_split_point.
        let mut bundle = len.min(window).min(quota * s.mss);
        if s.holds_short() {
            bundle = bundle / s.mss * s.mss;
        } else if bundle == len && window > len {
            bundle += fin;
        }
        (self.bundle_from, self.bundle_end) = (s.snd_max, s.snd_max + bundle);
        whole(bundle)
    }

    fn held(&self) -> bool {
        self.held
    }

    fn on_sent(&mut self, s: &State, segment: Outgoing) -> bool {
        self.last_sent = s.now;
        let Outgoing { seq, len, first, cause, in_flight } = segment;
        let end = seq + u64::from(len);
        if !first {
            return self.on_retransmit(s, seq, end, in_flight);
        }
        self.goes_on = None;
        if cause == Cause::TailLossProbe {
            self.fill(seq, s.written);
            self.filling = false;
        }
        if end < self.bundle_end {
            return false;
        }
        let several = end == self.bundle_end && self.bundle_from < seq;
        // tcp_write_wakeup pushes what a window has room for, too.
        let pushed = (end == s.written && s.joined_fin() != Some(seq))
            || (end == self.head_end && self.marked)
            || cause == Cause::WindowProbe;
        // So has what it leaves of the buffer.
        self.marked |= cause == Cause::WindowProbe && end < self.head_end;
        if end == s.written {
            self.pushed = end;
        }
        while self.ends.front().is_some_and(|e| e.at <= s.snd_una) {
            self.ends.pop_front();
        }
        self.ends.push_back(End { at: end, pushed });
        several || pushed
    }
}

impl LinuxTso {
    /// A bundle, or what of it is lost, goes again together (`tcp_xmit_retransmit_queue`).
    fn on_retransmit(&mut self, s: &State, seq: u64, end: u64, in_flight: u64) -> bool {
        let continues = self.goes_on.take() == Some(seq);
        let i = self.ends.partition_point(|e| e.at < end);
        let Some(bundle) = self.ends.get(i) else { return continues };
        let next = s.board.get(s.board.find(end)).is_some_and(|r| r.seq == end && r.waits());
        if end < bundle.at && next && in_flight + s.mss <= s.cwnd {
            self.goes_on = Some(end);
            return false;
        }
        if end < bundle.at {
            // tcp_fragment: the rest is a bundle of its own.
            self.ends.insert(i, End { at: end, pushed: false });
            return continues;
        }
        continues || bundle.pushed
    }
}
