//! What limited the sender: its lifetime, divided.
//!
//! The time since the last event belongs to the state that this event left behind. Whether a window
//! was full or the application had given no more is known only later: new data that goes out on an
//! ACK had waited for it. Nothing had waited where all is acknowledged before more goes out, or
//! where more goes out without an ACK.
//!
//! Linux says the same from inside (`tcp_chrono_start`, `tcp_write_xmit`): it is busy from the
//! first byte that waits to the last that is acknowledged, and limited by the receiver's window if
//! that is what ended `tcp_write_xmit`.

mod pace;

use std::sync::Arc;

use ackclock_tcp::{Span, Time};

use self::pace::{Pace, Paced};
use super::cells::Cells;
use super::input::Sent;
use super::queue::Queue;
use super::rate::{Base, Bottleneck, Trip};
use super::stream::Stream;
use super::stream::timers::nearly;
use crate::lifetime::{Lifetime, Limit, Shares};
use crate::path::{Part, Path};

/// The least time after an ACK within which what it lets go follows.
pub(super) const SOON: Span = Span::from_millis(1);

/// A host takes so long at the most, from the ACK to what it lets go.
const LEAST_WAY: Span = Span::from_micros(100);

/// What an ACK lets go leaves in this part of that time: the same run of the kernel takes the one
/// in and sends the other. What is written then may leave at any moment of it.
const AT_ONCE: u64 = 4;

/// Timeouts until the first probe of a closed window at the latest, with what is not known of the
/// timer.
const FIRST_PROBE: u64 = 4;

/// Segments of a window that is large enough to tell whether it has room.
const MANY: u64 = 8;

/// What an end says before it closes an idle connection, in bytes: GOAWAY of HTTP/2 (RFC 9113
/// section 6.8) has 17 and an alert of TLS has 2 (RFC 8446 section 6), in records of 22 to 29 bytes
/// more each. An answer has a header that is longer.
pub(crate) const FAREWELL: u64 = 80;

/// So many times in a row data followed what the other end sent, and ACKs let nothing go.
const ASKED: u8 = 3;

/// Nagle's algorithm is off where small segments went beside others more often than this: once may
/// be a capture out of order.
const BESIDE: u8 = 1;

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

/// Waits of which most connections have none.
#[derive(Debug, Default)]
struct Waits {
    /// Of the application's share, how long the other end had not asked for what came next.
    unasked: Span,
    /// How long the receiver's window limited the sender that was less than half of the largest
    /// before.
    shrunk: Span,
    /// Of `Pending::window` and `Pending::shut`, how long the window was so small.
    pending: Span,
}

#[derive(Clone, Copy, Debug, Default)]
struct Silent {
    window: Span,
    flight: Span,
}

/// Whether losses are being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repairs {
    No,
    /// What is missing is not known to be lost, nor what would repair it to pass the capture.
    Perhaps,
    Yes,
}

/// How soon an ACK reaches the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Due {
    #[default]
    Later,
    Soon,
    AtOnce,
}

