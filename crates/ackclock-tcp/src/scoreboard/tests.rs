use super::*;
use proptest::prelude::*;

const T: Time = Time::ZERO;

/// Ten segments of 100 bytes from position 0.
fn ten() -> Scoreboard {
    let mut board = Scoreboard::default();
    for n in 0..10 {
        board.push(n * 100, 100, Time(n));
    }
    board
}

fn no(_: &Record) {}

/// One letter a segment: `.` outstanding, `s` sacked, `l` lost, `r` lost and retransmitted, `d`
/// retransmitted and not lost.
fn picture(board: &Scoreboard) -> String {
    let letter = |r: &Record| match (r.sacked, r.lost, r.retransmitted) {
        (true, _, _) => 's',
        (_, true, true) => 'r',
        (_, true, false) => 'l',
        (_, false, true) => 'd',
        _ => '.',
    };
    board.iter().map(letter).collect()
}

#[test]
fn acknowledging_takes_whole_segments_and_shortens_one() {
    let mut board = ten();
    let mut reported = Vec::new();
    let acked = board.ack_to(250, |r| reported.push(r.seq));
    assert_eq!(
        acked,
        Acked {
            bytes: 250,
            sacked_before: 0,
            segments: 2,
            first_sent: Some(Time(0)),
            last_sent: Some(Time(2)),
            retransmission: None,
            cut: Some(200),
        }
    );
    assert_eq!(reported, [0, 100]);
    let head = *board.head().unwrap();
    assert_eq!((head.seq, head.len, head.end(), board.len()), (250, 50, 300, 8));
    assert_eq!((board.outstanding(), board.pipe()), (750, 750));
    let acked = board.ack_to(1_000, no);
    assert_eq!(
        (acked.bytes, acked.first_sent, board.is_empty(), board.pipe()),
        (750, Some(Time(2)), true, 0)
    );
}

#[test]
fn acknowledging_counts_what_was_sacked_and_what_was_sent_again() {
    let mut board = ten();
    board.sack(100, 300, no);
    board.mark_lost(0, Judge::Detect);
    board.on_retransmit(3, Time(15), true);
    board.on_retransmit(0, Time(20), true);
    board.on_retransmit(4, Time(30), false);
    let mut reported = Vec::new();
    let acked = board.ack_to(400, |r| reported.push((r.seq, r.transmissions, r.last_sent)));
    assert_eq!(
        acked,
        Acked {
            bytes: 400,
            sacked_before: 200,
            segments: 2,
            first_sent: Some(Time(0)),
            last_sent: Some(Time(15)),
            retransmission: Some(Time(20)),
            cut: None,
        }
    );
    // Delivery of 1 and 2 was reported when they were sacked.
    assert_eq!(reported, [(0, 2, Time(20)), (300, 2, Time(15))]);
    assert_eq!((board.pipe(), board.sacked_bytes(), board.lost_bytes()), (600, 0, 0));
}

#[test]
fn sacking_marks_whole_segments_once() {
    let mut board = ten();
    let mut reported = Vec::new();
    // From within 1 to within 4: 2 and 3.
    assert_eq!(board.sack(150, 450, |r| reported.push(r.seq)), 200);
    assert_eq!((picture(&board).as_str(), board.highest_sacked()), ("..ss......", 400));
    board.remember([(150, 450), (0, 0), (0, 0), (0, 0)]);
    // The block grows to the right, then to the left; what was known is not reported again.
    assert_eq!(board.sack(150, 600, |r| reported.push(r.seq)), 200);
    assert_eq!(board.sack(100, 600, |r| reported.push(r.seq)), 100);
    assert_eq!(reported, [200, 300, 400, 500, 100]);
    assert_eq!((picture(&board).as_str(), board.pipe()), (".sssss....", 500));
    // Beyond both ends, empty, and below.
    assert_eq!(board.sack(900, 5_000, no), 100);
    assert_eq!((board.sack(300, 300, no), board.sack(700, 300, no)), (0, 0));
    board.ack_to(600, no);
    assert_eq!((board.sack(0, 600, no), board.sacked_bytes()), (0, 100));
}

