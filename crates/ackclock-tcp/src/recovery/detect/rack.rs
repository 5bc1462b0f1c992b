//! RACK: RFC 8985 section 6. Names are those of section 5.
//!
//! - Section 6.2 step 1 leaves the window of the filtered min_RTT open: here it is 5 minutes
//!   (inferred; Linux's `tcp_min_rtt_wlen`).
//! - The echoed timestamp "indicates the ACK was not acknowledging the last retransmission"
//!   (section 6.2 step 2) only of what is acknowledged cumulatively. An ACK with a SACK of
//!   something above a hole echoes the last segment in order (RFC 7323 section 4.3). The pseudocode
//!   compares it all the same. So by the pseudocode a retransmission above a hole is never taken
//!   for delivered, and a retransmission lost below that hole waits for the timeout. Linux compares
//!   it only for what is acknowledged cumulatively, too (`tcp_skb_spurious_retrans`).
//! - `reo_wnd_persist` has no initial value in the text, and needs none: `reo_wnd_mult` is 1 until
//!   it is set.
//! - A timeout may expunge SACK information (RFC 2018 section 8). What is SACKed anew would then
//!   look reordered, so RACK.fack starts anew too.
//! - Section 8 would cancel the retransmission timer while the reordering timer runs. Here it runs
//!   on from the last new acknowledgment. So it may expire first, as where a retransmission is lost
//!   and the RTO is less than twice a round trip and the reordering window. (Set anew with the
//!   reordering timer, and when that expired, it made the timeouts of other losses late: with all
//!   fates of a window of four, transfers took 0.03 s longer in the mean.)
//! - Section 6.1's per-segment variables are the scoreboard's: INFINITE_TS is "lost and not on its
//!   way".

use alloc::vec::Vec;
use core::mem::take;

use super::{Detect, Lost, MinRtt, Sent, keep_later, standing};
use crate::scoreboard::Record;
use crate::segment::Timestamps;
use crate::state::DUPTHRESH;
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// Recoveries without a D-SACK after which the reordering window shrinks again
/// (RACK_update_reo_wnd).
const PERSIST: u8 = 16;

/// Judges a segment by the delivery of one sent later, and by time. What every ACK touches stands
/// last, together.
#[derive(Default)]
#[repr(C)]
pub struct Rack {
    /// Of what this ACK newly delivered, the one sent last among those sent once, and all that
    /// were sent more often.
    newest: Option<Sent>,
    again: Vec<Sent>,
    reo_wnd: Span,
    /// RACK.reo_wnd_mult less 1.
    dsack_rounds: u64,
    deadline: Option<Time>,
    dsack_round: Option<u64>,
    /// Recovery point of the last recovery whose end has been counted.
    recovered: u64,
    /// RACK.xmit_ts and RACK.end_seq.
    segment: Sent,
    rtt: Span,
    /// RACK.fack as the ACKs before this one left it.
    fack: u64,
    min_rtt: MinRtt,
    reo_wnd_persist: u8,
    reordering_seen: bool,
    /// The window is that of the ACK before a plain one, whose own is worked out when a timeout
    /// asks for it.
    stale: bool,
}

impl Rack {
    /// Step 2, RACK_update. Of the ACK's valid segments the one sent last gives RACK.rtt, whether
    /// or not it is RACK.segment.
    fn update(&mut self, s: &State, a: &AckSummary) {
        let mut newest = self.newest.take();
        if !self.again.is_empty() {
            newest = newest.max(self.newest_again(s, a));
        }
        if let Some(newest) = newest {
            self.advance(s, newest);
        }
    }

    #[inline(always)]
    fn advance(&mut self, s: &State, newest: Sent) {
        self.rtt = s.now.since(newest.0);
        keep_later(&mut self.segment, newest);
    }

    /// Of the valid ones among those that were sent more often, the one sent last.
    #[inline(never)]
    fn newest_again(&mut self, s: &State, a: &AckSummary) -> Option<Sent> {
        let min_rtt = self.min_rtt.get();
        let valid = |&(sent, end): &Sent| {
            let older = a.ts_echo.is_some_and(|echo| Timestamps::is_older(echo, sent.timestamp()))
                && end <= a.ack;
            let too_soon = min_rtt.is_some_and(|min| s.now.since(sent) < min);
            !older && !too_soon
        };
        self.again.drain(..).filter(valid).max()
    }

