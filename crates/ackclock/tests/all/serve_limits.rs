//! Many clients of `serve` at once, slow ones and silent ones, and what they may take. The tests
//! need root and curl; without root they say that they were skipped.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ackclock_live::Namespace;
use rustix::process::Signal;

use crate::daemon::{
    ADDRESS, Daemon, URL, codes, connect, curl, metrics, namespace, noise, rest, scratch, serve,
    settled,
};

#[test]
fn two_hundred_downloads_at_once() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-parallel");
    for i in 0..200 {
        fs::write(dir.join(format!("file-{i}")), noise(50_000 + 1000 * i, i as u64)).unwrap();
    }
    let server = serve(&ns, &dir, &[]);
    let out = dir.join("out-#1");
    let args =
        ["--fail-early", "--fail", "--parallel", "--parallel-immediate", "--parallel-max", "200"];
    curl(
        &ns,
        &[&args[..], &["-o", out.to_str().unwrap(), &format!("{URL}/file-[0-199]")]].concat(),
    );
    for i in 0..200 {
        let read = |name: &str| fs::read(dir.join(format!("{name}-{i}"))).unwrap();
        assert!(read("file") == read("out"), "{i}");
    }
    let said = server.end();
    assert!(said.starts_with("200 connections, 0 cut off; "), "{said}");
}

#[test]
fn two_thousand_connections_share_the_server() {
    let Some(ns) = namespace() else { return };
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let all = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, all).unwrap();
    let dir = scratch("serve-many");
    fs::write(dir.join("file"), noise(5000, 3)).unwrap();
    let server = serve(&ns, &dir, &["--metrics", "127.0.0.1:9100"]);
    let mut clients: Vec<TcpStream> = (0..2000).map(|_| connect(&ns, ADDRESS)).collect();
    let before = metrics(&ns, "127.0.0.1:9100");
    assert_eq!(before["ackclock_connections_open"], 2000.0);
    for client in &mut clients {
        client.write_all(b"GET /file HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
    }
    let expected = noise(5000, 3);
    for client in &mut clients {
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        assert!(got.ends_with(&expected));
    }
    drop(clients);
    server.end();
}

#[test]
fn connections_beyond_the_limit_wait_for_their_turn() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-limit");
    fs::write(dir.join("a"), "A").unwrap();
    let server = serve(&ns, &dir, &["--max-connections", "2"]);
    let mut clients: Vec<TcpStream> = (0..3).map(|_| connect(&ns, ADDRESS)).collect();
    for client in &mut clients {
        client.write_all(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    }
    for client in &mut clients[..2] {
        client.read_exact(&mut [0; 10]).unwrap();
    }
    clients[2].set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert_eq!(clients[2].read(&mut [0; 10]).unwrap_err().kind(), ErrorKind::WouldBlock);
    clients[2].set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    drop(clients.remove(0));
    clients[1].read_exact(&mut [0; 10]).unwrap();
    drop(clients);
    server.end();
}

/// Clients that are silent hold their places only as long as nobody waits; one whose request is not
/// complete keeps its own.
#[test]
fn who_is_idle_makes_room_for_those_who_wait() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-room");
    fs::write(dir.join("a"), "A").unwrap();
    let server = serve(&ns, &dir, &["--max-connections", "3"]);
    let mut asking = connect(&ns, ADDRESS);
    asking.write_all(b"GET /a ").unwrap();
    let mut silent = connect(&ns, ADDRESS);
    std::thread::sleep(Duration::from_millis(100));
    let mut later = connect(&ns, ADDRESS);
    std::thread::sleep(Duration::from_millis(100));
    let begin = Instant::now();
    let mut one = connect(&ns, ADDRESS);
    one.write_all(b"GET /a HTTP/1.0\r\n\r\n").unwrap();
    // It has FIN, and the others go on.
    assert_eq!(rest(&mut silent), "");
    drop(silent);
    assert_eq!(codes(&rest(&mut one)), ["200"]);
    let waited = begin.elapsed();
    assert!((1000..10_000).contains(&waited.as_millis()), "{waited:?}");
    later.write_all(b"GET /a HTTP/1.0\r\n\r\n").unwrap();
    asking.write_all(b"HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!([codes(&rest(&mut later)), codes(&rest(&mut asking))], [["200"], ["200"]]);
    drop((one, later, asking));
    server.end();
}

