//! Whether Nagle's algorithm holds back what is not full (RFC 9293 section 3.7.4).

use std::cmp::Ordering;

use ackclock_tcp::Span;

use super::super::input::Sent;
use super::super::stream::Stream;
use super::AT_ONCE_PART;

/// Nagle's algorithm is off where small segments went beside others more often than this: once may
/// be a capture out of order. With twice, all shares are the same.
const BESIDE: u8 = 1;

#[derive(Debug, Default)]
pub(super) struct Nagle {
    /// Nothing was outstanding before the new data that last went out, and it was one segment.
    alone: bool,
    /// Some of what is outstanding was acknowledged since new data last went out.
    partly: bool,
    /// Low bits of the position after a small segment, if it is outstanding and no other one is;
    /// else 0.
    small: u32,
    /// The last ACK that advanced has covered it.
    freed: bool,
    /// Small segments that went out beside another one.
    beside: u8,
    /// Small segments that went out at once on the ACK of all before them, less those that did so
    /// a little later.
    balance: i16,
    /// Bytes of payload that last went out, or SMSS if the receiver's window had room for no more;
    /// 0 with a FIN.
    last: u32,
    /// What last went out was not full, as far as those before it tell.
    ends: bool,
}

impl Nagle {
    /// Bytes of payload that last went out, or SMSS if the receiver's window had room for no more;
    /// 0 with a FIN.
    #[inline]
    pub fn last(&self) -> u32 {
        self.last
    }

    /// What last went out was not full, as far as those before it tell: the send buffer was empty
    /// behind it. What a window holds back is joined into full segments.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.ends
    }

    /// An ACK of this position has advanced, and so many bytes are outstanding yet.
    #[inline]
    pub fn advanced(&mut self, una: u64, flight: u32) {
        self.partly |= flight > 0;
        self.freed = self.frees(una);
    }

    /// An ACK of this position is due, or will be soon.
    #[inline]
    pub fn ack_is_due(&mut self, ack: u64) {
        if self.frees(ack) {
            self.freed = true;
        }
    }

    /// Whether this ACK covers the small segment that is outstanding, which then is none any more.
    #[inline]
    fn frees(&mut self, ack: u64) -> bool {
        let covers = self.small > 0 && (ack as u32).wrapping_sub(self.small) as i32 >= 0;
        if covers {
            self.small = 0;
        }
        covers
    }

    /// Whether Nagle's algorithm may have held this segment, which is not full. It does so while
    /// anything is outstanding (RFC 9293 section 3.7.4), in Linux only while another segment is
    /// that is not full (`tcp_minshall_check`). Cwnd had room if one segment was outstanding alone,
    /// or if part of what was outstanding had been acknowledged before the rest. Or an ACK covers
    /// the small segment and lets another small one go, with nothing before it.
    #[inline]
    pub fn may_be_held(&mut self, sent: &Sent, stream: &Stream, due: bool) -> bool {
        let partly = std::mem::take(&mut self.partly);
        let all_acked = stream.outstanding.is_empty();
        let idle = all_acked || (self.alone && due);
        let single = sent.payload() <= stream.terms.mss;
        let alone = std::mem::replace(&mut self.alone, idle && single);
        let freed = std::mem::take(&mut self.freed);
        if !is_small(sent, stream) {
            return false;
        }
        self.small = if self.small == 0 { sent.end() as u32 } else { 0 };
        let after_small = self.last > 0 && self.last < stream.terms.mss;
        if after_small && !idle && !due {
            self.beside = self.beside.saturating_add(1);
        }
        let cut = is_cut(sent, stream);
        (alone && idle || partly && all_acked || freed) && !cut
    }

    /// New data goes out. If the receiver's window has room for no more of it, as with a probe of a
    /// closed one, more may wait behind it. A super-segment is whole ones with one that is not.
    #[inline]
    pub fn sent(&mut self, sent: &Sent, stream: &Stream) {
        let (len, mss) = (sent.payload(), stream.terms.mss);
        (self.ends, self.last) = match len.cmp(&mss) {
            _ if sent.fin => (false, 0),
            Ordering::Equal => (false, len),
            Ordering::Less if is_cut(sent, stream) => (false, mss),
            Ordering::Less => (len < self.last, len),
            Ordering::Greater => (!len.is_multiple_of(mss) && !is_cut(sent, stream), len),
        };
    }

    /// What it may have held goes out so long after the ACK of all before, where what waits for
    /// nothing else does so within `limit`. Returns whether it goes out at once, so that it had
    /// waited.
    pub fn follows(&mut self, after: Span, limit: Span) -> bool {
        let at_once = after <= limit;
        if at_once {
            self.balance = self.balance.saturating_add(1);
        } else if after <= limit.times(AT_ONCE_PART) {
            self.balance = self.balance.saturating_sub(1);
        }
        at_once
    }

    /// Small segments went beside others, or as often a little later as at once: the application
    /// wrote them when it liked, and nothing held them.
    pub fn had_no_nagle(&self) -> bool {
        self.beside > BESIDE || self.balance <= 0
    }
}

/// Whether the receiver's window has room for no more than this.
fn is_cut(sent: &Sent, stream: &Stream) -> bool {
    let room = stream.windows.allowed().saturating_sub(stream.outstanding.flight());
    u64::from(sent.payload()) >= room
}

/// Whether Nagle's algorithm may hold this back: a FIN goes all the same (`tcp_nagle_test`).
fn is_small(sent: &Sent, stream: &Stream) -> bool {
    sent.payload() > 0 && sent.payload() < stream.terms.mss && !sent.fin
}
