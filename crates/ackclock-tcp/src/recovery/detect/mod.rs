//! Detection: what is lost now, or when will we know?

mod dupack;
mod dyn_dupthresh;
mod er;
mod fack;
mod is_lost;
mod linux_rack;
mod notified;
mod rack;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::recovery::min_rtt::MinRtt;
use crate::recovery::row;
use crate::scoreboard::Record;
use crate::state::{DUPTHRESH, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

pub use dupack::DupackCount;
pub use dyn_dupthresh::DynamicDupthresh;
pub use er::EarlyRetransmit;
pub use fack::Fack;
pub use is_lost::IsLost;
pub use linux_rack::LinuxRack;
pub use notified::Notified;
pub use rack::Rack;

/// What a detection mechanism judges lost. The connection does the marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// Nothing new.
    Nothing,
    /// The first unacknowledged segment.
    Head,
    /// Every segment that ends at or below this position and is not sacked (RFC 6675 IsLost, FACK).
    Below(u64),
    /// Every segment that is not sacked and whose last transmission was sent before this time, or
    /// at this time with an end at or below the position (RFC 8985 section 6.2).
    SentBefore(Time, u64),
    /// One transmission of one segment.
    Transmission {
        /// Which one.
        lost: Transmission,
        /// It is a retransmission of the recovery under way, to whose loss the windows respond once
        /// more.
        again: bool,
    },
    /// Nothing new; but of what is marked lost no recovery has begun yet.
    Standing,
    /// One transmission of one segment, which is replaced at once. The windows respond only when it
    /// is judged lost by [`Lost::Transmission`].
    Replace(Transmission),
}

/// A transmission: its time, and the end of its segment, which breaks ties (RFC 8985 section 6.2,
/// RACK_sent_after).
type Sent = (Time, u64);

/// Keeps the later of two transmissions. Times seldom tie, so that they are looked at first.
#[inline(always)]
fn keep_later(kept: &mut Sent, sent: Sent) {
    if sent.0 > kept.0 || sent > *kept {
        *kept = sent;
    }
}

/// What was found lost above the recovery point of the recovery that has ended begins the next one
/// (Linux's `tcp_time_to_recover`), retransmitted already or not.
fn standing(s: &State) -> Lost {
    let waits = !s.recovering() && s.board.lost_bytes() > 0;
    if waits { Lost::Standing } else { Lost::Nothing }
}

/// One transmission of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Stream position of the segment's first byte.
    pub seq: u64,
    /// Which transmission of the segment; 1 is the first.
    pub number: u32,
}

/// Whether and when the network notifies a sender of the transmissions that it lost. No real
/// network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Notices {
    /// Never.
    #[default]
    Never,
    /// When the ACK of the transmission would have come, had it not been lost.
    AfterRoundTrip,
    /// At the moment of the loss, and again when its ACK would have come.
    AtOnce,
}

/// The network lost a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What was lost.
    pub lost: Transmission,
    /// This is the moment of the loss, and not that at which its ACK would have come.
    pub at_once: bool,
}

/// What duplicates say without SACK ([`Detect::emulate`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulated {
    /// Outstanding segments that they are taken for.
    pub segments: u32,
    /// Segments that this ACK says have arrived, duplicates and acknowledged ones.
    pub delivered: u32,
}

/// Detection: what is lost now, or when will we know.
pub trait Detect: Send {
    /// The detection that this one wraps.
    fn inner(&self) -> Option<&dyn Detect> {
        None
    }

    /// The same, to be changed.
    fn inner_mut(&mut self) -> Option<&mut dyn Detect> {
        None
    }

