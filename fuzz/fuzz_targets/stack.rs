//! Bytes as the fate of every packet between two honest hosts, which must end up with the same
//! streams; or as packets and calls for one host, or for two that share its addresses, which must
//! neither panic, nor send what is no packet, nor keep anything once everybody has gone.
#![no_main]

#[path = "../../crates/ackclock-stack/tests/all/rig/mod.rs"]
mod rig;

use std::net::SocketAddr;

use ackclock_stack::{Ready, SocketId, Stack, StackConfig, TcpConfig};
use ackclock_tcp::connection::CloseReason;
use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{DelayedAck, Registry, SackBlock, SackBlocks, Seq, Span, Time, Timestamps};
use libfuzzer_sys::fuzz_target;
use rig::{App, Fate, MS, World, drain, header, host_config, ip_packet, parse, tcp_packet, v4, v6};

const STRATEGIES: [&str; 8] =
    ["linux", "newreno", "sack", "prr", "rack-tlp", "net-reno", "tahoe", "reno"];

fuzz_target!(|bytes: &[u8]| {
    let Some((head, rest)) = bytes.split_first_chunk::<8>() else { return };
    let config = TcpConfig {
        strategy: Registry::default().parse(STRATEGIES[usize::from(head[1] % 8)]).expect(
            "a \
            preset",
        ),
        send_buffer: 500 << (head[2] % 8),
        receive_buffer: 4000 << (head[2] / 8 % 8),
        sack: head[3] & 1 == 0,
        timestamps: head[3] & 2 == 0,
        window_scaling: head[3] & 4 == 0,
        nagle: head[3] & 8 != 0,
        delayed_ack: match head[3] & 80 {
            0 => DelayedAck::After(Span::from_millis(40)),
            64 => DelayedAck::Linux(Span::ZERO),
            _ => DelayedAck::Off,
        },
        mss: (head[3] & 32 != 0).then_some(u16::from(head[4]) * 6),
        user_timeout: (head[0] & 4 != 0).then_some(Span::from_secs(20)),
        ..TcpConfig::default()
    };
    if head[0] % 2 == 0 { honest(config, head, rest.to_vec()) } else { lies(config, head, rest) }
});

fn honest(config: TcpConfig, head: &[u8; 8], fates: Vec<u8>) {
    let ip = if head[0] & 2 == 0 { v4(1) } else { v6(1) };
    let mut world = World::new(head[0] & 8 == 0);
    world.per_byte = 100;
    let mut fates = fates.into_iter();
    world.fate = Box::new(move |_, packet| match fates.next() {
        Some(n @ 0..24) => Fate::Late(Span::from_millis(u64::from(n))),
        Some(24..80) => Fate::Drop,
        Some(80..100) => Fate::Twice,
        Some(n @ 100..120) => Fate::Corrupt(u32::from(n) * 7919 % (packet.len() as u32 * 8)),
        _ => Fate::Deliver,
    });
    world.listen(ip, config.clone(), 16, |_| App::new(5000, 2, 1));
    // What is tried in vain for too long is given up, as it should be.
    let config = TcpConfig { user_timeout: None, ..config };
    world.connect(ip, config, App::new(u64::from(head[5]) * 300, 1, 2));
    // Each packet may cost a timeout of up to a minute.
    let until = world.now + Span::from_secs(200_000);
    while world.step(until) {}
    let [client, server] = &world.hosts;
    let over = |app: &App| app.is_done() || app.closed.is_some();
    assert!(server.apps.values().all(over), "{:?}", server.apps);
    // Who gives up by its user timeout does not say so (RFC 9293 section 3.10.8), and who only
    // waits for it never finds out.
    let gave_up = |app: &App| app.closed == Some(CloseReason::TimedOut);
    let left = server.accepted == 0 || server.apps.values().any(gave_up);
    assert!(left || client.apps.values().all(over), "{:?}", client.apps);
}

