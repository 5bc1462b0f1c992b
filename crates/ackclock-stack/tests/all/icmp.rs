//! ICMP: echoes, errors about segments of ours, and errors that are not believed.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

use ackclock_stack::{SocketId, StackConfig, TcpConfig};
use ackclock_tcp::connection::{CloseReason, TcpState};
use ackclock_tcp::wire::ip::{ICMP, ICMPV6};
use ackclock_tcp::wire::{Checksum, PseudoHeader};
use ackclock_tcp::{Span, Time};

use crate::rig::{App, Fate, MS, World, drain, host_config, ip_packet, v4, v6};

/// An ICMP message in an IP packet; `types` are those of ICMP and ICMPv6.
fn message(src: IpAddr, dst: IpAddr, types: [(u8, u8); 2], rest: u32, quoted: &[u8]) -> Vec<u8> {
    let (kind, code) = types[usize::from(src.is_ipv6())];
    let mut bytes = [&[kind, code, 0, 0][..], &rest.to_be_bytes(), quoted].concat();
    let sum = match (src, dst) {
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            PseudoHeader::V6 { src, dst }.of(ICMPV6, bytes.len() as u32)
        }
        _ => Checksum::default(),
    };
    let checksum = sum.then(&bytes).value();
    bytes[2..4].copy_from_slice(&checksum.to_be_bytes());
    ip_packet(src, dst, if src.is_ipv4() { ICMP } else { ICMPV6 }, &bytes)
}

const ECHO: [(u8, u8); 2] = [(8, 0), (128, 0)];
const ECHO_REPLY: [(u8, u8); 2] = [(0, 0), (129, 0)];
const PORT_UNREACHABLE: [(u8, u8); 2] = [(3, 3), (1, 4)];
const HOST_UNREACHABLE: [(u8, u8); 2] = [(3, 1), (1, 3)];
const TOO_BIG: [(u8, u8); 2] = [(3, 4), (2, 0)];

/// A router on the way.
fn router(v6: bool) -> IpAddr {
    if v6 { [0xfd00, 0, 0, 0, 0, 0, 0, 0x99].into() } else { [10, 0, 0, 99].into() }
}

#[test]
fn echoes_are_answered() {
    for ip in [v4, v6] {
        let mut stack = ackclock_stack::Stack::new(host_config(1, true));
        let now = Time(MS);
        for len in [0, 1, 56, 1400] {
            let data: Vec<u8> = (0..len).map(|n| n as u8).collect();
            stack.on_packet(now, &message(ip(0), ip(1), ECHO, 0x1234_0001, &data), false);
            assert_eq!(
                drain(&mut stack, now),
                [message(ip(1), ip(0), ECHO_REPLY, 0x1234_0001, &data)]
            );
        }
        // Too large for the link, damaged, from everybody, for somebody else, an answer.
        stack.on_packet(now, &message(ip(0), ip(1), ECHO, 1, &[0; 1473]), false);
        let mut damaged = message(ip(0), ip(1), ECHO, 1, b"abc");
        *damaged.last_mut().unwrap() ^= 1;
        stack.on_packet(now, &damaged, false);
        let everybody: IpAddr =
            if ip(0).is_ipv4() { [224, 0, 0, 1].into() } else { "ff02::1".parse().unwrap() };
        stack.on_packet(now, &message(everybody, ip(1), ECHO, 1, b"abc"), false);
        stack.on_packet(now, &message(ip(0), everybody, ECHO, 1, b"abc"), false);
        stack.on_packet(now, &message(ip(0), ip(1), ECHO_REPLY, 1, b"abc"), false);
        assert_eq!(drain(&mut stack, now).len(), 0);
        let stats = stack.stats();
        assert_eq!((stats.packets_in, stats.malformed, stats.ignored), (9, 2, 1));
    }
}

