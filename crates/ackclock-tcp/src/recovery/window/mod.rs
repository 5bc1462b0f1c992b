//! The window law: growth, and the target after a loss.

mod abc;
mod abe;
mod bbr;
mod bbr3;
pub mod by_rate;
mod cubic;
mod dctcp;
#[cfg(test)]
mod fixture;
mod half_window;
mod hystart;
mod linux;
mod linux_cubic;
mod linux_reno;
mod reno_window;
mod tolerant_start;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::recovery::row;
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::Span;

use by_rate::ByRate;

pub use abc::Abc;
pub use abe::Abe;
pub use bbr::Bbr;
pub use bbr3::Bbr3;
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use half_window::HalfWindow;
pub use hystart::HyStart;
pub use linux_cubic::LinuxCubic;
pub use linux_reno::LinuxReno;
pub use reno_window::RenoWindow;
pub use tolerant_start::TolerantStart;

pub(super) use reno_window::half;

#[cfg(test)]
pub(crate) use cubic::cube_root;

/// New values of both windows, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// New ssthresh.
    pub ssthresh: u64,
    /// New cwnd.
    pub cwnd: u64,
}

impl Windows {
    /// Both as they are.
    pub fn unchanged(s: &State) -> Windows {
        Windows { ssthresh: s.ssthresh, cwnd: s.cwnd }
    }
}

/// The window law: growth, and the target after a loss. Each method that returns a number returns
/// bytes.
pub trait Window: Send {
    /// The law that this one wraps.
    fn inner(&self) -> Option<&dyn Window> {
        None
    }

    /// The same, to be changed.
    fn inner_mut(&mut self) -> Option<&mut dyn Window> {
        None
    }

    /// IW in bytes, where the configuration names none: the most that RFC 6928 section 2 allows,
    /// `min (10*MSS, max (2*MSS, 14600))`. Ten segments up to an MSS of 1460 bytes, two from 7300
    /// bytes on. It is a question for the window law: hosts differ, and Linux sends ten of any
    /// size.
    fn initial(&self, mss: u64) -> u64 {
        self.inner().map_or_else(|| (10 * mss).min((2 * mss).max(14_600)), |law| law.initial(mss))
    }

    /// Whether both windows are numbers of segments, as in Linux: where SMSS changes, they keep
    /// those and not their bytes.
    fn counts_segments(&self) -> bool {
        self.inner().is_some_and(|law| law.counts_segments())
    }

    /// Whether Nagle's algorithm holds a short segment back only while another short one is
    /// outstanding, as in Linux (`tcp_minshall_check`), and not while any is (RFC 9293 section
    /// 3.7.4).
    fn waits_for_short(&self) -> bool {
        self.inner().is_some_and(|law| law.waits_for_short())
    }

    /// Payload bytes of a full segment, at most `mss`, where the receiver never offered more
    /// than `max_window` bytes.
    fn segment(&self, mss: u64, max_window: u64) -> u64 {
        self.inner().map_or(mss, |law| law.segment(mss, max_window))
    }

    /// The new cwnd after an ACK that advanced `snd_una` outside recovery.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64;

    /// Whether an ACK lets cwnd grow only once detection has judged, and not if it begins a
    /// recovery; and also if it ends one. Linux's laws do (`tcp_cong_control`), and are asked on
    /// ACKs that do not advance as well.
    fn after_detection(&self) -> bool {
        self.inner().is_some_and(|law| law.after_detection())
    }

    /// An ACK arrived, in whatever phase: the law measures (`cubictcp_acked`). Returns ssthresh if
    /// that changes.
    fn on_measured(&mut self, s: &State, a: &AckSummary) -> Option<u64> {
        self.inner_mut().and_then(|law| law.on_measured(s, a))
    }

    /// Whether [`on_measured`](Self::on_measured), [`on_sent`](Self::on_sent) and
    /// [`on_start`](Self::on_start) want to be called. Linux's laws measure and validate; the
    /// others do not, and a call for each segment costs more than what they do.
    fn measures(&self) -> bool {
        self.inner().is_some_and(|law| law.measures())
    }

    /// New data was sent, or cwnd holds it back. `in_flight` is what counts against cwnd now, `rto`
    /// the timeout interval. A law that validates cwnd keeps whether it is used, and may lower it
    /// (`tcp_cwnd_validate`).
    fn on_sent(&mut self, s: &State, in_flight: u64, rto: Span) -> Option<Windows> {
        self.inner_mut().and_then(|law| law.on_sent(s, in_flight, rto))
    }