fn lies(config: TcpConfig, head: &[u8; 8], mut bytes: &[u8]) {
    // One stack, or one for each of two queues.
    let mut stacks: Vec<Stack> = (0..1 + usize::from(head[0] & 16 != 0))
        .map(|_| {
            Stack::new(StackConfig {
                half_open: usize::from(head[6] % 4),
                ..host_config(1, head[0] & 8 == 0)
            })
        })
        .collect();
    let listeners: Vec<_> = stacks
        .iter_mut()
        .map(|stack| {
            stack.listen(SocketAddr::new(v4(1), 80), config.clone(), 3).expect("a free port")
        })
        .collect();
    let mut now = Time(1000 * MS);
    // Each with the stack that it is of.
    let mut sockets: Vec<(usize, SocketId)> = Vec::new();
    // What the host last said to each port, for lies that are close to the truth.
    let mut last = [Repr::default(); 4];
    while let Some((&[kind, a, b, c, d, e], rest)) = bytes.split_first_chunk::<6>() {
        bytes = rest;
        let both = u16::from_be_bytes([a, b]);
        match kind % 16 {
            0..=7 => {
                let heard = last[usize::from(c % 4)];
                let control =
                    [Control::SYN, Control::ACK, Control::ACK, Control(d)][usize::from(kind % 4)];
                let mut sack = SackBlocks::NONE;
                for n in 0..e % 4 {
                    let left = heard.seq + u32::from(n) * u32::from(b);
                    sack.push(SackBlock { left, right: left + u32::from(d) * 10 });
                }
                let timestamps = (kind & 16 == 0)
                    .then(|| Timestamps { val: 1000 + u32::from(e), ecr: now.timestamp() });
                let syn = control.contains(Control::SYN);
                let options = Options {
                    sack: if syn { SackBlocks::NONE } else { sack },
                    timestamps: if sack.as_slice().len() == 4 { None } else { timestamps },
                    mss: syn.then_some(both),
                    wscale: (syn && kind & 32 == 0).then_some(e % 15),
                    sack_permitted: syn && kind & 64 == 0,
                };
                let (seq, ack) = (
                    heard.ack + u32::from(both) * u32::from(kind >> 6),
                    heard.seq + u32::from(e) * 100,
                );
                let said = Repr {
                    wnd: both,
                    options,
                    ..header(1000 + u16::from(c % 4), 80, control, seq.0, ack.0)
                };
                let payload = vec![d; usize::from(e) * usize::from(kind >> 5)];
                let packet = tcp_packet(v4(0), v4(1), &said, &payload);
                // What others share comes to either of them.
                let at = usize::from(a >> 7) % stacks.len();
                take(&mut stacks, at, now, &packet, kind & 8 == 0);
            }
            8 => {
                let (raw, rest) = bytes.split_at(usize::from(a).min(bytes.len()));
                bytes = rest;
                let packet = if b & 1 == 0 {
                    raw.to_vec()
                } else {
                    ip_packet(v4(0), v4(1), [1, 6][usize::from(b >> 7)], raw)
                };
                let at = usize::from(b >> 6 & 1) % stacks.len();
                take(&mut stacks, at, now, &packet, b & 2 == 0);
            }
            9 => now = Time(now.0 + u64::from(both) * MS),
            // The first one alone: two that share their addresses would take the same port.
            10 => {
                let to = SocketAddr::new(v4(0), 1000);
                sockets
                    .extend(stacks[0].connect(now, to, config.clone()).map(|socket| (0, socket)));
            }
            11 => {
                let at = usize::from(a) % stacks.len();
                sockets.extend(stacks[at].accept(listeners[at]).map(|socket| (at, socket)));
            }
            op => {
                let Some(&(at, socket)) = sockets.get(usize::from(a) % sockets.len().max(1)) else {
                    continue;
                };
                let stack = &mut stacks[at];
                match (op, b % 4) {
                    (12, _) => drop(stack.write(now, socket, &vec![c; usize::from(both)])),
                    (13, _) => drop(stack.read(now, socket, &mut vec![0; usize::from(both)])),
                    (14, 0) => stack.close(now, socket),
                    (14, 1) => stack.abort(now, socket),
                    (15, 0) => drop(stack.await_acked(socket, u64::from(both))),
                    _ => drop(stack.shutdown(now, socket)),
                }
            }
        }
        for stack in &mut stacks {
            stack.on_deadline(now);
            heed(stack, now, &mut last);
        }
    }
    for (at, socket) in sockets {
        stacks[at].close(now, socket);
    }
    for (mut stack, listener) in stacks.into_iter().zip(listeners) {
        stack.unlisten(now, listener);
        heed(&mut stack, now, &mut last);
        // Everybody is silent.
        let (mut now, until) = (now, now + Span::from_secs(2000));
        while stack.next_deadline() <= until {
            now = now.max(stack.next_deadline());
            stack.on_deadline(now);
            heed(&mut stack, now, &mut last);
        }
        assert_eq!((stack.connections(), stack.next_deadline()), (0, Time::NEVER));
    }
}

/// A packet comes to the queue of one of the stacks. Those of several offer it to each other, and
/// the one to which it came answers what nobody takes.
fn take(stacks: &mut [Stack], at: usize, now: Time, packet: &[u8], trusted: bool) {
    let count = stacks.len();
    for turn in 0..count {
        let stack = &mut stacks[(at + turn) % count];
        let seen = |stack: &Stack| (*stack.stats(), stack.connections(), stack.next_deadline());
        let before = seen(stack);
        if count > 1 && stack.offer(now, packet, trusted) {
            return;
        }
        // What it does not take it neither counts, keeps nor answers.
        assert_eq!(seen(stack), before);
        assert!(drain(stack, now).is_empty() && stack.poll_ready().is_none());
    }
    stacks[at].on_packet(now, packet, trusted);
}

/// Takes everything that the host has to say.
fn heed(stack: &mut Stack, now: Time, last: &mut [Repr; 4]) {
    for packet in drain(stack, now) {
        assert!(packet.len() <= 1500);
        if packet[0] >> 4 == 4 && packet[9] == 6 {
            let (said, payload) = parse(&packet);
            let end =
                said.seq + payload.len() as u32 + u32::from(said.control.contains(Control::SYN));
            last[usize::from(said.dst_port % 4)] = Repr { seq: Seq(end.0), ..said };
        }
    }
    while let Some(ready) = stack.poll_ready() {
        if let Ready::Socket(socket) = ready {
            assert!(stack.status(socket).is_ok());
        }
    }
}
