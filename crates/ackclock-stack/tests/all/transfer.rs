//! Two hosts in virtual time: whatever the wire does, the bytes arrive, once each and in order.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

use ackclock_stack::{Error, Stack, TcpConfig};
use ackclock_tcp::connection::{CloseReason, TcpState};
use ackclock_tcp::wire::Control;
use ackclock_tcp::{Registry, Span, Time};
use proptest::prelude::*;

use crate::rig::{self, App, Fate, World, parse, v4, v6};

/// Numbers that look random, the same ones each time.
fn lots(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// A wire that harms one packet in `one_in` of each kind.
fn bad_wire(seed: u64, one_in: u64) -> impl FnMut(usize, &[u8]) -> Fate {
    let mut lot = lots(seed);
    move |_, _| match lot(one_in * 4) {
        0 | 1 => Fate::Drop,
        2 => Fate::Twice,
        3 => Fate::Late(Span::from_micros(100 + lot(20_000))),
        4 => Fate::Corrupt(lot(12_000) as u32),
        _ => Fate::Deliver,
    }
}

/// Everything has closed and is forgotten; nothing was counted twice.
fn assert_gone(world: &mut World, connections: u64) {
    world.close_all();
    world.run_for(Span::from_secs(200));
    for host in &world.hosts {
        assert_eq!((host.stack.connections(), host.stack.lingering()), (0, 0));
        assert_eq!(
            (host.stack.stats().opened, host.stack.stats().closed),
            (connections, connections)
        );
        assert_eq!(host.stack.next_deadline(), Time::NEVER);
    }
}

#[test]
fn both_send_and_close() {
    for offload in [false, true] {
        for ip in [v4(1), v6(1)] {
            let mut world = World::new(offload);
            world.listen(ip, TcpConfig::default(), 16, |_| App::new(300_000, 2, 1));
            let client = world.connect(ip, TcpConfig::default(), App::new(5_000_000, 1, 2));
            world.run();
            assert_eq!(world.app(0, client).read, 300_000);
            let server = *world.hosts[1].apps.keys().next().unwrap();
            assert_eq!(world.app(1, server).read, 5_000_000);
            assert_gone(&mut world, 1);
            for host in &world.hosts {
                assert_eq!(
                    (host.stack.stats().malformed, host.stack.stats().bad_checksums),
                    (0, 0)
                );
            }
        }
    }
}

/// The packets on the wire are the same whether the stack or the device cuts segments and computes
/// checksums.
#[test]
fn offload_changes_no_byte_on_the_wire() {
    // After a timeout, Tahoe's retransmissions run into new data.
    let config =
        TcpConfig { strategy: Registry::default().parse("tahoe").unwrap(), ..TcpConfig::default() };
    let run = |offload| {
        let log = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&log);
        let mut harm = bad_wire(7, 100);
        let mut world = World::new(offload);
        world.per_byte = 80;
        world.fate = Box::new(move |host, packet| {
            seen.borrow_mut().push((host, packet.to_vec()));
            harm(host, packet)
        });
        world.listen(v4(1), config.clone(), 16, |_| App::new(300_000, 2, 1));
        world.connect(v4(1), config.clone(), App::new(2_000_000, 1, 2));
        world.run();
        let packets =
            world.hosts.iter().map(|host| host.stack.stats().packets_out).collect::<Vec<_>>();
        (log.take(), packets, world.hosts.map(|host| host.sent))
    };
    let (plain, plain_out, plain_sent) = run(false);
    let (offloaded, offloaded_out, offloaded_sent) = run(true);
    // What is said of a packet is true of each of its segments.
    assert!(plain_sent == offloaded_sent);
    assert_eq!(plain.len() as u64, plain_out.iter().sum::<u64>());
    assert!(plain == offloaded);
    assert!(offloaded_out[0] < plain_out[0], "{offloaded_out:?} {plain_out:?}");
}

#[test]
fn nobody_listens() {
    let mut world = World::new(false);
    let client = world.connect(v4(1), TcpConfig::default(), App::new(1, 1, 2));
    world.run_for(Span::from_secs(1));
    assert_eq!(world.app(0, client).closed, Some(CloseReason::Refused));
    assert_eq!(world.status(0, client).state, TcpState::Closed);
    assert_eq!(world.hosts[1].stack.stats().resets_out, 1);
    assert_eq!(world.hosts[0].stack.connections(), 0);
    let now = world.now;
    assert_eq!(
        world.hosts[0].stack.write(now, client, b"x"),
        Err(Error::Closed(CloseReason::Refused))
    );
    world.close_all();
    assert_eq!(world.hosts[0].stack.write(now, client, b"x"), Err(Error::NoSocket));
}

