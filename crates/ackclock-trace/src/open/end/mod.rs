//! One end as a sender: what it sends, and what the other end acknowledges of it, in the order of
//! the file.

mod copied;
mod gaps;
mod numbers;
pub(crate) mod positions;
mod probes;
mod scale;
mod stamps;

use std::ops::Range;

use ackclock_tcp::Codepoint;
use ackclock_tcp::wire::Control;
use ackclock_tcp::{SackRanges, Seq, Span, Time};

use self::copied::Copied;
use self::gaps::Gaps;
use self::numbers::Numbers;
use self::positions::{Positions, ROOM};
use self::scale::Scale;
use super::clock::Moment;
use super::input::Data;
use crate::compact::Compact;
use crate::packet::Packet;
use crate::sender::{Acked, Dsack, KEEP_ALIVE, Owed};
use crate::standards::LEAST_RTO;

#[derive(Default)]
pub(super) struct End {
    positions: Positions,
    /// Right edge of the offered window; `None` before the first ACK.
    edge: Compact<u64>,
    /// Bytes in the window last offered to this end.
    window: u64,
    unusual: Option<Box<Unusual>>,
    /// Data or a FIN was seen.
    data: bool,
    /// An ACK for this end was seen.
    acks: bool,
    /// Timestamps were seen.
    timestamps: bool,
    /// SACK blocks for this end were seen, and so many of them made no sense.
    sack: bool,
    bad_blocks: u32,
    /// A FIN was seen.
    fin: bool,
    /// What came last was below the highest byte, and no D-SACK has answered it since.
    repeats: bool,
    /// It has sent a reset that its window makes believable.
    reset: bool,
    /// When a bare ACK last said by its SND.NXT that nothing newer than was seen had gone out.
    none_newer: Compact<Time>,
    /// Nothing newer was seen since.
    is_next: bool,
    numbers: Numbers,
    /// Packets that were copies of others.
    copies: u32,
    /// The most bytes that were seen of it and not acknowledged.
    ahead: u64,
}

/// What few connections have: open ones are many.
#[derive(Default)]
struct Unusual {
    /// Position after what passed while the clock of the capture had gone back.
    untimed: u64,
    /// Position of the byte that a window probe carried last.
    probe: Compact<u64>,
    /// Of the windows that the end is offered, where the SYNs do not say it.
    scale: Scale,
    /// What the capture lacks of it.
    gaps: Gaps,
    /// What its FIN has overtaken and was not seen so far.
    overtaken: Range<u64>,
    /// The first timestamp, if that was not its SYN's, and when it was seen.
    first_stamp: Option<(u32, Time)>,
    /// What the capture has twice of it.
    copied: Option<Box<Copied>>,
}

impl Unusual {
    fn rest(&self) -> Unusual {
        let (scale, first_stamp) = (self.scale.rest(), self.first_stamp);
        Unusual { scale, first_stamp, ..Unusual::default() }
    }
}

/// A keep-alive may come after as much silence. The ticks of a timer may make it a little shorter.
#[inline]
pub(super) fn is_long(silence: Span) -> bool {
    silence >= Span(KEEP_ALIVE.0 / 10 * 9)
}

impl End {
    /// The same end from now on: where its stream is, and which window it was offered last.
    pub fn rest(&self) -> End {
        let edge = self.edge.get().map(|edge| (edge + ROOM).saturating_sub(self.una()));
        End {
            positions: self.positions.rest(),
            edge: edge.into(),
            window: self.window,
            unusual: self.unusual.as_ref().map(|unusual| Box::new(unusual.rest())),
            timestamps: self.timestamps,
            sack: self.sack,
            numbers: self.numbers,
            ..End::default()
        }
    }

    /// Its SYN says where the stream begins.
    pub fn start(&mut self, origin: Seq) {
        self.positions.start(origin);
    }

    /// Its SYN comes behind an ACK of it, as captures of several queues have it: nothing but that
    /// ACK is known. Forgets it, and returns whether it is so.
    pub fn forget_early_ack(&mut self, origin: Seq) -> bool {
        let early = !self.data && self.positions.is_only(origin);
        if early {
            (self.acks, self.edge) = (false, Compact::default());
        }
        early
    }

