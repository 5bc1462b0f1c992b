//! What a sender did, told from what went out and what came back: the cause of each retransmission, timeouts with class and
//! state, recoveries, and what was needless or lost.
//!
//! The input is in the *sender's* frame of time: whoever feeds a [`SenderModel`] has delayed the ACKs by the round trip between
//! the capture and the sender, unwrapped the sequence numbers into positions, and cut super-segments into segments of SMSS. So one
//! model serves every vantage; what it must not assume is that it sees every transmission ([`Sight`]).

mod causes;
mod episodes;
mod fates;
mod holes;
mod outstanding;
mod picture;
mod repair;
mod stalls;
#[cfg(test)]
mod tests;
mod timers;

use ackclock_tcp::{Event, SackRanges, Seq, Span, Time};

use self::fates::Note;
use self::outstanding::{Outstanding, Segment};
use self::repair::{Phase, Repair};
use self::timers::Clock;
use crate::connection::{Recovery, Retransmission, Stall, Timeout};

/// The largest window (RFC 7323 section 2.3): an ACK further below is of another connection.
const MOST_OUTSTANDING: u64 = 1 << 30;

/// What can be seen of the transmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// All of them: the capture was taken at the sender.
    Sent,
    /// Those that came as far as the capture, which lies between the ends.
    Arrived,
    /// Those that reached the receiver: the capture was taken there. What passes it has arrived.
    Received,
}

/// A segment on its way: at most SMSS of payload, or a FIN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub frame: u64,
    /// When, in the sender's frame of time (at the capture).
    pub at: Time,
    /// First byte.
    pub position: u64,
    /// Sequence number of the same.
    pub seq: Seq,
    /// Bytes of sequence space: payload, and 1 for FIN. Never 0.
    pub len: u32,
    /// Whether the last byte of `len` is a FIN.
    pub fin: bool,
    pub tsval: Option<u32>,
    pub ip_id: Option<u16>,
}

/// An ACK as it reaches the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub frame: u64,
    /// When it reaches the sender, in the frame of time in which the sender's segments pass the capture.
    pub at: Time,
    pub ack: u64,
    /// Offered window in bytes, scaled.
    pub window: u64,
    /// SACK blocks as positions, D-SACK included.
    pub sack: SackRanges,
    pub sacks: u8,
    /// The first block is a D-SACK.
    pub dsack: bool,
    pub tsecr: Option<u32>,
    /// It carries data, so it is no duplicate ACK (RFC 5681 section 2).
    pub with_data: bool,
    /// When it came is known, and when what it acknowledges went out: the clock of the capture has not gone back.
    pub timed: bool,
}

/// What is known of the connection when its first data goes out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub mss: u32,
    pub sack: bool,
    pub timestamps: bool,
    pub sight: Sight,
    /// The round trip measured by the handshake (whole path); `None` if not seen.
    pub handshake_rtt: Option<Span>,
    /// Keep events.
    pub events: bool,
}

/// What the model found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub retransmissions: Vec<Retransmission>,
    pub timeouts: Vec<Timeout>,
    pub recoveries: Vec<Recovery>,
    pub stalls: Vec<Stall>,
    pub probes_of_new_data: u64,
    pub segments: u64,
    pub bytes: u64,
    pub dsacks: u64,
    pub unseen: u64,
    pub rtt: Option<crate::connection::RoundTrip>,
    pub events: Vec<Event>,
    pub doubts: Vec<String>,
}

