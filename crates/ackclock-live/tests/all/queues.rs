//! A device with several queues: where flows go, and hosts that share an address.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use ackclock_live::{Host, Namespace, Stray, Tun, TunConfig};
use ackclock_stack::{Ready, SocketId, StackConfig};

use crate::common::{config, kernel_connect, namespace};

fn device(name: &str) -> TunConfig {
    let addresses = vec![("10.0.0.1".parse().unwrap(), 24), ("fd00::1".parse().unwrap(), 64)];
    TunConfig { name: name.into(), addresses, mtu: 1500, offload: false }
}

fn queues(namespace: &Namespace, queues: usize) -> Vec<Tun> {
    namespace.run(|| Tun::open_queues(&device("tun%d"), queues)).unwrap().unwrap()
}

#[test]
fn a_device_has_as_many_queues_as_are_asked_for() {
    let Some(namespace) = namespace() else { return };
    for n in [0, 257] {
        let error = namespace.run(|| Tun::open_queues(&device("tun%d"), n)).unwrap().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(error.to_string(), "a device has from 1 to 256 queues");
    }
    for n in [1, 2, 3, 16] {
        let all = queues(&namespace, n);
        assert!(all.iter().all(|queue| queue.name() == "tun0"));
        assert_eq!(all.len(), n);
        let error = namespace.run(|| Tun::open_queues(&device("tun0"), n)).unwrap().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    }
}

/// The queue at which a UDP packet waits, and the packet.
fn arrived(queues: &[Tun]) -> (usize, Vec<u8>) {
    let mut buffer = vec![0; Tun::BUFFER];
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(5) {
        for (n, queue) in queues.iter().enumerate() {
            while let Some(packet) = queue.receive_packet(&mut buffer).unwrap() {
                if packet[0] >> 4 == 4 && packet[9] == 17 {
                    return (n, packet.to_vec());
                }
            }
        }
    }
    panic!("no packet");
}

/// The packet that answers this one, of UDP or TCP over IPv4.
fn reversed(packet: &[u8]) -> Vec<u8> {
    let mut answer = packet.to_vec();
    answer[12..20].rotate_left(4);
    answer[20..24].rotate_left(2);
    answer
}

#[test]
fn a_flow_stays_at_the_queue_that_answers_it() {
    let Some(namespace) = namespace() else { return };
    let queues = queues(&namespace, 2);
    let to: SocketAddr = "10.0.0.9:7".parse().unwrap();
    let flow = || {
        let socket = namespace.run(|| UdpSocket::bind("10.0.0.1:0")).unwrap().unwrap();
        socket.connect(to).unwrap();
        socket
    };
    let flows: Vec<UdpSocket> = (0..32).map(|_| flow()).collect();
    let ask = |socket: &UdpSocket| {
        socket.send(b"hello").unwrap();
        arrived(&queues)
    };
    let first: Vec<_> = flows.iter().map(ask).collect();
    // Both have some: all 32 at one has a probability of 2^-31.
    for queue in 0..2 {
        assert!(first.iter().any(|(at, _)| *at == queue));
    }
    for (queue, packet) in &first {
        queues[*queue].send_packet(&reversed(packet)).unwrap();
    }
    let at = |asked: &[(usize, Vec<u8>)]| asked.iter().map(|(at, _)| *at).collect::<Vec<_>>();
    let again: Vec<_> = flows.iter().map(ask).collect();
    assert_eq!(at(&again), at(&first));
    // What the kernel knows of a flow is forgotten after 3 s; a hash leads it to the same queue.
    std::thread::sleep(Duration::from_secs(5));
    let later: Vec<_> = flows.iter().map(ask).collect();
    assert_eq!(at(&later), at(&first));
    // An answer by the other queue would move it.
    queues[1 - first[0].0].send_packet(&reversed(&first[0].1)).unwrap();
    assert_eq!(ask(&flows[0]).0, 1 - first[0].0);
}

/// Two hosts with one address, each with a queue, and what they have not taken.
struct Hosts {
    hosts: Vec<Host>,
    strays: Vec<Receiver<Stray>>,
    /// Of each, its sockets by the peer's port.
    sockets: [HashMap<u16, SocketId>; 2],
    handed_over: usize,
}

