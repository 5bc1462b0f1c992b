//! What limits a sender that the capture was not taken at.

use ackclock_tcp::{Span, TimeoutClass};

use super::*;
use crate::connection::StallCause;
use crate::lifetime::{Lifetime, Limit};

/// In milliseconds.
fn share(lifetime: &Lifetime, limit: Limit) -> f64 {
    (lifetime.of(limit).0 / 10_000) as f64 / 100.0
}

/// A download as its receiver sees it, over 20 ms and a bottleneck that takes 4 ms for each
/// segment. Twenty segments are outstanding, so that a round trip takes 80 ms. Where in its tick a
/// segment was sent, and what the bottleneck takes for the first one, is not known: 5 ms.
fn download(mut talk: Talk, timestamps: bool) -> Connection {
    let stamp = |p: P, ms: f64| if timestamps { p.ts(ms as u32, 0) } else { p };
    let mss = if timestamps { 1012 } else { 1000 };
    let opens = |end, ms| stamp(syn(end).options(|options| options.mss = Some(mss)), ms);
    talk.at(0.0, opens(0, 0.0)).at(20.0, opens(1, 0.0));
    talk.at(20.01, stamp(c(0, 100), 20.0));
    let arrival = |n: usize| 44.0 + 4.0 * n as f64;
    for n in 0..200_usize {
        let sent = n.checked_sub(20).map_or(20.0, arrival);
        let position = 1000 * n as u64;
        talk.at(arrival(n), stamp(s(position, 1000).ack(100), sent));
        talk.at(arrival(n) + 0.01, stamp(c(100, 0).ack(position + 1000), arrival(n)));
    }
    talk.one()
}

#[test]
fn timestamps_show_the_queue_of_a_download() {
    each(|talk| {
        let flow = download(talk, true).from_server;
        let rtt = flow.rtt.unwrap();
        let ms = |span: Span| (span.0 + 500_000) / 1_000_000;
        assert_eq!((ms(rtt.min), ms(rtt.max)), (20, 70));
        assert_eq!(flow.lifetime.main(), Some(Limit::Path));
        assert!(share(&flow.lifetime, Limit::CongestionWindow) < 30.0, "{:?}", flow.lifetime);
    });
}

/// Without them, nothing tells the queue from the way. But segments come as fast all the time as
/// the bottleneck lets them.
#[test]
fn a_queue_that_only_the_rate_shows() {
    each(|talk| {
        let flow = download(talk, false).from_server;
        assert_eq!(flow.rtt.unwrap().max.0 / 1_000_000, 20);
        let shares = [Limit::CongestionWindow, Limit::Path].map(|l| share(&flow.lifetime, l));
        assert_eq!(shares, [0.0, 840.0]);
    });
}

/// The same bottleneck, and a window of three of the five segments that the path holds, or of ten.
/// At the receiver one that never grows looks like an application that writes as much.
#[test]
fn a_window_that_is_too_small_for_the_bottleneck() {
    let shares = |window: u64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(20.0, syn(1).options(|options| options.mss = Some(1000)));
        talk.at(20.01, c(0, 100));
        let mut arrivals: Vec<f64> = Vec::new();
        for n in 0..100_u64 {
            let sent = n.checked_sub(window).map_or(20.01, |n| arrivals[n as usize]);
            let free = arrivals.last().copied().unwrap_or(0.0);
            let at = (sent + 16.0).max(free) + 4.0;
            talk.at(at, s(1000 * n, 1000).ack(100));
            talk.at(at + 0.001, c(100, 0).ack(1000 * (n + 1)));
            arrivals.push(at);
        }
        let lifetime = talk.one().from_server.lifetime;
        let [cwnd, path] =
            [Limit::CongestionWindow, Limit::Path].map(|limit| share(&lifetime, limit));
        [cwnd, path, lifetime.full().secs_f64() * 1e3]
    };
    assert_eq!([3, 10].map(shares), [[52.0, 648.0, 0.0], [0.0, 436.0, 280.001]]);
}

