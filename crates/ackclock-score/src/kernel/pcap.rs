//! Reads what tcpdump has just written, and nothing else: the truth must not rest on the code that
//! it judges.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use ackclock_net::Headers;
use ackclock_tcp::wire::ip::{v4, v6};
use ackclock_tcp::wire::{Control, Options};
use ackclock_tcp::{Seq, Time};

/// A TCP segment.
pub(super) struct Packet {
    /// Counted from 1.
    pub frame: u64,
    pub at: Time,
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub seq: Seq,
    pub ack: Seq,
    pub control: Control,
    /// Bytes of payload.
    pub len: u32,
    pub options: Options,
    pub ip_id: Option<u16>,
}

impl Packet {
    /// Bytes of sequence space.
    pub fn span(&self) -> u32 {
        let bit = |control| u32::from(self.control.contains(control));
        self.len + bit(Control::SYN) + bit(Control::FIN)
    }
}

/// All of a file of tcpdump's, with nanoseconds, raw IP or Ethernet.
pub(super) fn read(path: &Path) -> io::Result<Vec<Packet>> {
    let bytes = std::fs::read(path)?;
    let word = |at: usize| {
        bytes.get(at..at + 4).and_then(|b| b.first_chunk()).map(|b| u32::from_le_bytes(*b))
    };
    if word(0) != Some(0xa1b2_3c4d) {
        return Err(io::Error::other(format!("{}: no pcap with nanoseconds", path.display())));
    }
    let skip = match word(20) {
        Some(1) => 14,
        _ => 0,
    };
    let (mut at, mut frame, mut packets) = (24, 0, Vec::new());
    while let (Some(seconds), Some(nanos), Some(kept)) = (word(at), word(at + 4), word(at + 8)) {
        frame += 1;
        let data = bytes.get(at + 16 + skip..at + 16 + kept as usize);
        at += 16 + kept as usize;
        let time = Time(u64::from(seconds) * 1_000_000_000 + u64::from(nanos));
        packets.extend(data.and_then(|data| packet(data, frame, time)));
    }
    Ok(packets)
}

/// An IP packet, cut off perhaps.
pub(super) fn packet(data: &[u8], frame: u64, at: Time) -> Option<Packet> {
    let headers = Headers::parse(data)?;
    let tcp = headers.tcp?;
    let (ip_len, total, ip_id) = if headers.from.is_ipv4() {
        let ip = v4::Header(data.first_chunk()?);
        (ip.header_len(), u32::from(ip.total_len()), Some(ip.id()))
    } else {
        (v6::HEADER_LEN, v6::Header(data.first_chunk()?).total_len(), None)
    };
    let tcp_len = usize::from(data.get(ip_len + 12)? >> 4) * 4;
    let (options, _) = Options::parse(data.get(ip_len + 20..ip_len + tcp_len)?);
    Some(Packet {
        frame,
        at,
        from: headers.from,
        to: headers.to,
        seq: tcp.seq,
        ack: tcp.ack,
        control: tcp.control,
        len: total.checked_sub((ip_len + tcp_len) as u32)?,
        options,
        ip_id,
    })
}