/// What a kernel sends by itself when a device comes up: a router solicitation, a report of groups
/// with its router alert, a datagram, a neighbour solicitation for us.
#[test]
fn what_is_for_others_is_no_malformed_packet() {
    let mut stack = ackclock_stack::Stack::new(host_config(1, true));
    let now = Time(MS);
    let [kernel, unspecified, routers, mld] =
        ["fe80::1", "::", "ff02::2", "ff02::16"].map(|text| text.parse::<IpAddr>().unwrap());
    let icmp = |kind| [(0, 0), (kind, 0)];
    let solicitation = message(kernel, routers, icmp(133), 0, b"");
    let mut report = message(unspecified, mld, icmp(143), 1, &[4, 0, 0, 0]);
    // Hop-by-hop options before the report: a router alert (RFC 2711) and padding.
    let hop_by_hop = [ICMPV6, 0, 5, 2, 0, 0, 1, 0];
    report.splice(40..40, hop_by_hop);
    report[6] = 0;
    report[5] += hop_by_hop.len() as u8;
    let datagram = ip_packet(v6(0), v6(1), 17, &[0; 8]);
    let neighbour = message(v6(0), v6(1), icmp(135), 0, &[0; 16]);
    for (packet, ignored) in [(solicitation, 1), (report, 2), (datagram, 3), (neighbour, 3)] {
        stack.on_packet(now, &packet, false);
        assert_eq!(stack.stats().ignored, ignored);
    }
    assert_eq!((drain(&mut stack, now).len(), stack.stats().malformed), (0, 0));
    // The same cut off, and from nobody to us.
    stack.on_packet(now, &message(kernel, routers, icmp(133), 0, b"")[..39], false);
    stack.on_packet(now, &message(unspecified, v6(1), icmp(133), 0, b""), false);
    assert_eq!((stack.stats().ignored, stack.stats().malformed), (3, 2));
}

/// A world in which host 0 connects, and the log of what it sends.
fn connecting(ip: IpAddr, config: TcpConfig) -> (World, SocketId, Rc<RefCell<Vec<Vec<u8>>>>) {
    let mut world = World::new(false);
    let log = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&log);
    world.fate = Box::new(move |host, packet| {
        if host == 0 {
            seen.borrow_mut().push(packet.to_vec());
        }
        Fate::Drop
    });
    let client = world.connect(ip, config, App { shuts: false, ..App::new(10_000, 1, 2) });
    (world, client, log)
}

#[test]
fn a_hard_error_ends_an_attempt_to_connect() {
    for ip in [v4(1), v6(1)] {
        let (mut world, client, log) = connecting(ip, TcpConfig::default());
        let syn = log.borrow()[0].clone();
        let (router, us) = (router(ip.is_ipv6()), if ip.is_ipv6() { v6(0) } else { v4(0) });
        let quoted = &syn[..if ip.is_ipv6() { 48 } else { 28 }];
        // Soft ones do not; nor what quotes another sequence number, other ports, or another host's
        // packet.
        world.inject(0, &message(router, us, HOST_UNREACHABLE, 0, quoted));
        for at in [quoted.len() - 1, quoted.len() - 5, quoted.len() - 7, quoted.len() - 9] {
            let mut forged = quoted.to_vec();
            forged[at] ^= 1;
            world.inject(0, &message(router, us, PORT_UNREACHABLE, 0, &forged));
        }
        world.inject(0, &message(router, us, PORT_UNREACHABLE, 0, &quoted[..quoted.len() - 1]));
        assert_eq!(world.status(0, client).state, TcpState::SynSent);
        world.inject(0, &message(router, us, PORT_UNREACHABLE, 0, quoted));
        assert_eq!(world.app(0, client).closed, Some(CloseReason::Unreachable));
        assert_eq!(world.hosts[0].stack.connections(), 0);
    }
}

/// RFC 5927 section 5.2: an established connection survives them.
#[test]
fn hard_errors_do_not_end_established_connections() {
    let mut world = World::new(false);
    let log = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&log);
    world.fate = Box::new(move |host, packet| {
        if host == 0 {
            seen.borrow_mut().push(packet.to_vec());
        }
        Fate::Deliver
    });
    world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(0, 2, 1));
    world.connect(v4(1), TcpConfig::default(), App::new(200_000, 1, 2));
    world.run_for(Span::from_millis(11));
    for _ in 0..200 {
        world.step(Time::NEVER);
        let last = log.borrow().last().unwrap().clone();
        world.inject(0, &message(router(false), v4(0), PORT_UNREACHABLE, 0, &last[..28]));
    }
    world.run();
}

