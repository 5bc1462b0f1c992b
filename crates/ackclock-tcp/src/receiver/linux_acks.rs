//! When a Linux receiver acknowledges data: quick ACKs at the start, the interval that its delayed
//! ACKs adapt to what arrives, and ACKs for what a PSH ends (`tcp_event_data_recv`,
//! `tcp_measure_rcv_mss`, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`, `tcp_cleanup_rbuf`).
//!
//! As long as the window that it would offer grows, every segment is acknowledged at once
//! (`tcp_grow_window`): from 64 KiB to the room of its memory, by two segments with each segment.
//! That room grows with what arrives in a round trip, up to the buffer (`tcp_rcv_space_adjust`,
//! `tcp_rcvbuf_grow`); the round trip is that of the handshake, and without one there is no growth.
//! The window that this receiver offers is all of the buffer from the beginning.
//!
//! What is in memory is counted all the same: it leaves no room to grow, and less to offer.
//!
//! With SACK, the first three ACKs that report the same gap leave at once, later ones together
//! (`tcp_compressed_ack_kick`), as long as they need no third block (`tcp_sack_new_ofo_skb`).

use super::assembler::Range;
use super::linux_blocks::Blocks;
use crate::recovery::linux::{INIT_CWND, JIFFY, RTO_MIN, to_jiffies};
use crate::segment::{Codepoint, Segment};
use crate::time::{Span, Time};
use crate::wire::{DEFAULT_MSS, TIMESTAMPS_LEN};

/// `TCP_ATO_MIN` and `TCP_DELACK_MIN` in ticks, and `TCP_DELACK_MAX`: 40 and 200 ms. None waits for
/// as long as the least timeout of the same host (`tcp_delack_max`).
const ATO_MIN: u64 = 10;
const DELACK_MAX: u64 = 50;
const LONGEST: u64 = DELACK_MAX - 1;
/// The longest interval where no segment had PSH: half a second.
const MAX_ATO: u64 = 125;
/// `TCP_MAX_QUICKACKS`, and how many there are for a mark (`tcp_data_ecn_check`).
const MAX_QUICKACKS: u64 = 16;
const MARK_QUICKACKS: u64 = 2;
/// `TCP_MIN_MSS`.
const MIN_MSS: u32 = 88;
/// What the first window is taken from: half of the default `tcp_rmem`.
const FIRST_WINDOW: u64 = 65_536;
/// The default `tcp_rmem`, and what a full segment takes of it, which is seldom longer than this.
const FIRST_BUFFER: u64 = 131_072;
const SEGMENT: u64 = 2_304;
const ETHERNET: u64 = 1_460;
/// Segments shorter than this let no window grow.
const GROWS: u32 = 128;
/// `TCP_FASTRETRANS_THRESH`: ACKs for a gap that do not wait.
const DUPACKS: u32 = 3;
/// `tcp_comp_sack_nr`, `tcp_comp_sack_delay_ns` and `tcp_comp_sack_slack_ns`. The delay is a
/// twentieth of the round trip if that is less.
const COMPRESSED: u32 = 44;
const COMPRESS_DELAY: Span = Span::from_millis(1);
const COMPRESS_SLACK: Span = Span::from_micros(100);
/// `TCP_SACK_BLOCKS_EXPECTED`: an ACK that waits leaves before one that is about another block.
const BLOCKS: usize = 2;

/// What becomes of the ACK for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Now,
    /// By this time.
    By(Time),
}

/// A segment that came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub len: u32,
    pub psh: bool,
    pub timestamps: bool,
    /// Bytes of the window that the last ACK offered.
    pub window: u64,
    /// Bytes in order that no ACK covers yet, with its own.
    pub unacked: u64,
    /// Bytes in memory as it comes: those above a gap, and those that the application has not read,
    /// with its own if it is in order.
    pub held: u64,
    /// The application reads what is in order at once.
    pub read: bool,
}

