//! `serve` and `proxy` with several queues. The tests need root, curl and ip; without root they say
//! that they were skipped.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::daemon::{
    ADDRESS, Daemon, URL, backend, connect, curl, metrics, namespace, noise, rest, run, scratch,
    serve, settled,
};
use crate::pair::Pair;

const METRICS: &str = "127.0.0.1:9100";
const TWO: [&str; 4] = ["--queues", "2", "--metrics", METRICS];

fn of_queues(now: &BTreeMap<String, f64>, family: &str) -> [f64; 2] {
    [0, 1].map(|n| now[&format!("ackclock_queue_{family}_total{{queue=\"{n}\"}}")])
}

/// 200 connections go to one queue by chance once in 2^199 times.
#[test]
fn both_queues_carry_connections_and_metrics_add_up() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("queues-parallel");
    for i in 0..200 {
        fs::write(dir.join(format!("file-{i}")), noise(50_000 + 1000 * i, i as u64)).unwrap();
    }
    let log = dir.join("log");
    let server = serve(&ns, &dir, &[&TWO[..], &["--access-log", log.to_str().unwrap()]].concat());
    // The one that heeds signals, one for each queue, and that of the access log.
    assert_eq!(settled(|| server.status("Threads")), "4");
    let out = dir.join("out-#1");
    let args = ["--fail-early", "--fail", "--parallel", "--parallel-immediate"];
    let of = ["--parallel-max", "200", "-o", out.to_str().unwrap()];
    curl(&ns, &[&args[..], &of, &[&format!("{URL}/file-[0-199]")]].concat());
    for i in 0..200 {
        let read = |name: &str| fs::read(dir.join(format!("{name}-{i}"))).unwrap();
        assert!(read("file") == read("out"), "{i}");
    }
    let now = settled(|| metrics(&ns, METRICS));
    assert_eq!(now["ackclock_connections_open"], 0.0);
    assert_eq!(now["ackclock_connections_total"], 200.0);
    assert_eq!(now["ackclock_http_responses_total{code=\"200\"}"], 200.0);
    assert_eq!(now["ackclock_http_response_seconds_count"], 200.0);
    let [first, second] = of_queues(&now, "connections");
    assert!(first > 0.0 && second > 0.0, "{first} {second}");
    assert_eq!(first + second, 200.0);
    // A handshake, a request, and a FIN are three packets at least.
    let packets = of_queues(&now, "packets");
    assert!(packets[0] >= 3.0 * first && packets[1] >= 3.0 * second, "{packets:?}");
    assert_eq!(now["ackclock_handed_over_packets_total"], 0.0);
    let said = server.end();
    assert!(said.starts_with("200 connections, 0 cut off; "), "{said}");
    let sent = now["ackclock_bytes_total{direction=\"sent\"}"];
    assert!(said.contains(&format!(" {sent} out; ")), "{said}");
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 200);
    let logged: f64 = lines.iter().map(|line| line["bytes_sent"].as_f64().unwrap()).sum();
    assert_eq!(logged, sent);
}

/// Whoever is idle at one queue makes room for those who wait at the other.
#[test]
fn who_is_idle_makes_room_at_any_queue() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("queues-room");
    fs::write(dir.join("file"), "hello").unwrap();
    let server = serve(&ns, &dir, &[&TWO[..], &["--max-connections", "1"]].concat());
    let mut idle = connect(&ns, ADDRESS);
    // As browsers do, it closes when it has to.
    let idle = std::thread::spawn(move || assert_eq!(rest(&mut idle), ""));
    // 16 come to one queue by chance once in 2^15 times, and each of them is served in its turn.
    for _ in 0..16 {
        let mut client = connect(&ns, ADDRESS);
        client.write_all(b"GET /file HTTP/1.0\r\n\r\n").unwrap();
        assert!(rest(&mut client).ends_with("hello"));
    }
    let now = settled(|| metrics(&ns, METRICS));
    assert!(of_queues(&now, "connections").iter().all(|n| *n > 0.0));
    idle.join().unwrap();
    server.end();
}

/// The kernel forgets a flow after 3 s; its hash leads it to the same queue.
#[test]
fn connections_that_rest_stay_at_their_queue() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("queues-rest");
    fs::write(dir.join("file"), "hello").unwrap();
    let server = serve(&ns, &dir, &TWO);
    let mut clients: Vec<TcpStream> = (0..32).map(|_| connect(&ns, ADDRESS)).collect();
    let ask = |clients: &mut Vec<TcpStream>| {
        for client in clients {
            client.write_all(b"GET /file HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
            let mut response = Vec::new();
            while !response.ends_with(b"hello") {
                let mut bytes = [0; 512];
                let n = client.read(&mut bytes).unwrap();
                assert!(n > 0);
                response.extend_from_slice(&bytes[..n]);
            }
        }
    };
    ask(&mut clients);
    std::thread::sleep(Duration::from_secs(5));
    ask(&mut clients);
    let now = metrics(&ns, METRICS);
    assert_eq!(now["ackclock_connections_open"], 32.0);
    assert_eq!(now["ackclock_http_responses_total{code=\"200\"}"], 64.0);
    assert_eq!(now["ackclock_retransmissions_total"], 0.0);
    assert_eq!(now["ackclock_resets_sent_total"], 0.0);
    assert_eq!(now["ackclock_handed_over_packets_total"], 0.0);
    assert!(of_queues(&now, "connections").iter().all(|n| *n > 0.0));
    drop(clients);
    server.end();
}

