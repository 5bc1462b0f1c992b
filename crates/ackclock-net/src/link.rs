//! One direction of a link.
//!
//! A link decides when a packet arrives whether it is dropped and when it leaves: the queue
//! discipline decides then, and the transmitter serves in order. So a link needs no event for the
//! end of a transmission. It remembers the departures that are still to come, which are its queue,
//! and hands a packet on with the time at which it will arrive.

mod discipline;
mod impairments;
mod served;
mod visits;
mod wire;

use std::collections::VecDeque;

use ackclock_tcp::Span;

use crate::config::{LinkConfig, Processor};
use crate::heap::{Heap, Key, Kind};
use crate::ids::NodeId;
use crate::loss::ListedLoss;
use crate::packet::Packet;
use crate::queue::{Limit, Queue, Verdict, Waiting};
use crate::report::LinkReport;
use crate::rng::Rng;
use crate::transmission::transmission_time;
use discipline::Discipline;
use impairments::Impairments;
use served::Transmitter;

pub(crate) use impairments::Effects;
pub(crate) use served::Served;
pub(crate) use wire::{InFlight, Wire, Wires};

/// A packet that waits or is in transmission.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: u64,
    size: u32,
}

/// Packets that wait or are in transmission, without the last one.
#[derive(Debug, Default)]
struct Backlog {
    departures: VecDeque<Departure>,
    bytes: u64,
}

/// The backlog of a link on which a packet waits for the first time.
#[cold]
#[inline(never)]
fn no_backlog() -> Box<Backlog> {
    Box::default()
}

impl Backlog {
    #[inline(always)]
    fn push(&mut self, departure: Departure) {
        self.departures.push_back(departure);
        self.bytes += u64::from(departure.size);
    }

    #[inline(always)]
    fn forget_departed(&mut self, now: u64) {
        while let Some(first) = self.departures.front()
            && first.at <= now
        {
            self.bytes -= u64::from(first.size);
            self.departures.pop_front();
        }
    }

    #[inline(always)]
    fn clear(&mut self) {
        if !self.departures.is_empty() {
            self.departures.clear();
            self.bytes = 0;
        }
    }
}

/// A link's state. Times are nanoseconds since the start.
///
/// The fields stand in the order of their use, in two cache lines. Most packets find the link idle
/// and touch only the first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Link {
    /// When the transmitter becomes idle: the departure of the last packet let in.
    busy_until: u64,
    delay: u64,
    packets: u64,
    bytes: u64,
    /// How long the transmission of the last packet takes that was let in, and its bytes. Sizes
    /// seldom change.
    last_time: u64,
    last_size: u32,
    /// The most packets that waited or were in transmission at the same time, if that was more than
    /// one.
    max_queue: u32,
    /// Packets bound for this link that are on the wire of the one link that feeds it.
    pub(crate) pending: u32,
    /// While idle, the link lets every packet in and does nothing to it but delay it.
    plain: bool,
    /// It does more to packets than queueing and delaying them, or it is a processor.
    pub(crate) special: bool,
    /// The last packet let in is to be marked.
    marks_last: bool,

    /// Packets on the wire in the order of their arrival.
    pub(crate) wire: Wire,

    /// What waits; `None` until anything has. Most links of a network are never busy when a packet
    /// comes.
    backlog: Option<Box<Backlog>>,
    discipline: Discipline,
    impairments: Option<Box<Impairments>>,
    /// It is no link but a host's processor ([`Link::processor`]).
    pub(crate) processor: Option<Box<Processor>>,
    rate: u64,
    dropped_queue: u64,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

const _: () = assert!(size_of::<Link>() == 128);

impl Link {
    /// Why a packet is dropped for which the queue has no room.
    pub(crate) const FULL: &'static str = "queue";
    /// Why one is dropped by the discipline of the queue.
    pub(crate) const EARLY: &'static str = "early";