/// What only captures away from the sender need.
#[derive(Debug)]
struct Away {
    /// What of this sender counts as outstanding on the path.
    part: Arc<Part>,
    /// Since when the bottleneck before the capture has been busy, as what goes out now shows;
    /// never if nothing does.
    busy: Time,
    /// Of the path's share, how long it was so.
    full: Span,
    /// Since when cwnd has had room ([`has_room`]); never where it has none.
    room: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// When the last event was.
    now: Time,
    /// The SYN has not been answered.
    opening: bool,
    found: Shares,
    /// The largest window that has limited the sender, in bytes: 2^30 at most (RFC 7323 section
    /// 2.3).
    full_window: u32,
    pending: Pending,
    /// The largest window that had no room in that time, in bytes.
    offered: u32,
    /// What of `pending.window` and `pending.flight` has passed since the timer was set at the
    /// latest.
    silent: Silent,
    /// Silence that new data ended, with something outstanding and no ACK. If more goes out on the
    /// next ACK, that had waited, too: a probe was sent (RFC 8985 section 7.3). Else the
    /// application had given no more.
    probed: Span,
    /// Bytes that arrived while losses were repaired.
    repaired: u64,
    /// Away from the sender: it may repair what is missing, or wait for what comes late.
    unsure: Span,
    /// What goes out may have waited for an ACK that has not reached the sender yet.
    due: Due,
    /// Nothing was outstanding before the new data that last went out, and it was one segment.
    alone: bool,
    /// Some of what is outstanding was acknowledged since new data last went out.
    partly: bool,
    /// Low bits of the position after a small segment, if it is outstanding and no other one is;
    /// else 0.
    small: u32,
    /// The last ACK that advanced has covered it.
    freed: bool,
    /// Small segments that went out beside another one.
    beside: u8,
    /// Small segments that went out at once on the ACK of all before them, less those that did so
    /// a little later.
    at_once: i16,
    /// ACKs since new data last went out that made room, and packets of the other end's data.
    unused: u8,
    asked: u8,
    /// Times in a row that new data followed such a packet, and not such an ACK.
    by_request: u8,
    /// Bytes of payload that last went out; 0 with a FIN.
    last: u32,
    path: Arc<Path>,
    /// Bytes that this sender has outstanding.
    counted: u32,
    away: Option<Box<Away>>,
    /// The most that was outstanding on the path since new data last went out, in bytes.
    most: u32,
    pace: Pace,
    /// Time for which cwnd or the path was full, by what was outstanding ([`level`]).
    full: Cells<Span>,
    /// From the first round trip on that is longer than those before.
    queue: Option<Box<Queue<Cells<Span>>>>,
    /// Nothing is outstanding, and the sender asks for room in the receiver's window.
    asks: bool,
    /// Of the application's share, how long the other end waited for an answer.
    answering: Span,
    /// From the first of it on.
    waits: Option<Box<Waits>>,
    /// Of `answering`, how long it waited for the last one, which begins at this position.
    last_answer: (Span, u64),
}

impl Limits {
    /// From the connection's first packet on.
    pub fn new(start: Time, path: Arc<Path>) -> Limits {
        Limits { now: start, path, ..Limits::default() }
    }

    /// Something has gone out, or has been acknowledged.
    // Each packet goes through this, from two places, as through `SenderModel::elapse`.
    #[inline(always)]
    pub fn outstanding(&mut self, stream: &Stream) {
        let flight = bytes(stream.outstanding.flight());
        if flight != self.counted {
            if flight < self.counted {
                self.partly |= flight > 0;
                self.unused = self.unused.saturating_add(1);
                self.freed = self.frees(stream.outstanding.una());
            }
            let (before, more) = (self.on_path(), flight.saturating_sub(self.counted));
            let now = if more > 0 { before + u64::from(more) } else { before.min(flight.into()) };
            self.path.outstanding(before, now);
            if let Some(away) = &self.away {
                away.part.set(now, more > 0);
            }
            self.counted = flight;
            self.pace.outstanding(flight);
        }
        self.most = self.most.max(bytes(self.path.flight(self.now)));
        // At the sender nobody asks.
        if stream.terms.at_sender() {
            return;
        }
        let (now, room) = (self.now, has_room(stream));
        if !room && self.away.is_none() {
            return;
        }
        let away = self.away();
        away.busy = Time::NEVER;
        if !room {
            away.room = Time::NEVER;
        } else if away.room == Time::NEVER {
            away.room = now;
        }
    }

    /// What goes out next arrives at the capture from a bottleneck that has been busy since then.
    #[inline]
    pub fn arrives_behind(&mut self, busy: Time) {
        self.away().busy = busy;
    }

    fn away(&mut self) -> &mut Away {
        let counted = self.counted.into();
        let part = || Arc::new(Part::new(counted));
        let [busy, room] = [Time::NEVER; 2];
        let away = || Box::new(Away { part: part(), busy, full: Span::ZERO, room });
        self.away.get_or_insert_with(away)
    }

