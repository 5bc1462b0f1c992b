//! Whether the frames of a capture are in order of time. Its clock may have been set back while it
//! was taken, or frames may come after later ones.

use ackclock_tcp::{Span, Time};

/// Clocks that are set go back by more than this; queues and cores by less.
const SET: Span = Span::from_millis(10);

/// So many frames in a row are in order by chance in one of 40,320 cases.
const IN_ORDER: u64 = 8;

/// How often the time of frames goes back, and where it does so by most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Back {
    /// How often: steps of the clock, or frames out of order.
    pub times: u64,
    /// The frame that is farthest behind the latest one before it; 0 if there is none.
    pub frame: u64,
    /// By how much.
    pub by: Span,
}

impl Back {
    fn add(&mut self, times: u64, frame: u64, by: Span) {
        self.times += times;
        if by > self.by {
            (self.frame, self.by) = (frame, by);
        }
    }
}

/// Looks at the times of frames, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// The latest time so far.
    latest: Time,
    behind: Option<Behind>,
    set_back: Back,
    /// Frames behind the latest one after the clock was set back.
    after: u64,
    out_of_order: Back,
}

/// Frames in a row that are behind the latest one.
#[derive(Clone, Debug)]
struct Behind {
    frames: u64,
    last: Time,
    /// The first of them.
    first: (u64, Span),
    /// The one that is farthest behind.
    most: (u64, Span),
    /// Frames in order up to the last one, and the most of them.
    ordered: u64,
    longest: u64,
}

impl Clock {
    /// The next frame. One without a time says nothing.
    #[inline]
    pub fn frame(&mut self, number: u64, at: Time) {
        if at < self.latest || self.behind.is_some() {
            self.unusual(number, at);
        } else {
            self.latest = at;
        }
    }

    #[cold]
    fn unusual(&mut self, number: u64, at: Time) {
        if at == Time::ZERO {
            return;
        }
        if at >= self.latest {
            self.caught_up(Some(at));
            self.latest = at;
            return;
        }
        let here = (number, self.latest.since(at));
        let behind = self.behind.get_or_insert(Behind {
            frames: 0,
            last: at,
            first: here,
            most: here,
            ordered: 0,
            longest: 0,
        });
        behind.frames += 1;
        behind.ordered = if at >= behind.last { behind.ordered + 1 } else { 1 };
        behind.longest = behind.longest.max(behind.ordered);
        if here.1 > behind.most.1 {
            behind.most = here;
        }
        behind.last = at;
    }

    /// The frames are no longer behind, or there are no more. Where the clock was set back, it has
    /// gone on from there; where frames are out of order, time jumps to where it was.
    fn caught_up(&mut self, at: Option<Time>) {
        let Some(behind) = self.behind.take() else { return };
        let (frame, by) = behind.first;
        let jumps = at.is_some_and(|at| at.since(behind.last).0 > by.0 / 2);
        if by > SET && behind.longest >= IN_ORDER && !jumps {
            self.set_back.add(1, frame, by);
            self.after += behind.frames;
        } else {
            self.out_of_order.add(behind.frames, behind.most.0, behind.most.1);
        }
    }

    /// How the clock was set back, and what is out of order. Where frames are about as far out of
    /// order elsewhere, no clock was set back.
    pub fn end(mut self) -> (Back, Back) {
        self.caught_up(None);
        let Back { times, frame, by } = self.set_back;
        if self.out_of_order.by.0 > by.0 / 2 {
            self.out_of_order.add(self.after, frame, by);
            return (Back::default(), self.out_of_order);
        }
        (Back { times, frame, by }, self.out_of_order)
    }
}

#[cfg(test)]
mod tests;
