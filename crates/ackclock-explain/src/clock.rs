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
mod tests {
    use super::*;

    /// Times in milliseconds, frames from 1 on.
    fn looked_at(times: impl IntoIterator<Item = u64>) -> [(u64, u64, u64); 2] {
        let mut clock = Clock::default();
        for (i, ms) in times.into_iter().enumerate() {
            clock.frame(i as u64 + 1, Time(1_700_000_000_000_000_000 + ms * 1_000_000));
        }
        let (set_back, out_of_order) = clock.end();
        [set_back, out_of_order].map(|b| (b.times, b.frame, b.by.0 / 1_000_000))
    }

    const NONE: (u64, u64, u64) = (0, 0, 0);

    #[test]
    fn in_order() {
        assert_eq!(looked_at([0, 5, 5, 900]), [NONE, NONE]);
    }

    /// It goes on from there, past where it was or not; and goes back again.
    #[test]
    fn a_clock_that_is_set_back() {
        let forth = |from: u64| (from..from + 100).step_by(5);
        for next in [40, 0] {
            let times = forth(1000).chain(forth(1055 + next - 40)).chain(forth(1300));
            let [set_back, out_of_order] = looked_at(times);
            assert_eq!((set_back, out_of_order), ((1, 21, 40 + 40 - next), NONE));
        }
        let times = forth(5000).chain(forth(3000)).chain(forth(1000));
        assert_eq!(looked_at(times), [(1, 21, 2095), NONE]);
    }

    /// Frames that were kept back: time goes on where it was.
    #[test]
    fn frames_out_of_order() {
        assert_eq!(looked_at([0, 50, 60, 20, 30, 70, 65, 80]), [NONE, (3, 4, 40)]);
        // In order among themselves, but the clock is where it would be without them.
        let late = [0, 500].into_iter().chain((100..120).step_by(2)).chain([501, 502]);
        assert_eq!(looked_at(late), [NONE, (10, 3, 400)]);
        // The same without a jump, since others are about as late.
        let late = [0, 130].into_iter().chain((100..120).step_by(2)).chain([121, 131, 111, 132]);
        assert_eq!(looked_at(late), [NONE, (12, 3, 30)]);
        // At the end too few to tell.
        assert_eq!(looked_at([0, 500, 100, 110]), [NONE, (2, 3, 400)]);
        // Queues.
        assert_eq!(looked_at([100, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100]), [NONE, (9, 2, 9)]);
    }
}
