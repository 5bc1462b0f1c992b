//! What a command that serves says to its operator while it serves, on standard error.

use std::collections::HashMap;
use std::hash::Hash;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ackclock_report::counted;
use ackclock_tcp::{Span, Time};

use super::sources::{Account, SourceLimits, TooMany};
use crate::error::Error;
use crate::output::say;

/// The least time between two lines of one kind: a flood should not fill a disk.
const PAUSE: Span = Span::from_secs(60);

/// When a line of each may be written again.
type Each<K> = Mutex<HashMap<K, AtomicU64>>;

/// When lines may be written again, in nanoseconds of the workers' clock.
#[derive(Default)]
pub(super) struct Notices {
    waiting: AtomicU64,
    access_log: AtomicU64,
    files: AtomicU64,
    /// By the listener, if it has limits of its own, and which one it is.
    refused: Each<(Option<SocketAddr>, usize)>,
    /// By the address that clients connected to, and why no backend took them.
    backend: Each<(SocketAddr, &'static str)>,
}

impl Notices {
    /// Clients wait since there are `most` connections, or for memory; `queue` is where, if there
    /// are several.
    pub fn waiting(&self, now: Time, waiting: usize, queue: Option<usize>, most: Option<usize>) {
        if due(&self.waiting, now) {
            let at = queue.map_or_else(String::new, |queue| format!(" at queue {queue}"));
            let why = match most.map(|most| counted(most as u64, "connection")) {
                Some(most) => {
                    format!("there may be {most} (--max-connections, --memory, open files)")
                }
                None if queue.is_some() => "those that it has take its part of --memory".into(),
                None => "those that there are take all of --memory".into(),
            };
            say(&format!("{}{at}: {why}", wait(waiting)));
        }
    }

    /// So many clients waited at a listener that has ended.
    pub fn not_taken(&self, clients: u64) {
        let text = if clients == 1 { "client that waited is" } else { "clients that waited are" };
        say(&format!("{clients} {text} reset: there was no room until the end"));
    }

    /// Clients wait since no connection to their backend can be opened.
    pub fn files(&self, now: Time, waiting: usize) {
        if due(&self.files, now) {
            say(&format!("{}: there are no more open files (`ulimit -Hn`)", wait(waiting)));
        }
    }

    /// A client was reset since its address has reached a limit, which may be its listener's own.
    pub fn refused(&self, now: Time, account: Account, why: TooMany, own: SourceLimits) {
        let Account { listener, subscriber: source } = account;
        if due_of(&self.refused, (listener, why.index()), now) {
            let len = if source.is_ipv4() { "" } else { "/64" };
            let at = listener.map_or_else(String::new, |listener| format!(" at {listener}"));
            say(&match why {
                TooMany::Connections(most) => {
                    let most = counted(most.into(), "connection");
                    let limit = own.connections.map_or("--max-per-source", |_| "max_per_source");
                    format!("{source}{len} is refused{at}: it has {most} ({limit})")
                }
                TooMany::Rate(rate) => {
                    let rate = counted(rate.into(), "connection");
                    let limit = own.rate.map_or("--max-rate-per-source", |_| "max_rate_per_source");
                    format!(
                        "{source}{len} is refused{at}: it opens more than {rate} a second ({limit})"
                    )
                }
            });
        }
    }

    /// A client of this address of ours was reset since no backend took it. `why` says more than
    /// the reason, where that is possible.
    pub fn no_backend(&self, now: Time, server: SocketAddr, reason: &'static str, why: &str) {
        if due_of(&self.backend, (server, reason), now) {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            say(&format!("a client of {server} is reset: no backend takes it ({reason}{why})"));
        }
    }

    /// What a name was found to stand for, where no backend took a client.
    pub fn looked_up(&self, text: &str) {
        say(&format!("no backend takes clients: {text}"));
    }

    /// Lines of the access log are lost.
    pub fn access_log(&self, now: Time, error: &io::Error) {
        if due(&self.access_log, now) {
            say(&format!("--access-log: lines are lost: {error}"));
        }
    }

    /// The command ends, and so many lines of the access log were lost, if not more.
    pub fn log_ended(&self, lost: u64, error: &io::Error) {
        let lines = counted(lost, "line");
        say(&format!("--access-log: the loss is {lines}, if not more: {error}"));
    }

    /// SIGHUP came, and with it the access log was opened anew and the service has read its file
    /// again, if there are such.
    pub fn hangup(
        &self,
        reopened: Option<io::Result<()>>,
        reloaded: Result<Option<String>, Error>,
    ) {
        match &reopened {
            None => {}
            Some(Ok(())) => say("SIGHUP: the access log is opened anew"),
            Some(Err(error)) => {
                say(&format!(
                    "SIGHUP: the access log cannot be opened: {error}; the old one goes on"
                ));
            }
        }
        match reloaded {
            Ok(Some(text)) => say(&format!("SIGHUP: {text}")),
            Ok(None) if reopened.is_none() => {
                say("SIGHUP: there is no file to open again; nothing changes");
            }
            Ok(None) => {}
            Err(error) => say(&format!("SIGHUP: {error}; what was read before stays")),
        }
    }
}

fn wait(clients: usize) -> String {
    format!("{clients} {}", if clients == 1 { "client waits" } else { "clients wait" })
}

/// The same of each of several.
fn due_of<K: Eq + Hash>(each: &Each<K>, key: K, now: Time) -> bool {
    let mut each = each.lock().unwrap_or_else(PoisonError::into_inner);
    due(each.entry(key).or_default(), now)
}

/// Whether this is the one who may write a line now.
fn due(at: &AtomicU64, now: Time) -> bool {
    let before = at.load(Ordering::Relaxed);
    let after = (now + PAUSE).nanos();
    now.nanos() >= before
        && at.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}
