//! Defaults of keys, and which values are not written since they are a default.

use crate::scenario::units::Rate;

pub(super) fn one() -> u32 {
    1
}

pub(super) fn is_one(n: &u32) -> bool {
    *n == 1
}

pub(super) fn yes() -> bool {
    true
}

pub(super) fn is_true(b: &bool) -> bool {
    *b
}

/// A rate that was left out: one that nobody writes, for the greatest may be written.
pub(in crate::scenario) fn no_rate() -> Rate {
    Rate(u64::MAX - 1)
}

pub(in crate::scenario) fn is_no_rate(rate: &Rate) -> bool {
    *rate == no_rate()
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
