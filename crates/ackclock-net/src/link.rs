//! One direction of a link.
//!
//! Whether a packet is dropped, and when it leaves, is decided when it arrives: the queue disciplines decide then, and the
//! transmitter serves in order. So a link needs no event for the end of a transmission: it remembers the departures that
//! are still to come, which are its queue, and hands a packet on with the time at which it will arrive.

use std::collections::VecDeque;

use ackclock_tcp::{Span, Time};

use crate::config::{LinkConfig, Reorder, Spike};
use crate::heap::{Heap, Key};
use crate::loss::{Losses, first_byte_of};
use crate::packet::{Kind, Packet};
use crate::queue::{FredState, Limit, Queue, RedState, Verdict, Waiting};
use crate::report::LinkReport;
use crate::rng::Rng;

/// A packet on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) key: Key,
    pub(crate) packet: Packet,
}

/// A packet that waits or is in transmission.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: u64,
    size: u32,
}

#[derive(Debug)]
enum Discipline {
    DropTail(Limit),
    Red(Box<RedState>),
    Fred(Box<FredState>),
}

/// What most links do not have.
#[derive(Debug, Default)]
struct Extras {
    losses: Vec<Losses>,
    /// Packets that they took.
    lost: u64,
    spikes: Vec<Spike>,
    jitter: Option<(Span, Rng)>,
    reorder: Option<(Reorder, Rng)>,
    duplicate: Option<(f64, Rng)>,
    corrupt: Option<(f64, Rng)>,
    /// Packets of which a bit was flipped.
    corrupted: u64,
    last_arrival: u64,
    /// Packets on the wire that others overtake, in the order of their arrival.
    late: VecDeque<InFlight>,
    /// Of the last packet let in.
    fate: Fate,
}

/// What the wire does to a packet, delay aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Fate {
    /// It is overtaken by those behind it.
    pub(crate) late: bool,
    /// It arrives twice.
    pub(crate) twice: bool,
    /// A bit of it is flipped.
    pub(crate) corrupt: bool,
}