/// One sender, reconstructed.
pub(crate) struct SenderModel {
    terms: Terms,
    found: Found,
    /// What only the decisions need to know of `found.retransmissions`, by the same index.
    notes: Vec<Note>,
    out: Outstanding,
    clock: Clock,
    /// First unacknowledged byte, and the one after the highest seen.
    una: u64,
    max: u64,
    /// The highest ACK seen; `None` as long as `una` is only where the capture begins.
    acked: Option<u64>,
    /// Offered window in bytes.
    window: u64,
    /// A first packet has said where the stream stands.
    started: bool,
    repair: Repair,
    /// Duplicate ACKs since `una` advanced.
    dupacks: u32,
    /// Bytes believed to be in the network, and the most that there were since the window was last reduced.
    pipe: u64,
    peak: u64,
    /// When `una` last advanced, or, if nothing was outstanding, when the first segment went out.
    progress: Time,
    /// When new data last went out.
    last_new: Time,
    last_ack: Time,
    /// Between the last two ACKs.
    ack_gap: Span,
    /// The last ACK said something about losses.
    ack_fresh: bool,
    last: causes::Last,
    stall: stalls::Watch,
    periods: episodes::Periods,
    /// Holes, and the identification of the last segment of new data.
    holes: Vec<holes::Hole>,
    last_id: Option<u16>,
    newly: Vec<Segment>,
}

impl SenderModel {
    pub fn new(terms: Terms) -> SenderModel {
        let mut clock = Clock::default();
        if let Some(rtt) = terms.handshake_rtt {
            clock.begin(rtt, 0, 0);
            clock.handshake = Some(rtt);
        }
        SenderModel {
            terms,
            found: Found::default(),
            notes: Vec::new(),
            out: Outstanding::default(),
            clock,
            una: 0,
            max: 0,
            acked: None,
            window: u64::MAX,
            started: false,
            repair: Repair::default(),
            dupacks: 0,
            pipe: 0,
            peak: 0,
            progress: Time::ZERO,
            last_new: Time::ZERO,
            last_ack: Time::ZERO,
            ack_gap: Span::ZERO,
            ack_fresh: false,
            last: causes::Last::default(),
            stall: stalls::Watch::new(),
            periods: episodes::Periods::default(),
            holes: Vec::new(),
            last_id: None,
            newly: Vec::new(),
        }
    }

    /// In order of time with [`SenderModel::acked`].
    #[inline]
    pub fn sent(&mut self, sent: &Sent) {
        self.found.segments += 1;
        if sent.position == self.max && self.started {
            self.new_data(sent);
        } else {
            self.out_of_order(sent);
        }
    }

    #[inline]
    fn new_data(&mut self, sent: &Sent) {
        if self.out.is_empty() {
            self.begins(sent);
        } else if sent.at.since(self.last_ack.max(self.last_new)) > self.clock.quiet {
            self.after_silence(sent);
        }
        self.max += u64::from(sent.len);
        let flight = (self.max - self.una).min(u64::from(u32::MAX)) as u32;
        let segment = Segment {
            position: sent.position,
            first_at: sent.at,
            len: sent.len,
            flight,
            again: 0,
            transmissions: 1,
            sacked: false,
            unseen: false,
        };
        if let Some(gone) = self.out.push(segment) {
            self.overflown(&gone);
        }
        self.found.bytes += u64::from(sent.len - u32::from(sent.fin));
        self.pipe += u64::from(sent.len);
        self.note_window();
        self.last_new = sent.at;
        self.last_id = sent.ip_id;
        if self.terms.events {
            self.picture_sent(sent, None);
        }
    }

    /// The first of what goes out with nothing outstanding.
    fn begins(&mut self, sent: &Sent) {
        self.stall_idle(sent.at, sent.frame);
        self.periods_idle();
        self.stall.probing = self.window == 0 && sent.len == 1;
        self.progress = sent.at;
        self.pipe = 0;
    }

    /// Estimates cwnd: in a recovery as what there is in the network when something is sent, else as the most that there was.
    #[inline]
    fn note_window(&mut self) {
        self.peak = if self.repair.phase == Phase::Recovery { self.pipe } else { self.peak.max(self.pipe) };
    }

    #[cold]
    fn overflown(&mut self, gone: &Segment) {
        if self.una == 0 || self.found.doubts.is_empty() {
            self.found.doubts.push("too much is outstanding: ACKs are missing from the capture".to_owned());
        }
        self.una = gone.end();
    }