    /// So many bytes were acknowledged, with nothing lost. Returns what all connections on the path
    /// got so far.
    pub fn delivered(&self, bytes: u64) -> u64 {
        self.path.delivered(bytes)
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
    fn had_room(&self, at: Time, due: Due, stream: &Stream) -> bool {
        let without_ack = due != Due::AtOnce && stream.moments.since_ack(at) > at_once(stream);
        let silent = || stream.moments.since_new_data(at) > soon(stream) && has_room(stream);
        if stream.terms.at_sender() {
            return without_ack && (is_short(self.last, stream) || silent());
        }
        let room = self.away.as_ref().map_or(Span::ZERO, |away| at.since(away.room));
        without_ack && silent() || room > soon(stream) && room < stream.timers.rto()
    }

    /// Whether this ACK covers the small segment that is outstanding, which then is none any more.
    fn frees(&mut self, ack: u64) -> bool {
        let covers = self.small > 0 && (ack as u32).wrapping_sub(self.small) as i32 >= 0;
        if covers {
            self.small = 0;
        }
        covers
    }

    /// Bytes that other connections have outstanding on the path by now.
    #[inline]
    pub fn others(&self, now: Time) -> u32 {
        let all = self.path.flight(now);
        bytes(all.saturating_sub(self.on_path()))
    }

    /// What of this sender counts as outstanding on the path, in bytes.
    #[inline]
    fn on_path(&self) -> u64 {
        self.away.as_ref().map_or(self.counted.into(), |away| away.part.bytes())
    }

    /// An ACK of this position has passed the capture and reaches the sender at this time.
    pub fn ack_passes(&mut self, at: Time, ack: u64, stream: &Stream) {
        if self.counted > 0 && ack >= stream.outstanding.max() {
            let part = Arc::clone(&self.away().part);
            self.path.leave(at, part);
        }
    }

    /// An ACK has measured a round trip, and the bottleneck knows of it.
    #[inline]
    pub fn measured(&mut self, trip: &Trip, bottleneck: &mut Bottleneck) {
        Queue::measured(&mut self.queue, trip, bottleneck, &mut self.full);
    }

    /// The route has become longer.
    pub fn has_moved(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.has_moved())
    }

    /// A SYN goes out, and there was none before.
    pub fn opening(&mut self) {
        self.opening = true;
    }

    /// Something happens: the time until then is divided.
    #[inline]
    pub fn elapse(&mut self, at: Time, stream: &Stream, repairs: Repairs) {
        let span = at.since(self.now);
        if span > Span::ZERO {
            self.now = at;
            self.divide(span, stream, repairs);
        }
    }

    #[inline]
    fn divide(&mut self, span: Span, stream: &Stream, repairs: Repairs) {
        let idle = stream.outstanding.is_empty();
        self.most = self.most.max(bytes(self.path.flight(self.now)));
        if idle || repairs == Repairs::Yes || self.opening {
            return self.divide_unusual(span, stream, idle);
        }
        if repairs == Repairs::Perhaps {
            self.unsure = self.unsure + span;
            return;
        }
        if stream.has_no_room() {
            self.has_no_room(span, stream);
            self.pending.window = self.pending.window + span;
            self.silent.window = self.silent.window + span;
        } else {
            self.pending.flight = self.pending.flight + span;
            self.silent.flight = self.silent.flight + span;
        }
    }

    /// For so long the receiver's window has had no room.
    fn has_no_room(&mut self, span: Span, stream: &Stream) {
        let offered = stream.windows.offered();
        self.offered = self.offered.max(bytes(offered));
        if offered < stream.windows.most_offered() / 2 {
            let waits = self.waits.get_or_insert_default();
            waits.pending = waits.pending + span;
        }
    }

    /// So many bytes arrive while losses are repaired.
    pub fn repairs(&mut self, bytes: u32) {
        self.repaired += u64::from(bytes);
    }

    /// While losses were repaired, the bottleneck of this rate, in bits a second, was busy for so
    /// long.
    pub fn kept(&self, rate_bps: Option<f64>) -> Span {
        let busy = |rate| Span((self.repaired as f64 * 8e9 / rate) as u64);
        rate_bps.filter(|rate| *rate > 0.0).map_or(Span::ZERO, busy)
    }

    /// What was missing has arrived, or has not. `again`: it went out again; else it was overtaken,
    /// and nothing was repaired.
    pub fn was_missing(&mut self, again: bool) {
        let span = std::mem::take(&mut self.unsure);
        if span > Span::ZERO && again {
            self.pace.lowered();
            self.found.add(Limit::Recovery, span);
        } else {
            self.pending.flight = self.pending.flight + span;
        }
    }

