//! Links whose transmitter needs events, since they vary or judge packets as they leave the queue.
//!
//! A link that stays as it is knows when a packet will leave as soon as it arrives. Here the
//! packets wait in a queue, and what happens to them happens in events: a transmission ends, an
//! outage or the queue drops what waits, a burst goes.
//!
//! The contract: [`Served::advance`] is called at [`Served::next_due`], before any packet that
//! arrives at that time.

mod schedule;

use std::collections::VecDeque;

use ackclock_tcp::Span;

use super::impairments::Effects;
use super::{Discipline, Link};
use crate::config::LinkConfig;
use crate::loss::Losses;
use crate::packet::Packet;
use crate::queue::{Found, Limit, Line, Queued, Verdict, Waiting};
use crate::recorder::Visit;
use crate::rng::Rng;
use crate::trace::{Cursor, OPPORTUNITY, TUN_HEADER};
use crate::varying::Aggregate;
use schedule::Schedule;

/// What becomes of a packet that was let in.
#[derive(Debug)]
enum Done {
    Leaves(Queued),
    Dropped(Queued, &'static str),
}

/// The same, as who moves packets needs it.
#[derive(Debug)]
pub(crate) enum Served {
    /// It is on the wire.
    Leaves { packet: Packet, arrival: u64, effects: Effects },
    /// It was let in, and is dropped all the same.
    Dropped { packet: Packet, why: &'static str },
}

/// What decides when bytes go.
#[derive(Debug)]
enum Pace {
    /// The rate of the schedule. The present packet has been sent at this time.
    Rate { end: u64 },
    /// A trace. Of the present packet so many bytes are still to be sent.
    Trace { cursor: Cursor, left: u64 },
}

/// The transmitter of such a link.
#[derive(Debug)]
pub(crate) struct Transmitter {
    pub(super) discipline: Discipline,
    schedule: Schedule,
    /// In place of the link's own, by the number of the change.
    losses: Vec<Vec<Losses>>,
    pace: Pace,
    /// By a rate: the packet in transmission. By a trace: one of which a part has gone.
    present: Option<Queued>,
    /// Those behind it.
    queue: Line,
    idle_since: u64,
    /// When an outage drops what waits.
    drop_at: u64,
    aggregate: Option<Aggregate>,
    /// Sent, and waiting for their burst, which goes at `burst_at`.
    burst: Vec<Queued>,
    burst_at: u64,
    done: VecDeque<Done>,
    /// Since when packets that were dropped for one that came are in `done`.
    done_at: u64,
    /// The earliest entry of this link in the heap.
    scheduled: u64,
    last_arrival: u64,
    pub(super) departed: u64,
    pub(super) dropped_outage: u64,
    /// Dropped for others that came.
    pub(super) dropped_queue: u64,
    /// What recorders have not got yet; `None` if they do not want it.
    visits: Option<Vec<Visit>>,
}

impl Transmitter {
    /// `rng` makes the random numbers for a role.
    pub(super) fn new(
        config: &LinkConfig,
        discipline: Discipline,
        rng: impl Fn(&str) -> Rng,
    ) -> Transmitter {
        let losses = config.varying.changes.iter().enumerate().map(|(i, change)| {
            let losses = change.loss.iter().flatten().cloned().enumerate();
            losses
                .map(|(k, loss)| Losses::new(loss, rng(&format!("change {i} loss {k}"))))
                .collect()
        });
        Transmitter {
            discipline,
            schedule: Schedule::new(config),
            losses: losses.collect(),
            pace: match &config.varying.trace {
                Some(trace) => Pace::Trace { cursor: Cursor::new(trace.clone()), left: 0 },
                None => Pace::Rate { end: u64::MAX },
            },
            present: None,
            queue: Line::default(),
            idle_since: 0,
            drop_at: u64::MAX,
            aggregate: config.varying.aggregate,
            burst: Vec::new(),
            burst_at: u64::MAX,
            done: VecDeque::new(),
            done_at: u64::MAX,
            scheduled: u64::MAX,
            last_arrival: 0,
            departed: 0,
            dropped_outage: 0,
            dropped_queue: 0,
            visits: None,
        }
    }

    /// From now on visits are noted.
    pub(super) fn watch(&mut self) {
        self.visits.get_or_insert_default();
    }

    /// A packet leaves the queue, to be sent, or is dropped for this reason. Of one that an outage
    /// takes from the transmitter, it is noted already that it left.
    fn note(&mut self, now: u64, packet: &Queued, dropped: Option<&'static str>) {
        if let Some(visits) = &mut self.visits
            && !packet.noted
        {
            visits.push(packet.visit(now, dropped));
        }
    }