/// A capture at the receiver that begins within a connection, or whose handshake was made up. Slow
/// start shows that the sender is 50 ms away: nothing of this is the application's, nor of a
/// handshake. Without that, the sender seems to be here, and its application to pause.
#[test]
fn slow_start_says_how_far_the_sender_is() {
    let shares = |made_up: bool, grow: bool| {
        let mut talk = Talk::new(ISNS[0]);
        if made_up {
            let opens = |end| syn(end).options(|options| options.mss = Some(1000));
            talk.at(0.0, opens(1)).at(0.0, opens(0).ack(0).with(Control::ACK)).at(0.0, s(0, 0));
        }
        let mut position = 0;
        for round in 0..4_u64 {
            let segments = if grow { 2 + round } else { 2 };
            for n in 0..segments {
                let at = 50.0 * round as f64 + n as f64;
                talk.at(at, s(position, 1000));
                position += 1000;
                talk.at(at, c(0, 0).ack(position));
            }
        }
        let lifetime = talk.one().from_server.lifetime;
        Limit::ALL.map(|limit| share(&lifetime, limit))
    };
    for (made_up, [window, path]) in [(false, [153.0, 51.0]), (true, [150.0, 54.0])] {
        assert_eq!(shares(made_up, true), [0.0, 0.0, 0.0, window, 0.0, path, 0.0], "{made_up}");
        // Where it began is known, a sender as far away whose window stays explains it as well.
        let paused = [0.0, 151.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let stays = [0.0, 0.0, 0.0, 100.0, 0.0, 101.0, 0.0];
        assert_eq!(shares(made_up, false), if made_up { stays } else { paused }, "{made_up}");
    }
}

/// Each segment is seen behind the ACK of the one before, 0.6 ms sooner than the handshake let
/// expect, in which data went with the ACK. No sender keeps to a window of one segment, but a
/// bottleneck that takes 22.4 ms for each looks like this: the application does not pause.
#[test]
fn data_that_waits_for_an_ack_comes_a_little_early() {
    each(|mut talk| {
        let opens = |end| syn(end).options(|options| options.mss = Some(1000));
        talk.at(0.0, opens(0)).at(0.01, opens(1));
        for n in 0..5 {
            let at = 23.0 + 22.4 * n as f64;
            talk.at(at, c(1000 * n, 1000)).at(at + 0.01, s(0, 0).ack(1000 * (n + 1)));
        }
        let lifetime = talk.one().from_client.lifetime;
        let shares = [Limit::CongestionWindow, Limit::Path].map(|limit| share(&lifetime, limit));
        assert_eq!(shares, [0.0, 112.6]);
    });
}

/// The same with pieces of 100 bytes: Nagle's algorithm holds each until the last is acknowledged.
#[test]
fn small_pieces_that_wait_for_acks_on_their_way() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(0.01, syn(1));
        for n in 0..5 {
            let at = 23.0 + 22.4 * n as f64;
            talk.at(at, c(100 * n, 100)).at(at + 0.01, s(0, 0).ack(100 * (n + 1)));
        }
        let lifetime = talk.one().from_client.lifetime;
        let limits = [Limit::Nagle, Limit::CongestionWindow, Limit::Path];
        assert_eq!(limits.map(|limit| share(&lifetime, limit)), [89.6, 0.6, 22.4]);
    });
}

/// The same with 12.6 ms before each second piece in which the application gives nothing, which is
/// less than a round trip.
#[test]
fn small_pieces_and_short_pauses() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(0.01, syn(1));
        let mut at = 23.0;
        for n in 0..8 {
            talk.at(at, c(100 * n, 100)).at(at + 0.01, s(0, 0).ack(100 * (n + 1)));
            at += if n % 2 == 0 { 22.4 } else { 35.0 };
        }
        let lifetime = talk.one().from_client.lifetime;
        let limits = [Limit::Nagle, Limit::Application, Limit::Path];
        assert_eq!(limits.map(|limit| share(&lifetime, limit)), [89.6, 36.0, 91.4]);
    });
}

