//! How long bytes take at a rate.

/// How long `size` bytes take at `rate` bits per second (not 0), to the nearest nanosecond.
#[cold]
#[inline(never)]
pub(crate) fn transmission_time(size: u32, rate: u64) -> u64 {
    let (bit_nanos, rate) = (u128::from(size) * 8_000_000_000, u128::from(rate));
    u64::try_from((bit_nanos + rate / 2) / rate).unwrap_or(u64::MAX)
}