/// A link's state. Times are nanoseconds since the start.
///
/// The fields stand in the order of their use: most packets find the link idle and touch the first cache line only.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Link {
    /// When the transmitter will have nothing to do: the departure of the last packet let in.
    busy_until: u64,
    delay: u64,
    packets: u64,
    bytes: u64,
    /// The size last asked for and how long its transmission takes: sizes seldom change.
    known_time: u64,
    known_size: u32,
    /// Bytes of the last packet let in.
    last_size: u32,
    /// The most packets that waited or were in transmission at the same time.
    max_queue: u32,
    /// Packets bound for this link that are on the wire of its only feeder.
    pub(crate) pending: u32,
    /// An idle link of this kind lets every packet in, and does nothing else to it.
    plain: bool,

    /// Packets on the wire in the order of their arrival.
    pub(crate) wire: VecDeque<InFlight>,
    /// Packets that wait or are in transmission, without the last one.
    departures: VecDeque<Departure>,

    /// Bytes of `departures`.
    backlog: u64,
    discipline: Discipline,
    extras: Option<Box<Extras>>,
    rate: u64,
    dropped_queue: u64,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl Link {
    /// `name` names its random numbers.
    pub(crate) fn new(config: LinkConfig, seed: u64, name: &str) -> Self {
        let rng = |role: &str| Rng::new(seed, &format!("link {name} {role}"));
        let discipline = match config.queue {
            Queue::DropTail(limit) => Discipline::DropTail(limit),
            Queue::Red(red) => Discipline::Red(Box::new(RedState::new(red, config.rate, rng("red")))),
            Queue::Fred(fred) => Discipline::Fred(Box::new(FredState::new(fred, config.rate, rng("fred")))),
        };
        let losses =
            config.loss.into_iter().enumerate().map(|(i, loss)| Losses::new(loss, rng(&format!("loss {i}")))).collect();
        let extras = Extras {
            losses,
            lost: 0,
            spikes: config.spikes,
            jitter: (config.jitter > Span::ZERO).then(|| (config.jitter, rng("jitter"))),
            reorder: config
                .reorder
                .filter(|r| r.probability > 0.0 || !r.segments.is_empty())
                .map(|r| (r, rng("reorder"))),
            duplicate: (config.duplicate > 0.0).then(|| (config.duplicate, rng("duplicate"))),
            corrupt: (config.corrupt > 0.0).then(|| (config.corrupt, rng("corrupt"))),
            corrupted: 0,
            last_arrival: 0,
            late: VecDeque::new(),
            fate: Fate::default(),
        };
        let no_extras = extras.losses.is_empty()
            && extras.spikes.is_empty()
            && extras.jitter.is_none()
            && extras.reorder.is_none()
            && extras.duplicate.is_none()
            && extras.corrupt.is_none();
        Link {
            busy_until: 0,
            delay: config.delay.0,
            packets: 0,
            bytes: 0,
            known_time: 0,
            known_size: 0,
            last_size: 0,
            max_queue: 0,
            pending: 0,
            plain: no_extras && matches!(discipline, Discipline::DropTail(Limit::Packets(1..))),
            wire: VecDeque::new(),
            departures: VecDeque::new(),
            backlog: 0,
            discipline,
            extras: (!no_extras).then(|| Box::new(extras)),
            rate: config.rate.max(1),
            dropped_queue: 0,
            from: config.from.0,
            to: config.to.0,
        }
    }

    /// Whether such a link draws no random numbers.
    pub(crate) fn is_deterministic(config: &LinkConfig) -> bool {
        matches!(config.queue, Queue::DropTail(_))
            && config.loss.is_empty()
            && config.jitter == Span::ZERO
            && config.reorder.is_none()
            && config.duplicate == 0.0
            && config.corrupt == 0.0
    }

    /// Whether packets always arrive in the order in which they were put on the link.
    pub(crate) fn keeps_order(&self) -> bool {
        self.extras.as_ref().is_none_or(|extras| extras.reorder.is_none())
    }

    /// Puts a packet that has been let in onto the wire, with those that others overtake if it is `late`.
    #[inline(always)]
    pub(crate) fn put(&mut self, packet: InFlight, late: bool, heap: &mut Heap) {
        let wire = self.wire(late);
        if wire.is_empty() {
            heap.push(packet.key);
        }
        append(wire, packet);
    }

    /// Takes the first packet off the wire, whose entry has been taken from the heap.
    #[inline(always)]
    pub(crate) fn take(&mut self, late: bool, heap: &mut Heap) -> Option<Packet> {
        let wire = self.wire(late);
        let InFlight { packet, .. } = wire.pop_front()?;
        if let Some(next) = wire.front() {
            heap.push(next.key);
        }
        Some(packet)
    }

    /// The packets on the wire, or those of them that others overtake.
    fn wire(&mut self, late: bool) -> &mut VecDeque<InFlight> {
        // `late` first: most links have no extras, and need not be looked at further down.
        if late && let Some(extras) = &mut self.extras { &mut extras.late } else { &mut self.wire }
    }

    /// A packet of `size` bytes arrives at the link's entrance. If nothing is in its way, this lets it in and returns when it
    /// will arrive at the other end; otherwise it is for [`Link::admit`].
    #[inline]
    pub(crate) fn admit_if_idle(&mut self, now: u64, size: u32) -> Option<u64> {
        if !self.plain || now < self.busy_until {
            return None;
        }
        self.packets += 1;
        self.bytes += u64::from(size);
        self.transmit(now, size);
        self.max_queue = self.max_queue.max(1);
        Some(self.busy_until.saturating_add(self.delay))
    }

    /// A packet arrives at the link's entrance: when it will arrive at the other end, or why it is dropped. `mss` tells
    /// its flow's.
    #[inline(never)]
    pub(crate) fn admit(&mut self, now: u64, packet: &Packet, mss: impl Fn() -> u32) -> Result<u64, &'static str> {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        if let Some(extras) = &mut self.extras
            && let Some(why) = extras.lose(now, packet, &mss)
        {
            return Err(why);
        }
        self.enqueue(now, packet)?;
        let arrival = self.busy_until.saturating_add(self.delay);
        Ok(match &mut self.extras {
            Some(extras) => extras.pass(self.busy_until, arrival, packet, mss),
            None => arrival,
        })
    }

    /// When a packet of `size` bytes would leave the transmitter with nothing in its way.
    pub(crate) fn departure_if_idle(&self, now: u64, size: u32) -> u64 {
        now.saturating_add(transmission_time(size, self.rate))
    }

    /// When a packet of `size` bytes would arrive at the other end, were it let in now; what the wire draws at random is left
    /// out, but it keeps its order.
    pub(crate) fn would_arrive(&self, now: u64, size: u32) -> u64 {
        let departure = self.departure_if_idle(self.busy_until.max(now), size);
        let arrival = departure.saturating_add(self.delay);
        self.extras.as_ref().map_or(arrival, |extras| extras.spiked(departure, arrival).max(extras.last_arrival))
    }

    /// What the wire does to the last packet let in.
    #[inline]
    pub(crate) fn fate(&self) -> Fate {
        if self.plain { Fate::default() } else { self.extras.as_ref().map_or(Fate::default(), |extras| extras.fate) }
    }

    /// Puts a packet into the queue, which sets `busy_until` to the end of its transmission.
    fn enqueue(&mut self, now: u64, packet: &Packet) -> Result<(), &'static str> {
        let size = packet.size;
        let idle = now >= self.busy_until;
        if idle {
            self.departures.clear();
            self.backlog = 0;
        } else {
            while let Some(first) = self.departures.front()
                && first.at <= now
            {
                self.backlog -= u64::from(first.size);
                self.departures.pop_front();
            }
        }
        // What waits or is in transmission.
        let queued = if idle { 0 } else { self.departures.len() + 1 };
        let queued_bytes = if idle { 0 } else { self.backlog + u64::from(self.last_size) };
        let waiting = || {
            if idle {
                return Waiting { packets: 0, bytes: 0, idle_for: Some((now - self.busy_until) as f64 * 1e-9) };
            }
            let in_transmission = self.departures.front().map_or(self.last_size, |first| first.size);
            let bytes = queued_bytes - u64::from(in_transmission);
            Waiting { packets: queued as u32 - 1, bytes, idle_for: None }
        };
        let full_if = |full| if full { Verdict::Full } else { Verdict::Enqueue };
        let verdict = match &mut self.discipline {
            Discipline::DropTail(Limit::Packets(limit)) => full_if(queued >= *limit as usize),
            Discipline::DropTail(Limit::Bytes(limit)) => full_if(queued_bytes + u64::from(size) > *limit),
            Discipline::Red(red) => red.arrive(waiting(), size),
            Discipline::Fred(fred) => fred.arrive(waiting(), packet.flow),
        };
        match verdict {
            Verdict::Enqueue => {}
            Verdict::Full => {
                self.dropped_queue += 1;
                return Err("queue");
            }
            Verdict::Early => return Err("early"),
        }
        if !idle {
            self.departures.push_back(Departure { at: self.busy_until, size: self.last_size });
            self.backlog = queued_bytes;
        }
        self.transmit(now, size);
        self.max_queue = self.max_queue.max(queued as u32 + 1);
        Ok(())
    }

    /// The transmitter takes on another packet.
    #[inline]
    fn transmit(&mut self, now: u64, size: u32) {
        if size != self.known_size {
            self.known_size = size;
            self.known_time = transmission_time(size, self.rate);
        }
        self.busy_until = self.busy_until.max(now).saturating_add(self.known_time);
        self.last_size = size;
    }

    /// Counters at `now`, which lies not before the last arrival.
    pub(crate) fn report(&self, now: u64) -> LinkReport {
        let dropped_early = match &self.discipline {
            Discipline::DropTail(_) => 0,
            Discipline::Red(red) => red.dropped_early,
            Discipline::Fred(fred) => fred.dropped_early,
        };
        let (dropped_loss, corrupted) = self.extras.as_ref().map_or((0, 0), |extras| (extras.lost, extras.corrupted));
        let waiting = self.departures.iter().filter(|departure| departure.at > now).count() as u64;
        let queued = waiting + u64::from(self.busy_until > now);
        LinkReport {
            packets: self.packets,
            bytes: self.bytes,
            dropped_queue: self.dropped_queue,
            dropped_early,
            dropped_loss,
            corrupted,
            departed: self.packets - self.dropped_queue - dropped_early - dropped_loss - queued,
            max_queue: u64::from(self.max_queue),
        }
    }
}

