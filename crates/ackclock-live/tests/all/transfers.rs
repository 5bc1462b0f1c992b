//! Bulk transfers between our stack and the kernel's, verified by SHA-256.

use std::net::{Shutdown, SocketAddr};
use std::thread;

use ackclock_live::{Namespace, Net};

use crate::common::*;

const BULK: u64 = 100_000_000;

/// Ours to the kernel, and the kernel to ours, one after the other.
fn both_ways(namespace: &Namespace, net: &Net, version: u8, bytes: u64) {
    let (kernel, ours) =
        if version == 4 { ("10.0.0.1", "10.0.0.2") } else { ("fd00::1", "fd00::2") };
    let (listener, address) = kernel_listener(namespace, kernel);
    let receiving = thread::spawn(move || {
        let stream = listener.accept().unwrap().0;
        patient(&stream);
        receive(stream).unwrap()
    });
    let stream = net.connect(address, config()).unwrap();
    let sent = send(&stream, bytes).unwrap();
    drop(stream);
    assert_eq!(receiving.join().unwrap(), sent, "ours to the kernel, IPv{version}");

    let listener = net.listen(SocketAddr::new(ours.parse().unwrap(), 0), config(), 1).unwrap();
    let stream = kernel_connect(namespace, listener.local_addr().unwrap());
    let sending = thread::spawn(move || {
        let sent = send(&stream, bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        sent
    });
    let received = receive(listener.accept().unwrap().0).unwrap();
    assert_eq!(received, sending.join().unwrap(), "the kernel to ours, IPv{version}");
}

fn transfer(mtu: u16, offload: bool, bytes: u64) {
    let Some(namespace) = namespace() else { return };
    let net = net(&namespace, mtu, offload);
    both_ways(&namespace, &net, 4, bytes);
    if mtu >= 1280 {
        both_ways(&namespace, &net, 6, bytes);
    }
    let (unsent, stats) = net.with_host(|host| (host.unsent(), *host.stack().stats()));
    assert_eq!((unsent, stats.bad_checksums, stats.resets_out), (0, 0, 0));
}

#[test]
fn mtu_1500_with_offload() {
    transfer(1500, true, BULK);
}

#[test]
fn mtu_1500_without_offload() {
    transfer(1500, false, BULK);
}

#[test]
fn mtu_9000_with_offload() {
    transfer(9000, true, BULK);
}

#[test]
fn mtu_9000_without_offload() {
    transfer(9000, false, BULK);
}

#[test]
fn mtu_576() {
    transfer(576, true, BULK / 5);
    transfer(576, false, BULK / 5);
}

/// From one host of ours to another, through the kernel's forwarding, in each combination of
/// offload: the kernel cuts what the other side does not take whole.
#[test]
fn ours_to_ours_through_the_kernel() {
    for (offload, other) in [(true, true), (true, false), (false, true), (false, false)] {
        let Some(namespace) = namespace() else { return };
        namespace.sysctl("net/ipv4/ip_forward", "1").unwrap();
        namespace.sysctl("net/ipv6/conf/all/forwarding", "1").unwrap();
        let left = tun(&namespace, &[("10.0.0.1", 24), ("fd00::1", 64)], 1500, offload);
        let right = tun(&namespace, &[("10.0.1.1", 24), ("fd01::1", 64)], 1500, other);
        let left = Net::start(host(left, &["10.0.0.2", "fd00::2"])).unwrap();
        let right = Net::start(host(right, &["10.0.1.2", "fd01::2"])).unwrap();
        for address in ["10.0.1.2:80", "[fd01::2]:80"] {
            let address = address.parse().unwrap();
            let listener = right.listen(address, config(), 1).unwrap();
            let stream = left.connect(address, config()).unwrap();
            let receiving = thread::spawn(move || receive(listener.accept().unwrap().0).unwrap());
            let sent = send(&stream, BULK / 5).unwrap();
            drop(stream);
            assert_eq!(receiving.join().unwrap(), sent, "{address}, offload {offload} and {other}");
        }
    }
}
