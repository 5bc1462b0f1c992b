//! `ackclock gateway` from outside, between two named network namespaces.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;
use serde_json::Value;

use crate::documented::assert_documented;
use crate::pair::{Pair, command};

fn shipped(name: &str) -> String {
    format!("{}/../../scenarios/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Code and standard error of a call that fails.
fn fails(args: &[&str]) -> (i32, String) {
    let output = command(args).output().unwrap();
    assert_eq!(output.stdout, b"");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_signal_ends_it_with_its_table() {
    let Some(pair) = Pair::new("sig") else { return };
    for signal in [Signal::INT, Signal::TERM] {
        let gateway = pair.start(&shipped("gateway-red.toml"), &[]);
        let [left, right] = &pair.names;
        let expected = format!(
            "ack-left: node left, 10.80.0.1/16 in namespace {left}\n\
             ack-right: node right, 10.80.1.1/16 in namespace {right}\n"
        );
        assert!(gateway.said.starts_with(&expected), "{}", gateway.said);
        assert!(pair.devices(0).contains("ack-left") && pair.devices(1).contains("ack-right"));
        // 10 ms each way, and a SYN; how late the machine is beyond that is not ours to say.
        let took = pair.connect();
        assert!(took >= Duration::from_millis(20) && took < Duration::from_secs(30), "{took:?}");
        let output = gateway.end(signal);
        assert_eq!(output.status.code(), Some(0));
        let table = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<&str> = table.lines().collect();
        assert!(rows[0].starts_with("link ") && rows[0].contains(" packets "), "{table}");
        assert!(rows[1].contains("left > right") && rows[2].contains("right > left"), "{table}");
        assert!(table.contains(" packets in, "), "{table}");
        assert!(!pair.devices(0).contains("ack-"), "{}", pair.devices(0));
    }
}

/// What there was until then is told.
#[test]
fn a_device_that_goes_ends_it_with_its_table() {
    let Some(pair) = Pair::new("gone") else { return };
    let gateway = pair.start(&shipped("gateway-red.toml"), &[]);
    pair.connect();
    let delete = ["-n", &pair.names[0], "link", "delete", "ack-left"];
    assert!(Command::new("ip").args(delete).status().unwrap().success());
    let output = gateway.wait();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("left > right") && table.contains(" packets in, "), "{table}");
    assert_eq!(output.status.code(), Some(4));
}

/// Another device has a part of the prefix; then another route leads to the other node.
#[test]
fn addresses_that_others_have_are_refused() {
    let Some(pair) = Pair::new("free") else { return };
    let scenario = shipped("gateway-red.toml");
    let ip = |text: &str| {
        let args = [&["-n", &pair.names[0]], &text.split(' ').collect::<Vec<_>>()[..]].concat();
        assert!(Command::new("ip").args(args).status().unwrap().success(), "{text}");
    };
    let refused = || {
        let attach = pair.attach();
        let attach: Vec<&str> = attach.iter().map(String::as_str).collect();
        let (code, err) = fails(&[&["gateway", &scenario][..], &attach].concat());
        assert!(!pair.devices(0).contains("ack-") && !pair.devices(1).contains("ack-"));
        (code, err.lines().last().unwrap().to_string())
    };
    ip("link add other type veth peer name peer");
    ip("link set peer up");
    ip("link set other up");
    ip("addr add 10.80.7.1/24 dev other");
    let expected = "error: --attach left: 10.80.0.1/16: device other has 10.80.7.1/24; choose a \
        prefix that nothing else uses, or end what uses it";
    assert_eq!(refused(), (2, expected.into()));
    ip("addr del 10.80.7.1/24 dev other");
    ip("addr add 10.99.0.1/24 dev other");
    ip("route add 10.80.1.0/24 dev other");
    let expected = "error: --attach right: from node left to 10.80.1.1: packets for it do not come \
        to our device, where the kernel is 10.80.0.1; see `ip route get 10.80.1.1`, and choose a \
        prefix without another route, with both addresses in it";
    assert_eq!(refused(), (2, expected.into()));
    ip("route del 10.80.1.0/24 dev other");
    pair.start(&scenario, &[]).end(Signal::INT);
    // Where no prefix holds the other node, a route of the user's comes later.
    let [left, right] = &pair.names;
    let attach = [format!("left=10.80.0.1/24@{left}"), format!("right=10.80.1.1/24@{right}")];
    let args = ["gateway", &scenario, "--seconds", "100ms", "--attach", &attach[0]];
    let output = command(&args).args(["--attach", &attach[1]]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// Found before anything is made, so that it takes no rights.
#[test]
fn two_nodes_of_one_namespace_have_no_address_in_common() {
    let scenario = shipped("gateway-red.toml");
    let refused = |left: &str, right: &str| {
        let attach = ["--attach", left, "--attach", right];
        fails(&[&["gateway", &scenario][..], &attach].concat())
    };
    let expected = "error: --attach right: 10.80.1.2/16: node left has 10.80.0.1/24 in the same \
        namespace; choose prefixes that do not overlap\n";
    assert_eq!(refused("left=10.80.0.1/24", "right=10.80.1.2/16"), (2, expected.into()));
    let expected = "error: --attach right: fd80::2/64: node left has fd80::1/64 in the same \
        namespace; choose prefixes that do not overlap\n";
    let named = |attach| format!("{attach}@none");
    let [left, right] = ["left=fd80::1/64", "right=fd80::2/64"].map(named);
    assert_eq!(refused(&left, &right), (2, expected.into()));
    // Nor have two nodes of two namespaces the same one.
    let expected =
        "error: --attach right: node left has 10.80.0.1, too; each node has addresses of its own\n";
    assert_eq!(refused("left=10.80.0.1/16", "right=10.80.0.1/24@none"), (2, expected.into()));
}

#[test]
fn a_kill_leaves_no_device() {
    let Some(pair) = Pair::new("kill") else { return };
    let gateway = pair.start(&shipped("gateway-red.toml"), &[]);
    gateway.end(Signal::KILL);
    assert!(!pair.devices(0).contains("ack-") && !pair.devices(1).contains("ack-"));
    // And the next one starts as if there had been none.
    pair.start(&shipped("gateway-red.toml"), &[]).end(Signal::INT);
}

#[test]
fn it_ends_by_itself_and_prints_json() {
    let Some(pair) = Pair::new("json") else { return };
    let gateway =
        pair.start(&shipped("gateway-lossy.toml"), &["--seconds", "700ms", "--format", "json"]);
    let took = pair.connect();
    assert!(took >= Duration::from_millis(40), "{took:?}");
    let output = gateway.wait();
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_documented("gateway", [&json]);
    let link = &json["links"][0];
    assert_eq!((link["from"].as_str(), link["to"].as_str()), (Some("left"), Some("right")));
    // SYN, ACK, FIN.
    assert!(link["packets"].as_u64().unwrap() >= 2, "{json}");
    assert_eq!(link["dropped_queue"], 0);
    assert!(
        json["delivered"].as_u64().unwrap() >= 3 && json["lateness_us"]["median"].is_number(),
        "{json}"
    );
}

/// The first segment with data is the only one that is lost, and TCP sends it again.
#[test]
fn it_writes_what_links_drop() {
    let Some(pair) = Pair::new("drops") else { return };
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [scenario, drops] =
        ["one-drop.toml", "drops.jsonl"].map(|name| directory.join(name).display().to_string());
    let link = "rate = '10mbit'\ndelay = '1ms'\nloss = [{ drop = { segments = [0] } }]";
    fs::write(&scenario, format!("duration = '1s'\n[[link]]\nfrom = 'left'\nto = 'right'\n{link}"))
        .unwrap();
    let gateway = pair.start(&scenario, &["--drops", &drops]);
    let listener = pair.namespace(1).run(|| TcpListener::bind("10.80.1.1:0")).unwrap().unwrap();
    let to = listener.local_addr().unwrap();
    let mut stream = pair.namespace(0).run(|| TcpStream::connect(to)).unwrap().unwrap();
    let begin = SystemTime::now();
    stream.write_all(b"hello").unwrap();
    listener.accept().unwrap().0.read_exact(&mut [0; 5]).unwrap();
    // Whoever follows the file sees it within a second, while nothing else is dropped.
    let follow = Instant::now();
    while fs::read_to_string(&drops).unwrap().is_empty() {
        assert!(follow.elapsed() < Duration::from_secs(20), "nothing is there");
        std::thread::sleep(Duration::from_millis(20));
    }
    gateway.end(Signal::TERM);
    let text = fs::read_to_string(&drops).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_documented("drops", &lines);
    let [line] = &lines[..] else { panic!("{text}") };
    let expected = [
        ("from", Value::from("left")),
        ("to", "right".into()),
        ("why", "listed".into()),
        ("src", stream.local_addr().unwrap().to_string().into()),
        ("dst", to.to_string().into()),
        ("protocol", 6.into()),
        ("bytes", 57.into()),
        ("len", 5.into()),
    ];
    for (key, value) in expected {
        assert_eq!(line[key], value, "{key}: {line}");
    }
    assert!(line["seq"].is_u64() && line["ack"].is_u64() && line["ip_id"].is_u64(), "{line}");
    let late = line["t"].as_f64().unwrap()
        - begin.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((-0.001..1.0).contains(&late), "{late}");
}

/// What was dropped in the last second before a signal is in the file, too.
#[test]
fn what_was_dropped_last_is_written() {
    let Some(pair) = Pair::new("last") else { return };
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [scenario, drops] =
        ["all-drops.toml", "last.jsonl"].map(|name| directory.join(name).display().to_string());
    let link = "rate = '100mbit'\ndelay = '1ms'\nloss = [{ bernoulli = { p = '100%' } }]";
    fs::write(&scenario, format!("duration = '1s'\n[[link]]\nfrom = 'left'\nto = 'right'\n{link}"))
        .unwrap();
    let gateway = pair.start(&scenario, &["--drops", &drops]);
    let from = pair.namespace(0).run(|| UdpSocket::bind("10.80.0.1:0")).unwrap().unwrap();
    (0..50).for_each(|_| assert_eq!(from.send_to(&[0; 972], "10.80.1.1:9").unwrap(), 972));
    std::thread::sleep(Duration::from_millis(50));
    gateway.end(Signal::TERM);
    let text = fs::read_to_string(&drops).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("\"bytes\":1000")).count(), 50, "{text}");
}

/// 100 kbit/s: the SYN of 60 bytes takes 4.8 ms and finds nothing. A datagram of 1000 bytes takes
/// 80 ms; the second of two that come together waits for the first one.
#[test]
fn it_writes_what_packets_find_at_queues() {
    let Some(pair) = Pair::new("queues") else { return };
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [scenario, queues] = ["slow.toml", "gateway-queues.jsonl"]
        .map(|name| directory.join(name).display().to_string());
    let link = "rate = '100kbit'\ndelay = '1ms'";
    fs::write(&scenario, format!("duration = '1s'\n[[link]]\nfrom = 'left'\nto = 'right'\n{link}"))
        .unwrap();
    let gateway = pair.start(&scenario, &["--queues", &queues]);
    let bind = |end: usize, address| pair.namespace(end).run(|| UdpSocket::bind(address)).unwrap();
    let (from, to) = (bind(0, "10.80.0.1:0").unwrap(), bind(1, "10.80.1.1:0").unwrap());
    let address = to.local_addr().unwrap();
    (0..2).for_each(|_| assert_eq!(from.send_to(&[0; 972], address).unwrap(), 972));
    (0..2).for_each(|_| assert_eq!(to.recv(&mut [0; 1000]).unwrap(), 972));
    gateway.end(Signal::TERM);
    let text = fs::read_to_string(&queues).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let datagrams: Vec<&Value> = lines.iter().filter(|line| line["size"] == 1000).collect();
    let [first, second] = &datagrams[..] else { panic!("{text}") };
    for line in [first, second] {
        assert_eq!((&line["from"], &line["to"]), (&"left".into(), &"right".into()), "{line}");
        assert_eq!((&line["marked"], &line["waits"]), (&false.into(), &false.into()), "{line}");
        assert!(line["dropped"].is_null() && line.get("strategy").is_none(), "{line}");
    }
    assert_eq!((&second["packets"], &second["bytes"]), (&1.into(), &1000.into()), "{second}");
    let apart = second["t"].as_f64().unwrap() - first["t"].as_f64().unwrap();
    let waited = second["waited"].as_f64().unwrap() - first["waited"].as_f64().unwrap();
    assert!((waited + apart - 0.08).abs() < 1e-9, "{first} {second}");
}

#[test]
fn what_is_wrong_is_said_before_anything_is_made() {
    let scenario = shipped("gateway-red.toml");
    let with = |attach: &[&str]| {
        let flags: Vec<&str> = attach.iter().flat_map(|a| ["--attach", a]).collect();
        fails(&[&["gateway", &scenario][..], &flags].concat())
    };
    let (code, err) = with(&["left=10.80.0.1/16"]);
    assert!(
        code == 2 && err.contains("attach two or more") && err.contains("`left`, `right`"),
        "{err}"
    );
    let (code, err) = with(&["left=10.80.0.1/16", "rihgt=10.80.1.1/16"]);
    assert!(
        code == 2 && err.contains("there is no node `rihgt`") && err.contains("`right`"),
        "{err}"
    );
    let (code, err) = with(&["left=10.80.0.1/16@a", "left=fd00::1/64@b", "right=10.80.1.1/16"]);
    assert!(code == 2 && err.contains("node `left` is in one namespace only"), "{err}");
    let (code, err) = with(&["left=10.80.0.1"]);
    assert!(code == 2 && err.contains("10.80.0.1"), "{err}");
    let (code, err) = with(&["left=10.80.0.1/16", "right=10.80.1.1/16@ackt-none"]);
    // Without root the first device is refused before.
    assert!(code == 2 && err.contains("no network namespace `ackt-none`") || code == 4, "{err}");
    let (code, err) = fails(&["gateway", "/none.toml", "--attach", "a=10.0.0.1/8"]);
    assert!(code == 3 && err.contains("/none.toml"), "{err}");

    let one_way = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("one-way.toml");
    let text = "duration = '1s'\n[[link]]\nfrom = 'a'\nto = 'b'\nrate = '1mbit'\ndelay = \
        '0s'\nduplex = false\n";
    fs::write(&one_way, text).unwrap();
    let one_way = one_way.display().to_string();
    let (code, err) =
        fails(&["gateway", &one_way, "--attach", "a=10.80.0.1/16", "--attach", "b=10.80.1.1/16"]);
    assert!(code == 2 && err.contains("no links lead from `b` to `a`"), "{err}");
    // A gateway needs no flows, a run does.
    let (code, err) = fails(&["run", &one_way]);
    assert!(code == 2 && err.contains("there is no `[[flow]]` and no `[[cbr]]`"), "{err}");
}
