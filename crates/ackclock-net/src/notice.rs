//! News for flows whose sender is to be told what the network loses ([`Sender::told`](ackclock_tcp::Sender::told)).
//!
//! What a link drops of such a flow goes on as a *notice*, along the way that it would have taken had the link let it in. At
//! each link it takes as long as it would behind what is there at that moment, and leaves no trace: nothing drops or delays it
//! further, it takes no place in a queue, and draws no random number.
//! - A lost segment is answered at its receiver at once by an ACK without options, in the same manner; when that has come back,
//!   the sender is told. So it is told one round trip after it sent the segment, and never later than it could have got an ACK:
//!   delayed ACKs, jitter and the extra delay of reordering come on top of that. Of segments lost together each is told as if
//!   it alone had been let in.
//! - With [`Told::AtOnce`] the sender is told besides as soon as the segment would have left the transmitter of the link that
//!   dropped it, had nothing been in its way. (Told at the same moment, it would send into the same full queue, without end.)
//! - A lost ACK gets to the sender all the same, since it tells what became of segments.
//! - Of packets that a link has duplicated only the originals count.
//! - What a host drops for its checksum has gone its way, and its notice begins there.

use std::collections::VecDeque;

use ackclock_tcp::Time;
use ackclock_tcp::axes::Told;

use crate::engine::{AHEAD, DELIVER, Engine};
use crate::flow::Agent;
use crate::heap::{Key, Kind};
use crate::packet::{Kind as PacketKind, Packet};
use crate::recorder::Recorder;

/// What has been lost and is still to be told.
#[derive(Clone, Copy, Debug)]
struct Notice {
    /// What was lost. Hop and size are those of what it stands for at present.
    packet: Packet,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// On the way that the packet would have gone.
    There,
    /// In place of the ACK that a segment would have drawn.
    Back,
    /// Not on any way.
    AtOnce,
}

/// The notices under way, numbered in the order in which they were put onto their present links.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// From the first one still under way on.
    under_way: VecDeque<Option<Notice>>,
    /// The number of the first entry.
    first: u32,
}

impl Notices {
    fn push(&mut self, notice: Notice) -> u32 {
        self.under_way.push_back(Some(notice));
        self.first.wrapping_add(self.under_way.len() as u32 - 1) & Key::MAX_INDEX
    }

    fn take(&mut self, number: usize) -> Option<Notice> {
        let index = (number as u32).wrapping_sub(self.first) & Key::MAX_INDEX;
        let notice = self.under_way.get_mut(index as usize)?.take();
        while let Some(None) = self.under_way.front() {
            self.under_way.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        notice
    }
}

impl Engine {
    /// A link has dropped a packet of a flow that is told; returns whether its options are still needed.
    pub(crate) fn note_loss(&mut self, now: u64, link: u32, packet: &Packet) -> bool {
        if packet.copy {
            return false;
        }
        if packet.kind == PacketKind::Data && self.flows[packet.flow as usize].told == Told::AtOnce {
            let due = self.links[link as usize].departure_if_idle(now, packet.size).max(now.saturating_add(1));
            self.put_notice(due, now, Notice { packet: *packet, stage: Stage::AtOnce });
        }
        self.send_notice(now, Notice { packet: *packet, stage: Stage::There });
        packet.kind == PacketKind::Ack
    }

    /// A notice enters the link at its hop; one of a packet that came as far as its host is there.
    fn send_notice(&mut self, now: u64, mut notice: Notice) {
        if self.paths[notice.packet.hop as usize] == DELIVER {
            return self.put_notice(now, now, notice);
        }
        let link = self.paths[notice.packet.hop as usize] & !AHEAD;
        let arrival = self.links[link as usize].would_arrive(now, notice.packet.size);
        notice.packet.hop += 1;
        self.put_notice(arrival, now, notice);
    }

    fn put_notice(&mut self, due: u64, now: u64, notice: Notice) {
        let number = self.notices.push(notice);
        self.heap.push(Key::new(due, now, Kind::Notice, number));
    }

    /// A notice is due, or has come to the end of a link.
    pub(crate) fn notice_due<R: Recorder>(&mut self, now: u64, number: usize, recorder: &mut R) {
        self.heap.take();
        let Some(mut notice) = self.notices.take(number) else { return };
        let Notice { packet, stage } = notice;
        if stage == Stage::AtOnce {
            return self.tell(now, &packet, Told::AtOnce, recorder);
        }
        if self.paths[packet.hop as usize] != DELIVER {
            return self.send_notice(now, notice);
        }
        if packet.kind == PacketKind::Ack {
            return self.deliver_ack(now, &packet, recorder);
        }
        if stage == Stage::Back {
            return self.tell(now, &packet, Told::AfterRoundTrip, recorder);
        }
        let flow = &self.flows[packet.flow as usize];
        let Agent::Tcp(tcp) = &flow.agent else { return };
        (notice.packet.hop, notice.packet.size, notice.stage) = (flow.ack_path, tcp.sizes.ack_size, Stage::Back);
        self.send_notice(now, notice);
    }

    /// Tells the sender of a lost segment.
    fn tell<R: Recorder>(&mut self, now: u64, packet: &Packet, when: Told, recorder: &mut R) {
        let flow = &mut self.flows[packet.flow as usize];
        let Agent::Tcp(tcp) = &mut flow.agent else { return };
        if now < flow.stop {
            tcp.sender.on_lost(Time(now), packet.position, packet.transmission, when);
            self.pump_sender(now, now, packet.flow as usize, recorder);
        }
    }
}
