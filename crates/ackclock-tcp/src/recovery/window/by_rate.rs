//! Window laws that go by the rate of delivery, and set cwnd themselves on every ACK, whatever the
//! phase (Linux's `cong_control`).
//!
//! The sender takes a sample with each ACK for them
//! (draft-cheng-iccrg-delivery-rate-estimation-02). With `by-window` as regulation nothing else
//! sets cwnd but a timeout and what undoes one.

use crate::state::State;
use crate::time::{Span, Time};

/// What an ACK says of the rate of delivery. Counts are segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateSample {
    /// Segments delivered over [`interval`](Self::interval); `None` if the ACK delivered nothing
    /// whose sending was recorded.
    pub delivered: Option<u64>,
    /// The longer of the times in which they were sent and in which they were acknowledged; `None`
    /// also if it is shorter than the least round trip, which no rate explains.
    pub interval: Option<Span>,
    /// Segments that had been delivered when the one was sent that the sample goes by.
    pub prior_delivered: u64,
    /// Segments in the network when that one was sent, itself included.
    pub tx_in_flight: u32,
    /// Segments judged lost since then.
    pub lost: u64,
    /// Segments in the network before the ACK.
    pub prior_in_flight: u32,
    /// Segments that it newly delivers.
    pub acked: u32,
    /// Segments newly judged lost on it.
    pub losses: u32,
    /// The application, or the receiver's window, limited the rate of what it delivers.
    pub app_limited: bool,
    /// Its round trip, of the segment sent last of those it delivers.
    pub rtt: Option<Span>,
    /// It acknowledges a lone short segment, and so may have been delayed.
    pub delayed: bool,
    /// Segments ever delivered, the SYN being the first.
    pub total_delivered: u64,
    /// Segments ever judged lost.
    pub total_lost: u64,
    /// When a segment was last delivered.
    pub delivered_at: Time,
    /// When pacing lets the next segment leave.
    pub departs: Time,
}

/// A segment that is newly judged lost. Counts are segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostSegment {
    /// Position of its first byte.
    pub seq: u64,
    /// Position after its last byte.
    pub end: u64,
    /// Segments in the network when it was last sent, itself included.
    pub tx_in_flight: u32,
    /// Segments judged lost since then, itself included.
    pub lost: u64,
    /// The application, or the receiver's window, limited the rate at which it was sent.
    pub app_limited: bool,
    /// Segments ever delivered, the SYN being the first.
    pub total_delivered: u64,
}

/// What a law that goes by rate makes of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controlled {
    /// New cwnd in bytes.
    pub cwnd: u64,
    /// New ssthresh in bytes.
    pub ssthresh: u64,
    /// What is in the network now counts as limited by the application.
    pub app_limited: bool,
}

/// A window law that goes by the rate of delivery.
pub trait ByRate {
    /// An ACK has been dealt with, in whatever phase.
    fn control(&mut self, s: &State, sample: &RateSample) -> Controlled;

    /// A segment is newly judged lost: on an ACK, before [`control`](Self::control), or by time.
    fn on_lost(&mut self, _s: &State, _lost: &LostSegment) {}

    /// The retransmission timer has expired, and what is lost is marked. The sample has the totals,
    /// and one loss.
    fn on_expired(&mut self, s: &State, sample: &RateSample);

    /// Data is sent with none in the network, after the application had none. Returns cwnd in
    /// bytes.
    fn on_restart(&mut self, s: &State) -> u64;
}
