//! ns-2.35's one-way TCP agents where they depart from the RFCs, so that results published with
//! ns-2 can be reproduced segment by segment. What each departure is, and which test shows it:
//! `crosscheck/README.md`. ns-2 halves min(cwnd, rwnd), not FlightSize, and keeps half a segment in
//! cwnd.

mod inflate;
mod pipe;
mod timer;
mod window;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::regulate::Regulate;
use super::row::Row;
use super::timer::Timer;
use super::window::Window;

pub use inflate::Ns2Inflate;
pub use pipe::Ns2Pipe;
pub use timer::{ns2_timer, ns2_timer_until_2006};
pub use window::Ns2Window;

/// The mechanisms of this family on the axis.
pub(crate) fn regulate_rows() -> Vec<Row<dyn Regulate>> {
    vec![
        Row::<dyn Regulate>::new("ns2-inflate", || Box::new(Ns2Inflate::to_half_window()))
            .file("inflate")
            .source(
                "ns-2.35",
                "Recovery ends with half of the window, and the ACK that ends it opens the \
                 window as well.",
            )
            .summary(
                "as inflate-to-ssthresh, with half a segment kept in cwnd, and the ACK that ends \
                 recovery grows it",
            ),
        Row::<dyn Regulate>::new("ns2-inflate-limited", || Box::new(Ns2Inflate::limited_exit()))
            .file("inflate")
            .source(
                "ns-2.35",
                "With exit_recovery_fix_ set, recovery ends with the smaller of ssthresh and \
                 one segment more than is outstanding.",
            )
            .summary("as ns2-inflate, with the end of inflate"),
        Row::<dyn Regulate>::new("ns2-pipe", || Box::new(Ns2Pipe::default()))
            .file("pipe")
            .without_sack("ns2-inflate-limited")
            .source(
                "ns-2.35",
                "The pipe is held at half of the window, which is not rounded to whole \
                 segments.",
            )
            .summary("as ff96-pipe, with half a segment kept in cwnd"),
    ]
}

/// The mechanisms of this family on the axis.
pub(crate) fn window_rows() -> Vec<Row<dyn Window>> {
    vec![
        Row::<dyn Window>::new("ns2-window", || Box::new(Ns2Window::halving()))
            .file("window")
            .source(
                "ns-2.35",
                "A loss sets ssthresh to half of the smaller of cwnd and the receiver's window, \
                 in whole segments.",
            )
            .summary(
                "as reno-window, but min(cwnd, rwnd) is halved, on every timeout, and to whole \
                 segments",
            ),
    ]
}

/// The mechanisms of this family on the axis.
pub(crate) fn timer_rows() -> Vec<Row<dyn Timer>> {
    vec![
        Row::<dyn Timer>::new("ns2-timer", || Box::new(ns2_timer()))
            .file("timer")
            .source(
                "ns-2.35",
                "The retransmission that the third duplicate draws restarts the timer, as an \
                 ACK of new data does.",
            )
            .summary("as rfc6298-timer, restarted by the retransmissions that duplicates draw too"),
        Row::<dyn Timer>::new("ns2-timer-6s", || Box::new(ns2_timer_until_2006()))
            .file("timer")
            .source("ns-2.26", "Before the first round-trip sample the timer runs for 6 s.")
            .summary("as ns2-timer, with 6 s before the first sample"),
    ]
}
