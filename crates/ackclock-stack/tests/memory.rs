//! What connections cost in memory, with an allocator that counts. It runs without the test
//! harness, whose own thread allocates meanwhile.

#[allow(dead_code, reason = "a part of it is needed here")]
#[path = "all/rig/mod.rs"]
mod rig;

use std::alloc::System;
use std::net::SocketAddr;

use ackclock_stack::{Ready, SocketId, Stack, StackConfig, TcpConfig};
use ackclock_tcp::Time;
use rig::{MS, header, host_config, tcp_packet, v4};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Two hosts whose packets go from one to the other by way of one buffer.
struct Hosts {
    hosts: [Stack; 2],
    packet: Vec<u8>,
    now: Time,
    packets: u64,
}

impl Hosts {
    fn new(half_open: usize) -> Hosts {
        let mut hosts =
            [0, 1].map(|host| Stack::new(StackConfig { half_open, ..host_config(host, false) }));
        hosts[1].listen(SocketAddr::new(v4(1), 80), TcpConfig::default(), 20_000).unwrap();
        Hosts { hosts, packet: Vec::with_capacity(1500), now: Time(1000 * MS), packets: 0 }
    }

    /// Until nobody has anything to send.
    fn exchange(&mut self) {
        loop {
            let before = self.packets;
            for from in 0..2 {
                let [a, b] = &mut self.hosts;
                let (source, destination) = if from == 0 { (a, b) } else { (b, a) };
                while let Some(outgoing) = source.poll_transmit(self.now) {
                    self.packet.clear();
                    self.packet.extend_from_slice(outgoing.header);
                    self.packet.extend_from_slice(outgoing.payload[0]);
                    self.packet.extend_from_slice(outgoing.payload[1]);
                    destination.on_packet(self.now, &self.packet, false);
                    self.packets += 1;
                }
            }
            if self.packets == before {
                return;
            }
        }
    }

    fn connect(&mut self) -> (SocketId, SocketId) {
        let client = self.hosts[0]
            .connect(self.now, SocketAddr::new(v4(1), 80), TcpConfig::default())
            .unwrap();
        self.exchange();
        while let Some(ready) = self.hosts[1].poll_ready() {
            if let Ready::Accept(listener) = ready {
                return (client, self.hosts[1].accept(listener).unwrap());
            }
        }
        panic!("not accepted");
    }

    /// 4 MiB from the first host to the second, a piece at a time.
    fn transfer(&mut self, client: SocketId, server: SocketId) {
        let (chunk, mut buffer) = ([7; 1 << 14], [0; 1 << 14]);
        let mut read = 0;
        while read < 4 << 20 {
            self.now = Time(self.now.0 + 100_000);
            let _ = self.hosts[0].write(self.now, client, &chunk);
            self.hosts.iter_mut().for_each(|host| host.on_deadline(self.now));
            self.exchange();
            while let Ok(len @ 1..) = self.hosts[1].read(self.now, server, &mut buffer) {
                read += len;
                self.exchange();
            }
            self.hosts.iter_mut().for_each(|host| while host.poll_ready().is_some() {});
        }
    }
}

fn held(region: &Region<'_, System>) -> usize {
    let change = region.change();
    change.bytes_allocated - change.bytes_deallocated
}

fn main() {
    // Nothing is allocated for a packet, once buffers have their size.
    let mut hosts = Hosts::new(64);
    let (client, server) = hosts.connect();
    hosts.transfer(client, server);
    let before = hosts.packets;
    let region = Region::new(ALLOCATOR);
    hosts.transfer(client, server);
    assert!(hosts.packets - before > 3000);
    assert_eq!(region.change().allocations + region.change().reallocations, 0);

    // Idle connections, each of which has carried a request and an answer.
    let mut hosts = Hosts::new(64);
    let region = Region::new(ALLOCATOR);
    let mut sockets = Vec::new();
    for _ in 0..10_000 {
        let (client, server) = hosts.connect();
        hosts.hosts[0].write(hosts.now, client, &[1; 200]).unwrap();
        hosts.exchange();
        hosts.hosts[1].read(hosts.now, server, &mut [0; 200]).unwrap();
        hosts.hosts[1].write(hosts.now, server, &[1; 1000]).unwrap();
        hosts.exchange();
        hosts.hosts[0].read(hosts.now, client, &mut [0; 1000]).unwrap();
        hosts.exchange();
        sockets.push((client, server));
    }
    let each = held(&region) / 20_000;
    eprintln!("an idle connection takes {each} bytes");
    assert!(each < 8 << 10, "{each}");

    // In TIME-WAIT; both tables, which do not shrink, included.
    for (client, server) in sockets.drain(..) {
        hosts.hosts[0].close(hosts.now, client);
        hosts.exchange();
        hosts.hosts[1].close(hosts.now, server);
        hosts.exchange();
    }
    assert_eq!(hosts.hosts.each_ref().map(|host| host.connections()), [10_000, 0]);
    let each = held(&region) / 10_000;
    eprintln!("a connection in TIME-WAIT takes {each} bytes");
    // What the budget counts for it.
    assert!(each <= 768, "{each}");
    hosts.now = Time(hosts.now.0 + 61_000 * MS);
    hosts.hosts[0].on_deadline(hosts.now);
    assert_eq!(hosts.hosts[0].connections(), 0);

    // A flood of SYNs beyond the half-open connections allowed takes nothing.
    let mut flood =
        tcp_packet(v4(0), v4(1), &header(1, 80, ackclock_tcp::wire::Control::SYN, 0, 0), b"");
    let mut syn = |n: u16| {
        flood[20..22].copy_from_slice(&n.to_be_bytes());
        hosts.hosts[1].on_packet(hosts.now, &flood, true);
        while hosts.hosts[1].poll_transmit(hosts.now).is_some() {}
    };
    (0..1000).for_each(&mut syn);
    let region = Region::new(ALLOCATOR);
    (1000..u16::MAX).for_each(&mut syn);
    assert_eq!(region.change().allocations + region.change().reallocations, 0);
}
