//! The ACK clock: D. Lin and H. T. Kung, *TCP Fast Recovery Strategies: Analysis and Improvements*
//! (INFOCOM 1998), sections 6.1 to 6.3. It finds out that the retransmission of the first
//! unacknowledged segment was lost too.
//!
//! The clock goes on from the duplicates that began recovery. Each ACK within recovery is a tick,
//! and each retransmission one more, in place of the ACK that the segment it repeats never drew.
//! The first round trip takes W ticks, W being `snd_nxt - snd_una` when recovery begins, each later
//! one W/2. "If the clock shows one RTT has gone by and we have received three additional duplicate
//! ACKs since the end of the RTT", the retransmission is lost: in figure 4 at 40 = 3 + 34 + 3.
//!
//! Inferred:
//! - W/2 is ssthresh in whole segments, at least 2, and stays as it was when recovery began ("the
//!   reference congestion window is static", section 6.1).
//! - A round trip is counted from the positive ACK that made the segment the first one ("the
//!   ACK-clock value is recorded"), or from its last retransmission, whichever came later.
//! - The three additional ones are duplicates, as the text says, and not ticks: a retransmission
//!   after the round trip does not hasten them. In figure 4 both readings agree.
//!
//! Section 6.3: where more than half of the window is lost, no ACK releases anything, and the clock
//! stalls. "One marked new packet upon receiving the fifth and the seventh duplicate ACK" prevents
//! that. The ACK that it draws ends the first round trip, whatever the clock shows. Inferred:
//! - That ACK is not one of the three additional ones, just as the ACK that ends the round trip by
//!   the clock is none.
//! - Where the window releases a segment anyway there is nothing to prevent, and no marked segment
//!   is sent beside it.
//! - Any segment sent since recovery began is as good a marker as the marked ones ("as long as new
//!   packets are injected into the pipe, the returning SACK blocks can serve as non-ambiguous
//!   markers").
//! - The timestamp that has to be new for each retransmission comes from a clock in milliseconds,
//!   which does not advance for it. A marker of the millisecond in which recovery began is not
//!   recognised.
//!
//! "Without modifying the receiver" does not hold for the timestamps. RFC 7323 section 4.3 (and RFC
//! 1323 before it) has the receiver echo the segment that advanced its window, not the one that
//! arrived out of order. Such a receiver never returns the marker, and the clock runs as without.

use super::{DetectRetransmission, Tick};
use crate::event::Cause;
use crate::segment::Timestamps;
use crate::state::DUPTHRESH;
use crate::state::State;
use crate::summary::AckSummary;

/// How the sender knows the ACK of a marked segment.
#[derive(Clone, Copy)]
enum Marker {
    /// It echoes a timestamp from after recovery began.
    Timestamp,
    /// It SACKs data above the original window.
    Sack,
}

/// The duplicates on which a marked segment goes out (section 6.3).
const MARKS: [u32; 2] = [5, 7];

/// Times the retransmission of the first unacknowledged segment in ACKs.
#[derive(Default)]
pub struct Lrxt {
    marker: Option<Marker>,
    /// Ticks so far.
    clock: u64,
    /// What the clock shows when the round trip of the first unacknowledged segment's
    /// retransmission is over.
    over_at: u64,
    /// Duplicates since then.
    additional: u32,
    /// A round trip in ticks: the present one, and one after the first.
    round_trip: u64,
    later_round_trip: u64,
    /// How often the first unacknowledged segment was sent when that round trip began.
    transmissions: u16,
    /// The round trip is that of the first retransmission.
    first: bool,
    /// The timestamp when recovery began.
    entered: u32,
}

impl Lrxt {
    /// Section 6.3 with timestamps.
    pub fn marked_by_timestamps() -> Lrxt {
        Lrxt { marker: Some(Marker::Timestamp), ..Lrxt::default() }
    }

    /// Section 6.3 with SACK.
    pub fn marked_by_sack() -> Lrxt {
        Lrxt { marker: Some(Marker::Sack), ..Lrxt::default() }
    }

    fn begin_round_trip(&mut self, s: &State) {
        self.over_at = self.clock.saturating_add(self.round_trip);
        self.additional = 0;
        self.transmissions = s.board.head().map_or(0, |r| r.transmissions);
    }

    fn is_marked(&self, s: &State, a: &AckSummary) -> bool {
        match self.marker {
            Some(Marker::Timestamp) => {
                a.ts_echo.is_some_and(|ecr| Timestamps::is_older(self.entered, ecr))
            }
            Some(Marker::Sack) => a.sacked_to > s.recover,
            None => false,
        }
    }
}

impl DetectRetransmission for Lrxt {
    fn name(&self) -> &'static str {
        "lrxt"
    }

    fn on_enter(&mut self, s: &State) {
        self.clock = u64::from(s.dupacks);
        self.round_trip = (s.snd_nxt - s.snd_una).div_ceil(s.mss);
        self.later_round_trip = (s.ssthresh / s.mss).max(2);
        self.first = true;
        self.entered = s.now.timestamp();
        self.begin_round_trip(s);
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Tick {
        if a.newly_acked == 0 && !a.duplicate {
            return Tick::Nothing;
        }
        let over = self.clock >= self.over_at;
        self.clock += 1;
        if a.newly_acked > 0 {
            self.first = false;
            self.round_trip = self.later_round_trip;
            self.begin_round_trip(s);
            return Tick::Nothing;
        }
        if over {
            self.additional += 1;
            if self.additional < DUPTHRESH {
                return Tick::Nothing;
            }
            self.round_trip = self.later_round_trip;
            return Tick::Lost;
        }
        if self.first && self.is_marked(s, a) {
            self.clock = self.over_at;
            return Tick::RoundTrip;
        }
        let mark = self.first && self.marker.is_some() && MARKS.contains(&s.dupacks);
        if mark { Tick::Mark } else { Tick::Nothing }
    }

    fn on_transmit(&mut self, s: &State, cause: Cause) {
        if s.board.head().is_some_and(|r| r.transmissions != self.transmissions) {
            self.first &= cause == Cause::FastRetransmit;
            self.begin_round_trip(s);
        }
        let again = matches!(cause, Cause::FastRetransmit | Cause::Recovery);
        self.clock += u64::from(again);
    }
}
