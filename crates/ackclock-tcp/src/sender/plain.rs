//! The plain ACK ("header prediction", Jacobson 1990): almost every ACK is one, and most mechanisms
//! have nothing to say about it.
//!
//! A plain ACK advances `snd_una` over segments that were sent once, outside recovery, and carries
//! nothing else; no duplicates are counted, and nothing outstanding is sacked, lost or on its way
//! again. What it does here is what the full path ([`super::ack`]) would do, without the questions
//! whose answers are known: those of detection, ambiguity and undo only where they declare it
//! (`skips_plain_acks`). Detection may take all of it in one call (`sums_plain_acks`), and an undo
//! that only takes note of it too. Where another undo has a say, the ACK takes the full path; where
//! a probe has, it is asked. That is known until either sees anything else. Events are the full
//! path's.
//!
//! Full segments of new data go out on a short path too, where no mechanism has a say in them: the
//! windows alone decide ([`super::transmit`] has the full path). A property test holds both paths
//! equal.

use super::ack::{self, after_response, before_response};
use super::emit::{self, Sent};
use super::machine::{Sender, Turn};
use super::{one_timer, repair, summarise, transmit};
use crate::event::Cause;
use crate::scoreboard::Record;
use crate::segment::Segment;
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::Time;

/// Does what the segment does to the sender if it is a plain ACK; whether it was one. If not,
/// nothing has changed.
#[inline(always)]
pub(super) fn on_segment(c: &mut Sender, segment: &Segment, ack: u64) -> bool {
    let flags = segment.flags.fin() || segment.ecn.ece();
    let bare = segment.len == 0 && !flags && segment.sack.is_empty();
    debug_assert!(!c.calm || (c.wants.plain && is_undisturbed(c)));
    // Most often the last input that let anything out has asked the same.
    let calm = c.calm || (c.wants.plain && is_in_sequence(&c.s) && counts_nothing(&c.s));
    if !(bare && calm) {
        return false;
    }
    debug_assert!(!c.quiet || is_quiet(c) == Some(true));
    let unquiet = !c.quiet;
    if unquiet {
        let Some(quiet) = is_quiet(c) else { return false };
        c.quiet = quiet;
    }
    let s = &mut c.s;
    let (detect, now) = (&mut c.strategy.detect, s.now);
    let report = |r: &Record| {
        if c.wants.reports_plainly {
            detect.on_delivered(r, now);
        }
    };
    let Some(acked) = s.board.ack_plainly_to(ack, report) else { return false };
    let (prior_una, prior_flight) = (s.snd_una, s.flight());
    if unquiet {
        summarise::moves(c, segment, ack);
    }
    summarise::take_window(c, segment, ack);
    let s = &mut c.s;
    (s.snd_una, s.advanced) = (ack, s.now);
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
    c.calm &= !c.s.board.is_empty();
    summarise::restart(c);
    if !c.quiet {
        note(c, &a);
    }
    if c.wants.responds {
        respond(c, &mut a);
    } else {
        respond_briefly(c, &mut a);
    }
    if !c.quiet {
        after_response(c, &a);
    }
    emit::fill_buffer(c);
    c.arm_persist();
    true
}

/// Asks detection and ambiguity, unless they declare that they need not be, and the window law.
#[inline(always)]
fn respond_briefly(c: &mut Sender, a: &mut AckSummary) {
    let mut judged = c.wants.skips_detection;
    if c.wants.sums_plain_acks {
        judged = c.strategy.detect.on_plain_ack(&c.s, a);
    } else if !judged {
        ack::observe(c, a);
    }
    if !c.wants.skips_advance {
        c.strategy.ambiguity.on_advance(&c.s, a);
    }
    if !c.wants.after_detection {
        ack::grow_window(c, a);
    }
    if !c.quiet {
        ack::advance_probes(c, a);
    }
    if !judged {
        c.calm = false;
        repair::detect(c, a);
    }
}

/// The same where the window law measures, or grows after detection. There is no ECN-Echo to
/// answer. A function of its own, so that others do not pay for it.
#[inline(never)]
fn respond(c: &mut Sender, a: &mut AckSummary) {
    if c.wants.measures {
        ack::measure(c, a);
    }
    respond_briefly(c, a);
    if c.wants.after_detection && c.s.phase != Phase::Recovery {
        ack::grow_window(c, a);
    }
}

