//! Packet conservation within fast recovery: a duplicate ACK tells that one segment has left the
//! network, and so releases one at most, lost retransmissions or not (Miyake & Inamura 2005,
//! section 2). Every pattern of losses in a window of ten, and of losses among the first four
//! retransmissions.

use ackclock_tcp::{Phase, Seq};

use crate::rig::{Fate, Op, Pair, Setup};

/// The most segments that a duplicate, and a partial ACK, released within recovery, and the number
/// of lost retransmissions that were found.
#[derive(Debug, Default, PartialEq)]
struct Most {
    on_duplicate: usize,
    on_partial: usize,
    found: u32,
}

fn transfer(strategy: &str, originals_lost: u32, retransmissions_lost: u32, most: &mut Most) {
    let setup = Setup { initial_window: 10, ..Setup::plain(strategy) };
    let mut pair = Pair::new(&setup);
    pair.apply(Op::Write(9_000));
    let (mut next, mut retransmissions) = (0, 0);
    while let Some(transmit) = pair.data.front() {
        let position = transmit.segment.seq.position(Seq(setup.isn), next).unwrap();
        let lost = if position < next {
            retransmissions += 1;
            retransmissions <= 4 && retransmissions_lost >> (retransmissions - 1) & 1 == 1
        } else {
            next = position + 100;
            position < 1_000 && originals_lost >> (position / 100) & 1 == 1
        };
        pair.apply(Op::Data(if lost { Fate::Drop(0) } else { Fate::Deliver(0) }));
        while !pair.acks.is_empty() {
            let (before, una) = (pair.sender.state().phase, pair.sender.acked());
            let (in_flight, copies) = (pair.data.len(), copies_of_head(&pair));
            pair.apply(Op::Ack(Fate::Deliver(0)));
            if (before, pair.sender.state().phase) != (Phase::Recovery, Phase::Recovery) {
                continue;
            }
            let released = pair.data.len() - in_flight;
            if pair.sender.acked() == una {
                most.on_duplicate = most.on_duplicate.max(released);
                most.found += u32::from(copies > 1 && copies_of_head(&pair) > copies);
            } else {
                most.on_partial = most.on_partial.max(released);
            }
        }
    }
}

fn copies_of_head(pair: &Pair) -> u16 {
    pair.sender.state().board.head().map_or(0, |r| r.transmissions)
}

fn most(strategy: &str) -> Most {
    let mut most = Most::default();
    for originals in 1..1 << 10 {
        for retransmissions in 0..1 << 4 {
            transfer(strategy, originals, retransmissions, &mut most);
        }
    }
    most
}

#[test]
fn a_duplicate_releases_one_segment_at_most() {
    for strategy in [
        "newreno-lrx-1",
        "newreno-lrx-2",
        "newreno-lrx-3",
        "reno-lrx",
        "sack-lrx",
        "dac-revised",
        "newreno+lrxt",
        "net-reno",
        "net-reno-sack",
    ] {
        let most = most(strategy);
        assert!(most.found > 0, "{strategy}: {most:?}");
        assert_eq!(most.on_duplicate, 1, "{strategy}: {most:?}");
    }
}

/// Lin & Kung 1998 section 5.1: "each received ACK (duplicate or partial) causes exactly one packet
/// to be sent".
#[test]
fn a_partial_ack_releases_one_segment_too_where_the_window_is_loss_sensitive() {
    for strategy in ["newreno-ls", "sack-ls", "net-reno", "net-reno-sack"] {
        let most = most(strategy);
        assert_eq!((most.on_duplicate, most.on_partial), (1, 1), "{strategy}");
    }
    assert_eq!(most("newreno").on_partial, 2);
}

#[test]
fn dac_releases_two() {
    let most = most("dac");
    assert_eq!(most.on_duplicate, 2, "{most:?}");
}
