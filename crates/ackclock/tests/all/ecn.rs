//! ECN on the wire, against the kernel: who asks, and what marks of a gateway do. The tests need
//! root and `ip`; without they say that they were skipped.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::Duration;

use ackclock_live::Namespace;
use rustix::process::Signal;
use serde_json::Value;

use crate::daemon::{Daemon, connect, metrics, run, scratch, settled};
use crate::pair::{self, Pair, command};

/// CoDel that marks, both ways, and room for all that a window of 4 MB holds.
const MARKING: &str = "duration = '60s'\n[[link]]\nfrom = 'left'\nto = 'right'\nrate = '20mbit'\n\
    delay = '5ms'\nqueue = { codel = { limit = 10000, ecn = true } }\n";

const OURS: &str = "10.77.0.2:80";

/// Namespaces with the kernel's `tcp_ecn` on the left and our stack, to be started, on the right.
fn ends(test: &str, tcp_ecn: &str) -> Option<Pair> {
    let pair = Pair::new(test)?;
    let set = |side: usize, key: &str, value: &str| {
        let path = format!("/proc/sys/net/ipv4/{key}");
        pair.namespace(side).run(|| fs::write(path, value)).unwrap().unwrap();
    };
    set(0, "tcp_ecn", tcp_ecn);
    set(1, "ip_forward", "1");
    // Of the backend and the metrics.
    ip(&pair.namespace(1), "link set lo up");
    Some(pair)
}

/// The gateway, and the way to our stack over it.
fn gateway(pair: &Pair, dir: &std::path::Path) -> pair::Running {
    let scenario = dir.join("marking.toml");
    fs::write(&scenario, MARKING).unwrap();
    let more = ["--route", "right=10.77.0.0/24", "--format", "json"];
    let running = pair.start(scenario.to_str().unwrap(), &more);
    ip(&pair.namespace(0), "route add 10.77.0.0/24 dev ack-left");
    running
}

fn ip(namespace: &Namespace, args: &str) {
    let output = run(namespace, "ip", &args.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{output:?}");
}

/// What `ss` says of the connections with our stack.
fn ss(namespace: &Namespace) -> String {
    String::from_utf8(run(namespace, "ss", &["-tinoH", "dst", "10.77.0.2"]).stdout).unwrap()
}

fn has(ss: &str, word: &str) -> bool {
    ss.split_whitespace().any(|w| w == word)
}

/// What it says once so many bytes are acknowledged.
fn acked(namespace: &Namespace, bytes: usize) -> String {
    for _ in 0..1000 {
        let said = ss(namespace);
        let of = said.split_whitespace().find_map(|word| word.strip_prefix("bytes_acked:"));
        if of.is_some_and(|n| n.parse::<usize>().unwrap() >= bytes) {
            return said;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{}", ss(namespace));
}

/// A counter of the kernel's (`/proc/net/netstat`).
fn counter(namespace: &Namespace, name: &str) -> u64 {
    let text =
        namespace.run(|| fs::read_to_string("/proc/thread-self/net/netstat")).unwrap().unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split(' ').collect()).collect();
    let at = |pair: &[Vec<&str>]| {
        let column = pair[0].iter().position(|n| *n == name)?;
        pair[1][column].parse().ok()
    };
    lines.chunks(2).find_map(at).unwrap()
}

/// A backend that sends back as many bytes as it got, once it has them all.
fn mirror(namespace: &Namespace) -> SocketAddr {
    let listener = namespace.run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            std::thread::spawn(move || {
                let mut all = Vec::new();
                stream.read_to_end(&mut all).unwrap();
                stream.write_all(&all).unwrap();
            });
        }
    });
    address
}

/// Sends so much to our stack, and takes it back; what `ss` says between, and half way back.
fn exchange(namespace: &Namespace, bytes: usize) -> [String; 2] {
    let mut stream = connect(namespace, OURS);
    // It lowers ssthresh for losses and marks alone.
    rustix::net::sockopt::set_tcp_congestion(&stream, "reno").unwrap();
    stream.write_all(&vec![7; bytes]).unwrap();
    let uploaded = acked(namespace, bytes);
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut got = vec![0; bytes / 2];
    stream.read_exact(&mut got).unwrap();
    let downloading = ss(namespace);
    stream.read_exact(&mut got).unwrap();
    [uploaded, downloading]
}