/// A reader that takes ten segments every 60 ms, over a round trip of 40 ms, and has a window of as
/// many. Nothing is outstanding before that opens, so that cwnd has room; but the window has none.
#[test]
fn a_receivers_window_has_no_room_while_cwnd_has() {
    each(|mut talk| {
        let opens = |end| syn(end).options(|o| (o.mss, o.wscale) = (Some(1000), None));
        talk.at(0.0, opens(0)).at(40.0, opens(1));
        talk.at(40.01, c(0, 100).wnd(10_000));
        for burst in 0..20_u64 {
            let at = 84.0 + 60.0 * burst as f64;
            for n in 0..10 {
                let (at, position) = (at + 0.3 * n as f64, 1000 * (10 * burst + n));
                talk.at(at, s(position, 1000).ack(100));
                let left = 1000 * (9 - n) as u16;
                talk.at(at + 0.01, c(100, 0).ack(position + 1000).wnd(left));
            }
            talk.at(at + 19.0, c(100, 0).ack(10_000 * (burst + 1)).wnd(10_000));
        }
        let lifetime = talk.one().from_server.lifetime;
        let shares = Limit::ALL.map(|limit| share(&lifetime, limit));
        assert_eq!(shares, [40.01, 16.29, 1098.99, 44.0, 0.0, 83.71, 0.0]);
    });
}

/// A server writes ten segments every 33 ms over a round trip of 40 ms, so that twenty may be
/// outstanding. When ten are acknowledged, cwnd has room for 26 ms, and nothing goes out until more
/// is written: nothing waits for the ACKs that come 7 ms later. With 48 ms, all are acknowledged
/// 5 ms before.
#[test]
fn a_sender_with_room_waits_for_its_application() {
    for (period, expected) in [(33.0, [39.3, 1664.4]), (48.0, [5.4, 2433.3])] {
        each(|mut talk| {
            talk.at(0.0, syn(0)).at(40.0, syn(1).options(|options| options.mss = Some(1000)));
            talk.at(40.01, c(0, 100));
            for burst in 0..50_u64 {
                for n in 0..10 {
                    let at = 84.0 + period * burst as f64 + 0.3 * n as f64;
                    let position = 1000 * (10 * burst + n);
                    talk.at(at, s(position, 1000).ack(100));
                    talk.at(at + 0.01, c(100, 0).ack(position + 1000));
                }
            }
            let lifetime = talk.one().from_server.lifetime;
            // In the first bursts, and within each, nothing is known of room.
            let shares = [Limit::CongestionWindow, Limit::Path].map(|l| share(&lifetime, l));
            assert_eq!(shares, expected);
        });
    }
}

/// A download in two bursts of ten segments over 20 ms, as its receiver sees it. The server numbers
/// its packets from 1000 on; the next segment comes `at` this time, in milliseconds, with `number`.
fn outage(mut talk: Talk, at: f64, number: u16, ttl: u8) -> Connection {
    two_bursts(&mut talk, |p, id| p.id(id).ttl(ttl));
    talk.at(at, s(20_000, 1000).ack(100).id(number).ttl(ttl));
    talk.at(at + 0.01, c(100, 0).ack(21_000).id(23));
    talk.one()
}

/// A handshake, a request, and two bursts of ten segments. `numbered` gives a packet its number.
fn two_bursts(talk: &mut Talk, numbered: impl Fn(P, u16) -> P) {
    let opens = syn(1).options(|options| options.mss = Some(1000));
    talk.at(0.0, numbered(syn(0), 1)).at(20.0, numbered(opens, 0));
    talk.at(20.01, numbered(c(0, 100), 2));
    for n in 0..20_u16 {
        let ms = 44.0 + 20.0 * f64::from(n / 10) + 0.1 * f64::from(n % 10);
        let position = 1000 * u64::from(n);
        talk.at(ms, numbered(s(position, 1000).ack(100), 1000 + n));
        talk.at(ms + 0.01, numbered(c(100, 0).ack(position + 1000), 3 + n));
    }
}

