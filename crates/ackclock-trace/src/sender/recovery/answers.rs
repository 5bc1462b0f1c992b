//! Without SACK: was nothing of what was retransmitted needed?
//!
//! The retransmissions that went out after the one that an ACK answers are on their way when it
//! passes. The receiver needs none of what the ACK acknowledges, and answers each by one ACK that
//! does not advance (RFC 5681 section 4.2). As many of those as there are retransmissions prove it.
//! Fewer prove nothing: one of them may have been needed, and have arrived together with the one
//! before. Retransmissions beyond what it acknowledges may be behind a hole, and are answered so as
//! well: with one of them on its way, nothing is said.
//!
//! Where ACKs come at once for all that was outstanding, and as many of them repeat the last one
//! within a round trip as anything was retransmitted since the ACK before, all of it had arrived,
//! and none was needed: the ACKs were late.
//!
//! New data may be answered so, too, if some is missing before it, but not before a round trip.
//! Once half of the retransmissions are answered by then, no more than a lost segment can be
//! mistaken: the others are ahead of the new data.

use std::ops::Range;

use ackclock_tcp::{Span, Time};

use crate::sender::input::Acked;

/// What is on its way behind the ACK that acknowledged it.
#[derive(Debug)]
struct OnTheWay {
    /// When that ACK came, the position that it acknowledged, and the window that it offered.
    at: Time,
    ack: u64,
    window: u64,
    /// Numbers of the retransmissions.
    numbers: Range<u32>,
    /// Number of the first one since the ACK before the first of those that came at once.
    since: u32,
    /// Nothing is outstanding any more.
    is_all: bool,
    /// How many ACKs have repeated it.
    repeated: usize,
}

impl OnTheWay {
    /// Those since the ACK before as well.
    fn every(&self) -> Range<u32> {
        self.since..self.numbers.end
    }
}

#[derive(Debug, Default)]
pub(crate) struct Answers {
    on_the_way: Option<OnTheWay>,
}

impl Answers {
    /// An ACK acknowledges these retransmissions, which went out after the one that it answers, and
    /// before anything else. `since`: number of the first one since the ACK before. `is_all`:
    /// nothing is outstanding any more. `trip`: as in [`Answers::repeated`].
    pub fn acknowledged(
        &mut self,
        a: &Acked,
        numbers: Range<u32>,
        since: u32,
        is_all: bool,
        trip: Span,
    ) {
        let &Acked { at, ack, window, .. } = a;
        let old = self.on_the_way.take();
        let same = old.filter(|old| old.repeated == 0 && at.since(old.at) < trip);
        let since = same.map_or(since, |old| old.since);
        let on_the_way = OnTheWay { at, ack, window, numbers, since, is_all, repeated: 0 };
        self.on_the_way = Some(on_the_way).filter(|all| all.since < all.numbers.end);
    }

    /// An ACK without data does not advance; `trip` is the shortest round trip. Returns the numbers
    /// of the retransmissions once all of them are answered.
    pub fn repeated(&mut self, a: &Acked, trip: Span) -> Option<Range<u32>> {
        let mut all = self.on_the_way.take()?;
        let soon = a.at.since(all.at) < trip;
        let enough = soon || all.repeated >= all.numbers.len().div_ceil(2);
        if a.ack != all.ack || a.window != all.window || !enough {
            return None;
        }
        all.repeated += 1;
        if soon && all.is_all && all.repeated == all.every().len() {
            return Some(all.every());
        }
        let later = all.numbers.clone();
        let answered = all.repeated == later.len();
        self.on_the_way = Some(all).filter(|all| !answered || all.is_all);
        answered.then_some(later)
    }
}
