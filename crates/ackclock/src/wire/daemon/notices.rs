//! What a command that serves says to its operator while it serves, on standard error.

use std::io::Write;
use std::net::IpAddr;

use ackclock_tcp::{Span, Time};

/// The least time between two lines of one kind: a flood should not fill a disk.
const PAUSE: Span = Span::from_secs(60);

/// When lines may be written again.
#[derive(Default)]
pub(super) struct Notices {
    waiting: Time,
    refused: Time,
}

impl Notices {
    /// Clients wait since there are `most` connections.
    pub fn waiting(&mut self, now: Time, waiting: usize, most: usize) {
        if due(&mut self.waiting, now) {
            say(&format!(
                "{waiting} clients wait: there are {most} connections (--max-connections, --memory)"
            ));
        }
    }

    /// A client was reset since its address has `most` connections.
    pub fn refused(&mut self, now: Time, source: IpAddr, most: u32) {
        if due(&mut self.refused, now) {
            say(&format!("{source} is refused: it has {most} connections (--max-per-source)"));
        }
    }

    /// SIGHUP came.
    pub fn hangup(&self) {
        say("SIGHUP: there is no file to read again; nothing changes");
    }
}

fn due(at: &mut Time, now: Time) -> bool {
    let due = now >= *at;
    if due {
        *at = now + PAUSE;
    }
    due
}

fn say(line: &str) {
    // Where nobody listens, there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{line}");
}
