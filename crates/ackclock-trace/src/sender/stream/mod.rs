//! What is on its way, as the capture shows it: segments, holes, times, windows and timers.

pub(crate) mod holes;
pub(crate) mod moments;
pub(crate) mod outstanding;
mod sacked;
pub(crate) mod segment;
pub(crate) mod timers;
pub(crate) mod trips;
mod unseen;
pub(crate) mod windows;

use std::ops::Range;

use ackclock_tcp::{Span, Time};

use self::holes::Holes;
use self::moments::{HOST_BUSY, HOST_IDLE, Moments};
use self::outstanding::Outstanding;
use self::segment::{Replaced, Segment};
use self::timers::Timers;
use self::windows::Windows;
use super::input::{Acked, Opening, Sent, Sight, Terms};
use crate::compact::Compact;
use crate::standards::LONGEST_DELAY;

/// A keep-alive comes after at least so much silence: shorter intervals are of use to nobody (RFC
/// 1122 section 4.2.3.6 asks for hours).
pub(crate) const KEEP_ALIVE: Span = Span::from_secs(1);

/// The part of the shortest round trip by which others are longer although nothing waits for the
/// bottleneck: hosts, and links that take turns, are as late.
const JITTER: u64 = 16;

/// Something happens by chance in such a small part of a time with one chance in so many.
const CHANCE: u64 = 50;

/// Segments of a cwnd that is large enough to tell whether it has room.
const MANY: u64 = 8;

/// A round trip that is as long has waited, if the shortest is known.
fn longer(least: Span) -> Span {
    least + Span(least.0 / JITTER)
}

/// The part of a time in which something happens by chance with one chance in fifty.
#[inline]
pub(crate) fn rarely(span: Span) -> Span {
    Span(span.0 / CHANCE)
}

/// The parts, each of which owns its fields.
#[derive(Debug)]
pub(crate) struct Stream {
    pub terms: Terms,
    pub outstanding: Outstanding,
    pub moments: Moments,
    pub windows: Windows,
    pub timers: Timers,
    pub holes: Holes,
    /// The byte of new data that has last probed a closed window.
    window_probe: Compact<u64>,
    /// Position of the FIN.
    fin: Compact<u64>,
    /// End of the last new data that went out after silence and may have been a probe.
    late: u64,
    /// Segments that went out, and their payload counted once.
    segments: u64,
    bytes: u64,
}

/// Where a sender stands when something happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand {
    pub cwnd: u64,
    pub una: u64,
    pub max: u64,
}

impl Stream {
    pub fn new(terms: Terms) -> Stream {
        Stream {
            terms,
            outstanding: Outstanding::default(),
            moments: Moments::default(),
            windows: Windows::default(),
            timers: Timers::new(terms.handshake_rtt.get()),
            holes: Holes::default(),
            window_probe: Compact::default(),
            fin: Compact::default(),
            late: 0,
            segments: 0,
            bytes: 0,
        }
    }

    /// SMSS turns out to be another than the SYNs say.
    pub fn set_mss(&mut self, mss: u32) {
        self.terms.mss = mss;
    }

    /// The capture was taken at the sender: it shows every transmission. What an ACK lets go passes
    /// it so much later.
    pub fn is_sent(&mut self, lag: Span) {
        self.terms.sight = Sight::Sent;
        self.moments.lags(lag);
    }

    /// The capture was taken between the ends, other than was thought: what it shows may be lost.
    pub fn turns_out_arrived(&mut self) {
        self.terms.sight = Sight::Arrived;
    }

    /// The receiver may still delay the ACK of what is outstanding: of one segment, and not for
    /// longer than it may (RFC 9293 section 3.8.6.3). With SACK, a D-SACK will say whether it had
    /// arrived.
    pub fn may_delay_ack(&self, at: Time) -> bool {
        let Some(head) = self.outstanding.head() else { return false };
        let once = head.transmissions == 1 && self.outstanding.len() == 1;
        !self.terms.sack && once && at.since(head.first_at) < LONGEST_DELAY
    }

    /// An ACK has SACK blocks: they were agreed on.
    pub fn shows_sack(&mut self) {
        self.terms.sack = true;
    }

    /// The receiver's window has no room for another segment.
    #[inline]
    pub fn rwnd_is_full(&self) -> bool {
        let room = self.windows.least_room(self.terms.mss);
        self.windows.allowed() < self.outstanding.flight() + room
    }

    /// The SYN/ACK has no window, and nothing was sent so far: it is of a proxy, which lets the
    /// client send once the server has answered it in turn.
    pub fn is_proxied(&self) -> bool {
        self.terms.opens && self.outstanding.max() == 0 && self.rwnd_is_full()
    }

