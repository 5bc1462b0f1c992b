//! What connections have in common: the way from one host to another, and its bottleneck.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustc_hash::FxHashMap;

/// The way from one host to another. Connections between the same hosts share it.
#[derive(Debug, Default)]
pub(crate) struct Path {
    /// Bytes that all of them have outstanding. One thread reads a capture: the atomic value only
    /// lets a tracker pass from one to another.
    flight: AtomicU64,
    /// Bytes of all of them that were acknowledged while nothing was lost.
    delivered: AtomicU64,
}

impl Path {
    /// One of the connections had `before` bytes outstanding, and has `now`.
    #[inline]
    pub fn outstanding(&self, before: u64, now: u64) {
        let all = self.flight();
        self.flight.store(all.saturating_sub(before).saturating_add(now), Relaxed);
    }

    /// One of the connections got this ACKed, with nothing lost. Returns the bytes that all of them
    /// got so far.
    #[inline]
    pub fn delivered(&self, bytes: u64) -> u64 {
        let all = self.delivered.load(Relaxed).saturating_add(bytes);
        self.delivered.store(all, Relaxed);
        all
    }

    /// Bytes that all connections have outstanding.
    #[inline]
    pub fn flight(&self) -> u64 {
        self.flight.load(Relaxed)
    }
}

/// The paths of the connections that are open: both ways between two hosts, from the lower address
/// first.
#[derive(Debug, Default)]
pub(crate) struct Paths(FxHashMap<[IpAddr; 2], [Arc<Path>; 2]>);

impl Paths {
    /// The ways from one host to another, and back.
    pub fn of(&mut self, from: IpAddr, to: IpAddr) -> [Arc<Path>; 2] {
        let [up, down] = self.0.entry([from.min(to), from.max(to)]).or_default();
        let (up, down) = (Arc::clone(up), Arc::clone(down));
        if from <= to { [up, down] } else { [down, up] }
    }

    /// A connection between these hosts has ended.
    pub fn left(&mut self, [one, other]: [IpAddr; 2]) {
        let hosts = [one.min(other), one.max(other)];
        if self.0.get(&hosts).is_some_and(|ways| ways.iter().all(|way| Arc::strong_count(way) == 1))
        {
            self.0.remove(&hosts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways are apart, whoever begins. A path is forgotten with
    /// its last connection.
    #[test]
    fn shared_by_hosts() {
        let mut paths = Paths::default();
        let [one, other]: [IpAddr; 2] = ["192.0.2.2", "192.0.2.1"].map(|ip| ip.parse().unwrap());
        let [there, back] = paths.of(one, other);
        let [back_too, there_too] = paths.of(other, one);
        there.outstanding(0, 700);
        assert_eq!(there_too.flight(), 700);
        back_too.outstanding(0, 50);
        back_too.outstanding(50, 20);
        assert_eq!((there.delivered(30), there_too.delivered(12), back.delivered(0)), (30, 42, 0));
        assert_eq!([there, back].map(|path| path.flight()), [700, 20]);
        paths.left([one, other]);
        assert_eq!(paths.0.len(), 1);
        drop((there_too, back_too));
        paths.left([one, other]);
        assert_eq!(paths.0.len(), 0);
    }
}