    /// `name` names its random numbers.
    pub(crate) fn new(config: LinkConfig, seed: u64, name: &str) -> Self {
        let rng = |role: &str| Rng::new(seed, &format!("link {name} {role}"));
        let impairments = Impairments::new(&config, rng).map(Box::new);
        let mut discipline = Discipline::new(&config.queue, config.rate, rng);
        let served = discipline.judges_late() || !config.varying.is_none();
        if served {
            discipline = Discipline::Served(Box::new(Transmitter::new(&config, discipline, rng)));
        }
        Link {
            busy_until: 0,
            delay: config.delay.0,
            packets: 0,
            bytes: 0,
            last_time: 0,
            last_size: 0,
            max_queue: 0,
            pending: 0,
            plain: impairments.is_none()
                && matches!(discipline, Discipline::DropTail(Limit::Packets(1..))),
            special: impairments.is_some()
                || served
                || matches!(&discipline, Discipline::Red(red) if red.marks()),
            wire: Wire::EMPTY,
            backlog: None,
            discipline,
            impairments,
            processor: None,
            rate: config.rate.max(1),
            dropped_queue: 0,
            marks_last: false,
            from: config.from.0,
            to: config.to.0,
        }
    }

    /// The processor of a host, as the first link of what the host sends and the last one of what
    /// it receives. Packets of both kinds wait in one line.
    pub(crate) fn processor(host: NodeId, processor: Processor) -> Self {
        let queue = Queue::DropTail(Limit::Packets(u32::MAX));
        let config = LinkConfig::new(host, host, u64::MAX, Span::ZERO, queue);
        let processor = Some(Box::new(processor));
        Link { processor, plain: false, special: true, ..Link::new(config, 0, "") }
    }

    /// A packet comes to the processor, which takes so long for it. Returns when it is done.
    pub(crate) fn serve(&mut self, now: u64, size: u32, takes: Span) -> u64 {
        self.packets += 1;
        self.bytes += u64::from(size);
        self.busy_until = self.busy_until.max(now).saturating_add(takes.0);
        self.busy_until
    }

    /// Its rate in bits per second, and its propagation delay in nanoseconds.
    pub(crate) fn rate_and_delay(&self) -> (u64, u64) {
        (self.rate, self.delay)
    }

    /// Whether such a link draws no random numbers.
    pub(crate) fn is_deterministic(config: &LinkConfig) -> bool {
        matches!(config.queue, Queue::DropTail(_))
            && config.loss.is_empty()
            && config.jitter == Span::ZERO
            && config.reorder.is_none()
            && config.duplicate == 0.0
            && config.corrupt == 0.0
            && config.varying.is_none()
    }

    /// Whether packets always arrive in the order in which they were put on the link.
    pub(crate) fn keeps_order(&self) -> bool {
        self.impairments.as_ref().is_none_or(|impairments| impairments.keep_order())
    }

    /// Puts a packet that has been let in onto the wire: with the late ones if it is `late`.
    #[inline(always)]
    pub(crate) fn put(
        &mut self,
        key: Key,
        packet: &Packet,
        late: bool,
        heap: &mut Heap,
        wires: &mut Wires,
    ) {
        // `late` first: most links have no impairments, and need not be looked at further down.
        if late && let Some(impairments) = &mut self.impairments {
            return impairments.late.put(InFlight { key, packet: *packet }, heap);
        }
        if wires.append(&mut self.wire, key, packet) {
            heap.push(key);
        }
    }

    /// Takes the first packet off the wire, whose entry is the first of the heap and goes too: from
    /// the late ones if it has a key of theirs.
    pub(crate) fn take(&mut self, key: Key, heap: &mut Heap, wires: &mut Wires) -> Option<Packet> {
        if key.kind() == Kind::Late {
            return self.take_late(key, heap);
        }
        let packet = wires.first(&self.wire)?.packet;
        self.pass_first(heap, wires);
        Some(packet)
    }

    /// Takes the first packet off the wire, as [`Link::take`] does, for one who has looked at it:
    /// so it is copied once.
    #[inline(always)]
    pub(crate) fn pass_first(&mut self, heap: &mut Heap, wires: &mut Wires) {
        match wires.pass_first(&mut self.wire) {
            Some(next) => heap.replace(next),
            None => heap.take(),
        }
    }

    #[cold]
    #[inline(never)]
    fn take_late(&mut self, key: Key, heap: &mut Heap) -> Option<Packet> {
        heap.take();
        self.impairments.as_mut()?.late.take(key, heap)
    }

