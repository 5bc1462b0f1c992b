//! A router that asks for shorter packets, from the bytes of a capture on.

use std::fs;
use std::path::PathBuf;

use ackclock_explain::{
    Explained, Monitor, Options, Reader, Source, one_connection, read, short, write_json,
};
use ackclock_run::Cancel;
use ackclock_tcp::Time;
use ackclock_tcp::wire::{Checksum, PseudoHeader};
use serde_json::{Value, json};

const CLIENT: [u8; 4] = [10, 9, 1, 2];
const SERVER: [u8; 4] = [10, 9, 2, 2];
const ROUTER: [u8; 4] = [10, 9, 1, 1];

/// A capture of raw IP packets; `six`: of version 6.
struct Bytes {
    six: bool,
    /// Identification of IPv4, which each host counts for itself.
    ids: [u16; 2],
    bytes: Vec<u8>,
}

fn address(four: [u8; 4]) -> [u8; 16] {
    let mut address = [0; 16];
    address[..2].copy_from_slice(&[0xfd, 9]);
    address[12..].copy_from_slice(&four);
    address
}

impl Bytes {
    fn new(six: bool) -> Bytes {
        let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend([0xff, 0xff, 0, 0, 101, 0, 0, 0]);
        Bytes { six, ids: [7, 9000], bytes }
    }

    /// An IP packet between these.
    fn ip(&mut self, src: [u8; 4], dst: [u8; 4], protocol: u8, payload: &[u8]) -> Vec<u8> {
        let len = payload.len() as u16;
        if self.six {
            let [high, low] = len.to_be_bytes();
            let head = [0x60, 0, 0, 0, high, low, protocol, 64];
            return [&head[..], &address(src), &address(dst), payload].concat();
        }
        let id = &mut self.ids[usize::from(src == SERVER)];
        *id += 1;
        let ([high, low], [first, second]) = ((20 + len).to_be_bytes(), id.to_be_bytes());
        let head = [0x45, 0, high, low, first, second, 0x40, 0, 64, protocol, 0, 0];
        [&head[..], &src, &dst, payload].concat()
    }

    fn segment(&mut self, from_client: bool, seq: u32, ack: u32, flags: u8, len: usize) -> Vec<u8> {
        let (ports, src, dst) = match from_client {
            true => ([0x9c, 0x40, 0, 80], CLIENT, SERVER),
            false => ([0, 80, 0x9c, 0x40], SERVER, CLIENT),
        };
        // MSS and "SACK permitted" on SYNs; an empty rest otherwise.
        let options: &[u8] = if flags & 2 > 0 { &[2, 4, 5, 180, 4, 2, 1, 1] } else { &[] };
        let offset = (5 + options.len() as u8 / 4) << 4;
        let fixed = [offset, flags, 0xff, 0xff, 0, 0, 0, 0];
        let head = [&ports[..], &seq.to_be_bytes(), &ack.to_be_bytes(), &fixed, options].concat();
        self.ip(src, dst, 6, &[&head[..], &vec![7; len]].concat())
    }

    /// A packet so many microseconds after the beginning, of which 128 bytes are kept.
    fn put(&mut self, micros: u32, packet: &[u8]) {
        let kept = &packet[..packet.len().min(128)];
        let [len, wire] = [kept.len() as u32, packet.len() as u32].map(u32::to_le_bytes);
        let time = [1000_u32.to_le_bytes(), micros.to_le_bytes()].concat();
        self.bytes.extend([&time[..], &len, &wire, kept].concat());
    }

    /// The router asks for packets of 1400 bytes, since this one was too big.
    fn too_big(&mut self, packet: &[u8]) -> Vec<u8> {
        let quoted = &packet[..packet.len().min(80)];
        let (kind, code, protocol) = if self.six { (2, 0, 58) } else { (3, 4, 1) };
        let mut message = [&[kind, code, 0, 0, 0, 0, 5, 120][..], quoted].concat();
        let [src, dst] = [ROUTER, CLIENT].map(|four| address(four).into());
        let begun = match self.six {
            true => PseudoHeader::V6 { src, dst }.of(protocol, message.len() as u32),
            false => Checksum::default(),
        };
        let sum = begun.then(&message).value();
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        self.ip(ROUTER, CLIENT, protocol, &message)
    }

