//! Packets on their way over links, and what goes on in place of those that are dropped.

use ackclock_tcp::recovery::detect::Notices;
use ackclock_tcp::{EventKind, Span};

use super::Simulator;
use crate::heap::{Key, Kind};
use crate::link::Effects;
use crate::loss_notices::{LossNotice, Stage};
use crate::packet::{Kind as PacketKind, Packet};
use crate::paths::Hop;
use crate::recorder::Recorder;

/// What a link that does more than queue and delay has done with a packet.
pub(super) enum Crossing {
    /// It only delays it: the packet arrives at this time.
    Arrives(u64),
    /// The packet is on the wire, or two of it are.
    Affected,
    Dropped(&'static str),
}

/// How far a packet has come.
pub(super) enum Transit {
    /// It waits on a wire for its event.
    OnWire,
    /// It reached its host, at this time.
    AtHost(u64),
    /// A link dropped it.
    Dropped { at: u64, link: u32, why: &'static str },
}

impl Simulator {
    /// Takes a packet over this link, which is that at its hop, and over later ones as far as
    /// lookahead allows.
    #[inline(always)]
    pub(super) fn transit(
        &mut self,
        mut now: u64,
        mut index: usize,
        packet: &mut Packet,
    ) -> Transit {
        let mut at = packet.hop;
        loop {
            at += 1;
            let hop = self.paths.at(at);
            let link = &mut self.links[index];
            let arrival = if let Some(arrival) = link.admit_if_idle(now, packet.size) {
                arrival
            } else if link.special {
                match self.cross_specially(now, index, at, packet) {
                    Crossing::Arrives(arrival) => arrival,
                    Crossing::Affected => return Transit::OnWire,
                    Crossing::Dropped(why) => {
                        return Transit::Dropped { at: now, link: index as u32, why };
                    }
                }
            } else {
                match link.admit_simply(now, packet) {
                    Ok(arrival) => arrival,
                    Err(why) => return Transit::Dropped { at: now, link: index as u32, why },
                }
            };
            if hop == Hop::HOST {
                let gates = &mut self.flows[packet.flow as usize].gates;
                if arrival < self.lookahead_until && gates.admit(packet.kind, arrival) {
                    return Transit::AtHost(arrival);
                }
                gates.wait(packet.kind, 1);
            } else if hop.allows_lookahead() {
                let pending = &mut self.links[hop.link()].pending;
                if arrival < self.lookahead_until && *pending == 0 {
                    now = arrival;
                    index = hop.link();
                    continue;
                }
                *pending += 1;
            }
            packet.hop = at;
            let key = Key::new(arrival, now, Kind::Wire, index as u32);
            self.links[index].put(key, packet, false, &mut self.heap, &mut self.wires);
            return Transit::OnWire;
        }
    }

    /// Takes a packet over a link that does more than queue and delay, or through a processor. `at`
    /// is the place of the hop after it.
    #[inline(never)]
    fn cross_specially(&mut self, now: u64, index: usize, at: u32, packet: &Packet) -> Crossing {
        let link = &mut self.links[index];
        if let Some(processor) = &link.processor {
            let to_host = self.paths.at(at) == Hop::HOST;
            let takes = if to_host { processor.receive } else { processor.send };
            let blocks = self.options.sack_blocks(packet);
            let takes = Span(takes.0.saturating_add(blocks * processor.sack_block.0));
            return Crossing::Arrives(link.serve(now, packet.size, takes));
        }
        if link.is_served() {
            return self.cross_served(now, index, &Packet { hop: at - 1, ..*packet });
        }
        let flows = &self.flows;
        let mss = || flows[packet.flow as usize].mss();
        let arrival = match self.visits.admit((index as u32, &mut *link), now, packet, mss) {
            Ok(arrival) => arrival,
            Err(why) => return Crossing::Dropped(why),
        };
        let effects = link.effects();
        if effects == Effects::default() {
            return Crossing::Arrives(arrival);
        }
        self.put_affected(index, (arrival, now), &Packet { hop: at, ..*packet }, effects);
        Crossing::Affected
    }

