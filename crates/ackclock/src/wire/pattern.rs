//! Generated data that tells where in the stream it belongs.

#[cfg(test)]
mod tests;

/// The period. A prime, so that data misplaced by any multiple of a segment, a page or a buffer
/// does not fit by chance.
const PERIOD: usize = 65_521;

/// The data: a period of pseudo-random bytes, over and over.
pub(crate) struct Pattern {
    /// Two periods, so that a period from anywhere is one slice.
    bytes: Vec<u8>,
}

impl Pattern {
    pub fn new() -> Pattern {
        // SplitMix64 (Steele, Lea & Flood 2014), of which any byte does.
        let mut state: u64 = 0;
        let mut byte = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) as u8
        };
        let mut bytes: Vec<u8> = (0..PERIOD).map(|_| byte()).collect();
        bytes.extend_from_within(..);
        Pattern { bytes }
    }

    /// What lies at a position: up to `most` bytes, at least one of them if `most` is.
    pub fn at(&self, position: u64, most: u64) -> &[u8] {
        let start = (position % PERIOD as u64) as usize;
        let len = most.min(PERIOD as u64) as usize;
        self.bytes.get(start..start + len).unwrap_or_default()
    }

    /// The position of the first of these bytes, which lie at `position`, that is not the
    /// pattern's.
    pub fn mismatch(&self, mut position: u64, mut bytes: &[u8]) -> Option<u64> {
        while !bytes.is_empty() {
            let expected = self.at(position, bytes.len() as u64);
            let (head, rest) = bytes.split_at(expected.len());
            if head != expected {
                let equal = head.iter().zip(expected).take_while(|(a, b)| a == b).count();
                return Some(position + equal as u64);
            }
            position += head.len() as u64;
            bytes = rest;
        }
        None
    }
}
