//! Small vectors, written by hand.

mod counted;
mod files;
mod timers;

use ackclock_tcp::Registry;

use crate::{Comparison, Vector, read};

/// A header: 100 ms of a round trip, segments of 1,000 bytes, two in the first flight, Reno.
const HEADER: &str = r#"{"format":"ackclock-vector/1","kernel":"6.18.44","hz":250,"congestion":"reno","settings":{},"mss":1000,"initial_window":2,"sack":true,"timestamps":false,"window_scale":7,"window":64000,"syn_at":0,"round_trip":100000,"family":"hand","seed":1}"#;

fn vector(steps: &[&str]) -> Vector {
    let text = format!("{HEADER}\n{}\n", steps.join("\n"));
    let mut vectors = read("hand.jsonl", &text).unwrap();
    assert_eq!(vectors.len(), 1);
    vectors.remove(0)
}

fn compare<'a>(vector: &'a Vector, strategy: &str) -> Comparison<'a> {
    Comparison::new(vector, &Registry::default().parse(strategy).unwrap())
}
