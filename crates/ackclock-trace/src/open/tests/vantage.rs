//! The same exchange as captures at three places show it.

use super::*;
use crate::connection::{Kind, Position, Spurious, Vantage};
use crate::lifetime::Limit;
use ackclock_tcp::Span;

/// A client 20 ms from the server sends five segments, of which the second is lost just before the
/// server; the duplicate ACKs of the others draw it out again. `part` of the way lies between the
/// client and the capture.
fn exchange(isns: [u32; 2], part: f64) -> Connection {
    let mut talk = Talk::new(isns);
    let mut packets = Vec::new();
    // One way is 10 ms, and an answer takes 0.01 ms; times are those at which packets leave.
    let mut from_client =
        |ms: f64, p: P, sack: Vec<(u64, u64)>| packets.push((ms + 10.0 * part, p, sack));
    from_client(0.0, syn(0), vec![]);
    from_client(20.02, c(0, 0), vec![]);
    for n in 0..5 {
        // Lost behind the capture, unless that is at the server.
        if n != 1 || part < 1.0 {
            from_client(21.0 + 0.1 * n as f64, c(1460 * n, 1460), vec![]);
        }
    }
    from_client(41.5, c(1460, 1460), vec![]);
    let mut from_server =
        |ms: f64, p: P, sack: Vec<(u64, u64)>| packets.push((ms + 10.0 * (1.0 - part), p, sack));
    from_server(10.01, syn(1), vec![]);
    from_server(31.01, s(0, 0).ack(1460), vec![]);
    for n in 2..5 {
        from_server(31.01 + 0.1 * n as f64, s(0, 0).ack(1460), vec![(2920, 1460 * (n + 1))]);
    }
    from_server(51.51, s(0, 0).ack(7300), vec![]);
    packets.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (ms, p, sack) in packets {
        talk.sacked(ms, p, &sack);
    }
    talk.one()
}

#[test]
fn one_model_serves_every_place() {
    let micros = |us| Some(Span::from_micros(us));
    let places = [
        (0.0, Vantage::Client, micros(10), micros(20_010), 20_010),
        (0.5, Vantage::Middle, micros(10_010), micros(10_010), 20_020),
        (1.0, Vantage::Server, micros(20_010), micros(10), 20_020),
    ];
    for isns in ISNS {
        for (part, vantage, to_client, to_server, rtt) in places {
            let one = exchange(isns, part);
            let Position { confidence, .. } = one.position;
            assert_eq!(
                one.position,
                Position { vantage, confidence, to_client, to_server, lost_before: [false; 2] },
                "{part}"
            );
            assert!(confidence > 0.99, "{part}");
            assert_eq!(one.from_client.rtt.map(|rtt| rtt.min), micros(rtt), "{part}");
            let [r] = one.from_client.retransmissions[..] else {
                panic!("{part}: {:?}", one.from_client.retransmissions)
            };
            assert_eq!((r.position, r.kind), (1460, Kind::FastRetransmit), "{part}");
            assert!(one.from_client.timeouts.is_empty() && one.from_client.doubts.is_empty());
        }
    }
}

/// A capture at the client begins in the middle of a download without timestamps: ACKs pass 3 µs
/// after their data. The round trip is not told, since the way to the server, known by a later
/// request, is not in it.
#[test]
fn a_round_trip_without_the_way_to_the_sender_is_none() {
    for isns in ISNS {
        let mut talk = Talk::new(isns);
        for n in 0..600 {
            let ms = 50.0 * n as f64;
            let end = 1460 * (n + 1);
            talk.at(ms, s(1460 * n, 1460)).at(ms + 0.003, c(0, 0).ack(end));
        }
        let end = 1460 * 600;
        talk.at(31_000.0, c(0, 100).ack(end)).at(31_040.0, s(end, 0).ack(100));
        let one = talk.one();
        assert_eq!(one.position.to_server, Some(Span::from_millis(40)));
        assert_eq!((one.from_server.rtt, one.from_server.segments), (None, 600));
        assert_eq!(one.from_client.rtt.map(|rtt| rtt.min), Some(Span::from_millis(40)));
    }
}

