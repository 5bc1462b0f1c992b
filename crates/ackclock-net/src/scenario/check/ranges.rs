//! Ranges of numbers.

use crate::scenario::error::{Checked, fail};
use crate::scenario::path::Step;
use crate::scenario::units::{Rate, Size};

/// The most nodes, links, flows and runs. Far above any use, and low enough that a typing error
/// does not fill memory.
const MOST: u64 = 100_000;

pub(super) fn count(n: u32, least: u32, path: &[Step]) -> Checked {
    if n < least || u64::from(n) > MOST {
        return fail(path, format!("{n} is out of range: {least} to {MOST}"));
    }
    Ok(())
}

pub(super) fn total(n: usize, what: &str, path: &[Step]) -> Checked {
    if n as u64 > MOST { fail(path, format!("more than {MOST} {what}")) } else { Ok(()) }
}

pub(super) fn positive_rate(rate: Rate, path: &[Step]) -> Checked {
    if rate.0 == 0 { fail(path, "a rate is at least 1bit") } else { Ok(()) }
}

pub(super) fn size_within(size: Option<Size>, least: u64, most: u64, path: &[Step]) -> Checked {
    match size {
        Some(Size(n)) if n < least || n > most => {
            fail(path, format!("{n} is out of range: {least} to {most} bytes"))
        }
        _ => Ok(()),
    }
}
