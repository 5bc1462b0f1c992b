//! Samples of the delivery rate: worked examples, on a path of 10 ms with a cwnd of ten segments.

use std::sync::{Arc, Mutex};

use super::*;
use crate::recovery::window::Window;
use crate::recovery::window::by_rate::{ByRate, Controlled, LostSegment, RateSample};
use crate::summary::AckSummary;

/// Keeps the samples, and leaves cwnd alone.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<RateSample>>>, Arc<Mutex<Vec<LostSegment>>>);

impl ByRate for Notes {
    fn control(&mut self, s: &State, sample: &RateSample) -> Controlled {
        self.0.lock().unwrap().push(*sample);
        Controlled { cwnd: s.cwnd, ssthresh: s.ssthresh, app_limited: false }
    }
    fn on_lost(&mut self, _s: &State, lost: &LostSegment) {
        self.1.lock().unwrap().push(*lost);
    }
    fn on_expired(&mut self, _s: &State, sample: &RateSample) {
        self.0.lock().unwrap().push(*sample);
    }
    fn on_restart(&mut self, s: &State) -> u64 {
        s.cwnd
    }
}

impl Window for Notes {
    fn by_rate(&mut self) -> Option<&mut dyn ByRate> {
        Some(self)
    }
    fn after_detection(&self) -> bool {
        true
    }
    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }
    fn on_loss(&mut self, s: &State, _flight: u64) -> u64 {
        s.ssthresh
    }
    fn on_timeout(&mut self, s: &State, _flight: u64, _repeated: bool) -> u64 {
        s.ssthresh
    }
}

/// Segment, segments in flight and lost, limited, delivered.
fn lost_one(lost: &LostSegment) -> (u64, u32, u64, bool, u64) {
    assert_eq!(lost.end - lost.seq, 1000);
    (lost.seq / 1000, lost.tx_in_flight, lost.lost, lost.app_limited, lost.total_delivered)
}

/// The sender, and its samples.
fn notes(script: impl Fn(&mut Script, &Notes)) {
    let notes = Notes::default();
    let mut strategy = Registry::default().parse("bbr").unwrap().build();
    strategy.window = Box::new(notes.clone());
    strategy.pacing = None;
    let config = SenderConfig { handshake_rtt: Some(Span::from_millis(10)), ..window(10) };
    let mut x = Script {
        sender: Sender::new(config, strategy),
        now: Time::ZERO,
        window: 64_000,
        echo: None,
        isn: Seq(0),
        sent: String::new(),
    };
    script(&mut x, &notes);
}

impl Notes {
    /// The last sample: segments, milliseconds, delivered before, limited.
    fn last(&self) -> (Option<u64>, Option<u64>, u64, bool) {
        let sample = *self.0.lock().unwrap().last().expect("a sample");
        let ms = sample.interval.map(|interval| interval.0 / 1_000_000);
        (sample.delivered, ms, sample.prior_delivered, sample.app_limited)
    }

    /// Of the last sample: segments in flight and lost since.
    fn flight_and_lost(&self) -> (u32, u64) {
        let sample = *self.0.lock().unwrap().last().expect("a sample");
        (sample.tx_in_flight, sample.lost)
    }

    /// What was lost since this was last asked.
    fn lost(&self) -> Vec<(u64, u32, u64, bool, u64)> {
        self.1.lock().unwrap().drain(..).map(|lost| lost_one(&lost)).collect()
    }
}

/// A path that delivers a segment each millisecond. What went before the first write was enough
/// counts as limited by the application; the SYN was delivered before.
#[test]
fn one_in_a_millisecond() {
    notes(|x, notes| {
        x.write(50_000).sends(&numbers(0, 10));
        for n in 1..=10 {
            x.at(9 + n).ack(n).sends(&(9 + n).to_string());
            assert_eq!(notes.last(), (Some(n), Some(9 + n), 1, true));
        }
        // Segment n - 1 left n - 1 ms after the first burst, by which its sending is measured.
        for n in 11..=20 {
            x.at(9 + n).ack(n).sends(&(9 + n).to_string());
            assert_eq!(notes.last(), (Some(10), Some(n - 1), n - 9, false));
        }
        // From then on ten in 10 ms.
        for n in 21..=30 {
            x.at(9 + n).ack(n).sends(&(9 + n).to_string());
            assert_eq!(notes.last(), (Some(10), Some(10), n - 9, false));
        }
    });
}