/// A busy client takes 8 of 28 ms to answer the SYN/ACK: more than a tenth, so that the capture
/// seems to be in the middle when its first data goes out. Later it answers at once.
#[test]
fn a_late_answer_in_the_handshake_is_forgotten_when_later_ones_are_quick() {
    let upload = |prompt: bool| {
        let mut talk = Talk::new(ISNS[0]);
        let answer = if prompt { 0.01 } else { 8.0 };
        talk.at(0.0, syn(0)).at(20.0, syn(1)).at(28.0, c(0, 0)).at(28.1, c(0, 100));
        talk.at(48.1, s(0, 500).ack(100)).at(48.1 + answer, c(100, 0).ack(500));
        // Three segments go out. All are lost, and the timer sends the first one again.
        for n in 0..3 {
            talk.at(60.0 + 0.1 * n as f64, c(100 + 1460 * n, 1460).ack(500));
        }
        talk.at(1060.0, c(100, 1460).ack(500)).at(1080.0, s(500, 0).ack(1560));
        talk.at(1080.1, c(1560, 1460).ack(500)).at(1080.2, c(3020, 1460).ack(500));
        talk.at(1100.1, s(500, 0).ack(4480));
        let one = talk.one();
        // What is lost can only be told where all is seen that is sent.
        let timeouts = &one.from_client.timeouts;
        let lost = timeouts.iter().find_map(|t| t.episode.as_ref()).map(|e| e.lost.clone());
        (one.position.vantage, timeouts.len(), lost)
    };
    assert_eq!(upload(true), (Vantage::Client, 1, Some(vec![1, 1, 1])));
    assert_eq!(upload(false), (Vantage::Middle, 1, None));
}

/// Slow start over 20 ms, captured at the sender or 0.4 ms from it there and back: what an ACK lets
/// go passes the capture so much later, and cwnd had held it all the same.
#[test]
fn near_the_sender_what_an_ack_lets_go_comes_later() {
    let lifetime = |lag: f64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(20.0, syn(1));
        let (mut position, mut ms) = (0, 20.0 + lag);
        for segments in [2, 3, 5, 7] {
            for n in 0..segments {
                talk.at(ms + 0.01 * n as f64, c(position + 1460 * n, 1460));
            }
            position += 1460 * segments;
            talk.at(ms + 20.0, s(0, 0).ack(position));
            ms += 20.0 + lag;
        }
        let one = talk.one();
        assert_eq!(one.position.vantage, Vantage::Client);
        let share = |limit| one.from_client.lifetime.of(limit).0 / 1_000_000;
        [Limit::Application, Limit::CongestionWindow, Limit::Path].map(share)
    };
    assert_eq!(lifetime(0.01), [0, 60, 19]);
    assert_eq!(lifetime(0.4), [0, 60, 21]);
}

/// A capture near the sender, by a tenth of the round trip, is not at it: a tail may be lost
/// before. What comes when the timer expires is a retransmission there, and at the sender the
/// application has paused.
#[test]
fn near_the_sender_something_may_be_lost_before_the_capture() {
    let kinds = |to_client: f64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(40.0 - to_client, syn(1)).at(40.0, c(0, 0));
        for n in 0..3 {
            talk.at(40.1 + 0.1 * n as f64, c(1460 * n, 1460));
        }
        let answered = 80.3 - to_client;
        talk.at(answered, s(0, 0).ack(4380)).at(80.3 + 200.0, c(4380, 1460));
        talk.at(320.3 - to_client, s(0, 0).ack(5840));
        let one = talk.one();
        assert_eq!(one.position.vantage, Vantage::Client, "{to_client}");
        one.from_client.retransmissions.iter().map(|r| r.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(2.0), [Kind::Timeout]);
    assert_eq!(kinds(0.5), []);
}

