//! What PRR promises whatever the network does, ACK loss, stretch ACKs, duplicates and reordering included: Dukkipati et al.
//! 2011 section 4.3, `prr_out <= 2 * prr_delivered`; RFC 6937 section 4 on PRR-CRB, data sent "equal to or less than the
//! amount of data delivered".

#[allow(dead_code)] // Ops of which this file needs a few.
mod rig;

use ackclock_tcp::Phase;
use proptest::{collection::vec, prelude::*};
use rig::{Fate, Op, Pair, Setup};

const MSS: u64 = 100;

fn pair(strategy: &str, sack: bool) -> Pair {
    let setup = Setup {
        strategy: strategy.into(),
        isn: u32::MAX - 500,
        mss: MSS as u32,
        initial_window: 40,
        buffer: 300,
        wscale: 0,
        delayed_ack: 0,
        sack,
        timestamps: false,
        nagle: false,
        max_burst: None,
        auto_read: true,
    };
    let mut pair = Pair::new(&setup);
    pair.apply(Op::Write(300 * MSS as u16));
    pair
}

/// Bytes that the receiver has reported in any way.
fn reported(pair: &Pair) -> u64 {
    pair.sender.acked() + pair.sender.state().board.sacked_bytes()
}

/// Within each recovery: the largest excess of what was sent over `times` what was delivered, in segments.
fn excess(pair: &mut Pair, ops: &[Op], times: u64) -> i64 {
    let (mut recoveries, mut begin, mut most) = (0, (0, 0), i64::MIN);
    for &op in ops {
        let before = (pair.sender.stats().bytes_sent, reported(pair));
        pair.apply(op);
        if pair.sender.stats().recoveries != recoveries {
            recoveries = pair.sender.stats().recoveries;
            begin = before;
        }
        if pair.sender.state().phase == Phase::Recovery {
            let (out, delivered) = (pair.sender.stats().bytes_sent - begin.0, reported(pair) - begin.1);
            most = most.max((out as i64 - (times * delivered) as i64) / MSS as i64);
        }
    }
    most
}

/// Losses are likelier than in a network that works; reordering reaches far.
fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => Just(Op::Data(Fate::Drop(0))),
        1 => (0..10u8).prop_map(|i| Op::Data(Fate::Deliver(i))),
        1 => (0..10u8).prop_map(|i| Op::Data(Fate::Duplicate(i))),
        5 => Just(Op::Data(Fate::Deliver(0))),
        5 => Just(Op::Ack(Fate::Deliver(0))),
        1 => (0..4u8).prop_map(|i| Op::Ack(Fate::Deliver(i))),
        1 => Just(Op::Ack(Fate::Drop(0))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sends_at_most_twice_what_is_delivered(ops in vec(op(), 1..250)) {
        for strategy in ["rate-halving+prr-ssrb", "fack+prr-ssrb", "rfc3517+prr"] {
            prop_assert!(excess(&mut pair(strategy, true), &ops, 2) <= 0, "{strategy}");
        }
    }

    #[test]
    fn the_conservative_bound_sends_at_most_what_is_delivered(ops in vec(op(), 1..250)) {
        prop_assert!(excess(&mut pair("fack+prr-crb", true), &ops, 1) <= 0);
    }
}

/// The property is PRR's: where 30 of 40 segments are lost, RFC 3517 sends ssthresh - pipe = 20 - 9 segments for one.
#[test]
fn a_burst_of_losses_shows_the_bounds_apart() {
    let mut ops = vec![Op::Data(Fate::Drop(0)); 30];
    ops.extend([Op::Data(Fate::Deliver(0)), Op::Ack(Fate::Deliver(0))]);
    for (strategy, times, most) in [
        ("fack", 2, 11 - 2),
        ("fack+prr-ub", 2, 11 - 2),
        ("fack+prr-ssrb", 2, 0),
        ("fack+prr-ssrb", 1, 1),
        ("fack+prr-crb", 1, 0),
    ] {
        assert_eq!(excess(&mut pair(strategy, true), &ops, times), most, "{strategy}");
    }
}