/// The client shuts down at once; the server answers for a long time after that.
#[test]
fn a_half_closed_connection_carries_data_the_other_way() {
    let mut world = World::new(true);
    world.listen(v4(1), TcpConfig::default(), 16, |_| App { shuts: false, ..App::new(0, 2, 1) });
    let client = world.connect(v4(1), TcpConfig::default(), App::new(10, 1, 2));
    world.run_for(Span::from_secs(1));
    let server = *world.hosts[1].apps.keys().next().unwrap();
    assert_eq!(world.status(0, client).state, TcpState::FinWait2);
    assert_eq!(world.status(1, server).state, TcpState::CloseWait);
    assert!(world.app(1, server).at_end);
    // FIN-WAIT-2 does not time out while the application holds the socket.
    world.run_for(Span::from_secs(300));
    assert_eq!(world.status(0, client).state, TcpState::FinWait2);
    let app = world.hosts[1].apps.get_mut(&server).unwrap();
    (app.writes, app.shuts) = (1_000_000, true);
    let now = world.now;
    // Nobody wakes an application that was never refused: it acts by itself.
    let first: Vec<u8> = (0..100).map(|position| rig::pattern(2, position)).collect();
    assert_eq!(world.hosts[1].stack.write(now, server, &first), Ok(100));
    world.hosts[1].apps.get_mut(&server).unwrap().written = 100;
    world.act(1, server);
    world.run();
    assert_eq!(world.app(0, client).read, 1_000_000);
    assert_gone(&mut world, 1);
}

#[test]
fn two_thousand_connections_at_once() {
    let config = TcpConfig::default();
    let mut configs = [rig::host_config(0, true), rig::host_config(1, true)];
    configs[1].half_open = 4096;
    let mut world = World::with(configs);
    world.per_byte = 1;
    world.fate = Box::new(bad_wire(3, 200));
    world.listen(v4(1), config.clone(), 4096, |_| App::new(3_000, 5, 4));
    for _ in 0..2000 {
        world.connect(v4(1), config.clone(), App::new(20_000, 4, 5));
    }
    world.run();
    assert_eq!(world.hosts[1].accepted, 2000);
    assert_eq!(world.hosts[1].apps.values().map(|app| app.read).sum::<u64>(), 2000 * 20_000);
    assert_eq!(world.hosts[0].apps.values().map(|app| app.read).sum::<u64>(), 2000 * 3_000);
    assert_gone(&mut world, 2000);
}

/// Sockets with much to send take turns: of a hundred equal ones none is far ahead.
#[test]
fn turns_are_fair() {
    for offload in [false, true] {
        let mut world = World::new(offload);
        world.listen(v4(1), TcpConfig::default(), 100, |_| App {
            shuts: false,
            ..App::new(0, 2, 1)
        });
        // The initial window of all of them is to leave at once, so it has to be large.
        let config = TcpConfig {
            strategy: Registry::default().parse("reno").unwrap(),
            ..TcpConfig::default()
        };
        let ids: Vec<_> = (0..50)
            .map(|_| {
                world.connect(v4(1), config.clone(), App { shuts: false, ..App::new(0, 1, 2) })
            })
            .collect();
        world.run_for(Span::from_secs(1));
        let now = world.now;
        let bytes: Vec<u8> = (0..14_480).map(|position| rig::pattern(1, position)).collect();
        for id in &ids {
            world.hosts[0].stack.write(now, *id, &bytes).unwrap();
        }
        let mut order = Vec::new();
        while let Some(outgoing) = world.hosts[0].stack.poll_transmit(now) {
            order.push((outgoing.socket.unwrap(), outgoing.payload.concat().len()));
        }
        // Less than a turn each, so one after the other.
        let per_socket = if offload { 1 } else { 10 };
        assert_eq!(order.len(), 50 * per_socket);
        for (turn, id) in order.chunks(per_socket).zip(&ids) {
            assert!(turn.iter().all(|(socket, _)| socket == id));
            assert_eq!(turn.iter().map(|(_, len)| len).sum::<usize>(), 14_480);
        }
    }
}

