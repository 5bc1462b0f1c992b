//! The schedule that is furthest from the oracle: a search where exhaustion ends.
//!
//! Each climb begins with events drawn at random and changes one at a time, as long as the distance
//! does not fall. Climbs know nothing of each other, and each has random numbers of its own, so the
//! result depends on the seed and on how many there were, not on threads.

use std::fmt;
use std::str::FromStr;

use ackclock_net::Rng;
use ackclock_run::{Error, in_parallel};
use ackclock_tcp::{Composition, Span, Time};

use crate::connection::{Connection, LIMIT, MSS};
use crate::path::Path;
use crate::schedule::{Schedule, Spike};

/// The most events of a schedule.
pub const EVENTS: usize = 6;
/// The connection: 60 segments, of which 40 begin with a window of 12.
pub const CONNECTION: Connection = Connection { window: 12, following: 28, mss: MSS };
/// Changes of one climb.
const STEPS: u32 = 400;

/// One thing that the path does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It loses a transmission of a segment: the first or the second. A segment that is lost more
    /// often only backs the timer off further.
    Lose(u64, u32),
    /// A transmission of a segment arrives so much later.
    Late(u64, u32, Span),
    /// It loses an ACK.
    LoseAck(u64),
    /// An ACK arrives so much later.
    LateAck(u64, Span),
    /// All takes longer.
    Delay(Spike),
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    /// What the path does.
    pub events: Vec<Event>,
    /// How much later than the oracle the transfer is complete, in nanoseconds.
    pub over: i64,
}

/// A strategy and its oracle over one path.
pub struct Search<'a> {
    /// The strategy.
    pub composition: &'a Composition,
    /// Its oracle.
    pub oracle: &'a Composition,
    /// Names the random numbers.
    pub seed: u64,
}

impl Event {
    fn draw(rng: &mut Rng) -> Event {
        let mut below = |n: u64| (rng.unit() * n as f64) as u64;
        let millis = |n| Span::from_millis(n);
        let (segment, transmission) = (below(CONNECTION.segments()), 1 + below(2) as u32);
        let ack = 1 + below(CONNECTION.segments() + 10);
        match below(8) {
            0..=3 => Event::Lose(segment, transmission),
            4 => Event::Late(segment, transmission, millis(10 * (1 + below(50)))),
            5 => Event::LoseAck(ack),
            6 => Event::LateAck(ack, millis(10 * (1 + below(50)))),
            _ => Event::Delay(Spike {
                at: Time::ZERO + millis(50 * below(80)),
                lasts: millis(50 * (1 + below(10))),
                delay: millis(100 * (1 + below(20))),
            }),
        }
    }

    fn put(self, into: &mut Schedule) {
        match self {
            Event::Lose(segment, transmission) => into.lose(segment, transmission),
            Event::Late(segment, transmission, by) => into.delay(segment, transmission, by),
            Event::LoseAck(ack) => into.lose_ack(ack),
            Event::LateAck(ack, by) => into.delay_ack(ack, by),
            Event::Delay(spike) => into.spike(spike),
        }
    }
}

/// The events as a schedule.
pub fn schedule(events: &[Event]) -> Schedule {
    let mut schedule = Schedule::default();
    events.iter().for_each(|event| event.put(&mut schedule));
    schedule
}

