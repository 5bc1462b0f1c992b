//! How long a sender lets packets lie in its device.

use ackclock_stack::{SocketId, TcpConfig};
use ackclock_tcp::{Phase, Span};

use crate::rig::{App, Fate, World, v4};

/// Host 0 has sent for a second over 50 Mbit/s and 20 ms each way.
fn sending(writes: u64) -> (World, SocketId) {
    sending_from(500_000, writes)
}

fn sending_from(send_buffer: usize, writes: u64) -> (World, SocketId) {
    let mut world = World::new(false);
    (world.per_byte, world.delay) = (160, Span::from_millis(20));
    world.listen(v4(1), TcpConfig::default(), 10, |_| App { shuts: false, ..App::new(0, 2, 1) });
    let app = App { shuts: false, ..App::new(writes, 1, 2) };
    let id = world.connect(v4(1), TcpConfig { send_buffer, ..Default::default() }, app);
    (world, id)
}

/// What the stack of host 0 says after each packet of the next so many milliseconds.
fn answers(world: &mut World, millis: u64) -> Vec<Span> {
    let until = world.now + Span::from_millis(millis);
    let mut all = Vec::new();
    let mut seen = world.hosts[0].stack.stats().packets_in;
    while world.step(until) {
        let stack = &mut world.hosts[0].stack;
        if std::mem::replace(&mut seen, stack.stats().packets_in) < seen {
            all.push(stack.patience(world.now));
        }
    }
    all
}

#[test]
fn bulk_data_without_a_loss_has_time() {
    let (mut world, _) = sending(u64::MAX);
    let first = answers(&mut world, 100);
    assert!(!first.is_empty() && first.iter().all(|wait| *wait == Span::ZERO), "{first:?}");
    world.run_for(Span::from_secs(2));
    world.hosts[0].stack.patience(world.now);
    let later = answers(&mut world, 100);
    assert!(later.len() > 100 && later.iter().all(|wait| *wait == Span::from_millis(2)));
}

/// Over 1 Gbit/s the ACKs of slow start come within a millisecond of each other, and each releases
/// two segments more than it acknowledges.
#[test]
fn slow_start_has_not() {
    let (mut world, id) = sending_from(5_000_000, u64::MAX);
    world.per_byte = 8;
    let mut flight = 0;
    while flight < 1000 {
        answers(&mut world, 1).iter().for_each(|wait| assert_eq!(*wait, Span::ZERO));
        let state = world.hosts[0].stack.sender(id).unwrap().state();
        assert!(state.cwnd < state.ssthresh);
        flight = state.flight() / state.mss;
    }
}

#[test]
fn a_short_transfer_has_not() {
    let (mut world, _) = sending(100_000);
    let all = answers(&mut world, 1_000);
    assert!(all.len() > 30 && all.iter().all(|wait| *wait == Span::ZERO), "{all:?}");
}

/// From the first ACK of a recovery on until 100 ms after its last.
#[test]
fn recovery_has_not() {
    let (mut world, id) = sending(u64::MAX);
    world.run_for(Span::from_secs(2));
    let mut left = 1;
    world.fate = Box::new(move |host, packet| {
        let data = host == 0 && packet.len() > 1000;
        left -= i32::from(data && left >= 0);
        if data && left == 0 { Fate::Drop } else { Fate::Deliver }
    });
    let (mut ended, mut hurried, mut recovered) = (None, 0, false);
    world.hosts[0].stack.patience(world.now);
    while ended.is_none_or(|at| world.now < at + Span::from_millis(99)) {
        let before = world.hosts[0].stack.stats().packets_in;
        assert!(world.step(world.now + Span::from_secs(1)));
        if world.hosts[0].stack.stats().packets_in == before {
            continue;
        }
        let state = world.hosts[0].stack.sender(id).unwrap().state();
        let calm = state.phase == Phase::Open && state.board.sacked_segments() == 0;
        let wait = world.hosts[0].stack.patience(world.now);
        match (calm, recovered) {
            (false, _) => (recovered, ended) = (true, Some(world.now)),
            (true, false) => assert_eq!(wait, Span::from_millis(2)),
            (true, true) => {}
        }
        if recovered {
            assert_eq!(wait, Span::ZERO);
            hurried += 1;
        }
    }
    assert!(hurried > 100, "{hurried}");
    world.run_for(Span::from_millis(200));
    world.hosts[0].stack.patience(world.now);
    assert!(answers(&mut world, 20).contains(&Span::from_millis(2)));
}

/// A connection that opens beside it is answered at once, and for a while all others, too.
#[test]
fn another_connection_is_not_kept_waiting() {
    let (mut world, _) = sending(u64::MAX);
    world.run_for(Span::from_secs(2));
    world.hosts[0].stack.patience(world.now);
    world.connect(v4(1), TcpConfig::default(), App { shuts: false, ..App::new(100, 1, 2) });
    let all = answers(&mut world, 200);
    let first = all.iter().position(|wait| *wait == Span::ZERO).unwrap();
    assert!(all[..first].iter().all(|wait| *wait == Span::from_millis(2)));
    let again = first + all[first..].iter().position(|wait| *wait != Span::ZERO).unwrap();
    // An ACK in half a millisecond, for 100 ms at least.
    assert!(again - first > 200, "{first} {again}");
}
