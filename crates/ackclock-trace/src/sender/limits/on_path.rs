//! What is outstanding on the path, of this sender and others, and whether its bottleneck is busy.

use std::sync::Arc;

use ackclock_tcp::{Span, Time};

use super::super::cells::bytes;
use super::super::stream::Stream;
use crate::path::{Part, Path};

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
    /// Since when cwnd has had room ([`Stream::cwnd_has_room`]); never where it has none.
    room: Time,
}

#[derive(Debug, Default)]
pub(super) struct OnPath {
    path: Arc<Path>,
    /// Bytes that this sender has outstanding.
    counted: u32,
    away: Option<Box<Away>>,
    /// The most that was outstanding on the path since new data last went out, in bytes.
    most: u32,
}

impl OnPath {
    pub fn new(path: Arc<Path>) -> OnPath {
        OnPath { path, ..OnPath::default() }
    }

    /// Bytes that this sender has outstanding.
    #[inline]
    pub fn counted(&self) -> u32 {
        self.counted
    }

    /// So many bytes are outstanding, other than before.
    #[inline]
    pub fn count(&mut self, flight: u32) {
        let (before, more) = (self.bytes(), flight.saturating_sub(self.counted));
        let now = if more > 0 { before + u64::from(more) } else { before.min(flight.into()) };
        self.path.outstanding(before, now);
        if let Some(away) = &self.away {
            away.part.set(now, more > 0);
        }
        self.counted = flight;
    }

    /// The most that was outstanding on the path since new data last went out, in bytes.
    #[inline]
    pub fn most(&self) -> u32 {
        self.most
    }

    /// Looks how much is outstanding now.
    #[inline]
    pub fn look(&mut self, now: Time) {
        self.most = self.most.max(bytes(self.path.flight(now)));
    }

    /// New data has gone out.
    #[inline]
    pub fn forget_most(&mut self) {
        self.most = 0;
    }

    /// Away from the sender something has gone out, or has been acknowledged.
    #[inline]
    pub fn look_for_room(&mut self, now: Time, stream: &Stream) {
        let room = stream.cwnd_has_room();
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

    /// How long cwnd has had room ([`Stream::cwnd_has_room`]), away from the sender.
    #[inline]
    pub fn cwnd_had_room(&self, at: Time) -> Span {
        self.away.as_ref().map_or(Span::ZERO, |away| at.since(away.room))
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
    #[inline]
    pub fn delivered(&self, bytes: u64) -> u64 {
        self.path.delivered(bytes)
    }

    /// Data was acknowledged.
    #[inline]
    pub fn got_through(&self, at: Time) {
        self.path.got_through(at);
    }

    /// When data of any connection on the path last was.
    pub fn passed(&self) -> Time {
        self.path.passed()
    }

    /// Bytes that other connections have outstanding on the path by now.
    #[inline]
    pub fn others(&self, now: Time) -> u32 {
        let all = self.path.flight(now);
        bytes(all.saturating_sub(self.bytes()))
    }

    /// What of this sender counts as outstanding on the path, in bytes.
    #[inline]
    fn bytes(&self) -> u64 {
        self.away.as_ref().map_or(self.counted.into(), |away| away.part.bytes())
    }

    /// An ACK of this position has passed the capture and reaches the sender at this time.
    #[inline]
    pub fn ack_passes(&mut self, at: Time, ack: u64, stream: &Stream) {
        if self.counted > 0 && ack >= stream.outstanding.max() {
            let part = Arc::clone(&self.away().part);
            self.path.leave(at, part);
        }
    }

    /// The bottleneck was busy for so long, until now. Away from the sender, a queue before the
    /// capture is not seen but by what comes out of it one behind the other.
    #[inline]
    pub fn was_busy(&self, now: Time, span: Span) -> bool {
        let busy = self.away.as_ref().map_or(Time::NEVER, |away| away.busy);
        busy <= now && now.since(busy) >= span
    }

    /// For so long, until now, the path was full.
    pub fn was_full(&mut self, span: Span) {
        let away = self.away();
        away.full = away.full + span;
    }

    /// At the end: how long the path was full, as what came out of it one behind the other shows.
    pub fn into_full(self) -> Span {
        self.path.outstanding(self.bytes(), 0);
        self.away.map_or(Span::ZERO, |away| away.full)
    }
}
