//! The bottleneck's rate, and what the path holds without a queue.
//!
//! A segment that had been on its way for a whole round trip when the ACK before its own came was
//! waiting for the bottleneck then. So the time between these two ACKs is what the bottleneck took
//! for the bytes between, as long as what they cover did not go out as slowly.
//!
//! Delayed ACKs and traffic of others only make this rate smaller, so the estimate follows its
//! highest values.

use ackclock_tcp::{Span, Time};

use crate::compact::Compact;

/// The least weight of a new value.
const WEIGHT: f64 = 1.0 / 32.0;

/// Where the capture was taken elsewhere than at the sender, timestamps say when a segment was
/// sent. This is their tick, at the end of which that may have been.
pub(crate) const TICK: Span = Span::from_millis(1);

/// So many segments one behind the other measure the rate of the bottleneck that they have passed.
pub(super) const TRAIN: u64 = 8;
/// Into how many packets they are cut at the least: a host that puts packets together before the
/// capture (LRO, GRO) shows all of them at once.
const PACKETS: u8 = 3;

/// What an ACK says of the segments that it covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trip {
    /// When the ACK came.
    pub at: Time,
    /// When the first of the segments went out.
    pub oldest: Time,
    /// When the last went out.
    pub newest: Time,
    /// The acknowledgment.
    pub ack: u64,
    /// Bytes that it covers.
    pub bytes: u64,
    /// Bytes of all connections on this path that have been delivered so far.
    pub all: u64,
    /// Bytes outstanding when the last went out, its own included.
    pub flight: u32,
}

/// The shortest round trip of a full segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Base {
    trip: Compact<Span>,
    /// Bytes in the same ACK before its last segment, and how long before it they went out.
    ahead: u64,
    gap: Span,
}

/// The ACK before, and low bits of [`Trip::ack`] and [`Trip::all`].
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    at: Compact<Time>,
    ack: u32,
    all: u32,
}

/// The bottleneck was busy all the time from one ACK to another.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    span: Span,
    bytes: u32,
    /// Of all connections on this path.
    all: u32,
}

/// How fast data arrives that has waited for a bottleneck.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivalRate {
    pub bits_per_second: f64,
    /// The capture was taken behind every bottleneck, at the receiver.
    pub behind: bool,
    /// It has come as fast for so long, at the most.
    pub longest: Span,
}

/// Segments that arrive one behind the other, where the capture was not taken at the sender and
/// nothing says when they were sent: those of a train are as far apart as the bottleneck has put
/// them (Dovrolis, Ramanathan & Moore, "Packet-dispersion techniques and a capacity-estimation
/// methodology", IEEE/ACM ToN 12(6), 2004). What was sent less fast only makes the rate smaller.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrivals {
    /// When the train began, and when its last packet came.
    first: Time,
    last: Time,
    /// What came after its first packet: bytes and packets.
    bytes: u64,
    packets: u8,
    /// Trains have come one behind the other since then, and for so long at the most.
    since: Time,
    longest: Span,
    /// In bits per second, of so many trains or more.
    rate: f64,
    samples: u8,
    /// When the last packet came, whatever it was, and since when the bottleneck has been busy.
    any: Time,
    busy: Time,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bottleneck {
    mss: u32,
    /// The capture was taken at the sender, so that round trips are exact.
    exact: bool,
    handshake: Compact<Span>,
    base: Base,
    last: Last,
    /// It covered more than one segment, so no timer of delayed ACKs has sent it.
    several: bool,
    busy: Busy,
    /// In bits per second, of so many samples or more.
    rate: f64,
    samples: u8,
    /// The samples are of [`TRAIN`] or more, and of half a round trip or longer.
    long: bool,
}

impl Arrivals {
    /// New data of so many bytes arrives, of segments of `mss`.
    #[inline]
    pub fn arrived(&mut self, at: Time, bytes: u32, mss: u32) {
        let (gap, span) = (at.since(self.last), self.last.since(self.first));
        if self.first == Time::ZERO || gap == Span::ZERO {
            if self.packets > 0 {
                self.bytes += u64::from(bytes);
            } else {
                (self.first, self.last, self.since) = (at, at, at);
            }
            return;
        }
        if self.packets >= PACKETS && self.bytes >= TRAIN * u64::from(mss) {
            let rate = self.bytes as f64 * 8.0 / span.secs_f64();
            follow(&mut self.rate, &mut self.samples, rate);
            self.longest = self.longest.max(self.last.since(self.since));
            self.begin(self.last);
        }
        // A busy bottleneck takes as long for each byte. Where one takes twice as long as those
        // before, there was a silence, and where it takes half as long, there was one before.
        let (here, before) = (gap.0 as f64 * self.bytes as f64, span.0 as f64 * f64::from(bytes));
        if self.packets > 0 && here > before * 2.0 {
            self.since = at;
            return self.begin(at);
        }
        if self.packets > 0 && here < before / 2.0 {
            self.since = self.last;
            self.begin(self.last);
        }
        (self.last, self.bytes) = (at, self.bytes + u64::from(bytes));
        self.packets = self.packets.saturating_add(1);
    }