/// An error of ICMP comes to the queue of its own hash. Without it, connections of the other queue
/// would send what is too big for ever.
#[test]
fn both_queues_hear_of_a_narrow_path() {
    let Some(pair) = Pair::new("queues") else { return };
    let [left, right] = &pair.names;
    for args in [
        format!("link add va netns {left} type veth peer name vb netns {right}"),
        format!("-n {left} addr add 10.80.0.1/24 dev va"),
        format!("-n {right} addr add 10.80.0.2/24 dev vb"),
        format!("-n {left} link set lo up"),
        format!("-n {left} link set va up"),
        format!("-n {right} link set vb up"),
        format!("-n {left} route add 10.80.0.2/32 dev va mtu lock 1000"),
        format!("-n {right} route add default via 10.80.0.1"),
    ] {
        assert!(Command::new("ip").args(args.split(' ')).status().unwrap().success(), "ip {args}");
    }
    let [ns, clients] = [0, 1].map(|side| pair.namespace(side));
    ns.sysctl("net/ipv4/ip_forward", "1").unwrap();
    let dir = scratch("queues-narrow");
    let bytes = noise(100_000, 12);
    fs::write(dir.join("file"), &bytes).unwrap();
    let server = serve(&ns, &dir, &TWO);
    // All are open before the first error: later ones would know of the path what it told.
    let mut clients: Vec<_> = (0..32).map(|_| connect(&clients, ADDRESS)).collect();
    for client in &mut clients {
        client.write_all(b"GET /file HTTP/1.0\r\n\r\n").unwrap();
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        assert!(got.ends_with(&bytes));
    }
    let now = settled(|| metrics(&ns, METRICS));
    assert!(of_queues(&now, "connections").iter().all(|n| *n > 0.0));
    assert!(now["ackclock_handed_over_packets_total"] > 0.0);
    assert_eq!(now["ackclock_connections_total"], 32.0);
    server.end();
}

#[test]
fn limits_are_of_all_queues_together() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("queues-limits");
    fs::write(dir.join("file"), "hello").unwrap();
    let server = serve(&ns, &dir, &[&TWO[..], &["--max-connections", "1"]].concat());
    let mut clients: Vec<TcpStream> = (0..16).map(|_| connect(&ns, ADDRESS)).collect();
    for client in &mut clients {
        client.write_all(b"GET /file HTTP/1.0\r\n").unwrap();
    }
    // No timer of a handshake runs any longer, which would have a queue look for room.
    std::thread::sleep(Duration::from_secs(3));
    let now = metrics(&ns, METRICS);
    // The request of the first one is not complete, so that its connection stays open.
    assert_eq!(now["ackclock_connections_open"], 1.0);
    assert_eq!(now["ackclock_connections_waiting"], 15.0);
    // Each that ends makes room for one that waits, at whichever queue. They come in any order.
    for client in &mut clients {
        client.write_all(b"\r\n").unwrap();
    }
    let threads: Vec<_> = clients
        .into_iter()
        .map(|mut client| std::thread::spawn(move || assert!(rest(&mut client).ends_with("hello"))))
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let now = settled(|| metrics(&ns, METRICS));
    assert_eq!(now["ackclock_connections_total"], 16.0);
    assert!(of_queues(&now, "connections").iter().all(|n| *n > 0.0));
    server.end();

    let server = serve(&ns, &dir, &[&TWO[..], &["--max-per-source", "3"]].concat());
    let clients: Vec<_> =
        (0..24).map(|_| ns.run(|| TcpStream::connect(ADDRESS)).unwrap()).collect();
    let now = settled(|| metrics(&ns, METRICS));
    assert_eq!(now["ackclock_connections_open"], 3.0);
    assert_eq!(now["ackclock_connections_refused_total{limit=\"connections\"}"], 21.0);
    assert_eq!(settled(|| server.said()).len(), 1, "not a line for each queue");
    drop(clients);
    server.end();
}

