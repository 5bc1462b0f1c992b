//! Devices and namespaces, with packets that the kernel makes.

use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use ackclock_live::{DeviceDrops, Gso, Tun, TunConfig};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::common::{namespace, tun};

/// The next packet with this IP protocol: the kernel also says things of its own, such as router
/// solicitations.
fn next(tun: &Tun, protocol: u8) -> (Vec<u8>, u16, bool) {
    let mut buffer = vec![0; Tun::BUFFER];
    loop {
        if let Some(frame) = tun.receive(&mut buffer).unwrap() {
            let found = if frame.packet[0] >> 4 == 4 { frame.packet[9] } else { frame.packet[6] };
            if found == protocol {
                return (frame.packet.to_vec(), frame.segment, frame.partial_checksum);
            }
        } else {
            let timeout = Timespec { tv_sec: 5, tv_nsec: 0 };
            let ready = poll(&mut [PollFd::new(tun, PollFlags::IN)], Some(&timeout)).unwrap();
            assert_eq!(ready, 1, "no packet of protocol {protocol}");
        }
    }
}

const UDP: u8 = 17;
const TCP: u8 = 6;

/// An answer to a UDP packet: addresses and ports change places, and so the checksums stay right.
fn reversed(packet: &[u8]) -> Vec<u8> {
    let (source, length, header) = if packet[0] >> 4 == 4 { (12, 4, 20) } else { (8, 16, 40) };
    let mut answer = packet.to_vec();
    answer[source..source + 2 * length].rotate_left(length);
    answer[header..header + 4].rotate_left(2);
    answer
}

#[test]
fn packets_go_both_ways() {
    let Some(namespace) = namespace() else { return };
    let tun = tun(&namespace, &[("10.0.0.1", 24), ("10.0.1.1", 24), ("fd00::1", 64)], 1500, false);
    assert_eq!(tun.name(), "tun0");
    assert!(tun.receive(&mut vec![0; Tun::BUFFER]).is_ok(), "reading does not block");
    for (local, remote) in
        [("10.0.0.1", "10.0.0.9"), ("10.0.1.1", "10.0.1.9"), ("fd00::1", "fd00::9")]
    {
        let (local, remote) = (local.parse().unwrap(), remote.parse().unwrap());
        let socket = namespace
            .run(|| UdpSocket::bind(std::net::SocketAddr::new(local, 0)).unwrap())
            .unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        socket.send_to(b"hello", std::net::SocketAddr::new(remote, 7)).unwrap();
        let (packet, segment, partial) = next(&tun, UDP);
        assert_eq!((&packet[packet.len() - 5..], segment, partial), (&b"hello"[..], 0, false));
        tun.send_packet(&reversed(&packet)).unwrap();
        let mut answer = [0; 10];
        assert_eq!(
            socket.recv_from(&mut answer).unwrap(),
            (5, std::net::SocketAddr::new(remote, 7))
        );
        // The same packet in pieces.
        let packet = reversed(&packet);
        let (header, payload) = packet.split_at(packet.len() - 5);
        tun.send(header, [&payload[..2], &payload[2..]], Gso::default()).unwrap();
        assert_eq!(socket.recv_from(&mut answer).unwrap().0, 5);
        assert_eq!(&answer[..5], b"hello");
    }
}

#[test]
fn a_device_that_is_down_takes_no_packets() {
    let Some(namespace) = namespace() else { return };
    let tun = tun(&namespace, &[("10.0.0.1", 24)], 1500, false);
    let socket = namespace.run(|| UdpSocket::bind("10.0.0.1:0").unwrap()).unwrap();
    socket.send_to(b"hello", "10.0.0.9:7").unwrap();
    let (packet, ..) = next(&tun, UDP);
    namespace.set_link("tun0", false).unwrap();
    assert_eq!(tun.send_packet(&packet).unwrap_err().raw_os_error(), Some(5), "EIO");
    assert_eq!(namespace.set_link("tun1", false).unwrap_err().raw_os_error(), Some(19), "ENODEV");
    namespace.set_link("tun0", true).unwrap();
    tun.send_packet(&packet).unwrap();
}

