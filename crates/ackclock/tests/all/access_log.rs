//! The access log of `serve` and `proxy`, in namespaces that are gone afterwards. The tests need
//! root; without it they say that they were skipped.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::daemon::{self, Daemon, connect, curl, namespace, noise, scratch, settled};

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Lines are handed over once a second.
fn wait_for(path: &Path, n: usize) -> Vec<Value> {
    for _ in 0..100 {
        let seen = lines(path);
        if seen.len() >= n {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{:?}", lines(path));
}

#[test]
fn a_line_says_what_became_of_a_connection() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("access-log");
    let log = dir.join("log");
    fs::write(dir.join("file"), noise(30_000, 1)).unwrap();
    let args = ["serve", dir.to_str().unwrap(), "--access-log", log.to_str().unwrap()];
    let more = ["--mss", "1000", "--no-timestamps", "--strategy", "sack", "--idle", "1s"];
    let server = Daemon::start(&ns, &[&args[..], &more].concat());
    let request = b"GET /file HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    let mut client = connect(&ns, "10.77.0.2:80");
    client.write_all(request).unwrap();
    let mut got = Vec::new();
    client.read_to_end(&mut got).unwrap();
    let address = client.local_addr().unwrap().to_string();
    drop(client);
    let seen = wait_for(&log, 1);
    assert_eq!(seen.len(), 1);
    let line = &seen[0];
    let text = |key: &str| line[key].as_str().unwrap().to_string();
    assert_eq!(
        ["client", "server", "strategy", "ended"].map(text),
        [&address, "10.77.0.2:80", "sack", "closed"]
    );
    let number = |key: &str| line[key].as_u64().unwrap();
    assert_eq!(
        ["bytes_received", "bytes_sent", "segments_sent", "retransmissions", "timeouts"]
            .map(number),
        [request.len() as u64, got.len() as u64, got.len().div_ceil(1000) as u64, 0, 0]
    );
    let said = ["method", "path", "status", "responses", "backend"].map(|key| &line[key]);
    assert_eq!(serde_json::json!(said), serde_json::json!(["GET", "/file", 200, 1, null]));
    let seconds = |key: &str| line[key].as_f64().unwrap();
    assert!((0.0..5.0).contains(&seconds("duration_s")), "{line}");
    assert!(0.0 < seconds("least_rtt_s") && seconds("smoothed_rtt_s") <= 1.0, "{line}");
    assert!(seconds("least_rtt_s") <= seconds("smoothed_rtt_s"), "{line}");
    let limits = line["limited_s"].as_object().unwrap();
    let sum: f64 = limits.values().map(|v| v.as_f64().unwrap()).sum();
    assert!((sum - seconds("duration_s")).abs() < 1e-6, "{line}");
    assert!(0.0 < seconds("until_taken_s") && seconds("until_taken_s") < 1.0, "{line}");
    assert_eq!((limits.len(), line["timeouts_by_class"]["non_trigger"].as_u64()), (6, Some(0)));

    // A log that was moved away gets no more lines, and a new one has them.
    fs::rename(&log, dir.join("old")).unwrap();
    server.signal(Signal::HUP);
    let said = settled(|| server.said());
    let serving = format!("SIGHUP: serving {}", dir.display());
    assert_eq!(said, ["SIGHUP: the access log is opened anew", &serving]);
    let reset = connect(&ns, "10.77.0.2:80");
    rustix::net::sockopt::set_socket_linger(&reset, Some(Duration::ZERO)).unwrap();
    drop(reset);
    let line = &wait_for(&log, 1)[0];
    assert_eq!(line["ended"], "reset_by_client");
    // The one round trip was that of the handshake.
    assert!(line["least_rtt_s"].as_f64() > Some(0.0), "{line}");
    assert_eq!(line["least_rtt_s"], line["smoothed_rtt_s"]);
    let idle = connect(&ns, "10.77.0.2:80");
    let mut busy = connect(&ns, "10.77.0.2:80");
    busy.write_all(b"GET ").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.end();
    let ended: Vec<_> =
        lines(&log).iter().map(|l| l["ended"].as_str().unwrap().to_string()).collect();
    assert_eq!(ended, ["reset_by_client", "cut_off", "cut_off"]);
    assert_eq!(lines(&dir.join("old")).len(), 1);
    drop(idle);
}

/// The send buffer takes the whole response; the client has as much of it as its own takes.
#[test]
fn what_lies_in_our_buffer_is_not_sent() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("access-log-buffer");
    let log = dir.join("log");
    fs::write(dir.join("file"), noise(3_000_000, 1)).unwrap();
    let args = ["--access-log", log.to_str().unwrap(), "--metrics", "127.0.0.1:9100"];
    let server = daemon::serve(&ns, &dir, &[&args[..], &["--drain", "100ms"]].concat());
    let mut client = connect(&ns, "10.77.0.2:80");
    rustix::net::sockopt::set_socket_recv_buffer_size(&client, 100_000).unwrap();
    client.write_all(b"GET /file HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    client.peek(&mut [0]).unwrap();
    let got = settled(|| rustix::io::ioctl_fionread(&client).unwrap());
    assert!((10_000..1_000_000).contains(&got), "{got}");
    let now = daemon::metrics(&ns, "127.0.0.1:9100");
    assert_eq!(now["ackclock_bytes_total{direction=\"sent\"}"], got as f64);
    let said = server.end();
    assert!(said.contains(&format!("; 31 bytes in, {got} out; ")), "{said}");
    assert_eq!(lines(&log)[0]["bytes_sent"], got);
}

/// The second client waits for half a second until the first one has gone.
#[test]
fn what_came_before_a_connection_was_taken_is_apart() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("access-log-waits");
    let log = dir.join("log");
    let args = ["serve", dir.to_str().unwrap(), "--access-log", log.to_str().unwrap()];
    let server = Daemon::start(&ns, &[&args[..], &["--max-connections", "1"]].concat());
    let first = connect(&ns, "10.77.0.2:80");
    let mut second = connect(&ns, "10.77.0.2:80");
    second.write_all(b"GET /none HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    drop(first);
    second.read_to_end(&mut Vec::new()).unwrap();
    drop(second);
    let seen = wait_for(&log, 2);
    let line = &seen[1];
    assert!(line["until_taken_s"].as_f64() >= Some(0.5), "{line}");
    let sum: f64 =
        line["limited_s"].as_object().unwrap().values().map(|v| v.as_f64().unwrap()).sum();
    let duration = line["duration_s"].as_f64().unwrap();
    assert!((sum - duration).abs() < 1e-6, "{line}");
    server.end();
}

#[test]
fn the_proxy_says_who_ended_it() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("access-log-proxy");
    let log = dir.join("log");
    let backend = ns.run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
    let to = backend.local_addr().unwrap().to_string();
    let args = ["proxy", "--listen", "10.77.0.2:80", "--to", &to, "--half-closed-idle", "1s"];
    let daemon =
        Daemon::start(&ns, &[&args[..], &["--access-log", log.to_str().unwrap()]].concat());
    let ended = |n: usize| {
        let seen = wait_for(&log, n);
        assert_eq!(seen.len(), n);
        seen[n - 1]["ended"].as_str().unwrap().to_string()
    };
    let mut client = connect(&ns, "10.77.0.2:80");
    client.write_all(b"x").unwrap();
    let (mut stream, _) = backend.accept().unwrap();
    stream.read_exact(&mut [0; 1]).unwrap();
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    assert!(client.read(&mut [0; 1]).is_err());
    assert_eq!(ended(1), "reset_by_backend");
    let line = &wait_for(&log, 1)[0];
    assert_eq!(line["backend"], to.as_str());
    assert!((0.0..1.0).contains(&line["connect_s"].as_f64().unwrap()), "{line}");
    let client = connect(&ns, "10.77.0.2:80");
    let _silent = backend.accept().unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(ended(2), "idle");
    drop(backend);
    // It may hear of the reset while it connects.
    let _ = ns.run(|| TcpStream::connect("10.77.0.2:80")).unwrap();
    assert_eq!(ended(3), "no_backend");
    let line = &wait_for(&log, 3)[2];
    assert_eq!([&line["backend"], &line["backend_failure"]], [to.as_str(), "refused"], "{line}");
    daemon.end();
}

