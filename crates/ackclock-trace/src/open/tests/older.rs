//! A SYN that meets an older connection with the same ports, or nobody who listens.

use ackclock_tcp::wire::Control;

use super::*;
use crate::connection::{Ended, Kind, StallCause};
use crate::lifetime::Limit;

/// Positions of an older connection: behind the SYN of this one, a good deal ahead, or a little.
const OLDER: [u64; 3] = [(1 << 32) - 5000, 1 << 30, 28_258];

/// A reset of this end, which acknowledges what it is told to.
fn reset(p: P) -> P {
    P { control: Control::RST, ..p }
}

/// The server still has an older connection, and its ACK answers the SYN (RFC 5961 section 4). The
/// client resets that one, and asks again. Nothing is lost, and the stream of the server is that of
/// its SYN/ACK. Without the ACK, a SYN was lost, or its answer.
#[test]
fn a_challenge_ack_is_of_an_older_connection() {
    let older = OLDER.map(|older| (older, true));
    for (older, challenged) in older.into_iter().chain([(0, false)]) {
        each(|mut talk| {
            talk.at(0.0, syn(0));
            if challenged {
                talk.at(20.0, s(77_000, 0).ack(older)).at(20.1, reset(c(older, 0)));
            }
            talk.at(3000.0, syn(0)).at(3020.0, syn(1)).at(3020.1, c(0, 0));
            talk.at(3030.0, c(0, 100)).at(3050.0, s(0, 500).ack(100));
            talk.at(3050.1, c(100, 0).ack(500));
            let one = talk.one();
            let (client, server) = (&one.from_client, &one.from_server);
            assert_eq!((client.bytes, server.bytes), (100, 500));
            assert!(!matches!(one.ended, Ended::Reset(_)));
            let again = client.retransmissions.iter().map(|r| r.kind).collect::<Vec<_>>();
            let kind = if challenged { Kind::Unknown } else { Kind::Timeout };
            assert_eq!((again, client.timeouts.len()), (vec![kind], usize::from(!challenged)));
            assert_eq!(client.lifetime.of(Limit::Handshake).0 / 1_000_000, 3020);
        });
    }
}

/// The SYN/ACK was not captured. What the client acknowledges says that it had come: then ACKs of
/// what was not captured either are of this connection, and so is a reset.
#[test]
fn a_syn_ack_that_was_not_captured() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(20.0, c(0, 0)).at(30.0, s(0, 0).ack(500));
        talk.at(31.0, s(0, 100).ack(500)).at(32.0, reset(c(500, 0)));
        let one = talk.one();
        assert_eq!((one.from_server.bytes, one.from_client.unseen), (100, 500));
        assert!(matches!(one.ended, Ended::Reset(_)));
    });
}

/// A client resets its connection, of which only SYNs, FINs and resets were kept: nothing of an
/// older one was seen.
#[test]
fn a_reset_behind_what_was_not_captured() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(5000.0, reset(c(5000, 0)));
        assert!(matches!(talk.one().ended, Ended::Reset(_)));
    });
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(20.0, s(77_000, 0).ack(OLDER[2]));
        talk.at(5000.0, c(5000, 0).with(Control::RST));
        assert!(matches!(talk.one().ended, Ended::Reset(_)));
    });
    // Its number is that of the SYN: it is nobody's, and the SYNs were not answered.
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(1000.0, syn(0)).at(5000.0, reset(c(u64::from(u32::MAX), 0)));
        let one = talk.one();
        assert!(!matches!(one.ended, Ended::Reset(_)));
        assert_eq!(one.from_client.timeouts.len(), 1);
    });
}

/// An older connection closes, again and again: nobody has answered the SYN.
#[test]
fn a_fin_of_an_older_connection_answers_no_syn() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(1000.0, syn(0)).at(1500.0, s(500, 0).ack(OLDER[0]));
        let fin = || s(500, 0).ack(OLDER[0]).with(Control::FIN);
        talk.at(2000.0, fin()).at(3000.0, syn(0)).at(50_000.0, fin());
        let one = talk.one();
        assert_eq!((one.end.0 - START) / 1_000_000, 3000);
        let client = &one.from_client;
        let kinds = client.retransmissions.iter().map(|r| r.kind).collect::<Vec<_>>();
        // The ACK was an answer.
        assert_eq!(kinds, [Kind::Timeout, Kind::Unknown]);
        assert_eq!((one.from_server.segments, one.packets), (0, 6));
    });
}

