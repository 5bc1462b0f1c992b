//! Peers that lie (Savage et al. 1999, RFC 5681 section 3.1 and 3.2, RFC 2018 section 8): no ACK
//! panics the sender, stalls it, or lets it send more than what was acknowledged and what the
//! strategy allows. Every test also runs across the wrap.

use ackclock_tcp::{
    Cause, EventKind, Phase, Registry, SackBlock, SackBlocks, Segment, Sender, SenderConfig, Seq,
    State, Time, Timestamps,
};
use proptest::prelude::*;

use crate::rig::{composition, is_notified, strategies};

const MSS: u64 = 1000;
const WINDOW: u16 = 60_000;

struct Peer {
    sender: Sender,
    now: Time,
    isn: Seq,
}

/// Position and cause of each segment sent.
type Sent = Vec<(u64, Cause)>;

impl Peer {
    /// A sender with `written` bytes to send that has sent its initial window of `segments`
    /// segments.
    fn new(strategy: &str, isn: u32, segments: u32, written: u64) -> Peer {
        let config = SenderConfig {
            isn: Seq(isn),
            mss: MSS as u32,
            initial_window: Some(segments),
            initial_rwnd: u64::from(WINDOW),
            wscale: 0,
            timestamps: true,
            events: true,
            ..SenderConfig::default()
        };
        let strategy = Registry::default().parse(strategy).expect("a known strategy").build();
        let mut peer =
            Peer { sender: Sender::new(config, strategy), now: Time::ZERO, isn: Seq(isn) };
        peer.sender.write(peer.now, written);
        let expected: Sent = (0..u64::from(segments)).map(|k| (k * MSS, Cause::New)).collect();
        assert_eq!(peer.sent(), expected);
        peer
    }

    fn sent(&mut self) -> Sent {
        std::iter::from_fn(|| self.sender.poll_transmit(self.now))
            .map(|t| (t.position, t.cause))
            .collect()
    }

    fn at(&self, position: u64) -> Seq {
        Seq::at(self.isn, position)
    }

    fn receive(&mut self, ack: Seq, wnd: u16, blocks: &[(u64, u64)]) -> Sent {
        self.now.0 += 1_000_000;
        let mut sack = SackBlocks::NONE;
        for &(left, right) in blocks {
            assert!(sack.push(SackBlock { left: self.at(left), right: self.at(right) }));
        }
        self.sender.on_segment(self.now, &Segment { ack, wnd, sack, ..Segment::default() });
        self.sent()
    }

    /// An ACK for everything below `position`.
    fn ack(&mut self, position: u64, blocks: &[(u64, u64)]) -> Sent {
        self.receive(self.at(position), WINDOW, blocks)
    }

    fn deadline(&mut self) -> Sent {
        self.now = self.sender.next_deadline();
        assert_ne!(self.now, Time::NEVER, "stalls");
        self.sender.on_deadline(self.now);
        self.sent()
    }

    fn s(&self) -> &State {
        self.sender.state()
    }

    /// cwnd after each undo since the last call.
    fn undone(&mut self) -> Vec<u64> {
        let events = std::iter::from_fn(|| self.sender.poll_event());
        events.filter(|e| matches!(e.kind, EventKind::Undone { .. })).map(|e| e.cwnd).collect()
    }

    /// All that an ACK could change, the time apart.
    fn snapshot(&self) -> (State, Time) {
        let mut state = self.s().clone();
        state.now = Time::ZERO;
        (state, self.sender.next_deadline())
    }
}

/// Each strategy that answers at once: what paces waits for its clock.
fn each(test: impl Fn(&str, u32)) {
    let at_once = |strategy: &String| !is_notified(strategy) && !paces(strategy);
    for strategy in strategies().into_iter().filter(at_once) {
        for isn in [0, u32::MAX - 4_500] {
            test(&strategy, isn);
        }
    }
}

fn uses_sack(strategy: &str) -> bool {
    Registry::default().parse(strategy).unwrap().build().uses_sack
}

