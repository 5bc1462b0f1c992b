//! ns-2.35's one-way TCP agents where they depart from the RFCs, so that results published with
//! ns-2 can be reproduced segment by segment. What each departure is, and which test shows it:
//! `crosscheck/README.md`. ns-2 halves min(cwnd, rwnd), not FlightSize, and keeps half a segment in
//! cwnd.

mod dupack;
mod fack;
mod inflate;
mod late;
mod lt;
mod numdupacks;
mod pipe;
mod recovery_point;
mod refused;
mod release;
mod timer;
mod whole;
mod window;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::ambiguity::Ambiguity;
use super::detect::Detect;
use super::probe::Probe;
use super::regulate::Regulate;
use super::row::Row;
use super::select::Select;
use super::timer::Timer;
use super::window::Window;

pub use dupack::Ns2Dupack;
pub use fack::{Ns2Fack, Ns2FackHoles};
pub use inflate::Ns2Inflate;
pub use late::Ns2Late;
pub use lt::Ns2LimitedTransmit;
pub use numdupacks::Ns2Numdupacks;
pub use pipe::Ns2Pipe;
pub use recovery_point::Ns2RecoveryPoint;
pub use refused::Ns2Refused;
pub use release::Ns2Release;
pub use timer::Ns2Timer;
pub use whole::Ns2Whole;
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
        Row::<dyn Regulate>::new(
            "ns2-inflate-undeflated",
            || Box::new(Ns2Inflate::until_partial()),
        )
        .file("inflate")
        .source(
            "ns-2.35",
            "With partial_window_deflation_ 0 a partial ACK ends the inflation and leaves the \
                 window as it is.",
        )
        .summary("as ns2-inflate, but a partial ACK takes all inflation back"),
        Row::<dyn Regulate>::around("ns2-whole", |inner| Box::new(Ns2Whole(inner)))
            .file("whole")
            .source("ns-2.35", "With precisionReduce_ 0 a loss halves the window in integers.")
            .summary(
                "added to the regulation named before it: recovery begins with cwnd in whole \
                 segments",
            ),
        Row::<dyn Regulate>::around("ns2-late", |inner| Box::new(Ns2Late(inner)))
            .file("late")
            .source(
                "ns-2.35",
                "With aggressive_maxburst_ 0 only an ACK that is no older than the last one sends.",
            )
            .summary(
                "added to the regulation named before it: an ACK that comes late releases nothing",
            ),
        Row::<dyn Regulate>::around("ns2-release", |inner| Box::new(Ns2Release::reno(inner)))
            .file("release")
            .source(
                "ns-2.35",
                "After an ACK send_much runs if there are no duplicates or at least three.",
            )
            .summary(
                "added to the regulation named before it: the first two duplicates release nothing \
                 by themselves",
            ),
        Row::<dyn Regulate>::around("ns2-release-two", |inner| {
            Box::new(Ns2Release::new_reno(inner))
        })
        .file("release")
        .source(
            "ns-2.35",
            "In Newreno send_much(0, 0, 2) follows an ACK while at least three duplicates are \
             counted, as they are until recovery ends.",
        )
        .summary("as ns2-release, and each later ACK of a recovery releases two segments at most"),
        Row::<dyn Regulate>::around("ns2-release-sack", |inner| Box::new(Ns2Release::sack(inner)))
            .file("release")
            .without_sack("ns2-release-two")
            .source(
                "ns-2.35",
                "In Sack1 send_much follows an ACK outside recovery if there are no duplicates, \
                 and not the one that begins a recovery.",
            )
            .summary("as ns2-release, and the third duplicate releases the retransmission alone"),
        Row::<dyn Regulate>::new("ns2-pipe", || Box::new(Ns2Pipe::default()))
            .file("pipe")
            .without_sack("ns2-inflate-limited")
            .source(
                "ns-2.35",
                "The pipe is held at half of the window, which is not rounded to whole \
                 segments.",
            )
            .summary("as ff96-pipe, with half a segment kept in cwnd"),
        Row::<dyn Regulate>::new("ns2-fack", || Box::new(Ns2Fack))
            .file("fack")
            .without_sack("ns2-inflate-limited")
            .source(
                "ns-2.35",
                "Fack sends while t_seqno_ <= fack_ + win - retran_data_; its recovery begins with \
                 a window of one, and every ACK of it runs opencwnd.",
            )
            .summary("a slow start to half of the window, of what lies above the highest SACK"),
    ]
}

/// The mechanisms of this family on the axis.
pub(crate) fn select_rows() -> Vec<Row<dyn Select>> {
    vec![
        Row::<dyn Select>::new("ns2-fack-holes", || Box::new(Ns2FackHoles::default()))
            .file("fack")
            .needs_sack()
            .without_sack("partial-ack")
            .source(
                "ns-2.35",
                "Fack leaves recovery on an ACK without SACK blocks that covers recover_, which is \
                 the first packet not sent before.",
            )
            .summary("as ff96-holes, until new data is acknowledged and nothing is SACKed"),
    ]
}

