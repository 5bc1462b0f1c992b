//! What is written and not sent lies in buffers, as in Linux: each is filled up to a segment
//! (`tcp_sendmsg_locked`), and no segment has more than one of them. They are kept here only where
//! they are other segments than SMSS makes of the data.

use alloc::collections::VecDeque;

/// Buffers of unsent data, in sequence order.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    /// Where the first one ends, which begins at `snd_max`.
    head: u64,
    /// The others.
    rest: VecDeque<Run>,
}

/// Buffers of one size, the last of which may have less. They begin where the ones before end.
#[derive(Clone, Copy, Debug)]
struct Run {
    end: u64,
    size: u64,
}

impl Buffers {
    /// Buffers of `size` bytes for all from `snd_max` to `written`, which lies behind it.
    pub fn new(snd_max: u64, written: u64, size: u64) -> Buffers {
        let all = Run { end: written, size };
        let mut buffers = Buffers { head: snd_max, rest: VecDeque::from([all]) };
        buffers.head = buffers.take().unwrap_or(written);
        buffers
    }

    /// Where the first one ends.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Whether the first one is the last.
    pub fn is_last(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes the second one off; returns where it ends.
    fn take(&mut self) -> Option<u64> {
        let run = *self.rest.front()?;
        let end = run.end.min(self.head.saturating_add(run.size));
        if end == run.end {
            self.rest.pop_front();
        }
        Some(end)
    }

    /// The first one is filled up to SMSS with what the second one has (`tcp_grow_skb`).
    pub fn grow(&mut self, snd_max: u64, mss: u64) {
        let full = snd_max + mss;
        if self.head < full
            && let Some(end) = self.take()
        {
            self.head = full.min(end);
            if self.head < end {
                self.rest.push_front(Run { end, size: end - self.head });
            }
        }
    }

    /// All up to `snd_max` was sent. Returns whether the buffers that are left differ from the
    /// segments that SMSS makes of the data.
    pub fn sent(&mut self, snd_max: u64, mss: u64) -> bool {
        while self.head <= snd_max {
            let Some(end) = self.take() else { return false };
            self.head = end;
        }
        let full = self.head - snd_max == mss;
        match self.rest.front() {
            Some(run) => {
                let one = run.end - self.head <= run.size.min(mss);
                !full || self.rest.len() > 1 || !(run.size == mss || one)
            }
            None => false,
        }
    }

    /// More is written. It fills the last buffer up to SMSS.
    pub fn write(&mut self, snd_max: u64, written: u64, mss: u64) {
        let before = self.rest.iter().rev().nth(1).map_or(self.head, |run| run.end);
        match self.rest.back_mut() {
            Some(last) if last.size == mss => return last.end = written,
            Some(last) => {
                let begin = before + (last.end - 1 - before) / last.size * last.size;
                // One that is larger than SMSS is full.
                if last.end - begin < mss {
                    last.end = begin;
                    if begin == before {
                        self.rest.pop_back();
                    }
                }
            }
            None => self.head = self.head.max(written.min(snd_max + mss)),
        }
        if written > self.rest.back().map_or(self.head, |last| last.end) {
            self.rest.push_back(Run { end: written, size: mss });
        }
    }
}
