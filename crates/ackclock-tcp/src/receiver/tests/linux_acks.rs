//! When Linux acknowledges: `tcp_event_data_recv`, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`.

use super::*;
use crate::segment::Codepoint;

const MSS: u32 = 1460;
/// 44 full segments, which the kernel offers at first.
const FIRST: u64 = 64_240;

/// A receiver that got segments up to `next`.
struct Linux {
    receiver: Receiver,
    next: u32,
}

impl Linux {
    fn new(rtt: u64, buffer: u64) -> Linux {
        let receiver = Receiver::new(ReceiverConfig {
            delayed_ack: DelayedAck::Linux(Span::from_millis(rtt)),
            buffer,
            ..ReceiverConfig::default()
        });
        Linux { receiver, next: 0 }
    }

    /// Its first quick ACKs are used up, at 100 ms.
    fn settled(rtt: u64) -> Linux {
        let mut x = Linux::new(rtt, FIRST);
        for _ in 0..16 {
            assert!(x.full(100));
        }
        x
    }

    /// A segment comes: whether it is acknowledged at once.
    fn segment(&mut self, ms: u64, len: u32, psh: bool) -> bool {
        let flags = Flags::new(psh, false);
        let segment = Segment { seq: Seq(self.next), len, flags, ..Segment::default() };
        self.next += len;
        self.receiver.on_segment(at(ms), &segment);
        self.receiver.poll_transmit(at(ms)).is_some()
    }

    fn full(&mut self, ms: u64) -> bool {
        self.segment(ms, MSS, false)
    }

    /// The timer expires at this time: it does not before, and acknowledges.
    fn timer(&mut self, ms: u64) {
        assert_eq!(self.receiver.next_deadline(), at(ms));
        self.receiver.on_deadline(at(ms));
        assert!(self.receiver.poll_transmit(at(ms)).is_some());
    }
}

/// The first 16 segments are acknowledged one by one, and as many as let the window grow.
#[test]
fn quick_acks_at_the_start() {
    let mut x = Linux::new(20, FIRST);
    let at_once: Vec<bool> = (0..20).map(|_| x.full(100)).collect();
    let expected: Vec<bool> = (0..20).map(|n| n < 16 || n % 2 == 1).collect();
    assert_eq!(at_once, expected);
    // Two segments more for each, up to 80,000 bytes beside one that is being read: six.
    let mut x = Linux::new(20, 80_000 + u64::from(MSS));
    let at_once: Vec<bool> = (0..25).map(|_| x.full(100)).collect();
    let expected: Vec<bool> = (0..25).map(|n| n < 22 || n % 2 == 1).collect();
    assert_eq!(at_once, expected);
}

/// A window of few segments allows half as many quick ACKs.
#[test]
fn quick_acks_of_a_small_window() {
    let mut x = Linux::new(20, 10 * u64::from(MSS));
    let at_once: Vec<bool> = (0..8).map(|_| x.full(100)).collect();
    assert_eq!(at_once, [true, true, true, true, true, false, true, false]);
    let mut x = Linux::new(20, 3 * u64::from(MSS));
    assert_eq!([100; 4].map(|ms| x.full(ms)), [true, false, true, false]);
}

/// Only ACKs of data use quick ACKs up: what is sent of our own is none.
#[test]
fn data_uses_no_quick_acks_up() {
    let mut x = Linux::new(20, FIRST);
    assert!(x.full(100));
    for _ in 0..20 {
        x.receiver.stamp(at(200), &mut Segment { len: 10, ..Segment::default() }, 0);
    }
    assert_eq!((0..20).take_while(|_| x.full(201)).count(), 15);
}

/// What the application leaves takes room from the window: it grows by four segments then.
#[test]
fn what_is_not_read_leaves_no_room_to_grow() {
    let mut x = Linux::new(20, 1 << 20);
    x.receiver.config.auto_read = false;
    assert_eq!((0..40).take_while(|_| x.full(100)).count(), 16 + 4);
}

