//! The end: what limited the sender all the time.

use super::super::cells::Cells;
use super::super::queue::{settle_filled, settle_full, settle_paced, settle_routes};
use super::super::rate::Base;
use super::pace::Paced;
use super::{Early, Limits};
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
        let late = self.pace.settle(&mut self.full);
        let mut found = Lifetime::from(self.found);
        let mut by_window = Cells::default();
        found.add_answering(self.answers.waited());
        found.note_answer(self.answers.longest());
        found.add_unasked(self.unasked);
        let early = self.waits.take().and_then(|waits| {
            found.add_closed(waits.closed);
            found.add_closing(waits.closing);
            found.add_shrunk(waits.shrunk);
            by_window = waits.by_window;
            waits.early
        });
        found.add_full(self.on_path.into_full());
        if self.nagle.had_no_nagle() {
            let share = found.of(Limit::Nagle);
            found.take(Limit::Nagle, share);
            found.add(Limit::Path, share);
        }
        let path_holds = holds(base);
        settle_filled(&mut found, &by_window, mss, path_holds);
        let paced_holds = path_holds.filter(|_| waited);
        let paced = |found: &mut Lifetime, Paced { even, window }: Paced| {
            for (cells, limit) in [(even, Limit::Path), (window, Limit::ReceiveWindow)] {
                settle_paced(found, &cells, limit, mss, paced_holds);
            }
        };
        if let Some(early) = early {
            let Early { paced: early, full, base: then, past } = *early;
            paced(&mut found, early);
            let last = (then.unwrap_or(base), full);
            settle_routes(&mut found, past.into_iter().chain([last]), mss, &holds);
            found.add_growing(found.idle());
        }
        paced(&mut found, late);
        settle_full(&mut found, self.full, self.queue, mss, base, holds);
        found
    }
}
