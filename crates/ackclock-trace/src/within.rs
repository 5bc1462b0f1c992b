//! What lies within a stall.

use ackclock_tcp::Time;

use crate::connection::Stall;
use crate::steps;

/// The places of a list, in order of time: away from the sender, the list may not be.
pub(crate) struct ByTime(Vec<(Time, usize)>);

impl ByTime {
    pub fn new(times: impl Iterator<Item = Time>) -> ByTime {
        let mut all: Vec<_> = times.enumerate().map(|(place, at)| (at, place)).collect();
        all.sort_unstable();
        ByTime(all)
    }

    /// The places of what came after the beginning of a stall, up to its end.
    pub fn within<'a>(&'a self, stall: &Stall) -> impl Iterator<Item = usize> + Clone + use<'a> {
        let first = self.0.partition_point(|(at, _)| *at <= stall.start);
        let end = stall.end;
        self.0[first..].iter().take_while(move |(at, _)| *at <= end).map(|(_, place)| {
            steps::count(1);
            *place
        })
    }
}