/// ACKs that come together do not raise the rate: sending took longer.
#[test]
fn compressed_acks() {
    notes(|x, notes| {
        x.write(60_000).sends(&numbers(0, 10));
        for n in 1..=20 {
            x.at(9 + n).ack(n).sends(&(9 + n).to_string());
        }
        // Segments 20 to 28 left from 20 to 28 ms, and are acknowledged together: ten were
        // delivered since the ACK at 28.
        x.at(39).ack(29).sends(&numbers(30, 39));
        assert_eq!(notes.last(), (Some(10), Some(11), 20, false));
        // Segment 29, and all but one of those a millisecond later: sent 11 ms after segment 28.
        x.at(40).ack(38).sends(&numbers(39, 48));
        assert_eq!(notes.last(), (Some(9), Some(11), 30, false));
    });
}

/// A retransmission remembers the time of its own.
#[test]
fn a_retransmission() {
    notes(|x, notes| {
        x.write(10_000).sends(&numbers(0, 10));
        x.at(10).sack(0, &[(1, 4)]).sends("0F");
        assert_eq!(notes.last(), (Some(3), Some(10), 1, true));
        assert_eq!(notes.0.lock().unwrap()[0].losses, 1);
        x.at(15).sack(0, &[(1, 10)]).sends("");
        assert_eq!(notes.last(), (Some(9), Some(15), 1, true));
        // Segment 0 again: four were delivered when it left at 10 ms, and all ten are now.
        x.at(20).ack(10).sends("");
        assert_eq!(notes.last(), (Some(7), Some(10), 4, false));
        assert_eq!(notes.0.lock().unwrap()[2].total_lost, 1);
    });
}

/// What was in flight as a segment left, itself included, and what has been lost since.
#[test]
fn flight_and_losses() {
    notes(|x, notes| {
        x.write(30_000).sends(&numbers(0, 10));
        // Segments 0 and 2 are lost. The sample goes by segment 5, the sixth of the burst.
        x.at(10).sack(0, &[(1, 2), (3, 6)]).sends("0F 2P 10 11 12 13");
        assert_eq!(notes.flight_and_lost(), (6, 2));
        assert_eq!(notes.lost(), [(0, 1, 1, true, 5), (2, 3, 2, true, 5)]);
        // Four were in flight when they left again. Both are lost again, which segment 13 shows.
        x.at(20).sack(0, &[(1, 2), (3, 14)]).sends("0L 2L 14 15 16 17 18 19 20 21");
        assert_eq!(notes.lost(), [(0, 5, 1, false, 13), (2, 6, 2, false, 13)]);
        assert_eq!(notes.flight_and_lost(), (10, 2));
        x.at(30).ack(22).sends(&numbers(22, 30));
        assert_eq!(notes.flight_and_lost(), (10, 0));
    });
}

/// An idle time does not count, and what follows it is limited by the application.
#[test]
fn an_idle_time_does_not_count() {
    notes(|x, notes| {
        x.write(2_000).sends("0 1").at(10).ack(2).sends("");
        assert_eq!(notes.last(), (Some(2), Some(10), 1, true));
        x.at(1_000).write(2_000).sends("2 3").at(1_012).ack(4).sends("");
        assert_eq!(notes.last(), (Some(2), Some(12), 3, true));
    });
}

/// A timeout reports what it newly gives up.
#[test]
fn a_timeout() {
    notes(|x, notes| {
        x.write(10_000).sends(&numbers(0, 10));
        x.at(10).ack(2).sends("");
        let at = x.sender.next_deadline();
        // A probe first, and then the timer.
        x.now = at;
        x.sender.on_deadline(at);
        x.drain();
        x.sent.clear();
        let at = x.sender.next_deadline();
        x.now = at;
        x.sender.on_deadline(at);
        x.drain();
        x.sent.clear();
        let last = *notes.0.lock().unwrap().last().unwrap();
        assert_eq!((last.losses, last.total_delivered, last.total_lost), (1, 3, 8));
        // Segment 9 was the probe, with all eight in flight again.
        let lost = notes.lost();
        assert_eq!(lost.len(), 8);
        assert_eq!((lost[0], lost[7]), ((2, 3, 1, true, 3), (9, 8, 8, true, 3)));
    });
}

/// What is limited is over when more than all that was in flight then is delivered
/// (`tcp_rate_gen`: `after(tp->delivered, tp->app_limited)`): what leaves on the last ACK of it
/// still counts so.
#[test]
fn limited_until_more_than_all_is_delivered() {
    notes(|x, notes| {
        x.write(2_000).sends("0 1").write(60_000).sends(&numbers(2, 10));
        x.at(10).ack(2).sends("10 11").at(11).ack(10).sends(&numbers(12, 20));
        x.at(20).ack(12).sends("20 21");
        assert!(notes.last().3);
        x.at(21).ack(20).sends(&numbers(22, 30));
        assert!(!notes.last().3);
    });
}
