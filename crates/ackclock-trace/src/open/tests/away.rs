//! What a capture away from a sender does not show: silence before its first data, its distance
//! before anything has measured it, and FINs that go again.

use ackclock_tcp::wire::Control;

use super::*;
use crate::connection::{Kind, RoundTrip, Spurious};
use crate::lifetime::{Lifetime, Limit};

/// In milliseconds.
fn shares<const N: usize>(lifetime: &Lifetime, limits: [Limit; N]) -> [f64; N] {
    limits.map(|limit| (lifetime.of(limit).0 as f64 / 1e5).round() / 10.0)
}

/// The least round trip and the longest one, in milliseconds.
fn trips(rtt: Option<RoundTrip>) -> Option<[f64; 2]> {
    rtt.map(|rtt| [rtt.min, rtt.max].map(|span| (span.0 as f64 / 1e5).round() / 10.0))
}

/// A handshake over 40 ms, as the client sees it.
fn opened(talk: &mut Talk) -> &mut Talk {
    talk.at(0.0, syn(0).ts(0, 0)).at(40.0, syn(1).ts(0, 0)).at(40.01, c(0, 0).ts(40, 0))
}

/// A server greets a while after the handshake, as those of mail do. That its timer has expired
/// just before, and what it had sent first was lost, explains it as well, but nothing says so.
#[test]
fn a_server_that_greets_late() {
    for late in [250.0, 300.0, 450.0, 550.0, 660.0, 800.0, 860.0, 1100.0] {
        each(|mut talk| {
            let at = 80.0 + late;
            let stamp = at as u32;
            opened(&mut talk)
                .at(at, s(0, 2).ts(stamp - 20, 40))
                .at(at + 0.02, c(0, 0).ack(2).ts(stamp, stamp - 20))
                .at(at + 0.04, s(2, 0).with(Control::FIN).ts(stamp - 20, 40))
                .at(at + 0.06, c(0, 0).ack(3).ts(stamp, stamp - 20));
            let lifetime = talk.one().from_server.lifetime;
            let limits = [Limit::Recovery, Limit::Application];
            assert_eq!(shares(&lifetime, limits), [0.0, late], "{late}");
        });
    }
}

/// The same silence before the last of an answer, where numbers of packets are missing: something
/// was lost before the capture, and a timer has sent it again.
#[test]
fn numbers_tell_silence_from_losses() {
    let limits = [Limit::Recovery, Limit::Application];
    for (id, found) in [(6, [384.9, 0.0]), (3, [0.0, 344.8])] {
        each(|mut talk| {
            opened(&mut talk)
                .at(40.02, c(0, 1).ts(40, 0))
                .at(80.0, s(0, 1448).ack(1).id(1).ts(60, 40))
                .at(80.1, s(1448, 1448).ack(1).id(2).ts(60, 40))
                .at(80.2, c(1, 0).ack(2896).ts(80, 60))
                .at(465.0, s(2896, 104).ack(1).with(Control::FIN).id(id).ts(445, 80))
                .at(465.1, c(1, 0).ack(3001).ts(465, 445));
            assert_eq!(shares(&talk.one().from_server.lifetime, limits), found, "{id}");
        });
    }
}

/// What the client sends again has the number behind that of its last ACK: all that it has sent
/// since its new data was seen. A packet is missing before that ACK, or before this one, or not.
#[test]
fn numbers_tell_that_all_was_seen() {
    for (ids, all_seen) in [([4, 5], true), ([5, 6], false), ([4, 6], false)] {
        each(|mut talk| {
            talk.at(0.0, syn(0).id(1)).at(1.0, syn(1)).at(40.0, c(0, 0).id(2));
            talk.at(40.1, c(0, 500).id(3))
                .at(41.0, s(0, 50))
                .at(81.0, c(500, 0).ack(50).id(ids[0]));
            talk.at(3040.0, c(0, 500).ack(50).id(ids[1])).at(3041.0, s(50, 0).ack(500));
            let again = talk.one().from_client.retransmissions;
            assert_eq!(again.iter().map(|r| r.all_seen).collect::<Vec<_>>(), [all_seen]);
        });
    }
}

