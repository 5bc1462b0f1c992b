//! What packets find at the queue of a link, for one who watches.

use ackclock_tcp::{Span, Time};

use super::Link;
use super::discipline::Discipline;
use crate::packet::Packet;
use crate::queue::Found;
use crate::recorder::Visit;

impl Link {
    /// From now on each packet takes the way on which [`Link::visit`] can be asked.
    pub(crate) fn watch(&mut self) {
        if self.processor.is_none() {
            (self.plain, self.special) = (false, true);
        }
        if let Discipline::Served(transmitter) = &mut self.discipline {
            transmitter.watch();
        }
    }

    /// [`Link::admit`] for one who watches: with the packet's visit, if it came to the queue.
    pub(crate) fn admit_seen(
        &mut self,
        now: u64,
        packet: &Packet,
        mss: impl Fn() -> u32,
    ) -> (Result<u64, &'static str>, Option<Visit>) {
        let found = self.found(now);
        let admitted = self.admit(now, packet, mss);
        let came = matches!(admitted, Ok(_) | Err(Link::FULL | Link::EARLY));
        (admitted, came.then(|| self.visit(now, packet.size, found, admitted.err())))
    }

    /// What a packet that comes now finds.
    fn found(&mut self, now: u64) -> Found {
        if now >= self.busy_until {
            return Found::default();
        }
        let (packets, bytes) = self.ahead(now);
        Found { packets: packets + 1, bytes }
    }

    /// The visit of a packet of `size` bytes that came at `now`, found so much, and has just been
    /// let in or dropped.
    fn visit(&self, now: u64, size: u32, found: Found, dropped: Option<&'static str>) -> Visit {
        let begins = self.busy_until.saturating_sub(self.last_time);
        let waited = if dropped.is_none() { begins.saturating_sub(now) } else { 0 };
        Visit {
            came: Time(now),
            size,
            packets: found.packets,
            bytes: found.bytes,
            waited: Span(waited),
            dropped,
            marked: self.marks_last,
            waits: false,
        }
    }
}