    /// Cwnd has room for a quarter more of what it is known to let go, so that nothing waits for
    /// it.
    #[inline]
    pub fn cwnd_has_room(&self) -> bool {
        let (pipe, cwnd) = (self.windows.pipe(), self.windows.cwnd());
        pipe * 4 <= cwnd * 3 && cwnd >= MANY * u64::from(self.terms.mss)
    }

    /// Cwnd is full, as far as was seen.
    #[inline]
    pub fn cwnd_is_full(&self) -> bool {
        self.windows.pipe() + u64::from(self.terms.mss) > self.windows.cwnd()
    }

    /// All data is acknowledged, and only the FIN is not: nobody waits for anything.
    #[inline]
    pub fn waits_for_fin_alone(&self) -> bool {
        self.fin.get() == Some(self.outstanding.una())
    }

    /// Its FIN is acknowledged.
    pub fn has_closed(&self) -> bool {
        self.fin.get().is_some_and(|fin| self.outstanding.una() > fin)
    }

    /// Nothing is outstanding, and this ACK is not ahead of what went out.
    pub fn is_all_acked(&self, ack: u64) -> bool {
        self.outstanding.is_empty() && ack <= self.outstanding.una()
    }

    /// New data goes out after silence, and may be a probe.
    pub fn may_have_probed(&mut self, sent: &Sent) {
        self.late = sent.end();
    }

    /// Whether some round trips say that something waited at the bottleneck: they take longer than
    /// the shortest, by more than hosts and links do that take turns. An application that writes
    /// steadily, and less than the path takes, has none of them; BBR, which empties the queue, has
    /// those of its start. Away from the sender nobody knows.
    pub fn has_waited(&self) -> bool {
        let long = |(least, trip): (Span, Span)| trip >= longer(least);
        !self.terms.at_sender() || self.timers.least_and(99).is_none_or(long)
    }

    /// What goes out at the latest so long after an ACK follows it, after as much silence as there
    /// was before. A busy host, or one whose TCP is a program, takes more than [`HOST_IDLE`] to
    /// answer; that an application writes by chance in such a small part of the time in which it
    /// wrote nothing has one chance in fifty.
    #[inline]
    pub fn latest_answer(&self, at: Time) -> Span {
        rarely(self.moments.since_new_data(at)).clamp(HOST_IDLE, HOST_BUSY)
    }

    /// What may have been a probe with new data is not acknowledged.
    pub fn waits_for_probe(&self) -> bool {
        self.outstanding.una() < self.late
    }

