//! `ackclock replay` from outside.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::run::{Run, ackclock};

/// Two segments, one ACK for each, and the kernel sends after the first one what `after` says.
fn vector(seed: u32, after: &str) -> String {
    let header = json!({
        "format": "ackclock-vector/1", "kernel": "6.18.44", "hz": 250, "congestion": "reno",
        "settings": {}, "mss": 1000, "initial_window": 2, "sack": true, "timestamps": false,
        "window_scale": 7, "window": 64000, "syn_at": 0, "round_trip": 20000,
        "family": "example", "seed": seed,
    });
    format!(
        "{header}\n\
         {{\"at\":20500,\"write\":3000,\"sent\":[[0,1000,1],[1000,1000,1]],\
         \"info\":{{\"cwnd\":2,\"ssthresh\":2147483647}}}}\n\
         {{\"at\":41000,\"ack\":2000,\"sent\":{after},\"info\":{{\"cwnd\":4}}}}\n\
         {{\"at\":62000,\"ack\":3000}}\n"
    )
}

fn file(name: &str, text: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replay");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn one_vector_is_shown_whole() {
    let path = file("one.jsonl", &vector(7, "[]"));
    let Run { code, out, err } = ackclock(&["replay", &path, "--strategy", "newreno"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = format!(
        "{path}: example 7, Linux 6.18.44 with reno, answered by newreno\n\
         1 of 3 inputs are answered otherwise, first input 1\n\n\
         \x20   ms      input    kernel sends  strategy sends  kernel    strategy\n\
         \x200  20.500  write 3  0 1           0 1             2/- open  2/- open\n\
         !1  41.000  ack 2                  2               4/- open  3/- open\n\
         \x202  62.000  ack 3                                  4/- open  4/- open\n"
    );
    assert_eq!(out, expected);
}

#[test]
fn of_several_the_first_differences_and_scores_are_shown() {
    let text = vector(1, "[[2000,1000,1]]") + &vector(2, "[]") + &vector(3, "[]");
    let path = file("several.jsonl", &text);
    let Run { code, out, .. } =
        ackclock(&["replay", &path, "--strategy", "newreno", "--top", "1", "--context", "0"]);
    assert_eq!(code, 0);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("example 2"), "{out}");
    assert_eq!(lines[3].split_whitespace().next(), Some("ms"));
    assert_eq!(
        lines[4].trim_end(),
        "!1  41.000  ack 2                2               4/- open  3/- open"
    );
    assert_eq!(lines[6], "and 1 more: --top 0 shows all");
    let sum: Vec<&str> = lines[10].split_whitespace().collect();
    assert_eq!(sum[..7], ["all", "3", "1", "33", "%", "9", "2"]);

    let Run { out, .. } = ackclock(&["replay", &path, "--format", "json", "--strategy", "newreno"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["overall"]["identical"], 1);
    assert_eq!(document["vectors"][0]["first_difference"], Value::Null);
    let difference = json!({
        "input": 1, "at_s": 0.041, "kernel": [], "strategy": [[2000, 1000, 1]],
    });
    assert_eq!(document["vectors"][1]["first_difference"], difference);
    assert_eq!(document["vectors"][1]["strategy"], "newreno");
}

#[test]
fn without_a_strategy_it_is_the_one_that_the_kernel_had() {
    let path = file("own.jsonl", &vector(1, "[[2000,1000,1]]"));
    let Run { out, .. } = ackclock(&["replay", &path, "--format", "json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let strategy = document["vectors"][0]["strategy"].as_str().unwrap();
    assert!(strategy.contains("reno"), "{strategy}");
}

#[test]
fn what_is_wrong_is_said_with_the_documented_codes() {
    let path = file("wrong.jsonl", &(vector(1, "[]") + "{\"at\":1}\n"));
    let said = |args: &[&str]| {
        let Run { code, out, err } = ackclock(args);
        assert_eq!(out, "");
        (code, err)
    };
    let (code, err) = said(&["replay", &path]);
    assert_eq!(code, 2);
    assert_eq!(err, format!("error: {path}:5: `at` goes back from 62000 to 1\n"));
    let right = file("right.jsonl", &vector(1, "[]"));
    let (code, err) = said(&["replay", &right, "--seed", "9"]);
    assert_eq!(
        (code, err.as_str()),
        (2, "error: there is no vector of the seed 9 in what was given\n")
    );
    let (code, err) = said(&["replay", &right, "--strategy", "linx"]);
    assert_eq!(code, 2);
    assert!(err.contains("did you mean `linux`?"), "{err}");
    assert_eq!(said(&["replay", "/nowhere.jsonl"]).0, 3);
}
