//! What a cumulative acknowledgment takes off the scoreboard.

use super::{Record, Scoreboard, Tally};
use crate::time::Time;

/// What a cumulative acknowledgment took off the scoreboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Acked {
    /// Bytes acknowledged.
    pub bytes: u64,
    /// Of those, bytes that had been selectively acknowledged before.
    pub sacked_before: u64,
    /// Segments acknowledged in full that had not been selectively acknowledged before.
    pub segments: u32,
    /// Send time of the oldest segment acknowledged.
    pub first_sent: Option<Time>,
    /// When the last segment was last sent of which a byte was acknowledged.
    pub last_sent: Option<Time>,
    /// When the last of those among them was sent that had been sent more than once (Karn's rule);
    /// `None` if there was none.
    pub retransmission: Option<Time>,
    /// Where the segment began that was acknowledged in part; `None` if there was none.
    pub cut: Option<u64>,
}

/// What an acknowledgment took off the scoreboard that said nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainlyAcked {
    /// Segments.
    pub segments: usize,
    /// Where the first one ended.
    pub first_end: u64,
    /// When the first and the last of them were sent.
    pub first_sent: Time,
    pub last_sent: Time,
}

impl Scoreboard {
    /// Takes everything below `ack` off, and reports each segment delivered that was not sacked. A
    /// segment acknowledged in part is shortened.
    pub(crate) fn ack_to(&mut self, ack: u64, mut report: impl FnMut(&Record)) -> Acked {
        let (mut acked, mut off_board) = (Acked::default(), 0);
        while let Some(&head) = self.records.front() {
            if head.seq >= ack {
                break;
            }
            acked.first_sent.get_or_insert(head.first_sent);
            acked.last_sent = Some(head.last_sent);
            // Most segments are sent once, and nothing else is known of them.
            let bare = !head.sacked && !head.lost && !head.retransmitted;
            if bare && head.transmissions == 1 && head.end() <= ack {
                acked.bytes += u64::from(head.len);
                acked.segments += 1;
            } else if !self.ack_head_to(ack, &mut acked) {
                self.walk_again();
                self.list_again();
                break;
            }
            if !head.sacked {
                report(&head);
            }
            self.records.pop_front();
            off_board += 1;
        }
        self.settled = self.settled.saturating_sub(off_board);
        if self.again.front().is_some_and(|&(_, seq)| seq < ack) {
            self.prune_again();
        }
        self.waits_from = self.waits_from.saturating_sub(off_board);
        self.check();
        acked
    }

    /// Takes the segments below `ack` off if it acknowledges at least one, each in full, if they
    /// were sent once, and if nothing is known of any outstanding segment but when it was sent;
    /// reports each. Otherwise nothing changes.
    #[inline(always)]
    pub(crate) fn ack_plainly_to(
        &mut self,
        ack: u64,
        mut report: impl FnMut(&Record),
    ) -> Option<PlainlyAcked> {
        if (self.sacked.segments | self.lost.segments | self.retransmitted.segments) > 0 {
            return None;
        }
        let head = self.records.front().filter(|r| r.is_plainly_below(ack))?;
        let first_end = head.end();
        let mut acked = PlainlyAcked {
            segments: 1,
            first_end,
            first_sent: head.first_sent,
            last_sent: head.last_sent,
        };
        // One, most often.
        if first_end == ack {
            report(head);
            self.records.pop_front();
        } else {
            acked.segments = 1 + self.plainly_below(ack)?;
            for r in self.records.drain(..acked.segments) {
                acked.last_sent = r.last_sent;
                report(&r);
            }
        }
        let segments = acked.segments;
        self.settled = self.settled.saturating_sub(segments);
        self.waits_from = self.waits_from.saturating_sub(segments);
        self.check();
        Some(acked)
    }

    /// How many segments lie between the first one and `ack`, if each was sent once and the last
    /// ends there.
    #[inline(never)]
    fn plainly_below(&self, ack: u64) -> Option<usize> {
        let mut rest = self.records.iter().skip(1).take_while(|r| r.is_plainly_below(ack));
        rest.position(|r| r.end() == ack).map(|before| before + 1)
    }

    /// Counts what of the head lies below `ack` as acknowledged; whether that is the whole segment.
    /// If not, it is shortened.
    #[inline(never)]
    fn ack_head_to(&mut self, ack: u64, acked: &mut Acked) -> bool {
        let Some(head) = self.records.front_mut() else { return false };
        let part = head.end().min(ack) - head.seq;
        if head.transmissions > 1 {
            acked.retransmission = acked.retransmission.max(Some(head.last_sent));
        }
        acked.bytes += part;
        let whole = u32::from(head.end() <= ack);
        let off = |from: &mut Tally| {
            from.bytes -= part;
            from.segments -= whole;
        };
        if head.sacked {
            off(&mut self.sacked);
            acked.sacked_before += part;
        } else {
            if head.lost {
                off(&mut self.lost);
                self.waiting -= if head.retransmitted { 0 } else { whole };
            }
            if head.retransmitted {
                off(&mut self.retransmitted);
            }
            acked.segments += whole;
        }
        if whole == 0 {
            acked.cut = Some(head.seq);
            let begun = if self.cut.0 == head.seq { self.cut.1 } else { head.seq };
            self.cut = (ack, begun);
            head.seq = ack;
            head.len -= part as u32;
            head.span -= part as u32;
        }
        whole > 0
    }
}
