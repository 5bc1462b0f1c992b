//! How far the sender is, by the window: what goes beyond the window answers the ACK that opened
//! it. The ACK of a SYN/ACK, which has measured that before, may have come late.

use ackclock_tcp::{Span, Time};

use crate::sender::Acked;

/// So often an ACK is answered sooner, and no less often than was thought, before it counts: of
/// ACKs that the capture lacks, others seem to be answered.
const OFTEN: u32 = 3;

/// What the capture lacks a few of comes close behind each other: then what answers one is not
/// that much sooner for the next one.
const MUCH: u64 = 4;

#[derive(Default)]
pub(super) struct Room {
    /// How often data went beyond all that the sender seemed to have room for.
    sooner: u32,
    /// The shortest time since an ACK that had given it that room.
    least: Span,
    /// How often it used the room up, and no more.
    in_turn: u32,
}

impl Room {
    /// New data goes out up to the position `end`, where the sender seems to have room up to
    /// `edge`, and a segment has `mss` bytes. `waiting` have passed, to reach it `delay` later.
    pub fn used<'a>(
        &mut self,
        end: u64,
        [edge, mss]: [u64; 2],
        at: Time,
        delay: Span,
        waiting: impl IntoIterator<Item = &'a Acked>,
    ) {
        if end <= edge {
            self.in_turn += u32::from(end + mss > edge);
            return;
        }
        let mut waiting = waiting.into_iter();
        let opens = waiting.find(|a| a.ack.saturating_add(a.allowed()) >= end);
        let trip = opens.map(|a| at.since(a.at)).filter(|trip| trip.times(MUCH) < delay);
        if let Some(trip) = trip {
            self.least = if self.sooner == 0 { trip } else { self.least.min(trip) };
            self.sooner += 1;
        }
    }

    /// The way to the sender and back takes no longer, if that is known.
    pub fn trip(&mut self) -> Option<Span> {
        let often = self.sooner >= OFTEN && self.sooner >= self.in_turn;
        often.then(|| std::mem::take(self).least)
    }
}
