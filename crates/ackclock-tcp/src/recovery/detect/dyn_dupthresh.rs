//! A duplicate threshold that adapts to reordering, as Linux has it: Dukkipati et al. 2011 table 4,
//! "Dynamic *dupthresh*: always on". The paper says only that "Linux already detects reordering
//! based on SACK" (section 6), and that then "the loss detection falls back to use conventional
//! *dupthresh*" (section 3.2). The rest is inferred from what Linux is known to do:
//!
//! - A segment came late if its first transmission arrives after data above it was SACKed. If the
//!   segment was retransmitted meanwhile, only a timestamp shows which transmission arrived (RFC
//!   3522).
//! - It came late by the number of segments from it up to the highest SACKed one. DupThresh becomes
//!   one more than the duplicates which that draws, so that reordering of the same extent begins no
//!   recovery again. It only grows, up to 127 (`TCP_MAX_REORDERING`).
//! - A timeout sets it back to three (`tcp_enter_loss`): it may be the price of too high a
//!   threshold.
//!
//! RFC 4653 has another answer to reordering: it holds the threshold at about a window of data,
//! whatever was seen.
//!
//! The threshold is the one of `dupack`, `is-lost` and `fack`; `rack` has its own answer. Without
//! SACK it learns nothing.

use alloc::boxed::Box;

use super::{Detect, Lost};
use crate::recovery::wraps;
use crate::scoreboard::Record;
use crate::segment::Timestamps;
use crate::state::DUPTHRESH;
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::Time;

/// TCP_MAX_REORDERING.
const MAX: u32 = 127;

/// Any detection, with a threshold that grows with the reordering seen.
pub struct DynamicDupthresh {
    inner: Box<dyn Detect>,
    dupthresh: u32,
    /// Position after the highest SACKed byte, as the ACKs before this one left it.
    fack: u64,
    /// The most bytes by which this ACK showed a segment late that was sent once.
    late: u64,
    /// The same for the first retransmitted segment that the ACK reports, with its end and when it
    /// was last sent. If it is acknowledged cumulatively, this is the lowest one, whose timestamp
    /// the ACK echoes (RFC 7323 section 4.3). Of one that is SACKed above a hole the echo says
    /// nothing.
    late_or_again: Option<(u64, u64, Time)>,
}

impl DynamicDupthresh {
    /// Around this detection.
    pub fn new(inner: Box<dyn Detect>) -> DynamicDupthresh {
        DynamicDupthresh { inner, dupthresh: DUPTHRESH, fack: 0, late: 0, late_or_again: None }
    }
}

impl Detect for DynamicDupthresh {
    wraps!(self.inner: Detect; on_ack);

    fn watches_deliveries(&self) -> bool {
        true
    }

    fn on_delivered(&mut self, r: &Record, now: Time) {
        if r.end() < self.fack {
            let late = self.fack - r.seq;
            if r.transmissions == 1 {
                self.late = self.late.max(late);
            } else {
                self.late_or_again.get_or_insert((late, r.end(), r.last_sent));
            }
        }
        self.inner.on_delivered(r, now);
    }

    fn dupthresh(&mut self, s: &State, a: &AckSummary) -> u32 {
        let mut late = core::mem::take(&mut self.late);
        if let (Some((bytes, end, sent)), Some(echo)) = (self.late_or_again.take(), a.ts_echo)
            && end <= a.ack
            && Timestamps::is_older(echo, sent.timestamp())
        {
            late = late.max(bytes);
        }
        self.fack = s.board.highest_sacked();
        let segments = late.div_ceil(s.mss).min(MAX.into()) as u32;
        self.dupthresh = self.dupthresh.max(segments);
        self.dupthresh
    }

    fn on_timeout(&mut self, s: &State) -> Time {
        // What was SACKed may be forgotten (RFC 2018 section 8).
        (self.dupthresh, self.fack) = (DUPTHRESH, 0);
        self.inner.on_timeout(s)
    }
}