/// A socket that may send more than a turn's worth goes to the end of the list after 64 KiB.
#[test]
fn a_turn_is_64_kib() {
    let mut world = World::new(true);
    world.listen(v4(1), TcpConfig::default(), 100, |_| App { shuts: false, ..App::new(0, 2, 1) });
    let bulk = || App { shuts: false, ..App::new(3_000_000, 1, 2) };
    let ids = [(); 2].map(|()| world.connect(v4(1), TcpConfig::default(), bulk()));
    world.run_for(Span::from_millis(20));
    // Not so long that the windows restart from their first size.
    while ids
        .iter()
        .any(|id| world.app(0, *id).written < 3_000_000 || world.status(0, *id).unacked > 0)
    {
        assert!(world.step(Time::NEVER));
    }
    let now = world.now;
    for id in ids {
        let more: Vec<u8> =
            (3_000_000..3_150_000).map(|position| rig::pattern(1, position)).collect();
        assert_eq!(world.hosts[0].stack.write(now, id, &more), Ok(150_000));
    }
    let mut order: Vec<(usize, usize)> = Vec::new();
    while let Some(outgoing) = world.hosts[0].stack.poll_transmit(now) {
        let turn = usize::from(outgoing.socket == Some(ids[1]));
        let len = outgoing.payload.concat().len();
        match order.last_mut() {
            Some((last, sum)) if *last == turn => *sum += len,
            _ => order.push((turn, len)),
        }
    }
    // Two packets of at most 64 KiB make a turn, since one falls short of it by less than a
    // segment.
    assert!(order.len() >= 4, "{order:?}");
    assert!(order.iter().all(|(_, sum)| *sum <= 2 * 65_536), "{order:?}");
    assert!(order.windows(2).all(|pair| pair[0].0 != pair[1].0), "{order:?}");
}

#[test]
fn nothing_corrupt_is_accepted() {
    let mut world = World::new(true);
    let mut lot = lots(11);
    world.fate =
        Box::new(
            move |_, _| {
                if lot(20) == 0 { Fate::Corrupt(lot(12_000) as u32) } else { Fate::Deliver }
            },
        );
    world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(1_000_000, 2, 1));
    world.connect(v4(1), TcpConfig::default(), App::new(1_000_000, 1, 2));
    world.run();
    let stats = world.hosts[1].stack.stats();
    assert!(stats.bad_checksums > 10 && stats.malformed > 0, "{stats:?}");
}

/// The same damage, on a path that says that checksums need not be looked at: so it was the
/// checksum that found it.
#[test]
#[should_panic(expected = "of stream 1")]
fn a_trusted_packet_is_not_checked() {
    let mut world = World::new(true);
    world.trusted = true;
    let mut n = 0;
    world.fate = Box::new(move |host, packet| {
        n += u32::from(host == 0 && packet.len() > 1000);
        // A bit of the payload.
        if n == 20 { Fate::Corrupt(8 * 500) } else { Fate::Deliver }
    });
    world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(0, 2, 1));
    world.connect(v4(1), TcpConfig::default(), App::new(1_000_000, 1, 2));
    world.run();
}

/// A reader that pauses for a minute closes the window; probes find it open again.
#[test]
fn a_closed_window_opens_again() {
    let mut world = World::new(true);
    let config = TcpConfig { receive_buffer: 50_000, ..TcpConfig::default() };
    world.listen(v4(1), config, 16, |_| App { reads: false, ..App::new(0, 2, 1) });
    let client = world.connect(v4(1), TcpConfig::default(), App::new(500_000, 1, 2));
    world.run_for(Span::from_secs(60));
    let server = *world.hosts[1].apps.keys().next().unwrap();
    let readable = world.status(1, server).readable;
    assert!((48_000..=50_000).contains(&readable), "{readable}");
    assert_eq!(world.status(0, client).unacked, 500_000 - readable);
    world.hosts[1].apps.get_mut(&server).unwrap().reads = true;
    world.act(1, server);
    world.run();
    assert_gone(&mut world, 1);
}

/// The link is down for 30 s in the middle of a transfer.
#[test]
fn the_link_goes_down_and_comes_back() {
    let mut world = World::new(true);
    world.per_byte = 80;
    let down = Rc::new(std::cell::Cell::new(false));
    let is_down = Rc::clone(&down);
    world.fate = Box::new(move |_, _| if is_down.get() { Fate::Drop } else { Fate::Deliver });
    world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(0, 2, 1));
    world.connect(v4(1), TcpConfig::default(), App::new(5_000_000, 1, 2));
    world.run_for(Span::from_millis(150));
    down.set(true);
    world.run_for(Span::from_secs(1));
    let read = |world: &World| world.hosts[1].apps.values().map(|app| app.read).sum::<u64>();
    let before = read(&world);
    assert!((100_000..4_000_000).contains(&before), "{before}");
    world.run_for(Span::from_secs(29));
    assert_eq!(read(&world), before);
    down.set(false);
    world.run();
    assert_eq!(read(&world), 5_000_000);
    assert_gone(&mut world, 1);
}

