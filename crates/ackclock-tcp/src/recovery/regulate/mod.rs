//! Regulation: how much may this ACK release?

mod by_window;
mod conserve;
mod delivered;
mod inflate;
mod linux_prr;
mod loss_sensitive;
mod pipe;
mod prr;
mod rate_halving;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::event::Cause;
use crate::recovery::row;
use crate::state::State;
use crate::summary::AckSummary;

pub use by_window::ByWindow;
pub use conserve::Conserve;
pub use inflate::Inflate;
pub use linux_prr::LinuxPrr;
pub use loss_sensitive::LossSensitive;
pub use pipe::Pipe;
pub use prr::Prr;
pub use rate_halving::RateHalving;

pub(crate) use inflate::inflated;

/// Regulation: how much an ACK within recovery may release. Each method that returns a number
/// returns the new cwnd, but for [`in_flight`](Self::in_flight).
pub trait Regulate: Send {
    /// The regulation that this one wraps.
    fn inner(&self) -> Option<&dyn Regulate> {
        None
    }

    /// The same, to be changed.
    fn inner_mut(&mut self) -> Option<&mut dyn Regulate> {
        None
    }

    /// What counts against cwnd within recovery, in bytes.
    fn in_flight(&self, s: &State) -> u64;

    /// Whether cwnd counts segments in the network ([`State::packets_in_flight`]) outside of
    /// recovery too, as in Linux (`tcp_cwnd_test`). RFC 5681 counts FlightSize there.
    fn everywhere(&self) -> bool {
        self.inner().is_some_and(|r| r.everywhere())
    }

    /// Whether cwnd follows ssthresh ACK by ACK also after an ECN-Echo, as in a recovery
    /// (`tcp_enter_cwr`). Otherwise it becomes ssthresh at once (RFC 3168 section 6.1.2).
    fn enters_cwr(&self) -> bool {
        self.inner().is_some_and(|r| r.enters_cwr())
    }

    /// Whether what is lowered for an ECN-Echo is a state, CWR, which any echo begins outside
    /// recovery while data is outstanding, also on the ACK that ends a recovery
    /// (`tcp_try_to_open`). Otherwise an echo counts once for what was sent before the windows were
    /// last lowered (RFC 3168 section 6.1.2).
    fn cwr_is_a_state(&self) -> bool {
        self.inner().is_some_and(|r| r.cwr_is_a_state())
    }

    /// Recovery began; `s.ssthresh` is the target.
    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64;

    /// An ACK arrived that does not end recovery.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64;

    /// Losses were found between two ACKs of recovery, by which the pipe has fallen by so many
    /// bytes.
    fn on_lost(&mut self, s: &State, bytes: u64) -> u64 {
        self.inner_mut().map_or(s.cwnd, |r| r.on_lost(s, bytes))
    }

    /// The retransmission timer has expired, and what is lost is marked. RFC 5681 section 3.1: "the
    /// loss window [...] equals 1 full-sized segment".
    fn on_timeout(&mut self, s: &State) -> u64 {
        self.inner_mut().map_or(s.mss, |r| r.on_timeout(s))
    }

    /// An ACK ends recovery.
    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u64;

    /// A segment was sent within recovery.
    fn on_transmit(&mut self, s: &State, cause: Cause, len: u64) -> u64 {
        self.inner_mut().map_or(s.cwnd, |r| r.on_transmit(s, cause, len))
    }

    /// Whether [`most`](Self::most) wants to be called, which costs a call for each ACK.
    fn limits(&self) -> bool {
        self.inner().is_some_and(|r| r.limits())
    }

    /// The most segments that this ACK may release, in whatever phase, beside an urgent
    /// retransmission and one that a probe allows. RFC 5681 has no such limit; ns-2 counts.
    fn most(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.inner_mut().map_or(u32::MAX, |r| r.most(s, a))
    }

    /// cwnd without its inflation, which a timeout within recovery goes by; `None` to go by cwnd.
    fn deflated(&self, s: &State) -> Option<u64> {
        self.inner().and_then(|r| r.deflated(s))
    }

    /// What was sent before the retransmission has left the network
    /// ([`Tick::RoundTrip`](crate::recovery::retransmission::Tick::RoundTrip)). Called before
    /// [`on_ack`](Self::on_ack).
    fn on_round_trip(&mut self, s: &State) -> u64 {
        self.inner_mut().map_or(s.cwnd, |r| r.on_round_trip(s))
    }
}