/// Selection chooses in every phase, as in Linux.
fn chooses_as_linux(strategy: &str) -> bool {
    let strategy = Registry::default().parse(strategy).unwrap().build();
    strategy.regulate.everywhere() && strategy.select.everywhere()
}

/// `receive` changes nothing and sends nothing.
fn ignores(peer: &mut Peer, ack: Seq, wnd: u16, blocks: &[(u64, u64)]) {
    let before = format!("{:?}", peer.snapshot());
    assert_eq!(peer.receive(ack, wnd, blocks), []);
    assert_eq!(format!("{:?}", peer.snapshot()), before);
}

#[test]
fn an_ack_of_data_never_sent_is_ignored() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 100_000);
        for ahead in [1, 999, 1000, 1 << 20, (1 << 31) - 10_001] {
            let ack = peer.at(10_000 + ahead);
            ignores(&mut peer, ack, 0, &[(1000, 2000)]);
            ignores(&mut peer, ack, u16::MAX, &[]);
        }
    });
}

#[test]
fn an_ack_below_snd_una_is_ignored() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 100_000);
        peer.ack(5_000, &[]);
        for position in [0, 1, 4_000, 4_999] {
            for wnd in [0, 1, u16::MAX] {
                let ack = peer.at(position);
                ignores(&mut peer, ack, wnd, &[]);
            }
        }
        // Before the first byte, and half the sequence space away.
        for ack in [peer.isn.0.wrapping_sub(1), peer.isn.0.wrapping_sub(1 << 30)] {
            ignores(&mut peer, Seq(ack), 0, &[]);
        }
    });
}

#[test]
fn overlapping_blocks_count_once() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 10_000);
        peer.ack(0, &[(5_000, 7_000), (3_000, 6_000), (2_000, 4_000), (2_000, 6_000)]);
        let expected = if uses_sack(strategy) { 5_000 } else { 0 };
        assert_eq!(peer.s().board.sacked_bytes(), expected, "{strategy}");
    });
}

/// A block that covers a segment in part says nothing about the rest of it.
#[test]
fn a_block_marks_whole_segments_only() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 10_000);
        peer.ack(0, &[(2_001, 3_999), (5_500, 8_500)]);
        let expected = if uses_sack(strategy) { 2_000 } else { 0 };
        assert_eq!(peer.s().board.sacked_bytes(), expected, "{strategy}");
        peer.ack(0, &[(2_000, 4_000)]);
        // From 2,000 on the first block hides a segment from Linux (tcp_sacktag_write_queue), and
        // from nobody else.
        let expected = match uses_sack(strategy) {
            true if chooses_as_linux(strategy) => 3_000,
            true => 4_000,
            false => 0,
        };
        assert_eq!(peer.s().board.sacked_bytes(), expected, "{strategy}");
    });
}

#[test]
fn inverted_and_empty_blocks_and_blocks_of_unsent_data_are_ignored() {
    let bad: &[&[(u64, u64)]] = &[
        &[(6_000, 3_000)],
        &[(3_000, 3_000)],
        &[(10_000, 11_000)],
        &[(8_000, 10_001)],
        &[(50_000, 60_000), (6_000, 3_000), (10_000, 10_000), (9_000, 8_000)],
        &[(0, u64::from(u32::MAX))],
        &[(1 << 31, 1 << 30)],
    ];
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 10_000);
        for (k, blocks) in bad.iter().enumerate() {
            if uses_sack(strategy) {
                // Such an ACK is no duplicate either: it reports nothing (RFC 6675 section 2).
                let ack = peer.at(0);
                ignores(&mut peer, ack, WINDOW, blocks);
            } else if k < 2 {
                assert_eq!(peer.ack(0, blocks), []);
                assert_eq!(peer.s().dupacks, k as u32 + 1, "{strategy}");
            }
            assert_eq!(peer.s().board.sacked_bytes(), 0);
        }
    });
}

