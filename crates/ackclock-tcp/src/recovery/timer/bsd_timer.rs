//! The coarse timer of BSD (Wright & Stevens 1995, sections 25.9 and 25.10), which Lin & Kung
//! section 3 assumes: everything is counted in ticks of 500 ms, whose phase differs from host to
//! host.

use super::{Estimates, Timer};
use crate::event::Cause;
use crate::state::State;
use crate::time::{Span, Time};

/// The slow timer's interval.
const TICK: Span = Span::from_millis(500);

/// The timer of 4.4BSD.
#[derive(Default)]
pub struct BsdTimer {
    /// Smoothed round trip in ticks, scaled by 8; 0 before the first sample.
    srtt: u64,
    /// Mean deviation in ticks, scaled by 4.
    rttvar: u64,
    next_sample: u64,
}

impl Timer for BsdTimer {
    fn on_sample(&mut self, s: &State, sent: Time) -> Option<Estimates> {
        if s.snd_una < self.next_sample {
            return None;
        }
        self.next_sample = s.snd_max + 1;
        let rtt = s.now.ticks(TICK, s.tick_phase) - sent.ticks(TICK, s.tick_phase);
        if self.srtt == 0 {
            // t_rtt starts at 1 and is the number of ticks plus one, so that an RTT below a tick is
            // not zero.
            self.srtt = (rtt + 1) << 3;
            self.rttvar = (rtt + 1) << 1;
            return Some(self.estimates());
        }
        let delta = rtt as i64 - (self.srtt >> 3) as i64;
        self.srtt = (self.srtt as i64 + delta).max(1) as u64;
        let deviation = delta.abs() - (self.rttvar >> 2) as i64;
        self.rttvar = (self.rttvar as i64 + deviation).max(1) as u64;
        Some(self.estimates())
    }

    fn rto(&self) -> Span {
        if self.srtt == 0 {
            // 3 s mean, 24 ticks of variance scaled by 4: 6 s (TCPTV_SRTTDFLT).
            return Span::from_secs(6);
        }
        TICK.times((self.srtt >> 3) + self.rttvar)
    }

    fn srtt(&self) -> Span {
        TICK.times(self.srtt >> 3)
    }

    fn rttvar(&self) -> Span {
        Span(TICK.times(self.rttvar).0 / 4)
    }

    fn retime(&mut self, srtt: Span, rttvar: Span) {
        self.srtt = srtt.0.div_ceil(TICK.0) << 3;
        self.rttvar = rttvar.times(4).0.div_ceil(TICK.0);
    }

    fn min_rto(&self) -> Span {
        TICK.times(2)
    }

    /// `TCPTV_REXMTMAX`.
    fn max_rto(&self) -> Span {
        Span::from_secs(64)
    }

    fn restarts_on(&self, cause: Cause, _replaces_lost: bool) -> bool {
        cause == Cause::FastRetransmit
    }

    fn expiry(&self, s: &State, rto: Span) -> Time {
        // The counter falls by one at each tick, the first of which may come at once.
        let count = rto.0.div_ceil(TICK.0);
        s.now.next_tick(TICK, s.tick_phase) + TICK.times(count - 1)
    }
}
