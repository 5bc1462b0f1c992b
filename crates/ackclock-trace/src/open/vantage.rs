//! Where the capture was taken: round trips from it to each end and back, and times to live.

mod trip;

use ackclock_tcp::{Span, Time, Timestamps};

use self::trip::{LONGEST, Trip};
use crate::compact::Compact;
use crate::connection::{Position, Vantage};
use crate::sender::Sight;

/// A capture less than this from an end is at that end, if the other one is farther.
const NEAR: Span = Span::from_millis(1);

/// Nearly all delayed ACKs wait for no less: those of Linux for 40 ms (`TCP_DELACK_MIN`), of which
/// a tick of up to 10 ms may be over. A timer that runs all the time, as that of 4.4BSD (0 to
/// 200 ms), may send one sooner.
const DELAYED: Span = Span::from_millis(30);

/// The bit of `Place::bits` that is of no end: the handshake was made up.
const MADE_UP: u8 = 4;

/// Routes change by no more hops than these within a connection, mostly.
const FEW_HOPS: u8 = 3;

/// Where the capture was taken, by what passed it. Both ends: 0, the client, and 1, the server.
pub(super) struct Place {
    /// Round trips from the capture to each end.
    trips: [Trip; 2],
    /// What they probably are, or at most, in microseconds; zero if nothing is known.
    learned: [u32; 2],
    ttls: [u8; 2],
    /// Of a reset from an end, where that is far from the one before; else 0.
    reset_ttls: [u8; 2],
    /// What the capture shows of the transmissions of each end, once that is settled.
    sights: [Sight; 2],
    /// A round trip was shorter than all before it.
    shorter: bool,
    /// [`MADE_UP`], and for each end whether packets of it were lost before the capture, as their
    /// numbers say. Bits, as open connections are many.
    bits: u8,
}

impl Default for Place {
    fn default() -> Place {
        Place {
            trips: Default::default(),
            learned: [0; 2],
            ttls: [0; 2],
            reset_ttls: [0; 2],
            sights: [Sight::Arrived; 2],
            shorter: false,
            bits: 0,
        }
    }
}

impl Place {
    /// The same place, with nothing under way.
    pub fn rest(&self) -> Place {
        let trips = self.trips.each_ref().map(Trip::rest);
        Place { trips, ..*self }
    }

    /// A packet from `end` has this time to live. A reset may come from somewhere else; unless it
    /// comes from as far off: applications set a time to live for their data (RFC 5082 section 3),
    /// and their hosts reset with the usual one (Linux's `tcp_v4_send_reset`).
    #[inline]
    pub fn ttl(&mut self, end: usize, ttl: u8, reset: bool) {
        let usual = self.ttls[end];
        if !reset || usual == 0 {
            self.ttls[end] = ttl;
        } else if is_strange(ttl, usual) {
            self.reset_ttls[end] = ttl;
        }
    }

    /// The time to live of what comes from `end`; 0 before anything has.
    pub fn usual_ttl(&self, end: usize) -> u8 {
        self.ttls[end]
    }

    /// The times to live of a reset that something on the path has sent in the name of `end`, and
    /// of what came from there before. `syn`: that of its SYN. What is not strange beside that
    /// comes from a balancer of load, which opens and resets for hosts that are farther away.
    pub fn strange_reset(&self, end: usize, syn: Option<u8>) -> Option<[u8; 2]> {
        let reset = self.reset_ttls[end];
        let strange = reset > 0 && syn.is_none_or(|syn| is_strange(reset, syn));
        strange.then_some([reset, self.ttls[end]])
    }

    /// A SYN passes from `end`.
    pub fn syn(&mut self, end: usize, at: Time) {
        self.trips[1 - end].syn(at);
    }