/// RFC 2018 section 8: after a timeout, what was SACKed is retransmitted, since the receiver may
/// have discarded it.
#[test]
fn a_receiver_that_reneges_costs_one_timeout() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 10_000);
        for k in 2..=10 {
            peer.ack(0, &[(1_000, k * MSS)]);
        }
        // It discards all of that, takes the head, and from now on what comes in order.
        let mut rcv_nxt = 1_000;
        let mut sent = peer.ack(rcv_nxt, &[]);
        let timeouts = peer.sender.stats().timeouts;
        for _ in 0..100 {
            if peer.sender.is_idle() {
                break;
            }
            if sent.is_empty() {
                sent = peer.deadline();
            }
            let mut answers = Vec::new();
            for (position, _) in sent.drain(..) {
                rcv_nxt += if position == rcv_nxt { MSS } else { 0 };
                answers.push(rcv_nxt);
            }
            sent = answers.into_iter().flat_map(|position| peer.ack(position, &[])).collect();
        }
        assert!(peer.sender.is_idle(), "{strategy}: {:?}", peer.s());
        if uses_sack(strategy) {
            assert_eq!(peer.sender.stats().timeouts - timeouts, 1, "{strategy}");
        }
        assert_eq!(peer.s().board.pipe(), 0);
    });
}

/// Savage et al. 1999 section 2.1. In slow start cwnd grows by min(N, SMSS) per ACK (RFC 5681
/// equation 2), so a segment acknowledged in ten parts is worth exactly one segment. Linux counts
/// it once all of it is acknowledged.
#[test]
fn splitting_acks_gains_nothing_in_slow_start() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 4, 100_000);
        for part in 1..=40 {
            peer.ack(part * 100, &[]);
            let counted = if counts_segments(strategy) { part / 10 * MSS } else { part * 100 };
            assert_eq!(peer.s().cwnd, 4 * MSS + counted, "{strategy}");
        }
        assert_eq!(peer.s().snd_max, 12_000, "four segments acknowledged, eight in flight");
    });
}

/// In congestion avoidance RFC 5681 equation 3 counts ACKs, so splitting pays by exactly that
/// equation; byte counting (RFC 3465 section 2.1) takes it away.
#[test]
fn splitting_acks_in_congestion_avoidance_follows_equation_3_or_byte_counting() {
    for (strategy, byte_counting) in
        [("reno", false), ("sack", false), ("reno+abc", true), ("sack+abc", true)]
    {
        for isn in [0, u32::MAX - 4_500] {
            let config = SenderConfig {
                isn: Seq(isn),
                mss: MSS as u32,
                initial_window: Some(10),
                initial_ssthresh: Some(2 * MSS),
                initial_rwnd: u64::from(WINDOW),
                wscale: 0,
                ..SenderConfig::default()
            };
            let sender = Sender::new(config, Registry::default().parse(strategy).unwrap().build());
            let mut peer = Peer { sender, now: Time::ZERO, isn: Seq(isn) };
            peer.sender.write(Time::ZERO, 100_000);
            peer.sent();
            let mut expected = 10 * MSS;
            for part in 1..=100 {
                peer.ack(part * 100, &[]);
                expected += match byte_counting {
                    true => {
                        if part == 100 {
                            MSS
                        } else {
                            0
                        }
                    }
                    false => MSS * MSS / expected,
                };
                assert_eq!(peer.s().cwnd, expected, "{strategy}, part {part}");
            }
        }
    }
}

/// Savage et al. 1999 section 2.3: acknowledging what is still on its way gains no more than honest
/// ACKs do, a segment for each, and nothing beyond what was sent.
#[test]
fn optimistic_acks_gain_what_honest_acks_gain() {
    each(|strategy, isn| {
        // HyStart sees the round trip rise.
        if most_for_an_ack(strategy) >= 8 * MSS {
            return;
        }
        let mut peer = Peer::new(strategy, isn, 2, 1_000_000);
        for k in 1..=20 {
            let ahead = peer.at(peer.s().snd_max + 1);
            ignores(&mut peer, ahead, WINDOW, &[]);
            let sent = peer.ack(k * MSS, &[]);
            assert_eq!(sent.len(), 2, "{strategy}");
            assert_eq!((peer.s().cwnd, peer.s().flight()), ((2 + k) * MSS, (2 + k) * MSS));
        }
    });
}

fn paces(strategy: &str) -> bool {
    Registry::default().parse(strategy).unwrap().build().pacing.is_some()
}

