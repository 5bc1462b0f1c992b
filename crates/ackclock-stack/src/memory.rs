//! The memory of all buffers, and how much of it one buffer may have.
//!
//! A buffer may grow to a share of what is free (Choudhury & Hahne, "Dynamic queue length
//! thresholds for shared-memory packet switches", 1998). So the more is in use, the less the large
//! ones get, and there is always something left for small ones.

#[cfg(test)]
mod tests;

use crate::Stack;
use crate::socket::Socket;

/// A buffer may grow to this part of what is free.
const SHARE: usize = 64;

/// What every buffer may have, even where nothing is free: each connection makes progress.
pub(crate) const LEAST: usize = 8 * 1024;

/// What is left of a connection in TIME-WAIT: its slot, and its entries in tables that double as
/// they grow. `tests/memory.rs` measures it.
pub(crate) const TIME_WAIT: usize = 768;

/// TIME-WAIT may take this part of the first budget. Beyond that a connection has none, as in Linux
/// (`tcp_time_wait`, beyond `tcp_max_tw_buckets`).
const TIME_WAIT_SHARE: usize = 8;

/// The memory of all connections: their buffers, what is outstanding, TIME-WAIT.
pub(crate) struct Memory {
    budget: usize,
    used: usize,
    /// Connections in TIME-WAIT, and how many there may be: a share of the first budget, which
    /// nobody who comes takes away.
    time_waits: usize,
    most_time_waits: usize,
}

impl Memory {
    pub(crate) fn new(budget: usize) -> Memory {
        let most_time_waits = budget / TIME_WAIT_SHARE / TIME_WAIT;
        Memory { budget, used: 0, time_waits: 0, most_time_waits }
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// The capacity to which a buffer may grow now: a power of two, as buffers double.
    pub(crate) fn grant(&self) -> usize {
        let share = self.budget.saturating_sub(self.used) / SHARE;
        share.checked_ilog2().map_or(0, |bits| 1 << bits).max(LEAST)
    }

    /// What a socket holds may have changed.
    pub(crate) fn count(&mut self, socket: &mut Socket) {
        let now = socket.memory();
        self.account(std::mem::replace(&mut socket.counted, now), now);
    }

    /// Counts another connection in TIME-WAIT if there may be one.
    pub(crate) fn may_wait(&mut self) -> bool {
        let may = self.time_waits < self.most_time_waits;
        if may {
            self.time_waits += 1;
            self.account(0, TIME_WAIT);
        }
        may
    }

    /// One of them is over.
    pub(crate) fn has_waited(&mut self) {
        self.time_waits -= 1;
        self.account(TIME_WAIT, 0);
    }

    /// What was held `before` is held `now`.
    pub(crate) fn account(&mut self, before: usize, now: usize) {
        self.used = self.used - before + now;
    }
}

impl Stack {
    /// From now on all connections together may take so many bytes, as [`StackConfig::memory`] has
    /// it. What they hold stays theirs, also where that is more.
    ///
    /// [`StackConfig::memory`]: crate::StackConfig::memory
    pub fn set_memory(&mut self, bytes: usize) {
        self.memory.budget = bytes;
    }
}