    /// Timestamps pass from `end`. `again`: with data that went out before. `bare`: with nothing;
    /// then the echo may have waited since the first of several segments (RFC 7323 section 4.3).
    #[inline]
    pub fn timestamps(
        &mut self,
        end: usize,
        stamps: Timestamps,
        at: Time,
        [again, bare]: [bool; 2],
    ) {
        self.trips[1 - end].stamped(stamps.val, at);
        if let Some(trip) = self.trips[end].echoed(stamps.ecr, at, again) {
            self.measures(end, trip, !bare);
        }
    }

    /// An acknowledgment passes from `end`: of `all` that has passed on its way there, or not.
    /// Returns what it measures.
    #[inline]
    pub fn acked(&mut self, end: usize, ack: u64, all: bool, at: Time) -> Option<Span> {
        self.trips[end].acked(ack, all, at)
    }

    /// Something has gone to `end` and come back within this time. What is not answered `at_once`
    /// may have waited there for so long: that says only how long the way takes at the most, so
    /// that it does not measure it first.
    pub fn measures(&mut self, end: usize, trip: Span, at_once: bool) {
        if trip < DELAYED || at_once || self.trips[end].least.get().is_some() {
            self.shorter |= self.trips[end].sample(trip);
        } else if trip < LONGEST {
            let known = Span::from_micros(self.learned[end].into());
            self.learn(end, if known > Span::ZERO { trip.min(known) } else { trip });
        }
    }

    /// Data passes from `end`, up to this position. `clean`: for the first time, and the time is
    /// known.
    #[inline]
    pub fn sent(&mut self, end: usize, position: u64, at: Time, clean: bool) {
        let trip = &mut self.trips[1 - end];
        if clean { trip.sent(position, at) } else { trip.retransmitted() }
    }

    /// The last timestamp that passed from `end`.
    #[inline]
    pub fn last_stamp(&self, end: usize) -> Option<u32> {
        self.trips[1 - end].last
    }

    /// When something that is acknowledged last passed from `end`.
    pub fn last_data(&self, end: usize) -> Time {
        let trip = &self.trips[1 - end];
        trip.data_at + Span::from_micros(trip.newest.into())
    }

    /// A FIN or a reset passes from `end`, which closes when it wants to, and answers nothing by
    /// it.
    #[cold]
    pub fn closes(&mut self, end: usize) {
        self.trips[end].answers_nothing();
    }

    /// What is on its way measures nothing.
    pub fn loses_time(&mut self) {
        self.trips.iter_mut().for_each(Trip::answers_nothing);
    }

    /// The round trip to `end` is probably this, if nothing measures it.
    pub fn learn(&mut self, end: usize, trip: Span) {
        self.learned[end] = u32::try_from(trip.0 / 1000).unwrap_or(u32::MAX);
    }

    /// The sender at the capture has measured this round trip to `end`. That is the whole way, and
    /// the capture has measured one packet at a time, some of which were answered late.
    pub fn measured(&mut self, end: usize, trip: Span) {
        let least = &mut self.trips[end].least;
        if least.get().is_some_and(|least| least > trip) {
            least.set(trip);
        }
    }

    /// A handshake that took no time either way measures nothing: whoever wrote the capture made it
    /// up, as the simulator does for connections that it begins as established. Returns whether it
    /// is so.
    pub fn forget_made_up(&mut self) -> bool {
        let made_up = self.trips.iter().all(|trip| trip.least.get() == Some(Span::ZERO));
        if made_up {
            self.bits |= MADE_UP;
            self.trips.iter_mut().for_each(|trip| trip.least = Compact::default());
        }
        made_up
    }

    /// Whether [`Place::forget_made_up`] has found it so.
    pub fn is_made_up(&self) -> bool {
        self.bits & MADE_UP > 0
    }

    fn least_trips(&self) -> [Option<Span>; 2] {
        self.trips.each_ref().map(|trip| trip.least.get())
    }

    /// The round trip over the whole path, so far.
    pub fn whole_trip(&self) -> Option<Span> {
        let [client, server] = self.least_trips();
        Some(client? + server?)
    }

