//! Segmentation: when may a segment leave, and which one asks for an ACK?

mod linux_tso;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::event::Cause;
use crate::recovery::row;
use crate::state::State;
use crate::summary::AckSummary;

pub use linux_tso::LinuxTso;

/// A segment with data that is being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Position of its first byte.
    pub seq: u64,
    /// Its bytes.
    pub len: u32,
    /// It is new data, which no transmission before it carried.
    pub first: bool,
    /// Why it is sent.
    pub cause: Cause,
    /// Bytes that count against cwnd, with it.
    pub in_flight: u64,
}

/// Segmentation: when may new data leave that the windows allow, and which segment asks for an ACK
/// (PSH). Where a strategy names none, each segment leaves as soon as it may, and the last one that
/// the application has written has PSH. A segment that waits does so until the next input. So it
/// may wait only where an ACK is on its way.
pub trait Segmentation: Send {
    /// The application has written the bytes from this position on.
    fn on_write(&mut self, s: &State, from: u64);

    /// An ACK has been dealt with.
    fn on_ack(&mut self, s: &State, a: &AckSummary);

    /// Bytes of the next segment of new data; `None` if nothing leaves now. `in_flight` bytes count
    /// against cwnd.
    fn next(&mut self, s: &State, in_flight: u64) -> Option<u32>;

    /// Whether the last call of [`next`](Self::next) held back what cwnd has room for, so that cwnd
    /// counts as used.
    fn held(&self) -> bool;

    /// A segment is being sent: whether it has PSH, which the last one written has in any case.
    fn on_sent(&mut self, s: &State, segment: Outgoing) -> bool;
}

type Row = row::Row<dyn Segmentation>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("linux-tso", || Box::new(LinuxTso::default()))
            .source(
                "Linux tcp_output.c, tcp_tso_should_defer, tcp_tso_autosize and __tcp_transmit_skb",
                "A lone segment waits if the next ACK is expected within a millisecond; each \
                 super-segment has PSH.",
            )
            .summary(
                "segments leave at least in pairs where an ACK is about to come, and the last of \
                 each bundle has PSH",
            ),
    ]
}
