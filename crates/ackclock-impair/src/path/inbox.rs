//! Bytes that have been read of a host, and that nobody has taken yet.
//!
//! An inbox has a bound. When it is full, its host is not read: bytes wait there, until the window
//! of whoever sends closes.

use std::collections::{HashMap, VecDeque};

use super::End;

/// Bytes that all inboxes may hold beyond [`LEAST`] for each. One of them may take a 64th of what
/// is free, as the buffers of a host do: 1 MiB where little is used.
const MEMORY: usize = 64 << 20;
const SHARE: usize = 64;
const LEAST: usize = 8 * 1024;

/// What has been read of both hosts, by socket.
#[derive(Default)]
pub(super) struct Inboxes {
    /// Those that hold something.
    inboxes: HashMap<End, VecDeque<u8>>,
    held: usize,
}

impl Inboxes {
    /// How much there is room for.
    pub(super) fn room(&self, end: End) -> usize {
        let most = (MEMORY.saturating_sub(self.held) / SHARE).max(LEAST);
        most.saturating_sub(self.len(end))
    }

    /// Bytes that wait.
    pub(super) fn len(&self, end: End) -> usize {
        self.inboxes.get(&end).map_or(0, VecDeque::len)
    }

    /// Takes up to `most` bytes in; returns how many.
    pub(super) fn put(&mut self, end: End, [first, rest]: [&[u8]; 2], most: usize) -> usize {
        let first = &first[..first.len().min(most)];
        let rest = &rest[..rest.len().min(most - first.len())];
        let inbox = self.inboxes.entry(end).or_default();
        inbox.extend(first);
        inbox.extend(rest);
        self.held += first.len() + rest.len();
        first.len() + rest.len()
    }

    /// Gives what waits to `take`, which says how much of it it took; `None` if nothing waits.
    pub(super) fn take(
        &mut self,
        end: End,
        take: impl FnOnce([&[u8]; 2]) -> usize,
    ) -> Option<usize> {
        let inbox = self.inboxes.get_mut(&end)?;
        let (first, rest) = inbox.as_slices();
        let taken = take([first, rest]).min(inbox.len());
        inbox.drain(..taken);
        if inbox.is_empty() {
            self.inboxes.remove(&end);
        }
        self.held -= taken;
        Some(taken)
    }

    /// Forgets what waits.
    pub(super) fn remove(&mut self, end: End) {
        self.held -= self.inboxes.remove(&end).map_or(0, |inbox| inbox.len());
    }

    /// Gives back memory of inboxes that hold little.
    pub(super) fn trim(&mut self) {
        for inbox in self.inboxes.values_mut().filter(|inbox| inbox.len() <= inbox.capacity() / 4) {
            inbox.shrink_to_fit();
        }
        if self.inboxes.is_empty() {
            self.inboxes = HashMap::new();
        }
    }
}
