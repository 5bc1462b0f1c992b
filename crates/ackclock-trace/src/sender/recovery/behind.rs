//! New data that was lost before the capture, with nothing seen behind it: it goes out again like
//! new data, since only that more was seen would show the hole. The numbers of packets say that it
//! had gone out.

use ackclock_tcp::Time;

use crate::sender::input::Sent;

#[derive(Debug, Default)]
pub(crate) struct Behind {
    /// Where it begins: where all that was seen ends.
    from: u64,
    segments: u16,
    /// When and with which number what came next went out.
    at: Time,
    number: Option<u16>,
}

impl Behind {
    /// So many segments went out unseen before `next`, from here on.
    pub fn lost(&mut self, segments: u16, from: u64, next: &Sent) {
        *self = Behind { from, segments, at: next.at, number: next.ip_id };
    }

    pub fn segments(&self) -> u16 {
        self.segments
    }

    /// `sent` looks like new data. If it went out before, returns when that was, at the latest.
    pub fn takes(&mut self, sent: &Sent) -> Option<Time> {
        if self.from != sent.position {
            // More was seen, which has shown the hole.
            self.segments = 0;
            return None;
        }
        (self.from, self.segments) = (sent.end(), self.segments.checked_sub(1)?);
        // One that comes late has a number from before.
        let step = sent.ip_id?.wrapping_sub(self.number?);
        (step < u16::MAX / 2).then_some(self.at)
    }
}
