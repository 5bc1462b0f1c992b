//! A router that asks for shorter packets.

use ackclock_trace::AskedShorter;

use super::*;

/// A server that was asked so, after which this went again in two of four seconds.
fn asked(retransmissions: Vec<Retransmission>) -> Flow {
    let router = [10, 9, 1, 1].into();
    let asked =
        AskedShorter { messages: 1, first: ms(500), mtu: Some(1400), router, ignored: false };
    Flow { asked_shorter: Some(Box::new(asked)), ..lossy(retransmissions) }
}

/// What is too big is lost to no queue: nothing else is said of it.
#[test]
fn what_was_too_big_is_no_loss() {
    let cut = || vec![again(1000, 0, Kind::TooBig), again(1000, 1000, Kind::TooBig)];
    let clamp = "192.0.2.2 to 192.0.2.1: packets are too big for the link behind 10.9.1.1; clamp \
        the MSS there (nftables: tcp option maxseg size set rt mtu), or lower the MTU of 192.0.2.2 \
        (recovery: 2.0 s)";
    assert_eq!(lines(connection(asked(cut()))), [clamp]);
    let lost = [cut(), vec![again(1100, 2000, Kind::Recovery), again(1200, 3000, Kind::Recovery)]];
    let lost = lines(connection(asked(lost.concat())));
    assert!(lost[0].contains("packets are lost; find where"), "{lost:?}");
    let flow = |retransmissions| {
        let mut flow = Flow { lifetime: Default::default(), ..asked(retransmissions) };
        flow.lifetime.add(Limit::CongestionWindow, span(4000));
        flow
    };
    assert_eq!(
        (has_lost(&flow(cut())), has_lost(&flow(vec![again(1, 0, Kind::Recovery)]))),
        (false, true)
    );
}

/// Random loss is what is lost otherwise.
#[test]
fn what_was_too_big_is_not_lost_at_random() {
    let random = |kind| {
        let all = (0..2)
            .map(|_| connection(Flow { bytes: 100_000, ..asked(vec![again(1000, 0, kind)]) }));
        let explained = Explained { connections: all.collect(), ..Explained::default() };
        rates(&explained).into_values().fold(0.0, f64::max)
    };
    assert_eq!((random(Kind::TooBig), random(Kind::Recovery) > 0.0), (0.0, true));
}
