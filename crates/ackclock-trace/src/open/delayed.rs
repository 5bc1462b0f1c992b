//! A sender model behind the delay between the capture and the sender: it gets ACKs later by the
//! round trip between both, and data cut into segments of SMSS.

mod asks;
mod log;
mod room;

use std::collections::VecDeque;
use std::sync::Arc;

use ackclock_tcp::{Seq, Span, Time};

use self::log::Log;
use self::room::Room;
use super::budget::Places;
use super::handshake::Syn;
use super::heard::Heard;
use super::hindsight;
use super::input::Data;
use super::segment_size::SegmentSize;
use crate::connection::Position;
use crate::hypotheses::{self, Entry, Passed};
use crate::path::Path;
use crate::sender::{Acked, EXCHANGED, Found, SenderModel, Sent, Shorter, Sight, Terms};
use crate::standards::FIRST_RTO;

/// So many ACKs are looked at for one that is older.
const MOST_LATE: usize = 64;
/// A number that tells something is that of one of so many segments that passed last.
const JUST_PASSED: usize = 64;
/// Into how many segments a packet is cut at most: as many as 64 KiB have of the shortest, so that
/// a small file does not take much memory.
const MOST_SEGMENTS: u32 = 1 << 11;
/// How many ACKs of one end may be on their way to the sender at most; the rest arrive at once.
const MOST_ACKS: usize = 1 << 14;

/// The sender at one end.
#[derive(Default)]
pub(super) struct DelayedSender {
    /// `None` until the end has sent data.
    model: Option<Box<Model>>,
    early: Option<Box<Early>>,
    /// When the other end's data last passed the capture.
    peer_data: Time,
}

/// What came before there was a model.
#[derive(Default)]
struct Early {
    /// The first and the last ACK.
    acks: Option<[Acked; 2]>,
    /// The one that closed the window, which was closed until the last ACK.
    closed: Option<Acked>,
    /// When a keep-alive last went out.
    alive: Time,
}

struct Model {
    sender: SenderModel,
    /// ACKs that have passed the capture but not reached the sender yet.
    acks: VecDeque<Acked>,
    heard: Heard,
    /// From the first data on that goes out while ACKs wait.
    room: Option<Box<Room>>,
    /// The time of what the sender got last.
    now: Time,
    size: SegmentSize,
    /// For hypotheses, if the capture was taken away from the sender, or may turn out to have been.
    log: Option<Box<Log>>,
}

/// Whether an end at this distance is on the host of the capture. What passes of others is kept,
/// since numbers of packets may prove that something was lost in between.
fn is_on_host(lag: Option<Span>) -> bool {
    lag.is_some_and(|lag| lag <= Position::ON_HOST)
}

impl DelayedSender {
    #[inline]
    pub fn has_begun(&self) -> bool {
        self.model.is_some()
    }

    /// The end is about to send its first data. `lag`: the round trip from the capture to it, if
    /// that is known.
    pub fn begin(&mut self, terms: Terms, path: Arc<Path>, lag: Option<Span>) {
        let here = terms.at_sender();
        let mut sender = SenderModel::new(terms, path);
        if here {
            sender.is_here(lag.unwrap_or_default());
        }
        let log = (!here || !is_on_host(lag)).then(Box::<Log>::default);
        let (acks, heard, room) = Default::default();
        let (now, size) = (Time::ZERO, SegmentSize::default());
        self.model = Some(Box::new(Model { sender, acks, heard, room, now, size, log }));
    }

    /// SMSS as it was learned in the end.
    pub fn mss(&self) -> Option<u32> {
        self.model.as_ref().map(|model| model.sender.terms().mss)
    }

    /// The capture was taken at this end; `lag` is the round trip from it to the end.
    pub fn is_here(&mut self, lag: Option<Span>, places: &mut Places) {
        if let Some(model) = &mut self.model {
            model.sender.is_here(lag.unwrap_or_default());
            if is_on_host(lag) {
                model.forget(places);
            }
        }
    }

    /// It was not: something was lost between it and the capture.
    pub fn is_away(&mut self, near: bool) {
        if let Some(model) = &mut self.model {
            model.sender.is_away(near);
        }
    }

    /// A SYN or SYN/ACK of this end with this number.
    pub fn syn(&mut self, syn: &Syn, seq: Seq) {
        if let Some(model) = &mut self.model {
            if let Some((log, [_, tsval])) = model.log.as_mut().zip(syn.stamps) {
                log.clock.begin(tsval, syn.at);
            }
            model.sender.syn(syn.frame, syn.at, seq, syn.answer, syn.stamps);
        }
    }

