//! One direction of a link.
//!
//! Whether a packet is dropped, and when it leaves, is decided when it arrives: the queue disciplines decide then, and the
//! transmitter serves in order. So a link needs no event for the end of a transmission: it remembers the departures that
//! are still to come, which are its queue, and hands a packet on with the time at which it will arrive.

use std::collections::VecDeque;

use ackclock_tcp::{Span, Time};

use crate::config::{LinkConfig, Reorder};
use crate::heap::Key;
use crate::loss::Losses;
use crate::packet::Packet;
use crate::queue::{Limit, Queue, RedState, Verdict, Waiting};
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
}

/// What most links do not have.
#[derive(Debug, Default)]
struct Extras {
    losses: Vec<Losses>,
    jitter: Option<(Span, Rng)>,
    reorder: Option<(Reorder, Rng)>,
    duplicate: Option<(f64, Rng)>,
    last_arrival: u64,
}

/// What the wire does to a packet that was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// When it arrives at the other end.
    pub(crate) arrival: u64,
    /// It is overtaken by those behind it.
    pub(crate) late: bool,
    /// It arrives twice.
    pub(crate) twice: bool,
}

/// A link's state. Times are nanoseconds since the start.
#[derive(Debug)]
pub(crate) struct Link {
    rate: u64,
    delay: u64,
    /// The size last asked for and how long its transmission takes: sizes seldom change.
    last_size: u32,
    last_time: u64,
    /// When the transmitter will have nothing to do.
    busy_until: u64,
    departures: VecDeque<Departure>,
    /// Bytes of `departures`.
    backlog: u64,
    discipline: Discipline,
    extras: Option<Box<Extras>>,
    /// Packets on the wire in the order of their arrival.
    pub(crate) wire: VecDeque<InFlight>,
    /// Those of them that others overtake, likewise.
    pub(crate) late: VecDeque<InFlight>,
    /// Packets bound for this link that are on the wire of its only feeder.
    pub(crate) pending: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    report: LinkReport,
}

impl Link {
    /// `name` names its random numbers.
    pub(crate) fn new(config: LinkConfig, seed: u64, name: &str) -> Self {
        let rng = |role: &str| Rng::new(seed, &format!("link {name} {role}"));
        let discipline = match config.queue {
            Queue::DropTail(limit) => Discipline::DropTail(limit),
            Queue::Red(red) => Discipline::Red(Box::new(RedState::new(red, config.rate, rng("red")))),
        };
        let losses =
            config.loss.into_iter().enumerate().map(|(i, loss)| Losses::new(loss, rng(&format!("loss {i}")))).collect();
        let extras = Extras {
            losses,
            jitter: (config.jitter > Span::ZERO).then(|| (config.jitter, rng("jitter"))),
            reorder: config.reorder.filter(|r| r.probability > 0.0).map(|r| (r, rng("reorder"))),
            duplicate: (config.duplicate > 0.0).then(|| (config.duplicate, rng("duplicate"))),
            last_arrival: 0,
        };
        let plain = extras.losses.is_empty()
            && extras.jitter.is_none()
            && extras.reorder.is_none()
            && extras.duplicate.is_none();
        Link {
            rate: config.rate.max(1),
            delay: config.delay.0,
            last_size: 0,
            last_time: 0,
            busy_until: 0,
            departures: VecDeque::new(),
            backlog: 0,
            discipline,
            extras: (!plain).then(|| Box::new(extras)),
            wire: VecDeque::new(),
            late: VecDeque::new(),
            pending: 0,
            from: config.from.0,
            to: config.to.0,
            report: LinkReport::default(),
        }
    }

    /// Whether such a link draws no random numbers.
    pub(crate) fn is_deterministic(config: &LinkConfig) -> bool {
        matches!(config.queue, Queue::DropTail(_))
            && config.loss.is_empty()
            && config.jitter == Span::ZERO
            && config.reorder.is_none()
            && config.duplicate == 0.0
    }

    /// Whether packets always arrive in the order in which they were put on the link.
    pub(crate) fn keeps_order(&self) -> bool {
        self.extras.as_ref().is_none_or(|extras| extras.reorder.is_none())
    }

