//! The end: what limited the sender all the time.

use super::super::cells::segments;
use super::super::rate::Base;
use super::Limits;
use super::pace::Paced;
use crate::lifetime::{Lifetime, Limit};

impl Limits {
    /// At the end: all of it. A path that `holds` so many bytes over the route of a shortest round
    /// trip, in the end of this one, was full with as many outstanding. Where they left at an even
    /// pace, that takes some that have `waited` there, too.
    pub fn into_lifetime(
        mut self,
        mss: u32,
        base: Base,
        holds: impl Fn(Base) -> Option<f64>,
        waited: bool,
    ) -> Lifetime {
        self.was_missing(true);
        self.had_no_more();
        let Paced { even, window } = self.pace.settle(&mut self.full);
        let mut found = Lifetime::from(self.found);
        found.add_answering(self.answers.waited());
        if let Some(waits) = &self.waits {
            found.add_unasked(waits.unasked);
            found.add_shrunk(waits.shrunk);
        }
        found.add_full(self.on_path.into_full());
        if self.nagle.had_no_nagle() {
            let share = found.of(Limit::Nagle);
            found.take(Limit::Nagle, share);
            found.add(Limit::Path, share);
        }
        let filled = |level, holds: Option<f64>| {
            let outstanding = (segments(level) * u64::from(mss)) as f64;
            holds.map_or(0.0, |holds| outstanding / holds)
        };
        let last = holds(base);
        for (cells, limit) in [(even, Limit::Path), (window, Limit::ReceiveWindow)] {
            for (level, span) in cells.iter() {
                if waited && filled(level, last) >= 1.0 {
                    found.add(Limit::Path, span);
                    found.add_full(span);
                } else {
                    found.add(limit, span);
                }
            }
        }
        let (queued, past) =
            self.queue.map(|queue| queue.settle(&mut self.full)).unwrap_or_default();
        found.add(Limit::Path, queued);
        found.add_full(queued);
        let past = past.iter().map(|(base, full)| (full, holds(*base)));
        for (full, holds) in past.chain([(&self.full, last)]) {
            for (level, span) in full.iter() {
                let limit = found.note_filled(filled(level, holds), span);
                found.add(limit, span);
            }
        }
        found
    }
}