/// The peer is gone without a word; the user timeout ends the connection, and a closed one ends by
/// itself.
#[test]
fn a_peer_that_is_gone_is_given_up() {
    for user_timeout in [Some(Span::from_secs(20)), None] {
        let mut world = World::new(false);
        let dead = Rc::new(std::cell::Cell::new(false));
        let is_dead = Rc::clone(&dead);
        world.fate = Box::new(move |_, _| if is_dead.get() { Fate::Drop } else { Fate::Deliver });
        world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(0, 2, 1));
        let config = TcpConfig { user_timeout, ..TcpConfig::default() };
        let client =
            world.connect(v4(1), config, App { shuts: false, ..App::new(10_000_000, 1, 2) });
        world.run_for(Span::from_millis(60));
        dead.set(true);
        if user_timeout.is_some() {
            world.run_for(Span::from_secs(25));
            assert_eq!(world.app(0, client).closed, Some(CloseReason::TimedOut));
        } else {
            world.run_for(Span::from_secs(500));
            assert_eq!(world.app(0, client).closed, None);
            assert_eq!(world.hosts[0].stack.connections(), 1);
            let now = world.now;
            world.hosts[0].stack.close(now, client);
            world.drain(0);
            assert_eq!(world.hosts[0].stack.lingering(), 1);
            world.run_for(Span::from_secs(300));
        }
        assert_eq!(world.hosts[0].stack.connections(), 0);
    }
}

/// Reset by the peer: what had arrived can still be read, then the application hears of it.
#[test]
fn a_reset_is_reported_after_what_arrived_before_it() {
    let mut world = World::new(false);
    world.listen(v4(1), TcpConfig::default(), 16, |_| App { shuts: false, ..App::new(1000, 2, 1) });
    let client = world.connect(
        v4(1),
        TcpConfig::default(),
        App { shuts: false, reads: false, ..App::new(0, 1, 2) },
    );
    world.run_for(Span::from_secs(1));
    let server = *world.hosts[1].apps.keys().next().unwrap();
    let now = world.now;
    world.hosts[1].stack.abort(now, server);
    world.hosts[1].apps.clear();
    world.drain(1);
    world.run_for(Span::from_secs(1));
    assert_eq!(world.status(0, client).reason, Some(CloseReason::Reset));
    world.hosts[0].apps.get_mut(&client).unwrap().reads = true;
    world.act(0, client);
    assert_eq!(world.app(0, client).read, 1000);
    assert_eq!(world.app(0, client).closed, Some(CloseReason::Reset));
    assert_eq!((world.hosts[0].stack.connections(), world.hosts[1].stack.connections()), (0, 0));
}

/// The options that were asked for are offered, and a segment is no larger than either side said.
#[test]
fn options_are_offered_as_configured() {
    let syn = |config: TcpConfig, ip| {
        let mut world = World::new(false);
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&seen);
        world.fate = Box::new(move |_, packet| {
            log.borrow_mut().push(parse(packet).0);
            Fate::Drop
        });
        world.connect(ip, config, App::new(1, 1, 2));
        let header = seen.borrow()[0];
        assert_eq!(header.control, Control::SYN);
        header
    };
    let options = syn(TcpConfig::default(), v4(1)).options;
    assert_eq!((options.mss, options.wscale, options.sack_permitted), (Some(1460), Some(7), true));
    assert!(options.timestamps.is_some());
    assert_eq!(syn(TcpConfig::default(), v6(1)).options.mss, Some(1440));
    let small = TcpConfig {
        receive_buffer: 65_535,
        mss: Some(512),
        sack: false,
        timestamps: false,
        ..TcpConfig::default()
    };
    let options = syn(small.clone(), v4(1)).options;
    assert_eq!((options.mss, options.wscale, options.sack_permitted), (Some(512), Some(0), false));
    assert_eq!(options.timestamps, None);
    assert_eq!(syn(TcpConfig { window_scaling: false, ..small }, v4(1)).options.wscale, None);
    let large = TcpConfig { receive_buffer: 65_536, ..TcpConfig::default() };
    assert_eq!(syn(large, v4(1)).options.wscale, Some(1));
    let huge = TcpConfig { receive_buffer: usize::MAX, ..TcpConfig::default() };
    assert_eq!(syn(huge, v4(1)).options.wscale, Some(14));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn any_wire_delivers_in_the_end(
        seed: u64,
        one_in in 5..100u64,
        offload: bool,
        over_v6: bool,
        strategy in prop::sample::select(vec!["linux", "newreno", "sack", "prr", "rack-tlp", "net-reno", "tahoe"]),
        buffers in (1usize..200_000, 1usize..200_000),
        sack: bool,
        timestamps: bool,
        mss in prop::option::of(40..1460u16),
        amounts in (0..200_000u64, 0..100_000u64),
        nagle: bool,
    ) {
        let config = TcpConfig {
            strategy: Registry::default().parse(strategy).unwrap(),
            send_buffer: buffers.0.max(500),
            receive_buffer: buffers.1.max(4000),
            sack,
            timestamps,
            mss,
            nagle,
            ..TcpConfig::default()
        };
        thread_local!(static ANSWER: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });
        ANSWER.set(amounts.1);
        let ip = if over_v6 { v6(1) } else { v4(1) };
        let mut world = World::new(offload);
        world.per_byte = 100;
        world.fate = Box::new(bad_wire(seed, one_in));
        world.listen(ip, config.clone(), 16, |_| App::new(ANSWER.get(), 2, 1));
        let client = world.connect(ip, config, App::new(amounts.0, 1, 2));
        world.run();
        prop_assert_eq!(world.app(0, client).read, amounts.1);
        let server = *world.hosts[1].apps.keys().next().unwrap();
        prop_assert_eq!(world.app(1, server).read, amounts.0);
        assert_gone(&mut world, 1);
    }
}