/// A receiver that got the bytes in other segments may report the rest of one, and then acknowledge
/// up to there. The same block covers all that is left of it.
#[test]
fn a_block_that_covers_what_is_left_of_a_segment() {
    let mut board = ten();
    let before = picture(&board);
    assert_eq!(board.sack(150, 200, no), 0);
    board.remember([(150, 200), (0, 0), (0, 0), (0, 0)]);
    assert_eq!(picture(&board), before);
    let mut halves = board.clone();
    board.ack_to(150, no);
    assert_eq!(board.sack(150, 200, no), 50);
    // So it does once the segment is cut in two.
    let mut pieces = halves.clone();
    halves.cut(50);
    assert_eq!(halves.sack(150, 200, no), 50);
    pieces.split(1, 50);
    assert_eq!(pieces.sack(150, 200, no), 50);
}

#[test]
fn a_sacked_retransmission_leaves_the_pipe_once() {
    let mut board = ten();
    board.mark_lost_below(300, no);
    assert_eq!(board.pipe(), 700);
    board.on_retransmit(0, Time(20), true);
    board.on_retransmit(1, Time(21), true);
    assert_eq!((picture(&board).as_str(), board.pipe()), ("rrl.......", 900));
    // Retransmitted twice, it is in the pipe once.
    board.on_retransmit(0, Time(22), true);
    assert_eq!((board.pipe(), board.get(0).unwrap().transmissions), (900, 3));
    board.sack(100, 200, no);
    assert_eq!(
        (picture(&board).as_str(), board.pipe(), board.lost_bytes()),
        ("rsl.......", 800, 200)
    );
    board.sack(100, 200, no);
    board.ack_to(200, no);
    assert_eq!(
        (picture(&board).as_str(), board.pipe(), board.lost_bytes()),
        ("l.......", 700, 100)
    );
}

#[test]
fn a_retransmission_that_was_not_lost_counts_twice() {
    let mut board = ten();
    board.on_retransmit(4, Time(20), true);
    assert_eq!((picture(&board).as_str(), board.pipe()), ("....d.....", 1_100));
    board.mark_lost_below(500, no);
    assert_eq!((picture(&board).as_str(), board.pipe()), ("llllr.....", 600));
    // Not counted: RFC 6675's rescue.
    board.on_retransmit(9, Time(21), false);
    assert_eq!((board.pipe(), board.get(9).unwrap().transmissions), (600, 2));
}

#[test]
fn a_lost_retransmission_leaves_the_pipe() {
    let mut board = ten();
    assert!(board.mark_lost(0, Judge::Detect));
    assert!(!board.mark_lost(0, Judge::Detect));
    board.on_retransmit(0, Time(20), true);
    assert_eq!(board.pipe(), 1_000);
    assert!(board.mark_lost(0, Judge::Detect));
    assert_eq!(
        (picture(&board).as_str(), board.pipe(), board.lost_bytes()),
        ("l.........", 900, 100)
    );
    board.sack(200, 300, no);
    assert!(!board.mark_lost(2, Judge::Detect));
    assert!(!board.mark_lost(10, Judge::Detect));
}

#[test]
fn losses_below_an_edge_are_reported_once() {
    let mut board = ten();
    board.sack(200, 400, no);
    let mut reported = Vec::new();
    board.mark_lost_below(350, |r| reported.push(r.seq));
    board.mark_lost_below(350, |r| reported.push(r.seq));
    board.mark_lost_below(600, |r| reported.push(r.seq));
    board.mark_lost_below(100, |r| reported.push(r.seq));
    assert_eq!(reported, [0, 100, 400, 500]);
    assert_eq!((picture(&board).as_str(), board.judged()), ("llssll....", 600));
    board.unmark_lost(true);
    assert_eq!((picture(&board).as_str(), board.judged(), board.pipe()), ("..ss......", 0, 800));
    board.mark_lost_below(100, no);
    assert_eq!(picture(&board), "l.ss......");
}

#[test]
fn what_time_has_judged_is_judged_again_only_if_that_is_asked_for_or_it_was_sent_again() {
    let mut board = ten();
    let sent_before = |board: &Scoreboard| {
        let next = |from| board.sent_before((Time(2), 300), from).map(|(index, _)| index);
        core::iter::successors(next(0), |index| next(index + 1)).collect::<Vec<_>>()
    };
    board.mark_lost(1, Judge::Detect);
    board.mark_judged_by_time(1);
    assert_eq!(sent_before(&board), [0]);
    board.unmark_lost(false);
    assert_eq!(sent_before(&board), [0]);
    board.on_retransmit(1, Time(1), true);
    assert_eq!(sent_before(&board), [0, 1]);
    board.mark_judged_by_time(0);
    board.unmark_lost(true);
    assert_eq!(sent_before(&board), [0, 1]);
}

