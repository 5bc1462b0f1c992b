//! The exact steps of a sequence.

use serde_json::Value;

use super::{ONE_LOSS, error, json, outcome};

#[test]
fn steps_are_exact() {
    // Slow start from 1 has acknowledged 14 segments: cwnd is 15, and segments 14 to 28 are
    // outstanding. Half of that is ssthresh, and cwnd is three more (RFC 5681 section 3.2).
    let outcome = json(&outcome(ONE_LOSS, false, 1));
    let steps = outcome["cells"][0]["sequences"][0]["steps"].as_array().unwrap();
    let third = steps.iter().find(|s| s["dupacks"] == 3).unwrap();
    assert_eq!((&third["event"], &third["segment"]), (&"ack".into(), &14.0.into()));
    assert_eq!(
        (&third["cwnd"], &third["ssthresh"], &third["flight"]),
        (&10.5.into(), &7.5.into(), &15.0.into())
    );
    assert_eq!(third["sent"], serde_json::json!([[14.0, "fast_retransmit", 2]]));
    // The first step is the application's.
    assert_eq!(
        (&steps[0]["event"], &steps[0]["sent"]),
        (&"other".into(), &serde_json::json!([[0.0, "new", 1]]))
    );
    let sent: usize = steps.iter().map(|s| s["sent"].as_array().unwrap().len()).sum();
    assert_eq!(sent, 41);
}

#[test]
fn steps_can_be_named_in_every_way() {
    let claims = [
        ("third/ours/sent", "\"14\"", "holds"),
        ("third/ours/cwnd", "10.5", "holds"),
        ("third/ours/cwnd", "10", "does not hold"),
        ("again/ours/dupacks", "3", "holds"),
        ("again/ours/ssthresh", "7.5", "holds"),
        // On leaving recovery, cwnd is ssthresh or, here less, what is in flight and one more (RFC
        // 6582 section 3.2).
        ("repaired/ours/dupacks", "0", "holds"),
        ("timeout/ours/time", "\"never\"", "holds"),
        ("timeout/ours/time", "1", "does not hold"),
        ("timeouts/ours", "0", "holds"),
        ("retransmissions/ours/flow0", "1", "holds"),
    ];
    let mut text = ONE_LOSS.to_string();
    for (measurement, value, _) in claims {
        text += &format!(
            "\n[[claim]]\nsays = \"-\"\nplace = \"-\"\n\
             measurement = \"{measurement}\"\nequals = {value}\n"
        );
    }
    let verdicts: Vec<String> =
        outcome(&text, false, 1).claims.iter().map(|c| c.verdict()).collect();
    assert_eq!(verdicts[2..], claims.map(|c| c.2));
}

#[test]
fn a_step_can_be_the_second_of_its_kind() {
    let mut text = ONE_LOSS
        .replace("segments = [14]", "segments = [14], retransmissions = [\"14:1\", \"14:2\"]");
    for (name, nth) in [("second", 2), ("third-timeout", 3)] {
        text += &format!("[[step]]\nname = \"{name}\"\nwhen = \"timeout\"\nnth = {nth}\n");
    }
    let claim = |relation: &str| format!("[[claim]]\nsays = \"-\"\nplace = \"-\"\n{relation}\n");
    // The second waits twice as long as the first: 2 s after an RTO of 1 s (RFC 6298 section 5.5).
    text += &claim("measurement = \"second/ours/time\"\nabove = \"timeout/ours/time\"\nby = 1.9");
    text += &claim("measurement = \"third-timeout/ours/time\"\nequals = \"never\"");
    let verdicts: Vec<String> =
        outcome(&text, false, 1).claims.iter().map(|c| c.verdict()).collect();
    assert_eq!(verdicts[2..], ["holds", "holds"]);
}

/// A time is in seconds, and windows are in segments: each is compared with its like alone.
#[test]
fn what_is_asked_of_a_step_has_a_unit() {
    let claim = |claimed: &str| format!("{ONE_LOSS}\n[[claim]]\nsays = \"-\"\n{claimed}\n");
    let text = claim("measurement = \"third/ours/time\"\nbelow = \"completion/ours\"");
    assert_eq!(outcome(&text, false, 1).claims[2].verdict(), "holds");
    let windows = claim("measurement = \"third/ours/cwnd\"\nbelow = \"third/ours/flight\"");
    assert_eq!(outcome(&windows, false, 1).claims[2].verdict(), "holds");
    let refused = error(&claim("measurement = \"third/ours/time\"\nbelow = \"third/ours/flight\""));
    assert!(
        refused.ends_with(
            "claim[2].below: `third/ours/flight` (segments) cannot be compared with \
             `third/ours/time` (s); a measurement of the same unit is expected"
        ),
        "{refused}"
    );
    let aspects = ["time", "cwnd", "ssthresh", "flight", "dupacks", "sent"];
    let rows = aspects.map(|aspect| format!("[[row]]\nmeasurement = \"third/ours/{aspect}\"\n"));
    let shown = outcome(&format!("{ONE_LOSS}{}", rows.concat()), false, 1);
    let units: Vec<&str> = shown.cells[0].rows[1..].iter().map(|row| row.unit.as_str()).collect();
    assert_eq!(units, ["s", "segments", "segments", "segments", "", ""]);
}

#[test]
fn the_time_of_a_step_can_count_from_another() {
    let mut text =
        ONE_LOSS.replace("when = { acked = 14 }", "when = { acked = 14 }\nsince = \"third\"");
    text += "[[step]]\nname = \"never\"\nwhen = { acked = 14 }\nsince = \"timeout\"\n";
    for step in ["repaired", "never"] {
        text += &format!("[[row]]\nmeasurement = \"{step}/ours/time\"\n");
    }
    let outcome = json(&outcome(&text, false, 1));
    let cell = &outcome["cells"][0];
    let steps = cell["sequences"][0]["steps"].as_array().unwrap();
    let time = |step: Option<&Value>| step.unwrap()["time"].as_f64().unwrap();
    let third = time(steps.iter().find(|s| s["dupacks"] == 3));
    let repaired = time(steps.iter().find(|s| s["segment"].as_f64().unwrap() > 14.0));
    assert_eq!(cell["rows"][1]["ours"]["mean"], repaired - third);
    assert_eq!(cell["rows"][2]["shown"], "never");
    for (since, what) in [
        ("first", "there is no step `first`"),
        ("timeout", "the time of `timeout` cannot count from itself"),
    ] {
        let with = format!("when = \"timeout\"\nsince = \"{since}\"");
        let error = error(&ONE_LOSS.replace("when = \"timeout\"", &with));
        assert_eq!(error, format!("papers/p/e.toml:24: step[3].since: {what}"));
    }
}