    /// What it has sent so far, from its first byte on, counts as not sent.
    pub fn forget_data(&mut self, origin: Seq) {
        self.positions.start(origin);
        self.data = false;
    }

    /// Highest acknowledgment seen.
    pub fn una(&self) -> u64 {
        self.positions.una()
    }

    /// The numbers of position 0 and after the highest byte seen.
    pub fn numbers(&self) -> Option<[Seq; 2]> {
        self.positions.first_and_last()
    }

    /// Something of its stream was seen, or acknowledged.
    pub fn has_begun(&self) -> bool {
        self.data || self.positions.max() > 0
    }

    /// Data or a FIN was seen.
    #[inline]
    pub fn has_data(&self) -> bool {
        self.data
    }

    /// An ACK for this end was seen.
    pub fn has_acks(&self) -> bool {
        self.acks
    }

    /// The most bytes that were seen of it and not acknowledged.
    pub fn ahead(&self) -> u64 {
        self.ahead
    }

    /// Data was seen of it that was not acknowledged, though other data was.
    pub fn has_unacknowledged(&self) -> bool {
        self.data && self.acks && self.positions.max() > self.una() + u64::from(self.fin)
    }

    /// ACKs of what was sent so far measure nothing.
    pub fn loses_time(&mut self) {
        self.unusual.get_or_insert_default().untimed = self.positions.max();
    }

    /// All that was seen of it is acknowledged, but for a FIN.
    pub fn is_taken(&self) -> bool {
        self.acks && !self.has_unacknowledged()
    }

    /// All that was seen of it is acknowledged, a FIN as well. What came again last may have been
    /// acknowledged before it arrived, and is answered once more.
    pub fn is_owed_nothing(&self) -> bool {
        self.acks && !self.repeats && self.una() >= self.positions.max()
    }

    /// What it sends with this number comes behind nothing that may be missing: all before it is
    /// acknowledged.
    #[inline]
    pub fn is_in_turn(&self, seq: Seq) -> bool {
        self.positions.is_acked(seq)
    }

    /// What it has sent from this number on is not acknowledged.
    pub fn is_outstanding(&self, seq: Seq) -> bool {
        self.positions.is_outstanding(seq)
    }

    /// The window that it was offered last.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The other end resets the connection, and acknowledges so much.
    pub fn reset_acks(&mut self, ack: Seq) {
        let sent = self.una()..=self.positions.max();
        if let Some(ack) = self.position(ack).filter(|ack| sent.contains(ack)) {
            self.positions.acknowledge(ack);
        }
    }

    /// SACK blocks for this end were seen.
    pub fn has_sack(&self) -> bool {
        self.sack
    }

    #[inline]
    pub fn has_fin(&self) -> bool {
        self.fin
    }

    /// All that was seen of it is acknowledged, and a FIN is.
    pub fn is_closed(&self) -> bool {
        self.fin && self.una() >= self.positions.max()
    }

    #[inline]
    pub fn is_reset(&self) -> bool {
        self.reset
    }

    /// Whether what came last for its stream may have been astray.
    #[inline]
    pub fn is_lost(&self) -> bool {
        self.positions.is_lost()
    }

    /// Sequence or acknowledgment numbers that cannot belong to the stream.
    pub fn strays(&self) -> u64 {
        self.positions.strays()
    }

    /// Times that the stream was lost and found again elsewhere.
    pub fn jumps(&self) -> u64 {
        self.positions.jumps()
    }

    /// SACK blocks that make no sense.
    pub fn bad_blocks(&self) -> u64 {
        u64::from(self.bad_blocks)
    }

    /// A SYN came that does not belong here, or something before the SYN.
    pub fn stray(&mut self) {
        self.positions.count_stray();
    }

    /// So many of them belong to another connection.
    pub fn forget_strays(&mut self, strays: u32) {
        self.positions.forget_strays(strays);
    }

    /// Packets of it are missing before the last one, by their numbers.
    #[inline]
    pub fn skips(&self) -> bool {
        self.numbers.skips()
    }

    /// Its numbers of packets tell which are missing.
    pub fn is_counted(&self) -> bool {
        self.numbers.tell()
    }

