//! An open connection. [`Open`] passes each packet to one part after the other and hands on what
//! they answer:
//!
//! | question | part |
//! | --- | --- |
//! | Does it only acknowledge, perhaps with payload? | `ordinary` |
//! | When was it, and how long was it silent before? | [`clock`] |
//! | What did the SYNs agree on, and is it another connection? | [`handshake`] |
//! | Does a packet open another connection, or say that the clock was set? | `identity` |
//! | Does a SYN belong elsewhere? | [`strays`] |
//! | Does the server take data in the SYN? | [`fast_open`] |
//! | Did they agree on ECN, and what was marked? | [`ecn`] |
//! | Was only one direction captured? | [`directions`] |
//! | Does one counter number the packets of both ends? | [`counter`] |
//! | How often do the ends take turns? | [`turns`] |
//! | Is a checksum wrong since the packet was damaged? | [`sums`] |
//! | What does an end send, and what is acknowledged of it? | [`end`] |
//! | Which position is this sequence number? | [`end::positions`] |
//! | Does the capture have this frame twice? | [`copies`](crate::copies) |
//! | Where was the capture taken? | [`vantage`] |
//! | What is SMSS if the SYNs do not say it? | [`warm_up`] |
//! | What is SMSS if the SYNs say too much? | [`segment_size`] |
//! | How far is the sender if no handshake says it? | [`flights`] |
//! | What does the model of a sender begin with? | `terms` |
//! | Does it wait, or go to the model at once? | `deliver` |
//! | When does the sender know of it? | [`delayed`] |
//! | What had it heard when it sent this? | `heard` |
//! | When was it sent, and what had it heard, as is known in the end? | `hindsight` |
//! | When was it sent? | [`send_clock`] |
//! | Has the server answered? | [`asked`] |
//! | Does a FIN that goes again only acknowledge? | `closing` |
//! | What could not be known? | [`doubts`] |
//! | What was found in the end? | `finish` |
//! | How much memory is left? | [`budget`] |
//!
//! Then [`delayed`] passes everything to the model of the sender (`crate::sender`).

mod asked;
mod budget;
mod clock;
mod closing;
mod counter;
mod delayed;
mod deliver;
mod directions;
mod doubts;
mod ecn;
mod end;
mod fast_open;
mod finish;
mod flights;
mod handshake;
mod heard;
mod hindsight;
mod identity;
mod input;
mod ordinary;
mod roles;
mod segment_size;
mod send_clock;
mod strays;
mod sums;
mod terms;
#[cfg(test)]
mod tests;
mod turns;
mod vantage;
mod warm_up;

use std::net::IpAddr;
use std::sync::Arc;

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Span, Time};
use thin_vec::ThinVec;

use self::asked::Asked;
pub(crate) use self::budget::Budget;
use self::clock::Clock;
pub(crate) use self::clock::is_whole_second;
use self::counter::Counter;
use self::delayed::DelayedSender;
use self::directions::Directions;
use self::ecn::EcnCounts;
use self::end::End;
use self::end::positions::ROOM;
use self::handshake::{Handshake, Seen};
use self::input::{Data, Input};
pub(crate) use self::send_clock::{DRIFT, SET, milliseconds};
use self::sums::Sums;
use self::turns::Turns;
use self::vantage::Place;
use self::warm_up::WarmUp;
use crate::copies::{Lag, Of};
use crate::packet::{Packet, TooBig};
use crate::path::Path;
use crate::sender::{Acked, Owed, Shorter, Sight};

/// Silence of both ends that is long enough to be called a gap if numbers have gone on meanwhile.
const SILENCE: Span = Span::from_millis(10);

/// Silence of both ends after which what comes with data is no first ACK: receivers delay ACKs for
/// less than half a second (RFC 9293 section 3.8.6.3), and timers that have measured nothing begin
/// with three seconds at most (RFC 1122 section 4.2.3.1).
const OVERDUE: Span = Span::from_secs(3);

/// An open connection. Its ends are numbered 0, the client, and 1, the server.
pub(crate) struct Open {
    number: u64,
    hosts: [IpAddr; 2],
    ports: [u16; 2],
    /// The client's address and port are the lower ones.
    client_is_low: bool,
    /// A SYN was seen.
    begun: bool,
    clock: Clock,
    copies: Lag,
    handshake: Handshake,
    /// The last SYN that did not belong here, and when it came again: it opens another connection
    /// if it is answered.
    strays: ThinVec<Packet>,
    ecn: EcnCounts,
    directions: Directions,
    counter: Counter,
    turns: Turns,
    sums: Sums,
    ends: [End; 2],
    place: Place,
    asked: Asked,
    warm_up: WarmUp,
    /// SMSS of each end as this connection has learned it before it was told of; 0 if it has not.
    learned: [u16; 2],
    senders: [DelayedSender; 2],
    /// The payload of the client's SYN (RFC 7413), until it is known whether the server takes it.
    syn_data: Option<Box<Data>>,
    /// From each end to the other one.
    paths: [Arc<Path>; 2],
    gaps: u16,
    /// SYN/ACKs that went again though the ACK of the handshake had arrived.
    deferred: u8,
    /// The client's SYN was answered, though not by a SYN.
    answered: bool,
    /// Options were cut off by the snap length.
    options_cut: bool,
    /// Events are kept.
    events: bool,
}

