//! Pacing as Linux has it: exact departure times.

use super::*;
use crate::recovery::window::{RenoWindow, Window};
use crate::summary::AckSummary;

/// A sender on a path of 100 ms, and the segments it sends with their departure in microseconds.
struct Paced(Sender);

fn twenty() -> SenderConfig {
    SenderConfig { handshake_rtt: Some(Span::from_millis(100)), wscale: 7, ..window(20) }
}

impl Paced {
    fn new(composition: &str, config: SenderConfig) -> Paced {
        let strategy = Registry::default().parse(composition).unwrap().build();
        Paced(Sender::new(SenderConfig { initial_rwnd: 1 << 20, ..config }, strategy))
    }

    fn drain(&mut self, now: Time) -> Vec<u64> {
        core::iter::from_fn(|| self.0.poll_transmit(now)).map(|t| t.position / MSS).collect()
    }

    fn write(&mut self, us: u64, segments: u64) -> Vec<u64> {
        let now = Time(us * 1000);
        self.0.write(now, segments * MSS);
        self.drain(now)
    }

    fn ack(&mut self, us: u64, n: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        let at = |n: u64| Seq((n * MSS) as u32);
        let mut sack = SackBlocks::NONE;
        for &(left, right) in blocks {
            sack.push(SackBlock { left: at(left), right: at(right) });
        }
        let now = Time(us * 1000);
        self.0.on_segment(now, &Segment { ack: at(n), wnd: 8192, sack, ..Segment::default() });
        self.drain(now)
    }

    /// The next deadline, in nanoseconds.
    fn due(&self) -> u64 {
        self.0.next_deadline().0
    }

    fn fire_at(&mut self, ns: u64) -> Vec<u64> {
        self.0.on_deadline(Time(ns));
        self.drain(Time(ns))
    }

    /// The deadline comes in time: when that is in microseconds, and what is sent.
    fn fire(&mut self) -> (u64, Vec<u64>) {
        let at = self.due();
        (at / 1000, self.fire_at(at))
    }
}

fn from_to(from: u64, to: u64) -> Vec<u64> {
    (from..to).collect()
}

/// In slow start 200 % of 20 segments leave in 100 ms: one in 2.5 ms, and two together. Nine of the
/// first ten put nothing off.
#[test]
fn slow_start() {
    let mut x = Paced::new("newreno+linux-pacing", twenty());
    assert_eq!(x.write(0, 30), from_to(0, 10));
    assert_eq!(x.fire(), (2_500, vec![10, 11]));
    assert_eq!(x.fire(), (7_500, vec![12, 13]));
    assert_eq!(x.fire(), (12_500, vec![14, 15]));
    assert_eq!(x.fire(), (17_500, vec![16, 17]));
    assert_eq!(x.fire(), (22_500, vec![18, 19]));
    // cwnd is full: only the retransmission timer runs.
    assert_eq!(x.due(), 1_000_000_000);
    // The next departure was due at 27.5 ms. What has passed since counts for half of what leaves
    // now. 21 segments in 50 ms: one in 2380.952 us, so that two put off as much as one.
    assert_eq!(x.ack(100_000, 2, &[]), [20, 21]);
    assert_eq!(x.due(), 102_380_952);
    assert_eq!(x.fire(), (102_380, vec![22]));
}

/// A bundle leaves together though the clock moves while it is sent, and is over with the input.
#[test]
fn a_clock_that_moves() {
    let mut x = Paced::new("newreno+linux-pacing", twenty());
    assert_eq!(x.write(0, 13), from_to(0, 10));
    x.0.on_deadline(Time(2_500_000));
    let sent = [2_500_000, 2_510_000, 2_520_000]
        .map(|ns| x.0.poll_transmit(Time(ns)).map(|t| t.position / MSS));
    assert_eq!(sent, [Some(10), Some(11), None]);
    // There is no more than one to go with the next.
    assert_eq!(x.fire(), (7_500, vec![12]));
    assert_eq!(x.write(7_600, 5), []);
    assert_eq!(x.fire(), (10_000, vec![13, 14]));
}

/// From half of ssthresh on, 120 %: one segment in 4166.666 us.
#[test]
fn congestion_avoidance() {
    for (ssthresh, due) in [(30_000, 4_166_666), (42_000, 2_500_000)] {
        let config = SenderConfig { initial_ssthresh: Some(ssthresh), ..twenty() };
        let mut x = Paced::new("newreno+linux-pacing", config);
        assert_eq!(x.write(0, 30), from_to(0, 10));
        assert_eq!(x.due(), due);
    }
}

