//! Defaults of keys, and which values are not written since they are a default.

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

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
