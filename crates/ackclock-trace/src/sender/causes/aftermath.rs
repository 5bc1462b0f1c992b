//! What a sender does after the only segment outstanding went out again: that tells a tail loss
//! probe from a timeout.
//!
//! A timeout leaves a cwnd of one segment, which slow start opens by one segment for each one that
//! is acknowledged (RFC 5681 section 3.1). After a probe cwnd is at least half of what it was (RFC
//! 8985 section 7.4.2), and grows by a segment in a round trip. So what a timeout would not have let
//! out speaks for a probe. Two segments of many that wait speak for a timeout; where cwnd may have
//! been small, four on their ACKs do.

use ackclock_tcp::Span;

use crate::sender::recovery::SOON;

/// From this cwnd on, in segments, half of it is more than a timeout lets out.
const LARGE: u64 = 6;

/// Segments that go out on the ACK of what a timeout sent.
const AFTER_TIMEOUT: u32 = 2;

/// Segments outstanding once these are acknowledged.
const NEXT: usize = 4;

#[derive(Debug)]
pub(crate) struct Aftermath {
    /// cwnd before it in segments, at the least.
    cwnd: u64,
    /// The most segments outstanding after a timeout.
    most: usize,
    begin: Begin,
}

/// What goes out between the ACK of the retransmission and the next one.
#[derive(Clone, Copy, Debug)]
enum Begin {
    /// The retransmission waits for its ACK.
    NotYet,
    /// So many segments, all of them `full` or not.
    Sent { segments: u32, full: bool },
    /// It was as after a timeout, and has been acknowledged.
    AsAfterTimeout,
    /// The same, but a probe may have left as small a cwnd.
    Small,
    /// It says nothing.
    Unclear,
}

/// New data goes out.
pub(crate) struct NewData {
    /// Segments outstanding with it.
    pub outstanding: usize,
    /// It is a full segment.
    pub full: bool,
    /// Since the last ACK.
    pub since_ack: Span,
}

/// An ACK comes.
pub(crate) struct Answer {
    /// Segments outstanding before it.
    pub outstanding: usize,
    /// Segments that it acknowledges.
    pub acked: usize,
    /// It carries data, which an application may answer.
    pub with_data: bool,
    /// Segments for which the receiver has room.
    pub room: u64,
}

impl Aftermath {
    /// `cwnd`: in segments, before the retransmission, at the least.
    pub fn new(cwnd: u64) -> Aftermath {
        Aftermath { cwnd, most: 1, begin: Begin::NotYet }
    }

    /// Whether it was a timeout, if this new data tells.
    pub fn new_data(&mut self, new: &NewData) -> Option<bool> {
        if new.outstanding > self.most {
            return Some(false);
        }
        match &mut self.begin {
            Begin::Sent { segments, full } => {
                *segments += 1;
                *full &= new.full;
            }
            Begin::AsAfterTimeout if new.since_ack <= SOON => return Some(true),
            Begin::Small if new.since_ack <= SOON => {
                return (new.outstanding == self.most && self.most >= NEXT).then_some(true);
            }
            begin => *begin = Begin::Unclear,
        }
        None
    }

    /// Returns whether what comes next can still tell. A loss ends that, and so does a slow start
    /// that has come as far as cwnd was.
    pub fn acked(&mut self, answer: &Answer) -> bool {
        self.most += answer.acked;
        self.begin = match self.begin {
            Begin::NotYet if answer.acked > 0 => Begin::Sent { segments: 0, full: true },
            Begin::Sent { segments: AFTER_TIMEOUT, full: true }
                if answer.room >= LARGE && !answer.with_data =>
            {
                if self.cwnd >= LARGE {
                    Begin::AsAfterTimeout
                } else {
                    Begin::Small
                }
            }
            Begin::Small if answer.acked > 0 && !answer.with_data => Begin::Small,
            begin @ (Begin::NotYet | Begin::Sent { segments: 0, .. }) => begin,
            _ => Begin::Unclear,
        };
        let repeats = answer.acked == 0 && answer.outstanding > 0 && !answer.with_data;
        !repeats && self.most as u64 <= self.cwnd.max(LARGE)
    }
}