/// What a program reads from standard output is lines of the log and nothing else.
#[test]
fn the_line_at_the_end_is_no_line_of_the_log() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("access-log-stdout");
    let server = daemon::serve(&ns, &dir, &["--access-log", "-"]);
    curl(&ns, &["-o", "/dev/null", "http://10.77.0.2/"]);
    let (said, mut lines) = (server.said_by(), Vec::new());
    for line in server.end().lines() {
        lines.push(serde_json::from_str::<Value>(line).unwrap());
    }
    assert_eq!((lines.len(), lines[0]["status"].as_u64()), (1, Some(200)));
    let last = settled(|| said.lock().unwrap().last().cloned()).unwrap();
    assert!(last.starts_with("1 connection, 0 cut off; "), "{last}");
}

/// The file is made before root's rights are given up, and opened again without them.
#[test]
fn a_user_opens_its_log_anew() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("access-log-user");
    let (nobody, log) = (65_534, dir.join("log"));
    std::os::unix::fs::chown(&dir, Some(nobody), Some(nobody)).unwrap();
    let more = ["--user", "nobody", "--access-log", log.to_str().unwrap()];
    let server = daemon::serve(&ns, &dir, &more);
    server.signal(Signal::HUP);
    let opened = "SIGHUP: the access log is opened anew";
    assert_eq!(settled(|| server.said())[0], opened);
    fs::rename(&log, dir.join("log.1")).unwrap();
    server.signal(Signal::HUP);
    assert_eq!(settled(|| server.said()).iter().filter(|line| *line == opened).count(), 2);
    curl(&ns, &["-o", "/dev/null", "http://10.77.0.2/"]);
    server.end();
    assert_eq!((lines(&log).len(), lines(&dir.join("log.1")).len()), (1, 0));
}

