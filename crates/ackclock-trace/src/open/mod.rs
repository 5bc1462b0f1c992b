//! An open connection: its two ends as senders, what tells where the capture was taken, and what becomes of it at the end.

mod duplicates;
mod feed;
mod half;
mod summary;
#[cfg(test)]
mod tests;
mod vantage;

use std::net::SocketAddr;

use ackclock_tcp::wire::{Control, Options};
use ackclock_tcp::{Seq, Span, Time};

use self::feed::{Feed, Held, Op, WARM_UP, learn_mss};
use self::half::Half;
use self::vantage::Trip;
use crate::packet::Packet;
use crate::sender::{Sight, Terms};
use crate::tracker::Detail;

/// A SYN/ACK that goes again within this of a SYN that came again answers it.
const ANSWER: Span = Span::from_millis(1);
/// Silence of both ends that is long enough to be called a gap if numbers have gone on meanwhile.
const SILENCE: Span = Span::from_millis(10);
/// Clocks that are set and files put together in the wrong order go back by more than this; queues and cores by less.
const BACK: Span = Span::from_millis(10);
/// A lower MSS counts as this: Linux sends no shorter segments either (`TCP_MIN_SND_MSS`; CVE-2019-11479).
const LEAST_MSS: u32 = 48;
/// Without a sign of its end, a connection is taken to be over when its addresses open a new one after this time.
const LONG: Span = Span::from_secs(60);

/// What all connections share.
pub(crate) struct Budget {
    held: Held,
    detail: Detail,
    /// Packets of connections with events so far, each of which is about one event.
    events: usize,
}

impl Budget {
    pub fn new(detail: &Detail) -> Budget {
        let mut detail = detail.clone();
        if let Detail::Of(numbers) = &mut detail {
            numbers.sort_unstable();
        }
        Budget { held: Held::default(), detail, events: 0 }
    }

