//! What waits to leave.

use std::collections::VecDeque;
use std::net::IpAddr;

use ackclock_tcp::Codepoint;
use ackclock_tcp::wire::ip::{TCP, v4, v6};
use ackclock_tcp::wire::{MAX_HEADER_LEN, Repr};

use crate::tuple::Tuple;

/// The longest IP packet: its length has 16 bits.
pub(crate) const MAX_PACKET: usize = 65_535;
/// Answers that wait because the driver does not take them; more are dropped, as a full device
/// queue would.
const MOST_ANSWERS: usize = 1024;

/// What waits to leave.
pub(crate) struct Output {
    /// Slots with something to send, perhaps; the first has sent `turn` bytes in this turn.
    pub(crate) ready: VecDeque<u32>,
    pub(crate) turn: u32,
    /// Slots whose sockets have gathered something that may become more.
    pub(crate) gathering: Vec<u32>,
    /// Whole packets: resets, cookies, answers of ICMP and of TIME-WAIT. `spare` are their
    /// buffers, to be used again.
    pub(crate) answers: VecDeque<Vec<u8>>,
    pub(crate) spare: Vec<Vec<u8>>,
    /// The answer that was last given to the driver.
    pub(crate) answer: Vec<u8>,
    /// The headers that were last given to the driver.
    pub(crate) header: [u8; v6::HEADER_LEN + MAX_HEADER_LEN],
}

impl Default for Output {
    fn default() -> Output {
        Output {
            ready: VecDeque::new(),
            turn: 0,
            gathering: Vec::new(),
            answers: VecDeque::new(),
            spare: Vec::new(),
            answer: Vec::new(),
            header: [0; v6::HEADER_LEN + MAX_HEADER_LEN],
        }
    }
}

impl Output {
    /// Adds a slot at the end of the list.
    pub(crate) fn enqueue(&mut self, index: u32) {
        self.ready.push_back(index);
    }

    /// Adds an IP packet.
    pub(crate) fn answer(
        &mut self,
        src: IpAddr,
        dst: IpAddr,
        class: Class,
        protocol: u8,
        payload: &[u8],
    ) {
        if self.answers.len() >= MOST_ANSWERS {
            return;
        }
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        let mut header = [0; v6::HEADER_LEN];
        let len = emit_ip((src, dst), class, protocol, payload.len(), &mut header);
        packet.extend_from_slice(&header[..len]);
        packet.extend_from_slice(payload);
        self.answers.push_back(packet);
    }

    /// Adds a TCP segment without payload.
    pub(crate) fn answer_tcp(&mut self, tuple: &Tuple, class: Class, header: &Repr) {
        let mut segment = [0; MAX_HEADER_LEN];
        if let Some(segment) = segment.get_mut(..header.header_len())
            && header.emit(&tuple.pseudo_header(), segment).is_ok()
        {
            self.answer(tuple.local, tuple.remote, class, TCP, segment);
        }
    }
}

/// What an IP header says beside addresses and lengths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Class {
    pub(crate) dscp: u8,
    pub(crate) codepoint: Codepoint,
    /// Over IPv6.
    pub(crate) flow_label: u32,
    /// Over IPv4, what tells it from others where routers may fragment it (RFC 6864 section 4.2).
    pub(crate) id: Option<u16>,
}

/// Writes the IP header of a packet; returns its length.
pub(crate) fn emit_ip(
    ends: (IpAddr, IpAddr),
    Class { dscp, codepoint, flow_label, id }: Class,
    protocol: u8,
    payload_len: usize,
    bytes: &mut [u8],
) -> usize {
    let payload_len = payload_len.min(MAX_PACKET) as u16;
    match ends {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            if let Some(header) = bytes.first_chunk_mut() {
                let plain = v4::Repr::new(src, dst, protocol, payload_len);
                let (id, dont_fragment) = (id.unwrap_or(0), id.is_none());
                v4::Repr { dscp, codepoint, id, dont_fragment, ..plain }.emit(header);
            }
            v4::HEADER_LEN
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            if let Some(header) = bytes.first_chunk_mut() {
                let plain = v6::Repr::new(src, dst, protocol, payload_len);
                v6::Repr { dscp, codepoint, flow_label, ..plain }.emit(header);
            }
            v6::HEADER_LEN
        }
        _ => 0,
    }
}
