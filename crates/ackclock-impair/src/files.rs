//! Open files: how many the system allows, and how it says that there are no more. Each socket is
//! one.

use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;

#[cfg(unix)]
use rustix::io::{Errno, fcntl_dupfd_cloexec};
#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
#[cfg(unix)]
use socket2::{Domain, Socket, Type};

use crate::Error;

/// Files that neither clients nor proxies take: there are some for requests to the API, and for
/// proxies to connect again.
const LEFT_OVER: usize = 6;

/// Files beside those of clients: three of the terminal, four of the API if there is one, three of
/// a proxy, and those that are left over.
fn others(api: bool) -> u64 {
    3 + if api { 4 } else { 0 } + 3 + LEFT_OVER as u64
}

/// Raises the limit of open files, for so many clients at least, beside an API or without one. Each
/// client is a connection, and another one to the server. Returns what to warn of if that is not
/// enough.
///
/// # Errors
/// [`Error::System`] if there is not room for a single one.
pub(crate) fn make_room(clients: u32, api: bool) -> Result<Option<String>, Error> {
    let needed = |clients: u32| others(api) + 2 * u64::from(clients);
    let Some(limit) = raise(needed(clients)) else { return Ok(None) };
    if limit < needed(1) {
        let few = format!("{limit} are allowed, and a single client takes {}", needed(1));
        return Err(Error::system("open files")(io::Error::other(few + "; raise `ulimit -n`")));
    }
    let room = (limit - others(api)) / 2;
    Ok((limit < needed(clients)).then(|| warning(limit, room, clients)))
}

/// The files that are to be left over. It is asked for with each client: the cheapest are a socket,
/// since a copy takes no file of the system, and its copies.
///
/// # Errors
/// If there are not so many.
#[cfg(unix)]
pub(crate) fn left_over() -> io::Result<Vec<OwnedFd>> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).map(OwnedFd::from);
    let copy = |of: &OwnedFd| fcntl_dupfd_cloexec(of, 0).map_err(io::Error::from);
    let all = socket.and_then(|socket| {
        let copies: io::Result<Vec<_>> = (1..LEFT_OVER).map(|_| copy(&socket)).collect();
        let mut all = copies?;
        all.push(socket);
        Ok(all)
    });
    match all {
        Err(error) if are_used_up(&error) => Err(error),
        // If it is something else, it is not that there are too few.
        all => Ok(all.unwrap_or_default()),
    }
}

/// Sockets are no files elsewhere.
#[cfg(not(unix))]
pub(crate) fn left_over() -> io::Result<()> {
    Ok(())
}

/// Says which limit it is, if there are no more files.
pub(crate) fn limit(error: &io::Error) -> String {
    #[cfg(unix)]
    match (Errno::from_io_error(error), getrlimit(Resource::Nofile).current) {
        (Some(Errno::MFILE), Some(limit)) => return format!("; `ulimit -n` allows {limit}"),
        (Some(Errno::NFILE), _) => return "; the limit is that of the whole system".into(),
        _ => {}
    }
    // Sockets are no files elsewhere.
    let _ = error;
    String::new()
}

fn warning(limit: u64, room: u64, clients: u32) -> String {
    format!(
        "warning: {limit} open files are allowed, which is room for some {room} of the {clients} \
         clients of --max-connections; further ones wait; `ulimit -Hn` is the limit"
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
pub fn are_used_up(error: &io::Error) -> bool {
    #[cfg(unix)]
    let used_up = matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE));
    // WSAEMFILE.
    #[cfg(not(unix))]
    let used_up = error.raw_os_error() == Some(10_024);
    used_up
}

#[cfg(test)]
mod tests;
