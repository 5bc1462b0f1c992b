//! What a candidate is put through: the ACKs that reach it, what the application writes, and the
//! segments that were seen, in order of the sender's time.

use ackclock_tcp::wire::window_scale;
use ackclock_tcp::{Span, Time};

use super::Entry;
use super::numbers::are_counted;
use super::start::{INITIAL_WINDOWS, Start};
use super::trial::Setting;
use super::waits::waits;
use crate::sender::{Acked, Opening, Sent, Terms};
use crate::standards::{LEAST_RTO_OF_RFC, expiries};

/// A time is known no better than to this, or to a part of the round trip ([`PART`]). Both are
/// chosen (`cost.rs`): from 0.5 to 2 ms the kinds are the same, and with 8 to 32 nearly.
const LEAST_GRAIN: Span = Span::from_millis(1);
const PART: u64 = 16;

/// The coarse timer of BSD.
const TICK: Span = Span::from_millis(500);

/// Segments that follow each other at a link's rate are no farther apart than this: 1500 bytes at
/// 300 kbit/s. Chosen: from 20 to 80 ms the kinds are the same.
const MOST_PACE: Span = Span::from_millis(40);

/// What a pause costs beside its length: few applications make any. Chosen: from 1 to 4 the kinds
/// are the same. It decides between the application and the path where nobody sends.
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
    /// What it was made of.
    pub start: Start,
    pub paused: bool,
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
    /// When that was over.
    pub trip_end: Time,
    /// Initial windows to try, the commonest first.
    pub windows: Vec<u32>,
    /// Thresholds of slow start to try.
    pub thresholds: Vec<Option<u64>>,
    pub first_window: u64,
    /// The scale of windows.
    pub shift: u8,
    /// How long the first segment was on its way, if all candidates send it when they begin: it is
    /// what they begin with, and their window has room for it. Else zero.
    pub first_waits: Span,
    /// How well times are known.
    pub grain: Span,
    /// What a segment may be late without any queue.
    pub pace: Span,
    /// What a segment that waits in a queue may come behind the one before.
    pub service: Span,
    /// Phases that a clock of [`TICK`] may have, if it has sent what came after silence.
    pub phases: Vec<Span>,
    /// Least intervals that a timer may have, if it has sent what came after silence; and those
    /// that it may have beside the round trip.
    pub waits: Vec<Span>,
    pub waits_beside_trip: Vec<Span>,
    /// The application may have paused.
    pub may_pause: bool,
    /// It may have paused where something was lost as well, so that part of the time was a
    /// timer's.
    pub is_unsure: bool,
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
        let view = View { entries: &all[from..], base, is_resumed, delay };
        let first = view.sent().next()?;
        let answered = view.acks().find(|a| a.ack > base).map(|a| a.at + delay);
        let measured = answered.map(|at| at.since(first.at));
        let made_up = terms.opening == Opening::MadeUp;
        let handshake = terms.handshake_rtt.get().filter(|_| !is_resumed && !made_up);
        let trip = handshake.or(measured);
        let grain = LEAST_GRAIN.max(Span(trip.unwrap_or_default().0 / PART));
        let [service, pace] = view.paces(terms.mss).map(|pace| grain + pace.min(MOST_PACE));

        // It begins on the handshake, or on a request; unless it waits, or what it began with was
        // lost.
        let [handshake_end, chance] = view.first_chances(first, grain);
        let at_once = if handshake.is_some() { chance } else { first.at };
        let late = Some(first.at.since(at_once)).filter(|late| *late > grain + service);
        let begin = match start.outage {
            Some(outage) => outage.at,
            None if late.is_some() && paused => first.at,
            None => at_once,
        };
        let waited = late.filter(|_| paused).map_or(0.0, |late| pause(late, grain));
        let trip_end = if handshake.is_some() { Some(handshake_end) } else { answered };
        let answered = answered.unwrap_or(Time::NEVER);
        let in_flight = (is_resumed && start.outage.is_none()).then_some(answered);
        let times = [grain, service];
        let writes = Writes::new(view, (begin, waited), in_flight, terms.mss, times, paused);

        let (waits, waits_beside_trip) =
            waits(|| view.sent(), || view.acks(), delay, trip.unwrap_or_default(), grain);
        let segments = view.sent().count();
        let flight = view.first_flight(start, terms.mss);
        let thresholds = match is_resumed {
            true => vec![Some(u64::from(flight) * u64::from(terms.mss.max(1))), None],
            false => vec![None],
        };
        let passed = || all.iter().take_while(|e| e.at() <= first.at).filter_map(Entry::acked);
        let last_ack = passed().last().or(view.acks().next());
        let first_window = last_ack.map_or(65535, |a| a.window);
        // Whenever a candidate begins.
        let least_window = passed().map(|a| a.window).min().unwrap_or(first_window);
        let has_room = first.position == base && least_window >= terms.mss.into();
        Some(Script {
            terms,
            start: *start,
            paused,
            steps: view.steps(&writes, grain),
            base,
            skipped,
            segments,
            // Without a handshake nothing was measured.
            trip: trip.filter(|_| is_resumed || !made_up),
            trip_end: trip_end.unwrap_or(begin),
            delay,
            windows: windows(start, flight, segments),
            thresholds,
            first_window,
            shift: window_scale(view.acks().map(|a| a.window).max().unwrap_or(0)),
            first_waits: if has_room { first.at.since(begin) } else { Span::ZERO },
            grain,
            service,
            pace,
            phases: view.phases(grain),
            waits,
            waits_beside_trip,
            is_unsure: writes.is_unsure,
            may_pause: late.is_some() || writes.may_pause,
            numbers: are_counted(view.sent()),
            number: all[..from].iter().rev().find_map(Entry::sent).and_then(|s| s.ip_id),
        })
    }
}

