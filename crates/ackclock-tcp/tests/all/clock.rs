//! The clock of a driver begins where it likes: nothing depends on that, and nothing overflows near
//! its end.

use ackclock_tcp::{Registry, Span, Time, Transmit};
use proptest::prelude::*;

use crate::pair::{op, setup};
use crate::rig::{Op, Pair, Setup};

/// What is sent, and how long after the origin, but for timestamps.
fn sent(setup: &Setup, ops: &[Op], origin: Time) -> Vec<(Span, Transmit)> {
    let mut pair = Pair::new(setup);
    pair.begin(origin);
    pair.run(ops);
    pair.finish();
    let plain = |(at, mut transmit): (Time, Transmit)| {
        transmit.segment.timestamps = None;
        (at.since(origin), transmit)
    };
    pair.sent.into_iter().map(plain).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    })]

    /// Timestamps of the upper half, and such as wrap. The origins are multiples of 500 ms, the
    /// coarsest tick of a timer. The first one leaves room for a round trip, which Linux takes for
    /// one of a millisecond at least. BBR takes a hash of the time for a random number.
    #[test]
    fn the_origin_changes_nothing(
        setup in setup(Just(1_000_000)).prop_filter("BBR", |s| !s.strategy.contains("bbr")),
        ops in proptest::collection::vec(op(), 1..120),
    ) {
        let from = |ms| sent(&setup, &ops, Time::ZERO + Span::from_millis(ms));
        let first = from(1000);
        for ms in [3_000_000_000, (1 << 32) - 1296] {
            prop_assert_eq!(&first, &from(ms), "{} ms", ms);
        }
    }
}

/// What comes above the first segment, which is lost, has the timestamp of the handshake echoed.
/// Once 0 was, which is a time in the future from 2^31 ms on.
#[test]
fn an_echo_of_the_handshake_is_old() {
    for preset in Registry::default().presets().iter().filter(|p| !p.name.contains("bbr")) {
        let setup = Setup { timestamps: true, ..Setup::plain(&preset.name) };
        for data_lost in (1..64).step_by(2) {
            let first = Op::Round { data_lost, acks_lost: 0 };
            let ops = [Op::Write(4_000), first, Op::Round { data_lost: 0, acks_lost: 0 }];
            let from = |ms| sent(&setup, &ops, Time::ZERO + Span::from_millis(ms));
            assert_eq!(from(1000), from(3_000_000_000), "{} {data_lost:b}", preset.name);
        }
    }
}