/// Each SYN is answered by a reset, and Windows asks three times: no timer expires. Without the
/// resets it does. A reset that acknowledges something else answers nothing (RFC 9293 section
/// 3.10.7.3).
#[test]
fn a_syn_that_is_refused_is_not_lost() {
    for (ack, timeouts) in [(Some(0), 0), (Some(OLDER[1]), 2), (None, 2)] {
        each(|mut talk| {
            for at in [0.0, 500.0, 1000.0] {
                talk.at(at, syn(0));
                if let Some(ack) = ack {
                    talk.at(at + 0.2, s(0, 0).ack(ack).with(Control::RST));
                }
            }
            let one = talk.one();
            let client = &one.from_client;
            assert_eq!((client.timeouts.len(), client.segments), (timeouts, 3), "{ack:?}");
            assert_eq!(one.ended == Ended::Refused, timeouts == 0);
            let causes = client.stalls.iter().map(|stall| stall.cause);
            assert!(causes.clone().all(|cause| matches!(cause, StallCause::Timeout(_))));
        });
    }
}

/// The client resets what the server says after it has closed, and the server closes. The same
/// reset 4 s later is none of the connection's; nor is any once both ends are closed, as a router
/// sends one that forgets the connection. A FIN that nobody acknowledged keeps it open until then.
#[test]
fn a_reset_after_the_end() {
    let lasted = |acked: bool, resets: &[(usize, f64)]| {
        ISNS.map(|isns| {
            let mut talk = Talk::new(isns);
            talk.open().at(20.0, c(0, 0).with(Control::FIN)).at(30.0, s(0, 0).ack(1));
            talk.at(40.0, s(0, 0).ack(1).with(Control::FIN));
            if acked {
                talk.at(41.0, c(1, 0).ack(1));
            }
            for &(from, at) in resets {
                talk.at(at, reset(if from == 0 { c(1, 0) } else { s(1, 0).ack(1) }));
            }
            let one = talk.one();
            (one.end.0 - START) / 1_000_000
        })
    };
    assert_eq!(lasted(false, &[(0, 42.0), (0, 4000.0)]), [42; 2]);
    assert_eq!(lasted(true, &[(1, 9000.0)]), [41; 2]);
    assert_eq!(lasted(false, &[(1, 4000.0)]), [4000; 2]);
    // The first reset of the other end may have cut off what it sent.
    assert_eq!(lasted(false, &[(0, 42.0), (1, 4000.0)]), [4000; 2]);
}

/// The path held both SYNs back, and each is answered: the ACK of the first answer goes before the
/// second one comes, so that the server has waited for a round trip and no timer. The other way
/// round, the ACK may have waited for the second one.
#[test]
fn a_second_answer_behind_the_ack_of_the_first() {
    for (at, stalls) in [(1472.1_f64, 0), (1471.9, 1)] {
        each(|mut talk| {
            talk.at(0.0, syn(0).ts(1, 0)).at(1011.0, syn(0).ts(1012, 0));
            talk.at(1471.8, syn(1).ts(70, 1));
            let mut then = [(1472.0, c(0, 0).ts(1473, 70)), (at, syn(1).ts(71, 1))];
            then.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (at, p) in then {
                talk.at(at, p);
            }
            talk.at(1472.2, c(0, 0).ts(1473, 70)).at(1472.3, c(0, 99).ts(1473, 70));
            assert_eq!(talk.one().from_server.stalls.len(), stalls);
        });
    }
}

/// The SYN/ACK offers no window, and the server opens it before the client has sent anything. One
/// that closes later is no part of the handshake.
#[test]
fn a_syn_ack_without_a_window_is_of_a_proxy() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(30.0, syn(1).wnd(0)).at(30.1, c(0, 0));
        talk.at(60.0, s(0, 0)).at(60.1, c(0, 600));
        talk.at(90.0, s(0, 0).ack(600).wnd(0)).at(140.0, s(0, 0).ack(600));
        talk.at(140.1, c(600, 600)).at(170.0, s(0, 0).ack(1200));
        let lifetime = talk.one().from_client.lifetime;
        let limits = [Limit::Handshake, Limit::Path];
        let shares = limits.map(|limit| (lifetime.of(limit).0 as f64 / 1e6).round());
        assert_eq!(shares, [60.0, 60.0]);
    });
}
