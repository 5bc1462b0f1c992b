//! What a proxy has done.

use ackclock_stack::Timeouts;

use crate::links::{LinkCounts, Passed};

/// What a proxy has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyReport {
    /// Clients taken.
    pub accepted: u64,
    /// Clients that are there now.
    pub open: u64,
    /// Connections that ended with a reset, of either side.
    pub reset: u64,
    /// Connections that the server did not take, or not in time.
    pub unreachable: u64,
    /// Bytes that clients sent, and bytes that the server sent.
    pub bytes: [u64; 2],
    /// The links since their conditions are in force, in the order of places.
    pub links: Vec<LinkCounts>,
    /// What became of its packets, under whatever conditions, or none.
    pub passed: Passed,
    /// Retransmission timeouts of both hosts by class, in the order of
    /// [`TimeoutClass::ALL`](ackclock_tcp::TimeoutClass::ALL).
    pub timeouts: Timeouts,
}

impl ProxyReport {
    /// Adds what a proxy did that has ended.
    pub fn add(&mut self, ended: &ProxyReport) {
        self.accepted += ended.accepted;
        self.reset += ended.reset;
        self.unreachable += ended.unreachable;
        self.bytes.iter_mut().zip(ended.bytes).for_each(|(sum, bytes)| *sum += bytes);
        self.passed.add(ended.passed);
        self.timeouts.iter_mut().zip(ended.timeouts).for_each(|(sum, n)| *sum += n);
    }
}
