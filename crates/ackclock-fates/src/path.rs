//! The path between the two ends: a small simulator of one connection.
//!
//! It does what `ackclock-net` does with the scenario of the same connection, segment by segment
//! and to the nanosecond (`tests/all/simulator.rs`), in a few microseconds a run: one transmitter
//! and one wire each way, no queue that overflows, nothing at random.

use std::collections::VecDeque;

use ackclock_tcp::recovery::detect::{Notice, Notices, Transmission};
use ackclock_tcp::{Composition, Event, Receiver, Segment, Sender, Span, Time, Transmit};

use crate::connection::{Connection, DELAY, LIMIT, RTT, TRANSMISSION};
use crate::schedule::Schedule;

/// What a run showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When all was acknowledged; `None` if it was not by [`LIMIT`].
    pub completed: Option<Time>,
    /// Timeouts of the retransmission timer.
    pub timeouts: u32,
    /// Retransmissions that brought the receiver nothing new.
    pub spurious: u32,
    /// The most segments that one ACK or timer released.
    pub burst: u32,
    /// The network kept a packet alive for each round trip until the first timeout
    /// ([`Tally`](crate::Tally) says what that means).
    pub alive: bool,
}

/// The transmission of a packet, on its way.
#[derive(Clone, Copy)]
struct Flight {
    at: u64,
    /// When it was put onto its link: of two that arrive at the same time, the earlier goes first.
    put: u64,
    segment: Segment,
    /// Of data: which transmission; of an ACK: 0.
    transmission: u32,
    /// The round trip in which the data was sent that this is, or that it acknowledges.
    round: u32,
}

/// One direction.
#[derive(Default)]
struct Way {
    busy_until: u64,
    last_arrival: u64,
    wire: VecDeque<Flight>,
    /// Overtaken, in no order.
    late: Vec<Flight>,
}

/// What is to reach the sender of a loss.
#[derive(Clone, Copy)]
enum Word {
    Lost(Notice),
    /// A lost ACK, which a notified sender gets all the same.
    Ack(Segment),
    /// Of a lost segment, on the way to the receiver.
    OnPath(Transmission),
}

#[derive(Clone, Copy)]
struct Notified {
    at: u64,
    put: u64,
    word: Word,
}

const NO_ROUND: u32 = 63;

/// Time in units of [`RTT`] from the writing of the window on, as far as segments were sent in them
/// before the first timeout.
#[derive(Default)]
struct Rounds {
    sent: u64,
    alive: u64,
}

/// One run at work. It keeps its memory from run to run.
#[derive(Default)]
pub struct Path {
    there: Way,
    back: Way,
    notices: Vec<Notified>,
    acks: u64,
    rounds: Rounds,
    outcome: Outcome,
    /// The senders' events of the last run, if they were asked for.
    pub events: Vec<Event>,
}

impl Way {
    fn clear(&mut self) {
        let Way { busy_until, last_arrival, wire, late } = self;
        (*busy_until, *last_arrival) = (0, 0);
        wire.clear();
        late.clear();
    }

    /// When a packet arrives that enters the wire at `entry`.
    fn arrival(&self, entry: u64, schedule: &Schedule) -> u64 {
        let spikes =
            schedule.spikes().iter().filter(|s| (s.at..s.at + s.lasts).contains(&Time(entry)));
        let arrival = spikes.fold(entry + DELAY.0, |at, spike| at + spike.delay.0);
        arrival.max(self.last_arrival)
    }

    fn put(&mut self, mut flight: Flight, takes: Span, late: Option<Span>, schedule: &Schedule) {
        self.busy_until = self.busy_until.max(flight.put) + takes.0;
        flight.at = self.arrival(self.busy_until, schedule);
        self.last_arrival = flight.at;
        match late {
            None => self.wire.push_back(flight),
            Some(by) => {
                flight.at += by.0;
                self.late.push(flight);
            }
        }
    }

