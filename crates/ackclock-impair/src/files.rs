//! Open files: how many the system allows, and how it says that there are no more. Each socket is
//! one.

use std::io;

#[cfg(unix)]
use rustix::io::Errno;
#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside those of clients: three of the terminal, three of the API and three of a proxy, one
/// that is left over, and some for requests to the API.
const OTHERS: u64 = 16;

/// Each client is a connection, and another one to the server.
fn needed(clients: u32) -> u64 {
    OTHERS + 2 * u64::from(clients)
}

/// Raises the limit of open files, for so many clients at least. Returns what to warn of if that
/// is not enough.
pub(crate) fn make_room(clients: u32) -> Option<String> {
    let limit = raise(needed(clients))?;
    (limit < needed(clients)).then(|| warning(limit, clients))
}

fn warning(limit: u64, clients: u32) -> String {
    let room = limit.saturating_sub(OTHERS) / 2;
    format!(
        "warning: {limit} open files are allowed, which is room for some {room} clients at the \
         same time, not for --max-connections {clients}; further ones wait; `ulimit -Hn` is the \
         limit"
    )
}

/// Raises the soft limit as far as may be, to `needed` at least if that is permitted. Returns what
/// it is then, if there is one.
#[cfg(unix)]
pub fn raise(needed: u64) -> Option<u64> {
    let Rlimit { current: before, maximum } = getrlimit(Resource::Nofile);
    let before = before?;
    // macOS refuses to have no limit, and so many that its own one is below (setrlimit(2)); it
    // takes OPEN_MAX, which is 10240.
    for current in [maximum, Some(needed), Some(10_240)] {
        if current.is_none_or(|current| current > before)
            && setrlimit(Resource::Nofile, Rlimit { current, maximum }).is_ok()
        {
            break;
        }
    }
    getrlimit(Resource::Nofile).current
}

/// Sockets are no files elsewhere.
#[cfg(not(unix))]
pub fn raise(_: u64) -> Option<u64> {
    None
}

/// Whether it is this process, or all of them together, that can open no more: no fault of whoever
/// is at the other end of a socket.
pub(crate) fn are_used_up(error: &io::Error) -> bool {
    #[cfg(unix)]
    let used_up = matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE));
    // WSAEMFILE.
    #[cfg(not(unix))]
    let used_up = error.raw_os_error() == Some(10_024);
    used_up
}

#[cfg(test)]
mod tests;
