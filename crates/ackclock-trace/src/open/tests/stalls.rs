//! Whose turn it is while nothing is outstanding.

use super::*;
use ackclock_tcp::{Span, TimeoutClass};

use crate::connection::StallCause;
use crate::lifetime::Limit;

/// A request, its answer, and after a second another request, which the server needs a second for.
#[test]
fn each_end_stalls_from_when_it_has_heard_the_other() {
    each(|mut talk| {
        talk.open().at(20.0, c(0, 100)).at(30.0, s(0, 1000).ack(100)).at(30.1, c(100, 0).ack(1000));
        // This acknowledges nothing new.
        talk.at(1000.0, c(100, 100).ack(1000)).at(1010.0, s(1000, 0).ack(200));
        talk.at(2010.0, s(1000, 1000).ack(200)).at(2010.1, c(200, 0).ack(2000));
        let one = talk.one();
        let stalls = |flow: &crate::connection::Flow| -> Vec<(u64, u64, StallCause)> {
            let ms = |t: Time| (t.0 - START) / 1_000_000;
            flow.stalls.iter().map(|stall| (ms(stall.start), ms(stall.end), stall.cause)).collect()
        };
        assert_eq!(stalls(&one.from_client), [(30, 1000, StallCause::Application)]);
        assert_eq!(stalls(&one.from_server), [(1010, 2010, StallCause::Application)]);
    });
}

/// A capture begins in the middle of a connection that is kept open: the client asks once, and
/// closes it a minute later. Nobody waited for that, unless the server never answered.
#[test]
fn a_client_that_closes_late() {
    for (answers, closing) in [(true, [60; 2]), (false, [0; 2])] {
        each(|mut talk| {
            talk.at(0.0, c(0, 100));
            let end = if answers { 1000 } else { 0 };
            if answers {
                talk.at(10.0, s(0, 1000).ack(100)).at(10.1, c(100, 0).ack(1000));
            } else {
                talk.at(10.0, s(0, 0).ack(100));
            }
            talk.at(60_010.1, c(100, 0).ack(end).with(Control::FIN));
            talk.at(60_020.1, s(end, 0).ack(101).with(Control::FIN));
            talk.at(60_020.2, c(101, 0).ack(end + 1));
            let one = talk.one();
            let late = [&one.from_client, &one.from_server].map(|flow| flow.lifetime.closing());
            assert_eq!(late.map(|Span(ns)| ns / 1_000_000_000), closing);
        });
    }
}

/// The server's FIN is lost behind the capture, and the client's comes only after it: nobody had
/// more to send meanwhile.
#[test]
fn a_lost_fin_is_no_pause() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(0.1, syn(1).ack(0)).at(40.0, c(0, 0));
        talk.at(41.0, c(0, 200)).at(42.0, s(0, 1000).ack(200)).at(82.0, c(200, 0).ack(1000));
        talk.at(82.1, s(1000, 0).ack(200).with(Control::FIN));
        talk.at(330.0, s(1000, 0).ack(200).with(Control::FIN));
        talk.at(370.0, c(200, 0).ack(1001).with(Control::FIN)).at(370.1, s(1001, 0).ack(201));
        let Span(ns) = talk.one().from_client.lifetime.closing();
        assert_eq!(ns / 10_000_000, 28);
    });
}

/// The server closes the connection a second after the last byte: nobody waited for that, and
/// neither application had to give more.
#[test]
fn a_fin_ends_no_stall() {
    each(|mut talk| {
        talk.open().at(20.0, c(0, 100)).at(30.0, s(0, 1000).ack(100)).at(30.1, c(100, 0).ack(1000));
        talk.at(1030.0, s(1000, 0).ack(100).with(Control::FIN));
        talk.at(1030.1, c(100, 0).ack(1001).with(Control::FIN));
        let one = talk.one();
        assert_eq!([&one.from_client.stalls[..], &one.from_server.stalls], [&[], &[]]);
        let closing = [&one.from_client, &one.from_server].map(|flow| flow.lifetime.closing());
        assert_eq!(closing.map(|Span(ns)| ns / 10_000_000), [100, 98]);
    });
}

