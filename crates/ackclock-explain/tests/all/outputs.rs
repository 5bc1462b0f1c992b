//! What is written of connections made by hand.

use std::fs::File;
use std::path::PathBuf;

use ackclock_explain::{
    By, Capture, grouped, one_connection, short, table, write_grouped, write_json, write_parquet,
};
use ackclock_tcp::TimeoutClass;
use ackclock_trace::{Ended, Reset, ResetBy};
use parquet::basic::{LogicalType, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::ColumnDescPtr;
use serde_json::{Value, json};

use crate::sample::explained;

fn text() -> String {
    let mut out = Vec::new();
    write_json(&explained(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn document() -> Value {
    serde_json::from_str(&text()).unwrap()
}

/// The keys of an object as they stand in a text, in their order, those of what it holds left out.
fn keys(text: &str) -> Vec<String> {
    let (mut found, mut depth, mut rest) = (Vec::new(), 0, text);
    while let Some(c) = rest.chars().next() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            '"' => {
                let end = rest[1..].find('"').unwrap() + 1;
                if depth == 1 && rest[end + 1..].starts_with(':') {
                    found.push(rest[1..end].to_string());
                }
                rest = &rest[end..];
            }
            _ => {}
        }
        rest = &rest[1..];
    }
    found
}

#[test]
fn connections_have_exactly_the_documented_keys_in_their_order() {
    let text = text();
    let line = text.lines().nth(5).unwrap();
    let expected = "client server start duration_s bytes segments retransmissions \
        fast_retransmissions recovery_retransmissions \
        slow_start_retransmissions timeouts backed_off_timeouts tail_loss_probes \
        packet_too_big_retransmissions \
        spurious_retransmissions lost_retransmissions dsacks \
        recoveries stalls_s retransmission_list timeout_list number capture packets copies same_as \
        begun one_way unanswered whole_seconds no_answer_s longest_answer_s ended reset_by cut_off \
        position options rtt from_client from_server stall_list recovery_list saved_by sender limited_by";
    assert_eq!(keys(line).join(" "), expected);
    let document = document();
    assert_eq!(keys(&text), ["captures", "connections", "overall"]);
    let capture = "path packets segments filtered ignored dropped_by_capture set_back \
        out_of_order jumps start damage failed";
    assert_eq!(keys(text.lines().nth(1).unwrap()).join(" "), capture);
    let of = |path: &str| {
        let mut keys: Vec<_> =
            document.pointer(path).unwrap().as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    let list =
        "frame from kind len lost probability seq spurious spurious_by t too_big transmission";
    assert_eq!(of("/connections/1/retransmission_list/0"), list);
    let list = "class cwnd episode flight from seq spurious spurious_by state t waited_s";
    assert_eq!(of("/connections/1/timeout_list/0"), list);
    assert_eq!(of("/connections/1/stall_list/0"), "cause class duration_s frame from t");
    assert_eq!(
        of("/connections/1/recovery_list/0"),
        "duration_s exit flight from retransmissions spurious t"
    );
    assert_eq!(
        of("/connections/1/saved_by/0"),
        "avoided mechanism saved_90_s saved_s strategy timeout took_s"
    );
    assert_eq!(
        of("/connections/1/position"),
        "confidence lost_before_from_client lost_before_from_server to_client_s to_server_s vantage"
    );
    let flow = "asked_shorter bytes doubts dsacks ecn full_window goodput_bps limits losses mss \
        offered probes_of_new_data queueing retransmission_rate retransmissions rtt segments \
        throughput_bps timeouts unseen_bytes ways window";
    assert_eq!(of("/connections/1/from_server"), flow);
    let losses = "cause counted episodes mtu_lost mtu_passed policer_burst policer_rate_bps \
        queue_delay_s queue_size random_rate random_run";
    assert_eq!(of("/connections/1/from_server/losses"), losses);
    let ways = "f_rto initial_window least_rto_s rack reduction reductions \
        slow_start_after_idle tail_loss_probes";
    assert_eq!(of("/connections/1/from_server/ways"), ways);
    assert_eq!(of("/connections/1/from_server/ways/rack"), "unused used uses");
    assert_eq!(of("/connections/1/from_server/ways/reductions"), "half other seven_tenths");
    let ecn = "accurate capable cwr echoes marked negotiated reduction_list reductions";
    assert_eq!(of("/connections/1/from_server/ecn"), ecn);
    let overall = "backed_off_timeouts bytes connections dsacks fast_retransmissions \
        limits lin_kung_figure_1 lost_retransmissions packet_too_big_retransmissions \
        prr_tables recoveries recovery_retransmissions replayable_timeouts replayed_timeouts \
        retransmissions \
        retransmissions_by_kind saved_by segments slow_start_retransmissions \
        spurious_retransmissions stalls_by_cause stalls_s tail_loss_probes timeouts \
        timeouts_by_class timeouts_by_state";
    assert_eq!(of("/overall"), overall);
}

#[test]
fn a_connection_in_json_says_what_was_found() {
    let c = document()["connections"][1].clone();
    let counts = [
        ("bytes", 90_500),
        ("segments", 96),
        ("retransmissions", 5),
        ("fast_retransmissions", 1),
        ("recovery_retransmissions", 1),
        ("slow_start_retransmissions", 1),
        ("timeouts", 2),
        ("backed_off_timeouts", 1),
        ("tail_loss_probes", 1),
        ("spurious_retransmissions", 1),
        ("lost_retransmissions", 2),
        ("dsacks", 1),
        ("recoveries", 1),
        ("number", 1),
        ("packets", 250),
    ];
    for (key, value) in counts {
        assert_eq!(c[key], value, "{key}");
    }
    assert_eq!(
        (&c["client"], &c["server"]),
        (&json!("10.0.0.1:40000"), &json!("[2001:db8::2]:443"))
    );
    assert_eq!((&c["duration_s"], &c["stalls_s"]), (&json!(5.0), &json!(3.1)));
    assert_eq!(c["options"], json!({"sack": true, "timestamps": false}));
    let position = json!({
        "vantage": "server", "confidence": 0.75, "to_client_s": 0.1, "to_server_s": null,
        "lost_before_from_client": true, "lost_before_from_server": false,
    });
    assert_eq!(c["position"], position);
    assert_eq!(
        c["rtt"],
        json!({"min_s": 0.1, "mean_s": 0.11, "median_s": 0.105, "p99_s": 0.19, "max_s": 0.2, "samples": 30})
    );
    let kinds: Vec<_> = c["retransmission_list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["fast_retransmit", "recovery", "timeout", "backed_off_timeout", "slow_start"]
    );
    let spurious: Vec<_> = c["retransmission_list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["spurious"].clone())
        .collect();
    assert_eq!(Value::from(spurious), json!([false, null, false, false, true]));
    assert_eq!(c["retransmission_list"][4]["spurious_by"], "dsack");
    assert_eq!(c["retransmission_list"][1]["lost"], Value::Null);
    let first = &c["timeout_list"][0];
    assert_eq!(
        (&first["class"], &first["state"]),
        (&json!("lost_retransmission"), &json!("recovery"))
    );
    assert_eq!(
        (&first["flight"], &first["cwnd"], &first["seq"]),
        (&json!(8_000), &json!(12_500), &json!(25_000))
    );
    assert_eq!(
        (&first["spurious"], &first["waited_s"], &first["from"]),
        (&json!(false), &json!(0.5), &json!("server"))
    );
    assert_eq!(c["stall_list"][0]["class"], "lost_retransmission");
    assert_eq!(c["stall_list"][1]["cause"], "application");
    assert_eq!(c["recovery_list"][0]["exit"], "timeout");
    assert_eq!(c["saved_by"][1]["mechanism"], "lost-retransmission recovery");
    assert_eq!(
        (&c["saved_by"][1]["timeout"], &c["saved_by"][1]["saved_s"]),
        (&json!(0), &json!(1.25))
    );
}

#[test]
fn times_keep_every_nanosecond() {
    let text = text();
    assert!(text.contains(r#""start":1700000000.123456789,"duration_s":5.0"#), "{text}");
    assert!(
        text.contains(r#"{"t":1700000001.623456789,"seq":25000,"class":"lost_retransmission""#)
    );
}

#[test]
fn overall_has_figure_1_and_the_paper_s_tables() {
    let overall = document()["overall"].clone();
    assert_eq!(overall["timeouts_by_class"]["lost_retransmission"], 1);
    assert_eq!(
        overall["timeouts_by_state"],
        json!({"open": 0, "disorder": 0, "recovery": 1, "loss": 1})
    );
    // A cwnd of 12,500 bytes is one of twelve whole segments.
    let figure = overall["lin_kung_figure_1"].as_array().unwrap();
    assert_eq!(figure.len(), 12);
    let point = json!({"window": 12, "all": 100.0, "non_trigger": 0.0, "multiple_losses": 0.0, "lost_retransmission": 50.0,
        "backed_off": 50.0, "handshake": 0.0, "unknown": 0.0});
    assert_eq!(figure[11], point);
    let here = |table: usize| {
        let rows = overall["prr_tables"][table]["rows"].as_array().unwrap().clone();
        Value::from(rows.into_iter().map(|row| row["here"].clone()).collect::<Vec<_>>())
    };
    // One connection of two has SACK, none timestamps; 5 of 96 segments were retransmitted.
    assert_eq!(here(0), json!([50.0, 0.0, 100.0 * 5.0 / 96.0, 50.0]));
    // Two of five by fast recovery, two by the timer (one in Recovery, one backed off), one in slow
    // start.
    assert_eq!(here(1), json!([40.0, 40.0, 0.0, 0.0, 20.0, 0.0, 20.0, 20.0, 0.0, 0.0, 0.0, 0.0]));
    // Two fast retransmits in one recovery, one of them lost.
    assert_eq!(here(2), json!([2.0, 100.0, 50.0, 100.0, 50.0]));
    assert_eq!(overall["prr_tables"][1]["rows"][0]["paper"], json!([24.0, 54.0]));
    let saved = json!({"strategy": "sack+lrx-linux", "mechanism": "lost-retransmission \
        recovery", "replayed": 1, "avoided": 1,
        "saved_s": 1.25});
    assert_eq!(overall["saved_by"][1], saved);
}

#[test]
fn retransmissions_after_which_nothing_came_back_have_failed() {
    let mut explained = explained();
    let flow = &mut explained.connections[1].connection.from_server;
    flow.retransmissions.truncate(4);
    flow.retransmissions[3].lost = Some(true);
    let mut out = Vec::new();
    write_json(&explained, &mut out).unwrap();
    let document: Value = serde_json::from_slice(&out).unwrap();
    let rows = &document["overall"]["prr_tables"][1]["rows"];
    let here: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| row["here"].as_f64().unwrap()).collect();
    // Of four, both by the timer failed; the fast retransmission was lost as well, but something
    // came back after it.
    assert_eq!(here, [50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 50.0]);
}

#[test]
fn the_table_has_connections_stalls_and_what_would_have_saved_them() {
    let text = table(&explained(), 20, None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "slow.pcap: 260 packets, 257 with TCP; left out: 3 not tcp");
    let row: Vec<&str> = lines[3].split_whitespace().collect();
    let expected =
        "1 10.0.0.1:40000 [2001:db8::2]:443 5.000 90500 105.0 5 1 1 1 1 0 2 0 0 1 1 0 1 2 1.600";
    assert_eq!(row.join(" "), expected);
    let stall = "  #1 server stalled 1.6 s at 1.00 s: timeout, lost retransmission of 1000 bytes; \
        lost-retransmission recovery would have saved 1.2 s (90 %: 1.00 to 1.38 s) \
        [ip.addr == 10.0.0.1 && ipv6.addr == 2001:db8::2 && tcp.port == 40000 && \
        tcp.port == 443 && \
        frame.time_epoch >= 1700000001.123456 && frame.time_epoch <= 1700000002.723457]";
    assert!(lines.contains(&stall), "{text}");
    // None of the time in which the application had nothing to send.
    assert_eq!(text.matches(" stalled ").count(), 2, "{text}");
    assert!(text.contains("the 1 of 2 timeouts that waited longest"), "{text}");
}

/// The classes add up to all timeouts: here one of a connection, and of figure 1 a half.
#[test]
fn the_timeout_of_a_handshake_has_a_column() {
    let mut explained = explained();
    let timeouts = &mut explained.connections[1].connection.from_server.timeouts;
    timeouts[1].class = TimeoutClass::Handshake;
    let text = table(&explained, 20, None);
    let row = |begins: &str| -> Vec<&str> {
        text.lines().find(|line| line.starts_with(begins)).unwrap().split_whitespace().collect()
    };
    assert_eq!(row("1  10.0.0.1:40000")[12..18], ["2", "0", "0", "1", "0", "1"]);
    let figure_1 = text.lines().skip_while(|line| !line.starts_with("window >=")).nth(1).unwrap();
    let figure_1: Vec<&str> = figure_1.split_whitespace().collect();
    assert_eq!(figure_1, ["1", "100.0", "0.0", "0.0", "50.0", "0.0", "50.0", "0.0"]);
}

/// In a narrow terminal columns stay in which something was found, whatever the paper has.
#[test]
fn narrow_tables_keep_what_was_found() {
    let text = table(&explained(), 20, Some(60));
    let row = |begins: &str, below: usize| -> Vec<&str> {
        let line = text.lines().skip_while(|line| !line.starts_with(begins)).nth(below).unwrap();
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
    };
    let headings = ["window >=", "all", "lost retransmission", "backed off"];
    assert_eq!(row("window >=", 0), headings);
    assert_eq!(row("window >=", 1), ["1", "100.0", "50.0", "50.0"]);
    let avoided = "what would have avoided timeouts";
    assert_eq!(row(avoided, 0), [avoided, "strategy", "saved (s)"]);
    assert_eq!(row(avoided, 1), ["lost-retransmission recovery", "sack+lrx-linux", "1.250"]);
}

/// What-ifs that avoid nothing, and rows of the papers of which there is nothing here.
#[test]
fn rows_of_zeros_are_not_shown() {
    let names = |text: &str, title: &str| -> Vec<String> {
        let rows = text.split(title).nth(1).unwrap().lines().skip(1);
        rows.take_while(|row| !row.is_empty() && !row.starts_with('('))
            .map(|row| row.split("  ").find(|cell| !cell.is_empty()).unwrap().trim().into())
            .collect()
    };
    let mut explained = explained();
    let text = table(&explained, 20, None);
    let rescues = names(&text, "what would have avoided timeouts");
    assert_eq!(rescues, ["lost-retransmission recovery", "RACK-TLP"]);
    let kinds = [
        "unit",
        "retransmissions of recoveries",
        "timeout retransmits",
        "timeout in Recovery",
        "timeout, backed off",
        "slow start retransmits",
    ];
    assert_eq!(names(&text, "Table 2: retransmissions by kind, of all retransmissions"), kinds);
    // Nothing helps, and nothing was retransmitted in a recovery.
    explained.connections[1].saved[0].by.truncate(1);
    let flow = &mut explained.connections[1].connection.from_server;
    flow.recoveries.clear();
    flow.dsacks = 0;
    flow.retransmissions.drain(..2);
    let text = table(&explained, 20, None);
    let nothing = "\nWhat was tried would have avoided no timeout: 0 of 1\n(the 1 of 2";
    assert!(text.contains(nothing), "{text}");
    assert!(text.contains("Table 2") && !text.contains("Table 3"), "{text}");
}

#[test]
fn of_several_captures_the_table_says_which() {
    let mut explained = explained();
    explained.captures.push(Capture { path: "other.pcap".into(), ..Capture::default() });
    explained.connections[0].capture = 1;
    let text = table(&explained, 20, None);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("10.0.0.1:40000")).collect();
    assert!(
        rows[0].ends_with(" 1.600   slow.pcap") && rows[1].ends_with(" 0.000  other.pcap"),
        "{text}"
    );
    assert!(text.starts_with("slow.pcap: "), "{text}");
    let bounded = table(&explained, 1, None);
    assert!(bounded.contains("\nand 1 more: --top 0 shows all\n\n#"), "{bounded}");
    assert!(!bounded.contains("other.pcap: "), "{bounded}");
}

#[test]
fn lists_are_bounded_and_say_so() {
    let text = table(&explained(), 1, None);
    assert!(text.contains("and 1 more: --top 0 shows all\n"), "{text}");
    assert!(!text.contains("\n0  10.0.0.1"), "{text}");
    assert!(!table(&explained(), 0, None).contains("more:"));
}

#[test]
fn a_server_that_defers_a_connection_is_said_to() {
    let mut explained = explained();
    let line = |explained: &ackclock_explain::Explained| {
        let text = one_connection(explained, 0);
        text.lines().find(|line| line.contains("TCP_DEFER_ACCEPT")).map(str::to_owned)
    };
    assert_eq!(line(&explained), None);
    explained.connections[0].connection.deferred = 2;
    let said = "the server sent 2 SYN/ACKs again though the ACK of the handshake had arrived: it \
        waited for data (TCP_DEFER_ACCEPT), or its accept queue was full";
    assert_eq!(line(&explained).as_deref(), Some(said));
}

#[test]
fn one_connection_is_listed_in_order_of_time() {
    let mut explained = explained();
    assert!(explained.keep(1));
    let text = one_connection(&explained, 0);
    assert!(text.starts_with(
        "#1 10.0.0.1:40000 > [2001:db8::2]:443 in slow.pcap\n5.0 s, 250 packets, from its SYN on; \
         closed by both ends\n"
    ));
    assert!(
        text.contains("captured at the server (confidence 75 %), 0.10 s to the client and back\n"),
        "{text}"
    );
    assert!(text.contains("  not known: 300 bytes were never seen\n"), "{text}");
    let what: Vec<&str> = text.lines().filter(|l| l.contains("server")).skip(3).collect();
    assert_eq!(what.len(), 8, "{text}");
    assert!(what[1].ends_with("fast retransmit; lost itself"), "{text}");
    assert!(what[0].ends_with(
        "recovery begins with 12000 bytes outstanding: 2 retransmissions, ended by a timeout \
             after 0.50 s"
    ));
    assert!(what[3].ends_with("timeout, lost retransmission; lost itself"), "{text}");
    assert!(what[4].ends_with("backed-off timeout"), "{text}");
    assert!(
        text.contains("\nthe server repaired losses or waited for its timer for 2.7 s of 5.0 s")
    );
    assert!(what[6].ends_with("slow-start retransmission; spurious (D-SACK)"), "{text}");
    assert!(!explained.keep(2));
}

#[test]
fn parquet_has_a_row_for_each_thing_found() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("parquet");
    let mut explained = explained();
    let reset = Reset { by: ResetBy::Server, cuts_off: true };
    explained.connections[1].connection.ended = Ended::Reset(reset);
    write_parquet(&explained, &folder).unwrap();
    let rows = |name: &str| {
        let file = File::open(folder.join(name).with_extension("parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().into_columns()).collect::<Vec<_>>()
    };
    let cell = |row: &[(String, Field)], name: &str| {
        row.iter().find(|(n, _)| n == name).unwrap().1.clone()
    };
    let connections = rows("connections");
    assert_eq!(connections.len(), 2);
    assert_eq!(cell(&connections[1], "client"), Field::Str("10.0.0.1:40000".into()));
    assert_eq!(cell(&connections[1], "retransmissions"), Field::Long(5));
    assert_eq!(cell(&connections[1], "stalls_s"), Field::Double(3.1));
    assert_eq!(cell(&connections[0], "rtt_mean_s"), Field::Null);
    let ends = ["ended", "reset_by", "cut_off"].map(|name| cell(&connections[1], name));
    let reset = ["reset", "server"].map(|text| Field::Str(text.into()));
    assert_eq!((&ends[..2], &ends[2]), (&reset[..], &Field::Bool(true)));
    assert_eq!(cell(&connections[0], "cut_off"), Field::Bool(false));
    let retransmissions = rows("retransmissions");
    assert_eq!(retransmissions.len(), 5);
    assert_eq!(cell(&retransmissions[4], "kind"), Field::Str("slow_start".into()));
    assert_eq!(cell(&retransmissions[4], "spurious"), Field::Bool(true));
    assert_eq!(cell(&retransmissions[1], "lost"), Field::Null);
    assert_eq!(cell(&retransmissions[0], "t"), Field::Long(1_700_000_001_123_456_789));
    let timeouts = rows("timeouts");
    assert_eq!(timeouts.len(), 2);
    assert_eq!(cell(&timeouts[0], "class"), Field::Str("lost_retransmission".into()));
    let stalls = rows("stalls");
    assert_eq!(stalls.len(), 2);
    assert_eq!(cell(&stalls[0], "duration_s"), Field::Double(1.6));
    assert_eq!(cell(&stalls[0], "connection"), Field::Long(1));
}

/// `docs/src/reference/parquet.md` has a row for each column, in order, with its type.
#[test]
fn the_guide_lists_every_column() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("columns");
    write_parquet(&explained(), &folder).unwrap();
    let path = "../../docs/src/reference/parquet.md";
    let page = std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for name in ["connections", "retransmissions", "timeouts", "stalls"] {
        let file = File::open(folder.join(name).with_extension("parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let column = |column: &ColumnDescPtr| {
            let value = match (column.physical_type(), column.logical_type_ref()) {
                (Type::INT64, Some(LogicalType::Timestamp(_))) => "time",
                (Type::INT64, _) => "whole number",
                (Type::DOUBLE, _) => "number",
                (Type::BOOLEAN, _) => "truth",
                (Type::BYTE_ARRAY, _) => "text",
                other => panic!("{other:?}"),
            };
            format!("| `{}` | {value} ", column.name())
        };
        let written: Vec<String> = schema.columns().iter().map(column).collect();
        let heading = format!("`{name}`\n");
        let section = page.split("\n## ").find(|s| s.starts_with(&heading)).unwrap();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let listed: Vec<&str> = rows.map(|row| &row[..row.rfind("| ").unwrap()]).collect();
        assert_eq!(listed, written, "{name}");
    }
}

/// The verdict first, then the connection that was held up for longest with its longest stall.
#[test]
fn the_short_text_says_why_and_what_to_change() {
    let text = short(&explained(), 1);
    let expected = "\
slow.pcap: 260 packets, 257 with TCP; left out: 3 not tcp

2 connections, 90500 bytes; 5.2 % of 96 segments were retransmissions, 2 timeouts
Their 5.0 s went into: recovery 54 %, application 30 %, receive window 12 %, path 4 %

#1 10.0.0.1:40000 > [2001:db8::2]:443: the server repaired losses or waited for its timer for \
2.7 s of 5.0 s (54 %); 144.0 kbit/s, round trip 0.10 s (median 0.10 s, 99th 0.19 s), \
5.3 % retransmitted
    server stalled 1.6 s at 1.00 s: timeout, lost retransmission of 1000 bytes; \
lost-retransmission recovery would have saved 1.2 s (90 %: 1.00 to 1.38 s) \
[ip.addr == 10.0.0.1 && ipv6.addr == 2001:db8::2 && tcp.port == 40000 && tcp.port == 443 && \
frame.time_epoch >= 1700000001.123456 && frame.time_epoch <= 1700000002.723457]
and 1 more: --top 0 shows all

What to change:
- 2001:db8::2 to 10.0.0.1: packets are lost; find where (recovery: 2.7 s)
and 1 more: --top 0 shows all
";
    assert_eq!(text, expected);
}

/// The stalled connection has a group of its own, or shares one with the quiet one; the group that
/// was held up for longest comes first.
#[test]
fn connections_are_added_up_by_host_prefix_and_port() {
    let mut explained = explained();
    let quiet = &mut explained.connections[0].connection;
    quiet.client = "10.0.0.200:40000".parse().unwrap();
    quiet.server = "[2001:db8::2]:22".parse().unwrap();
    let groups = |by| {
        let mut out = Vec::new();
        write_grouped(&explained, by, &mut out).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["by"], by.name());
        document["groups"].as_array().unwrap().clone()
    };
    let hosts = groups(By::Host);
    let names = |groups: &[Value]| groups.iter().map(|g| g["group"].clone()).collect::<Vec<_>>();
    assert_eq!(names(&hosts), ["10.0.0.1", "10.0.0.200"]);
    let first = &hosts[0];
    assert_eq!((&first["connections"], &first["bytes"]), (&json!(1), &json!(90_500)));
    assert_eq!(first["retransmission_rate"], 5.0 / 96.0);
    // 0.6 s of the receiver's window and 2.7 s of recovery, of 5 s.
    assert_eq!((&first["held_s"], &first["lost_s"]), (&json!(3.3), &json!(1.6)));
    assert_eq!(first["limits"]["recovery_s"], 2.7);
    let prefixes = groups(By::Prefix);
    assert_eq!(names(&prefixes), ["10.0.0.0/24"]);
    assert_eq!((&prefixes[0]["connections"], &prefixes[0]["timeouts"]), (&json!(2), &json!(2)));
    assert_eq!(names(&groups(By::Port)), ["443", "22"]);

    let text = grouped(&explained, By::Port, 1, None);
    let lines: Vec<&str> = text.lines().skip(2).collect();
    let cells = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let heading = "port connections bytes retransmitted (%) timeouts lost in stalls (s) held up (s) \
        of (s) handshake (%) application (%) receive window (%) congestion window (%) recovery (%) \
        path (%) Nagle (%)";
    assert_eq!(cells(lines[0]), heading);
    let row = "443 1 90500 5.2 2 1.600 3.300 5.000 0.0 30.0 12.0 0.0 54.0 4.0 0.0";
    assert_eq!(cells(lines[1]), row);
    assert_eq!(lines[2..], ["and 1 more: --top 0 shows all"]);
    let narrow = grouped(&explained, By::Port, 1, Some(47));
    let lines: Vec<&str> = narrow.lines().skip(2).collect();
    assert_eq!(cells(lines[0]), "port timeouts lost in stalls (s) held up (s)");
    assert_eq!(cells(lines[1]), "443 2 1.600 3.300");
    assert!(lines[2].contains("connections, bytes"), "{narrow}");
    explained.connections[1].connection.client = "[2001:db8:1:2:3::4]:5".parse().unwrap();
    let text = grouped(&explained, By::Prefix, 0, None);
    assert!(text.contains("\n2001:db8:1:2::/64 "), "{text}");
}

/// Tables leave out columns and name them; legends are broken. Sentences on stalls, whose filters
/// are copied, stay whole.
#[test]
fn tables_fit_into_the_terminal() {
    let text = table(&explained(), 20, Some(72));
    let is_sentence = |line: &&str| line.contains(" stalled ") || line.starts_with("Stalls, ");
    let all_together = |line: &&str| line.starts_with("All together: ");
    let others = text.lines().filter(|line| !is_sentence(line) && !all_together(line));
    let long: Vec<_> = others.filter(|line| line.chars().count() > 72).collect();
    assert_eq!(long, Vec::<&str>::new());
    let heading = text.lines().find(|line| line.starts_with("# ")).unwrap();
    assert!(heading.ends_with(" stalled (s)") && !heading.contains("spurious"), "{heading}");
    assert!(text.contains("(terminal of 72 columns: "));
}

/// Of several captures a row says which one it is from, as long as results are there.
#[test]
fn the_capture_of_a_connection_stays_in_a_narrow_table() {
    let mut explained = explained();
    let path = String::from("b.pcap");
    explained.captures.truncate(1);
    explained.captures[0].path = "a.pcap".into();
    explained.captures.push(Capture { path, ..explained.captures[0].clone() });
    explained.connections[1].capture = 1;
    let text = table(&explained, 20, Some(72));
    let heading = text.lines().find(|line| line.starts_with("# ")).unwrap();
    assert!(heading.ends_with("  stalled (s)  capture"), "{heading}");
}