/// The window law goes by the rate of delivery, and restores windows of long before; or cwnd is
/// the law's within recovery too.
fn goes_by_rate(strategy: &str) -> bool {
    let law = Registry::default().parse(strategy).unwrap().build().window.by_rate().is_some();
    law || strategy.starts_with("bbr") || strategy.contains("by-window")
}

/// The window law is one of Linux's.
fn counts_segments(strategy: &str) -> bool {
    most_for_an_ack(strategy) == u64::MAX
}

/// What the window law adds for one ACK in slow start: a segment; with byte counting two (RFC 3465
/// section 2.2, L = 2), with HyStart++ eight (RFC 9406 section 4.3, L = 8), in Linux all that was
/// delivered (`u64::MAX`).
fn most_for_an_ack(strategy: &str) -> u64 {
    let (first, rest) = strategy.split_once('+').unwrap_or((strategy, ""));
    let registry = Registry::default();
    let preset = registry.preset(first).map_or(&[][..], |p| &p.mechanisms);
    preset.iter().map(|name| &**name).chain([first]).chain(rest.split('+')).fold(
        MSS,
        |most, name| match name {
            "abc" => 2 * MSS,
            "hystart" if most < u64::MAX => 8 * MSS,
            "linux-cubic" | "linux-reno" => u64::MAX,
            "reno-window" | "half-window" | "ns2-window" | "cubic" => MSS,
            _ => most,
        },
    )
}

/// One ACK for a whole window is worth no more than that.
#[test]
fn a_stretch_ack_gains_what_the_window_law_allows() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 1_000_000);
        peer.ack(10_000, &[]);
        let gain = most_for_an_ack(strategy).min(10 * MSS);
        assert_eq!(peer.s().cwnd, 10 * MSS + gain, "{strategy}");
        assert_eq!(peer.s().flight(), 10 * MSS + gain);
    });
}

/// Savage et al. 1999 section 2.2: a flood of duplicates inflates the window by no more than what
/// is outstanding (RFC 5681 section 3.2 step 4, note).
#[test]
fn a_flood_of_duplicates_does_not_inflate_beyond_what_is_outstanding() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 10_000);
        for _ in 0..1_000 {
            for (position, cause) in peer.ack(0, &[]) {
                // Header-only segments carry nothing.
                assert!(position < 10_000 || cause == Cause::Filler, "{strategy} {cause:?}");
            }
            let s = peer.s();
            // Half of the window and the ten outstanding, also where a lost retransmission lowers
            // ssthresh on the way. A loss as slow start begins may leave all of the window.
            let left = if strategy.contains("tolerant-start") { 10 } else { 5 };
            assert!(s.cwnd <= (left + 10) * MSS, "{strategy}: {}", s.cwnd);
        }
        assert_eq!(peer.s().snd_max, 10_000);
        if uses_sack(strategy) {
            assert_eq!(peer.sender.stats().retransmissions, 0, "{strategy}: nothing was SACKed");
        }
    });
}

/// After a timeout what was outstanding before it has been given up: duplicates must not bring half
/// of it back.
#[test]
fn duplicates_after_a_timeout_do_not_bring_the_old_window_back() {
    for isn in [0, u32::MAX - 4_500] {
        let mut peer = Peer::new("reno", isn, 40, 100_000);
        assert_eq!(peer.deadline(), [(0, Cause::Timeout)]);
        assert_eq!(peer.s().ssthresh, 20 * MSS);
        assert_eq!(peer.ack(1_000, &[]), [(1_000, Cause::SlowStart), (2_000, Cause::SlowStart)]);
        assert_eq!([peer.ack(1_000, &[]), peer.ack(1_000, &[])], [[], []]);
        let sent = peer.ack(1_000, &[]);
        assert_eq!((peer.s().ssthresh, peer.s().cwnd), (2 * MSS, 5 * MSS));
        let again =
            [(1_000, Cause::FastRetransmit), (3_000, Cause::SlowStart), (4_000, Cause::SlowStart)];
        assert_eq!(sent[..3], again);
        assert_eq!(sent.len(), 4, "cwnd is five segments: {sent:?}");
    }
}