/// What has PSH is acknowledged at once; so is what is shorter than a segment before it.
#[test]
fn a_push_is_acknowledged_at_once() {
    let mut x = Linux::settled(20);
    assert!(!x.full(100));
    assert!(x.segment(101, MSS, true));
    assert!(x.segment(102, MSS, true));
    assert!(x.segment(103, 700, false));
    assert!(!x.full(104));
    // Only where the application reads.
    let mut x = Linux::settled(20);
    x.receiver.config.auto_read = false;
    assert!(!x.segment(101, MSS, true));
    assert_eq!(x.receiver.read(at(102), 100), 100);
    assert_eq!(x.receiver.poll_transmit(at(102)), None);
    assert_eq!(x.receiver.read(at(103), 10_000), 1360);
    assert!(x.receiver.poll_transmit(at(103)).is_some());
}

/// Two segments of one length are full ones, whatever came before.
#[test]
fn shorter_segments_are_full_ones_from_the_second_on() {
    let mut x = Linux::settled(20);
    assert!(x.segment(101, 1000, false));
    assert!(!x.segment(101, 1000, false));
    assert!(x.segment(102, 1000, false));
}

/// A delayed ACK waits for 40 ms, ten ticks and the one that has begun. If it was missed, for twice
/// as long, but no longer than a round trip if that is longer than 40 ms.
#[test]
fn the_interval_adapts() {
    let mut x = Linux::settled(0);
    assert!(!x.full(101));
    x.timer(144);
    // Twelve ticks after the last one, of twenty: 20 / 2 + 12.
    assert!(!x.full(149));
    x.timer((37 + 22 + 1) * 4);
    let mut x = Linux::settled(60);
    assert!(!x.full(101));
    x.timer(144);
    assert!(!x.full(149));
    x.timer((37 + 15 + 1) * 4);
    let mut x = Linux::settled(20);
    assert!(!x.full(101));
    x.timer(144);
    assert!(!x.full(149));
    x.timer((37 + 10 + 1) * 4);
    // A tick less than the least timeout of 200 ms, however long the round trip is.
    let mut x = Linux::settled(300);
    assert!(!x.full(101));
    x.timer(144);
    assert!(!x.full(149));
    x.timer((37 + 22 + 1) * 4);
    assert!(!x.full(250));
    x.timer((62 + 22 + 25 + 1) * 4);
    assert!(!x.full(444));
    x.timer((111 + 49 + 1) * 4);
}

/// After a pause of more than the timeout, and after data that came twice, ACKs are quick again.
#[test]
fn quick_acks_come_again() {
    // 20 + 200 ms are 55 ticks.
    let mut x = Linux::settled(20);
    assert!(!x.full(100 + 55 * 4));
    let mut x = Linux::settled(20);
    let at_once: Vec<bool> = (0..18).map(|_| x.full(100 + 56 * 4)).collect();
    let expected: Vec<bool> = (0..18).map(|n| n < 16 || n % 2 == 1).collect();
    assert_eq!(at_once, expected);
    let mut x = Linux::settled(20);
    x.next -= MSS;
    assert!(x.full(101));
    assert!(x.full(102));
}

/// With ECN, the first mark has two quick ACKs, and so has what cannot be marked, as
/// retransmissions, once others could.
#[test]
fn a_mark_has_two_quick_acks() {
    let mut x = Linux::settled(20);
    x.receiver.config.ecn = true;
    let mut gets = |codepoint| {
        let ecn = Ecn::new(codepoint, false, false);
        let segment = Segment { seq: Seq(x.next), len: MSS, ecn, ..Segment::default() };
        x.next += MSS;
        x.receiver.on_segment(at(101), &segment);
        x.receiver.poll_transmit(at(101)).is_some()
    };
    let [none, ect, ce] = [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ce];
    assert_eq!([none, none].map(&mut gets), [false, true]);
    assert_eq!([ce, ect, ect, ce].map(&mut gets), [true, true, false, true]);
    assert_eq!([none, ect, ect, ect].map(&mut gets), [true, true, false, true]);
}

/// Who answers with data delays ACKs from the start, until one was missed.
#[test]
fn answers_carry_acks() {
    let mut x = Linux::new(20, FIRST);
    assert!(x.full(100));
    let mut data = Segment { len: 10, ..Segment::default() };
    x.receiver.stamp(at(101), &mut data, 0);
    assert!(!x.full(102));
    x.timer(144);
    assert!(x.full(145));
}