impl Script<'_> {
    /// A candidate costs no less if it explains all: none can do without the pauses.
    pub fn least_cost(&self, setting: &Setting) -> f32 {
        let pause = |step: &(Time, Step)| match step.1 {
            Step::Write { pause, .. } => pause,
            Step::Acked(_) | Step::Seen { .. } => 0.0,
        };
        // In the order in which a trial adds them up, so that rounding does not differ.
        self.steps.iter().map(pause).fold(setting.cost, |cost, pause| cost + pause)
    }

    /// What it costs to assume one of the [phases](Script::phases): each has been chosen so that
    /// its clock ticks when a segment was seen, as so small a part of all does.
    pub fn phase_cost(&self) -> f32 {
        (TICK.0 as f32 / self.grain.0.max(1) as f32).ln().max(0.0)
    }

    /// From its first step to its last.
    pub fn span(&self) -> Span {
        let ends = self.steps.first().zip(self.steps.last());
        ends.map_or(Span::ZERO, |(first, last)| last.0.since(first.0))
    }
}

/// What was seen from where a script begins.
#[derive(Clone, Copy)]
struct View<'a> {
    entries: &'a [Entry],
    /// As in [`Script`].
    base: u64,
    /// The sender goes on from there, with what was outstanding.
    is_resumed: bool,
    delay: Span,
}

