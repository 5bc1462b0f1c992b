//! The memory of all buffers stays within its budget, and whoever makes progress goes on.

use ackclock_stack::{SocketId, StackConfig, TcpConfig};
use ackclock_tcp::Span;

use crate::rig::{App, World, host_config, v4};

const BUDGET: usize = 2 << 20;
/// What every buffer may have beyond the budget.
const LEAST: usize = 8 << 10;

/// Host 1 has a budget.
fn world() -> World {
    World::with([host_config(0, true), StackConfig { memory: BUDGET, ..host_config(1, true) }])
}

fn connections(world: &mut World, n: u64, app: impl Fn(u64) -> App) -> Vec<SocketId> {
    let connect = |i| {
        let id = world.connect(v4(1), TcpConfig::default(), app(i));
        world.run_for(Span::from_millis(20));
        id
    };
    (0..n).map(connect).collect()
}

#[test]
fn clients_that_do_not_read_pin_no_more_than_the_budget() {
    let mut world = world();
    // Host 1 writes 2 MB to each, and reads what it gets.
    world.listen(v4(1), TcpConfig::default(), 1000, |i| App {
        stream: i,
        ..App::new(2_000_000, 0, 1000)
    });
    let silent = |i| App { reads: false, shuts: false, stream: 1000, ..App::new(0, 1000, i) };
    let few = TcpConfig { receive_buffer: 20_000, ..TcpConfig::default() };
    let ids: Vec<_> = (0..200)
        .map(|i| {
            let id = world.connect(v4(1), few.clone(), silent(i));
            world.run_for(Span::from_millis(20));
            id
        })
        .collect();
    world.run_for(Span::from_secs(5));
    let used = world.hosts[1].stack.memory();
    assert!((BUDGET..BUDGET + 200 * LEAST).contains(&used), "{used}");
    // Another one gets everything, if with a small buffer.
    let app = App { stream: 1000, ..App::new(0, 1000, 200) };
    let id = world.connect(v4(1), TcpConfig::default(), app);
    let mut most = 0;
    for _ in 0..30_000 {
        world.run_for(Span::from_millis(10));
        most = most.max(world.hosts[1].stack.memory());
        if world.app(0, id).at_end {
            break;
        }
    }
    assert_eq!((world.app(0, id).read, world.app(0, id).closed), (2_000_000, None));
    // Its buffer, and a list of the six segments that this holds: eight records, with their times.
    assert!(most <= used + LEAST + 8 * (64 + 16), "{most} {used}");
    // So do those that begin to read; in the end nothing is held.
    for &id in &ids[..20] {
        world.hosts[0].apps.get_mut(&id).unwrap().reads = true;
        world.act(0, id);
    }
    world.run_for(Span::from_secs(120));
    for &id in &ids[..20] {
        assert_eq!((world.app(0, id).read, world.app(0, id).closed), (2_000_000, None));
    }
    world.close_all();
    // TIME-WAIT of 60 s counts, too.
    world.run_for(Span::from_secs(70));
    assert_eq!(world.hosts[1].stack.memory(), 0);
}

#[test]
fn what_is_not_read_here_takes_no_more_than_the_budget() {
    let mut world = world();
    world.listen(v4(1), TcpConfig::default(), 1000, |i| App {
        reads: false,
        ..App::new(0, 1000, i)
    });
    let ids = connections(&mut world, 200, |i| App { stream: i, ..App::new(300_000, i, 1000) });
    world.run_for(Span::from_secs(5));
    let used = world.hosts[1].stack.memory();
    assert!((BUDGET..BUDGET + 200 * LEAST).contains(&used), "{used}");
    // What did not fit comes again once there is room: every byte, and no connection is lost.
    let servers: Vec<SocketId> = world.hosts[1].apps.keys().copied().collect();
    for &id in &servers {
        world.hosts[1].apps.get_mut(&id).unwrap().reads = true;
        world.act(1, id);
    }
    world.run();
    for &id in &servers {
        assert_eq!((world.app(1, id).read, world.app(1, id).closed), (300_000, None));
    }
    assert!(ids.iter().all(|&id| world.app(0, id).closed.is_none()));
    world.hosts[1].stack.trim();
    let idle = world.hosts[1].stack.memory();
    assert!(idle < 200 * (64 << 10), "{idle}");
}

/// A buffer that has grown gives its memory back.
#[test]
fn trimming_gives_back_what_is_not_needed() {
    let mut world = World::new(true);
    world.listen(v4(1), TcpConfig::default(), 10, |i| App { reads: false, ..App::new(0, 9, i) });
    connections(&mut world, 1, |i| App { stream: i, ..App::new(300_000, i, 9) });
    world.run_for(Span::from_secs(1));
    assert_eq!(world.hosts[1].stack.memory(), 524_288);
    world.hosts[1].stack.trim();
    assert_eq!(world.hosts[1].stack.memory(), 524_288, "all of it is held");
    let (&id, app) = world.hosts[1].apps.iter_mut().next().unwrap();
    app.reads = true;
    world.act(1, id);
    assert_eq!((world.app(1, id).read, world.hosts[1].stack.memory()), (300_000, 524_288));
    world.hosts[1].stack.trim();
    assert_eq!(world.hosts[1].stack.memory(), 0);
}

/// TIME-WAIT counts, and has an eighth of the budget: three of 768 bytes in 18 KiB.
#[test]
fn there_are_no_more_connections_in_time_wait_than_fit() {
    let small = StackConfig { memory: 3 * 8 * 768, ..host_config(0, true) };
    let mut world = World::with([small, host_config(1, true)]);
    world.listen(v4(1), TcpConfig::default(), 10, |i| App::new(0, 0, i));
    for i in 0..5 {
        let id = world.connect(v4(1), TcpConfig::default(), App::new(0, i, 0));
        world.run_for(Span::from_millis(50));
        world.hosts[0].stack.close(world.now, id);
        world.run_for(Span::from_millis(500));
    }
    assert_eq!((world.hosts[0].stack.connections(), world.hosts[0].stack.memory()), (3, 3 * 768));
    world.run_for(Span::from_secs(61));
    assert_eq!((world.hosts[0].stack.connections(), world.hosts[0].stack.memory()), (0, 0));
}

/// The list of what is outstanding counts beside the buffer, which holds 200,000 bytes in 256 KiB.
#[test]
fn what_is_outstanding_counts() {
    let mut world = World::new(true);
    world.listen(v4(1), TcpConfig::default(), 10, |i| App { reads: false, ..App::new(0, 9, i) });
    let app = App { shuts: false, ..App::new(200_000, 0, 9) };
    world.connect(v4(1), TcpConfig::default(), app);
    // The handshake takes 10 ms, and so do the first ACKs after it.
    world.run_for(Span::from_millis(12));
    let held = world.hosts[0].stack.memory();
    assert!(held > 256 << 10, "{held}");
}
