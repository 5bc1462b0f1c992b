//! The packets on a link's wire.

use std::collections::VecDeque;

use crate::heap::{Heap, Key};
use crate::packet::Packet;

/// A packet on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) key: Key,
    pub(crate) packet: Packet,
}

const _: () = assert!(size_of::<InFlight>() == 64);

/// Appends to a ring that starts with room for one packet and grows by half. Most links of a large
/// network carry a packet or two at a time.
#[inline(always)]
pub(super) fn append(ring: &mut VecDeque<InFlight>, key: Key, packet: &Packet) {
    if ring.len() == ring.capacity() {
        grow(ring);
    }
    ring.push_back(InFlight { key, packet: *packet });
}

#[cold]
#[inline(never)]
fn grow(ring: &mut VecDeque<InFlight>) {
    ring.reserve_exact((ring.len() / 2).max(1));
}

/// Gives back half of the memory of a ring where a quarter would do. A ring of a few packets stays,
/// since it would soon grow again, packet by packet.
pub(super) fn fit(ring: &mut VecDeque<InFlight>) {
    let half = ring.capacity() / 2;
    if half >= 4 && ring.len() <= half / 2 {
        ring.shrink_to(half);
    }
}

/// The late packets of a wire in the order of their arrival, which is none in which they were put:
/// each may be late by a time of its own.
#[derive(Debug, Default)]
pub(super) struct Late(VecDeque<InFlight>);

impl Late {
    pub(super) fn put(&mut self, packet: InFlight, heap: &mut Heap) {
        let place = self.0.partition_point(|other| other.key <= packet.key);
        if place == 0 {
            heap.push(packet.key);
        }
        self.0.insert(place, packet);
    }

    /// Takes the first packet, if this is its key: one that was overtaken at the front has left
    /// another entry in the heap.
    pub(super) fn take(&mut self, key: Key, heap: &mut Heap) -> Option<Packet> {
        if self.0.front()?.key != key {
            return None;
        }
        let InFlight { packet, .. } = self.0.pop_front()?;
        if let Some(next) = self.0.front() {
            heap.push(next.key);
        }
        Some(packet)
    }
}