#[test]
fn signals_reach_all_queues() {
    let Some(ns) = namespace() else { return };
    let file = scratch("queues-signals").join("proxy.toml");
    let [one, two] = [backend(&ns, "one"), backend(&ns, "two")];
    let write = |to: SocketAddr, port: u16| {
        let listener = format!("[[listener]]\nlisten = \"10.77.0.2:{port}\"\nto = \"{to}\"\n");
        let http = format!("[[listener]]\nlisten = \"{ADDRESS}\"\nto = \"{to}\"\n");
        fs::write(&file, http + &listener).unwrap();
    };
    write(one, 81);
    let name = file.to_str().unwrap();
    let args = [&["proxy", "--listeners", name, "--drain", "20s"][..], &TWO].concat();
    let daemon = Daemon::start(&ns, &args);
    let greeted = |address: &str, by: &[u8; 3]| {
        let clients: Vec<TcpStream> = (0..32).map(|_| connect(&ns, address)).collect();
        for mut client in &clients {
            let mut greeting = [0; 3];
            client.read_exact(&mut greeting).unwrap();
            assert_eq!(&greeting, by);
        }
        clients
    };
    let mut old = greeted(ADDRESS, b"one");
    write(two, 82);
    let before = settled(|| daemon.said());
    daemon.signal(Signal::HUP);
    let said = settled(|| daemon.said()).split_off(before.len());
    assert_eq!(said, [format!("SIGHUP: 2 listeners from {name}")]);
    greeted(ADDRESS, b"two");
    greeted("10.77.0.2:82", b"two");
    for _ in 0..32 {
        let refused = ns.run(|| TcpStream::connect("10.77.0.2:81")).unwrap().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    }
    let now = settled(|| metrics(&ns, METRICS));
    assert!(of_queues(&now, "connections").iter().all(|n| *n > 0.0));
    assert_eq!(now["ackclock_connections_open"], 32.0);

    // What is open goes on, and ends at both queues.
    daemon.signal(Signal::TERM);
    for client in &mut old {
        client.write_all(b"old").unwrap();
        client.read_exact(&mut [0; 3]).unwrap();
    }
    // Nor does it listen anew.
    daemon.signal(Signal::HUP);
    settled(|| daemon.said());
    for _ in 0..32 {
        assert!(ns.run(|| TcpStream::connect(ADDRESS)).unwrap().is_err());
    }
    drop(old);
    let said = daemon.wait();
    assert!(said.starts_with("96 connections, 0 cut off; "), "{said}");
    // A second signal does not wait for any of them.
    let daemon = Daemon::start(&ns, &args);
    let clients = greeted(ADDRESS, b"two");
    daemon.signal(Signal::TERM);
    daemon.signal(Signal::INT);
    let said = daemon.wait();
    assert!(said.starts_with("32 connections, 32 cut off; "), "{said}");
    drop(clients);
}

/// Where one thread cannot go on, none does.
#[test]
fn all_queues_end_with_the_device() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("queues-gone");
    let log = dir.join("log");
    let more = ["--tun", "gone", "--access-log", log.to_str().unwrap()];
    let server = serve(&ns, &dir, &[&TWO[..], &more].concat());
    let mut first = connect(&ns, ADDRESS);
    first.write_all(b"GET /none HTTP/1.0\r\n\r\n").unwrap();
    rest(&mut first);
    drop(first);
    let client = connect(&ns, ADDRESS);
    // The first one has ended, and the second one has been taken.
    let open_of = || {
        let now = metrics(&ns, METRICS);
        ["open", "total"].map(|n| now[&format!("ackclock_connections_{n}")])
    };
    while open_of() != [1.0, 2.0] {}
    assert!(run(&ns, "ip", &["link", "delete", "gone"]).status.success());
    let said = settled(|| server.said());
    assert_eq!(said, ["error: the TUN device is gone: File descriptor in bad state (os error 77)"]);
    let (code, out) = server.code_and_output();
    assert_eq!(code, Some(4));
    assert!(out.starts_with("2 connections, 1 cut off; "), "{out}");
    drop(client);
    // The lines of both are there, however soon after their end that was. Their order is open.
    let log = fs::read_to_string(log).unwrap();
    let mut ended: Vec<bool> = log.lines().map(|line| line.contains("cut_off")).collect();
    ended.sort();
    assert_eq!(ended, [false, true], "{log}");
}

#[test]
fn a_number_of_queues_that_cannot_be_is_refused() {
    let Some(ns) = namespace() else { return };
    for n in ["0", "65", "all"] {
        let output = run(&ns, env!("CARGO_BIN_EXE_ackclock"), &["serve", ".", "--queues", n]);
        let text = String::from_utf8(output.stderr).unwrap();
        let right = "write a number from 1 to 64, at most one for each core";
        assert_eq!((output.status.code(), text.contains(right)), (Some(2), true), "{text}");
    }
    let args = ["serve", ".", "--queues", "4", "--memory", "40mb"];
    let output = run(&ns, env!("CARGO_BIN_EXE_ackclock"), &args);
    let text = String::from_utf8(output.stderr).unwrap();
    let right = "error: --memory: 4 queues (--queues) take at least 41mb\n";
    assert_eq!((output.status.code(), &*text), (Some(2), right));
}
