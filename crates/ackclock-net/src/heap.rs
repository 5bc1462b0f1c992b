//! The event heap: what happens next.

/// What an entry stands for. Entries of one component at one time are told apart by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// News of a loss, ahead of what its link carries.
    Notice,
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

const KINDS: [Kind; 6] = [Kind::Notice, Kind::Wire, Kind::Late, Kind::SenderTimer, Kind::ReceiverTimer, Kind::Source];
const INDEX_BITS: u32 = 25;
const TRANSIT_MAX: u64 = (1 << 36) - 1;

/// When something happens, and to which component.
///
/// Keys are ordered by time; at the same time, by when the packet was put onto its link (the earlier one first; timers
/// and applications come after all packets); then by kind and by the component's order of creation. None of this
/// depends on when the key was made, so the order is the same however far ahead a packet was carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    time: u64,
    /// What orders keys of the same time.
    tie: u64,
}

impl Key {
    /// The most components of one kind.
    pub(crate) const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;

    /// A key for `time`, for something set going at `put`. More than 68 seconds between the two count as 68.
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

/// A min-heap of keys with four children to a node: half as deep as a binary one, and siblings share a cache line.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    keys: Vec<Key>,
    /// The first key was taken, and the next push may have its place.
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

    /// Removes the least key, which [`Heap::peek`] has just returned. The next push is then cheap, since it takes its
    /// place: most events bring about one other.
    pub(crate) fn take(&mut self) {
        debug_assert!(!self.hole);
        self.hole = !self.keys.is_empty();
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

    /// Puts `key` in the place of the first one and then where it belongs.
    fn sink(&mut self, key: Key) {
        let keys = self.keys.as_mut_slice();
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let found = match keys.get(first..) {
                Some([a, b, c, d, ..]) => first + least([a, b, c, d]),
                Some(rest @ [_, ..]) => rest.iter().zip(first..).min().map_or(first, |(_, index)| index),
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

/// Which of four keys is the least one. Their times alone decide, in one word each, but for the rare case that two are
/// equal.
#[inline]
fn least([a, b, c, d]: [&Key; 4]) -> usize {
    let (ab, cd) = (a.time.min(b.time), c.time.min(d.time));
    if a.time == b.time || c.time == d.time || ab == cd {
        return least_of_equals([a, b, c, d]);
    }
    let (i, j) = (usize::from(b.time < a.time), 2 + usize::from(d.time < c.time));
    if cd < ab { j } else { i }
}

#[cold]
#[inline(never)]
fn least_of_equals(keys: [&Key; 4]) -> usize {
    (0..4).min_by_key(|&index| keys[index]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_back_what_it_was_made_of() {
        for kind in KINDS {
            let key = Key::new(123_456_789, 123_000_000, kind, 12_345);
            assert_eq!((key.time(), key.kind(), key.index()), (123_456_789, kind, 12_345));
        }
        let far = Key::new(u64::MAX, 0, Kind::Source, Key::MAX_INDEX);
        assert_eq!((far.time(), far.kind(), far.index()), (u64::MAX, Kind::Source, Key::MAX_INDEX as usize));
    }

    #[test]
    fn ties_go_by_when_a_packet_was_put_on_its_link_then_by_creation() {
        let keys = [
            Key::new(99, 99, Kind::Source, 9),
            Key::new(100, 10, Kind::Wire, 7),
            Key::new(100, 20, Kind::Notice, 9),
            Key::new(100, 20, Kind::Wire, 3),
            Key::new(100, 20, Kind::Wire, 5),
            Key::new(100, 20, Kind::Late, 0),
            Key::new(100, 100, Kind::SenderTimer, 0),
            Key::new(100, 100, Kind::ReceiverTimer, 0),
        ];
        assert!(keys.is_sorted());
    }

    #[test]
    fn pops_in_order() {
        let mut heap = Heap::default();
        let mut x = 1u64;
        let mut expected = Vec::new();
        for i in 0..1000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = Key::new(x >> 55, 0, Kind::Wire, i);
            expected.push(key);
            heap.push(key);
        }
        expected.sort();
        // A push into the place of the one taken, and one behind it.
        assert_eq!(heap.peek(), Some(expected.remove(0)));
        heap.take();
        for key in [Key::new(200, 0, Kind::Late, 1), Key::new(0, 0, Kind::Late, 2)] {
            heap.push(key);
            expected.push(key);
        }
        expected.sort();
        let mut pop = || {
            let key = heap.peek();
            heap.take();
            key
        };
        let popped: Vec<Key> = std::iter::from_fn(&mut pop).collect();
        assert_eq!(popped, expected);
        assert_eq!((pop(), pop()), (None, None));
        assert_eq!(heap.peek(), None);
    }
}
