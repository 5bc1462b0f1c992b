//! What Linux's decisions make of data that comes.

use super::Receiver;
use super::assembler::Range;
use super::linux_acks::{Answer, Arrival};
use crate::segment::Segment;
use crate::time::Time;

impl Receiver {
    /// Bytes of the window that the last ACK offered.
    pub(super) fn offered(&self) -> u64 {
        self.window.edge() - self.last_ack_sent.min(self.window.edge())
    }

    /// A segment as Linux measures it; `held`: bytes in memory as it comes.
    fn arrival(&self, segment: &Segment, held: u64) -> Arrival {
        Arrival {
            len: segment.len,
            psh: segment.flags.psh(),
            timestamps: segment.timestamps.is_some(),
            window: self.offered(),
            unacked: self.rcv_nxt - self.last_ack_sent,
            held,
            read: self.config.auto_read,
        }
    }

    /// Data came in order: `held` bytes are in memory with it. An ACK may be due anyway.
    pub(super) fn answer_as_linux(&mut self, now: Time, segment: &Segment, held: u64) {
        let arrival = self.arrival(segment, held);
        let Some(linux) = &mut self.linux else { return };
        linux.blocks.remove(self.rcv_nxt, self.out_of_order.is_empty());
        linux.on_data(now, &arrival);
        if self.config.auto_read {
            linux.on_read(now, self.rcv_nxt, 0);
        }
        let answer = if !self.out_of_order.is_empty() {
            linux.answer_gap(now, &arrival, self.rcv_nxt, self.config.sack)
        } else if self.ack_due {
            return;
        } else {
            linux.answer(now, &arrival)
        };
        self.follow(answer);
    }

    /// Data came with data before it missing. Returns whether it brought a byte that was not held.
    pub(super) fn on_data_above_gap_as_linux(
        &mut self,
        now: Time,
        range: Range,
        segment: &Segment,
    ) -> bool {
        let arrival = self.arrival(segment, self.out_of_order.bytes() + self.readable());
        let (at, flushes) = match &mut self.linux {
            Some(linux) => linux.on_out_of_order(&arrival, range),
            None => (0, false),
        };
        // It reports the block as it has grown, and nothing where the segment begins another one.
        let early = flushes.then(|| self.ack(now, false));

        let merged = self.out_of_order.insert(range);
        self.report_duplicate(merged.duplicate);
        let beyond = self.out_of_order.highest() - self.rcv_nxt;
        let Some(linux) = &mut self.linux else { return merged.fresh };
        linux.blocks.bring_forward(at, range);
        linux.on_held(&arrival, self.config.sack, beyond);
        if early.is_some() {
            (linux.early, self.ack_due) = (early, true);
        } else {
            let answer = linux.answer_gap(now, &arrival, self.rcv_nxt, self.config.sack);
            self.follow(answer);
        }
        merged.fresh
    }

    fn follow(&mut self, answer: Answer) {
        match answer {
            Answer::Now => self.ack_due = true,
            Answer::By(deadline) => self.ack_deadline = self.ack_deadline.min(deadline),
        }
    }
}
