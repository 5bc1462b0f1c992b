//! Bytes as packets of a few connections, options as they stand on the wire: whatever comes,
//! nothing panics, each packet belongs to one connection, and what is said fits together.
#![no_main]

use std::net::{Ipv4Addr, SocketAddr};

use ackclock_tcp::wire::{Control, Options};
use ackclock_tcp::{Codepoint, Seq, Time};
use ackclock_trace::{Connection, Detail, Packet, Settings, Tracker};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&[most, base, detail], mut rest)) = bytes.split_first_chunk::<3>() else { return };
    let detail = if detail % 2 == 0 { Detail::None } else { Detail::UpTo(usize::from(detail)) };
    let mut tracker = Tracker::new(Settings { detail, max_open: usize::from(most % 4) + 1 });
    let base = u32::MAX - 4096 * u32::from(base % 4);
    let (mut frame, mut now, mut all) = (0, 1_700_000_000_000_000_000, Vec::new());
    while let Some((&[kind, a, b, c, d, time, len, flags], tail)) = rest.split_first_chunk::<8>() {
        // Options of 0 to 40 bytes follow.
        let (options, tail) = tail.split_at(tail.len().min(usize::from(flags >> 4) * 4).min(40));
        rest = tail;
        frame += 1;
        now = match time % 8 {
            0 => now,
            1 => now - u64::from(time) * 1_000_000,
            2 => now + (u64::from(time) << 28),
            _ => now + u64::from(time) * 100_000,
        };
        let near = |x: u8, y: u8| {
            Seq(base)
                + (u32::from(x) << 8 | u32::from(y)) * (if kind & 64 == 0 { 97 } else { 65_537 })
        };
        let end = |host: u8, port: u16| SocketAddr::from((Ipv4Addr::new(10, 0, 0, host), port));
        let (client, server) = (end(1, 40_000 + u16::from(kind >> 1 & 3)), end(2, 80));
        let (src, dst) = if kind & 1 == 0 { (client, server) } else { (server, client) };
        let control = if kind & 32 == 0 { Control::ACK } else { Control(flags) };
        tracker.packet(&Packet {
            frame,
            at: Time(now),
            src,
            dst,
            seq: near(a, b),
            ack: near(c, d),
            control,
            ae: time & 1 != 0,
            wnd: u16::from(flags) << (len % 9),
            len: [0, 1, 1460, 1460, 65_000, u32::from(len)][usize::from(len % 6)],
            options: Options::parse(options).0,
            options_cut: kind & 128 != 0,
            ip_id: (kind & 8 != 0).then_some(u16::from(d)),
            ttl: time,
            damaged: kind & 64 != 0,
            codepoint: [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce]
                [usize::from(kind >> 4 & 3)],
        });
        all.extend(tracker.poll_ended());
    }
    tracker.flush();
    let damaged = tracker.damaged();
    all.extend(tracker.poll_ended());
    all.extend(tracker.finish());
    assert_eq!(all.iter().map(|c| c.packets).sum::<u64>() + damaged, frame);
    all.iter().for_each(check);
});

fn check(connection: &Connection) {
    for flow in [&connection.from_client, &connection.from_server] {
        assert!(flow.retransmissions.len() as u64 <= flow.segments);
        assert!(flow.timeouts.iter().all(|t| t.retransmission < flow.retransmissions.len()));
        assert!(flow.stalls.iter().all(|s| s.start < s.end));
        assert!(flow.stalls.is_sorted_by(|a, b| a.end <= b.start));
    }
}
