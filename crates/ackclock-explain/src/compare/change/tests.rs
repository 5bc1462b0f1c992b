use ackclock_trace::Limit;

use super::*;
use crate::fixture;

fn ms(all: &[u64]) -> Vec<Span> {
    all.iter().copied().map(Span::from_millis).collect()
}

/// Logarithms of 100 and 400 ms are ln 2 from their mean: the half-width is 12.7062 ln 2 (one
/// degree of freedom), and of two of them the root of 2 times as much.
#[test]
fn the_interval_of_a_ratio() {
    let (first, second) = (ms(&[100, 400]), ms(&[300, 1200]));
    let ratio = Ratio::of([&first, &second]).unwrap();
    let width = 12.706_204_7 * 2_f64.ln() * 2_f64.sqrt();
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
    assert!(near(ratio.mean, 3.0), "{ratio:?}");
    assert!(near(ratio.low, 3.0 * (-width).exp()) && near(ratio.high, 3.0 * width.exp()));
    assert!(ratio.may_be_chance());
    assert_eq!(Ratio::of([&first, &ms(&[300])]), None);
}

#[test]
fn what_chance_may_have_made() {
    let ratio = |second: &[u64]| Ratio::of([&ms(&[100, 101, 102]), &ms(second)]).unwrap();
    assert!(!ratio(&[110, 111, 112]).may_be_chance());
    assert!(!ratio(&[90, 91, 92]).may_be_chance());
    assert!(ratio(&[100, 103, 102]).may_be_chance());
}

/// The pause of an application, and a connection without payload, do not count.
#[test]
fn what_connections_had_to_do() {
    let mut explained = fixture::explained();
    let template = explained.connections.swap_remove(0);
    let found = |capture: usize, busy: u64, bytes: u64| {
        let mut found = template.clone();
        found.capture = capture;
        let c = &mut found.connection;
        for flow in [&mut c.from_client, &mut c.from_server] {
            (flow.bytes, flow.lifetime) = (0, Default::default());
        }
        c.from_server.bytes = bytes;
        c.from_server.lifetime.add(Limit::Path, Span::from_millis(busy));
        c.from_server.lifetime.add(Limit::Application, Span::from_millis(5000));
        found
    };
    let both = [(0, 20, 9), (0, 20, 9), (0, 7000, 0), (1, 40, 9), (1, 40, 9), (1, 40, 9)];
    explained.connections = both.map(|(capture, busy, bytes)| found(capture, busy, bytes)).into();
    let change = Change::of(&explained).unwrap();
    assert_eq!(change.busy, [20, 40].map(Span::from_millis));
    assert!((change.ratio.mean - 2.0).abs() < 1e-9 && !change.ratio.may_be_chance());
    explained.connections.truncate(4);
    assert_eq!(Change::of(&explained), None);
}
