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

/// No place.
const NOWHERE: u32 = u32::MAX;

/// The packets on the wire of one link in the order of their arrival. They lie in [`Wires`].
#[derive(Debug)]
pub(crate) struct Wire {
    /// The place of the first one, or `NOWHERE`.
    first: u32,
    /// That of the last one, if there is a first one.
    last: u32,
}

impl Wire {
    pub(super) const EMPTY: Wire = Wire { first: NOWHERE, last: NOWHERE };
}

/// The packets on all wires. Of a large network a wire carries a packet or two at most times, and
/// many at some: memory of its own would be what it took then.
#[derive(Debug)]
pub(crate) struct Wires {
    packets: Vec<InFlight>,
    /// For each of them the place of the packet behind it on its wire, and for a free place that of
    /// the next free one.
    next: Vec<u32>,
    /// The place that was left last, and is in the cache, or `NOWHERE`.
    free: u32,
}

impl Default for Wires {
    fn default() -> Self {
        Wires { packets: Vec::new(), next: Vec::new(), free: NOWHERE }
    }
}

impl Wires {
    /// The first packet on a wire.
    #[inline(always)]
    pub(crate) fn first(&self, wire: &Wire) -> Option<&InFlight> {
        self.packets.get(wire.first as usize)
    }

    /// Appends a packet. Whether it is the first one.
    #[inline(always)]
    pub(super) fn append(&mut self, wire: &mut Wire, key: Key, packet: &Packet) -> bool {
        let place = self.free;
        match self.packets.get_mut(place as usize) {
            Some(free) => {
                *free = InFlight { key, packet: *packet };
                self.free = std::mem::replace(&mut self.next[place as usize], NOWHERE);
            }
            None => return self.append_to_more(wire, key, packet),
        }
        self.link(wire, place)
    }

    /// The same with no place free.
    #[cold]
    #[inline(never)]
    fn append_to_more(&mut self, wire: &mut Wire, key: Key, packet: &Packet) -> bool {
        let place = self.packets.len() as u32;
        self.packets.push(InFlight { key, packet: *packet });
        self.next.push(NOWHERE);
        self.link(wire, place)
    }

    #[inline(always)]
    fn link(&mut self, wire: &mut Wire, place: u32) -> bool {
        let is_first = wire.first == NOWHERE;
        if is_first {
            wire.first = place;
        } else {
            self.next[wire.last as usize] = place;
        }
        wire.last = place;
        is_first
    }

    /// Takes the first packet off a wire that has one. Returns the key of the next one.
    #[inline(always)]
    pub(super) fn pass_first(&mut self, wire: &mut Wire) -> Option<Key> {
        let place = wire.first;
        wire.first = std::mem::replace(&mut self.next[place as usize], self.free);
        self.free = place;
        self.first(wire).map(|next| next.key)
    }

    /// How many packets it has memory for.
    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.packets.len()
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
