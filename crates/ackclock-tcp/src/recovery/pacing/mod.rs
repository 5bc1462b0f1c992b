//! Pacing: at what rate may segments leave?

mod linux_pacing;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::recovery::row;
use crate::state::State;
use crate::time::Time;

pub use linux_pacing::LinuxPacing;

/// Pacing: at what rate may segments leave that the windows allow. Where a strategy names none,
/// each leaves as soon as it may. Retransmissions wait too, but for those by the retransmission
/// timer; window probes do not.
pub trait Pacing: Send {
    /// The rate may change: the sender begins, or an ACK has been dealt with. `law` is the rate
    /// that the window law sets, in bytes a second
    /// ([`Window::pacing_rate`](crate::recovery::window::Window::pacing_rate)).
    fn update(&mut self, s: &State, law: Option<u64>);

    /// When the next segment may leave; now, if that is not later than the time of the input at
    /// hand.
    fn next(&self, s: &State) -> Time;

    /// A segment with `len` bytes of data is leaving.
    fn on_sent(&mut self, s: &State, len: u32);

    /// Nothing more leaves before the next input. The clock of a driver moves while it sends, so
    /// that what leaves together does not leave at one time.
    fn on_drained(&mut self) {}
}

type Row = row::Row<dyn Pacing>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("linux-pacing", || Box::new(LinuxPacing::default()))
            .source(
                "Linux tcp_input.c, tcp_update_pacing_rate; tcp_output.c, tcp_update_skb_after_send",
                "While cwnd is below half of ssthresh 200 % of it leave in a round trip, from there \
                 on 120 %, unless the window law has a rate.",
            )
            .summary(
                "segments leave at 200 % of cwnd for each round trip while cwnd is below half of \
                 ssthresh, at 120 % from there on, or at the rate of the window law",
            ),
    ]
}
