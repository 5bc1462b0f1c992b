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

mod kept;
mod nagle;
mod on_path;
mod pace;
mod reads;
mod requests;
mod settle;
mod unknown;
mod waited;

use std::sync::Arc;

use ackclock_tcp::{Span, Time};

use self::kept::Kept;
use self::nagle::Nagle;
use self::on_path::OnPath;
use self::pace::{Pace, Paced};
pub(crate) use self::requests::FAREWELL;
use self::requests::{Answers, Requests};
use self::waited::Due;
use super::begun::Begun;
use super::cells::{Cells, bytes};
use super::queue::Queue;
use super::rate::{Base, Bottleneck, Trip};
use super::silence::Silence;
use super::stream::moments::HOST_BUSY;
use super::stream::{Stream, rarely};
use crate::lifetime::{Limit, Shares};
use crate::path::Path;

/// What an ACK lets go leaves in this part of that time: the same run of the kernel takes the one
/// in and sends the other. What is written then may leave at any moment of it. Chosen: half and
/// twice of it move time between the path, the congestion window and Nagle's algorithm in one of
/// eight captures, and nothing else.
const AT_ONCE_PART: u64 = 4;

/// Timeouts until the first probe of a closed window at the latest, with what is not known of the
/// timer. Chosen: with 2 to 8 all shares are the same.
const FIRST_PROBE: u64 = 4;

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
    /// Of the application's share, how long the FIN had been acknowledged, and how long it had not
    /// been sent when nobody sent anything else.
    closed: Span,
    closing: Span,
    /// Of how much nothing is known, which is in no share.
    unknown: Span,
    /// How long the receiver's window limited the sender because more than half of the buffer was
    /// full of what was not read.
    shrunk: Span,
    /// Of `Pending::window` and `Pending::shut`, how long that was so.
    pending: Span,
    /// Time for which the receiver's window limited the sender, by what was outstanding.
    by_window: Cells<Span>,
    begun: Begun,
    silence: Silence,
    /// What was before the first loss.
    early: Option<Box<Early>>,
}

/// The same as in [`Limits`], until the first loss.
#[derive(Debug)]
struct Early {
    paced: Paced,
    full: Cells<Span>,
    /// The shortest round trip of the route then, if it became longer later.
    base: Option<Base>,
    /// Over routes before.
    past: Vec<(Base, Cells<Span>)>,
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
    /// What arrived while losses were repaired; from the first on.
    kept: Option<Box<Kept>>,
    /// Away from the sender: it may repair what is missing, or wait for what comes late.
    unsure: Span,
    /// What goes out may have waited for an ACK that has not reached the sender yet.
    due: Due,
    nagle: Nagle,
    requests: Requests,
    answers: Answers,
    on_path: OnPath,
    pace: Pace,
    /// Time for which cwnd or the path was full, by what was outstanding (`cells::level`).
    full: Cells<Span>,
    /// From the first round trip on that is longer than those before.
    queue: Option<Box<Queue<Cells<Span>>>>,
    /// Nothing is outstanding, and the sender asks for room in the receiver's window.
    asks: bool,
    /// How often the receiver has said that so much was not read, and nothing else soon after; and
    /// how often its ACKs were late, and all at once.
    unread: u32,
    late: u32,
    /// Of the application's share, how long the other end had not asked for what came next.
    // Here, and not in `Waits`, is what a request and its answer have.
    unasked: Span,
    /// Silence that is recovery's unless what comes next says that no timer expired in it.
    expired: Span,
    /// From the first of it on.
    waits: Option<Box<Waits>>,
}

impl Limits {
    /// From the connection's first packet on.
    pub fn new(start: Time, path: Arc<Path>) -> Limits {
        Limits { now: start, on_path: OnPath::new(path), ..Limits::default() }
    }

    /// Something has gone out, or has been acknowledged.
    // Each packet goes through this, from two places, as through `SenderModel::elapse`.
    #[inline(always)]
    pub fn outstanding(&mut self, stream: &Stream) {
        let flight = bytes(stream.outstanding.flight());
        if flight != self.on_path.counted() {
            if flight < self.on_path.counted() {
                self.nagle.advanced(stream.outstanding.una(), flight);
                self.requests.made_room();
            } else {
                self.pace.outstanding(flight);
            }
            self.on_path.count(flight);
        }
        self.on_path.look(self.now);
        // At the sender nobody asks.
        if !stream.terms.at_sender() {
            self.on_path.look_for_room(self.now, stream);
        }
    }

    /// What goes out next arrives at the capture from a bottleneck that has been busy since then.
    #[inline]
    pub fn arrives_behind(&mut self, busy: Time) {
        self.on_path.arrives_behind(busy);
    }