    /// When a packet put now would arrive, were it let in.
    fn would_arrive(&self, now: u64, takes: Span, schedule: &Schedule) -> u64 {
        self.arrival(self.busy_until.max(now) + takes.0, schedule)
    }

    /// When the next packet arrives, and when it was put.
    fn next(&self) -> (u64, u64) {
        let first = self.wire.front().map_or((u64::MAX, 0), |f| (f.at, f.put));
        self.late.iter().map(|f| (f.at, f.put)).fold(first, Ord::min)
    }

    fn take(&mut self, key: (u64, u64)) -> Option<Flight> {
        if self.wire.front().is_some_and(|f| (f.at, f.put) == key) {
            return self.wire.pop_front();
        }
        let place = self.late.iter().position(|f| (f.at, f.put) == key)?;
        Some(self.late.remove(place))
    }
}

impl Path {
    /// Runs a connection to its end. With `events` those of the sender are kept.
    pub fn run(
        &mut self,
        connection: Connection,
        composition: &Composition,
        schedule: &Schedule,
        events: bool,
    ) -> Outcome {
        self.there.clear();
        self.back.clear();
        self.notices.clear();
        self.events.clear();
        (self.acks, self.rounds, self.outcome) = Default::default();
        let (sender, receiver) = connection.ends(composition, events);
        Run {
            notices: sender.notices(),
            total: connection.segments() * u64::from(connection.mss),
            window_at: connection.written_at().0,
            timer: u64::MAX,
            connection,
            schedule,
            sender,
            receiver,
            path: self,
        }
        .run()
    }
}

struct Run<'a> {
    connection: Connection,
    schedule: &'a Schedule,
    sender: Sender,
    receiver: Receiver,
    notices: Notices,
    total: u64,
    window_at: u64,
    /// When the sender is looked after for its timer: at its deadline, or before it if that has
    /// moved on since.
    timer: u64,
    path: &'a mut Path,
}