    /// Data is sent with none in the network; the last was sent this long ago. Linux's CUBIC stops
    /// its clock meanwhile (`CA_EVENT_TX_START`).
    fn on_start(&mut self, s: &State, idle: Span) {
        if let Some(inner) = self.inner_mut() {
            inner.on_start(s, idle);
        }
    }

    /// Data may be sent again, with nothing outstanding and none sent for longer than the timeout
    /// interval `rto`: the application writes, or the receiver's window changes. RFC 5681 section
    /// 4.1: cwnd is at most the initial window.
    fn on_idle(&mut self, s: &State, idle: Span, rto: Span) -> Windows {
        match self.inner_mut() {
            Some(inner) => inner.on_idle(s, idle, rto),
            None => Windows { cwnd: s.cwnd.min(s.initial_window), ..Windows::unchanged(s) },
        }
    }

    /// The new ssthresh when recovery begins with `flight` bytes outstanding (limited transmit's
    /// excluded).
    fn on_loss(&mut self, s: &State, flight: u64) -> u64;

    /// The new ssthresh when an ECN-Echo asks for a reduction with `flight` bytes outstanding
    /// before that ACK. RFC 3168 section 6.1.2: as for a loss.
    fn on_ecn(&mut self, s: &State, flight: u64) -> u64 {
        match self.inner_mut() {
            Some(inner) => inner.on_ecn(s, flight),
            None => self.on_loss(s, flight),
        }
    }

    /// beta_ecn of RFC 8511 section 3.1, in percent: what [`Abe`] leaves of the flight for a mark.
    /// 80, and 85 for CUBIC.
    fn beta_ecn(&self) -> u64 {
        self.inner().map_or(80, |law| law.beta_ecn())
    }

    /// The new ssthresh on a timeout with `flight` bytes outstanding; `repeated` if the segment
    /// timed out before.
    fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64;

    /// A recovery of the go-back kind (Tahoe's) begins a slow start. Only `abc` grows otherwise in
    /// it than in the first one.
    fn on_go_back(&mut self, s: &State) {
        if let Some(inner) = self.inner_mut() {
            inner.on_go_back(s);
        }
    }

    /// What was too big for the path goes again, in the state of a timeout. Linux's CUBIC begins
    /// anew as after one (`cubictcp_state`), though neither window changes.
    fn on_too_big(&mut self, s: &State) {
        if let Some(inner) = self.inner_mut() {
            inner.on_too_big(s);
        }
    }

    /// Asked after each [`on_ack`](Self::on_ack) in slow start: whether it ends here, with ssthresh
    /// = cwnd. This is `hystart` (RFC 9406 section 4.2): only the connection sets ssthresh.
    fn ends_slow_start(&self, s: &State) -> bool {
        self.inner().is_some_and(|law| law.ends_slow_start(s))
    }

    /// The rate at which segments are to leave, in bytes a second, where this law sets one
    /// (`sk_pacing_rate`). It counts if the strategy paces.
    fn pacing_rate(&self, s: &State) -> Option<u64> {
        self.inner().and_then(|law| law.pacing_rate(s))
    }

    /// The law itself, if it goes by the rate of delivery and sets cwnd on every ACK.
    fn by_rate(&mut self) -> Option<&mut dyn ByRate> {
        self.inner_mut().and_then(|law| law.by_rate())
    }

    /// The loss response was spurious, and the connection has restored cwnd and ssthresh. It is the
    /// one that began when no loss was being repaired, or the first since the last undo. `cubic`
    /// restores its curve (RFC 9438 section 4.9).
    fn on_undo(&mut self, s: &State) {
        if let Some(inner) = self.inner_mut() {
            inner.on_undo(s);
        }
    }
}

