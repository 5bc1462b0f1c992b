//! What the sender did, from the packets of all captures, drops, and the trace.

#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Cause, Seq, Time, TimeoutClass, Timestamps};

use super::super::events::{self, Event, LOSS, RECOVERY};
use super::super::pcap::{self, Packet};
use super::super::trace::{Caller, Line};
use super::{Connection, Drop, Retransmission, Timeout};

/// A segment of SMSS on its way.
struct Sent {
    frame: u64,
    at: Time,
    start: u64,
    end: u64,
    payload: u32,
    seq: Seq,
    ip_id: Option<u16>,
    tsval: Option<u32>,
    /// What had been sent before.
    snd_max: u64,
    /// The last of [`PLACES`](crate::places::PLACES) that it came to: at the others it was lost.
    reached: usize,
    /// The receiver discarded it, as its time stamp was too old, and did not have its bytes yet.
    discarded: bool,
    /// Its frames in the middle and at the receiver.
    away: [Option<u64>; 2],
}

const RECEIVER: usize = 2;

impl Sent {
    fn is_again(&self) -> bool {
        self.start < self.snd_max
    }

    /// Whether this packet, captured or dropped elsewhere, may be it.
    fn is(&self, packet: &Packet) -> bool {
        // It was captured before, but the clocks may differ by some microseconds.
        const SLACK: u64 = 20_000;
        self.seq == packet.seq
            && self.ip_id == packet.ip_id
            && self.payload == packet.len
            && self.at.0 <= packet.at.0 + SLACK
    }

    fn is_lost(&self) -> bool {
        self.reached < RECEIVER
    }

    fn came_through(&self) -> bool {
        !self.is_lost() && !self.discarded
    }

    /// The receiver has got these bytes with it.
    fn has_brought(&self, start: u64, end: u64) -> bool {
        self.away[RECEIVER - 1].is_some()
            && !self.discarded
            && self.start <= start
            && end <= self.end
    }
}

/// What an ACK reported to the sender.
struct Report {
    at: Time,
    una: u64,
    advanced: bool,
    dsack: Option<(u64, u64)>,
    tsecr: Option<u32>,
}

/// One connection as the sender's capture has it. Position 0 is the SYN.
struct Path {
    ends: [SocketAddr; 2],
    start: Time,
    end: Time,
    mss: u32,
    sent: Vec<Sent>,
    reports: Vec<Report>,
    /// The time stamp that the receiver has echoed last, as it left.
    echoed: Option<u32>,
}

/// All of a capture at `sender`; `away` are the packets in the middle and at the receiver.
pub fn connections(
    packets: &[Packet],
    away: &[Vec<Packet>; 2],
    sender: IpAddr,
    drops: &[Drop],
    trace: Option<&[Line]>,
    missing: &mut Vec<String>,
) -> Vec<Connection> {
    let mut paths: Vec<Path> =
        apart(packets, sender).into_iter().filter_map(|(ends, of)| Path::new(ends, &of)).collect();
    for drop in drops.iter().filter(|drop| drop.from_sender) {
        let reached = if drop.near_sender { 0 } else { 1 };
        let found = pcap::packet(&drop.packet, 0, drop.at).and_then(|packet| {
            let ends = [packet.from, packet.to];
            of(&mut paths, ends).find_map(|path| path.lose(&packet, reached))
        });
        if found.is_none() {
            missing.push(format!("a drop at {} ns is of no packet of the capture", drop.at.0));
        }
    }
    for (place, packets) in away.iter().enumerate() {
        for packet in packets {
            if packet.from.ip() == sender {
                of(&mut paths, [packet.from, packet.to]).find_map(|path| path.pass(packet, place));
            } else if place + 1 == RECEIVER {
                let mut begun = of(&mut paths, [packet.to, packet.from]);
                if let Some(path) = begun.find(|path| path.start <= packet.at) {
                    path.answers(packet);
                }
            }
        }
        let sent = paths.iter().flat_map(|path| &path.sent);
        let unseen = sent.filter(|sent| sent.reached > place && sent.away[place].is_none()).count();
        if unseen > 0 && !packets.is_empty() {
            let place = crate::places::PLACES[place + 1];
            missing.push(format!("{unseen} segments are not in the capture of the {place}"));
        }
    }
    paths.iter().map(|path| path.connection(trace, missing)).collect()
}