/// The segment that comes next is lost.
fn with_gap(rtt: u64) -> Linux {
    let mut x = Linux::settled(rtt);
    x.next += MSS;
    x
}

/// The first three ACKs for a gap leave at once, later ones a millisecond and a tenth after the
/// first of them, in one. A gap elsewhere is another one.
#[test]
fn later_acks_for_a_gap_leave_together() {
    let mut x = with_gap(40);
    let at_once: Vec<bool> = (0..6).map(|ms| x.full(101 + ms / 5)).collect();
    assert_eq!(at_once, [true, true, true, false, false, false]);
    let due = at(101) + Span::from_micros(1100);
    assert_eq!(x.receiver.next_deadline(), due);
    x.receiver.on_deadline(due);
    let ack = x.receiver.poll_transmit(due).unwrap();
    let block = SackBlock { left: Seq(17 * MSS), right: Seq(23 * MSS) };
    assert_eq!((ack.ack, ack.sack.as_slice()), (Seq(16 * MSS), &[block][..]));
    assert_eq!(x.receiver.next_deadline(), Time::NEVER);
    assert!(!x.full(103), "still the same gap");
    // The missing segment comes: acknowledged at once, and nothing waits any more.
    let next = std::mem::replace(&mut x.next, 16 * MSS);
    assert!(x.full(104));
    assert_eq!(x.receiver.next_deadline(), Time::NEVER);
    x.next = next + MSS;
    assert_eq!([105; 4].map(|ms| x.full(ms)), [true, true, true, false]);
}

/// An ACK that waits leaves before a segment changes a block that is older than two, or begins a
/// third one. That segment has no ACK then. It reports the block as it has grown, but joins no
/// others. Four blocks are known.
#[test]
fn an_ack_that_waits_leaves_before_a_third_block() {
    let mut x = with_gap(40);
    let mut gets = |n: u32, us: u64| {
        let now = at(101) + Span::from_micros(us);
        let segment = Segment { seq: Seq(n * MSS), len: MSS, ..Segment::default() };
        x.receiver.on_segment(now, &segment);
        let report = |ack: Segment| -> Vec<_> {
            ack.sack.as_slice().iter().map(|b| (b.left.0 / MSS, b.right.0 / MSS)).collect()
        };
        let acks = std::iter::from_fn(|| x.receiver.poll_transmit(now));
        let acks: Vec<Vec<_>> = acks.map(report).collect();
        (acks, x.receiver.next_deadline())
    };
    let waits = |us: u64| (vec![], at(101) + Span::from_micros(us + 1100));
    let leaves = |blocks: &[(u32, u32)]| (vec![blocks.to_vec()], Time::NEVER);
    assert_eq!(gets(17, 0), leaves(&[(17, 18)]));
    assert_eq!(gets(20, 0), leaves(&[(20, 21), (17, 18)]));
    assert_eq!(gets(23, 0), leaves(&[(23, 24), (20, 21), (17, 18)]));
    // Nothing waits before 26.
    assert_eq!(gets(26, 10), waits(10));
    assert_eq!(gets(27, 20), waits(10));
    assert_eq!(gets(29, 30), leaves(&[(26, 28), (23, 24), (20, 21), (17, 18)]));
    assert_eq!(gets(21, 40), waits(40));
    assert_eq!(gets(22, 50), waits(40));
    assert_eq!(gets(31, 60), leaves(&[(20, 24), (29, 30), (26, 28)]));
    assert_eq!(gets(32, 70), waits(70));
    assert_eq!(gets(28, 80), leaves(&[(31, 33), (20, 24), (28, 30), (26, 28)]));
    assert_eq!(gets(33, 90), waits(90));
    assert_eq!(gets(16, 100), leaves(&[(31, 34), (26, 30), (20, 24)]));
}