type Row = row::Row<dyn Window>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("reno-window", || Box::new(RenoWindow))
            .source(
                "RFC 5681 section 3.1",
                "\"During slow start, a TCP increments cwnd by at most SMSS bytes [...]. During \
                 congestion avoidance, cwnd is incremented by roughly 1 full-sized segment per \
                 round-trip time (RTT).\"",
            )
            .summary("slow start, additive increase per ACK, half the flight after a loss"),
        Row::new("abc", || Box::new(Abc::default()))
            .source(
                "RFC 3465 section 2",
                "\"[...] a TCP sender SHOULD increase cwnd by the number of previously \
                 unacknowledged bytes ACKed by each incoming acknowledgment, provided the \
                 increase is not more than L bytes.\"",
            )
            .summary("as reno-window, with the increase counted in bytes acknowledged (L = 2)"),
        Row::new("half-window", || Box::new(HalfWindow))
            .source(
                "Wright & Stevens 1995 section 29.4",
                "On a loss ssthresh becomes half of the smaller of cwnd and the offered window, in \
                 whole segments, at least two.",
            )
            .summary("as reno-window, but a loss halves min(cwnd, rwnd), and every timeout does"),
        Row::new("cubic", || Box::new(Cubic::default()))
            .source(
                "RFC 9438 section 4",
                "In congestion avoidance cwnd is a cubic function of the time since the last \
                 loss, with its plateau at the window before it.",
            )
            .summary(
                "a cubic curve over time, at least as fast as Reno; a loss leaves 0.7 of the \
                 flight",
            ),
        Row::new("linux-cubic", || Box::new(LinuxCubic::default()))
            .source(
                "Linux tcp_cubic.c, bictcp_update and hystart_update; tcp_cong.c",
                "CUBIC in whole segments and ticks of the clock, with HyStart, and from cwnd and \
                 not from FlightSize.",
            )
            .summary("as cubic, in integers and with HyStart, as Linux has it"),
        Row::new("linux-reno", || Box::new(LinuxReno::default()))
            .source(
                "Linux tcp_cong.c, tcp_reno_cong_avoid",
                "Slow start and congestion avoidance grow by what was delivered, and a loss halves \
                 cwnd.",
            )
            .summary("as reno-window, in whole segments and from cwnd, as Linux has it"),
        Row::new("bbr-window", || Box::new(Bbr::default()))
            .file("bbr")
            .source(
                "Linux tcp_bbr.c, bbr_main; Cardwell et al. 2016",
                "cwnd and pacing go by the largest delivery rate of ten rounds and the least round \
                 trip of ten seconds, and not by loss.",
            )
            .summary("BBR version 1: cwnd and pacing by delivery rate and least round trip"),
        Row::new("bbr3-window", || Box::new(Bbr3::default()))
            .file("bbr3")
            .source(
                "draft-ietf-ccwg-bbr-06 section 5",
                "As version 1, with bounds on rate and volume that losses set, and probes for \
                 bandwidth that end at 2 % of loss.",
            )
            .summary(
                "BBR version 3: as bbr-window, but losses bound how much is in flight, and probes \
                 are further apart",
            ),
        Row::around("hystart", |inner| Box::new(HyStart::new(inner)))
            .source(
                "RFC 9406 section 4",
                "Slow start goes on more slowly once the round-trip time has risen, and ends if \
                 it stays up for five rounds.",
            )
            .summary(
                "HyStart++ around the law named before it: slow start ends when the round-trip \
                 time rises",
            ),
        Row::around("abe", |inner| Box::new(Abe::new(inner)))
            .source(
                "RFC 8511 section 3",
                "A packet with ECN-Echo sets ssthresh to 0.8 times FlightSize, and to no less than \
                 two segments.",
            )
            .summary(
                "Alternative Backoff with ECN around the law named before it: a mark in congestion \
                 avoidance leaves 0.8 of the flight, with CUBIC 0.85",
            ),
        Row::around("dctcp", |inner| Box::new(Dctcp::new(inner)))
            .source(
                "RFC 8257 section 3.3",
                "cwnd = cwnd * (1 - DCTCP.Alpha / 2), where DCTCP.Alpha estimates the fraction of \
                 bytes that were marked.",
            )
            .summary(
                "Data Center TCP around the law named before it: marks lower the window by the \
                 fraction of bytes that were marked",
            ),
        Row::around("tolerant-start", |inner| Box::new(TolerantStart::new(inner)))
            .source(
                "draft-ietf-ccwg-bbr-06, Exiting Startup Based on Packet Loss; own around other laws",
                "Startup ends for losses if six or more of a round trip, and more than 2 % of it, \
                 were lost.",
            )
            .summary(
                "added to the law named before it: the first slow start goes on through up to five \
                 losses, or 2 %, at a time",
            ),
    ]
}
