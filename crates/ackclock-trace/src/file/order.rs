//! The order of bytes in numbers, which is that of the machine that wrote the file.

/// The order of bytes in the numbers of a file; in pcapng, of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

impl Order {
    /// The number at `at`; zero beyond the end.
    #[inline]
    pub(super) fn u16_at(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = chunk(bytes, at);
        if self == Order::Big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// The number at `at`; zero beyond the end.
    #[inline]
    pub fn u32_at(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = chunk(bytes, at);
        if self == Order::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// The number at the beginning; zero where there are fewer bytes.
    pub(super) fn first_u64(self, bytes: &[u8]) -> u64 {
        let bytes = chunk(bytes, 0);
        if self == Order::Big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }

    /// The bytes of a number.
    pub fn u16(self, n: u16) -> [u8; 2] {
        if self == Order::Big { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    /// The bytes of a number.
    pub fn u32(self, n: u32) -> [u8; 4] {
        if self == Order::Big { n.to_be_bytes() } else { n.to_le_bytes() }
    }
}

#[inline]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}
