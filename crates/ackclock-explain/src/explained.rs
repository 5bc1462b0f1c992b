//! What was found in a set of captures: the one value that all outputs read.

mod capture;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use ackclock_tcp::{Span, Time, TimeoutClass};
use ackclock_trace::connection::RoundTrip;
use ackclock_trace::{
    Connection, Ended, Flow, Jump, Kind, Recovery, Retransmission, Stall, StallCause, State,
    Timeout, Vantage,
};

pub use self::capture::Capture;
use crate::replay::Rescue;

/// Below this probability, a kind is said to be probable only.
const SURE: f64 = 0.95;

/// A connection that goes on in the next file of a ring buffer does so within this time.
const GOES_ON: Span = Span::from_secs(10);

/// One of the ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// Who opened it.
    Client,
    /// The other one.
    Server,
}

impl End {
    /// Both.
    pub const BOTH: [End; 2] = [End::Client, End::Server];

    /// The other one.
    pub const fn other(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }

    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            End::Client => "client",
            End::Server => "server",
        }
    }
}

/// A timeout and what would have avoided it.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// Whose timer expired.
    pub from: End,
    /// Which of [`Flow::timeouts`].
    pub timeout: usize,
    /// Each strategy of which something can be said.
    pub by: Vec<Rescue>,
}

/// A connection, and what is said of it beyond what the capture shows.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its place in [`Explained::connections`] before any was left out: what `--connection` takes.
    pub number: usize,
    /// Which of [`Explained::captures`].
    pub capture: usize,
    /// The number of the earlier connection that this one is again, with other addresses or ports:
    /// the capture has both sides of a translator (NAT).
    pub same_as: Option<usize>,
    /// The connection; in a box, so that it can take the place that it had while it was open.
    pub connection: Box<Connection>,
    /// Where the clock of its capture was set ahead, in order of time: the times of the connection
    /// are told as if it had not been.
    pub set_ahead: Arc<[Jump]>,
    /// Its timeouts that were replayed.
    pub saved: Vec<Saved>,
    /// Stalls, each by the end that waited and its beginning, which look like an outage, and in
    /// which other connections got data through on the same way.
    pub got_through: Vec<(End, Time)>,
}

impl Found {
    /// What an end sent.
    pub fn flow(&self, from: End) -> &Flow {
        match from {
            End::Client => &self.connection.from_client,
            End::Server => &self.connection.from_server,
        }
    }

    /// The address of an end.
    pub(crate) fn address(&self, end: End) -> IpAddr {
        match end {
            End::Client => self.connection.client.ip(),
            End::Server => self.connection.server.ip(),
        }
    }

    /// Whether the capture was taken where this end sends, or nobody knows where.
    pub(crate) fn is_at_sender(&self, from: End) -> bool {
        let position = self.connection.position;
        position.is_at(from == End::Client) || position.vantage == Vantage::Unknown
    }

    /// Whether nothing that this end sent can have been lost before the capture unseen, or nobody
    /// knows where the capture was taken.
    pub(crate) fn is_proven(&self, from: End) -> bool {
        self.is_at_sender(from) || self.flow(from).counted
    }

    /// The part of the round trip that is between the capture and this end, if something measures
    /// it.
    pub(crate) fn part_to(&self, end: End) -> Option<Span> {
        let position = self.connection.position;
        match end {
            End::Client => position.to_client,
            End::Server => position.to_server,
        }
    }

    /// The way from the capture to this end and back, as far as that is known.
    pub(crate) fn way_to(&self, end: End) -> Span {
        let most = || Some(self.flow(end).rtt?.min).filter(|_| !self.is_at_sender(end));
        self.part_to(end).or_else(most).unwrap_or_default()
    }

    /// SYNs of the client, and nothing else of either end.
    pub(crate) fn is_syn_alone(&self) -> bool {
        !self.connection.opened && self.connection.from_server.segments == 0
    }

    /// Whether the kind of a retransmission from this end is sure. Where the capture was taken
    /// elsewhere and no hypothesis agrees, it is a guess.
    pub(crate) fn is_sure(&self, from: End, r: &Retransmission) -> bool {
        // Nothing but its timer sends a SYN again.
        r.syn || r.probability.map_or(self.is_at_sender(from), |p| p >= SURE)
    }

    /// Both ways.
    pub fn flows(&self) -> impl Iterator<Item = (End, &Flow)> {
        End::BOTH.into_iter().map(|end| (end, self.flow(end)))
    }