/// A client that does not answer FIN has its place for 2 s more, not for 5.
#[test]
fn who_ignores_the_end_makes_room_too() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-ignored");
    fs::write(dir.join("a"), "A").unwrap();
    let log = dir.join("log");
    let args = ["--max-connections", "1", "--access-log", log.to_str().unwrap()];
    let server = serve(&ns, &dir, &args);
    let mut ignores = connect(&ns, ADDRESS);
    ignores.write_all(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    ignores.read_exact(&mut [0; 10]).unwrap();
    let mut one = connect(&ns, ADDRESS);
    one.write_all(b"GET /a HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!(codes(&rest(&mut one)), ["200"]);
    // It had all that was sent.
    assert_eq!(codes(&format!("HTTP/1.1 2{}", rest(&mut ignores))).len(), 1);
    drop((ignores, one));
    server.end();
    let lines = fs::read_to_string(&log).unwrap();
    let line: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(line["ended"], "idle");
    // 2 s idle, 2 s to answer, and each time a second until it is looked at.
    let lasted = line["duration_s"].as_f64().unwrap();
    assert!((4.0..9.0).contains(&lasted), "{lasted}");
}

/// Who reads nothing of its response for some timeouts or window probes keeps its place, also where
/// another one waits for it.
#[test]
fn who_pauses_keeps_its_place() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-pause");
    let bytes = noise(4_000_000, 5);
    fs::write(dir.join("big"), &bytes).unwrap();
    fs::write(dir.join("a"), "A").unwrap();
    let server = serve(&ns, &dir, &["--max-connections", "1", "--metrics", "127.0.0.1:9100"]);
    let ask = |what: &str| {
        let mut client = connect(&ns, ADDRESS);
        rustix::net::sockopt::set_socket_recv_buffer_size(&client, 50_000).unwrap();
        client.write_all(format!("GET /{what} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
        client
    };
    let (mut pauses, mut waits) = (ask("big"), ask("a"));
    std::thread::sleep(Duration::from_secs(8));
    let mut got = Vec::new();
    pauses.read_to_end(&mut got).unwrap();
    assert!(got.ends_with(&bytes));
    drop(pauses);
    assert_eq!(codes(&rest(&mut waits)), ["200"]);
    assert_eq!(metrics(&ns, "127.0.0.1:9100")["ackclock_connections_displaced_total"], 0.0);
    server.end();
}

/// `many` asks for what has this byte so many times, and `one` with `head`. Both have sent that
/// before the server looks at it. `one` waits for less than a third of the time that all takes.
fn one_is_not_kept_waiting(
    (ns, server): (&Namespace, &Daemon),
    requests: &[u8],
    (byte, times): (u8, usize),
    head: &str,
) {
    let (mut many, mut one) = (connect(ns, ADDRESS), connect(ns, ADDRESS));
    // A machine that is busy may be late for one, but not every time.
    let shares = (0..5).map(|_| {
        server.signal(Signal::STOP);
        many.write_all(requests).unwrap();
        one.write_all(head.as_bytes()).unwrap();
        let begin = Instant::now();
        server.signal(Signal::CONT);
        one.read_exact(&mut [0; 12]).unwrap();
        let waited = begin.elapsed();
        assert!(one.read(&mut [0; 1000]).unwrap() > 0);
        let (mut got, mut chunk) = (0, [0; 65536]);
        while got < times {
            let n = many.read(&mut chunk).unwrap();
            got += chunk[..n].iter().filter(|&&b| b == byte).count();
        }
        waited.as_secs_f64() / begin.elapsed().as_secs_f64()
    });
    let least = shares.fold(1.0, f64::min);
    assert!(least < 0.3, "{least}");
}

#[test]
fn many_requests_at_once_keep_nobody_else_waiting() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-turns");
    fs::write(dir.join("a"), "A").unwrap();
    let server = serve(&ns, &dir, &[]);
    let head = "HEAD /a HTTP/1.1\nHost:\n\n";
    one_is_not_kept_waiting((&ns, &server), head.repeat(2000).as_bytes(), (b'H', 2000), head);
    server.end();
}

/// The same where each request asks for a page that takes a while to make.
#[test]
fn pages_of_a_directory_keep_nobody_else_waiting() {
    const PAGES: usize = 8;
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-pages");
    for i in 0..5000 {
        fs::write(dir.join(format!("{i}")), "").unwrap();
    }
    let server = serve(&ns, &dir, &[]);
    let pages = "GET / HTTP/1.1\nHost:\n\n".repeat(PAGES);
    // Each name stands in quotes, as a link.
    let quotes = (b'"', PAGES * 5000 * 2);
    let head = "HEAD /0 HTTP/1.1\nHost:\n\n";
    one_is_not_kept_waiting((&ns, &server), pages.as_bytes(), quotes, head);
    server.end();
}

/// Who reads nothing of a response has the time once: of one that the send buffer takes, of one
/// that it does not, and of the last one.
#[test]
fn who_reads_nothing_is_idle_once() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-reads-nothing");
    fs::write(dir.join("fits"), noise(2_000_000, 5)).unwrap();
    fs::write(dir.join("big"), noise(8_000_000, 5)).unwrap();
    let log = dir.join("log");
    let server = serve(&ns, &dir, &["--idle", "4s", "--access-log", log.to_str().unwrap()]);
    let ask = |request: &str| {
        let mut client = connect(&ns, ADDRESS);
        rustix::net::sockopt::set_socket_recv_buffer_size(&client, 100_000).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        client
    };
    let clients =
        ["GET /fits HTTP/1.1\nHost:\n\n", "GET /big HTTP/1.0\n\n", "GET /fits HTTP/1.0\n\n"];
    let clients = clients.map(ask);
    std::thread::sleep(Duration::from_secs(12));
    let lines = fs::read_to_string(&log).unwrap();
    assert_eq!(lines.lines().count(), 3);
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["ended"], "idle");
        // Each time that something is looked at is up to a second late.
        let lasted = line["duration_s"].as_f64().unwrap();
        assert!((4.0..8.0).contains(&lasted), "{line}");
    }
    drop(clients);
    server.end();
}

