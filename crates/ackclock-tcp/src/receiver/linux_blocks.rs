//! The blocks that a Linux receiver reports (`selective_acks`). It knows four, the newest first,
//! and joins others with the newest only. What it has forgotten is reported no more until it is
//! acknowledged or comes again.

use super::assembler::Range;

/// `TCP_NUM_SACKS`.
const MOST: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    len: usize,
    blocks: [Range; MOST],
}

fn touch(a: Range, b: Range) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

fn join(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

impl Blocks {
    pub fn get(&self) -> &[Range] {
        &self.blocks[..self.len]
    }

    /// Lets the first block that touches this range take it. Returns which one, or the number of
    /// blocks if there is none.
    pub fn extend(&mut self, range: Range) -> usize {
        let at = self.get().iter().take_while(|block| !touch(**block, range)).count();
        if at < self.len {
            self.blocks[at] = join(self.blocks[at], range);
        }
        at
    }

    /// Makes the block at this place the newest, or this range if no block took it
    /// (`tcp_sack_new_ofo_skb`, `tcp_sack_maybe_coalesce`).
    pub fn bring_forward(&mut self, at: usize, range: Range) {
        if at == self.len {
            self.len = MOST.min(self.len + 1);
            self.blocks[..self.len].rotate_right(1);
            self.blocks[0] = range;
            return;
        }
        self.blocks[..=at].rotate_right(1);
        let old = core::mem::take(self);
        let mut newest = old.blocks[0];
        for &block in &old.get()[1..] {
            if touch(newest, block) {
                newest = join(newest, block);
            } else {
                self.len += 1;
                self.blocks[self.len] = block;
            }
        }
        self.blocks[0] = newest;
        self.len += 1;
    }

    /// Everything below `rcv_nxt` has arrived, and nothing else if `all` (`tcp_sack_remove`).
    pub fn remove(&mut self, rcv_nxt: u64, all: bool) {
        let old = core::mem::take(self);
        for &block in old.get().iter().filter(|block| !all && block.0 > rcv_nxt) {
            self.blocks[self.len] = block;
            self.len += 1;
        }
    }
}
