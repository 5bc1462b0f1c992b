//! The end: what limited the sender all the time.

use super::super::queue::{settle_full, settle_paced};
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
            found.add_closed(waits.closed);
            found.add_shrunk(waits.shrunk);
        }
        found.add_full(self.on_path.into_full());
        if self.nagle.had_no_nagle() {
            let share = found.of(Limit::Nagle);
            found.take(Limit::Nagle, share);
            found.add(Limit::Path, share);
        }
        let paced_holds = holds(base).filter(|_| waited);
        for (cells, limit) in [(even, Limit::Path), (window, Limit::ReceiveWindow)] {
            settle_paced(&mut found, &cells, limit, mss, paced_holds);
        }
        settle_full(&mut found, self.full, self.queue, mss, base, holds);
        found
    }
}
