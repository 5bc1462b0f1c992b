//! What one connection shows of a host's timers decides what another leaves open.

use super::*;
use crate::connection::{Kind, StallCause};
use crate::hosts;
use crate::loss::{LossCause, Losses};
use crate::ways::Evidence;
use ackclock_tcp::{Cause, EventKind};

/// A connection on whose last segment one of both timers expired, and nothing tells which.
fn undecided(mut talk: Talk) -> Connection {
    talk.open().at(20.0, c(0, 1000)).at(30.0, s(0, 0).ack(1000));
    talk.at(40.0, c(1000, 1000)).at(251.0, c(1000, 1000)).at(261.0, s(0, 0).ack(2000));
    let one = talk.one();
    assert_eq!(one.from_client.retransmissions[0].kind, Kind::ProbeOrTimeout);
    assert_eq!(one.from_client.stalls[0].cause, StallCause::ProbeOrTimeout);
    one
}

/// Another one of the same host, which is or is not seen to send probes.
fn other(probes: bool, host: &str) -> Connection {
    let mut one = undecided(Talk::new(ISNS[0]));
    one.client = host.parse().unwrap();
    one.from_client.ways.probes = Evidence { used: u32::from(probes), unused: u32::from(!probes) };
    one.from_client.undecided.clear();
    one
}

#[test]
fn a_host_without_probes_had_a_timeout() {
    each(|talk| {
        let mut all = [undecided(talk), other(false, "10.0.0.1:50000")];
        hosts::decide(&mut all);
        let flow = &all[0].from_client;
        assert_eq!(flow.retransmissions[0].kind, Kind::Timeout);
        assert_eq!((flow.timeouts.len(), flow.timeouts[0].retransmission), (1, 0));
        let class = flow.timeouts[0].class;
        assert_eq!(
            (flow.stalls[0].cause, flow.stalls[0].timeout),
            (StallCause::Timeout(class), Some(0))
        );
        assert!(flow.undecided.is_empty());
    });
}

#[test]
fn a_host_with_probes_sent_one() {
    each(|talk| {
        let mut all = [other(true, "10.0.0.1:50000"), undecided(talk)];
        hosts::decide(&mut all);
        let flow = &all[1].from_client;
        assert_eq!(flow.retransmissions[0].kind, Kind::TailLossProbe);
        assert_eq!(flow.stalls[0].cause, StallCause::TailLossProbe);
        assert!(flow.timeouts.is_empty() && flow.undecided.is_empty());
    });
}

/// Other hosts say nothing, and neither does one that was seen to do both.
#[test]
fn without_such_a_connection_it_stays_open() {
    for others in [
        vec![other(false, "10.0.0.9:40000")],
        vec![other(false, "10.0.0.1:50000"), other(true, "10.0.0.1:50001")],
    ] {
        let mut all = others;
        all.push(undecided(Talk::new(ISNS[1])));
        hosts::decide(&mut all);
        let flow = &all.last().unwrap().from_client;
        assert_eq!(flow.retransmissions[0].kind, Kind::ProbeOrTimeout);
        assert_eq!(flow.undecided.len(), 1);
    }
}

/// The timeouts that come after the one that was found late keep their stalls.
#[test]
fn stalls_keep_their_timeouts() {
    let mut all = [undecided(Talk::new(ISNS[0])), other(false, "10.0.0.1:50000")];
    let flow = &mut all[0].from_client;
    let (mut r, mut timeout, mut stall) =
        (flow.retransmissions[0], flow.undecided[0].clone(), flow.stalls[0]);
    for at in [&mut r.at, &mut timeout.at, &mut stall.start, &mut stall.end] {
        *at += ackclock_tcp::Span::from_secs(1);
    }
    (r.kind, timeout.retransmission) = (Kind::Timeout, 1);
    (stall.cause, stall.timeout) = (StallCause::Timeout(timeout.class), Some(0));
    flow.retransmissions.push(r);
    flow.timeouts.push(timeout);
    flow.stalls.push(stall);
    hosts::decide(&mut all);
    let flow = &all[0].from_client;
    let places: Vec<_> = flow.stalls.iter().map(|stall| stall.timeout).collect();
    assert_eq!(places, [Some(0), Some(1)]);
    assert_eq!(flow.timeouts.iter().map(|t| t.retransmission).collect::<Vec<_>>(), [0, 1]);
}

