//! The bytes of a stream that a socket keeps, by stream position.

/// The least capacity of a ring that holds anything.
const LEAST: usize = 2048;

/// What an empty ring may keep: connections that rest are many.
const KEPT: usize = 64 * 1024;

/// A window onto a stream: bytes at positions from `begin` to `end`, in one allocation that grows by doubling as far as its
/// limit. Holes are allowed; who reads knows where there are any.
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

    /// How many more bytes can be put at the end.
    pub(crate) fn room(&self) -> usize {
        self.limit - (self.end - self.begin) as usize
    }

    /// The most bytes that it holds.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Keeps bytes at a position; what lies before the beginning or beyond the limit is cut off.
    pub(crate) fn put(&mut self, position: u64, bytes: &[u8]) {
        let before = self.begin.saturating_sub(position).min(bytes.len() as u64) as usize;
        let (position, bytes) = (position + before as u64, &bytes[before..]);
        let room = (self.begin + self.limit as u64).saturating_sub(position).min(bytes.len() as u64) as usize;
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

    fn index(&self, position: u64) -> usize {
        (position % self.bytes.len() as u64) as usize
    }

    fn reserve(&mut self, needed: usize) {
        if needed <= self.bytes.len() {
            return;
        }
        let capacity = needed.next_power_of_two().max(LEAST).min(self.limit);
        let mut grown = Ring { bytes: vec![0; capacity].into(), ..Ring::new(self.limit) };
        grown.begin = self.begin;
        let [a, b] = self.slices(self.begin, (self.end - self.begin) as usize);
        grown.put(self.begin, a);
        grown.put(self.begin + a.len() as u64, b);
        grown.end = self.end;
        *self = grown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ring: &Ring, position: u64, len: usize) -> Vec<u8> {
        ring.slices(position, len).concat()
    }

    #[test]
    fn it_grows_by_doubling_to_its_limit_and_keeps_what_it_holds_in_place() {
        let mut ring = Ring::new(5000);
        assert_eq!(ring.bytes.len(), 0);
        let stream: Vec<u8> = (0..20_000u32).map(|i| (i % 251) as u8).collect();
        let mut capacities = Vec::new();
        let mut begin = 0;
        for chunk in 0..20_000 / 100 {
            ring.put(chunk * 100, &stream[chunk as usize * 100..][..100]);
            if ring.room() < 100 {
                begin += 1700;
                ring.release(begin);
            }
            let end = (chunk as usize + 1) * 100;
            assert_eq!(read(&ring, begin, 5000), stream[begin as usize..end]);
            capacities.push(ring.bytes.len());
        }
        capacities.dedup();
        assert_eq!(capacities, [2048, 4096, 5000]);
    }

    #[test]
    fn much_memory_is_given_back_when_nothing_is_held() {
        let mut ring = Ring::new(1 << 20);
        ring.put(0, &[1; KEPT + 1]);
        ring.release(KEPT as u64);
        ring.relax();
        assert_eq!((ring.bytes.len(), read(&ring, KEPT as u64, 9)), (2 * KEPT, vec![1]));
        ring.release(KEPT as u64 + 1);
        ring.relax();
        assert_eq!(ring.bytes.len(), 0);
        ring.put(KEPT as u64 + 1, &[2; KEPT]);
        ring.release(2 * KEPT as u64 + 1);
        ring.relax();
        assert_eq!((ring.bytes.len(), ring.room()), (KEPT, 1 << 20));
    }

    #[test]
    fn what_comes_out_of_order_has_its_place() {
        let mut ring = Ring::new(4096);
        ring.put(3000, b"later");
        ring.put(0, &[1; 3000]);
        assert_eq!((ring.end(), read(&ring, 2998, 7)), (3005, b"\x01\x01later".to_vec()));
        ring.release(3000);
        ring.put(3002, b"TER and more");
        assert_eq!(read(&ring, 3000, 100), b"laTER and more");
    }

    #[test]
    fn it_keeps_nothing_before_its_beginning_or_beyond_its_limit() {
        let mut ring = Ring::new(10);
        ring.put(0, b"0123456789abc");
        assert_eq!((read(&ring, 0, 100), ring.room()), (b"0123456789".to_vec(), 0));
        ring.release(5);
        ring.put(3, b"345");
        ring.put(20, b"x");
        ring.put(u64::MAX, b"");
        assert_eq!((read(&ring, 5, 100), ring.room()), (b"56789".to_vec(), 5));
        ring.put(9, b"9abcdefgh");
        assert_eq!(read(&ring, 5, 100), b"56789abcde");
        ring.release(100);
        assert_eq!((read(&ring, 5, 100), read(&ring, 100, 1), ring.begin(), ring.end()), (vec![], vec![], 100, 100));
    }
}