/// RFC 9293 section 3.8.6: a window that shrinks to zero stops new data, not the repair of old; and
/// it is probed.
#[test]
fn a_window_that_shrinks_to_zero_is_probed_until_it_opens() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 100_000);
        let first = peer.at(0);
        assert_eq!(peer.receive(first, 0, &[]), []);
        // Nothing is lost, but the receiver says nothing: the timer sends the head again. Linux
        // sends a probe before, also without a round trip, but not beyond the window.
        let mut again = peer.deadline();
        if again == [(9_000, Cause::TailLossProbe)] || again.is_empty() {
            again = peer.deadline();
        }
        assert_eq!(again, [(0, Cause::Timeout)], "{strategy}");
        let all = peer.at(10_000);
        assert_eq!(peer.receive(all, 0, &[]), [], "{strategy}");
        let mut intervals = Vec::new();
        for _ in 0..8 {
            let before = peer.now;
            assert_eq!(peer.deadline(), [(10_000, Cause::WindowProbe)], "{strategy}");
            intervals.push(peer.now.since(before).0);
            assert_eq!(peer.receive(all, 0, &[]), []);
            peer.now.0 -= 1_000_000; // The answer took no time.
        }
        let timer = Registry::default().parse(strategy).unwrap().build().timer;
        let max = timer.max_rto().0;
        if timer.serves_all() {
            // Linux counts the timeout as a probe too, and its timer starts anew with each answer,
            // which takes 1 ms: the first one, since the others count from their probes. A probe
            // leaves at a tick of 4 ms, and the wait is one longer.
            let [answer, tick] = [1_000_000, 4_000_000];
            let mut waits = [2, 8, 16, 32, 64, 120, 120, 120].map(|s| s * 1_000_000_000 + tick);
            waits[0] -= answer;
            assert_eq!(intervals, waits);
        } else {
            for pair in intervals.windows(2) {
                assert_eq!(pair[1], (pair[0] * 2).min(max), "{strategy}: {intervals:?}");
            }
            assert_eq!(intervals[7], max, "{strategy}");
        }
        // The window opens: new data goes, at the rate of the window left by the timeout.
        let sent = peer.receive(all, WINDOW, &[]);
        assert_eq!(sent[0], (10_000, Cause::New), "{strategy}");
        assert_eq!(sent.len() as u64, peer.s().cwnd / MSS, "{strategy}");
    });
}

/// A window smaller than what is outstanding takes nothing back and lets nothing new out.
#[test]
fn a_window_that_shrinks_below_what_is_outstanding_lets_nothing_new_out() {
    each(|strategy, isn| {
        let mut peer = Peer::new(strategy, isn, 10, 100_000);
        let ack = peer.at(1_000);
        assert_eq!(peer.receive(ack, 4_000, &[]), [], "{strategy}");
        assert_eq!((peer.s().window_edge, peer.s().snd_max), (5_000, 10_000));
        let ack = peer.at(10_000);
        let sent = peer.receive(ack, 4_000, &[]);
        assert_eq!(sent, [10_000, 11_000, 12_000, 13_000].map(|p| (p, Cause::New)), "{strategy}");
    });
}

/// RFC 9293 section 3.8.6: old data "between SND.UNA and SND.UNA+SND.WND" SHOULD, beyond it MAY be
/// retransmitted (MAY-7).
#[test]
fn a_hole_beyond_a_shrunken_window_is_repaired_all_the_same() {
    for isn in [0, u32::MAX - 4_500] {
        let mut peer = Peer::new("sack", isn, 10, 100_000);
        let first = peer.at(0);
        assert_eq!(peer.receive(first, 3_000, &[(1_000, 5_000)]), [(0, Cause::FastRetransmit)]);
        assert_eq!(
            peer.receive(first, 3_000, &[(6_000, 10_000), (1_000, 5_000)]),
            [(5_000, Cause::Recovery)],
            "and nothing new"
        );
        assert_eq!(peer.s().board.pipe(), 2_000);
    }
}

