//! Commands of the system.

use std::io;
use std::process::Command;

/// What a command prints, given with its arguments as one line.
///
/// # Errors
/// Also if it fails.
pub(crate) fn output(line: &str) -> io::Result<String> {
    let mut words = line.split_whitespace();
    let out = Command::new(words.next().unwrap_or_default()).args(words).output()?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        return Err(io::Error::other(format!("{line}: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