/// Data that leaves has no room for the report that waits: it follows alone.
#[test]
fn a_report_that_waits_is_not_lost_with_data() {
    let mut x = with_gap(40);
    assert_eq!([101; 4].map(|ms| x.full(ms)), [true, true, true, false]);
    let mut data = Segment { len: MSS, ..Segment::default() };
    x.receiver.stamp(at(101), &mut data, 0);
    assert!(data.sack.is_empty());
    let ack = x.receiver.poll_transmit(at(101)).unwrap();
    let block = SackBlock { left: Seq(17 * MSS), right: Seq(21 * MSS) };
    assert_eq!(ack.sack.as_slice(), [block]);
    // It goes with data that leaves room.
    assert!(!x.full(102));
    let mut data = Segment { len: 10, ..Segment::default() };
    x.receiver.stamp(at(102), &mut data, MSS - 10);
    assert!(!data.sack.is_empty());
    assert_eq!(x.receiver.poll_transmit(at(102)), None);
}

/// An application that reads all there is in order asks for no ACK as long as there is a gap.
#[test]
fn reading_before_a_gap_draws_no_ack() {
    let mut x = Linux::settled(40);
    x.receiver.config.auto_read = false;
    assert!(!x.full(101));
    x.next += MSS;
    assert_eq!([101; 3].map(|ms| x.full(ms)), [true; 3]);
    assert!(!x.segment(101, MSS, true));
    assert_eq!(x.receiver.read(at(101), 10_000), u64::from(MSS));
    assert_eq!(x.receiver.poll_transmit(at(101)), None);
}

/// The timer of ACKs that wait together is none of delayed ACKs, whose interval it leaves.
#[test]
fn acks_that_waited_together_change_no_interval() {
    let mut x = with_gap(100);
    assert_eq!([101; 4].map(|ms| x.full(ms)), [true, true, true, false]);
    let mut y = Linux { receiver: x.receiver.clone(), next: x.next };
    x.receiver.on_deadline(at(103));
    assert!(x.receiver.poll_transmit(at(103)).is_some());
    for x in [&mut x, &mut y] {
        let next = std::mem::replace(&mut x.next, 16 * MSS);
        assert!(x.full(104));
        x.next = next;
        assert!(!x.full(105));
    }
    assert_eq!(x.receiver.next_deadline(), y.receiver.next_deadline());
}

/// A short path has shorter waits: a twentieth of 4 ms. Of 45 ACKs that would wait the last one
/// leaves. Without SACK none waits.
#[test]
fn acks_for_a_gap_wait_for_a_twentieth_of_a_round_trip() {
    let mut x = with_gap(4);
    let at_once: Vec<bool> = (0..48).map(|_| x.segment(101, 10, false)).collect();
    assert_eq!(x.receiver.next_deadline(), Time::NEVER);
    let expected: Vec<bool> = (0..48).map(|n| n < 3 || n == 47).collect();
    assert_eq!(at_once, expected);
    assert!(!x.segment(101, 10, false));
    assert_eq!(x.receiver.next_deadline(), at(101) + Span::from_micros(300));
    let mut x = with_gap(40);
    x.receiver.config.sack = false;
    assert!((0..9).all(|_| x.full(101)));
}

/// Its memory has room for 82,944 bytes, and has grown to what 24 segments in a round trip of 40 ms
/// ask for: 48 segments, and 2.8 times as much on top since ten were expected.
fn with_more_memory(buffer: u64) -> Linux {
    let mut x = Linux::new(40, buffer);
    // Six let the window grow to 81,484 bytes: one segment is being read.
    (0..22).for_each(|_| assert!(x.full(10)));
    assert!(!x.full(39));
    assert!(x.full(40));
    x
}

/// Memory grows with what arrives in a round trip, but never beyond the buffer. The window follows
/// by two segments with each one, which is acknowledged at once.
#[test]
fn memory_grows_with_what_arrives_in_a_round_trip() {
    // To 264,844 bytes, and to 98,540.
    for (buffer, quick) in [(1 << 20, 63), (100_000, 6)] {
        let mut x = with_more_memory(buffer);
        assert_eq!((0..100).take_while(|_| x.full(41)).count(), quick, "{buffer}");
    }
    // Nobody knows how long a round trip is.
    let mut x = Linux::new(0, 1 << 20);
    let at_once: Vec<bool> = (0..80).map(|n| x.full(10 + n)).collect();
    let expected: Vec<bool> = (0..80).map(|n| n < 22 || n % 2 == 1).collect();
    assert_eq!(at_once, expected);
}

