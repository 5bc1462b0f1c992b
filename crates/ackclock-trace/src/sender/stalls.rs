//! Stalls: times without progress longer than max(2 SRTT, RTO / 2), with the RTO not backed off.
//!
//! - *While something is outstanding*, progress is an ACK that acknowledges more. A stall lasts from one to the next, or from when the
//!   first byte went out; a SYN counts as a byte. What the sender did meanwhile tells the cause: its timer expired, it sent a tail
//!   loss probe, it sent something else again, or it only waited for an ACK that came late. Where only a byte is outstanding that asks
//!   for a closed window, the receiver is the cause.
//! - *While nothing is outstanding*, it is the sender's turn from when the last byte was acknowledged, or, if that is later, from
//!   when the other end's last data reached it; and until it sends something. What is longer is the receiver's doing if its window
//!   was closed or smaller than a segment meanwhile, and else the application's.
//!
//! So of an idle connection between a request and the next one only the client stalls, and while the server thinks only the server
//! does. Where both have something outstanding they may stall at once, so that who adds up must count such time once. Before the first
//! byte and after the last one is acknowledged nobody stalls.

use ackclock_tcp::{Span, Time};

use super::{Acked, Found, SenderModel};
use crate::connection::{Kind, Stall, StallCause};

#[derive(Debug)]
pub(super) struct Watch {
    /// A gap in the capture ended here.
    pub gap: Time,
    /// A SYN waits for its ACK.
    pub opening: bool,
    /// What is outstanding began with a byte that asks for a closed window (RFC 9293 section 3.8.6.1).
    pub probing: bool,
    /// The other end's data last reached this one.
    heard: Time,
    /// The smallest window offered since the last progress.
    least_window: u64,
    /// Probes with new data by the last progress.
    probes: u64,
    found: Vec<Waited>,
}

/// A stall whose cause the other findings will tell.
#[derive(Debug)]
struct Waited {
    start: Time,
    end: Time,
    frame: u64,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    /// Something was outstanding; a probe with new data went out if `probed`, and it waited for the window if `closed`.
    Outstanding {
        probed: bool,
        closed: bool,
    },
    Told(StallCause),
}

impl Watch {
    pub fn new() -> Watch {
        let (gap, heard) = (Time::ZERO, Time::ZERO);
        Watch { gap, opening: false, probing: false, heard, least_window: u64::MAX, probes: 0, found: Vec::new() }
    }
}

impl SenderModel {
    /// The other end acknowledges our SYN.
    pub(super) fn opened(&mut self, a: &Acked) {
        self.stall.opening = false;
        self.advanced(a);
    }

    /// The other end's data last reached this one at that time: until then it had nothing to answer.
    #[inline]
    pub fn heard(&mut self, at: Time) {
        self.stall.heard = at;
    }

    /// An ACK has been taken in.
    #[inline]
    pub(super) fn stall_note(&mut self, a: &Acked) {
        self.stall.least_window = self.stall.least_window.min(a.window);
    }

    /// Something goes out with nothing outstanding.
    pub(super) fn stall_idle(&mut self, at: Time, frame: u64) {
        // Before the first byte there is only something to wait for if the other end has sent something.
        if self.found.bytes == 0 && self.stall.heard == Time::ZERO {
            return;
        }
        let cause = match self.stall.least_window {
            0 => StallCause::ZeroWindow,
            window if window < u64::from(self.terms.mss) => StallCause::ReceiveWindow,
            _ => StallCause::Application,
        };
        let start = match cause {
            StallCause::Application => self.progress.max(self.stall.heard),
            _ => self.progress,
        };
        self.stall_found(start, at, frame, Cause::Told(cause));
    }

    /// `una` has moved.
    #[inline]
    pub(super) fn stall_over(&mut self, at: Time, frame: u64) {
        // The first round trip is what others are measured by, however long it is, unless something was sent again meanwhile.
        let measures = self.clock.srtt() == Span::ZERO && self.found.retransmissions.is_empty();
        if at.since(self.progress) > self.clock.quiet && !measures {
            let probed = self.found.probes_of_new_data > self.stall.probes;
            let closed = self.stall.probing;
            self.stall_found(self.progress, at, frame, Cause::Outstanding { probed, closed });
        }
        self.stall.probing = false;
        self.stall.probes = self.found.probes_of_new_data;
        self.stall.least_window = u64::MAX;
    }

    fn stall_found(&mut self, start: Time, end: Time, frame: u64, cause: Cause) {
        let least = self.clock.srtt().times(2).max(Span(self.clock.rto().0 / 2));
        if end.since(start) <= least {
            return;
        }
        let cause = if self.stall.gap > start { Cause::Told(StallCause::CaptureGap) } else { cause };
        self.stall.found.push(Waited { start, end, frame, cause });
    }

    /// At the end: names the causes.
    pub(super) fn settle_stalls(&mut self, end: Time) {
        if !self.out.is_empty() || self.stall.opening {
            self.stall_over(end, 0);
        }
        let waits = std::mem::take(&mut self.stall.found);
        self.found.stalls = waits.iter().map(|wait| wait.stall(&self.found)).collect();
    }
}

impl Waited {
    fn stall(&self, found: &Found) -> Stall {
        let Waited { start, end, frame, .. } = *self;
        let mut stall = Stall { start, end, frame, cause: StallCause::Unknown, timeout: None };
        let (probed, closed) = match self.cause {
            Cause::Told(cause) => return Stall { cause, ..stall },
            Cause::Outstanding { probed, closed } => (probed, closed),
        };
        let expired = found.timeouts.partition_point(|timeout| timeout.at <= end).checked_sub(1);
        if let Some((index, timeout)) = expired.and_then(|i| Some((i, found.timeouts.get(i)?)))
            && timeout.at > start
        {
            (stall.cause, stall.timeout) = (StallCause::Timeout(timeout.class), Some(index));
            return stall;
        }
        let first = found.retransmissions.partition_point(|r| r.at <= start);
        let mut sent = found.retransmissions.iter().skip(first).take_while(|r| r.at <= end).map(|r| r.kind).peekable();
        let any = sent.peek().is_some();
        stall.cause = if closed {
            StallCause::ZeroWindow
        } else if probed || sent.any(|kind| kind == Kind::TailLossProbe) {
            StallCause::TailLossProbe
        } else if any {
            StallCause::Recovery
        } else if frame > 0 {
            StallCause::Network
        } else {
            StallCause::Unknown
        };
        stall
    }
}
