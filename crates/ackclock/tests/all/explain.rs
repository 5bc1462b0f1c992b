//! `ackclock explain` from outside, on captures that the command itself makes.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::{Value, json as object};

use crate::run::{self, Run, ackclock, command, json, ok};

/// A path in a folder of this test alone.
fn scratch(test: &str, name: &str) -> String {
    run::scratch(&format!("explain/{test}"), name)
}

/// A folder of a test, empty.
pub(crate) fn folder(test: &str, name: &str) -> String {
    let path = scratch(test, name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

const LOST_RETRANSMISSION: [&str; 7] = [
    "compare",
    "--strategy",
    "newreno,sack",
    "--drop",
    "14,26,28",
    "--drop-retransmission",
    "14:1",
];

/// A capture of connections over a simulated network, and what the simulator says of them.
fn simulated(path: &str, args: &[&str]) -> Value {
    json(&[args, &["--pcap", path, "--format", "json"]].concat())
}

#[test]
fn counts_are_those_of_the_simulator() {
    let cases: [&[&str]; 4] = [
        &[
            "compare",
            "--strategy",
            "reno,newreno,sack,prr,rack-tlp,linux,net-reno",
            "--drop",
            "14,26,28",
        ],
        &[
            "compare",
            "--strategy",
            "sack,prr,rack-tlp,linux",
            "--drop",
            "14,26,28",
            "--drop-retransmission",
            "14:1",
        ],
        &["compare", "--strategy", "tahoe,newreno,sack", "--drop", "5"],
        &LOST_RETRANSMISSION,
    ];
    for (number, case) in cases.into_iter().enumerate() {
        let path = scratch("counts", &format!("{number}.pcapng"));
        let simulated = simulated(&path, case);
        let explained = json(&["explain", &path, "--format", "json"]);
        let (flows, connections) =
            (simulated.as_array().unwrap(), explained["connections"].as_array().unwrap());
        assert_eq!(flows.len(), connections.len());
        for (flow, connection) in flows.iter().zip(connections) {
            let timeouts = connection["timeout_list"].as_array().unwrap();
            let class =
                |class: &str| Value::from(timeouts.iter().filter(|t| t["class"] == class).count());
            let strategy = &flow["strategy"];
            assert_eq!(connection["bytes"], flow["bytes_acked"], "{strategy}");
            assert_eq!(connection["retransmissions"], flow["retransmissions"], "{strategy}");
            assert_eq!(
                connection["fast_retransmissions"], flow["fast_retransmissions"],
                "{strategy}"
            );
            assert_eq!(connection["recoveries"], flow["recoveries"], "{strategy}");
            assert_eq!(connection["timeouts"], flow["timeouts"], "{strategy}");
            assert_eq!(class("non_trigger"), flow["timeouts_non_trigger"], "{strategy}");
            assert_eq!(class("multiple_losses"), flow["timeouts_multiple_losses"], "{strategy}");
            assert_eq!(
                class("lost_retransmission"),
                flow["timeouts_lost_retransmission"],
                "{strategy}"
            );
            assert_eq!(connection["position"]["vantage"], "client", "{strategy}");
            let list = connection["retransmission_list"].as_array().unwrap();
            assert_eq!(connection["retransmissions"], list.len(), "{strategy}");
        }
    }
}

/// Eight segments fill the receiver's window, and each of 70 round trips brings eight more. At the
/// end a segment is lost, which takes a round trip more.
const SMALL_WINDOW: &str = r#"
duration = "20s"

[tcp]
mss = 1000
rwnd = "8seg"
handshake = true
delayed_ack = "off"

[[link]]
from = "server"
to = "client"
rate = "100mbit"
delay = "20ms"
loss = [{ drop = { segments = [559] } }]

[[flow]]
from = "server"
to = "client"
strategy = "rack-tlp"
source = { segments = 560 }
"#;

/// For most of the time the receiver's window limits, so that is the answer, and not the loss.
#[test]
fn the_answer_is_what_took_most_time() {
    let (scenario, path) = (scratch("window", "window.toml"), scratch("window", "window.pcapng"));
    fs::write(&scenario, SMALL_WINDOW).unwrap();
    ok(&["run", &scenario, "--pcap", &path]);
    let explained = json(&["explain", &path, "--format", "json"]);
    let connection = &explained["connections"][0];
    assert_eq!(
        (&connection["sender"], &connection["limited_by"]),
        (&object!("client"), &object!("receive_window"))
    );
    let sums = object!({"handshake_s": 0.04000832, "application_s": 0.0, "receive_window_s": 2.806048,
        "congestion_window_s": 0.0, "recovery_s": 0.0400864, "path_s": 0.04000736,
        "nagle_s": 0.0});
    assert_eq!(connection["from_client"]["limits"], sums);
    let text = ok(&["explain", &path]);
    let verdict = "#0 10.0.0.1:10000 > 198.51.100.1:9: the server's receive window held the client back \
        for 2.8 s of 2.9 s (96 %); ";
    assert!(text.contains(verdict), "{text}");
    assert!(text.contains("- 198.51.100.1: its receive buffer limits at 7.8 KiB"), "{text}");
}

/// A strategy without probes never shows one.
#[test]
fn no_probes_where_there_are_none() {
    let path = scratch("probes", "web.pcapng");
    ok(&["run", "../../scenarios/web.toml", "--strategy", "sack", "--pcap", &path]);
    let explained = json(&["explain", &path, "--format", "json", "--top", "0"]);
    let kinds = &explained["overall"]["retransmissions_by_kind"];
    assert_eq!(kinds["tail_loss_probe"], 0, "{kinds}");
    let both = kinds["timeout"].as_u64().unwrap();
    // Of the rest no connection of its host tells.
    assert!(kinds["probe_or_timeout"].as_u64().unwrap() * 50 < both, "{kinds}");
}

#[test]
fn the_guide_lists_every_key() {
    let path = scratch("guide", "two.pcapng");
    simulated(&path, &LOST_RETRANSMISSION);
    let path_of_page = "../../docs/src/reference/json.md";
    let page =
        fs::read_to_string(format!("{}/{path_of_page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let section = page.split("\n## ").find(|s| s.starts_with("`explain`\n")).unwrap();
    let document = json(&["explain", &path, "--format", "json"]);
    let connection = &document["connections"][0];
    let lists = ["retransmission_list", "timeout_list", "stall_list", "recovery_list"]
        .map(|list| &connection[list][0]);
    for object in [
        &document,
        connection,
        &connection["position"],
        &connection["rtt"],
        &connection["from_client"],
    ]
    .into_iter()
    .chain(lists)
    {
        for key in object.as_object().unwrap().keys() {
            let listed = [format!("`{key}`"), format!(".{key}`")];
            assert!(listed.iter().any(|name| section.contains(name)), "{key}");
        }
    }
}

#[test]
fn the_table_and_one_connection() {
    let path = scratch("table", "two.pcapng");
    simulated(&path, &LOST_RETRANSMISSION);
    let table = ok(&["explain", &path, "--tables"]);
    let rows: Vec<&str> = table.lines().filter(|line| line.contains("  198.51.100.")).collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(table.contains("Table 3: fast recovery"), "{table}");
    let bounded = ok(&["explain", &path, "--tables", "--top", "1"]);
    assert!(bounded.contains("and 1 more: --top 0 shows all"), "{bounded}");
    let one = ok(&["explain", &path, "--connection", "1"]);
    assert!(one.starts_with("#1 10.0.0.2:10001 > 198.51.100.2:9 in "), "{one}");
    assert!(one.contains("timeout, lost retransmission"), "{one}");
    let one = json(&["explain", &path, "--connection", "1", "--format", "json"]);
    assert_eq!(one["connections"].as_array().unwrap().len(), 1);
    assert_eq!(one["overall"]["retransmissions"], one["connections"][0]["retransmissions"]);
    let none = ackclock(&["explain", &path, "--connection", "2"]);
    assert_eq!(none.code, 2);
    assert_eq!(none.err, "error: --connection: there is no connection 2; there are 0 to 1\n");
}

#[test]
fn two_captures_are_compared() {
    let path = scratch("compared", "bulk.pcapng");
    simulated(&path, &LOST_RETRANSMISSION);
    let found = json(&["explain", &path, &path, "--compare", "--format", "json"]);
    let way = &found["both"]["from_clients"];
    // One capture twice: nothing is lost in between, and what was retransmitted comes twice.
    assert_eq!((&way["lost_between"], &way["not_before"]), (&object!(0), &object!(0)));
    assert_eq!(way["again_behind"], object!(11_000));
    assert_eq!(found["totals"][0], found["totals"][1]);
    assert_eq!(found["totals"][0]["retransmissions"], object!(11));
    assert_eq!(found["both"]["there_and_back_s"], object!(null));
    for (captures, why) in [
        (&[&path[..]][..], "this takes two captures, and here are 1"),
        (&[&path, "-"], "this reads captures twice, and standard input comes once"),
    ] {
        let run = ackclock(&[&["explain", "--compare"], captures].concat());
        assert_eq!(run.code, 2);
        assert!(run.err.ends_with(&format!("error: --compare: {why}\n")), "{}", run.err);
    }
    assert_eq!(ackclock(&["explain", &path, &path, "--compare", "--tables"]).code, 2);
}

#[test]
fn connections_are_grouped() {
    let path = scratch("grouped", "bulk.pcapng");
    simulated(&path, &LOST_RETRANSMISSION);
    let by = |by| json(&["explain", &path, "--by", by, "--format", "json"]);
    // Two runs, each with hosts of its own.
    for (name, groups) in [("host", 2), ("prefix", 1), ("port", 1)] {
        let found = by(name);
        let all = found["groups"].as_array().unwrap();
        assert_eq!((&found["by"], all.len()), (&object!(name), groups));
        let again = all.iter().map(|group| group["retransmissions"].as_u64().unwrap());
        assert_eq!(again.sum::<u64>(), 11);
    }
    let text = ok(&["explain", &path, "--by", "port"]);
    assert_eq!(text.lines().nth(2).unwrap().split_whitespace().next(), Some("port"));
    assert_eq!(ackclock(&["explain", &path, "--by", "host", "--compare"]).code, 2);
}

/// An interface that is not there, and options that are not for it.
#[test]
fn an_interface_is_watched_if_it_can_be() {
    if Command::new("tcpdump").arg("--version").output().is_err() {
        println!("skipped: there is no tcpdump");
        return;
    }
    let run = ackclock(&["explain", "--interface", "no-such-device"]);
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.err.starts_with("error: tcpdump: "), "{}", run.err);
    if geteuid().is_root() {
        let run = ackclock(&["explain", "--interface", "lo", "--filter", "bogus("]);
        let error =
            "error: --filter: filter `bogus(`: can't parse filter expression: syntax error\n";
        assert_eq!((run.code, run.err.as_str()), (2, error));
    }
    for more in [&["some.pcap"][..], &["--tables"], &["--by", "port"], &["--top", "3"]] {
        assert_eq!(ackclock(&[&["explain", "--interface", "lo"], more].concat()).code, 2);
    }
    assert_eq!(ackclock(&["explain", "some.pcap", "--metrics", "127.0.0.1:1"]).code, 2);
}

/// What was seen until then is told.
#[test]
fn an_interface_may_go_away() {
    let ip = |args: &str| {
        Command::new("ip").args(args.split(' ')).output().is_ok_and(|o| o.status.success())
    };
    let device = format!("acwatch{}", std::process::id() % 10_000);
    let no_tcpdump = Command::new("tcpdump").arg("--version").output().is_err();
    if no_tcpdump || !geteuid().is_root() || !ip(&format!("link add {device} type veth")) {
        println!("skipped: needs root, tcpdump and a device to take away");
        return;
    }
    assert!(ip(&format!("link set {device} up")));
    let watching = command(&["explain", "--interface", &device])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_secs(2));
    assert!(ip(&format!("link del {device}")));
    let run = Run::from(watching.wait_with_output().unwrap());
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.err.starts_with("error: tcpdump: "), "{}", run.err);
    assert!(run.out.starts_with("0 connections, "), "{}", run.out);
}

/// The fetches of its own metrics over the loopback interface are what it sees.
#[test]
fn what_an_interface_carries_is_in_the_metrics() {
    if !geteuid().is_root() || Command::new("tcpdump").arg("--version").output().is_err() {
        println!("skipped: needs root and tcpdump");
        return;
    }
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let filter = format!("port {}", address.rsplit(':').next().unwrap());
    let watching = command(&["explain", "--interface", "lo", "--metrics", &address])
        .args(["--filter", &filter])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&watching);
    let metrics = || {
        let mut stream = TcpStream::connect(&address).ok()?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let open = text.lines().find_map(|line| line.strip_prefix("ackclock_explain_open "))?;
        open.parse::<u64>().ok().filter(|open| *open > 2)
    };
    let end = Instant::now() + Duration::from_secs(30);
    let mut open = None;
    while open.is_none() && Instant::now() < end {
        thread::sleep(Duration::from_millis(200));
        open = metrics();
    }
    // Meanwhile tcpdump is asked what it has missed, and goes on.
    thread::sleep(Duration::from_secs(2));
    assert!(metrics().is_some());
    kill_process(pid, Signal::INT).unwrap();
    let run = Run::from(watching.wait_with_output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let told: u64 = run.out.split(" connections, ").next().unwrap().parse().unwrap();
    assert!(open.is_some_and(|open| told >= open), "{open:?}: {}", run.out);
}

#[test]
fn a_missing_tcpdump_is_named() {
    let run =
        Run::from(command(&["explain", "--interface", "lo"]).env("PATH", "").output().unwrap());
    let error = "error: --interface needs tcpdump, which cannot be run: No such file or directory \
                 (os error 2)\n";
    assert_eq!((run.code, run.err.as_str()), (4, error));
}

/// Whoever does not read what is told holds up neither the metrics nor the second signal. Here
/// tcpdump is a script that writes a capture.
#[test]
fn a_paused_reader_holds_up_nothing_else() {
    let (capture, folder) = (scratch("paused", "two.pcapng"), folder("paused", "bin"));
    simulated(&capture, &LOST_RETRANSMISSION);
    let script = format!("#!/bin/sh\ncat '{capture}'\nexec sleep 60\n");
    let made = Command::new("sh")
        .args(["-c", "printf %s \"$1\" > tcpdump && chmod +x tcpdump", "sh", &script])
        .current_dir(&folder)
        .status();
    assert!(made.unwrap().success());
    let (_reader, full) = std::io::pipe().unwrap();
    rustix::fs::fcntl_setfl(&full, OFlags::NONBLOCK).unwrap();
    while rustix::io::write(&full, &[0; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(&full, OFlags::empty()).unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut watching = command(&["explain", "--interface", "lo", "--metrics", &address])
        .env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap()))
        .stdout(full)
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&watching);
    let told = || {
        let mut stream = TcpStream::connect(&address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        text.lines().find_map(|line| line.strip_prefix("ackclock_explain_bad_total ")?.parse().ok())
    };
    let end = Instant::now() + Duration::from_secs(20);
    while told().is_none_or(|bad: u64| bad == 0) && Instant::now() < end {
        thread::sleep(Duration::from_millis(200));
    }
    // The thread that writes has what it cannot write.
    let still = told();
    while watching.try_wait().unwrap().is_none() && Instant::now() < end {
        kill_process(pid, Signal::INT).unwrap();
        thread::sleep(Duration::from_millis(500));
    }
    let _ = watching.kill();
    let code = watching.wait().unwrap().code();
    assert!(still.is_some_and(|bad| bad > 0), "{still:?}");
    assert_eq!(code, Some(130));
}

#[test]
fn files_folders_and_standard_input_give_the_same() {
    let path = scratch("inputs", "plain.pcapng");
    simulated(&path, &LOST_RETRANSMISSION);
    let bytes = fs::read(&path).unwrap();
    let connections = |text: &str| {
        let document: Value = serde_json::from_str(text).unwrap();
        let mut all = document["connections"].as_array().unwrap().clone();
        all.iter_mut().for_each(|c| c["capture"] = Value::Null);
        all
    };
    let expected = connections(&ok(&["explain", &path, "--format", "json"]));
    assert_eq!(expected.len(), 2);

    let run =
        command(&["explain", "-", "--format", "json"]).stdin(File::open(&path).unwrap()).output();
    let run = Run::from(run.unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(connections(&run.out), expected);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["captures"][0]["path"], "-");

    // One byte after another, as a slow pipe has it.
    let mut child = command(&["explain", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    bytes.chunks(997).for_each(|piece| stdin.write_all(piece).unwrap());
    drop(stdin);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(connections(&out), expected);
    assert!(child.wait().unwrap().success());

    let all = folder("inputs", "all");
    fs::create_dir_all(format!("{all}/below")).unwrap();
    fs::write(format!("{all}/b.pcapng"), &bytes).unwrap();
    fs::write(format!("{all}/notes.txt"), "no capture").unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    fs::write(format!("{all}/a.gz"), gzip.finish().unwrap()).unwrap();
    fs::write(format!("{all}/below/c.zst"), zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
    let run = ackclock(&["explain", &all, "--format", "json"]);
    assert_eq!(
        (run.code, run.err),
        (0, format!("note: {all}/notes.txt: skipped, this is no capture\n"))
    );
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let paths: Vec<_> = document["captures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["a.gz", "b.pcapng", "below/c.zst"].map(|name| format!("{all}/{name}")));
    let mut three: Vec<Value> = connections(&run.out);
    // Numbers go on from capture to capture.
    for (number, connection) in three.iter_mut().enumerate() {
        assert_eq!(connection["number"], number);
        connection["number"] = Value::from(number % 2);
    }
    assert_eq!(three, [expected.clone(), expected.clone(), expected].concat());
}

#[test]
fn jobs_change_nothing() {
    let all = folder("jobs", "all");
    for seed in 0..6 {
        let drop = format!("{},{}", 10 + seed, 17 + 2 * seed);
        simulated(
            &format!("{all}/{seed}.pcapng"),
            &["compare", "--strategy", "reno,sack", "--drop", &drop],
        );
    }
    let one = ok(&["explain", &all, "--format", "json", "--jobs", "1"]);
    assert_eq!(ok(&["explain", &all, "--format", "json", "--jobs", "5"]), one);
    assert_eq!(ok(&["explain", &all, "--jobs", "5"]), ok(&["explain", &all, "--jobs", "1"]));
}

#[test]
fn a_damaged_capture_yields_what_comes_before_and_exit_code_2() {
    let path = scratch("damage", "whole.pcap");
    simulated(&path, &LOST_RETRANSMISSION);
    let bytes = fs::read(&path).unwrap();
    let cut = scratch("damage", "cut.pcap");
    fs::write(&cut, &bytes[..bytes.len() - 7]).unwrap();
    let run = ackclock(&["explain", &cut, &path, "--format", "json"]);
    assert_eq!(run.code, 2);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let (damaged, whole) = (&document["captures"][0], &document["captures"][1]);
    assert_eq!(damaged["packets"].as_u64().unwrap() + 1, whole["packets"].as_u64().unwrap());
    assert_eq!(whole["damage"], Value::Null);
    assert_eq!(document["connections"].as_array().unwrap().len(), 4);
    let offset = damaged["damage"]["offset"].as_u64().unwrap();
    assert!(offset < bytes.len() as u64 && offset + 200 > bytes.len() as u64, "{offset}");
    assert!(run.err.starts_with(&format!("warning: {cut}: byte {offset}: ")), "{}", run.err);
    assert!(
        run.err.ends_with("; what comes before is reported\nerror: damaged captures: 1 of 2\n"),
        "{}",
        run.err
    );
}

#[test]
fn exit_codes_are_as_documented() {
    let text = scratch("codes", "notes.txt");
    fs::write(&text, "no capture at all").unwrap();
    let run = ackclock(&["explain", &text]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.starts_with(&format!(
            "warning: {text}: byte 0: no capture: the first bytes are 6e 6f 20 63"
        )),
        "{}",
        run.err
    );
    let missing = scratch("codes", "missing.pcap");
    let run = ackclock(&["explain", &text, &missing]);
    assert_eq!((run.code, run.out.as_str()), (3, ""));
    assert!(run.err.starts_with(&format!("error: {missing}: cannot be read: ")), "{}", run.err);
    let run = ackclock(&["explain", &folder("codes", "empty")]);
    assert_eq!((run.code, run.err.as_str()), (2, "error: there is no capture in what was given\n"));
    assert_eq!(ackclock(&["explain", "-", "-"]).code, 2);
    assert_eq!(ackclock(&["explain"]).code, 2);
    let path = scratch("codes", "fine.pcapng");
    simulated(&path, &LOST_RETRANSMISSION);
    let run = ackclock(&["explain", &path, "--annotate", &format!("{missing}/out.pcapng")]);
    assert_eq!(run.code, 3);
    assert_eq!(ackclock(&["explain", &path, "--annotate", &path]).code, 2);
    let bytes = fs::read(&path).unwrap();
    let refused = format!("error: {path}: this would overwrite a file that is read\n");
    let run = ackclock(&["explain", &path, "--qlog", &path]);
    assert_eq!((run.code, run.err), (2, refused));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(ackclock(&["explain", &path, "--parquet", &text]).code, 3);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let path = scratch("pipe", "two.pcapng");
    simulated(&path, &LOST_RETRANSMISSION);
    for format in ["json", "table"] {
        let mut child = command(&["explain", &path, "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
    }
}

#[test]
fn ctrl_c_ends_the_input_only_when_it_comes_again() {
    let path = scratch("interrupt", "two.pcapng");
    simulated(&path, &LOST_RETRANSMISSION);
    let bytes = fs::read(&path).unwrap();
    let mut child = command(&["explain", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let interrupt = || {
        // Two that come at once count as one.
        std::thread::sleep(std::time::Duration::from_millis(300));
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    };
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&bytes[..bytes.len() / 2]).unwrap();
    interrupt();
    stdin.write_all(&bytes[bytes.len() / 2..]).unwrap();
    interrupt();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    // All of the input is there, though it has not been closed.
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["connections"].as_array().unwrap().len(), 2);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(stdin);
}

/// Nobody reads the pipe that is to be written, so that only signals can end the command.
#[test]
fn signals_end_it_after_the_input_has_ended() {
    let path = scratch("ended", "two.pcapng");
    let pipe = format!("{}/out.qlog", folder("ended", "pipe"));
    simulated(&path, &LOST_RETRANSMISSION);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = command(&["explain", "-", "--qlog", &pipe])
        .stdin(File::open(&path).unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&child);
    let end = Instant::now() + Duration::from_secs(20);
    // From when on it has SIGINT and SIGTERM blocked, to take them itself.
    let status = format!("/proc/{}/status", child.id());
    while !fs::read_to_string(&status).unwrap().contains("4002\nSigIgn:") {
        thread::sleep(Duration::from_millis(10));
    }
    while child.try_wait().unwrap().is_none() && Instant::now() < end {
        kill_process(pid, Signal::TERM).unwrap();
        thread::sleep(Duration::from_millis(100));
    }
    let _ = child.kill();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn filters_are_in_the_language_of_tcpdump() {
    let path = scratch("filter", "two.pcapng");
    simulated(&path, &LOST_RETRANSMISSION);
    if Command::new("tcpdump").arg("--version").output().is_err() {
        println!("skipped: there is no tcpdump");
        return;
    }
    let document = json(&["explain", &path, "--filter", "port 10001", "--format", "json"]);
    assert_eq!(document["connections"].as_array().unwrap().len(), 1);
    assert_eq!(document["connections"][0]["client"], "10.0.0.2:10001");
    let capture = &document["captures"][0];
    let [packets, segments, filtered] =
        ["packets", "segments", "filtered"].map(|key| capture[key].as_u64().unwrap());
    assert_eq!(segments + filtered, packets);
    assert!(segments > 0 && filtered > 0);
    let run = ackclock(&["explain", &path, "--filter", "prot 10001"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.starts_with("error: --filter: "), "{}", run.err);
}

#[test]
fn an_annotated_copy_says_of_each_retransmission_what_it_is() {
    let (path, copy) = (scratch("annotate", "two.pcapng"), scratch("annotate", "copy.pcapng"));
    simulated(&path, &LOST_RETRANSMISSION);
    let document = json(&["explain", &path, "--format", "json", "--annotate", &copy]);
    let Ok(output) =
        Command::new("tshark").args(["-r", &copy, "-T", "fields", "-e", "frame.comment"]).output()
    else {
        println!("skipped: there is no tshark");
        return;
    };
    let comments = String::from_utf8(output.stdout).unwrap();
    let comments: Vec<&str> = comments.lines().collect();
    assert_eq!(comments.len() as u64, document["captures"][0]["packets"].as_u64().unwrap());
    for connection in document["connections"].as_array().unwrap() {
        for retransmission in connection["retransmission_list"].as_array().unwrap() {
            let words = match retransmission["kind"].as_str().unwrap() {
                "fast_retransmit" => "ackclock: fast retransmit",
                "recovery" => "ackclock: retransmission in recovery",
                "slow_start" => "ackclock: slow-start retransmission",
                "timeout" => "ackclock: timeout, lost retransmission",
                kind => panic!("{kind}"),
            };
            let comment = comments[retransmission["frame"].as_u64().unwrap() as usize - 1];
            assert!(comment.starts_with(words), "{comment}");
            // The simulator's own comment is still there.
            assert!(comment[words.len()..].contains("ackclock: "), "{comment}");
        }
    }
}

#[test]
fn parquet_files_are_written() {
    let (path, out) = (scratch("parquet", "two.pcapng"), folder("parquet", "out"));
    simulated(&path, &LOST_RETRANSMISSION);
    ok(&["explain", &path, "--parquet", &out]);
    for name in ["connections", "retransmissions", "timeouts", "stalls"] {
        let bytes = fs::read(format!("{out}/{name}.parquet")).unwrap();
        assert_eq!(
            (&bytes[..4], &bytes[bytes.len() - 4..]),
            (&b"PAR1"[..], &b"PAR1"[..]),
            "{name}"
        );
    }
}
