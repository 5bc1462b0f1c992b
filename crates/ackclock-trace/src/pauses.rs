//! Times in which nobody knows whether the capture was running.

use ackclock_tcp::{Span, Time};

#[cfg(test)]
mod tests;

/// After as long a silence a capture may have been stopped, or be put together from several.
/// Chosen: of captures with one idle connection, those that ask whether the other end is there do
/// so more often.
const PAUSE: Span = Span::from_secs(300);

#[derive(Debug, Default)]
pub(crate) struct Pauses {
    /// When those that a segment has ended began, in order of time.
    begun: Vec<Time>,
    /// When the last frame without a segment was captured.
    heard: Time,
    /// When the first pause since the last segment began.
    since: Option<Time>,
    /// When the last segment before that frame was captured. Once there is another one, the frame
    /// and its clock say nothing more.
    last: Time,
}

impl Pauses {
    /// A frame without a segment is captured; the last segment was at `last`.
    pub fn other(&mut self, at: Time, last: Time) {
        if last != self.last {
            (self.heard, self.since, self.last) = (Time::ZERO, None, last);
        }
        let before = self.heard.max(last);
        if at.since(before) >= PAUSE {
            self.since.get_or_insert(before);
        }
        self.heard = self.heard.max(at);
    }

    /// A segment is captured after a silence of all connections since `last`.
    pub fn ends(&mut self, at: Time, last: Time) {
        self.other(at, last);
        // If the clock was set ahead meanwhile, the silence is shorter than it was thought to be.
        let pause = self.since.take().filter(|_| at.since(last) >= PAUSE);
        if let Some(pause) = pause {
            // Clocks may go back.
            self.begun.insert(self.begun.partition_point(|begun| *begun < pause), pause);
        }
        self.heard = Time::ZERO;
    }

    /// Until when a connection that was last seen then would have been seen again. `now`: when the
    /// last segment was captured.
    pub fn until(&self, last: Time, now: Time) -> Time {
        let open = (now == self.last).then_some((self.since, self.heard));
        let (since, heard) = open.unwrap_or_default();
        let begun = self.begun.get(self.begun.partition_point(|begun| *begun < last)).copied();
        begun.or(since).filter(|pause| *pause >= last).unwrap_or(now.max(heard))
    }
}