/// The answer takes five seconds, and its FIN acknowledges one of the client that the capture does
/// not have, at once or after a silence. Nobody knows when that went out.
#[test]
fn a_fin_that_was_not_captured_is_no_stall() {
    for silence in [0.0, 100.0] {
        each(|mut talk| {
            talk.open().at(20.0, c(0, 100)).at(30.0, s(0, 1000).ack(100));
            for n in 1..500u32 {
                let (at, position) = (30.0 + f64::from(n) * 10.0, u64::from(n) * 1000);
                talk.at(at - 9.9, c(100, 0).ack(position)).at(at, s(position, 1000).ack(100));
            }
            talk.at(5020.1, c(100, 0).ack(500_000));
            talk.at(5030.0 + silence, s(500_000, 0).ack(101).with(Control::FIN));
            talk.at(5030.1 + silence, c(101, 0).ack(500_001));
            let one = talk.one();
            assert_eq!([&one.from_client.stalls[..], &one.from_server.stalls], [&[], &[]]);
        });
    }
}

/// It is not known how long a round trip is before the first one has been measured.
#[test]
fn the_first_round_trip_is_no_stall_however_long() {
    each(|mut talk| {
        talk.at(0.0, c(0, 1000)).at(900.0, s(0, 0).ack(1000));
        talk.at(901.0, c(1000, 1000)).at(4000.0, s(0, 0).ack(2000));
        let stalls = talk.one().from_client.stalls;
        assert_eq!(
            stalls.iter().map(|stall| stall.cause).collect::<Vec<_>>(),
            [StallCause::Network]
        );
    });
}

/// Whoever opens a connection may keep it for later, wherever that is seen from.
#[test]
fn before_the_first_byte_nobody_stalls() {
    for (to_client, to_server) in [(0.01, 10.0), (5.0, 5.0), (10.0, 0.01)] {
        each(|mut talk| {
            talk.at(0.0, syn(0)).at(to_server, syn(1)).at(to_server + to_client, c(0, 0));
            talk.at(5000.0, c(0, 100)).at(5000.0 + to_server, s(0, 0).ack(100));
            assert_eq!(talk.one().from_client.stalls, []);
        });
    }
}

/// The SYN/ACK is lost behind the capture, and the client's timer sends its SYN again.
#[test]
fn a_lost_answer_to_a_syn_is_a_loss_of_the_handshake() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(0.02, syn(1)).at(1000.0, syn(0)).at(1000.02, syn(1));
        talk.at(1020.0, c(0, 100)).at(1020.1, s(0, 1000).ack(100));
        talk.at(1040.0, c(100, 0).ack(1000));
        let stalls = talk.one().from_server.stalls;
        let causes: Vec<_> = stalls.iter().map(|stall| (stall.cause, stall.timeout)).collect();
        assert_eq!(causes, [(StallCause::Timeout(TimeoutClass::Handshake), None)]);
    });
}

/// The same for the client, which has heard nothing before: it sends its data for the first time.
#[test]
fn an_answer_that_was_lost_opens_nothing() {
    each(|mut talk| {
        talk.at(0.0, syn(0).id(1)).at(0.02, syn(1)).at(1000.0, syn(0).id(2)).at(1000.02, syn(1));
        talk.at(1020.0, c(0, 0).id(3)).at(1020.1, c(0, 100).id(4)).at(1020.2, s(0, 0).ack(100));
        let client = talk.one().from_client;
        let again: Vec<_> = client.retransmissions.iter().map(|r| r.len).collect();
        assert_eq!((again, client.lifetime.of(Limit::Handshake).0 / 1_000_000), (vec![0], 1020));
        let causes: Vec<_> = client.stalls.iter().map(|stall| stall.cause).collect();
        assert_eq!(causes, [StallCause::Timeout(TimeoutClass::Handshake)]);
    });
}

/// So much of the time of client and server went into the handshake, in microseconds.
fn handshakes(talk: Talk) -> [u64; 2] {
    let one = talk.one();
    [one.from_client, one.from_server].map(|flow| flow.lifetime.of(Limit::Handshake).0 / 1000)
}

/// Captured at the client: the server gets the ACK of its SYN/ACK a round trip behind that, and not
/// two behind the SYN.
#[test]
fn the_handshake_of_the_server_begins_with_its_answer() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(40.0, syn(1)).at(40.0, c(0, 0)).at(40.1, c(0, 100));
        talk.at(80.2, s(0, 1000).ack(100)).at(80.3, c(100, 0).ack(1000));
        assert_eq!(handshakes(talk), [40_000, 40_000]);
    });
}