#[test]
fn a_timeout_gives_everything_up() {
    let mut board = ten();
    board.sack(200, 400, no);
    board.mark_lost_below(200, no);
    board.on_retransmit(0, Time(20), true);
    board.mark_all_lost(Time::NEVER);
    assert_eq!((picture(&board).as_str(), board.pipe(), board.judged()), ("llssllllll", 0, 1_000));
    board.forget_sacks();
    board.mark_all_lost(Time::NEVER);
    assert_eq!(
        (picture(&board).as_str(), board.pipe(), board.highest_sacked()),
        ("llllllllll", 0, 0)
    );
    // What was known before is reported anew.
    assert_eq!(board.sack(200, 400, no), 200);
}

#[test]
fn finding_a_byte() {
    let mut board = ten();
    board.ack_to(150, no);
    assert_eq!((board.find(0), board.find(150), board.find(199), board.find(200)), (0, 0, 0, 1));
    assert_eq!((board.find(999), board.find(1_000), board.find(u64::MAX)), (8, 9, 9));
    assert_eq!(Scoreboard::default().find(7), 0);
}

/// Beyond 2^32, with the largest segments: no counter is 32 bits wide.
#[test]
fn counters_are_wide() {
    let mut board = Scoreboard::default();
    let base = 1 << 40;
    for n in 0..4 {
        board.push(base + n * u64::from(u32::MAX), u32::MAX, T);
    }
    let len = u64::from(u32::MAX);
    assert_eq!((board.outstanding(), board.pipe()), (4 * len, 4 * len));
    board.mark_lost_below(base + 2 * len, no);
    board.on_retransmit(0, T, true);
    assert_eq!((board.sack(base + 2 * len, base + 4 * len, no), board.pipe()), (2 * len, len));
    assert_eq!(board.find(base + 3 * len - 1), 2);
}

/// What a byte is, in the naive model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Byte {
    segment: usize,
    sacked: bool,
    lost: bool,
    again: bool,
}

#[derive(Clone, Debug)]
enum Op {
    Push(u32),
    Ack(u64),
    Sack(Vec<(u64, u64)>),
    LostBelow(u64),
    Lost(usize),
    Again(usize, bool),
    Replaced(usize),
    AllLost,
    Forget,
    Unmark,
}

fn op() -> impl Strategy<Value = Op> {
    let at = 0..120u64;
    prop_oneof![
        6 => (1..8u32).prop_map(Op::Push),
        3 => at.clone().prop_map(Op::Ack),
        6 => proptest::collection::vec((at.clone(), at.clone()), 1..4).prop_map(Op::Sack),
        3 => at.prop_map(Op::LostBelow),
        3 => (0..20usize).prop_map(Op::Lost),
        3 => (0..20usize, any::<bool>()).prop_map(|(i, counts)| Op::Again(i, counts)),
        1 => (0..20usize).prop_map(Op::Replaced),
        1 => Just(Op::AllLost),
        1 => Just(Op::Forget),
        1 => Just(Op::Unmark),
    ]
}

/// The model: a vector of bytes from position `una`, and rules applied byte by byte.
#[derive(Default)]
struct Model {
    una: u64,
    bytes: Vec<Byte>,
    segments: usize,
    now: Time,
    /// Below this position every byte was judged once and is not judged again until it is sent
    /// again and lost anew.
    judged: u64,
}

impl Model {
    fn segments(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.bytes.iter().map(|b| b.segment).collect();
        all.dedup();
        all
    }

    fn each(&mut self, segment: usize) -> impl Iterator<Item = &mut Byte> {
        self.bytes.iter_mut().filter(move |b| b.segment == segment)
    }

    fn span(&self, segment: usize) -> (u64, u64) {
        let first = self.bytes.iter().position(|b| b.segment == segment).unwrap() as u64;
        let last = self.bytes.iter().rposition(|b| b.segment == segment).unwrap() as u64;
        (self.una + first, self.una + last + 1)
    }

    fn pipe(&self) -> u64 {
        let copies = |b: &Byte| u64::from(!b.sacked && !b.lost) + u64::from(!b.sacked && b.again);
        self.bytes.iter().map(copies).sum()
    }