    /// Where the capture was taken. What was learned is too little to settle what the capture
    /// shows: it is asked where nothing else tells, and not of an end that is near.
    pub fn position(&self) -> Position {
        let known = self.least_trips();
        let told = self.by(known);
        let learned = self.learned.map(|us| (us > 0).then(|| Span::from_micros(us.into())));
        let [to_client, to_server] = [0, 1].map(|end: usize| known[end].or(learned[end]));
        match told.vantage {
            Vantage::Client => return Position { to_server, ..told },
            Vantage::Server => return Position { to_client, ..told },
            Vantage::Middle => return Position { to_client, to_server, ..told },
            Vantage::Unknown => {}
        }
        let mut position = self.by([to_client, to_server]);
        position.confidence /= 2.0;
        position
    }

    /// Where the capture was taken, by these round trips.
    fn by(&self, trips: [Option<Span>; 2]) -> Position {
        let lost_before = [0, 1].map(|end| self.is_lost_before(end));
        Position { lost_before, ..position(trips, self.ttls) }
    }

    /// Whether a round trip was shorter than all before it, since this was last asked. Then the
    /// place may be another: the first ones are those of the handshake, which a busy host answers
    /// late.
    #[inline]
    pub fn has_new_least(&mut self) -> bool {
        std::mem::take(&mut self.shorter)
    }

    /// Settles what the capture shows of the transmissions of `end`.
    pub fn settle(&mut self, end: usize) -> Sight {
        self.sights[end] = self.shows(end);
        self.sights[end]
    }

    /// What the capture shows of the transmissions of `end`, as is known by now.
    fn shows(&self, end: usize) -> Sight {
        sight(end, &self.by(self.least_trips()))
    }

    /// Whether packets of `end` were lost before the capture.
    #[inline]
    pub fn is_lost_before(&self, end: usize) -> bool {
        self.bits & 1 << end > 0
    }

    /// They were, or it turns out that they were not. Returns of which ends the capture shows less
    /// than was settled.
    #[cold]
    pub fn set_lost_before(&mut self, end: usize, lost: bool) -> [bool; 2] {
        self.bits = self.bits & !(1 << end) | u8::from(lost) << end;
        [0, 1].map(|of| {
            // What an end sends is seen at the end itself, or at the other one.
            let of_it = if of == end { Sight::Sent } else { Sight::Received };
            let less = self.sights[of] == of_it && self.shows(of) != of_it;
            if less {
                self.sights[of] = Sight::Arrived;
            }
            less
        })
    }

    /// Whether the capture was taken at `end`, perhaps although it was settled otherwise.
    pub fn turns_out_near(&mut self, end: usize) -> bool {
        let near = self.shows(end) == Sight::Sent;
        if near {
            self.sights[end] = Sight::Sent;
        }
        near
    }

    /// What the capture shows of the transmissions of `end`.
    pub fn sight(&self, end: usize) -> Sight {
        self.sights[end]
    }

    /// What passes on its way to `end` is answered at once within this time: the shortest round
    /// trip to it and back, and half of that over the whole path, by which round trips differ. Who
    /// types does not wait for an answer.
    #[inline]
    pub fn at_once(&self, end: usize) -> Span {
        let half = Span(self.whole_trip().unwrap_or_default().0 / 2);
        self.trips[end].least.get().unwrap_or_default() + half
    }

    /// The shortest round trip from the capture to `end` and back, which answers at once, if
    /// anything has measured it.
    pub fn lag(&self, end: usize) -> Option<Span> {
        self.trips[end].least.get()
    }

    /// How much later than at the capture an ACK is at the end that it is for, in the frame of time
    /// of what that end sends.
    #[inline]
    pub fn delay(&self, end: usize) -> Span {
        match self.sights[end] {
            Sight::Sent => Span::ZERO,
            Sight::Arrived | Sight::Received => {
                let learned = Span::from_micros(self.learned[end].into());
                self.trips[end].least.get().unwrap_or(learned)
            }
        }
    }
}