/// A link in the middle takes less from some moment on; the router says so, or, being old, only
/// that it was too much.
#[test]
fn a_path_that_becomes_narrower() {
    for (ip, mtu, told) in [
        (v4(1), 1000, 1000),
        (v4(1), 1006, 0),
        (v4(1), 576, 576),
        (v4(1), 552, 552),
        (v6(1), 1280, 1280),
    ] {
        let us = if ip.is_ipv6() { v6(0) } else { v4(0) };
        let fixed = if ip.is_ipv6() { 60 } else { 40 };
        let mut world = World::new(true);
        world.per_byte = 80;
        let narrow = Rc::new(Cell::new(usize::MAX));
        let dropped = Rc::new(RefCell::new(Vec::new()));
        let largest = Rc::new(Cell::new(0));
        let (limit, log, most) = (Rc::clone(&narrow), Rc::clone(&dropped), Rc::clone(&largest));
        world.fate = Box::new(move |host, packet| {
            if host == 0 && packet.len() > limit.get() {
                log.borrow_mut().push(packet.to_vec());
                return Fate::Drop;
            }
            if host == 0 {
                most.set(most.get().max(packet.len()));
            }
            Fate::Deliver
        });
        world.listen(ip, TcpConfig::default(), 16, |_| App::new(0, 2, 1));
        let client = world.connect(ip, TcpConfig::default(), App::new(2_000_000, 1, 2));
        world.run_for(Span::from_millis(100));
        assert_eq!(world.hosts[0].stack.sender(client).unwrap().state().mss, 1500 - fixed - 12);
        narrow.set(mtu);
        let until = world.now + Span::from_secs(60);
        let done = |world: &World| world.hosts[1].apps.values().all(|app| app.read == 2_000_000);
        while !done(&world) {
            assert!(world.step(until));
            for packet in dropped.take() {
                let quoted = &packet[..if ip.is_ipv6() { 48 } else { 28 }];
                let at = world.now + Span::from_millis(3);
                world.push(at, 0, message(router(ip.is_ipv6()), us, TOO_BIG, told, quoted));
            }
        }
        let mss = mtu as u64 - fixed - 12;
        assert_eq!(world.hosts[0].stack.sender(client).unwrap().state().mss, mss);
        if mtu < 576 {
            // That is for this connection alone: others begin with 576.
            narrow.set(576);
            largest.set(0);
            world.connect(ip, TcpConfig::default(), App::new(50_000, 1, 2));
            world.run();
            assert_eq!(largest.get(), 576);
            assert!(dropped.borrow().is_empty());
            continue;
        }
        // New connections know it from the beginning, for ten minutes.
        largest.set(0);
        world.connect(ip, TcpConfig::default(), App::new(50_000, 1, 2));
        world.run();
        assert_eq!(largest.get(), mtu);
        assert!(dropped.borrow().is_empty());
        world.run_for(Span::from_secs(700));
        narrow.set(usize::MAX);
        largest.set(0);
        world.connect(ip, TcpConfig::default(), App::new(50_000, 1, 2));
        world.run();
        assert_eq!(largest.get(), 1500);
    }
}

/// A link in the middle takes less than 552 bytes. As in Linux packets have 552 then, and its
/// router may fragment them, for which each has a number of its own; another one, being old, does
/// not say how much it takes. A later connection finds out by itself.
#[test]
fn a_path_that_takes_less_than_552_bytes() {
    for (mtu, told, offload) in
        [(296, 296, false), (296, 296, true), (500, 0, false), (68, 68, true)]
    {
        let mut world = World::new(offload);
        let dropped = Rc::new(RefCell::new(Vec::new()));
        let fragmented = Rc::new(RefCell::new(Vec::new()));
        let (log, pieces) = (Rc::clone(&dropped), Rc::clone(&fragmented));
        world.fate = Box::new(move |host, packet| {
            let [id, flags] = [4, 6].map(|at| u16::from_be_bytes([packet[at], packet[at + 1]]));
            if host == 0 && flags == 0 {
                assert!(packet.len() <= 552, "{}", packet.len());
                pieces.borrow_mut().push(id);
            } else if host == 0 && packet.len() > mtu {
                log.borrow_mut().push(packet.to_vec());
                return Fate::Drop;
            }
            Fate::Deliver
        });
        world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(0, 2, 1));
        for connections in 1..=2 {
            let client = world.connect(v4(1), TcpConfig::default(), App::new(200_000, 1, 2));
            let until = world.now + Span::from_secs(60);
            let done = |world: &World| {
                let apps = world.hosts[1].apps.values();
                apps.filter(|app| app.read == 200_000).count()
            };
            while done(&world) < connections {
                assert!(world.step(until));
                for packet in dropped.take() {
                    let at = world.now + Span::from_millis(3);
                    let too_big = message(router(false), v4(0), TOO_BIG, told, &packet[..28]);
                    world.push(at, 0, too_big);
                }
            }
            let sender = world.hosts[0].stack.sender(client).unwrap();
            assert_eq!(sender.state().mss, 552 - 40 - 12);
            world.run();
            let ids = fragmented.take();
            assert!(ids.len() >= 200_000 / 500, "{}", ids.len());
            let follow = |pair: &[u16]| pair[1] == pair[0].wrapping_add(1);
            assert!(ids.windows(2).all(follow), "{ids:?}");
        }
    }
}

