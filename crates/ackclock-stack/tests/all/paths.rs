//! What paths take, where no ICMP tells of it, and what is known of them by several stacks.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

use ackclock_stack::{SocketId, StackConfig, TcpConfig};
use ackclock_tcp::{Registry, Span, Time};

use crate::rig::{App, Fate, World, drain, host_config, ip_addresses, v4, v6};

/// A world in which packets of host 0 above `most` bytes vanish, and the longest that did not.
fn with_hole(most: &Rc<Cell<usize>>) -> (World, Rc<Cell<usize>>) {
    let mut world = World::new(true);
    world.per_byte = 80;
    let longest = Rc::new(Cell::new(0));
    let (limit, log) = (Rc::clone(most), Rc::clone(&longest));
    world.fate = Box::new(move |host, packet| {
        if host == 0 && packet.len() > limit.get() {
            return Fate::Drop;
        }
        if host == 0 {
            log.set(log.get().max(packet.len()));
        }
        Fate::Deliver
    });
    (world, longest)
}

fn sends(world: &mut World, ip: IpAddr, strategy: &str, bytes: u64) -> SocketId {
    let strategy = Registry::default().parse(strategy).unwrap();
    let config = TcpConfig { strategy, ..TcpConfig::default() };
    world.connect(ip, config, App::new(bytes, 1, 2))
}

fn done(world: &World, bytes: u64) -> bool {
    world.hosts[1].apps.values().any(|app| app.read == bytes)
}

/// 1024 bytes of TCP payload without options are tried first, and then what every path takes.
#[test]
fn large_packets_vanish() {
    for strategy in ["linux", "newreno", "sack", "rack-tlp", "last-mile", "bbr3"] {
        for (ip, mtu, found) in
            [(v4(1), 1400, 1064), (v4(1), 1000, 576), (v6(1), 1499, 1280), (v6(1), 1280, 1280)]
        {
            let hole = Rc::new(Cell::new(mtu));
            let (mut world, longest) = with_hole(&hole);
            world.listen(ip, TcpConfig::default(), 16, |_| App::new(0, 2, 1));
            let client = sends(&mut world, ip, strategy, 2_000_000);
            let begin = world.now;
            while !done(&world, 2_000_000) {
                assert!(world.step(begin + Span::from_secs(60)), "{strategy} {ip} {mtu}");
            }
            let stack = &world.hosts[0].stack;
            let headers = if ip.is_ipv4() { 52 } else { 72 };
            let mss = stack.sender(client).unwrap().state().mss;
            assert_eq!(
                (mss + headers, stack.stats().black_holes),
                (found, 1),
                "{strategy} {ip} {mtu}"
            );
            // Who connects next knows of it.
            longest.set(0);
            let again = world.now;
            sends(&mut world, ip, strategy, 500_000);
            while !done(&world, 500_000) {
                assert!(world.step(again + Span::from_secs(3)), "{strategy} {ip} {mtu}");
            }
            let what = (longest.get() as u64, world.hosts[0].stack.stats().black_holes);
            assert_eq!(what, (found, 1), "{strategy} {ip} {mtu}");
            // After ten minutes the path is tried for more (RFC 8201 section 5.3).
            hole.set(1500);
            let times = [(begin, 599, found), (again, 601, 1500)];
            for (from, after, most) in times {
                world.run_for((from + Span::from_secs(after)).since(world.now));
                longest.set(0);
                sends(&mut world, ip, strategy, 50_000);
                world.run_for(Span::from_millis(500));
                assert_eq!(longest.get() as u64, most, "{strategy} {ip} {mtu} {after}");
            }
        }
    }
}

/// A connection that has found a black hole looks after ten minutes whether there is still one: a
/// probe that is lost costs no timeout and no recovery, one that arrives makes segments large.
#[test]
fn an_open_connection_tries_large_packets_again() {
    for strategy in ["linux", "sack", "rack-tlp", "bbr3"] {
        let hole = Rc::new(Cell::new(1000));
        let (mut world, longest) = with_hole(&hole);
        // 80 kbit/s, and little in flight, so that little is simulated.
        world.per_byte = 100_000;
        let config = TcpConfig { receive_buffer: 16_384, ..TcpConfig::default() };
        world.listen(v4(1), config, 16, |_| App::new(0, 2, 1));
        let client = sends(&mut world, v4(1), strategy, 1_000_000_000);
        let losses = |world: &World| {
            let sender = world.hosts[0].stack.sender(client).unwrap();
            (sender.state().mss, sender.stats().recoveries, sender.stats().timeouts)
        };
        world.run_for(Span::from_secs(590));
        longest.set(0);
        let (mss, recoveries, timeouts) = losses(&world);
        assert_eq!(mss, 524, "{strategy}");
        // The probe of 1500 bytes vanishes, and goes again in three pieces.
        let again =
            |world: &World| world.hosts[0].stack.sender(client).unwrap().stats().retransmissions;
        let before = again(&world);
        world.run_for(Span::from_secs(100));
        assert_eq!(losses(&world), (524, recoveries, timeouts), "{strategy}");
        assert_eq!(again(&world), before + 3, "{strategy}");
        hole.set(1500);
        world.run_for(Span::from_secs(480));
        assert_eq!((losses(&world).0, longest.get()), (524, 576), "{strategy}");
        world.run_for(Span::from_secs(130));
        assert_eq!(losses(&world), (1448, recoveries, timeouts), "{strategy}");
        assert_eq!((longest.get(), again(&world)), (1500, before + 3), "{strategy}");
    }
}

