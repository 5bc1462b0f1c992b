//! A peer without SACK: what takes the place of mechanisms that need it.

use std::cell::RefCell;

use super::path::Path;
use super::*;
use crate::recovery::detect::Notices;

/// What each ACK releases of `segments` segments, with these losses, until nothing is on its way
/// any more; and when that is, in milliseconds, or the next timer.
fn transfer(composition: &str, segments: u64, lost: &[(u64, u32)]) -> (Vec<String>, Time, u64) {
    let result = RefCell::new(None);
    run_with(composition, SenderConfig { sack: false, ..window(10) }, |x| {
        x.write(segments * MSS);
        x.sent.clear();
        let mut path = Path::new(x, lost);
        let mut steps = Vec::new();
        while path.in_network() > 0 {
            steps.push(path.step());
        }
        let now = (steps, x.sender.next_deadline(), x.sender.acked() / MSS);
        let before = result.replace(Some(now.clone()));
        assert!(before.is_none_or(|before| before == now), "at both sequence numbers");
    });
    result.into_inner().expect("it ran")
}

/// What would take the strategy's place is kept only where a handshake may still decide.
#[test]
fn no_second_strategy_is_kept() {
    let strategy = || Registry::default().parse("sack").expect("a composition").build();
    assert!(strategy().without_sack.is_some());
    assert!(Sender::new(config(), strategy()).strategy.without_sack.is_none());
    let mut early = Sender::before_handshake(config(), strategy());
    early.configure(SenderConfig { sack: false, ..config() });
    assert_eq!(early.strategy.detect.name(), "dupack");
}

/// RFC 5681 section 3.2: fast retransmit on the third duplicate, and RFC 6582's recovery: segment
/// by segment as NewReno.
#[test]
fn a_loss_is_repaired_as_newreno_does() {
    for composition in ["newreno", "sack", "rfc3517", "fack", "sack-ff96", "sack+tlp"] {
        let expected = [
            "", "", "0F", "", "", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19",
            "20 21", "22", "23", "24", "", "", "", "", "", "",
        ];
        let (steps, timer, acked) = transfer(composition, 25, &[(0, 1)]);
        assert_eq!((acked, timer), (25, Time::NEVER), "{composition}");
        assert_eq!(steps, expected, "{composition}");
    }
}

/// Two losses in a flight: the partial ACK draws the second retransmission.
#[test]
fn two_losses() {
    for composition in ["newreno", "sack", "rfc3517", "rack-tlp", "prr", "rate-halving"] {
        let (steps, _, acked) = transfer(composition, 25, &[(0, 1), (5, 1)]);
        assert_eq!(acked, 25, "{composition}");
        assert_eq!(steps[2], "0F", "{composition}");
        let partial = steps.iter().position(|s| s.starts_with("5P")).expect("a partial ACK");
        assert!(partial < 10, "{composition}: {steps:?}");
    }
}

/// Presets and compositions typed by hand: the same segments on the same ACKs as what is left of
/// them.
#[test]
fn what_is_left_of_a_composition() {
    for (composition, left) in [
        ("sack", "newreno"),
        ("rfc3517+lt", "newreno+lt"),
        ("prr", "newreno+prr"),
        ("is-lost+next-seg+recovery-point+prr-crb", "newreno+prr-crb"),
        ("rack-tlp", "newreno+prr-ssrb"),
        ("rack-tlp+lt+er-2", "newreno+prr-ssrb+lt+er-2"),
        ("rate-halving", "newreno+rate-halving"),
        ("sack+er+f-rto+eifel+dsack-undo", "newreno+er+f-rto+eifel"),
        ("sack-lrx", "newreno+lrx+response-1"),
        ("sack-ls", "newreno+loss-sensitive+no-bugfix"),
        ("ns2-sack", "ns2-newreno"),
    ] {
        for segments in [2, 3, 4, 9, 40] {
            for lost in [vec![], vec![(0, 1)], vec![(0, 1), (6, 1), (7, 1)], vec![(1, 1), (1, 2)]] {
                let both = [composition, left].map(|c| transfer(c, segments, &lost));
                assert_eq!(both[0], both[1], "{composition}: {segments} {lost:?}");
            }
        }
    }
}

/// Whatever a preset is made of, a loss in the middle of a flight costs no timeout.
#[test]
fn no_preset_waits_for_the_timer() {
    let registry = Registry::default();
    for preset in registry.presets() {
        let strategy = registry.parse(&preset.name).expect("a preset").build();
        if strategy.detect.notices() == Notices::Never {
            let (_, _, acked) = transfer(&preset.name, 30, &[(3, 1)]);
            assert_eq!(acked, 30, "{}", preset.name);
        }
    }
}
