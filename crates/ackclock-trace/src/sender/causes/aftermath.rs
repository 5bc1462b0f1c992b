//! What a sender does after the only segment outstanding went out again: that tells a tail loss
//! probe from a timeout.
//!
//! A timeout leaves a cwnd of one segment, which slow start opens by one segment for each one that
//! is acknowledged (RFC 5681 section 3.1). A probe leaves cwnd as it was; only an ACK beyond it may
//! lower that (RFC 8985 section 7.4.2, `tcp_process_tlp_ack`). So what a timeout would not have let
//! out speaks for a probe. Two segments of more that wait speak for a timeout, if cwnd was larger;
//! where it may have been two, four on their ACKs do.
//!
//! BBR is the exception. It paces, and after a timeout it takes the cwnd from before up again as
//! soon as all is repaired (`bbr_set_cwnd_to_recover_or_restore`). So more than slow start lets out
//! speaks for a probe only if it goes out faster than BBR's pace.

use ackclock_tcp::{Span, Time};

use crate::sender::stream::moments::HOST_BUSY;

/// Room for so many segments at the receiver is enough. Whatever cwnd was before, a slow start may
/// come as far.
const ROOM: u64 = 6;

/// Segments that go out on the ACK of what a timeout sent.
const AFTER_TIMEOUT: u64 = 2;

/// Segments outstanding once these are acknowledged.
const NEXT: usize = 4;

/// BBR sends no more than three cwnds (`bbr_high_gain`, 2.885) in a round trip, at a low rate two
/// segments at a time (`bbr_tso_segs_goal`). So the third one comes no sooner than a third of a
/// round trip for each segment of cwnd: half of the first two is credit for the time in which
/// nothing was sent (`tcp_update_skb_after_send`). A quarter leaves room for doubt.
const FASTEST: u64 = 4;

#[derive(Debug)]
pub(crate) struct Aftermath {
    /// cwnd before it in bytes, at the least, and SMSS.
    cwnd: u64,
    mss: u64,
    /// The most segments outstanding after a timeout.
    most: usize,
    /// Nagle's algorithm does not hold a segment back that is not full.
    sends_small: bool,
    begin: Begin,
    /// When the first new data since the last ACK went out.
    burst: Option<Time>,
}

/// What it was, as far as what followed tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Timeout,
    Probe,
    /// Nothing tells any more.
    Nothing,
}

/// What goes out between the ACK of the retransmission and the next one.
#[derive(Clone, Copy, Debug)]
enum Begin {
    /// The retransmission waits for its ACK.
    NotYet,
    /// So many segments, all of them `full` or not.
    Sent { segments: u64, full: bool },
    /// It was as after a timeout, and so many ACKs have acknowledged it.
    AsAfterTimeout { acks: u32 },
    /// It says nothing.
    Unclear,
}

/// New data goes out.
pub(crate) struct NewData {
    pub at: Time,
    /// The round trip, smoothed.
    pub srtt: Span,
    /// Segments outstanding with it.
    pub outstanding: usize,
    /// Bytes of payload.
    pub len: u32,
    /// Since the last ACK.
    pub since_ack: Span,
    /// The sender was idle for as long as its timer waits, so that it may have lowered cwnd (RFC
    /// 5681 section 4.1).
    pub after_idle: bool,
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
    /// `cwnd`: in bytes, before the retransmission, at the least. `sends_small`: a segment went out
    /// that was not full, while others were outstanding.
    pub fn new(cwnd: u64, mss: u32, sends_small: bool) -> Aftermath {
        let begin = Begin::NotYet;
        Aftermath { cwnd, mss: mss.into(), most: 1, sends_small, begin, burst: None }
    }

    /// What it was, if this new data tells, or shows that nothing will.
    pub fn new_data(&mut self, new: &NewData) -> Option<Told> {
        let began = *self.burst.get_or_insert(new.at);
        if new.outstanding > self.most {
            let cwnd = (self.cwnd / self.mss.max(1)).max(1);
            let at_once = new.at.since(began).0 <= new.srtt.0 / (FASTEST * cwnd);
            let is_probe = at_once || matches!(self.begin, Begin::NotYet);
            return Some(if is_probe { Told::Probe } else { Told::Nothing });
        }
        let (len, full) = (u64::from(new.len), u64::from(new.len) >= self.mss);
        match &mut self.begin {
            Begin::Sent { segments: 0, .. } if new.after_idle => self.begin = Begin::Unclear,
            Begin::Sent { segments, full: all } => {
                *segments += 1;
                *all &= full;
            }
            // It has waited for the ACK.
            Begin::AsAfterTimeout { acks }
                if new.since_ack <= HOST_BUSY && (full || self.sends_small) =>
            {
                let had_room = *acks == 1 && AFTER_TIMEOUT * self.mss + len <= self.cwnd;
                let all = new.outstanding == self.most && self.most >= NEXT;
                return (had_room || all).then_some(Told::Timeout);
            }
            begin => *begin = Begin::Unclear,
        }
        None
    }

    /// Returns whether what comes next can still tell. A loss ends that, and so does a slow start
    /// that has come as far as cwnd was.
    pub fn acked(&mut self, answer: &Answer) -> bool {
        self.most += answer.acked;
        self.burst = None;
        self.begin = match self.begin {
            Begin::NotYet if answer.acked > 0 => Begin::Sent { segments: 0, full: true },
            Begin::Sent { segments: AFTER_TIMEOUT, full: true }
                if answer.room >= ROOM && !answer.with_data =>
            {
                Begin::AsAfterTimeout { acks: 1 }
            }
            Begin::AsAfterTimeout { acks } if answer.acked > 0 && !answer.with_data => {
                Begin::AsAfterTimeout { acks: acks + 1 }
            }
            begin @ (Begin::NotYet | Begin::Sent { segments: 0, .. }) => begin,
            _ => Begin::Unclear,
        };
        let repeats = answer.acked == 0 && answer.outstanding > 0 && !answer.with_data;
        !repeats && self.most as u64 <= (self.cwnd / self.mss.max(1)).max(ROOM)
    }
}