/// The same near the receiver: what was captured may be lost behind the capture, and what is sent
/// again be needed. At the receiver it has arrived.
#[test]
fn near_the_receiver_something_may_be_lost_behind_the_capture() {
    let known = |to_server: f64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(to_server, syn(1)).at(40.0, c(0, 0));
        for n in 0..6 {
            talk.at(40.1 + 0.1 * n as f64, c(1460 * n, 1460));
        }
        talk.at(40.2 + to_server, s(0, 0).ack(1460));
        for n in 2..6 {
            talk.at(40.1 + 0.1 * n as f64 + to_server, s(0, 0).ack(1460));
        }
        talk.at(81.0, c(1460, 1460)).at(81.1, c(2920, 1460));
        talk.at(81.2 + to_server, s(0, 0).ack(6 * 1460));
        let one = talk.one();
        assert_eq!(one.position.vantage, Vantage::Server, "{to_server}");
        let last = one.from_client.retransmissions[1];
        (last.position, last.spurious, last.lost)
    };
    assert_eq!(known(0.5), (2920, Some(Spurious::Arrival), Some(false)));
    assert_eq!(known(2.0), (2920, None, Some(false)));
}

/// In the middle an ACK passes that reaches the sender too late: what it acknowledges goes out
/// again meanwhile, and was not needed. If both pass at about the same time, the capture may have
/// them in the wrong order. When the sender sent it, as timestamps say, does not count.
#[test]
fn what_an_ack_in_flight_acknowledges_was_not_needed() {
    let spurious = |after: f64, stamps: Option<[u32; 3]>| {
        let mut talk = Talk::new(ISNS[0]);
        let stamp = |p: P, n: usize| stamps.map_or(p, |stamps| p.ts(stamps[n], 0));
        talk.at(0.0, stamp(syn(0), 0)).at(20.0, stamp(syn(1), 0)).at(40.0, stamp(c(0, 0), 1));
        for (at, position) in [(40.1, 0), (40.2, 1448), (40.3, 2896)] {
            talk.at(at, stamp(c(position, 1448), 1));
        }
        let acked = 300.0;
        talk.at(acked, stamp(s(0, 0).ack(2896), 2));
        talk.at(acked + after, stamp(c(1448, 1448), 2));
        talk.at(acked + after + 0.1, stamp(c(2896, 1448), 2));
        talk.at(acked + after + 20.1, s(0, 0).ack(4344));
        let one = talk.one();
        assert_eq!(one.position.vantage, Vantage::Middle);
        one.from_client.retransmissions.iter().map(|r| r.spurious).collect::<Vec<_>>()
    };
    assert_eq!(spurious(5.0, None), [Some(Spurious::Arrival), None]);
    assert_eq!(spurious(0.5, None), [None, None]);
    assert_eq!(spurious(5.0, Some([0, 40, 298])), [Some(Spurious::Arrival), None]);
}

/// Only what comes later than the handshake.
fn later(mut talk: Talk, to_client: f64, to_server: f64, timestamps: bool) -> Connection {
    for n in 0..40u32 {
        let ms = f64::from(n) * 200.0;
        let (mut data, mut ack, mut next) = (
            c(u64::from(n) * 100, 100),
            s(0, 0).ack(u64::from(n + 1) * 100),
            s(u64::from(n) * 10, 10),
        );
        let stamp = |p: P, val, ecr| if timestamps { p.ts(val, ecr) } else { p };
        data = stamp(data, 1000 + n * 200, n * 200).ack(u64::from(n) * 10);
        ack = stamp(ack.ack(u64::from(n + 1) * 100), n * 200 + 1, 1000 + n * 200);
        ack.position = u64::from(n) * 10;
        next = stamp(next.ack(u64::from(n + 1) * 100), n * 200 + 2, 1000 + n * 200);
        let last = stamp(
            c(u64::from(n + 1) * 100, 0).ack(u64::from(n + 1) * 10),
            1001 + n * 200,
            n * 200 + 2,
        );
        talk.at(ms, data).at(ms + to_server, ack).at(ms + to_server + 1.0, next);
        talk.at(ms + to_server + 1.0 + to_client, last);
    }
    talk.one()
}