/// As a server, through a queue that marks: nothing is lost either way, each mark arrives, and both
/// senders answer.
#[test]
fn marks_of_a_queue_lower_both_senders_and_nothing_is_lost() {
    let Some(pair) = ends("ecn-marks", "1") else { return };
    let dir = scratch("ecn-marks");
    let gateway = gateway(&pair, &dir);
    let [left, right] = [0, 1].map(|side| pair.namespace(side));
    let log = dir.join("log");
    let to = mirror(&right).to_string();
    let args = ["proxy", "--listen", OURS, "--to", &to, "--metrics", "127.0.0.1:9100"];
    let more = ["--access-log", log.to_str().unwrap()];
    let proxy = Daemon::start(&right, &[&args[..], &more].concat());
    let [uploaded, downloading] = exchange(&left, 4_000_000);
    assert!(has(&uploaded, "ecn") && has(&downloading, "ecnseen"), "{uploaded}{downloading}");
    // The kernel's sender has lowered its window, and not for a loss.
    assert!(!uploaded.contains("retrans:") && uploaded.contains("ssthresh:"), "{uploaded}");
    let now = settled(|| metrics(&right, "127.0.0.1:9100"));
    proxy.end();
    let output = gateway.end(Signal::INT);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let link = |from: &str| json["links"].as_array().unwrap().iter().find(|l| l["from"] == from);
    let marked = |from: &str| link(from).unwrap()["marked"].as_u64().unwrap();
    let (to_us, from_us) = (marked("left"), marked("right"));
    assert!(to_us > 0 && from_us > 0, "{json}");

    let is = |name: &str, value: u64| assert_eq!(now[name], value as f64, "{name}");
    is("ackclock_ecn_connections_total", 1);
    is("ackclock_ecn_marks_total", to_us);
    is("ackclock_retransmissions_total", 0);
    assert_eq!(counter(&left, "InCEPkts"), from_us);
    assert!(counter(&left, "TCPDeliveredCE") > 0);
    assert_eq!(counter(&left, "InECT1Pkts"), 0);
    let reductions = now["ackclock_ecn_reductions_total"] as u64;
    let echoes = now["ackclock_ecn_echoes_total"] as u64;
    assert!(reductions > 0 && reductions <= from_us && echoes >= reductions, "{now:?}");

    let text = fs::read_to_string(&log).unwrap();
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["ecn"], true, "{line}");
    let keys = ["ecn_marks", "ecn_echoes", "ecn_reductions", "retransmissions"];
    assert_eq!(keys.map(|key| line[key].as_u64().unwrap()), [to_us, echoes, reductions, 0]);
}

/// A kernel that asks gets what `--ecn` says, and a listener's own key goes before that, also after
/// SIGHUP.
#[test]
fn a_listener_accepts_or_not() {
    let Some(pair) = ends("ecn-listen", "1") else { return };
    let dir = scratch("ecn-listen");
    let _gateway = gateway(&pair, &dir);
    let [left, right] = [0, 1].map(|side| pair.namespace(side));
    let to = mirror(&right).to_string();
    let negotiated = || {
        let [said, _] = exchange(&left, 1000);
        assert!(has(&said, "sack"), "{said}");
        has(&said, "ecn")
    };
    for (ecn, expected) in [("off", false), ("accept", true), ("ask", true)] {
        let args = ["proxy", "--listen", OURS, "--to", &to, "--ecn", ecn];
        let proxy = Daemon::start(&right, &args);
        assert_eq!(negotiated(), expected, "{ecn}");
        proxy.end();
    }
    let file = dir.join("listeners.toml");
    let write = |ecn: &str| {
        fs::write(&file, format!("[[listener]]\nlisten = '{OURS}'\nto = '{to}'\n{ecn}")).unwrap();
    };
    write("ecn = 'accept'");
    let args = ["proxy", "--listeners", file.to_str().unwrap(), "--ecn", "off"];
    let proxy = Daemon::start(&right, &args);
    assert!(negotiated());
    for (ecn, expected) in [("ecn = 'off'", false), ("ecn = 'accept'", true), ("", false)] {
        write(ecn);
        let said = proxy.said().len();
        proxy.signal(Signal::HUP);
        settled(|| proxy.said().len() > said);
        assert_eq!(negotiated(), expected, "{ecn}");
    }
    proxy.end();
}

/// What the kernel says of a connection that `ackclock send` opened, and what that says.
fn sent(pair: &Pair, more: &[&str]) -> (String, Value) {
    let [left, right] = [0, 1].map(|side| pair.namespace(side));
    let listener = left.run(|| TcpListener::bind("10.80.0.1:5001")).unwrap().unwrap();
    let namespace = pair.namespace(0);
    let peer: JoinHandle<String> = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut got = vec![0; 3_000_000];
        stream.read_exact(&mut got).unwrap();
        let said = ss(&namespace);
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
        said
    });
    let mut send = command(&["send", "10.80.0.1:5001", "--bytes", "3000000"]);
    send.args(["--stats", "--format", "json"])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = right.run(|| send.spawn()).unwrap().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    (peer.join().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
}

/// As a client: only if we ask. The kernel accepts with `tcp_ecn=2`.
#[test]
fn a_client_asks_if_it_is_told_to() {
    let Some(pair) = ends("ecn-send", "2") else { return };
    let _gateway = gateway(&pair, &scratch("ecn-send"));
    for (more, expected) in [
        (&[][..], false),
        (&["--ecn", "accept"], false),
        (&["--ecn", "off"], false),
        (&["--ecn", "ask"], true),
    ] {
        let marks = counter(&pair.namespace(0), "InCEPkts");
        let (said, json) = sent(&pair, more);
        assert_eq!([has(&said, "ecn"), has(&said, "ecnseen")], [expected; 2], "{said}");
        assert_eq!(json["connections"][0]["ecn"], expected, "{json}");
        assert_eq!(counter(&pair.namespace(0), "InCEPkts") > marks, expected);
        if expected {
            assert_eq!(json["flows"][0]["retransmissions"], 0, "{json}");
        }
    }
}