    /// Puts a packet on the wire of a link that does more to it than delay it. This is a function
    /// of its own since almost no packet needs it.
    #[cold]
    pub(super) fn put_affected(
        &mut self,
        index: usize,
        (arrival, now): (u64, u64),
        packet: &Packet,
        effects: Effects,
    ) {
        let key = Key::new(
            arrival,
            now,
            if effects.late { Kind::Late } else { Kind::Wire },
            index as u32,
        );
        let mut packet = Packet { corrupt: packet.corrupt || effects.corrupt, ..*packet };
        if effects.marked {
            packet.mark();
        }
        self.links[index].put(key, &packet, effects.late, &mut self.heap, &mut self.wires);
        if effects.twice {
            let packet = packet.duplicate(&mut self.options);
            self.links[index].put(key, &packet, effects.late, &mut self.heap, &mut self.wires);
        }
        self.count_pending(&packet, self.paths.at(packet.hop), 1 + u32::from(effects.twice));
    }

    /// Counts copies of a packet that wait for their event, where `hop` comes next.
    fn count_pending(&mut self, packet: &Packet, hop: Hop, copies: u32) {
        if hop == Hop::HOST {
            self.flows[packet.flow as usize].gates.wait(packet.kind, copies);
        } else if hop.allows_lookahead() {
            self.links[hop.link()].pending += copies;
        }
    }

    /// The network drops a packet.
    #[cold]
    pub(super) fn dropped<R: Recorder>(
        &mut self,
        now: u64,
        link: u32,
        packet: &Packet,
        why: &'static str,
        recorder: &mut R,
    ) {
        let notified = self.flows[packet.flow as usize].notified != Notices::Never;
        if !(notified && self.notice_loss(now, link, packet)) {
            packet.into_segment(&mut self.options);
        }
        let flow = &mut self.flows[packet.flow as usize];
        let kind = if packet.kind == PacketKind::Ack {
            flow.ack_drops += 1;
            EventKind::AckDropped { ack: packet.position, link, why }
        } else {
            flow.drops += 1;
            let (seq, len) = (packet.position, packet.bytes());
            EventKind::Dropped { seq, len, transmission: packet.transmission, link, why }
        };
        if recorder.wants_events() {
            self.record_event(now, packet.flow as usize, kind, recorder);
        }
    }

    /// A packet's host drops it for its checksum. It counts as a drop of the last link.
    #[cold]
    pub(super) fn corrupted<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        let hop = packet.hop + self.paths.links(packet.hop).count() as u32;
        let mut link = self.paths.at(hop - 1).link() as u32;
        if self.links[link as usize].processor.is_some() {
            link = self.paths.at(hop - 2).link() as u32;
        }
        self.dropped(now, link, &Packet { hop, corrupt: false, ..*packet }, "corrupt", recorder);
    }

    /// A link has dropped a packet of a flow whose sender is notified. Returns whether the
    /// packet's options are still needed.
    fn notice_loss(&mut self, now: u64, link: u32, packet: &Packet) -> bool {
        if packet.copy {
            return false;
        }
        if packet.kind == PacketKind::Data
            && self.flows[packet.flow as usize].notified == Notices::AtOnce
        {
            let due = self.links[link as usize]
                .departure_if_idle(now, packet.size)
                .max(now.saturating_add(1));
            self.put_notice(due, now, LossNotice { packet: *packet, stage: Stage::AtDrop });
        }
        self.send_notice(now, LossNotice { packet: *packet, stage: Stage::OnPath });
        packet.kind == PacketKind::Ack
    }

    /// A notice enters the link at its hop. If its packet came as far as its host, it is there.
    pub(super) fn send_notice(&mut self, now: u64, mut notice: LossNotice) {
        let hop = self.paths.at(notice.packet.hop);
        if hop == Hop::HOST {
            return self.put_notice(now, now, notice);
        }
        let arrival = self.links[hop.link()].would_arrive(now, notice.packet.size);
        notice.packet.hop += 1;
        self.put_notice(arrival, now, notice);
    }

    fn put_notice(&mut self, due: u64, now: u64, notice: LossNotice) {
        let number = self.loss_notices.push(notice);
        self.heap.push(Key::new(due, now, Kind::LossNotice, number));
    }
}
