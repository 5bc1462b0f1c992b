//! One direction of a foreign connection: which bytes and which transmission a segment is.
//!
//! - *Transmissions* are counted as packets enter the gateway, until the ACK that covers a segment
//!   leaves it. An ACK that is lost on the way brings on another transmission.
//! - *A fast retransmission* is inferred: it is of the first unacknowledged segment, after a
//!   duplicate ACK.

use std::collections::VecDeque;

use ackclock_tcp::Seq;
use ackclock_tcp::wire::Control;

use super::headers::TcpHeader;
use crate::packet::{Kind, Packet};

/// The most segments in flight whose transmissions are counted.
pub(super) const MOST_SEGMENTS: u64 = 1 << 16;

/// An ACK on its way through the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ack {
    /// The end that it goes to.
    pub(super) to: usize,
    pub(super) ack: Seq,
    /// Its packet carries nothing else.
    pub(super) pure: bool,
    /// It resets the connection.
    pub(super) reset: bool,
}

/// What one end of a connection has sent.
#[derive(Debug, Default)]
pub(super) struct Direction {
    /// Sequence number of its first byte, if its SYN was seen.
    isn: Option<Seq>,
    /// Of its SYN.
    pub(super) mss: Option<u16>,
    pub(super) timestamps: bool,
    /// The position after the last byte seen. Without a SYN, and of other protocols, packets seen.
    snd_nxt: u64,
    /// As far as its bytes are acknowledged to it.
    snd_una: u64,
    /// Duplicate ACKs since then.
    duplicates: u32,
    /// Transmissions of the segments from number `first` on.
    pub(super) transmissions: VecDeque<u16>,
    first: u64,
    /// Its end is acknowledged, or the connection was reset.
    over: bool,
}

impl Direction {
    /// Whether a SYN with this sequence number opens another connection between the same ports.
    pub(super) fn is_other_connection(&self, syn: Seq) -> bool {
        self.isn != Some(syn + 1) && (self.isn.is_some() || self.snd_nxt > 0)
    }

    /// A SYN begins this direction, unless it is a retransmission.
    pub(super) fn open(&mut self, syn: &TcpHeader, mss: u16) {
        let isn = Some(syn.seq + 1);
        if self.isn != isn {
            let timestamps = syn.timestamps;
            *self = Direction { isn, mss: Some(mss), timestamps, ..Direction::default() };
        }
    }

    /// Counts a packet of a protocol other than TCP. Returns how many came before it.
    pub(super) fn count_packet(&mut self) -> u64 {
        self.snd_nxt += 1;
        self.snd_nxt - 1
    }

    /// Fills in which bytes and which transmission this segment is.
    pub(super) fn send(&mut self, tcp: &TcpHeader, mss: u32, packet: &mut Packet) {
        let first = tcp.seq + u32::from(tcp.control.contains(Control::SYN));
        let position = self.isn.and_then(|isn| first.position(isn, self.snd_nxt));
        let Some(position) = position.filter(|at| at / u64::from(mss) < self.first + MOST_SEGMENTS)
        else {
            // Its position is not known. `snd_nxt` only says that something was sent.
            self.snd_nxt += u64::from(self.isn.is_none());
            self.over |= self.isn.is_none() && tcp.control.contains(Control::FIN);
            return;
        };
        packet.position = position;
        packet.len = tcp.len;
        if packet.kind == Kind::Ack {
            return;
        }
        let end = position + u64::from(tcp.len);
        self.snd_nxt = self.snd_nxt.max(end);
        packet.transmission =
            self.count(position.div_ceil(u64::from(mss)), end.div_ceil(u64::from(mss)));
        packet.fast_retransmission =
            packet.transmission > 1 && position == self.snd_una && self.duplicates > 0;
    }

    /// Counts a transmission of the segments from `first` to before `end`. Returns which
    /// transmission of the first of them it is.
    fn count(&mut self, first: u64, end: u64) -> u32 {
        if first >= end {
            return 1;
        }
        if first < self.first {
            // The segment was acknowledged, and its transmissions are forgotten.
            return u32::MAX;
        }
        let (from, to) =
            ((first - self.first) as usize, (end - self.first).min(MOST_SEGMENTS) as usize);
        if self.transmissions.len() < to {
            self.transmissions.resize(to, 0);
        }
        self.transmissions.range_mut(from..to).for_each(|n| *n = n.saturating_add(1));
        self.transmissions.get(from).map_or(1, |&n| n.into())
    }

    /// It sends no more: the memory of its transmissions is given back.
    pub(super) fn end(&mut self) {
        self.transmissions = VecDeque::new();
        self.over = true;
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// An ACK reaches this end.
    pub(super) fn acknowledged(&mut self, ack: &Ack, mss: u32) {
        let Some(position) = self.isn.and_then(|isn| ack.ack.position(isn, self.snd_una)) else {
            return;
        };
        // A FIN is acknowledged like a byte.
        if position > self.snd_nxt + 1 || position < self.snd_una {
            return;
        }
        if position == self.snd_una {
            self.duplicates += u32::from(ack.pure);
            return;
        }
        self.snd_una = position;
        self.duplicates = 0;
        let first = position.min(self.snd_nxt).div_ceil(u64::from(mss.max(1)));
        let forgotten = first.saturating_sub(self.first).min(self.transmissions.len() as u64);
        self.transmissions.drain(..forgotten as usize);
        self.first = self.first.max(first);
        // Its FIN is acknowledged.
        if position > self.snd_nxt {
            self.end();
        }
    }
}
