//! Filling: what goes when there is no new data?

mod header_only;
mod resend;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::recovery::row;
use crate::state::State;

pub use header_only::HeaderOnly;
pub use resend::Resend;

/// What takes the place of new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filler {
    /// Retransmit segment `index` of the scoreboard.
    Retransmit {
        /// Index in the scoreboard.
        index: usize,
    },
    /// A segment without data whose sequence number stands for this position.
    HeaderOnly {
        /// Stream position.
        position: u64,
    },
}

/// Filling: what an ACK within recovery releases when the window has room, but there is no data to
/// send or no receive window for it. Asked at most once for each ACK.
pub trait Fill: Send {
    /// Recovery began.
    fn on_enter(&mut self, _s: &State) {}

    /// What goes instead.
    fn next(&mut self, s: &State) -> Option<Filler>;
}

type Row = row::Row<dyn Fill>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("resend", || Box::new(Resend::default()))
            .source(
                "Lin & Kung 1998 section 6.5",
                "\"To prevent this RTO, we propose that the sender should re-send the packets \
                 starting from the first unacknowledged packet at snd_una.\"",
            )
            .summary(
                "without new data, retransmits the outstanding segments from the first one on, one \
                 for each ACK",
            ),
        Row::new("header-only", || Box::new(HeaderOnly))
            .source(
                "Lin & Kung 1998 section 6.5",
                "\"Another approach is to send header-only packets with sequence numbers higher \
                 than snd_una.\"",
            )
            .summary(
                "without new data, sends a segment without data above the window, one for each ACK",
            ),
    ]
}
