//! The event heap: what happens next.

use std::cell::Cell;

/// What an entry stands for. One component may have entries of several kinds at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
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
    /// A link's transmitter, of a link that varies.
    Transmitter,
}

/// By the three bits of a key; there are seven.
const KINDS: [Kind; 8] = [
    Kind::LossNotice,
    Kind::Wire,
    Kind::Late,
    Kind::SenderTimer,
    Kind::ReceiverTimer,
    Kind::Source,
    Kind::Transmitter,
    Kind::Transmitter,
];
const INDEX_BITS: u32 = 25;
const KIND_MASK: u64 = 7 << INDEX_BITS;
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

    /// A key for `time` that comes before packets of that time: for a link's transmitter.
    pub(crate) fn transmitter(time: u64, index: u32) -> Key {
        let id = (Kind::Transmitter as u64) << INDEX_BITS | u64::from(index & Key::MAX_INDEX);
        Key { time, tie: id }
    }

    /// In place of a key, later than any.
    const NOTHING: Key = Key { time: u64::MAX, tie: u64::MAX };

    /// As `<`, by one comparison of wide numbers, which takes no branch.
    #[inline(always)]
    fn is_before(self, other: Key) -> bool {
        let number = |key: Key| u128::from(key.time) << 64 | u128::from(key.tie);
        number(self) < number(other)
    }

    /// When.
    pub(crate) fn time(self) -> u64 {
        self.time
    }

    /// Whether it is of the kind [`Kind::Wire`]. Asked of the bits alone, so that no table is made
    /// of it and of what else the kind decides.
    #[inline(always)]
    pub(crate) fn is_wire(self) -> bool {
        self.tie & KIND_MASK == (Kind::Wire as u64) << INDEX_BITS
    }

    /// What kind of component.
    pub(crate) fn kind(self) -> Kind {
        KINDS[(self.tie as u32 >> INDEX_BITS & 7) as usize]
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
    /// The keys by fours, the first one at [`FIRST`]; the children of the one at `place` are the
    /// four of number `place - 2`. Places without a key hold [`Key::NOTHING`].
    keys: Vec<Siblings>,
    /// How many there are.
    len: usize,
    /// The first key was taken. The next push may take its place.
    hole: bool,
}

/// A cache line of keys. They move through [`Cell`]s, so that a place whose children are looked at
/// is found once.
#[derive(Debug)]
#[repr(align(64))]
struct Siblings([Cell<Key>; 4]);

/// The place of the first key, from which the places of all others follow.
const FIRST: usize = 3;

impl Heap {
    /// The least key.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<Key> {
        if self.hole {
            self.fill();
        }
        if self.len == 0 { None } else { self.keys.first().map(|keys| keys.0[FIRST].get()) }
    }

    /// Puts the last key into the place of the one that was taken.
    #[inline(never)]
    fn fill(&mut self) {
        self.hole = false;
        self.len -= 1;
        let last = self.at(FIRST + self.len).replace(Key::NOTHING);
        if self.len > 0 {
            self.sink(last);
        }
    }

    /// Removes the least key, which [`Heap::peek`] has just returned. The next push is then cheap,
    /// since it takes its place: most events bring about one other.
    pub(crate) fn take(&mut self) {
        debug_assert!(!self.hole);
        self.hole = self.len > 0;
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
        let mut place = FIRST + self.len;
        self.len += 1;
        if place / 4 >= self.keys.len() {
            self.keys.push(Siblings([const { Cell::new(Key::NOTHING) }; 4]));
        }
        while place > FIRST {
            let parent = place / 4 + 2;
            let above = self.at(parent).get();
            if above <= key {
                break;
            }
            self.at(place).set(above);
            place = parent;
        }
        self.at(place).set(key);
    }

    fn at(&self, place: usize) -> &Cell<Key> {
        &self.keys[place / 4].0[place % 4]
    }

    /// Replaces the first key by `key`, and moves that down to where it belongs.
    #[inline(never)]
    fn sink(&self, key: Key) {
        let Some(Siblings(first)) = self.keys.first() else { return };
        let (mut place, mut below) = (&first[FIRST], FIRST - 2);
        while let Some(Siblings(siblings)) = self.keys.get(below) {
            let (nth, child) = least(siblings);
            if !child.is_before(key) {
                break;
            }
            place.set(child);
            (place, below) = (&siblings[nth % 4], 4 * below + nth - 2);
        }
        place.set(key);
    }
}

/// The least of four keys, and which it is.
#[inline(always)]
fn least(keys: &[Cell<Key>; 4]) -> (usize, Key) {
    let less = |a: (usize, Key), b: (usize, Key)| if b.1.is_before(a.1) { b } else { a };
    let key = |nth: usize| (nth, keys[nth].get());
    less(less(key(0), key(1)), less(key(2), key(3)))
}

#[cfg(test)]
mod tests;