/// One lie after the other.
#[derive(Clone, Copy, Debug)]
enum Lie {
    Ack { ahead: i32, wnd: u16, blocks: [(i32, i32); 3], count: u8, echo: Option<u32> },
    Wait(u16),
    Deadline,
    Write(u16),
}

fn lie() -> impl Strategy<Value = Lie> {
    let near = || prop_oneof![8 => -3_000..20_000i32, 1 => any::<i32>()];
    let segments = || prop_oneof![8 => (0..20i32).prop_map(|k| k * 1000), 1 => near()];
    let block = move || (segments(), segments());
    let ahead = prop_oneof![4 => Just(0), 4 => (0..5i32).prop_map(|k| k * 1000), 2 => near()];
    // Milliseconds: within the first seconds, or any.
    let echo = proptest::option::of(prop_oneof![3 => 0..5_000u32, 1 => any::<u32>()]);
    let wnd = prop_oneof![4 => Just(WINDOW), 1 => Just(0u16), 1 => any::<u16>()];
    prop_oneof![
        20 => (ahead, wnd, [block(), block(), block()], 0..=3u8, echo)
            .prop_map(|(ahead, wnd, blocks, count, echo)| Lie::Ack { ahead, wnd, blocks, count, echo }),
        2 => any::<u16>().prop_map(Lie::Wait),
        2 => Just(Lie::Deadline),
        2 => any::<u16>().prop_map(Lie::Write),
    ]
}

fn tell(peer: &mut Peer, lie: Lie) -> Option<Segment> {
    match lie {
        Lie::Ack { ahead, wnd, blocks, count, echo } => {
            let at = |offset: i32| {
                Seq(Seq::at(peer.isn, peer.s().snd_una).0.wrapping_add_signed(offset))
            };
            let mut sack = SackBlocks::NONE;
            for &(left, right) in &blocks[..usize::from(count)] {
                sack.push(SackBlock { left: at(left), right: at(right) });
            }
            let timestamps = echo.map(|ecr| Timestamps { val: 0, ecr });
            let segment = Segment { ack: at(ahead), wnd, sack, timestamps, ..Segment::default() };
            peer.sender.on_segment(peer.now, &segment);
            Some(segment)
        }
        Lie::Wait(ms) => {
            peer.now.0 += u64::from(ms) * 1_000_000;
            peer.sender.on_deadline(peer.now);
            None
        }
        Lie::Deadline => {
            if peer.sender.next_deadline() != Time::NEVER {
                peer.now = peer.now.max(peer.sender.next_deadline());
                peer.sender.on_deadline(peer.now);
            }
            None
        }
        Lie::Write(bytes) => {
            peer.sender.write(peer.now, u64::from(bytes));
            None
        }
    }
}

/// Each ACK shows the response to the one before it spurious, opens the window as slow start does,
/// and has news of a loss, so that the response to come restores what this ACK has opened: a
/// segment for each, as for honest ACKs.
#[test]
fn an_undo_with_every_ack_gains_what_slow_start_gains() {
    for isn in [0, u32::MAX - 4_500] {
        let mut peer = Peer::new("rack-tlp+eifel+lt+inflate", isn, 10, 20_000);
        let ack = |peer: &mut Peer, position: u64, blocks: &[(u64, u64)]| {
            let timestamps = Some(Timestamps { val: 0, ecr: 0 });
            let mut sack = SackBlocks::NONE;
            for &(left, right) in blocks {
                sack.push(SackBlock { left: peer.at(left), right: peer.at(right) });
            }
            let segment = Segment {
                ack: peer.at(position),
                wnd: WINDOW,
                sack,
                timestamps,
                ..Segment::default()
            };
            peer.sender.on_segment(peer.now, &segment);
            peer.sent()
        };
        ack(&mut peer, 0, &[(0, 6_000)]);
        ack(&mut peer, 1, &[]);
        peer.now = Time(4_044_000_000);
        peer.sender.on_deadline(peer.now);
        assert_eq!(peer.sent(), [(1, Cause::Timeout)]);
        assert_eq!(ack(&mut peer, 1_001, &[]), [(1_001, Cause::FastRetransmit)]);
        assert_eq!(ack(&mut peer, 5_000, &[(6_001, 11_001)]), [(5_000, Cause::FastRetransmit)]);
        assert_eq!(ack(&mut peer, 6_000, &[]), [(6_000, Cause::FastRetransmit)]);
        peer.now = Time(8_594_000_000);
        peer.sender.on_deadline(peer.now);
        assert_eq!(peer.sent(), [(6_000, Cause::Timeout)]);
        assert_eq!(ack(&mut peer, 7_000, &[]), [(7_000, Cause::FastRetransmit)]);
        assert_eq!(peer.s().cwnd, 4_500);
        let new = [16_000, 17_000, 18_000, 19_000].map(|position| (position, Cause::New));
        assert_eq!(ack(&mut peer, 10_000, &[]), new);
        assert_eq!(peer.undone(), [10_001, 11_001, 12_001, 13_001, 14_001]);
        assert_eq!((peer.s().cwnd, peer.s().phase), (15_001, Phase::Open));
    }
}

