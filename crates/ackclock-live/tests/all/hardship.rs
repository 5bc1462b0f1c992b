//! What may befall connections on a real wire.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ackclock_live::{Namespace, Net, Tun};
use ackclock_stack::{Error, Ready, SocketId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::common::*;

fn ours(port: u16) -> SocketAddr {
    SocketAddr::new([10, 0, 0, 2].into(), port)
}

/// A process that reads what we send is killed: its kernel resets the connection.
#[test]
fn peer_killed_in_the_middle_of_a_transfer() {
    let Some((namespace, net)) = pair() else { return };
    let listener = net.listen(ours(80), config(), 1).unwrap();
    let mut peer = namespace
        .run(|| {
            let script = "exec cat </dev/tcp/10.0.0.2/80";
            Command::new("bash").args(["-c", script]).stdout(Stdio::null()).spawn().unwrap()
        })
        .unwrap();
    let mut stream = listener.accept().unwrap().0;
    let mut written = 0;
    let error = loop {
        match stream.write(&[7; 100_000]) {
            Ok(len) => written += len,
            Err(error) => break error,
        }
        if written > 10_000_000 {
            peer.kill().unwrap();
        }
    };
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    peer.wait().unwrap();
}

/// The ACK that a timer waits for has come, but waits behind other packets: nothing is sent again.
#[test]
fn timers_wait_for_what_has_come() {
    let Some(namespace) = namespace() else { return };
    let tun = tun(&namespace, &[("10.0.0.1", 24)], 1500, true);
    let mut host = host(tun, &["10.0.0.2"]);
    let (listener, address) = kernel_listener(&namespace, "10.0.0.1");
    let now = host.now();
    let socket = host.stack().connect(now, address, config()).unwrap();
    host.flush();
    while host.stack().status(socket).unwrap().writable == 0 {
        host.turn().unwrap();
    }
    let _peer = listener.accept().unwrap();
    let others = namespace.run(|| std::net::UdpSocket::bind("10.0.0.1:0")).unwrap().unwrap();
    for _ in 0..1000 {
        others.send_to(b"hello", "10.0.0.2:7").unwrap();
    }
    let now = host.now();
    host.stack().write(now, socket, &[7; 100]).unwrap();
    host.flush();
    // Longer than a probe and a retransmission wait.
    thread::sleep(Duration::from_millis(600));
    while host.stack().status(socket).unwrap().unacked > 0 {
        host.turn().unwrap();
    }
    let stats = *host.stack().sender(socket).unwrap().stats();
    assert_eq!((stats.segments_sent, stats.retransmissions, stats.timeouts), (1, 0, 0));
}

/// The device goes down in the middle of transfers both ways, and comes up again: both go on, and
/// not a byte is wrong.
fn link_down(time: Duration) {
    let Some((namespace, net)) = pair() else { return };
    const BYTES: u64 = 300_000_000;
    let (listener, address) = kernel_listener(&namespace, "10.0.0.1");
    let stream = net.connect(address, config()).unwrap();
    let peer = listener.accept().unwrap().0;
    let halves = (stream.try_clone().unwrap(), peer.try_clone().unwrap());
    let sending = thread::spawn(move || {
        let sent = send(&stream, BYTES).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        sent
    });
    let answering = thread::spawn(move || {
        let sent = send(&peer, BYTES).unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        sent
    });
    let receiving = thread::spawn(move || receive(halves.1).unwrap());
    let answered = thread::spawn(move || receive(halves.0).unwrap());
    thread::sleep(Duration::from_millis(50));
    assert!(!receiving.is_finished() && !answered.is_finished(), "over before the link went down");
    namespace.set_link("tun0", false).unwrap();
    thread::sleep(time);
    assert!(!receiving.is_finished() && !answered.is_finished());
    namespace.set_link("tun0", true).unwrap();
    assert_eq!(receiving.join().unwrap(), sending.join().unwrap());
    assert_eq!(answered.join().unwrap(), answering.join().unwrap());
    net.with_host(|host| assert!(host.unsent() > 0));
}

#[test]
fn link_down_for_two_seconds() {
    link_down(Duration::from_secs(2));
}

/// Part of `make soak`.
#[test]
#[ignore = "takes a minute"]
fn link_down_for_thirty_seconds() {
    link_down(Duration::from_secs(30));
}

/// The reader sleeps, with its window closed, for longer than a window probe takes; then it reads.
fn closed_window(time: Duration) {
    let Some((namespace, net)) = pair() else { return };
    const BYTES: u64 = 30_000_000;
    let listener = net.listen(ours(80), config(), 1).unwrap();
    let peer = kernel_connect(&namespace, ours(80));
    let stream = listener.accept().unwrap().0;
    let halves = (stream.try_clone().unwrap(), peer.try_clone().unwrap());
    peer.set_write_timeout(None).unwrap();
    let sending = thread::spawn(move || {
        let sent = send(&halves.0, BYTES).unwrap();
        halves.0.shutdown(Shutdown::Write).unwrap();
        sent
    });
    let answering = thread::spawn(move || {
        let sent = send(&halves.1, BYTES).unwrap();
        halves.1.shutdown(Shutdown::Write).unwrap();
        sent
    });
    thread::sleep(time);
    assert!(!sending.is_finished() && !answering.is_finished());
    let answered = thread::spawn(move || receive(stream).unwrap());
    assert_eq!(receive(peer).unwrap(), sending.join().unwrap());
    assert_eq!(answered.join().unwrap(), answering.join().unwrap());
}

#[test]
fn window_closed_for_two_seconds() {
    closed_window(Duration::from_secs(2));
}

/// Part of `make soak`.
#[test]
#[ignore = "takes a minute"]
fn window_closed_for_a_minute() {
    closed_window(Duration::from_secs(60));
}

const MANY: usize = 2_000;

/// Files that a process may open; the tests of the many need more than the usual 1,024.
fn many_files() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).unwrap();
}

