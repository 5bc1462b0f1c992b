//! What a candidate is put through: the ACKs that reach it, what the application writes, and the
//! segments that were seen, in order of the sender's time.

use ackclock_tcp::{Span, Time};

use super::Entry;
use crate::sender::{Acked, Sent, Terms};

/// A time is known no better than to this, or to a part of the round trip ([`PART`]).
const LEAST_GRAIN: Span = Span::from_millis(1);
const PART: u64 = 16;

/// The coarse timer of BSD.
const TICK: Span = Span::from_millis(500);

/// What a pause costs beside its length: few applications make any.
const PAUSE: f32 = 2.0;
/// Most phases that are tried.
const PHASES: usize = 3;

pub(super) enum Step<'a> {
    /// The application writes; `fin` if the last byte is a FIN.
    Write { bytes: u64, fin: bool },
    /// An ACK reaches the sender.
    Acked(&'a Acked),
    /// A segment has passed the capture.
    Seen(&'a Sent),
}

pub(super) struct Script<'a> {
    pub terms: Terms,
    pub steps: Vec<(Time, Step<'a>)>,
    /// Segments that were seen.
    pub segments: usize,
    /// Segments that went out before the first of them can have been acknowledged.
    pub first_flight: u32,
    pub first_window: u64,
    /// The scale of windows.
    pub shift: u8,
    /// How well times are known.
    pub grain: Span,
    /// What a segment may be late without any queue.
    pub pace: Span,
    /// Phases that a clock of [`TICK`] may have, if it has sent what came after silence.
    pub phases: Vec<Span>,
    /// What it costs that the application paused where it may have, if it did; 0 if it cannot have.
    pub pauses: f32,
}

impl<'a> Script<'a> {
    /// `delay`: between the capture and the sender and back. `paused`: the application had nothing
    /// to send whenever the sender was idle; else it wrote all at once. `None` if nothing was sent.
    pub fn new(
        terms: Terms,
        entries: &'a [Entry],
        delay: Span,
        paused: bool,
    ) -> Option<Script<'a>> {
        let sent = || entries.iter().filter_map(Entry::sent);
        let acks = || entries.iter().filter_map(Entry::acked);
        // With a handshake, positions count from the first byte.
        let trip = terms.handshake_rtt?;
        let first = sent().next()?;
        let grain = LEAST_GRAIN.max(Span(trip.0 / PART));
        // It begins on the handshake, or on a request; unless it waits, or what it began with was lost.
        let before = || acks().take_while(|a| a.at + delay <= first.at + grain);
        let request = before().filter(|a| a.with_data).last();
        let at_once = request.or(before().next()).map_or(first.at, |a| first.at.min(a.at + delay));
        let waits = first.at.since(at_once) > grain.times(2);
        let begin = if waits && paused { first.at } else { at_once };

        // Where it may have paused: a segment with all before it acknowledged.
        let (mut writes, mut pauses) = (vec![(begin, 0_u64)], 0.0);
        if waits {
            pauses += pause(first.at.since(at_once), grain);
        }
        let (mut una, mut una_at, mut max) = (0, begin, 0);
        let mut waiting = acks().peekable();
        let (mut fin, mut ended_short) = (false, None);
        for s in sent() {
            while let Some(a) = waiting.next_if(|a| a.at + delay <= s.at) {
                if a.ack > una {
                    (una, una_at) = (a.ack, a.at + delay);
                }
            }
            if s.position >= max {
                // What is shorter than a full segment was all that there was to send.
                let short = ended_short == Some(s.position);
                let idle = s.at.since(una_at);
                let pauses_here = max > 0 && una >= max && idle > grain.times(2);
                if pauses_here && !short {
                    pauses += pause(idle, grain);
                }
                if short || pauses_here && paused {
                    writes.push((s.at, s.position));
                }
                fin |= s.fin;
                ended_short = (s.payload() < terms.mss && !s.fin).then(|| s.end());
            }
            max = max.max(s.end());
        }
        let ends: Vec<u64> = writes.iter().skip(1).map(|w| w.1).chain([max]).collect();

        let mut steps = Vec::with_capacity(entries.len() + writes.len());
        for (&(at, from), &end) in writes.iter().zip(&ends) {
            let last = end == max && fin;
            steps.push((at, Step::Write { bytes: end - from, fin: last }));
        }
        for entry in entries {
            steps.push(match entry {
                // What comes with a SYN says nothing of data.
                Entry::Acked(a) => (a.at + delay, Step::Acked(a)),
                Entry::Sent(s) => (s.at + grain, Step::Seen(s)),
            });
        }
        steps.sort_by_key(|(at, _)| *at);
        let gap = |(a, b): (&Sent, &Sent)| (b.len >= terms.mss).then(|| b.at.since(a.at));
        let pace = sent().zip(sent().skip(1)).filter_map(gap).min().unwrap_or(Span::ZERO);
        let mut phases: Vec<Span> = Vec::new();
        for (a, b) in sent().zip(sent().skip(1)) {
            let phase = Span(b.at.0 % TICK.0);
            let new = phases.iter().all(|p| p.0.abs_diff(phase.0) > grain.0);
            if b.at.since(a.at) > Span(TICK.0 / 4) && new && phases.len() < PHASES {
                phases.push(phase);
            }
        }
        let window = acks().map(|a| a.window).max().unwrap_or(0);
        let shift = (0..14).find(|shift| window >> shift <= u64::from(u16::MAX)).unwrap_or(14);
        let answered = acks().find(|a| a.ack > 0).map_or(Time::NEVER, |a| a.at + delay);
        let flight = sent().filter(|s| s.at < answered).map(Sent::end).max().unwrap_or(1);
        let before = acks().take_while(|a| a.at <= first.at).last();
        Some(Script {
            terms,
            steps,
            segments: sent().count(),
            first_flight: flight.div_ceil(u64::from(terms.mss.max(1))).min(64) as u32,
            first_window: before.or(acks().next()).map_or(65535, |a| a.window),
            shift,
            grain,
            pace: grain + pace.min(grain.times(8)),
            phases,
            pauses,
        })
    }
}

/// What a pause of this length costs, of all that it may have been: one that ends just when a timer
/// would have expired is rare.
fn pause(idle: Span, grain: Span) -> f32 {
    PAUSE + (idle.0 as f32 / grain.0.max(1) as f32).ln().max(0.0)
}