    /// Step 4, the first half of RACK_update_reo_wnd: the multiplier.
    #[inline(always)]
    fn adapt(&mut self, s: &State, a: &AckSummary) {
        let exiting = !s.recovering() && s.recover > self.recovered;
        if exiting {
            self.recovered = s.recover;
        }
        if self.dsack_round.is_some_and(|round| s.snd_una >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() && a.dsack.is_some() {
            self.dsack_round = Some(s.snd_max);
            self.dsack_rounds += 1;
            self.reo_wnd_persist = PERSIST;
        } else if exiting {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.dsack_rounds = 0;
            }
        }
    }

    /// The second half: the window.
    #[inline(always)]
    fn window(&self, s: &State) -> Span {
        let dupthresh_sacked = s.board.sacked_segments() >= DUPTHRESH;
        if !self.reordering_seen && (s.recovering() || dupthresh_sacked) {
            return Span::ZERO;
        }
        let quarter = Span(self.min_rtt.get().unwrap_or(Span::ZERO).0 / 4);
        quarter.times(self.dsack_rounds + 1).min(s.srtt)
    }

    /// Step 5, RACK_detect_loss_and_arm_timer.
    #[inline(always)]
    fn detect(&mut self, s: &State) -> Lost {
        (self.reo_wnd, self.stale) = (self.window(s), false);
        self.deadline = None;
        // Almost always nothing outstanding was sent before what was delivered.
        match s.board.sent_before(self.segment, 0) {
            Some(first) => self.judge(s, first),
            None => standing(s),
        }
    }

    #[inline(never)]
    fn judge(&mut self, s: &State, first: (usize, &Record)) -> Lost {
        let wait = self.rtt + self.reo_wnd;
        let (mut lost, mut next) = (false, Some(first));
        while let Some((index, r)) = next {
            if r.last_sent + wait <= s.now {
                lost = true;
            } else {
                self.deadline = self.deadline.max(Some(r.last_sent + wait));
            }
            next = s.board.sent_before(self.segment, index + 1);
        }
        if lost {
            let expired =
                s.now.0.checked_sub(wait.0).map_or((Time::ZERO, 0), |by| (Time(by), u64::MAX));
            let (time, end) = expired.min((self.segment.0, self.segment.1.saturating_sub(1)));
            Lost::SentBefore(time, end)
        } else {
            standing(s)
        }
    }
}

impl Detect for Rack {
    fn name(&self) -> &'static str {
        "rack"
    }

    fn watches_deliveries(&self) -> bool {
        true
    }

    fn on_delivered(&mut self, r: &Record, _now: Time) {
        let again = r.transmissions > 1;
        // Step 3. In the order of RACK_detect_reordering no segment of this ACK raises RACK.fack
        // above a lower one.
        self.reordering_seen |= r.end() < self.fack && !again;
        let sent = (r.last_sent, r.end());
        if again {
            self.again.push(sent);
        } else {
            self.newest = Some(self.newest.map_or(sent, |newest| newest.max(sent)));
        }
    }

    fn on_handshake(&mut self, rtt: Span) {
        self.min_rtt.sample(rtt, Time::ZERO);
    }

    fn observe(&mut self, s: &State, a: &AckSummary) {
        if let Some(rtt) = a.rtt {
            self.min_rtt.sample(rtt, s.now);
        }
        self.update(s, a);
        self.fack = self.fack.max(s.snd_una).max(s.board.highest_sacked());
    }

    fn sums_plain_acks(&self) -> bool {
        true
    }

    fn on_plain_ack(&mut self, s: &State, a: &AckSummary) -> bool {
        let (Some((_, first_end)), Some(last_sent)) = (a.original, a.last_sent) else {
            return false;
        };
        if let Some(rtt) = a.rtt {
            self.min_rtt.sample(rtt, s.now);
        }
        self.reordering_seen |= first_end < self.fack;
        self.advance(s, (last_sent, a.ack));
        self.fack = self.fack.max(s.snd_una);
        if s.board.sent_before(self.segment, 0).is_some() {
            return false;
        }
        self.adapt(s, a);
        (self.stale, self.deadline) = (true, None);
        true
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        self.adapt(s, a);
        self.detect(s)
    }

    fn deadline(&self) -> Time {
        self.deadline.unwrap_or(Time::NEVER)
    }

    fn on_deadline(&mut self, s: &State) -> Lost {
        self.detect(s)
    }

    /// Section 6.3, RACK_mark_losses_on_RTO. Without a segment delivered there is no round trip to
    /// wait for.
    fn on_timeout(&mut self, s: &State) -> Time {
        self.fack = s.snd_una;
        self.deadline = None;
        // Nothing that it goes by has changed since the plain ACK.
        if take(&mut self.stale) {
            self.reo_wnd = self.window(s);
        }
        Time(s.now.0.saturating_sub((self.rtt + self.reo_wnd).0))
    }
}
