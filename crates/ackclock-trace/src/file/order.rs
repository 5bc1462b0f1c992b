//! The order of bytes in numbers, which is that of the machine that wrote the file.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
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
    pub(super) fn u32_at(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = chunk(bytes, at);
        if self == Order::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// The number at `at`; zero beyond the end.
    pub(super) fn u64_at(self, bytes: &[u8], at: usize) -> u64 {
        let bytes = chunk(bytes, at);
        if self == Order::Big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }
}

#[inline]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}
