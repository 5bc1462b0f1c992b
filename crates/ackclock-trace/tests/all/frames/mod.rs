//! Frames byte by byte, and the segments that are in them.

use std::net::SocketAddr;

use ackclock_tcp::wire::{Control, Options};
use ackclock_tcp::{Codepoint, Seq, Time};
use ackclock_trace::{Frame, Ignored, LinkType, Packet, decode};

pub const ETHERNET: u16 = 1;
pub const RAW: u16 = 101;

/// From port 5001 to port 80, with these options and `payload` bytes.
pub fn tcp(options: &[u8], payload: usize) -> Vec<u8> {
    assert!(options.len().is_multiple_of(4));
    let mut bytes = vec![0x13, 0x89, 0, 80, 0xff, 0xff, 0xff, 0xfe, 1, 2, 3, 4];
    bytes.extend([(5 + options.len() as u8 / 4) << 4, 0x18, 0x20, 0x01, 0xab, 0xcd, 0, 0]);
    bytes.extend(options);
    bytes.resize(bytes.len() + payload, 7);
    bytes
}

/// From 192.0.2.1 to 198.51.100.2.
pub fn v4(payload: &[u8]) -> Vec<u8> {
    let mut bytes =
        vec![0x45, 0, 0, 0, 0xbe, 0xef, 0x40, 0, 63, 6, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2];
    bytes[2..4].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// From 2001:db8::1 to 2001:db8::2, with `next` for the header after it.
pub fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0, 0, 0, next, 61];
    bytes[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
    for last in [1, 2] {
        bytes.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    bytes.extend(payload);
    bytes
}

pub fn ethernet(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1], &ethertype.to_be_bytes()[..], payload].concat()
}

pub fn see(link: u16, data: &[u8], wire_len: usize) -> Result<Packet, Ignored> {
    decode(&Frame { number: 9, at: Time(5), link: LinkType(link), data, wire_len: wire_len as u32 })
}

/// Of a frame that was kept whole.
pub fn whole(link: u16, data: &[u8]) -> Result<Packet, Ignored> {
    see(link, data, data.len())
}

/// What [`v4`] and [`tcp`] without options mean.
pub fn wanted(len: u32) -> Packet {
    Packet {
        frame: 9,
        at: Time(5),
        src: "192.0.2.1:5001".parse().expect("an address"),
        dst: "198.51.100.2:80".parse().expect("an address"),
        seq: Seq(0xffff_fffe),
        ack: Seq(0x0102_0304),
        control: Control::ACK.with(Control::PSH),
        ae: false,
        wnd: 0x2001,
        len,
        options: Options::default(),
        options_cut: false,
        ip_id: Some(0xbeef),
        ttl: 63,
        codepoint: Codepoint::NotEct,
        damaged: len == 0,
    }
}

pub fn wanted_v6(len: u32) -> Packet {
    let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
    Packet {
        src: address("[2001:db8::1]:5001"),
        dst: address("[2001:db8::2]:80"),
        ip_id: None,
        ttl: 61,
        ..wanted(len)
    }
}

/// From port 40000 of 10.0.0.1 to `port` of 10.0.0.2.
pub fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let len = (8 + payload.len() as u16).to_be_bytes();
    let header = [&[0x9c, 0x40], &port.to_be_bytes()[..], &len, &[0, 0]].concat();
    around(17, &[&header, payload].concat())
}

/// IPv4 from 10.0.0.1 to 10.0.0.2.
pub fn around(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = v4(payload);
    bytes[9] = protocol;
    bytes[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    bytes
}

/// VXLAN of network 42, with the Ethernet frame.
pub fn vxlan(frame: &[u8]) -> Vec<u8> {
    udp(4789, &[&[8, 0, 0, 0, 0, 0, 42, 0], frame].concat())
}
