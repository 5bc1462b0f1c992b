use ackclock_trace::Spurious;

use super::*;
use crate::fixture;

/// The server sends the same three times more, and nothing comes until the end. Other segments do
/// not count, nor what had arrived.
#[test]
fn what_is_sent_in_vain() {
    let sent_as = |n: usize, frame: u64, other: Retransmission| {
        let mut found = fixture::explained().connections.remove(0);
        let flow = &mut found.connection.from_server;
        let r = flow.retransmissions[0];
        let again = |n: usize| {
            let of = if n == 0 { other } else { r };
            Retransmission { at: fixture::at(500 << n), ..of }
        };
        flow.retransmissions = (0..n).map(again).collect();
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        let (start, end) = (fixture::at(0), fixture::at(8000));
        flow.stalls = vec![Stall { frame, ..fixture::stall(start, end, cause) }];
        found.in_vain(End::Server)
    };
    let r = fixture::explained().connections[0].connection.from_server.retransmissions[0];
    let sent = |n, frame| sent_as(n, frame, r);
    assert_eq!(sent(3, 0), Some(Span::from_secs(8)));
    assert_eq!([sent(2, 0), sent(3, 9)], [None; 2]);
    assert_eq!(sent_as(3, 0, Retransmission { position: 9000, ..r }), None);
    assert_eq!(sent_as(3, 0, Retransmission { spurious: Some(Spurious::Dsack), ..r }), None);
}

/// Four timeouts of the server were in vain until 4 s. An ACK for data of another connection of the
/// same hosts comes meanwhile: two round trips of 100 ms or more after the silence began, and
/// before the last timer but one.
#[test]
fn new_data_of_others_contradicts_an_outage() {
    let least = |passed: u64| {
        let mut found = fixture::explained().connections.remove(0);
        let flow = &mut found.connection.from_server;
        let r = Retransmission { spurious: None, ..flow.retransmissions[0] };
        let (times, t) = ([500, 1000, 2000, 4000], flow.timeouts[0].clone());
        flow.retransmissions = times
            .map(|n| Retransmission { at: fixture::at(n), lost: Some(n < 4000), ..r })
            .to_vec();
        let timeout = |(retransmission, n): (usize, u64)| {
            let passed = fixture::at(if n > passed { passed } else { 0 });
            Timeout { at: fixture::at(n), retransmission, passed, ..t.clone() }
        };
        flow.timeouts = times.into_iter().enumerate().map(timeout).collect();
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        let (start, end) = (fixture::at(100), fixture::at(4040));
        let stall = Stall { timeout: Some(3), ..fixture::stall(start, end, cause) };
        found.outage(End::Server, &stall).map(|outage| outage.least)
    };
    let outage = Some(Some(Span::from_millis(1900)));
    assert_eq!([300, 301, 1999].map(least), [outage, None, None]);
    assert_eq!(least(2001), outage);
}

/// Three timeouts of the server, though the first segment had arrived before. Its D-SACKs tell an
/// outage, of whose retransmissions only the last has come, from a delay spike, in which all have;
/// and if the reports of the others were lost, the ACKs that came before the last one.
#[test]
fn d_sacks_tell_an_outage_from_a_delay_spike() {
    let is_outage = |came: [bool; 3], came_twice: bool| {
        let mut found = fixture::explained().connections.remove(0);
        let flow = &mut found.connection.from_server;
        let (r, t) = (flow.retransmissions[0], flow.timeouts[0].clone());
        let times = [500, 1000, 2000];
        let again = |(i, n): (usize, u64)| {
            let spurious = Some(if came[i] { Spurious::Dsack } else { Spurious::Timestamp });
            Retransmission { at: fixture::at(n), spurious, lost: came[i].then_some(false), ..r }
        };
        flow.retransmissions = times.into_iter().enumerate().map(again).collect();
        let timeout = |(retransmission, n): (usize, u64)| Timeout {
            at: fixture::at(n),
            retransmission,
            ..t.clone()
        };
        flow.timeouts = times.into_iter().enumerate().map(timeout).collect();
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        let (start, end) = (fixture::at(100), fixture::at(2040));
        let stall = Stall { timeout: Some(2), came_twice, ..fixture::stall(start, end, cause) };
        found.outage(End::Server, &stall).is_some()
    };
    assert!(is_outage([false, false, true], true));
    assert!(!is_outage([false, false, true], false));
    assert!(!is_outage([true; 3], true));
    // Without a D-SACK of them nothing is known.
    assert!(!is_outage([false; 3], true));
}

/// Four times the client's first data went again and was not acknowledged for 4 s: a full listen
/// queue may have dropped it. Nothing was acknowledged of later data: no packet came through.
#[test]
fn first_data_that_is_not_acknowledged_tells_of_no_outage() {
    let said_after = |position: u64, greeted: bool| {
        let mut found = fixture::explained().connections.remove(0);
        found.connection.greeted = greeted;
        let flow = &mut found.connection.from_server;
        let (r, t) = (flow.retransmissions[0], flow.timeouts[0].clone());
        let r = Retransmission { spurious: None, position, ..r };
        let times = [500, 1000, 2000, 4000];
        found.connection.begun = true;
        let client = &mut found.connection.from_client;
        let again = |(i, n): (usize, u64)| {
            let transmission = i as u32 + 2;
            Retransmission { at: fixture::at(n), transmission, lost: Some(n < 4000), ..r }
        };
        client.retransmissions = times.into_iter().enumerate().map(again).collect();
        let timeout = |(retransmission, n): (usize, u64)| Timeout {
            at: fixture::at(n),
            position,
            retransmission,
            ..t.clone()
        };
        client.timeouts = times.into_iter().enumerate().map(timeout).collect();
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        let (start, end) = (fixture::at(100), fixture::at(4100));
        client.stalls = vec![Stall { timeout: Some(3), ..fixture::stall(start, end, cause) }];
        let stall = &found.connection.from_client.stalls[0];
        let text = crate::text::stall(&found, End::Client, stall);
        (found.outage(End::Client, stall).is_some(), found.unheard(End::Client), text)
    };
    let said = |position| said_after(position, false);
    let unheard = "client stalled 4.0 s at 0.10 s: its first data was retransmitted, and not \
        acknowledged for so long";
    assert_eq!(said(0), (false, Span::from_secs(4), unheard.into()));
    let (outage, unheard, text) = said(1448);
    assert_eq!((outage, unheard), (true, Span::ZERO), "{text}");
    // Nor does a queue drop what comes to a server that has spoken, or closed its end.
    let (outage, unheard, text) = said_after(0, true);
    assert_eq!((outage, unheard), (true, Span::ZERO), "{text}");
}
