//! A packet as it was seen somewhere on its way.

use crate::event::Sending;
use crate::segment::Segment;
use crate::time::Time;
use crate::wire::Repr;

/// A packet of a connection as it was seen, at one of its ends or between them. A network hands
/// these to recorders, and captures are written from them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// When it was seen.
    pub at: Time,
    /// Whether it comes from the sender of the data.
    pub to_receiver: bool,
    /// Its header, without ports.
    pub header: Repr,
    /// Bytes of payload.
    pub len: u32,
    /// Of a data segment or a window probe, why it was sent.
    pub sent: Option<Sending>,
    /// The position among all packets that its host has sent on this connection, from 1. A
    /// duplicate made by a link has the number of its original.
    pub number: u32,
    /// Links that it has come over. Every node between two links takes one off its time to live.
    pub hops: u32,
}

impl Sighting {
    /// What the engine needs of it.
    pub fn segment(&self) -> Segment {
        self.header.segment(self.len)
    }
}