    /// The listed fates that no packet has met yet, by their places in [`LinkConfig::fates`].
    pub(crate) fn unmet_fates(&self) -> impl Iterator<Item = usize> {
        self.impairments.iter().flat_map(|impairments| impairments.unmet_fates())
    }

    /// The entries of drop lists that no packet has met yet, each after the place of its list in
    /// [`LinkConfig::loss`].
    pub(crate) fn unmet_drops(&self) -> impl Iterator<Item = (usize, ListedLoss)> {
        self.impairments.iter().flat_map(|impairments| impairments.unmet_drops())
    }

    /// The segments listed in [`LinkConfig::reorder`] that were not late yet.
    pub(crate) fn unmet_segments(&self) -> impl Iterator<Item = u64> {
        self.impairments.iter().flat_map(|impairments| impairments.unmet_segments())
    }

    /// A packet of `size` bytes arrives at the link's entrance. If nothing is in its way, this lets
    /// it in and returns when it will arrive at the other end. Otherwise it returns `None`, and
    /// [`Link::admit`] decides.
    #[inline]
    pub(crate) fn admit_if_idle(&mut self, now: u64, size: u32) -> Option<u64> {
        if !self.plain || now < self.busy_until {
            return None;
        }
        self.packets += 1;
        self.bytes += u64::from(size);
        self.transmit(now, size);
        Some(self.busy_until.saturating_add(self.delay))
    }