/// What its queue does not hold is dropped and counted; it holds 10,000 packets unless it is told
/// otherwise.
#[test]
fn a_full_queue_drops() {
    let Some(namespace) = namespace() else { return };
    // Of itself the kernel says nothing on it.
    namespace.sysctl("net/ipv6/conf/default/disable_ipv6", "1").unwrap();
    for offload in [false, true] {
        let tun = tun(&namespace, &[("10.0.0.1", 24)], 1500, offload);
        let burst = |packets: u64| {
            let socket = namespace.run(|| UdpSocket::bind("10.0.0.1:0").unwrap()).unwrap();
            for _ in 0..packets {
                socket.send_to(b"hello", "10.0.0.9:7").unwrap();
            }
            let mut buffer = vec![0; Tun::BUFFER];
            let read = std::iter::from_fn(|| tun.receive(&mut buffer).unwrap().map(drop)).count();
            (read as u64, tun.drops().unwrap())
        };
        let drops = |to_us| DeviceDrops { to_us, from_us: 0 };
        assert_eq!(burst(10_003), (10_000, drops(3)), "{offload}");
        namespace.run(|| tun.set_queue(4)).unwrap().unwrap();
        assert_eq!(burst(10), (4, drops(9)), "{offload}");
    }
}

/// Somebody else made it, and would be left with our addresses.
#[test]
fn a_device_that_is_there_is_left_alone() {
    let Some(namespace) = namespace() else { return };
    let first = tun(&namespace, &[("10.0.0.1", 24)], 1500, false);
    let config = TunConfig {
        name: first.name().into(),
        addresses: vec![("10.0.1.1".parse().unwrap(), 24)],
        mtu: 1500,
        offload: false,
    };
    let refused = namespace.run(|| Tun::open(&config).map(drop)).unwrap().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    let bound = namespace.run(|| UdpSocket::bind("10.0.1.1:0").map(drop)).unwrap();
    assert_eq!(bound.unwrap_err().kind(), ErrorKind::AddrNotAvailable);
}

#[test]
fn addresses_outlive_a_device_that_goes_down() {
    let Some(namespace) = namespace() else { return };
    let tun = tun(&namespace, &[("10.0.0.1", 24), ("fd00::1", 64)], 1500, false);
    namespace.set_link("tun0", false).unwrap();
    namespace.set_link("tun0", true).unwrap();
    for (local, remote) in [("10.0.0.1:0", "10.0.0.9:7"), ("[fd00::1]:0", "[fd00::9]:7")] {
        let (local, remote): (SocketAddr, SocketAddr) =
            (local.parse().unwrap(), remote.parse().unwrap());
        // The kernel takes a moment until it counts an IPv6 address as its own again.
        let socket = (0..300).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            namespace.run(|| UdpSocket::bind(local)).unwrap().ok()
        });
        socket.expect("the address is back").send_to(b"hello", remote).unwrap();
        assert_eq!(&next(&tun, UDP).0.last_chunk().unwrap(), &b"hello");
    }
}

/// With offload the kernel hands over a TCP segment without its checksum, once as super-segment;
/// without, as on a wire.
#[test]
fn offload_leaves_the_checksum_out() {
    let Some(namespace) = namespace() else { return };
    for offload in [false, true] {
        let tun = tun(&namespace, &[("10.0.0.1", 24)], 1500, offload);
        let connecting = namespace.spawn(|| {
            TcpStream::connect_timeout(&"10.0.0.9:80".parse().unwrap(), Duration::from_millis(1))
        });
        let (packet, segment, partial) = next(&tun, TCP);
        assert_eq!((segment, partial), (0, offload));
        let mut sum = 6 + (packet.len() - 20) as u32;
        for word in packet[12..].chunks(2) {
            sum += u32::from(u16::from_be_bytes([word[0], word[1]]));
        }
        let folded = (sum & 0xffff) + (sum >> 16);
        assert_eq!(folded == 0xffff, !offload, "{folded:x}");
        assert!(connecting.unwrap().join().unwrap().unwrap().is_err());
    }
}