    /// Keeps an ACK until there is a model.
    pub fn keep(&mut self, acked: &Acked) {
        let early = self.early.get_or_insert_default();
        let [_, last] = early.acks.get_or_insert([*acked; 2]);
        if last.window > 0 {
            early.closed = (acked.window == 0).then_some(*acked);
        }
        *last = *acked;
    }

    /// ACKs that came before the SYN have positions of their own.
    pub fn forget_early_acks(&mut self) {
        self.early = None;
    }

    /// The model gets the ACKs that came before it began. `syns`: the last SYN of this end, and the
    /// last of the other end.
    pub fn replay_early_acks(&mut self, delay: Span, syns: [Option<Syn>; 2], places: &mut Places) {
        let Some(early) = self.early.take() else { return };
        let Early { acks, closed, alive } = *early;
        if alive > Time::ZERO {
            self.keeps_alive(alive);
        }
        let Some([mut first, last]) = acks else { return };
        let is_only = last.frame == first.frame;
        if let Some(again) = syns[0].filter(|syn| syn.at > first.at + delay) {
            // The first answer to the SYN, or to the SYN/ACK, was lost on its way. A later one
            // opened the connection.
            let opens = syns[1].filter(|syn| syn.at > again.at).unwrap_or(again);
            (first.at, first.frame) = (opens.at, opens.frame);
        }
        self.acked(&mut first, delay, places);
        let closed = closed.filter(|closed| closed.frame != last.frame);
        for mut acked in closed.into_iter().chain((!is_only).then_some(last)) {
            self.acked(&mut acked, delay, places);
        }
    }

    /// The other end's data passes the capture.
    #[inline]
    pub fn peer_data(&mut self, at: Time) {
        self.peer_data = at;
    }

    /// When the other end's data last passed the capture; from now on none has.
    pub fn take_peer_data(&mut self) -> Time {
        std::mem::take(&mut self.peer_data)
    }

    /// The number of this packet is now known to tell what is missing before it.
    #[cold]
    pub fn number_tells(&mut self, id: u16) {
        let Some(model) = &mut self.model else { return };
        model.sender.number_tells(id);
        let passed = model.log.iter_mut().flat_map(|log| log.entries.iter_mut().rev());
        let sent = passed.filter_map(Entry::in_time_mut);
        if let Some(sent) = sent.take(JUST_PASSED).find(|sent| sent.ip_id == Some(id)) {
            sent.counted = true;
        }
    }

    /// Since the other end's data last passed the capture.
    pub fn since_asked(&self, at: Time) -> Span {
        at.since(self.peer_data)
    }

    /// The end sends this. `delay` is the round trip between the capture and the sender, zero if
    /// the capture was taken there.
    #[inline(always)]
    pub fn data(&mut self, mut data: Data, delay: Span, places: &mut Places) {
        let Some(model) = &mut self.model else { return };
        let (seen, mut busy) = (data.at, Time::NEVER);
        let here = model.sender.terms().at_sender();
        if let Some(log) = &mut model.log {
            let sent = data.tsval.map(|tsval| log.clock.sent(tsval, data.at));
            data.at = sent.filter(|_| !here).unwrap_or(data.at);
            if !data.again {
                log.arrivals.arrived(seen, data.len, model.sender.terms().mss);
            }
            if data.tsval.is_none() && !here {
                busy = log.arrivals.busy_since(data.at, data.len);
            }
        }
        let asked = self.peer_data > Time::ZERO;
        let asked = if asked { data.at.min(self.peer_data + delay) } else { Time::ZERO };
        model.sender.peer_data(asked, data.owed);
        let next = model.hear(&data, delay, places);
        model.sender.ack_is_due(data.at, next);
        if data.cwr {
            model.sender.says_lowered(data.position);
        }
        if data.capable {
            model.sender.is_capable(data.position, data.cwr);
        }
        if busy < data.at {
            model.sender.arrives_behind(busy);
        }
        model.data(&data, seen, delay, places);
    }

    /// The way from the capture to this end and back takes no longer than this, as its data says.
    pub fn answers_within(&mut self) -> Option<Span> {
        self.model.as_mut()?.room.as_mut()?.trip()
    }

    /// The other end acknowledges; `delay` as in [`DelayedSender::data`].
    #[inline(always)]
    pub fn acked(&mut self, acked: &mut Acked, delay: Span, places: &mut Places) {
        let Some(model) = &mut self.model else { return };
        model.keep(|| Entry::Acked(*acked), places);
        if delay == Span::ZERO {
            model.arrive(Time::NEVER, delay, places);
            model.acked(acked);
        } else {
            model.passes(*acked, delay, places);
        }
    }