    /// A packet arrives at the entrance of a link that is not special. Returns when it will arrive
    /// at the other end, or why it is dropped.
    #[inline(always)]
    pub(crate) fn admit_simply(&mut self, now: u64, packet: &Packet) -> Result<u64, &'static str> {
        debug_assert!(!self.special);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.enqueue(now, packet)?;
        Ok(self.busy_until.saturating_add(self.delay))
    }

    /// The same at any link. `mss` returns the MSS of the packet's flow.
    pub(crate) fn admit(
        &mut self,
        now: u64,
        packet: &Packet,
        mss: impl Fn() -> u32,
    ) -> Result<u64, &'static str> {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        if let Some(impairments) = &mut self.impairments
            && let Some(why) = impairments.lose(now, packet, &mss)
        {
            return Err(why);
        }
        self.marks_last = false;
        self.enqueue(now, packet)?;
        let arrival = self.busy_until.saturating_add(self.delay);
        Ok(match &mut self.impairments {
            Some(impairments) => impairments.pass(self.busy_until, arrival, packet, mss),
            None => arrival,
        })
    }

    /// When a packet of `size` bytes would leave the transmitter with nothing in its way.
    pub(crate) fn departure_if_idle(&self, now: u64, size: u32) -> u64 {
        if let Some((leaves, _)) = self.would_be_served(now, size) {
            return leaves;
        }
        now.saturating_add(transmission_time(size, self.rate))
    }

    /// When a packet of `size` bytes would arrive at the other end if it were let in now. It would
    /// not overtake others; random delays are left out.
    pub(crate) fn would_arrive(&self, now: u64, size: u32) -> u64 {
        let (departure, delay) = self.would_be_served(now, size).unwrap_or_else(|| {
            (self.departure_if_idle(self.busy_until.max(now), size), self.delay)
        });
        let arrival = departure.saturating_add(delay);
        self.impairments.as_ref().map_or(arrival, |impairments| {
            impairments.spiked(departure, arrival).max(impairments.last_arrival)
        })
    }

    /// What the queue and the wire do to the last packet let in.
    #[inline]
    pub(crate) fn effects(&self) -> Effects {
        if self.plain {
            Effects::default()
        } else {
            let effects = self.impairments.as_ref().map(|impairments| impairments.effects);
            Effects { marked: self.marks_last, ..effects.unwrap_or_default() }
        }
    }

    /// Puts a packet into the queue, which sets `busy_until` to the end of its transmission.
    #[inline(always)]
    fn enqueue(&mut self, now: u64, packet: &Packet) -> Result<(), &'static str> {
        let size = packet.size;
        let verdict = if now >= self.busy_until {
            if let Some(backlog) = &mut self.backlog {
                backlog.clear();
            }
            let idle = now - self.busy_until;
            // One question by itself is cheaper than what `match` makes of the tag.
            if let Discipline::Red(red) = &mut self.discipline {
                red.arrive(Waiting::none(idle), (size, packet.is_ecn_capable()), || 0)
            } else {
                match &mut self.discipline {
                    Discipline::DropTail(limit) => limit.verdict(0, 0, size),
                    other => other.verdict(Waiting::none(idle), packet),
                }
            }
        } else {
            self.verdict_behind_others(now, packet)
        };
        if verdict != Verdict::Enqueue {
            self.mark_or_drop(verdict)?;
        }
        if now < self.busy_until {
            let backlog = self.backlog.get_or_insert_with(no_backlog);
            backlog.push(Departure { at: self.busy_until, size: self.last_size });
            self.max_queue = self.max_queue.max(backlog.departures.len() as u32 + 1);
        }
        self.transmit(now.max(self.busy_until), size);
        Ok(())
    }

    /// What follows from a verdict that is not [`Verdict::Enqueue`].
    #[cold]
    #[inline(never)]
    fn mark_or_drop(&mut self, verdict: Verdict) -> Result<(), &'static str> {
        match verdict {
            Verdict::Enqueue => {}
            Verdict::Mark => self.marks_last = true,
            Verdict::Full => {
                self.dropped_queue += 1;
                return Err(Link::FULL);
            }
            Verdict::Early => return Err(Link::EARLY),
        }
        Ok(())
    }

    /// What is ahead of a packet that comes now, while the transmitter is busy: packets without the
    /// last one let in, and bytes with it.
    #[inline(always)]
    fn ahead(&mut self, now: u64) -> (u32, u64) {
        let Some(backlog) = &mut self.backlog else { return (0, self.last_size.into()) };
        backlog.forget_departed(now);
        (backlog.departures.len() as u32, backlog.bytes + u64::from(self.last_size))
    }

    /// What becomes of a packet that finds the transmitter busy.
    #[inline(always)]
    fn verdict_behind_others(&mut self, now: u64, packet: &Packet) -> Verdict {
        // One is in transmission: the first of the backlog, or the last packet let in.
        let (packets, bytes) = self.ahead(now);
        let waiting = Waiting { packets, idle_for: None };
        let bytes_waiting = || {
            let first = self.backlog.as_ref().and_then(|backlog| backlog.departures.front());
            bytes - u64::from(first.map_or(self.last_size, |first| first.size))
        };
        if let Discipline::Red(red) = &mut self.discipline {
            return red.arrive(waiting, (packet.size, packet.is_ecn_capable()), bytes_waiting);
        }
        match &mut self.discipline {
            Discipline::DropTail(limit) => limit.verdict(packets + 1, bytes, packet.size),
            other => other.verdict(waiting, packet),
        }
    }

    /// The transmitter takes on another packet, from `begin` on.
    #[inline]
    fn transmit(&mut self, begin: u64, size: u32) {
        if size != self.last_size {
            self.last_size = size;
            self.last_time = transmission_time(size, self.rate);
        }
        self.busy_until = begin.saturating_add(self.last_time);
    }

    /// Counters at `now`, which is not before the last arrival.
    pub(crate) fn report(&self, now: u64) -> LinkReport {
        let dropped_early = self.discipline.dropped_early();
        let mut dropped_queue = self.dropped_queue;
        let (mut dropped_loss, corrupted) = self
            .impairments
            .as_ref()
            .map_or((0, 0), |impairments| (impairments.lost, impairments.corrupted));
        let departures = self.backlog.iter().flat_map(|backlog| &backlog.departures);
        let waiting = departures.filter(|departure| departure.at > now).count() as u64;
        let queued = waiting + u64::from(self.busy_until > now);
        let mut departed =
            self.packets - self.dropped_queue - dropped_early - dropped_loss - queued;
        let one = departed + queued > 0 && self.processor.is_none();
        if let Discipline::Served(transmitter) = &self.discipline {
            departed = transmitter.departed;
            dropped_loss += transmitter.dropped_outage;
            dropped_queue += transmitter.dropped_queue;
        }
        LinkReport {
            packets: self.packets,
            bytes: self.bytes,
            dropped_queue,
            dropped_early,
            marked: self.discipline.marked(),
            dropped_loss,
            corrupted,
            departed,
            max_queue: u64::from(self.max_queue.max(u32::from(one))),
        }
    }
}

#[cfg(test)]
mod tests;
