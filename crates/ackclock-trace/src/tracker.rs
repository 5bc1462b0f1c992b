//! Which connection a packet belongs to.

use crate::connection::Connection;
use crate::packet::Packet;

/// How to look.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Keep events for a picture: of no connection, of all until this many events are kept in all, or of some.
    pub detail: Detail,
    /// Most connections that are kept open; beyond it those that were idle for longest end as [`Ended::Idle`](crate::connection::Ended).
    pub max_open: usize,
}

/// Of which connections to keep the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Of none.
    None,
    /// Of each, until so many are kept.
    UpTo(usize),
    /// Of these ([`Connection::number`]).
    Of(Vec<u64>),
}

impl Default for Settings {
    fn default() -> Self {
        Settings { detail: Detail::None, max_open: 1_000_000 }
    }
}

/// Sorts packets into connections.
pub struct Tracker {
    _settings: Settings,
}

impl Tracker {
    /// Nothing seen yet.
    pub fn new(settings: Settings) -> Tracker {
        Tracker { _settings: settings }
    }

    /// The next packet of the capture. Times may go back.
    pub fn packet(&mut self, _packet: &Packet) {
        todo!()
    }

    /// A connection that has ended, in order of ending; drain it now and then.
    pub fn poll_ended(&mut self) -> Option<Connection> {
        todo!()
    }

    /// The capture has ended, and with it all connections: the rest in order of [`Connection::number`].
    pub fn finish(self) -> Vec<Connection> {
        todo!()
    }
}
