//! Which connection a packet belongs to, and when a connection is over.
//!
//! A connection stays open for late packets for [`LINGER`] after both FINs or a reset, unless its
//! addresses and ports are used again.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr, SocketAddrV4};

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Span, Time};
use rustc_hash::FxHashMap;

use crate::connection::{Connection, Ended};
use crate::jumps::{Decided, Jump, Jumps};
use crate::open::{Budget, Open};
use crate::packet::{Packet, TooBig};
use crate::path::Paths;
use crate::pauses::Pauses;
use crate::settings::Settings;

/// How long after its end packets still belong to a connection: retransmissions of a FIN whose ACK
/// was lost, for the most part.
const LINGER: Span = Span::from_secs(10);

/// After so many packets in a row that are farther behind than [`LINGER`], it is as late as they
/// say: the clock was set back, or one packet was far ahead. It takes more than a queue lets out.
const MOST_BEHIND: u32 = 8;

/// Sorts packets into connections.
pub struct Tracker {
    settings: Settings,
    open: FxHashMap<Key, Box<Open>>,
    /// Connections that are over, and when to let go of them.
    closing: VecDeque<Closing>,
    ended: VecDeque<Connection>,
    /// The latest time so far, but for packets that are far ahead of others.
    now: Time,
    /// How many packets have been far behind that time, and what it was.
    behind: (Time, u32),
    /// Connections begun so far.
    begun: u64,
    /// Packets left out since they were damaged.
    damaged: u64,
    paths: Paths,
    jumps: Jumps,
    pauses: Pauses,
    /// What routers say of segments that still wait in `jumps`, perhaps.
    told: Vec<TooBig>,
    budget: Budget,
}

/// So many messages of routers wait at most. Each is about a segment, of which no more wait.
const MOST_TOLD: usize = 64;

struct Closing {
    key: Key,
    number: u64,
    due: Time,
}

impl Tracker {
    /// Nothing seen yet.
    pub fn new(settings: Settings) -> Tracker {
        let budget = Budget::new(&settings.detail);
        let (open, closing, ended, paths, jumps) = Default::default();
        let (now, behind, begun, damaged, pauses, told) = Default::default();
        Tracker {
            settings,
            open,
            closing,
            ended,
            now,
            behind,
            begun,
            damaged,
            paths,
            jumps,
            pauses,
            told,
            budget,
        }
    }

    /// The next packet of the capture. Times may go back: within a connection, a packet counts as
    /// captured no earlier than those before it in the file.
    ///
    /// Where all of them are silent for a second or more, packets wait until it is known whether
    /// the clock was set ahead ([`Tracker::jumps`]).
    // However often it is called: this is the loop that reads captures.
    #[inline(always)]
    pub fn packet(&mut self, packet: &Packet) {
        if self.jumps.concern(packet.at, self.now) {
            return self.after_jump(packet);
        }
        self.track(packet);
    }

    /// The clock may have been set ahead.
    #[cold]
    fn after_jump(&mut self, packet: &Packet) {
        let packet = Packet { at: self.jumps.time(packet.at), ..*packet };
        let waits = self.jumps.wait(packet.at, self.now);
        if !waits && !self.jumps.watches() {
            return self.resume(&packet);
        }
        let (key, from_low) = Key::of(&packet);
        let open = self.open.get(&key);
        let ticks = open.and_then(|open| open.ticks(&packet, from_low));
        if !waits {
            self.jumps.watch(&packet, ticks);
            return self.resume(&packet);
        }
        if let Some(decided) = self.jumps.put(&packet, self.now, ticks) {
            self.go_on(decided);
        }
    }

    /// Lets go of what has waited.
    fn go_on(&mut self, decided: Decided) {
        if decided == Decided::Step {
            self.open.values_mut().for_each(|open| open.loses_time());
        }
        let mut told = std::mem::take(&mut self.told).into_iter().peekable();
        for packet in self.jumps.take() {
            while let Some(message) = told.next_if(|message| message.frame < packet.frame) {
                self.tell(&message);
            }
            self.resume(&packet);
        }
        told.for_each(|message| self.tell(&message));
    }

    /// The same as [`Tracker::track`], perhaps after a silence of all connections.
    fn resume(&mut self, packet: &Packet) {
        if self.begun > 0 {
            self.pauses.ends(packet.at, self.now);
        }
        self.track(packet);
    }

    /// A frame without a packet: the capture was running at that time.
    #[cold]
    pub fn other(&mut self, at: Time) {
        if self.begun > 0 {
            self.pauses.other(self.jumps.time(at), self.now);
        }
    }

