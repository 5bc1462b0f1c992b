//! When which slot has something to do.
//!
//! Entries are lazy: a deadline that moves later leaves its entry where it is, which brings the
//! slot up too early and then goes back in; one that moves earlier gets a second entry, and the
//! first is passed over. So a timer that is put off with each segment, as most are, costs nothing.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock_tcp::Time;

/// The deadlines of all slots.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Timers {
    /// The earliest entry, which may be one that has been put off.
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse((at, _))| *at)
    }

    /// Notes that a slot wants to be called at `deadline`. `scheduled` is its earliest entry, and
    /// remains so.
    pub(crate) fn schedule(&mut self, slot: u32, deadline: Time, scheduled: &mut Time) {
        if deadline < *scheduled {
            *scheduled = deadline;
            self.heap.push(Reverse((deadline, slot)));
        }
    }

    /// An entry whose time has come.
    pub(crate) fn pop(&mut self, now: Time) -> Option<(Time, u32)> {
        let Reverse((at, _)) = self.heap.peek()?;
        if *at > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    /// Drops entries that were passed over: those at the front, so that the next deadline is one,
    /// and all of them if there are many more entries than `slots`. `scheduled` gives each
    /// slot's earliest entry.
    pub(crate) fn prune(&mut self, slots: usize, scheduled: impl Fn(u32) -> Time) {
        while self.heap.peek().is_some_and(|Reverse((at, slot))| scheduled(*slot) != *at) {
            self.heap.pop();
        }
        if self.heap.len() > 4 * slots + 64 {
            self.heap.retain(|Reverse((at, slot))| scheduled(*slot) == *at);
        }
    }
}