    /// What would have avoided a timeout; empty if it was not replayed.
    pub fn rescues(&self, from: End, timeout: usize) -> &[Rescue] {
        let found = self.saved.iter().find(|s| (s.from, s.timeout) == (from, timeout));
        found.map_or(&[], |s| &s.by)
    }

    /// Retransmissions of both ends in order of time.
    pub fn retransmissions(&self) -> Vec<(End, &Retransmission)> {
        self.merged(|flow| &flow.retransmissions, |r| r.at)
    }

    /// Timeouts of both ends in order of time, with their place in their list.
    pub fn timeouts(&self) -> Vec<(End, usize, &Timeout)> {
        let mut all: Vec<_> = self
            .flows()
            .flat_map(|(end, flow)| flow.timeouts.iter().enumerate().map(move |(i, t)| (end, i, t)))
            .collect();
        all.sort_by_key(|(_, _, t)| t.at);
        all
    }

    /// Stalls of both ends in order of time.
    pub fn stalls(&self) -> Vec<(End, &Stall)> {
        self.merged(|flow| &flow.stalls, |s| s.start)
    }

    /// The same, each with what of its time counts.
    pub fn stalled(&self) -> impl Iterator<Item = (End, &Stall, Span)> {
        let stalls = self.stalls();
        let lasted = lasted(&stalls);
        stalls.into_iter().zip(lasted).map(|((end, stall), lasted)| (end, stall, lasted))
    }

    /// Recoveries of both ends in order of time.
    pub fn recoveries(&self) -> Vec<(End, &Recovery)> {
        self.merged(|flow| &flow.recoveries, |r| r.start)
    }

    fn merged<T>(&self, list: fn(&Flow) -> &Vec<T>, at: fn(&T) -> Time) -> Vec<(End, &T)> {
        let mut all: Vec<(End, &T)> = self
            .flows()
            .flat_map(|(end, flow)| list(flow).iter().map(move |item| (end, item)))
            .collect();
        all.sort_by_key(|(_, item)| at(item));
        all
    }

    /// The round trips that both ends measure; `None` if neither does. Median and 99th percentile
    /// are those of the end that measures more.
    pub fn rtt(&self) -> Option<RoundTrip> {
        let measured = self.flows().filter_map(|(_, flow)| flow.rtt);
        measured.reduce(|a, b| {
            let samples = a.samples.saturating_add(b.samples);
            let sum = u128::from(a.mean.0) * u128::from(a.samples)
                + u128::from(b.mean.0) * u128::from(b.samples);
            let mean = u64::try_from(sum / u128::from(samples.max(1))).unwrap_or(u64::MAX);
            let most = if b.samples > a.samples { b } else { a };
            RoundTrip {
                min: a.min.min(b.min),
                mean: Span(mean),
                max: a.max.max(b.max),
                samples,
                delayable: a.delayable.saturating_add(b.delayable),
                ..most
            }
        })
    }

    /// The counts of both ends.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        counts.count(self);
        counts
    }
}

/// Whose packets were captured, of a connection of which one direction was: who sent data, but for
/// a SYN of the other end; or who acknowledges what was not captured.
fn only(c: &Connection) -> End {
    let flows = [&c.from_client, &c.from_server];
    let sent = |end: End| {
        let [own, other] = [flows[end as usize], flows[end.other() as usize]];
        (own.bytes, own.segments, other.unseen)
    };
    End::BOTH.into_iter().max_by_key(|end| sent(*end)).unwrap_or(End::Client)
}

/// How long each of these stalls lasted, which are in the order of their beginnings, so that the
/// times add up: time in which two lasted counts for the one that began first, and for one of the
/// application last.
fn lasted(stalls: &[(End, &Stall)]) -> Vec<Span> {
    let is_lost = |(_, stall): &&(End, &Stall)| stall.cause != StallCause::Application;
    let mut lost: Vec<(Time, Time)> = Vec::new();
    for (_, stall) in stalls.iter().filter(is_lost) {
        match lost.last_mut().filter(|(_, until)| stall.start <= *until) {
            Some((_, until)) => *until = stall.end.max(*until),
            None => lost.push((stall.start, stall.end)),
        }
    }
    let (mut until, mut until_lost) = (Time::ZERO, Time::ZERO);
    let lasted = |one: &(End, &Stall)| {
        let (_, stall) = one;
        let until = if is_lost(&one) { &mut until_lost } else { &mut until };
        let (start, end) = (stall.start.max(*until), stall.end);
        *until = end.max(*until);
        if is_lost(&one) || end <= start {
            return end.since(start);
        }
        let first = lost.partition_point(|(_, until)| *until <= start);
        let within = lost[first..].iter().take_while(|(from, _)| *from < end);
        within.fold(end.since(start), |left, &(from, until)| {
            left - until.min(end).since(from.max(start))
        })
    };
    stalls.iter().map(lasted).collect()
}

