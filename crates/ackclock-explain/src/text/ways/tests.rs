use ackclock_tcp::wire::Options;
use ackclock_trace::Ways;
use ackclock_trace::ways::{LeastRto, Reductions};

use super::*;

fn evidence(used: u32, unused: u32) -> Evidence {
    Evidence { used, unused }
}

fn values(flow: &Flow, back: &Flow) -> Vec<String> {
    ways(flow, back).into_iter().map(|(_, value)| value).collect()
}

#[test]
fn what_was_not_seen_is_not_claimed() {
    let one = Ways { probes: evidence(0, 1), ..Ways::default() };
    let flow = Flow { ways: one, ..Flow::default() };
    assert_eq!(values(&flow, &Flow::default()), ["not seen"; 9]);
}

#[test]
fn what_was_seen_is_named_with_its_evidence() {
    let ways = Ways {
        probes: evidence(3, 0),
        rack: evidence(0, 2),
        f_rto: evidence(1, 2),
        least_rto: LeastRto { seen: [1, 0] },
        initial_window: Some(10),
        reductions: Reductions { seven_tenths: 4, ..Reductions::default() },
        restart: evidence(2, 0),
    };
    let sack = Some(Options { sack_permitted: true, ..Options::default() });
    let flow = Flow { ways, offered: sack, timestamps: true, ..Flow::default() };
    let back = Flow { offered: Some(Options::default()), ..Flow::default() };
    assert_eq!(
        values(&flow, &back),
        [
            "not offered by the receiver",
            "offered by neither",
            "yes (seen 3 times)",
            "no (2 chances not used)",
            "not clear",
            "200 ms (seen once)",
            "10 segments",
            "to seven tenths, as with CUBIC (4 recoveries)",
            "yes (seen 2 times)",
        ]
    );
    let in_use = Flow { sack: true, ..Flow::default() };
    assert_eq!(values(&in_use, &Flow::default())[..2], ["in use", "not seen"]);
}