/// A device leads to another one: what one kernel stack sends comes in on the other side,
/// super-segments and all.
#[test]
fn super_segments_pass_through_two_devices() {
    let (Some(left), Some(right)) = (namespace(), namespace()) else { return };
    // MTU less fixed headers and timestamps.
    for (a, b, prefix, smss) in
        [("10.0.0.1", "10.0.0.2", 24, 1448), ("fd00::1", "fd00::2", 64, 1428)]
    {
        let tuns =
            [tun(&left, &[(a, prefix)], 1500, true), tun(&right, &[(b, prefix)], 1500, true)];
        let address = std::net::SocketAddr::new(b.parse().unwrap(), 9);
        let listener = right.run(|| TcpListener::bind(address).unwrap()).unwrap();
        let receiving = right
            .spawn(move || {
                std::io::copy(&mut listener.accept().unwrap().0, &mut std::io::sink()).unwrap()
            })
            .unwrap();
        let sending = left
            .spawn(move || {
                TcpStream::connect(address).unwrap().write_all(&vec![7; 1_000_000]).unwrap()
            })
            .unwrap();
        let mut largest = (0, 0);
        let mut buffer = vec![0; Tun::BUFFER];
        while !receiving.is_finished() {
            for (from, to) in [(0, 1), (1, 0)] {
                while let Some(frame) = tuns[from].receive(&mut buffer).unwrap() {
                    let ipv6 = frame.packet[0] >> 4 == 6;
                    let ip_header = if ipv6 { 40 } else { 20 };
                    if frame.packet[if ipv6 { 6 } else { 9 }] != TCP {
                        continue;
                    }
                    let header = ip_header + 4 * usize::from(frame.packet[ip_header + 12] >> 4);
                    let (header, payload) = frame.packet.split_at(header);
                    largest = largest.max((payload.len(), frame.segment));
                    let gso = Gso {
                        ip_header: ip_header as u16,
                        segment: frame.segment,
                        partial_checksum: frame.partial_checksum,
                    };
                    tuns[to].send(header, [payload, &[]], gso).unwrap();
                }
            }
        }
        sending.join().unwrap().unwrap();
        assert_eq!(receiving.join().unwrap().unwrap(), 1_000_000);
        assert_eq!(largest.1, smss);
        assert!(largest.0 > 10 * usize::from(smss), "{largest:?}");
    }
}

#[test]
fn namespaces_are_apart_and_devices_go_with_their_owner() {
    let (Some(left), Some(right)) = (namespace(), namespace()) else { return };
    let names = |n: &ackclock_live::Namespace| {
        let mut names =
            n.run(|| std::fs::read_to_string("/proc/thread-self/net/dev").unwrap()).unwrap();
        names.retain(|c| c.is_ascii_alphanumeric() || c == ':');
        (names.contains("tun0:"), names.contains("lo:"))
    };
    let device = tun(&left, &[("10.0.0.1", 24)], 1500, false);
    assert_eq!((names(&left), names(&right)), ((true, true), (false, true)));
    drop(device);
    assert_eq!(names(&left), (false, true));
    left.sysctl("net/ipv4/ip_forward", "1").unwrap();
    let forwards = |n: &ackclock_live::Namespace| {
        n.run(|| std::fs::read("/proc/sys/net/ipv4/ip_forward").unwrap()).unwrap()
    };
    assert_eq!((&forwards(&left)[..], &forwards(&right)[..]), (&b"1\n"[..], &b"0\n"[..]));
    assert_eq!(left.sysctl("net/ipv4/no_such", "1").unwrap_err().kind(), ErrorKind::NotFound);
    left.run(|| drop(TcpListener::bind("127.0.0.1:80").unwrap())).unwrap();
}

#[test]
fn loopback_is_up() {
    let Some(namespace) = namespace() else { return };
    let listener = namespace.run(|| TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    namespace.run(|| TcpStream::connect(address).unwrap()).unwrap();
}