impl<'a> View<'a> {
    fn entries(self) -> impl Iterator<Item = &'a Entry> + Clone {
        self.entries.iter().filter(move |entry| match entry {
            Entry::Sent(s) | Entry::Late(s) => s.position >= self.base,
            Entry::Acked(a) => !self.is_resumed || a.ack > self.base,
        })
    }

    fn sent(self) -> impl Iterator<Item = &'a Sent> + Clone {
        self.entries().filter_map(Entry::sent)
    }

    fn acks(self) -> impl Iterator<Item = &'a Acked> {
        self.entries().filter_map(Entry::acked)
    }

    /// When a handshake ended, and when the first segment may have gone out after it: then, or on a
    /// request.
    fn first_chances(self, first: &Sent, grain: Span) -> [Time; 2] {
        let before = || self.acks().take_while(|a| a.at + self.delay <= first.at + grain);
        let request = before().filter(|a| a.with_data).last();
        [before().next(), request.or(before().next())]
            .map(|chance| chance.map_or(first.at, |a| first.at.min(a.at + self.delay)))
    }

    /// Segments that the sender begins with. A duplicate lets new data go, too (RFC 3042), so that
    /// the first ACK of any kind ends them.
    fn first_flight(self, start: &Start, mss: u32) -> u32 {
        if let Some(outage) = start.outage {
            return outage.outstanding;
        }
        let behind = self.entries().skip_while(|entry| entry.sent().is_none());
        let first_ack = behind.filter_map(Entry::acked).next();
        self.flight(first_ack.map_or(Time::NEVER, |a| a.at + self.delay), mss)
    }

    /// Segments that went out before the first answer.
    fn flight(self, answered: Time, mss: u32) -> u32 {
        let ends = self.sent().filter(|s| s.at < answered).map(Sent::end);
        let bytes = ends.max().unwrap_or(self.base + 1) - self.base;
        bytes.div_ceil(u64::from(mss.max(1))).clamp(1, 1 << 16) as u32
    }

    fn steps(self, writes: &Writes, grain: Span) -> Vec<(Time, Step<'a>)> {
        let ends = writes.list.iter().skip(1).map(|w| w.1).chain([writes.end]);
        let mut steps = Vec::with_capacity(self.entries.len() + writes.list.len());
        for (&(at, from, pause), end) in writes.list.iter().zip(ends) {
            let fin = end == writes.end && writes.fin;
            steps.push((at, Step::Write { bytes: end - from, fin, pause }));
        }
        for entry in self.entries() {
            steps.push(match entry {
                // What comes with a SYN says nothing of data.
                Entry::Acked(a) => (a.at + self.delay, Step::Acked(a)),
                Entry::Sent(sent) => (sent.at + grain, Step::Seen { sent, late: false }),
                Entry::Late(sent) => (sent.at + grain, Step::Seen { sent, late: true }),
            });
        }
        steps.sort_by_key(|(at, _)| *at);
        steps
    }

    /// How far apart full segments are: three quarters of them no less, and half of them.
    fn paces(self, mss: u32) -> [Span; 2] {
        let gap = |(a, b): (&Sent, &Sent)| (b.len >= mss).then(|| b.at.since(a.at));
        let mut gaps: Vec<Span> = self.sent().zip(self.sent().skip(1)).filter_map(gap).collect();
        gaps.sort_unstable();
        [gaps.len() / 4, gaps.len() / 2].map(|n| gaps.get(n).copied().unwrap_or(Span::ZERO))
    }

    /// As in [`Script`].
    fn phases(self, grain: Span) -> Vec<Span> {
        let mut phases: Vec<Span> = Vec::new();
        for (a, b) in self.sent().zip(self.sent().skip(1)) {
            let phase = Span(b.at.0 % TICK.0);
            let new = phases.iter().all(|p| p.0.abs_diff(phase.0) > grain.0);
            if b.at.since(a.at) > Span(TICK.0 / 4) && new && phases.len() < PHASES {
                phases.push(phase);
            }
        }
        phases
    }
}

/// What the application writes.
struct Writes {
    /// When, from which position on, and what it costs to assume that it has paused before.
    list: Vec<(Time, u64, f32)>,
    /// Where the last of it ends, and whether that is a FIN.
    end: u64,
    fin: bool,
    /// Somewhere it may have paused.
    may_pause: bool,
    /// As in [`Script`].
    is_unsure: bool,
}