    /// The client sends ten segments of 1,460 bytes, which a router drops, and sends them again in
    /// shorter ones; the answer takes 10 ms.
    fn transfer(mut self, told: bool) -> Vec<u8> {
        const SYN: u8 = 2;
        const ACK: u8 = 16;
        let header = if self.six { 60 } else { 40 };
        let (full, cut) = (1440_u32, 1400 - header);
        for (at, from_client, seq, ack, flags) in
            [(0, true, 0, 0, SYN), (10_000, false, 0, 1, SYN | ACK), (10_050, true, 1, 1, ACK)]
        {
            let syn = self.segment(from_client, seq, ack, flags, 0);
            self.put(at, &syn);
        }
        let mut message = Vec::new();
        for n in 0..10 {
            let packet = self.segment(true, 1 + full * n, 1, ACK, full as usize);
            self.put(20_000 + n, &packet);
            message = self.too_big(&packet);
        }
        if told {
            self.put(25_000, &message);
        }
        for n in 0..10 {
            let first = self.segment(true, 1 + full * n, 1, ACK, cut as usize);
            self.put(25_050 + 2 * n, &first);
            let rest = self.segment(true, 1 + full * n + cut, 1, ACK, (full - cut) as usize);
            self.put(25_051 + 2 * n, &rest);
        }
        for n in 1..11 {
            let ack = self.segment(false, 1, 1 + full * n, ACK, 0);
            self.put(35_100 + n, &ack);
        }
        self.bytes
    }
}

fn explained(name: &str, bytes: &[u8]) -> Explained {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, bytes).unwrap();
    let options = Options { jobs: 1, filter: None, events_of_streams: 0 };
    read(&[Source::File(file)], &options, &Cancel::default()).unwrap()
}

#[test]
fn it_is_said_and_nothing_was_lost() {
    for (six, router) in [(false, "10.9.1.1"), (true, "fd09::a09:101")] {
        let found = explained(&format!("shorter-{six}.pcap"), &Bytes::new(six).transfer(true));
        let said = format!(
            "a router at {router} asked the client for packets of at most 1400 bytes; 20 segments \
             went again for that, which is no sign of congestion\n"
        );
        let text = short(&found, 0);
        assert!(text.contains(&format!("    {said}")), "{text}");
        assert!(text.contains("44 packets, 43 with TCP\n"));
        assert!(!text.contains("congestion window") && !text.contains("are lost"), "{text}");
        let one = one_connection(&found, 0);
        assert!(one.contains(&format!("  {said}")), "{one}");
        let again = "retransmission for which a router had asked\n";
        assert_eq!(one.matches(again).count(), 20);
        let mut out = Vec::new();
        write_json(&found, &mut out).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        let c = &document["connections"][0];
        assert_eq!(c["packet_too_big_retransmissions"], 20);
        assert_eq!((&c["recoveries"], &c["timeouts"]), (&json!(0), &json!(0)));
        assert_eq!(c["retransmission_list"][0]["kind"], "packet_too_big");
        let wanted =
            json!({"t": 1000.025, "messages": 1, "mtu": 1400, "router": router, "ignored": false});
        assert_eq!(c["from_client"]["asked_shorter"], wanted);
        assert_eq!(c["from_client"]["losses"]["counted"], 0);
        assert_eq!(document["captures"][0]["ignored"], json!({}));
        let rows = document["overall"]["prr_tables"][1]["rows"].as_array().unwrap();
        let asked = rows.iter().find(|row| row["name"] == "for which a router had asked").unwrap();
        assert_eq!(asked["here"], 100.0);
        let mss = if six { 1340 } else { 1360 };
        assert_eq!((&c["from_client"]["mss"], &c["packets"]), (&json!(mss), &json!(43)));
    }
}

/// What says nothing of a TCP segment is left out.
#[test]
fn a_message_about_something_else() {
    let mut bytes = Bytes::new(false);
    let sctp = bytes.ip(CLIENT, SERVER, 132, &[7; 1480]);
    let message = bytes.too_big(&sctp);
    bytes.put(0, &message);
    let found = explained("shorter-sctp.pcap", &bytes.transfer(true));
    let left_out = "left out: 1 ICMP of packets too big that say nothing of a TCP segment\n";
    let text = short(&found, 0);
    assert!(text.contains(left_out), "{text}");
}

/// Without a message nothing says why.
#[test]
fn without_a_message() {
    let found = explained("shorter-untold.pcap", &Bytes::new(false).transfer(false));
    let text = short(&found, 0);
    assert!(!text.contains("router") && !text.contains("ICMP"), "{text}");
    assert_eq!(found.connections[0].counts().of(ackclock_explain::Kind::TooBig), 0);
}

#[test]
fn a_monitor_hears_it_too() {
    let bytes = Bytes::new(false).transfer(true);
    let mut reader = Reader::new(Box::new(std::io::Cursor::new(bytes))).unwrap();
    let mut monitor = Monitor::new("eth0");
    while let Some(frame) = reader.next().unwrap() {
        monitor.frame(&frame);
    }
    monitor.turn(Time(1_001_000_000_000));
    monitor.finish();
    assert_eq!(monitor.all().counts.of(ackclock_explain::Kind::TooBig), 20);
}
