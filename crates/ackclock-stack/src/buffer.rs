//! The bytes of a stream that a socket keeps, by stream position.

#[cfg(test)]
mod tests;

/// The least capacity of a ring that holds anything.
const LEAST: usize = 2048;

/// What an empty ring may keep: connections that rest are many.
const KEPT: usize = 64 * 1024;

/// A window onto a stream: bytes at positions from `begin` to `end`, in one allocation that grows
/// by doubling as far as its limit. Holes are allowed; who reads knows where there are any.
#[derive(Debug)]
pub(crate) struct Ring {
    /// The byte at a position lies at the position modulo the length.
    bytes: Box<[u8]>,
    begin: u64,
    end: u64,
    limit: usize,
}

impl Ring {
    /// An empty ring that begins at position 0 and will hold at most `limit` bytes, at least one.
    pub(crate) fn new(limit: usize) -> Ring {
        Ring { bytes: Box::default(), begin: 0, end: 0, limit: limit.max(1) }
    }

    /// The position of the first byte kept.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// The position after the last byte kept.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes of memory that it takes.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// The most bytes that it holds if it may grow to a capacity of `grant`.
    pub(crate) fn limit(&self, grant: usize) -> usize {
        self.limit.min(grant.max(self.capacity()))
    }

    /// How many more bytes can be put at the end then.
    pub(crate) fn room(&self, grant: usize) -> usize {
        self.limit(grant).saturating_sub((self.end - self.begin) as usize)
    }

    /// Keeps bytes at a position; what lies before the beginning or beyond the limit is cut off.
    pub(crate) fn put(&mut self, position: u64, bytes: &[u8]) {
        let before = self.begin.saturating_sub(position).min(bytes.len() as u64) as usize;
        let (position, bytes) = (position + before as u64, &bytes[before..]);
        let room = (self.begin + self.limit as u64).saturating_sub(position).min(bytes.len() as u64)
            as usize;
        if room == 0 {
            return;
        }
        let bytes = &bytes[..room];
        let end = position + room as u64;
        self.reserve((end - self.begin) as usize);
        self.end = self.end.max(end);
        let at = self.index(position);
        let first = room.min(self.bytes.len() - at);
        self.bytes[at..at + first].copy_from_slice(&bytes[..first]);
        self.bytes[..room - first].copy_from_slice(&bytes[first..]);
    }

    /// The `len` bytes from a position on, as far as they are kept, in one or two pieces.
    pub(crate) fn slices(&self, position: u64, len: usize) -> [&[u8]; 2] {
        if position < self.begin || position >= self.end {
            return [&[], &[]];
        }
        let len = len.min((self.end - position) as usize);
        let at = self.index(position);
        let first = len.min(self.bytes.len() - at);
        [&self.bytes[at..at + first], &self.bytes[..len - first]]
    }

    /// Forgets what lies before a position.
    pub(crate) fn release(&mut self, position: u64) {
        self.begin = self.begin.max(position);
        self.end = self.end.max(self.begin);
    }

    /// Gives back the memory of a ring that holds nothing.
    pub(crate) fn relax(&mut self) {
        if self.begin == self.end && self.bytes.len() > KEPT {
            self.bytes = Box::default();
        }
    }

    /// As [`Ring::relax`], and gives back most of a ring that is larger than `grant` and holds
    /// little.
    pub(crate) fn trim(&mut self, grant: usize) {
        self.relax();
        let held = (self.end - self.begin) as usize;
        if self.capacity() > grant && held <= self.capacity() / 4 {
            self.resize(if held == 0 { 0 } else { held.next_power_of_two().max(LEAST) });
        }
    }

    fn index(&self, position: u64) -> usize {
        (position % self.bytes.len() as u64) as usize
    }

    fn reserve(&mut self, needed: usize) {
        if needed <= self.bytes.len() {
            return;
        }
        self.resize(needed.next_power_of_two().max(LEAST).min(self.limit));
    }

    /// Moves to another allocation, which has room for what is held.
    fn resize(&mut self, capacity: usize) {
        let mut other = Ring { bytes: vec![0; capacity].into(), ..Ring::new(self.limit) };
        other.begin = self.begin;
        other.end = self.begin;
        let [a, b] = self.slices(self.begin, (self.end - self.begin) as usize);
        other.put(self.begin, a);
        other.put(self.begin + a.len() as u64, b);
        other.end = self.end;
        *self = other;
    }
}
