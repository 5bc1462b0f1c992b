//! What one end sends: its sequence numbers as positions, its options, and what the other end acknowledges of it.

use ackclock_tcp::wire::{Control, Options};
use ackclock_tcp::{SackRanges, Seq, Time};

use super::duplicates::Recent;
use super::feed::Data;
use crate::packet::Packet;
use crate::sender::Acked;

/// Where the capture begins mid-connection, positions begin this much before the first byte seen, so that older data has a place.
pub(super) const ROOM: u64 = 1 << 24;
/// No window is larger (RFC 7323 section 2.3), so that what lies farther off can be anywhere.
const FAR: u64 = 1 << 30;
/// After so many packets in a row that do not belong to the stream, it is the stream that has gone on, while the capture had a gap.
const LOST_TRACK: u8 = 8;

/// One end as a sender, in the order of the file.
#[derive(Default)]
pub(super) struct Half {
    /// Sequence number of position 0, once it is known.
    origin: Option<Seq>,
    /// Position after the highest byte seen, FIN included.
    pub max: u64,
    /// Highest acknowledgment seen.
    pub una: u64,
    /// Position after what passed while the clock of the capture had gone back.
    untimed: u64,
    /// Right edge of the offered window; `None` before the first ACK.
    edge: Option<u64>,
    /// Bytes in the window last offered to this end.
    window: u64,
    /// Shift of the windows that this end offers; `None` if that is not known.
    pub shift: Option<u8>,
    /// Options of its SYN.
    pub offered: Option<Options>,
    /// Its SYN's sequence number.
    pub isn: Option<Seq>,
    /// The first SYN: frame and time; those that came after it are in `syns_again`, each with whether it answers a SYN that came again.
    pub syn: Option<(u64, Time)>,
    pub syns_again: Vec<(u64, Time, bool)>,
    /// The first and the last ACK for this end, as long as it has no model yet.
    pub acked_before: Option<Box<[Acked; 2]>>,
    /// Its last SYN was a SYN/ACK.
    answers: bool,
    /// When the other end's data last passed.
    pub heard: Time,
    /// Position after its FIN.
    pub fin: Option<u64>,
    /// Position of the byte that a window probe carried last.
    probe: Option<u64>,
    /// Numbers far outside of the stream in a row, and where the last one would be if it was not [`FAR`] off.
    astray: u8,
    astray_at: Option<u64>,
    /// It has sent a reset that its window makes believable.
    pub reset: bool,
    /// The number of a SYN that did not belong here.
    pub stray_syn: Option<Seq>,
    pub recent: Recent,
    pub ttl: u8,
    pub seen: Seen,
}

/// What was seen of an end.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    /// Data or a FIN.
    pub data: bool,
    pub timestamps: bool,
    /// SACK blocks that the other end sent.
    pub sack: bool,
    /// ACKs of this end's data.
    pub acks: bool,
    /// Frames that the capture has twice.
    pub duplicates: u64,
    /// Sequence or acknowledgment numbers that cannot belong to the stream.
    pub strays: u64,
    /// Times that the stream was lost and found again elsewhere.
    pub jumps: u64,
    /// Keep-alives and window probes.
    pub probes: u64,
    /// SACK blocks that make no sense.
    pub bad_blocks: u64,
}

impl Half {
    /// A SYN or SYN/ACK, which may answer another one; `true` if it is the same again. A SYN/ACK after a SYN is not (RFC 9293 section 3.5, figure 8).
    pub fn on_syn(&mut self, p: &Packet, at: Time, answer: bool) -> bool {
        let answers = p.control.contains(Control::ACK);
        let again = self.isn == Some(p.seq);
        if again && self.answers == answers {
            self.syns_again.push((p.frame, at, answer));
        }
        if again {
            return self.answers == std::mem::replace(&mut self.answers, answers);
        }
        self.answers = answers;
        // Another number is possible as long as nothing else was sent: SYN cookies, or a client that tries again.
        self.isn = Some(p.seq);
        self.origin = Some(p.seq + 1);
        (self.max, self.una) = (0, 0);
        self.offered = Some(p.options);
        self.syn = Some((p.frame, at));
        false
    }