impl Reorder {
    /// Whether the list names this packet.
    fn names(&self, packet: &Packet, mss: impl Fn() -> u32) -> bool {
        !self.segments.is_empty()
            && packet.kind != Kind::Ack
            && !packet.copy
            && packet.transmission == 1
            && first_byte_of(packet, mss()).is_some_and(|segment| self.segments.contains(&segment))
    }
}

impl Extras {
    /// Why a packet is lost, if it is.
    #[inline(never)]
    fn lose(&mut self, now: u64, packet: &Packet, mss: impl Fn() -> u32) -> Option<&'static str> {
        if self.losses.is_empty() {
            return None;
        }
        let mss = mss();
        let why = self.losses.iter_mut().find_map(|loss| loss.take(Time(now), packet, mss))?;
        self.lost += 1;
        Some(why)
    }

    /// When a packet that enters the wire at `entry` arrives after spikes, if it would at `arrival` without them.
    fn spiked(&self, entry: u64, arrival: u64) -> u64 {
        let at_entry = self.spikes.iter().filter(|spike| (spike.at..spike.at + spike.lasts).contains(&Time(entry)));
        at_entry.fold(arrival, |arrival, spike| arrival.saturating_add(spike.delay.0))
    }

    /// Draws what the wire does to a packet that enters it at `entry` and would arrive at `arrival`; returns when it does.
    #[inline(never)]
    fn pass(&mut self, entry: u64, mut arrival: u64, packet: &Packet, mss: impl Fn() -> u32) -> u64 {
        arrival = self.spiked(entry, arrival);
        if let Some((most, rng)) = &mut self.jitter {
            arrival = arrival.saturating_add(rng.up_to(*most).0);
        }
        arrival = arrival.max(self.last_arrival);
        self.last_arrival = arrival;
        self.fate = Fate::default();
        if let Some((reorder, rng)) = &mut self.reorder
            && (rng.chance(reorder.probability) || reorder.names(packet, mss))
        {
            self.fate.late = true;
            arrival = arrival.saturating_add(reorder.extra_delay.0);
        }
        self.fate.twice = self.duplicate.as_mut().is_some_and(|(p, rng)| rng.chance(*p));
        self.fate.corrupt = self.corrupt.as_mut().is_some_and(|(p, rng)| rng.chance(*p));
        self.corrupted += u64::from(self.fate.corrupt);
        arrival
    }
}

/// Appends to a ring that starts with room for one and grows by half: most links of a large network carry a packet or
/// two at a time.
#[inline(always)]
fn append(ring: &mut VecDeque<InFlight>, packet: InFlight) {
    if ring.len() == ring.capacity() {
        grow(ring);
    }
    ring.push_back(packet);
}

#[cold]
#[inline(never)]
fn grow(ring: &mut VecDeque<InFlight>) {
    ring.reserve_exact((ring.len() / 2).max(1));
}

/// How long `size` bytes take at `rate` bits per second (not 0), to the nearest nanosecond.
#[cold]
#[inline(never)]
pub(crate) fn transmission_time(size: u32, rate: u64) -> u64 {
    let (bit_nanos, rate) = (u128::from(size) * 8_000_000_000, u128::from(rate));
    u64::try_from((bit_nanos + rate / 2) / rate).unwrap_or(u64::MAX)
}

const _: () = assert!(size_of::<InFlight>() == 64);

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
