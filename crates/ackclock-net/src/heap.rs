//! The event heap: what happens next.

/// What an entry stands for. One component may have entries of several kinds at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A notice of a loss is due, ahead of what its link carries.
    LossNotice,
    /// The first packet of a link arrives.
    Wire,
    /// The first of a link's late packets arrives.
    Late,
    /// A sender's timer.
    SenderTimer,
    /// A receiver's timer.
    ReceiverTimer,
    /// An application writes, or a CBR stream sends.
    Source,
}

const KINDS: [Kind; 6] = [
    Kind::LossNotice,
    Kind::Wire,
    Kind::Late,
    Kind::SenderTimer,
    Kind::ReceiverTimer,
    Kind::Source,
];
const INDEX_BITS: u32 = 25;
const TRANSIT_MAX: u64 = (1 << 36) - 1;

/// When something happens, and to which component.
///
/// Keys are ordered by time. At the same time, the packet that was put onto its link earlier comes
/// first, and timers and applications come after all packets. Then kind decides, then the order of
/// creation of the components. None of this depends on when the key was made. So the order is the
/// same however far ahead of the clock a packet moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    time: u64,
    /// What orders keys of the same time.
    tie: u64,
}

impl Key {
    /// The most components of one kind.
    pub(crate) const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;

    /// A key for `time`, for something that was started at `put`. More than 68 seconds between the
    /// two count as 68.
    pub(crate) fn new(time: u64, put: u64, kind: Kind, index: u32) -> Key {
        let transit = TRANSIT_MAX - time.saturating_sub(put).min(TRANSIT_MAX);
        let id = (kind as u64) << INDEX_BITS | u64::from(index & Key::MAX_INDEX);
        Key { time, tie: transit << (INDEX_BITS + 3) | id }
    }

    /// When.
    pub(crate) fn time(self) -> u64 {
        self.time
    }

    /// What kind of component.
    pub(crate) fn kind(self) -> Kind {
        KINDS[((self.tie as u32 >> INDEX_BITS) & 7).min(5) as usize]
    }

    /// Which of them.
    pub(crate) fn index(self) -> usize {
        (self.tie as u32 & Key::MAX_INDEX) as usize
    }
}

/// A min-heap of keys with four children to a node. It is half as deep as a binary heap, and
/// siblings share a cache line.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    keys: Vec<Key>,
    /// The first key was taken. The next push may take its place.
    hole: bool,
}

impl Heap {
    /// The least key.
    pub(crate) fn peek(&mut self) -> Option<Key> {
        if self.hole {
            self.hole = false;
            if let Some(last) = self.keys.pop()
                && !self.keys.is_empty()
            {
                self.sink(last);
            }
        }
        self.keys.first().copied()
    }

    /// Removes the least key, which [`Heap::peek`] has just returned. The next push is then cheap,
    /// since it takes its place: most events bring about one other.
    pub(crate) fn take(&mut self) {
        debug_assert!(!self.hole);
        self.hole = !self.keys.is_empty();
    }

    /// Replaces the least key, which [`Heap::peek`] has just returned, by another one.
    #[inline]
    pub(crate) fn replace(&mut self, key: Key) {
        debug_assert!(!self.hole);
        self.sink(key);
    }

    /// Adds a key.
    pub(crate) fn push(&mut self, key: Key) {
        if self.hole {
            self.hole = false;
            return self.sink(key);
        }
        let mut at = self.keys.len();
        self.keys.push(key);
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[at] = self.keys[parent];
            at = parent;
        }
        self.keys[at] = key;
    }

    /// Replaces the first key by `key`, and moves that down to where it belongs.
    fn sink(&mut self, key: Key) {
        let keys = self.keys.as_mut_slice();
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let found = match keys.get(first..) {
                Some([a, b, c, d, ..]) => first + least([a, b, c, d]),
                Some(rest @ [_, ..]) => first + least_of_fewer(rest),
                _ => break,
            };
            if keys[found] >= key {
                break;
            }
            keys[at] = keys[found];
            at = found;
        }
        if let Some(slot) = keys.get_mut(at) {
            *slot = key;
        }
    }
}

/// Which of four keys is the least. Their times decide, one word each, unless two are equal, which
/// is rare.
#[inline]
fn least([a, b, c, d]: [&Key; 4]) -> usize {
    let (ab, cd) = (a.time.min(b.time), c.time.min(d.time));
    if a.time == b.time || c.time == d.time || ab == cd {
        return least_of_equals([a, b, c, d]);
    }
    let (i, j) = (usize::from(b.time < a.time), 2 + usize::from(d.time < c.time));
    if cd < ab { j } else { i }
}

/// Which of less than four keys is the least. Only the last node has so few.
#[cold]
#[inline(never)]
fn least_of_fewer(keys: &[Key]) -> usize {
    (0..keys.len()).min_by_key(|&index| keys[index]).unwrap_or(0)
}

#[cold]
#[inline(never)]
fn least_of_equals(keys: [&Key; 4]) -> usize {
    (0..4).min_by_key(|&index| keys[index]).unwrap_or(0)
}

#[cfg(test)]
mod tests;
