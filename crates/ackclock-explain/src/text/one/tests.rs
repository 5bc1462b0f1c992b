use ackclock_tcp::Span;

use super::*;

/// At an end, or near it: what it sends may be lost between both.
#[test]
fn what_is_near_an_end_is_not_at_it() {
    let place = |millis: u64, lost: bool| {
        let of = |vantage| {
            let [near, far] = [millis, 40].map(|ms| Some(Span::from_millis(ms)));
            let client = vantage == Vantage::Client;
            let (to_client, to_server) = if client { (near, far) } else { (far, near) };
            let lost_before = [client && lost, !client && lost];
            let p = Position { vantage, confidence: 1.0, to_client, to_server, lost_before };
            position(&p).split_once(" (").map(|(place, _)| place.to_string())
        };
        [Vantage::Client, Vantage::Server].map(|vantage| of(vantage).unwrap_or_default())
    };
    assert_eq!(place(1, false), ["at the client", "at the server"]);
    assert_eq!(place(1, true), ["near the client", "near the server"]);
    assert_eq!(place(2, false), ["near the client", "near the server"]);
}
