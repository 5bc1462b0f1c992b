//! Undo: was a loss response spurious?

mod dsack_undo;
mod eifel;
mod f_rto;
mod linux_f_rto;
mod linux_undo;
mod rfc4015;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::recovery::row;
use crate::recovery::window::Windows;
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::Span;

pub use dsack_undo::DsackUndo;
pub use eifel::Eifel;
pub use f_rto::FRto;
pub use linux_f_rto::LinuxFRto;
pub use linux_undo::LinuxUndo;
pub use rfc4015::Rfc4015;

/// What an undo mechanism concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing yet.
    Open,
    /// The loss response was spurious: restore what was saved when it began.
    Spurious,
    /// The loss response was spurious: go on with these windows.
    Restore {
        /// Windows.
        windows: Windows,
        /// What is marked lost is lost all the same.
        losses_stand: bool,
        /// The phase of recovery goes on.
        goes_on: bool,
    },
    /// An original arrived, but retransmissions are on their way: nothing is judged lost on this
    /// ACK, and only new data goes.
    Hold,
    /// After a timeout: new data goes first, as far as cwnd has room for it. What is lost goes if
    /// there is none.
    NewFirst,
    /// After a timeout: send two new segments before any further retransmission, to find out (RFC
    /// 5682 section 2.1 step 2b). There has to be new data, and window for it. Outside
    /// [`Phase::Loss`](crate::Phase::Loss) it does nothing.
    SendNew,
    /// After [`SendNew`](Self::SendNew): it was needed, go on with the retransmissions (step 3a).
    /// Outside [`Phase::Loss`](crate::Phase::Loss) it does nothing.
    Needed,
    /// The retransmission timer has to go on from these estimates (RFC 4015 step 11).
    Retime {
        /// SRTT.
        srtt: Span,
        /// RTTVAR.
        rttvar: Span,
    },
}

/// Undo: was the response to a loss spurious?
pub trait Undo: Send {
    /// The name under which events report what it judged.
    fn name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }

    /// A loss response begins: a timeout or a recovery.
    fn on_response(&mut self, s: &State, timeout: bool);

    /// The windows were lowered for an ECN-Echo, which is not spurious, or the path's MTU has
    /// fallen below what is outstanding: no response before it is undone (`tcp_enter_cwr`,
    /// `tcp_simple_retransmit`).
    fn forget(&mut self) {}

    /// An ACK has ECN-Echo: what it says, and the response that it begins, is not spurious,
    /// whatever comes (`prior_ssthresh` is 0: `tcp_fastretrans_alert`, `tcp_enter_recovery`).
    fn on_echo(&mut self) {}

    /// Whether an undo that raises ssthresh takes CWR back, if that has not left yet
    /// (`tcp_ecn_withdraw_cwr`).
    fn withdraws_cwr(&self) -> bool {
        false
    }

    /// A segment is retransmitted (RFC 3708 section 3 counts them, RFC 3522 section 3.2 keeps the
    /// first one's timestamp).
    fn on_retransmit(&mut self, _s: &State, _seq: u64, _len: u32) {}

    /// Whether a *plain* ACK would change nothing for it now
    /// ([`Detect::skips_plain_acks`](crate::recovery::detect::Detect::skips_plain_acks)): it would
    /// answer with [`Verdict::Open`], and change nothing of its own. Then it is not shown that ACK;
    /// otherwise the ACK takes the full path, on which all mechanisms see it, unless it
    /// [sums it up](Self::sums_plain_acks).
    fn skips_plain_acks(&self) -> bool {
        false
    }

    /// Whether it would answer a plain ACK with [`Verdict::Open`] now, and take note of nothing but
    /// the state that the ACK leaves. Then [`on_plain_ack`](Self::on_plain_ack) may take the place
    /// of [`on_ack`](Self::on_ack), unless it [skips the ACK](Self::skips_plain_acks).
    fn sums_plain_acks(&self) -> bool {
        false
    }

    /// A plain ACK that it sums up. Called also if it would skip it.
    fn on_plain_ack(&mut self, _s: &State) {}

    /// Judges on an ACK, also after the response has ended: its verdict counts until the next
    /// response begins.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Verdict;

    /// A verdict, its own or another mechanism's, is [`Verdict::Spurious`]: the windows to go on
    /// with, which this ACK then does not change any further; `None` to restore those from before
    /// the response. Only RFC 4015 (step 9) wants others. On an ECN-Echo the present ones stand for
    /// its answer.
    fn respond(&mut self, _s: &State, _a: &AckSummary) -> Option<Windows> {
        None
    }
}

type Row = row::Row<dyn Undo>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("eifel", || Box::new(Eifel::default()))
            .source(
                "RFC 3522 section 3.2",
                "\"If the value of the Timestamp Echo Reply field of the acceptable ACK's \
                 Timestamps option is smaller than the value of RetransmitTS [...]\"",
            )
            .summary(
                "a response was spurious if the first new ACK after it echoes a timestamp from \
                 before the retransmission",
            ),
        Row::new("f-rto", || Box::new(FRto::default()))
            .source(
                "RFC 5682 section 2.1",
                "\"If the acknowledgment advances the window (i.e., if it acknowledges data that \
                 was not retransmitted after the timeout), declare the timeout spurious [...]\"",
            )
            .summary(
                "after a timeout and an ACK that advances, sends two new segments; if the next ACK \
                 acknowledges originals, the timeout was spurious",
            ),
        Row::new("dsack-undo", || Box::new(DsackUndo::default()))
            .needs_sack()
            .off_without_sack()
            .source(
                "RFC 3708 section 3",
                "\"If all segments or chunks marked as retransmitted have also been marked as \
                 acknowledged and duplicated, we conclude that all retransmissions in the \
                 previous window of data were spurious [...]\"",
            )
            .summary(
                "a response was spurious if D-SACKs report every segment that was retransmitted",
            ),
        Row::new("linux-undo", || Box::new(LinuxUndo::default()))
            .source(
                "Linux tcp_input.c, tcp_may_undo",
                "A response was spurious if an ACK echoes a timestamp from before the first \
                 retransmission, or D-SACKs report as many segments as were retransmitted.",
            )
            .summary("by timestamps and D-SACKs, as Linux has it"),
        Row::new("linux-f-rto", || Box::new(LinuxFRto::default()))
            .source(
                "Linux tcp_input.c, tcp_process_loss",
                "A timeout was spurious if an ACK after it reports a segment from before it that \
                 was sent once.",
            )
            .summary("as f-rto, as Linux has it: the first original that arrives is enough"),
        Row::new("rfc4015", || Box::new(Rfc4015::default()))
            .source(
                "RFC 4015 section 3.1",
                "\"Reverse the congestion control state: [...] set cwnd <- FlightSize + min \
                 (bytes_acked, IW) ssthresh <- pipe_prev\"",
            )
            .summary(
                "after a spurious timeout, sends at most IW at once, grows to the old window by \
                 slow start, and adapts the timer",
            ),
    ]
}
