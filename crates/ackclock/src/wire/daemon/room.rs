//! How many connections all queues have together.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::mail::Bell;

/// Room for connections.
pub(super) struct Room {
    most: usize,
    taken: AtomicUsize,
    /// Of those who may wait for room.
    bells: Vec<Bell>,
}

impl Room {
    pub fn new(most: usize, bells: Vec<Bell>) -> Room {
        Room { most, taken: AtomicUsize::new(0), bells }
    }

    /// Takes a place if there is one.
    pub fn take(&self) -> bool {
        let more = |taken| (taken < self.most).then_some(taken + 1);
        self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Whether there are so many more.
    pub fn has(&self, places: usize) -> bool {
        self.taken.load(Ordering::Acquire) + places <= self.most
    }

    /// Gives a place back. Where all were taken, others may wait for it: they look again.
    pub fn give_back(&self) {
        if self.taken.fetch_sub(1, Ordering::AcqRel) == self.most {
            self.bells.iter().for_each(Bell::ring);
        }
    }
}

#[cfg(test)]
mod tests;