/// The mechanisms of this family on the axis.
pub(crate) fn detect_rows() -> Vec<Row<dyn Detect>> {
    vec![
        Row::<dyn Detect>::new("ns2-dupack", || Box::new(Ns2Dupack::tahoe()))
            .file("dupack")
            .source(
                "ns-2.35",
                "The timeout of Agent/TCP leaves dupacks_ as it is, those of Reno and Sack1 clear \
                 it.",
            )
            .summary("as dupack, and a timeout does not begin the count anew (Tahoe)"),
        Row::<dyn Detect>::new("ns2-dupack-sack", || Box::new(Ns2Dupack::sack()))
            .file("dupack")
            .without_sack("dupack")
            .source(
                "ns-2.35",
                "Sack1 clears its scoreboard on each ACK of new data outside recovery, and counts \
                 a duplicate whose blocks add to it.",
            )
            .summary("as dupack, and the first duplicate after an advance counts without news too"),
        Row::<dyn Detect>::around("ns2-numdupacks-4", |inner| Box::new(Ns2Numdupacks::four(inner)))
            .file("numdupacks")
            .source("ns-2.35", "numdupacks_ is how many duplicates begin a fast retransmit.")
            .summary("added to the detection named before it: a threshold of four duplicates"),
        Row::<dyn Detect>::around("ns2-numdupacks-none", |inner| {
            Box::new(Ns2Numdupacks::never(inner))
        })
        .file("numdupacks")
        .source("ns-2.35", "With noFastRetrans_ duplicates begin no fast retransmit.")
        .summary("added to the detection named before it: no number of duplicates is enough"),
    ]
}

/// The mechanisms of this family on the axis.
pub(crate) fn ambiguity_rows() -> Vec<Row<dyn Ambiguity>> {
    vec![
        Row::<dyn Ambiguity>::new("ns2-recovery-point", || Box::new(Ns2RecoveryPoint::default()))
            .file("recovery_point")
            .without_sack("bugfix")
            .source(
                "ns-2.35",
                "Sack1 clears recover_ as recovery ends, and sets it to the highest packet sent \
                 on a timeout.",
            )
            .summary("as recovery-point, and after a timeout as bugfix"),
    ]
}

/// The mechanisms of this family on the axis.
pub(crate) fn probe_rows() -> Vec<Row<dyn Probe>> {
    vec![
        Row::<dyn Probe>::new("ns2-lt", || Box::new(Ns2LimitedTransmit))
            .file("lt")
            .source(
                "ns-2.35",
                "With singledup_ each of the first two duplicates sends the packet that comes \
                 next.",
            )
            .summary("as lt, also old data after a timeout, and by duplicates with SACK too"),
        Row::<dyn Probe>::new("ns2-refused", || Box::new(Ns2Refused::always()))
            .file("refused")
            .source(
                "ns-2.35",
                "With exitFastRetrans_ 0 the third duplicate inflates the window though it begins \
                 no recovery, and so do those after it.",
            )
            .summary("duplicates that begin no recovery open the window, for old data too"),
        Row::<dyn Probe>::new("ns2-refused-undeflated", || Box::new(Ns2Refused::undeflated()))
            .file("refused")
            .source(
                "ns-2.35",
                "With partial_window_deflation_ 0 and no inflation left as recovery ends, \
                 last_cwnd_action_ stays what lets duplicates inflate the window.",
            )
            .summary(
                "after a recovery that ends without inflation, the fourth duplicate that begins \
                 none and those after it open the window",
            ),
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
        Row::<dyn Timer>::new("ns2-timer", || Box::new(Ns2Timer::fine()))
            .file("timer")
            .source(
                "ns-2.35",
                "The retransmission that the third duplicate draws restarts the timer, as an \
                 ACK of new data does.",
            )
            .summary(
                "times one new segment at a time, also past retransmissions; restarted by the \
                 retransmissions that duplicates draw too",
            ),
        Row::<dyn Timer>::new("ns2-timer-6s", || Box::new(Ns2Timer::until_2006()))
            .file("timer")
            .source("ns-2.26", "Before the first round-trip sample the timer runs for 6 s.")
            .summary("as ns2-timer, with 6 s before the first sample"),
        Row::<dyn Timer>::new("ns2-timer-100ms", || Box::new(Ns2Timer::coarse()))
            .file("timer")
            .source("ns-2.26", "The round trip is counted in ticks of tcpTick_, which is 0.1 s.")
            .summary("as ns2-timer-6s, in ticks of 100 ms"),
        Row::<dyn Timer>::new("ns2-timer-keep", || Box::new(Ns2Timer::keeping_back_off()))
            .file("timer")
            .source(
                "ns-2.35",
                "With ts_resetRTO_ 0 the ACK of the segment that is timed ends a back-off, and no \
                 other.",
            )
            .summary("as ns2-timer, and with timestamps a back-off lasts as without them"),
    ]
}
