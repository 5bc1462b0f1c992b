//! What new data had waited for, which is known when it goes out.

use ackclock_tcp::{Span, Time};

use super::super::cells::add_at;
use super::super::input::Sent;
use super::super::stream::Stream;
use super::super::stream::moments::{HOST_BUSY, HOST_IDLE};
use super::super::stream::timers::nearly;
use super::pace::Wait;
use super::{AT_ONCE_PART, Limits, Pending, Silent, at_once, follows_ack, soon};
use crate::lifetime::Limit;

/// How soon an ACK reaches the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Due {
    #[default]
    Later,
    Soon,
    AtOnce,
}

impl Limits {
    /// Data goes out now, and the next ACK that passed the capture before it, of this position,
    /// reaches the sender at that time. Away from the sender, that time may be late: the data may
    /// have waited for this ACK.
    pub fn ack_is_due(&mut self, now: Time, ack: Option<(Time, u64)>, stream: &Stream) {
        self.due = match ack.map(|(at, _)| at.since(now)) {
            Some(span) if span <= at_once(stream) => Due::AtOnce,
            Some(span) if span <= soon(stream) => Due::Soon,
            _ => Due::Later,
        };
        if let Some((_, ack)) = ack.filter(|_| self.due != Due::Later) {
            self.nagle.ack_is_due(ack);
        }
    }

    /// The next ACK is about to reach the sender.
    pub fn is_ack_due(&self) -> bool {
        self.due != Due::Later
    }

    /// New data goes out. `asked`: the other end's data came after, or with, the last ACK; `since`:
    /// it came so long ago.
    #[inline]
    pub fn new_data(&mut self, sent: &Sent, stream: &Stream, asked: bool, since: Span) {
        let is_asked = self.requests.is_asked(since, stream);
        let due = std::mem::take(&mut self.due);
        let is_due = due != Due::Later;
        let held = self.nagle.may_be_held(sent, stream, is_due);
        let silent = self.silent.window + self.silent.flight;
        // Into a full window only a probe goes without an ACK (RFC 8985 section 7.3).
        let mut may_be_probe = !is_due && silent > stream.timers.quiet() && stream.cwnd_is_full();
        if may_be_probe && silent >= nearly(stream.timers.pto(stream.outstanding.len() == 1)) {
            self.timer_expired(stream);
            may_be_probe = false;
        }
        // Elsewhere what is new to the capture may have been sent before.
        may_be_probe &= stream.terms.at_sender();
        self.silent = Silent::default();
        self.pace.sent(sent.at, sent.len, stream);
        let Pending { window, flight, shut } = self.pending;
        if window.0 | flight.0 | shut.0 != 0 {
            let waited = is_due || follows_ack(sent.at, stream, asked);
            if held {
                self.follows_all(sent.at, stream, due, waited);
            } else {
                let waited =
                    waited && !is_asked && !self.is_written_now(sent.at, sent.payload(), stream);
                let room = waited && self.cwnd_had_room(sent.at, due, stream);
                let probed = if may_be_probe { silent } else { Span::ZERO };
                self.decide(sent.at, waited, room, stream, probed);
            }
            self.on_path.forget_most();
        }
        self.nagle.sent(sent, stream);
    }

    /// The last segment was not full, so that nothing waited behind it. If no ACK has come since,
    /// this one was written later. So it was if it is not full either, for what cwnd holds back
    /// goes into one segment as far as it has room. One that fills half of SMSS may be as long as
    /// the path takes.
    ///
    /// With nothing outstanding only a rate below a segment in a round trip is paced. On a path
    /// that is shorter than what an ACK needs at the most, what follows it a quarter of a round
    /// trip later was written now, unless that ACK opened the window just before.
    fn is_written_now(&self, at: Time, payload: u32, stream: &Stream) -> bool {
        let since = stream.moments.since_ack(at);
        let soon = || Span(stream.timers.srtt().0 / 4).max(HOST_IDLE).min(HOST_BUSY);
        let idle = stream.terms.at_sender() && stream.outstanding.is_empty();
        let soon = || soon().max(self.latest_reopening());
        let acked = || since <= stream.moments.since_new_data(at);
        idle && since > soon()
            || is_short(self.nagle.last(), stream) && (!acked() || is_short(payload, stream))
    }

    /// Whether cwnd has had room for longer than an ACK needs to let more go.
    ///
    /// What an ACK lets go is paced at times, but in full segments, which go out all the time. So
    /// what goes out without an ACK had not waited behind a segment that is not full, and not while
    /// nothing went out.
    ///
    /// Away from the sender, where an ACK may always be due, all that takes longer counts. A sender
    /// that leaves room for its retransmission timeout lowers cwnd (Linux's
    /// `tcp_cwnd_application_limited`, and `tcp_cwnd_restart` after idle time), and nothing is
    /// known.
    // Most new data goes through this and the next two.
    #[inline]
    fn cwnd_had_room(&self, at: Time, due: Due, stream: &Stream) -> bool {
        let since_ack = stream.moments.since_ack(at);
        let without_ack = due != Due::AtOnce && since_ack > at_once(stream);
        let silent = || stream.moments.since_new_data(at) > soon(stream) && stream.cwnd_has_room();
        if stream.terms.at_sender() {
            let silent = || silent() && since_ack > stream.latest_answer(at);
            return without_ack && (is_short(self.nagle.last(), stream) || silent());
        }
        let room = self.on_path.cwnd_had_room(at);
        without_ack && silent() || room > soon(stream) && room < stream.timers.rto()
    }

