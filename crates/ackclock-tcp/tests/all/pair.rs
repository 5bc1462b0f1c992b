//! Two endpoints over a network that drops, duplicates, reorders and delays as it likes (see
//! `rig`): every byte arrives exactly once and in order, nothing is sent beyond the offered window,
//! the pipe equals its recomputation, nobody stalls, and everything has arrived once the network
//! stops losing.

use proptest::prelude::*;

use crate::rig::{Fate, Op, Pair, Setup, composition, strategies};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Deliver(0)),
        2 => any::<u8>().prop_map(Fate::Deliver),
        1 => any::<u8>().prop_map(Fate::Drop),
        1 => any::<u8>().prop_map(Fate::Duplicate),
    ]
}

/// Losses are sparse or not at all.
fn lost() -> impl Strategy<Value = u16> {
    prop_oneof![3 => Just(0u16), 3 => (0..16u32).prop_map(|bit| 1 << bit), 1 => any::<u16>()]
}

pub fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => any::<u16>().prop_map(Op::Write),
        1 => (0..300u16).prop_map(Op::Write),
        2 => any::<u16>().prop_map(Op::Read),
        8 => fate().prop_map(Op::Data),
        8 => fate().prop_map(Op::Ack),
        6 => (lost(), lost()).prop_map(|(data_lost, acks_lost)| Op::Round { data_lost, acks_lost }),
        2 => (0..3000u16).prop_map(Op::Wait),
        1 => Just(Op::Deadline),
        1 => Just(Op::Early),
        1 => any::<u16>().prop_map(Op::Mss),
    ]
}

pub fn setup(isn: impl Strategy<Value = u32>) -> impl Strategy<Value = Setup> {
    (
        composition(),
        isn,
        prop_oneof![Just(100u32), Just(536), Just(1000), Just(1460), 1..50u32],
        1..=10u32,
        prop_oneof![1..8u32, Just(64)],
        prop_oneof![Just(0u8), 0..=8u8],
        prop_oneof![Just(0u64), Just(200)],
        prop_oneof![4 => Just(true), 1 => Just(false)],
        any::<bool>(),
        any::<bool>(),
        prop_oneof![3 => Just(None), 1 => (1..6u32).prop_map(Some)],
        prop_oneof![2 => Just(true), 1 => Just(false)],
    )
        .prop_map(
            |(
                strategy,
                isn,
                mss,
                initial_window,
                buffer,
                wscale,
                delayed_ack,
                sack,
                ts,
                nagle,
                max_burst,
                auto,
            )| {
                Setup {
                    strategy,
                    isn,
                    mss,
                    initial_window,
                    buffer,
                    wscale,
                    delayed_ack,
                    sack,
                    timestamps: ts,
                    nagle,
                    max_burst,
                    auto_read: auto,
                }
            },
        )
}

fn holds(setup: &Setup, ops: &[Op]) {
    let mut pair = Pair::new(setup);
    pair.run(ops);
    pair.finish();
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 6_000,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn delivers_everything_in_order(setup in setup(Just(1_000_000)), ops in proptest::collection::vec(op(), 1..120)) {
        holds(&setup, &ops);
    }

    #[test]
    fn delivers_everything_in_order_across_the_wrap(
        setup in setup((1..40_000u32).prop_map(u32::wrapping_neg)),
        ops in proptest::collection::vec(op(), 1..120),
    ) {
        holds(&setup, &ops);
    }
}

// Failures that the properties above found, shrunk.

/// A recovery that begins while a timeout's slow start is not over sends old data in sequence:
/// `snd_nxt` has to move on.
#[test]
fn a_recovery_within_the_slow_start_after_a_timeout_moves_on() {
    for strategy in strategies() {
        let rounds = [0, 1].map(|data_lost| Op::Round { data_lost, acks_lost: 0 });
        holds(&Setup::plain(&strategy), &[Op::Write(2_000), rounds[0], Op::Deadline, rounds[1]]);
    }
}

/// What was SACKed is not retransmitted, whatever part of old data a recovery or a timeout sends in
/// sequence.
#[test]
fn sacked_data_is_left_out_when_old_data_is_sent_in_sequence() {
    for strategy in strategies() {
        let setup = Setup { mss: 7, initial_window: 9, buffer: 46, ..Setup::plain(&strategy) };
        holds(&setup, &[Op::Write(4_491), Op::Round { data_lost: 25_451, acks_lost: 0 }]);
    }
}