fn withstands(strategy: &str, isn: u32, lies: &[Lie]) {
    let mut peer = Peer::new(strategy, isn, 10, 20_000);
    let mut written = 20_000;
    let mut furthest_edge = u64::from(WINDOW);
    // An undo restores the window of before the response, which the ACK that began it may have
    // opened first. If the ACK that brings it also begins the next response, that one is to
    // restore the window that this ACK has opened. RFC 4015 goes on from what was outstanding.
    let mut restorable = 0;
    for &lie in lies {
        let (prior_cwnd, prior_max, prior_una) =
            (peer.s().cwnd, peer.s().snd_max, peer.s().snd_una);
        let (prior_phase, prior_ssthresh, prior_flight) =
            (peer.s().phase, peer.s().ssthresh, peer.s().flight());
        // D-SACKs count as delivered too, as far as something was retransmitted.
        // Where segments are counted, each piece of one that a shrunken window has cut counts.
        let outstanding = if counts_segments(strategy) {
            peer.s().board.len() as u64 * MSS
        } else {
            prior_flight
        };
        let delivered = outstanding + peer.sender.stats().retransmissions * MSS;
        let growth = most_for_an_ack(strategy).min(delivered).max(2 * MSS);
        written += if let Lie::Write(bytes) = lie { u64::from(bytes) } else { 0 };
        tell(&mut peer, lie);
        let undone = !peer.undone().is_empty();
        furthest_edge = furthest_edge.max(peer.s().window_edge);
        let sent = peer.sent();
        assert!(sent.len() < 200, "{strategy}: sends without end");
        let s = peer.s();
        assert_eq!(s.board.pipe(), s.board.recomputed_pipe());
        assert!(
            prior_una <= s.snd_una && s.snd_una <= prior_max,
            "acknowledges what was never sent"
        );
        assert!(s.snd_una <= s.snd_nxt && s.snd_nxt <= s.snd_max && s.snd_max <= written);
        assert!(s.snd_max <= furthest_edge, "{strategy}: sends beyond the window");
        let grown = s.cwnd.saturating_sub(prior_cwnd);
        // What the window law adds for an ACK, or what a recovery that begins or goes on may take:
        // ssthresh (ns-2: half of cwnd, of which ssthresh has the whole segments) and a
        // segment for each one outstanding, or for each duplicate that began it. It ends with the
        // same, and BSD's opens the window at once.
        let mut allowed = match (prior_phase, s.phase) {
            (_, Phase::Recovery) => {
                let left = u64::from(s.dupthresh.max(3)) * MSS;
                s.ssthresh.max(prior_cwnd / 2) + s.flight().max(left)
            }
            (Phase::Recovery, _) => prior_cwnd.max(prior_ssthresh) + growth,
            _ => prior_cwnd + growth,
        };
        restorable = restorable.max(prior_cwnd);
        if undone {
            restorable = restorable.max(prior_flight) + growth;
            allowed = allowed.max(restorable + growth);
        }
        // Linux's timeout lets one segment out beside what it does not take for lost, which may be
        // more than the window was (`tcp_enter_loss`).
        let linux = ["linux", "last-mile"].iter().any(|name| strategy.starts_with(name))
            || strategy.contains("linux-prr");
        if s.phase == Phase::Loss && linux {
            allowed = allowed.max(s.board.pipe() + MSS);
        }
        // Its PRR counts segments, and ssthresh is two of them at least: after a cwnd of one, each
        // that is delivered lets two out (`tcp_cwnd_reduction`).
        if prior_phase == Phase::Recovery && s.phase == Phase::Recovery && linux {
            allowed = allowed.max(prior_cwnd + growth);
        }
        assert!(
            grown == 0 || s.cwnd <= allowed || goes_by_rate(strategy),
            "{strategy}: cwnd from {prior_cwnd} to {}, {:?}",
            s.cwnd,
            s.phase
        );
        if !peer.sender.is_idle() {
            assert_ne!(peer.sender.next_deadline(), Time::NEVER, "{strategy} stalls: {s:?}");
        }
    }
    // An honest receiver takes over; all that was not acknowledged comes, in order in the end.
    let mut rcv_nxt = peer.s().snd_una;
    for _ in 0..2_000 {
        if peer.sender.is_idle() {
            return;
        }
        peer.now = peer.sender.next_deadline();
        assert_ne!(peer.now, Time::NEVER, "{strategy} stalls: {:?}", peer.s());
        peer.sender.on_deadline(peer.now);
        for acks in 0.. {
            let mut sent = 0;
            while let Some(t) = peer.sender.poll_transmit(peer.now) {
                sent += 1;
                let end = t.position + u64::from(t.segment.len);
                if t.position <= rcv_nxt {
                    rcv_nxt = rcv_nxt.max(end);
                }
            }
            if sent == 0 && acks > 0 {
                break;
            }
            let ack = peer.at(rcv_nxt);
            peer.sender.on_segment(peer.now, &Segment { ack, wnd: WINDOW, ..Segment::default() });
        }
    }
    panic!("{strategy} does not finish: {:?}", peer.s());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn random_acks_neither_panic_nor_stall_nor_inflate(
        strategy in composition().prop_filter("nobody tells of \
            losses", |strategy| !is_notified(strategy)),
        isn in prop_oneof![Just(0u32), (0..30_000u32).prop_map(u32::wrapping_neg)],
        lies in proptest::collection::vec(lie(), 1..80),
    ) {
        withstands(&strategy, isn, &lies);
    }
}