    /// A train begins with the packet that came at `first`.
    fn begin(&mut self, first: Time) {
        (self.first, self.last, self.bytes, self.packets) = (first, first, 0, 0);
    }

    /// The rate of payload, `behind` every bottleneck or not; `None` if no train was seen.
    pub fn rate(&self, behind: bool) -> Option<ArrivalRate> {
        let longest = self.longest;
        (self.samples > 0).then_some(ArrivalRate { bits_per_second: self.rate, behind, longest })
    }

    /// Data of so many bytes arrives, new or not. Returns since when each packet has come in twice
    /// the time at the most that the bottleneck takes for it; this time if this one has not, or if
    /// its rate is not known yet.
    #[inline]
    pub fn busy_since(&mut self, at: Time, bytes: u32) -> Time {
        let gap = at.since(std::mem::replace(&mut self.any, at));
        if self.samples == 0 || gap.secs_f64() * self.rate > f64::from(bytes) * 16.0 {
            self.busy = at;
        }
        self.busy
    }
}

impl Base {
    /// How long it took; `None` before there is one.
    pub fn trip(&self) -> Option<Span> {
        self.trip.get()
    }
}

impl Trip {
    pub fn span(&self) -> Span {
        self.at.since(self.newest)
    }

    fn gap(&self) -> Span {
        self.newest.since(self.oldest)
    }
}

impl Bottleneck {
    pub fn new(mss: u32, handshake: Option<Span>, exact: bool) -> Bottleneck {
        Bottleneck { mss: mss.max(1), exact, handshake: handshake.into(), ..Bottleneck::default() }
    }

    /// SMSS.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// The shortest round trip.
    pub fn base(&self) -> Base {
        self.base
    }

    /// Whether a segment with this round trip has waited in a queue, or takes another route. What
    /// varies anyway is a quarter. Away from the sender it is more: the shortest way to the sender
    /// and the shortest way from it are known, which hardly ever come together.
    pub fn is_queued(&self, trip: Span) -> bool {
        let part = if self.exact { 4 } else { 2 };
        let longest = |base: Span| base + Span(base.0 / part) + self.slack();
        self.base.trip().is_some_and(|base| trip > longest(base))
    }

    /// This one as the shortest.
    pub fn based_on(&self, trip: &Trip) -> Base {
        let ahead = trip.bytes.saturating_sub(u64::from(self.mss));
        Base { trip: Some(trip.span()).into(), ahead, gap: trip.gap() }
    }

    /// Over another route this round trip is the shortest. Returns the one before.
    pub fn takes(&mut self, base: Base) -> Base {
        self.interrupted();
        std::mem::replace(&mut self.base, base)
    }

    /// A longer round trip may be as short.
    pub fn slack(&self) -> Span {
        if self.exact { Span::ZERO } else { TICK }
    }

    /// An ACK measures a round trip.
    #[inline]
    pub fn measured(&mut self, trip: &Trip) {
        let several = trip.bytes > u64::from(self.mss);
        let alike = std::mem::replace(&mut self.several, several) == several;
        let (at, ack, all) = (Some(trip.at).into(), trip.ack as u32, trip.all as u32);
        let last = std::mem::replace(&mut self.last, Last { at, ack, all });
        let span = trip.span();
        let full = trip.bytes >= u64::from(self.mss);
        if full && self.base.trip.get().is_none_or(|least| span < least) {
            self.base = self.based_on(trip);
        }
        let Some((before, base)) = last.at.get().zip(self.base.trip.get()) else { return };
        if alike && was_busy(before, trip, base + self.slack()) {
            let acked = (ack.wrapping_sub(last.ack) as i32).max(0) as u32;
            self.was_busy_since(trip.at.since(before), [acked, all.wrapping_sub(last.all)], base);
        } else {
            self.is_idle();
        }
    }

    /// Round trips are exact, and nothing of the handshake is known.
    #[inline]
    pub fn is_without_handshake(&self) -> bool {
        self.exact && self.handshake.get().is_none()
    }

    /// At the end: the path takes a full segment so long without a queue, and as much in bits a
    /// second, which counts where nothing better was measured.
    pub fn turns_out(&mut self, trip: Span, rate: f64) {
        self.base = Base { trip: Some(trip).into(), ..Base::default() };
        if !self.long {
            (self.rate, self.samples, self.long) = (rate, 1, true);
        }
    }