/// All connections are open at the same time, and each gets its own bytes back.
#[test]
fn many_connections_to_the_kernel() {
    let Some((namespace, net)) = pair() else { return };
    many_files();
    let (listener, address) = kernel_listener(&namespace, "10.0.0.1");
    let small =
        || ackclock_stack::TcpConfig { send_buffer: 20_000, receive_buffer: 20_000, ..config() };
    let mut streams = Vec::new();
    let mut peers = Vec::new();
    for _ in 0..MANY {
        streams.push(net.connect(address, small()).unwrap());
        peers.push(listener.accept().unwrap().0);
    }
    assert_eq!(net.with_stack(|stack, _| stack.connections()), MANY);
    let message = |n: usize| (n as u32).to_be_bytes().repeat(2_500);
    for (n, stream) in streams.iter_mut().enumerate() {
        stream.write_all(&message(n)).unwrap();
    }
    let mut buffer = vec![0; 10_000];
    for peer in &mut peers {
        peer.read_exact(&mut buffer).unwrap();
        peer.write_all(&buffer).unwrap();
    }
    for (n, stream) in streams.iter_mut().enumerate() {
        stream.read_exact(&mut buffer).unwrap();
        assert_eq!(buffer, message(n));
    }
    drop(peers);
    for stream in &mut streams {
        assert_eq!(stream.read(&mut buffer).unwrap(), 0);
    }
    drop(streams);
    // The peers closed first, and so keep TIME-WAIT: ours are gone for good.
    let begin = Instant::now();
    while net.with_stack(|stack, _| stack.connections()) > 0 {
        assert!(begin.elapsed() < Duration::from_secs(5));
        thread::sleep(Duration::from_millis(10));
    }
}

/// The same the other way round, on a [`Host`](ackclock_live::Host) in one thread, without a lock
/// or a blocking call.
#[test]
fn many_connections_from_the_kernel() {
    let Some(namespace) = namespace() else { return };
    many_files();
    let tun = tun(&namespace, &[("10.0.0.1", 24)], 1500, true);
    let mut host = host(tun, &["10.0.0.2"]);
    let small =
        ackclock_stack::TcpConfig { send_buffer: 20_000, receive_buffer: 20_000, ..config() };
    let listener = host.stack().listen(ours(7), small, MANY).unwrap();
    let clients = namespace
        .spawn(|| {
            let mut streams: Vec<_> =
                (0..MANY).map(|_| std::net::TcpStream::connect(ours(7)).unwrap()).collect();
            let message = |n: usize| (n as u32).to_be_bytes().repeat(2_500);
            for (n, stream) in streams.iter_mut().enumerate() {
                patient(stream);
                stream.write_all(&message(n)).unwrap();
            }
            let mut buffer = Vec::new();
            for (n, stream) in streams.iter_mut().enumerate() {
                stream.shutdown(Shutdown::Write).unwrap();
                buffer.clear();
                stream.read_to_end(&mut buffer).unwrap();
                assert!(buffer == message(n), "{n}");
            }
        })
        .unwrap();
    let mut most = 0;
    let mut buffer = vec![0; 16_384];
    let mut held: std::collections::HashMap<SocketId, Vec<u8>> = std::collections::HashMap::new();
    while !clients.is_finished() {
        let ready: Vec<Ready> = std::iter::from_fn(|| host.stack().poll_ready()).collect();
        for ready in ready {
            let mut sockets = Vec::new();
            match ready {
                Ready::Accept(_) => {
                    while let Ok(socket) = host.stack().accept(listener) {
                        sockets.push(socket);
                    }
                }
                Ready::Socket(socket) => sockets.push(socket),
            }
            for socket in sockets {
                echo(&mut host, socket, held.entry(socket).or_default(), &mut buffer);
            }
        }
        most = most.max(host.stack().connections());
        let timeout = host.timeout().unwrap_or(Duration::MAX).min(Duration::from_millis(10));
        let timeout = Timespec::try_from(timeout).unwrap();
        poll(&mut [PollFd::new(&host, PollFlags::IN)], Some(&timeout)).unwrap();
        host.turn().unwrap();
    }
    clients.join().unwrap().unwrap();
    assert_eq!(most, MANY);
}

