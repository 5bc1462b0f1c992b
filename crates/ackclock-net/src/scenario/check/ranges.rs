//! Ranges of numbers.

use ackclock_tcp::Span;

use crate::scenario::error::{Checked, fail};
use crate::scenario::path::Step;
use crate::scenario::units::{Duration, Rate, Size};

/// The most runs.
pub(super) const RUNS: u32 = 100_000;
/// The most nodes, links and flows. Above any use, and low enough that a typing error does not fill
/// memory: a flow takes 2 to 5 KB.
pub(super) const MOST: u32 = 1_000_000;

pub(super) fn count(n: u32, most: u32, path: &[Step]) -> Checked {
    if n < 1 || n > most {
        return fail(path, format!("{n} is out of range: 1 to {most}"));
    }
    Ok(())
}

pub(super) fn total(n: usize, what: &str, path: &[Step]) -> Checked {
    if n > MOST as usize { fail(path, format!("more than {MOST} {what}")) } else { Ok(()) }
}

pub(super) fn positive_rate(rate: Rate, path: &[Step]) -> Checked {
    if rate.0 == 0 { fail(path, "a rate is at least 1bit") } else { Ok(()) }
}

/// The shortest period of what comes again and again: a run makes up for each time that has passed.
const LEAST_PERIOD: Span = Span::from_micros(1);

pub(super) fn period(every: Option<Duration>, path: &[Step]) -> Checked {
    match every {
        Some(Duration(every)) if every < LEAST_PERIOD => fail(path, "a period is at least 1us"),
        _ => Ok(()),
    }
}

/// From 1 byte to `most`.
pub(super) fn size_within(size: Option<Size>, most: u64, path: &[Step]) -> Checked {
    match size {
        Some(Size(n)) if n < 1 || n > most => {
            fail(path, format!("{n} is out of range: 1 to {most} bytes"))
        }
        _ => Ok(()),
    }
}
