//! `send` and `recv` from outside, against the kernel's TCP and against each other, in namespaces
//! that are gone afterwards. They need root; without it they say that they were skipped.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ackclock_live::{Attachment, Namespace, RealTimeGateway, Tun, TunConfig};
use ackclock_net::scenario::Scenario;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::common::namespace;
use crate::documented::assert_documented;
use crate::run::scratch;
use crate::summary_keys::KEYS;

/// The command, in the namespace.
fn spawn(namespace: &Namespace, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackclock"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    namespace.run(|| command.spawn()).unwrap().unwrap()
}

fn run(namespace: &Namespace, args: &[&str]) -> Output {
    spawn(namespace, args).wait_with_output().unwrap()
}

/// Its standard output, and that it had nothing to complain about.
fn ok(output: Output) -> String {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    out
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn failed(output: &Output) -> (i32, String) {
    (output.status.code().unwrap(), text(&output.stderr))
}

/// A kernel peer that takes so many connections, and returns length and hash of what each brought.
fn sink(namespace: &Namespace, connections: usize) -> JoinHandle<Vec<(u64, String)>> {
    let listener = namespace.run(|| TcpListener::bind("[::]:5001")).unwrap().unwrap();
    std::thread::spawn(move || {
        let each = (0..connections).map(|_| {
            let stream = accept(&listener);
            std::thread::spawn(move || drain(stream))
        });
        each.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A connection, unless none comes for long.
fn accept(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let mut accepted = None;
    eventually("a connection", || {
        accepted = listener.accept().ok();
        accepted.is_some()
    });
    let (stream, _) = accepted.unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn drain(mut stream: TcpStream) -> (u64, String) {
    let (mut buffer, mut hash, mut bytes) = (vec![0; 1 << 16], Sha256::new(), 0);
    loop {
        match stream.read(&mut buffer).unwrap() {
            0 => return (bytes, hex(hash)),
            n => {
                hash.update(&buffer[..n]);
                bytes += n as u64;
            }
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes that no pattern explains.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..len).map(|_| next()).collect()
}

fn sha256(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

/// The network devices of the namespace.
fn devices(namespace: &Namespace) -> Vec<String> {
    let table = namespace.run(|| fs::read_to_string("/proc/thread-self/net/dev")).unwrap().unwrap();
    table
        .lines()
        .skip(2)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim().to_string())
        .collect()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn send_prints_what_run_prints_and_the_kernel_gets_every_byte() {
    let Some(namespace) = namespace() else { return };
    let sink = sink(&namespace, 3);
    let args = [
        "send",
        "10.77.0.1:5001",
        "--strategy",
        "newreno,sack+lt,linux",
        "--bytes",
        "3mb",
        // A machine that is busy for a moment is no timeout.
        "--min-rto",
        "5s",
        "--format",
        "json",
    ];
    let out = ok(run(&namespace, &args));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines[0], lines[4], lines.len()), ("[", "]", 5));
    for line in &lines[1..4] {
        let at: Vec<usize> =
            KEYS.iter().map(|key| line.find(&format!("\"{key}\":")).unwrap()).collect();
        assert!(at.is_sorted(), "{line}");
        let flow: Value = serde_json::from_str(line.trim_end_matches(',')).unwrap();
        assert_eq!(flow.as_object().unwrap().len(), KEYS.len());
    }
    let flows: Value = serde_json::from_str(&out).unwrap();
    for (flow, strategy) in flows.as_array().unwrap().iter().zip(["newreno", "sack+lt", "linux"]) {
        assert_eq!(
            (flow["strategy"].as_str(), flow["bytes_acked"].as_u64()),
            (Some(strategy), Some(3 << 20))
        );
        assert_eq!(
            (&flow["drops"], &flow["spurious_retransmissions"]),
            (&Value::Null, &Value::Null)
        );
        assert_eq!(flow["timeouts"], 0);
        // 3 MiB in segments of 1448 bytes, and perhaps a FIN by itself. A busy machine may make
        // `linux` send a probe.
        let [sent, again] =
            ["segments_sent", "retransmissions"].map(|key| flow[key].as_u64().unwrap());
        assert!([2173, 2174].contains(&(sent - again)), "{flow}");
        assert!(again == 0 || strategy == "linux", "{flow}");
        let (seconds, bps) =
            (flow["completion_s"].as_f64().unwrap(), flow["goodput_bps"].as_f64().unwrap());
        assert!((bps * seconds / f64::from(8 * (3 << 20)) - 1.0).abs() < 1e-9);
        assert!(flow["mean_rtt_s"].as_f64().unwrap() > 0.0);
    }
    let got = sink.join().unwrap();
    assert!(got.iter().all(|one| *one == got[0] && one.0 == 3 << 20), "{got:?}");
    eventually("the device is gone", || devices(&namespace) == ["lo"]);
}

#[test]
fn files_and_standard_input_arrive_whole() {
    let Some(namespace) = namespace() else { return };
    let data = noise(2_500_001);
    let path = scratch("files", "data");
    fs::write(&path, &data).unwrap();
    let sink = sink(&namespace, 3);
    ok(run(
        &namespace,
        &["send", "10.77.0.1:5001", "--file", &path, "--no-offload", "--mss", "536", "--no-sack"],
    ));
    // In dribs and drabs, so that our stack has to wait for it.
    let mut child = spawn(&namespace, &["send", "10.77.0.1:5001", "--file", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    for piece in data.chunks(700_000) {
        stdin.write_all(piece).unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(stdin);
    ok(child.wait_with_output().unwrap());
    ok(run(&namespace, &["send", "10.77.0.1:5001", "--bytes", "0b"]));
    let whole = (data.len() as u64, sha256(&data));
    assert_eq!(sink.join().unwrap(), [whole.clone(), whole, (0, sha256(b""))]);
}

#[test]
fn many_connections_and_ipv6() {
    let Some(namespace) = namespace() else { return };
    let sink = sink(&namespace, 100);
    let both = ["--addr", "10.77.0.2/24", "--addr", "fd77::2/64"];
    let args = [
        "send",
        "[fd77::1]:5001",
        "--parallel",
        "100",
        "--bytes",
        "40kb",
        "--stats",
        "--format",
        "json",
    ];
    let out: Value =
        serde_json::from_str(&ok(run(&namespace, &[&args[..], &both].concat()))).unwrap();
    let flows = out["flows"].as_array().unwrap();
    assert!(flows.len() == 100 && flows.iter().all(|flow| flow["bytes_acked"] == 40 << 10));
    assert_documented("run", [&out]);
    let connections = out["connections"].as_array().unwrap();
    assert_eq!((connections.len(), &connections[7]["peer"]), (100, &"[fd77::1]:5001".into()));
    assert_eq!(connections[7]["mss"], 1500 - 40 - 20 - 12);
    let got = sink.join().unwrap();
    assert!(got.iter().all(|one| *one == got[0] && one.0 == 40 << 10));
}

#[test]
fn records_tell_what_happened() {
    let Some(namespace) = namespace() else { return };
    let sink = sink(&namespace, 2);
    let [events, pcap, html] =
        ["events.jsonl", "packets.pcapng", "picture.html"].map(|name| scratch("records", name));
    let args =
        ["send", "10.77.0.1:5001", "--strategy", "reno,sack", "--bytes", "500kb", "--recovery"];
    let out = ok(run(
        &namespace,
        &[&args[..], &["--events", &events, "--pcap", &pcap, "--html", &html]].concat(),
    ));
    sink.join().unwrap();
    assert!(out.contains("Recovery of all flows"), "{out}");
    for strategy in ["reno", "sack"] {
        let lines: Vec<Value> = fs::read_to_string(&events)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let mine = lines.iter().filter(|line| line["strategy"] == strategy);
        let sent: u64 = mine
            .clone()
            .filter(|line| line["event"] == "sent")
            .map(|line| line["len"].as_u64().unwrap())
            .sum();
        // A FIN is one byte of the stream.
        assert_eq!(sent, (500 << 10) + 1, "{strategy}");
        assert!(mine.map(|line| line["t"].as_f64().unwrap()).is_sorted_by(|a, b| a <= b));
    }
    let capture = fs::read(&pcap).unwrap();
    let comment = b"ackclock: new, transmission 1";
    assert!(capture.windows(comment.len()).any(|window| window == comment));
    assert!(fs::read_to_string(&html).unwrap().contains("10.77.0.1:5001"));
}

/// Segments 14 and 30 are lost once, 14 twice, on the way to a kernel in another namespace: that is
/// what the sender counts.
#[test]
fn what_the_path_loses_is_what_send_sends_again() {
    let (Some(near), Some(far)) = (namespace(), namespace()) else { return };
    near.sysctl("net/ipv4/ip_forward", "1").unwrap();
    let end = |node: &str, namespace: &Namespace, address: [u8; 4], prefix: u8, behind: [u8; 4]| {
        let addresses = vec![(address.into(), prefix)];
        let config = TunConfig { name: "gate".into(), addresses, mtu: 1500, offload: false };
        let tun = namespace.run(|| Tun::open(&config)).unwrap().unwrap();
        Attachment { node: node.into(), tun, prefixes: vec![(behind.into(), 24)] }
    };
    let scenario = "duration = '1s'\n[[link]]\nfrom = 'a'\nto = 'b'\nrate = '20mbit'\ndelay = \
        '20ms'\n\
        loss = [{ drop = { segments = [14, 30], retransmissions = ['14:1'] } }]";
    let ends = vec![
        end("a", &near, [10, 0, 0, 1], 24, [10, 77, 0, 0]),
        // A prefix so wide that the way back needs no route.
        end("b", &far, [10, 0, 0, 2], 8, [10, 0, 0, 0]),
    ];
    let gateway = RealTimeGateway::start(
        &Scenario::from_toml(scenario, &ackclock_tcp::Registry::default()).unwrap(),
        1,
        ends,
    )
    .unwrap();
    let sink = sink(&far, 1);
    let args =
        ["send", "10.0.0.2:5001", "--strategy", "rack-tlp", "--bytes", "300kb", "--format", "json"];
    let flows: Value = serde_json::from_str(&ok(run(&near, &args))).unwrap();
    assert_eq!(gateway.report().links[0].2.dropped_loss, 3);
    assert_eq!(
        (&flows[0]["retransmissions"], &flows[0]["timeouts"]),
        (&3.into(), &0.into()),
        "{flows}"
    );
    // Round trips of 40 ms and the queue of the link.
    let rtt = flows[0]["mean_rtt_s"].as_f64().unwrap();
    assert!((0.04..0.2).contains(&rtt), "{rtt}");
    assert_eq!(sink.join().unwrap()[0].0, 300 << 10);
}

/// A peer that has everything and keeps its side open is not waited for.
#[test]
fn a_peer_that_does_not_close_holds_nobody_up() {
    let Some(namespace) = namespace() else { return };
    let listener = namespace.run(|| TcpListener::bind("0.0.0.0:5001")).unwrap().unwrap();
    let send =
        spawn(&namespace, &["send", "10.77.0.1:5001", "--bytes", "100kb", "--format", "json"]);
    let peer = accept(&listener);
    assert_eq!(drain(peer.try_clone().unwrap()).0, 100 << 10);
    let output = send.wait_with_output().unwrap();
    assert!(
        text(&output.stderr)
            .contains("note: 10.77.0.1:5001 has everything, and has not closed its side")
    );
    assert_eq!(serde_json::from_str::<Value>(&ok(output)).unwrap()[0]["bytes_acked"], 100 << 10);
}

#[test]
fn ctrl_c_ends_recv_with_what_came() {
    let Some(namespace) = namespace() else { return };
    let mut recv = spawn(&namespace, &["recv", "--listen", "5001", "--format", "json"]);
    BufReader::new(recv.stderr.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    let connect = || namespace.run(|| TcpStream::connect("10.77.0.2:5001")).unwrap().unwrap();
    let mut whole = connect();
    whole.write_all(b"whole").unwrap();
    whole.shutdown(Shutdown::Write).unwrap();
    assert_eq!(whole.read(&mut [0]).unwrap(), 0);
    let mut cut = connect();
    cut.write_all(b"cut").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&recv, Signal::INT);
    let output = recv.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let out: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(
        (&out[0]["bytes"], &out[0]["complete"], &out[0]["error"]),
        (&5.into(), &true.into(), &Value::Null)
    );
    assert_eq!(
        (&out[1]["bytes"], &out[1]["complete"], &out[1]["error"]),
        (&3.into(), &false.into(), &"interrupted".into())
    );
    assert_eq!(cut.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn recv_takes_what_kernels_send() {
    let Some(namespace) = namespace() else { return };
    let data = noise(3_000_000);
    let path = scratch("recv", "out");
    let mut recv = spawn(
        &namespace,
        &["recv", "--listen", "5001", "--once", "--file", &path, "--format", "json"],
    );
    let mut heard = String::new();
    BufReader::new(recv.stderr.as_mut().unwrap()).read_line(&mut heard).unwrap();
    assert_eq!(heard, "listening at 10.77.0.2:5001\n");
    let mut stream = namespace.run(|| TcpStream::connect("10.77.0.2:5001")).unwrap().unwrap();
    stream.write_all(&data).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    let out: Value = serde_json::from_str(&ok(recv.wait_with_output().unwrap())).unwrap();
    assert_documented("recv", out.as_array().unwrap());
    assert_eq!((&out[0]["bytes"], &out[0]["complete"]), (&3_000_000.into(), &true.into()));
    assert_eq!((&out[0]["pattern"], &out[0]["sha256"]), (&false.into(), &sha256(&data).into()));
    assert!(fs::read(&path).unwrap() == data);
}

#[test]
fn recv_takes_what_send_sends() {
    let Some(namespace) = namespace() else { return };
    namespace.sysctl("net/ipv4/ip_forward", "1").unwrap();
    let mut recv = spawn(
        &namespace,
        &["recv", "--listen", "5001", "--count", "12", "--check", "--format", "json"],
    );
    BufReader::new(recv.stderr.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    let args = [
        "send",
        "10.77.0.2:5001",
        "--addr",
        "10.78.0.2/24",
        "--strategy",
        "rack-tlp,prr",
        "--parallel",
        "6",
    ];
    ok(run(&namespace, &[&args[..], &["--bytes", "1mb"]].concat()));
    let out: Value = serde_json::from_str(&ok(recv.wait_with_output().unwrap())).unwrap();
    let out = out.as_array().unwrap();
    assert!(
        out.len() == 12 && out.iter().all(|one| one["bytes"] == 1 << 20 && one["pattern"] == true),
        "{out:?}"
    );
}

#[test]
fn check_fails_where_the_pattern_does() {
    let Some(namespace) = namespace() else { return };
    let mut recv = spawn(&namespace, &["recv", "--listen", "5001", "--once", "--check"]);
    BufReader::new(recv.stderr.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    let mut stream = namespace.run(|| TcpStream::connect("10.77.0.2:5001")).unwrap().unwrap();
    stream.write_all(b"something else").unwrap();
    drop(stream);
    let (code, err) = failed(&recv.wait_with_output().unwrap());
    assert!(
        code == 1 && err.contains("byte 0 is not what `ackclock send` generates"),
        "{code}: {err}"
    );
}

#[test]
fn check_fails_where_nothing_came() {
    let Some(namespace) = namespace() else { return };
    let recv = |args: &[&str]| {
        let mut recv =
            spawn(&namespace, &[&["recv", "--listen", "5001", "--check"], args].concat());
        BufReader::new(recv.stderr.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
        recv
    };
    let once = recv(&["--once"]);
    let stream = namespace.run(|| TcpStream::connect("10.77.0.2:5001")).unwrap().unwrap();
    let address = stream.local_addr().unwrap();
    drop(stream);
    let said = failed(&once.wait_with_output().unwrap());
    assert_eq!(said, (1, format!("error: {address}: nothing came\n")));
    let nobody = recv(&[]);
    signal(&nobody, Signal::INT);
    let said = failed(&nobody.wait_with_output().unwrap());
    assert_eq!(said, (1, "error: nobody sent anything\n".into()));
}

#[test]
fn recv_says_that_the_peer_reset_the_connection() {
    let Some(namespace) = namespace() else { return };
    let mut recv = spawn(&namespace, &["recv", "--listen", "5001", "--once"]);
    BufReader::new(recv.stderr.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    let mut stream = namespace.run(|| TcpStream::connect("10.77.0.2:5001")).unwrap().unwrap();
    let address = stream.local_addr().unwrap();
    stream.write_all(b"three").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    let said = failed(&recv.wait_with_output().unwrap());
    let expected = format!("error: {address}: the peer reset the connection after 5 bytes\n");
    assert_eq!(said, (1, expected));
}

/// Whoever has the other end of a FIFO may come late, say nothing, or never come. A shell has what
/// it runs in the background ignore SIGINT, so that it is SIGTERM here.
#[test]
fn a_fifo_keeps_nobody_from_ending() {
    let Some(namespace) = namespace() else { return };
    let path = scratch("fifo", "fifo");
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let ended = |child: &mut Child| {
        eventually("it ends", || child.try_wait().unwrap().is_some());
        child.wait().unwrap()
    };
    let recv_args = ["recv", "--listen", "5001", "--once", "--file", &path];
    let mut recv = spawn(&namespace, &recv_args);
    std::thread::sleep(Duration::from_millis(500));
    signal(&recv, Signal::TERM);
    assert!(!ended(&mut recv).success());

    let send_args = ["send", "10.77.0.1:5001", "--file", &path];
    for writes in [false, true] {
        let sink = sink(&namespace, 1);
        let mut send = spawn(&namespace, &send_args);
        eventually("the device is there", || devices(&namespace).len() == 2);
        let writer = writes.then(|| {
            let mut writer = fs::File::options().write(true).open(&path).unwrap();
            writer.write_all(b"some").unwrap();
            writer
        });
        std::thread::sleep(Duration::from_millis(500));
        signal(&send, Signal::TERM);
        assert_eq!(ended(&mut send).code(), Some(130));
        assert_eq!(sink.join().unwrap()[0].0, if writes { 4 } else { 0 });
        drop(writer);
    }
    // The end of the writer is that of the data.
    let sink = sink(&namespace, 1);
    let send = spawn(&namespace, &send_args);
    eventually("the device is there", || devices(&namespace).len() == 2);
    let data = noise(200_000);
    let mut writer = fs::File::options().write(true).open(&path).unwrap();
    writer.write_all(&data).unwrap();
    drop(writer);
    ok(send.wait_with_output().unwrap());
    assert_eq!(sink.join().unwrap(), [(200_000, sha256(&data))]);

    let twice = run(&namespace, &[&send_args[..], &["--parallel", "2"]].concat());
    let once = "what it brings comes once, for one connection of one strategy";
    assert_eq!(failed(&twice), (2, format!("error: --file {path}: {once}\n")));
}

#[test]
fn ctrl_c_finishes_what_is_under_way_and_prints_it() {
    let Some(namespace) = namespace() else { return };
    let sink = sink(&namespace, 1);
    let args = [
        "send",
        "10.77.0.1:5001",
        "--strategy",
        "sack,reno",
        "--seconds",
        "60",
        "--format",
        "json",
    ];
    let send = spawn(&namespace, &args);
    eventually("the device is there", || devices(&namespace).len() == 2);
    std::thread::sleep(Duration::from_millis(300));
    signal(&send, Signal::INT);
    let output = send.wait_with_output().unwrap();
    let (code, err) = failed(&output);
    assert!(code == 130 && err.ends_with("error: interrupted\n"), "{code}: {err}");
    let flows: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!((flows.as_array().unwrap().len(), &flows[0]["strategy"]), (1, &"sack".into()));
    // What was written before is acknowledged, and the peer saw the end of it.
    assert_eq!(sink.join().unwrap()[0].0, flows[0]["bytes_acked"].as_u64().unwrap());
    assert!(flows[0]["bytes_acked"].as_u64().unwrap() > 0 && flows[0]["completion_s"].is_f64());
    eventually("the device is gone", || devices(&namespace) == ["lo"]);
}

#[test]
fn a_second_ctrl_c_resets() {
    let Some(namespace) = namespace() else { return };
    let listener = namespace.run(|| TcpListener::bind("0.0.0.0:5001")).unwrap().unwrap();
    let send =
        spawn(&namespace, &["send", "10.77.0.1:5001", "--bytes", "100mb", "--format", "json"]);
    // It never reads, so that what is under way cannot finish.
    let mut peer = accept(&listener);
    std::thread::sleep(Duration::from_millis(300));
    signal(&send, Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    signal(&send, Signal::INT);
    let output = send.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let flows: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(flows[0]["completion_s"], Value::Null);
    let read = io::copy(&mut peer, &mut io::sink());
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn a_killed_command_leaves_nothing() {
    let Some(namespace) = namespace() else { return };
    let mut recv = spawn(&namespace, &["recv", "--listen", "5001"]);
    eventually("the device is there", || devices(&namespace).len() == 2);
    recv.kill().unwrap();
    recv.wait().unwrap();
    eventually("the device is gone", || devices(&namespace) == ["lo"]);
}

#[test]
fn a_peer_that_dies_is_an_error_with_results() {
    let Some(namespace) = namespace() else { return };
    let listener = namespace.run(|| TcpListener::bind("0.0.0.0:5001")).unwrap().unwrap();
    let send =
        spawn(&namespace, &["send", "10.77.0.1:5001", "--bytes", "100mb", "--format", "json"]);
    let mut peer = accept(&listener);
    peer.read_exact(&mut vec![0; 100_000]).unwrap();
    drop(peer);
    let output = send.wait_with_output().unwrap();
    let (code, err) = failed(&output);
    assert!(
        code == 1 && err.contains("linux: the peer reset the connection after"),
        "{code}: {err}"
    );
    let flows: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    // The kernel may not have acknowledged the last of what was read.
    assert!(
        flows[0]["bytes_acked"].as_u64().unwrap() >= 90_000 && flows[0]["completion_s"].is_null()
    );
    // Nobody listens any more.
    drop(listener);
    let (code, err) = failed(&run(&namespace, &["send", "10.77.0.1:5001"]));
    assert!(code == 1 && err.contains("the connection was refused"), "{code}: {err}");
}

#[test]
fn where_there_is_no_way_it_says_how_to_make_one() {
    let Some(namespace) = namespace() else { return };
    namespace.sysctl("net/ipv4/ip_forward", "0").unwrap();
    let (code, err) = failed(&run(&namespace, &["send", "192.0.2.1:9"]));
    assert_eq!(code, 4, "{err}");
    for command in [
        "sysctl -w net.ipv4.ip_forward=1",
        "iptables -t nat -A POSTROUTING -s 10.77.0.0/24",
        "nft 'add table",
    ] {
        assert!(err.contains(command), "{err}");
    }
    let (code, err) = failed(&run(&namespace, &["send", "127.0.0.1:9"]));
    assert!(code == 2 && err.contains("which our stack knows as 10.77.0.1"), "{code}: {err}");
    let (code, err) = failed(&run(&namespace, &["send", "10.77.0.1:9", "--strategy", "oracle"]));
    assert!(code == 2 && err.contains("which only a simulated network does"), "{code}: {err}");
}

/// netcat, of which there are three kinds with three kinds of options, as OpenBSD has it.
#[test]
fn netcat_on_the_kernel_takes_it() {
    let Some(namespace) = namespace() else { return };
    let data = noise(1_000_003);
    let path = scratch("netcat", "data");
    fs::write(&path, &data).unwrap();
    let mut command = Command::new("nc");
    let got = scratch("netcat", "got");
    command.args(["-l", "5001"]).stdin(Stdio::null()).stdout(fs::File::create(&got).unwrap());
    let mut nc = match namespace.run(|| command.spawn()).unwrap() {
        Ok(nc) => nc,
        Err(error) => return eprintln!("skipped: needs nc (Debian: netcat-openbsd): {error}"),
    };
    let listens = || {
        let table =
            namespace.run(|| fs::read_to_string("/proc/thread-self/net/tcp")).unwrap().unwrap();
        table.contains(":1389 00000000:0000 0A")
    };
    eventually("nc listens", listens);
    ok(run(&namespace, &["send", "10.77.0.1:5001", "--file", &path]));
    assert!(nc.wait().unwrap().success() && fs::read(&got).unwrap() == data);
}