    /// The position at which what was seen began.
    pub fn first(&self) -> u64 {
        if self.isn.is_some() { 0 } else { ROOM }
    }

    /// The position of a sequence number; the first one seen says where positions begin.
    #[inline]
    fn position(&mut self, seq: Seq) -> Option<u64> {
        let Some(origin) = self.origin else {
            self.origin = Some(Seq(seq.0.wrapping_sub(ROOM as u32)));
            (self.max, self.una) = (ROOM, ROOM);
            return Some(ROOM);
        };
        let room = self.max.max(self.edge.unwrap_or(0)) + ROOM;
        let position = seq.position(origin, self.max).filter(|&at| at <= self.max + FAR && at + FAR >= self.una);
        if position.is_none_or(|at| at > room) {
            return self.stray(seq, position);
        }
        self.astray = 0;
        position
    }

    /// A number that no window has room for (RFC 9293 section 3.10.7.4) does not belong to the stream, unless others agree: the next
    /// one, where it can be followed, else several. How far they have jumped then is not known.
    #[cold]
    fn stray(&mut self, seq: Seq, position: Option<u64>) -> Option<u64> {
        self.astray += 1;
        let before = self.astray_at.take().filter(|_| self.astray > 1);
        let agrees = |at: u64| before.is_some_and(|before| before != at && before.abs_diff(at) <= ROOM);
        if let Some(at) = position.filter(|&at| agrees(at)) {
            self.astray = 0;
            return Some(at);
        }
        self.seen.strays += 1;
        self.astray_at = position;
        if self.astray < LOST_TRACK {
            return None;
        }
        self.astray = 0;
        if position.is_some() {
            return position;
        }
        self.seen.jumps += 1;
        self.origin = Some(Seq(seq.0.wrapping_sub(self.max as u32)));
        Some(self.max)
    }

    /// Whether what came last for this stream may have been astray.
    #[inline]
    pub fn is_lost(&self) -> bool {
        self.astray > 0
    }

    /// The payload of a packet, if it is something that the sender model should see, and whether the stream jumps ahead to it.
    #[inline]
    pub fn on_payload(&mut self, p: &Packet, at: Time) -> (Option<Data>, bool) {
        let syn = p.control.contains(Control::SYN);
        let seq = if syn { p.seq + 1 } else { p.seq };
        let Some(mut position) = self.position(seq) else { return (None, false) };
        let fin = p.control.contains(Control::FIN);
        // RFC 5961 section 3, but for numbers that are a little old.
        self.reset |= p.control.contains(Control::RST) && position + ROOM >= self.una;
        let jumps = position > self.max && !p.control.contains(Control::RST);
        let mut len = p.len;
        if p.control.contains(Control::RST) || (len == 0 && !fin) || self.is_probe(position, len, fin) {
            return (None, jumps);
        }
        let mut seq = seq;
        if self.probe.take_if(|probe| *probe == position && len > 1).is_some() && position < self.max {
            // A window probe has carried the first byte; that it was taken away again is no loss.
            (position, seq, len) = (position + 1, seq + 1, len - 1);
        }
        self.seen.data = true;
        let end = position + u64::from(len) + u64::from(fin);
        let again = position < self.max;
        if fin {
            self.fin = Some(end);
        }
        self.max = self.max.max(end);
        if p.at < at {
            self.untimed = end;
        }
        let tsval = p.options.timestamps.map(|t| t.val);
        let data = Data { frame: p.frame, at, position, seq, len, fin, again, tsval, ip_id: p.ip_id };
        (Some(data), jumps)
    }

