//! The scale of the windows that an end is offered, where the SYNs were not seen, and what is known
//! of it by what it has to fit.
//!
//! A sender keeps within the window, so that the scale is at least what makes room for all that is
//! outstanding. A receiver does not take back what it has offered (RFC 9293 section 3.8.6): its
//! window becomes smaller by what it acknowledges, and by no more, so that the scale is at most
//! what the field allows that has become less. Where it reads nothing meanwhile and its window
//! becomes full, the two meet, and that is the scale.

use std::ops::Range;

/// No scale is larger (RFC 7323 section 2.3).
const MOST: u8 = 14;

/// The field is compared with that of an earlier ACK until it is less by so much.
const STEP: u16 = 16;

/// The field may be less by so much because what it cannot say is left out.
const ROUNDED: u16 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    least: u8,
    /// `None` if nothing fits: the receiver has taken back what it offered.
    most: Option<u8>,
    /// The field of an earlier ACK, and what that acknowledged.
    before: u16,
    acked: u64,
    /// The largest field, and the last one.
    highest: u16,
    last: u16,
    /// With half of the least scale there was no room.
    filled: bool,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale {
            least: 0,
            most: Some(MOST),
            before: 0,
            acked: 0,
            highest: 0,
            last: 0,
            filled: false,
        }
    }
}

impl Scale {
    /// An ACK acknowledges so much, and no less than before, and offers a window with this field.
    /// `outstanding`: from what was acknowledged before to the highest byte.
    pub fn offered(&mut self, ack: u64, field: u16, outstanding: Range<u64>) {
        let less = self.before.saturating_sub(field);
        let acked = ack.saturating_sub(self.acked);
        // One that acknowledges no more and has less room was overtaken by the other.
        if less > 0 && acked == 0 {
            return;
        }
        let last = std::mem::replace(&mut self.last, field);
        // What runs out of memory closes its window at once (Linux: `ICSK_ACK_NOMEM`).
        if field == 0 {
            return;
        }
        self.highest = self.highest.max(field);
        // Where all is acknowledged at once, as the capture at a receiver has it, it is the window
        // before that had room for all.
        let (field_then, from) =
            if outstanding.end > ack { (field, ack) } else { (last, outstanding.start) };
        let (room, flight) = (u64::from(field_then) + 1, outstanding.end.saturating_sub(from));
        if field_then > 0 {
            let makes_room = |shift: &u8| room << shift >= flight;
            let least = (self.least..MOST).find(makes_room).unwrap_or(MOST);
            self.filled |= least > self.least || flight > (room << least) / 2;
            self.least = least;
        }
        let fits = |shift: &u8| u64::from(less.saturating_sub(ROUNDED)) << shift <= acked;
        self.most = self.most.and_then(|most| (0..=most).rev().find(fits));
        if less == 0 || less >= STEP {
            (self.before, self.acked) = (field, ack);
        }
    }

    /// The same, where positions begin anew.
    pub fn rest(&self) -> Scale {
        Scale { before: 0, acked: 0, last: 0, ..*self }
    }

    /// The least that it may be.
    pub fn least(&self) -> u8 {
        self.least
    }

    /// It, if nothing else fits.
    pub fn known(&self) -> Option<u8> {
        self.most.filter(|most| self.filled && self.least == *most)
    }

    /// The largest window with that scale, in bytes.
    pub fn largest(&self) -> Option<u64> {
        self.known().map(|shift| u64::from(self.highest) << shift)
    }
}
