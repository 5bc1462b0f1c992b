//! The receiving half: what to acknowledge, and when.
//!
//! Sources: RFC 9293 section 3.10.7.4 (acceptance), RFC 5681 section 4.2 (delayed and immediate
//! ACKs), RFC 2018 section 4 and RFC 2883 section 4 (SACK and D-SACK blocks), RFC 7323 sections 2
//! to 4 (window scale, timestamps) and RFC 9293 section 3.8.6.2.2 (silly window avoidance). PAWS
//! (RFC 7323 section 5) is the connection's; urgent data is left out.

mod as_linux;
mod assembler;
mod config;
mod linux_acks;
mod linux_blocks;
mod marks;
#[cfg(test)]
mod tests;
mod window;

use alloc::boxed::Box;

use assembler::{Assembler, Merged, Range, block};
pub use config::{DelayedAck, ReceiverConfig};
use linux_acks::LinuxAcks;
use window::Window;

use crate::segment::{Ecn, Flags, SackBlock, SackBlocks, Segment, Timestamps};
use crate::seq::Seq;
use crate::time::{Span, Time};
use crate::wire::DEFAULT_MSS;

/// The fast timer's interval.
const FAST_TICK: Span = Span::from_millis(200);

/// The receiving half of an established connection.
///
/// One input makes at most one ACK due (RFC 5681 section 4.2 forbids more), so as long as
/// `poll_transmit` is drained after each input, as the contract says, no duplicate ACK is ever
/// merged into another.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    rcv_nxt: u64,
    /// Last.ACK.sent (RFC 7323 section 4.3); what lies between it and `rcv_nxt` waits for a
    /// delayed ACK.
    last_ack_sent: u64,
    window: Window,
    out_of_order: Assembler,
    /// The longest segment that has come, at least 536 bytes and at most `mss`.
    rcv_mss: u32,
    /// An ACK is due now.
    ack_due: bool,
    /// ACKs carry ECN-Echo (Linux's `TCP_ECN_DEMAND_CWR`; DCTCP.CE).
    ece: bool,
    /// When a delayed ACK is due; `NEVER` if none waits.
    ack_deadline: Time,
    /// The duplicate that the next ACK reports.
    duplicate: Option<SackBlock>,
    /// TS.Recent (RFC 7323 section 4.3).
    ts_recent: Option<u32>,
    /// What Linux's decisions need; elsewhere, as few receivers have it.
    linux: Option<Box<LinuxAcks>>,
}

impl Receiver {
    /// A receiver that has received nothing yet. Its window is taken as already offered (by the
    /// handshake).
    pub fn new(config: ReceiverConfig) -> Self {
        Receiver {
            window: Window::new(config.buffer, config.wscale, config.mss),
            rcv_nxt: 0,
            last_ack_sent: 0,
            out_of_order: Assembler::default(),
            // A full segment before a longer one has come.
            rcv_mss: config.mss.min(DEFAULT_MSS.into()),
            ack_due: false,
            ece: false,
            ack_deadline: Time::NEVER,
            duplicate: None,
            ts_recent: None,
            linux: match config.delayed_ack {
                DelayedAck::Linux(rtt) => {
                    Some(Box::new(LinuxAcks::new(rtt, config.mss, config.buffer)))
                }
                _ => None,
            },
            config,
        }
    }