/// Linux's `icsk_ack`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinuxAcks {
    /// The round trip of the handshake, the same in ticks, and the timeout that follows from it.
    path: Span,
    rtt: u64,
    rto: u64,
    quick: u64,
    /// In ticks; 0 before the first segment.
    ato: u64,
    lrcvtime: u64,
    /// The window up to which it would offer, what memory has room for, and the most that this may
    /// become.
    rcv_ssthresh: u64,
    room: u64,
    buffer: u64,
    /// The window that it would have offered last, in bytes, and what is in memory.
    rcv_wnd: u64,
    held: u64,
    /// `rcvq_space`: what arrived in a round trip, and where and when the current one began.
    space: u64,
    since: (u64, Time),
    rcv_mss: u32,
    /// The most that `rcv_mss` may be.
    advmss: u32,
    last_seg_size: u32,
    pushed: bool,
    /// A second short segment.
    pushed2: bool,
    pingpong: bool,
    /// Data has come since the last ACK (`ICSK_ACK_SCHED`).
    scheduled: bool,
    /// Data came that may be marked (`TCP_ECN_SEEN`).
    ect: bool,
    timeout: Option<u64>,
    /// The gap that ACKs report, how many did at once, and how many wait now.
    gap: u64,
    reported: u32,
    compressed: u32,
    /// The blocks that it reports.
    pub blocks: Blocks,
    /// An ACK that was due before the segment at hand came.
    pub early: Option<Segment>,
}

fn ticks(t: Time) -> u64 {
    t.0 / JIFFY.0
}

impl LinuxAcks {
    /// After a handshake whose round trip was this, or is not known (zero).
    pub fn new(rtt: Span, mss: u32, buffer: u64) -> LinuxAcks {
        let mut acks = LinuxAcks {
            path: Span::ZERO,
            rtt: 0,
            rto: 0,
            quick: 0,
            ato: 0,
            lrcvtime: 0,
            // tcp_select_initial_window: whole segments.
            rcv_ssthresh: FIRST_WINDOW / u64::from(mss.max(1)) * u64::from(mss),
            // tcp_measure_rcv_mss: scaling_ratio.
            room: (FIRST_BUFFER * (u64::from(mss).min(ETHERNET) * 256 / SEGMENT) / 256).min(buffer),
            buffer,
            rcv_wnd: 0,
            held: 0,
            space: INIT_CWND * u64::from(mss),
            since: (0, Time::ZERO),
            rcv_mss: mss.clamp(MIN_MSS, u32::from(DEFAULT_MSS)),
            advmss: mss.max(1),
            last_seg_size: 0,
            pushed: false,
            pushed2: false,
            pingpong: false,
            scheduled: false,
            ect: false,
            timeout: None,
            gap: 0,
            reported: 0,
            compressed: 0,
            blocks: Blocks::default(),
            early: None,
        };
        acks.rcv_wnd = acks.rcv_ssthresh;
        acks.on_handshake(rtt);
        acks
    }

    /// The round trip of the handshake (`tcp_rtt_estimator` and `tcp_set_rto` for a first sample).
    pub fn on_handshake(&mut self, rtt: Span) {
        self.path = rtt;
        self.rtt = to_jiffies(rtt);
        self.rto = to_jiffies(rtt + Span(rtt.0.saturating_mul(2)).max(RTO_MIN));
    }

    /// `tcp_incr_quickack`.
    fn quicken(&mut self, window: u64, most: u64) {
        let quick = match window / (2 * u64::from(self.rcv_mss)) {
            0 => 2,
            quick => quick.min(most),
        };
        self.quick = self.quick.max(quick);
    }

    /// Data came twice, of which the last ACK covered all or not (`tcp_send_dupack`,
    /// `tcp_data_queue`).
    pub fn on_duplicate(&mut self, window: u64, covered: bool) {
        self.scheduled |= !covered;
        self.enter_quickack_mode(window, MAX_QUICKACKS);
    }

    /// Data came with this codepoint, on a connection with ECN: quick ACKs for the first mark, and
    /// for what cannot be marked though others could, as retransmissions are.
    pub fn on_codepoint(&mut self, codepoint: Codepoint, is_first: bool, window: u64) {
        let quick = match codepoint {
            Codepoint::NotEct => self.ect,
            Codepoint::Ce => is_first,
            Codepoint::Ect0 | Codepoint::Ect1 => false,
        };
        self.ect |= codepoint != Codepoint::NotEct;
        // The first segment of all has quick ACKs anyway.
        if quick && self.ato > 0 {
            self.enter_quickack_mode(window, MARK_QUICKACKS);
        }
    }