#[test]
fn captures_that_begin_later_learn_it_from_data_and_timestamps() {
    for timestamps in [false, true] {
        for (to_client, to_server, vantage) in [
            (0.05, 20.0, Vantage::Client),
            (8.0, 12.0, Vantage::Middle),
            (20.0, 0.05, Vantage::Server),
        ] {
            each(|talk| {
                let one = later(talk, to_client, to_server, timestamps);
                assert_eq!(one.position.vantage, vantage);
                let nanos = |ms: f64| Some(Span((ms * 1e6).round() as u64));
                let to = |trip: Option<Span>| trip.map(|span| Span((span.0 + 50) / 100 * 100));
                assert_eq!(
                    (to(one.position.to_client), to(one.position.to_server)),
                    (nanos(to_client), nanos(to_server))
                );
            });
        }
    }
}

#[test]
fn times_to_live_are_a_guess() {
    let place = |client, server| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, c(0, 10).ttl(client)).at(1.0, s(0, 0).ttl(server));
        let Position { vantage, confidence, .. } = talk.one().position;
        (vantage, confidence)
    };
    assert_eq!(place(64, 57), (Vantage::Client, 0.3));
    assert_eq!(place(50, 128), (Vantage::Server, 0.3));
    assert_eq!(place(50, 115), (Vantage::Middle, 0.2));
    assert_eq!(place(64, 128), (Vantage::Unknown, 0.0));
}

/// Without a handshake and with data one way, slow start says how far the sender is: each flight
/// follows the ACK of the one before by 8 ms, and its last segment is acknowledged after 12 ms.
#[test]
fn a_capture_in_the_middle_of_a_slow_start() {
    each(|mut talk| {
        let (mut position, mut ms) = (0, 0.0);
        for segments in [2u64, 3, 5] {
            for n in 0..segments {
                talk.at(ms + 0.1 * n as f64, c(position + 1460 * n, 1460));
            }
            position += 1460 * segments;
            let acked = ms + 0.1 * (segments - 1) as f64 + 12.0;
            talk.at(acked, s(0, 0).ack(position));
            ms = acked + 8.0;
        }
        let [to_client, to_server] = [8, 12].map(|ms| Some(Span::from_millis(ms)));
        let (vantage, lost_before) = (Vantage::Middle, [false; 2]);
        let position = Position { vantage, confidence: 0.5, to_client, to_server, lost_before };
        assert_eq!(talk.one().position, position);
    });
}

/// A reset with another time to live than what came from that end before is not of that end. A
/// few hops more or less may be another route, and what is outside of the window is no reset. What
/// has opened the connection may be a balancer of load, which resets for the server, too.
#[test]
fn a_reset_from_somewhere_else() {
    let opened = |by: u8, ttl: u8, position: u64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(10.0, syn(1).ttl(by)).at(10.0, c(0, 0));
        talk.at(11.0, c(0, 100)).at(12.0, s(0, 100).ack(100).ttl(62));
        let mut reset = s(position, 0).ttl(ttl);
        reset.control = Control::RST;
        talk.at(13.0, reset).at(14.0, s(100, 50).ack(100).ttl(62));
        let one = talk.one();
        assert_eq!(one.from_client.strange_reset, None);
        one.from_server.strange_reset
    };
    let strange = |ttl: u8, position: u64| opened(62, ttl, position);
    assert_eq!(strange(200, 100), Some([200, 62]));
    assert_eq!([strange(62, 100), strange(65, 100), strange(200, 700_000_000)], [None; 3]);
    assert_eq!(strange(66, 100), Some([66, 62]));
    // As far off, as where the application sets a time to live, and a hop more or less.
    assert_eq!([126, 253, 254, 252].map(|ttl| strange(ttl, 100)), [None; 4]);
    assert_eq!([255, 251].map(|ttl| strange(ttl, 100)), [255, 251].map(|ttl| Some([ttl, 62])));
    assert_eq!([opened(200, 200, 100), opened(200, 190, 100)], [None, Some([190, 62])]);
}

