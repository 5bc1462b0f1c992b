//! What the page is told, against the simulated network.

use std::io::Cursor;

use ackclock_playground::{
    Edits, Explanation, Late, ROW, Rows, edited, events, opened, parts, picture, runs, step,
};
use ackclock_tcp::strategy::DEFAULTS;
use serde_json::Value;

const COMPARE: &str = include_str!("../page/compare.toml");

fn run(text: &str, strategy: &str) -> Result<Rows, String> {
    runs(text, &[strategy.into()])?.remove(0)
}

/// Rows of one kind: time in nanoseconds and the four numbers of the event.
fn rows(rows: &[f64], kind: f64) -> Vec<[f64; 5]> {
    let of_kind = rows.chunks_exact(ROW).filter(|row| row[0] == kind);
    of_kind.map(|row| [row[1], row[2], row[3], row[4], row[5]]).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn listed_losses_become_edits_and_come_back() {
    let text = COMPARE
        .replace("segments = [14, 26, 28]", "segments = [14, 26]\nretransmissions = [\"14:2\"]");
    let text = text.replace(
        "[[link.loss]]",
        "[[link.fate]]\nack = 7\nlose = true\n[[link.fate]]\nsegment = 30\ntransmission = 2\nlate = \"40ms\"\n\n[[link.loss]]",
    );
    let taken = opened(&text).unwrap();
    let late = Late { segment: Some((30, 2)), ack: None, by: "40ms".into() };
    let edits = Edits {
        link: 1,
        lost: vec![(14, 1), (14, 3), (26, 1)],
        lost_acks: vec![7],
        late: vec![late],
        ..Edits::default()
    };
    assert_eq!(taken.edits, edits);
    assert!(!taken.text.contains("loss") && !taken.text.contains("fate"), "{}", taken.text);
    let again = edited(&taken.text, &taken.edits).unwrap();
    assert_eq!(opened(&again).unwrap(), taken);
    assert_eq!(events(&again, "sack").unwrap(), events(&text, "sack").unwrap());
    assert_ne!(events(&taken.text, "sack").unwrap(), events(&text, "sack").unwrap());
}

#[test]
fn rows_are_the_events() {
    let drawn = run(COMPARE, "sack").unwrap();
    let lines = events(COMPARE, "sack").unwrap();
    let lines: Vec<Value> = String::from_utf8(lines).unwrap().lines().map(json).collect();
    assert_eq!(drawn.rows.len(), lines.len() * ROW);
    for (row, line) in drawn.rows.chunks_exact(ROW).zip(&lines) {
        assert_eq!(row[1] / 1e9, line["t"].as_f64().unwrap());
        assert_eq!(row[6], line["cwnd"].as_f64().unwrap());
        assert_eq!(row[7], line["ssthresh"].as_f64().unwrap_or(-1.0));
    }
    let sent: Vec<&Value> = lines.iter().filter(|line| line["event"] == "sent").collect();
    let drawn_sent = rows(&drawn.rows, 0.0);
    assert_eq!(drawn_sent.len(), 103);
    for (row, line) in drawn_sent.iter().zip(sent) {
        assert_eq!(row[1], line["seq"].as_f64().unwrap());
        assert_eq!(row[4], line["transmission"].as_f64().unwrap());
    }
    let about = json(&drawn.about);
    assert_eq!(about["summary"]["retransmissions"], 3);
    assert_eq!(about["mss"], 1000);
    // The command says so with --vs-oracle: 3.084 s, and 2.882 s and 2.722 s of the oracles.
    let over: Vec<f64> =
        about["over"].as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect();
    assert_eq!(over.iter().map(|s| format!("{s:.3}")).collect::<Vec<_>>(), ["0.202", "0.362"]);
}

/// ACKs have the numbers by which a fate names them.
#[test]
fn the_ack_that_is_lost_is_the_one_that_was_clicked() {
    for more in ["", "handshake = true\n"] {
        let text = COMPARE.replace("[tcp]\n", &format!("[tcp]\n{more}"));
        let base = opened(&text).unwrap();
        let before = run(&edited(&base.text, &base.edits).unwrap(), "newreno").unwrap();
        let acks: Vec<&[f64]> = before.acks.chunks_exact(4).collect();
        // Each has come, in its order.
        assert_eq!(rows(&before.rows, 1.0).len(), acks.len());
        let received = before.rows.chunks_exact(ROW).filter(|row| row[0] == 1.0).map(|row| row[10]);
        assert!(received.eq(acks.iter().map(|ack| ack[0])));
        assert!(acks.iter().all(|ack| ack[3] > ack[1]));
        let edits = Edits { lost_acks: vec![acks[9][0] as u64], ..base.edits };
        let after = run(&edited(&base.text, &edits).unwrap(), "newreno").unwrap();
        let lost: Vec<&[f64]> = after.acks.chunks_exact(4).filter(|ack| ack[3] < 0.0).collect();
        assert_eq!(lost.len(), 1);
        assert_eq!(lost[0][..3], acks[9][..3]);
    }
}

#[test]
fn a_packet_that_is_late_arrives_that_much_later() {
    let base = opened(COMPARE).unwrap();
    let arrival = |late: Vec<Late>| {
        let edits = Edits { late, ..Edits { link: 1, ..Edits::default() } };
        let drawn = run(&edited(&base.text, &edits).unwrap(), "sack").unwrap();
        let arrived = rows(&drawn.rows, 9.0).into_iter().find(|row| row[1] == 20_000.0).unwrap();
        arrived[0]
    };
    let late = Late { segment: Some((20, 1)), ack: None, by: "30ms".into() };
    assert_eq!(arrival(vec![late]) - arrival(Vec::new()), 30e6);
}

#[test]
fn keys_are_set_before_the_losses() {
    let base = opened(COMPARE).unwrap();
    let set = [("link[1].rate", "2mbit"), ("tcp.sack", "false"), ("flow[0].source.segments", "40")];
    let set = set.map(|(key, value)| (key.to_string(), value.to_string())).into();
    let text = edited(&base.text, &Edits { set, link: 1, lost: vec![(3, 1)], ..Edits::default() })
        .unwrap();
    for line in ["rate = \"2mbit\"", "sack = false", "segments = 40", "segments = [3]"] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

/// The third duplicate of NewReno, as RFC 5681 section 3.2 has it.
#[test]
fn a_step_shows_the_sender() {
    let drawn = run(COMPARE, "newreno").unwrap();
    let entered = rows(&drawn.rows, 4.0)[0];
    let moment = json(&step(COMPARE, "newreno", entered[0] as u64).unwrap());
    let (sender, events) = (&moment["sender"], moment["events"].as_array().unwrap());
    assert_eq!(sender["phase"], "recovery");
    assert_eq!(sender["dupacks"], 3);
    assert_eq!(sender["snd_una"], 14_000);
    // FlightSize was 15 segments; ssthresh is half of it, and cwnd three more.
    assert_eq!(entered[2], 15_000.0);
    assert_eq!((&sender["ssthresh"], &sender["cwnd"]), (&Value::from(7500), &Value::from(10_500)));
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["acked", "lost", "recovery_entered", "sent"]);
    assert_eq!(events[3]["detected_by"], "dupack");
    let board = sender["board"].as_array().unwrap();
    assert_eq!(board.len(), 15);
    assert_eq!(board[0], serde_json::json!([14_000, 1000, 2, false, true, true]));
    assert_eq!(board[1], serde_json::json!([15_000, 1000, 1, false, false, false]));
    // A moment before, no segment is judged lost.
    let before = json(&step(COMPARE, "newreno", entered[0] as u64 - 1).unwrap());
    assert_eq!(before["sender"]["phase"], "disorder");
    assert_eq!(before["events"], serde_json::json!([]));
}

#[test]
fn errors_say_where_and_what_would_be_right() {
    let wrong = COMPARE.replace("800kbit", "800 Kb");
    let error = opened(&wrong).unwrap_err();
    assert!(error.starts_with("scenario:22: link[1].rate: "), "{error}");
    assert!(run(COMPARE, "newremo").err().unwrap().contains("did you mean `newreno`?"));
    assert!(parts("newreno+ltt").unwrap_err().contains("did you mean `lt`?"));
    let edits = Edits { link: 2, ..Edits::default() };
    assert_eq!(edited(COMPARE, &edits).unwrap_err(), "there is no link 2; there are 2");
    let late = Late { segment: Some((1, 1)), ack: None, by: "soon".into() };
    let edits = Edits { late: vec![late], ..Edits::default() };
    assert!(edited(COMPARE, &edits).unwrap_err().starts_with("soon: "));
    let long = COMPARE.replace("segments = 100", "segments = 200_000").replace("800kbit", "8mbit");
    let error = run(&long, "sack").err().unwrap();
    assert!(error.contains("more than 300000 events"), "{error}");
    let no_flow = COMPARE.split("[[flow]]").next().unwrap();
    assert!(opened(no_flow).is_err());
}

/// `head` leaves all axes but one to the engine.
#[test]
fn defaults_are_what_the_engine_puts_on_an_empty_axis() {
    let named = DEFAULTS.join("+");
    assert_eq!(json(&parts("head").unwrap()).as_array().unwrap().len(), DEFAULTS.len());
    let text = |strategy: &str| String::from_utf8(events(COMPARE, strategy).unwrap()).unwrap();
    assert_eq!(text(&named).replace(&named, "head"), text("head"));
    let piped = named.replace("inflate-to-ssthresh", "pipe");
    assert_ne!(text(&piped).replace(&piped, "head"), text("head"));
}

#[test]
fn parts_and_figures() {
    assert_eq!(
        parts("newreno+lt").unwrap(),
        r#"[["detect","dupack"],["response","lower-twice"],["window","reno-window"],"#.to_owned()
            + r#"["timer","rfc6298-timer"],["select","partial-ack"],["regulate","inflate"],"#
            + r#"["ambiguity","bugfix"],["probe","lt"]]"#
    );
    let svg = picture(COMPARE, &["reno".into(), "sack".into()], "Losses & <more>").unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("Losses &amp; &lt;more&gt;"));
    assert!(svg.contains(">reno<") && svg.contains(">sack<"));
}

/// What is there is explained, and where it ends is said.
#[test]
fn a_capture_that_is_cut_off_is_said_to_be_damaged() {
    // The header of a pcap file (raw IP), and two records of four bytes.
    let header = [0xA1B2_C3D4, 0x0004_0002, 0, 0, 65_535, 101];
    let words = header.into_iter().chain([1, 0, 4, 4, 0x45]).chain([2, 0, 4, 4, 0x45]);
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let explained = |len: usize| {
        let explanation = Explanation::new(Cursor::new(bytes[..len].to_vec()), "cut.pcap").unwrap();
        (explanation.packets(), explanation.damage())
    };
    assert_eq!(explained(64), (2, String::new()));
    let damage = "byte 44: a record is cut off: 2 of its 4 bytes are there";
    assert_eq!(explained(62), (1, damage.into()));
}