    /// A packet arrives at the link's entrance: when it will arrive at the other end, or why it is dropped. `mss` is
    /// its flow's.
    pub(crate) fn admit(&mut self, now: u64, packet: &Packet, mss: impl Fn() -> u32) -> Result<Passage, &'static str> {
        let size = packet.size;
        self.report.packets += 1;
        self.report.bytes += u64::from(size);
        if let Some(extras) = &mut self.extras {
            let mss = if extras.losses.is_empty() { 0 } else { mss() };
            if let Some(why) = extras.losses.iter_mut().find_map(|loss| loss.take(Time(now), packet, mss)) {
                self.report.dropped_loss += 1;
                return Err(why);
            }
        }
        self.enqueue(now, size)?;
        let mut arrival = self.busy_until.saturating_add(self.delay);
        let Some(extras) = &mut self.extras else { return Ok(Passage { arrival, late: false, twice: false }) };
        if let Some((most, rng)) = &mut extras.jitter {
            arrival = arrival.saturating_add(rng.up_to(*most).0).max(extras.last_arrival);
            extras.last_arrival = arrival;
        }
        let mut late = false;
        if let Some((reorder, rng)) = &mut extras.reorder {
            late = rng.chance(reorder.probability);
            if late {
                arrival = arrival.saturating_add(reorder.extra_delay.0);
            }
        }
        let twice = extras.duplicate.as_mut().is_some_and(|(p, rng)| rng.chance(*p));
        Ok(Passage { arrival, late, twice })
    }

    /// Puts a packet of `size` bytes into the queue, which sets `busy_until` to the end of its transmission.
    fn enqueue(&mut self, now: u64, size: u32) -> Result<(), &'static str> {
        while let Some(first) = self.departures.front() {
            if first.at > now {
                break;
            }
            self.backlog -= u64::from(first.size);
            self.departures.pop_front();
        }
        let full = match &mut self.discipline {
            Discipline::DropTail(Limit::Packets(limit)) => self.departures.len() >= *limit as usize,
            Discipline::DropTail(Limit::Bytes(limit)) => self.backlog + u64::from(size) > *limit,
            Discipline::Red(red) => {
                let waiting = match self.departures.front() {
                    None => Waiting { packets: 0, bytes: 0, idle_for: Some((now - self.busy_until) as f64 * 1e-9) },
                    Some(first) => Waiting {
                        packets: self.departures.len() as u32 - 1,
                        bytes: self.backlog - u64::from(first.size),
                        idle_for: None,
                    },
                };
                match red.arrive(waiting, size) {
                    Verdict::Enqueue => false,
                    Verdict::Full => true,
                    Verdict::Early => {
                        self.report.dropped_early += 1;
                        return Err("early");
                    }
                }
            }
        };
        if full {
            self.report.dropped_queue += 1;
            return Err("queue");
        }
        if size != self.last_size {
            self.last_size = size;
            self.last_time = transmission_time(size, self.rate);
        }
        self.busy_until = self.busy_until.max(now).saturating_add(self.last_time);
        self.backlog += u64::from(size);
        self.departures.push_back(Departure { at: self.busy_until, size });
        self.report.max_queue = self.report.max_queue.max(self.departures.len() as u64);
        Ok(())
    }

    /// Counters at `now`, which lies not before the last arrival.
    pub(crate) fn report(&self, now: u64) -> LinkReport {
        let dropped = self.report.dropped_queue + self.report.dropped_early + self.report.dropped_loss;
        let queued = self.departures.iter().filter(|departure| departure.at > now).count() as u64;
        LinkReport { departed: self.report.packets - dropped - queued, ..self.report }
    }
}

/// How long `size` bytes take at `rate` bits per second, to the nearest nanosecond.
pub(crate) fn transmission_time(size: u32, rate: u64) -> u64 {
    let bit_nanos = u64::from(size) * 8_000_000_000;
    (bit_nanos / rate).saturating_add(u64::from(bit_nanos % rate >= rate.div_ceil(2)))
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
