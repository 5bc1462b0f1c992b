//! Connections that never open: nobody answers, or by a reset only.

use super::*;
use crate::lifetime::Limit;

/// Of client and server: how long the handshake lasted and the application paused, in milliseconds;
/// and whether it was opened.
fn told(packets: &[(f64, P)]) -> ([[u64; 2]; 2], bool) {
    let mut talk = Talk::new(ISNS[0]);
    for (ms, p) in packets {
        talk.at(*ms, *p);
    }
    let one = talk.one();
    let lasted = one.end.since(one.start);
    let shares = [&one.from_client, &one.from_server].map(|flow| {
        assert_eq!(flow.lifetime.whole(), lasted);
        [Limit::Handshake, Limit::Application].map(|limit| flow.lifetime.of(limit).0 / 1_000_000)
    });
    (shares, one.opened)
}

fn reset(end: fn(u64, u32) -> P) -> P {
    let mut p = end(0, 0);
    p.control = Control::RST;
    p
}

#[test]
fn all_of_its_time_is_the_handshake() {
    let half = [(0.0, syn(0)), (1.0, syn(1)), (1001.0, syn(1)), (3001.0, syn(1))];
    assert_eq!(told(&half), ([[3001, 0]; 2], false));
    for by in [reset(c), reset(s).with(Control::ACK)] {
        let mut closed = half.to_vec();
        closed.push((5000.0, by));
        assert_eq!(told(&closed), ([[5000, 0]; 2], false));
    }
    let alone = [(0.0, syn(0)), (1000.0, syn(0)), (3000.0, syn(0))];
    assert_eq!(told(&alone), ([[3000, 0]; 2], false));
    let refused = [(0.0, syn(0)), (1000.0, syn(0)), (1020.0, reset(s).with(Control::ACK))];
    assert_eq!(told(&refused), ([[1020, 0]; 2], false));
}

/// The third packet, or data of the server, which takes it for granted: the pause is the
/// application's, also if a reset ends it.
#[test]
fn one_that_opens_waits_for_its_application() {
    let shares = |third: P| {
        let packets = [(0.0, syn(0)), (1.0, syn(1)), (1.02, third), (5000.0, reset(c))];
        let ([[client, pause], _], opened) = told(&packets);
        (client, pause, opened)
    };
    assert_eq!(shares(c(0, 0)), (1, 4999, true));
    let (_, pause, opened) = shares(s(0, 100));
    assert!(opened && pause > 4900, "{pause}");
}
