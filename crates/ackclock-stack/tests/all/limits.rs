//! What kept a socket from sending, to the nanosecond.

use ackclock_stack::{Limit, Limits, SocketId, TcpConfig};
use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{Span, Timestamps};

use crate::gather::sender;
use crate::rig::{App, Fate, World, drain, header, parse, pattern, tcp_packet, v4};

/// Host 0 writes so many bytes, a round trip being 10 ms and handshakes over; returns what kept
/// it from being done at once, after a second.
fn limits(bytes: u64, ours: TcpConfig, theirs: TcpConfig, lose: bool) -> Limits {
    let mut world = World::new(false);
    let mut left = lose;
    world.fate = Box::new(move |from, packet| {
        // The second segment, once.
        let second = from == 0
            && parse(packet).0.seq.0.wrapping_sub(1000) > 0
            && parse(packet).1.len() == 1448
            && packet[packet.len() - 1] == pattern(1, 2 * 1448 - 1);
        if second && std::mem::take(&mut left) { Fate::Drop } else { Fate::Deliver }
    });
    world.listen(v4(1), theirs, 10, |i| App { shuts: false, ..App::new(0, i, 1) });
    let app = App { shuts: false, stream: 1, ..App::new(0, 1, 0) };
    let id: SocketId = world.connect(v4(1), ours, app);
    world.run_for(Span::from_millis(100));
    world.hosts[0].apps.get_mut(&id).unwrap().writes = bytes;
    world.act(0, id);
    world.run_for(Span::from_millis(900));
    assert_eq!(world.status(0, id).unacked, 0);
    world.hosts[0].stack.limits(world.now, id).unwrap()
}

fn shown(limits: &Limits) -> Vec<(&'static str, u64)> {
    let times = Limit::ALL.map(|limit| (limit.name(), limits.time(limit).nanos() / 1_000_000));
    times.into_iter().filter(|(_, ms)| *ms > 0).collect()
}

fn config() -> TcpConfig {
    TcpConfig { delayed_ack: ackclock_tcp::DelayedAck::Off, ..TcpConfig::default() }
}

#[test]
fn each_limit_has_its_time() {
    let small = |buffer| TcpConfig { receive_buffer: buffer, ..config() };
    let of = |bytes, ours, theirs, lose| shown(&limits(bytes, ours, theirs, lose));
    // One round trip on its way.
    assert_eq!(of(1000, config(), config(), false), [("application", 990), ("in_flight", 10)]);
    // Windows of 10, 20 and 40 segments, and the rest.
    assert_eq!(
        of(100 * 1448, config(), config(), false),
        [("application", 960), ("in_flight", 10), ("congestion_window", 30)]
    );
    // Ten segments at a time, and nine after the first time: of the last one the window is not
    // worth an update. So it takes eleven round trips.
    assert_eq!(
        of(100 * 1448, config(), small(14_480), false),
        [("application", 890), ("in_flight", 10), ("receive_window", 100)]
    );
    // The writer hears of room when a quarter is free.
    let ours = TcpConfig { send_buffer: 14_480, ..config() };
    assert_eq!(
        of(100 * 1448, ours, config(), false),
        [("application", 890), ("in_flight", 10), ("send_buffer", 100)]
    );
    // A loss is noticed after one round trip and repaired after another one.
    assert_eq!(
        of(10 * 1448, config(), config(), true),
        [("application", 980), ("in_flight", 10), ("recovery", 10)]
    );
    assert_eq!(limits(10 * 1448, config(), small(2896), false).most(), Limit::Application);
}

#[test]
fn what_came_before_can_be_taken_off() {
    let mut world = World::new(false);
    world.listen(v4(1), config(), 10, |i| App { shuts: false, ..App::new(0, i, 1) });
    let app = App { shuts: false, stream: 1, ..App::new(0, 1, 0) };
    let id = world.connect(v4(1), config(), app);
    world.run_for(Span::from_millis(100));
    let before = world.hosts[0].stack.limits(world.now, id).unwrap();
    assert_eq!(shown(&before), [("application", 100)]);
    world.hosts[0].apps.get_mut(&id).unwrap().writes = 1000;
    world.act(0, id);
    world.run_for(Span::from_millis(15));
    let now = world.hosts[0].stack.limits(world.now, id).unwrap();
    assert_eq!(now.total(), Span::from_millis(115));
    let after = now.since(&before);
    assert_eq!(shown(&after), [("application", 5), ("in_flight", 10)]);
    assert_eq!((after.total(), after.most()), (Span::from_millis(15), Limit::InFlight));
}

/// The receiver acknowledges two of ten segments and shrinks its window to nothing. Whatever the
/// retransmission timer does then, it is the window that keeps all from going.
#[test]
fn a_window_that_shrinks_to_nothing_limits() {
    let (mut stack, id, sent, isn, mut now) = sender(false);
    let before = stack.limits(now, id).unwrap();
    let ours = parse(&sent[0]).0;
    let ecr = ours.options.timestamps.unwrap().val;
    let options = Options { timestamps: Some(Timestamps { val: 2, ecr }), ..Options::default() };
    let ack = header(80, ours.src_port, Control::ACK, 701, (isn + 2 * 1448).0);
    let ack = tcp_packet(v4(1), v4(0), &Repr { options, wnd: 0, ..ack }, &[]);
    stack.on_packet(now, &ack, false);
    let end = now + Span::from_secs(10);
    let mut packets = drain(&mut stack, now).len();
    while stack.next_deadline() <= end {
        now = stack.next_deadline().max(now);
        stack.on_deadline(now);
        packets += drain(&mut stack, now).len();
    }
    assert_eq!(packets, 3, "after 1, 3 and 7 s (RFC 6298 sections 2.4 and 5.5)");
    let after = stack.limits(end, id).unwrap().since(&before);
    assert_eq!(shown(&after), [("receive_window", 10_000)]);
}
