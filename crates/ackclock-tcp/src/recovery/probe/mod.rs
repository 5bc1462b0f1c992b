//! Probing: what is sent before recovery begins?

mod b2b;
mod linux_tlp;
mod lt;
mod recovery_probe;
mod smallwnd;
mod tlp;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::recovery::row;
use crate::recovery::window::{Window, Windows};
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::Time;

pub use b2b::BackToBack;
pub use linux_tlp::LinuxTlp;
pub use lt::LimitedTransmit;
pub use recovery_probe::RecoveryProbe;
pub use smallwnd::SmallWindow;
pub use tlp::Tlp;

/// What a probe sends when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeNow {
    /// Nothing.
    Nothing,
    /// One new segment, or the last outstanding one again if there is no new data (RFC 8985 section
    /// 7.3).
    NewOrLast,
    /// The same, and what goes again counts in the pipe only once, as what it repeats.
    NewOrCopy,
    /// The first unacknowledged segment again, which counts in the pipe once.
    Head,
}

/// Probing: what may be sent beyond the window before recovery begins. Several probes may work side
/// by side. Their allowances do not add up: the largest counts.
pub trait Probe: Send {
    /// Bytes of new data that may be outstanding beyond cwnd; asked while duplicates are counted.
    fn allowance(&self, _s: &State) -> u64 {
        0
    }

    /// Whether its allowance is for old data too, which goes after a timeout. RFC 3042 means
    /// "previously unsent data"; this is `ns2-refused`.
    fn allows_old_data(&self) -> bool {
        false
    }

    /// One segment goes out on this ACK if so many bytes beyond cwnd are room for it: whatever
    /// comes next in sequence, after a timeout old data too, and beside what the ACK may release.
    /// RFC 3042 means "previously unsent data"; this is `ns2-lt`.
    fn one(&self, _s: &State, _a: &AckSummary) -> Option<u64> {
        None
    }

    /// An ACK advanced `snd_una` outside recovery: how many duplicates remain counted. `smallwnd`
    /// subtracts what the ACK accounts for (Lin & Kung section 4.2).
    fn on_advance(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        0
    }

    /// An ACK ended recovery: how many duplicates count already. If any do, one new segment goes
    /// out whatever the window says. This is `b2b` (Lin & Kung section 6.4).
    fn on_exit(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        0
    }

    /// Whether the D-SACK of this ACK reports the probe that is on its way. Asked before
    /// [`on_ack_first`](Self::on_ack_first); detection finds it in the summary.
    fn reported(&self, _s: &State, _a: &AckSummary) -> bool {
        false
    }

    /// Whether a *plain* ACK would change nothing for it now
    /// ([`Detect::skips_plain_acks`](crate::recovery::detect::Detect::skips_plain_acks)): it would
    /// answer with 0 and `None`, and change nothing of its own. Then it is not shown such ACKs,
    /// until a call of `&mut self`.
    fn skips_plain_acks(&self) -> bool {
        false
    }

    /// An ACK arrived, and nothing has responded to it yet; otherwise as
    /// [`on_ack`](Self::on_ack). Linux (`tcp_process_tlp_ack`) lowers the windows first, and the
    /// ACK may then open them again.
    fn on_ack_first(
        &mut self,
        _s: &State,
        _a: &AckSummary,
        _law: &mut dyn Window,
    ) -> Option<Windows> {
        None
    }

    /// An ACK has been dealt with. If it shows that a probe has repaired a loss by itself: the new
    /// windows, which the window law has a say in (RFC 8985 section 7.4.2).
    fn on_ack(&mut self, _s: &State, _a: &AckSummary, _law: &mut dyn Window) -> Option<Windows> {
        None
    }

    /// When [`on_deadline`](Self::on_deadline) wants to be called. If the retransmission timer
    /// would expire first, it is called then, in place of the timeout (RFC 8985 section 7.2).
    fn deadline(&self, _s: &State) -> Time {
        Time::NEVER
    }

