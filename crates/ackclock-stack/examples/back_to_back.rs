//! How fast two hosts in one thread pass a stream from one to the other, without a device between
//! them or losses; by the CPU time that it takes, so that others on the machine do not count.
//!
//! `cargo run --release -p ackclock-stack --example back_to_back -- [MTU] [GIGABYTES]`
use std::net::SocketAddr;

use ackclock_stack::{Error, Ready, SocketId, Stack, StackConfig, TcpConfig};
use ackclock_tcp::Time;
use rustix::time::{ClockId, clock_gettime};

fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<f64>().expect("a number"));
    let mtu = args.next().unwrap_or(1500.0) as u16;
    let amount = (args.next().unwrap_or(1.0) * 1e9) as u64;
    for offload in [false, true] {
        let begin = cpu_nanos();
        let packets = transfer(mtu, amount, offload);
        let seconds = (cpu_nanos() - begin) as f64 * 1e-9;
        println!(
            "offload {offload}: {:.2} Gbit/s, {:.0} ns and {:.0} bytes a packet of the sender",
            amount as f64 * 8e-9 / seconds,
            seconds * 1e9 / packets as f64,
            amount as f64 / packets as f64
        );
    }
}

fn cpu_nanos() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns how many packets the sender sent.
fn transfer(mtu: u16, amount: u64, offload: bool) -> u64 {
    let begin = cpu_nanos();
    let addresses = [[10, 0, 0, 1], [10, 0, 0, 2]];
    let mut hosts = addresses.map(|address| {
        let secret = [address[3]; 16];
        Stack::new(StackConfig {
            addresses: vec![address.into()],
            mtu,
            offload,
            secret,
            ..StackConfig::default()
        })
    });
    let remote = SocketAddr::from((addresses[1], 80));
    hosts[1].listen(remote, TcpConfig::default(), 1).expect("a free port");
    let sender = hosts[0].connect(Time::ZERO, remote, TcpConfig::default()).expect("a free port");
    let mut receiver: Option<SocketId> = None;
    let chunk = vec![7; 1 << 16];
    let mut buffer = vec![0; 1 << 16];
    let (mut written, mut read) = (0, 0);
    let mut packet = Vec::new();
    while read < amount {
        let now = Time(cpu_nanos() - begin);
        for from in 0..2 {
            hosts[from].on_deadline(now);
            let [a, b] = &mut hosts;
            let (source, destination) = if from == 0 { (a, b) } else { (b, a) };
            // A device's queue would hold some packets too.
            for _ in 0..64 {
                let Some(outgoing) = source.poll_transmit(now) else { break };
                packet.clear();
                packet.extend_from_slice(outgoing.header);
                packet.extend_from_slice(outgoing.payload[0]);
                packet.extend_from_slice(outgoing.payload[1]);
                destination.on_packet(now, &packet, offload);
            }
        }
        while written < amount {
            match hosts[0].write(now, sender, &chunk) {
                Ok(len) => written += len as u64,
                Err(Error::WouldBlock) => break,
                Err(other) => panic!("{other}"),
            }
        }
        while let Some(ready) = hosts[1].poll_ready() {
            if let Ready::Accept(listener) = ready {
                receiver = hosts[1].accept(listener).ok();
            }
        }
        if let Some(id) = receiver {
            while let Ok(len @ 1..) = hosts[1].read(now, id, &mut buffer) {
                read += len as u64;
            }
        }
    }
    hosts[0].stats().packets_out
}
