//! Selection: what goes next in recovery, and when is recovery over?

mod go_back_n;
mod head;
mod lost_first;
mod next_seg;
mod order_guard;
mod partial_ack;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::event::Cause;
use crate::recovery::row;
use crate::state::State;
use crate::summary::AckSummary;

pub use go_back_n::GoBackN;
pub use head::Head;
pub use lost_first::LostFirst;
pub use next_seg::NextSeg;
pub use order_guard::OrderGuard;
pub use partial_ack::PartialAck;

pub(crate) use next_seg::fill_hole;

/// What has to happen on an ACK within recovery, window or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OnAck {
    /// Retransmit the first unacknowledged segment at once.
    pub retransmit_head: bool,
    /// Restart the retransmission timer.
    pub restart_timer: bool,
}

/// What to send next within recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// The data at `snd_nxt`: new data, unless `snd_nxt` was set back.
    Sequential,
    /// Retransmit segment `index` of the scoreboard.
    Retransmit {
        /// Index in the scoreboard.
        index: usize,
        /// Whether the retransmission counts in the pipe.
        counts: bool,
    },
}

/// Selection: what goes next in recovery, and when recovery is over.
pub trait Select: Send {
    /// The name under which events report what it chose without a loss being detected.
    fn name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }

    /// Whether recovery is a slow start from the first unacknowledged segment, and not a phase of
    /// its own. `go-back-n` alone answers yes (Tahoe).
    fn goes_back(&self) -> bool {
        false
    }

    /// Whether the slow start after a timeout leaves out what SACK blocks report from then on (RFC
    /// 6675 section 5.1). Fall & Floyd's SACK, `ff96-holes`, does not.
    fn uses_sacks_after_timeout(&self) -> bool {
        true
    }

    /// Whether [`next`](Self::next) chooses in the slow start after a timeout too, and not the
    /// position from which that goes on. Linux (`tcp_xmit_retransmit_queue`) has one way for both.
    /// It takes a regulation that counts what is in flight in every phase.
    fn everywhere(&self) -> bool {
        false
    }

    /// Whether what goes again is cut to fit a window that has shrunk since, and waits if the
    /// window ends before it, and short segments go again as one (Linux's `__tcp_retransmit_skb`).
    fn refits(&self) -> bool {
        false
    }

    /// Whether the slow start after a timeout is over.
    fn ends_loss(&self, s: &State) -> bool {
        s.snd_una >= s.recover
    }

    /// Recovery began; the connection sends the first unacknowledged segment by itself.
    fn on_enter(&mut self, _s: &State) {}

    /// Whether this ACK ends recovery. Reno's ends with any that advances (`head`).
    fn ends(&self, s: &State, a: &AckSummary) -> bool {
        a.ack >= s.recover
    }

    /// What an ACK that does not end recovery makes urgent.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> OnAck;

    /// What goes next, given that the window has room for a full segment; `None` for nothing.
    fn next(&mut self, s: &State) -> Option<Next>;

    /// A segment was sent within recovery. `order-guard` notes where its marker stands.
    fn on_transmit(&mut self, _s: &State, _cause: Cause) {}
}

type Row = row::Row<dyn Select>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("go-back-n", || Box::new(GoBackN))
            .source(
                "Jacobson 1988; Fall & Floyd 1996 section 2",
                "After a fast retransmit cwnd is one segment, and slow start begins at the \
                 first unacknowledged segment.",
            )
            .summary("slow start again from the first unacknowledged segment (Tahoe)"),
        Row::new("head", || Box::new(Head))
            .source(
                "RFC 5681 section 3.2",
                "\"The lost segment starting at SND.UNA MUST be retransmitted and cwnd set to \
                 ssthresh plus 3*SMSS.\"",
            )
            .summary(
                "one retransmission, then new data; any new acknowledgment ends recovery (Reno)",
            ),
        Row::new("partial-ack", || Box::new(PartialAck::impatient()))
            .source(
                "RFC 6582 section 3.2",
                "\"If this ACK does not acknowledge all of the data up to and including recover \
                 [...] retransmit the first unacknowledged segment.\"",
            )
            .summary(
                "a further retransmission for each partial ACK; the first one restarts the timer \
                 (impatient)",
            ),
        Row::new("slow-but-steady", || Box::new(PartialAck::slow_but_steady()))
            .file("partial_ack")
            .source(
                "RFC 2582 section 4",
                "\"[...] the algorithm described above, with the modification that the \
                 retransmit timer is reset after each partial acknowledgement.\"",
            )
            .summary("as partial-ack, but every partial ACK restarts the timer"),
        Row::new("order-guard", || Box::new(OrderGuard::default()))
            .source(
                "Lin & Kung 1998 section 5.3",
                "\"Retransmit the next lost packet if D is at least three.\"",
            )
            .summary(
                "as slow-but-steady, but a partial ACK close to the last retransmission's marker \
                 waits for duplicates",
            ),
        Row::new("next-seg", || Box::new(NextSeg::rfc6675()))
            .needs_sack()
            .without_sack("partial-ack")
            .source(
                "RFC 6675 section 4",
                "\"NextSeg () MUST return the sequence number range of the next segment that is \
                 to be transmitted, per the following rules\"",
            )
            .summary("the four rules of NextSeg, rescue retransmission included"),
        Row::new("next-seg-3517", || Box::new(NextSeg::rfc3517()))
            .file("next_seg")
            .needs_sack()
            .without_sack("partial-ack")
            .source(
                "RFC 3517 section 4",
                "\"NextSeg () MUST return the sequence number range of the next segment that is \
                 to be transmitted, per the following rules\"",
            )
            .summary("the three rules of NextSeg, without rescue retransmission"),
        Row::new("lost-first", || Box::new(LostFirst::marked()))
            .without_sack("partial-ack")
            .source(
                "RFC 8985 sections 3.4 and 9.2",
                "What is marked lost goes first, in sequence and as often as it is marked, and \
                 then new data.",
            )
            .summary("what is lost, retransmissions included, then new data"),
        Row::new("linux-lost-first", || Box::new(LostFirst::linux()))
            .file("lost_first")
            .source(
                "Linux tcp_output.c, tcp_xmit_retransmit_queue",
                "What is lost and not on its way goes first, in recovery and after a timeout, as \
                 far as cwnd has room for it.",
            )
            .summary("as lost-first, in the slow start after a timeout too"),
        Row::new("lost-first-rule-3", || Box::new(LostFirst::below_sacked()))
            .file("lost_first")
            .without_sack("partial-ack")
            .source(
                "RFC 3517 section 4; Dukkipati et al. 2011 section 3.2",
                "\"[...] there exists an unSACKed sequence number 'S3' [...] then one segment \
                 of up to SMSS octets starting with S3 MAY be returned.\"",
            )
            .summary("as lost-first, and without new data any hole below the highest SACKed byte"),
    ]
}