/// A deadline that comes late costs nothing up to half of what leaves then.
#[test]
fn a_late_timer() {
    for (late, next) in [(0, 7_500_000), (1_000_000, 7_500_000), (5_000_000, 10_000_000)] {
        let mut x = Paced::new("newreno+linux-pacing", twenty());
        assert_eq!(x.write(0, 30), from_to(0, 10));
        assert_eq!(x.fire_at(2_500_000 + late), [10, 11]);
        assert_eq!(x.due(), next);
    }
}

/// Nothing leaves on a call without reason, and an ACK does not hurry what waits.
#[test]
fn nothing_hurries_it() {
    let mut x = Paced::new("newreno+linux-pacing", twenty());
    assert_eq!(x.write(0, 30), from_to(0, 10));
    assert_eq!(x.fire_at(2_499_999), []);
    assert_eq!(x.write(2_499, 10), []);
    assert_eq!(x.ack(2_499, 1, &[]), []);
    assert_eq!(x.fire(), (2_500, vec![10, 11]));
}

/// Bundles hold a millisecond of the rate, more than two segments only above 50 Mbit/s, and half of
/// cwnd at most.
#[test]
fn bundles() {
    // 200 % of 200 segments in 20 ms: 20,000,000 bytes a second, 19,531 in 1/1024 s.
    let fast = |rtt, initial_window| SenderConfig {
        handshake_rtt: Some(Span::from_millis(rtt)),
        initial_window: Some(initial_window),
        ..twenty()
    };
    let mut x = Paced::new("newreno+linux-pacing", fast(20, 200));
    // The first bundle has nineteen, of which ten put the next one off by 50 us each.
    assert_eq!(x.write(0, 200), from_to(0, 19));
    assert_eq!(x.fire(), (500, from_to(19, 38)));
    assert_eq!(x.fire(), (500 + 950, from_to(38, 57)));
    // 62 segments: 6,200,000 bytes a second. 63: 6,300,000, of which 6152 are six segments.
    let mut x = Paced::new("newreno+linux-pacing", fast(20, 62));
    assert_eq!(x.write(0, 62), from_to(0, 10));
    let mut x = Paced::new("newreno+linux-pacing", fast(20, 63));
    assert_eq!(x.write(0, 62), from_to(0, 12));
    // Half of three is one.
    let mut x = Paced::new("newreno+linux-pacing", fast(20, 3));
    assert_eq!(x.write(0, 3), from_to(0, 3));
    for n in 1..=7 {
        x.write(n * 1000, 1);
        x.ack(n * 1000, n, &[]);
    }
    x.ack(20_000, 10, &[]);
    x.0.s.cwnd = 3000;
    assert_eq!(x.write(30_000, 3), [10]);
}

/// The first retransmission of a recovery waits as new data does; one by the timer does not.
#[test]
fn retransmissions() {
    let mut x = Paced::new("sack+linux-pacing", twenty());
    assert_eq!(x.write(0, 20), from_to(0, 10));
    assert_eq!(x.ack(1_000, 0, &[(1, 4)]), []);
    assert_eq!(x.0.state().phase, Phase::Recovery);
    assert_eq!(x.fire(), (2_500, vec![0]));
    let mut x = Paced::new("newreno+linux-pacing", twenty());
    assert_eq!(x.write(0, 12), from_to(0, 10));
    assert_eq!(x.fire(), (2_500, vec![10, 11]));
    x.0.strategy.pacing.as_mut().unwrap().update(&x.0.s, Some(1));
    x.0.strategy.pacing.as_mut().unwrap().on_sent(&x.0.s, 1000);
    assert_eq!(x.fire(), (1_000_000, vec![0]));
}

/// A retransmission that waits lapses when its segment is acknowledged: 0 was late, and 4, the next
/// one, is not lost. Of the six outstanding two are acknowledged then, one below ssthresh = 5.
#[test]
fn a_retransmission_lapses() {
    let mut x = Paced::new("sack+linux-pacing", twenty());
    assert_eq!(x.write(0, 20), from_to(0, 10));
    assert_eq!(x.ack(1_000, 0, &[(1, 4)]), []);
    assert_eq!(x.due(), 2_500_000);
    assert_eq!(x.ack(1_500, 4, &[]), []);
    assert_eq!(x.ack(20_000, 6, &[]), [10]);
    assert_eq!(x.0.stats().retransmissions, 0);
}

