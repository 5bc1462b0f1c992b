//! What a sender model takes in, all of it in the sender's frame of time: segments as they go out,
//! ACKs as they reach the sender, and what the connection has agreed on.

use std::net::IpAddr;

use ackclock_tcp::{SackRanges, Seq, Span, Time};

use crate::compact::Compact;
use crate::standards::WITHOUT_PROBES;

/// Captures that take packets from several queues of a device exchange what is this close: an ACK
/// may stand before the data that it answers.
pub(crate) const EXCHANGED: Span = Span::from_millis(1);

/// Which transmissions the capture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// All of them: the capture was taken at the sender.
    Sent,
    /// Those that got as far as the capture, which lies between the ends.
    Arrived,
    /// Those that reached the receiver, where the capture was taken.
    Received,
}

impl Sight {
    /// Whether what was seen was lost behind the capture, as far as its place says.
    pub fn lost(self) -> Option<bool> {
        (self == Sight::Received).then_some(false)
    }
}

/// A segment that goes out: at most SMSS of payload, or a FIN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub frame: u64,
    /// When it passed the capture.
    pub at: Time,
    /// First byte.
    pub position: u64,
    /// Sequence number of the first byte.
    pub seq: Seq,
    /// Bytes of sequence space: payload, and 1 for a FIN. Never 0.
    pub len: u32,
    /// Whether the last byte of `len` is a FIN.
    pub fin: bool,
    pub tsval: Option<u32>,
    /// The timestamp that it echoes.
    pub tsecr: Option<u32>,
    pub ip_id: Option<u16>,
    /// Packets of this end that went out after what was seen before, ACKs included, and were not
    /// seen, if its numbers tell that.
    pub skipped: u16,
    /// They are known to do so.
    pub counted: bool,
    /// All that this end has sent since its newest data before was seen, by its numbers.
    pub all_seen: bool,
}

impl Sent {
    /// Position after the last byte.
    pub fn end(&self) -> u64 {
        self.position + u64::from(self.len)
    }

    /// Packets of this end that are missing before it, by their numbers; 0 if these do not tell.
    pub fn missing(&self) -> u16 {
        if self.counted { self.skipped } else { 0 }
    }

    /// Bytes of payload.
    pub fn payload(&self) -> u32 {
        self.len - u32::from(self.fin)
    }
}

/// What the first SACK block of an ACK says has come twice (RFC 2883).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dsack {
    /// It is no D-SACK.
    None,
    /// What the sender has sent twice, as far as is known.
    Sent,
    /// What the path has made two of, as the capture shows.
    Copied,
}

impl Dsack {
    /// It is a D-SACK. The sender does not know what of.
    pub fn is_some(self) -> bool {
        self != Dsack::None
    }
}

/// An ACK as it reaches the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub frame: u64,
    /// When it reaches the sender, on the clock by which the sender's segments pass the capture.
    pub at: Time,
    pub ack: u64,
    /// Offered window in bytes, scaled. Where its scale is not known, it is the least that it may
    /// be.
    pub window: u64,
    /// The scale of the window is known.
    pub scaled: bool,
    /// SACK blocks as positions, D-SACK included.
    pub sack: SackRanges,
    pub sacks: u8,
    /// Whether the first block is a D-SACK, and of what.
    pub dsack: Dsack,
    pub tsecr: Option<u32>,
    /// Its own timestamp, which the sender echoes from then on: it does not come behind data that
    /// may be missing (RFC 7323 section 4.3).
    pub stamp: Option<u32>,
    /// It carries data, a SYN or a FIN, so it is no duplicate ACK (RFC 5681 section 2).
    pub with_data: bool,
    /// It has ECN-Echo, on a connection with ECN.
    pub ece: bool,
    /// Its time can be trusted, and so can the times of what it acknowledges: the clock of the
    /// capture did not go back.
    pub timed: bool,
    /// Packets of the receiver before it were not seen, by their numbers. They may have
    /// acknowledged the same.
    pub skips: bool,
    /// It goes with what its receiver sent on its own account, after neither end has sent anything
    /// for longer than a receiver delays an ACK (RFC 9293 section 3.8.6.3) and a sender waits for
    /// one: an ACK alone was not seen.
    pub overdue: bool,
}

impl Acked {
    /// What the window lets the sender have outstanding. Nothing is known to be too much where the
    /// scale is not known, unless the window is closed.
    #[inline]
    pub fn allowed(&self) -> u64 {
        if self.scaled || self.window == 0 { self.window } else { u64::MAX }
    }
}

/// A router asks for shorter packets, since one that is outstanding was too big.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shorter {
    /// When that reaches the sender.
    pub at: Time,
    pub router: IpAddr,
    /// The largest that it takes; `None` from old routers.
    pub mtu: Option<u32>,
    /// How long the one was that it did not take.
    pub len: u32,
}

/// How the connection begins in the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Before the capture: no SYN was seen.
    Unseen,
    /// With SYNs that whoever wrote the capture made up: positions count from the first byte, but
    /// no handshake has measured a round trip.
    MadeUp,
    /// With a SYN.
    Seen,
}

/// What is known of the connection when its first data goes out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// When the connection's first packet was seen.
    pub start: Time,
    pub mss: u32,
    /// Bytes of the headers of IP and TCP of a data segment.
    pub header: u32,
    pub sack: bool,
    /// Options are cut off, so that SACK may be in use unseen.
    pub cut: bool,
    pub timestamps: bool,
    pub sight: Sight,
    /// Something may be lost before the capture, but its times are the sender's.
    pub near: bool,
    pub opening: Opening,
    /// This end sent the SYN, and not its answer.
    pub opens: bool,
    /// The round trip of the handshake, over the whole path; `None` if it was not seen.
    pub handshake_rtt: Compact<Span>,
    /// Keep events for a picture.
    pub events: bool,
}

impl Terms {
    /// The capture shows every transmission.
    pub fn at_sender(&self) -> bool {
        self.sight == Sight::Sent
    }

    /// The sender may have tail loss probes: there were such senders then.
    pub fn may_have_probes(&self) -> bool {
        !WITHOUT_PROBES.contains(&self.start)
    }
}
