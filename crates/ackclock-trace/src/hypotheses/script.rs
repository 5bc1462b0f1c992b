//! What a candidate is put through: the ACKs that reach it, what the application writes, and the
//! segments that were seen, in order of the sender's time.

use ackclock_tcp::{Span, Time};

use super::Entry;
use super::numbers::are_counted;
use super::start::{INITIAL_WINDOWS, Start};
use super::waits::waits;
use crate::sender::{Acked, Opening, Sent, Terms};

/// A time is known no better than to this, or to a part of the round trip ([`PART`]).
const LEAST_GRAIN: Span = Span::from_millis(1);
const PART: u64 = 16;

/// The coarse timer of BSD.
const TICK: Span = Span::from_millis(500);

/// Segments that follow each other at a link's rate are no farther apart than this.
const MOST_PACE: Span = Span::from_millis(40);

/// What a pause costs beside its length: few applications make any.
const PAUSE: f32 = 2.0;
/// Most phases that are tried.
const PHASES: usize = 3;

pub(super) enum Step<'a> {
    /// The application writes; `fin` if the last byte is a FIN. `pause`: what it costs to assume
    /// that it has paused before.
    Write { bytes: u64, fin: bool, pause: f32 },
    /// An ACK reaches the sender.
    Acked(&'a Acked),
    /// A segment has passed the capture; `late` if it is an original that comes late.
    Seen { sent: &'a Sent, late: bool },
}

pub(super) struct Script<'a> {
    pub terms: Terms,
    pub steps: Vec<(Time, Step<'a>)>,
    /// Position of the first byte of the candidates.
    pub base: u64,
    /// Segments that were seen before.
    pub skipped: usize,
    /// Segments that were seen.
    pub segments: usize,
    /// As in [`Start`].
    pub delay: Span,
    /// The round trip that the sender knows when it begins.
    pub trip: Option<Span>,
    /// Initial windows to try, the commonest first.
    pub windows: Vec<u32>,
    /// Thresholds of slow start to try.
    pub thresholds: Vec<Option<u64>>,
    pub first_window: u64,
    /// The scale of windows.
    pub shift: u8,
    /// How well times are known.
    pub grain: Span,
    /// What a segment may be late without any queue.
    pub pace: Span,
    /// Phases that a clock of [`TICK`] may have, if it has sent what came after silence.
    pub phases: Vec<Span>,
    /// Least intervals that a timer may have, if it has sent what came after silence; and those
    /// that it may have beside the round trip.
    pub waits: Vec<Span>,
    pub waits_beside_trip: Vec<Span>,
    /// The application may have paused.
    pub may_pause: bool,
    /// The sender numbers the packets of this connection (IPv4 identification), as Linux does.
    pub numbers: bool,
    /// The number of the packet before.
    pub number: Option<u16>,
}

impl<'a> Script<'a> {
    /// `paused`: the application had nothing to send whenever the sender was idle; else it wrote
    /// all at once. `None` if nothing was sent.
    pub fn new(terms: Terms, all: &'a [Entry], start: &Start, paused: bool) -> Option<Script<'a>> {
        let delay = start.delay;
        let (from, base) = start.resumed.unwrap_or((0, 0));
        let is_resumed = start.resumed.is_some();
        let skipped = all.get(..from)?.iter().filter_map(Entry::sent).count();
        let kept = |entry: &&Entry| match entry {
            Entry::Sent(s) | Entry::Late(s) => s.position >= base,
            Entry::Acked(a) => !is_resumed || a.ack > base,
        };
        let entries = || all[from..].iter().filter(kept);
        let sent = || entries().filter_map(Entry::sent);
        let acks = || entries().filter_map(Entry::acked);
        let first = sent().next()?;
        let answer = acks().find(|a| a.ack > base);
        let measured = answer.map(|a| (a.at + delay).since(first.at));
        let made_up = terms.opening == Opening::MadeUp;
        let handshake = terms.handshake_rtt.filter(|_| !is_resumed && !made_up);
        let trip = handshake.or(measured);
        let grain = LEAST_GRAIN.max(Span(trip.unwrap_or_default().0 / PART));
        // It begins on the handshake, or on a request; unless it waits, or what it began with was
        // lost.
        let before =
            || acks().take_while(|a| handshake.is_some() && a.at + delay <= first.at + grain);
        let request = before().filter(|a| a.with_data).last();
        let at_once = request.or(before().next()).map_or(first.at, |a| first.at.min(a.at + delay));
        let is_late = first.at.since(at_once) > grain.times(2);
        let begin = match start.outage {
            Some(outage) => outage.at,
            None if is_late && paused => first.at,
            None => at_once,
        };

        // Where it may have paused: a segment with all before it acknowledged.
        let waited = if is_late { pause(first.at.since(at_once), grain) } else { 0.0 };
        let mut writes = vec![(begin, base, if paused { waited } else { 0.0 })];
        let mut may_pause = is_late;
        let answered = answer.map_or(Time::NEVER, |a| a.at + delay);
        let (mut una, mut una_at, mut max) = (base, begin, base);
        let mut waiting = acks().peekable();
        let (mut fin, mut ended_short) = (false, None);
        let mut in_flight = is_resumed && start.outage.is_none();
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
                let pauses_here = max > base && una >= max && idle > grain.times(2);
                may_pause |= pauses_here && !short;
                if in_flight && max > base {
                    // What was outstanding goes out as it did.
                    let at = s.at.min(answered);
                    in_flight = s.at < answered;
                    writes.push((at, if in_flight { s.position } else { max }, 0.0));
                } else if short || pauses_here && paused {
                    let cost = if short { 0.0 } else { pause(idle, grain) };
                    writes.push((s.at, s.position, cost));
                }
                fin |= s.fin;
                ended_short = (s.payload() < terms.mss && !s.fin).then(|| s.end());
            }
            max = max.max(s.end());
        }
        let ends: Vec<u64> = writes.iter().skip(1).map(|w| w.1).chain([max]).collect();

        let mut steps = Vec::with_capacity(all.len() - from + writes.len());
        for (&(at, from, pause), &end) in writes.iter().zip(&ends) {
            let last = end == max && fin;
            steps.push((at, Step::Write { bytes: end - from, fin: last, pause }));
        }
        for entry in entries() {
            steps.push(match entry {
                // What comes with a SYN says nothing of data.
                Entry::Acked(a) => (a.at + delay, Step::Acked(a)),
                Entry::Sent(sent) => (sent.at + grain, Step::Seen { sent, late: false }),
                Entry::Late(sent) => (sent.at + grain, Step::Seen { sent, late: true }),
            });
        }
        steps.sort_by_key(|(at, _)| *at);
        let gap = |(a, b): (&Sent, &Sent)| (b.len >= terms.mss).then(|| b.at.since(a.at));
        let mut gaps: Vec<Span> = sent().zip(sent().skip(1)).filter_map(gap).collect();
        gaps.sort_unstable();
        let pace = gaps.get(gaps.len() / 2).copied().unwrap_or(Span::ZERO);
        let mut phases: Vec<Span> = Vec::new();
        for (a, b) in sent().zip(sent().skip(1)) {
            let phase = Span(b.at.0 % TICK.0);
            let new = phases.iter().all(|p| p.0.abs_diff(phase.0) > grain.0);
            if b.at.since(a.at) > Span(TICK.0 / 4) && new && phases.len() < PHASES {
                phases.push(phase);
            }
        }
        let (waits, waits_beside_trip) = waits(sent, acks, delay, trip.unwrap_or_default(), grain);
        let window = acks().map(|a| a.window).max().unwrap_or(0);
        let shift = (0..14).find(|shift| window >> shift <= u64::from(u16::MAX)).unwrap_or(14);
        let flight = sent().filter(|s| s.at < answered).map(Sent::end).max().unwrap_or(base + 1);
        let mss = u64::from(terms.mss.max(1));
        let flight = (flight - base).div_ceil(mss).clamp(1, 1 << 16) as u32;
        let segments = sent().count();
        let flight = start.outage.map_or(flight, |outage| outage.outstanding);
        let windows = match start.window {
            _ if is_resumed => vec![flight],
            Some(window) => vec![window],
            None => {
                let first = flight.min(64);
                let larger = |w: &u32| *w > first && *w as usize <= segments.max(2);
                [first].into_iter().chain(INITIAL_WINDOWS.into_iter().filter(larger)).collect()
            }
        };
        let thresholds = match is_resumed {
            true => vec![Some(u64::from(flight) * mss), None],
            false => vec![None],
        };
        let passed = || all.iter().take_while(|e| e.at() <= first.at).filter_map(Entry::acked);
        let last_ack = passed().last().or(acks().next());
        Some(Script {
            terms,
            steps,
            base,
            skipped,
            segments,
            // Without a handshake nothing was measured.
            trip: trip.filter(|_| is_resumed || !made_up),
            delay,
            windows,
            thresholds,
            first_window: last_ack.map_or(65535, |a| a.window),
            shift,
            grain,
            pace: grain + pace.min(MOST_PACE),
            phases,
            waits,
            waits_beside_trip,
            may_pause,
            numbers: are_counted(sent()),
            number: all[..from].iter().rev().find_map(Entry::sent).and_then(|s| s.ip_id),
        })
    }
}

/// What a pause of this length costs, of all that it may have been: one that ends just when a timer
/// would have expired is rare.
fn pause(idle: Span, grain: Span) -> f32 {
    PAUSE + (idle.0 as f32 / grain.0.max(1) as f32).ln().max(0.0)
}
