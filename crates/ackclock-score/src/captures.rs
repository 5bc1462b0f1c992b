//! Captures of a run, complete and with something missing, and what is found in them.

use std::collections::{BTreeSet, HashSet};
use std::io::Cursor;
use std::ops::Range;

use ackclock_net::Rng;
use ackclock_net::scenario::{BuildOptions, Scenario, Simulation};
use ackclock_report::{CaptureFormat, CaptureWriter};
use ackclock_run::handshake;
use ackclock_tcp::{Registry, Sighting};
use ackclock_trace::{
    Connection, Flow, Reader, Retransmission, Settings, Tracker, Vantage, decode, hosts,
};

use crate::matrix::Score;
use crate::places::PLACES;
use crate::truth::{Recording, Retransmitted, Transmission};
use crate::ways::TrueWays;

/// What is missing in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing.
    Nothing,
    /// 1 % of the packets.
    Packets,
    /// What lies beyond so many bytes of each packet: 96 leave all headers, 68 no SACK blocks
    /// beside timestamps.
    Beyond(usize),
}

impl Missing {
    /// All that is scored.
    pub const ALL: [Missing; 4] =
        [Missing::Nothing, Missing::Packets, Missing::Beyond(96), Missing::Beyond(68)];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Missing::Nothing => "complete",
            Missing::Packets => "1% missing",
            Missing::Beyond(96) => "96 bytes",
            Missing::Beyond(_) => "68 bytes",
        }
    }
}

/// Scores by place and by what is missing there.
pub type Scores = [[Score; Missing::ALL.len()]; PLACES.len()];

/// A retransmission about which truth and finding differ.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// Index of its place in [`PLACES`].
    pub place: usize,
    /// What was missing.
    pub missing: Missing,
    /// What differs.
    pub what: String,
}

/// A run of a scenario.
pub(crate) struct Run {
    scenario: Scenario,
    pub simulation: Simulation,
    pub recording: Recording,
    /// Whether handshakes were made up, which makes the first packets two and one.
    pub made_up: bool,
}

impl Run {
    /// # Errors
    /// When the scenario is wrong, or the network.
    pub fn of(text: &str, seed: u64) -> Result<Run, String> {
        let registry = Registry::default();
        let scenario = Scenario::from_toml(text, &registry).map_err(|e| e.to_string())?;
        let options = BuildOptions::new(&registry, seed).events(true);
        let mut simulation = scenario.build(&options).map_err(|e| e.to_string())?;
        let router = scenario.node("router").ok_or("there is no node `router`")?;
        let mut recording = Recording::new(&simulation.flows, router, &scenario);
        simulation.run(&mut recording).map_err(|e| e.to_string())?;
        recording.settle();
        let made_up = scenario.tcp.handshake != Some(true);
        Ok(Run { scenario, simulation, recording, made_up })
    }

    /// Of the path without queues, in nanoseconds.
    pub fn round_trip(&self) -> u64 {
        2 * self.scenario.links.iter().map(|link| link.delay.0.nanos()).sum::<u64>()
    }
}

/// Scores the captures of the run of a scenario that are taken at these of [`PLACES`], and lists
/// what was wrong.
///
/// # Errors
/// When the scenario is wrong, or the network.
pub fn score(text: &str, seed: u64, places: &Range<usize>) -> Result<(Scores, Vec<Wrong>), String> {
    let Run { scenario, simulation, recording, made_up } = Run::of(text, seed)?;
    let mut scores = Scores::default();
    let mut wrong = Vec::new();
    let registry = Registry::default();
    let of = |flow| TrueWays::simulated(&scenario, flow, &registry);
    let ways: Vec<_> = simulation.flows.iter().map(of).collect();
    for (place, seen) in recording.seen.iter().enumerate().filter(|(i, _)| places.contains(i)) {
        let capture = written(&simulation, seen, PLACES[place]).map_err(|e| e.to_string())?;
        for (missing, score) in Missing::ALL.into_iter().zip(&mut scores[place]) {
            let mut rng = Rng::new(seed, &format!("score/capture/{place}"));
            let file = without(&capture, missing, &mut rng);
            let found = explained(&file.0)?;
            let judged = Judged { recording: &recording, keys: &file.1, made_up };
            let mut complain = |what| wrong.push(Wrong { place, missing, what });
            judged.score(&found, score, &mut complain);
            judged.shares(&found, place, score, &mut complain);
            judged.ways(&found, &ways, score, &mut complain);
            if let Some(truth) = whereabouts(place, &scenario) {
                for connection in &found {
                    let place = from_sender(connection).1;
                    score.places.add(truth, place);
                    if place != truth {
                        complain(format!("place: {truth} found {:?}", connection.position));
                    }
                }
            }
        }
    }
    Ok((scores, wrong))
}