    fn apply(&mut self, op: &Op, board: &mut Scoreboard) -> Result<(), TestCaseError> {
        match *op {
            Op::Push(len) => {
                board.push(self.una + self.bytes.len() as u64, len, self.now);
                let byte = Byte { segment: self.segments, ..Byte::default() };
                self.bytes.extend(core::iter::repeat_n(byte, len as usize));
                self.segments += 1;
            }
            Op::Ack(ahead) => {
                let count = (ahead as usize).min(self.bytes.len());
                let sacked = self.bytes[..count].iter().filter(|b| b.sacked).count() as u64;
                let acked = board.ack_to(self.una + count as u64, no);
                prop_assert_eq!((acked.bytes, acked.sacked_before), (count as u64, sacked));
                self.bytes.drain(..count);
                self.una += count as u64;
            }
            Op::Sack(ref blocks) => {
                let mut walked = [(0, 0); 4];
                for (slot, &(l, r)) in walked.iter_mut().zip(blocks) {
                    let (left, right) = (self.una + l, self.una + r);
                    let mut newly = 0;
                    for segment in self.segments() {
                        let (from, to) = self.span(segment);
                        if left <= from && to <= right {
                            newly += self.each(segment).filter(|b| !b.sacked).count() as u64;
                            self.each(segment)
                                .for_each(|b| (b.sacked, b.lost, b.again) = (true, false, false));
                        }
                    }
                    prop_assert_eq!(board.sack(left, right, no), newly);
                    *slot = (left, right);
                }
                board.remember(walked);
            }
            Op::LostBelow(ahead) => {
                let edge = self.una + ahead;
                board.mark_lost_below(edge, no);
                if edge > self.judged {
                    for segment in self.segments() {
                        if self.span(segment).1 <= edge {
                            self.each(segment).filter(|b| !b.sacked).for_each(|b| b.lost = true);
                        }
                    }
                    self.judged = edge.min(self.una + self.bytes.len() as u64);
                }
            }
            Op::Lost(index) => {
                let Some(&segment) = self.segments().get(index) else {
                    prop_assert!(!board.mark_lost(index, Judge::Detect));
                    return Ok(());
                };
                let news = self.each(segment).any(|b| !b.sacked && (!b.lost || b.again));
                prop_assert_eq!(board.mark_lost(index, Judge::Detect), news);
                self.each(segment)
                    .filter(|b| !b.sacked)
                    .for_each(|b| (b.lost, b.again) = (true, false));
            }
            Op::Again(index, counts) => {
                board.on_retransmit(index, self.now, counts);
                if let Some(&segment) = self.segments().get(index) {
                    self.each(segment).filter(|b| !b.sacked && counts).for_each(|b| b.again = true);
                }
            }
            Op::Replaced(index) => {
                board.mark_replaced(index);
                if let Some(&segment) = self.segments().get(index) {
                    self.each(segment)
                        .filter(|b| !b.sacked && !b.lost)
                        .for_each(|b| (b.lost, b.again) = (true, true));
                }
            }
            Op::AllLost => {
                board.mark_all_lost(Time::NEVER);
                self.bytes.iter_mut().for_each(|b| (b.lost, b.again) = (!b.sacked, false));
                self.judged = self.una + self.bytes.len() as u64;
            }
            Op::Forget => {
                board.forget_sacks();
                self.bytes.iter_mut().for_each(|b| b.sacked = false);
                self.judged = 0;
            }
            Op::Unmark => {
                board.unmark_lost(true);
                self.bytes.iter_mut().for_each(|b| b.lost = false);
                self.judged = 0;
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Against a model that keeps a map of bytes.
    #[test]
    fn like_a_map_of_bytes(ops in proptest::collection::vec(op(), 1..60)) {
        let mut board = Scoreboard::default();
        let mut model = Model::default();
        for (step, op) in (0..).zip(&ops) {
            // Two at a time.
            model.now = Time(step / 2);
            model.apply(op, &mut board)?;
            let flags: Vec<(bool, bool, bool)> = model.segments().iter().map(|&segment| {
                let b = model.bytes.iter().find(|b| b.segment == segment).unwrap();
                (b.sacked, b.lost, b.again)
            }).collect();
            let kept: Vec<(bool, bool, bool)> = board.iter().map(|r| (r.sacked, r.lost, r.retransmitted)).collect();
            prop_assert_eq!(kept, flags);
            prop_assert_eq!(board.pipe(), model.pipe());
            prop_assert_eq!(board.outstanding(), model.bytes.len() as u64);
            let waiting = board.iter().position(|r| r.lost && !r.retransmitted);
            prop_assert_eq!(board.first_waiting(), waiting);
            for sent in board.iter().map(|r| (r.last_sent, r.end())) {
                let next = |from| board.sent_before(sent, from).map(|(index, _)| index);
                let found: Vec<usize> =
                    core::iter::successors(next(0), |index| next(index + 1)).collect();
                let on_its_way = |r: &Record| !r.sacked && (!r.lost || r.retransmitted);
                let before = |r: &Record| on_its_way(r) && (r.last_sent, r.end()) < sent;
                let all: Vec<usize> =
                    (0..).zip(board.iter()).filter(|(_, r)| before(r)).map(|(i, _)| i).collect();
                prop_assert_eq!(found, all);
            }
            for ahead in 0..model.bytes.len() {
                let index = board.find(model.una + ahead as u64);
                let segments = model.segments();
                prop_assert_eq!(segments[index], model.bytes[ahead].segment);
            }
        }
    }
}

#[test]
fn more_outstanding_than_32_bits_count() {
    let mut board = Scoreboard::default();
    let len = u32::MAX;
    for n in 0..3 {
        board.push(n * u64::from(len), len, T);
    }
    board.on_retransmit(0, T, true);
    assert_eq!(board.head().unwrap().sent_before(), u64::from(len));
    board.ack_to(u64::from(len) - 1, no);
    assert_eq!(
        (board.head().unwrap().len, board.head().unwrap().sent_before()),
        (1, u64::from(len))
    );
}

#[test]
fn what_waits_for_its_retransmission_comes_in_sequence() {
    let mut board = ten();
    board.sack(300, 400, no);
    board.mark_lost_below(600, no);
    assert_eq!((picture(&board).as_str(), board.first_waiting()), ("lllsll....", Some(0)));
    board.on_retransmit(0, Time(20), true);
    board.on_retransmit(1, Time(20), true);
    assert_eq!(board.first_waiting(), Some(2));
    board.on_retransmit(2, Time(20), true);
    assert_eq!(board.first_waiting(), Some(4));
    board.ack_to(100, no);
    assert_eq!((picture(&board).as_str(), board.first_waiting()), ("rrsll....", Some(3)));
    board.mark_lost(1, Judge::Detect);
    assert_eq!(board.first_waiting(), Some(1));
    board.sack(200, 600, no);
    assert_eq!((picture(&board).as_str(), board.first_waiting()), ("rssss....", None));
}

/// RFC 8985 section 6.2, RACK_sent_after: among those sent at one time the end decides.
#[test]
fn what_was_sent_before_a_transmission_is_what_it_overtook() {
    let before = |board: &Scoreboard, sent| {
        let next = |from| board.sent_before(sent, from).map(|(index, _)| index);
        core::iter::successors(next(0), |index| next(index + 1)).collect::<Vec<_>>()
    };
    let mut board = ten();
    board.sack(100, 400, no);
    assert_eq!(before(&board, (Time(3), 400)), [0]);
    assert_eq!(before(&board, (Time(5), 600)), [0, 4]);
    board.mark_lost_below(500, no);
    board.on_retransmit(0, Time(20), true);
    board.on_retransmit(4, Time(20), true);
    assert_eq!(picture(&board), "rsssr.....");
    assert_eq!(before(&board, (Time(7), 800)), [5, 6]);
    assert_eq!(before(&board, (Time(20), 500)), [0, 5, 6, 7, 8, 9]);
    // Sent anew, the first one comes after the other.
    board.mark_lost(0, Judge::Detect);
    board.on_retransmit(0, Time(21), true);
    assert_eq!(before(&board, (Time(21), 0)), [4, 5, 6, 7, 8, 9]);
}

/// What was retransmitted is forgotten with its segment: however often, no more memory is taken
/// than at first.
#[test]
fn retransmissions_take_no_memory_for_ever() {
    let record = size_of::<Record>();
    let mut board = ten();
    assert_eq!(board.memory(), board.capacity() * record);
    let mut memory = 0;
    for n in 10..1_000 {
        board.mark_lost(0, Judge::Detect);
        board.on_retransmit(0, Time(n), true);
        board.ack_to((n - 9) * 100, no);
        board.push(n * 100, 100, Time(n));
        if n == 20 {
            memory = board.memory();
        }
    }
    assert!(memory > 0 && board.memory() == memory, "{memory}");
}