/// The receiver closes its window while pacing holds back what it had room for. Then it opens it.
#[test]
fn a_window_that_closes_under_pacing_opens_again() {
    let ack = |ahead, wnd| Lie::Ack { ahead, wnd, blocks: [(0, 0); 3], count: 0, echo: None };
    let lies =
        [Lie::Wait(1_000), ack(4_000, 60_000), ack(4_000, 60_000), ack(2_000, 60_000), ack(0, 0)];
    withstands("linux-2.6+linux-pacing", 0, &lies);
}

/// After timeouts into a closed window, F-RTO restores a cwnd of one segment, and the same ACK
/// shows a loss: ssthresh is above cwnd.
#[test]
fn a_recovery_begins_with_a_window_below_ssthresh() {
    let ack = |ahead, wnd, block, count| {
        let blocks = [block, (0, 0), (0, 0)];
        Lie::Ack { ahead, wnd, blocks, count, echo: None }
    };
    let lies = [
        ack(4_000, 60_000, (0, 0), 0),
        ack(2_000, 60_000, (0, 0), 0),
        ack(3_000, 60_000, (0, 0), 0),
        ack(2_000, 60_000, (0, 0), 0),
        ack(4_001, 60_000, (0, 0), 0),
        ack(0, 0, (0, 0), 0),
        Lie::Wait(3),
        Lie::Wait(201),
        Lie::Wait(408),
        ack(0, 1, (0, 0), 0),
        Lie::Wait(816),
        ack(0, 60_000, (1_000, 4_000), 1),
        Lie::Write(2_001),
        ack(2_000, 60_000, (0, 0), 0),
    ];
    withstands("linux+rack", 0, &lies);
}
