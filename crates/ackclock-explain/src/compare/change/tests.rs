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
    assert!(ratio.is_no_difference());
    assert_eq!(Ratio::of([&first, &ms(&[300])]), None);
}

#[test]
fn what_is_no_difference() {
    let ratio = |second: &[u64]| Ratio::of([&ms(&[100, 101, 102]), &ms(second)]).unwrap();
    assert!(!ratio(&[110, 111, 112]).is_no_difference());
    assert!(!ratio(&[90, 91, 92]).is_no_difference());
    assert!(ratio(&[100, 103, 102]).is_no_difference());
    // Surely more, but by 4 %.
    assert!(ratio(&[104, 105, 106]).low > 1.0 && ratio(&[104, 105, 106]).is_no_difference());
}

/// What a client waits for an answer counts. Other pauses of an application, and a connection
/// without payload, do not.
#[test]
fn what_connections_took() {
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
        c.from_server.lifetime.add_answering(Span::from_millis(10));
        found
    };
    let one = |capture: usize| (0..5).map(move |n| (capture, [10, 30][capture] + n, 9));
    let all = one(0).chain([(0, 7000, 0)]).chain(one(1));
    explained.connections = all.map(|(capture, busy, bytes)| found(capture, busy, bytes)).collect();
    let change = Change::of(&explained).unwrap();
    assert_eq!(change.took, [22, 42].map(Span::from_millis));
    assert!(change.ratio.mean > 1.8 && !change.ratio.is_no_difference());
    explained.connections.pop();
    assert_eq!(Change::of(&explained), None);
}

#[test]
fn medians() {
    assert_eq!(median(&mut ms(&[30, 10, 20])), Some(Span::from_millis(20)));
    assert_eq!(median(&mut ms(&[30, 10])), Some(Span::from_millis(20)));
    assert_eq!(median(&mut []), None);
}
