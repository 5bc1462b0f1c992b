//! A number, position or time that may be missing, in eight bytes, where an `Option` takes sixteen:
//! open connections are many.

use std::marker::PhantomData;

use ackclock_tcp::{Span, Time};

/// Any value but the largest one of 64 bits, which no capture reaches and which counts as missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compact<T> {
    number: u64,
    what: PhantomData<T>,
}

/// What is a number of 64 bits.
pub(crate) trait Number {
    fn from_number(number: u64) -> Self;
    fn number(self) -> u64;
}

impl Number for u64 {
    #[inline]
    fn from_number(number: u64) -> u64 {
        number
    }

    #[inline]
    fn number(self) -> u64 {
        self
    }
}

impl Number for Time {
    #[inline]
    fn from_number(number: u64) -> Time {
        Time(number)
    }

    #[inline]
    fn number(self) -> u64 {
        self.0
    }
}

impl Number for Span {
    #[inline]
    fn from_number(number: u64) -> Span {
        Span(number)
    }

    #[inline]
    fn number(self) -> u64 {
        self.0
    }
}

impl<T> Default for Compact<T> {
    /// It is missing.
    #[inline]
    fn default() -> Compact<T> {
        Compact { number: u64::MAX, what: PhantomData }
    }
}

impl<T: Number> From<Option<T>> for Compact<T> {
    #[inline]
    fn from(value: Option<T>) -> Compact<T> {
        Compact { number: value.map_or(u64::MAX, T::number), what: PhantomData }
    }
}

impl<T: Number> Compact<T> {
    #[inline]
    pub fn get(&self) -> Option<T> {
        (self.number != u64::MAX).then(|| T::from_number(self.number))
    }

    #[inline]
    pub fn set(&mut self, value: T) {
        self.number = value.number();
    }

    /// Takes the value out.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).get()
    }
}

#[cfg(test)]
mod tests;