    /// A frame in which a router says that a segment was too big.
    #[cold]
    pub fn too_big(&mut self, message: &TooBig) {
        // After a silence it waits for the packets behind it, which say when it came.
        if !self.jumps.wait(self.jumps.time(message.at), self.now) {
            self.tell(message);
        } else if self.told.len() < MOST_TOLD {
            self.told.push(*message);
        }
    }

    fn tell(&mut self, message: &TooBig) {
        let (key, from_low) = Key::between(message.src, message.dst);
        if let Some(open) = self.open.get_mut(&key) {
            let message = TooBig { at: self.jumps.time(message.at), ..*message };
            open.too_big(&message, from_low, &mut self.budget);
        }
    }

    #[inline(always)]
    fn track(&mut self, packet: &Packet) {
        if packet.at >= self.now {
            self.now = packet.at;
        } else {
            self.is_behind(packet.at);
        }
        let (key, from_low) = Key::of(packet);
        let Some(open) = self.open.get_mut(&key) else {
            // What was damaged may name ports that nobody uses.
            if packet.damaged && !packet.control.contains(Control::SYN) {
                return self.damaged += 1;
            }
            return self.begin(key, from_low, packet);
        };
        if open.is_damaged(packet, from_low) {
            return self.damaged += 1;
        }
        if open.is_reused_by(packet, from_low) {
            let strays = open.take_strays(packet, from_low);
            return self.reuse(key, packet, &strays);
        }
        let ends = packet.control.contains(Control::FIN) || packet.control.contains(Control::RST);
        let was_open = ends && !open.is_over();
        open.packet(packet, from_low, &mut self.budget);
        if was_open && open.is_over() {
            self.closing.push_back(Closing { key, number: open.number(), due: self.now + LINGER });
        }
        self.let_go();
    }

    /// A packet is earlier than another one before it.
    #[cold]
    fn is_behind(&mut self, at: Time) {
        if self.now.since(at) <= LINGER {
            return;
        }
        let (now, packets) = self.behind;
        let packets = if now == self.now { packets + 1 } else { 1 };
        self.behind = (self.now, packets);
        if packets == MOST_BEHIND {
            (self.now, self.behind) = (at, Default::default());
        }
    }

    #[cold]
    fn begin(&mut self, key: Key, from_low: bool, packet: &Packet) {
        if self.open.len() >= self.settings.max_open.max(1) {
            self.evict();
        }
        let paths = self.paths.of(packet.src.ip(), packet.dst.ip());
        let mut open = Box::new(Open::new(self.begun, packet, from_low, paths, &self.budget));
        self.begun += 1;
        open.packet(packet, from_low, &mut self.budget);
        if open.is_over() {
            self.closing.push_back(Closing { key, number: open.number(), due: self.now + LINGER });
        }
        self.open.insert(key, open);
        self.let_go();
    }

    /// The addresses of a connection are used again, by `strays` first.
    #[cold]
    fn reuse(&mut self, key: Key, packet: &Packet, strays: &[Packet]) {
        self.end(&key, Ended::Reused);
        for packet in strays.iter().chain([packet]) {
            let (_, from_low) = Key::of(packet);
            match self.open.get_mut(&key) {
                Some(open) => open.packet(packet, from_low, &mut self.budget),
                None => self.begin(key, from_low, packet),
            }
        }
    }

    /// Packets that were left out since they were damaged on their way: of a connection whose
    /// checksums are right otherwise, or of none that is known.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Ends those that have been over for long enough, or in a time to which the clock has not come
    /// back.
    #[inline]
    fn let_go(&mut self) {
        let now = self.now;
        let is_due = |due| due <= now || due > now + LINGER;
        while self.closing.front().is_some_and(|first| is_due(first.due)) {
            let Some(Closing { key, number, .. }) = self.closing.pop_front() else { return };
            let Some(open) = self.open.get(&key).filter(|open| open.number() == number) else {
                continue;
            };
            let due = open.last() + LINGER;
            if is_due(due) {
                self.end(&key, Ended::Idle);
            } else {
                self.closing.push_back(Closing { key, number, due });
            }
        }
    }

    /// Ends an eighth of all, those that were idle for longest, so that the cost of finding them is
    /// shared by as many new ones.
    fn evict(&mut self) {
        let mut idle: Vec<(Time, u64, Key)> =
            self.open.iter().map(|(key, o)| (o.last(), o.number(), *key)).collect();
        let many = idle.len().div_ceil(8);
        if many < idle.len() {
            idle.select_nth_unstable_by_key(many - 1, |&(last, number, _)| (last, number));
            idle.truncate(many);
        }
        idle.sort_unstable_by_key(|&(_, number, _)| number);
        for (_, _, key) in idle {
            self.end(&key, Ended::Idle);
        }
    }

