//! Whose time it is where round trips become longer, where something is overtaken, and where the
//! other end asks. The shortest round trip is 50 ms, and the bottleneck takes 5 ms for a segment of
//! 1,000 bytes, so that the path holds ten.

use std::collections::VecDeque;

use ackclock_tcp::Span;

use super::{Line, Owed, Sight, ms};
use crate::lifetime::{Lifetime, Limit};

/// A sender that sends a segment on each ACK, and one more on each of these.
struct Clock {
    line: Line,
    /// Outstanding segments, and when each is acknowledged.
    flying: VecDeque<(u64, f64)>,
    next: u64,
    /// When the bottleneck was last done with a segment.
    last: f64,
}

impl Clock {
    /// Twelve segments keep the bottleneck busy.
    fn new() -> Clock {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        let mut clock = Clock { line, flying: VecDeque::new(), next: 0, last: 0.0 };
        (0..12).for_each(|_| clock.send(50.0, 50.0, 5.0));
        clock
    }

    fn send(&mut self, at: f64, trip: f64, takes: f64) {
        self.line.send(at, [self.next]);
        self.last = (self.last + takes).max(at + trip);
        self.flying.push_back((self.next, self.last));
        self.next += 1;
    }

    /// So many ACKs come. A segment takes `trip` with nothing before it, and the bottleneck `takes`
    /// as long for each. Each `grows`th ACK lets two go; 0: none does.
    fn run(&mut self, acks: u64, trip: f64, takes: f64, grows: u64) {
        for n in 1..=acks {
            let Some((acked, at)) = self.flying.pop_front() else { return };
            self.line.ack(at, acked + 1);
            for _ in 0..1 + u64::from(grows > 0 && n % grows == 0) {
                self.send(at + 0.01, trip, takes);
            }
        }
    }

    /// The first outstanding segment is lost, and the others are acknowledged with it. Twelve more
    /// follow.
    fn lose(&mut self) {
        let all: Vec<(u64, f64)> = self.flying.drain(..).collect();
        let lost = all[0].0;
        for (i, (n, at)) in all.iter().enumerate().skip(1) {
            self.line.ack_with(*at, lost, &[(lost + 1, n + 1)], false, None);
            if i == 3 {
                self.line.send(at + 0.01, [lost]);
            }
        }
        let at = self.last + 50.0;
        self.line.ack(at, self.next);
        (0..12).for_each(|_| self.send(at + 0.01, 50.0, 5.0));
    }

    fn lifetime(self) -> Lifetime {
        self.line.found().lifetime
    }
}

/// What the path, its bottleneck and cwnd took, in milliseconds.
fn shares(lifetime: &Lifetime) -> [u64; 3] {
    let [path, window] = [Limit::Path, Limit::CongestionWindow].map(|limit| lifetime.of(limit));
    [path, lifetime.full(), window].map(|span| span.0 / 1_000_000)
}

/// The round trip becomes 200 ms, and stays that with 12 to 20 segments outstanding: the path holds
/// forty now, and cwnd limits, though the bottleneck was busy with as many before.
#[test]
fn a_longer_route() {
    let mut clock = Clock::new();
    clock.run(60, 50.0, 5.0, 0);
    clock.run(120, 200.0, 5.0, 12);
    assert_eq!(shares(&clock.lifetime()), [445, 445, 1370]);
}

/// The same, and a segment was lost before: what the path held then is not judged by the longer
/// route.
#[test]
fn a_longer_route_after_a_loss() {
    let mut clock = Clock::new();
    clock.run(60, 50.0, 5.0, 0);
    clock.lose();
    clock.run(120, 200.0, 5.0, 6);
    assert_eq!(shares(&clock.lifetime()), [345, 345, 1325]);
}

/// Others take half of the bottleneck, so that its queue holds what this sender's window of nine
/// segments lets out: it is busy all the time, and the route is no other.
#[test]
fn a_queue_of_others() {
    let mut clock = Clock::new();
    clock.run(60, 50.0, 5.0, 0);
    // Three of the twelve are not sent again.
    clock.flying.drain(9..).for_each(drop);
    clock.run(80, 50.0, 10.0, 0);
    assert_eq!(shares(&clock.lifetime()), [1075, 1075, 40]);
}

/// Six requests of four segments each, answered by the server two at a time: data goes out only
/// after the other end's next request, though two ACKs before each have made room. From the third
/// request on that is no window of TCP.
#[test]
fn a_window_of_the_application() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..8);
    for round in 0..6 {
        let (at, acked) = (100.0 + 25.0 * round as f64, 4 * round);
        (1..4).for_each(|n| line.ack(at + n as f64, acked + n));
        line.model.peer_data(ms(at + 5.0), Owed::Some);
        let request = line.plain(at + 5.0, 1000 * (acked + 4));
        line.heard(crate::sender::Acked { with_data: true, ..request });
        line.send(at + 5.1, acked + 8..acked + 12);
    }
    assert_eq!(shares(&line.found().lifetime), [100, 0, 80]);
}

/// Behind the capture a segment is overtaken by four, and arrives 10 ms later: nothing is repaired.
/// If it is seen again, all of that time was recovery.
#[test]
fn overtaken_behind_the_capture() {
    for (again, recovery) in [(false, 0), (true, 12)] {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sight = Sight::Arrived;
        line.ack(50.0, 0);
        line.send(50.0, 0..6);
        (1..5).for_each(|n| line.ack_sack(100.0 + n as f64, 0, &[(1, 1 + n)]));
        if again {
            line.send(110.0, [0]);
        }
        line.ack(114.0, 5);
        line.ack(115.0, 6);
        let lifetime = line.found().lifetime;
        assert_eq!(lifetime.of(Limit::Recovery), Span::from_millis(recovery), "{again}");
    }
}

/// A segment is lost, and the sender goes on at the bottleneck's rate while it repairs that: all of
/// the recovery was the bottleneck's. Where nothing follows for 300 ms, it had nine segments. A
/// bottleneck that takes five times as long by then is as busy, though less arrives.
#[test]
fn a_rate_that_is_kept_through_a_loss() {
    let cases = [(true, 5.0, [55, 55]), (false, 5.0, [300, 45]), (true, 25.0, [274, 255])];
    for (goes_on, takes, expected) in cases {
        let mut clock = Clock::new();
        clock.run(60, 50.0, 5.0, 0);
        if takes > 5.0 {
            clock.run(14, 50.0, takes, 0);
        }
        let Some((lost, _)) = clock.flying.pop_front() else { unreachable!() };
        let mut again = 0.0;
        while let Some((n, at)) = clock.flying.pop_front().filter(|_| clock.next < 100) {
            if again > 0.0 && at > again + 10.0 * takes {
                clock.line.ack(at, n + 1);
                break;
            }
            clock.line.ack_sack(at, lost, &[(lost + 1, n + 1)]);
            if n == lost + 3 {
                again = at + 0.01;
                clock.line.send(again, [lost]);
            } else if goes_on {
                clock.send(at + 0.01, 50.0, takes);
            } else if clock.flying.is_empty() {
                clock.line.ack(again + 300.0, n + 1);
            }
        }
        let lifetime = clock.lifetime();
        let found = [lifetime.of(Limit::Recovery), lifetime.kept()];
        assert_eq!(found.map(|span| span.0 / 1_000_000), expected, "{goes_on} {takes}");
    }
}
