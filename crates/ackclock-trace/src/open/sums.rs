//! Whether a wrong checksum says that a packet was damaged. Where a device fills checksums in, what
//! its host sends is captured with wrong ones (checksum offload).

/// Right checksums that have to come before for each wrong one: a damaged header is rare.
const RIGHT: u8 = 8;

/// Of both ends.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    /// How many were right, less [`RIGHT`] for each that was wrong.
    right: [u8; 2],
}

impl Sums {
    /// A packet without payload from `end`. Returns whether it was damaged.
    #[inline]
    pub fn is_damaged(&mut self, end: usize, wrong: bool) -> bool {
        let right = &mut self.right[end];
        if !wrong {
            *right = right.saturating_add(1);
            return false;
        }
        let are_right = *right >= RIGHT;
        *right = right.saturating_sub(RIGHT);
        are_right
    }
}