/// Takes what has come, and sends back what it can.
fn echo(host: &mut ackclock_live::Host, socket: SocketId, held: &mut Vec<u8>, buffer: &mut [u8]) {
    let mut at_end = false;
    loop {
        let now = host.now();
        match host.stack().read(now, socket, buffer) {
            Ok(0) => at_end = true,
            Ok(len) => {
                held.extend_from_slice(&buffer[..len]);
                host.flush();
                continue;
            }
            Err(Error::WouldBlock) => {}
            Err(error) => panic!("{error}"),
        }
        break;
    }
    while !held.is_empty() {
        let now = host.now();
        match host.stack().write(now, socket, held) {
            Ok(len) => drop(held.drain(..len)),
            Err(Error::WouldBlock) => break,
            Err(error) => panic!("{error}"),
        }
        host.flush();
    }
    if at_end && held.is_empty() {
        let now = host.now();
        host.stack().close(now, socket);
        host.flush();
    }
}

/// A device from which anything at all can be sent to our host: the kernel forwards it.
fn attacker(namespace: &Namespace) -> Tun {
    namespace.sysctl("net/ipv4/ip_forward", "1").unwrap();
    for device in ["all", "default"] {
        namespace.sysctl(&format!("net/ipv4/conf/{device}/rp_filter"), "0").unwrap();
        // The kernel would not take its own address for a source.
        namespace.sysctl(&format!("net/ipv4/conf/{device}/accept_local"), "1").unwrap();
    }
    tun(namespace, &[("10.6.6.1", 24)], 1500, false)
}

/// The one's complement sum of RFC 1071.
fn checksum(sum: u32, bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|w| u32::from(u16::from_be_bytes([w[0], w.get(1).copied().unwrap_or(0)])));
    let sum = words.fold(sum, |sum, word| sum + word);
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}