    /// So many bytes were acknowledged, with nothing lost. Returns what all connections on the path
    /// got so far.
    #[inline]
    pub fn delivered(&self, bytes: u64) -> u64 {
        self.on_path.delivered(bytes)
    }

    /// Data was acknowledged.
    #[inline]
    pub fn got_through(&self, at: Time) {
        self.on_path.got_through(at);
    }

    /// When data of any connection on the path last was.
    pub fn passed(&self) -> Time {
        self.on_path.passed()
    }

    /// Bytes that other connections have outstanding on the path by now.
    #[inline]
    pub fn others(&self, now: Time) -> u32 {
        self.on_path.others(now)
    }

    /// An ACK of this position has passed the capture and reaches the sender at this time.
    #[inline]
    pub fn ack_passes(&mut self, at: Time, ack: u64, stream: &Stream) {
        self.on_path.ack_passes(at, ack, stream);
    }

    /// An ACK has measured a round trip, and the bottleneck knows of it.
    #[inline]
    pub fn measured(&mut self, trip: &Trip, bottleneck: &mut Bottleneck) {
        if bottleneck.is_without_handshake() {
            self.waits.get_or_insert_default().begun.measured(trip, bottleneck);
        }
        let moved = Queue::measured(&mut self.queue, trip, bottleneck, &mut self.full);
        if let Some(base) = moved
            && let Some(early) = self.waits.as_mut().and_then(|waits| waits.early.as_mut())
        {
            early.base.get_or_insert(base);
        }
    }

    /// At the end: what the bottleneck does not know yet.
    pub fn tell(&self, bottleneck: &mut Bottleneck) {
        if let Some(waits) = &self.waits {
            waits.begun.tell(bottleneck);
        }
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
        self.on_path.look(self.now);
        if idle || repairs == Repairs::Yes || self.opening {
            return self.divide_unusual(span, stream, idle);
        }
        if repairs == Repairs::Perhaps {
            self.unsure = self.unsure + span;
            return;
        }
        if stream.rwnd_is_full() {
            self.note_rwnd_full(span, stream);
            self.pending.window = self.pending.window + span;
            self.silent.window = self.silent.window + span;
        } else {
            self.pending.flight = self.pending.flight + span;
            self.silent.flight = self.silent.flight + span;
        }
    }

    /// While losses are repaired, a segment is reported ([`Kept::arrived`]).
    pub fn arrived_in_recovery(&mut self, at: Time, sent: Time, bytes: u32, least: Span) {
        self.kept.get_or_insert_default().arrived(at, sent, bytes, least);
    }

    /// While losses were repaired, the bottleneck was busy for so long, of this rate in bits a
    /// second.
    pub fn kept(&mut self, rate_bps: Option<f64>) -> Span {
        self.kept.as_mut().map_or(Span::ZERO, |kept| kept.busy(rate_bps))
    }

    /// What was missing has arrived, or has not. `again`: it went out again; else it was overtaken,
    /// and nothing was repaired.
    pub fn was_missing(&mut self, again: bool) {
        let span = std::mem::take(&mut self.unsure);
        if span > Span::ZERO && again {
            self.lowered();
            self.found.add(Limit::Recovery, span);
        } else {
            self.pending.flight = self.pending.flight + span;
        }
    }

    fn divide_unusual(&mut self, span: Span, stream: &Stream, idle: bool) {
        if self.opening || idle && stream.is_proxied() {
            self.found.add(Limit::Handshake, span);
        } else if !idle {
            self.lowered();
            self.found.add(limit_of_loss(stream), span);
        } else if stream.rwnd_is_full() {
            self.found.add(Limit::Path, std::mem::take(&mut self.pending.flight));
            self.note_rwnd_full(span, stream);
            self.pending.shut = self.pending.shut + span;
        } else {
            if span > follows_within(stream).max(self.latest_reopening()) {
                self.had_no_more();
            }
            if span > stream.timers.rto() {
                self.pace.lowered();
            }
            // What is on its way from the sender to the capture is not known to be outstanding.
            let (timers, moments) = (&stream.timers, &stream.moments);
            let way = if stream.terms.at_sender() { moments.lag() } else { timers.srtt() };
            let unseen = span <= way;
            if self.nagle.last() >= stream.terms.mss && self.on_path.was_busy(self.now, span) {
                self.path_was_full(span);
            } else {
                self.found.add(if unseen { Limit::Path } else { Limit::Application }, span);
                if !unseen && stream.has_closed() {
                    let waits = self.waits.get_or_insert_default();
                    waits.closed = waits.closed + span;
                }
            }
        }
    }