    /// Segments that went out, retransmissions included.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Payload that went out, each byte counted once.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn stand(&self) -> Stand {
        let (una, max) = (self.outstanding.una(), self.outstanding.max());
        Stand { cwnd: self.cwnd(), una, max }
    }

    /// The estimate of cwnd as events and timeouts have it. Where little is outstanding, the
    /// estimate is less than any window is: the loss window is a full segment (RFC 5681 section
    /// 3.1).
    pub fn cwnd(&self) -> u64 {
        self.windows.cwnd().max(self.terms.mss.into())
    }

    /// A segment goes out, whatever it is.
    #[inline]
    pub fn count(&mut self) {
        self.segments += 1;
    }

    /// What was counted is no segment of the stream.
    pub fn uncount(&mut self) {
        self.segments -= 1;
    }

    /// New data goes out.
    #[inline]
    pub fn append(&mut self, sent: &Sent, recovering: bool) {
        if sent.len == 1 && self.windows.offered() == 0 {
            self.window_probe.set(sent.position);
        }
        if sent.fin {
            self.fin.set(sent.end() - 1);
        }
        if self.bytes == 0 && self.terms.opening == Opening::Unseen {
            self.outstanding.begins_later(sent.position);
            // What went out before is in the network, too, and its ACKs will take it off.
            self.windows.set_pipe(self.outstanding.flight());
        }
        self.outstanding.append(sent.at, sent.len);
        self.bytes += u64::from(sent.payload());
        self.windows.sent(sent.len);
        self.windows.estimate_cwnd(recovering);
        self.moments.new_data(sent.at);
        self.holes.new_data(sent.ip_id);
    }

    /// `sent` shows that everything before it, from the highest byte seen, went out unseen.
    pub fn miss(&mut self, sent: &Sent) {
        let max = self.outstanding.max();
        self.holes.shown_by(sent, max);
        self.holes.unseen.missed(self.segments_in(sent.position - max));
        self.outstanding.append_unseen(sent.at, sent.position);
    }

    /// An ACK of everything below `ack`. The first one may say that the capture began with more in
    /// the network than it shows.
    #[inline]
    pub fn ack_seen(&mut self, ack: u64) {
        let una = self.outstanding.una();
        self.outstanding.ack_seen(ack, self.moments.progress());
        if self.outstanding.una() < una {
            self.windows.sent((una - self.outstanding.una()) as u32);
            self.windows.estimate_cwnd(false);
        }
    }

    /// So many segments have these bytes, at the least.
    fn segments_in(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.terms.mss.max(1).into())
    }

    /// An ACK covers what was never seen going out.
    pub fn reach_ahead(&mut self, at: Time, ack: u64) {
        let max = self.outstanding.max();
        if ack > max {
            self.holes.shown_by_ack(at, max, ack);
            self.holes.unseen.missed(self.segments_in(ack - max));
            self.outstanding.reach_ahead(ack);
        }
    }

    /// If this went out in its turn and the capture has it late, its records are no longer unseen.
    /// A retransmission may have come before it.
    pub fn is_late_original(&mut self, sent: &Sent, records: Range<usize>) -> bool {
        if records.is_empty() {
            let late = self.outstanding.is_acked(sent.end()) && self.holes.follows_its_ack(sent);
            if late {
                self.outstanding.was_seen(sent.len);
                self.bytes += u64::from(sent.payload());
            }
            return late || self.was_overtaken(sent);
        }
        if !self.outstanding.are_holes(records.clone()) {
            return self.was_overtaken(sent);
        }
        let missed_at = self.outstanding.get(records.start).map_or(sent.at, |s| s.first_at);
        let late = self.holes.is_original(sent, missed_at, &self.timers);
        if late {
            self.holes.filled_by(sent);
            self.outstanding.fill(records, sent.at);
            self.bytes += u64::from(sent.payload());
        }
        late
    }

    /// Whether timestamps or identifications show that this went out before what showed its hole.
    pub fn was_overtaken(&self, sent: &Sent) -> bool {
        self.holes.overtaken(sent) == Some(true)
    }

    /// Whether old data only keeps the connection alive or probes a closed window.
    pub fn is_keep_alive_or_window_probe(&self, sent: &Sent) -> bool {
        let silent = self.moments.silence(sent.at) > KEEP_ALIVE;
        let keep_alive = !sent.fin && self.outstanding.is_empty() && silent;
        let is_head = sent.position == self.outstanding.una();
        sent.len == 1 && (keep_alive || self.windows.offered() == 0 && is_head)
    }

    /// These `old` bytes, with new data behind them, have probed a closed window. Now that it is
    /// open, the segment goes out as a whole: that is no retransmission.
    pub fn has_probed_window(&self, position: u64, old: u32) -> bool {
        old == 1 && self.window_probe.get() == Some(position)
    }

    /// Old data goes out in place of these records, as the retransmission with this number. `each`
    /// is called with every record as it was before.
    pub fn retransmit(
        &mut self,
        sent: &Sent,
        records: Range<usize>,
        number: u32,
        each: impl FnMut(&Segment),
    ) -> Replaced {
        let last = records.end.checked_sub(1).and_then(|last| self.outstanding.get(last));
        let ends = |segment: &Segment| segment.sacked && segment.end() == sent.end();
        let reported_fin = sent.fin && last.is_some_and(ends);
        let mut replaced = self.outstanding.retransmit(records, number, each);
        if replaced.unseen > 0 {
            self.holes.filled_by(sent);
        }
        // Of a hole that could not be cut it fills a part. A FIN, which ends what is sent, is no
        // payload.
        replaced.sacked -= u32::from(reported_fin);
        let filled = replaced.unseen.min(sent.len).saturating_sub(u32::from(sent.fin));
        self.bytes += u64::from(filled);
        replaced
    }

    /// SACKed data is held by the receiver, or `duplicates` have come: something may be lost.
    pub fn is_disorder(&self, duplicates: u32) -> bool {
        self.outstanding.sacked_bytes() > 0 || duplicates > 0
    }

    /// An ACK measures the round trips of segments that went out at these times, unless a time is
    /// not known.
    #[inline]
    pub fn measure(&mut self, a: &Acked, oldest: Time, newest: Time) {
        if a.timed {
            let (una, max) = (self.outstanding.una(), self.outstanding.max());
            self.timers.sample(a.at.since(oldest), a.at.since(newest), una, max);
        }
    }

    /// An ACK answers the retransmission that went out at `sent`, if a timestamp says so.
    pub fn measure_retransmission(&mut self, a: &Acked, sent: Time) {
        if a.timed && a.tsecr.is_some() {
            let (una, max) = (self.outstanding.una(), self.outstanding.max());
            self.timers.sample_retransmission(a.at.since(sent), una, max);
        }
    }

    /// The retransmission timer has expired and sends this many bytes of the head.
    pub fn time_out(&mut self, bytes: u32) {
        self.timers.back_off();
        self.windows.timed_out(bytes);
        if self.outstanding.head().is_some_and(|head| head.sacked) {
            self.outstanding.forget_sacks();
        }
    }
}
