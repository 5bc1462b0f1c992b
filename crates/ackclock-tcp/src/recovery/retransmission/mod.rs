//! Detection of lost retransmissions: is a retransmission lost too?

mod lrx;
mod lrx_linux;
mod lrx_sack;
mod lrxt;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::event::Cause;
use crate::recovery::row;
use crate::state::State;
use crate::summary::AckSummary;

pub use lrx::Lrx;
pub use lrx_linux::LrxLinux;
pub use lrx_sack::LrxSack;
pub use lrxt::Lrxt;

/// What an ACK within recovery says of retransmissions, mostly of that of the first unacknowledged
/// segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tick {
    /// Nothing.
    Nothing,
    /// It is lost.
    Lost,
    /// Lost is every retransmission, of any segment, that was sent before the data that ends at
    /// this position.
    LostBefore(u64),
    /// Nothing yet. Unless this ACK releases a segment anyway, send a new one whatever the window
    /// says: its ACK will show more (Lin & Kung 1998 section 6.3).
    Mark,
    /// Its round trip is over: what was sent before it has left the network.
    RoundTrip,
}

/// Detection for a retransmission: is it lost too?
pub trait DetectRetransmission: Send {
    /// The name under which events report what it judged.
    fn name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }

    /// Recovery began.
    fn on_enter(&mut self, s: &State);

    /// Judges on an ACK within recovery that does not end it.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Tick;

    /// A segment was sent within recovery.
    fn on_transmit(&mut self, _s: &State, _cause: Cause) {}
}

type Row = row::Row<dyn DetectRetransmission>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("lrx", || Box::new(Lrx::default()))
            .source(
                "Miyake & Inamura 2005 section 3.1",
                "\"If the number of duplicate ACKs is equal to the number of outstanding \
                 segments plus duplicate ACK threshold, the sender retransmits the first \
                 unacknowledged segment [...]\"",
            )
            .summary(
                "a retransmission is lost when the duplicates outnumber what was sent before it",
            ),
        Row::new("lrx-sack", || Box::new(LrxSack::default()))
            .needs_sack()
            .without_sack("lrx")
            .source(
                "Miyake & Inamura 2005 figure 9",
                "\"If the SACK block reports as follows: Right edge in SACK block > recovery \
                 then retransmit the first unacknowledged segment [...]\"",
            )
            .summary("a retransmission is lost when data sent after it is SACKed"),
        Row::new("lrx-linux", || Box::new(LrxLinux::default()))
            .needs_sack()
            .off_without_sack()
            .source(
                "Dukkipati et al. 2011 section 3.2",
                "\"If any new data sent after a retransmission is later SACKed, the \
                 retransmission is deemed to have been lost\"",
            )
            .summary(
                "as lrx-sack, for every hole and not only the first; off once reordering was seen",
            ),
        Row::new("lrxt", || Box::new(Lrxt::default()))
            .source(
                "Lin & Kung 1998 section 6.2",
                "\"If the clock shows one RTT has gone by and we have received three additional \
                 duplicate ACKs [...] the current packet pointed by snd_una should be \
                 retransmitted again.\"",
            )
            .summary(
                "a retransmission is lost if the ACK clock shows a round trip and three \
                 duplicates more",
            ),
        Row::new("marks-ts", || Box::new(Lrxt::marked_by_timestamps()))
            .file("lrxt")
            .source(
                "Lin & Kung 1998 section 6.3",
                "\"For each retransmission, a new time stamp should be used to differentiate \
                 new packets from old packets.\"",
            )
            .summary(
                "as lrxt, with new segments on the fifth and seventh duplicate, whose timestamp \
                 ends the first round trip",
            ),
        Row::new("marks-sack", || Box::new(Lrxt::marked_by_sack()))
            .file("lrxt")
            .needs_sack()
            .without_sack("lrxt")
            .source(
                "Lin & Kung 1998 section 6.3",
                "\"Therefore, as long as new packets are injected into the pipe, the returning \
                 SACK blocks can serve as non-ambiguous markers.\"",
            )
            .summary(
                "as lrxt, with new segments on the fifth and seventh duplicate, whose SACK ends \
                 the first round trip",
            ),
    ]
}