/// The connections of these ends, the sender's first, the latest one first.
fn of(paths: &mut [Path], ends: [SocketAddr; 2]) -> impl Iterator<Item = &mut Path> {
    paths.iter_mut().rev().filter(move |path| path.ends == ends)
}

/// The packets of each connection, the sender's end first, in order of beginning. Ports may be used
/// again: then a SYN has another number.
fn apart(packets: &[Packet], sender: IpAddr) -> Vec<([SocketAddr; 2], Vec<&Packet>)> {
    let mut all: Vec<([SocketAddr; 2], Vec<&Packet>)> = Vec::new();
    for packet in packets {
        let ends = if packet.from.ip() == sender {
            [packet.from, packet.to]
        } else {
            [packet.to, packet.from]
        };
        let opens = packet.control.contains(Control::SYN) && !packet.control.contains(Control::ACK);
        let open = all.iter_mut().rev().find(|(of, _)| *of == ends);
        match open.filter(|(_, before)| {
            !opens || before.first().is_some_and(|first| first.seq == packet.seq)
        }) {
            Some((_, before)) => before.push(packet),
            None => all.push((ends, vec![packet])),
        }
    }
    all
}

impl Path {
    fn new(ends: [SocketAddr; 2], packets: &[&Packet]) -> Option<Path> {
        let syn = |from: SocketAddr| {
            packets.iter().find(|p| p.from == from && p.control.contains(Control::SYN))
        };
        let (ours, theirs) = (syn(ends[0])?, syn(ends[1])?);
        let timestamps = ours.options.timestamps.is_some() && theirs.options.timestamps.is_some();
        let mss = ours.options.mss?.min(theirs.options.mss?);
        let mss = u32::from(mss) - if timestamps { 12 } else { 0 };
        let [start, end] = [packets.first()?.at, packets.last()?.at];
        let mut path =
            Path { ends, start, end, mss, sent: Vec::new(), reports: Vec::new(), echoed: None };
        let (mut snd_max, mut una) = (0, 0);
        for packet in packets.iter().filter(|p| !p.control.contains(Control::RST)) {
            if packet.from == ends[0] {
                path.send(packet, ours.seq, &mut snd_max);
            } else if packet.control.contains(Control::ACK) {
                path.report(packet, ours.seq, &mut una);
            }
        }
        Some(path)
    }

    fn send(&mut self, packet: &Packet, origin: Seq, snd_max: &mut u64) {
        let Some(mut start) = packet.seq.position(origin, *snd_max) else { return };
        let (end, mut payload, mut n) = (start + u64::from(packet.span()), packet.len, 0_u16);
        while start < end {
            let part = payload.min(self.mss);
            payload -= part;
            // SYN and FIN go with the last part.
            let stop = if payload > 0 { start + u64::from(part) } else { end };
            self.sent.push(Sent {
                frame: packet.frame,
                at: packet.at,
                start,
                end: stop,
                payload: part,
                seq: Seq::at(origin, start),
                ip_id: packet.ip_id.map(|id| id.wrapping_add(n)),
                tsval: packet.options.timestamps.map(|t| t.val),
                snd_max: *snd_max,
                reached: RECEIVER,
                discarded: false,
                away: [None; 2],
            });
            *snd_max = (*snd_max).max(stop);
            (start, n) = (stop, n + 1);
        }
    }

