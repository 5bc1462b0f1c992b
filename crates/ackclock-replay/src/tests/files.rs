//! What is read, what is refused and where, and that nothing panics.

use std::collections::BTreeMap;

use ackclock_tcp::Registry;
use proptest::prelude::*;

use super::{HEADER, vector};
use crate::{Ack, CaState, Comparison, Info, Sent, Step, Vector, What, read, write};

fn refused(line: &str) -> String {
    let text = format!("{HEADER}\n{{\"at\":5,\"write\":4000}}\n{line}\n");
    read("v.jsonl", &text).unwrap_err().to_string()
}

#[test]
fn a_line_means_what_the_guide_says() {
    let lines = [
        r#"{"at":100500,"write":4000,"sent":[[0,1000,1],[1000,1000,1]],"info":{"cwnd":2}}"#,
        r#"{"at":200500,"ack":1000,"window":128000,"sack":[[2000,3000]],"echo":99,"info":{"state":"disorder"}}"#,
        r#"{"at":450000,"timer":true,"sent":[[1000,1000,2]],"info":{"state":"loss","cwnd":1}}"#,
    ];
    let header = HEADER.replace("\"timestamps\":false", "\"timestamps\":true");
    let v = read("v", &[&[header.as_str()], &lines[..]].concat().join("\n")).unwrap().remove(0);
    let info = Info { cwnd: 2, ..Info::default() };
    let ack =
        Ack { to: 1000, window: 128_000, sack: vec![(2000, 3000)], echo: Some(99), ece: false };
    let new = |position| Sent { position, len: 1000, transmission: 1, push: false, cwr: false };
    let expected = [
        Step { at: 100_500, what: What::Write(4000), sent: vec![new(0), new(1000)], info },
        Step {
            at: 200_500,
            what: What::Ack(ack),
            sent: vec![],
            info: Info { state: CaState::Disorder, ..info },
        },
        Step {
            at: 450_000,
            what: What::Timer,
            sent: vec![Sent { transmission: 2, ..new(1000) }],
            info: Info { state: CaState::Loss, cwnd: 1, ..info },
        },
    ];
    assert_eq!(v.steps, expected);
    assert_eq!(v.header.mss, 1000);
    assert_eq!(v.header.setting("tcp_frto", 2), 2);
}