    /// What does not continue where the highest ended: a retransmission, or something was missed.
    #[cold]
    fn out_of_order(&mut self, sent: &Sent) {
        if !self.started {
            self.started = true;
            (self.una, self.max) = (sent.position, sent.position);
            return self.new_data(sent);
        }
        if sent.position > self.max {
            self.missed(sent);
            return self.new_data(sent);
        }
        let end = sent.position + u64::from(sent.len);
        if end <= self.max {
            return self.old_data(sent);
        }
        // Old and new data in one segment.
        let old = (self.max - sent.position) as u32;
        self.old_data(&Sent { len: old, fin: false, ..*sent });
        let (position, seq) = (self.max, sent.seq + old);
        self.new_data(&Sent { position, seq, len: sent.len - old, ..*sent });
    }

    /// An ACK reaches the sender. In order of time with [`SenderModel::sent`].
    #[inline]
    pub fn acked(&mut self, a: &Acked) {
        if self.stall.opening {
            self.opened(a);
        }
        if self.acked.is_none() {
            self.first_ack(a);
        }
        self.acked = self.acked.max(Some(a.ack));
        let before = (self.una, self.out.sacked_bytes);
        let calm = self.repair.is_calm() && self.dupacks == 0 && self.out.retransmitted == 0;
        if calm && a.sacks == 0 && a.ack > self.una && a.ack <= self.max && self.out.sacked_bytes == 0 {
            self.advance_calmly(a);
        } else {
            self.acked_slowly(a);
        }
        self.stall_note(a);
        self.window = a.window;
        self.ack_gap = a.at.since(self.last_ack);
        self.last_ack = a.at;
        if self.terms.events {
            self.picture_acked(a, before);
        }
    }

    /// What was outstanding when the capture began was not seen going out.
    #[cold]
    fn first_ack(&mut self, a: &Acked) {
        let Some(len) = self.una.checked_sub(a.ack).filter(|&len| self.started && 0 < len && len <= MOST_OUTSTANDING)
        else {
            return;
        };
        let first_at = self.out.head().map_or(self.progress, |head| head.first_at);
        let (len, flight) = (len as u32, (self.max - a.ack).min(u64::from(u32::MAX)) as u32);
        self.out.push_front(Segment { position: a.ack, first_at, len, flight, unseen: true, ..Segment::default() });
        self.una = a.ack;
    }

    #[inline]
    fn advance_calmly(&mut self, a: &Acked) {
        let (mut oldest, mut newest) = (None, Time::ZERO);
        while let Some(segment) = self.out.pop_acked(a.ack) {
            if segment.is_hole() {
                self.found.unseen += u64::from(segment.len);
            } else {
                oldest = oldest.or(Some(segment.first_at));
                newest = segment.first_at;
            }
        }
        self.pipe = self.pipe.saturating_sub(a.ack - self.una);
        self.una = a.ack;
        if let Some(oldest) = oldest {
            self.measure(a, oldest, newest);
        }
        self.ack_fresh = false;
        self.advanced(a);
    }

    /// An ACK measures the round trips of segments that went out at these times, unless what it acknowledges has waited for the
    /// window, or a time is not known.
    #[inline]
    fn measure(&mut self, a: &Acked, oldest: Time, newest: Time) {
        if a.timed && !self.stall.probing {
            self.clock.sample(a.at.since(oldest), a.at.since(newest), self.una, self.max);
        }
    }

    /// `una` has moved.
    fn advanced(&mut self, a: &Acked) {
        self.stall_over(a.at, a.frame);
        self.train(a.at, a.ack, a.at.since(self.last_ack));
        self.progress = a.at;
        self.repair.without_progress = 0;
    }

    /// Keeps no further events.
    pub fn quiet(&mut self) {
        self.terms.events = false;
    }

    /// The capture has a gap that ends now.
    pub fn gap(&mut self, until: Time) {
        self.stall.gap = until;
    }

    /// The connection, or the capture, ended at `end`.
    pub fn finish(mut self, end: Time) -> Found {
        self.settle_probes();
        self.settle_fates();
        self.found.rtt = self.clock.round_trip();
        self.settle_episodes();
        self.settle_stalls(end);
        self.settle_picture();
        if self.out.overcut {
            self.found
                .doubts
                .push("SACK blocks or retransmissions leave too many pieces to follow all of them".to_owned());
        }
        self.found
    }
}