/// The ACK of the SYN/ACK is lost behind the capture, and comes again with a repetition of that.
#[test]
fn the_handshake_lasts_until_an_ack_of_it_has_arrived() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(30.0, syn(1)).at(30.0, c(0, 0)).at(1030.0, syn(1));
        talk.at(1030.0, c(0, 0)).at(1060.1, s(0, 100)).at(1060.2, c(0, 0).ack(100));
        assert_eq!(handshakes(talk), [30_000, 1_030_000]);
    });
}

/// Of two connections to a server one loses a segment several times: a probe of it, and what four
/// timeouts send. Data of the other one gets through meanwhile, until 1.7 s: each timeout knows
/// when that last was.
#[test]
fn a_timeout_knows_whether_the_way_is_open() {
    each(|mut talk| {
        let other = |mut p: P| {
            let port = |addr: &mut SocketAddr| addr.set_port(addr.port().max(40_000) + 1);
            port(if p.from == 0 { &mut p.packet.src } else { &mut p.packet.dst });
            p
        };
        talk.open().at(20.0, c(0, 1000)).at(30.0, s(0, 0).ack(1000)).at(40.0, c(1000, 1000));
        talk.at(100.0, other(syn(0))).at(110.0, other(syn(1))).at(110.01, other(c(0, 0)));
        let mut lost = vec![251.0, 460.0, 880.0, 1720.0, 3400.0];
        for n in 0..5 {
            let at = 300.0 + 350.0 * n as f64;
            while lost.first().is_some_and(|timer| *timer < at) {
                talk.at(lost.remove(0), c(1000, 1000));
            }
            talk.at(at, other(c(1000 * n, 1000)));
            talk.at(at + 10.0, other(s(0, 0).ack(1000 * (n + 1))));
        }
        for at in lost {
            talk.at(at, c(1000, 1000));
        }
        talk.at(3410.0, s(0, 0).ack(2000));
        let flow = &talk.all()[0].from_client;
        let ms = |t: Time| (t.0 - START) / 1_000_000;
        let passed: Vec<_> = flow.timeouts.iter().map(|t| (ms(t.at), ms(t.passed))).collect();
        let wanted = [(460, 310), (880, 660), (1720, 1710), (3400, 1710)];
        assert_eq!(passed, wanted);
    });
}

/// A request is lost before the capture and comes again after 250 ms, as the number of its packet
/// says, and those of the packets before it and behind it, of which each has the next one: of the
/// first request in a connection, or of the fourth, whose answer before was acknowledged. Where
/// they are too few, or do not follow each other, nothing is known, nor where no timer expires when
/// the first one comes: its host may number all its packets, and have sent another one meanwhile.
/// The ACK of what comes again takes 41 ms more.
#[test]
fn a_lost_request_is_no_pause_of_the_client() {
    let told = |requests: u64, behind: u16, step: u16, after: f64| {
        let told = |mut talk: Talk| {
            let (mut id, mut t) = (0x1000, 0.0);
            let mut number = |step: u16| {
                id += step;
                id
            };
            talk.at(0.0, syn(0).id(number(1))).at(0.1, syn(1).ack(0));
            talk.at(40.0, c(0, 0).id(number(1)));
            for n in 0..requests {
                let lost = n + 1 == requests;
                t += if lost { after + 40.0 } else { 90.0 };
                let (asked, got) = (100 * n, 1000 * n);
                talk.at(t, c(asked, 100).ack(got).id(number(if lost { 2 } else { 1 })));
                talk.at(t + 1.0, s(got, 1000).ack(asked + 100));
                talk.at(t + 41.0, c(asked + 100, 0).ack(got + 1000).id(number(1)));
            }
            let (asked, got) = (100 * requests, 1000 * requests);
            for n in 1..=u64::from(behind) {
                let at = t + 41.0 + n as f64;
                talk.at(at - 40.5, s(got + 1000 * (n - 1), 1000).ack(asked));
                talk.at(at, c(asked, 0).ack(got + 1000 * n).id(number(step)));
            }
            let one = talk.one();
            let recovery = one.from_client.lifetime.of(Limit::Recovery);
            let causes: Vec<_> = one.from_client.stalls.iter().map(|s| s.cause).collect();
            (causes, recovery.0 / 10_000_000)
        };
        let [one, wrapped] = ISNS.map(|isns| told(Talk::new(isns)));
        assert_eq!(one, wrapped);
        one
    };
    let timeout = StallCause::Timeout(TimeoutClass::Unknown);
    assert_eq!(told(1, 6, 1, 250.0), (vec![timeout], 29));
    assert_eq!(told(4, 0, 1, 250.0), (vec![timeout], 24));
    assert_eq!(told(1, 4, 1, 250.0), (vec![], 0));
    assert_eq!(told(1, 12, 3, 250.0), (vec![], 0));
    // The timers of RFC 6298 wait for a second, and for two more.
    assert!(matches!(told(1, 6, 1, 1000.0).0[..], [StallCause::Timeout(_)]));
    for after in [500.0, 2000.0, 3000.0, 10_000.0] {
        assert_eq!(told(1, 6, 1, after), (vec![], 0), "{after}");
    }
}