    /// Whether these bytes only keep the connection alive (RFC 9293 section 3.8.4) or ask for the window (section 3.8.6.1).
    fn is_probe(&mut self, position: u64, len: u32, fin: bool) -> bool {
        if len != 1 || fin {
            return false;
        }
        let again = position < self.max;
        let alive = again && position + 1 == self.max && self.una >= self.max;
        let beyond = self.edge.is_some_and(|edge| position >= edge);
        if beyond {
            self.probe = Some(position);
        }
        let is_probe = alive || (beyond && again);
        self.seen.probes += u64::from(is_probe);
        is_probe
    }

    /// The acknowledgment in a packet of the other end, whose windows are scaled by `shift`, and whether it acknowledges bytes
    /// that were not seen.
    #[inline]
    pub fn on_ack(&mut self, p: &Packet, at: Time, shift: Option<u8>) -> Option<(Acked, bool)> {
        if p.control.contains(Control::SYN) && self.origin.is_none() {
            // A SYN/ACK whose SYN is missing.
            self.origin = Some(p.ack);
        }
        let ack = self.position(p.ack)?;
        let shift = if p.control.contains(Control::SYN) { 0 } else { shift.unwrap_or_else(|| self.least_shift(p.wnd)) };
        let window = u64::from(p.wnd) << shift;
        // Said before, of an end that has nothing outstanding: so it is with each segment of a download.
        if self.seen.acks && (ack, ack, window) == (self.una, self.max, self.window) && p.options.sack.is_empty() {
            return None;
        }
        self.seen.acks = true;
        let missing = ack > self.max;
        self.max = self.max.max(ack);
        self.window = window;
        let timed = p.at == at && self.una >= self.untimed;
        if ack >= self.una {
            (self.una, self.edge) = (ack, Some(ack + window));
        }
        let (mut sack, mut sacks): (SackRanges, u8) = Default::default();
        if !p.options.sack.is_empty() {
            (sack, sacks) = self.blocks(p);
        }
        // RFC 2883 section 4: below the acknowledgment, or within the next block.
        let dsack = sacks > 0 && (sack[0].1 <= ack || (sacks > 1 && sack[1].0 <= sack[0].0 && sack[0].1 <= sack[1].1));
        let tsecr = p.options.timestamps.map(|t| t.ecr);
        let acked = Acked { frame: p.frame, at, ack, window, sack, sacks, dsack, tsecr, with_data: p.len > 0, timed };
        Some((acked, missing))
    }

    /// Keeps an ACK until there is a model that can be told of it.
    pub fn keep(&mut self, acked: &Acked) {
        match &mut self.acked_before {
            Some(kept) => kept[1] = *acked,
            None => self.acked_before = Some(Box::new([*acked; 2])),
        }
    }

    /// Without the SYNs, the scale of a window is not known; it is at least what makes room for what is outstanding.
    fn least_shift(&self, wnd: u16) -> u8 {
        let flight = self.max - self.una.min(self.max);
        (0..14).find(|shift| u64::from(wnd.max(1)) << shift >= flight).unwrap_or(14)
    }

    /// SACK blocks as positions; those that make no sense are left out.
    #[cold]
    fn blocks(&mut self, p: &Packet) -> (SackRanges, u8) {
        self.seen.sack = true;
        let (mut sack, mut sacks): (SackRanges, u8) = Default::default();
        for block in p.options.sack.as_slice() {
            let len = u64::from(block.right.0.wrapping_sub(block.left.0));
            let left = self.origin.and_then(|origin| block.left.position(origin, self.una));
            let most = self.max.max(self.edge.unwrap_or(0)) + ROOM;
            match left {
                Some(left) if (1..FAR).contains(&len) && left + len <= most && left + FAR >= self.una => {
                    sack[usize::from(sacks)] = (left, left + len);
                    sacks += 1;
                }
                _ => self.seen.bad_blocks += 1,
            }
        }
        (sack, sacks)
    }
}
