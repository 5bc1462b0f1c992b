//! What a command that serves says to its operator while it serves, on standard error.

use std::io::{self, Write};
use std::net::IpAddr;

use ackclock_tcp::{Span, Time};

use super::sources::TooMany;
use crate::error::Error;

/// The least time between two lines of one kind: a flood should not fill a disk.
const PAUSE: Span = Span::from_secs(60);

/// When lines may be written again.
#[derive(Default)]
pub(super) struct Notices {
    waiting: Time,
    refused: [Time; 2],
    access_log: Time,
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

    /// A client was reset since its address has reached a limit.
    pub fn refused(&mut self, now: Time, source: IpAddr, why: TooMany) {
        if due(&mut self.refused[why.index()], now) {
            say(&match why {
                TooMany::Connections(most) => {
                    format!("{source} is refused: it has {most} connections (--max-per-source)")
                }
                TooMany::Rate(rate) => format!(
                    "{source} is refused: it opens more than {rate} connections a second \
                     (--max-rate-per-source)"
                ),
            });
        }
    }

    /// Lines of the access log are lost.
    pub fn access_log(&mut self, now: Time, error: &io::Error) {
        if due(&mut self.access_log, now) {
            say(&format!("--access-log: lines are lost: {error}"));
        }
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
            Err(error) => say(&format!("SIGHUP: {error}; the listeners stay as they are")),
        }
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
