use ackclock_tcp::TimeoutClass;
use ackclock_trace::{Kind, Retransmission, Stall, StallCause, State, Timeout};

use super::*;
use crate::fixture;

/// One server's timer sends the same four times, of which three are lost. The other connection of
/// the same hosts repairs a loss meanwhile, or only afterwards, or loses that again, or is one of
/// another client.
#[test]
fn data_of_others_contradicts_an_outage() {
    let got_through_as = |at: u64, lost: bool, same_way: bool, reported: Option<u64>| {
        let mut connections = fixture::explained().connections;
        connections.iter_mut().for_each(|found| {
            found.connection.from_server.retransmissions.clear();
        });
        let [silent, other] = &mut connections[..] else { unreachable!() };
        let again = |at: u64, lost: bool| Retransmission {
            len: 1000,
            lost: Some(lost),
            ..fixture::again(fixture::at(at), Kind::BackedOffTimeout)
        };
        let times = [500, 1000, 2000, 4000];
        let timeout = |i: usize| Timeout {
            retransmission: i,
            flight: 1000,
            cwnd: 1000,
            waited: Span::from_millis(500),
            ..fixture::timeout(fixture::at(times[i]), TimeoutClass::BackedOff, State::Loss)
        };
        let flow = &mut silent.connection.from_server;
        flow.retransmissions = times.map(|at| again(at, at < 4000)).to_vec();
        flow.timeouts = (0..4).map(timeout).collect();
        let (start, end) = (fixture::at(100), fixture::at(4040));
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        flow.stalls = vec![Stall { timeout: Some(3), ..fixture::stall(start, end, cause) }];
        let again_then = reported.map(|later| again(later, true));
        let reported = reported.map(|_| Spurious::Dsack);
        let first = Retransmission { spurious: reported, ..again(at, lost) };
        other.connection.from_server.retransmissions =
            [first].into_iter().chain(again_then).collect();
        if !same_way {
            other.connection.client.set_ip("192.0.2.9".parse().unwrap());
        }
        look(&mut connections);
        assert_eq!(connections[1].got_through, []);
        let outage =
            connections[0].outage(End::Server, &connections[0].connection.from_server.stalls[0]);
        let denied = connections[0].got_through == [(End::Server, start)];
        assert_eq!(denied, outage.is_none());
        denied
    };
    let got_through = |at, lost, same_way| got_through_as(at, lost, same_way, None);
    assert!(got_through(1500, false, true));
    // A D-SACK may be of the one that was sent later.
    assert!(!got_through_as(1500, false, true, Some(2500)));
    // Of what was sent a round trip of 100 ms later at the most, the outage knows nothing, nor of
    // what was sent after the last timer but one.
    assert!(!got_through(200, false, true));
    assert!(got_through(201, false, true));
    assert!(got_through(1999, false, true));
    assert!(!got_through(2000, false, true));
    assert!(!got_through(1500, true, true));
    assert!(!got_through(1500, false, false));
}