/// A server acknowledges a request alone, with the number that its answer has later: that had not
/// gone out by then. What follows within less than any timer waits was sent for the first time,
/// whatever packets of other connections a host has numbered meanwhile. An ACK that came earlier
/// does not say so.
#[test]
fn a_bare_ack_says_that_the_answer_had_not_been_sent() {
    let found = |acked: f64| {
        let mut all = Vec::new();
        for isns in ISNS {
            let mut talk = Talk::new(isns);
            let without = |from| syn(from).options(|options| options.sack_permitted = false);
            talk.at(0.0, without(0)).at(2.6, without(1).id(100)).at(2.7, c(0, 0));
            talk.at(48.1, c(0, 365))
                .at(acked, s(0, 0).ack(if acked > 48.0 { 365 } else { 0 }).id(156));
            let sizes = [
                (212.7, 0, 27, 169),
                (246.0, 27, 37, 184),
                (246.6, 64, 20, 185),
                (247.2, 84, 46, 186),
                (248.2, 130, 25, 187),
                (249.9, 155, 23, 189),
                (250.5, 178, 2, 190),
            ];
            for (ms, position, len, id) in sizes {
                talk.at(ms, s(position, len).ack(365).id(id));
                talk.at(ms + 0.1, c(365, 0).ack(position + u64::from(len)));
            }
            talk.at(258.1, s(180, 0).with(Control::FIN).ack(365).id(193));
            talk.at(258.2, c(365, 0).ack(181));
            let server = talk.one().from_server;
            all.push((server.timeouts.len(), server.lifetime.of(Limit::Recovery).0 / 1_000_000));
        }
        assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
        all[0]
    };
    assert_eq!([164.0, 60.0].map(found), [(0, 0); 2]);
    assert_eq!(found(12.0), (0, 210));
}

/// The server sends its SYN/ACK again and echoes the ACK of the handshake: it waits for data.
/// Nothing was lost. If it echoes the SYN, nothing says that the ACK has arrived; and it does not
/// wait for data if some has gone.
#[test]
fn a_server_that_defers_the_connection() {
    for (echo, early, deferred) in [(40, 0, 1), (0, 0, 0), (40, 500, 0)] {
        each(|mut talk| {
            opened(&mut talk)
                .at(300.0, c(0, early).ts(300, 0))
                .at(1340.0, syn(1).ts(1300, echo))
                .at(1340.01, c(0, 0).ts(1340, 0))
                .at(2000.0, c(0, 500).ts(2000, 0))
                .at(2040.0, s(0, 1448).ack(500).ts(2020, 2000))
                .at(2040.1, c(500, 0).ack(1448).ts(2040, 2020));
            let Connection { deferred: found, from_client, from_server, .. } = talk.one();
            assert_eq!(found, deferred);
            let lost = from_server.retransmissions.len() + from_server.timeouts.len();
            assert_eq!(lost, if deferred > 0 { 0 } else { 2 });
            let handshake = from_client.lifetime.of(Limit::Handshake);
            assert!(early > 0 || handshake < ackclock_tcp::Span::from_millis(50));
        });
    }
}

/// Without SACK: the ACKs of four segments are late, so that all go again. They come at once, and
/// as many repeat the last one as went again: nothing was lost.
#[test]
fn acks_that_come_late_for_all() {
    let without = |from| syn(from).options(|options| options.sack_permitted = false);
    let found = |duplicates: u64| {
        let all = ISNS.map(|isns| {
            let mut talk = Talk::new(isns);
            talk.at(0.0, without(0)).at(40.0, without(1)).at(40.01, c(0, 1));
            for (at, from) in [(80.0, 0), (380.0, 0), (980.0, 0)] {
                for n in from..4 {
                    talk.at(at + n as f64, s(n * 1460, 1460).ack(1));
                }
            }
            for n in 1..=4 {
                talk.at(1500.0 + n as f64, c(1, 0).ack(n * 1460));
            }
            for n in 0..duplicates {
                talk.at(1505.0 + n as f64, c(1, 0).ack(5840));
            }
            let retransmissions = talk.one().from_server.retransmissions;
            // At the receiver, the others are known to have arrived.
            let of_timers = retransmissions.iter().filter(|r| r.position == 0);
            of_timers.map(|r| r.spurious).collect::<Vec<_>>()
        });
        assert_eq!(all[0], all[1]);
        all[0].clone()
    };
    assert_eq!(found(8), [Some(Spurious::DuplicateAck); 2]);
    assert_eq!(found(7), [None; 2]);
}