    fn divide_unusual(&mut self, span: Span, stream: &Stream, idle: bool) {
        if self.opening {
            self.found.add(Limit::Handshake, span);
        } else if !idle {
            self.pace.lowered();
            self.found.add(repaired(stream), span);
        } else if stream.has_no_room() {
            self.found.add(Limit::Path, std::mem::take(&mut self.pending.flight));
            self.has_no_room(span, stream);
            self.pending.shut = self.pending.shut + span;
        } else {
            if span > follows_within(stream) {
                self.had_no_more();
            }
            if span > stream.timers.rto() {
                self.pace.lowered();
            }
            // Away from the sender, what is on its way to the capture is not known to be
            // outstanding.
            let unseen = !stream.terms.at_sender() && span <= stream.timers.srtt();
            if self.last >= stream.terms.mss && self.was_busy(span) {
                self.path_was_full(span);
            } else {
                self.found.add(if unseen { Limit::Path } else { Limit::Application }, span);
            }
        }
    }

    /// The bottleneck was busy for so long, until now. Away from the sender, a queue before the
    /// capture is not seen but by what comes out of it one behind the other.
    fn was_busy(&self, span: Span) -> bool {
        let busy = self.away.as_ref().map_or(Time::NEVER, |away| away.busy);
        busy <= self.now && self.now.since(busy) >= span
    }

    fn path_was_full(&mut self, span: Span) {
        self.found.add(Limit::Path, span);
        let away = self.away();
        away.full = away.full + span;
    }

    /// So much of the time in which nothing was seen to be outstanding went into losses before the
    /// capture.
    pub fn was_repairing(&mut self, span: Span) {
        let span = span.min(self.found.of(Limit::Application));
        self.found.take(Limit::Application, span);
        self.found.add(Limit::Recovery, span);
    }

    /// An answer goes out with nothing outstanding, from this position on, so long after what the
    /// other end asked.
    pub fn answers(&mut self, after: Span, position: u64) {
        let most = self.found.of(Limit::Application);
        let before = self.answering;
        self.answering = (before + after).min(most);
        self.last_answer = (self.answering - before, position);
    }

    /// What goes out next answers what the other end asked so long after the last byte was
    /// acknowledged: until then it had asked for nothing.
    pub fn unasked(&mut self, span: Span) {
        let most = self.found.of(Limit::Application);
        if span > Span::ZERO {
            let waits = self.waits.get_or_insert_default();
            waits.unasked = (waits.unasked + span).min(most);
        }
    }

    /// A FIN goes out at this position, a moment after what was said last. Of an end that has
    /// answered before that is a farewell when it is no longer than one.
    pub fn closes(&mut self, position: u64) {
        let (waited, from) = self.last_answer;
        if from > 0 && position.saturating_sub(from) <= FAREWELL {
            self.answering = self.answering - waited;
        }
    }

    /// All that was given is acknowledged: nothing had waited.
    fn had_no_more(&mut self) {
        let Pending { window, flight, shut } = std::mem::take(&mut self.pending);
        if let Some(waits) = &mut self.waits {
            waits.pending = Span::ZERO;
        }
        self.offered = 0;
        self.found.add(Limit::Path, window + flight + std::mem::take(&mut self.probed));
        let asked = std::mem::take(&mut self.asks);
        self.found.add(if asked { Limit::ReceiveWindow } else { Limit::Application }, shut);
    }

    /// The receiver says again that its window is closed, with nothing outstanding: it was asked
    /// (RFC 9293 section 3.8.6.1), which a sender does that has something to send.
    /// Keep-alives (RFC 9293 section 3.8.4) get the same answer, but come much later than the first
    /// of these probes, which takes a timeout.
    pub fn asks_for_room(&mut self, rto: Span) {
        self.asks |= self.pending.shut > Span::ZERO && self.pending.shut <= rto.times(FIRST_PROBE);
    }

    /// An ACK reaches the sender, with data of the other end.
    pub fn hears_data(&mut self) {
        self.asked = self.asked.saturating_add(1);
    }

    /// Whether the application gives data only when the other end asks for it, though cwnd lets
    /// more go: windows above TCP (HTTP/2, SSH) and requests that are limited in number (SMB). ACKs
    /// alone, which make as much room, release nothing then. `since`: the other end's data came.
    fn is_asked(&mut self, since: Span, stream: &Stream) -> bool {
        let (unused, asked) = (std::mem::take(&mut self.unused), std::mem::take(&mut self.asked));
        let unused = unused.saturating_sub(asked);
        if since > follows_within(stream) || unused > 0 && asked == 0 {
            self.by_request = if unused > 0 { 0 } else { self.by_request };
        } else if unused >= asked.saturating_mul(2) && asked > 0 {
            self.by_request = self.by_request.saturating_add(1);
        }
        self.by_request >= ASKED
    }