/// Each stall looks at the timeouts in it, and each event is moved once.
#[test]
fn what_it_takes_grows_with_the_stalls() {
    let steps = |n: usize| {
        let mut all = [undecided(Talk::new(ISNS[0])), other(false, "10.0.0.1:50000")];
        let flow = &mut all[0].from_client;
        let (r, timeout, stall) =
            (flow.retransmissions[0], flow.undecided[0].clone(), flow.stalls[0]);
        let event = |at, seq| ackclock_tcp::Event {
            at,
            cwnd: 0,
            ssthresh: 0,
            snd_una: 0,
            snd_nxt: 0,
            kind: EventKind::Sent {
                seq,
                len: 1000,
                cause: Cause::Unknown,
                transmission: r.transmission,
                detected_by: None,
            },
        };
        flow.events = vec![event(r.at, r.position)];
        for i in 1..n {
            let later = ackclock_tcp::Span::from_secs(i as u64);
            let position = r.position + 1000 * i as u64;
            let (mut r, mut timeout, mut stall) = (r, timeout.clone(), stall);
            for at in [&mut r.at, &mut timeout.at, &mut stall.start, &mut stall.end] {
                *at += later;
            }
            (r.position, timeout.position, timeout.retransmission) = (position, position, i);
            flow.events.push(event(r.at, position));
            flow.retransmissions.push(r);
            flow.undecided.push(timeout);
            flow.stalls.push(stall);
        }
        let steps = crate::steps::of(|| hosts::decide(&mut all));
        let flow = &all[0].from_client;
        let drawn = flow.events.iter().map(|event| (event.at, event.kind.name()));
        let expected =
            flow.retransmissions.iter().flat_map(|r| [(r.at, "timed_out"), (r.at, "sent")]);
        assert!(drawn.eq(expected));
        assert!(flow.stalls.iter().enumerate().all(|(i, stall)| stall.timeout == Some(i)));
        steps
    };
    assert_eq!([100, 200].map(steps), [200, 400]);
}

/// Losses on one way are random if half of those connections say so that have lost often enough to
/// show it. What another cause explains stays, and so does what is said of the way back, or of
/// another host.
#[test]
fn losses_of_many_connections_are_random_for_all_or_for_none() {
    let random = Some(LossCause::Random { rate: 0.01, run: 1.0 });
    let queue = Some(LossCause::DropTail { delay: ackclock_tcp::Span(1), size: None });
    let with = |episodes: u32, cause: Option<LossCause>| {
        let mut one = other(true, "10.0.0.1:50000");
        one.from_server.losses = Losses { counted: 99, episodes, cause };
        one
    };
    let decided = |mut all: Vec<Connection>| {
        hosts::decide(&mut all);
        let causes = all.iter().map(|one| one.from_server.losses.cause);
        causes.collect::<Vec<_>>()
    };
    let two = || vec![with(8, random), with(9, None)];
    let three = || vec![with(8, random), with(9, None), with(8, queue)];
    assert_eq!(decided(two()), [random, None]);
    assert_eq!(decided(three()), [None, None, queue]);
    // Too few.
    assert_eq!(decided([two(), vec![with(7, None)]].concat()), [random, None, None]);
    let mut elsewhere = with(8, random);
    elsewhere.client = "10.0.0.3:50000".parse().unwrap();
    assert_eq!(decided([three(), vec![elsewhere]].concat()), [None, None, queue, random]);
    let mut back = with(8, random);
    std::mem::swap(&mut back.client, &mut back.server);
    assert_eq!(decided([three(), vec![back]].concat()), [None, None, queue, random]);
}