/// Where a capture is taken, to be found from its round trips: what is within a twentieth of the
/// round trip from an end is there, and what is a quarter of it from both is in the middle.
/// Anything between is not clear.
fn whereabouts(place: usize, scenario: &Scenario) -> Option<&'static str> {
    let delays = [0, 1].map(|link| scenario.links.get(link).map_or(0, |link| link.delay.0.nanos()));
    let whole = delays[0] + delays[1];
    match place {
        1 if delays[0] <= whole / 20 => Some(PLACES[0]),
        1 if delays[1] <= whole / 20 => Some(PLACES[2]),
        1 if delays[0].min(delays[1]) < whole / 4 => None,
        _ => Some(PLACES[place]),
    }
}

/// A pcap file.
pub(crate) fn written(
    simulation: &Simulation,
    seen: &[(u32, Sighting)],
    place: &str,
) -> std::io::Result<Vec<u8>> {
    let mut capture = CaptureWriter::new(Vec::new(), CaptureFormat::Pcap, place)?;
    for (number, flow) in (0..).zip(&simulation.flows) {
        capture.connection(number, [0; 2], handshake(flow));
    }
    seen.iter().try_for_each(|(flow, packet)| capture.packet(*flow, packet))?;
    capture.finish()
}

/// Which packet a frame is: flow, whether it is from the sender, IPv4 identification.
pub(crate) type FrameKey = (usize, bool, u16);

/// The capture with an IP identification of 0 in each packet, as of a host that counts none.
pub(crate) fn uncounted(mut capture: Vec<u8>) -> Vec<u8> {
    let mut at = FILE_HEADER;
    while let Some(word) = capture.get(at + 8..at + 12) {
        let len = u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize;
        at += RECORD_HEADER;
        capture[at + IP_IDENTIFICATION..at + IP_IDENTIFICATION + 2].fill(0);
        at += len;
    }
    capture
}

/// Lengths of headers in the files of [`CaptureWriter`]: of the file, of a record, of Ethernet and
/// IPv4.
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
const ETHERNET_AND_IP: usize = 34;
/// Where the identification is in a frame.
const IP_IDENTIFICATION: usize = 18;
/// The port of flow 0 (`CaptureWriter`).
pub(crate) const FIRST_PORT: u16 = 10_000;

/// The capture without what is to be missing, and which packets its frames are.
pub(crate) fn without(capture: &[u8], missing: Missing, rng: &mut Rng) -> (Vec<u8>, Vec<FrameKey>) {
    let (header, mut rest) = capture.split_at(FILE_HEADER);
    let (mut file, mut keys) = (header.to_vec(), Vec::new());
    while let Some((record, after)) = rest.split_at_checked(RECORD_HEADER) {
        let word = |at: usize| {
            u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        };
        let (frame, after) = after.split_at(word(8) as usize);
        rest = after;
        if missing == Missing::Packets && rng.unit() < 0.01 {
            continue;
        }
        let kept = match missing {
            Missing::Beyond(bytes) => &frame[..frame.len().min(bytes)],
            _ => frame,
        };
        file.extend_from_slice(&record[..8]);
        file.extend_from_slice(&(kept.len() as u32).to_le_bytes());
        file.extend_from_slice(&record[12..]);
        file.extend_from_slice(kept);
        let port = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let (from, to) = (port(ETHERNET_AND_IP), port(ETHERNET_AND_IP + 2));
        keys.push((usize::from(from.max(to) - FIRST_PORT), from > to, port(IP_IDENTIFICATION)));
    }
    (file, keys)
}

pub(crate) fn explained(file: &[u8]) -> Result<Vec<Connection>, String> {
    let mut reader =
        Reader::new(Box::new(Cursor::new(file.to_vec()))).map_err(|e| e.to_string())?;
    let mut tracker = Tracker::new(Settings::default());
    let mut all = Vec::new();
    while let Some(frame) = reader.next().map_err(|e| e.to_string())? {
        let packet =
            decode(&frame).map_err(|ignored| format!("frame {}: {ignored:?}", frame.number))?;
        tracker.packet(&packet);
        all.extend(std::iter::from_fn(|| tracker.poll_ended()));
    }
    all.extend(tracker.finish());
    hosts::decide(&mut all);
    Ok(all)
}

/// A capture beside what was true of it.
pub(crate) struct Judged<'a> {
    pub recording: &'a Recording,
    pub keys: &'a [FrameKey],
    /// As in [`Run`].
    pub made_up: bool,
}