/// Twenty segments were sent, and the timer sent the first of them five times: 25 packets are
/// missing. So the application did not pause.
#[test]
fn numbers_of_packets_tell_an_outage_from_a_pause() {
    each(|talk| {
        let flow = outage(talk, 6465.0, 1045, 64).from_server;
        assert_eq!(flow.lifetime.main(), Some(Limit::Recovery));
        assert_eq!(share(&flow.lifetime, Limit::Recovery), 6400.1);
        assert_eq!(flow.stalls.len(), 1);
        assert_eq!(flow.stalls[0].cause, StallCause::Timeout(TimeoutClass::Unknown));
    });
    each(|talk| {
        let flow = outage(talk, 6465.0, 1020, 64).from_server;
        assert_eq!(flow.lifetime.main(), Some(Limit::Application));
        assert_eq!(share(&flow.lifetime, Limit::Recovery), 0.0);
    });
}

/// A keep-alive has the number before the next, and that byte or none: after it nothing that was
/// sent before is missing, though numbers of packets are. An ACK alone may have waited before the
/// capture, and data been sent since.
#[test]
fn keep_alives_say_that_nothing_is_outstanding() {
    let cause = |alive: Option<(u64, u32)>| {
        let mut talk = Talk::new(ISNS[0]);
        two_bursts(&mut talk, P::id);
        if let Some((position, len)) = alive {
            talk.at(60_000.0, s(position, len).ack(100).id(1030));
            talk.at(60_000.01, c(100, 0).ack(20_000).id(23));
        }
        talk.at(60_100.0, s(20_000, 1000).ack(100).id(1040));
        talk.at(60_100.01, c(100, 0).ack(21_000).id(24));
        talk.one().from_server.stalls.last().map(|stall| stall.cause)
    };
    let lost = Some(StallCause::Timeout(TimeoutClass::Unknown));
    assert_eq!([0, 1].map(|len| cause(Some((19_999, len)))), [Some(StallCause::Application); 2]);
    assert_eq!([None, Some((20_000, 0))].map(cause), [lost; 2]);
}

/// Other stacks than Linux begin with a TTL of 255; Windows begins with 128.
#[test]
fn numbers_count_with_other_ttls() {
    for (ttl, tells) in [(250, true), (120, false)] {
        each(|talk| {
            let flow = outage(talk, 6465.0, 1021, ttl).from_server;
            assert_eq!((220.0..260.0).contains(&share(&flow.lifetime, Limit::Recovery)), tells);
        });
    }
}

/// One packet is missing: it was lost, and the timer waited once. Before, the application paused.
/// What the timer has sent is on its way for 20 ms more.
#[test]
fn a_timer_waits_no_longer_than_it_does() {
    each(|talk| {
        let flow = outage(talk, 6465.0, 1021, 64).from_server;
        assert_eq!(flow.lifetime.main(), Some(Limit::Application));
        assert!((220.0..260.0).contains(&share(&flow.lifetime, Limit::Recovery)));
    });
}

/// The numbers of a host that counts all that it sends, of one that draws them, and of one that
/// counts what it sends to one host, as Windows does, tell nothing.
#[test]
fn numbers_that_other_connections_take_as_well() {
    for (step, ttl) in [(7, 64), (1021, 64), (1, 128)] {
        each(|mut talk| {
            talk.at(0.0, syn(0).id(1)).at(20.0, syn(1).id(0)).at(20.01, c(0, 100).id(2));
            for n in 0..20_u16 {
                let (ms, position) = (44.0 + 2.0 * f64::from(n), 1000 * u64::from(n));
                talk.at(ms, s(position, 1000).ack(100).id(1000 + step * n).ttl(ttl));
                talk.at(ms + 0.01, c(100, 0).ack(position + 1000).id(3 + n));
            }
            talk.at(6000.0, s(20_000, 1000).ack(100).id(1000 + step * 20 + 3).ttl(ttl));
            talk.at(6000.01, c(100, 0).ack(21_000).id(23));
            let flow = talk.one().from_server;
            assert_eq!(share(&flow.lifetime, Limit::Recovery), 0.0);
        });
    }
}

/// The server got none of the last ten ACKs in an outage, and its timer sends what they were for.
#[test]
fn a_timer_that_waits_for_lost_acks_is_no_pause() {
    each(|mut talk| {
        two_bursts(&mut talk, |p, _| p);
        talk.at(3265.0, s(10_000, 1000).ack(100));
        talk.at(3265.01, c(100, 0).ack(20_000));
        let flow = talk.one().from_server;
        assert_eq!(flow.lifetime.main(), Some(Limit::Recovery));
        assert_eq!(share(&flow.lifetime, Limit::Recovery), 3180.09);
    });
}

