//! Segments that are cut and joined, since the size of a segment has changed.

use alloc::collections::VecDeque;

use super::{Record, Scoreboard};

impl Scoreboard {
    /// Cuts every segment of more than `most` bytes (not zero), and judges lost what is not sacked
    /// of them, retransmissions included; returns the bytes judged.
    pub(crate) fn cut(&mut self, most: u32) -> u64 {
        if self.records.iter().all(|r| r.len <= most) {
            return 0;
        }
        let (mut cut, mut judged) = (VecDeque::with_capacity(self.records.len() * 2), 0);
        for r in self.records.drain(..) {
            let lost = r.len > most && !r.sacked;
            if lost {
                judged += u64::from(r.len);
            }
            let (lost, retransmitted) = (r.lost || lost, r.retransmitted && !lost);
            let pieces = (0..r.len).step_by(most as usize);
            cut.extend(pieces.map(|from| Record {
                seq: r.seq + u64::from(from),
                len: most.min(r.len - from),
                span: r.span - from,
                lost,
                retransmitted,
                ..r
            }));
        }
        self.records = cut;
        self.walk_again();
        self.count();
        self.list_again();
        self.check();
        judged
    }

    /// Judges lost every segment of more than `most` bytes that is not sacked, and its
    /// retransmission if it was lost before (`tcp_mark_skb_lost`); returns their bytes. `len`: the
    /// bytes of one (`tcp_skb_seglen`). What was acknowledged of the first one counts until that is
    /// retransmitted (`tcp_trim_head`).
    pub(crate) fn give_up(&mut self, most: u32, len: impl Fn(&Record) -> u32) -> u64 {
        let ((head, begun), mut judged) = (self.cut, 0);
        for r in self.records.iter_mut().filter(|r| !r.sacked) {
            let acked = if r.seq == head { head - begun } else { 0 };
            if u64::from(len(r)) + acked <= most.into() {
                continue;
            }
            judged += u64::from(r.len);
            r.retransmitted &= !r.lost;
            r.lost = true;
        }
        self.count();
        self.list_again();
        self.check();
        judged
    }

    /// Cuts the segment at `index` after `len` bytes, fewer than it has. Both pieces are what it
    /// was.
    pub(crate) fn split(&mut self, index: usize, len: u32) {
        let Some(r) = self.records.get_mut(index) else { return };
        let rest =
            Record { seq: r.seq + u64::from(len), len: r.len - len, span: r.span - len, ..*r };
        r.len = len;
        self.records.insert(index + 1, rest);
        self.walk_again();
        self.count();
        self.list_again();
        self.check();
    }

    /// Joins the segment at `index` with those after it that are not sacked, up to `most` bytes;
    /// returns how many these were.
    pub(crate) fn join(&mut self, index: usize, most: u32) -> u32 {
        let mut joined = 0;
        while let Some(&next) = self.records.get(index + 1) {
            let Some(r) = self.records.get_mut(index) else { break };
            if r.sacked || next.sacked || r.len + next.len > most {
                break;
            }
            r.len += next.len;
            r.transmissions = r.transmissions.max(next.transmissions);
            self.records.remove(index + 1);
            self.settled = self.settled.min(index);
            self.count();
            self.list_again();
            self.check();
            joined += 1;
        }
        joined
    }
}
