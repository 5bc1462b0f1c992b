//! The table that sockets lie in, and what is left of them in TIME-WAIT.

use ackclock_tcp::Time;

use crate::socket::{Owner, Socket};
use crate::time_wait::TimeWait;
use crate::{Error, ListenerId, SocketId};

/// What lies in a slot of the table.
pub(crate) enum Entry {
    Free,
    Socket(Box<Socket>),
    TimeWait(TimeWait),
}

pub(crate) struct Slot {
    generation: u32,
    pub(crate) entry: Entry,
    /// The earliest entry among the timers.
    pub(crate) scheduled: Time,
}

/// Sockets by dense index. A [`SocketId`] is the index and how often the slot was used before.
#[derive(Default)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Table {
    /// The next index that [`Table::insert`] will use, and the id that belongs to it.
    pub(crate) fn next(&self) -> (u32, SocketId) {
        let index = self.free.last().copied().unwrap_or(self.slots.len() as u32);
        let generation = self.slots.get(index as usize).map_or(0, |slot| slot.generation);
        (index, SocketId(u64::from(generation) << 32 | u64::from(index)))
    }

    pub(crate) fn insert(&mut self, socket: Socket) {
        let entry = Entry::Socket(Box::new(socket));
        match self.free.pop() {
            Some(index) => self.slots[index as usize].entry = entry,
            None => self.slots.push(Slot { generation: 0, entry, scheduled: Time::NEVER }),
        }
    }

    pub(crate) fn remove(&mut self, index: u32) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            *slot = Slot {
                generation: slot.generation.wrapping_add(1),
                entry: Entry::Free,
                scheduled: Time::NEVER,
            };
            self.free.push(index);
        }
    }

    pub(crate) fn slot(&mut self, index: u32) -> Option<&mut Slot> {
        self.slots.get_mut(index as usize)
    }

    pub(crate) fn scheduled(&self, index: u32) -> Time {
        self.slots.get(index as usize).map_or(Time::NEVER, |slot| slot.scheduled)
    }

    pub(crate) fn socket(&mut self, index: u32) -> Option<&mut Socket> {
        match self.slots.get_mut(index as usize) {
            Some(Slot { entry: Entry::Socket(socket), .. }) => Some(socket),
            _ => None,
        }
    }

    /// The index of a socket that the application holds.
    pub(crate) fn held(&self, id: SocketId) -> Result<(u32, &Socket), Error> {
        let index = id.0 as u32;
        match self.slots.get(index as usize) {
            Some(Slot { entry: Entry::Socket(socket), .. })
                if socket.id == id && socket.owner == Owner::Application =>
            {
                Ok((index, socket))
            }
            _ => Err(Error::NoSocket),
        }
    }

    pub(crate) fn held_mut(&mut self, id: SocketId) -> Result<(u32, &mut Socket), Error> {
        let (index, _) = self.held(id)?;
        self.socket(index).map(|socket| (index, socket)).ok_or(Error::NoSocket)
    }

    pub(crate) fn sockets(&self) -> impl Iterator<Item = &Socket> {
        self.slots.iter().filter_map(|slot| match &slot.entry {
            Entry::Socket(socket) => Some(socket.as_ref()),
            _ => None,
        })
    }

    pub(crate) fn sockets_mut(&mut self) -> impl Iterator<Item = &mut Socket> {
        self.slots.iter_mut().filter_map(|slot| match &mut slot.entry {
            Entry::Socket(socket) => Some(socket.as_mut()),
            _ => None,
        })
    }

    /// The indices of the sockets that a listener has not given away.
    pub(crate) fn of_listener(&self, listener: ListenerId) -> Vec<u32> {
        let theirs = [Owner::HalfOpen(listener), Owner::Queued(listener)];
        self.sockets()
            .filter(|socket| theirs.contains(&socket.owner))
            .map(|socket| socket.id.0 as u32)
            .collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
