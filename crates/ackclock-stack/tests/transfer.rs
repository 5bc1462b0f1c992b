//! Two hosts in virtual time: whatever the wire does, the bytes arrive, once each and in order.

mod rig;

use ackclock_stack::TcpConfig;
use ackclock_tcp::Span;
use ackclock_tcp::connection::{CloseReason, TcpState};
use rig::{App, World, v4, v6};

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
            world.close_all();
            world.run_for(Span::from_secs(200));
            for host in &world.hosts {
                assert_eq!(host.stack.connections(), 0);
                assert_eq!((host.stack.stats().opened, host.stack.stats().closed), (1, 1));
                assert_eq!((host.stack.stats().malformed, host.stack.stats().bad_checksums), (0, 0));
            }
        }
    }
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
}
