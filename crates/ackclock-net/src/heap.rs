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
    /// A link's transmitter, of a link that varies.
    Transmitter,
}

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

    /// A key for `time` that comes before packets of that time: for a link's transmitter.
    pub(crate) fn transmitter(time: u64, index: u32) -> Key {
        let id = (Kind::Transmitter as u64) << INDEX_BITS | u64::from(index & Key::MAX_INDEX);
        Key { time, tie: id }
    }

    /// In place of a key, later than any and unlike others.
    fn nothing(place: usize) -> Key {
        Key { time: u64::MAX - place as u64, tie: u64::MAX }
    }

    /// As `<`, by one comparison of wide numbers.
    #[inline(always)]
    fn is_before(self, other: Key) -> bool {
        let number = |key: Key| u128::from(key.time) << 64 | u128::from(key.tie);
        number(self) < number(other)
    }

    /// When.
    pub(crate) fn time(self) -> u64 {
        self.time
    }

    /// What kind of component.
    pub(crate) fn kind(self) -> Kind {
        match (self.tie as u32 >> INDEX_BITS) & 7 {
            0 => Kind::LossNotice,
            1 => Kind::Wire,
            2 => Kind::Late,
            3 => Kind::SenderTimer,
            4 => Kind::ReceiverTimer,
            5 => Kind::Source,
            _ => Kind::Transmitter,
        }
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
    /// The first key, then siblings by fours. Places without a key hold [`Key::nothing`], so that
    /// there are always four.
    keys: Vec<Key>,
    /// How many there are.
    len: usize,
    /// The first key was taken. The next push may take its place.
    hole: bool,
}

impl Heap {
    /// The least key.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<Key> {
        if self.hole {
            self.fill();
        }
        if self.len == 0 { None } else { self.keys.first().copied() }
    }

    /// Puts the last key into the place of the one that was taken.
    #[inline(never)]
    fn fill(&mut self) {
        self.hole = false;
        self.len -= 1;
        let last = core::mem::replace(&mut self.keys[self.len], Key::nothing(self.len));
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
        let mut at = self.len;
        self.len += 1;
        while self.keys.len() < self.len {
            let siblings = if self.keys.is_empty() { 1 } else { 4 };
            self.keys.extend((0..siblings).map(|place| Key::nothing(at + place)));
        }
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
    #[inline(never)]
    fn sink(&mut self, key: Key) {
        let mut at = 0;
        while let Some(siblings) = self.children(at) {
            let nth = least(siblings);
            let child = siblings[nth % 4];
            if !child.is_before(key) {
                break;
            }
            self.keys[at] = child;
            at = 4 * at + 1 + nth;
        }
        self.keys[at] = key;
    }

    /// The children of a place, if it has any.
    #[inline(always)]
    fn children(&self, at: usize) -> Option<&[Key; 4]> {
        self.keys.get(4 * at + 1..)?.first_chunk()
    }
}

/// Which of four keys is the least. Their times decide, one word each, unless two are equal, which
/// is rare.
#[inline(always)]
fn least(keys: &[Key; 4]) -> usize {
    let [a, b, c, d] = keys;
    let (ab, cd) = (a.time.min(b.time), c.time.min(d.time));
    if a.time == b.time || c.time == d.time || ab == cd {
        return least_of_equals(keys);
    }
    let (i, j) = (usize::from(b.time < a.time), 2 + usize::from(d.time < c.time));
    if cd < ab { j } else { i }
}

#[cold]
#[inline(never)]
fn least_of_equals(keys: &[Key; 4]) -> usize {
    (0..4).min_by_key(|&nth| keys[nth]).unwrap_or(0)
}

#[cfg(test)]
mod tests;