    /// The time has come.
    fn on_deadline(&mut self, _s: &State) -> ProbeNow {
        ProbeNow::Nothing
    }
}

type Row = row::Row<dyn Probe>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("lt", || Box::new(LimitedTransmit))
            .source(
                "RFC 3042; RFC 6675 section 5 step 3",
                "\"[...] sending a new data segment in response to each of the first two \
                 duplicate acknowledgments that arrive at the sender.\"",
            )
            .summary("limited transmit: a new segment for each of the first two duplicates"),
        Row::new("smallwnd", || Box::new(SmallWindow::below_ten()))
            .source(
                "Lin & Kung 1998 section 4.2",
                "\"In our solution, the sender generates a new packet for each duplicate ACK \
                 received (only for the first two ACKs).\"",
            )
            .summary(
                "a new segment for each of the first two duplicates while cwnd is below ten \
                 segments, accounted for exactly",
            ),
        Row::new("smallwnd-any", || Box::new(SmallWindow::at_any_window()))
            .file("smallwnd")
            .source(
                "Lin & Kung 1998 sections 4.2 and 8",
                "\"A Net Reno TCP connection is able to avoid RTOs completely as long as the \
                 network keeps at least one packet alive for each round trip time.\"",
            )
            .summary("as smallwnd, at every window"),
        Row::new("b2b", || Box::new(BackToBack))
            .source(
                "Lin & Kung 1998 section 6.4",
                "\"We set the dupacks counter to two packets and send out a new packet [...]\"",
            )
            .summary(
                "a recovery that ends with an ACK of less than was expected counts two duplicates \
                 towards the next one",
            ),
        Row::new("tlp", || Box::new(Tlp::default()))
            .needs_sack()
            .off_without_sack()
            .source(
                "RFC 8985 section 7",
                "\"The sender schedules a loss probe timeout (PTO) to transmit a segment during \
                 the normal transmission process.\"",
            )
            .summary(
                "after two round trips without an ACK, sends a new segment, or the last one again, \
                 to draw an ACK",
            ),
        Row::new("linux-tlp", || Box::new(LinuxTlp::default()))
            .needs_sack()
            .source(
                "Linux tcp_output.c, tcp_schedule_loss_probe and tcp_send_loss_probe",
                "A probe comes two round trips and 2 ms after the last ACK or segment, in ticks, \
                 and after the least timeout more if one segment is outstanding.",
            )
            .summary("as tlp, as Linux has it; off without SACK"),
        Row::new("linux-tlp-fin", || Box::new(LinuxTlp::fin_at_once()))
            .file("linux_tlp")
            .needs_sack()
            .source(
                "Linux tcp_output.c, tcp_schedule_loss_probe; own",
                "Receivers acknowledge a FIN without delay, so that the probe for it waits for \
                 no delayed ACK.",
            )
            .summary(
                "as linux-tlp, but a last segment with a FIN is probed for without allowance for a \
                 delayed ACK; off without SACK",
            ),
        Row::new("tlp-fin", || Box::new(Tlp::fin_at_once()))
            .file("tlp")
            .needs_sack()
            .off_without_sack()
            .source(
                "RFC 8985 section 7; own",
                "Receivers acknowledge a FIN without delay, so that the probe for it waits for \
                 no delayed ACK.",
            )
            .summary(
                "as tlp, but allows no time for a delayed ACK if the last segment carries a FIN",
            ),
        Row::new("recovery-probe", || Box::new(RecoveryProbe::default()))
            .needs_sack()
            .off_without_sack()
            .source(
                "RFC 9002 section 6.2; RFC 8985 section 6.2; own",
                "A segment whose retransmission nothing was heard of for a round trip and a \
                 quarter is retransmitted, without waiting for an ACK to show its loss.",
            )
            .summary(
                "within recovery: a round trip and a quarter after the last thing sent or \
                 delivered, the first unacknowledged segment is retransmitted once more, unless \
                 the path seems full",
            ),
    ]
}
