//! Where captures are taken.

use std::ops::Range;

/// Where captures are taken.
pub const PLACES: [&str; 3] = ["sender", "middle", "receiver"];
/// All of [`PLACES`].
pub const EVERYWHERE: Range<usize> = 0..PLACES.len();