impl Search<'_> {
    /// How much later than the oracle the transfer is complete, in nanoseconds.
    pub fn over(&self, path: &mut Path, events: &[Event]) -> i64 {
        let schedule = schedule(events);
        let mut completed = |composition| {
            let outcome = path.run(CONNECTION, composition, &schedule, false);
            outcome.completed.unwrap_or(Time::ZERO + LIMIT).0 as i64
        };
        completed(self.composition) - completed(self.oracle)
    }

    /// The best of these climbs, shrunk; of equals that with fewer events, then the earlier climb.
    ///
    /// # Errors
    /// If there are no threads.
    pub fn climbs(&self, climbs: std::ops::Range<u64>, threads: u16) -> Result<Worst, Error> {
        let climbs: Vec<u64> = climbs.collect();
        let found = in_parallel(&climbs, threads, |&climb| Ok(self.climb(climb)))?;
        let worst = found.into_iter().reduce(|a, b| if b.beats(&a) { b } else { a });
        Ok(worst.unwrap_or(Worst { events: Vec::new(), over: 0 }))
    }

    fn climb(&self, climb: u64) -> Worst {
        let mut rng = Rng::new(self.seed, &format!("worst/{climb}"));
        let mut path = Path::default();
        let mut events: Vec<Event> = (0..EVENTS).map(|_| Event::draw(&mut rng)).collect();
        let mut over = self.over(&mut path, &events);
        for _ in 0..STEPS {
            let mut other = events.clone();
            let place = (rng.unit() * EVENTS as f64) as usize;
            if let Some(event) = other.get_mut(place) {
                *event = Event::draw(&mut rng);
            }
            let then = self.over(&mut path, &other);
            if then >= over {
                (events, over) = (other, then);
            }
        }
        self.shrink(&mut path, Worst { events, over })
    }

    /// Leaves out what hardly matters: an event without which the distance is 99 % of what it was.
    fn shrink(&self, path: &mut Path, mut worst: Worst) -> Worst {
        let mut place = 0;
        while place < worst.events.len() {
            let mut events = worst.events.clone();
            events.remove(place);
            let over = self.over(path, &events);
            if 100 * over >= 99 * worst.over {
                worst = Worst { events, over };
                place = 0;
            } else {
                place += 1;
            }
        }
        worst
    }
}

impl Worst {
    /// Whether it is further away, or as far with fewer events.
    pub fn beats(&self, other: &Worst) -> bool {
        (self.over, other.events.len()) > (other.over, self.events.len())
    }
}

/// `lose 20.1` (segment and transmission), `late 20.2 50ms`, `lose-ack 21`, `late-ack 21 50ms`,
/// `delay 300ms 50ms 100ms`: when, for how long and by how much.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |span: Span| span.0 / 1_000_000;
        match *self {
            Event::Lose(segment, n) => write!(f, "lose {segment}.{n}"),
            Event::Late(segment, n, by) => write!(f, "late {segment}.{n} {}ms", ms(by)),
            Event::LoseAck(ack) => write!(f, "lose-ack {ack}"),
            Event::LateAck(ack, by) => write!(f, "late-ack {ack} {}ms", ms(by)),
            Event::Delay(Spike { at, lasts, delay }) => {
                let at = ms(at.since(Time::ZERO));
                write!(f, "delay {at}ms {}ms {}ms", ms(lasts), ms(delay))
            }
        }
    }
}

impl FromStr for Event {
    type Err = String;

    fn from_str(text: &str) -> Result<Event, String> {
        event(text).ok_or_else(|| format!("`{text}` is no event"))
    }
}

fn event(text: &str) -> Option<Event> {
    let ms = |word: &str| Some(Span::from_millis(word.strip_suffix("ms")?.parse().ok()?));
    let transmission = |word: &str| {
        let (segment, n) = word.split_once('.')?;
        Some((segment.parse().ok()?, n.parse().ok().filter(|n| (1..=32).contains(n))?))
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(match words[..] {
        ["lose", which] => {
            let (segment, n) = transmission(which)?;
            Event::Lose(segment, n)
        }
        ["late", which, by] => {
            let (segment, n) = transmission(which)?;
            Event::Late(segment, n, ms(by)?)
        }
        ["lose-ack", ack] => Event::LoseAck(ack.parse().ok()?),
        ["late-ack", ack, by] => Event::LateAck(ack.parse().ok()?, ms(by)?),
        ["delay", at, lasts, by] => {
            let spike = Spike { at: Time::ZERO + ms(at)?, lasts: ms(lasts)?, delay: ms(by)? };
            Event::Delay(spike)
        }
        _ => return None,
    })
}
