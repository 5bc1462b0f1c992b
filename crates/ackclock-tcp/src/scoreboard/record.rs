//! One outstanding segment, and sums over some of them.

use crate::time::Time;

/// Who judged a segment lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Judge {
    /// No mechanism: it is not lost, or given up by a timeout.
    #[default]
    Nobody,
    /// Detection.
    Detect,
    /// The detection of lost retransmissions.
    Retransmission,
    /// Selection, on a partial ACK.
    Select,
}

/// One outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Position of its first byte.
    pub seq: u64,
    /// When it was first sent.
    pub first_sent: Time,
    /// When it was last sent.
    pub last_sent: Time,
    /// Payload bytes.
    pub len: u32,
    /// How often it was sent.
    pub transmissions: u16,
    /// The receiver reported it in a SACK block.
    pub sacked: bool,
    /// Judged lost. Stays set when the segment is retransmitted.
    pub lost: bool,
    /// A retransmission is on its way, and counts in the pipe.
    pub retransmitted: bool,
    /// A SACK block reported it before a timeout forgot that.
    pub(crate) forgotten: bool,
    /// Who judged its last transmission lost.
    pub(crate) lost_by: Judge,
    /// Time has judged its last transmission, and does so only once.
    pub(super) judged_by_time: bool,
    /// Bytes from its first one to the end of what had been sent when it was last sent.
    pub(super) span: u32,
}

impl Record {
    /// Position after its last byte.
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    /// Its bytes without a FIN at this position, which takes no room.
    pub(crate) fn len_without(&self, fin: Option<u64>) -> u32 {
        self.len - u32::from(fin.is_some_and(|fin| fin + 1 == self.end()))
    }

    /// Judged lost, and no retransmission of it is on its way.
    pub fn waits(&self) -> bool {
        self.lost && !self.retransmitted
    }

    /// A transmission of it is on its way, as far as anyone knows.
    pub fn on_its_way(&self) -> bool {
        !self.sacked && !self.waits()
    }

    /// It was sent once, nothing was ever known of it but that, and it does not reach beyond `ack`.
    pub(super) fn is_plainly_below(&self, ack: u64) -> bool {
        self.transmissions == 1 && !self.forgotten && self.end() <= ack
    }

    /// Detection has judged a retransmission of it lost, and none is on its way.
    pub(crate) fn is_lost_again(&self) -> bool {
        self.waits() && self.lost_by == Judge::Detect && self.transmissions > 1
    }

    /// The position from which on everything was sent after its last transmission.
    pub fn sent_before(&self) -> u64 {
        self.seq + u64::from(self.span)
    }
}

/// Bytes and segments of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    pub(super) segments: u32,
}

impl Tally {
    pub(super) fn add(&mut self, r: &Record) {
        self.bytes += u64::from(r.len);
        self.segments += 1;
    }

    pub(super) fn remove(&mut self, r: &Record) {
        self.bytes -= u64::from(r.len);
        self.segments -= 1;
    }
}