type Row = row::Row<dyn Regulate>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("inflate", || Box::new(Inflate::limited_exit()))
            .source(
                "RFC 5681 section 3.2; RFC 6582 section 3.2",
                "\"For each additional duplicate ACK received (after the third), cwnd MUST be \
                 incremented by SMSS.\"",
            )
            .summary(
                "cwnd grows by a segment for each duplicate; at the end at most one segment \
                 beyond what is outstanding",
            ),
        Row::new("inflate-to-ssthresh", || Box::new(Inflate::to_ssthresh()))
            .file("inflate")
            .source(
                "RFC 5681 section 3.2; RFC 6582 section 3.2 option 2",
                "\"Set cwnd to either (1) [...] or (2) ssthresh, where ssthresh is the value \
                 set when fast retransmit was entered\"",
            )
            .summary("as inflate, but recovery ends with cwnd = ssthresh"),
        Row::new("inflate-bsd", || Box::new(Inflate::bsd()))
            .file("inflate")
            .source(
                "Wright & Stevens 1995 section 29.4",
                "The ACK that ends recovery sets cwnd to ssthresh, and then opens the window as \
                 any ACK of new data does.",
            )
            .summary(
                "as inflate-to-ssthresh, and the ACK that ends recovery opens the window as well",
            ),
        Row::new("loss-sensitive", || Box::new(LossSensitive))
            .source(
                "Lin & Kung 1998 sections 5.1 and 5.2",
                "\"Notice again that each received ACK (duplicate or partial) causes exactly \
                 one packet to be sent for the second half of the recovery phase.\"",
            )
            .summary(
                "past half of the window one segment for each ACK; at the end at most one segment \
                 beyond what is outstanding",
            ),
        Row::new("pipe", || Box::new(Pipe))
            .without_sack("inflate")
            .source(
                "RFC 6675 section 5",
                "\"If cwnd - pipe >= 1 SMSS, the sender SHOULD transmit one or more segments as \
                 follows\"",
            )
            .summary("an estimate of the bytes in the network is held at ssthresh"),
        Row::new("prr-crb", || Box::new(Prr::conservative()))
            .file("prr")
            .source(
                "Dukkipati et al. 2011 algorithm 2; RFC 6937 section 3",
                "\"[...] data is sent such that the total data transmitted, prr_out, follows \
                 the total data delivered to the receiver as reported by returning ACKs.\"",
            )
            .summary(
                "sends in proportion to what arrives; below ssthresh no more than was delivered",
            ),
        Row::new("prr-ssrb", || Box::new(Prr::slow_start()))
            .file("prr")
            .source(
                "Dukkipati et al. 2011 algorithm 2; RFC 6937 section 3",
                "\"PRR-SSRB increases the window by exactly 1 segment per ACK until pipe rises to \
                 ssthresh during recovery.\"",
            )
            .summary("as prr-crb, below ssthresh a segment more for each ACK"),
        Row::new("prr-ub", || Box::new(Prr::unlimited()))
            .file("prr")
            .source(
                "RFC 6937 section 5",
                "\"[...] PRR with an unlimited bound (PRR-UB), which sends ssthresh-pipe bursts \
                 when pipe falls below ssthresh.\"",
            )
            .summary("as prr-crb, below ssthresh up to it at once"),
        Row::new("prr", || Box::new(Prr::rfc9937()))
            .source(
                "RFC 9937 section 6.2",
                "Below ssthresh an ACK releases what it says was delivered, and a segment more \
                 if it advances and shows no further loss.",
            )
            .summary(
                "as prr-crb in bytes, below ssthresh a segment more for an ACK that advances and \
                 shows no further loss",
            ),
        Row::new("linux-prr", || Box::new(LinuxPrr::default()))
            .source(
                "Linux tcp_input.c, tcp_cwnd_reduction",
                "As RFC 9937 in whole segments, rounded up, with cwnd before the recovery in place \
                 of RecoverFS.",
            )
            .summary("as prr, in segments and in proportion to cwnd, as Linux has it"),
        Row::new("by-window", || Box::new(ByWindow))
            .source(
                "Linux tcp_input.c, tcp_cong_control",
                "A window law that goes by rate sets cwnd on every ACK, within recovery too.",
            )
            .summary("recovery leaves cwnd to the window law, for laws by rate"),
        Row::new("conserve", || Box::new(Conserve::default()))
            .source(
                "own: a bound, not a protocol",
                "A segment that leaves the network, lost or delivered, releases the share \
                 ssthresh / FlightSize of a segment.",
            )
            .summary(
                "sends in proportion to what has left the network, lost or delivered; below \
                 ssthresh up to it at once",
            ),
        Row::new("rate-halving", || Box::new(RateHalving::to_half()))
            .source(
                "Dukkipati et al. 2011 section 3.2",
                "\"When cwnd is reduced, Linux sends data in response to alternate ACKs during \
                 recovery [...]\"",
            )
            .summary("one segment for two ACKs, and cwnd held at pipe + 1"),
        Row::new("rate-halving-to-ssthresh", || Box::new(RateHalving::to_ssthresh()))
            .file("rate_halving")
            .source(
                "Dukkipati et al. 2011 section 3.2; Linux",
                "Linux halves the rate down to ssthresh where the window law, as CUBIC, sets no \
                 lower limit of its own.",
            )
            .summary("as rate-halving, and halving stops at ssthresh, as Linux has it with CUBIC"),
    ]
}