/// The retransmission that a timeout sent; `None` if the list does not have it.
pub(crate) fn sent_by<'a>(flow: &'a Flow, timeout: &Timeout) -> Option<&'a Retransmission> {
    flow.retransmissions.get(timeout.retransmission)
}

/// Whether it was spurious; `None` if that is not known.
pub(crate) fn spurious(r: &Retransmission) -> Option<bool> {
    match (r.spurious, r.known) {
        (Some(_), _) => Some(true),
        (None, true) => Some(false),
        (None, false) => None,
    }
}

/// Everything.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    /// The captures, in the order in which they were asked for.
    pub captures: Vec<Capture>,
    /// Their connections: of the first capture first, in the order in which they began.
    pub connections: Vec<Found>,
    /// Timeouts with an episode that can be replayed.
    pub replayable: usize,
    /// Of these, how many were.
    pub replayed: usize,
}

impl Explained {
    /// Timeouts that were replayed and of which nothing can be said.
    pub(crate) fn untold(&self) -> usize {
        let saved = self.counted().flat_map(|found| &found.saved);
        saved.filter(|saved| saved.by.is_empty()).count()
    }

    /// Connections that are part of one in another capture: its packets were captured one way each,
    /// or it goes on where the other capture ends, as in the files of a ring buffer.
    pub fn parted(&self) -> usize {
        if self.captures.len() < 2 {
            return 0;
        }
        let mut all: Vec<&Found> = self.connections.iter().collect();
        all.sort_by_key(|found| found.connection.start);
        let mut last: HashMap<[SocketAddr; 2], &Found> = HashMap::new();
        let mut parts = 0;
        for found in all {
            let c = &found.connection;
            let earlier = last.insert([c.client, c.server], found);
            let Some(earlier) = earlier.filter(|e| e.capture != found.capture) else { continue };
            let before = &earlier.connection;
            let goes_on = !c.begun && before.ended == Ended::Open && before.end <= c.start;
            let goes_on = goes_on && c.start.since(before.end) <= GOES_ON;
            let other_way = before.one_way && c.one_way && only(before) != only(c);
            parts += usize::from(other_way || goes_on);
        }
        parts
    }

    /// Connections that an earlier capture has as well: both ends begin with the same numbers, and
    /// clocks and delays differ, as they do not between runs of a simulation.
    pub(crate) fn repeated(&self) -> usize {
        let mut seen: HashMap<_, &Found> = HashMap::new();
        let mut again = 0;
        for found in self.counted().filter(|found| found.connection.begun) {
            let c = &found.connection;
            let [Some([client, _]), Some([server, _])] = c.numbers else { continue };
            let first = seen.entry((c.client, c.server, client, server)).or_insert(found);
            let other = first.capture != found.capture && first.connection.start != c.start;
            again += usize::from(other);
        }
        again
    }

    /// Captures that are the same as an earlier one, as files are that were copied or given twice.
    pub(crate) fn same(&self) -> usize {
        let mut seen: HashMap<_, Vec<&[Found]>> = HashMap::new();
        let mut same = 0;
        for all in self.connections.chunk_by(|a, b| a.capture == b.capture) {
            let Some(capture) = self.captures.get(all[0].capture) else { continue };
            let earlier = seen.entry((capture.packets, capture.start)).or_default();
            let is_same = |other: &&[Found]| {
                let pairs = || other.iter().zip(all);
                other.len() == all.len() && pairs().all(|(a, b)| a.connection == b.connection)
            };
            same += usize::from(earlier.iter().any(is_same));
            earlier.push(all);
        }
        same
    }

    /// The capture that has a connection, where there are several.
    pub(crate) fn capture_of(&self, found: &Found) -> Option<&str> {
        let capture = self.captures.get(found.capture).filter(|_| self.captures.len() > 1)?;
        Some(&capture.path)
    }

    /// Keeps this connection alone. Returns whether there is one with its number.
    pub fn keep(&mut self, number: usize) -> bool {
        self.connections.retain(|found| found.number == number);
        !self.connections.is_empty()
    }

    /// Each connection once, also where the capture has it on both sides of a translator.
    pub fn counted(&self) -> impl Iterator<Item = &Found> {
        let has = |number: usize| {
            self.connections.binary_search_by_key(&number, |found| found.number).is_ok()
        };
        self.connections.iter().filter(move |found| !found.same_as.is_some_and(has))
    }