    /// Packets that the capture has twice.
    pub fn copies(&self) -> u64 {
        self.copies.into()
    }

    #[inline]
    fn position(&mut self, seq: Seq) -> Option<u64> {
        self.positions.of(seq, self.edge.get().unwrap_or(0))
    }

    /// The payload of a packet, if it is something that the sender model should see, and whether
    /// the stream jumps ahead to it. `mss`: what it is cut into if it is a super-segment.
    #[inline]
    pub fn payload(&mut self, p: &Packet, now: &Moment, mss: u32) -> (Option<Data>, bool) {
        let Moment { at, silence, .. } = *now;
        let syn = p.control.contains(Control::SYN);
        let mut seq = if syn { p.seq + 1 } else { p.seq };
        let position = self.position(seq);
        let (una, max) = (self.positions.una(), self.positions.max());
        let hole = position.map_or(0, |position| position.saturating_sub(max));
        let (mut skipped, counted) = self.numbers.passed(p, mss, hole);
        let mut all_seen = self.numbers.all_seen();
        if syn {
            self.numbers.begins();
        }
        let Some(mut position) = position else { return (None, false) };
        let fin = p.control.contains(Control::FIN);
        let reset = p.control.contains(Control::RST);
        // RFC 5961 section 3, but for numbers that are a little old.
        self.reset |= reset && position + ROOM >= una;
        let jumps = position > max && !reset;
        let mut len = p.len;
        // A FIN goes again only where there was one; some stacks drop what was not acknowledged,
        // and close with the number that it had.
        let takes_back = fin && len == 0 && !syn && !self.fin && position < max;
        self.fin |= fin && !reset;
        if len == 0 && !syn && !fin && !reset && position == max {
            (self.none_newer, self.is_next) = (Some(at).into(), true);
            if !self.data {
                self.numbers.has_sent_none();
            }
        }
        if reset || len == 0 && (!fin || takes_back) || self.is_probe(position, len, fin, silence) {
            return (None, jumps);
        }
        if position < max && len > u32::from(position < una) && self.take_probe(position) {
            // A window probe has carried the first byte; that it was taken away again is no loss.
            (position, seq, len) = (position + 1, seq + 1, len - 1);
            if len == 0 && !fin {
                return (None, jumps);
            }
        }
        let just_now = |then: Time| at.since(then) < LEAST_RTO;
        if position == max && !counted && self.none_newer.get().is_some_and(just_now) {
            // No timer has expired since then, and what comes first had not gone out; what comes
            // later, a fast retransmit may have sent again.
            (skipped, all_seen) = (0, all_seen || self.is_next);
        }
        self.is_next &= position < max;
        self.data = true;
        self.repeats = position < max;
        let [tsval, tsecr] =
            [p.options.timestamps.map(|t| t.val), p.options.timestamps.map(|t| t.ecr)];
        let (frame, ip_id, again) = (p.frame, p.ip_id, position < max);
        let cwr = p.control.contains(Control::CWR);
        let capable = p.codepoint != Codepoint::NotEct;
        let data = Data {
            frame,
            at,
            position,
            seq,
            len,
            fin,
            again,
            tsval,
            tsecr,
            ip_id,
            skipped,
            counted,
            all_seen,
            cwr,
            capable,
            owed: Owed::Some,
        };
        if data.end() > max {
            self.numbers.has_newest();
        }
        self.note_gaps(&data, hole, mss);
        if fin && hole > 0 {
            self.unusual.get_or_insert_default().overtaken = max..position;
        }
        self.positions.extend(data.end());
        self.ahead = self.ahead.max(data.end().saturating_sub(una));
        if p.at < at {
            self.unusual.get_or_insert_default().untimed = data.end();
        }
        (Some(data), jumps)
    }

    /// The number of a packet before which some are missing, as is known only now.
    #[inline]
    pub fn settle_number(&mut self) -> Option<u16> {
        self.numbers.settle()
    }

    /// Whether a packet after as much silence asks if the other end is there (RFC 9293 section
    /// 3.8.4): its number is the one before the next, with that byte or without it. The end has
    /// nothing outstanding then.
    pub fn keeps_alive(&self, p: &Packet, silence: Span) -> bool {
        is_long(silence)
            && p.len <= 1
            && p.control.0 & (Control::SYN.with(Control::FIN).with(Control::RST)).0 == 0
            && self.positions.una() >= self.positions.max()
            && self.positions.first_and_last().is_some_and(|[_, last]| last == p.seq + 1)
    }