/// Who reads slowly gets all, also of a response that the send buffer takes.
#[test]
fn who_reads_slowly_is_not_idle() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-reads-slowly");
    fs::write(dir.join("fits"), noise(1_000_000, 5)).unwrap();
    let server = serve(&ns, &dir, &["--idle", "2s"]);
    let mut client = connect(&ns, ADDRESS);
    rustix::net::sockopt::set_socket_recv_buffer_size(&client, 50_000).unwrap();
    for _ in 0..2 {
        client.write_all(b"GET /fits HTTP/1.1\nHost:\n\n").unwrap();
        let mut got = Vec::new();
        let mut chunk = vec![0; 100_000];
        while got.len() < 1_000_000 {
            std::thread::sleep(Duration::from_millis(500));
            let n = client.read(&mut chunk).unwrap();
            assert!(n > 0);
            got.extend_from_slice(&chunk[..n]);
        }
        while !got.ends_with(&noise(1_000_000, 5)[999_000..]) {
            let n = client.read(&mut chunk).unwrap();
            got.extend_from_slice(&chunk[..n]);
        }
    }
    drop(client);
    server.end();
}

#[test]
fn patience_has_limits() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-patience");
    fs::write(dir.join("big"), noise(4_000_000, 5)).unwrap();
    let server = serve(&ns, &dir, &["--idle", "1s", "--send-buffer", "64kb"]);
    let begin = Instant::now();
    let mut silent = connect(&ns, ADDRESS);
    let mut half = connect(&ns, ADDRESS);
    half.write_all(b"GET / HT").unwrap();
    let mut stuck = connect(&ns, ADDRESS);
    stuck.write_all(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert_eq!(rest(&mut silent), "");
    assert_eq!(codes(&rest(&mut half)), ["408"]);
    let waited = begin.elapsed();
    assert!(waited > Duration::from_secs(1) && waited < Duration::from_secs(4), "{waited:?}");
    // What the kernel holds for it can still be read, unless the reset has thrown it away.
    std::thread::sleep(Duration::from_secs(3));
    let mut got = Vec::new();
    assert_eq!(stuck.read_to_end(&mut got).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(got.len() < 4_000_000);
    server.end();
}

#[test]
fn slow_readers_cost_no_time() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-slow");
    fs::write(dir.join("big"), noise(8_000_000, 6)).unwrap();
    let server = serve(&ns, &dir, &["--send-buffer", "256kb"]);
    let mut clients: Vec<TcpStream> = (0..50).map(|_| connect(&ns, ADDRESS)).collect();
    for client in &mut clients {
        client.write_all(b"GET /big HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
    }
    let before = settled(|| server.cpu());
    std::thread::sleep(Duration::from_secs(3));
    let used = server.cpu() - before;
    assert!(used <= 0.05, "{used} s");
    let expected = noise(8_000_000, 6);
    for client in &mut clients[..3] {
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        assert!(got.ends_with(&expected));
    }
}

#[test]
fn connections_that_rest_hold_little_memory() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-memory");
    fs::write(dir.join("big"), noise(4_000_000, 10)).unwrap();
    let server = serve(&ns, &dir, &["--metrics", "127.0.0.1:9100"]);
    let buffers = || metrics(&ns, "127.0.0.1:9100")["ackclock_buffer_bytes"];
    let download = |_| {
        let mut client = connect(&ns, ADDRESS);
        client.write_all(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        client.read_exact(&mut vec![0; 4_000_000]).unwrap();
        client
    };
    let _first: Vec<_> = (0..10).map(download).collect();
    let (before, resident) = (settled(buffers), server.memory());
    let _others: Vec<_> = (0..60).map(download).collect();
    let each = (settled(buffers) - before) / 60.0;
    assert!(each < 100_000.0, "{each} bytes for each");
    // What the allocator leaves lying between them differs from run to run.
    let resident = (server.memory() as f64 - resident as f64) / 60.0;
    assert!(resident < 400_000.0, "{resident} bytes of memory for each");
    server.end();
}

/// What is not in use by buffers is there for clients: the least memory is enough for 200, which
/// hold little of it.
#[test]
fn memory_that_no_buffer_takes_is_for_clients() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-least-memory");
    let server = serve(&ns, &dir, &["--memory", "32mb", "--metrics", "127.0.0.1:9100"]);
    let clients: Vec<TcpStream> = (0..200).map(|_| connect(&ns, ADDRESS)).collect();
    let now = metrics(&ns, "127.0.0.1:9100");
    assert_eq!(now["ackclock_connections_open"], 200.0);
    assert!(now["ackclock_connections_most"] >= 200.0);
    assert!(server.memory() < 32 << 20, "{}", server.memory());
    drop(clients);
    server.end();
}