    /// Packets that wait, and their bytes.
    fn waiting(&self) -> (usize, u64) {
        match &self.discipline {
            Discipline::FqCodel(fq) => (fq.len(), fq.bytes()),
            _ => (self.queue.len(), self.queue.bytes),
        }
    }

    /// Packets that wait or are in transmission.
    pub(super) fn len(&self) -> u64 {
        self.waiting().0 as u64 + u64::from(self.present.is_some())
    }

    /// Their bytes.
    fn bytes(&self) -> u64 {
        self.waiting().1 + self.present.as_ref().map_or(0, |p| u64::from(p.packet.size))
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A packet arrives. It joins the queue, or is dropped for this reason.
    fn arrive(&mut self, now: u64, mut packet: Queued) -> Result<(), &'static str> {
        if self.schedule.drops(now) {
            self.dropped_outage += 1;
            return Err("outage");
        }
        match self.verdict(now, &packet.packet) {
            Verdict::Enqueue => {}
            Verdict::Mark => _ = packet.mark(),
            Verdict::Early => return Err(Link::EARLY),
            Verdict::Full => return Err(Link::FULL),
        }
        if self.is_empty() {
            self.drop_at = self.schedule.next_drop(now);
            if let Pace::Trace { cursor, .. } = &mut self.pace {
                cursor.skip(now);
            }
        }
        match &mut self.discipline {
            Discipline::FqCodel(fq) => {
                let before = self.done.len();
                fq.enqueue(packet, |packet| self.done.push_back(Done::Dropped(packet, Link::FULL)));
                if self.done.len() > before {
                    self.dropped_queue += (self.done.len() - before) as u64;
                    self.done_at = now;
                }
            }
            _ => self.queue.push(packet),
        }
        if let (Pace::Rate { .. }, None) = (&self.pace, &self.present) {
            self.transmit_next(now);
        }
        Ok(())
    }

    fn verdict(&mut self, now: u64, packet: &Packet) -> Verdict {
        // Of a trace's opportunity, what has begun to go has left Mahimahi's queue.
        let begun = match (&self.pace, &self.present) {
            (Pace::Trace { .. }, Some(present)) => Some(u64::from(present.packet.size)),
            _ => None,
        };
        let packets = self.len() - u64::from(begun.is_some());
        let bytes = self.bytes() - begun.unwrap_or(0);
        let idle_for = now.saturating_sub(self.idle_since) as f64 * 1e-9;
        let waiting = Waiting {
            packets: self.len().saturating_sub(1) as u32,
            idle_for: self.is_empty().then_some(idle_for),
        };
        let first = self.present.as_ref().or(self.queue.first());
        let behind = self.bytes() - first.map_or(0, |first| u64::from(first.packet.size));
        let capable = packet.is_ecn_capable();
        match &mut self.discipline {
            Discipline::DropTail(limit) => match self.schedule.limit(now).unwrap_or(*limit) {
                Limit::Packets(limit) => Verdict::full_if(packets >= limit.into()),
                Limit::Bytes(limit) => Verdict::full_if(bytes + u64::from(packet.size) > limit),
            },
            Discipline::Red(red) => red.arrive(waiting, (packet.size, capable), || behind),
            Discipline::Fred(fred) => fred.arrive(waiting, packet.flow),
            Discipline::Codel(codel) => Verdict::full_if(self.queue.len() >= codel.limit),
            Discipline::Pie(pie) => pie.arrive(now, self.queue.len(), self.queue.bytes, capable),
            // What there is no room for is dropped once the packet is in.
            Discipline::FqCodel(_) => Verdict::Enqueue,
            Discipline::Served(_) => Verdict::Full,
        }
    }

    /// The next packet, as the discipline has it.
    fn dequeue(&mut self, now: u64) -> Option<Queued> {
        let next = self.choose(now)?;
        self.note(now, &next, None);
        Some(Queued { noted: true, ..next })
    }

    fn choose(&mut self, now: u64) -> Option<Queued> {
        let (queue, done) = (&mut self.queue, &mut self.done);
        let dropped = |packet| done.push_back(Done::Dropped(packet, Link::EARLY));
        match &mut self.discipline {
            Discipline::Codel(codel) => {
                codel.dequeue(now, || queue.pop().map(|packet| (packet, queue.bytes)), dropped)
            }
            Discipline::FqCodel(fq) => fq.dequeue(now, dropped),
            Discipline::Pie(pie) => {
                let packet = queue.pop()?;
                pie.leave(now, packet.since, queue.len() == 0);
                Some(packet)
            }
            _ => queue.pop(),
        }
    }

