//! The plain ACK ("header prediction", Jacobson 1990): almost every ACK is one, and most mechanisms
//! have nothing to say about it.
//!
//! A plain ACK advances `snd_una` over segments that were sent once, outside recovery, and carries
//! nothing else; no duplicates are counted, and nothing outstanding is sacked, lost or on its way
//! again. What it does here is what the full path ([`super::ack`]) would do, without the questions
//! whose answers are known: those of detection and ambiguity only where they declare it
//! (`skips_plain_acks`). Where undo, a window law that measures or a timer for all ends has a say,
//! all axes are asked as on the full path. Events are the full path's. A property test holds both paths equal.

use super::ack::{self, after_response, before_response, on_advance_open};
use super::machine::Sender;
use super::{one_timer, repair, summarise};
use crate::scoreboard::Record;
use crate::segment::Segment;
use crate::state::Phase;
use crate::summary::AckSummary;

/// Does what the segment does to the sender if it is a plain ACK; whether it was one. If not,
/// nothing has changed.
#[inline(always)]
pub(super) fn on_segment(c: &mut Sender, segment: &Segment, ack: u64) -> bool {
    let s = &mut c.s;
    let flags = segment.flags.fin() || segment.ecn.ece();
    let bare = segment.len == 0 && !flags && segment.sack.is_empty();
    let calm =
        s.phase == Phase::Open && !s.cwr && s.dupacks == 0 && s.emulated == 0 && s.limited == 0;
    if !(c.wants.plain && bare && calm && s.snd_nxt == s.snd_max) {
        return false;
    }
    let (detect, now) = (&mut c.strategy.detect, s.now);
    let tell = |r: &Record| {
        if c.wants.deliveries {
            detect.on_delivered(r, now);
        }
    };
    let Some(acked) = s.board.ack_plainly_to(ack, tell) else { return false };
    let (prior_una, prior_flight) = (s.snd_una, s.flight());
    summarise::take_window(c, segment, ack);
    let s = &mut c.s;
    s.snd_una = ack;
    if s.closed && ack == s.written {
        s.board.release();
    }
    let latest = if c.wants.samples_sacks { acked.last_sent } else { acked.first_sent };
    let mut a = AckSummary {
        ack,
        newly_acked: ack - prior_una,
        delivered: acked.segments as u32,
        prior_una,
        prior_flight,
        flight_size: prior_flight,
        ts_echo: segment.timestamps.filter(|_| c.config.timestamps).map(|t| t.ecr),
        original: c.wants.observed.then_some((prior_una, acked.first_end)),
        last_sent: Some(acked.last_sent),
        rtt_latest: Some(s.now.since(latest)),
        ..AckSummary::default()
    };
    summarise::take(c, &mut a, Some(acked.first_sent));
    summarise::restart(c);
    before_response(c, &a);
    if c.wants.responds {
        ack::respond(c, &mut a);
        one_timer::after_ack(c);
    } else {
        respond_briefly(c, &mut a);
    }
    after_response(c, &a);
    c.arm_persist();
    true
}

/// Asks detection and ambiguity, unless they declare that they need not be, and the window law.
#[inline(always)]
fn respond_briefly(c: &mut Sender, a: &mut AckSummary) {
    if !c.wants.skips_detection {
        ack::observe(c, a);
    }
    if !c.wants.skips_advance {
        c.strategy.ambiguity.on_advance(&c.s, a);
    }
    on_advance_open(c, a, false);
    if !c.wants.skips_detection {
        repair::detect(c, a);
    }
}
