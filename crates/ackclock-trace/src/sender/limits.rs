//! What limited the sender: its lifetime, divided.
//!
//! The time since the last event belongs to the state that this event left behind. Whether a window
//! was full or the application had given no more is known only later: new data that goes out on an
//! ACK had waited for it. Nothing had waited where all is acknowledged before more goes out, or
//! where more goes out without an ACK.
//!
//! Linux says the same from inside (`tcp_chrono_start`, `tcp_write_xmit`): it is busy from the first
//! byte that waits to the last that is acknowledged, and limited by the receiver's window if that
//! is what ended `tcp_write_xmit`.

use ackclock_tcp::{Span, Time};

use super::rate::AckTrain;
use super::stream::Stream;
use crate::lifetime::{Lifetime, Limit};

/// The least time after an ACK within which what it lets go follows.
const SOON: Span = Span::from_millis(1);

/// Where the time since the last event went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Slot {
    #[default]
    Known,
    Window,
    Flight,
}

/// Time since new data last went out, to be decided by what goes out next.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// Something was outstanding, and the receiver's window had no room.
    window: Span,
    /// Something was outstanding, and the receiver's window had room.
    flight: Span,
    /// Nothing was outstanding, and the receiver's window had no room.
    shut: Span,
}

#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// When the last event was.
    now: Time,
    /// The SYN has not been answered.
    opening: bool,
    found: Lifetime,
    pending: Pending,
    /// The last piece of `pending`.
    last: (Slot, Span),
    /// Of this round trip: time for which cwnd or the path was full, the shortest sample, and the
    /// position that ends it.
    full: Span,
    least: Option<Span>,
    most: u64,
    round: u64,
    /// The shortest of all.
    base: Option<Span>,
    /// The bottleneck was busy during the last round trip.
    busy: bool,
}

impl Limits {
    /// From the connection's first packet on.
    pub fn new(start: Time) -> Limits {
        Limits { now: start, ..Limits::default() }
    }

    /// A SYN goes out, and there was none before.
    pub fn opening(&mut self) {
        self.opening = true;
    }

    /// Something happens: the time until then is divided. `repairing`: losses are being repaired.
    #[inline]
    pub fn elapse(&mut self, at: Time, stream: &Stream, repairing: bool) {
        let span = at.since(self.now);
        if span > Span::ZERO {
            self.now = at;
            self.divide(span, stream, repairing);
        }
    }

    #[inline]
    fn divide(&mut self, span: Span, stream: &Stream, repairing: bool) {
        self.last = (Slot::Known, Span::ZERO);
        let idle = stream.outstanding.is_empty();
        self.most = self.most.max(stream.outstanding.flight());
        if idle || repairing || self.opening {
            return self.divide_unusual(span, stream, idle);
        }
        if stream.has_no_room() {
            self.pending.window = self.pending.window + span;
            self.last = (Slot::Window, span);
        } else {
            self.pending.flight = self.pending.flight + span;
            self.last = (Slot::Flight, span);
        }
    }

    fn divide_unusual(&mut self, span: Span, stream: &Stream, idle: bool) {
        if self.opening {
            self.found.add(Limit::Handshake, span);
        } else if !idle {
            self.found.add(Limit::Recovery, span);
        } else if stream.has_no_room() {
            self.found.add(Limit::Path, std::mem::take(&mut self.pending.flight));
            self.pending.shut = self.pending.shut + span;
        } else {
            if span > soon(stream) {
                self.had_no_more();
            }
            // Away from the sender, what is on its way to the capture is not known to be outstanding.
            let unseen = !stream.terms.at_sender() && span <= stream.timers.srtt();
            self.found.add(if unseen { Limit::Path } else { Limit::Application }, span);
        }
    }

    /// All that was given is acknowledged: nothing had waited.
    fn had_no_more(&mut self) {
        let Pending { window, flight, shut } = std::mem::take(&mut self.pending);
        self.found.add(Limit::Path, window + flight);
        self.found.add(Limit::Application, shut);
    }

    /// New data goes out. `asked`: the other end's data came after, or with, the last ACK.
    #[inline]
    pub fn new_data(&mut self, at: Time, stream: &Stream, asked: bool) {
        let Pending { window, flight, shut } = self.pending;
        if window.0 | flight.0 | shut.0 != 0 {
            self.decide(at, stream, asked);
        }
    }

    fn decide(&mut self, at: Time, stream: &Stream, asked: bool) {
        self.last = (Slot::Known, Span::ZERO);
        let idle = stream.outstanding.is_empty();
        let follows = stream.moments.since_ack(at) <= soon(stream) && !(idle && asked);
        if follows || stream.has_no_room() {
            let Pending { window, flight, shut } = std::mem::take(&mut self.pending);
            self.found.add(Limit::ReceiveWindow, window + shut);
            self.full = self.full + flight;
        } else {
            self.had_no_more();
        }
    }

    /// A timer has retransmitted: the time since the last event was lost by it.
    pub fn timer_expired(&mut self) {
        let (slot, span) = std::mem::take(&mut self.last);
        match slot {
            Slot::Known => return,
            Slot::Window => self.pending.window = self.pending.window - span,
            Slot::Flight => self.pending.flight = self.pending.flight - span,
        }
        self.found.add(Limit::Recovery, span);
    }

    /// A segment was acknowledged this long after it went out.
    #[inline]
    pub fn measured(&mut self, trip: Span) {
        self.least = Some(self.least.map_or(trip, |least| least.min(trip)));
    }

    /// An ACK has been taken in.
    #[inline]
    pub fn acked(&mut self, stream: &Stream, rate: &AckTrain) {
        self.opening = false;
        if stream.outstanding.una() > self.round {
            self.end_round(stream.outstanding.max(), rate.bits_per_second());
        }
    }

    /// A round trip has ended, and what was sent in it is the next. If even its first segments
    /// found a queue, the bottleneck was busy all the time.
    fn end_round(&mut self, max: u64, rate: Option<f64>) {
        self.round = max;
        let most = std::mem::take(&mut self.most);
        if let Some(least) = self.least.take() {
            let base = *self.base.insert(self.base.map_or(least, |base| base.min(least)));
            let fills = rate.is_none_or(|rate| most as f64 * 8.0 >= 0.9 * rate * base.secs_f64());
            self.busy = fills && (least - base).0 > base.0 / 16 + 200_000;
            self.end_full();
        }
    }

    fn end_full(&mut self) {
        let limit = if self.busy { Limit::Path } else { Limit::CongestionWindow };
        self.found.add(limit, std::mem::take(&mut self.full));
    }

    /// At the end: all of it.
    pub fn into_lifetime(mut self) -> Lifetime {
        self.had_no_more();
        self.end_full();
        self.found
    }
}

fn soon(stream: &Stream) -> Span {
    SOON.max(Span(stream.timers.srtt().0 / 4))
}
