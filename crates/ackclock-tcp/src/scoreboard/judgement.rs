//! What is judged lost, and what no more.

use super::{Judge, Record, Scoreboard, Tally};
use crate::time::Time;

impl Scoreboard {
    /// Judges the segment at `index` lost, its retransmission included; returns whether that was
    /// news.
    pub(crate) fn mark_lost(&mut self, index: usize, by: Judge) -> bool {
        let Some(r) = self.records.get_mut(index) else { return false };
        if !r.on_its_way() {
            return false;
        }
        if !r.lost {
            self.lost.add(r);
        }
        let again = r.retransmitted;
        if again {
            self.retransmitted.remove(r);
        }
        (r.lost, r.lost_by) = (true, by);
        r.retransmitted = false;
        self.add_waiting(index);
        if again {
            self.prune_again();
        }
        if index == self.settled {
            self.settle();
        }
        self.check();
        true
    }

    /// Judges the segment at `index` lost, of which a retransmission is on its way that need not
    /// have counted in the pipe.
    pub(crate) fn mark_replaced(&mut self, index: usize) {
        let Some(r) = self.records.get_mut(index).filter(|r| !r.sacked && !r.lost) else { return };
        self.lost.add(r);
        if !r.retransmitted {
            self.retransmitted.add(r);
        }
        (r.lost, r.retransmitted) = (true, true);
        self.list_again();
        self.check();
    }

    fn add_waiting(&mut self, index: usize) {
        self.waits_from = if self.waiting == 0 { index } else { self.waits_from.min(index) };
        self.waiting += 1;
    }

    /// Moves `settled` on over what is sacked or lost.
    pub(super) fn settle(&mut self) {
        self.settled +=
            self.records.range(self.settled..).take_while(|r| r.sacked || r.lost).count();
    }

    /// Judges the original transmission of every segment that ends at or below `edge` lost, and
    /// reports each that is new.
    pub(crate) fn mark_lost_below(&mut self, edge: u64, mut report: impl FnMut(&Record)) {
        if edge <= self.judged {
            return;
        }
        // What is settled begins there, most often.
        let mut index = match self.records.get(self.settled) {
            Some(r) if r.seq == self.judged => self.settled,
            _ => self.find(self.judged),
        };
        while let Some(r) = self.records.get_mut(index) {
            if r.end() > edge {
                break;
            }
            if !r.sacked && !r.lost {
                (r.lost, r.lost_by) = (true, Judge::Detect);
                self.lost.add(r);
                report(r);
                if r.waits() {
                    self.add_waiting(index);
                }
            }
            index += 1;
        }
        self.judged = edge.min(self.end);
        self.settled = self.settled.max(index);
        self.check();
    }

    /// Judges the head lost, and every outstanding segment that is not sacked and was last sent no
    /// later than `sent_by`, retransmissions included (a timeout).
    pub(crate) fn mark_all_lost(&mut self, sent_by: Time) {
        self.judged = self.end;
        let head = self.records.front().map_or(0, |r| r.seq);
        for r in &mut self.records {
            if r.seq == head || r.last_sent <= sent_by {
                (r.lost, r.lost_by) = (!r.sacked, Judge::Nobody);
                r.retransmitted = false;
            }
            if !r.sacked && !r.lost {
                self.judged = self.judged.min(r.seq);
            }
        }
        self.settled = 0;
        self.settle();
        self.count();
        self.prune_again();
        self.check();
    }

    /// Time judges the segment at `index` lost.
    pub(crate) fn mark_judged_by_time(&mut self, index: usize) {
        if let Some(r) = self.records.get_mut(index) {
            r.judged_by_time = true;
        }
    }

    /// Takes back every loss judgement (the losses were spurious); `again`: time may judge the same
    /// transmissions once more.
    pub(crate) fn unmark_lost(&mut self, again: bool) {
        for r in &mut self.records {
            r.lost = false;
            r.judged_by_time &= !again;
        }
        (self.lost, self.waiting) = (Tally::default(), 0);
        (self.judged, self.settled) = (0, 0);
        self.check();
    }
}