/// A connection that begins with what an earlier one has found tries a large packet, too, once that
/// is as old as ten minutes.
#[test]
fn a_connection_that_begins_narrow_tries_large_packets() {
    for (most, mss) in [(1000, 524), (1500, 1448)] {
        let hole = Rc::new(Cell::new(1000));
        let (mut world, longest) = with_hole(&hole);
        world.per_byte = 100_000;
        let config = TcpConfig { receive_buffer: 16_384, ..TcpConfig::default() };
        world.listen(v4(1), config, 16, |_| App::new(0, 2, 1));
        sends(&mut world, v4(1), "linux", 20_000);
        world.run_for(Span::from_secs(300));
        assert_eq!(world.hosts[0].stack.stats().black_holes, 1);
        hole.set(most);
        longest.set(0);
        let client = sends(&mut world, v4(1), "linux", 1_000_000_000);
        world.run_for(Span::from_secs(290));
        assert_eq!(longest.get(), 576);
        world.run_for(Span::from_secs(100));
        let sender = world.hosts[0].stack.sender(client).unwrap();
        assert_eq!((sender.state().mss, sender.stats().timeouts), (mss, 0));
        assert_eq!(longest.get() as u64, mss + 52);
    }
}

/// Everything is lost for a while, again and again, as where a mobile path is handed over.
#[test]
fn outages_are_no_black_holes() {
    for strategy in ["linux", "newreno", "sack", "rack-tlp", "bbr3"] {
        let most = Rc::new(Cell::new(usize::MAX));
        let (mut world, _) = with_hole(&most);
        world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(0, 2, 1));
        let client = sends(&mut world, v4(1), strategy, 200_000_000);
        for seconds in [5, 10, 20] {
            most.set(usize::MAX);
            let acked = |world: &World| world.hosts[0].stack.sender(client).unwrap().acked();
            let next = acked(&world) + 1_000_000;
            while acked(&world) < next {
                world.step(Time::NEVER);
            }
            most.set(0);
            world.run_for(Span::from_secs(seconds));
        }
        let sender = world.hosts[0].stack.sender(client).unwrap();
        assert!(sender.stats().timeouts >= 9, "{strategy}: {}", sender.stats().timeouts);
        assert_eq!(sender.state().mss, 1448, "{strategy}");
        assert_eq!(world.hosts[0].stack.stats().black_holes, 0, "{strategy}");
    }
}

/// Where nobody looks for it, it stays.
#[test]
fn a_black_hole_that_is_not_looked_for() {
    let (mut world, _) = with_hole(&Rc::new(Cell::new(1400)));
    world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(0, 2, 1));
    let config = TcpConfig { find_black_holes: false, ..TcpConfig::default() };
    let client = world.connect(v4(1), config, App::new(100_000, 1, 2));
    world.run_for(Span::from_secs(100));
    assert_eq!(world.hosts[0].stack.sender(client).unwrap().acked(), 0);
}

/// A connection has one flow label from its first packet to its last, and each another one; the
/// codepoint is on all packets.
#[test]
fn what_headers_say_beside() {
    for ip in [v4(1), v6(1)] {
        let configs = [0, 1].map(|host| StackConfig { dscp: 46, ..host_config(host, false) });
        let mut world = World::with(configs);
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&seen);
        world.fate = Box::new(move |host, packet| {
            log.borrow_mut().push((host, packet[..8].to_vec()));
            Fate::Deliver
        });
        world.listen(ip, TcpConfig::default(), 16, |_| App::new(10_000, 2, 1));
        let mut labels = Vec::new();
        for _ in 0..2 {
            world.connect(ip, TcpConfig::default(), App::new(10_000, 1, 2));
            world.run();
            world.close_all();
            for (host, header) in seen.take() {
                let word = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
                let class = if ip.is_ipv4() { header[1] } else { (word >> 20) as u8 };
                assert_eq!(class >> 2, 46);
                labels.push((host, word & 0x000f_ffff));
            }
        }
        if ip.is_ipv6() {
            labels.sort_unstable();
            labels.dedup();
            assert_eq!(labels.len(), 4, "{labels:?}");
            assert!(labels.iter().all(|(_, label)| *label > 0));
        }
        // Who listens nowhere is told so with the same codepoint.
        let mut stack =
            ackclock_stack::Stack::new(StackConfig { dscp: 8, ..host_config(1, false) });
        let (src, dst) = if ip.is_ipv4() { (v4(0), v4(1)) } else { (v6(0), v6(1)) };
        let syn = crate::rig::header(1, 81, ackclock_tcp::wire::Control::SYN, 0, 0);
        let packet = crate::rig::tcp_packet(src, dst, &syn, &[]);
        stack.on_packet(world.now, &packet, false);
        let reset = drain(&mut stack, world.now).pop_front().unwrap();
        assert_eq!(ip_addresses(&reset), (dst, src));
        let class = if ip.is_ipv4() { reset[1] } else { reset[0] << 4 | reset[1] >> 4 };
        assert_eq!(class >> 2, 8);
    }
}