/// A client for which there was no room until the end has its line, too.
#[test]
fn who_waits_at_the_end_is_refused() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("access-log-end");
    let log = dir.join("log");
    let backend = ns.run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
    let to = backend.local_addr().unwrap().to_string();
    let args = ["proxy", "--listen", "10.77.0.2:80", "--to", &to, "--max-connections", "1"];
    let proxy = Daemon::start(&ns, &[&args[..], &["--access-log", log.to_str().unwrap()]].concat());
    let first = connect(&ns, "10.77.0.2:80");
    let taken = backend.accept().unwrap();
    let mut second = connect(&ns, "10.77.0.2:80");
    let waits = |line: &String| line.starts_with("1 client waits: there may be 1 connection");
    for _ in 0..100 {
        if proxy.said().iter().any(waits) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let said = proxy.said_by();
    proxy.signal(Signal::TERM);
    assert_eq!(second.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    drop((first, taken));
    assert!(proxy.wait().starts_with("1 connection, 0 cut off; "));
    let line = "1 client that waited is reset: there was no room until the end";
    let said = settled(|| said.lock().unwrap().clone());
    assert!(said.iter().any(|said| said == line), "{said:?}");
    let lines = lines(&log);
    let ended: Vec<_> = lines.iter().map(|line| line["ended"].as_str().unwrap()).collect();
    assert_eq!(ended, ["refused_end", "closed"]);
    assert_eq!(lines[0]["client"], second.local_addr().unwrap().to_string());
}

/// Whole, compressed, and cut within a character.
#[test]
fn logs_are_read_as_they_lie_about() {
    let dir = scratch("access-log-read");
    let line = "{\"strategy\":\"prr\",\"ended\":\"closed\",\"duration_s\":2,\"bytes_sent\":9,\
                \"segments_sent\":1,\"retransmissions\":0,\"timeouts\":0,\"smoothed_rtt_s\":null,\
                \"limited_s\":{},\"path\":\"/ä\"}\n";
    let read = |name: &str, bytes: &[u8]| {
        fs::write(dir.join(name), bytes).unwrap();
        let file = dir.join(name);
        let output =
            crate::pair::command(&["access-log", file.to_str().unwrap()]).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert_eq!(output.status.code(), Some(0));
        (text(output.stdout), text(output.stderr))
    };
    let (table, said) = read("log", line.as_bytes());
    assert_eq!((table.lines().count(), said.as_str()), (2, ""));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(line.as_bytes()).unwrap();
    assert_eq!(read("log.gz", &packed.finish().unwrap()), (table.clone(), String::new()));
    let begin = line.find('ä').unwrap() + 1;
    let cut = [line.as_bytes(), &line.as_bytes()[..begin]].concat();
    let (same, said) = read("cut", &cut);
    let expected =
        format!("warning: {}: 1 line cut short, not counted\n", dir.join("cut").display());
    assert_eq!((same, said), (table, expected));
}