impl Hosts {
    fn new(namespace: &Namespace) -> Hosts {
        let stack =
            StackConfig { addresses: vec!["10.0.0.2".parse().unwrap()], ..StackConfig::default() };
        let mut hosts = Host::on_queues(queues(namespace, 2), &stack);
        let mut strays = Vec::new();
        for host in &mut hosts {
            let (sender, receiver) = channel();
            host.set_others(Box::new(move |stray| sender.send(stray).unwrap()));
            host.stack().listen("10.0.0.2:80".parse().unwrap(), config(), 64).unwrap();
            strays.push(receiver);
        }
        Hosts { hosts, strays, sockets: Default::default(), handed_over: 0 }
    }

    /// Works for a moment; what is for nobody is answered by where it came.
    fn run(&mut self) {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(50) {
            for n in 0..2 {
                self.hosts[n].turn().unwrap();
                while let Some(ready) = self.hosts[n].stack().poll_ready() {
                    if let Ready::Accept(listener) = ready {
                        let socket = self.hosts[n].stack().accept(listener).unwrap();
                        let remote = self.hosts[n].stack().status(socket).unwrap().remote;
                        self.sockets[n].insert(remote.port(), socket);
                    }
                }
                for stray in self.strays[n].try_iter().collect::<Vec<_>>() {
                    if self.hosts[1 - n].offer(&stray) {
                        self.handed_over += 1;
                    } else {
                        self.hosts[n].receive(&stray);
                    }
                }
            }
        }
    }

    fn read(&mut self, host: usize, socket: SocketId) -> Vec<u8> {
        let now = self.hosts[host].now();
        let mut buffer = vec![0; 100];
        let n = self.hosts[host].stack().read(now, socket, &mut buffer).unwrap_or(0);
        buffer.truncate(n);
        buffer
    }
}

#[test]
fn hosts_hand_over_what_comes_to_the_wrong_queue() {
    let Some(namespace) = namespace() else { return };
    let mut hosts = Hosts::new(&namespace);
    let to: SocketAddr = "10.0.0.2:80".parse().unwrap();
    let mut clients = Vec::new();
    for _ in 0..32 {
        clients.push(std::thread::scope(|scope| {
            let client = scope.spawn(|| kernel_connect(&namespace, to));
            while !client.is_finished() {
                hosts.run();
            }
            client.join().unwrap()
        }));
    }
    hosts.run();
    let [first, second] = &hosts.sockets;
    assert_eq!(first.len() + second.len(), 32);
    assert!(!first.is_empty() && !second.is_empty());
    assert_eq!(hosts.handed_over, 0);

    // A packet of a flow that the other queue writes leads the flow there. An old ACK does no harm.
    let mut client = clients.pop().unwrap();
    let port = client.local_addr().unwrap().port();
    let owner = usize::from(!hosts.sockets[0].contains_key(&port));
    let socket = hosts.sockets[owner][&port];
    let [high, low] = port.to_be_bytes();
    let mut segment = [0; 40];
    segment[..20]
        .copy_from_slice(&[0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1]);
    segment[20..34].copy_from_slice(&[0, 80, high, low, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10]);
    for range in [10..12, 36..38] {
        let sum = if range.start == 10 { checksum(&segment[..20], 0) } else { tcp_sum(&segment) };
        segment[range].copy_from_slice(&sum.to_be_bytes());
    }
    hosts.hosts[1 - owner].tun().send_packet(&segment).unwrap();
    client.write_all(b"hello").unwrap();
    hosts.run();
    assert!(hosts.handed_over > 0);
    assert_eq!(hosts.read(owner, socket), b"hello");
    // The owner's answers have led it back.
    hosts.handed_over = 0;
    client.write_all(b"again").unwrap();
    hosts.run();
    assert_eq!((hosts.handed_over, hosts.read(owner, socket)), (0, b"again".to_vec()));
    // Nobody's connection is refused by where it came.
    hosts.hosts.iter_mut().zip(&hosts.sockets).for_each(|(host, sockets)| {
        let now = host.now();
        sockets.values().for_each(|socket| host.stack().abort(now, *socket));
        host.flush();
    });
    hosts.run();
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let refused = std::thread::scope(|scope| {
        let attempt = scope.spawn(|| {
            namespace.run(|| std::net::TcpStream::connect("10.0.0.2:81")).unwrap().map(drop)
        });
        while !attempt.is_finished() {
            hosts.run();
        }
        attempt.join().unwrap()
    });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

fn checksum(bytes: &[u8], mut sum: u32) -> u16 {
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    }
    while sum >> 16 > 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Over the pseudo-header (RFC 9293 section 3.1), too.
fn tcp_sum(packet: &[u8]) -> u16 {
    let pseudo = [&packet[12..20], &[0, 6, 0, 20]].concat();
    checksum(&[&pseudo[..], &packet[20..]].concat(), 0)
}
