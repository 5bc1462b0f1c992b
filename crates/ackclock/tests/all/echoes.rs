//! Timestamps in the capture of a simulated flow.

use std::fs;

use ackclock_tcp::wire::{Packet, Repr};

use crate::run::{ok, scratch};

/// A segment is written every 10 ms, goes out at once, and its ACK comes 24 ms later. The network
/// loses the second ACK, and the fourth comes behind the fifth. Then it loses the segment at 6000.
const SCENARIO: &str = "\
duration = \"1s\"

[tcp]
mss = 1000
isn = 1
initial_window = 10
delayed_ack = \"off\"
timestamps = true

[[link]]
from = \"a\"
to = \"b\"
rate = \"1gbit\"
delay = \"12ms\"
fate = [
    { ack = 2, lose = true },
    { ack = 4, late = \"15ms\" },
    { segment = 6, lose = true },
]

[[flow]]
from = \"a\"
to = \"b\"
strategy = \"newreno\"
start = \"100ms\"
source.writes = [WRITES]
";

/// Lengths of headers of a pcap file: of the file, of a record, of Ethernet and IPv4.
const FILE: usize = 24;
const RECORD: usize = 16;
const BELOW: usize = 34;

/// Each packet of the capture: the number at which data begins, or up to which an ACK acknowledges,
/// TSval and TSecr.
fn stamps(capture: &[u8]) -> Vec<String> {
    let (mut rest, mut lines) = (&capture[FILE..], Vec::new());
    while let Some((record, after)) = rest.split_at_checked(RECORD) {
        let len = u32::from_le_bytes(record[8..12].try_into().unwrap());
        let (frame, after) = after.split_at(len as usize);
        rest = after;
        let (tcp, _) = Repr::parse(&Packet::parse(&frame[BELOW..]).unwrap());
        let stamps = tcp.options.timestamps.unwrap();
        let from_sender = tcp.src_port > tcp.dst_port;
        let (way, number) = if from_sender { ("data", tcp.seq) } else { ("ack", tcp.ack) };
        lines.push(format!("{way} {} {} {}", number.0, stamps.val, stamps.ecr));
    }
    lines
}

/// RFC 7323 section 4.3: data echoes the newest timestamp of the ACKs that have come to the sender,
/// and before the first that of the handshake.
#[test]
fn data_echoes_the_newest_ack_that_has_come() {
    let [scenario, capture] = ["echo.toml", "echo.pcap"].map(|name| scratch("echoes", name));
    let write = |n| format!("{{ at = \"{}ms\", amount = \"1seg\" }}", 10 * n);
    let writes: Vec<String> = (0..10).map(write).collect();
    fs::write(&scenario, SCENARIO.replace("WRITES", &writes.join(", "))).unwrap();
    ok(&["run", &scenario, "--pcap", &capture]);
    let expected = [
        "data 0 100 0",
        "ack 1 100 100",
        "data 1 100 100",
        "data 1 100 100",
        "data 1001 110 100",
        "data 2001 120 100",
        "ack 1001 112 100",
        "data 3001 130 112",
        // The ACK of 122 is lost.
        "data 4001 140 112",
        "ack 3001 132 120",
        "data 5001 150 132",
        "data 6001 160 132",
        "ack 5001 152 140",
        "ack 4001 142 130",
        // It takes nothing back.
        "data 7001 170 152",
        "ack 6001 162 150",
        "data 8001 180 162",
        "data 9001 190 162",
        "ack 6001 182 150",
        "ack 6001 192 150",
        "ack 6001 202 150",
        // A retransmission.
        "data 6001 214 202",
        "ack 10001 226 214",
    ];
    assert_eq!(stamps(&fs::read(&capture).unwrap()), expected);
}
