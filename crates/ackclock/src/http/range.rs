//! Range requests (RFC 9110 section 14), of one range.

use std::ops::Range;

/// Which bytes of a file to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of it: the field is no single range of bytes.
    Whole,
    /// These.
    Part(Range<u64>),
    /// None: the range begins behind the end.
    Unsatisfiable,
}

/// What the value of a Range field selects of a file of `len` bytes.
pub fn select(value: &str, len: u64) -> Selection {
    ranges(value, len).unwrap_or(Selection::Whole)
}

/// `None` if the field is not understood or has several ranges.
fn ranges(value: &str, len: u64) -> Option<Selection> {
    let (unit, set) = value.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    // Empty elements of a list count for nothing (RFC 9110 section 5.6.1.2).
    let mut specs =
        set.split(',').map(|spec| spec.trim_matches([' ', '\t'])).filter(|spec| !spec.is_empty());
    let (spec, None) = (specs.next()?, specs.next()) else { return None };
    let (first, last) = spec.split_once('-')?;
    if first.is_empty() {
        return Some(match number(last)? {
            0 => Selection::Unsatisfiable,
            // An empty file has no part that Content-Range could name.
            _ if len == 0 => Selection::Whole,
            suffix => Selection::Part(len.saturating_sub(suffix)..len),
        });
    }
    let first = number(first)?;
    let end = if last.is_empty() {
        len
    } else {
        let last = number(last)?;
        if last < first {
            return None;
        }
        last.saturating_add(1).min(len)
    };
    Some(if first < len { Selection::Part(first..end) } else { Selection::Unsatisfiable })
}

/// Decimal digits; what does not fit is the greatest number.
fn number(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().unwrap_or(u64::MAX))
}