/// A host hears of an acknowledgment that it asked for, once, and only of that.
#[test]
fn the_application_hears_that_bytes_are_acknowledged() {
    let config = TcpConfig { delayed_ack: ackclock_tcp::DelayedAck::Off, ..TcpConfig::default() };
    let now = Time(1000 * rig::MS);
    let mut hosts = [0, 1].map(|host| Stack::new(rig::host_config(host, false)));
    let server = SocketAddr::new(v4(1), 80);
    hosts[1].listen(server, config.clone(), 1).unwrap();
    let client = hosts[0].connect(now, server, config).unwrap();
    // The first host's packets wait in between.
    let carry = |hosts: &mut [Stack; 2], from: usize, most: usize| {
        for _ in 0..most {
            let Some(outgoing) = hosts[from].poll_transmit(now) else { return };
            let packet = [outgoing.header, outgoing.payload[0], outgoing.payload[1]].concat();
            hosts[1 - from].on_packet(now, &packet, false);
        }
    };
    for from in [0, 1, 0] {
        carry(&mut hosts, from, 10);
    }
    let heard = |stack: &mut Stack| std::iter::from_fn(|| stack.poll_ready()).count();
    heard(&mut hosts[0]);
    assert_eq!(hosts[0].write(now, client, &[7; 3000]), Ok(3000));
    hosts[0].await_acked(client, 2000).unwrap();
    // Segments of 1448, 1448 and 104 bytes.
    for expected in [0, 1, 0] {
        carry(&mut hosts, 0, 1);
        carry(&mut hosts, 1, 10);
        assert_eq!(heard(&mut hosts[0]), expected);
    }
    assert_eq!(hosts[0].status(client).unwrap().unacked, 0);
    // What is acknowledged already is said at once, or rather after the next look.
    hosts[0].await_acked(client, 3000).unwrap();
    carry(&mut hosts, 0, 10);
    assert_eq!(heard(&mut hosts[0]), 1);
    // All of it, FIN included; and how much there is room for.
    let room = hosts[0].room(now, client).unwrap();
    assert_eq!(hosts[0].write(now, client, &[7; 2896]), Ok(2896));
    assert_eq!(hosts[0].room(now, client), Ok(room - 2896));
    assert!(!hosts[0].await_all_acked(client));
    for from in [0, 1] {
        assert_eq!(heard(&mut hosts[0]), 0);
        carry(&mut hosts, from, 10);
    }
    assert_eq!(heard(&mut hosts[0]), 1);
    assert!(hosts[0].await_all_acked(client));
    hosts[0].shutdown(now, client).unwrap();
    carry(&mut hosts, 0, 10);
    assert!(!hosts[0].await_all_acked(client));
    carry(&mut hosts, 1, 10);
    assert!(hosts[0].await_all_acked(client));
    assert_eq!(hosts[0].room(now, client), Err(Error::ShutDown));
    let other = hosts[1].connect(now, SocketAddr::new(v4(0), 9), TcpConfig::default()).unwrap();
    hosts[1].abort(now, other);
    assert_eq!(hosts[1].await_acked(other, 0), Err(Error::NoSocket));
    assert_eq!(hosts[1].room(now, other), Err(Error::NoSocket));
    assert!(hosts[1].await_all_acked(other));
}