/// A segment that pacing holds back no longer fits the window when the path's MTU grows: the window
/// is to be probed.
#[test]
fn what_pacing_held_back_outgrows_the_window() {
    let setup = Setup {
        isn: 1_000_000,
        initial_window: 1,
        buffer: 4,
        auto_read: false,
        ..Setup::plain("linux+linux-pacing+go-back-n")
    };
    let arrives = Op::Data(Fate::Deliver(0));
    let ops = [
        Op::Write(501),
        arrives,
        Op::Ack(Fate::Deliver(0)),
        Op::Wait(1489),
        Op::Read(100),
        Op::Wait(1524),
        arrives,
        arrives,
        Op::Round { data_lost: 0, acks_lost: 0 },
        Op::Mss(43_701),
    ];
    holds(&setup, &ops);
}

#[test]
fn bursts_are_bounded_where_the_path_changes() {
    let setup = Setup {
        isn: u32::MAX,
        mss: 1_460,
        initial_window: 1,
        buffer: 3,
        delayed_ack: 200,
        max_burst: Some(2),
        ..Setup::plain("linux+recovery-probe")
    };
    holds(&setup, &[Op::Write(4_745), Op::Mss(20_440), Op::Write(3_112), Op::Mss(1_825)]);
}

/// A sender without a timer has lost what stands across the edge of a window that has shrunk: it
/// asks for a window, as if nothing were outstanding.
#[test]
fn a_notified_sender_probes_a_window_that_has_shrunk() {
    let setup = Setup {
        mss: 100,
        initial_window: 3,
        buffer: 3,
        wscale: 3,
        auto_read: false,
        ..Setup::plain("oracle+linux-cubic")
    };
    let ops = [
        Op::Write(297),
        Op::Round { data_lost: 0, acks_lost: 0 },
        Op::Data(Fate::Drop(0)),
        Op::Mss(40422),
        Op::Round { data_lost: 1, acks_lost: 0 },
        Op::Data(Fate::Deliver(0)),
        Op::Ack(Fate::Deliver(0)),
    ];
    holds(&setup, &ops);
}

/// Pacing may come between the segments of a bundle: what is left of it goes at pacing's deadline,
/// also if silly window avoidance would hold it back, and not whenever the sender is called.
#[test]
fn the_rest_of_a_bundle_waits_for_pacing() {
    let setup = Setup {
        isn: u32::MAX,
        mss: 1_000,
        initial_window: 4,
        buffer: 5,
        wscale: 4,
        auto_read: false,
        ..Setup::plain("bbr+linux-tso")
    };
    let ops = [
        Op::Write(9_993),
        Op::Data(Fate::Deliver(0)),
        Op::Wait(2_429),
        Op::Data(Fate::Deliver(0)),
        Op::Data(Fate::Deliver(0)),
        Op::Ack(Fate::Deliver(0)),
        Op::Round { data_lost: 0, acks_lost: 0 },
        Op::Read(4_016),
        Op::Write(0),
        Op::Ack(Fate::Deliver(0)),
        Op::Wait(51),
        Op::Early,
    ];
    holds(&setup, &ops);
}

/// After a timeout a segment from before the path's MTU fell is larger than cwnd. It goes at
/// pacing's deadline where nothing is in flight, and does not wait for the next timeout.
#[test]
fn pacing_lets_out_what_is_larger_than_the_window_after_a_timeout() {
    let setup = Setup {
        isn: 0,
        mss: 1460,
        initial_window: 1,
        buffer: 5,
        timestamps: true,
        nagle: true,
        ..Setup::plain("bbr+inflate+linux-reno")
    };
    let round = |data_lost| Op::Round { data_lost, acks_lost: 0 };
    let ops = [
        Op::Write(21_900),
        round(0),
        round(1 << 1),
        round(0),
        round(0),
        Op::Wait(885),
        Op::Data(Fate::Deliver(0)),
        round(0b1001_1000_0110),
        Op::Mss(2_920),
    ];
    holds(&setup, &ops);
}