    /// For so long, in which so much of this connection and of all was delivered. A round trip is
    /// long enough that when single ACKs come does not count. Where ACKs come in bursts (Wi-Fi,
    /// DOCSIS), it ends with the first of one, as the next begins.
    fn was_busy_since(&mut self, took: Span, [own, of_all]: [u32; 2], base: Span) {
        let Busy { span, bytes, all } = self.busy;
        let late = took.0 as f64 * f64::from(bytes) >= span.0 as f64 * f64::from(own);
        let (bytes, all) = (bytes.saturating_add(own), all.saturating_add(of_all));
        self.busy = Busy { span: span + took, bytes, all };
        if self.busy.span >= base && late {
            self.is_idle();
        }
    }

    /// What was busy so far is one value. Within a burst that comes at once it may be much too
    /// high: short ones count only until there is a long one, in which silences between bursts have
    /// their part. In that time the bottleneck served the path's other connections, too.
    fn is_idle(&mut self) {
        let Busy { span, bytes, all } = std::mem::take(&mut self.busy);
        let base = self.base.trip.get().unwrap_or_default();
        let all = all.max(bytes);
        let long = span.times(2) >= base && u64::from(all) >= TRAIN * u64::from(self.mss);
        if span == Span::ZERO || self.long && !long {
            return;
        }
        if long && !self.long {
            (self.long, self.samples) = (true, 0);
        }
        let rate = f64::from(if long { all } else { bytes }) * 8.0 / span.secs_f64();
        follow(&mut self.rate, &mut self.samples, rate);
    }

    /// An ACK comes that may measure nothing: what follows is not compared with what was before.
    pub fn interrupted(&mut self) {
        self.is_idle();
        self.last = Last::default();
    }

    /// The rate of payload; `None` if the bottleneck was not seen busy.
    pub fn bits_per_second(&self) -> Option<f64> {
        let mut all = *self;
        all.is_idle();
        (all.samples > 0).then_some(all.rate)
    }

    /// Bytes of payload that are on their way when the bottleneck is just busy. `arrivals`: the
    /// rate at which they arrive, where it is known, in bits per second. A queue before the capture
    /// is not seen there, so that no more than this is ever outstanding, and that is known to
    /// within an eighth (`cells.rs`). Frames that come many at a time (Wi-Fi, DOCSIS) arrive faster
    /// than the bottleneck takes them, but not for long. `base`: the shortest round trip, of this
    /// route or another.
    pub fn holds(&self, base: Base, arrivals: Option<ArrivalRate>) -> Option<f64> {
        let Base { trip, ahead, gap } = base;
        let trip = trip.get()?;
        let last = |a: ArrivalRate| a.longest.times(2) >= trip || !self.long;
        let behind = arrivals.is_some_and(|arrivals| arrivals.behind && last(arrivals));
        let arrivals = arrivals.filter(|_| trip > Span::ZERO);
        let arrivals = arrivals.map(|arrivals| arrivals.bits_per_second / 8.0 * 7.0);
        let own = self.bits_per_second();
        // Either may be too low, and only behind the bottleneck can neither be too high.
        let known = own.filter(|own| !behind || arrivals.is_none_or(|a| a <= *own)).or(arrivals);
        let rate = known.or_else(|| self.beyond_handshake(trip))?;
        let ahead = ahead as f64 - rate * gap.secs_f64() / 8.0;
        Some(rate * trip.secs_f64() / 8.0 - ahead.max(0.0))
    }

    /// What several segments take beyond a small packet is their time at the bottleneck.
    fn beyond_handshake(&self, trip: Span) -> Option<f64> {
        let beyond = trip
            .0
            .checked_sub(self.handshake.get()?.0)
            .filter(|beyond| *beyond > self.slack().0)?;
        let ahead = self.base.ahead;
        (ahead > 0).then(|| (ahead + u64::from(self.mss)) as f64 * 8e9 / beyond as f64)
    }
}

/// One more sample of a rate, of which there were so many: it goes up fast, and down slowly.
fn follow(rate: &mut f64, samples: &mut u8, sample: f64) {
    *samples = samples.saturating_add(1);
    let step = *rate * (1.0 / f64::from(*samples)).max(WEIGHT);
    *rate = match *samples {
        1 => sample,
        _ => sample.clamp(*rate - step / 12.0, *rate + step * 2.0),
    };
}

/// The first of the segments waited for the bottleneck when the ACK `before` came. Did the others?
pub(super) fn was_busy(before: Time, trip: &Trip, base: Span) -> bool {
    let took = trip.at.since(before);
    let together = trip.gap().0 < took.0 / 4 * 3 && trip.span() >= base;
    before.since(trip.oldest) >= base && (together || trip.span() > base + took)
}

#[cfg(test)]
mod tests;