    /// `waited`: what goes out had waited for an ACK. If cwnd had `room`, only the receiver's
    /// window can have held it.
    #[inline]
    fn decide(&mut self, at: Time, waited: bool, room: bool, stream: &Stream, probed: Span) {
        let by_window = self.pending.window + self.pending.shut > Span::ZERO;
        if waited && (by_window || !room) || stream.rwnd_is_full() {
            let Pending { mut window, mut flight, shut } = std::mem::take(&mut self.pending);
            let moments = &stream.moments;
            let mirrored = moments.lag() > HOST_IDLE && moments.since_ack(at) <= at_once(stream);
            if window > Span::ZERO && mirrored {
                // Cwnd was as large as that window. An ACK that makes room passes a mirrored port
                // before it reaches the sender, and what it lets go passes that after.
                (window, flight) = (window + flight, Span::ZERO);
            }
            self.found.add(Limit::Recovery, std::mem::take(&mut self.probed));
            self.window_was_full(at, window, shut, stream);
            if room {
                self.found.add(Limit::Path, flight);
            } else {
                self.cwnd_or_path_was_full(at, flight, stream);
            }
        } else {
            self.pace.free();
            self.had_no_more();
            // Was it written now, or does a probe carry what had waited?
            self.found.take(Limit::Path, probed);
            self.probed = probed;
        }
    }

    /// The receiver's window has held the sender back, for so long with something outstanding or
    /// without.
    fn window_was_full(&mut self, at: Time, window: Span, shut: Span, stream: &Stream) {
        let offered = std::mem::take(&mut self.offered);
        self.asks = false;
        if window + shut > Span::ZERO {
            self.full_window = self.full_window.max(offered);
            let outstanding = u64::from(self.on_path.most() / stream.terms.mss.max(1));
            let waits = self.waits.get_or_insert_default();
            let pending = std::mem::take(&mut waits.pending);
            waits.shrunk = waits.shrunk + pending.min(window + shut);
            add_at(&mut waits.by_window, outstanding, window);
            self.pace.window_was_full(at, stream, &mut self.full);
        }
        self.found.add(Limit::ReceiveWindow, window + shut);
    }

    /// A byte has asked for room in a closed window (RFC 9293 section 3.8.6.1), and now there is
    /// some, or the connection has ended: there was more to send all the time, whatever goes out
    /// next.
    #[cold]
    pub fn gets_room(&mut self, at: Time, stream: &Stream) {
        let Pending { window, shut, .. } = self.pending;
        (self.pending.window, self.pending.shut) = Default::default();
        self.silent.window = Span::ZERO;
        self.window_was_full(at, window, shut, stream);
    }

    /// A segment that is not full goes out when all is acknowledged, and cwnd had room for it:
    /// Nagle's algorithm held it, or it was written only now.
    fn follows_all(&mut self, at: Time, stream: &Stream, due: Due, waited: bool) {
        let limit = at_once(stream);
        let after = match due {
            Due::Later => stream.moments.since_ack(at),
            Due::Soon => limit.times(AT_ONCE_PART),
            Due::AtOnce => Span::ZERO,
        };
        if waited && self.nagle.follows(after, limit) {
            self.found.add(Limit::Nagle, std::mem::take(&mut self.pending.flight));
        }
        self.had_no_more();
    }

    /// Cwnd was full, as it looks, or the path, until data went out at this time.
    #[inline]
    fn cwnd_or_path_was_full(&mut self, at: Time, span: Span, stream: &Stream) {
        let segments = u64::from(self.on_path.most() / stream.terms.mss.max(1));
        // A round trip is asked for where the bottleneck is known to be busy.
        let trip = || stream.timers.min_rtt();
        let busy = self.on_path.was_busy(self.now, span) && trip() > Span::ZERO;
        if busy && self.on_path.was_busy(self.now, trip()) {
            self.path_was_full(span);
        } else if let Some(queue) = &mut self.queue
            && queue.was_there(at, span.max(stream.timers.srtt()), segments)
        {
            if span > Span::ZERO {
                let sum = queue.full_with(segments);
                *sum = *sum + span;
            }
        } else if span > Span::ZERO {
            let wait = Wait { span, segments, ended: self.nagle.has_ended() };
            self.pace.held(at, wait, stream, &mut self.full);
        }
    }
}

/// Whether a segment of so many bytes is not full, however long the path lets one be.
fn is_short(len: u32, stream: &Stream) -> bool {
    len > 0 && len < stream.terms.mss / 2
}
