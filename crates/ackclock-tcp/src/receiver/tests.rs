//! Worked examples of the RFCs, each with sequence numbers from 0 and from just below the wrap.

mod dctcp;
mod linux_acks;
mod plain;

use std::vec::Vec;

use super::*;

/// Initial sequence numbers for every test: no wrap, and wraps at different places of the example.
const ISNS: [u32; 5] = [0, 1, u32::MAX, 0u32.wrapping_sub(1_250), 0u32.wrapping_sub(5_250)];

fn at(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// A receiver whose example begins at stream position `first`, so that the numbers of an RFC can be
/// used as they stand.
struct Rig {
    receiver: Receiver,
    first: Seq,
    now: Time,
}

/// What an ACK says in the numbers of the example.
#[derive(Debug, PartialEq, Eq)]
struct Ack {
    ack: u32,
    sack: Vec<(u32, u32)>,
}

fn ack(ack: u32, sack: &[(u32, u32)]) -> Option<Ack> {
    Some(Ack { ack, sack: sack.to_vec() })
}

/// 500-byte segments, every segment acknowledged at once.
fn config() -> ReceiverConfig {
    ReceiverConfig {
        mss: 500,
        delayed_ack: DelayedAck::Off,
        buffer: 64_000,
        wscale: 0,
        ..ReceiverConfig::default()
    }
}

impl Rig {
    /// `start` is the number of the first byte that will arrive.
    fn new(isn: u32, start: u32, config: ReceiverConfig) -> Self {
        let config = ReceiverConfig { isn: Seq(isn), ..config };
        Rig {
            receiver: Receiver::new(config),
            first: Seq(isn.wrapping_sub(start)),
            now: Time::ZERO,
        }
    }

    fn segment(&self, from: u32, to: u32) -> Segment {
        Segment { seq: self.first + from, len: to - from, ..Segment::default() }
    }

    fn poll(&mut self) -> Option<Segment> {
        let ack = self.receiver.poll_transmit(self.now);
        assert_eq!(
            self.receiver.poll_transmit(self.now),
            None,
            "one input makes at most one ACK due"
        );
        ack
    }

    fn relative(&self, seq: Seq) -> u32 {
        seq.distance_from(self.first)
    }

    fn ack(&mut self) -> Option<Ack> {
        let segment = self.poll()?;
        assert_eq!((segment.seq, segment.len, segment.flags), (Seq(0), 0, Flags::default()));
        let sack = segment
            .sack
            .as_slice()
            .iter()
            .map(|b| (self.relative(b.left), self.relative(b.right)))
            .collect();
        Some(Ack { ack: self.relative(segment.ack), sack })
    }

    /// Bytes `from..to` arrive; what is answered.
    fn arrives(&mut self, from: u32, to: u32) -> Option<Ack> {
        let segment = self.segment(from, to);
        self.receiver.on_segment(self.now, &segment);
        self.ack()
    }

    /// A segment with a timestamp arrives; the timestamp that is echoed.
    fn echoes(&mut self, from: u32, to: u32, val: u32) -> Option<u32> {
        let segment =
            Segment { timestamps: Some(Timestamps { val, ecr: 0 }), ..self.segment(from, to) };
        self.receiver.on_segment(self.now, &segment);
        self.poll().map(|ack| ack.timestamps.expect("timestamps are on").ecr)
    }

    /// The window field that answers `from..to`.
    fn window(&mut self, from: u32, to: u32) -> Option<u16> {
        let segment = self.segment(from, to);
        self.receiver.on_segment(self.now, &segment);
        self.poll().map(|ack| ack.wnd)
    }
}

fn each(start: u32, config: ReceiverConfig, example: impl Fn(&mut Rig)) {
    for isn in ISNS {
        example(&mut Rig::new(isn, start, config.clone()));
    }
}

// RFC 2018 section 7

#[test]
fn rfc2018_case_1_the_last_four_are_dropped() {
    each(5000, config(), |r| {
        assert_eq!(r.arrives(5000, 5500), ack(5500, &[]));
        assert_eq!(r.arrives(5500, 6000), ack(6000, &[]));
        assert_eq!(r.arrives(6000, 6500), ack(6500, &[]));
        assert_eq!(r.arrives(6500, 7000), ack(7000, &[]));
        assert_eq!(r.receiver.rcv_nxt(), 2000);
    });
}

#[test]
fn rfc2018_case_2_the_first_is_dropped() {
    each(5000, config(), |r| {
        for from in [5500, 6000, 6500, 7000, 7500, 8000, 8500] {
            assert_eq!(r.arrives(from, from + 500), ack(5000, &[(5500, from + 500)]));
        }
        assert_eq!(r.arrives(5000, 5500), ack(9000, &[]));
    });
}

#[test]
fn rfc2018_case_3_every_second_is_dropped() {
    each(5000, config(), |r| {
        assert_eq!(r.arrives(5000, 5500), ack(5500, &[]));
        assert_eq!(r.arrives(6000, 6500), ack(5500, &[(6000, 6500)]));
        assert_eq!(r.arrives(7000, 7500), ack(5500, &[(7000, 7500), (6000, 6500)]));
        assert_eq!(r.arrives(8000, 8500), ack(5500, &[(8000, 8500), (7000, 7500), (6000, 6500)]));
        assert_eq!(r.arrives(6500, 7000), ack(5500, &[(6000, 7500), (8000, 8500)]));
        assert_eq!(r.arrives(5500, 6000), ack(7500, &[(8000, 8500)]));
    });
}

/// RFC 2018 section 4: the most recently reported blocks, as many as fit; none is forgotten while
/// others are reported.
#[test]
fn blocks_beyond_the_limit_come_back_when_there_is_room() {
    for (timestamps, limit) in [(false, 4), (true, 3)] {
        each(0, ReceiverConfig { timestamps, ..config() }, |r| {
            let all: Vec<(u32, u32)> = (1..=6).map(|k| (k * 1000, k * 1000 + 500)).rev().collect();
            for &(from, to) in all.iter().rev().take(5) {
                r.arrives(from, to);
            }
            assert_eq!(r.arrives(6000, 6500), ack(0, &all[..limit]));
            // A new segment of the oldest block makes it the most recent.
            let mut expected = Vec::from([(1000, 1600)]);
            expected.extend_from_slice(&all[..limit - 1]);
            assert_eq!(r.arrives(1500, 1600), ack(0, &expected));
            // Everything below 5000 is filled and reaches the block there; one block remains.
            assert_eq!(r.arrives(0, 5000), ack(5500, &[(1000, 1600), (6000, 6500)]));
        });
    }
}

#[test]
fn without_sack_no_block_is_sent() {
    each(0, ReceiverConfig { sack: false, ..config() }, |r| {
        assert_eq!(r.arrives(500, 1000), ack(0, &[]));
        assert_eq!(r.arrives(500, 1000), ack(0, &[]));
        assert_eq!(r.arrives(0, 500), ack(1000, &[]));
    });
}

// RFC 2883 section 4

#[test]
fn rfc2883_example_1_a_duplicate_segment() {
    each(3000, config(), |r| {
        assert_eq!(r.arrives(3000, 3500), ack(3500, &[]));
        assert_eq!(r.arrives(3500, 4000), ack(4000, &[]));
        assert_eq!(r.arrives(3000, 3500), ack(4000, &[(3000, 3500)]));
        // Guideline (2): it is reported once.
        assert_eq!(r.arrives(4000, 4500), ack(4500, &[]));
    });
}

#[test]
fn rfc2883_example_2_an_out_of_order_segment_and_a_duplicate() {
    each(3000, config(), |r| {
        assert_eq!(r.arrives(3000, 3500), ack(3500, &[]));
        assert_eq!(r.arrives(3500, 4000), ack(4000, &[]));
        assert_eq!(r.arrives(4500, 5000), ack(4000, &[(4500, 5000)]));
        assert_eq!(r.arrives(3000, 3500), ack(4000, &[(3000, 3500), (4500, 5000)]));
    });
}

#[test]
fn rfc2883_example_3_a_duplicate_of_an_out_of_order_segment() {
    each(3500, config(), |r| {
        assert_eq!(r.arrives(3500, 4000), ack(4000, &[]));
        assert_eq!(r.arrives(4500, 5000), ack(4000, &[(4500, 5000)]));
        assert_eq!(r.arrives(5000, 5500), ack(4000, &[(4500, 5500)]));
        assert_eq!(r.arrives(5000, 5500), ack(4000, &[(5000, 5500), (4500, 5500)]));
    });
}

#[test]
fn rfc2883_example_4_a_single_duplicate_subsegment() {
    each(500, config(), |r| {
        assert_eq!(r.arrives(500, 1000), ack(1000, &[]));
        assert_eq!(r.arrives(2000, 2500), ack(1000, &[(2000, 2500)]));
        assert_eq!(r.arrives(1000, 1500), ack(1500, &[(2000, 2500)]));
        assert_eq!(r.arrives(1000, 2000), ack(2500, &[(1000, 1500)]));
    });
}

#[test]
fn rfc2883_example_5_two_duplicate_subsegments_below_the_cumulative_ack() {
    each(500, config(), |r| {
        assert_eq!(r.arrives(500, 1000), ack(1000, &[]));
        assert_eq!(r.arrives(3000, 3500), ack(1000, &[(3000, 3500)]));
        assert_eq!(r.arrives(1000, 1500), ack(1500, &[(3000, 3500)]));
        assert_eq!(r.arrives(2000, 2500), ack(1500, &[(2000, 2500), (3000, 3500)]));
        assert_eq!(r.arrives(1000, 2500), ack(2500, &[(1000, 1500), (3000, 3500)]));
    });
}

/// The RFC's table prints the delayed segment 2500-2999 as 2000-2499 (which it says was dropped);
/// this is the former.
#[test]
fn rfc2883_example_6_two_duplicate_subsegments_above_the_cumulative_ack() {
    each(500, config(), |r| {
        assert_eq!(r.arrives(500, 1000), ack(1000, &[]));
        assert_eq!(r.arrives(3500, 4000), ack(1000, &[(3500, 4000)]));
        assert_eq!(r.arrives(1500, 2000), ack(1000, &[(1500, 2000), (3500, 4000)]));
        assert_eq!(r.arrives(2500, 3000), ack(1000, &[(2500, 3000), (1500, 2000), (3500, 4000)]));
        assert_eq!(r.arrives(1500, 3000), ack(1000, &[(1500, 2000), (1500, 3000), (3500, 4000)]));
    });
}

#[test]
fn a_duplicate_takes_one_place_of_the_limit() {
    for (timestamps, limit) in [(false, 4), (true, 3)] {
        each(0, ReceiverConfig { timestamps, ..config() }, |r| {
            for k in 1..=5 {
                r.arrives(k * 1000, k * 1000 + 500);
            }
            let expected = [(1200, 1400), (1000, 1500), (5000, 5500), (4000, 4500)];
            assert_eq!(r.arrives(1200, 1400), ack(0, &expected[..limit]));
        });
    }
}

#[test]
fn without_dsack_duplicates_only_draw_an_ack() {
    each(0, ReceiverConfig { dsack: false, ..config() }, |r| {
        assert_eq!(r.arrives(0, 500), ack(500, &[]));
        assert_eq!(r.arrives(0, 500), ack(500, &[]));
        assert_eq!(r.arrives(1000, 1500), ack(500, &[(1000, 1500)]));
        assert_eq!(r.arrives(1000, 1500), ack(500, &[(1000, 1500)]));
    });
}

// What brings new bytes

#[test]
fn on_segment_says_whether_a_byte_was_new() {
    each(0, config(), |r| {
        let mut new = |from, to| {
            let segment = r.segment(from, to);
            r.receiver.on_segment(at(0), &segment)
        };
        assert!(new(0, 500));
        assert!(!new(0, 500));
        assert!(new(0, 501));
        assert!(new(1000, 1500));
        assert!(!new(1100, 1400));
        assert!(new(2000, 2500));
        assert!(new(1000, 2500)); // fills 1500..2000
        assert!(!new(1000, 2500));
        assert!(new(400, 3000)); // brings 501..1000 and 2500..3000
        assert!(!new(0, 3000));
        assert!(!new(3000, 3000));
        assert_eq!(r.receiver.rcv_nxt(), 3000);
    });
}

// RFC 5681 section 4.2: delayed and immediate ACKs

fn delayed(ms: u64) -> ReceiverConfig {
    ReceiverConfig { delayed_ack: DelayedAck::After(Span::from_millis(ms)), ..config() }
}

#[test]
fn every_second_full_segment_is_acknowledged() {
    each(0, delayed(200), |r| {
        for k in 0..10 {
            assert_eq!(r.arrives(k * 1000, k * 1000 + 500), None);
            assert_eq!(r.receiver.next_deadline(), at(200));
            assert_eq!(r.arrives(k * 1000 + 500, k * 1000 + 1000), ack(k * 1000 + 1000, &[]));
            assert_eq!(r.receiver.next_deadline(), Time::NEVER);
        }
    });
}

#[test]
fn a_stretch_ack_covers_eight_full_segments_or_what_a_timer_finds() {
    each(0, ReceiverConfig { ack_every: 8, ..delayed(200) }, |r| {
        for k in 0..7 {
            assert_eq!(r.arrives(k * 500, k * 500 + 500), None);
        }
        assert_eq!(r.arrives(3500, 4000), ack(4000, &[]));
        assert_eq!(r.arrives(4000, 7500), None);
        r.receiver.on_deadline(at(200));
        assert_eq!(r.ack(), ack(7500, &[]));
        assert_eq!(r.arrives(7500, 11_000), None);
        assert_eq!(r.arrives(11_000, 11_001), ack(11_001, &[]));
    });
    // With 1, every segment is acknowledged at once, as without delay.
    each(0, ReceiverConfig { ack_every: 1, ..delayed(200) }, |r| {
        assert_eq!(r.arrives(0, 500), ack(500, &[]));
        assert_eq!(r.arrives(500, 501), ack(501, &[]));
    });
}

#[test]
fn stretch_acks_do_not_delay_what_is_out_of_order_or_fills_a_hole() {
    each(0, ReceiverConfig { ack_every: 8, ..delayed(200) }, |r| {
        assert_eq!(r.arrives(0, 500), None);
        assert_eq!(r.arrives(1000, 1500), ack(500, &[(1000, 1500)]));
        assert_eq!(r.arrives(2000, 2500), ack(500, &[(2000, 2500), (1000, 1500)]));
        assert_eq!(r.arrives(500, 1000), ack(1500, &[(2000, 2500)]));
        assert_eq!(r.arrives(1500, 2000), ack(2500, &[]));
        assert_eq!(r.arrives(2500, 3000), None);
    });
}

/// A short segment after a full one is acknowledged at once, and one segment after another as long
/// as they make up no more than a full one is not.
#[test]
fn more_than_a_full_segment_is_acknowledged() {
    each(0, delayed(200), |r| {
        assert_eq!(r.arrives(0, 500), None);
        assert_eq!(r.arrives(500, 501), ack(501, &[]));
        assert_eq!(r.arrives(501, 801), None);
        assert_eq!(r.arrives(801, 1001), None);
        assert_eq!(r.arrives(1001, 1002), ack(1002, &[]));
    });
}

/// Before a longer one has come 536 bytes are a full segment, and no more than `mss` ever are.
#[test]
fn a_full_segment_is_the_longest_that_has_come() {
    each(0, ReceiverConfig { mss: 1460, ..delayed(200) }, |r| {
        assert_eq!((r.arrives(0, 300), r.arrives(300, 536)), (None, None));
        assert_eq!(r.arrives(536, 537), ack(537, &[]));
        // Segments of 1000 bytes, one of them out of order.
        assert_eq!(r.arrives(1537, 2537), ack(537, &[(1537, 2537)]));
        assert_eq!(r.arrives(537, 1537), ack(2537, &[]));
        assert_eq!((r.arrives(2537, 3137), r.arrives(3137, 3537)), (None, None));
        assert_eq!(r.arrives(3537, 3538), ack(3538, &[]));
        // Longer than any: two segments that were merged.
        assert_eq!(r.arrives(3538, 6458), ack(6458, &[]));
        assert_eq!(r.arrives(6458, 7918), None);
        assert_eq!(r.arrives(7918, 7919), ack(7919, &[]));
    });
}

#[test]
fn the_timer_runs_from_the_first_unacknowledged_segment() {
    each(0, delayed(200), |r| {
        r.now = at(10);
        assert_eq!(r.arrives(0, 100), None);
        r.now = at(50);
        assert_eq!(r.arrives(100, 200), None);
        assert_eq!(r.receiver.next_deadline(), at(210));
        r.receiver.on_deadline(at(209));
        assert_eq!(r.ack(), None);
        assert_eq!(r.receiver.next_deadline(), at(210));
        r.now = at(210);
        r.receiver.on_deadline(at(210));
        assert_eq!(r.ack(), ack(200, &[]));
        assert_eq!(r.receiver.next_deadline(), Time::NEVER);
        r.receiver.on_deadline(at(5000));
        assert_eq!(r.ack(), None);
    });
}

/// ns-2 compares numbers only: a duplicate of the newest segment in order waits like that segment
/// itself, and whatever comes next is the second one. All other duplicates are acknowledged at
/// once.
#[test]
fn ns2_delays_the_ack_of_a_duplicate_of_the_newest_segment() {
    let rfc = ReceiverConfig { dsack: false, ..delayed(200) };
    let ns2 =
        ReceiverConfig { delayed_ack: DelayedAck::Ns2(Span::from_millis(200)), ..rfc.clone() };
    each(0, ns2, |r| {
        assert_eq!((r.arrives(0, 500), r.arrives(500, 1000)), (None, ack(1000, &[])));
        // The newest one again, and by itself.
        r.now = at(50);
        assert_eq!(r.arrives(500, 1000), None);
        assert_eq!(r.receiver.next_deadline(), at(250));
        r.now = at(250);
        r.receiver.on_deadline(at(250));
        assert_eq!(r.ack(), ack(1000, &[]));
        // Again, and the next one, which does not wait although it is the only new one.
        assert_eq!((r.arrives(500, 1000), r.arrives(1000, 1500)), (None, ack(1500, &[])));
        assert_eq!(r.receiver.next_deadline(), Time::NEVER);
        // Twice again; then after a first that waits.
        assert_eq!((r.arrives(1000, 1500), r.arrives(1000, 1500)), (None, ack(1500, &[])));
        assert_eq!((r.arrives(1500, 2000), r.arrives(1500, 2000)), (None, ack(2000, &[])));
        // An older one, and the newest one below a gap.
        assert_eq!(r.arrives(1000, 1500), ack(2000, &[]));
        assert_eq!(r.arrives(2500, 3000), ack(2000, &[(2500, 3000)]));
        assert_eq!(r.arrives(1500, 2000), ack(2000, &[(2500, 3000)]));
        assert_eq!(r.arrives(2000, 2500), ack(3000, &[]));
        // With FIN nothing waits; the segment that filled the gap is not the newest one.
        let fin = Segment { flags: Flags::new(true, true), ..r.segment(2500, 3000) };
        assert!(!r.receiver.on_segment(r.now, &fin));
        assert_eq!(r.ack(), ack(3000, &[]));
        assert_eq!(r.arrives(2000, 2500), ack(3000, &[]));
        assert_eq!((r.arrives(3000, 3500), r.arrives(3500, 4000)), (None, ack(4000, &[])));
    });
    each(0, rfc, |r| {
        assert_eq!((r.arrives(0, 500), r.arrives(500, 1000)), (None, ack(1000, &[])));
        assert_eq!(r.arrives(500, 1000), ack(1000, &[]));
        assert_eq!((r.arrives(1000, 1500), r.arrives(1000, 1500)), (None, ack(1500, &[])));
    });
}

/// BSD's fast timer: whatever waits is acknowledged with the next tick.
#[test]
fn the_fast_timer_runs_by_itself() {
    for (phase, now, tick) in [
        (0, 10, 200),
        (0, 199, 200),
        (0, 200, 400),
        (70, 10, 70),
        (70, 70, 270),
        (270, 269, 270),
        (200, 0, 200),
    ] {
        let delayed_ack = DelayedAck::FastTimer(Span::from_millis(phase));
        each(0, ReceiverConfig { delayed_ack, ..config() }, |r| {
            r.now = at(now);
            assert_eq!(r.arrives(0, 100), None);
            assert_eq!(r.receiver.next_deadline(), at(tick), "{phase} {now}");
            r.now = at(tick);
            r.receiver.on_deadline(at(tick));
            assert_eq!(r.ack(), ack(100, &[]));
            // The second full segment does not wait for it.
            assert_eq!((r.arrives(100, 600), r.arrives(600, 1100)), (None, ack(1100, &[])));
            assert_eq!(r.receiver.next_deadline(), Time::NEVER);
        });
    }
}

#[test]
fn every_out_of_order_segment_and_every_segment_into_a_gap_is_acknowledged_at_once() {
    each(0, delayed(200), |r| {
        assert_eq!(r.arrives(0, 500), None);
        assert_eq!(r.arrives(1000, 1500), ack(500, &[(1000, 1500)]));
        assert_eq!(r.receiver.next_deadline(), Time::NEVER, "that ACK covers the delayed one");
        assert_eq!(r.arrives(2000, 2500), ack(500, &[(2000, 2500), (1000, 1500)]));
        assert_eq!(r.arrives(500, 750), ack(750, &[(2000, 2500), (1000, 1500)])); // part of the gap
        assert_eq!(r.arrives(750, 1000), ack(1500, &[(2000, 2500)])); // the rest of it
        assert_eq!(r.arrives(1500, 2000), ack(2500, &[])); // the last gap
        assert_eq!(r.arrives(2500, 3000), None);
        assert_eq!(r.arrives(2500, 3000), ack(3000, &[(2500, 3000)])); // a duplicate
        assert_eq!(r.arrives(2900, 3100), ack(3100, &[(2900, 3000)])); // a partial one
    });
}

#[test]
fn fin_is_acknowledged_at_once() {
    each(0, delayed(200), |r| {
        let fin = Segment { flags: Flags::new(true, true), ..r.segment(0, 500) };
        assert!(r.receiver.on_segment(at(0), &fin));
        assert_eq!(r.ack(), ack(500, &[]));
    });
}

// RFC 7323 section 4.3

fn stamped(delay: DelayedAck) -> ReceiverConfig {
    ReceiverConfig { timestamps: true, delayed_ack: delay, ..config() }
}

#[test]
fn rfc7323_case_a_delayed_acks_echo_the_earliest_unacknowledged_segment() {
    // The RFC's example acknowledges three segments at once.
    let delay = DelayedAck::After(Span::from_millis(200));
    let config = ReceiverConfig { ack_every: 3, ..stamped(delay) };
    for start in [1, 0, u32::MAX - 1, i32::MAX as u32] {
        each(0, config.clone(), |r| {
            let ts = |n: u32| start.wrapping_add(n);
            assert_eq!(r.echoes(0, 500, ts(1)), None);
            assert_eq!(r.echoes(500, 1000, ts(2)), None);
            assert_eq!(r.echoes(1000, 1500, ts(3)), Some(ts(1)));
            assert_eq!(r.echoes(1500, 2000, ts(4)), None);
            assert_eq!(r.echoes(2000, 2500, ts(5)), None);
            assert_eq!(r.echoes(2500, 3000, ts(6)), Some(ts(4)));
        });
    }
}

#[test]
fn rfc7323_cases_b_and_c_holes_and_their_filling() {
    for start in [0, u32::MAX - 2, i32::MAX as u32 - 2] {
        each(0, stamped(DelayedAck::Off), |r| {
            let ts = |n: u32| start.wrapping_add(n);
            assert_eq!(r.echoes(0, 500, ts(1)), Some(ts(1))); // A
            assert_eq!(r.echoes(1000, 1500, ts(3)), Some(ts(1))); // C
            assert_eq!(r.echoes(500, 1000, ts(2)), Some(ts(2))); // B
            assert_eq!(r.echoes(2000, 2500, ts(5)), Some(ts(2))); // E
            assert_eq!(r.echoes(1500, 2000, ts(4)), Some(ts(4))); // D
        });
    }
}

#[test]
fn an_older_timestamp_and_a_segment_outside_the_window_change_no_echo() {
    each(0, stamped(DelayedAck::Off), |r| {
        assert_eq!(r.echoes(0, 500, 7), Some(7));
        assert_eq!(r.echoes(500, 1000, 6), Some(7));
        assert_eq!(r.echoes(0, 500, 9), Some(7)); // an old duplicate: RFC 7323 section 5.3, R2 before R3
        assert_eq!(r.echoes(1000, 1000, 10), None); // without data, but acceptable
        assert_eq!(r.echoes(1000, 1500, 9), Some(10));
    });
}

/// Not RFC 7323's rule (2), but the latest timestamp whatever the order of arrival.
#[test]
fn a_receiver_may_echo_what_arrives_out_of_order() {
    each(0, ReceiverConfig { echo_out_of_order: true, ..stamped(DelayedAck::Off) }, |r| {
        assert_eq!(r.echoes(0, 500, 1), Some(1));
        assert_eq!(r.echoes(1000, 1500, 3), Some(3));
        assert_eq!(r.echoes(500, 1000, 2), Some(3));
        assert_eq!(r.echoes(65_500, 66_000, 9), Some(3)); // outside the window
    });
}

/// RFC 7323 section 4.3: TS.Recent is the timestamp of the SYN until data in order has come.
#[test]
fn what_comes_above_a_first_loss_has_the_handshake_echoed() {
    each(0, stamped(DelayedAck::Off), |r| {
        r.receiver.set_ts_recent(Some(7));
        assert_eq!(r.echoes(500, 1000, 9), Some(7));
        assert_eq!(r.echoes(0, 500, 8), Some(8));
    });
}

#[test]
fn our_timestamp_is_the_time_in_milliseconds() {
    each(0, stamped(DelayedAck::Off), |r| {
        r.now = Time(1_234_999_999);
        let segment = r.segment(500, 1000);
        r.receiver.on_segment(r.now, &segment);
        assert_eq!(r.poll().unwrap().timestamps, Some(Timestamps { val: 1234, ecr: 0 }));
        r.now = Time(((1u64 << 32) + 5) * 1_000_000); // 49.7 days later the 32 bits wrap
        r.receiver.on_segment(r.now, &segment);
        assert_eq!(r.poll().unwrap().timestamps, Some(Timestamps { val: 5, ecr: 0 }));
    });
}

// The window

fn unread(buffer: u64, wscale: u8) -> ReceiverConfig {
    ReceiverConfig { buffer, wscale, auto_read: false, ..config() }
}

#[test]
fn the_window_closes_opens_and_is_updated() {
    each(0, unread(2000, 0), |r| {
        assert_eq!(r.window(0, 500), Some(1500));
        assert_eq!(r.window(500, 1000), Some(1000));
        assert_eq!(r.window(1000, 1500), Some(500));
        assert_eq!(r.window(1500, 2000), Some(0));
        assert_eq!(r.receiver.readable(), 2000);
        // Silly window avoidance: less than a segment is not offered (RFC 9293 section 3.8.6.2.2).
        assert_eq!(r.receiver.read(at(0), 499), 499);
        assert_eq!(r.poll(), None);
        assert_eq!(r.receiver.read(at(0), 1), 1);
        assert_eq!(r.poll().unwrap().wnd, 500);
        assert_eq!(r.receiver.read(at(0), 10_000), 1500);
        assert_eq!(r.poll().unwrap().wnd, 2000);
        assert_eq!(r.receiver.read(at(0), 1), 0);
        assert_eq!(r.poll(), None);
    });
}

#[test]
fn a_smaller_buffer_cuts_off_what_was_offered() {
    each(0, unread(2000, 0), |r| {
        assert_eq!(r.window(0, 500), Some(1500));
        r.receiver.set_buffer(800);
        assert_eq!(r.receiver.window_edge(), 800);
        // The window is not taken back; what does not fit is not taken.
        assert_eq!(r.window(500, 1000), Some(1200));
        assert_eq!((r.receiver.rcv_nxt(), r.receiver.readable()), (800, 800));
        assert_eq!(r.window(800, 1000), Some(1200));
        assert_eq!(r.window(900, 1400), Some(1200));
        assert!(!r.receiver.holds(900, 901));
        // There is room again.
        assert_eq!(r.receiver.read(at(0), 800), 800);
        assert_eq!(r.window(800, 1600), Some(400));
        r.receiver.set_buffer(2000);
        assert_eq!(r.window(1600, 1700), Some(1100));
        assert_eq!(r.receiver.rcv_nxt(), 1700);
    });
}

/// The least advance that is worth offering is half of the buffer as it is now: one that is smaller
/// than a segment opens again.
#[test]
fn a_buffer_smaller_than_a_segment() {
    each(0, unread(2000, 0), |r| {
        assert_eq!(r.window(0, 1000), Some(1000));
        r.receiver.set_buffer(800);
        assert_eq!(r.window(1000, 2000), Some(1000));
        assert_eq!(r.receiver.read(at(0), 1000), 1000);
        assert_eq!(r.poll(), None);
        assert_eq!(r.window(1000, 1800), Some(200));
        assert_eq!(r.receiver.read(at(0), 800), 800);
        assert_eq!(r.poll().map(|ack| ack.wnd), Some(800));
    });
}

/// A peer that had no room hears of a larger buffer at once, another one with the next ACK.
#[test]
fn a_larger_buffer_is_told() {
    each(0, unread(2000, 0), |r| {
        assert_eq!(r.window(0, 500), Some(1500));
        r.receiver.set_buffer(4000);
        assert_eq!(r.poll(), None);
        assert_eq!(r.window(500, 2000), Some(2000));
        assert_eq!(r.window(2000, 4000), Some(0));
        r.receiver.set_buffer(0);
        r.receiver.set_buffer(4100);
        assert_eq!(r.poll(), None);
        r.receiver.set_buffer(6000);
        assert_eq!(r.poll().map(|ack| ack.wnd), Some(2000));
    });
}

#[test]
fn an_open_window_is_updated_for_two_segments_not_for_one() {
    each(0, unread(10_000, 0), |r| {
        assert_eq!(r.window(0, 1500), Some(8500));
        r.receiver.read(at(0), 999);
        assert_eq!(r.poll(), None);
        r.receiver.read(at(0), 1);
        assert_eq!(r.poll().unwrap().wnd, 9500);
    });
}

#[test]
fn the_edge_stays_while_less_than_a_segment_is_gained() {
    each(0, config(), |r| {
        assert_eq!(r.window(0, 100), Some(63_900));
        assert_eq!(r.window(100, 499), Some(63_501));
        assert_eq!(r.window(499, 500), Some(64_000));
    });
}

#[test]
fn data_beyond_the_window_is_cut_off_and_data_outside_it_refused() {
    each(0, unread(1000, 0), |r| {
        assert_eq!(r.arrives(1000, 1500), ack(0, &[]), "begins at the edge");
        assert_eq!(r.arrives(800, 1500), ack(0, &[(800, 1000)]), "is cut off");
        assert_eq!(r.arrives(0, 900), ack(1000, &[(800, 900)]));
        assert_eq!(r.receiver.readable(), 1000);
        // A zero window: a probe of one byte, and one below the window (a keep-alive).
        assert_eq!(r.arrives(1000, 1001), ack(1000, &[]));
        assert_eq!(r.arrives(999, 1000), ack(1000, &[(999, 1000)]));
        assert_eq!(r.arrives(1000, 1000), None);
        assert_eq!(r.arrives(1001, 1001), ack(1000, &[]));
        // Old and beyond in one segment: only the old part is a duplicate.
        assert_eq!(r.arrives(900, 1100), ack(1000, &[(900, 1000)]));
        assert_eq!(r.receiver.readable(), 1000);
    });
}

#[test]
fn a_segment_cut_off_is_acknowledged_at_once() {
    each(0, ReceiverConfig { buffer: 400, auto_read: false, wscale: 0, ..delayed(200) }, |r| {
        assert_eq!(r.arrives(0, 500), ack(400, &[]));
    });
}

/// RFC 9293 section 3.10.7.4, first check: with a window, an empty segment is acceptable from
/// RCV.NXT to below the edge.
#[test]
fn segments_without_data_draw_an_ack_outside_the_window_only() {
    each(5000, delayed(200), |r| {
        r.arrives(5000, 6000);
        assert_eq!(r.ack(), None);
        for number in [6000, 6001, 6000 + 63_999] {
            assert_eq!(r.arrives(number, number), None, "{number}");
        }
        for number in [4000, 4999, 5999, 6000 + 64_000, 6000 + 65_000] {
            assert_eq!(r.arrives(number, number), ack(6000, &[]), "{number}");
        }
        let mut far = r.segment(6000, 6000);
        far.seq = far.seq + (1 << 31);
        r.receiver.on_segment(at(0), &far);
        assert_eq!(r.ack(), ack(6000, &[]));
        let mut fin = r.segment(6000, 6000);
        fin.flags = Flags::new(fin.flags.psh(), true);
        r.receiver.on_segment(at(0), &fin);
        assert_eq!(r.ack(), ack(6000, &[]));
    });
}

#[test]
fn a_segment_from_before_the_stream_draws_an_ack() {
    each(0, config(), |r| {
        let mut segment = r.segment(0, 500);
        segment.seq = segment.seq - 1; // a keep-alive before the first byte
        assert!(!r.receiver.on_segment(at(0), &segment));
        assert_eq!(r.ack(), ack(0, &[]));
    });
}

#[test]
fn the_window_field_is_scaled_and_bounded() {
    for (buffer, wscale, expected) in [
        (1 << 20, 7, (1u64 << 20 >> 7) as u16),
        (1 << 20, 0, 65_535),
        (65_535, 0, 65_535),
        (65_535, 1, 32_767),
        (u64::MAX, 14, 65_535),
        (1 << 30, 200, 65_535), // a shift above 14 counts as 14
        (127, 7, 1),            // rounded up: a buffer smaller than a unit
    ] {
        for isn in ISNS {
            let config = ReceiverConfig { isn: Seq(isn), mss: 64, buffer, wscale, ..config() };
            let mut receiver = Receiver::new(config);
            receiver.on_segment(at(0), &Segment { seq: Seq(isn), len: 64, ..Segment::default() });
            assert_eq!(receiver.poll_transmit(at(0)).unwrap().wnd, expected, "{buffer} {wscale}");
        }
    }
}

/// A buffer smaller than a unit of the window: one is offered while half of the buffer is free, and
/// again as soon as it is.
#[test]
fn a_window_is_not_rounded_away_for_ever() {
    each(0, unread(5000, 14), |r| {
        assert_eq!(r.window(0, 500), Some(1));
        assert_eq!(r.window(500, 2500), Some(1));
        assert_eq!(r.window(2500, 3000), Some(0));
        // What does not fit is not taken.
        assert_eq!(r.receiver.window_edge(), 5000);
        assert_eq!(r.window(3000, 6000), Some(0));
        assert_eq!(r.receiver.rcv_nxt(), 5000);
        assert_eq!(r.receiver.read(at(0), 2499), 2499);
        assert_eq!(r.poll(), None);
        assert_eq!(r.receiver.read(at(0), 1), 1);
        assert_eq!(r.poll().unwrap().wnd, 1);
        // A buffer that becomes smaller than a unit later.
        r.receiver.set_buffer(1 << 20);
        assert_eq!(r.receiver.read(at(0), 2500), 2500);
        assert_eq!(r.window(5000, 5500), Some(63));
        r.receiver.set_buffer(4000);
        assert_eq!(r.receiver.read(at(0), 500), 500);
        assert_eq!(r.window(5500, 6000), Some(62));
    });
}

/// RFC 7323 appendix F: a unit of 128 bytes and a buffer that ends at 1300.
#[test]
fn rfc7323_appendix_f_rounds_up_only_into_free_buffer() {
    each(0, unread(1300, 7), |r| {
        assert_eq!(r.window(0, 1000), Some(2)); // to 1256
        assert_eq!(r.window(1000, 1040), Some(2)); // to 1296
        assert_eq!(r.window(1040, 1045), Some(1)); // 1301 would be beyond the buffer: retracted to 1173
        assert_eq!(r.arrives(1045, 1300), ack(1300, &[]), "what was offered is still accepted");
    });
    each(0, unread(1301, 7), |r| {
        assert_eq!(r.window(0, 1000), Some(2));
        assert_eq!(r.window(1000, 1040), Some(2));
        assert_eq!(r.window(1040, 1045), Some(2)); // to 1301
    });
}

/// A window that the scale rounds to nothing blocks the peer, so one step read is worth an update.
#[test]
fn a_window_rounded_down_to_nothing_is_updated() {
    each(0, unread(16_484, 14), |r| {
        assert_eq!(r.window(0, 500), Some(0));
        r.receiver.read(at(0), 500);
        assert_eq!(r.poll().unwrap().wnd, 1);
    });
}

#[test]
fn odd_configurations_work() {
    for (mss, buffer) in [(0, 0), (0, 1000), (1, 1), (u32::MAX, 1), (u32::MAX, u64::MAX), (1460, 2)]
    {
        let longest = Span(u64::MAX);
        for delayed_ack in [
            DelayedAck::Off,
            DelayedAck::After(Span::ZERO),
            DelayedAck::After(longest),
            DelayedAck::FastTimer(longest),
        ] {
            let mut r =
                Rig::new(u32::MAX, 0, ReceiverConfig { mss, buffer, delayed_ack, ..unread(0, 14) });
            for (from, to) in [(0, 1), (0, u32::MAX), (5, 10), (1, 1), (0, 5)] {
                let segment = r.segment(from, to);
                r.receiver.on_segment(at(1), &segment);
                r.poll();
                r.receiver.on_deadline(at(2));
                r.poll();
            }
            assert!(r.receiver.readable() <= buffer);
            assert_eq!(r.receiver.read(at(3), u64::MAX), r.receiver.rcv_nxt());
        }
    }
}

/// The store of ranges against a plain set of bytes, over a deterministic walk.
#[test]
fn held_ranges_equal_a_set_of_bytes() {
    for isn in ISNS {
        let mut r = Rig::new(isn, 0, ReceiverConfig { buffer: 300, wscale: 0, mss: 1, ..config() });
        let mut held = std::collections::BTreeSet::new();
        let mut state = 1u32;
        let mut random = move |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        for _ in 0..20_000 {
            let nxt = r.receiver.rcv_nxt() as u32;
            let from = (nxt + random(200)).saturating_sub(random(60));
            let to = from + 1 + random(30);
            let edge = nxt + 300;
            let first_new = (from..to.min(edge)).find(|b| *b >= nxt && !held.contains(b));
            let duplicates = || (from..to.min(edge)).filter(|b| *b < nxt || held.contains(b));
            let d = duplicates().next().map(|left| {
                let right = (left..).find(|b| !duplicates().any(|d| d == *b)).unwrap();
                (left, right)
            });
            held.extend(from.max(nxt)..to.min(edge));
            let mut expected_nxt = nxt;
            while held.remove(&expected_nxt) {
                expected_nxt += 1;
            }
            let segment = r.segment(from, to);
            assert_eq!(r.receiver.on_segment(r.now, &segment), first_new.is_some());
            let ack = r.ack().unwrap();
            assert_eq!(ack.ack, expected_nxt);
            let mut sack = ack.sack.into_iter();
            if d.is_some() {
                assert_eq!(sack.next(), d);
            }
            let bytes: u64 = r.receiver.out_of_order.recent().map(|(l, r)| r - l).sum();
            assert_eq!(bytes, held.len() as u64);
            for (left, right) in sack {
                assert!(
                    (left..right).all(|b| held.contains(&b)),
                    "{left}..{right} is not all held"
                );
                assert!(!held.contains(&(left.wrapping_sub(1))) && !held.contains(&right));
            }
        }
    }
}

#[cfg(target_pointer_width = "64")]
#[test]
fn the_struct_stays_small() {
    assert_eq!(core::mem::size_of::<Receiver>(), 192);
}

/// The 4097th hole is one too many: what comes behind it is discarded, but what closes or extends a
/// range is not.
#[test]
fn holes_are_kept_in_a_bounded_number() {
    let config = ReceiverConfig { buffer: 65_000, ..config() };
    each(0, config, |rig| {
        for hole in 0..4096 {
            assert_eq!(
                rig.arrives(2 * hole + 1, 2 * hole + 2).unwrap().sack[0],
                (2 * hole + 1, 2 * hole + 2)
            );
        }
        assert_eq!(rig.arrives(10_000, 10_500).unwrap().sack[0], (8191, 8192));
        assert_eq!(rig.arrives(8192, 8500).unwrap().sack[0], (8191, 8500));
        assert_eq!(rig.arrives(4, 5).unwrap().sack[0], (3, 6));
        assert_eq!(rig.arrives(10_000, 10_500).unwrap().sack[0], (10_000, 10_500));
        assert_eq!(rig.arrives(0, 8191).unwrap().ack, 8500);
    });
}