    /// Losses, or what looks like them, lower cwnd.
    fn lowered(&mut self) {
        self.pace.lowered();
        let waits = self.waits.get_or_insert_default();
        if waits.early.is_none() {
            let paced = self.pace.settle(&mut self.full);
            let past = self.queue.as_mut().map(|queue| queue.take_past(&mut self.full));
            let past = past.unwrap_or_default();
            let full = std::mem::take(&mut self.full);
            waits.early = Some(Box::new(Early { paced, full, base: None, past }));
        }
    }

    fn path_was_full(&mut self, span: Span) {
        self.found.add(Limit::Path, span);
        self.on_path.was_full(span);
    }

    /// So much of the time in which nothing was seen to be outstanding went into losses before the
    /// capture.
    pub fn was_repairing(&mut self, span: Span) {
        let span = span.min(self.found.of(Limit::Application));
        self.found.take(Limit::Application, span);
        self.found.add(Limit::Recovery, span);
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

    /// What goes out so soon after the receiver's window was closed, with nothing outstanding, had
    /// waited for it, also on a slow host.
    fn latest_reopening(&self) -> Span {
        rarely(self.pending.shut)
    }

    /// The receiver says again that its window is closed, with nothing outstanding: it was asked
    /// (RFC 9293 section 3.8.6.1), which a sender does that has something to send.
    /// Keep-alives (RFC 9293 section 3.8.4) get the same answer, but come much later than the first
    /// of these probes, which takes a timeout.
    pub fn asks_for_room(&mut self, rto: Span) {
        self.asks |= self.pending.shut > Span::ZERO && self.pending.shut <= rto.times(FIRST_PROBE);
    }

    /// A timer has retransmitted: the time since it was set was lost by it.
    pub fn timer_expired(&mut self, stream: &Stream) {
        let Silent { window, flight } = std::mem::take(&mut self.silent);
        self.pending.window = self.pending.window - window;
        self.pending.flight = self.pending.flight - flight;
        self.found.add(limit_of_loss(stream), window + flight);
    }

    /// The last silence that data has ended, to be noted.
    #[cold]
    pub fn silence(&mut self) -> &mut Silence {
        &mut self.waits.get_or_insert_default().silence
    }

    /// What was noted of it; `None` if nothing was.
    pub fn last_silence(&mut self) -> Option<&mut Silence> {
        self.waits.as_mut().map(|waits| &mut waits.silence)
    }

    /// Of the time in which something was outstanding, as it looked, nothing was for so long.
    pub fn was_idle(&mut self, span: Span) {
        let span = span.min(self.pending.flight);
        self.pending.flight = self.pending.flight - span;
        self.silent.flight = self.silent.flight - span;
        self.found.add(Limit::Application, span);
    }

    /// The same, as far as is known: nothing that a timer has sent was seen.
    pub fn may_have_expired(&mut self, stream: &Stream) {
        let span = self.silent.window + self.silent.flight;
        self.timer_expired(stream);
        if limit_of_loss(stream) == Limit::Recovery {
            self.expired = span;
        }
    }

    /// Data has come. If it is new, and by its number nothing was sent that has not come
    /// (`is_next`), no timer had expired.
    pub fn is_told(&mut self, is_next: bool) {
        let span = std::mem::take(&mut self.expired);
        if span > Span::ZERO && is_next {
            self.found.take(Limit::Recovery, span);
            self.pending.flight = self.pending.flight + span;
        }
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

    /// There was something that most connections do not have.
    #[cfg(test)]
    pub fn has_rare_waits(&self) -> bool {
        self.waits.is_some()
    }

    /// The largest window that has limited the sender, in bytes; 0 if none has, or a closed one.
    pub fn full_window(&self) -> u64 {
        self.full_window.into()
    }
}

/// What a loss limits. A lost FIN holds up nothing: all data has arrived.
fn limit_of_loss(stream: &Stream) -> Limit {
    if stream.waits_for_fin_alone() { Limit::Application } else { Limit::Recovery }
}

/// What waits for nothing but an ACK goes out within this part of that time after it.
#[inline]
fn at_once(stream: &Stream) -> Span {
    Span(follows_within(stream).0 / AT_ONCE_PART)
}

/// What an ACK lets go that is not paced follows within this time. Away from the sender, the way to
/// it and back takes as much longer at times.
#[inline]
fn follows_within(stream: &Stream) -> Span {
    if stream.terms.at_sender() { HOST_BUSY } else { soon(stream) }
}

/// Whether new data at this time had waited for the last ACK. If that ACK acknowledged everything,
/// an answer to what the other end `asked` was written only now.
#[inline]
pub(super) fn follows_ack(at: Time, stream: &Stream, asked: bool) -> bool {
    let idle = stream.outstanding.is_empty();
    stream.moments.since_ack(at) <= soon(stream) && !(idle && asked)
}

#[inline]
fn soon(stream: &Stream) -> Span {
    HOST_BUSY.max(Span(stream.timers.srtt().0 / 4))
}
