//! What the proxy counts, as metrics.

use std::io::ErrorKind;
use std::sync::Arc;

use ackclock_impair::exposition::Exposition;

use super::super::daemon::Counts;
use super::super::histogram::Histogram;
use super::super::routes::LookUps;

#[derive(Clone, Default)]
pub(super) struct Counted {
    /// Clients that were reset because no backend took the connection.
    pub failures: [u64; Failure::ALL.len()],
    /// How long it took to connect to a backend.
    pub connects: Histogram,
    /// Connections that rested for too long: open, and half closed.
    pub rested: [u64; 2],
    /// Clients that wait now: for an open file, and for their backend's name.
    pub waiting: [u64; 2],
    /// The same for all queues.
    pub look_ups: Arc<LookUps>,
}

/// Why no backend took a client.
#[derive(Clone, Copy)]
pub(super) enum Failure {
    Refused,
    Timeout,
    Unreachable,
    /// Its name is not found, or has no address to which a client's own can connect.
    NoAddress,
    /// This machine has no address, or no port left, from which it could connect.
    NoSource,
    /// This machine does not let us.
    Forbidden,
    /// The listener is gone from the file.
    NoListener,
    Other,
}

impl Failure {
    const ALL: [Failure; 8] = [
        Failure::Refused,
        Failure::Timeout,
        Failure::Unreachable,
        Failure::NoAddress,
        Failure::NoSource,
        Failure::Forbidden,
        Failure::NoListener,
        Failure::Other,
    ];

    pub fn of(error: ErrorKind) -> Failure {
        match error {
            ErrorKind::ConnectionRefused => Failure::Refused,
            ErrorKind::TimedOut => Failure::Timeout,
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => Failure::Unreachable,
            ErrorKind::NotFound => Failure::NoAddress,
            ErrorKind::AddrNotAvailable => Failure::NoSource,
            ErrorKind::PermissionDenied => Failure::Forbidden,
            _ => Failure::Other,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Failure::Refused => "refused",
            Failure::Timeout => "timeout",
            Failure::Unreachable => "unreachable",
            Failure::NoAddress => "no_address",
            Failure::NoSource => "no_source",
            Failure::Forbidden => "forbidden",
            Failure::NoListener => "no_listener",
            Failure::Other => "other",
        }
    }
}

impl Counts for Counted {
    fn add(&mut self, other: &Counted) {
        self.failures.iter_mut().zip(other.failures).for_each(|(own, theirs)| *own += theirs);
        self.connects.join(&other.connects);
        self.rested.iter_mut().zip(other.rested).for_each(|(own, theirs)| *own += theirs);
        self.waiting.iter_mut().zip(other.waiting).for_each(|(own, theirs)| *own += theirs);
        self.look_ups = other.look_ups.clone();
    }

    fn write(&self, to: &mut Exposition, _strategies: &[String]) {
        to.counters(
            "ackclock_backend_failures_total",
            "Clients reset because no backend took them, by what the last one tried said.",
            "reason",
            &Failure::ALL.map(|failure| (failure.name(), self.failures[failure as usize])),
        );
        let help = "How long it took to connect to a backend.";
        self.connects.write(to, "ackclock_backend_connect_seconds", help);
        let [open, half_closed] = self.rested;
        to.counters(
            "ackclock_rested_connections_total",
            "Connections reset because nothing moved for too long.",
            "state",
            &[("open", open), ("half_closed", half_closed)],
        );
        let help = "Clients taken that have no backend yet, and wait for an open file.";
        to.gauge("ackclock_connections_waiting_for_file", help, self.waiting[0]);
        let help = "Clients taken that have no backend yet, and wait for the look-up of its name.";
        to.gauge("ackclock_connections_waiting_for_name", help, self.waiting[1]);
        to.counters(
            "ackclock_name_lookups_total",
            "Look-ups of backends' names, by whether addresses were found.",
            "result",
            &self.look_ups.counts(),
        );
    }
}