/// A server acknowledges each request at once and answers it later. Its ACKs have numbers of their
/// own: nothing is missing, and none of the silence is recovery.
#[test]
fn acks_between_answers_have_numbers() {
    for late in [80_u32, 450] {
        each(|mut talk| {
            opened(&mut talk);
            for n in 0..10_u32 {
                let (stamp, id) = (60 + (50 + late) * n, 3 * n as u16 + 1);
                let (asks, answers) = (200 * u64::from(n), 2000 * u64::from(n));
                let served = |position, len, after: u32| {
                    s(position, len).ack(asks + 200).ts(stamp + 20 + after, stamp)
                };
                let taken = |answers| {
                    c(asks + 200, 0).ack(answers).ts(stamp + 40 + late, stamp + 20 + late)
                };
                let (at, then) = (f64::from(stamp), f64::from(stamp + 40 + late));
                talk.at(at, c(asks, 200).ack(answers).ts(stamp, stamp - 20))
                    .at(at + 40.0, served(answers, 0, 0).id(id))
                    .at(then, served(answers, 1448, late).id(id + 1))
                    .at(then + 0.1, taken(answers + 1448))
                    .at(then + 0.4, served(answers + 1448, 552, late).id(id + 2))
                    .at(then + 0.5, taken(answers + 2000));
            }
            let lifetime = talk.one().from_server.lifetime;
            assert_eq!(shares(&lifetime, [Limit::Recovery]), [0.0], "{late}");
        });
    }
}

/// Every tenth segment is lost, and so is the second one after it, with nothing behind it: it goes
/// out again like new data, once its ACK has come. The numbers of packets say that it had gone out
/// before. That some are missing where as many segments are speaks for them.
#[test]
fn numbers_tell_what_was_lost_behind_all_that_is_seen() {
    each(|mut talk| {
        opened(&mut talk);
        let (mut t, mut n, mut id, mut lost) = (80.0, 0_u64, 0_u16, Vec::new());
        let mut next = |missing: u16| {
            id += 1 + missing;
            id
        };
        let data = |n: u64, id: u16| s(1000 * n, 1000).id(id);
        let acked = |n: u64| c(0, 0).ack(1000 * n);
        for _ in 0..6 {
            for _ in 0..9 {
                talk.at(t, data(n, next(0))).at(t + 0.01, acked(n + 1));
                (t, n) = (t + 0.1, n + 1);
            }
            t += 40.0;
            talk.at(t, data(n + 1, next(1)));
            talk.sacked(t + 0.01, acked(n), &[(1000 * (n + 1), 1000 * (n + 2))]);
            talk.at(t + 41.0, data(n, next(1))).at(t + 41.01, acked(n + 2));
            talk.at(t + 82.0, data(n + 2, next(0))).at(t + 82.01, acked(n + 3));
            lost.extend([(1000 * n, Kind::FastRetransmit), (1000 * (n + 2), Kind::Recovery)]);
            (t, n) = (t + 123.0, n + 3);
        }
        let flow = talk.one().from_server;
        let found = flow.retransmissions.iter().map(|r| (r.position, r.kind));
        assert_eq!(found.collect::<Vec<_>>(), lost);
    });
}

/// A download as its receiver sees it, from its midst on. The first timestamps that are echoed are
/// older; from 40 ms on they say how far the server is. Until then ACKs measure nothing: that of
/// each segment passes right behind it.
#[test]
fn a_download_begins_before_the_capture() {
    let begun = |milliseconds: u32| {
        let mut talk = Talk::new(ISNS[0]);
        for n in 0..milliseconds {
            let (at, position) = (f64::from(n), 1000 * u64::from(n));
            talk.at(at, s(position, 1000).ts(5000 + n, 960 + n));
            talk.at(at + 0.01, c(0, 0).ack(position + 1000).ts(1000 + n, 5000 + n));
        }
        trips(talk.one().from_server.rtt)
    };
    assert_eq!(begun(30), None);
    assert_eq!(begun(200), Some([40.0, 40.0]));
}

