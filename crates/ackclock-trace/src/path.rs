//! What connections have in common: the way from one host to another, and its bottleneck.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_tcp::Time;
use rustc_hash::FxHashMap;

/// The way from one host to another. Connections between the same hosts share it.
#[derive(Debug)]
pub(crate) struct Path {
    /// Bytes that all of them have outstanding. One thread reads a capture: the atomic value only
    /// lets a tracker pass from one to another.
    flight: AtomicU64,
    /// Bytes of all of them that were acknowledged while nothing was lost.
    delivered: AtomicU64,
    /// When data of any of them was last acknowledged, in nanoseconds; 0 before.
    passed: AtomicU64,
    /// When the first of `leaving` is, in nanoseconds: that is looked at all the time.
    next: AtomicU64,
    /// Connections that have nothing outstanding from a time on, the first at the top.
    leaving: Mutex<BinaryHeap<Leaving>>,
}

/// What one connection has outstanding on a path, where its ACKs are on their way from the capture
/// to its sender: other connections ask about it meanwhile.
#[derive(Debug)]
pub(crate) struct Part {
    bytes: AtomicU64,
    /// Nothing is outstanding from then on, unless more goes out before: nanoseconds.
    until: AtomicU64,
}

impl Part {
    /// So many bytes are outstanding.
    pub fn new(bytes: u64) -> Part {
        Part { bytes: bytes.into(), until: u64::MAX.into() }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// So many bytes are outstanding now; `more`: some have just gone out.
    pub fn set(&self, bytes: u64, more: bool) {
        self.bytes.store(bytes, Relaxed);
        if more {
            self.until.store(u64::MAX, Relaxed);
        }
    }
}

/// In order of time, the first of them the greatest.
#[derive(Debug)]
struct Leaving(u64, Arc<Part>);

impl PartialEq for Leaving {
    fn eq(&self, other: &Leaving) -> bool {
        self.0 == other.0
    }
}

impl Eq for Leaving {}

impl PartialOrd for Leaving {
    fn partial_cmp(&self, other: &Leaving) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Leaving {
    fn cmp(&self, other: &Leaving) -> Ordering {
        other.0.cmp(&self.0)
    }
}

impl Default for Path {
    fn default() -> Path {
        Path {
            flight: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            passed: AtomicU64::new(0),
            next: AtomicU64::new(u64::MAX),
            leaving: Mutex::default(),
        }
    }
}

impl Path {
    /// One of the connections had `before` bytes outstanding, and has `now`.
    #[inline]
    pub fn outstanding(&self, before: u64, now: u64) {
        let all = self.flight.load(Relaxed);
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

    /// Data of one of the connections was acknowledged: the way is open.
    #[inline]
    pub fn got_through(&self, at: Time) {
        self.passed.store(self.passed.load(Relaxed).max(at.0), Relaxed);
    }

    /// When that last was, for any of them.
    pub fn passed(&self) -> Time {
        Time(self.passed.load(Relaxed))
    }

    /// Nothing of this part is outstanding from this time on: an ACK that says so is on its way to
    /// its sender. Of a connection that has nothing more to say nobody would hear of it.
    pub fn leave(&self, at: Time, part: Arc<Part>) {
        part.until.store(at.0, Relaxed);
        let mut leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        leaving.push(Leaving(at.0, part));
        self.next.fetch_min(at.0, Relaxed);
    }

    /// Bytes that all connections have outstanding by now.
    #[inline]
    pub fn flight(&self, now: Time) -> u64 {
        if now.0 >= self.next.load(Relaxed) {
            self.let_leave(now);
        }
        self.flight.load(Relaxed)
    }

    #[cold]
    fn let_leave(&self, now: Time) {
        let mut leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Leaving(at, _)) = leaving.peek()
            && *at <= now.0
        {
            let Some(Leaving(at, part)) = leaving.pop() else { break };
            if part.until.load(Relaxed) == at {
                self.outstanding(part.bytes.swap(0, Relaxed), 0);
            }
        }
        self.next.store(leaving.peek().map_or(u64::MAX, |first| first.0), Relaxed);
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
mod tests;