    /// `tcp_enter_quickack_mode`.
    fn enter_quickack_mode(&mut self, window: u64, most: u64) {
        self.quicken(window, most);
        self.pingpong = false;
        self.ato = ATO_MIN;
    }

    /// `tcp_measure_rcv_mss`.
    fn measure(&mut self, a: &Arrival) {
        let last = core::mem::take(&mut self.last_seg_size);
        if a.len >= self.rcv_mss {
            self.rcv_mss = a.len.min(self.advmss);
            self.pushed |= a.psh;
            return;
        }
        let options = if a.timestamps { TIMESTAMPS_LEN.into() } else { 0 };
        if a.len + options >= u32::from(DEFAULT_MSS) || (a.len + options >= MIN_MSS && !a.psh) {
            self.last_seg_size = a.len;
            if a.len == last {
                self.rcv_mss = a.len;
                return;
            }
        }
        self.pushed2 |= self.pushed;
        self.pushed = true;
    }

    /// `tcp_event_data_recv`.
    pub fn on_data(&mut self, now: Time, a: &Arrival) {
        (self.scheduled, self.held) = (true, a.held);
        self.measure(a);
        let now = ticks(now);
        let since = now - self.lrcvtime.min(now);
        if self.ato == 0 {
            self.quicken(a.window, MAX_QUICKACKS);
            self.ato = ATO_MIN;
        } else if since <= ATO_MIN / 2 {
            self.ato = self.ato / 2 + ATO_MIN / 2;
        } else if since < self.ato {
            self.ato = (self.ato / 2 + since).min(self.rto);
        } else if since > self.rto {
            self.quicken(a.window, MAX_QUICKACKS);
        }
        self.lrcvtime = now;
        self.grow(a);
    }

    /// `tcp_grow_window`.
    fn grow(&mut self, a: &Arrival) {
        let room = self.room.saturating_sub(a.held);
        if a.len >= GROWS && self.rcv_ssthresh < room {
            self.rcv_ssthresh = (self.rcv_ssthresh + 2 * u64::from(self.advmss)).min(room);
            self.quick |= 1;
        }
    }

    /// The application has read up to `read`, and left so many bytes (`tcp_rcv_space_adjust`).
    pub fn on_read(&mut self, now: Time, read: u64, left: u64) {
        let (from, began) = self.since;
        if self.path == Span::ZERO || now < began + self.path {
            return;
        }
        self.since = (read, now);
        let copied = (read - from).saturating_sub(left);
        if copied > self.space {
            self.grow_memory(copied, 0);
        }
    }

    /// `tcp_rcvbuf_grow`: for what was copied in a round trip as much once more, and twice by how
    /// much it was more than before; and for what lies beyond a gap.
    fn grow_memory(&mut self, copied: u64, beyond: u64) {
        let window = 2 * copied;
        let more = 2 * window.saturating_mul(copied - self.space) / self.space.max(1);
        let room = window.saturating_add(more).saturating_add(beyond);
        self.room = self.room.max(room.min(self.buffer));
        self.space = copied;
    }

    /// A segment came with data before it missing (`tcp_data_queue_ofo`). It extends a block, or
    /// begins one. Returns its place, and whether the ACK that waits has to leave now: the segment
    /// has none then, as it counts as acknowledged (`tcp_sack_new_ofo_skb`, `tcp_ack_snd_check`).
    pub fn on_out_of_order(&mut self, a: &Arrival, range: Range) -> (usize, bool) {
        self.scheduled = true;
        self.measure(a);
        let at = self.blocks.extend(range);
        (at, self.compressed > 0 && at >= BLOCKS)
    }

