//! Stalls: no progress for longer than max(2 SRTT, RTO / 2). Progress is an ACK that advances, or the first data after nothing was
//! outstanding.

use ackclock_tcp::{Span, Time};

use super::SenderModel;
use crate::connection::{Kind, Stall, StallCause};

#[derive(Debug, Default)]
pub(super) struct Watch {
    /// A gap in the capture ended here.
    pub gap: Time,
    /// When the other end last sent data: until then this one had nothing to answer.
    pub asked: Time,
}

impl SenderModel {
    fn is_stall(&self, span: Span) -> bool {
        span > self.clock.srtt().times(2).max(Span(self.clock.rto().0 / 2))
    }

    /// Something goes out after nothing was outstanding.
    #[inline]
    pub(super) fn stall_idle(&mut self, at: Time, frame: u64) {
        let start = self.progress.max(self.stall.asked);
        if self.is_stall(at.since(start)) && (self.found.bytes > 0 || self.stall.asked > Time::ZERO) {
            self.stall(start, at, frame, StallCause::Application);
        }
    }

    /// An ACK advances.
    #[inline]
    pub(super) fn stall_over(&mut self, at: Time, frame: u64) {
        if self.is_stall(at.since(self.progress)) && self.found.bytes > 0 {
            self.stall(self.progress, at, frame, StallCause::Network);
        }
    }

    /// What else it was than `cause` is decided as far as it can be now; what was sent again in it tells the rest at the end.
    #[cold]
    fn stall(&mut self, start: Time, end: Time, frame: u64, cause: StallCause) {
        let cause = match () {
            () if self.stall.gap > start => StallCause::CaptureGap,
            () if self.window == 0 => StallCause::ZeroWindow,
            () if self.max - self.una + u64::from(self.terms.mss) > self.window => StallCause::ReceiveWindow,
            () => cause,
        };
        self.found.stalls.push(Stall { start, end, frame, cause, timeout: None });
    }

    /// At the end of the connection, or of what was seen of it.
    pub(super) fn settle_stalls(&mut self, end: Time) {
        if !self.out.is_empty() {
            self.stall_over(end, 0);
        }
        for stall in &mut self.found.stalls {
            let within = |at: Time| stall.start < at && at <= stall.end;
            let from = self.found.retransmissions.partition_point(|r| r.at <= stall.start);
            let mut kinds = self.found.retransmissions.iter().skip(from).take_while(|r| within(r.at)).map(|r| r.kind);
            if let Some(index) = self.found.timeouts.iter().position(|t| within(t.at)) {
                stall.cause = StallCause::Timeout(self.found.timeouts[index].class);
                stall.timeout = Some(index);
            } else if let Some(kind) = kinds.next() {
                stall.cause = match kind {
                    Kind::TailLossProbe => StallCause::TailLossProbe,
                    Kind::FastRetransmit | Kind::Recovery | Kind::SlowStart => StallCause::Recovery,
                    _ => stall.cause,
                };
            }
        }
    }
}