impl Judged<'_> {
    /// The flow of a frame, and the transmission in it, if it is one from the sender.
    pub fn transmission(&self, frame: u64) -> Option<(usize, u32, &Transmission)> {
        let &(flow, to_receiver, id) =
            self.keys.get(usize::try_from(frame).ok()?.checked_sub(1)?)?;
        let number = u32::from(id).checked_sub(if self.made_up { 2 } else { 0 })?;
        let transmission = self.recording.flows.get(flow)?.transmissions.get(&number)?;
        to_receiver.then_some((flow, number, transmission))
    }

    /// What limited the senders.
    fn shares(
        &self,
        found: &[Connection],
        place: usize,
        score: &mut Score,
        complain: &mut impl FnMut(String),
    ) {
        for connection in found {
            let port = connection.client.port().max(connection.server.port());
            let Some(truth) = self.recording.lifetime(usize::from(port - FIRST_PORT), place) else {
                continue;
            };
            let lifetime = &from_sender(connection).0.lifetime;
            let wrong = score.shares.add(&truth, lifetime);
            if !wrong.is_empty() {
                complain(format!("shares of port {port}: {wrong:?}: {truth:?} found {lifetime:?}"));
            }
        }
    }

    /// The ways of the senders.
    fn ways(
        &self,
        found: &[Connection],
        truth: &[Option<TrueWays>],
        score: &mut Score,
        complain: &mut impl FnMut(String),
    ) {
        for connection in found {
            let port = connection.client.port().max(connection.server.port());
            if let Some(Some(truth)) = truth.get(usize::from(port - FIRST_PORT)) {
                let ways = &from_sender(connection).0.ways;
                let wrong = score.ways.add(truth, ways);
                if !wrong.is_empty() {
                    complain(format!("ways of port {port}: {wrong:?}: {truth:?} found {ways:?}"));
                }
            }
        }
    }

    pub fn score(
        &self,
        found: &[Connection],
        score: &mut Score,
        complain: &mut impl FnMut(String),
    ) {
        let first = self.first_frames();
        let truth = |frame: u64| {
            let (.., transmission) = self.transmission(frame).filter(|_| first.contains(&frame))?;
            Some(transmission)
        };
        let (mut matched, mut timed, mut count) = (HashSet::new(), HashSet::new(), 0);
        for connection in found {
            let (flow, _) = from_sender(connection);
            count += flow.retransmissions.len() as u64;
            for r in &flow.retransmissions {
                let again = truth(r.frame)
                    .and_then(Transmission::retransmitted)
                    .filter(|_| matched.insert(r.frame));
                score.retransmission(again.as_ref(), Some(r));
                if let Some(wrong) = wrong(again.as_ref(), r) {
                    complain(wrong);
                }
            }
            for timeout in &flow.timeouts {
                let r = flow.retransmissions.get(timeout.retransmission);
                timed.extend(r.map(|r| r.frame));
                let frame = r.map_or(0, |r| r.frame);
                let expiry = truth(frame).and_then(|t| t.expiry.as_ref());
                score.timeout(expiry, Some(timeout));
                if expiry.is_some_and(|e| e.class != timeout.class) {
                    complain(format!("frame {frame}: {expiry:?} found {timeout:?}"));
                }
            }
        }
        let mut truths = 0;
        for frame in &first {
            let Some(t) = truth(*frame).filter(|t| t.retransmitted().is_some()) else { continue };
            truths += 1;
            if !matched.contains(frame) {
                score.retransmission(t.retransmitted().as_ref(), None);
                complain(format!("frame {frame}: {:?} not found", t.retransmitted()));
            }
            if !timed.contains(frame) && t.expiry.is_some() {
                score.timeout(t.expiry.as_ref(), None);
            }
        }
        score.capture(truths, count);
    }

    /// The first frame of each transmission: a duplicate that the network made is none.
    fn first_frames(&self) -> BTreeSet<u64> {
        let mut seen = HashSet::new();
        let mut is_first = |frame: &u64| {
            self.transmission(*frame).is_some_and(|(flow, number, _)| seen.insert((flow, number)))
        };
        (1..=self.keys.len() as u64).filter(|frame| is_first(frame)).collect()
    }
}

/// What differs between a retransmission and the one found.
fn wrong(truth: Option<&Retransmitted>, found: &Retransmission) -> Option<String> {
    let frame = found.frame;
    let Some(truth) = truth.filter(|truth| truth.kind == found.kind) else {
        return Some(format!("frame {frame}: {truth:?} found {found:?}"));
    };
    match (truth.spurious, found.spurious) {
        (Some(false), Some(_)) => return Some(format!("frame {frame}: not spurious: {found:?}")),
        (Some(true), None) if truth.reported => {
            return Some(format!("frame {frame}: spurious: {found:?}"));
        }
        _ => {}
    }
    let differs = truth.lost.is_some() && found.lost.is_some() && truth.lost != found.lost;
    differs.then(|| format!("frame {frame}: lost {:?}: {found:?}", Some(truth.lost)))
}

/// What the sender of the data sent, and where the capture is found to have been taken.
fn from_sender(connection: &Connection) -> (&Flow, &'static str) {
    let sends = connection.client.port() >= FIRST_PORT;
    let flow = if sends { &connection.from_client } else { &connection.from_server };
    (flow, place(connection.position.vantage, sends))
}

/// The name of a place, by whether the client is the sender of the data.
pub(crate) fn place(vantage: Vantage, client_sends: bool) -> &'static str {
    match vantage {
        Vantage::Client if client_sends => "sender",
        Vantage::Server if !client_sends => "sender",
        Vantage::Client | Vantage::Server => "receiver",
        Vantage::Middle => "middle",
        Vantage::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests;