/// Whether no undo and no probe has a say in plain ACKs now; `None` if an undo has more to say than
/// can be summed up.
#[inline(never)]
fn is_quiet(c: &Sender) -> Option<bool> {
    let mut quiet = true;
    for undo in &c.strategy.undo {
        if !undo.skips_plain_acks() {
            if !undo.sums_plain_acks() {
                return None;
            }
            quiet = false;
        }
    }
    Some(quiet && c.strategy.probes.iter().all(|probe| probe.skips_plain_acks()))
}

/// Probes and undo see the ACK before anything responds to it.
#[inline(never)]
fn note(c: &mut Sender, a: &AckSummary) {
    c.calm = false;
    before_response(c, a);
    for undo in &mut c.strategy.undo {
        undo.on_plain_ack(&c.s);
    }
}

/// Whether cwnd has room for the full segment of new data that is there to send; `None` if there is
/// none, or if anything else has a say in what goes out.
#[inline(always)]
pub(super) fn has_room(c: &mut Sender) -> Option<bool> {
    if !c.wants.sends_plainly {
        return None;
    }
    let end = usual_end(c)?;
    if c.wants.sends_in_flight {
        return has_room_in_flight(c);
    }
    Some(end - c.s.snd_una <= c.s.cwnd)
}

/// The same where cwnd counts what is in flight, the window law measures, or one timer serves all
/// ends.
#[inline(always)]
fn has_room_in_flight(c: &mut Sender) -> Option<bool> {
    let in_flight = c.in_flight();
    // The law sees data go out into an empty network, and validates cwnd as the application writes.
    if c.wants.measures && (in_flight == 0 || c.writing) {
        return None;
    }
    if in_flight + c.s.mss > c.s.cwnd {
        end_turn(c, in_flight);
        return Some(false);
    }
    // What SACK blocks report may have made the room, which has another cause then.
    (c.s.flight() + c.s.mss <= c.s.cwnd).then_some(true)
}

/// No more goes out on this input. A function of its own, so that others do not pay for it.
#[inline(never)]
fn end_turn(c: &mut Sender, in_flight: u64) {
    if c.wants.measures {
        transmit::validate(c, in_flight);
    }
    one_timer::settle(c);
}

/// Where the full segment of new data ends that is there to send, if only windows have a say in it.
#[inline(always)]
fn usual_end(c: &mut Sender) -> Option<u64> {
    // Neither what is sent nor a plain ACK changes any of it.
    debug_assert!(!c.calm || is_undisturbed(c));
    c.calm = c.calm || is_undisturbed(c);
    let s = &c.s;
    let end = s.snd_nxt + s.mss;
    let full = end <= s.written && s.joined_fin() != Some(end);
    (c.calm && full && end <= s.window_edge).then_some(end)
}

/// Whether only windows have a say in what goes out, and a plain ACK finds nothing to count down.
#[inline(always)]
fn is_undisturbed(c: &Sender) -> bool {
    is_calm(c) && counts_nothing(&c.s)
}

/// Whether only windows have a say in what goes out.
#[inline(always)]
pub(super) fn is_calm(c: &Sender) -> bool {
    let s = &c.s;
    let other = c.window_probe || c.urgent.is_some() || c.beyond.bytes > 0 || c.one.is_some();
    let other = other || s.buffers.is_some() || s.board.is_empty() || c.turn == Turn::LostOnly;
    is_in_sequence(s) && !other && c.burst == u32::MAX
}

/// Whether nothing is repaired, no duplicates are counted, and what goes next is new data.
#[inline(always)]
fn is_in_sequence(s: &State) -> bool {
    s.phase == Phase::Open && !s.cwr && s.dupacks == 0 && s.snd_nxt == s.snd_max
}

/// Whether nothing was sent beyond cwnd, and no segments are taken to have arrived.
#[inline(always)]
fn counts_nothing(s: &State) -> bool {
    s.emulated == 0 && s.limited == 0
}

/// Sends that segment.
#[inline(always)]
pub(super) fn send(c: &mut Sender) -> Sent {
    let (seq, len, now) = (c.s.snd_nxt, c.s.mss as u32, c.s.now);
    let end = seq + u64::from(len);
    c.sent_new = true;
    c.s.board.push(seq, len, now);
    (c.s.snd_nxt, c.s.snd_max) = (end, end);
    c.stats.segments_sent += 1;
    c.stats.bytes_sent += u64::from(len);
    c.last_sent = now;
    if c.timers.rto_at == Time::NEVER {
        c.start_rto();
    }
    if c.timers.serves_all {
        one_timer::after_new(c, false);
    }
    Sent { psh: end == c.s.written, ..Sent::new(c, seq, len, Cause::New) }
}
