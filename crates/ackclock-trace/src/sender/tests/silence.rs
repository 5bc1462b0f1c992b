//! Silence with something outstanding, away from the sender.

use ackclock_tcp::Span;

use super::{Line, Sight};
use crate::lifetime::Limit;

/// A window of four segments is answered so many ms after it was sent, and the next one after the
/// usual 50 ms. How much of that is recovery's, in ms?
fn recovery(sight: Sight, answered: f64, window: u64) -> f64 {
    let mut line = Line::timestamped(50.0);
    line.model.stream.terms.sight = sight;
    line.send(50.0, 0..4);
    line.ack(100.0, 2);
    line.window = window;
    line.ack(100.0, 4);
    line.send(101.0, 4..8);
    line.ack(101.0 + answered, 8);
    line.send(101.0 + answered, 8..12);
    line.ack(151.0 + answered, 12);
    let Span(ns) = line.found().lifetime.of(Limit::Recovery);
    (ns as f64 / 1e6).round()
}

/// A link holds back everything for 3 s. The sender's timer has expired meanwhile, and what it sent
/// was lost: the path was not what limited it. A timer of a second may outlast 800 ms. At the
/// sender, one that has expired is seen.
#[test]
fn no_timer_outlasts_it() {
    let some = 1 << 20;
    assert_eq!(recovery(Sight::Received, 3000.0, some), 3000.0);
    assert_eq!(recovery(Sight::Arrived, 3000.0, some), 3000.0);
    assert_eq!(recovery(Sight::Received, 800.0, some), 0.0);
    assert_eq!(recovery(Sight::Sent, 3000.0, some), 0.0);
    // What probes a closed window waits for longer.
    assert_eq!(recovery(Sight::Received, 3000.0, 0), 0.0);
}