/// Segments above a gap let the window grow, too, up to what they leave of the memory. Until then
/// no ACK waits.
#[test]
fn acks_for_a_gap_do_not_wait_while_the_window_grows() {
    let mut x = with_more_memory(100_000);
    x.next += MSS;
    let at_once: Vec<bool> = (0..12).map(|_| x.full(41)).collect();
    let expected: Vec<bool> = (0..12).map(|n| n < 5 + 3).collect();
    assert_eq!(at_once, expected);
}

/// Memory grows with what lies above a gap: 61 segments beside twice the ten that are expected. The
/// window follows once the gap is filled, from 82,944 bytes to 116,800.
#[test]
fn memory_grows_with_what_lies_above_a_gap() {
    let mut x = Linux::new(0, 1 << 20);
    (0..22).for_each(|_| assert!(x.full(10)));
    let gap = x.next;
    x.next += MSS;
    (0..60).for_each(|_| _ = x.full(10));
    let next = std::mem::replace(&mut x.next, gap);
    assert!(x.full(10));
    x.next = next;
    assert_eq!((0..60).take_while(|_| x.full(11)).count(), 12);
}

/// An ACK for a gap that is filled in part counts for the next gap: the data above it leaves less
/// memory than the window offers, so that the bytes acknowledged draw no ACK.
#[test]
fn a_gap_behind_another_one() {
    let mut x = with_gap(40);
    assert!(x.full(100) && x.full(100));
    x.next += MSS;
    assert!(x.full(100) && !x.full(100));
    let next = std::mem::replace(&mut x.next, 16 * MSS);
    assert!(x.full(101));
    x.next = next;
    assert_eq!([101; 3].map(|ms| x.full(ms)), [true, true, false]);
}

/// A duplicate that an ACK has covered draws an ACK that uses no quick ACK up: there are sixteen
/// after it, and fifteen after one of data that no ACK has covered.
#[test]
fn a_duplicate_begins_quick_acks() {
    let mut x = Linux::settled(20);
    x.next -= 2 * MSS;
    assert!(x.full(101));
    x.next += MSS;
    assert_eq!((0..30).take_while(|_| x.full(101)).count(), 16);
    let mut x = Linux::settled(20);
    assert!(!x.full(101));
    x.next -= MSS;
    assert!(x.full(101));
    assert_eq!((0..30).take_while(|_| x.full(101)).count(), 15);
}

/// Data that comes twice in part waits as other data does, and is reported unless more comes.
#[test]
fn a_part_that_comes_twice_waits() {
    for more in [false, true] {
        let mut x = Linux::settled(20);
        x.next -= MSS / 2;
        assert!(!x.full(101));
        let ack = if more {
            x.receiver
                .on_segment(at(102), &Segment { seq: Seq(x.next), len: MSS, ..Segment::default() });
            x.receiver.poll_transmit(at(102)).unwrap()
        } else {
            x.receiver.on_deadline(at(144));
            x.receiver.poll_transmit(at(144)).unwrap()
        };
        assert_eq!(ack.sack.is_empty(), more);
    }
}

/// A peer that leaves a hole before each byte is told of no byte that is not held.
#[test]
fn blocks_are_held() {
    let mut x = Linux::new(20, 1 << 20);
    for n in 0..4200 {
        x.next = 2 * n + 1;
        let segment = Segment { seq: Seq(x.next), len: 1, ..Segment::default() };
        x.receiver.on_segment(at(100), &segment);
        while let Some(ack) = x.receiver.poll_transmit(at(100)) {
            for block in ack.sack.as_slice() {
                assert!(x.receiver.holds(block.left.0.into(), block.right.0.into()), "{n}");
            }
        }
    }
}

/// Data that goes out an interval after the last came in is no answer to it
/// (`tcp_event_data_sent`: `now - lrcvtime < ato`), so that quick ACKs go on. The interval is ten
/// ticks.
#[test]
fn what_goes_out_an_interval_later_is_no_answer() {
    for (ms, quick) in [(139, false), (140, true)] {
        let mut x = Linux::new(20, FIRST);
        assert!(x.full(100));
        x.receiver.stamp(at(ms), &mut Segment { len: 10, ..Segment::default() }, 0);
        assert_eq!(x.full(141), quick, "{ms}");
    }
}