/// Clients that ask for much and read nothing, with receive buffers of their own that take little.
#[test]
fn memory_stays_within_its_budget() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-budget");
    let bytes = noise(6_000_000, 11);
    fs::write(dir.join("big"), &bytes).unwrap();
    ns.sysctl("net/ipv4/tcp_rmem", "4096 8192 8192").unwrap();
    let server = serve(&ns, &dir, &["--memory", "64mb", "--metrics", "127.0.0.1:9100"]);
    let ask = |_| {
        let mut client = connect(&ns, ADDRESS);
        client.write_all(b"GET /big HTTP/1.0\r\n\r\n").unwrap();
        client
    };
    let silent: Vec<_> = (0..250).map(ask).collect();
    let held = settled(|| metrics(&ns, "127.0.0.1:9100")["ackclock_buffer_bytes"]);
    // Without a budget they would hold 1 GB.
    assert!(held > 10_000_000.0, "{held}");
    assert!(server.memory() < 64 << 20, "{}", server.memory());
    // One more gets all that it asks for, and nobody was reset.
    let mut one = ask(0);
    let mut got = Vec::new();
    one.read_to_end(&mut got).unwrap();
    assert!(got.ends_with(&bytes));
    assert!(server.memory() < 64 << 20, "{}", server.memory());
    let now = metrics(&ns, "127.0.0.1:9100");
    assert_eq!(now["ackclock_connections_open"], 251.0);
    assert_eq!(now["ackclock_memory_budget_bytes"], 67_108_864.0);
    drop(silent);
    server.end();
}