impl Open {
    /// Begins with this packet, which is then to be given to [`Open::packet`].
    /// `paths`: from its sender to its receiver, and back.
    pub fn new(
        number: u64,
        p: &Packet,
        from_low: bool,
        [to, back]: [Arc<Path>; 2],
        budget: &Budget,
    ) -> Open {
        let (syn, ack) = (p.control.contains(Control::SYN), p.control.contains(Control::ACK));
        let from_client = if syn { !ack } else { roles::is_client(p.src.port(), p.dst.port()) };
        let ends = if from_client { [p.src, p.dst] } else { [p.dst, p.src] };
        Open {
            number,
            hosts: ends.map(|end| end.ip()),
            ports: ends.map(|end| end.port()),
            client_is_low: from_client == from_low,
            begun: syn,
            clock: Clock::new(p.at),
            copies: Lag::default(),
            handshake: Handshake::default(),
            strays: ThinVec::new(),
            ecn: EcnCounts::default(),
            directions: Directions::default(),
            counter: Counter::default(),
            turns: Turns::default(),
            sums: Sums::default(),
            ends: Default::default(),
            place: Place::default(),
            asked: Asked::default(),
            warm_up: WarmUp::new(!syn),
            learned: [0; 2],
            senders: Default::default(),
            syn_data: None,
            paths: if from_client { [to, back] } else { [back, to] },
            gaps: 0,
            deferred: 0,
            answered: false,
            options_cut: false,
            events: budget.keeps_events(number),
        }
    }

    /// The same connection from now on, as another one. It knows what was agreed on, and where the
    /// streams are.
    pub fn rest(&self, number: u64, budget: &Budget) -> Open {
        let handshake = self.handshake.rest();
        Open {
            number,
            begun: false,
            clock: Clock::new(self.clock.last()),
            strays: ThinVec::new(),
            ecn: self.ecn.rest(),
            directions: self.directions.clone(),
            turns: Turns::default(),
            ends: self.ends.each_ref().map(End::rest),
            place: self.place.rest(),
            asked: Asked::default(),
            warm_up: WarmUp::new(!handshake.is_complete()),
            learned: [0, 1].map(|end| {
                let learned = self.senders[end].mss().and_then(|mss| u16::try_from(mss).ok());
                learned.unwrap_or(self.learned[end])
            }),
            handshake,
            senders: Default::default(),
            syn_data: None,
            paths: self.paths.clone(),
            gaps: 0,
            deferred: 0,
            copies: self.copies.clone(),
            events: budget.keeps_events(number),
            ..*self
        }
    }

    /// Client and server.
    pub fn hosts(&self) -> [IpAddr; 2] {
        self.hosts
    }

    /// It has no packets so far.
    pub fn is_empty(&self) -> bool {
        self.clock.packets() == 0
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// When its first packet was seen.
    pub fn start(&self) -> Time {
        self.clock.start()
    }

    /// When its last packet was seen.
    pub fn last(&self) -> Time {
        self.clock.last()
    }

    /// Closed both ways, or reset.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_reset() || self.ends.iter().all(End::has_fin)
    }

    /// A reset of `one` says nothing of when the connection ended: it has sent one before, or all
    /// of both ends is acknowledged, their FINs as well.
    #[cold]
    fn is_gone(&self, one: usize) -> bool {
        self.handshake.asks().is_none()
            && (self.ends[one].is_reset() || self.ends.iter().all(End::is_closed))
    }

    fn is_reset(&self) -> bool {
        self.ends.iter().any(End::is_reset)
    }

    /// The number of the end that a packet comes from.
    #[inline]
    fn from(&self, from_low: bool) -> usize {
        usize::from(from_low != self.client_is_low)
    }

    /// Whether a packet was damaged, and is to be left out. No SYN is: too much hangs on it. The
    /// checksum of what was cut by the snap length says nothing, neither that it is right.
    #[inline]
    pub fn is_damaged(&mut self, p: &Packet, from_low: bool) -> bool {
        p.len == 0
            && !p.options_cut
            && !p.control.contains(Control::SYN)
            && self.sums.is_damaged(self.from(from_low), p.damaged)
    }

