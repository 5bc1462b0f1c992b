//! The command from outside: what it prints, writes and returns.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ackclock::EXIT_CODES;
use ackclock_tcp::strategy::Axis;
use serde_json::Value;

use crate::run::{Run, ackclock, command, empty_folder, json, ok, scratch};
use crate::summary_keys::KEYS;

fn shipped(name: &str) -> String {
    format!("{}/../../scenarios/{name}", env!("CARGO_MANIFEST_DIR"))
}

const SMALL: &str = "\
duration = \"5s\"
seed = 7
runs = 3

[[link]]
from = \"a\"
to = \"b\"
rate = \"2mbit\"
delay = \"10ms\"
queue = { droptail = { packets = 10 } }
loss = [{ bernoulli = { p = \"2%\" } }]

[[flow]]
from = \"a\"
to = \"b\"
count = 2
start_spread = \"100ms\"
";

#[test]
fn compare_prints_one_object_per_strategy_with_exactly_the_documented_keys() {
    let text =
        ok(&["compare", "--strategy", "reno,sack+lt", "--drop", "14,26,28", "--format", "json"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[3], lines.len()), ("[", "]", 4));
    for line in &lines[1..3] {
        let at: Vec<usize> =
            KEYS.iter().map(|key| line.find(&format!("\"{key}\":")).unwrap()).collect();
        assert!(at.is_sorted(), "{line}");
        let flow: Value = serde_json::from_str(line.trim_end_matches(',')).unwrap();
        assert_eq!(flow.as_object().unwrap().len(), KEYS.len());
    }
    let flows: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&flows[0]["strategy"], &flows[1]["strategy"]), (&"reno".into(), &"sack+lt".into()));
    for flow in flows.as_array().unwrap() {
        assert_eq!(flow["bytes_acked"], 100_000);
        assert_eq!(flow["drops"], 3);
        assert_eq!(flow["seed"], 1);
    }
    assert_eq!(flows[1]["retransmissions"], 3);
    assert_eq!(flows[1]["timeouts"], 0);
}

#[test]
fn an_unfinished_flow_has_no_completion() {
    let flows = json(&["compare", "--strategy", "sack", "--duration", "500ms", "--format", "json"]);
    assert_eq!(flows[0]["completion_s"], Value::Null);
}

#[test]
fn drops_may_be_ranges_and_a_scenario_may_come_from_standard_input() {
    let flows = json(&["compare", "--strategy", "sack", "--drop", "14-16,20", "--format", "json"]);
    assert_eq!(flows[0]["drops"], 4);
    let mut child = Command::new(env!("CARGO_BIN_EXE_ackclock"))
        .args(["run", "-", "--format", "json"])
        .stdin(Stdio::from(fs::File::open(shipped("first.toml")).unwrap()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(out, ok(&["run", &shipped("first.toml"), "--format", "json"]));
}

#[test]
fn a_lost_retransmission_is_lost() {
    let args = [
        "compare",
        "--strategy",
        "sack",
        "--drop",
        "14",
        "--drop-retransmission",
        "14:1",
        "--format",
        "json",
    ];
    let flow = &json(&args)[0];
    assert_eq!(flow["drops"], 2);
    assert_eq!(flow["retransmissions"], 2);
    assert_eq!(flow["timeouts_lost_retransmission"], 1);
}

#[test]
fn each_drop_is_a_case_of_its_own() {
    let all = [
        "compare",
        "--strategy",
        "reno,sack",
        "--drop",
        "14",
        "--drop",
        "14,28",
        "--format",
        "json",
    ];
    let all = json(&all);
    let drops: Vec<(&str, u64, u64)> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|f| {
            (
                f["strategy"].as_str().unwrap(),
                f["flow"].as_u64().unwrap(),
                f["drops"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(drops, [("reno", 0, 1), ("reno", 1, 2), ("sack", 0, 1), ("sack", 1, 2)]);
    // As if each ran alone.
    let mut alone =
        json(&["compare", "--strategy", "reno", "--drop", "14,28", "--format", "json"])[0].clone();
    (alone["flow"], alone["name"]) = (1.into(), "14, 28 lost".into());
    assert_eq!(all[1], alone);
}

#[test]
fn the_printed_scenario_runs_as_the_options_do() {
    let options = [
        "--strategy",
        "newreno",
        "--drop",
        "14,28",
        "--queue",
        "9",
        "--delayed-ack",
        "200ms",
        "--mss",
        "500",
    ];
    let options = [
        &options[..],
        &["--max-burst", "4", "--timestamps", "--rwnd", "30", "--initial-window", "3"],
    ]
    .concat();
    for more in [&["--handshake"][..], &["--first-rtt", "none"], &[]] {
        let options = [&options[..], more].concat();
        let text = ok(&[&["compare", "--print-scenario"], &options[..]].concat());
        let file = scratch("printed", "scenario.toml");
        fs::write(&file, text).unwrap();
        let direct = json(&[&["compare", "--format", "json"], &options[..]].concat());
        assert_eq!(json(&["run", &file, "--format", "json"]), direct);
    }
}

/// A segment of 1040 bytes and its ACK of 40 take 212.08 ms, SYN and SYN/ACK of 48 take 201.256.
/// Three times as long is the first timeout.
#[test]
fn the_first_timeout_follows_from_what_is_known_of_the_round_trip() {
    let completion = |more: &[&str]| {
        let options = ["--strategy", "newreno", "--segments", "1", "--drop", "0"];
        let least = ["--min-rto", "200ms", "--format", "json"];
        let all = json(&[&["compare"], &options[..], &least, more].concat());
        all[0]["completion_s"].as_f64().unwrap()
    };
    let path = 3.0 * 0.201256 + 0.21208;
    let cases: [(&[&str], f64); 4] = [
        (&[], path),
        (&["--first-rtt", "path"], path),
        (&["--first-rtt", "none"], 1.0 + 0.21208),
        (&["--handshake"], 0.201256 + path),
    ];
    for (more, expected) in cases {
        assert!((completion(more) - expected).abs() < 1e-9, "{more:?}: {}", completion(more));
    }
    for other in [&["--first-rtt", "path"][..], &["--vs-oracle"]] {
        let both = [&["compare", "--strategy", "sack", "--handshake"], other].concat();
        assert_eq!(ackclock(&both).code, 2);
    }
}

/// Segment 30 is there with every seed. The loss of its first transmission makes a second one, and
/// never a ninth.
#[test]
fn a_fate_that_no_packet_met_is_named() {
    let file = scratch("fates", "fates.toml");
    let fates = "fate = [\n{ segment = 30, lose = true },\n\
                 { segment = 30, transmission = 9, lose = true },\n\
                 { ack = 1, late = \"1ms\" },\n{ ack = 0x10000000, lose = true },\n]\n";
    fs::write(&file, SMALL.replace("delay =", &format!("{fates}delay ="))).unwrap();
    let run = ackclock(&["run", &file, "--format", "json"]);
    assert_eq!(run.code, 0);
    let expected = format!(
        "warning: {file}:11: link[0].fate[1]: no packet met this fate in 3 of 3 runs\n\
         warning: {file}:13: link[0].fate[3]: no packet met this fate in 3 of 3 runs\n"
    );
    assert_eq!(run.err, expected);
    let run = ackclock(&["run", &file, "--runs", "1"]);
    let expected = format!("warning: {file}:11: link[0].fate[1]: no packet met this fate\n");
    assert!(run.err.starts_with(&expected), "{}", run.err);
}

/// The sender and its node see the same, and so do the receiver and its node.
#[test]
fn a_node_sees_what_begins_and_ends_there() {
    let file = scratch("place", "place.toml");
    let aside =
        "[[link]]\nfrom = \"b\"\nto = \"aside\"\nrate = \"1mbit\"\ndelay = \"1ms\"\n\n[[flow]]";
    fs::write(&file, SMALL.replace("[[flow]]", aside)).unwrap();
    let capture = scratch("place", "place.pcap");
    let at = |place: &str| {
        let run = ackclock(&["run", &file, "--runs", "1", "--pcap", &capture, "--pcap-at", place]);
        assert_eq!(run.code, 0, "{}", run.err);
        (run.err, fs::read(&capture).unwrap())
    };
    for (end, node) in [("sender", "a"), ("receiver", "b")] {
        let (said, packets) = at(end);
        assert!(packets.len() > 10_000);
        assert!((said, packets) == at(node), "{node}");
    }
    let (said, _) = at("aside");
    assert!(said.contains("warning: --pcap-at: no packet came to `aside`\n"), "{said}");
}

/// The error is where the seed is: in the file, or on the command line.
#[test]
fn a_seed_that_leaves_no_room_is_named_where_it_is_written() {
    let file = scratch("seed", "seed.toml");
    fs::write(&file, SMALL.replace("seed = 7", "seed = 9223372036854775807")).unwrap();
    let run = ackclock(&["run", &file]);
    // The largest one is one.
    assert_eq!(ackclock(&["run", &file, "--runs", "1"]).code, 0);
    let seed = "seed: 9223372036854775807 leaves no room for 3 runs\n";
    assert_eq!((run.code, run.err), (2, format!("error: {file}:2: {seed}")));
    let run = ackclock(&["run", &file, "--seed", "9223372036854775807"]);
    assert_eq!((run.code, run.err), (2, format!("error: --{seed}")));
}

/// The run ends at 5 s.
#[test]
fn what_begins_after_the_end_is_named() {
    let file = scratch("late", "late.toml");
    let late = "change = [{ at = \"4.9s\", delay = \"1ms\" }, { at = \"5s\", delay = \"2ms\" }]\n\
                outage = [{ from = \"6s\", for = \"1s\" }]\ndelay =";
    fs::write(&file, SMALL.replace("delay =", late)).unwrap();
    let run = ackclock(&["run", &file, "--format", "json"]);
    assert_eq!(run.code, 0);
    let expected = format!(
        "warning: {file}:9: link[0].change[1].at: this begins when the run ends, at 5s\n\
         warning: {file}:10: link[0].outage[0].from: the run ends before this, at 5s\n"
    );
    assert_eq!(run.err, expected);
}

/// Whatever has a time, and is in no link's `change` or `outage`.
#[test]
fn other_things_that_begin_after_the_end_are_named() {
    let file = scratch("late", "others.toml");
    let loss = "loss = [{ three_state = { second_at = \"5s\", second_for = \"1s\", second_loss = 0, \
                third_for = \"1s\", third_loss = 0 } }]\n\
                spikes = [{ at = \"7s\", for = \"1s\", delay = \"1s\" }]\n\
                reorder = { segments = [3, 4000000, 4000001], delay = \"1ms\" }";
    let text = SMALL.replace("loss = [{ bernoulli = { p = \"2%\" } }]", loss);
    let more = "[[flow]]\nfrom = \"a\"\nto = \"b\"\nstart = \"5s\"\n\
                [[cbr]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1mbit\"\nstart = \"6s\"\n";
    fs::write(&file, format!("{text}{more}")).unwrap();
    let run = ackclock(&["run", &file, "--runs", "1", "--format", "json"]);
    assert_eq!(run.code, 0);
    let ends = "the run ends before this, at 5s";
    let with = "this begins when the run ends, at 5s";
    let expected = format!(
        "warning: {file}:13: link[0].reorder.segments: no packet met 4000000-4000001 of this list\n\
         warning: {file}:12: link[0].spikes[0].at: {ends}\n\
         warning: {file}:11: link[0].loss[0].three_state.second_at: {with}\n\
         warning: {file}:23: flow[1].start: {with}\n\
         warning: {file}:28: cbr[0].start: {ends}\n"
    );
    assert_eq!(run.err, expected);
}

/// The first segment is written at 4 s, the others at 5 s and at 6 s. The copies begin at 2, 3, 4,
/// 5 and 6 s; and after a second each by chance, of which seed 7 leaves two copies no time, seed 8
/// none.
#[test]
fn writes_and_copies_that_begin_after_the_end_are_named() {
    let file = scratch("late", "copies.toml");
    let flow = "[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
    let writes = "start = \"1s\"\nsource = { writes = [{ at = \"3s\", amount = 1000 }, \
                  { at = \"4s\", amount = 1000 }, { at = \"5s\", amount = 1000 }] }\n";
    let steps = "start = \"2s\"\nstart_step = \"1s\"\ncount = 5\nsource = { segments = 1 }\n";
    let arrivals = "arrivals = { poisson = \"1s\" }\ncount = 5\nsource = { segments = 1 }\n";
    let link = SMALL.split_once("[[flow]]").unwrap().0.replace("loss", "#");
    fs::write(&file, format!("{link}{flow}{writes}{flow}{steps}{flow}{arrivals}")).unwrap();
    let run = ackclock(&["run", &file, "--runs", "2", "--format", "json"]);
    let expected = format!(
        "warning: {file}:17: flow[0].source.writes[1].at: this begins when the run ends, at 5s\n\
         warning: {file}:17: flow[0].source.writes[2].at: the run ends before this, at 5s\n\
         warning: {file}:18: flow[1]: 2 of 5 flows begin when the run ends, at 5s, or later\n\
         warning: {file}:25: flow[2]: 0 to 2 of 5 flows begin when the run ends, at 5s, or later\n"
    );
    assert_eq!((run.code, run.err), (0, expected));
    // A flow that begins with the end sends its window, and has no time.
    let flows: Value = serde_json::from_str(&run.out).unwrap();
    let goodput = |flow: usize| flows[flow]["goodput_bps"].as_f64();
    assert_eq!([4, 5].map(goodput), [None; 2]);
    assert_eq!([4, 5].map(|flow| flows[flow]["segments_sent"].as_u64()), [Some(1), Some(0)]);
    assert!(goodput(0) > Some(0.0) && goodput(3) > Some(0.0));
}

/// Of two links between the same nodes the first carries all, and no packet fits into 500 bytes.
#[test]
fn links_that_nothing_passes_are_named() {
    let file = scratch("idle", "idle.toml");
    let second =
        "[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"9mbit\"\ndelay = \"1ms\"\n\n[[flow]]";
    let text = SMALL.replace("[[flow]]", second);
    fs::write(&file, text.replace("packets = 10", "bytes = 500")).unwrap();
    let run = ackclock(&["run", &file, "--format", "json"]);
    assert_eq!(run.code, 0);
    let expected = format!(
        "warning: {file}:10: link[0].queue: no packet had room in this queue in 3 of 3 runs\n\
         warning: {file}:13: link[1]: no packet came here in 3 of 3 runs; a route has the fewest \
         links, and of several between two nodes the first\n"
    );
    assert_eq!(run.err, expected);
}

/// A link carries both directions, so that one which leads back is idle; with `duplex = false` it
/// is not.
#[test]
fn a_second_link_for_the_way_back_is_named_with_the_first() {
    let file = scratch("idle", "back.toml");
    let back = "[[link]]\nfrom = \"b\"\nto = \"a\"\nrate = \"9mbit\"\ndelay = \"1ms\"\n\n[[flow]]";
    let text = SMALL.replace("[[flow]]", back);
    let warnings = |text: &str| {
        fs::write(&file, text).unwrap();
        let run = ackclock(&["run", &file, "--runs", "1", "--format", "json"]);
        assert_eq!(run.code, 0);
        run.err
    };
    let expected = format!(
        "warning: {file}:13: link[1]: no packet came here; link[0] carries both directions unless \
         it has `duplex = false`\n"
    );
    assert_eq!(warnings(&text), expected);
    assert_eq!(warnings(&text.replacen("[[link]]", "[[link]]\nduplex = false", 1)), "");
}

/// The first retransmission of segment 30 is there with every seed, a second one is not.
#[test]
fn entries_of_a_drop_list_that_no_packet_met_are_named() {
    let file = scratch("unmet", "drops.toml");
    let drop = "loss = [{ drop = { segments = [30, \"4000000-4000002\", 5000000], \
                retransmissions = [\"30:2\", \"31:1\"] } }, ";
    fs::write(&file, SMALL.replace("loss = [", drop)).unwrap();
    let run = ackclock(&["run", &file, "--format", "json"]);
    assert_eq!(run.code, 0);
    let named =
        "link[0].loss[0].drop: no packet met 4000000-4000002, 5000000, 30:2, 31:1 of this list";
    assert_eq!(run.err, format!("warning: {file}:11: {named} in 3 of 3 runs\n"));
    let run = ackclock(&[
        "compare",
        "--strategy",
        "newreno,sack",
        "--drop",
        "14",
        "--drop-retransmission",
        "14:2",
        "--format",
        "json",
    ]);
    let named = "--drop, --drop-retransmission: no packet met 14:2 of this list in 2 of 2 runs";
    assert_eq!(run.err, format!("warning: compare: {named}\n"));
    let run = ackclock(&[
        "compare",
        "--strategy",
        "sack",
        "--drop",
        "14",
        "--drop-retransmission",
        "14:1",
    ]);
    assert_eq!(run.err, "");
}

#[test]
fn an_unknown_key_is_refused_with_file_line_key_and_the_nearest_one() {
    let file = scratch("unknown", "typo.toml");
    fs::write(&file, SMALL.replace("delay =", "dealy =")).unwrap();
    let run = ackclock(&["run", &file]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    let expected = format!(
        "error: {file}:9: link[0].dealy: there is no key `dealy` here; did you mean `delay`? There \
         are `from`, `to`, \
         `rate`, `trace`, `delay`, `delay_to`, `duplex`, `count`, `queue`, `fate`, `loss`, `spikes`, \
         `jitter`, `reorder`, `duplicate`, `corrupt`, `change`, `outage`, `aggregate`\n"
    );
    assert_eq!(run.err, expected);
}

#[test]
fn a_wrong_unit_is_refused_with_file_line_key_and_the_units() {
    let file = scratch("unit", "unit.toml");
    fs::write(&file, SMALL.replace("10ms", "10 minutes")).unwrap();
    let run = ackclock(&["run", &file]);
    assert_eq!(run.code, 2);
    let expected = format!(
        "error: {file}:9: link[0].delay: `10 minutes` is not a duration: there is no unit \
         `minutes`; write for example \
         \"100ms\" (units: ns, us, ms, s)\n"
    );
    assert_eq!(run.err, expected);
    let run = ackclock(&["compare", "--strategy", "sack", "--rate", "800"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("`800` is not a rate: it has no unit; write for example \"800kbit\""),
        "{}",
        run.err
    );
}

#[test]
fn exit_codes_are_as_documented() {
    let code = |args: &[&str]| ackclock(args).code;
    assert_eq!(code(&["--help"]), 0);
    assert_eq!(code(&["run", "--help"]), 0);
    assert_eq!(code(&[]), 2);
    assert_eq!(code(&["compare"]), 2);
    assert_eq!(code(&["compare", "--strategy", "sakc"]), 2);
    assert_eq!(code(&["compare", "--strategy", "sack", "--drop", "100"]), 2);
    assert_eq!(code(&["compare", "--strategy", "sack", "--drop-retransmission", "14:0"]), 2);
    assert_eq!(code(&["run", "/there/is/no/such/file.toml"]), 3);
    let run = ackclock(&["compare", "--strategy", "sack", "--html", "/there/is/no/folder.html"]);
    let why = "cannot be written: No such file or directory (os error 2)";
    assert_eq!((run.code, run.err), (3, format!("error: /there/is/no/folder.html: {why}\n")));
    for args in [&["--help"][..], &["--version"], &["run", "--help"], &["schema"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let run: Run = command(args).stdout(full).output().unwrap().into();
        let why = "cannot be written: No space left on device (os error 28)";
        assert_eq!((run.code, run.err), (3, format!("error: standard output: {why}\n")));
    }
    // A trace that is not there, and one that is none.
    let file = scratch("codes", "trace.toml");
    let of_trace = |name: &str| {
        fs::write(&file, SMALL.replace("rate = \"2mbit\"", &format!("trace = \"{name}\"")))
            .unwrap();
        code(&["run", &file])
    };
    assert_eq!((of_trace("none.trace"), of_trace("trace.toml")), (3, 2));
    // What is no text, whoever reads it.
    let file = scratch("codes", "bytes.toml");
    fs::write(&file, b"\xff\xfe").unwrap();
    for verb in ["run", "replay", "trace", "lab", "experiment"] {
        let run = ackclock(&[verb, &file]);
        assert_eq!((run.code, run.err), (2, format!("error: {file}: this is not UTF-8 text\n")));
    }
    // A flow without a way back.
    let file = scratch("codes", "oneway.toml");
    fs::write(&file, SMALL.replace("delay =", "duplex = false\ndelay =")).unwrap();
    let run = ackclock(&["run", &file]);
    assert_eq!(run.code, 2);
    assert_eq!(run.err, format!("error: {file}:14: flow[0]: no route from b to a\n"));
}

/// Neither the results of a long run nor its other files are lost with a file that cannot be
/// written.
#[test]
fn results_are_printed_though_a_file_cannot_be_written() {
    let (file, page) = (scratch("unwritten", "small.toml"), scratch("unwritten", "out.html"));
    fs::write(&file, SMALL).unwrap();
    let capture = format!("{}/../../tests/kernel.pcap.gz", env!("CARGO_MANIFEST_DIR"));
    let pages = scratch("unwritten", "pages");
    for args in [
        &["run", &file][..],
        &["compare", "--strategy", "sack"],
        &["explain", &capture, "--top", "1"],
        &["exhaust", "--strategy", "sack", "--window", "3"],
    ] {
        let options: &[_] = match args[0] {
            "run" => &["--events", "/dev/full", "--html", &page],
            "compare" => &["--queues", "/dev/full", "--html", &page],
            "explain" => &["--qlog", "/dev/full", "--html", &pages],
            _ => &["--html", "/dev/full"],
        };
        let run = ackclock(&[args, options].concat());
        let error = "error: /dev/full: cannot be written: No space left on device (os error 28)\n";
        assert_eq!((run.code, run.err.as_str(), run.out), (3, error, ok(args)), "{args:?}");
        let other = match args[0] {
            "explain" => format!("{pages}/index.html"),
            _ => page.clone(),
        };
        assert_eq!(fs::remove_file(other).is_ok(), args[0] != "exhaust", "{args:?}");
    }
}

/// Who forgot to type the scenario, and an empty pipe, can be broken off.
#[test]
fn a_command_that_waits_for_its_input_ends_by_the_first_signal() {
    for verb in ["run", "experiment"] {
        let mut waits = command(&[verb, "-"]).stdin(Stdio::piped()).spawn().unwrap();
        // Whether the signal comes before it reads or while it does.
        std::thread::sleep(Duration::from_millis(200));
        let pid = waits.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert_eq!(waits.wait().unwrap().signal(), Some(15), "{verb}");
    }
}

/// A name of a file is any bytes, and an experiment may come from a pipe.
#[test]
fn files_are_called_and_are_what_the_system_has() {
    let folder = empty_folder("names");
    let page = folder.join(OsStr::from_bytes(b"\xff.html"));
    let mut drawn = command(&["compare", "--strategy", "sack", "--html"]);
    assert!(drawn.arg(&page).output().unwrap().status.success());
    assert!(page.exists());
    let run = command(&["experiment", "/dev/null"]).output().unwrap();
    let error = String::from_utf8(run.stderr).unwrap();
    assert!(error.starts_with("error: /dev/null:1: the key `title` is missing"), "{error}");
}

#[test]
fn a_misspelt_strategy_is_told_the_nearest_one() {
    let run = ackclock(&["compare", "--strategy", "sack,newrno+lt"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("`newrno` is neither a preset nor a mechanism; did you mean `newreno`?"),
        "{}",
        run.err
    );
}

#[test]
fn every_verb_shows_an_example_and_the_exit_codes() {
    let verbs: [(&str, &[u8]); 10] = [
        ("strategies", &[0, 2, 3]),
        ("run", &[0, 2, 3, 130]),
        ("schema", &[0, 2, 3]),
        ("compare", &[0, 2, 3, 130]),
        ("worst", &[0, 2, 3, 130]),
        ("send", &[0, 1, 2, 3, 4, 130]),
        ("recv", &[0, 1, 2, 3, 4, 130]),
        ("lab", &[0, 2, 3, 4, 5, 130]),
        ("serve", &[0, 2, 3, 4]),
        ("explain", &[0, 2, 3, 4, 130]),
    ];
    for (verb, its) in verbs {
        let help = ok(&[verb, "--help"]);
        assert!(help.contains(&format!("Example:\n  ackclock {verb}")), "{help}");
        let (_, codes) = help.split_once("Exit codes:\n").unwrap();
        let codes: Vec<_> = codes.lines().filter_map(|line| line.trim().split_once("  ")).collect();
        let codes = codes.iter().map(|(code, meaning)| (code.parse().unwrap(), meaning.trim()));
        let expected = EXIT_CODES.iter().filter(|exit| its.contains(&exit.code));
        let expected: Vec<_> = expected.map(|exit| (exit.code, exit.meaning)).collect();
        assert_eq!(codes.collect::<Vec<(u8, &str)>>(), expected, "{help}");
    }
}

/// Its subcommands have the examples.
#[test]
fn papers_have_exit_codes() {
    let help = ok(&["papers", "--help"]);
    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    let codes = codes.lines().filter_map(|line| line.split_whitespace().next());
    assert_eq!(codes.collect::<Vec<_>>(), ["0", "2", "3", "130"]);
}

#[test]
fn jobs_change_nothing() {
    let file = scratch("jobs", "small.toml");
    fs::write(&file, SMALL).unwrap();
    let run = |jobs: &str, more: &[&str]| {
        let (events, pcap) =
            (scratch("jobs", &format!("{jobs}.jsonl")), scratch("jobs", &format!("{jobs}.pcapng")));
        let args = [
            "run",
            &file,
            "--strategy",
            "sack,newreno",
            "--jobs",
            jobs,
            "--events",
            &events,
            "--pcap",
            &pcap,
        ];
        let out = ok(&[&args[..], more].concat());
        (out, fs::read(events).unwrap(), fs::read(pcap).unwrap())
    };
    for more in [&["--format", "json"][..], &[], &["--per-flow"]] {
        let one = run("1", more);
        assert_eq!(run("2", more), one);
        assert_eq!(run("5", more), one);
    }
}

#[test]
fn a_run_has_the_same_results_alone_and_among_others() {
    let file = scratch("alone", "small.toml");
    fs::write(&file, SMALL).unwrap();
    let all = json(&["run", &file, "--strategy", "reno,sack", "--format", "json"]);
    let seeds: Vec<u64> =
        all.as_array().unwrap().iter().map(|f| f["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [7, 7, 8, 8, 9, 9, 7, 7, 8, 8, 9, 9]);
    let one = json(&[
        "run",
        &file,
        "--strategy",
        "sack",
        "--seed",
        "8",
        "--runs",
        "1",
        "--format",
        "json",
    ]);
    assert_eq!(one.as_array().unwrap()[..], all.as_array().unwrap()[8..10]);
    // Recording changes nothing either.
    let events = scratch("alone", "events.jsonl");
    assert_eq!(
        json(&["run", &file, "--strategy", "reno,sack", "--format", "json", "--events", &events]),
        all
    );
}

/// 800 kbit/s: a packet of 1040 bytes takes 10.4 ms at the router. The second of two that come back
/// to back, 1.04 ms apart, waits for the rest of that.
#[test]
fn what_packets_find_at_queues_is_a_line_each() {
    let rows = |file: &str| {
        let path = scratch("queues", file);
        let mut args = vec!["compare", "--strategy", "reno", "--segments", "3"];
        args.extend(["--initial-window", "2", "--queues", &path]);
        ok(&args);
        fs::read_to_string(path).unwrap()
    };
    let lines = rows("q.jsonl");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let at_router: Vec<&Value> = lines.iter().filter(|row| row["to"] == "receiver").collect();
    assert_eq!((lines.len(), at_router.len()), (12, 3), "three segments, three ACKs on two links");
    let second = at_router[1];
    assert_eq!((&second["strategy"], &second["from"]), (&"reno".into(), &"router".into()));
    assert_eq!(
        (&second["size"], &second["packets"], &second["bytes"]),
        (&1040.into(), &1.into(), &1040.into())
    );
    assert_eq!(second["waited"], 0.00936);
    assert_eq!((&at_router[0]["waited"], &at_router[0]["dropped"]), (&0.0.into(), &Value::Null));
    let twice = scratch("queues", "twice.jsonl");
    let run = ackclock(&["compare", "--strategy", "reno", "--queues", &twice, "--events", &twice]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("two options write this file"), "{}", run.err);
    let csv = rows("q.csv");
    assert!(
        csv.starts_with("t,strategy,link,from,to,size,packets,bytes,waited,dropped,marked,waits\n"),
        "{csv}"
    );
    assert!(csv.contains(",reno,2,router,receiver,1040,1,1040,0.00936,,false,false\n"), "{csv}");
}

#[test]
fn events_are_one_object_a_line_in_order_of_time() {
    let file = scratch("events", "events.jsonl");
    let flows = json(&[
        "compare",
        "--strategy",
        "sack",
        "--drop",
        "14,26",
        "--format",
        "json",
        "--events",
        &file,
    ]);
    let text = fs::read_to_string(file).unwrap();
    let events: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let times: Vec<f64> = events.iter().map(|e| e["t"].as_f64().unwrap()).collect();
    assert!(times.is_sorted());
    let sent: Vec<&Value> = events.iter().filter(|e| e["event"] == "sent").collect();
    assert_eq!(sent.len() as u64, flows[0]["segments_sent"].as_u64().unwrap());
    let again: Vec<(u64, &str)> = sent
        .iter()
        .filter(|e| e["cause"] != "new")
        .map(|e| (e["seq"].as_u64().unwrap() / 1000, e["cause"].as_str().unwrap()))
        .collect();
    assert_eq!(again, [(14, "fast_retransmit"), (26, "recovery")]);
    for key in [
        "t", "flow", "name", "strategy", "event", "seq", "len", "cause", "cwnd", "ssthresh",
        "snd_una", "snd_nxt",
    ] {
        assert!(events[0].get(key).is_some(), "{key}");
    }
}

#[test]
fn pictures_and_captures_are_written() {
    let path = |name: &str| scratch("files", name);
    let (html, svg, pcapng, pcap) =
        (path("a.html"), path("a.svg"), path("a.pcapng"), path("a.pcap"));
    ok(&[
        "compare",
        "--strategy",
        "tahoe,sack",
        "--drop",
        "14",
        "--html",
        &html,
        "--svg",
        &svg,
        "--pcap",
        &pcapng,
    ]);
    ok(&["compare", "--strategy", "tahoe", "--drop", "14", "--pcap", &pcap]);
    assert!(fs::read_to_string(html).unwrap().contains("100 segments, dropped: 14"));
    assert!(fs::read_to_string(svg).unwrap().starts_with("<svg"));
    // draft-ietf-opsawg-pcapng section 4.1 and draft-ietf-opsawg-pcap section 4, little-endian.
    assert_eq!(fs::read(pcapng).unwrap()[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert_eq!(fs::read(pcap).unwrap()[..4], [0x4d, 0x3c, 0xb2, 0xa1]);
}

/// Slow start has sent segments 0 to 28 when the third duplicate ACK calls for segment 14 again:
/// packet 30, after the SYN and the ACK that are made up. Where it is seen does not change that;
/// what the link behind the router drops is not seen at the receiver.
#[test]
fn a_capture_at_any_place() {
    let capture = |place: &[&str]| {
        let path = scratch("capture_place", "place.pcapng");
        ok(&[&["compare", "--strategy", "newreno", "--drop", "14", "--pcap", &path], place]
            .concat());
        fs::read(path).unwrap()
    };
    let count =
        |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).filter(|w| *w == text).count();
    let all =
        [capture(&[]), capture(&["--pcap-at", "router"]), capture(&["--pcap-at", "receiver"])];
    let of = |text: &str| all.each_ref().map(|bytes| count(bytes, text.as_bytes()));
    assert_eq!(
        (of(": new, transmission 1"), of(": fast_retransmit, transmission 2")),
        ([100, 100, 99], [1, 1, 1])
    );
    assert_eq!(capture(&["--pcap-at", "sender"]), all[0]);
    let names = all
        .each_ref()
        .map(|bytes| ["sender", "router", "receiver"].map(|name| count(bytes, name.as_bytes())));
    assert_eq!(names, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
    let identification = |bytes: &[u8]| {
        let comment = b": fast_retransmit";
        let at = bytes.windows(comment.len()).position(|w| w == comment).unwrap();
        let frame = bytes[..at].windows(2).rposition(|w| w == [0x45, 0]).unwrap();
        u16::from_be_bytes([bytes[frame + 4], bytes[frame + 5]])
    };
    assert_eq!(all.each_ref().map(|bytes| identification(bytes)), [32; 3]);

    let path = scratch("capture_place", "none.pcapng");
    let nowhere =
        ackclock(&["compare", "--strategy", "newreno", "--pcap", &path, "--pcap-at", "nowhere"]);
    let message = "--pcap-at: `nowhere` is none of sender, receiver and the scenario's nodes";
    assert!(nowhere.code == 2 && nowhere.err.contains(message), "{}", nowhere.err);
}

#[test]
fn a_picture_of_many_flows_shows_some_of_each_strategy() {
    let (file, html) = (scratch("many", "many.toml"), scratch("many", "many.html"));
    fs::write(&file, SMALL.replace("count = 2", "count = 20")).unwrap();
    let run = ackclock(&["run", &file, "--strategy", "reno,sack", "--runs", "1", "--html", &html]);
    assert_eq!((run.code, run.err.as_str()), (0, "note: the picture shows 32 of 40 flows\n"));
    let html = fs::read_to_string(html).unwrap();
    for (panel, shown) in [
        ("reno: flow0", true),
        ("reno: flow15", true),
        ("reno: flow16", false),
        ("sack: flow15", true),
    ] {
        assert_eq!(html.contains(panel), shown, "{panel}");
    }
    assert!(html.contains("<dt>seed</dt><dd>7</dd>"));
    assert!(html.contains("<dt>flows shown</dt><dd>the first 16 of 20 of each strategy</dd>"));
}

/// What stands in the data of a page of this scenario, and the page.
fn page(name: &str, scenario: &str) -> (Value, String) {
    let (file, html) = (scratch(name, "page.toml"), scratch(name, "page.html"));
    fs::write(&file, scenario).unwrap();
    ok(&["run", &file, "--strategy", "newreno", "--html", &html]);
    let html = fs::read_to_string(html).unwrap();
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    (serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap(), html)
}

#[test]
fn a_page_says_of_which_run_it_is() {
    let (data, html) = page("one_of_three", SMALL);
    assert_eq!(data["panels"].as_array().unwrap().len(), 2);
    assert!(html.contains("<dt>seed</dt><dd>7, the first of 3 runs</dd>"));
    assert!(!html.contains("flows shown") && !html.contains("thinned"));
    assert!(data["panels"][0]["own"].is_null());
}

/// 40 s at 20 Mbit/s are 68,000 segments or so, each of which is sent, arrives and is acknowledged.
#[test]
fn a_page_of_a_long_run_is_thinned() {
    let long = SMALL.replace("5s", "40s").replace("2mbit", "20mbit").replace("2%", "0.01%");
    let (data, html) = page("thinned", &long.replace("runs = 3", "runs = 1"));
    let note = html.split_once("<p class=\"soft\">The graphs are thinned: ").unwrap().1;
    let (kept, rest) = note.split_once(" marks stand for ").unwrap();
    let (kept, all) = (kept, rest.split_once(" events").unwrap().0);
    let [kept, all] = [kept, all].map(|number| number.parse::<u64>().unwrap());
    assert!(kept <= 60_000 && all > 150_000, "{kept} of {all}");
    // What was lost is there, with its cross.
    for panel in data["panels"].as_array().unwrap() {
        let drops = panel["drops"]["t"].as_array().unwrap().len();
        let crosses = panel["segments"]["drop"].as_array().unwrap();
        let crosses = crosses.iter().filter(|drop| !drop.is_null()).count();
        assert!(drops > 0 && crosses == drops, "{crosses} of {drops}");
    }
}

#[test]
fn a_file_is_not_called_by_another_format() {
    for (option, name, right) in [
        ("--events", "e.parquet", "`.jsonl`, `.json`"),
        ("--events", "e.CSV", "`.jsonl`, `.json`"),
        ("--queues", "q.parquet", "`.jsonl`, `.json`, `.csv`"),
        ("--parquet", "p.csv", "`.parquet`"),
        ("--html", "h.svg", "`.html`, `.htm`"),
        ("--svg", "s.png", "`.svg`"),
        ("--pcap", "c.json", "`.pcapng`, `.pcap`"),
        ("--qlog", "l.html", "`.qlog`, `.json`"),
    ] {
        let file = scratch("endings", name);
        let run = ackclock(&["compare", "--strategy", "sack", "--drop", "3", option, &file]);
        let error = format!("error: {option}: {file}: this option writes {right}\n");
        assert_eq!((run.code, run.err), (2, error));
        assert!(!std::path::Path::new(&file).exists(), "{file}");
    }
    // Endings that stand for no format are a name as any other.
    let log = scratch("endings", "events.log");
    ok(&["compare", "--strategy", "sack", "--drop", "3", "--events", &log]);
}

/// One flow has 300 segments, the other one 20.
#[test]
fn flows_that_differ_tenfold_have_scales_of_their_own() {
    let flow = |segments| {
        format!("[[flow]]\nfrom = \"a\"\nto = \"b\"\nsource = {{ segments = {segments} }}\n")
    };
    let links = SMALL.split_once("[[flow]]").unwrap().0;
    let own = |second: u32| {
        let (data, html) = page("scales", &(links.to_string() + &flow(300) + &flow(second)));
        let said = html.contains("a scale of segments of their own");
        let top = |panel: usize| data["panels"][panel]["own"]["y1"].as_f64();
        (said, [top(0), top(1)])
    };
    assert_eq!(own(40), (false, [None, None]));
    let (said, tops) = own(20);
    assert_eq!((said, tops), (true, [Some(312.0), Some(20.8)]));
}

#[test]
fn stats_count_the_packets_of_each_queue() {
    let all =
        json(&["compare", "--strategy", "newreno", "--drop", "14", "--stats", "--format", "json"]);
    assert_eq!(all["flows"].as_array().unwrap().len(), 1);
    let strategy = &all["strategies"][0];
    assert_eq!((&strategy["strategy"], &strategy["runs"]), (&"newreno".into(), &1.into()));
    let links = strategy["links"].as_array().unwrap();
    let ends: Vec<(&str, &str, u64, u64)> = links
        .iter()
        .map(|l| {
            let number = |key: &str| l[key].as_u64().unwrap();
            (
                l["from"].as_str().unwrap(),
                l["to"].as_str().unwrap(),
                number("packets"),
                number("dropped_loss"),
            )
        })
        .collect();
    assert_eq!(
        ends,
        [
            ("sender", "router", 101, 0),
            ("router", "sender", 100, 0),
            ("router", "receiver", 101, 1),
            ("receiver", "router", 100, 0)
        ]
    );
    assert!(strategy["cpu_s"].as_f64().unwrap() > 0.0);
    let table = ok(&["compare", "--strategy", "newreno", "--stats"]);
    assert!(table.contains("router > receiver"), "{table}");
    assert!(table.contains("CPU (s)"), "{table}");
}

#[test]
fn the_table_sums_up_several_runs_unless_asked_for_each() {
    let file = scratch("table", "small.toml");
    fs::write(&file, SMALL).unwrap();
    let lines = |args: &[&str]| ok(&[&["run", &file], args].concat()).lines().count();
    assert_eq!(lines(&["--strategy", "reno,sack"]), 3);
    assert_eq!(lines(&["--strategy", "reno,sack", "--per-flow"]), 13);
    assert_eq!(lines(&["--runs", "1"]), 3);
}

#[test]
fn one_strategy_is_shown_with_its_parts_and_who_uses_it() {
    let text = ok(&["strategies", "lrxt"]);
    assert!(text.starts_with("lrxt: a mechanism\n\nlrxt, on the axis retransmission\n"), "{text}");
    assert!(text.contains("  source        Lin & Kung 1998 section 6.2\n"), "{text}");
    assert!(text.contains("\n  quoted        \"If the clock shows one RTT"), "{text}");
    let file = "  file          crates/ackclock-tcp/src/recovery/retransmission/lrxt.rs\n";
    assert!(text.contains(file), "{text}");
    let sack = json(&["strategies", "sack", "--format", "json"]);
    assert_eq!(sack["source"], "RFC 6675");
    let parts = sack["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap());
    assert_eq!(parts.collect::<Vec<_>>(), ["is-lost", "recovery-point", "next-seg", "pipe"]);
    assert_eq!(sack["parts"][0]["without_sack"], "dupack");
    let others = serde_json::json!(["dupack", "bugfix", "partial-ack", "inflate"]);
    assert_eq!(sack["without_sack"], others);
    assert_eq!(sack["as_in_reno"], serde_json::json!(["response", "window", "timer"]));
    let text = ok(&["strategies", "rack-tlp+lt"]);
    assert!(text.contains("\nall else as in Reno: response, window, timer\n"), "{text}");
    assert!(text.contains("  without SACK  dupack\n"), "{text}");
    assert!(text.contains("  without SACK  off\n"), "{text}");
    let others = "\nwithout SACK: dupack+bugfix+partial-ack+prr-ssrb+lt\n";
    assert!(text.contains(others), "{text}");
    // A preset after `+` replaces what was there; `er` changes the detection before it.
    let shown = |name: &str| {
        let shown = json(&["strategies", name, "--format", "json"]);
        let parts = shown["parts"].as_array().unwrap().iter();
        let parts: Vec<String> = parts.map(|p| p["name"].as_str().unwrap().into()).collect();
        let replaced: Vec<String> = serde_json::from_value(shown["replaced"].clone()).unwrap();
        (parts.join(" "), replaced.join(" "))
    };
    for (name, parts, replaced) in [
        ("newreno+dctcp+cubic", "partial-ack inflate bugfix cubic", "dctcp"),
        ("newreno+cubic+dctcp", "partial-ack inflate bugfix cubic dctcp", ""),
        ("newreno+er", "partial-ack inflate bugfix er", ""),
        ("er+rack", "rack", "er"),
        ("tlp+tlp", "tlp tlp", ""),
        ("sack+newreno", "is-lost partial-ack inflate bugfix", "recovery-point next-seg pipe"),
    ] {
        assert_eq!(shown(name), (parts.into(), replaced.into()), "{name}");
    }
    let text = ok(&["strategies", "er+rack"]);
    assert!(text.starts_with("er+rack: a composition\n\nrack, on the axis detect\n"), "{text}");
    assert!(text.contains("\nreplaced by later parts: er\n"), "{text}");
    let text = ok(&["strategies", "prr+newreno"]);
    let others = "\nwithout SACK: dupack+partial-ack+inflate+bugfix\n";
    assert!(text.contains(others), "{text}");
    let text = ok(&["strategies", "smallwnd"]);
    assert!(text.ends_with("used by the presets net-reno, net-reno-sack\n"), "{text}");
    let text = ok(&["strategies", "notified"]);
    assert!(text.contains("\n  in our words  A segment is lost if"), "{text}");
    let refused = ackclock(&["strategies", "sak"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("did you mean `sack`?"), "{}", refused.err);
}

#[test]
fn strategies_are_listed_with_axis_and_source() {
    let lists = json(&["strategies", "--format", "json"]);
    for preset in lists["presets"].as_array().unwrap() {
        assert!(!preset["source"].as_str().unwrap().is_empty(), "{preset}");
        assert!(!preset["mechanisms"].as_array().unwrap().is_empty(), "{preset}");
    }
    for mechanism in lists["mechanisms"].as_array().unwrap() {
        for key in ["name", "axis", "source", "summary"] {
            assert!(!mechanism[key].as_str().unwrap().is_empty(), "{mechanism}");
        }
    }
    let table = ok(&["strategies"]);
    assert!(table.lines().any(|l| l.starts_with("newreno ") && l.ends_with("RFC 6582")), "{table}");
}

#[test]
fn the_schema_is_json_and_refuses_unknown_keys() {
    let schema = json(&["schema"]);
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["duration"]));
}

#[test]
fn the_schema_of_listeners_has_the_keys_and_refuses_others() {
    let schema = json(&["schema", "--listeners"]);
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["listener"]));
    let keys = |name: &str| {
        let definition = &schema["$defs"][name];
        assert_eq!(definition["additionalProperties"], false, "{name}");
        let keys = definition["properties"].as_object().unwrap().keys().cloned();
        (keys.collect::<Vec<_>>(), definition["required"].clone())
    };
    let text = |keys: &[&str]| keys.iter().map(|k| k.to_string()).collect::<Vec<_>>();
    let limits = ["max_per_source", "max_rate_per_source"];
    let own = ["proxy_protocol", "strategy", "to", "transparent"];
    let expected = text(&[&["ecn", "keep_alive", "listen"], &limits[..], &own[..]].concat());
    assert_eq!(keys("Listener"), (expected, serde_json::json!(["listen", "to"])));
    let expected = text(&["clients", "strategy"]);
    assert_eq!(keys("Part"), (expected, serde_json::json!(["strategy", "clients"])));
    let versions = schema["$defs"]["ProxyProtocol"].to_string();
    assert!(versions.contains("\"v1\"") && versions.contains("\"v2\""), "{versions}");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ackclock"))
        .args(["schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[test]
fn shipped_scenarios_run() {
    for name in [
        "first.toml",
        "wireless.toml",
        "cbr.toml",
        "bench-10.toml",
        "gateway-lossy.toml",
        "gateway-red.toml",
        "incast.toml",
        "datacenter.toml",
        "wifi.toml",
    ] {
        let flows = json(&["run", &shipped(name), "--runs", "1", "--format", "json"]);
        let acked = flows.as_array().unwrap().iter().map(|f| f["bytes_acked"].as_u64().unwrap());
        assert!(acked.clone().count() > 0 && acked.min().unwrap() > 0, "{name}");
    }
}

#[test]
fn the_architecture_names_every_mechanism() {
    let text = include_str!("../../../../ARCHITECTURE.md");
    let table = text.lines().skip_while(|line| !line.starts_with("| trait in")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|')).map(|row| {
        let names = row.split('|').nth(3).unwrap().split_whitespace();
        names.map(|name| name.trim_matches('`').to_string()).collect::<BTreeSet<_>>()
    });
    let registry = ackclock_tcp::Registry::default();
    let axes = Axis::ALL.map(|axis| {
        let mechanisms = registry.mechanisms().iter().filter(|mechanism| mechanism.axis == axis);
        mechanisms.map(|mechanism| mechanism.name.to_string()).collect()
    });
    assert_eq!(rows.collect::<Vec<_>>(), axes);
}

#[test]
fn papers_are_listed_and_run_in_both_formats() {
    let list = ok(&["papers", "list"]);
    assert!(list.starts_with("experiment "), "{list}");
    let id = "miyake-inamura/figures-11-14";
    assert!(list.lines().any(|l| l.starts_with(id)), "{list}");
    let folder = scratch("papers", "html");
    let text = ok(&["papers", "run", id, "--html", &folder]);
    assert!(text.starts_with(&format!("{id}: ")), "{text}");
    for file in ["index.html", "miyake-inamura-figures-11-14.html"] {
        assert!(fs::read_to_string(format!("{folder}/{file}")).unwrap().ends_with("</html>\n"));
    }
    let run = |jobs| ok(&["papers", "run", id, "--format", "json", "--jobs", jobs]);
    assert_eq!(run("1"), run("2"));
    let outcomes: Value = serde_json::from_str(&run("1")).unwrap();
    assert_eq!(outcomes[0]["id"], id);
    let unknown = ackclock(&["papers", "run", "nobody"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    assert!(
        unknown.err.starts_with("error: there is no paper or experiment `nobody`"),
        "{}",
        unknown.err
    );
}

#[test]
fn an_experiment_of_ones_own_runs_in_every_format() {
    let file = format!("{}/../../examples/experiment.toml", env!("CARGO_MANIFEST_DIR"));
    let options = ["experiment", &file, "--quick"];
    let folder = scratch("experiment", "html");
    let parquet = scratch("experiment", "samples.parquet");
    let text = ok(&[&options[..], &["--html", &folder, "--parquet", &parquet]].concat());
    assert!(text.starts_with("examples/experiment: Tail loss probes"), "{text}");
    let index = fs::read_to_string(format!("{folder}/index.html")).unwrap();
    assert!(index.contains("<h1>Experiments</h1>"));
    // All of its claims hold, so that nothing is to be explained; nor is there a paper.
    assert!(!index.contains("not-reproduced") && !index.contains("paper is"), "{index}");
    assert!(fs::read_to_string(format!("{folder}/examples-experiment.html")).is_ok());
    assert_eq!(fs::read(&parquet).unwrap()[..4], *b"PAR1");
    let outcomes = json(&[&options[..], &["--format", "json"]].concat());
    assert_eq!(outcomes[0]["paper"], Value::Null);
    let csv = ok(&[&options[..], &["--format", "csv"]].concat());
    // Two strategies in six cells with ten seeds: over all flows, and of the only one.
    assert_eq!(csv.lines().filter(|line| line.contains(",completion,s,")).count(), 240);
    // The same from standard input, and by way of `papers run`.
    let mut child = Command::new(env!("CARGO_BIN_EXE_ackclock"))
        .args(["experiment", "-", "--quick", "--format", "csv"])
        .stdin(Stdio::from(fs::File::open(&file).unwrap()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut piped = String::new();
    child.stdout.take().unwrap().read_to_string(&mut piped).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(piped.replace("stdin,", "examples/experiment,"), csv);
    assert_eq!(ok(&["papers", "run", &file, "--quick", "--format", "csv"]), csv);
    let none = ackclock(&["experiment", "lin-kung/table-3"]);
    assert_eq!(none.code, 3);
    assert!(none.err.starts_with("error: there is no file `lin-kung/table-3`"), "{}", none.err);
    assert_eq!(json(&["schema", "--experiment"])["required"], serde_json::json!(["title"]));
}

#[test]
fn a_sweep_runs_each_strategy_in_each_cell_of_the_grid() {
    let file = scratch("sweep", "small.toml");
    fs::write(&file, SMALL).unwrap();
    let run = ["run", &file, "--strategy", "reno,sack", "--set", "link[0].rate=1mbit,2mbit"];
    let grid = [&run[..], &["--set", "link[*].delay=10ms"]].concat();
    let text = ok(&grid);
    let cells: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().take(4).collect()).collect();
    let line = |rate, strategy| vec![rate, "10ms", strategy, "3"];
    let heading = vec!["link[0].rate", "link[*].delay", "strategy", "runs"];
    let of = |rate| [line(rate, "reno"), line(rate, "sack")];
    assert_eq!(cells, [vec![heading], of("1mbit").to_vec(), of("2mbit").to_vec()].concat());
    // The cell with the values of the file has its results, and a grid of one cell is one scenario.
    let flows = json(&[&run[..], &["--format", "json"]].concat());
    let mut second: Vec<Value> = flows.as_array().unwrap()[12..].to_vec();
    for flow in &mut second {
        let cell = flow.as_object_mut().unwrap().remove("cell").unwrap();
        assert_eq!(cell, serde_json::json!({ "link[0].rate": "2mbit" }));
    }
    let alone = json(&["run", &file, "--strategy", "reno,sack", "--format", "json"]);
    assert_eq!(alone, Value::Array(second));
    let one = ["--set", "link[0].rate=2mbit", "--vs-oracle", "--format", "json"];
    assert_eq!(
        json(&[&["run", &file, "--strategy", "reno,sack"], &one[..]].concat())["flows"],
        alone
    );
    let csv = ok(&[&run[..], &["--format", "csv"]].concat());
    assert!(csv.starts_with("link[0].rate,strategy,seed,flow,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 24);
    for option in ["--events", "--pcap", "--html", "--svg"] {
        let file = scratch("sweep", "refused");
        let refused = ackclock(&[&run[..], &[option, &file]].concat());
        assert_eq!(refused.code, 2);
        let expected = format!(
            "error: {option} records one scenario: give each --set one value, or leave {option} out\n"
        );
        assert_eq!(refused.err, expected);
        assert!(!fs::exists(&file).unwrap());
    }
    let unknown = ackclock(&["run", &file, "--set", "link[0].dely=1ms"]);
    assert_eq!(unknown.code, 2);
    let expected = "error: --set: link[0].dely: there is no key `dely` here; did you mean `delay`?";
    assert!(unknown.err.starts_with(expected), "{}", unknown.err);
}

/// What is measured beside the flows is that of each cell alone.
#[test]
fn a_sweep_has_recovery_oracles_and_costs_of_each_cell() {
    let file = scratch("sweep_more", "small.toml");
    fs::write(&file, SMALL).unwrap();
    let run = ["run", &file, "--strategy", "reno,sack", "--recovery", "--vs-oracle", "--stats"];
    let grid = ["--set", "link[0].rate=1mbit,2mbit"];
    let all = json(&[&run[..], &grid, &["--format", "json"]].concat());
    assert_eq!(all["flows"].as_array().unwrap().len(), 24);
    for (cell, rate) in ["1mbit", "2mbit"].into_iter().enumerate() {
        let alone = format!("link[0].rate={rate}");
        let alone = json(&[&run[..], &["--set", &alone, "--format", "json"]].concat());
        for key in ["recovery", "vs_oracle", "strategies"] {
            let mut of_cell = all[key].as_array().unwrap()[2 * cell..][..2].to_vec();
            let mut of_one = alone[key].clone();
            for i in 0..2 {
                let at = of_cell[i].as_object_mut().unwrap().remove("cell").unwrap();
                assert_eq!(at, serde_json::json!({ "link[0].rate": rate }), "{key}");
                // What no two runs have alike.
                of_cell[i].as_object_mut().unwrap().remove("cpu_s");
                of_one[i].as_object_mut().unwrap().remove("cpu_s");
            }
            assert_eq!(Value::Array(of_cell), of_one, "{key}");
        }
    }
    let text = ok(&[&run[..], &grid].concat());
    assert_eq!(text.matches("\nlink[0].rate 2mbit:\n\n").count(), 3, "{text}");
    assert_eq!(text.matches("peak memory of the process").count(), 1, "{text}");
    let one = ok(&[&run[..], &grid[..1], &["link[0].rate=1mbit"]].concat());
    assert!(!one.contains(":\n\n"), "{one}");
}

/// The last of two flows by hand, and the table by it.
#[test]
fn flows_are_summed_up_by_quantiles_and_extremes() {
    let file = scratch("over", "small.toml");
    fs::write(
        &file,
        SMALL.replace("count = 2", "count = 5\nsource = { segments = 50 }").replace("5s", "60s"),
    )
    .unwrap();
    let run = ["run", &file, "--strategy", "reno,sack"];
    let flows = json(&[&run[..], &["--format", "json"]].concat());
    let over = [&run[..], &["--over", "median,max"]].concat();
    let rows = json(&[&over[..], &["--format", "json"]].concat());
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 2 * 3 * 2);
    for (i, row) in rows.iter().enumerate() {
        let of_run = &flows.as_array().unwrap()[i / 2 * 5..][..5];
        assert_eq!((&row["strategy"], &row["seed"]), (&of_run[0]["strategy"], &of_run[0]["seed"]));
        assert_eq!((&row["over"], &row["flows"]), (&["median", "max"][i % 2].into(), &5.into()));
        for key in &KEYS[4..] {
            let mut values: Vec<f64> = of_run.iter().map(|f| f[key].as_f64().unwrap()).collect();
            values.sort_by(f64::total_cmp);
            assert_eq!(row[key].as_f64(), Some(values[if i % 2 == 0 { 2 } else { 4 }]), "{key}");
        }
    }
    let csv = ok(&[&over[..], &["--format", "csv"]].concat());
    assert!(csv.starts_with("strategy,seed,over,flows,bytes_acked,"), "{csv}");
    assert!(csv.contains("\nsack,9,max,5,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + rows.len());
    let parquet = scratch("over", "runs.parquet");
    let text = ok(&[&over[..], &["--parquet", &parquet]].concat());
    assert!(fs::read(parquet).unwrap().ends_with(b"PAR1"));
    let lines: Vec<Vec<&str>> = text.lines().map(cells).collect();
    assert_eq!(lines[0][..5], ["strategy", "runs", "over", "goodput", "completion"]);
    let last = |strategy: &str| {
        let of = rows.iter().filter(|r| r["strategy"] == strategy && r["over"] == "max");
        let times: Vec<f64> = of.map(|r| r["completion_s"].as_f64().unwrap()).collect();
        times.iter().sum::<f64>() / 3.0
    };
    for (line, strategy) in [(2, "reno"), (4, "sack")] {
        assert_eq!(lines[line][..3], [strategy, "3", "max"]);
        let (mean, half_width) = lines[line][4].split_once(" ± ").unwrap();
        let decimals = |number: &str| number.split_once('.').map_or(0, |(_, digits)| digits.len());
        assert_eq!(mean, format!("{:.*}", decimals(mean), last(strategy)), "{text}");
        assert_eq!(decimals(mean), decimals(half_width.trim_end_matches('s')), "{text}");
    }
    let one = ok(&["compare", "--strategy", "sack", "--over", "max"]);
    assert!(one.lines().nth(1).unwrap().starts_with("sack         1   max  "), "{one}");
    let wrong = ackclock(&[&run[..], &["--over", "p101"]].concat());
    assert_eq!(wrong.code, 2);
    let expected = "`p101` is none of mean, min, median, max and percentiles such as p99";
    assert!(wrong.err.contains(expected), "{}", wrong.err);
}

/// The cells of a line of a table.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// The runs of a grid stop one by one, the same ones with any number of threads. What is not
/// reached is a note.
#[test]
fn runs_go_on_until_the_mean_is_known() {
    let file = scratch("until", "small.toml");
    fs::write(&file, SMALL).unwrap();
    let run = ["run", &file, "--strategy", "reno,sack", "--set", "link[0].rate=1mbit,2mbit"];
    let until = [&run[..], &["--until", "goodput=4%"]].concat();
    let text = ok(&[&until[..], &["--jobs", "1"]].concat());
    assert_eq!(ok(&[&until[..], &["--jobs", "3"]].concat()), text);
    let lines: Vec<Vec<&str>> = text.lines().skip(1).map(cells).collect();
    assert_eq!(lines.len(), 4, "{text}");
    for line in &lines {
        let runs: u32 = line[2].parse().unwrap();
        assert!((50..1000).contains(&runs) && runs.is_multiple_of(2), "{text}");
        // As rounded as the table is: to two figures of the half-width.
        let (mean, half_width) = line[3].split_once(" ± ").unwrap();
        let (half_width, _) = half_width.split_once(' ').unwrap();
        let [mean, half_width] = [mean, half_width].map(|n| n.parse::<f64>().unwrap());
        assert!(half_width <= 0.0425 * mean, "{text}");
    }
    let capped = ackclock(&[&until[..], &["--until", "timeouts=0.5%", "--runs", "52"]].concat());
    assert_eq!(capped.code, 0);
    let note = "note: --until: timeouts of sack (link[0].rate 2mbit): ± ";
    let note = capped.err.lines().find(|line| line.starts_with(note)).unwrap_or(&capped.err);
    let end = " % after 52 runs, and not ± 0.50 %; a greater --runs allows more";
    assert!(note.ends_with(end), "{note}");
    let wrong = ackclock(&["run", &file, "--until", "godput=2%"]);
    assert_eq!(wrong.code, 2);
    let expected = "there is no measure `godput`; there are `bytes_acked`,";
    assert!(wrong.err.contains(expected), "{}", wrong.err);
}

#[test]
fn a_file_of_another_kind_is_named() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let experiment = format!("{root}/examples/experiment.toml");
    let scenario = format!("{root}/scenarios/first.toml");
    let lab = format!("{root}/crates/ackclock-lab/labs/bbr.toml");
    for (command, file, expected) in [
        ("run", &experiment, "this is an experiment, and no scenario; `ackclock experiment "),
        ("run", &lab, "this is a lab file, and no scenario; `ackclock lab "),
        ("lab", &scenario, "this is a scenario, and no lab file; `ackclock run "),
        ("lab", &experiment, "this is an experiment, and no lab file; `ackclock experiment "),
        ("experiment", &scenario, "this is a scenario, and no experiment; `ackclock run "),
    ] {
        let run = ackclock(&[command, file]);
        let expected = format!("error: {file}: {expected}{file}` runs it");
        assert_eq!((run.code, run.err.trim_end()), (2, expected.as_str()));
    }
}

#[test]
fn oracles_are_refused_where_there_are_none() {
    let web = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/web.toml");
    let run = ackclock(&["run", web, "--vs-oracle", "--strategy", "sack"]);
    let expected =
        ": tcp.handshake: --vs-oracle is for connections without a handshake; leave it out";
    assert!(run.code == 2 && run.err.trim_end().ends_with(expected), "{}", run.err);
    let run = ackclock(&["compare", "--strategy", "oracle,sack", "--handshake"]);
    let expected = "error: compare: --strategy: `oracle` needs to be notified of losses";
    assert!(run.code == 2 && run.err.starts_with(expected), "{}", run.err);
    let run = ackclock(&["replay", "none.jsonl", "--strategy", "oracle"]);
    let expected = "error: --strategy: `oracle` has to be notified of losses";
    assert!(run.code == 2 && run.err.starts_with(expected), "{}", run.err);
}

/// A search takes a time, and a day at most.
#[test]
fn a_search_has_an_end() {
    for (time, expected) in [("0", "a time above 0"), ("86401", "at most a day"), ("25h", "")] {
        let run = ackclock(&["worst", "--strategy", "sack", "--seconds", time]);
        assert!(run.code == 2 && run.err.contains(expected), "{time}: {}", run.err);
    }
}

/// Spaces in lists, and what `compare` says of lists that no packet met.
#[test]
fn lists_on_the_command_line() {
    let spaced = ok(&["compare", "--strategy", "sack, newreno"]);
    assert_eq!(spaced, ok(&["compare", "--strategy", "sack,newreno"]));
    for (options, expected) in [
        (&["--drop-retransmission", "14:1"][..], "--drop-retransmission: no packet met 14:1"),
        (&["--drop", "99", "--duration", "1s"][..], "--drop: no packet met 99"),
    ] {
        let run = ackclock(&[&["compare", "--strategy", "sack"][..], options].concat());
        let expected = format!("warning: compare: {expected} of this list");
        assert_eq!((run.code, run.err.trim_end()), (0, expected.as_str()));
    }
}

/// What a command leaves that gets SIGINT after it has used the processor for a second.
fn interrupted(args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackclock"));
    let mut child =
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let used = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        // proc_pid_stat(5): field 14 is the time in user mode, in hundredths of a second.
        stat.split_whitespace().nth(13).unwrap().parse::<u64>().unwrap()
    };
    while used() < 100 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    Run { code: child.wait().unwrap().code().unwrap(), out, err }
}

#[test]
fn ctrl_c_prints_what_was_measured_and_leaves_whole_files() {
    let (file, html) = (scratch("ctrl_c", "small.toml"), scratch("ctrl_c", "out.html"));
    fs::write(&file, SMALL).unwrap();
    let run = ["run", &file, "--strategy", "reno,sack", "--runs", "100000"];
    let parquet = scratch("ctrl_c", "out.parquet");
    let left = interrupted(&[&run[..], &["--html", &html, "--parquet", &parquet]].concat());
    assert_eq!((left.code, left.err.as_str()), (130, "error: interrupted\n"));
    let runs: Vec<u32> = left
        .out
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
        .collect();
    // Seeds take turns, so that both strategies have about as many.
    assert!(
        runs.len() == 2 && runs[0] < 100_000 && runs[0].abs_diff(runs[1]) < 100,
        "{}",
        left.out
    );
    assert!(fs::read_to_string(html).unwrap().ends_with("</html>\n"));
    assert!(fs::read(parquet).unwrap().ends_with(b"PAR1"));

    let text = fs::read_to_string(format!(
        "{}/../../examples/experiment.toml",
        env!("CARGO_MANIFEST_DIR")
    ));
    let (file, folder) = (scratch("ctrl_c", "long.toml"), scratch("ctrl_c", "html"));
    fs::write(&file, text.unwrap().replace("runs = 40 ", "runs = 100000 ")).unwrap();
    let left = interrupted(&["experiment", &file, "--html", &folder]);
    assert_eq!((left.code, left.err.as_str()), (130, "error: interrupted\n"));
    assert!(left.out.contains(" (interrupted: "), "{}", left.out);
    assert!(left.out.contains("loss 5%, delay 80ms "), "{}", left.out);
    assert!(fs::read_to_string(format!("{folder}/index.html")).unwrap().ends_with("</html>\n"));
}

/// A recorded run of hours: what it has so far is no recording of it.
#[test]
fn ctrl_c_leaves_no_part_of_a_recording() {
    let long = SMALL.replace("duration = ", "duration = \"1000000s\" # ");
    let [file, events, svg] =
        ["long.toml", "e.jsonl", "p.svg"].map(|name| scratch("ctrl_c_recording", name));
    fs::write(&file, long).unwrap();
    fs::write(&events, "as before").unwrap();
    let _ = fs::remove_file(&svg);
    let left = interrupted(&["run", &file, "--events", &events, "--svg", &svg]);
    let notes = format!("note: {events}: not written\nnote: {svg}: not written\n");
    assert_eq!((left.code, left.err), (130, notes + "error: interrupted\n"));
    assert_eq!(fs::read_to_string(&events).unwrap(), "as before");
    let folder = Path::new(&svg).parent().unwrap();
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["e.jsonl", "long.toml"]);
}

/// Neither the scenario nor a trace of it is overwritten, by whatever path, and no output by
/// another.
#[test]
fn no_output_takes_the_place_of_an_input() {
    let file = |name: &str| scratch("overwrite", name);
    let (scenario, trace, link) = (file("two.toml"), file("rate.trace"), file("link.toml"));
    fs::write(&trace, "1\n2\n").unwrap();
    let text = SMALL.replace("rate = \"2mbit\"", "trace = \"rate.trace\"");
    fs::write(&scenario, &text).unwrap();
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&scenario, &link).unwrap();
    let refused = |args: &[&str], path: &str, why: &str| {
        let run = ackclock(args);
        assert_eq!((run.code, run.err), (2, format!("error: {path}: {why}\n")), "{args:?}");
        assert_eq!(fs::read_to_string(&scenario).unwrap(), text);
        assert_eq!(fs::read_to_string(&trace).unwrap(), "1\n2\n");
    };
    let read = "this would overwrite a file that is read";
    for option in ["--events", "--pcap", "--qlog", "--html", "--svg", "--queues", "--parquet"] {
        for path in [&scenario, &trace, &link] {
            refused(&["run", &scenario, option, path], path, read);
        }
    }
    let figure = file("two.pdf");
    let _ = fs::remove_file(&figure);
    fs::hard_link(&scenario, &figure).unwrap();
    refused(&["run", &scenario, "--figure", &figure], &figure, read);
    let (new, other) = (file("new.jsonl"), file("../overwrite/new.jsonl"));
    let twice = "two options write this file";
    refused(
        &["compare", "--strategy", "reno", "--events", &new, "--queues", &other],
        &other,
        twice,
    );
    refused(&["lab", &scenario, "--html", &link], &link, read);
    // Nothing is taken away from a device.
    ok(&["run", &scenario, "--runs", "1", "--events", "/dev/null", "--qlog", "/dev/null"]);
}

/// What would be done twice, or would have no effect.
#[test]
fn options_that_contradict_each_other_are_refused() {
    let file = scratch("contradict", "small.toml");
    fs::write(&file, SMALL).unwrap();
    let last = i64::MAX.to_string();
    let seeds = format!("--seed: {last} leaves no room for 3 runs");
    let page = scratch("contradict", "a.html");
    let twice = format!("{page}: two options write this file");
    for (args, expected) in [
        (&["--strategy", "sack,reno,sack"][..], "--strategy: `sack` is there twice"),
        (&["--over", "mean,median,median"], "--over: `median` is there twice"),
        (
            &["--strategy", "sack", "--set", "flow[0].strategy=reno,sack"],
            "--set: with --strategy all flows have the same one, and `flow[0].strategy` has no effect",
        ),
        (&["--set", "seed=1,2"], "--set: `seed` is an option: --seed"),
        (&["--seed", &last], &seeds),
        (&["--html", &page, "--svg", &page], &twice),
    ] {
        let run = ackclock(&[&["run", &file], args].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        assert_eq!(run.err, format!("error: {expected}\n"));
    }
    for args in [
        &["experiment", &file, "--parquet", "-"][..],
        &["exhaust", "--html", "-"],
        &["worst", "--strategy", "sack", "--out", "-"],
        &["lab", "short", "--html", "-"],
        &["recv", "--listen", "1", "--once", "--file", "-"],
        &["gateway", &file, "--attach", "a=10.0.0.1/24", "--drops", "-"],
        &["gateway", &file, "--attach", "a=10.0.0.1/24", "--queues", "-"],
    ] {
        let dash = ackclock(args);
        assert_eq!((dash.code, dash.out.as_str()), (2, ""), "{args:?}");
        assert!(dash.err.contains("standard output has the results"), "{}", dash.err);
    }
    let below = ackclock(&["run", &file, "--runs", "-3"]);
    assert!(below.err.contains("'--runs <N>': -3 is not in 1..=100000"), "{}", below.err);
    let below = ackclock(&["run", &file, "--seed", "-1"]);
    let right = "'--seed <N>': write a whole number from 0 to 18446744073709551615";
    assert!(below.err.contains(right), "{}", below.err);
    for args in [["explain", "--top", "x"], ["run", "--runs", "x"], ["gateway", "--seed", "x"]] {
        let none = ackclock(&args);
        assert!(none.code == 2 && none.err.contains("write a whole number"), "{}", none.err);
    }
    let compare = ["compare", "--strategy", "sack"];
    for (args, expected) in [
        (&["--drop", "5,6", "--drop", "5-6"][..], "--drop: `5,6` is there twice"),
        (&["--min-rto", "1000s"], "compare: --min-rto: 1000s is above 60s; lower it"),
    ] {
        let run = ackclock(&[&compare[..], args].concat());
        assert_eq!((run.code, run.err), (2, format!("error: {expected}\n")));
    }
    for output in [
        &["--format", "json"][..],
        &["--parquet", &page],
        &["--events", &page],
        &["--pcap", &page],
        &["--pcap-at", "sender"],
        &["--qlog", &page],
        &["--html", &page],
        &["--svg", &page],
        &["--figure", "a.pdf"],
        &["--width", "84mm"],
        &["--from", "1s"],
        &["--to", "2s"],
        &["--over", "mean"],
        &["--queues", &page],
        &["--recovery"],
        &["--vs-oracle"],
        &["--stats"],
    ] {
        let run = ackclock(&[&compare[..], &["--print-scenario"], output].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{output:?}");
        let expected = format!("'--print-scenario' cannot be used with '{}", output[0]);
        assert!(run.err.contains(&expected), "{}", run.err);
    }
}

#[test]
fn an_experiment_warns_of_what_no_packet_met() {
    let text = fs::read_to_string(format!(
        "{}/../../examples/experiment.toml",
        env!("CARGO_MANIFEST_DIR")
    ));
    let drop = "loss = [{ bernoulli = { p = \"1%\" } }, { drop = { segments = [7, \"30-32\"] } }]";
    let text = text.unwrap().replace("loss = [{ bernoulli = { p = \"1%\" } }]", drop);
    let text = text.replace("[\"20ms\", \"80ms\"]", "[\"20ms\"]");
    let file = scratch("experiment_unmet", "e.toml");
    fs::write(&file, text.replace("runs = 40 ", "runs = 2 ")).unwrap();
    let run = ackclock(&["experiment", &file]);
    assert_eq!(run.code, 0);
    let lines: Vec<&str> = run.err.lines().collect();
    let line = |loss| {
        format!(
            "warning: {file}:47: scenario.link[0].loss[1].drop: no packet met 30-32 of this list in \
             4 of 4 runs (loss {loss}%, delay 20ms)"
        )
    };
    assert_eq!(lines, [line(1), line(3), line(5)]);
}

#[test]
fn a_file_may_be_standard_output_and_results_are_beside_it() {
    let (file, events) = (scratch("stdout", "small.toml"), scratch("stdout", "e.jsonl"));
    fs::write(&file, SMALL).unwrap();
    let run = ["run", &file, "--runs", "1", "--format", "csv", "--events"];
    let to_file = ackclock(&[&run[..], &[&events]].concat());
    let to_pipe = ackclock(&[&run[..], &["-"]].concat());
    assert_eq!(to_pipe.out, fs::read_to_string(&events).unwrap());
    assert_eq!((to_pipe.code, &to_pipe.err), (0, &to_file.out));
    // What is in a file already stays, if the output is appended to it.
    let log = scratch("stdout", "log.jsonl");
    fs::write(&log, "before\n").unwrap();
    let appended = fs::OpenOptions::new().append(true).open(&log).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackclock"));
    let command = command.args(run).arg("-").stdout(appended).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
    assert_eq!(fs::read_to_string(&log).unwrap(), format!("before\n{}", to_pipe.out));
    let two = ackclock(&[&run[..], &["-", "--svg", "-"]].concat());
    assert_eq!((two.code, two.out.as_str()), (2, ""));
    assert_eq!(two.err, "error: only one file can be `-`, standard output\n");
}

/// Figure 2 of the PRR paper. Segments go out from 500 ms on, one every 1040 * 8 / 1.2 = 6.933 ms,
/// and the ACK of one that finds the link free is there after 107.2 ms, the transmission of both
/// included. The first four are lost; of the others, the first duplicate begins recovery at 607.2
/// ms. PRR sends again on the first, third, fifth and seventh, 41.6 ms later; so the ACK for all is
/// there after 41.6 + 107.2 = 148.8 ms of recovery, 256 ms after the write.
const FIGURE_2: &str = "\
duration = \"10s\"

[tcp]
mss = 1000
initial_window = 10
delayed_ack = \"off\"
count_options = false

[[link]]
from = \"server\"
to = \"client\"
rate = \"1.2mbit\"
delay = \"50ms\"
loss = [{ drop = { segments = [10, 11, 12, 13] } }]

[[flow]]
from = \"server\"
to = \"client\"
source = { writes = [
  { at = \"0ms\", amount = \"10seg\" },
  { at = \"500ms\", amount = \"20seg\" },
  { at = \"1000ms\", amount = \"10seg\" },
] }
";

fn figure_2(test: &str, args: &[&str]) -> Value {
    let file = scratch(test, "figure-2.toml");
    fs::write(&file, FIGURE_2).unwrap();
    json(&[&["run", &file, "--recovery", "--format", "json"], args].concat())
}

#[test]
fn recovery_measures_figure_2_of_the_prr_paper() {
    let strategies = "rate-halving+prr-ssrb,rate-halving,rate-halving+pipe";
    let result = figure_2("figure_2", &["--strategy", strategies]);
    assert_eq!(result["flows"].as_array().unwrap().len(), 3);
    let of = |name: &str| {
        let all = result["recovery"].as_array().unwrap().iter();
        all.map(|r| r["measures"][name].as_f64().unwrap()).collect::<Vec<_>>()
    };
    for (name, each) in [
        ("count-recoveries", 1.0),
        ("count-retransmissions", 4.0),
        ("count-timeouts", 0.0),
        ("fast-retransmits", 100.0),
        ("fast-retransmits-per-recovery", 4.0),
        // Of 40 segments four are retransmitted, all of them in recovery.
        ("retransmission-rate", 400.0 / 44.0),
        ("bytes-in-recovery", 400.0 / 44.0),
        // 20 outstanding, segment 14 SACKed; FACK leaves three above and marks 10 and 11.
        ("pipe-over-ssthresh-p50", 7.0),
        ("responses-with-retransmissions", 100.0 / 3.0),
        ("losses-in-recovery", 0.0),
        ("spurious-bytes", 0.0),
    ] {
        assert_eq!(of(name), [each; 3], "{name}");
    }
    // Linux's window is pipe + 1 in the end, with the last retransmission on its way.
    assert_eq!(of("cwnd-after-recovery-p50"), [10.0, 2.0, 10.0]);
    assert_eq!(of("cwnd-over-ssthresh-p50"), [0.0, -8.0, 0.0]);
    assert_eq!(of("slow-start-after-recovery"), [0.0, 100.0, 0.0]);
    assert_eq!(of("burst-in-recovery-max"), [1.0; 3]);
    assert_eq!((of("recovery-time-p50")[0], of("latency-lossy-p50")[0]), (148.8, 256.0));
}

/// Recorded or not, one after the other or in parallel, the runs of a strategy are one sample.
#[test]
fn recovery_pools_the_runs_of_a_strategy() {
    let events = scratch("pooled", "events.jsonl");
    let one = figure_2("pooled", &["--strategy", "sack,prr"]);
    for more in [&["--jobs", "1"][..], &["--jobs", "2"], &["--events", &events]] {
        let three =
            figure_2("pooled", &[&["--strategy", "sack,prr", "--runs", "3"], more].concat());
        for strategy in 0..2 {
            let (one, three) = (&one["recovery"][strategy], &three["recovery"][strategy]);
            assert_eq!((&one["runs"], &three["runs"]), (&1.into(), &3.into()));
            assert_eq!(one["strategy"], three["strategy"]);
            let (one, three) = (&one["measures"], &three["measures"]);
            let thrice = 3.0 * one["count-retransmissions"].as_f64().unwrap();
            assert_eq!(three["count-retransmissions"], thrice);
            // There is no chance in it, so that shares and quantiles stay.
            for name in ["fast-retransmits", "recovery-time-p50", "transmit-time", "latency-mean"] {
                assert_eq!(one[name], three[name], "{name}");
            }
        }
    }
}

#[test]
fn recovery_prints_tables() {
    let file = scratch("recovery_prints", "figure-2.toml");
    fs::write(&file, FIGURE_2).unwrap();
    let text = ok(&["run", &file, "--strategy", "prr", "--runs", "2", "--recovery"]);
    assert!(
        text.contains("\n\nRecovery of all flows in 2 runs, as one sample, as Dukkipati et al."),
        "{text}"
    );
    for title in [
        "Table 1: ",
        "Table 2: ",
        "Table 3: ",
        "Table 5: ",
        "Table 6: ",
        "Figure 5: ",
        "Table 7: ",
        "Table 11: ",
    ] {
        assert!(text.contains(&format!("\n\n{title}")), "{title}");
    }
    let text = ok(&["compare", "--strategy", "sack", "--drop", "14,26", "--recovery"]);
    assert!(text.contains("\n\nRecovery of all flows, as Dukkipati et al."), "{text}");
}

fn close(a: &Value, b: f64) {
    let a = a.as_f64().unwrap();
    assert!((a - b).abs() < 1e-9, "{a} and {b}");
}

/// The same scenario and seeds with `oracle` and `oracle-drop`, pair by pair.
#[test]
fn vs_oracle_pairs_runs_with_those_of_the_oracles() {
    let file = shipped("wireless.toml");
    let strategies = "reno,oracle,oracle-drop";
    let result = json(&[
        "run",
        &file,
        "--strategy",
        strategies,
        "--runs",
        "3",
        "--vs-oracle",
        "--format",
        "json",
    ]);
    let times: Vec<f64> = result["flows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["completion_s"].as_f64().unwrap())
        .collect();
    let [reno, notified, at_once] = [&times[..3], &times[3..6], &times[6..]];
    let all = result["vs_oracle"].as_array().unwrap();
    for (distance, own) in all.iter().zip([reno, notified, at_once]) {
        assert_eq!(distance["runs"], 3);
        for (bound, (name, other)) in distance["bounds"]
            .as_array()
            .unwrap()
            .iter()
            .zip([("oracle", notified), ("oracle-drop", at_once)])
        {
            assert_eq!(
                (&bound["strategy"], &bound["flows"], &bound["completed"]),
                (&name.into(), &3.into(), &3.into())
            );
            let extra: Vec<f64> = own.iter().zip(other).map(|(x, o)| x - o).collect();
            close(&bound["extra_s"]["mean"], extra.iter().sum::<f64>() / 3.0);
            let percent: Vec<f64> =
                extra.iter().zip(other).map(|(extra, o)| 100.0 * extra / o).collect();
            close(&bound["extra_percent"]["mean"], percent.iter().sum::<f64>() / 3.0);
            // Nothing is retransmitted spuriously, and no timer expires.
            for measure in ["spurious-bytes", "timeouts-per-1000-recoveries"] {
                assert_eq!(bound["measures"][measure]["mean"], 0.0, "{measure}");
            }
        }
    }
    assert_eq!(
        all[1]["bounds"][0]["extra_s"],
        serde_json::json!({ "mean": 0.0, "half_width": 0.0 })
    );
    assert_eq!(all[1]["measures"], all[0]["bounds"][0]["measures"]);
}

/// Each strategy has oracles with its own window law and timer, also where it is the scenario's.
#[test]
fn vs_oracle_keeps_window_law_and_timer() {
    let distances = |args: &[&str]| {
        let file = shipped("wireless.toml");
        json(&[&["run", &file, "--runs", "1", "--vs-oracle", "--format", "json"], args].concat())["vs_oracle"].clone()
    };
    let names = |distance: &Value| {
        [0, 1].map(|i| distance["bounds"][i]["strategy"].as_str().map(String::from))
    };
    let given = distances(&["--strategy", "sack,sack+cubic,linux"]);
    let of = |names: [&str; 2]| names.map(|name| Some(name.to_string()));
    assert_eq!(names(&given[0]), of(["oracle", "oracle-drop"]));
    assert_eq!(names(&given[1]), of(["oracle+cubic", "oracle-drop+cubic"]));
    let linux = ["linux-timer+oracle+linux-cubic", "linux-timer+oracle-drop+linux-cubic"];
    assert_eq!(names(&given[2]), of(linux));
    // The scenario's own strategy is SACK.
    let own = distances(&[]);
    assert_eq!((&own[0]["strategy"], names(&own[0])), (&Value::Null, [None, None]));
    for key in ["extra_s", "extra_percent", "measures"] {
        assert_eq!(own[0]["bounds"][0][key], given[0]["bounds"][0][key], "{key}");
    }
}

/// One loss at the end of a transfer costs the oracle a round trip, and SACK a timeout.
#[test]
fn vs_oracle_prints_a_table() {
    let text =
        ok(&["compare", "--strategy", "sack", "--segments", "30", "--drop", "29", "--vs-oracle"]);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let of =
        |name: &str| rows.iter().rfind(|row| row.first() == Some(&name)).unwrap()[1..].to_vec();
    assert_eq!(of("oracle"), ["-", "-", "-", "-", "0", "0.0", "1.00", "2.0", "0.00"]);
    let sack = of("sack");
    assert_eq!(sack.len(), 9, "{text}");
    let seconds = |cell: &str| cell.strip_suffix('s').unwrap().parse::<f64>().unwrap();
    assert!(seconds(sack[2]) > seconds(sack[0]), "{text}");
}

/// A flow that opens and closes: its capture has the handshake at its own times, and none that is
/// made up.
#[test]
fn a_capture_has_the_handshake_that_was_made() {
    let (file, pcap) = (scratch("handshake", "scenario.toml"), scratch("handshake", "out.pcapng"));
    let text = "duration = \"1s\"\n[tcp]\nhandshake = true\n[[link]]\nfrom = \"a\"\nto = \
        \"b\"\nrate = \"1mbit\"\n\
                delay = \"10ms\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\nsource = { segments = 3 }\n";
    fs::write(&file, text).unwrap();
    ok(&["run", &file, "--pcap", &pcap]);
    let bytes = fs::read(&pcap).unwrap();
    let count = |text: &str| bytes.windows(text.len()).filter(|w| *w == text.as_bytes()).count();
    assert_eq!((count("ackclock: handshake"), count("made up")), (2, 0));
}

#[test]
fn completions_and_man_pages_have_every_command() {
    let help = ok(&["--help"]);
    let (_, verbs) = help.split_once("Commands:\n").unwrap();
    let verbs = verbs.lines().take_while(|line| !line.is_empty());
    let verbs: Vec<_> = verbs.filter_map(|line| line.split_whitespace().next()).collect();
    let pages = scratch("man", "");
    assert_eq!(ok(&["man", &pages]), "");
    for shell in ["bash", "fish", "zsh"] {
        let script = ok(&["completions", shell]);
        for verb in verbs.iter().filter(|verb| **verb != "help") {
            assert!(script.contains(verb), "{shell}: {verb}");
            assert!(PathBuf::from(&pages).join(format!("ackclock-{verb}.1")).exists(), "{verb}");
        }
    }
    let page = fs::read_to_string(PathBuf::from(&pages).join("ackclock-papers-run.1")).unwrap();
    let title = format!(".TH ackclock-papers-run 1  \"ackclock {}\" ", env!("CARGO_PKG_VERSION"));
    assert_eq!(page.lines().find(|line| line.starts_with(".TH")), Some(title.as_str()));
    let end = ".SH \"EXAMPLES\"\n.nf\n\\&ackclock papers run lin\\-kung \\-\\-quick \\-\\-html \
               out/papers\n.fi\n.SH \"EXIT STATUS\"\n.nf\n\\&0    success\n";
    assert!(page.contains(end), "{page}");
    let end =
        "\\&130  stopped by Ctrl\\-C before it was done; the results so far are printed\n.fi\n";
    assert!(page.ends_with(end), "{page}");
    assert_eq!(ackclock(&["completions", "sh"]).code, 2);
    assert_eq!(ackclock(&["man", "/dev/null/man"]).code, 3);
}

#[test]
fn an_exhaust_that_is_interrupted_says_so_and_leaves_no_file() {
    let html = scratch("interrupted_exhaust", "fates.html");
    let _ = fs::remove_file(&html);
    let left =
        interrupted(&["exhaust", "--strategy", "newreno", "--window", "12", "--html", &html]);
    let nothing = "nothing was measured: no strategy was done\n";
    assert_eq!((left.code, left.out.as_str()), (130, nothing));
    assert!(!fs::exists(&html).unwrap());
}

#[test]
fn a_search_that_is_interrupted_writes_what_it_has_found() {
    let file = scratch("interrupted_worst", "worst.toml");
    let _ = fs::remove_file(&file);
    let left = interrupted(&["worst", "--strategy", "reno", "--format", "json", "--out", &file]);
    assert_eq!((left.code, left.err.as_str()), (130, "error: interrupted\n"));
    let found: Value = serde_json::from_str(&left.out).unwrap();
    let climbs = found["climbs"].as_u64().unwrap();
    assert_eq!(climbs % 32, 0);
    assert!(climbs > 0, "{found}");
    // As many climbs find the same.
    let climbs = climbs.to_string();
    let same = json(&["worst", "--strategy", "reno", "--format", "json", "--climbs", &climbs]);
    assert_eq!(found, same);
    assert!(fs::read_to_string(&file).unwrap().contains(&format!("reno after {climbs} climbs")));
}

#[test]
fn one_climb_is_one_climb() {
    let text = ok(&["worst", "--strategy", "reno", "--climbs", "1"]);
    assert!(text.lines().next().unwrap().ends_with(", found in 1 climb with --seed 1"), "{text}");
}

/// Limits that would end everything at once, and buffers that hold nothing.
#[test]
fn nothing_is_not_enough() {
    let size = "it takes at least 4kb; write a size such as 4mb";
    let time = "`0s` is no time of at least 1s";
    let proxy = ["proxy", "--listen", "10.77.0.2:80", "--to", "127.0.0.1:8080"];
    let serve = ["serve", "."];
    for (command, option, value, expected) in [
        (&proxy[..], "--idle", "0s", time),
        (&proxy, "--half-closed-idle", "0s", time),
        (&proxy, "--connect-timeout", "0s", time),
        (&proxy, "--receive-buffer", "4", size),
        (&proxy, "--tun", "a device of ours", "`a device of ours` is no name of a device"),
        (&serve, "--idle", "0s", time),
        (&serve, "--send-buffer", "0", size),
    ] {
        let output = ackclock(&[command, &[option, value]].concat());
        assert_eq!(output.code, 2);
        assert!(output.err.contains(expected), "{option}: {}", output.err);
    }
}

/// One of two options is enough, and the error names both.
#[test]
fn where_to_listen_is_needed() {
    for (command, other) in [("proxy", "--listeners"), ("impair", "--api")] {
        let text = ackclock(&[command]).err;
        assert!(text.contains("--listen") && text.contains(other), "{text}");
    }
}
