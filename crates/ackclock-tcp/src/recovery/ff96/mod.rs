//! SACK TCP as K. Fall and S. Floyd, *Simulation-based Comparisons of Tahoe, Reno, and SACK TCP*
//! (1996), section 3.4, had it, and ns-2's `Sack1` after it: recovery begins on the third
//! duplicate, and `pipe` counts segments, not their fates.

mod holes;
mod pipe;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::regulate::Regulate;
use super::row::Row;
use super::select::Select;

pub use holes::Ff96Holes;
pub use pipe::Ff96Pipe;

/// The mechanisms of this family on the axis.
pub(crate) fn select_rows() -> Vec<Row<dyn Select>> {
    vec![
        Row::<dyn Select>::new("ff96-holes", || Box::new(Ff96Holes::default()))
            .file("holes")
            .needs_sack()
            .without_sack("partial-ack")
            .source(
                "Fall & Floyd 1996 section 3.4",
                "The sender retransmits the next segment that the SACK blocks show missing, and \
                 sends new data when there is none.",
            )
            .summary(
                "retransmits each hole below the highest SACKed byte once, then sends new data",
            ),
    ]
}

/// The mechanisms of this family on the axis.
pub(crate) fn regulate_rows() -> Vec<Row<dyn Regulate>> {
    vec![
        Row::<dyn Regulate>::new("ff96-pipe", || Box::new(Ff96Pipe::default()))
            .file("pipe")
            .without_sack("inflate")
            .source(
                "Fall & Floyd 1996 section 3.4",
                "The pipe goes up by one with each segment sent, and down by one with each \
                 duplicate and by two with each partial ACK.",
            )
            .summary("a count of segments sent less ACKs received is held at ssthresh"),
    ]
}