    /// A router says that a segment was too big, whose sender is the lower end if `from_low`. Only
    /// what is outstanding can have been: other messages are old, or forged (RFC 5927 section 4.1).
    pub fn too_big(&mut self, message: &TooBig, from_low: bool, budget: &mut Budget) {
        let one = self.from(from_low);
        if self.ends[one].is_outstanding(message.seq) {
            let &TooBig { at, router, mtu, len, .. } = message;
            let at = at.max(self.last());
            self.pass_on_early(one, Input::TooBig(Shorter { at, router, mtu, len }), budget);
        }
    }

    /// Takes the next packet in ([`Open::packet`]).
    #[inline(always)]
    fn take(&mut self, p: &Packet, from_low: bool, budget: &mut Budget) {
        let one = self.from(from_low);
        let has = |control| p.control.contains(control);
        let (syn, closes) = (has(Control::SYN), has(Control::FIN) || has(Control::RST));
        if syn && self.is_stray(p, one) {
            return self.stray(p, one);
        }
        if (one == 1 || has(Control::RST))
            && !syn
            && let Some(isn) = self.handshake.asks()
            && self.is_of_older(p, one, isn)
        {
            return;
        }
        let newest = self.place.last_stamp(one);
        let of = Of { number: self.number << 1 | one as u64, newest };
        if self.copies.is_copy(p, of, &mut budget.seen) || syn && self.is_copied_syn(p, one) {
            // It may be of a host with another clock.
            self.clock.count();
            return self.ends[one].copied(p);
        }
        if has(Control::RST) && self.is_gone(one) {
            return self.clock.count();
        }
        let now = self.clock.tick(p.at, !self.ends.iter().any(End::is_lost));
        self.place.ttl(one, p.ttl, has(Control::RST));
        self.counter.packet(one, p.ip_id);
        self.options_cut |= p.options_cut;
        if syn {
            self.syn(p, now.at, one);
        }
        if p.len == 0 && !syn && !closes {
            let other = &self.ends[1 - one];
            // What comes after a FIN may acknowledge no more than that.
            self.directions.bare(one, p, other.has_data() && !other.has_fin());
        }
        if self.syn_data.is_some() {
            self.settle_syn_data(p, one, budget);
        }
        if EcnCounts::concern(p) {
            let mss = self.mss(one);
            self.ecn.note(one, p, mss);
        }
        if closes {
            self.place.closes(one);
        }
        if let Some(timestamps) = p.options.timestamps {
            self.ends[one].stamped(p, timestamps.val, now.at);
        }
        // A timestamp may have told of a shorter one.
        let full = self.full_segment(p, one);
        let (data, jumps) = self.ends[one].payload(p, &now, full);
        if let Some(timestamps) = p.options.timestamps.filter(|_| now.timed) {
            let again = data.is_some_and(|data| data.again);
            let bare = data.is_none() && !syn;
            self.place.timestamps(one, timestamps, now.at, [again, bare]);
        }
        if let Some(lost) = self.ends[one].is_lost_before()
            && lost != self.place.is_lost_before(one)
        {
            self.settle_lost_before(one, lost, budget);
        }
        if data.is_none() && (p.len == 1 || end::is_long(now.silence)) {
            self.asks(one, p, &now, budget);
        }
        let is_new = data.is_some_and(|data| !data.again);
        if let Some(id) = self.ends[one].settle_number() {
            self.pass_on_early(one, Input::Number(id), budget);
        }
        self.directions.packet(one, p, now.at, is_new);
        if one == 1 && is_new && !self.ends[0].has_data() {
            self.turns.greets();
        }
        if is_new && data.is_some_and(|data| data.len > 0) {
            let at_once = || self.senders[one].since_asked(now.at) <= self.place.at_once(one);
            self.turns.sent(one, at_once);
        }
        let other = &self.ends[1 - one];
        let before = data.map(|_| (other.is_owed_nothing(), other.is_taken(), other.window()));
        let una = other.una();
        let acked = self.acknowledged(p, one, now.at);
        let missing = acked.as_ref().map_or(0, |(_, missing)| *missing);
        let missing = if self.ends[1 - one].has_data() { missing } else { 0 };
        if now.silence >= SILENCE && (missing > 0 || jumps) {
            self.gap(now.at, missing, one, budget);
        }
        if let Some((mut acked, _)) = acked {
            acked.skips = self.ends[one].skips();
            let in_turn = self.ends[one].is_in_turn(p.seq);
            acked.stamp = p.options.timestamps.filter(|_| in_turn).map(|stamps| stamps.val);
            let next = data.is_some_and(|data| data.counted && data.skipped == 0);
            acked.overdue = acked.with_data && now.silence > OVERDUE && !next;
            self.acks(one, &mut acked, una, now.timed, budget);
        }
        if closes && self.ends_or_answers(one, data.as_ref(), una, now.at) {
            return;
        }
        if let Some(mut data) = data {
            // One byte alone, before which nothing was seen, may be a keep-alive (RFC 9293 section
            // 3.8.4).
            let alive = !self.begun && data.len == 1 && data.position == ROOM;
            let una = self.ends[one].una();
            let end = &mut self.ends[one];
            if (is_new || one == 1 && end.has_fin() && end.was_overtaken(&data)) && !alive {
                self.asked.sent(one, &data, una >= data.position);
            }
            data.cwr = data.cwr && !self.ecn.is_accurate();
            data.capable = data.capable && self.ecn.is_classic();
            let other = &self.ends[1 - one];
            data.owed = match before {
                // Of a window that is twice as large, it may have told by itself
                // (`tcp_cleanup_rbuf`).
                Some((true, _, window)) if other.window() / 2 < window => Owed::Nothing,
                Some((_, false, _)) if other.is_taken() => Owed::Carried,
                _ => Owed::Some,
            };
            if syn && one == 0 && is_new && !data.fin {
                self.syn_data = Some(Box::new(data));
                return;
            }
            self.sends(one, data, now.timed, budget);
        }
    }