/// What one input may release at most it does in bundles too.
#[test]
fn with_a_limit_for_each_input() {
    let config = SenderConfig { max_burst: Some(11), ..twenty() };
    let mut x = Paced::new("newreno+linux-pacing", config);
    assert_eq!(x.write(0, 30), from_to(0, 10));
    assert_eq!(x.fire(), (2_500, vec![10]));
    assert_eq!(x.due(), 1_000_000_000);
}

/// The window law's rate counts, below 1.2 Mbit/s with single segments.
#[test]
fn the_rate_of_the_window_law() {
    struct Fixed(u64, RenoWindow);
    impl Window for Fixed {
        fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
            self.1.on_ack(s, a)
        }
        fn on_loss(&mut self, s: &State, flight: u64) -> u64 {
            self.1.on_loss(s, flight)
        }
        fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64 {
            self.1.on_timeout(s, flight, repeated)
        }
        fn pacing_rate(&self, _s: &State) -> Option<u64> {
            Some(self.0)
        }
    }
    for (rate, first, second) in [
        (125_000, (8_000, vec![10]), (16_000, vec![11])),
        (250_000, (4_000, vec![10, 11]), (12_000, vec![12, 13])),
    ] {
        let mut strategy = Registry::default().parse("newreno+linux-pacing").unwrap().build();
        strategy.window = Box::new(Fixed(rate, RenoWindow));
        let config = SenderConfig { initial_rwnd: 1 << 20, ..twenty() };
        let mut x = Paced(Sender::new(config, strategy));
        assert_eq!(x.write(0, 30), from_to(0, 10));
        assert_eq!(x.fire(), first);
        assert_eq!(x.fire(), second);
    }
}

/// After a timeout what was sent keeps its length though the MSS has grown since: three segments of
/// 1000 bytes are held with less room than 3000 bytes, and have a deadline.
#[test]
fn old_segments_after_the_mss_has_grown() {
    let config = SenderConfig { sack: false, ..twenty() };
    let mut x = Paced::new("linux+go-back-n+linux-pacing", config);
    assert_eq!(x.write(0, 30), from_to(0, 10));
    while x.0.state().phase != Phase::Loss {
        x.fire();
    }
    let timeout = x.0.state().now;
    x.0.set_mss(timeout, 3000);
    let at = |n: u64| timeout.0 / 1000 + n * 100_000;
    assert_eq!(x.ack(at(1), 1, &[]), [1, 2, 3]);
    assert_eq!(x.ack(at(2), 2, &[]), [4, 5, 6]);
    assert_eq!(x.ack(at(3), 3, &[]), from_to(7, 13));
    assert_eq!(x.0.state().cwnd, 12_000);
    let (due, sent) = x.fire();
    assert!(at(3) < due && due < at(4), "{due}");
    assert_eq!(sent, [13, 14]);
}

/// RFC 9438 section 5.8: growth stops where the application or the receiver's window limits the
/// flow. Pacing does not: CUBIC's slow start grows by a segment for each ACK while it holds data
/// back.
#[test]
fn cubic_grows_while_pacing_holds_data_back() {
    for composition in ["newreno+cubic+linux-pacing", "newreno+cubic+hystart+linux-pacing"] {
        let mut x = Paced::new(composition, twenty());
        x.write(0, 100);
        while x.due() < 100_000_000 {
            x.fire();
        }
        for n in 1..=10 {
            x.ack(100_000, n, &[]);
            assert_eq!(x.0.state().cwnd, (20 + n) * MSS, "{composition}");
        }
        assert!(x.0.state().flight() < 25 * MSS);
        // Ten segments of twenty: the application limits it.
        let mut x = Paced::new(composition, twenty());
        x.write(0, 10);
        x.ack(100_000, 5, &[]);
        assert_eq!(x.0.state().cwnd, 20 * MSS);
    }
}

/// RFC 9406 section 4.3: an ACK of twenty segments counts as eight of them, and in full where the
/// sender paces.
#[test]
fn hystart_counts_in_full_where_the_sender_paces() {
    for (composition, cwnd) in
        [("newreno+hystart", 28_000), ("newreno+hystart+linux-pacing", 40_000)]
    {
        let mut x = Paced::new(composition, twenty());
        x.write(0, 100);
        while x.due() < 100_000_000 {
            x.fire();
        }
        x.ack(100_000, 20, &[]);
        assert_eq!(x.0.state().cwnd, cwnd, "{composition}");
    }
}