    /// New data goes out. `asked`: the other end's data came after, or with, the last ACK; `since`:
    /// it came so long ago.
    #[inline]
    pub fn new_data(&mut self, sent: &Sent, stream: &Stream, asked: bool, since: Span) {
        let is_asked = self.is_asked(since, stream);
        let due = std::mem::take(&mut self.due);
        let is_due = due != Due::Later;
        let held = self.may_be_held(sent, stream, is_due);
        let silent = self.silent.window + self.silent.flight;
        // Into a full window only a probe goes without an ACK (RFC 8985 section 7.3).
        let mut may_be_probe = silent > stream.timers.quiet() && is_full(stream);
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
                let waited = waited && !is_asked && !self.is_written_now(sent, stream);
                let room = waited && self.had_room(sent.at, due, stream);
                let probed = if may_be_probe { silent } else { Span::ZERO };
                self.decide(sent.at, waited, room, stream, probed);
            }
            self.most = 0;
        }
        self.last = if sent.fin { 0 } else { sent.len };
    }

    /// Whether Nagle's algorithm may have held this segment, which is not full. It does so while
    /// anything is outstanding (RFC 9293 section 3.7.4), in Linux only while another segment is
    /// that is not full (`tcp_minshall_check`). Cwnd had room if one segment was outstanding alone,
    /// or if part of what was outstanding had been acknowledged before the rest. Or an ACK covers
    /// the small segment and lets another small one go, with nothing before it.
    #[inline]
    fn may_be_held(&mut self, sent: &Sent, stream: &Stream, due: bool) -> bool {
        let partly = std::mem::take(&mut self.partly);
        let all_acked = stream.outstanding.is_empty();
        let idle = all_acked || (self.alone && due);
        let single = sent.payload() <= stream.terms.mss;
        let alone = std::mem::replace(&mut self.alone, idle && single);
        let small = is_small(sent, stream);
        let freed = std::mem::take(&mut self.freed);
        if small {
            self.small = if self.small == 0 { sent.end() as u32 } else { 0 };
        }
        let after_small = self.last > 0 && self.last < stream.terms.mss;
        if small && after_small && !idle && !due {
            self.beside = self.beside.saturating_add(1);
        }
        let room = stream.windows.allowed().saturating_sub(stream.outstanding.flight());
        let cut = u64::from(sent.payload()) >= room;
        small && (alone && idle || partly && all_acked || freed) && !cut
    }

    /// The last segment was not full, so that nothing waited behind it. If no ACK has come since,
    /// this one was written later. So it was if it is not full either, for what cwnd holds back
    /// goes into one segment as far as it has room. One that fills half of SMSS may be as long as
    /// the path takes.
    ///
    /// With nothing outstanding only a rate below a segment in a round trip is paced. On a path
    /// that is shorter than what an ACK needs at the most, what follows it a quarter of a round
    /// trip later was written now.
    fn is_written_now(&self, sent: &Sent, stream: &Stream) -> bool {
        let since = stream.moments.since_ack(sent.at);
        let soon = || Span(stream.timers.srtt().0 / 4).max(LEAST_WAY).min(SOON);
        let idle = stream.terms.at_sender() && stream.outstanding.is_empty();
        let acked = || since <= stream.moments.since_new_data(sent.at);
        idle && since > soon()
            || is_short(self.last, stream) && (!acked() || is_short(sent.payload(), stream))
    }

    /// Data goes out now, and the next ACK that passed the capture before it, of this position,
    /// reaches the sender at that time. Away from the sender, that time may be late: the data may
    /// have waited for this ACK.
    pub fn ack_is_due(&mut self, now: Time, ack: Option<(Time, u64)>, stream: &Stream) {
        self.due = match ack.map(|(at, _)| at.since(now)) {
            Some(span) if span <= at_once(stream) => Due::AtOnce,
            Some(span) if span <= soon(stream) => Due::Soon,
            _ => Due::Later,
        };
        if self.due != Due::Later && ack.is_some_and(|(_, ack)| self.frees(ack)) {
            self.freed = true;
        }
    }

    /// `waited`: what goes out had waited for an ACK. If cwnd had `room`, only the receiver's
    /// window can have held it.
    fn decide(&mut self, at: Time, waited: bool, room: bool, stream: &Stream, probed: Span) {
        let by_window = self.pending.window + self.pending.shut > Span::ZERO;
        if waited && (by_window || !room) || stream.has_no_room() {
            let Pending { window, flight, shut } = std::mem::take(&mut self.pending);
            let offered = std::mem::take(&mut self.offered);
            self.asks = false;
            if window + shut > Span::ZERO {
                self.full_window = self.full_window.max(offered);
                if let Some(waits) = &mut self.waits {
                    let pending = std::mem::take(&mut waits.pending);
                    waits.shrunk = waits.shrunk + pending.min(window + shut);
                }
                self.pace.window_was_full(at, stream, &mut self.full);
            }
            self.found.add(Limit::Recovery, std::mem::take(&mut self.probed));
            self.found.add(Limit::ReceiveWindow, window + shut);
            if room {
                self.found.add(Limit::Path, flight);
            } else {
                self.was_full(at, flight, stream);
            }
        } else {
            self.pace.free();
            self.had_no_more();
            // Was it written now, or does a probe carry what had waited?
            self.found.take(Limit::Path, probed);
            self.probed = probed;
        }
    }

    /// A segment that is not full goes out when all is acknowledged, and cwnd had room for it:
    /// Nagle's algorithm held it, or it was written only now.
    fn follows_all(&mut self, at: Time, stream: &Stream, due: Due, waited: bool) {
        let limit = at_once(stream);
        let after = match due {
            Due::Later => stream.moments.since_ack(at),
            Due::Soon => limit.times(AT_ONCE),
            Due::AtOnce => Span::ZERO,
        };
        if waited && after <= limit {
            self.at_once = self.at_once.saturating_add(1);
            self.found.add(Limit::Nagle, std::mem::take(&mut self.pending.flight));
        } else if waited && after <= limit.times(AT_ONCE) {
            self.at_once = self.at_once.saturating_sub(1);
        }
        self.had_no_more();
    }

    /// Small segments went beside others, or as often a little later as at once: the application
    /// wrote them when it liked, and nothing held them.
    fn had_no_nagle(&self) -> bool {
        self.beside > BESIDE || self.at_once <= 0
    }

    /// Cwnd was full, as it looks, or the path, until data went out at this time.
    fn was_full(&mut self, at: Time, span: Span, stream: &Stream) {
        let trip = stream.timers.min_rtt();
        let mss = stream.terms.mss;
        if trip > Span::ZERO && self.was_busy(trip.max(span)) {
            self.path_was_full(span);
        } else if let Some(queue) = &mut self.queue
            && queue.was_there(
                at,
                span.max(stream.timers.srtt()),
                u64::from(self.most / mss.max(1)),
            )
        {
            add_at(&mut queue.lately, self.most, mss, span);
        } else if span > Span::ZERO {
            self.pace.held(at, span, self.most, stream, &mut self.full);
        }
    }

    /// A timer has retransmitted: the time since it was set was lost by it.
    pub fn timer_expired(&mut self, stream: &Stream) {
        let Silent { window, flight } = std::mem::take(&mut self.silent);
        self.pending.window = self.pending.window - window;
        self.pending.flight = self.pending.flight - flight;
        self.found.add(repaired(stream), window + flight);
    }

    /// An ACK has told something new.
    #[inline]
    pub fn news(&mut self) {
        self.silent = Silent::default();
    }

    /// Nothing has come back so far.
    #[inline]
    pub fn is_opening(&self) -> bool {
        self.opening
    }

    /// Something has come back.
    #[inline]
    pub fn answered(&mut self) {
        self.opening = false;
    }

    /// The largest window that has limited the sender, in bytes; 0 if none has, or a closed one.
    pub fn full_window(&self) -> u64 {
        self.full_window.into()
    }

    /// At the end: all of it. A path that `holds` so many bytes over the route of a shortest round
    /// trip, in the end of this one, was full with as many outstanding. Where they left at an even
    /// pace, that takes some that have `waited` there, too.
    pub fn into_lifetime(
        mut self,
        mss: u32,
        base: Base,
        holds: impl Fn(Base) -> Option<f64>,
        waited: bool,
    ) -> Lifetime {
        self.was_missing(true);
        self.had_no_more();
        self.path.outstanding(self.on_path(), 0);
        let Paced { even, window } = self.pace.settle(&mut self.full);
        let mut found = Lifetime::from(self.found);
        found.add_answering(self.answering);
        if let Some(waits) = &self.waits {
            found.add_unasked(waits.unasked);
            found.add_shrunk(waits.shrunk);
        }
        found.add_full(self.away.as_ref().map_or(Span::ZERO, |away| away.full));
        if self.had_no_nagle() {
            let share = found.of(Limit::Nagle);
            found.take(Limit::Nagle, share);
            found.add(Limit::Path, share);
        }
        let filled = |level, holds: Option<f64>| {
            let outstanding = (segments(level) * u64::from(mss)) as f64;
            holds.map_or(0.0, |holds| outstanding / holds)
        };
        let last = holds(base);
        for (cells, limit) in [(even, Limit::Path), (window, Limit::ReceiveWindow)] {
            for (level, span) in cells.iter() {
                if waited && filled(level, last) >= 1.0 {
                    found.add(Limit::Path, span);
                    found.add_full(span);
                } else {
                    found.add(limit, span);
                }
            }
        }
        let (queued, past) =
            self.queue.map(|queue| queue.settle(&mut self.full)).unwrap_or_default();
        found.add(Limit::Path, queued);
        found.add_full(queued);
        let past = past.iter().map(|(base, full)| (full, holds(*base)));
        for (full, holds) in past.chain([(&self.full, last)]) {
            for (level, span) in full.iter() {
                let limit = found.note_filled(filled(level, holds), span);
                found.add(limit, span);
            }
        }
        found
    }
}