    /// The name under which events report what it judged.
    fn name(&self) -> &'static str {
        self.inner().map_or(core::any::type_name::<Self>(), |d| d.name())
    }

    /// Whether [`on_delivered`](Self::on_delivered) wants to be called. Most detectors do not, and
    /// a call for each segment costs more than what they do.
    fn watches_deliveries(&self) -> bool {
        self.inner().is_some_and(|d| d.watches_deliveries())
    }

    /// This ACK is the first to report this segment delivered, cumulatively or selectively. Called
    /// for each such segment before [`on_ack`](Self::on_ack).
    fn on_delivered(&mut self, r: &Record, now: Time) {
        if let Some(inner) = self.inner_mut() {
            inner.on_delivered(r, now);
        }
    }

    /// DupThresh (RFC 5681 section 3.2) from this ACK on. Called before [`on_ack`](Self::on_ack),
    /// which finds it in the state. `dyn-dupthresh` is the one that changes it: every other
    /// detector of this axis counts up to it.
    fn dupthresh(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.inner_mut().map_or(DUPTHRESH, |d| d.dupthresh(s, a))
    }

    /// The round trip of the handshake, the first of the connection. Only time-based detection has
    /// a use for it.
    fn on_handshake(&mut self, rtt: Span) {
        if let Some(inner) = self.inner_mut() {
            inner.on_handshake(rtt);
        }
    }

    /// Without SACK: what duplicates stand for, counted so that the pipe falls with each. Called
    /// before [`on_ack`](Self::on_ack). RFC 5681 inflates cwnd instead; this is how Linux
    /// (`tcp_add_reno_sack`) needs no window of another kind for a peer without SACK.
    fn emulate(&mut self, s: &State, a: &AckSummary) -> Option<Emulated> {
        self.inner_mut().and_then(|d| d.emulate(s, a))
    }

    /// What was delivered on this ACK is taken note of, also where an undo keeps detection from
    /// judging. Called before undo, and so before [`on_ack`](Self::on_ack), if
    /// [`watches_deliveries`](Self::watches_deliveries).
    fn observe(&mut self, s: &State, a: &AckSummary) {
        if let Some(inner) = self.inner_mut() {
            inner.observe(s, a);
        }
    }

    /// Whether a *plain* ACK changes nothing for it: it would answer with [`Lost::Nothing`], leave
    /// [`dupthresh`](Self::dupthresh) at three, and change nothing of its own. A plain ACK advances
    /// `snd_una` over segments that were sent once, outside recovery, and carries nothing else; no
    /// duplicates are counted, and nothing outstanding is sacked, lost or on its way again. Then it
    /// is not shown such ACKs, unless it [watches deliveries](Self::watches_deliveries). Not handed
    /// on to an inner detection: the outer one may want to see more.
    fn skips_plain_acks(&self) -> bool {
        false
    }

    /// Whether with SACK it takes a plain ACK as a whole, by [`on_plain_ack`](Self::on_plain_ack).
    /// A call for each segment, and each question about the ACK, cost more than what they do. Not
    /// handed on to an inner detection, as above.
    fn sums_plain_acks(&self) -> bool {
        false
    }

    /// A plain ACK ([`skips_plain_acks`](Self::skips_plain_acks)), in place of
    /// [`on_delivered`](Self::on_delivered) for each segment and of [`observe`](Self::observe). The
    /// segments were sent in sequence, the last of them at [`AckSummary::last_sent`]. Returns
    /// whether it has judged too: nothing is lost, [`dupthresh`](Self::dupthresh) stays, and no
    /// deadline is set. If not, it is asked for its judgement as on any ACK.
    fn on_plain_ack(&mut self, _s: &State, _a: &AckSummary) -> bool {
        false
    }

    /// Judges on an ACK that says anything new, or is a duplicate.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost;

    /// Whether, with SACK, an ACK with SACK news counts as a duplicate "regardless of its status as
    /// a cumulative acknowledgment" (RFC 6675 section 5), and not only if it does not advance. RFC
    /// 3517 has no such rule, so that `is-lost` alone answers yes.
    fn counts_advances(&self) -> bool {
        self.inner().is_some_and(|d| d.counts_advances())
    }

    /// When [`on_deadline`](Self::on_deadline) wants to be called; [`Time::NEVER`] if it does not.
    fn deadline(&self) -> Time {
        self.inner().map_or(Time::NEVER, |d| d.deadline())
    }

    /// Whether the last [`on_ack`](Self::on_ack) set the [`deadline`](Self::deadline) anew. Where
    /// one timer serves all ends ([`Timer::serves_all`](crate::recovery::timer::Timer::serves_all))
    /// it then waits for nothing else.
    fn armed(&self) -> bool {
        self.inner().map_or(self.deadline() != Time::NEVER, |d| d.armed())
    }

    /// A response turned out to be spurious and is undone; or, if not `undone`, an original arrived
    /// for which a retransmission is on its way. `losses_stand`: what was judged lost was, as far
    /// as the undo knows. Linux (`tcp_try_undo_partial`, `tcp_try_undo_dsack`) learns from both.
    fn on_spurious(&mut self, s: &State, a: &AckSummary, undone: bool, losses_stand: bool) {
        if let Some(inner) = self.inner_mut() {
            inner.on_spurious(s, a, undone, losses_stand);
        }
    }

    /// What was outstanding was too big for the path, so that it is lost, and the slow start that
    /// follows cannot be undone.
    fn on_too_big(&mut self) {
        if let Some(inner) = self.inner_mut() {
            inner.on_too_big();
        }
    }

    /// Judges because time has passed.
    fn on_deadline(&mut self, s: &State) -> Lost {
        self.inner_mut().map_or(Lost::Nothing, |d| d.on_deadline(s))
    }

    /// Whether the network has to notify the sender of losses
    /// ([`Sender::on_notice`](crate::Sender::on_notice)). With SACK no retransmission timer runs
    /// then: every loss is notified, and a timer could only be wrong.
    fn notices(&self) -> Notices {
        self.inner().map_or(Notices::Never, |d| d.notices())
    }

    /// Judges on a notice of the network. `notified`, of which there are two, asks for them.
    fn on_notice(&mut self, s: &State, notice: Notice) -> Lost {
        self.inner_mut().map_or(Lost::Nothing, |d| d.on_notice(s, notice))
    }

    /// Whether SACK information outlives a timeout. RFC 2018 section 8 forgets it; Linux
    /// (`tcp_timeout_mark_lost`) only if the first unacknowledged segment was SACKed itself.
    fn keeps_sacks(&self, s: &State) -> bool {
        self.inner().is_some_and(|d| d.keeps_sacks(s))
    }

    /// Whether, after an undo, [`Lost::SentBefore`] judges transmissions again that it judged lost
    /// before. Linux takes what it marks off the list that it looks at (`tcp_rack_detect_loss`).
    /// Where not, a retransmission on its way also stays so when its segment is marked lost, and a
    /// segment whose SACK was forgotten counts as an original.
    fn judges_again(&self) -> bool {
        self.inner().is_none_or(|d| d.judges_again())
    }

    /// The ACK at hand advanced `snd_una`, and the next segment was SACKed: how soon the
    /// retransmission timer is to expire, if the receiver is taken to have discarded what it had
    /// SACKed. Then nothing else responds to the ACK.
    fn reneges(&self, s: &State) -> Option<Span> {
        self.inner().and_then(|d| d.reneges(s))
    }

    /// Whether an ACK that reports by SACK what is known already counts as a duplicate.
    fn counts_repeat(&self, s: &State, a: &AckSummary) -> bool {
        self.inner().is_some_and(|d| d.counts_repeat(s, a))
    }

    /// Whether a timeout begins the count of duplicates anew. ns-2's Tahoe alone goes on counting.
    fn recounts(&self) -> bool {
        self.inner().is_none_or(|d| d.recounts())
    }

    /// The retransmission timer has expired in this phase. Lost is the first unacknowledged
    /// segment, and what was last sent no later than the time returned; [`Time::NEVER`] for all
    /// that is outstanding. Only `rack` knows better than that (RFC 8985 section 6.3).
    fn on_timeout(&mut self, s: &State) -> Time {
        self.inner_mut().map_or(Time::NEVER, |d| d.on_timeout(s))
    }
}