    /// Takes a packet that waits, in whatever order.
    fn take_waiting(&mut self) -> Option<Queued> {
        match &mut self.discipline {
            Discipline::FqCodel(fq) => fq.pop_any(),
            _ => self.queue.pop(),
        }
    }

    /// The transmitter is free, and takes the next packet on.
    fn transmit_next(&mut self, now: u64) {
        self.present = self.dequeue(now);
        let Some(present) = &self.present else {
            self.idle_since = now;
            return;
        };
        let end = self.schedule.finish(now, present.packet.size.into());
        if let Pace::Rate { end: at } = &mut self.pace {
            *at = end;
        }
    }

    /// The present packet has been sent.
    fn sent(&mut self, now: u64) {
        let Some(packet) = self.present.take() else { return };
        self.departed += 1;
        let Some(aggregate) = self.aggregate else {
            return self.done.push_back(Done::Leaves(packet));
        };
        if self.burst.is_empty() {
            self.burst_at = now.saturating_add(aggregate.lasts.0);
        }
        self.burst.push(packet);
        if self.burst.len() >= aggregate.packets as usize {
            self.send_burst();
        }
    }

    fn send_burst(&mut self) {
        self.burst_at = u64::MAX;
        self.done.extend(self.burst.drain(..).map(Done::Leaves));
    }

    /// An opportunity of the trace to send bytes, as `LinkQueue::rationalize` has it.
    fn opportunity(&mut self, now: u64) {
        if self.schedule.is_out(now) {
            return;
        }
        let mut room = OPPORTUNITY;
        while room > 0 {
            let begins = self.present.is_none();
            if begins {
                self.present = self.dequeue(now);
            }
            let Some(present) = &self.present else { break };
            let Pace::Trace { left, .. } = &mut self.pace else { return };
            if begins {
                *left = u64::from(present.packet.size) + TUN_HEADER;
            }
            let takes = room.min(*left);
            room -= takes;
            *left -= takes;
            if *left == 0 {
                self.sent(now);
            }
        }
        if self.is_empty() {
            self.idle_since = now;
        }
    }

    /// Does what is due at `now`.
    fn advance(&mut self, now: u64) {
        self.done_at = u64::MAX;
        while self.transmission_due() <= now {
            match &mut self.pace {
                Pace::Rate { .. } => {
                    self.sent(now);
                    self.transmit_next(now);
                }
                Pace::Trace { cursor, .. } => {
                    cursor.advance();
                    self.opportunity(now);
                }
            }
        }
        if self.burst_at <= now {
            self.send_burst();
        }
        if self.drop_at <= now {
            while let Some(packet) = self.present.take().or_else(|| self.take_waiting()) {
                self.done.push_back(Done::Dropped(packet, "outage"));
                self.dropped_outage += 1;
            }
            (self.idle_since, self.drop_at) = (now, u64::MAX);
        }
    }

    /// When the present transmission ends, or the next opportunity comes.
    fn transmission_due(&self) -> u64 {
        match &self.pace {
            Pace::Rate { end } if self.present.is_some() => *end,
            Pace::Trace { cursor, .. } if !self.is_empty() => cursor.time(),
            _ => u64::MAX,
        }
    }

    fn next_due(&self) -> u64 {
        let drop_at = if self.is_empty() { u64::MAX } else { self.drop_at };
        self.transmission_due().min(drop_at).min(self.burst_at).min(self.done_at)
    }

    /// When a packet of `size` bytes that comes now would have been sent, were it let in.
    fn would_leave(&self, now: u64, size: u32) -> u64 {
        match &self.pace {
            Pace::Rate { end } => {
                let begin = if self.present.is_some() { *end } else { now };
                self.schedule.finish(begin, self.waiting().1 + u64::from(size))
            }
            Pace::Trace { cursor, .. } => {
                let mut cursor = cursor.clone();
                cursor.skip(now);
                let headers = TUN_HEADER * (self.len() + 1);
                let opportunities =
                    (self.bytes() + u64::from(size) + headers).div_ceil(OPPORTUNITY);
                for _ in 1..opportunities {
                    cursor.advance();
                }
                cursor.time()
            }
        }
    }
}

impl Link {
    /// Whether its transmitter needs events.
    pub(crate) fn is_served(&self) -> bool {
        matches!(self.discipline, Discipline::Served(_))
    }

