//! The sequences of Gurtov & Floyd's figures 1 to 4, in the network and with the losses of ns-2's
//! test-all-newreno, and what the verdicts on them are.

use ackclock_papers::Outcome;

use crate::common::{experiment, verdicts};

/// What is sent on the ACK of `segment` with so many duplicates, cwnd and ssthresh after it;
/// segments with the number of the transmission where it is not the first.
fn step(outcome: &Outcome, strategy: &str, segment: f64, dupacks: u32) -> String {
    let json = serde_json::to_value(outcome).unwrap();
    let sequences = json["cells"][0]["sequences"].as_array().unwrap();
    let steps =
        sequences.iter().find(|s| s["strategy"] == strategy).unwrap()["steps"].as_array().unwrap();
    let step = steps
        .iter()
        .find(|s| s["event"] == "ack" && s["segment"] == segment && s["dupacks"] == dupacks)
        .unwrap();
    let sent = step["sent"].as_array().unwrap().iter().map(|s| match s[2].as_u64() {
        Some(1) => format!(" {}", s[0]),
        _ => format!(" {}x{}", s[0], s[2]),
    });
    let sent = sent.collect::<String>().replace(".0", "");
    format!("{}/{}:{sent}", step["cwnd"].as_f64().unwrap(), step["ssthresh"].as_f64().unwrap())
}

/// After the timeout 15 to 20 are acknowledged one by one, from cwnd 1 to 7; 21 to 27 are
/// outstanding when 21 is found lost.
#[test]
fn a_lost_retransmission() {
    let outcome = experiment("gurtov-floyd/figures-1-3-right");
    assert_eq!(step(&outcome, "bugfix", 21.0, 0), "7/8: 26x2 27x2");
    assert_eq!(step(&outcome, "bugfix", 21.0, 3), "7/8:");
    for strategy in ["no-bugfix", "ack-heuristic", "ts-heuristic"] {
        // Half of seven segments, and three for the duplicates.
        assert_eq!(step(&outcome, strategy, 21.0, 3), "6.5/3.5: 21x3");
    }
    assert_eq!(verdicts(&outcome), ["holds"; 8]);
}

/// The ACK of 31 jumps to 35; 35 to 40 go out, and 32, 33 and 34 make three duplicates. Six are
/// outstanding.
#[test]
fn spurious_retransmissions() {
    let outcome = experiment("gurtov-floyd/figures-1-3-left");
    for strategy in ["bugfix", "ack-heuristic", "ts-heuristic"] {
        assert_eq!(step(&outcome, strategy, 35.0, 0), "6/6.25: 36x2 37x2 38x2 39x2 40x2");
        assert_eq!(step(&outcome, strategy, 35.0, 3), "6/6.25:");
    }
    assert_eq!(step(&outcome, "no-bugfix", 35.0, 3), "6/3: 35x3");
    let mut expected = ["holds"; 10];
    // 47 to 51 are sent at one moment, so that the timestamps of 47 and 51 are the same.
    expected[9] = "does not hold";
    assert_eq!(verdicts(&outcome), expected);
}

/// With the ACKs of 23 to 26 lost, the ACK that 28 draws jumps from 23 to 27.
#[test]
fn lost_acks() {
    let outcome = experiment("gurtov-floyd/figure-4");
    assert_eq!(step(&outcome, "ack-heuristic", 27.0, 3), "8.125/8:");
    for strategy in ["no-bugfix", "ts-heuristic"] {
        // Eight segments, 27 to 34, are outstanding.
        assert_eq!(step(&outcome, strategy, 27.0, 3), "7/4: 27x3");
    }
    assert_eq!(verdicts(&outcome), ["holds"; 4]);
}