    /// It is held. The last byte lies so far beyond the first missing one.
    pub fn on_held(&mut self, a: &Arrival, sack: bool, beyond: u64) {
        if sack {
            self.grow(a);
        }
        self.held = a.held + u64::from(a.len);
        self.grow_memory(self.space, beyond);
    }

    /// `__tcp_ack_snd_check` with a gap at `rcv_nxt`, and data above it.
    pub fn answer_gap(&mut self, now: Time, a: &Arrival, rcv_nxt: u64, sack: bool) -> Answer {
        if self.asks_at_once(a) || !sack || self.compressed >= COMPRESSED {
            return Answer::Now;
        }
        if self.gap != rcv_nxt {
            (self.gap, self.reported) = (rcv_nxt, 0);
        }
        if self.reported < DUPACKS {
            self.reported += 1;
            return Answer::Now;
        }
        self.compressed += 1;
        Answer::By(now + Span(self.path.0 / 20).min(COMPRESS_DELAY) + COMPRESS_SLACK)
    }

    /// The window that it would offer (`__tcp_select_window`).
    fn window(&self) -> u64 {
        self.rcv_ssthresh.min(self.room.saturating_sub(self.held))
    }

    /// More than a full segment is not acknowledged and the window has not become smaller, or ACKs
    /// are quick.
    fn asks_at_once(&self, a: &Arrival) -> bool {
        let much = a.unacked > u64::from(self.rcv_mss) && self.window() >= self.rcv_wnd;
        much || (self.quick > 0 && !self.pingpong)
    }

    /// `__tcp_ack_snd_check`, `tcp_send_delayed_ack`, and then `tcp_cleanup_rbuf`.
    pub fn answer(&mut self, now: Time, a: &Arrival) -> Answer {
        if self.asks_at_once(a) {
            return Answer::Now;
        }
        let mut ato = self.ato;
        if ato > ATO_MIN {
            let most = if self.pingpong || self.pushed { DELACK_MAX } else { MAX_ATO };
            let most = if self.rtt > 0 { most.min(self.rtt.max(ATO_MIN)) } else { most };
            ato = ato.min(most);
        }
        let now = ticks(now);
        let mut timeout = now + ato.min(LONGEST);
        if let Some(before) = self.timeout {
            if before <= now + ato / 4 {
                return Answer::Now;
            }
            timeout = timeout.min(before);
        }
        if a.read && self.reads(a.unacked, true) {
            return Answer::Now;
        }
        self.timeout = Some(timeout);
        // The timer wheel rounds up to a tick that has not begun (calc_wheel_index).
        Answer::By(Time::ZERO + JIFFY.times(timeout + 1))
    }

    /// Whether the application's reading draws the ACK that waits (`tcp_cleanup_rbuf`); `all`: it
    /// has read all there is.
    pub fn reads(&self, unacked: u64, all: bool) -> bool {
        let asked = self.pushed2 || (self.pushed && !self.pingpong);
        unacked > u64::from(self.rcv_mss) || (all && asked)
    }

    /// So many bytes are in memory after all that has been read.
    pub fn holds(&mut self, bytes: u64) {
        self.held = bytes;
    }

    /// The timer has expired (`tcp_delack_timer_handler`).
    pub fn on_timer(&mut self) {
        if self.compressed > 0 {
            // That of ACKs that waited together, which leaves the interval as it is.
            return;
        }
        if self.pingpong {
            self.pingpong = false;
            self.ato = ATO_MIN;
        } else {
            self.ato = (self.ato * 2).min(self.rto);
        }
    }

    /// An ACK of so many bytes has left (`tcp_event_ack_sent`), with data or without
    /// (`tcp_event_data_sent`).
    pub fn on_sent(&mut self, now: Time, acked: u64, with_data: bool) {
        // tcp_select_window: it does not shrink.
        self.rcv_wnd = self.window().max(self.rcv_wnd.saturating_sub(acked));
        if core::mem::take(&mut self.scheduled) && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = ATO_MIN;
            }
        }
        (self.pushed, self.pushed2, self.timeout) = (false, false, None);
        self.compressed = 0;
        self.pingpong |= with_data && ticks(now) - self.lrcvtime.min(ticks(now)) < self.ato;
    }
}