/// At the server, a SYN/ACK goes three times, and the client answers the second one: that measures
/// nothing. The ACK of what the client asks then passes at once. Its distance is known when it has
/// acknowledged data, and then ACKs of the server say how long its round trip is. It closes, and
/// goes on to send its FIN, which holds nothing up.
#[test]
fn a_client_is_far_and_its_fin_goes_again() {
    each(|mut talk| {
        talk.at(0.0, syn(0).ts(0, 0))
            .at(0.01, syn(1).ts(100, 0))
            .at(1012.0, syn(1).ts(1112, 0))
            .at(1028.0, syn(0).ts(1028, 0))
            .at(1028.01, syn(1).ts(1128, 0))
            .at(1052.0, c(0, 0).ts(1032, 1112))
            .at(1058.0, c(0, 1).ts(1038, 1112))
            .at(1058.01, s(0, 0).ack(1).ts(1158, 1038))
            .at(1058.1, s(0, 1000).ack(1).ts(1158, 1038))
            .at(1098.1, c(1, 0).ack(1000).ts(1078, 1158))
            .at(1098.2, s(1000, 100).ack(1).with(Control::FIN).ts(1198, 1078));
        let fin = |at: f64| c(1, 0).ack(1101).with(Control::FIN).ts(at as u32 - 20, 1198);
        for at in [1138.2, 3300.0, 6628.0] {
            talk.at(at, fin(at)).at(at + 0.01, s(1101, 0).ack(2).ts(at as u32 + 100, at as u32));
        }
        let client = talk.one().from_client;
        assert_eq!(client.retransmissions.len(), 3);
        assert_eq!(trips(client.rtt), Some([40.0, 40.0]));
        assert_eq!(shares(&client.lifetime, [Limit::Recovery]), [0.0]);
    });
}

/// The server sends two segments 20 ms apart, and one ACK answers both, 40 ms after the second. The
/// capture, at the server, measures one packet at a time, the first one; the sender measures both.
#[test]
fn the_sender_measures_the_way_better() {
    let mut talk = Talk::new(ISNS[0]);
    for n in 0..20 {
        let (at, position) = (100.0 * f64::from(n), 2000 * n as u64);
        talk.at(at, s(position, 1000)).at(at + 20.0, s(position + 1000, 1000));
        talk.at(at + 60.0, c(0, 0).ack(position + 2000).ttl(60));
    }
    let connection = talk.one();
    assert_eq!(trips(connection.from_server.rtt), Some([40.0, 40.0]));
    assert_eq!(connection.position.to_client, Some(ackclock_tcp::Span::from_millis(40)));
}

/// At the client, which delays its ACKs for longer than the server's timer may wait. By an ACK with
/// the number behind that of the last data, nothing was sent in between: no timer had expired. So
/// the path is all that the last answer waited for. Numbers are few, and begin behind the SYN/ACK.
#[test]
fn acks_have_the_numbers_that_seem_to_be_missing() {
    let recovery = |ack: u16| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(90.0, syn(1).id(0)).at(90.1, c(0, 0)).at(92.0, c(0, 299));
        talk.at(182.0, s(0, 0).ack(299).id(9001)).at(183.0, s(0, 1336).ack(299).id(9002));
        talk.at(383.0, c(299, 0).ack(1336)).at(500.0, s(0, 1336).ack(299).id(9003));
        talk.sacked(500.1, c(299, 0).ack(1336), &[(0, 1336)]);
        talk.at(652.0, c(299, 272).ack(1336)).at(768.0, s(1336, 409).ack(571).id(9004));
        talk.at(1017.0, c(571, 0).ack(1745)).at(9000.0, c(570, 1).ack(1745));
        talk.sacked(9090.0, s(1745, 0).ack(571).id(ack), &[(570, 571)]);
        let fin = s(1745, 0).ack(571).with(Control::FIN).id(ack + 1);
        talk.at(11_000.0, fin).at(11_000.1, c(571, 0).ack(1746));
        shares(&talk.one().from_server.lifetime, [Limit::Recovery])
    };
    // With one missing, the timer may have expired once more.
    assert_eq!([recovery(9005), recovery(9006)], [[292.9], [631.9]]);
}