/// A download of thirty segments over 20 ms and a bottleneck that takes 4 ms for each, as its
/// receiver sees it. The server has two segments outstanding at first, and two more with each ACK:
/// from the fourth on the bottleneck is busy until the end, and the server has sent all some time
/// before. A sender that does so tells this, although nothing in the capture does: segments come
/// as fast as the bottleneck lets them, and ACKs go at once.
#[test]
fn a_sender_that_explains_all_tells_the_windows_share() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(20.0, syn(1).options(|options| options.mss = Some(1000)));
        talk.at(20.01, c(0, 100));
        let mut sent = vec![20.01; 2];
        let mut free = 0.0;
        for n in 0..30 {
            let at = f64::max(sent[n] + 20.0, free) + 4.0;
            free = at;
            let position = 1000 * n as u64;
            talk.at(at, s(position, 1000).ack(100));
            talk.at(at + 0.01, c(100, 0).ack(position + 1000));
            sent.extend([at + 0.01; 2]);
        }
        let lifetime = talk.one().from_server.lifetime;
        let near = |limit, expected: f64| (share(&lifetime, limit) - expected).abs() < 9.0;
        // Two segments, then four, of the six that the path holds.
        assert!(near(Limit::CongestionWindow, 48.0), "{lifetime:?}");
        assert!(near(Limit::Application, 0.0), "{lifetime:?}");
        assert_eq!(lifetime.main(), Some(Limit::Path));
    });
}

/// Nothing was seen that measures the way to the server. A sender with a window of one segment at
/// first explains all: the last ACK is on its way for as long as the others.
#[test]
fn the_last_ack_is_on_its_way_to_a_sender_that_was_found() {
    let mut talk = Talk::new(ISNS[0]);
    let opens = |end| syn(end).options(|options| options.mss = Some(1000));
    talk.at(0.0, opens(1)).at(0.0, opens(0).ack(0).with(Control::ACK)).at(0.0, s(0, 0));
    for (n, at) in [0.0, 50.0, 54.0].into_iter().enumerate() {
        talk.at(at, s(1000 * n as u64, 1000));
        talk.at(at, c(0, 0).ack(1000 * (n as u64 + 1)));
    }
    let lifetime = talk.one().from_server.lifetime;
    let shares = Limit::ALL.map(|limit| share(&lifetime, limit));
    assert_eq!(shares, [0.0, 0.0, 0.0, 50.0, 0.0, 54.0, 0.0]);
}

/// One packet is missing, or two, and the next comes when a timer that waits for a second would
/// have sent it: no application pauses for as long by chance. Its ACK takes 20 ms.
#[test]
fn a_timer_that_waits_for_a_second() {
    for (number, ms) in [(1021, 1000.0), (1022, 3000.0)] {
        each(|talk| {
            let flow = outage(talk, 85.0 + ms, number, 64).from_server;
            assert_eq!(share(&flow.lifetime, Limit::Recovery).round(), ms + 20.0);
        });
    }
}

/// A download over 1 ms and a bottleneck that takes 4 ms for a segment: of each the receiver has
/// told the server long before the next one comes. Full segments have waited for the bottleneck.
/// An application that writes shorter ones has nothing more to send.
#[test]
fn what_comes_one_behind_the_other_has_waited_for_the_bottleneck() {
    let shares = |len: u32| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(1.0, syn(1).options(|options| options.mss = Some(1000)));
        talk.at(1.01, c(0, 100));
        for n in 0..100 {
            let (at, position) = (6.0 + 4.0 * n as f64, n * u64::from(len));
            talk.at(at, s(position, len).ack(100));
            talk.at(at + 0.01, c(100, 0).ack(position + u64::from(len)));
        }
        let lifetime = talk.one().from_server.lifetime;
        [Limit::Application, Limit::Path].map(|limit| share(&lifetime, limit).round())
    };
    assert_eq!([1000, 900].map(shares), [[0.0, 402.0], [296.0, 106.0]]);
}