impl Run<'_> {
    fn run(mut self) -> Outcome {
        let writes = self.connection.writes();
        let mut written = 0;
        loop {
            let there = self.path.there.next();
            let back = self.path.back.next();
            let notice = self.notice();
            let timer = self.timer;
            let write = writes.get(written).map_or(u64::MAX, |(at, _)| at.0);
            // At the same time packets come first, the one that was put first; then timers; then
            // the application.
            let packet = there.min(back).min(notice);
            let now = packet.0.min(timer).min(write);
            if now > LIMIT.0 {
                break;
            }
            if packet.0 == now {
                if packet == notice {
                    self.on_notice(now, packet);
                } else if packet == there {
                    self.on_data(now, packet);
                } else {
                    self.on_ack(now, packet);
                }
            } else if timer == now {
                self.timer = u64::MAX;
                if self.sender.next_deadline().0 <= now {
                    self.sender.on_deadline(Time(now));
                }
                self.pump(now, now + 1, true);
            } else {
                self.sender.write(Time(now), writes[written].1);
                written += 1;
                if written == writes.len() {
                    self.sender.close(Time(now));
                }
                self.pump(now, now, false);
            }
            if self.sender.acked() >= self.total {
                self.path.outcome.completed = Some(Time(now));
                break;
            }
        }
        let Rounds { sent, alive } = self.path.rounds;
        let timeouts = self.sender.stats().timeouts as u32;
        Outcome { timeouts, alive: sent & !alive == 0, ..self.path.outcome }
    }

    fn notice(&self) -> (u64, u64) {
        let all = self.path.notices.iter().map(|n| (n.at, n.put));
        all.min().unwrap_or((u64::MAX, 0))
    }

    fn on_data(&mut self, now: u64, key: (u64, u64)) {
        let Some(flight) = self.path.there.take(key) else { return };
        let fresh = self.receiver.on_segment(Time(now), &flight.segment);
        self.path.outcome.spurious += u32::from(!fresh && flight.transmission > 1);
        while let Some(segment) = self.receiver.poll_transmit(Time(now)) {
            self.path.acks += 1;
            let number = self.path.acks;
            if self.schedule.loses_ack(number) {
                if self.notices != Notices::Never {
                    let at = self.path.back.would_arrive(now, Span::ZERO, self.schedule);
                    self.path.notices.push(Notified { at, put: now, word: Word::Ack(segment) });
                }
                continue;
            }
            let late = self.schedule.ack_lateness(number);
            let ack = Flight { at: 0, put: now, segment, transmission: 0, round: flight.round };
            self.path.rounds.alive |= 1 << flight.round;
            self.path.back.put(ack, Span::ZERO, late, self.schedule);
        }
    }

    fn on_ack(&mut self, now: u64, key: (u64, u64)) {
        let Some(flight) = self.path.back.take(key) else { return };
        self.sender.on_segment(Time(now), &flight.segment);
        self.pump(now, now, true);
    }

    fn on_notice(&mut self, now: u64, key: (u64, u64)) {
        let place = self.path.notices.iter().position(|n| (n.at, n.put) == key);
        let Some(place) = place else { return };
        match self.path.notices.remove(place).word {
            Word::OnPath(lost) => {
                let at = self.path.back.would_arrive(now, Span::ZERO, self.schedule);
                let word = Word::Lost(Notice { lost, at_once: false });
                self.path.notices.push(Notified { at, put: now, word });
                return;
            }
            Word::Lost(notice) => self.sender.on_notice(Time(now), notice),
            Word::Ack(segment) => self.sender.on_segment(Time(now), &segment),
        }
        self.pump(now, now, true);
    }

    /// Sends what the sender has to send, and sets its timer to `earliest` or later. What an ACK or
    /// a timer releases counts as a burst.
    fn pump(&mut self, now: u64, earliest: u64, counts: bool) {
        let mut burst = 0;
        loop {
            let transmit = self.sender.poll_transmit(Time(now));
            while let Some(event) = self.sender.poll_event() {
                self.path.events.push(event);
            }
            let Some(transmit) = transmit else { break };
            burst += 1;
            self.send(now, &transmit);
        }
        let due = self.sender.next_deadline().0;
        if due < self.timer {
            self.timer = due.max(earliest);
        }
        if counts && now >= self.window_at {
            self.path.outcome.burst = self.path.outcome.burst.max(burst);
        }
    }

    fn send(&mut self, now: u64, transmit: &Transmit) {
        let Transmit { segment, position, transmission, .. } = *transmit;
        let round = self.round(now, transmission);
        let mss = u64::from(self.connection.mss);
        let number = position / mss;
        let listed = segment.len > 0 && position.is_multiple_of(mss);
        if listed && self.schedule.loses(number, transmission) {
            return self.lose(now, Transmission { seq: position, number: transmission });
        }
        let late = listed.then(|| self.schedule.lateness(number, transmission)).flatten();
        let takes = if segment.len == 0 { Span::ZERO } else { TRANSMISSION };
        let data = Flight { at: 0, put: now, segment, transmission, round };
        self.path.there.put(data, takes, late, self.schedule);
    }

    fn lose(&mut self, now: u64, lost: Transmission) {
        if self.notices == Notices::Never {
            return;
        }
        if self.notices == Notices::AtOnce {
            let at = now + TRANSMISSION.0;
            let word = Word::Lost(Notice { lost, at_once: true });
            self.path.notices.push(Notified { at, put: now, word });
        }
        let at = self.path.there.would_arrive(now, TRANSMISSION, self.schedule);
        self.path.notices.push(Notified { at, put: now, word: Word::OnPath(lost) });
    }

    /// The round trip in which a segment is sent; after the first timeout none.
    fn round(&mut self, now: u64, transmission: u32) -> u32 {
        if now < self.window_at || transmission == 0 || self.sender.stats().timeouts > 0 {
            return NO_ROUND;
        }
        let round = ((now - self.window_at) / RTT.0).min(u64::from(NO_ROUND) - 1) as u32;
        self.path.rounds.sent |= 1 << round;
        round
    }
}
