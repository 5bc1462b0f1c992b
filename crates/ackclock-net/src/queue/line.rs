//! Packets that wait for a transmitter, in the order of their arrival.

use std::collections::VecDeque;

use ackclock_tcp::{Span, Time};

use crate::packet::Packet;
use crate::recorder::Visit;

/// A packet in a queue. Its hop is that of the queue's link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) packet: Packet,
    /// By its listed fate.
    pub(crate) late_by: Span,
    /// When it joined the queue, in nanoseconds since the start.
    pub(crate) since: u64,
    pub(crate) found: Found,
    /// This queue marked it.
    pub(crate) marked: bool,
    /// Its visit has been noted.
    pub(crate) noted: bool,
}

impl Queued {
    /// The queue marks it with CE, if it is ECN-capable. Whether it is.
    pub(crate) fn mark(&mut self) -> bool {
        self.marked = self.packet.mark();
        self.marked
    }

    /// What is known of it at `now`, as it leaves the queue or is dropped for this reason.
    pub(crate) fn visit(&self, now: u64, dropped: Option<&'static str>) -> Visit {
        let Found { packets, bytes } = self.found;
        Visit {
            came: Time(self.since),
            size: self.packet.size,
            packets,
            bytes,
            waited: Span(now.saturating_sub(self.since)),
            dropped,
            marked: self.marked,
            waits: false,
        }
    }
}

/// The packets that another one finds as it comes to a link: those that wait, and the one in
/// transmission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

/// First in, first out.
#[derive(Debug, Default)]
pub(crate) struct Line {
    packets: VecDeque<Queued>,
    /// Their bytes.
    pub(crate) bytes: u64,
}

impl Line {
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.packets.iter()
    }

    pub(crate) fn first(&self) -> Option<&Queued> {
        self.packets.front()
    }

    pub(crate) fn push(&mut self, packet: Queued) {
        self.bytes += u64::from(packet.packet.size);
        self.packets.push_back(packet);
    }

    pub(crate) fn pop(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.packet.size);
        Some(packet)
    }
}
