//! Single fates: one packet of a flow that a link loses or delays.

use ackclock_tcp::Span;

use crate::ids::FlowId;
use crate::loss::{ListedLoss, first_byte_of};
use crate::packet::{Kind, Packet};

/// What a link does to one packet. A second copy of a packet, made by an earlier link, has no fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFate {
    /// Which packet.
    pub packet: ListedPacket,
    /// Of which flow; `None` for such a packet of each flow.
    pub flow: Option<FlowId>,
    /// What becomes of it.
    pub fate: Fate,
}

/// One packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedPacket {
    /// One transmission of one segment.
    Transmission(ListedLoss),
    /// The ACK of this number among those that come to the link, from 1. All that the receiver
    /// sends is counted but its SYN.
    Ack(u64),
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is lost before it reaches the queue, and before a loss model sees it.
    Lost,
    /// It arrives so much later. Those behind it do not wait for it.
    Late(Span),
}

/// The fates of a link, and which packets have met theirs.
#[derive(Debug)]
pub(crate) struct Fates {
    /// Each with whether its packet has come.
    listed: Vec<(ListedFate, bool)>,
    /// ACKs that have come, by number of the flow.
    acks: Vec<u64>,
}

impl Fates {
    pub(crate) fn new(listed: &[ListedFate]) -> Fates {
        Fates { listed: listed.iter().map(|&fate| (fate, false)).collect(), acks: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Whether a packet may be late.
    pub(crate) fn delay_some(&self) -> bool {
        self.listed.iter().any(|(listed, _)| matches!(listed.fate, Fate::Late(_)))
    }

    /// What becomes of this packet, which comes to the link now, if that is listed. The first entry
    /// counts. `mss` is its flow's.
    pub(crate) fn meet(&mut self, packet: &Packet, mss: u32) -> Option<Fate> {
        if self.is_empty() || packet.copy {
            return None;
        }
        let which = match packet.kind {
            Kind::Ack => ListedPacket::Ack(self.count_ack(packet)?),
            Kind::Data | Kind::Datagram => ListedPacket::Transmission(ListedLoss {
                segment: first_byte_of(packet, mss)?,
                transmission: packet.transmission,
            }),
        };
        let (listed, come) = self.listed.iter_mut().find(|(listed, _)| {
            listed.packet == which && listed.flow.is_none_or(|flow| flow.0 == packet.flow)
        })?;
        *come = true;
        Some(listed.fate)
    }

    /// The number of an ACK; `None` of a SYN, which is no transmission of anything.
    fn count_ack(&mut self, packet: &Packet) -> Option<u64> {
        if packet.transmission == 0 {
            return None;
        }
        let flow = packet.flow as usize;
        self.acks.resize(self.acks.len().max(flow + 1), 0);
        self.acks[flow] += 1;
        Some(self.acks[flow])
    }

    /// Those whose packet has not come, by their places in the list.
    pub(crate) fn unmet(&self) -> impl Iterator<Item = usize> {
        (0..).zip(&self.listed).filter(|(_, (_, come))| !come).map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests;