    /// A packet arrives at the entrance of such a link. If it is let in, [`Link::transmitter_due`]
    /// may have changed.
    pub(crate) fn admit_served(
        &mut self,
        now: u64,
        packet: &Packet,
        mss: impl Fn() -> u32,
    ) -> Result<(), &'static str> {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        let Discipline::Served(transmitter) = &mut self.discipline else { return Err(Link::FULL) };
        let mut late_by = Span::ZERO;
        if let Some(impairments) = &mut self.impairments {
            let change = transmitter.schedule.losses(now);
            let instead = change.and_then(|i| transmitter.losses.get_mut(i));
            if let Some(why) = impairments.lose_by(instead, now, packet, &mss) {
                return Err(why);
            }
            late_by = impairments.late_by;
        }
        let found = Found { packets: transmitter.len() as u32, bytes: transmitter.bytes() };
        let queued =
            Queued { packet: *packet, late_by, since: now, found, marked: false, noted: false };
        let result = transmitter.arrive(now, queued);
        if let Err(why) = result {
            transmitter.note(now, &queued, Some(why));
        }
        self.dropped_queue += u64::from(result == Err(Link::FULL));
        self.max_queue = self.max_queue.max(transmitter.len() as u32);
        result
    }

    /// Does what is due at the transmitter at `now`. [`Link::next_served`] has what came of it.
    pub(crate) fn advance_transmitter(&mut self, now: u64) {
        if let Discipline::Served(transmitter) = &mut self.discipline {
            if transmitter.scheduled <= now {
                transmitter.scheduled = u64::MAX;
            }
            transmitter.advance(now);
        }
    }

    /// The next packet with which the transmitter is done. `mss` returns the MSS of a flow.
    pub(crate) fn next_served(&mut self, now: u64, mss: impl Fn(u32) -> u32) -> Option<Served> {
        let Discipline::Served(transmitter) = &mut self.discipline else { return None };
        let Queued { packet, late_by, .. } = match transmitter.done.pop_front()? {
            Done::Leaves(queued) => queued,
            Done::Dropped(queued, why) => {
                transmitter.note(now, &queued, Some(why));
                return Some(Served::Dropped { packet: queued.packet, why });
            }
        };
        let (delay, overtakes) = transmitter.schedule.delay(now);
        let mut arrival = now.saturating_add(delay);
        let mut effects = Effects::default();
        if let Some(impairments) = &mut self.impairments {
            impairments.late_by = late_by;
            if overtakes {
                impairments.last_arrival = 0;
            }
            arrival = impairments.pass(now, arrival, &packet, || mss(packet.flow));
            effects = impairments.effects;
        }
        if !effects.late {
            // The late ones have a line of their own, in which each may overtake others.
            effects.late = overtakes && arrival < transmitter.last_arrival;
            arrival = if effects.late { arrival } else { arrival.max(transmitter.last_arrival) };
            transmitter.last_arrival = transmitter.last_arrival.max(arrival);
        }
        Some(Served::Leaves { packet, arrival, effects })
    }

    /// The visits at such a link that recorders have not got yet.
    pub(crate) fn take_visits(&mut self) -> Vec<Visit> {
        let Discipline::Served(transmitter) = &mut self.discipline else { return Vec::new() };
        transmitter.visits.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The visits of packets that wait at such a link.
    pub(crate) fn waiting_visits(&self, now: u64) -> Vec<Visit> {
        let Discipline::Served(transmitter) = &self.discipline else { return Vec::new() };
        let visit = |queued: &Queued| Visit { waits: true, ..queued.visit(now, None) };
        match &transmitter.discipline {
            Discipline::FqCodel(fq) => fq.iter().map(visit).collect(),
            _ => transmitter.queue.iter().map(visit).collect(),
        }
    }

    /// When [`Link::advance_transmitter`] has to be called next, if that is to be noted down:
    /// nothing earlier is.
    pub(crate) fn transmitter_due(&mut self) -> Option<u64> {
        let Discipline::Served(transmitter) = &mut self.discipline else { return None };
        let due = transmitter.next_due();
        if due >= transmitter.scheduled {
            return None;
        }
        transmitter.scheduled = due;
        Some(due)
    }

    /// When a packet of `size` bytes that comes now would be sent by such a link, and how long the
    /// wire takes then.
    pub(super) fn would_be_served(&self, now: u64, size: u32) -> Option<(u64, u64)> {
        let Discipline::Served(transmitter) = &self.discipline else { return None };
        let leaves = transmitter.would_leave(now, size);
        Some((leaves, transmitter.schedule.delay(leaves).0))
    }
}

#[cfg(test)]
mod tests;