    /// A segment of the peer's data stream arrived. Returns whether it brought any byte that was
    /// not held yet.
    ///
    /// Data beyond the offered window is cut off. A segment with none inside the window draws an
    /// ACK and nothing else: that answers keep-alives and window probes. An empty segment
    /// inside the window draws nothing. FIN takes no sequence number here; it only makes the
    /// ACK immediate.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(end) = self.plain_end(segment) else { return self.on_any_segment(now, segment) };
        self.note_length(segment);
        self.advance(end);
        self.delay_ack(now);
        true
    }

    /// Where a plain segment ends, as almost all are ("header prediction", Jacobson 1990): it is
    /// the next one in order, lies within the window, and carries nothing but data; nothing waits
    /// out of order, and no mark or Linux's decisions ask for more. A property test holds both
    /// paths equal.
    #[inline(always)]
    fn plain_end(&self, segment: &Segment) -> Option<u64> {
        let next = segment.seq == Seq::at(self.config.isn, self.rcv_nxt) && segment.len > 0;
        let bare = segment.timestamps.is_none() && !segment.flags.fin();
        let calm = self.out_of_order.is_empty() && !self.config.ecn && self.linux.is_none();
        let end = self.rcv_nxt + u64::from(segment.len);
        (next && bare && calm && end <= self.window_edge()).then_some(end)
    }

    #[inline(always)]
    fn note_length(&mut self, segment: &Segment) {
        self.rcv_mss = self.rcv_mss.max(segment.len).min(self.config.mss);
    }

    /// Everything below `right` has arrived.
    #[inline(always)]
    fn advance(&mut self, right: u64) {
        self.rcv_nxt = right;
        if self.config.auto_read {
            self.window.set_read_position(right);
        }
    }

    #[inline(never)]
    fn on_any_segment(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(left) = segment.seq.position(self.config.isn, self.rcv_nxt) else {
            self.ack_due = true;
            return false;
        };
        let end = left + u64::from(segment.len);
        let right = end.min(self.window_edge());
        if right <= left.max(self.rcv_nxt) {
            self.on_segment_without_use(now, left, end, segment);
            return false;
        }
        self.note_timestamp(left, segment);
        if self.config.ecn {
            self.note_mark(segment);
        }
        self.note_length(segment);
        if self.linux.is_some() {
            // A report of a duplicate that waits is forgotten (`tcp_data_queue`).
            self.duplicate = None;
        }

        if left > self.rcv_nxt {
            if self.linux.is_some() && !self.out_of_order.is_full() {
                return self.on_data_above_gap_as_linux(now, (left, right), segment);
            }
            let merged = self.out_of_order.insert((left, right));
            self.report_duplicate(merged.duplicate);
            self.ack_due = true;
            return merged.fresh;
        }
        let held = match self.linux {
            Some(_) => self.out_of_order.bytes() + self.readable() + u64::from(segment.len),
            None => 0,
        };
        let filled_gap = !self.out_of_order.is_empty();
        let merged = if filled_gap {
            self.out_of_order.take((self.rcv_nxt, right))
        } else {
            Merged { range: (self.rcv_nxt, right), duplicate: None, fresh: true }
        };
        let duplicate =
            if left < self.rcv_nxt { Some((left, self.rcv_nxt)) } else { merged.duplicate };
        self.report_duplicate(duplicate);
        self.advance(merged.range.1);
        // What came twice in part waits with Linux (`tcp_data_queue`).
        let again = duplicate.is_some() && self.linux.is_none();
        let at_once = filled_gap || again || end > right || segment.flags.fin();
        self.ack_due |= at_once;
        if self.linux.is_some() {
            self.answer_as_linux(now, segment, held);
        } else if !at_once {
            self.delay_ack(now);
        }
        merged.fresh
    }

    /// No byte of the segment is both new in order or above it and inside the window: an ACK
    /// answers it unless it is acceptable, which an empty one may be (RFC 9293 section
    /// 3.10.7.4, first check).
    fn on_segment_without_use(&mut self, now: Time, left: u64, end: u64, segment: &Segment) {
        let acceptable = left == end
            && (left == self.rcv_nxt || (self.rcv_nxt..self.window.edge()).contains(&left));
        if acceptable {
            self.note_timestamp(left, segment);
            self.ack_due |= segment.flags.fin();
            return;
        }
        if left < self.rcv_nxt && left < end {
            self.report_duplicate(Some((left, end.min(self.rcv_nxt))));
        }
        let newest = left < end && end == self.rcv_nxt && self.out_of_order.is_empty();
        if newest && !segment.flags.fin() && matches!(self.config.delayed_ack, DelayedAck::Ns2(_)) {
            self.delay_ack(now);
            return;
        }
        self.ack_due = true;
        let offered = self.offered();
        if let Some(linux) = &mut self.linux
            && left < end
        {
            linux.on_duplicate(offered, end < self.last_ack_sent);
        }
    }

    /// RFC 7323 section 4.3 rule (2), for acceptable segments only (section 5.3, R2 before R3).
    fn note_timestamp(&mut self, left: u64, segment: &Segment) {
        if let Some(ts) = segment.timestamps
            && (left <= self.last_ack_sent || self.config.echo_out_of_order)
            && !self.ts_recent.is_some_and(|recent| Timestamps::is_older(ts.val, recent))
        {
            self.ts_recent = Some(ts.val);
        }
    }

    fn report_duplicate(&mut self, duplicate: Option<Range>) {
        if self.config.dsack
            && let Some(range) = duplicate
        {
            self.duplicate = Some(block(self.config.isn, range));
        }
    }

    #[inline(always)]
    fn delay_ack(&mut self, now: Time) {
        if matches!(self.config.delayed_ack, DelayedAck::Off) {
            self.ack_due = true;
        } else {
            self.delay_ack_or_not(now);
        }
    }

    #[inline(never)]
    fn delay_ack_or_not(&mut self, now: Time) {
        let waits = self.ack_deadline != Time::NEVER;
        let covered = u64::from(self.config.ack_every.saturating_sub(1)) * u64::from(self.rcv_mss);
        let enough = self.rcv_nxt - self.last_ack_sent > covered;
        let (at_once, deadline) = match self.config.delayed_ack {
            DelayedAck::Off | DelayedAck::Linux(_) => (true, Time::NEVER),
            DelayedAck::After(delay) => (enough, now + delay),
            DelayedAck::FastTimer(phase) => (enough, now.next_tick(FAST_TICK, phase)),
            DelayedAck::Ns2(delay) => (waits, now + delay),
        };
        if at_once {
            self.ack_due = true;
        } else if !waits {
            self.ack_deadline = deadline;
        }
    }

    /// The next ACK to send, if one is due.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.ack_due { Some(self.ack(now, false)) } else { None }
    }

    #[inline(always)]
    fn ack(&mut self, now: Time, with_data: bool) -> Segment {
        if let Some(linux) = &mut self.linux {
            if let Some(early) = linux.early.take() {
                self.ack_due = false;
                return early;
            }
            linux.on_sent(now, self.rcv_nxt - self.last_ack_sent, with_data);
        }
        self.ack_due = false;
        self.ack_deadline = Time::NEVER;
        self.last_ack_sent = self.rcv_nxt;
        let timestamps = self.config.timestamps.then(|| self.timestamps(now));
        let mut segment = Segment {
            seq: self.config.local_seq,
            ack: Seq::at(self.config.isn, self.rcv_nxt),
            len: 0,
            wnd: self.window.offer(self.rcv_nxt),
            flags: Flags::default(),
            ecn: if self.ece { Ecn::NONE.with_ece() } else { Ecn::NONE },
            timestamps,
            sack: SackBlocks::NONE,
        };
        if self.duplicate.is_some() || !self.out_of_order.is_empty() {
            segment.sack = self.sack_blocks();
        }
        segment
    }

    /// The timestamps of an ACK. A function of its own: otherwise the division by which the clock
    /// ticks is done for every segment, with timestamps or without.
    #[inline(never)]
    fn timestamps(&self, now: Time) -> Timestamps {
        Timestamps { val: now.timestamp(), ecr: self.ts_recent.unwrap_or(0) }
    }

    /// The blocks that an ACK has now, where there are any; a duplicate is reported once.
    #[inline(never)]
    fn sack_blocks(&mut self) -> SackBlocks {
        let duplicate = self.duplicate.take();
        let mut blocks = SackBlocks::NONE;
        if !self.config.sack {
            return blocks;
        }
        // RFC 2018 section 3: 40 bytes of options hold four blocks, or three beside timestamps.
        let room = if self.config.timestamps { SackBlocks::MAX - 1 } else { SackBlocks::MAX };
        let of_linux = self.linux.as_ref().map(|linux| linux.blocks.get().iter().copied());
        let recent = self.out_of_order.recent().filter(|_| self.linux.is_none());
        let held = of_linux.into_iter().flatten().chain(recent);
        let held = held.map(|range| block(self.config.isn, range));
        for b in duplicate.into_iter().chain(held).take(room) {
            blocks.push(b);
        }
        blocks
    }

    /// Makes an ACK due, whatever arrived.
    pub(crate) fn ack_now(&mut self) {
        self.ack_due = true;
    }

    /// Whether an ACK is due that has to go without data: one for what came out of order or twice,
    /// which a sender may count as a duplicate (RFC 5681 section 2) or which has more SACK
    /// blocks than fit beside a full payload.
    pub(crate) fn due_alone(&self) -> bool {
        self.ack_due && (self.duplicate.is_some() || !self.out_of_order.is_empty())
    }

    /// Makes an outgoing segment acknowledge what has arrived, so that no ACK is due any more. SACK
    /// blocks go along if they take no more than `room` bytes of options.
    pub(crate) fn stamp(&mut self, now: Time, segment: &mut Segment, room: u32) {
        let (waits, duplicate) = (self.ack_deadline != Time::NEVER, self.duplicate);
        let ack = self.ack(now, segment.len > 0);
        let Segment { seq, len, flags, mut ecn, .. } = *segment;
        if ack.ecn.ece() {
            ecn = ecn.with_ece();
        }
        let mut ack = Segment { seq, len, flags, ecn, ..ack };
        let without = Segment { sack: SackBlocks::NONE, ..ack };
        if ack.option_len() > without.option_len() + room {
            ack = without;
            // A report that waited goes behind it, alone.
            if waits {
                (self.ack_due, self.duplicate) = (true, duplicate);
            }
        }
        *segment = ack;
    }

    /// When to call [`Receiver::on_deadline`]; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        self.ack_deadline
    }

    /// The deadline has come.
    pub fn on_deadline(&mut self, now: Time) {
        if self.ack_deadline <= now {
            self.ack_deadline = Time::NEVER;
            self.ack_due = true;
            let held = self.readable();
            if let Some(linux) = &mut self.linux {
                linux.holds(held + self.out_of_order.bytes());
                linux.on_timer();
            }
        }
    }

    /// The application reads up to `bytes` of in-order data; returns how many there were. May make
    /// a window update due.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let taken = self.read_quietly(bytes);
        self.ack_due |= taken > 0 && self.window.update_due(self.rcv_nxt);
        let left = self.readable();
        if let Some(linux) = &mut self.linux {
            linux.on_read(now, self.window.read_position(), left);
            linux.holds(left + self.out_of_order.bytes());
            let waits = self.ack_deadline != Time::NEVER;
            let all = left == 0 && self.out_of_order.is_empty();
            let unacked = self.rcv_nxt - self.last_ack_sent;
            self.ack_due |= taken > 0 && waits && linux.reads(unacked, all);
        }
        taken
    }

    /// As [`Receiver::read`], for a stream that has ended: no window update.
    pub(crate) fn read_quietly(&mut self, bytes: u64) -> u64 {
        let taken = bytes.min(self.readable());
        self.window.set_read_position(self.window.read_position() + taken);
        taken
    }

    /// In-order bytes received but not read yet.
    pub fn readable(&self) -> u64 {
        self.rcv_nxt - self.window.read_position()
    }

    /// Position of the next byte expected in order: how many bytes have arrived without a hole.
    #[inline]
    pub fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Whether all bytes from `left` to before `right` have arrived.
    pub fn holds(&self, left: u64, right: u64) -> bool {
        let left = left.max(self.rcv_nxt);
        left >= right || self.out_of_order.recent().any(|(from, to)| from <= left && right <= to)
    }

    /// Position of the next byte that the application reads.
    pub fn read_position(&self) -> u64 {
        self.window.read_position()
    }

    /// The right edge of the window: the first position that was never offered, or that a smaller
    /// buffer has no room for any more.
    #[inline]
    pub fn window_edge(&self) -> u64 {
        self.window.edge().min(self.window.end()).max(self.rcv_nxt)
    }

    /// Changes the size of the receive buffer. What was offered and does not fit into a smaller one
    /// is cut off when it comes, though the window does not shrink (RFC 9293 section 3.8.6): the
    /// peer sends it again. After a larger one an ACK may be due, as after [`Receiver::read`].
    pub fn set_buffer(&mut self, bytes: u64) {
        self.ack_due |= self.window.set_buffer(bytes, self.rcv_nxt);
    }

    /// ECN is off after all.
    pub(crate) fn refuse_ecn(&mut self) {
        self.config.ecn = false;
    }

    /// The handshake took this round trip, which bounds Linux's delays.
    pub(crate) fn on_handshake(&mut self, rtt: Span) {
        if let Some(linux) = &mut self.linux {
            linux.on_handshake(rtt);
        }
    }

    /// TS.Recent (RFC 7323 section 4.3).
    pub fn ts_recent(&self) -> Option<u32> {
        self.ts_recent
    }

    /// Sets TS.Recent: to the timestamp of the SYN, or to none when it is too old (RFC 7323 section
    /// 5.5). Who made the handshake without a [`Connection`](crate::connection::Connection) calls
    /// it before the first segment: what an ACK echoes before one in order has come is this. 0
    /// would be a time, too, for TSecr is valid in every segment with ACK (RFC 7323 section 3.2).
    pub fn set_ts_recent(&mut self, recent: Option<u32>) {
        self.ts_recent = recent;
    }
}
