//! What the kernel tells in tables of text (proc(5)).

use std::fs;
use std::path::Path;

/// The table of this process.
pub(crate) const STATUS: &str = "/proc/self/status";

/// The bytes behind `key`, such as `VmRSS:`, in `file`, which counts them in units of 1024; `None`
/// where it is not there.
pub(crate) fn bytes_of(file: impl AsRef<Path>, key: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}