    /// The acknowledgment in a packet of the other end, whose windows are scaled by `shift`, and
    /// how many bytes it acknowledges that were not seen.
    #[inline]
    pub fn ack(&mut self, p: &Packet, at: Time, shift: Option<u8>) -> Option<(Acked, u64)> {
        let syn = p.control.contains(Control::SYN);
        if syn {
            self.positions.start_if_unknown(p.ack);
        }
        let ack = self.position(p.ack)?;
        // The window of a SYN is not scaled (RFC 7323 section 2.2).
        let shift = if syn { Some(0) } else { shift };
        let (shift, scaled) = shift.map_or_else(|| self.infer_scale(ack, p.wnd), |s| (s, true));
        let window = u64::from(p.wnd) << shift;
        let (una, max) = (self.positions.una(), self.positions.max());
        // It was said before, to an end that has nothing outstanding: each segment of a download
        // does that. That the window is still closed answers who asks for room, and what has come
        // again is answered, too.
        let known = self.acks && (ack, ack, window) == (una, max, self.window);
        let answers = (window == 0 || self.repeats) && p.len == 0;
        if known && !answers && p.options.sack.is_empty() {
            return None;
        }
        self.acks = true;
        let missing = ack.saturating_sub(max);
        self.positions.extend(ack);
        self.window = window;
        let timed =
            p.at == at && self.unusual.as_ref().is_none_or(|unusual| una >= unusual.untimed);
        if ack >= una {
            if let Some(unusual) = &mut self.unusual {
                unusual.gaps.acked(ack);
            }
            self.positions.acknowledge(ack);
            self.edge.set(ack + window);
        }
        let (mut sack, mut sacks): (SackRanges, u8) = Default::default();
        if !p.options.sack.is_empty() {
            (sack, sacks) = self.blocks(p);
        }
        let dsack = if sacks > 0 { self.dsack(ack, &sack, sacks) } else { Dsack::None };
        self.repeats &= !dsack.is_some();
        let tsecr = p.options.timestamps.map(|t| t.ecr);
        let flags = p.control.contains(Control::SYN) || p.control.contains(Control::FIN);
        let (frame, with_data) = (p.frame, p.len > 0 || flags);
        let ece = p.control.contains(Control::ECE) && !p.control.contains(Control::SYN);
        let acked = Acked {
            frame,
            at,
            ack,
            window,
            scaled,
            sack,
            sacks,
            dsack,
            tsecr,
            stamp: None,
            with_data,
            ece,
            timed,
            skips: false,
            overdue: false,
        };
        Some((acked, missing))
    }

    /// The scale of a window without the SYNs, or the least that it may be, and whether it is that.
    fn infer_scale(&mut self, ack: u64, wnd: u16) -> (u8, bool) {
        let (una, max) = (self.positions.una(), self.positions.max());
        let scale = &mut self.unusual.get_or_insert_default().scale;
        if ack >= una {
            scale.offered(ack, wnd, una..max);
        }
        (scale.least(), scale.known().is_some())
    }

    /// The largest window that it was offered, in bytes, if the SYNs do not tell the scale of that
    /// and all else does.
    pub fn inferred_window(&self) -> Option<u64> {
        self.unusual.as_ref().and_then(|unusual| unusual.scale.largest())
    }

    /// SACK blocks as positions; those that make no sense are left out.
    #[cold]
    fn blocks(&mut self, p: &Packet) -> (SackRanges, u8) {
        self.sack = true;
        let (mut sack, mut sacks): (SackRanges, u8) = Default::default();
        for block in p.options.sack.as_slice() {
            match self.positions.of_block(block.left, block.right, self.edge.get().unwrap_or(0)) {
                Some(range) => {
                    sack[usize::from(sacks)] = range;
                    sacks += 1;
                }
                None => self.bad_blocks = self.bad_blocks.saturating_add(1),
            }
        }
        (sack, sacks)
    }
}