    /// Bytes of a full segment of this end, if this packet is longer than one that Ethernet takes,
    /// so that it may be several; else of this packet.
    #[inline(always)]
    fn full_segment(&self, p: &Packet, one: usize) -> u32 {
        if p.len > 1460 { self.mss(one) } else { p.len }
    }

    /// What a packet of `one` acknowledges of the other end, and how many bytes of that were not
    /// captured.
    #[inline(always)]
    fn acknowledged(&mut self, p: &Packet, one: usize, at: Time) -> Option<(Acked, u64)> {
        let shift = self.handshake.shift(one);
        let end = &mut self.ends[1 - one];
        match (p.control.contains(Control::ACK), p.control.contains(Control::RST)) {
            (true, false) => end.ack(p, at, shift),
            // The window of a reset means nothing.
            (true, true) => {
                end.reset_acks(p.ack);
                None
            }
            _ => None,
        }
    }

    /// `one` acknowledges, what is behind `una` for the first time. `timed`: the time is known.
    #[inline(always)]
    fn acks(&mut self, one: usize, acked: &mut Acked, una: u64, timed: bool, budget: &mut Budget) {
        acked.ece = acked.ece && self.ecn.is_classic();
        if timed {
            self.measure(one, acked, una);
        }
        if self.place.has_new_least() {
            self.look_again(budget);
        }
        self.pass_on_acked(1 - one, acked, budget);
    }

    /// `one` sends data. `timed`: the time is known.
    #[inline(always)]
    fn sends(&mut self, one: usize, data: Data, timed: bool, budget: &mut Budget) {
        self.place.sent(one, data.end(), data.at, timed && !data.again);
        // A FIN alone asks for nothing.
        if data.len > 0 {
            self.senders[1 - one].peer_data(data.at);
        }
        self.pass_on_data(one, data, budget);
    }

    /// A SYN or SYN/ACK.
    #[cold]
    fn syn(&mut self, p: &Packet, at: Time, one: usize) {
        let new = self.handshake.is_new(one, p.seq);
        // Data would end its wait.
        let defers = one == 1 && !self.ends[0].has_data() && self.handshake.defers(one, p);
        // Behind data that waits, its repetition would say nothing to the model.
        if defers {
            self.deferred = self.deferred.saturating_add(1);
        } else if new || self.warm_up.is_empty() {
            let answered = one == 0 && std::mem::take(&mut self.answered);
            match self.handshake.syn(one, p, at, answered) {
                Seen::New => self.ends[one].start(p.seq + 1),
                Seen::Again(syn) => self.senders[one].syn(&syn, p.seq),
                Seen::Other => {}
            }
        }
        self.begun = true;
        self.place.syn(one, at);
        self.handshake.agree_on_scales();
    }

    /// Both ends were silent, and numbers have gone on meanwhile: something was not captured. What
    /// only jumps ahead may also have been lost on the way to the capture, unless that was taken at
    /// the sender.
    #[cold]
    fn gap(&mut self, at: Time, missing: u64, one: usize, budget: &mut Budget) {
        if missing > 0 || self.place.sight(one) == Sight::Sent {
            self.gaps = self.gaps.saturating_add(1);
            for end in [0, 1] {
                self.pass_on_early(end, Input::Gap(at, missing == 1), budget);
            }
        }
    }
}
