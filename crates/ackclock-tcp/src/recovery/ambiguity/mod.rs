//! Ambiguity: may these duplicates begin a recovery? They may stem from retransmissions of an
//! earlier recovery or of a timeout.

mod ack_heuristic;
mod bugfix;
mod linux_alert;
mod no_bugfix;
mod recovery_point;
mod ts_heuristic;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::recovery::row;
use crate::state::State;
use crate::summary::AckSummary;

pub use ack_heuristic::AckHeuristic;
pub use bugfix::Bugfix;
pub use linux_alert::LinuxAlert;
pub use no_bugfix::NoBugfix;
pub use recovery_point::RecoveryPoint;
pub use ts_heuristic::TsHeuristic;

/// Ambiguity: may duplicate ACKs begin a recovery?
pub trait Ambiguity: Send {
    /// Whether recovery may begin on this ACK.
    fn admits(&mut self, s: &State, a: &AckSummary) -> bool;

    /// Whether what time shows lost may begin a recovery in the slow start after a timeout. Linux
    /// alone lets it (`tcp_rack_reo_timeout`).
    fn admits_after_timeout(&self) -> bool {
        false
    }

    /// Whether [`on_advance`](Self::on_advance) does nothing on a plain ACK
    /// ([`Detect::skips_plain_acks`](crate::recovery::detect::Detect::skips_plain_acks)).
    fn skips_plain_acks(&self) -> bool {
        false
    }

    /// An ACK advanced `snd_una`.
    fn on_advance(&mut self, _s: &State, _a: &AckSummary) {}
}

type Row = row::Row<dyn Ambiguity>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("no-bugfix", || Box::new(NoBugfix))
            .source(
                "RFC 5681 section 3.2",
                "\"After receiving 3 duplicate ACKs, TCP performs a retransmission of what \
                 appears to be the missing segment, without waiting for the retransmission \
                 timer to expire.\"",
            )
            .summary(
                "duplicates may begin a recovery at any time, also right after another one or \
                 after a timeout",
            ),
        Row::new("bugfix", || Box::new(Bugfix))
            .source(
                "RFC 6582 section 3.2 step 2",
                "\"When the third duplicate ACK is received, the TCP sender first checks the \
                 value of recover to see if the Cumulative Acknowledgment field covers more \
                 than recover.\"",
            )
            .summary(
                "duplicates begin a recovery only if they acknowledge more than the last recovery \
                 point",
            ),
        Row::new("recovery-point", || Box::new(RecoveryPoint))
            .without_sack("bugfix")
            .source(
                "RFC 6675 section 5.1",
                "\"[...] a new recovery phase (as described in Section 5) MUST NOT be initiated \
                 until HighACK is greater than or equal to the new value of RecoveryPoint.\"",
            )
            .summary(
                "duplicates begin a recovery only once the last recovery point is acknowledged",
            ),
        Row::new("linux-alert", || Box::new(LinuxAlert))
            .source(
                "Linux tcp_input.c, tcp_fastretrans_alert",
                "Whatever is lost begins a recovery; in the slow start after a timeout only a \
                 retransmission does.",
            )
            .summary(
                "losses begin a recovery at any time, in the slow start after a timeout only if a \
                 retransmission is lost",
            ),
        Row::new("ack-heuristic", || Box::new(AckHeuristic::default()))
            .source(
                "Gurtov & Floyd 2004 section III.A",
                "\"[...] the sender invokes a Fast Retransmit if [...] the difference between \
                 highest_ack and prev_highest_ack is at most three MSS.\"",
            )
            .summary(
                "as bugfix, and below the recovery point if the last new ACK jumped by at most \
                 three segments",
            ),
        Row::new("ts-heuristic", || Box::new(TsHeuristic::default()))
            .source(
                "Gurtov & Floyd 2004 section III.B",
                "\"Upon receiving the third duplicate acknowledgment, the sender checks if the \
                 timestamp echoed in the last nonduplicate acknowledgment equals to the stored \
                 timestamp.\"",
            )
            .summary(
                "as bugfix, and below the recovery point if the last new ACK echoed the timestamp \
                 of the last segment that it acknowledged",
            ),
    ]
}