/// The same in a capture that begins later, while packets wait for what begins a model.
#[test]
fn a_lost_request_at_the_beginning_of_a_capture() {
    let told = |behind: u64| {
        let told = |mut talk: Talk| {
            for n in 0..2_u64 {
                let (at, asked, got) = (290.0 * n as f64, 100 * n, 1000 * n);
                talk.at(at, c(asked, 100).ack(got).id(1 + 3 * n as u16));
                talk.at(at + 0.1, s(got, 1000).ack(asked + 100));
                talk.at(at + 40.0, c(asked + 100, 0).ack(got + 1000).id(2 + 3 * n as u16));
            }
            for n in 1..=behind {
                let at = 330.0 + n as f64;
                talk.at(at - 39.9, s(1000 + 1000 * n, 1000).ack(200));
                talk.at(at, c(200, 0).ack(2000 + 1000 * n).id(5 + n as u16));
            }
            talk.one().from_client.lifetime.of(Limit::Recovery)
        };
        let [one, wrapped] = ISNS.map(|isns| told(Talk::new(isns)));
        assert_eq!(one, wrapped);
        one >= Span::from_millis(200)
    };
    assert_eq!([told(10), told(4)], [true, false]);
}

/// Before a request that a client makes after a pause of 250 ms, another packet is lost: the ACK
/// of the handshake, which was not seen; what tells of a window twice as large; or the D-SACK of an
/// answer that had come twice. If these are seen, or the window is as large as before, it was the
/// request.
#[test]
fn what_is_missing_may_be_no_request() {
    #[derive(Clone, Copy)]
    enum Missing {
        Ack,
        Window(u16),
        Dsack { seen: bool },
    }
    let told = |missing: Missing| {
        let told = |mut talk: Talk| {
            let mut id = 0x1000;
            let mut next = |step: u16| {
                id += step;
                id
            };
            let of_handshake = matches!(missing, Missing::Ack);
            talk.at(0.0, syn(0).id(next(1))).at(0.1, syn(1).ack(0));
            if !of_handshake {
                talk.at(40.0, c(0, 0).id(next(1)));
            }
            let mut t = 40.0;
            for n in 0..12_u64 {
                let late = n == if of_handshake { 0 } else { 4 };
                let step = if late { 2 } else { 1 };
                t += if late { 290.0 } else { 90.0 };
                let (asked, got) = (100 * n, 1000 * n);
                talk.at(t, c(asked, 100).ack(got).id(next(step)));
                talk.at(t + 1.0, s(got, 1000).ack(asked + 100));
                let mut ack = c(asked + 100, 0).ack(got + 1000);
                match missing {
                    Missing::Window(window) if n == 3 => ack = ack.wnd(window),
                    Missing::Dsack { .. } if n == 3 => {
                        talk.at(t + 30.0, s(got, 1000).ack(asked + 100));
                    }
                    _ => {}
                }
                talk.at(t + 41.0, ack.id(next(1)));
                if n == 3 && matches!(missing, Missing::Dsack { seen: true }) {
                    let dsack = c(asked + 100, 0).ack(got + 1000).id(next(1));
                    talk.sacked(t + 70.0, dsack, &[(got, got + 1000)]);
                }
            }
            let one = talk.one();
            let timeout = StallCause::Timeout(TimeoutClass::Unknown);
            one.from_client.stalls.iter().any(|s| s.cause == timeout)
        };
        let [one, wrapped] = ISNS.map(|isns| told(Talk::new(isns)));
        assert_eq!(one, wrapped);
        one
    };
    let window = packet(0).packet.wnd;
    assert!(!told(Missing::Ack));
    assert!(!told(Missing::Window(window / 2)));
    assert!(told(Missing::Window(window / 2 + 1)));
    assert!(!told(Missing::Dsack { seen: false }));
    assert!(told(Missing::Dsack { seen: true }));
}