    /// The capture has a gap until now. All that it lacks may be a FIN. `delay` as in
    /// [`DelayedSender::data`].
    pub fn gap(&mut self, until: Time, fin: bool, delay: Span, places: &mut Places) {
        let Some(model) = &mut self.model else { return };
        model.arrive(until, delay, places);
        model.now = model.now.max(until);
        model.sender.gap(model.now, fin);
    }

    /// A router asks the sender for shorter packets, which passes the capture, and reaches the
    /// sender later. `delay` as in [`DelayedSender::data`].
    #[cold]
    pub fn too_big(&mut self, asked: &Shorter, delay: Span, places: &mut Places) {
        let Some(model) = &mut self.model else { return };
        model.arrive(asked.at, delay, places);
        model.sender.too_big(&Shorter { at: asked.at + delay, ..*asked });
        let Terms { mss, header, .. } = *model.sender.terms();
        if let Some(mtu) = asked.mtu {
            model.size.is_asked(mtu, header, mss);
        }
    }

    /// Keeps no further events.
    pub fn stop_events(&mut self) {
        if let Some(model) = &mut self.model {
            model.sender.stop_events();
        }
    }

    /// The connection ended at `end`; `None` if this end has sent nothing.
    pub fn finish(self, end: Time, delay: Span, places: &mut Places) -> Option<Found> {
        let mut model = self.model?;
        model.arrive(Time::NEVER, delay, places);
        let end = end.max(model.now);
        let terms = *model.sender.terms();
        if terms.at_sender() {
            model.forget(places);
        }
        let arrivals = model.log.as_ref().and_then(|log| {
            let behind = terms.sight == Sight::Received;
            log.arrivals.rate(behind)
        });
        let mut found = model.sender.finish(end, arrivals);
        if let Some(log) = &mut model.log {
            if log.clock.is_known() && delay > Span::ZERO {
                hindsight::send_times(&mut log.entries, &log.clock);
                hindsight::ack_times(&mut log.entries, delay);
            }
            hypotheses::rewrite(
                terms,
                Passed {
                    entries: &log.entries,
                    others: &log.others,
                    all: !log.is_over,
                    timed: log.clock.is_known(),
                    arrivals,
                },
                delay,
                &mut found,
            );
            places.give_back(log.entries.len());
        }
        Some(found)
    }
}

impl Model {
    /// At the sender there is nothing to guess.
    fn forget(&mut self, places: &mut Places) {
        places.give_back(self.log.take().map_or(0, |log| log.entries.len()));
    }

