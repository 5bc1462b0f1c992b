//! A host that sends much takes several ACKs in a turn.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use ackclock_live::{Attachment, Host, RealTimeGateway, Tun, TunConfig};
use ackclock_net::scenario::Scenario;
use ackclock_stack::TcpConfig;
use ackclock_tcp::Registry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::common::*;

const LINK: &str =
    "duration = '1s'\n[[link]]\nfrom = 'a'\nto = 'b'\nrate = '50mbit'\ndelay = '20ms'\n";

/// Waits as [`Host`] asks for.
fn wait(host: &Host) {
    let timeout = host.timeout().unwrap_or(Duration::MAX).min(Duration::from_millis(50));
    let wanted = if host.rests() { PollFlags::empty() } else { PollFlags::IN };
    let timeout = Timespec::try_from(timeout).unwrap();
    poll(&mut [PollFd::new(host, wanted)], Some(&timeout)).unwrap();
}

/// 2000 ACKs arrive in a second, and a host rests for 2 ms. It rests after each turn, so that on a
/// busy machine turns are fewer still; were it not to rest, or woken by packets, there would be as
/// many turns as packets.
#[test]
fn a_turn_takes_several_acks() {
    let (Some(near), Some(far)) = (namespace(), namespace()) else { return };
    near.sysctl("net/ipv4/ip_forward", "1").unwrap();
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    let attachment = |node: &str, namespace: &ackclock_live::Namespace, at: (&str, u8), prefix| {
        let addresses = vec![(ip(at.0), at.1)];
        let config = TunConfig { name: "link".into(), addresses, mtu: 1500, offload: false };
        let tun = namespace.run(|| Tun::open(&config)).unwrap().unwrap();
        Attachment { node: node.into(), tun, prefixes: vec![(ip(prefix), 32)] }
    };
    let ends = vec![
        attachment("a", &near, ("10.0.1.2", 24), "10.0.0.2"),
        attachment("b", &far, ("10.0.1.1", 16), "10.0.1.1"),
    ];
    let scenario = Scenario::from_toml(LINK, &Registry::default()).unwrap();
    let _gateway = RealTimeGateway::start(&scenario, 1, ends).unwrap();
    let (listener, address) = kernel_listener(&far, "10.0.1.1");
    let receiving = std::thread::spawn(move || receive(listener.accept().unwrap().0));

    let mut host = host(tun(&near, &[("10.0.0.1", 24)], 1500, true), &["10.0.0.2"]);
    let config = TcpConfig { send_buffer: 500_000, ..config() };
    let (begin, chunk) = (Instant::now(), vec![7; 100_000]);
    let now = host.now();
    let socket = host.stack().connect(now, SocketAddr::new(address.ip(), address.port()), config);
    let socket = socket.unwrap();
    host.flush();
    let (mut turns, mut rested, mut before, mut sent) = (0, 0, None, 0);
    while begin.elapsed() < Duration::from_secs(3) {
        let now = host.now();
        sent += host.stack().write(now, socket, &chunk).unwrap_or(0) as u64;
        host.flush();
        wait(&host);
        host.turn().unwrap();
        if begin.elapsed() > Duration::from_millis(1500) {
            let packets = host.stack().stats().packets_in;
            before.get_or_insert(packets);
            turns += 1;
            rested += u64::from(host.rests());
        }
    }
    let packets = host.stack().stats().packets_in - before.unwrap();
    assert!(packets > 1000 && turns < packets / 2, "{turns} turns for {packets} packets");
    assert!(rested > turns / 2, "{rested} rests in {turns} turns");

    // Nothing is late at the end: no timeout, and nothing sent again.
    let now = host.now();
    host.stack().shutdown(now, socket).unwrap();
    host.flush();
    while host.stack().status(socket).unwrap().unacked > 0 {
        wait(&host);
        host.turn().unwrap();
    }
    let stats = *host.stack().sender(socket).unwrap().stats();
    assert_eq!((stats.retransmissions, stats.timeouts), (0, 0));
    assert_eq!(receiving.join().unwrap().unwrap().0, sent);
}