    /// The stalls in which time was lost, the longest first. Where the application had nothing to
    /// send, none was.
    pub fn stalls(&self) -> Vec<(&Found, End, &Stall)> {
        let of =
            |found| Found::stalls(found).into_iter().map(move |(end, stall)| (found, end, stall));
        let mut all: Vec<_> = self
            .counted()
            .flat_map(of)
            .filter(|(_, _, s)| s.cause != StallCause::Application)
            .collect();
        all.sort_by_key(|(_, _, stall)| std::cmp::Reverse(stall.end.since(stall.start)));
        all
    }
}

/// What is counted of flows. The lists are there with connections, so that these are sums alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Payload bytes, each once.
    pub bytes: u64,
    /// Segments, retransmissions included.
    pub segments: u64,
    /// Retransmissions by [`Kind`].
    pub retransmissions: [u64; Kind::ALL.len()],
    /// Probes for lost tails with new data.
    pub probes_of_new_data: u64,
    /// Timeouts by [`TimeoutClass`].
    pub timeouts: [u64; TimeoutClass::ALL.len()],
    /// Timeouts by [`State`].
    pub timeouts_in: [u64; 4],
    /// Of these, those that are probable only, since the capture was taken elsewhere.
    pub unsure_timeouts: u64,
    /// Retransmissions proved spurious.
    pub spurious: u64,
    /// Retransmissions that were lost.
    pub lost: u64,
    /// Of these, those sent in recovery: fast retransmits in the words of the PRR paper.
    pub lost_fast: u64,
    /// D-SACKs.
    pub dsacks: u64,
    /// Recoveries.
    pub recoveries: u64,
    /// Stalls.
    pub stalls: u64,
    /// How long all of them lasted; where both ends of a connection stalled at once, that time
    /// once.
    pub stalled: Span,
    /// Of this, how long the application had nothing to send.
    pub application: Span,
}

impl Counts {
    /// Adds what both ends of a connection did.
    pub fn count(&mut self, found: &Found) {
        for (from, flow) in found.flows() {
            self.flow(flow);
            let unsure = |t: &&Timeout| sent_by(flow, t).is_some_and(|r| !found.is_sure(from, r));
            self.unsure_timeouts += flow.timeouts.iter().filter(unsure).count() as u64;
        }
        for (_, stall, lasted) in found.stalled() {
            self.stalled = self.stalled + lasted;
            if stall.cause == StallCause::Application {
                self.application = self.application + lasted;
            }
        }
    }

    fn flow(&mut self, flow: &Flow) {
        self.bytes += flow.bytes;
        self.segments += flow.segments;
        for r in &flow.retransmissions {
            self.retransmissions[r.kind as usize] += 1;
            self.spurious += u64::from(r.spurious.is_some());
            let lost = u64::from(r.lost == Some(true));
            self.lost += lost;
            self.lost_fast +=
                if matches!(r.kind, Kind::FastRetransmit | Kind::Recovery) { lost } else { 0 };
        }
        for t in &flow.timeouts {
            self.timeouts[t.class as usize] += 1;
            self.timeouts_in[t.state as usize] += 1;
        }
        self.probes_of_new_data += flow.probes_of_new_data;
        self.dsacks += flow.dsacks;
        self.recoveries += flow.recoveries.len() as u64;
        self.stalls += flow.stalls.len() as u64;
    }

    /// Retransmissions of a kind.
    pub fn of(&self, kind: Kind) -> u64 {
        self.retransmissions[kind as usize]
    }

    /// Timeouts of a class.
    pub fn timeouts_of(&self, class: TimeoutClass) -> u64 {
        self.timeouts[class as usize]
    }

    /// Timeouts in a state.
    pub fn timeouts_in(&self, state: State) -> u64 {
        self.timeouts_in[state as usize]
    }

    /// All retransmissions.
    pub fn all_retransmissions(&self) -> u64 {
        self.retransmissions.iter().sum()
    }

    /// All timeouts.
    pub fn all_timeouts(&self) -> u64 {
        self.timeouts.iter().sum()
    }

    /// Probes for lost tails, with new data and without.
    pub fn tail_loss_probes(&self) -> u64 {
        self.of(Kind::TailLossProbe) + self.probes_of_new_data
    }

    /// Time in which the network or the peer held things up.
    pub fn lost_time(&self) -> Span {
        self.stalled - self.application
    }
}

#[cfg(test)]
mod tests;