    /// It is known when data was sent. What has waited on its way to the capture echoes what was
    /// heard before that.
    fn is_timed(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.clock.is_known())
    }

    /// The sender sends this, and echoes what it has heard. Returns when the next ACK reaches it,
    /// unless the echo says that it has not, and its position.
    #[inline]
    fn hear(&mut self, data: &Data, delay: Span, places: &mut Places) -> Option<(Time, u64)> {
        let Some(echo) = data.tsecr.filter(|_| !self.acks.is_empty() && self.is_timed()) else {
            self.arrive(data.at, delay, places);
            return self.acks.front().map(|next| (next.at + delay, next.ack));
        };
        self.heard.learn(echo, self.acks.iter().take(MOST_LATE));
        self.hand_over(data.at, Some(echo), delay, places);
        let next = self.acks.front()?;
        let due = next.at + delay;
        match self.heard.has(next, echo) {
            None => Some((due, next.ack)),
            Some(_) => {
                if !data.again {
                    self.heard.goes_on(data.at.since(due));
                }
                None
            }
        }
    }

    /// Hands over the ACKs that have reached the sender by `now`.
    #[inline]
    fn arrive(&mut self, now: Time, delay: Span, places: &mut Places) {
        // At the sender none waits.
        if !self.acks.is_empty() {
            self.hand_over(now, None, delay, places);
        }
    }

    /// The same; `echo` is what it sends now.
    fn hand_over(&mut self, now: Time, echo: Option<u32>, delay: Span, places: &mut Places) {
        let has = |heard: &Heard, next: &Acked| echo.and_then(|echo| heard.has(next, echo));
        while let Some(first) = self.acks.front() {
            let due = first.at + delay;
            // One that was lost is made up for by what comes behind it.
            let is_lost = || {
                let mut behind = self.acks.iter().skip(1).take(MOST_LATE);
                due <= now && behind.any(|a| a.stamp.is_none() && a.at + delay <= now)
            };
            if !has(&self.heard, first).unwrap_or(due <= now) && !is_lost() {
                break;
            }
            let mut first = Acked { at: due.min(now), ..*first };
            self.acks.pop_front();
            places.give_back(1);
            self.heard.reached(&first);
            self.acked(&mut first);
        }
        if self.acks.is_empty() && self.acks.capacity() > 64 {
            self.acks = VecDeque::new();
        }
    }

    /// An ACK passes the capture, and reaches the sender later.
    fn passes(&mut self, mut acked: Acked, delay: Span, places: &mut Places) {
        self.sender.ack_passes(acked.at + delay, acked.ack);
        self.heard.passes(&acked);
        // What goes out tells which it has heard, if something does.
        let is_told = self.heard.is_told() && self.is_timed();
        let waits = if is_told { FIRST_RTO } else { Span::ZERO };
        // The next data may turn out to have been sent before now.
        if !self.log.as_ref().is_some_and(|log| log.clock.is_queued()) {
            self.arrive(Time(acked.at.0.saturating_sub(waits.0)), delay, places);
        }
        if self.acks.len() >= MOST_ACKS || !places.take() {
            self.arrive(Time::NEVER, delay, places);
            acked.at += delay;
            self.heard.reached(&acked);
            self.acked(&mut acked);
        } else {
            if self.acks.capacity() == 0 {
                // Idle connections are many, and the last ACK waits in each.
                self.acks.reserve_exact(1);
            }
            self.acks.push_back(acked);
        }
    }

    /// An ACK reaches the sender, not before what was there already.
    #[inline]
    fn acked(&mut self, acked: &mut Acked) {
        self.now = self.now.max(acked.at);
        acked.at = self.now;
        self.sender.acked(acked);
    }

    /// What acknowledges was `seen` before data that goes out now.
    fn look_for_ack_before(&mut self, seen: Time) {
        let before = |acked: &&Acked| seen.since(acked.at) > EXCHANGED;
        if let Some(acked) = self.acks.iter().rev().take(MOST_LATE).find(before) {
            self.sender.ack_has_passed(acked.ack);
        }
    }

    /// The end sent this; the capture had `seen` it then.
    #[inline]
    fn data(&mut self, data: &Data, seen: Time, delay: Span, places: &mut Places) {
        self.now = self.now.max(data.at);
        if !self.acks.is_empty() {
            self.look_for_ack_before(seen);
            if !data.again && data.tsecr.is_none() {
                let waiting = self.acks.iter().take(MOST_LATE);
                let room = self.room.get_or_insert_default();
                room.used(data.end(), self.sender.room(), seen, delay, waiting);
            }
        }
        let Terms { mss, sight, .. } = *self.sender.terms();
        let (size, mut rest) = (&mut self.size, data.len);
        let learned =
            if data.again { size.again(rest, mss, sight) } else { size.sees(rest, seen, mss) };
        if let Some(mss) = learned {
            self.sender.set_mss(mss);
        }
        let mss = learned.unwrap_or(mss).max(1);
        let &Data { frame, position, seq, tsval, tsecr, ip_id, skipped, counted, .. } = data;
        let &Data { all_seen, fin, .. } = data;
        let (at, len) = (self.now, rest + u32::from(fin));
        let mut sent = Sent {
            frame,
            at,
            position,
            seq,
            len,
            fin,
            tsval,
            tsecr,
            ip_id,
            skipped,
            counted,
            all_seen,
        };
        if rest > mss {
            let mss = if data.again { self.size.cut(mss) } else { mss };
            let mss = mss.max(rest.div_ceil(MOST_SEGMENTS));
            while rest > mss {
                self.piece(&Sent { len: mss, fin: false, ..sent }, places);
                (sent.position, sent.seq) = (sent.position + u64::from(mss), sent.seq + mss);
                (sent.len, sent.skipped) = (sent.len - mss, 0);
                rest -= mss;
            }
        }
        self.sent(&sent, places);
    }

    /// A segment that is cut from a super-segment goes out.
    #[inline(never)]
    fn piece(&mut self, sent: &Sent, places: &mut Places) {
        self.sent(sent, places);
    }

    /// A segment goes out.
    #[inline(always)]
    fn sent(&mut self, sent: &Sent, places: &mut Places) {
        let late = self.sender.sent(sent);
        self.keep(|| if late { Entry::Late(*sent) } else { Entry::Sent(*sent) }, places);
    }
}

#[cfg(test)]
mod tests;