    fn report(&mut self, packet: &Packet, origin: Seq, una: &mut u64) {
        let Some(ack) = packet.ack.position(origin, *una) else { return };
        let blocks = packet.options.sack.as_slice().iter();
        let blocks: Vec<(u64, u64)> = blocks
            .filter_map(|b| Some((b.left.position(origin, ack)?, b.right.position(origin, ack)?)))
            .collect();
        // RFC 2883 section 4: below the cumulative ACK, or within the second block.
        let dsack = blocks.first().filter(|first| {
            first.1 <= ack
                || blocks.get(1).is_some_and(|second| second.0 <= first.0 && first.1 <= second.1)
        });
        let advanced = ack > *una;
        *una = ack.max(*una);
        let tsecr = packet.options.timestamps.map(|t| t.ecr);
        self.reports.push(Report {
            at: packet.at,
            una: *una,
            advanced,
            dsack: dsack.copied(),
            tsecr,
        });
    }

    /// Notes that the gateway dropped this packet behind this place; `None` if it is not there.
    fn lose(&mut self, packet: &Packet, reached: usize) -> Option<()> {
        if packet.span() == 0 {
            return Some(());
        }
        let fits = |sent: &&mut Sent| sent.is(packet) && !sent.is_lost();
        self.sent.iter_mut().rev().find(fits).map(|sent| sent.reached = reached)
    }

    /// Notes that the packet is in the capture away from the sender: the earliest transmission
    /// that came to it and has no frame there. A duplicate that the network made finds none.
    fn pass(&mut self, packet: &Packet, place: usize) -> Option<()> {
        if packet.span() == 0 {
            return Some(());
        }
        let fits = |sent: &Sent| {
            sent.is(packet)
                && sent.tsval == packet.options.timestamps.map(|t| t.val)
                && sent.reached > place
                && sent.away[place].is_none()
        };
        let index = self.sent.iter().position(fits)?;
        let sent = &self.sent[index];
        // PAWS (RFC 7323 section 5.3), to one tick (`TCP_PAWS_WINDOW`).
        let old = |(echoed, val): (u32, u32)| Timestamps::is_older(val.wrapping_add(1), echoed);
        let discarded = place + 1 == RECEIVER
            && self.echoed.zip(sent.tsval).is_some_and(old)
            && !self.sent.iter().any(|other| other.has_brought(sent.start, sent.end));
        let sent = &mut self.sent[index];
        (sent.away[place], sent.discarded) = (Some(packet.frame), discarded);
        Some(())
    }

    /// The receiver answers with this.
    fn answers(&mut self, packet: &Packet) {
        if let Some(timestamps) = packet.options.timestamps {
            self.echoed = Some(timestamps.ecr);
        }
    }

    fn connection(&self, trace: Option<&[Line]>, missing: &mut Vec<String>) -> Connection {
        let again: Vec<usize> = (0..self.sent.len()).filter(|&i| self.sent[i].is_again()).collect();
        let mut retransmissions: Vec<Retransmission> =
            again.iter().map(|&i| self.retransmission(i)).collect();
        let mut timeouts = Vec::new();
        if let Some(trace) = trace {
            let ends = self.ends.map(|end| end.to_string());
            // The trace has a packet just after it was captured.
            let during = self.start.0..self.end.0 + 1_000_000;
            let of_it = |line: &&Line| line.ends == ends && during.contains(&line.at.0);
            let lines: Vec<&Line> = trace.iter().filter(of_it).collect();
            let events = events::of(&lines);
            let times: Vec<Time> = again.iter().map(|&i| self.sent[i].at).collect();
            let of =
                events::align(&times, &events.iter().map(|event| event.at).collect::<Vec<_>>());
            let unmatched = (0..events.len()).filter(|i| !of.contains(i)).count();
            if unmatched > 0 {
                missing.push(format!(
                    "{unmatched} retransmissions in the trace of {} are not in the capture",
                    ends[0]
                ));
            }
            self.name(&again, &of, &events, &mut retransmissions, &mut timeouts);
        }
        Connection {
            sender: self.ends[0],
            receiver: self.ends[1],
            t_ns: self.start.0,
            mss: self.mss,
            segments: self.sent.len() as u64,
            retransmissions,
            timeouts,
        }
    }