/// RFC 5927 section 7: what nobody has reason to say is not believed.
#[test]
fn false_mtus_are_not_believed() {
    for ip in [v4(1), v6(1)] {
        let (us, quote) = if ip.is_ipv6() { (v6(0), 48) } else { (v4(0), 28) };
        let mut world = World::new(false);
        let log = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&log);
        let deliver = Rc::new(Cell::new(true));
        let delivers = Rc::clone(&deliver);
        world.fate = Box::new(move |host, packet| {
            if host == 0 {
                seen.borrow_mut().push(packet.to_vec());
            }
            if delivers.get() { Fate::Deliver } else { Fate::Drop }
        });
        world.listen(ip, TcpConfig::default(), 16, |_| App::new(0, 2, 1));
        let client = world.connect(
            ip,
            TcpConfig::default(),
            App { shuts: false, ..App::new(100_000, 1, 2) },
        );
        world.run_for(Span::from_secs(1));
        let mss = |world: &World| world.hosts[0].stack.sender(client).unwrap().state().mss;
        let full = mss(&world);
        let router = router(ip.is_ipv6());
        // All of this was acknowledged long ago.
        for packet in log.take() {
            world.inject(0, &message(router, us, TOO_BIG, 1300, &packet[..quote]));
        }
        assert_eq!(mss(&world), full);
        deliver.set(false);
        let now = world.now;
        world.hosts[0].stack.write(now, client, &[0; 5000]).unwrap();
        world.drain(0);
        let packet = log.borrow()[0].clone();
        let mut forged = packet.clone();
        // Not sent yet.
        forged[quote - 3] ^= 1;
        world.inject(0, &message(router, us, TOO_BIG, 1300, &forged[..quote]));
        for mtu in [1, if ip.is_ipv6() { 1279 } else { 67 }, 1500, 9000, 0xffff] {
            world.inject(0, &message(router, us, TOO_BIG, mtu, &packet[..quote]));
        }
        assert_eq!(mss(&world), full);
        world.inject(0, &message(router, us, TOO_BIG, 1300, &packet[..quote]));
        assert_eq!(mss(&world), full - 200);
        // It does not grow again by word of a router.
        world.inject(0, &message(router, us, TOO_BIG, 1400, &packet[..quote]));
        assert_eq!(mss(&world), full - 200);
    }
}

/// A jumbo link: the SYN says so, and a peer on Ethernet keeps segments small.
#[test]
fn each_side_says_what_its_link_takes() {
    let mut configs = [0, 1].map(|host| host_config(host, true));
    configs[0] = StackConfig { mtu: 9000, ..configs[0].clone() };
    let mut world = World::with(configs);
    world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(50_000, 2, 1));
    let client = world.connect(v4(1), TcpConfig::default(), App::new(50_000, 1, 2));
    world.run();
    assert_eq!(world.hosts[0].stack.sender(client).unwrap().state().mss, 1448);
    let server = *world.hosts[1].apps.keys().next().unwrap();
    assert_eq!(world.hosts[1].stack.sender(server).unwrap().state().mss, 1448);
    // The least that is allowed, whatever is asked.
    let tiny = ackclock_stack::Stack::new(StackConfig {
        mtu: 100,
        addresses: vec![v4(0)],
        ..StackConfig::default()
    });
    assert_eq!(tiny.config().mtu, 576);
    let tiny = ackclock_stack::Stack::new(StackConfig { mtu: 100, ..host_config(0, false) });
    assert_eq!(tiny.config().mtu, 1280);
}

/// Errors come by another way than the segments that they are about: where stacks share an address,
/// only the one with the connection takes them.
#[test]
fn an_error_is_for_the_stack_that_has_the_connection() {
    for ip in [v4, v6] {
        let [mut owner, mut other] =
            [(); 2].map(|()| ackclock_stack::Stack::new(host_config(0, false)));
        let now = Time(MS);
        let socket = owner.connect(now, (ip(1), 80).into(), TcpConfig::default()).unwrap();
        let syn = drain(&mut owner, now).pop_front().unwrap();
        let quoted = &syn[..if ip(1).is_ipv6() { 48 } else { 28 }];
        for types in [HOST_UNREACHABLE, TOO_BIG, PORT_UNREACHABLE] {
            let error = message(router(ip(1).is_ipv6()), ip(0), types, 1300, quoted);
            assert!(!other.offer(now, &error, false));
            assert!(owner.offer(now, &error, false));
        }
        assert_eq!((other.stats().packets_in, owner.stats().packets_in), (0, 3));
        assert_eq!(owner.status(socket).map(|s| s.reason), Ok(Some(CloseReason::Unreachable)));
        assert!(other.offer(now, &message(ip(1), ip(0), ECHO, 1, b""), false));
    }
}
