//! F-RTO (RFC 5682): after a timeout only the first segment is retransmitted. If the ACK that
//! follows advances, two new segments are sent. If the next ACK answers originals, the timeout was
//! spurious. Section 2.1 without SACK, section 3.1 with it.
//!
//! Departures: it is never entered while a recovery is under way, not even NewReno's: an undo would
//! restore what that recovery lowered. With SACK, an ACK of only part of what was retransmitted
//! ends it (step 2a of section 2.1), and a duplicate without SACK news is none (RFC 6675 section
//! 2). "No more than 3 * MSS" (step 3a) is what the slow start has reached, two segments. What
//! follows is the connection's undo, as with Eifel detection.

use super::{Undo, Verdict};
use crate::state::{Phase, State};
use crate::summary::AckSummary;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Step {
    /// Not entered, or left.
    #[default]
    Off,
    /// Step 2: waiting for the first ACK.
    First,
    /// Step 3: new segments were sent, waiting for the second.
    Second,
}

/// Judges a timeout by the two ACKs that follow it.
#[derive(Default)]
pub struct FRto {
    step: Step,
    /// Position after what the timeout retransmitted.
    retransmitted: u64,
}

impl FRto {
    /// Step 2 for an ACK that advances.
    fn first(&mut self, s: &State, a: &AckSummary) -> Verdict {
        // 2a: "covers recover", or does not cover what was retransmitted; and 2b: nothing new can
        // be sent.
        if a.ack >= s.recover || a.ack < self.retransmitted || s.new_len().is_none() {
            return Verdict::Open;
        }
        self.step = Step::Second;
        Verdict::SendNew
    }
}

impl Undo for FRto {
    fn name(&self) -> &'static str {
        "f-rto"
    }

    fn on_response(&mut self, s: &State, timeout: bool) {
        // Step 1: not within an earlier RTO recovery, unless the timer expires again for the same
        // segment. With SACK not below an earlier recovery's point either, which Reno
        // leaves behind unrepaired.
        let first = s.phase == Phase::Open && (!s.sack || s.recover <= s.snd_una);
        let again = s.phase == Phase::Loss && self.step == Step::First;
        self.step = if timeout && (first || again) { Step::First } else { Step::Off };
        self.retransmitted = s.snd_una;
    }

    fn on_retransmit(&mut self, _s: &State, seq: u64, len: u32) {
        if self.step == Step::First {
            self.retransmitted = self.retransmitted.max(seq + u64::from(len));
        }
    }

    fn skips_plain_acks(&self) -> bool {
        self.step == Step::Off
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Verdict {
        let advances = a.newly_acked > 0;
        // "The TCP sender SHOULD ignore such segments": neither new data acknowledged nor a
        // duplicate.
        if self.step == Step::Off || !(advances || a.duplicate) {
            return Verdict::Open;
        }
        // Section 3.1 step 2: with SACK, duplicates are waited through.
        if self.step == Step::First && !advances && s.sack {
            return Verdict::Open;
        }
        let step = core::mem::take(&mut self.step);
        // Another mechanism may have undone the timeout.
        if s.phase != Phase::Loss {
            return Verdict::Open;
        }
        match step {
            Step::First if advances => self.first(s, a),
            Step::Second if s.sack => {
                // Section 3.1 step 3.
                let beyond = a.ack > s.recover || a.sacked_to > s.recover;
                if beyond { Verdict::Needed } else { Verdict::Spurious }
            }
            Step::Second if advances => Verdict::Spurious,
            Step::Second => Verdict::Needed,
            Step::First | Step::Off => Verdict::Open,
        }
    }
}