    fn retransmission(&self, index: usize) -> Retransmission {
        let sent = &self.sent[index];
        // Bytes come through if an earlier transmission of them did.
        let mut open = vec![(sent.start, sent.end)];
        for earlier in self.sent[..index].iter().filter(|earlier| earlier.came_through()) {
            open = open
                .into_iter()
                .flat_map(|(from, to)| [(from, to.min(earlier.start)), (from.max(earlier.end), to)])
                .filter(|(from, to)| from < to)
                .collect();
        }
        Retransmission {
            frame: sent.frame,
            t_ns: sent.at.0,
            seq: sent.seq.0,
            len: sent.payload,
            kind: None,
            spurious: open.is_empty(),
            lost: sent.is_lost(),
            away: sent.away,
            reported: self.is_reported(sent),
        }
    }

    /// Whether an ACK after it says that it was not needed: a D-SACK of its bytes, or that the
    /// first to acknowledge them echoes an older time stamp.
    fn is_reported(&self, sent: &Sent) -> bool {
        let after = || self.reports.iter().filter(|report| report.at > sent.at);
        let dsack = after().any(|report| {
            report.dsack.is_some_and(|(from, to)| from <= sent.start && sent.end <= to)
        });
        let first = after().find(|report| report.advanced && report.una > sent.start);
        let older = first.and_then(|report| Some(Timestamps::is_older(report.tsecr?, sent.tsval?)));
        dsack || older == Some(true)
    }

    /// Names kinds and timeouts: retransmission `i`, which is transmission `again[i]`, was caused
    /// by event `of[i]`.
    fn name(
        &self,
        again: &[usize],
        of: &[usize],
        events: &[Event],
        retransmissions: &mut [Retransmission],
        timeouts: &mut Vec<Timeout>,
    ) {
        let mut last_timeout = None;
        for (i, (&index, &event)) in again.iter().zip(of).enumerate() {
            let Some(event) = events.get(event) else { continue };
            let first = i == 0 || of[i - 1] != of[i];
            let sent = &self.sent[index];
            let last = self.reports.iter().take_while(|report| report.at < sent.at).last();
            let una = last.map_or(0, |report| report.una);
            let backed_off = last_timeout == Some(una);
            let kind = match event.by {
                Caller::Timer if backed_off => Cause::BackedOffTimeout.name(),
                Caller::Timer => Cause::Timeout.name(),
                Caller::LossProbe => Cause::TailLossProbe.name(),
                Caller::Queue if event.state == LOSS => Cause::SlowStart.name(),
                Caller::Queue if event.state == RECOVERY && event.first && first => {
                    Cause::FastRetransmit.name()
                }
                Caller::Queue if event.state == RECOVERY => Cause::Recovery.name(),
                Caller::Queue | Caller::Syn | Caller::Unknown => "unknown",
            };
            retransmissions[i].kind = Some(kind.into());
            if event.by == Caller::Timer && first {
                let earlier = again[..i].iter().map(|&i| &self.sent[i]).filter(|r| r.snd_max > una);
                let class = match () {
                    () if backed_off => TimeoutClass::BackedOff,
                    // That of a SYN/ACK is of the handshake whatever SYNs it has answered again.
                    () if sent.end == 1 => TimeoutClass::Handshake,
                    () if earlier.clone().any(|r| r.start <= sent.start && sent.start < r.end) => {
                        TimeoutClass::LostRetransmission
                    }
                    () if earlier.clone().next().is_some() => TimeoutClass::MultipleLosses,
                    () if sent.payload == 0 => TimeoutClass::Handshake,
                    () => TimeoutClass::NonTrigger,
                };
                timeouts.push(Timeout {
                    t_ns: sent.at.0,
                    seq: sent.seq.0,
                    class: class.name().into(),
                    state: ["open", "disorder", "open", "recovery", "loss"]
                        [usize::from(event.before.min(4))]
                    .into(),
                    spurious: retransmissions[i].spurious,
                });
                last_timeout = Some(una);
            }
        }
    }
}