/// A TCP segment over IPv4; `rest` is what follows the flags, except the checksum, which is right
/// if `honest`.
fn forged(
    from: SocketAddr,
    to: SocketAddr,
    seq: u32,
    ack: u32,
    flags: u8,
    rest: &[u8],
    honest: bool,
) -> Vec<u8> {
    let (SocketAddr::V4(from), SocketAddr::V4(to)) = (from, to) else { panic!("IPv4") };
    let options = rest.len().min(40) & !3;
    let mut tcp = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
    tcp.extend(seq.to_be_bytes());
    tcp.extend(ack.to_be_bytes());
    tcp.extend([((20 + options) as u8 / 4) << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
    tcp.extend(rest);
    let addresses = [from.ip().octets(), to.ip().octets()].concat();
    let pseudo =
        addresses.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum::<u32>() + 6;
    let sum = checksum(pseudo + tcp.len() as u32, &tcp) ^ u16::from(!honest);
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
    let mut packet = vec![0x45, 0];
    packet.extend((20 + tcp.len() as u16).to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, 6, 0, 0]);
    packet.extend(addresses);
    let sum = checksum(0, &packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend(tcp);
    packet
}

/// While a transfer runs, segments of every kind are forged in its name, by somebody who knows its
/// addresses but not its sequence numbers: blind resets, SYNs, data and ACKs, with garbage for
/// options.
#[test]
fn blind_attacks_do_no_harm() {
    let Some((namespace, net)) = pair() else { return };
    let attacker = attacker(&namespace);
    let (listener, address) = kernel_listener(&namespace, "10.0.0.1");
    let stream = net.connect(address, config()).unwrap();
    let local = stream.local_addr().unwrap();
    let receiving = thread::spawn(move || receive(listener.accept().unwrap().0).unwrap());
    let sending = thread::spawn(move || send(&stream, 300_000_000).unwrap());
    let mut numbers = Pattern::new();
    let (mut count, mut bytes) = (0_u32, [0; 80]);
    while !sending.is_finished() {
        numbers.fill(&mut bytes);
        let word = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        // All flags but for those of ECN, and lengths from nothing to options and data.
        let packet = forged(
            address,
            local,
            word(0),
            word(4),
            bytes[8] & 0x3f,
            &bytes[10..10 + usize::from(bytes[9] % 70)],
            bytes[79] > 20,
        );
        attacker.send_packet(&packet).unwrap();
        count += 1;
        if count % 16 == 0 {
            thread::sleep(Duration::from_micros(100));
        }
    }
    assert_eq!(receiving.join().unwrap(), sending.join().unwrap());
    assert!(count > 100, "{count}");
    assert!(
        net.with_stack(|stack, _| stack.stats().bad_checksums) > 0,
        "no forged segment arrived"
    );
}

/// A flood of SYNs from addresses that answer nothing: others still get in, and nothing is kept.
#[test]
fn syn_flood() {
    let Some((namespace, net)) = pair() else { return };
    let attacker = attacker(&namespace);
    let listener = net.listen(ours(80), config(), 16).unwrap();
    let accepting = thread::spawn(move || {
        for _ in 0..20 {
            let mut stream = listener.accept().unwrap().0;
            stream.write_all(b"hello").unwrap();
        }
    });
    for n in 0..20_000_u32 {
        let from =
            SocketAddr::new([10, 6, 6, 2 + (n % 200) as u8].into(), 1024 + (n % 50_000) as u16);
        attacker.send_packet(&forged(from, ours(80), n, 0, 2, &[], true)).unwrap();
        if n % 1_000 == 999 {
            let mut answer = String::new();
            kernel_connect(&namespace, ours(80)).read_to_string(&mut answer).unwrap();
            assert_eq!(answer, "hello");
        }
    }
    accepting.join().unwrap();
    let (connections, stats) = net.with_stack(|stack, _| (stack.connections(), *stack.stats()));
    assert!(connections < 400, "{connections}");
    assert!(stats.cookies_sent > 10_000, "{stats:?}");
}

/// Packets that are no TCP at all, or only pieces of it.
#[test]
fn garbage() {
    let Some((namespace, net)) = pair() else { return };
    let attacker = attacker(&namespace);
    let listener = net.listen(ours(80), config(), 16).unwrap();
    let mut numbers = Pattern::new();
    let mut bytes = [0; 1400];
    for n in 0..5_000_usize {
        numbers.fill(&mut bytes);
        let mut packet =
            forged("10.6.6.6:6".parse().unwrap(), ours(80), 1, 1, 2, &bytes[..n % 1400], true);
        // Another protocol, or a piece of TCP or ICMP; the kernel looks at the IP header only.
        packet.truncate(20 + n % 1380);
        packet[9] = [1, 6, 17, 58, 132][n % 5];
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet[10..12].fill(0);
        let sum = checksum(0, &packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        attacker.send_packet(&packet).unwrap();
        if n % 500 == 0 {
            drop(kernel_connect(&namespace, ours(80)));
            drop(listener.accept().unwrap());
        }
    }
    // ICMP is malformed; the protocols that are neither it nor TCP are ignored.
    let stats = net.with_stack(|stack, _| *stack.stats());
    assert!(stats.malformed > 300 && stats.ignored > 1_000, "{stats:?}");
}

/// The host's descriptor is the device's: it is not readable when there is nothing to do.
#[test]
fn an_idle_host_sleeps() {
    let Some(namespace) = namespace() else { return };
    namespace.sysctl("net/ipv6/conf/default/disable_ipv6", "1").unwrap();
    let mut host = host(tun(&namespace, &[("10.0.0.1", 24)], 1500, true), &["10.0.0.2"]);
    host.turn().unwrap();
    assert_eq!(host.timeout(), None);
    let fd = host.as_fd();
    assert_eq!(
        poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))
            .unwrap(),
        0
    );
    let _ = Net::start(host).unwrap();
}