    fn wants_events(&self, number: u64) -> bool {
        match &self.detail {
            Detail::None => false,
            Detail::UpTo(most) => self.events < *most,
            Detail::Of(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }
}

/// An open connection. Its ends are numbered 0, the client, and 1, the server.
pub(crate) struct Open {
    number: u64,
    ends: [SocketAddr; 2],
    /// The client's address and port are the lower ones.
    client_is_low: bool,
    start: Time,
    last: Time,
    /// When the last packet was seen that was not followed by any that may be astray.
    sure: Time,
    /// The last packet's own time, and how often it has gone back.
    clock: Time,
    went_back: u64,
    packets: u64,
    halves: [Half; 2],
    feeds: [Feed; 2],
    /// Round trips from the capture to each end.
    trips: [Trip; 2],
    /// What waits until SMSS and vantage are known: the number of the end whose model it is for, and what it is to be told.
    waiting: Vec<(usize, Op)>,
    /// Still waiting.
    warming_up: bool,
    /// Has waited.
    warmed_up: bool,
    /// SMSS as learned from sizes; 0 if nothing was.
    learned_mss: [u32; 2],
    /// What the capture shows of the transmissions of each end, as its model was told.
    sights: [Sight; 2],
    begun: bool,
    gaps: u64,
    /// Options were cut off by the snap length.
    cut: bool,
    events: bool,
}

impl Open {
    /// Begins with this packet, which is then to be given to [`Open::packet`].
    pub fn new(number: u64, p: &Packet, from_low: bool, budget: &Budget) -> Open {
        let (syn, ack) = (p.control.contains(Control::SYN), p.control.contains(Control::ACK));
        let from_client = match (syn, ack) {
            (true, ack) => !ack,
            _ => p.src.port() >= p.dst.port(),
        };
        let ends = if from_client { [p.src, p.dst] } else { [p.dst, p.src] };
        Open {
            number,
            ends,
            client_is_low: from_client == from_low,
            start: p.at,
            last: p.at,
            sure: p.at,
            clock: p.at,
            went_back: 0,
            packets: 0,
            halves: Default::default(),
            feeds: Default::default(),
            trips: Default::default(),
            waiting: Vec::new(),
            warming_up: !syn,
            warmed_up: false,
            learned_mss: [0; 2],
            sights: [Sight::Arrived; 2],
            begun: syn,
            gaps: 0,
            cut: false,
            events: budget.wants_events(number),
        }
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// When its last packet was seen.
    pub fn last(&self) -> Time {
        self.last
    }

    /// Closed both ways, or reset.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_reset() || self.halves.iter().all(|half| half.fin.is_some())
    }

    fn is_reset(&self) -> bool {
        self.halves.iter().any(|half| half.reset)
    }

    /// Whether this packet opens another connection between the same ends. A SYN does that has another sequence number than
    /// the one that opened this connection, which therefore is over: by its packets, or since it never came about,
    /// or was quiet for long. In an open connection such a SYN is a stray (RFC 5961 section 4).
    #[inline]
    pub fn is_reused_by(&self, p: &Packet, from_low: bool) -> bool {
        p.control.contains(Control::SYN) && !p.control.contains(Control::RST) && self.opens_another(p, from_low)
    }

    #[cold]
    fn opens_another(&self, p: &Packet, from_low: bool) -> bool {
        let [one, other] = self.sides(from_low);
        let half = &self.halves[one];
        if half.isn == Some(p.seq) {
            return false;
        }
        let over = self.is_over() || p.at.since(self.last) >= LONG;
        if p.control.contains(Control::ACK) {
            // The answer to a SYN that is missing, if it does not fit the one that was seen; or to one that seemed to be a stray.
            let answers = |isn: Seq| isn + 1 == p.ack;
            let answers_other = self.halves[other].isn.is_some_and(|isn| !answers(isn));
            over || (answers_other && half.isn.is_some()) || self.halves[other].stray_syn.is_some_and(answers)
        } else {
            // The first SYN of this end in a simultaneous opening does not open another connection.
            over || (half.isn.is_some()
                && !self.halves[other].seen.data
                && !half.seen.data
                && self.halves[other].isn.is_none())
        }
    }

    /// The number of the end that a packet comes from, and of the other one.
    #[inline]
    fn sides(&self, from_low: bool) -> [usize; 2] {
        if from_low == self.client_is_low { [0, 1] } else { [1, 0] }
    }

    /// The next packet, from the end with the lower or the higher address.
    #[inline]
    pub fn packet(&mut self, p: &Packet, from_low: bool, budget: &mut Budget) {
        let [one, other] = self.sides(from_low);
        self.packets += 1;
        if !self.halves.iter().any(Half::is_lost) {
            self.sure = self.last;
        }
        let silence = p.at.since(self.sure);
        let at = self.last.max(p.at);
        self.last = at;
        self.went_back += u64::from(self.clock.since(p.at) > BACK);
        self.clock = p.at;
        // When it really was is not known where the clock has gone back.
        let timed = at == p.at;
        if self.halves[one].recent.contains(p) {
            self.halves[one].seen.duplicates += 1;
            return;
        }
        self.halves[one].ttl = p.ttl;
        self.cut |= p.options_cut;
        if p.control.contains(Control::SYN) && !self.on_syn(p, at, one) {
            return;
        }
        if let Some(timestamps) = p.options.timestamps {
            self.halves[one].seen.timestamps = true;
            if timed {
                self.trips[other].stamped(timestamps.val, at);
                self.trips[one].echoed(timestamps.ecr, at);
            }
        }
        let (data, jumps) = self.halves[one].on_payload(p, at);
        let shift = self.halves[one].shift;
        let acked = match (p.control.contains(Control::ACK), p.control.contains(Control::RST)) {
            (true, false) => self.halves[other].on_ack(p, at, shift),
            // The window of a reset means nothing.
            _ => None,
        };
        let missing = acked.as_ref().is_some_and(|(_, missing)| *missing) && self.halves[other].seen.data;
        if silence >= SILENCE && (missing || jumps) {
            self.gap(at, missing, one, budget);
        }
        if let Some((acked, _)) = acked {
            if timed {
                self.trips[one].acked(acked.ack, at);
            }
            self.tell(other, Op::Acked(acked), budget);
        }
        if let Some(data) = data {
            if data.again || !timed {
                self.trips[other].sent_again();
            } else {
                self.trips[other].sent(data.end(), at);
            }
            self.halves[other].heard = at;
            self.tell(one, Op::Data(data), budget);
        }
    }

    /// A SYN or SYN/ACK; `false` if it does not belong here.
    #[cold]
    fn on_syn(&mut self, p: &Packet, at: Time, one: usize) -> bool {
        let asked = self.halves[1 - one].syns_again.last().is_some_and(|&(_, asked, _)| at.since(asked) <= ANSWER);
        let answer = asked && p.control.contains(Control::ACK);
        let half = &mut self.halves[one];
        if half.isn != Some(p.seq) && (half.seen.data || half.max > 0) {
            half.seen.strays += 1;
            half.stray_syn = Some(p.seq);
            return false;
        }
        // Behind data that waits, its repetition would tell the model nothing.
        let late = half.isn == Some(p.seq) && !self.waiting.is_empty();
        if !late && half.on_syn(p, at, answer) {
            self.feeds[one].syn(p.frame, at, p.seq, answer);
        }
        self.begun = true;
        self.trips[1 - one].syn(at);
        let scales = [0, 1].map(|end| self.halves[end].offered.map(|offered| offered.wscale));
        if let [Some(client), Some(server)] = scales {
            let both = client.zip(server);
            self.halves[0].shift = Some(both.map_or(0, |(client, _)| client));
            self.halves[1].shift = Some(both.map_or(0, |(_, server)| server));
        }
        true
    }

    /// Both ends were silent, and numbers have gone on meanwhile: something was not captured. What only jumps ahead may also have
    /// been lost on the way to the capture, unless that was taken at the sender.
    #[cold]
    fn gap(&mut self, at: Time, missing: bool, one: usize, budget: &mut Budget) {
        if !missing && self.sights[one] != Sight::Sent {
            return;
        }
        self.gaps += 1;
        for end in [0, 1] {
            self.tell(end, Op::Gap(at), budget);
        }
    }

    /// Tells the model of what `end` sends.
    #[inline]
    fn tell(&mut self, end: usize, op: Op, budget: &mut Budget) {
        if self.warming_up {
            if self.waiting.len() < WARM_UP && budget.held.take() {
                return self.waiting.push((end, op));
            }
            self.warm_up(budget);
        }
        self.give(end, &op, budget);
    }

    /// Tells the models what has waited.
    #[cold]
    fn warm_up(&mut self, budget: &mut Budget) {
        if !std::mem::replace(&mut self.warming_up, false) {
            return;
        }
        self.warmed_up = true;
        let sizes = |end| {
            self.waiting.iter().filter_map(move |(of, op)| match op {
                Op::Data(data) if *of == end && data.len > 0 => Some(data.len),
                _ => None,
            })
        };
        self.learned_mss = [0, 1].map(|end| learn_mss(sizes(end)).unwrap_or(0));
        for (end, op) in std::mem::take(&mut self.waiting) {
            budget.held.give_back();
            self.give(end, &op, budget);
        }
    }

    #[inline]
    fn give(&mut self, end: usize, op: &Op, budget: &mut Budget) {
        if !self.feeds[end].begun() {
            match op {
                Op::Data(_) if !self.warmed_up && vantage::forget_made_up(&mut self.trips) => {
                    self.warming_up = true;
                    return self.tell(end, *op, budget);
                }
                Op::Data(_) => self.begin(end, budget),
                Op::Acked(acked) => return self.halves[end].keep(acked),
                Op::Gap(_) => return,
            }
        }
        if self.events {
            self.count_event(budget);
        }
        let delay = self.delay(end);
        if let Op::Data(data) = op
            && self.halves[end].heard > Time::ZERO
        {
            self.feeds[end].heard(data.at.min(self.halves[end].heard + delay));
        }
        self.feeds[end].give(op, delay, &mut budget.held);
    }

    /// How much later than at the capture an ACK is at the end that it is for, in the frame of time of what that end sends.
    #[inline]
    fn delay(&self, end: usize) -> Span {
        match self.sights[end] {
            Sight::Sent => Span::ZERO,
            Sight::Arrived | Sight::Received => self.trips[end].least.unwrap_or_default(),
        }
    }

    /// The first data of an end: now its model is needed.
    #[cold]
    fn begin(&mut self, end: usize, budget: &mut Budget) {
        let trips = [0, 1].map(|end| self.trips[end].least);
        self.sights[end] = vantage::sight(end, trips, self.halves.each_ref().map(|half| half.ttl));
        let handshake = trips[0].zip(trips[1]).filter(|_| self.begun);
        let terms = Terms {
            mss: self.mss(end),
            // Where the blocks are cut off, duplicates have to tell.
            sack: !self.cut && self.sack().unwrap_or(true),
            timestamps: self.timestamps(end),
            sight: self.sights[end],
            handshake_rtt: handshake.map(|(client, server)| client + server),
            events: self.events,
        };
        let delay = self.delay(end);
        let (feed, half) = (&mut self.feeds[end], &mut self.halves[end]);
        feed.begin(terms);
        if let (Some((frame, at)), Some(isn)) = (half.syn, half.isn) {
            feed.syn(frame, at, isn, false);
            half.syns_again.iter().for_each(|&(frame, at, answer)| feed.syn(frame, at, isn, answer));
        }
        if let Some(before) = half.acked_before.take() {
            let [first, last] = *before;
            feed.give(&Op::Acked(first), delay, &mut budget.held);
            if last.frame != first.frame {
                feed.give(&Op::Acked(last), delay, &mut budget.held);
            }
        }
    }

    /// Each packet is about one event.
    fn count_event(&mut self, budget: &mut Budget) {
        budget.events += 1;
        if !budget.wants_events(self.number) {
            self.events = false;
            self.feeds.iter_mut().for_each(Feed::quiet);
        }
    }

    fn offered<T>(&self, option: impl Fn(&Options) -> T) -> [Option<T>; 2] {
        self.halves.each_ref().map(|half| half.offered.as_ref().map(&option))
    }

    /// SMSS of an end: the least of both MSS options (RFC 9293 section 3.7.1 has 536, 1220 with IPv6, where a SYN has none), less the
    /// timestamps; without the SYNs what was learned.
    fn mss(&self, end: usize) -> u32 {
        let default = if self.ends[0].is_ipv4() { 536 } else { 1220 };
        let options = if self.timestamps(end) { 12 } else { 0 };
        let offered = self.offered(|options| u32::from(options.mss.unwrap_or(default)));
        let offered = offered.into_iter().flatten().min().map(|mss| mss.max(LEAST_MSS) - options);
        let learned = (self.learned_mss[end] > 0).then_some(self.learned_mss[end]);
        match (offered, learned) {
            (Some(offered), Some(learned)) if !self.both_syns() => offered.min(learned),
            (Some(offered), _) => offered,
            (None, Some(learned)) => learned,
            (None, None) => 1460 - options,
        }
    }

    fn both_syns(&self) -> bool {
        self.halves.iter().all(|half| half.offered.is_some())
    }

    /// Whether SACK was negotiated; `None` if that was not seen.
    fn sack(&self) -> Option<bool> {
        match self.offered(|options| options.sack_permitted) {
            [Some(client), Some(server)] => Some(client && server),
            [Some(false), _] | [_, Some(false)] => Some(false),
            _ => None,
        }
    }

    fn timestamps(&self, end: usize) -> bool {
        match self.offered(|options| options.timestamps.is_some()) {
            [Some(client), Some(server)] => client && server,
            [Some(false), _] | [_, Some(false)] => false,
            _ => self.halves[end].seen.timestamps,
        }
    }
}