#[test]
fn which_segments_had_psh() {
    let mut v = vector(&[]);
    v.header.offload = true;
    let text =
        write(&[v]) + r#"{"at":1,"write":2000,"sent":[[0,1000,1],[1000,1000,1]],"push":[1]}"#;
    let read_again = read("v", &text).unwrap();
    let pushed: Vec<bool> = read_again[0].steps[0].sent.iter().map(|s| s.push).collect();
    assert_eq!(pushed, [false, true]);
    assert_eq!(write(&read_again), text.clone() + "\n");
    let error = |text: &str| read("v", text).unwrap_err().what;
    assert_eq!(error(&text.replace("[1]}", "[2]}")), "`push` has 2, but `sent` no such segment");
    let without = text.replace(r#","offload":true"#, "");
    assert_eq!(error(&without), "`push` needs `offload` in the header");
}

/// Only where ECN was negotiated; and what the strategy sends is compared by it.
#[test]
fn which_acks_had_ece_and_which_segments_cwr() {
    let mut v = vector(&[]);
    v.header.ecn = true;
    let text = write(&[v])
        + "{\"at\":1,\"write\":6000,\"sent\":[[0,1000,1],[1000,1000,1]]}\n\
           {\"at\":100000,\"ack\":1000,\"ece\":true,\"sent\":[[2000,1000,1]],\"cwr\":[0]}\n";
    let read_again = read("v", &text).unwrap();
    let steps = &read_again[0].steps;
    assert!(matches!(&steps[1].what, What::Ack(ack) if ack.ece) && steps[1].sent[0].cwr);
    assert_eq!(write(&read_again), text);
    let linux = Registry::default().parse("linux+linux-reno").unwrap();
    assert_eq!(Comparison::new(&read_again[0], &linux).first_difference(), None);
    let other = read("v", &text.replace(",\"cwr\":[0]", "")).unwrap();
    assert_eq!(Comparison::new(&other[0], &linux).first_difference(), Some(1));
    let error = |text: &str| read("v", text).unwrap_err().what;
    assert_eq!(error(&text.replace("[0]}", "[1]}")), "`cwr` has 1, but `sent` no such segment");
    let without = text.replace(r#","ecn":true"#, "");
    assert_eq!(error(&without), "`ece` and `cwr` need `ecn` in the header");
}

/// A FIN takes the position after the data; segments are cut to what the path has room for.
#[test]
fn the_application_closes_and_the_path_narrows() {
    let mut v = vector(&[]);
    v.header.nagle = true;
    let text = write(&[v])
        + "{\"at\":1,\"write\":2500,\"sent\":[[0,1000,1],[1000,1000,1]]}\n\
           {\"at\":2,\"close\":true}\n\
           {\"at\":90000,\"mss\":600,\"sent\":[[0,600,2],[600,400,1]]}\n\
           {\"at\":100000,\"ack\":2000,\"sent\":[[2000,501,1]]}\n";
    let read_again = read("v", &text).unwrap();
    let steps = &read_again[0].steps;
    assert_eq!((&steps[1].what, &steps[2].what), (&What::Close, &What::Mss(600)));
    assert_eq!(write(&read_again), text);
    let linux = Registry::default().parse("linux+linux-reno").unwrap();
    let shown = Comparison::new(&read_again[0], &linux).side_by_side(1, 3);
    assert!(shown.contains("close") && shown.contains("mss 600"), "{shown}");
    assert_eq!(Comparison::new(&read_again[0], &linux).first_difference(), None, "{shown}");
    let error = read("v", &(text + r#"{"at":100001,"write":1}"#)).unwrap_err();
    assert_eq!(error.what, "nothing is written after `close`");
}

/// SACK blocks and timestamps are only in ACKs of a connection that has agreed on them.
#[test]
fn acks_have_the_options_of_the_header() {
    let text = format!("{HEADER}\n{{\"at\":5,\"write\":4000}}\n");
    let error = |option: &str, ack: &str| {
        let header = text.replace(&format!("\"{option}\":true"), &format!("\"{option}\":false"));
        read("v", &format!("{header}{ack}\n")).err().map(|error| error.what)
    };
    let sack = r#"{"at":6,"ack":0,"sack":[[1000,2000]]}"#;
    assert_eq!(error("sack", sack).as_deref(), Some("`sack` needs `sack` in the header"));
    assert_eq!(error("none", sack), None);
    let echo = r#"{"at":6,"ack":1000,"echo":9}"#;
    let needs = "`echo` needs `timestamps` in the header";
    assert_eq!(error("timestamps", echo).as_deref(), Some(needs));
}

#[test]
fn what_was_written_is_read_again() {
    let first = vector(&[
        r#"{"at":1,"write":2500}"#,
        r#"{"at":2,"ack":1000,"window":1280}"#,
        r#"{"at":3,"ack":2500}"#,
    ]);
    let mut second = vector(&[r#"{"at":7,"write":10,"info":{"rto":204000}}"#]);
    second.header.settings = BTreeMap::from([("tcp_frto".into(), 0)]);
    second.header.scenario = serde_json::json!({"drop": [[3, 1]]});
    let text = write(&[first.clone(), second.clone()]);
    assert_eq!(text.lines().nth(3), Some(r#"{"at":3,"ack":2500}"#));
    assert_eq!(read("v", &text).unwrap(), [first, second]);
}

#[test]
fn errors_name_the_file_the_line_and_what_is_wrong() {
    let steps = "a step is a `write`, an `ack`, `\"close\": true`, an `mss` or `\"timer\": true`";
    let of_ack = "`window`, `sack`, `echo` and `ece` belong to an `ack`";
    for (line, what) in [
        ("{", "column 1: EOF while parsing an object"),
        ("[]", "a line is a JSON object"),
        (r#"{"at":4,"ack":0}"#, "`at` goes back from 5 to 4"),
        (r#"{"at":1000000000001,"ack":0}"#, "`at` is 1000000000001, more than 1000000000000"),
        (r#"{"at":5}"#, steps),
        (r#"{"at":5,"write":1,"ack":1}"#, steps),
        (r#"{"at":5,"close":true,"ack":1}"#, steps),
        (r#"{"at":5,"timer":false}"#, steps),
        (r#"{"at":5,"mss":0}"#, "mss is 0, not 1 to 65535"),
        (r#"{"at":5,"mss":500,"window":1280}"#, of_ack),
        (r#"{"at":5,"write":1,"echo":1}"#, of_ack),
        (r#"{"at":5,"write":1048576000}"#, "more than 1048576 segments are written"),
        (r#"{"at":5,"ack":4001}"#, "`ack` is 4001, but 4000 bytes were written"),
        (r#"{"at":5,"ack":0,"window":100}"#, "`window` is 100, which no ACK says at scale 7"),
        (
            r#"{"at":5,"ack":0,"sack":[[2,2]]}"#,
            "`sack` has 2 to 2, which is no data that was written",
        ),
        (
            r#"{"at":5,"ack":0,"sack":[[0,1],[1,2],[2,3],[3,4],[4,5]]}"#,
            "an ACK has room for 4 SACK blocks",
        ),
        (
            r#"{"at":5,"timer":true,"sent":[[3500,1000,1]]}"#,
            "1000 bytes from 3500 were never written",
        ),
        (
            r#"{"at":5,"ack":0,"color":1}"#,
            "column 23: unknown field `color`, expected one of `at`, `write`, `close`, `mss`, \
             `ack`, `timer`, `window`, `sack`, `echo`, `ece`, `sent`, `push`, `cwr`, `info`",
        ),
    ] {
        assert_eq!(refused(line), format!("v.jsonl:3: {what}"), "{line}");
    }
    // Cut into more segments than may be written.
    let cut = "{\"at\":5,\"write\":1044577}\n{\"at\":5,\"mss\":1}";
    assert_eq!(refused(cut), "v.jsonl:4: more than 1048576 segments are written");
}

#[test]
fn headers_are_checked() {
    let with = |from: &str, to: &str| read("v", &HEADER.replace(from, to)).unwrap_err().to_string();
    assert_eq!(
        with("vector/1", "vector/2"),
        "v:1: the format is \"ackclock-vector/2\"; this reads \"ackclock-vector/1\""
    );
    assert_eq!(with("\"mss\":1000", "\"mss\":0"), "v:1: mss is 0, not 1 to 65535");
    assert_eq!(
        with("\"hz\":250", "\"hz\":1000"),
        "v:1: hz is 1000; the mechanisms of Linux have ticks of 250 Hz"
    );
    assert_eq!(
        with("\"reno\"", "\"bbr\""),
        "v:1: the congestion control is `bbr`, neither `cubic` nor `reno`"
    );
    assert_eq!(
        with("\"window_scale\":7", "\"window_scale\":15"),
        "v:1: window_scale is 15, not 0 to 14"
    );
    let settings = |text: &str| with("\"settings\":{}", &format!("\"settings\":{{{text}}}"));
    assert_eq!(settings("\"tcp_frot\":0"), "v:1: the setting `tcp_frot` is not modelled");
    assert_eq!(
        settings("\"tcp_reordering\":10"),
        "v:1: the setting `tcp_reordering` is modelled as 3 alone, not 10"
    );
    assert_eq!(settings("\"tcp_frto\":3"), "v:1: the setting `tcp_frto` is 3, not 0 to 2");
    assert_eq!(with(",\"seed\":1", ""), "v:1: column 232: missing field `seed`");
    assert_eq!(
        read("v", "\n{\"at\":1,\"timer\":true}").unwrap_err().to_string(),
        "v:2: a vector begins with a header, which has a `format`"
    );
    assert_eq!(
        read("v", &format!("{HEADER}\n{{\"at\":1,\"timer\":true}}")).unwrap_err().to_string(),
        "v:2: a timer needs an input before it"
    );
}

fn step() -> impl Strategy<Value = String> {
    let number = || prop_oneof![0..6000_u64, Just(u64::MAX), Just(1 << 40)];
    let sack = proptest::collection::vec((0..6000_u64, 0..6000_u64), 0..5);
    prop_oneof![
        number().prop_map(|n| format!(r#""write":{n}"#)),
        (number(), sack, 0..40_u64, any::<u32>()).prop_map(|(n, sack, window, echo)| {
            format!(r#""ack":{n},"sack":{sack:?},"window":{},"echo":{echo}"#, window << 7)
                .replace('(', "[")
                .replace(')', "]")
        }),
        Just(r#""timer":true,"sent":[[0,1,2]]"#.to_string()),
    ]
}

proptest! {
    #[test]
    fn nothing_panics_on_any_text(text in "\\PC*") {
        let _ = read("v", &text);
        let _ = read("v", &format!("{HEADER}\n{text}"));
    }

    /// Lines that are wrong are left out, so that what follows is still reached.
    #[test]
    fn nothing_panics_on_any_vector(
        steps in proptest::collection::vec((0..3_000_000_u64, step()), 0..40),
        strategy in prop_oneof![Just("linux"), Just("newreno"), Just("sack"), Just("last-mile")],
    ) {
        let mut text = format!("{HEADER}\n");
        let mut at = 0;
        for (after, step) in steps {
            let line = format!("{{\"at\":{},{step}}}\n", at + after);
            if read("v", &format!("{text}{line}")).is_ok() {
                text += &line;
                at += after;
            }
        }
        let vectors: Vec<Vector> = read("v", &text).unwrap();
        let composition = Registry::default().parse(strategy).unwrap();
        for vector in &vectors {
            let comparison = Comparison::new(vector, &composition);
            comparison.side_by_side(0, usize::MAX);
            let score = comparison.score();
            prop_assert_eq!(score.inputs, comparison.inputs.len() as u64);
        }
        prop_assert_eq!(read("v", &write(&vectors)).unwrap(), vectors);
    }
}