/// A scanner has made its SYN up, and the host resets what it knows nothing of. Had it gone on, the
/// reset would be of somewhere else.
#[test]
fn a_syn_says_little_of_its_host() {
    for goes_on in [false, true] {
        each(|mut talk| {
            talk.at(0.0, syn(0).ttl(56)).at(10.0, syn(1));
            if goes_on {
                talk.at(10.1, c(0, 0).ttl(56));
            }
            let mut reset = c(0, 0).ttl(64);
            reset.control = Control::RST;
            talk.at(10.2, reset);
            let strange = talk.one().from_client.strange_reset;
            assert_eq!(strange, goes_on.then_some([64, 56]));
        });
    }
}

/// Nobody closes a connection to answer what has arrived, and what waits for longer than the timers
/// of SYNs do was not answered by what comes then.
#[test]
fn what_is_no_answer_measures_nothing() {
    let fin = |end: fn(u64, u32) -> P| end(0, 0).with(Control::FIN);
    for timestamps in [false, true] {
        let stamped = |p: P, val, ecr| if timestamps { p.ts(val, ecr) } else { p };
        let to_client = |ms: f64, answer: P| {
            let mut talk = Talk::new(ISNS[0]);
            talk.at(0.0, stamped(syn(0), 1, 0)).at(78.0, stamped(syn(1), 7, 1));
            talk.at(ms, stamped(answer, 2, 7)).at(ms + 78.0, stamped(fin(s), 8, 2));
            let Position { to_client, to_server, .. } = talk.one().position;
            assert_eq!(to_server, Some(Span::from_millis(78)));
            to_client
        };
        assert_eq!(to_client(878.0, fin(c)), None);
        assert_eq!(to_client(878.0, c(0, 0)), Some(Span::from_millis(800)));
        assert_eq!(to_client(3077.0, c(0, 10)), Some(Span::from_millis(2999)));
        assert_eq!(to_client(3078.0, c(0, 10)), None);
    }
}

/// A timer sends the lost segment 200 ms after the duplicate ACK that it echoes. What comes next
/// echoes it again, or the ACK 3 ms before it.
#[test]
fn the_echo_of_what_a_timer_may_have_sent_measures_nothing() {
    let to_client = |at_220: P, later: &[(f64, P)]| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, c(0, 1460).ts(1, 5)).at(0.1, c(1460, 1460).ts(1, 5));
        talk.sacked(20.0, s(0, 0).ack(0).ts(7, 1), &[(1460, 2920)]);
        talk.at(220.0, at_220.ts(220, 7));
        for (ms, p) in later {
            talk.at(*ms, *p);
        }
        talk.one().position.to_client.map(|trip| trip.0 / 1_000_000)
    };
    let (lost, new) = (c(0, 1460), c(2920, 1460));
    let acked = s(0, 0).ack(2920).ts(240, 220);
    assert_eq!(to_client(new, &[]), Some(200));
    assert_eq!(to_client(lost, &[]), None);
    assert_eq!(to_client(lost, &[(225.0, new.ts(225, 7))]), None);
    assert_eq!(to_client(lost, &[(240.0, acked), (243.0, new.ts(243, 240))]), Some(3));
}

/// At the server, 40 ms from the client: the SYN/ACK goes again after a second, and once more when
/// the SYN comes again, 20 ms later. The ACK answers the former.
#[test]
fn a_syn_that_goes_again_sooner_than_a_timer_measures_nothing() {
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, syn(0)).at(0.01, syn(1)).at(1010.0, syn(1));
    talk.at(1030.0, syn(0)).at(1030.01, syn(1)).at(1050.0, c(0, 0));
    talk.at(1051.0, s(0, 1460)).at(1091.0, c(0, 0).ack(1460));
    assert_eq!(talk.one().position.to_client, Some(Span::from_millis(40)));
}