type Row = row::Row<dyn Detect>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("dupack", || Box::new(DupackCount))
            .source(
                "RFC 5681 section 3.2",
                "\"The fast retransmit algorithm uses the arrival of 3 duplicate ACKs [...] as \
                 an indication that a segment has been lost.\"",
            )
            .summary("the third duplicate ACK means that the first unacknowledged segment is lost"),
        Row::new("is-lost", || Box::new(IsLost::rfc6675()))
            .needs_sack()
            .without_sack("dupack")
            .source(
                "RFC 6675 section 4",
                "\"The routine returns true when either DupThresh discontiguous SACKed \
                 sequences have arrived above 'SeqNum' or more than (DupThresh - 1) * SMSS \
                 bytes [...] have been SACKed.\"",
            )
            .summary(
                "a segment is lost with three SACKed ranges, or more than two segments' worth of \
                 SACKed bytes, above it",
            ),
        Row::new("is-lost-3517", || Box::new(IsLost::rfc3517()))
            .file("is_lost")
            .needs_sack()
            .without_sack("dupack")
            .source(
                "RFC 3517 section 4",
                "\"The routine returns true when either DupThresh discontiguous SACKed \
                 sequences have arrived above 'SeqNum' or (DupThresh * SMSS) bytes with \
                 sequence numbers greater than 'SeqNum' have been SACKed.\"",
            )
            .summary(
                "as is-lost, with three segments' worth of SACKed bytes; only the third duplicate \
                 begins a recovery",
            ),
        Row::new("rack", || Box::new(Rack::default()))
            .needs_sack()
            .without_sack("dupack")
            .source(
                "RFC 8985 section 6",
                "\"For each segment that has not been SACKed, RACK considers that segment lost \
                 if another segment that was sent later has been delivered and the reordering \
                 window has passed.\"",
            )
            .summary(
                "what was sent before a segment that arrived is lost, once a round trip and a \
                 reordering window have passed since",
            ),
        Row::new("linux-rack", || Box::new(LinuxRack::default()))
            .needs_sack()
            .source(
                "Linux tcp_recovery.c, tcp_rack_detect_loss; tcp_input.c, tcp_add_reno_sack",
                "As RFC 8985 section 6, with the reordering timer 2 ms longer and in ticks; \
                 without SACK duplicates count as segments delivered, and three of them as a loss.",
            )
            .summary("as rack, as Linux has it, also without SACK"),
        Row::new("linux-rack-static", || Box::new(LinuxRack::fixed_window()))
            .file("linux_rack")
            .needs_sack()
            .source(
                "Linux tcp_recovery.c, tcp_rack_update_reo_wnd",
                "With bit 0x2 of tcp_recovery D-SACKs do not widen the reordering window.",
            )
            .summary("as linux-rack, with a reordering window that D-SACKs do not widen"),
        Row::new("linux-rack-no-dupthresh", || Box::new(LinuxRack::without_dupthresh()))
            .file("linux_rack")
            .needs_sack()
            .source(
                "Linux tcp_recovery.c, tcp_rack_reo_wnd",
                "With bit 0x4 of tcp_recovery the reordering window stays open however much was \
                 SACKed.",
            )
            .summary("as linux-rack, with a reordering window that many SACKs do not close"),
        Row::new("fack", || Box::new(Fack::every_hole()))
            .needs_sack()
            .without_sack("dupack")
            .source(
                "Mathis & Mahdavi 1996; Dukkipati et al. 2011 section 3.2",
                "\"Furthermore, once in fast recovery, all holes below the highest SACK block \
                 are assumed to be lost and marked for retransmission.\"",
            )
            .summary(
                "everything below the highest SACKed byte is lost once that is more than three \
                 segments above snd_una",
            ),
        Row::new("fack-linux", || Box::new(Fack::linux()))
            .file("fack")
            .needs_sack()
            .without_sack("dupack")
            .source(
                "Dukkipati et al. 2011 figure 3",
                "A hole is lost once the highest SACKed segment is three segments above it, as \
                 the segments sent in the figure show.",
            )
            .summary("as fack, but a hole has to be three segments below the highest SACKed byte"),
        Row::around("er", |inner| Box::new(EarlyRetransmit::naive(inner)))
            .source(
                "RFC 5827 section 3.2",
                "\"When the above two conditions hold [...] the duplicate ACK threshold used to \
                 trigger a retransmission MUST be reduced to: ER_thresh = oseg - 1\"",
            )
            .summary(
                "early retransmit, added to the detection named before it: with two or three \
                 segments outstanding and no new data, one duplicate less than that is enough",
            ),
        Row::around("er-1", |inner| Box::new(EarlyRetransmit::off_after_reordering(inner)))
            .file("er")
            .source(
                "RFC 5827; Dukkipati et al. 2011 section 6",
                "\"Disabling early retransmit if the connection has detected past reordering.\"",
            )
            .summary("as er, off once reordering was seen"),
        Row::around("er-2", |inner| Box::new(EarlyRetransmit::delayed(inner)))
            .file("er")
            .source(
                "RFC 5827; Dukkipati et al. 2011 section 6",
                "\"Adding a small delay to early retransmit so it might be canceled if the \
                 missing segment arrives slightly late.\"",
            )
            .summary("as er-1, after a quarter of a round trip (25 to 500 ms) without an ACK"),
        Row::new("notified", || Box::new(Notified::after_round_trip()))
            .needs_sack()
            .source(
                "own: a bound, not a protocol",
                "A segment is lost if the network says so, at the moment when its ACK would \
                 have come.",
            )
            .summary(
                "the simulated network notifies the sender of each loss, when the ACK would have \
                 come; no retransmission timer",
            ),
        Row::new("notified-at-once", || Box::new(Notified::at_once()))
            .file("notified")
            .needs_sack()
            .source(
                "own: a bound, not a protocol",
                "A lost segment is replaced at the moment of its loss, and the window responds \
                 when its ACK would have come.",
            )
            .summary("as notified, at the moment of the loss"),
        Row::around("dyn-dupthresh", |inner| Box::new(DynamicDupthresh::new(inner)))
            .needs_sack()
            .off_without_sack()
            .source(
                "Dukkipati et al. 2011 table 4; Linux",
                "The threshold of duplicate ACKs grows to the largest number of segments by \
                 which a segment has come late.",
            )
            .summary(
                "added to the detection named before it: the threshold of three duplicates grows \
                 with the reordering seen, and fack falls back to counting them",
            ),
    ]
}
