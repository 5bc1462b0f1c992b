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

use std::sync::Arc;

use ackclock_tcp::{Span, Time};

use super::cells::Cells;
use super::input::Sent;
use super::stream::Stream;
use super::stream::timers::nearly;
use crate::lifetime::{Lifetime, Limit, Shares};
use crate::path::Path;

/// The least time after an ACK within which what it lets go follows.
pub(super) const SOON: Span = Span::from_millis(1);

/// Time since new data last went out, to be decided by what goes out next.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// Something was outstanding, and the receiver's window had no room.
    window: Span,
    /// Something was outstanding, and the receiver's window had room.
    flight: Span,
    /// Nothing was outstanding, and the receiver's window had no room.
    shut: Span,
    /// The largest window that had no room, in bytes.
    offered: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Silent {
    window: Span,
    flight: Span,
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
    /// What of `pending.window` and `pending.flight` has passed since the timer was set at the
    /// latest.
    silent: Silent,
    /// Silence that new data ended, with something outstanding and no ACK. If more goes out on the
    /// next ACK, that had waited, too: a probe was sent (RFC 8985 section 7.3). Else the application
    /// had given no more.
    probed: Span,
    /// What goes out may have waited for an ACK that has not reached the sender yet.
    due: bool,
    /// Nothing was outstanding before the new data that last went out, and it was one segment.
    alone: bool,
    path: Arc<Path>,
    /// What of this sender counts as outstanding on the path, in bytes.
    counted: u64,
    /// The most that was outstanding on the path since new data last went out, in bytes.
    most: u64,
    /// Time for which cwnd or the path was full, by what was outstanding ([`level`]).
    full: Cells<Span>,
}

impl Limits {
    /// From the connection's first packet on.
    pub fn new(start: Time, path: Arc<Path>) -> Limits {
        Limits { now: start, path, ..Limits::default() }
    }

    /// Something has gone out, or has been acknowledged.
    #[inline]
    pub fn outstanding(&mut self, stream: &Stream) {
        let flight = stream.outstanding.flight();
        if flight != self.counted {
            self.path.outstanding(self.counted, flight);
            self.counted = flight;
        }
        self.most = self.most.max(self.path.flight());
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
        let idle = stream.outstanding.is_empty();
        self.most = self.most.max(self.path.flight());
        if idle || repairing || self.opening {
            return self.divide_unusual(span, stream, idle);
        }
        if stream.has_no_room() {
            self.pending.offered = self.pending.offered.max(stream.windows.offered());
            self.pending.window = self.pending.window + span;
            self.silent.window = self.silent.window + span;
        } else {
            self.pending.flight = self.pending.flight + span;
            self.silent.flight = self.silent.flight + span;
        }
    }

    fn divide_unusual(&mut self, span: Span, stream: &Stream, idle: bool) {
        if self.opening {
            self.found.add(Limit::Handshake, span);
        } else if !idle {
            self.found.add(repaired(stream), span);
        } else if stream.has_no_room() {
            self.found.add(Limit::Path, std::mem::take(&mut self.pending.flight));
            self.pending.offered = self.pending.offered.max(stream.windows.offered());
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
        let Pending { window, flight, shut, .. } = std::mem::take(&mut self.pending);
        self.found.add(Limit::Path, window + flight + std::mem::take(&mut self.probed));
        self.found.add(Limit::Application, shut);
    }

    /// New data goes out. `asked`: the other end's data came after, or with, the last ACK.
    #[inline]
    pub fn new_data(&mut self, sent: &Sent, stream: &Stream, asked: bool) {
        let idle = stream.outstanding.is_empty() || (self.alone && self.due);
        let single = sent.payload() <= stream.terms.mss;
        let alone = std::mem::replace(&mut self.alone, idle && single);
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
        let Pending { window, flight, shut, .. } = self.pending;
        if window.0 | flight.0 | shut.0 != 0 {
            let waited = std::mem::take(&mut self.due) || follows_ack(sent.at, stream, asked);
            if alone && idle && is_small(sent, stream) && !stream.has_no_room() {
                self.follows_one(sent.at, stream, waited);
            } else {
                self.decide(waited, stream, if may_be_probe { silent } else { Span::ZERO });
            }
            self.most = 0;
        }
    }

    /// Data goes out now, and the next ACK that passed the capture before it reaches the sender at
    /// `ack`. Away from the sender, that time may be late: the data may have waited for this ACK.
    pub fn ack_is_due(&mut self, now: Time, ack: Option<Time>, stream: &Stream) {
        self.due = ack.is_some_and(|ack| ack.since(now) <= soon(stream));
    }

    /// `waited`: what goes out had waited for an ACK.
    fn decide(&mut self, waited: bool, stream: &Stream, probed: Span) {
        if waited || stream.has_no_room() {
            let Pending { window, flight, shut, offered } = std::mem::take(&mut self.pending);
            if window + shut > Span::ZERO {
                self.full_window = self.full_window.max(u32::try_from(offered).unwrap_or(u32::MAX));
            }
            self.found.add(Limit::Recovery, std::mem::take(&mut self.probed));
            self.found.add(Limit::ReceiveWindow, window + shut);
            self.was_full(flight, stream.terms.mss);
        } else {
            self.had_no_more();
            // Was it written now, or does a probe carry what had waited?
            self.found.take(Limit::Path, probed);
            self.probed = probed;
        }
    }

    /// A segment that is not full goes out when one is acknowledged that was outstanding alone. Cwnd
    /// had room for both: Nagle's algorithm held it, or it was written only now.
    fn follows_one(&mut self, at: Time, stream: &Stream, waited: bool) {
        let at_once = !stream.terms.at_sender() || stream.moments.since_ack(at) <= SOON;
        if waited && at_once {
            self.found.add(Limit::Nagle, std::mem::take(&mut self.pending.flight));
        }
        self.had_no_more();
    }

    /// Cwnd was full, or the path.
    fn was_full(&mut self, span: Span, mss: u32) {
        if span > Span::ZERO {
            let full = self.full.at(level(self.most / u64::from(mss.max(1))));
            *full = *full + span;
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

    /// Something has come back.
    #[inline]
    pub fn answered(&mut self) {
        self.opening = false;
    }

    /// The largest window that has limited the sender, in bytes; 0 if none has, or a closed one.
    pub fn full_window(&self) -> u64 {
        self.full_window.into()
    }

    /// At the end: all of it. A path that `holds` so many bytes was full with as many outstanding.
    pub fn into_lifetime(mut self, mss: u32, holds: Option<f64>) -> Lifetime {
        self.had_no_more();
        self.path.outstanding(self.counted, 0);
        let mut found = Lifetime::from(self.found);
        for (level, span) in self.full.iter() {
            let outstanding = (segments(level) * u64::from(mss)) as f64;
            let filled = holds.map_or(0.0, |holds| outstanding / holds);
            if filled >= 1.0 {
                found.add(Limit::Path, span);
                found.add_full(span);
            } else {
                found.add(Limit::CongestionWindow, span);
                found.add_idle(Span((span.0 as f64 * (1.0 - filled)) as u64));
            }
        }
        found
    }
}

/// What a loss limits. A lost FIN holds up nothing: all data has arrived.
fn repaired(stream: &Stream) -> Limit {
    if stream.waits_for_fin_alone() { Limit::Application } else { Limit::Recovery }
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