impl Writes {
    /// `begin`: when the first one is, and what that costs. `in_flight`: what was outstanding goes
    /// out as it did, until then.
    fn new(
        view: View<'_>,
        begin: (Time, f32),
        mut in_flight: Option<Time>,
        mss: u32,
        [grain, service]: [Span; 2],
        paused: bool,
    ) -> Writes {
        let base = view.base;
        let mut list = vec![(begin.0, base, begin.1)];
        let mut may_pause = false;
        let (mut una, mut una_at, mut max, mut edge) = (base, begin.0, base, base);
        let mut waiting = view.acks().peekable();
        let (mut fin, mut ended_short, mut is_unsure) = (false, None, false);
        // When the other end first asked for something since the last new data.
        let mut asked: Option<Time> = None;
        for s in view.sent() {
            while let Some(a) = waiting.next_if(|a| a.at + view.delay <= s.at) {
                asked = asked.or_else(|| a.with_data.then_some(a.at + view.delay));
                edge = edge.max(a.ack.saturating_add(a.allowed()));
                if a.ack > una {
                    (una, una_at) = (a.ack, a.at + view.delay);
                }
            }
            if s.position < max {
                max = max.max(s.end());
                continue;
            }
            // What is shorter than a full segment was all that there was to send. Else it may have
            // paused before a segment with all before it acknowledged; unless something was sent
            // before and lost, as the numbers of packets say.
            let short = ended_short == Some(s.position);
            let idle = s.at.since(una_at);
            // The round trip may be that of short packets, and a full segment takes a slow link
            // before the capture as much longer.
            let quiet = una >= max && idle > grain + service;
            let pauses_here = max > base && quiet && idle > timers(s.missing());
            is_unsure |= pauses_here && s.missing() > 0;
            may_pause |= pauses_here && !short;
            // A short segment was the last before this one, and what is between was lost.
            let lost_behind_short = s.position > max && ended_short == Some(max);
            if let Some(answered) = in_flight.filter(|_| max > base) {
                in_flight = in_flight.filter(|_| s.at < answered);
                let from = if in_flight.is_some() { s.position } else { max };
                list.push((s.at.min(answered), from, 0.0));
            } else if lost_behind_short {
                // What was lost on the way was written in its turn, and if it was small, this was
                // written by itself.
                list.push((asked.unwrap_or(s.at), max, 0.0));
                if s.position - max < mss.into() {
                    list.push((s.at, s.position, 0.0));
                }
            } else if short || pauses_here && paused {
                let cost = if short { 0.0 } else { pause(idle, grain) };
                list.push((s.at, s.position, cost));
            }
            fin |= s.fin;
            // The receiver's window may have cut it.
            let cut = edge == s.end();
            ended_short = (s.payload() < mss && !s.fin && !cut).then(|| s.end());
            asked = None;
            max = s.end();
        }
        Writes { list, end: max, fin, may_pause, is_unsure }
    }
}

/// Initial windows to try, where `flight` segments went out at first.
fn windows(start: &Start, flight: u32, segments: usize) -> Vec<u32> {
    match start.window {
        _ if start.resumed.is_some() => vec![flight],
        Some(window) => vec![window],
        None => {
            let first = flight.min(64);
            let larger = |w: &u32| *w > first && *w as usize <= segments.max(2);
            [first].into_iter().chain(INITIAL_WINDOWS.into_iter().filter(larger)).collect()
        }
    }
}

/// How long timers wait until they have sent so many packets, if the least interval is that of RFC
/// 6298 (section 2.4), which doubles each time.
fn timers(packets: u16) -> Span {
    expiries(LEAST_RTO_OF_RFC, packets.into())
}

/// What a pause of this length costs, of all that it may have been: one that ends just when a timer
/// would have expired is rare.
fn pause(idle: Span, grain: Span) -> f32 {
    PAUSE + (idle.0 as f32 / grain.0.max(1) as f32).ln().max(0.0)
}