    /// Silences of all connections of which timestamps say that the clock was set ahead, or that a
    /// host stood still, so far.
    pub fn jumps(&self) -> &[Jump] {
        self.jumps.found()
    }

    /// Forgets those of which nothing more will be learned.
    pub fn forget_jumps(&mut self) {
        self.jumps.forget();
    }

    /// Connections that are open.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// It is `now`, though no packet may have come: connections that have been over for long enough
    /// end.
    pub fn advance(&mut self, now: Time) {
        let now = self.jumps.time(now);
        if let Some(decided) = self.jumps.over(now) {
            self.go_on(decided);
        }
        self.now = self.now.max(now);
        self.let_go();
    }

    /// Ends the connections that began before `time`, as [`Ended::Open`]. What still comes of them
    /// is of others, whose beginning was not seen, but which know what the SYNs said. Of what was
    /// quiet for all that time they do not.
    pub fn cut(&mut self, time: Time) {
        let time = self.jumps.time(time);
        let old = self.open.iter().filter(|(_, open)| open.start() < time);
        let mut old: Vec<(u64, Key)> = old.map(|(key, open)| (open.number(), *key)).collect();
        old.sort_unstable_by_key(|(number, _)| *number);
        for (_, key) in old {
            let open = self.open.get(&key).filter(|open| open.last() >= time && !open.is_over());
            let rest = open.map(|open| Box::new(open.rest(self.begun, &self.budget)));
            self.end(&key, Ended::Open);
            if let Some(rest) = rest {
                self.begun += 1;
                self.open.insert(key, rest);
            }
        }
    }

    fn end(&mut self, key: &Key, why: Ended) {
        let Some(open) = self.open.remove(key) else { return };
        let hosts = open.hosts();
        if open.is_empty() {
            drop(open);
        } else {
            let until = self.pauses.until(open.last(), self.now);
            self.ended.push_back(open.finish(why, until, &mut self.budget));
        }
        self.paths.left(hosts);
    }

    /// A connection that has ended, in order of ending; drain it now and then.
    pub fn poll_ended(&mut self) -> Option<Connection> {
        self.ended.pop_front()
    }

    /// No more packets come: lets go of what waits, so that [`Tracker::jumps`] and
    /// [`Tracker::damaged`] know of all.
    pub fn flush(&mut self) {
        self.go_on(Decided::Pause);
    }

    /// The capture has ended, and with it all connections: those that have ended before, and then
    /// the rest in order of [`Connection::number`]. Each is freed when the next one is asked for.
    pub fn finish(mut self) -> impl Iterator<Item = Connection> {
        self.flush();
        let rest = std::mem::take(&mut self.open).into_values().filter(|open| !open.is_empty());
        let mut rest: Vec<Box<Open>> = rest.collect();
        rest.sort_unstable_by_key(|open| open.number());
        let ended = std::mem::take(&mut self.ended);
        let finish = move |open: Box<Open>| {
            let until = self.pauses.until(open.last(), self.now);
            open.finish(Ended::Open, until, &mut self.budget)
        };
        ended.into_iter().chain(rest.into_iter().map(finish))
    }
}

/// Both addresses and ports, the lower ones first, so that both ways have the same.
// A number of 128 bits would stand at multiples of 16 bytes, and a key take more.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// Each address with its port behind it.
    V4(u64, u64),
    V6 {
        low: (u64, u64),
        high: (u64, u64),
        ports: u32,
    },
}

impl Key {
    /// The key of a packet, and whether it came from the lower end.
    #[inline]
    fn of(packet: &Packet) -> (Key, bool) {
        Key::between(packet.src, packet.dst)
    }

    /// The same of a packet between these.
    #[inline]
    fn between(src: SocketAddr, dst: SocketAddr) -> (Key, bool) {
        if let (SocketAddr::V4(src), SocketAddr::V4(dst)) = (src, dst) {
            let end =
                |addr: SocketAddrV4| u64::from(addr.ip().to_bits()) << 16 | u64::from(addr.port());
            let (src, dst) = (end(src), end(dst));
            return (Key::V4(src.min(dst), src.max(dst)), src <= dst);
        }
        let end = |addr: SocketAddr| (addr.ip(), addr.port());
        let (src, dst) = (end(src), end(dst));
        let from_low = src <= dst;
        let (low, high) = if from_low { (src, dst) } else { (dst, src) };
        let ports = u32::from(low.1) << 16 | u32::from(high.1);
        (Key::V6 { low: halves(low.0), high: halves(high.0), ports }, from_low)
    }
}

fn halves(ip: IpAddr) -> (u64, u64) {
    let ip = match ip {
        IpAddr::V4(ip) => ip.to_bits().into(),
        IpAddr::V6(ip) => ip.to_bits(),
    };
    ((ip >> 64) as u64, ip as u64)
}
