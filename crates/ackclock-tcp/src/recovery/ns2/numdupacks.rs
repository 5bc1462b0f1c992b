//! Another duplicate threshold (`numdupacks_` and `noFastRetrans_` in `tcp.cc`, `recv`).

use alloc::boxed::Box;

use crate::recovery::detect::{Detect, Lost};
use crate::recovery::wraps;
use crate::state::State;
use crate::summary::AckSummary;

/// A detection with a threshold of its own.
pub struct Ns2Numdupacks {
    inner: Box<dyn Detect>,
    threshold: u32,
}

impl Ns2Numdupacks {
    /// Four duplicates, as tests of ns-2 set it (`numdupacks_ 4`).
    pub fn four(inner: Box<dyn Detect>) -> Ns2Numdupacks {
        Ns2Numdupacks { inner, threshold: 4 }
    }

    /// No number of duplicates is enough (`noFastRetrans_ 1`).
    pub fn never(inner: Box<dyn Detect>) -> Ns2Numdupacks {
        Ns2Numdupacks { inner, threshold: u32::MAX }
    }
}

impl Detect for Ns2Numdupacks {
    wraps!(self.inner: Detect; on_ack);

    fn dupthresh(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        self.threshold
    }
}