/// Where the capture was taken, by the round trips from it `[to the client, to the server]`. Where
/// one is not known, the times to live of what came from there decide.
///
/// An end is near if its part of the whole round trip is a tenth or less: then an ACK reaches it
/// before anything changes that the capture shows. On a short path, where [`NEAR`] is the time that
/// a busy host takes to answer, a third is enough.
fn position(trips: [Option<Span>; 2], ttls: [u8; 2]) -> Position {
    let (vantage, confidence) = match trips {
        [Some(to_client), Some(to_server)] => by_trips(to_client, to_server),
        [Some(trip), None] if trip <= NEAR => (Vantage::Client, 0.5),
        [None, Some(trip)] if trip <= NEAR => (Vantage::Server, 0.5),
        _ => by_ttls(ttls),
    };
    let [to_client, to_server] = trips;
    Position { vantage, confidence, to_client, to_server, lost_before: [false; 2] }
}

impl Position {
    /// Whether the capture shows every transmission of the client or, with `false`, of the server:
    /// it was taken no more than 1 ms from that end, or both ends are on one host, and nothing of
    /// that end is known to have been lost before.
    pub fn is_at(&self, client: bool) -> bool {
        let end = usize::from(!client);
        !self.lost_before[end] && (self.is_near(end) || self.is_on_one_host())
    }

    /// No more than 1 ms from this end.
    pub(super) fn is_near(&self, end: usize) -> bool {
        let near = [Vantage::Client, Vantage::Server][end] == self.vantage;
        near && [self.to_client, self.to_server][end].is_none_or(|trip| trip <= NEAR)
    }

    /// Both round trips are short and of a size.
    pub(super) fn is_on_one_host(&self) -> bool {
        let trips = [self.to_client, self.to_server];
        matches!(trips, [Some(a), Some(b)] if a.max(b) <= NEAR && a.max(b) <= a.min(b).times(2))
    }
}

/// What the capture shows of the transmissions of `end`.
fn sight(end: usize, position: &Position) -> Sight {
    match position.is_near(1 - end) {
        _ if position.is_at(end == 0) => Sight::Sent,
        true if !position.lost_before[1 - end] => Sight::Received,
        // There is a part of the path on that side, too, in which something may be lost.
        _ => Sight::Arrived,
    }
}

fn by_trips(to_client: Span, to_server: Span) -> (Vantage, f64) {
    let near = if to_client <= to_server { Vantage::Client } else { Vantage::Server };
    let (small, large) = (to_client.min(to_server), to_client.max(to_server));
    let whole = (small + large).0.max(1);
    let part = small.0 as f64 / whole as f64;
    if part <= 0.1 || (small <= NEAR && part <= 1.0 / 3.0) {
        (near, 1.0 - 2.0 * part)
    } else if large <= NEAR {
        // Perhaps both are on this host.
        (near, 0.2)
    } else {
        (Vantage::Middle, ((part - 0.1) * 5.0).min(1.0))
    }
}

/// A time to live is of another place than the usual one. Hosts reset with another one than they
/// send data with; then routes of one hop more or less are those of a balanced load.
fn is_strange(ttl: u8, usual: u8) -> bool {
    ttl.abs_diff(usual) > FEW_HOPS && hops(ttl).abs_diff(hops(usual)) > 1
}

/// Hosts begin with 64, 128 or 255, and every router takes one off.
fn hops(ttl: u8) -> u8 {
    [64, 128, 255].into_iter().find(|full| *full >= ttl).unwrap_or(255) - ttl
}

/// By the one end, if any, from which packets come as they began.
fn by_ttls(ttls: [u8; 2]) -> (Vantage, f64) {
    match ttls.map(|ttl| hops(ttl) == 0) {
        _ if ttls == [0; 2] => (Vantage::Unknown, 0.0),
        [true, false] if ttls[1] != 0 => (Vantage::Client, 0.3),
        [false, true] if ttls[0] != 0 => (Vantage::Server, 0.3),
        [false, false] if ttls[0] != 0 && ttls[1] != 0 => (Vantage::Middle, 0.2),
        _ => (Vantage::Unknown, 0.0),
    }
}