/// What a loss limits. A lost FIN holds up nothing: all data has arrived.
fn repaired(stream: &Stream) -> Limit {
    if stream.waits_for_fin_alone() { Limit::Application } else { Limit::Recovery }
}

/// Counts time with so many bytes outstanding.
fn add_at(cells: &mut Cells<Span>, bytes: u32, mss: u32, span: Span) {
    if span > Span::ZERO {
        let sum = cells.at(level(u64::from(bytes / mss.max(1))));
        *sum = *sum + span;
    }
}

/// A window is at most 2^30 bytes (RFC 7323 section 2.3); what several connections have outstanding
/// may be more, and then counts as all that fits.
fn bytes(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Segments outstanding, to within an eighth where they are many.
fn level(segments: u64) -> usize {
    let shift = segments.max(8).ilog2() - 3;
    (u64::from(shift) * 8 + (segments >> shift)) as usize
}

/// The fewest segments of a level.
fn segments(level: usize) -> u64 {
    let shift = (level / 8).saturating_sub(1);
    (level as u64 - shift as u64 * 8) << shift
}

/// Whether Nagle's algorithm may hold this back: a FIN goes all the same (`tcp_nagle_test`).
fn is_small(sent: &Sent, stream: &Stream) -> bool {
    sent.payload() > 0 && sent.payload() < stream.terms.mss && !sent.fin
}

/// Whether a segment of so many bytes is not full, however long the path lets one be.
fn is_short(len: u32, stream: &Stream) -> bool {
    len > 0 && len < stream.terms.mss / 2
}

/// What waits for nothing but an ACK goes out within this part of that time after it.
fn at_once(stream: &Stream) -> Span {
    Span(follows_within(stream).0 / AT_ONCE)
}

/// What an ACK lets go that is not paced follows within this time. Away from the sender, the way to
/// it and back takes as much longer at times.
fn follows_within(stream: &Stream) -> Span {
    if stream.terms.at_sender() { SOON } else { soon(stream) }
}

/// Cwnd has room for a quarter more of what it is known to let go, so that nothing waits for it.
#[inline]
fn has_room(stream: &Stream) -> bool {
    let (pipe, cwnd) = (stream.windows.pipe(), stream.windows.cwnd());
    pipe * 4 <= cwnd * 3 && cwnd >= MANY * u64::from(stream.terms.mss)
}

/// Cwnd is full, as far as was seen.
fn is_full(stream: &Stream) -> bool {
    let windows = &stream.windows;
    windows.pipe() + u64::from(stream.terms.mss) > windows.cwnd()
}

/// Whether new data at this time had waited for the last ACK. If that ACK acknowledged everything,
/// an answer to what the other end `asked` was written only now.
pub(super) fn follows_ack(at: Time, stream: &Stream, asked: bool) -> bool {
    let idle = stream.outstanding.is_empty();
    stream.moments.since_ack(at) <= soon(stream) && !(idle && asked)
}

fn soon(stream: &Stream) -> Span {
    SOON.max(Span(stream.timers.srtt().0 / 4))
}
