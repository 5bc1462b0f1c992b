//! What the models take in: positions, sizes, and what is no retransmission.

use super::*;
use ackclock_tcp::{Span, TimeoutClass};

use crate::connection::{Ended, Kind, Spurious, StallCause, State};
use crate::lifetime::Limit;

#[test]
fn streams_wrap() {
    // 6 GB each way of 1 GB jumps would be gaps; whole windows of 64 MB are not.
    for isn in [1000, u32::MAX - 10] {
        let mut talk = Talk::new([isn, 5]);
        talk.open();
        let step = 64 << 20;
        for n in 0..100 {
            let ms = 20.0 + n as f64 * 20.0;
            talk.at(ms, c(n * step, step as u32)).at(ms + 10.0, s(0, 0).ack((n + 1) * step));
        }
        let again = 99 * step + 1460 * 7;
        talk.at(3000.0, c(again, 1460));
        let one = talk.one();
        assert_eq!(one.from_client.bytes, 100 * step);
        let [r] = one.from_client.retransmissions[..] else {
            panic!("{:?}", one.from_client.retransmissions)
        };
        assert_eq!((r.position, r.seq), (again, Seq(isn + 1) + again as u32));
    }
}

#[test]
fn super_segments_count_as_the_segments_in_them() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 10 * 1460)).at(21.0, s(0, 0).ack(10 * 1460));
        // The same with a FIN, and a rest; 3 of the segments go again in one piece.
        talk.at(22.0, c(14_600, 3 * 1460 + 1).with(Control::FIN)).at(322.0, c(14_600, 3 * 1460));
        let one = talk.one();
        // SYN, 10, 4, 3.
        assert_eq!(
            (one.from_client.segments, one.from_client.bytes),
            (1 + 10 + 4 + 3, 14_600 + 4381)
        );
        let again =
            one.from_client.retransmissions.iter().map(|r| (r.position, r.len)).collect::<Vec<_>>();
        assert_eq!(again, [(14_600, 1460), (16_060, 1460), (17_520, 1460)]);
    });
}

#[test]
fn smss_is_the_least_of_both_less_the_timestamps() {
    for (options, mss) in [((1460, 1400), 1388), ((1200, 1400), 1188)] {
        each(|mut talk| {
            talk.at(0.0, syn(0).ts(1, 0).options(|o| o.mss = Some(options.0)));
            talk.at(10.0, syn(1).ts(7, 1).options(|o| o.mss = Some(options.1)));
            let one = talk.one();
            assert_eq!((one.from_client.mss, one.from_server.mss), (mss, mss));
            assert!(one.from_client.timestamps && one.from_client.sack);
            assert_eq!(one.from_client.offered.unwrap().mss, Some(options.0));
        });
    }
    // What one end does not offer is not in use; without an option SMSS is 536 (RFC 9293 section
    // 3.7.1).
    each(|mut talk| {
        talk.at(0.0, syn(0).ts(1, 0));
        talk.at(10.0, syn(1).options(|o| *o = Options::default()));
        let one = talk.one();
        assert_eq!(
            (one.from_client.mss, one.from_client.timestamps, one.from_client.sack),
            (536, false, false)
        );
    });
}

/// What the snap length has cut off the SYNs is not known, and SMSS is learned from sizes: the
/// super-segment is two segments, of which the second goes again. The window is scaled by 7 and has
/// room, though it looks smaller than a segment.
#[test]
fn options_that_were_cut_off_are_not_known() {
    for mss in [None, Some(1460)] {
        each(|mut talk| {
            talk.at(0.0, syn(0).options(|o| o.mss = mss).cut());
            talk.at(10.0, syn(1).options(|o| o.mss = mss).cut());
            talk.at(10.01, c(0, 0).cut());
            talk.at(11.0, c(0, 1448).cut()).at(11.1, c(1448, 2896).cut());
            talk.at(21.0, s(0, 0).ack(1448).wnd(500).cut());
            talk.at(21.01, c(4344, 1448).cut());
            talk.at(350.0, c(2896, 1448).cut()).at(360.0, s(0, 0).ack(5792).wnd(500).cut());
            let one = talk.one();
            let client = &one.from_client;
            assert_eq!((client.mss, client.segments, client.offered), (1448, 1 + 4 + 1, None));
            assert_eq!(client.retransmissions.len(), 1);
            assert_eq!(client.lifetime.of(Limit::ReceiveWindow), Span::ZERO);
            assert_eq!((client.window, one.from_server.window), (None, None));
            let doubts = [
                "the scale of the receiver's window is not known: full windows may be missed",
                "options were cut off by the snap length",
            ];
            assert_eq!(client.doubts, doubts);
        });
    }
}

/// An end that offers no scale rules it out, also for an end whose SYN was not seen (RFC 7323
/// section 2.2).
#[test]
fn one_syn_can_rule_out_that_windows_are_scaled() {
    for (scale, limited) in [(None, 9_000), (Some(7), 0)] {
        each(|mut talk| {
            talk.at(0.0, syn(0).options(|o| o.wscale = scale));
            talk.at(10.01, c(0, 0)).at(11.0, c(0, 1460));
            talk.at(20.0, s(0, 0).ack(1460).wnd(1000));
            talk.at(20.01, c(1460, 1000)).at(29.01, s(0, 0).ack(2460).wnd(1000));
            talk.at(29.02, c(2460, 1000)).at(38.0, s(0, 0).ack(3460).wnd(1000));
            let client = talk.one().from_client;
            assert_eq!(client.lifetime.of(Limit::ReceiveWindow), Span::from_micros(limited));
        });
    }
}

/// The capture begins when the connection was open, and the server reads only in the end. What its
/// window became smaller by and what it made room for leave one scale. If it reads more than half
/// of what comes, or takes back what it had offered, or the buffer never becomes full, more than
/// one fits, or none. An ACK that a window update has overtaken says nothing.
#[test]
fn the_scale_of_a_window_that_is_not_read() {
    let told_of = |read: u64, taken: u64, buffer: u64, overtaken: bool| {
        let told = |mut talk: Talk| {
            let field = |acked: u64, back: u64| {
                let left = buffer - back - (acked - acked * read / 100);
                (left / 128) as u16
            };
            let ack = |acked: u64, back: u64| s(0, 0).ack(acked).wnd(field(acked, back));
            talk.at(0.0, c(0, 1460));
            talk.at(20.0, ack(1460, 0)).at(20.1, c(1460, 13_140)).at(40.1, ack(14_600, 0));
            talk.at(40.2, c(14_600, 29_200)).at(60.2, ack(43_800, taken));
            talk.at(60.3, c(43_800, 18_980)).at(80.3, ack(46_720, taken));
            talk.at(80.4, ack(62_780, taken));
            talk.at(280.4, s(0, 0).ack(62_780).wnd(500));
            if overtaken {
                talk.at(280.41, ack(62_780, taken));
            }
            talk.at(280.5, c(62_780, 1460)).at(300.5, s(0, 0).ack(64_240).wnd(500));
            let client = talk.one().from_client;
            let Span(ns) = client.lifetime.of(Limit::ReceiveWindow);
            (client.window, ns / 1_000_000, client.doubts)
        };
        let [one, wrapped] = ISNS.map(|isns| told(Talk::new(isns)));
        assert_eq!(one, wrapped);
        one
    };
    let told = |read, taken, buffer| told_of(read, taken, buffer, false);
    assert_eq!(told_of(0, 0, 64_000, true).0, Some(500 << 7));
    let (window, limited, doubts) = told(0, 0, 64_000);
    assert_eq!((window, limited), (Some(500 << 7), 220));
    let inferred = "the scale of the receiver's window was inferred: before it was known, full \
        windows may have been missed";
    assert!(doubts.iter().any(|doubt| doubt == inferred), "{doubts:?}");
    for (read, taken, buffer) in [(60, 0, 64_000), (0, 1000, 64_000), (0, 0, 600_000)] {
        let (window, limited, doubts) = told(read, taken, buffer);
        assert_eq!((window, limited), (None, 0), "{read} {taken} {buffer}");
        let unknown = "the scale of the receiver's window is not known: full windows may be missed";
        assert!(doubts.iter().any(|doubt| doubt == unknown), "{doubts:?}");
    }
}

/// Only the client's packets: a timeout and a handshake without answers, as far as they say. But it
/// acknowledges a SYN/ACK, so that the other direction is missing.
#[test]
fn only_one_direction() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(10.01, c(0, 0)).at(11.0, c(0, 1460)).at(11.1, c(1460, 1460));
        talk.at(400.0, c(1460, 1460)).at(410.0, c(2920, 1460));
        let one = talk.one();
        let client = &one.from_client;
        assert!(one.one_way && client.timeouts.is_empty() && client.stalls.is_empty());
        assert_eq!((client.bytes, client.segments), (4380, 1 + 4));
        let again: Vec<_> = client.retransmissions.iter().map(|r| (r.position, r.kind)).collect();
        assert_eq!(again, [(1460, Kind::Unknown)]);
        assert_eq!([client, &one.from_server].map(|flow| flow.lifetime.main()), [None, None]);
        assert_eq!(client.doubts[0], "only one direction was captured");
    });
    // Of the server: it answers a SYN, or acknowledges more and more.
    each(|mut talk| {
        talk.at(10.0, syn(1)).at(20.0, s(0, 0));
        assert!(talk.one().one_way);
    });
    each(|mut talk| {
        talk.at(10.0, s(0, 0)).at(20.0, s(0, 0).ack(1460));
        assert!(talk.one().one_way);
    });
    // It echoes what the other one sends.
    for (echo, one_way) in [(7, false), (8, true)] {
        each(|mut talk| {
            talk.at(10.0, s(0, 1460).ts(1, 7)).at(12.0, s(1460, 0));
            talk.at(20.0, s(0, 1460).ts(11, echo));
            let one = talk.one();
            assert_eq!(
                (one.one_way, one.from_server.lifetime.main().is_none()),
                (one_way, one_way)
            );
        });
    }
    // Data that goes on for longer than a sender waits for its first ACK.
    for (ms, one_way) in [(1009.0, false), (1011.0, true)] {
        each(|mut talk| {
            talk.at(10.0, c(0, 1460)).at(ms, c(1460, 1460));
            assert_eq!(talk.one().one_way, one_way);
        });
    }
}

/// Of the client the capture has the SYN alone: its other packets take another route.
#[test]
fn a_syn_of_the_other_direction() {
    for (ms, one_way) in [(1019.0, false), (1021.0, true)] {
        each(|mut talk| {
            talk.at(0.0, syn(0)).at(0.01, syn(1)).at(20.0, s(0, 1460)).at(ms, s(1460, 1460));
            let one = talk.one();
            assert_eq!(one.one_way, one_way);
            assert_eq!(one.from_server.lifetime.main().is_none(), one_way);
        });
    }
    // And one that nobody answers further.
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(0.01, syn(1)).at(1000.0, syn(1)).at(3000.0, syn(1));
        assert!(!talk.one().one_way);
    });
}

/// Nobody answers: the SYN, or data that goes again and again. Then nothing is missing.
#[test]
fn an_end_that_gets_no_answer() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(1000.0, syn(0)).at(3000.0, syn(0));
        let one = talk.one();
        assert_eq!((one.one_way, one.from_client.timeouts.len()), (false, 2));
    });
    each(|mut talk| {
        talk.at(0.0, c(0, 1460)).at(0.1, c(1460, 1460));
        for ms in [300.0, 900.0, 2100.0, 4500.0] {
            talk.at(ms, c(0, 1460));
        }
        let one = talk.one();
        assert!(!one.one_way && !one.from_client.timeouts.is_empty());
    });
}

/// Of few segments, however small the SYNs say that they are.
#[test]
fn super_segments_with_a_tiny_mss() {
    each(|mut talk| {
        talk.at(0.0, syn(0).ts(1, 0).options(|o| o.mss = Some(0)));
        talk.at(10.0, syn(1).ts(7, 1));
        talk.at(10.01, c(0, 0)).at(11.0, c(0, 3600)).at(12.0, c(3600, 1 << 20));
        let client = talk.one().from_client;
        // 48 less the timestamps; one packet has 2048 at most.
        assert_eq!(
            (client.mss, client.segments, client.bytes),
            (36, 1 + 100 + 2048, 3600 + (1 << 20))
        );
    });
}

/// The SYN/ACK that comes 10 ms after the second SYN echoes the first: the round trip is that since
/// then, for Linux's timer too.
#[test]
fn a_syn_ack_may_answer_the_first_of_several_syns() {
    for (echo, to_server) in [(1, 1010), (2, 10)] {
        each(|mut talk| {
            talk.at(0.0, syn(0).ts(1, 0)).at(1000.0, syn(0).ts(2, 0));
            talk.at(1010.0, syn(1).ts(70, echo)).at(1010.01, c(0, 0).ts(3, 70));
            let one = talk.one();
            assert_eq!(one.position.to_server, Some(ackclock_tcp::Span::from_millis(to_server)));
        });
    }
}

/// A server answers a SYN that comes again, and its own timer sends the SYN/ACK again after 1 s. In
/// the middle the answer comes as long after that SYN as the first SYN/ACK after the first, or too
/// soon after another SYN/ACK for a timer.
#[test]
fn a_syn_ack_answers_a_syn_that_came_again() {
    let check = |first: f64, again: f64, kind: Kind| {
        each(|mut talk| {
            let mut all = [(0.0, 0), (1000.0, 0), (first, 1), (again, 1)];
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (at, end) in all {
                talk.at(at, syn(end));
            }
            talk.at(1070.0, c(0, 0)).at(1071.0, c(0, 100)).at(1101.0, s(0, 100).ack(100));
            let server = talk.one().from_server;
            let found: Vec<_> = server.retransmissions.iter().map(|r| (r.frame, r.kind)).collect();
            assert_eq!(found, [(4, kind)], "{first} {again}");
        });
    };
    check(20.0, 1020.5, Kind::Unknown);
    check(20.0, 1050.0, Kind::Timeout);
    check(1000.1, 1020.0, Kind::Unknown);
    // At the server the answer goes at once.
    check(0.1, 1000.1, Kind::Unknown);
}

/// The path lost the first SYN/ACK: the wait for another one is a stall, whatever that echoes.
#[test]
fn a_wait_for_a_syn_ack_is_a_stall() {
    for echo in [1, 1001] {
        each(|mut talk| {
            talk.at(0.0, syn(0).ts(1, 0)).at(1000.0, syn(0).ts(1001, 0));
            talk.at(1030.0, syn(1).ts(70, echo)).at(1030.01, c(0, 0).ts(1031, 70));
            talk.at(1031.0, c(0, 100).ts(1032, 70)).at(1061.0, s(0, 100).ts(101, 1032));
            let stalls =
                talk.one().from_client.stalls.iter().map(|s| (s.start, s.end)).collect::<Vec<_>>();
            assert_eq!(stalls.len(), 1);
        });
    }
}

#[test]
fn retransmitted_syns_are_timeouts() {
    each(|mut talk| {
        talk.at(0.0, syn(0))
            .at(1000.0, syn(0))
            .at(3000.0, syn(0))
            .at(3010.0, syn(1))
            .at(3010.01, c(0, 0));
        talk.at(3011.0, c(0, 10));
        let isn = talk.isns[0];
        let one = talk.one();
        let client = &one.from_client;
        let again = client
            .retransmissions
            .iter()
            .map(|r| (r.frame, r.seq, r.position, r.len, r.kind))
            .collect::<Vec<_>>();
        assert_eq!(
            again,
            [(2, Seq(isn), 0, 0, Kind::Timeout), (3, Seq(isn), 0, 0, Kind::BackedOffTimeout)]
        );
        let timeouts = client
            .timeouts
            .iter()
            .map(|t| (t.class, t.state, t.retransmission))
            .collect::<Vec<_>>();
        assert_eq!(
            timeouts,
            [(TimeoutClass::Handshake, State::Open, 0), (TimeoutClass::BackedOff, State::Loss, 1)]
        );
        assert_eq!(one.from_server.retransmissions, []);
        // The first SYN that could have been answered by then is taken for the answered one: the
        // last.
        assert_eq!(one.position.to_server, Some(ackclock_tcp::Span::from_millis(10)));
    });
}

#[test]
fn a_syn_that_nobody_answers_is_reported() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(1000.0, syn(0));
        let one = talk.one();
        assert_eq!((one.from_client.segments, one.from_client.retransmissions.len()), (2, 1));
        assert_eq!((one.from_server.segments, one.from_server.bytes), (0, 0));
    });
}

/// A SYN with data, and once more with a FIN in its place: what goes out first is told of first.
#[test]
fn a_fin_in_a_syn_comes_behind_the_data_of_the_first() {
    each(|mut talk| {
        let first = P { packet: Packet { len: 1, ..syn(0).packet }, ..syn(0) };
        talk.at(0.0, first).at(0.0, syn(0).with(Control::FIN));
        let flow = talk.one().from_client;
        let found: Vec<_> = flow.retransmissions.iter().map(|r| (r.frame, r.len)).collect();
        assert_eq!(found, [(2, 0), (2, 0)]);
    });
}

/// A FIN has the number of data that was not acknowledged: its stack has dropped that. No FIN was
/// lost.
#[test]
fn a_fin_in_place_of_data() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 100)).at(21.0, s(0, 200).ack(100));
        talk.at(1000.0, c(100, 0).with(Control::FIN)).at(1010.0, s(0, 0).ack(101));
        talk.at(1010.5, s(0, 0).ack(101).with(Control::FIN));
        let one = talk.one();
        let server = &one.from_server;
        assert_eq!((server.retransmissions.len(), server.timeouts.len()), (0, 0));
        assert_eq!(one.ended, Ended::Fin);
    });
    // One that goes again is no other.
    each(|mut talk| {
        talk.open().at(11.0, c(0, 100).with(Control::FIN));
        talk.at(1000.0, c(100, 0).with(Control::FIN)).at(1010.0, s(0, 0).ack(101));
        assert_eq!(talk.one().from_client.retransmissions.len(), 1);
    });
}

/// Data in a SYN (RFC 7413) that the server takes, or does not, so that it goes again at once.
#[test]
fn data_in_a_syn_that_the_server_does_not_take_was_not_sent() {
    let fast_open = || P { packet: Packet { len: 200, ..syn(0).packet }, ..syn(0) };
    each(|mut talk| {
        talk.at(0.0, fast_open()).at(10.0, syn(1).ack(200)).at(10.1, s(0, 500).ack(200));
        talk.at(10.2, c(200, 0).ack(500));
        let client = talk.one().from_client;
        assert_eq!((client.bytes, client.segments, client.retransmissions), (200, 2, vec![]));
        assert_eq!(client.rtt.map(|rtt| rtt.max), Some(Span::from_millis(10)));
    });
    each(|mut talk| {
        talk.at(0.0, fast_open()).at(10.0, syn(1)).at(10.01, c(0, 200));
        talk.at(20.0, s(0, 500).ack(200)).at(20.1, c(200, 0).ack(500));
        let client = talk.one().from_client;
        assert_eq!((client.bytes, client.segments, client.retransmissions), (200, 2, vec![]));
        assert_eq!(client.lifetime.of(Limit::Recovery), Span::ZERO);
    });
    // Nobody answers.
    each(|mut talk| {
        talk.at(0.0, fast_open()).at(1000.0, syn(0)).at(3000.0, syn(0));
        let client = talk.one().from_client;
        assert_eq!(
            (client.bytes, client.retransmissions.len(), client.timeouts.len()),
            (200, 2, 2)
        );
    });
}

#[test]
fn keep_alives_are_no_retransmissions() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 100)).at(21.0, s(0, 0).ack(100));
        // With the last byte, as BSD, and without, as Linux.
        talk.at(7000.0, c(99, 1))
            .at(7010.0, s(0, 0).ack(100))
            .at(14_000.0, c(99, 0))
            .at(14_010.0, s(0, 0).ack(100));
        talk.at(20_000.0, c(100, 50)).at(20_010.0, s(0, 0).ack(150));
        let one = talk.one();
        assert_eq!((one.from_client.bytes, one.from_client.retransmissions), (150, vec![]));
    });
    // While it is outstanding, the same byte alone is one.
    each(|mut talk| {
        talk.open()
            .at(11.0, c(0, 99))
            .at(11.1, c(99, 1))
            .at(400.0, c(99, 1))
            .at(410.0, s(0, 0).ack(100));
        assert_eq!(talk.one().from_client.retransmissions.len(), 1);
    });
    // And where the ACK was lost behind the capture, as of a key that was pressed.
    each(|mut talk| {
        talk.open().at(11.0, c(0, 1)).at(11.1, s(0, 0).ack(1));
        talk.at(260.0, c(0, 1)).at(260.1, s(0, 0).ack(1));
        assert_eq!(talk.one().from_client.retransmissions.len(), 1);
    });
}

#[test]
fn window_probes_are_no_retransmissions() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 1460)).at(21.0, s(0, 0).ack(1460).wnd(0));
        // One byte beyond the window, again and again, as RFC 9293 section 3.8.6.1 has it; then it
        // opens.
        for n in 1..4 {
            let ms = 300.0 * f64::from(n);
            talk.at(ms, c(1460, 1)).at(ms + 10.0, s(0, 0).ack(1460).wnd(0));
        }
        talk.at(1300.0, s(0, 0).ack(1460).wnd(500))
            .at(1300.1, c(1460, 1460))
            .at(1310.0, s(0, 0).ack(2920));
        let one = talk.one();
        assert_eq!((one.from_client.bytes, &one.from_client.retransmissions[..]), (2920, &[][..]));
        // The receiver kept its window closed, before the first probe and after it, which is one
        // time until it opens; that measures no round trip.
        let stalls = one
            .from_client
            .stalls
            .iter()
            .map(|stall| (stall.start.0 - START, stall.end.0 - START, stall.cause));
        let zero = StallCause::ZeroWindow;
        assert_eq!(stalls.collect::<Vec<_>>(), [(21_000_000, 1_300_000_000, zero)]);
        assert_eq!(one.from_client.rtt.map(|rtt| rtt.samples), Some(1));
    });
    // Linux's carry nothing.
    each(|mut talk| {
        talk.open().at(11.0, c(0, 1460)).at(21.0, s(0, 0).ack(1460).wnd(0));
        talk.at(300.0, c(1459, 0))
            .at(310.0, s(0, 0).ack(1460).wnd(0))
            .at(1300.0, s(0, 0).ack(1460).wnd(500));
        talk.at(1300.1, c(1460, 1460)).at(1310.0, s(0, 0).ack(2920));
        let one = talk.one();
        assert_eq!((one.from_client.bytes, &one.from_client.retransmissions[..]), (2920, &[][..]));
        // The receiver kept its window closed from the ACK that closed it until data went on.
        let [stall] = one.from_client.stalls[..] else { panic!("{:?}", one.from_client.stalls) };
        assert_eq!(stall.cause, StallCause::ZeroWindow);
        assert_eq!(
            (stall.start, stall.end),
            (Time(START + 21_000_000), Time(START + 1_300_100_000))
        );
    });
}

/// The byte goes once the window has opened, and is lost until its timer expires, which is a stall
/// of its own.
#[test]
fn the_byte_of_a_window_probe_is_lost_once_there_is_room() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 1460)).at(21.0, s(0, 0).ack(1460).wnd(0));
        talk.at(300.0, c(1460, 1)).at(310.0, s(0, 0).ack(1460).wnd(0));
        talk.at(1300.0, s(0, 0).ack(1460).wnd(5000)).at(1300.1, c(1460, 1));
        // What repeats the window does not end it again.
        talk.at(1400.0, s(0, 0).ack(1460).wnd(5000));
        talk.at(2300.0, c(1460, 1)).at(2310.0, s(0, 0).ack(1461));
        let client = talk.one().from_client;
        let timeout = StallCause::Timeout(client.timeouts[0].class);
        let stalls = client.stalls.iter();
        let stalls =
            stalls.map(|s| (s.start.since(Time(START)), s.end.since(Time(START)), s.cause));
        let ms = Span::from_millis;
        let zero = (ms(21), ms(1300), StallCause::ZeroWindow);
        assert_eq!(stalls.collect::<Vec<_>>(), [zero, (ms(1300), ms(2310), timeout)]);
    });
}

/// The byte of the probes goes alone once the window opens, and less than a segment behind it: no
/// timer, no loss, and all the time was the receiver's. If it is lost then, or had been
/// acknowledged, it goes again as anything does.
#[test]
fn the_byte_of_a_window_probe_goes_alone_once_there_is_room() {
    let probed = |accepted: u64, rest: &[(f64, P)]| {
        let mut all = Vec::new();
        for isns in ISNS {
            let mut talk = Talk::new(isns);
            talk.open().at(11.0, c(0, 1460)).at(21.0, s(0, 0).ack(1460).wnd(0));
            for ms in [300.0, 700.0, 1500.0, 3100.0] {
                talk.at(ms, c(1460, 1)).at(ms + 10.0, s(0, 0).ack(1460).wnd(0));
            }
            talk.at(5000.0, s(0, 0).ack(1460 + accepted).wnd(5000));
            for (ms, p) in rest {
                talk.at(*ms, *p);
            }
            let client = talk.one().from_client;
            let again =
                client.retransmissions.iter().map(|r| r.at.since(Time(START)).0 / 1_000_000);
            let again: Vec<u64> = again.collect();
            let window = client.lifetime.of(Limit::ReceiveWindow).0 / 1_000_000;
            all.push((client.bytes, again, client.timeouts.len(), window));
        }
        assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
        all.swap_remove(0)
    };
    let goes = (5000.1, c(1460, 1));
    let last = [(5010.0, s(0, 0).ack(1461)), (5010.1, c(1461, 300)), (5020.0, s(0, 0).ack(1761))];
    let (bytes, again, timeouts, window) = probed(0, &[&[goes], &last[..]].concat());
    assert_eq!((bytes, again, timeouts, window), (1761, vec![], 0, 4979));
    let lost = [(6010.0, c(1460, 1)), (6020.0, s(0, 0).ack(1461))];
    let (bytes, again, timeouts, window) = probed(0, &[&[goes], &lost[..]].concat());
    assert_eq!((bytes, again, timeouts, window), (1461, vec![6010], 1, 4979));
    // The sender drops what was not taken, and closes with the number of that byte.
    let closes = (5000.1, c(1460, 0).with(Control::FIN));
    assert_eq!(probed(0, &[closes, (5010.0, s(0, 0).ack(1461))]).2, 0);
    let (bytes, again, ..) = probed(1, &[&[goes], &last[..]].concat());
    assert_eq!((bytes, again), (1761, vec![5000]));
}

/// The capture is at the receiver, and the window that opens is lost on the way to the sender: its
/// timer asks once more. That time is no longer the receiver's, but the timer's. What the sender
/// sends as soon as it hears of the window, or while that has no room for a segment, has waited for
/// no timer.
#[test]
fn the_window_that_opens_is_lost_behind_the_capture() {
    let asked = |wnd: u16, asks: f64, answered: f64| {
        let mut all = Vec::new();
        for isns in ISNS {
            let mut talk = Talk::new(isns);
            talk.at(0.0, syn(0)).at(50.0, syn(1)).at(50.1, c(0, 0)).at(50.2, c(0, 100));
            let (s, c) = (|from, len| s(from, len).ack(100), |ack| c(100, 0).ack(ack));
            for n in 0..10u32 {
                talk.at(100.0 + f64::from(n) / 10.0, s(u64::from(n) * 1408, 1408));
            }
            talk.at(101.1, c(14_080).wnd(11));
            talk.at(152.0, s(14_080, 1408)).at(152.1, c(15_488).wnd(0));
            for ms in [400.0, 800.0, 1600.0] {
                talk.at(ms, s(15_488, 1)).at(ms + 0.1, c(15_488).wnd(0));
            }
            talk.at(2100.0, c(15_488).wnd(wnd));
            talk.at(asks, s(15_488, 1)).at(answered, c(15_489).wnd(500));
            for n in 0..5u32 {
                let position = 15_489 + u64::from(n) * 1408;
                talk.at(answered + 49.9 + f64::from(n) / 5.0, s(position, 1408));
            }
            talk.at(answered + 52.0, c(15_489 + 5 * 1408));
            let server = talk.one().from_server;
            let shares = [Limit::ReceiveWindow, Limit::Recovery];
            let shares = shares.map(|limit| server.lifetime.of(limit).0 / 1_000_000);
            let stalls =
                server.stalls.iter().map(|s| (s.end.since(s.start).0 / 1_000_000, s.cause));
            all.push((stalls.collect::<Vec<_>>(), server.retransmissions.len(), shares));
        }
        assert!(all[1..].iter().all(|one| *one == all[0]), "{all:?}");
        all.swap_remove(0)
    };
    let zero = (1947, StallCause::ZeroWindow);
    let timer = (1850, StallCause::Timeout(TimeoutClass::Unknown));
    let late = (1900, StallCause::Network);
    assert_eq!(asked(500, 4000.0, 4000.1), (vec![zero, timer], 0, [1997, 1900]));
    assert_eq!(asked(500, 2150.0, 2150.1), (vec![zero], 0, [1997, 0]));
    assert_eq!(asked(500, 2150.0, 4000.1), (vec![zero, late], 0, [1997, 1900]));
    assert!(!asked(4, 4000.0, 4000.1).0.contains(&timer));
}

/// The capture begins with ACKs alone, of which one closes the window. Whatever its scale is, that
/// held the sender back until another one opened it. What came of ACKs since it was opened says
/// nothing.
#[test]
fn a_window_that_was_closed_before_data_was_seen() {
    let limits = |opens: &[f64]| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, s(0, 0).ack(1460)).at(1.0, s(0, 0).ack(2920).wnd(0));
        for ms in opens {
            talk.at(*ms, s(0, 0).ack(2920).wnd(60_000 + *ms as u16));
        }
        talk.at(11.2, c(2920, 1460)).at(11.3, s(0, 0).ack(4380).wnd(60_000));
        let one = talk.one();
        let lifetime = &one.from_client.lifetime;
        [Limit::ReceiveWindow, Limit::Application].map(|limit| lifetime.of(limit).0 / 100_000)
    };
    assert_eq!(limits(&[11.0]), [100, 12]);
    assert_eq!(limits(&[5.0, 11.0])[0], 0);
}

/// A mirror port has each packet twice, 2 ms apart, with many of others in between. What is lost is
/// sent again, and so are its copies.
#[test]
fn a_mirror_port_that_sees_each_packet_twice() {
    // With identifications, or with timestamps, or with the SYN alone.
    for (ids, stamps) in [(true, true), (false, true), (false, false)] {
        each(|talk| {
            let mut packets = Vec::new();
            let mut count = [0, 0];
            let mut put = |ms: f64, p: P| {
                let from = p.from;
                let p = if ids { p.id(1 + count[from]) } else { p };
                let p = if stamps {
                    p.ts(ms as u32 + 50, (ms as u32 + 50).saturating_sub(10))
                } else {
                    p
                };
                count[from] += 1;
                packets.extend([(ms, p), (ms + 2.0, p)]);
            };
            put(0.0, syn(0));
            put(10.0, syn(1));
            put(10.01, c(0, 0));
            for round in 0..3_u64 {
                let (at, first) = (11.0 + 20.0 * round as f64, 30 * round);
                (0..30).for_each(|n| put(at + 0.01 * n as f64, c(1448 * (first + n), 1448)));
                let acked = 1448 * (first + 30);
                if round == 2 {
                    // Of the last window the first segment was lost.
                    (0..3).for_each(|n| {
                        put(at + 10.0 + 0.1 * n as f64, s(0, 0).ack(1448 * first));
                    });
                    put(at + 10.3, c(1448 * first, 1448));
                    put(at + 20.3, s(0, 0).ack(acked));
                } else {
                    put(at + 10.0, s(0, 0).ack(acked));
                }
            }
            packets.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut talk = talk;
            packets.iter().for_each(|(ms, p)| {
                talk.at(*ms, *p);
            });
            let one = talk.one();
            let again: Vec<_> =
                one.from_client.retransmissions.iter().map(|r| r.position).collect();
            assert_eq!(again, [1448 * 60], "{ids} {stamps}");
            // The copy of an ACK without data may count as one, which changes nothing.
            assert!((one.packets - one.copies * 2) <= 4, "{} of {}", one.copies, one.packets);
        });
    }
    // A capture that began later: timestamps tell after a dozen copies.
    each(|mut talk| {
        let mut packets: Vec<_> =
            (0..100).map(|n| (0.1 * n as f64, c(1000 * n, 1000).ts(n as u32 / 10, 0))).collect();
        packets.extend(packets.clone().iter().map(|(ms, p)| (ms + 2.05, *p)));
        packets.sort_by(|a, b| a.0.total_cmp(&b.0));
        packets.iter().for_each(|(ms, p)| {
            talk.at(*ms, *p);
        });
        let one = talk.one();
        assert_eq!((one.copies, one.from_client.retransmissions.len()), (89, 11));
    });
}

/// What was outstanding when the capture began is not missing from it; what is afterwards is.
#[test]
fn what_went_out_before_the_capture_is_not_missing() {
    each(|mut talk| {
        talk.at(0.0, c(100_000, 1000));
        for n in 1..20 {
            let at = 10.0 * n as f64;
            talk.at(at, s(0, 0).ack(90_000 + 1000 * n));
            if n != 5 {
                talk.at(at + 0.1, c(100_000 + 1000 * n, 1000));
            }
        }
        talk.at(300.0, s(0, 0).ack(120_000));
        assert_eq!(talk.one().from_client.unseen, 1000);
    });
}

/// Who filters out ACKs without data cannot be told why, nor who captures none for most of the
/// time.
#[test]
fn acks_that_the_capture_does_not_have() {
    let told = |bare: bool, last: u64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(10.0, syn(1));
        for n in 0..100 {
            let at = 11.0 + 20.0 * n as f64;
            talk.at(at, c(1460 * n, 1460));
            if bare && n < last {
                talk.at(at + 10.0, s(0, 0).ack(1460 * (n + 1)));
            }
        }
        talk.at(2015.0, s(0, 100).ack(146_000));
        let one = talk.one();
        assert_eq!(one.unanswered, one.from_client.lifetime.main().is_none());
        one.unanswered
    };
    assert_eq!(
        [told(false, 100), told(true, 100), told(true, 60), told(true, 20)],
        [true, false, false, true]
    );
}

/// The server says something now and then, and what the client sends after so many ms is the first
/// that acknowledges it; `bare`: but for the last one of the handshake, and as many more. Nothing
/// is said where the client never acknowledges anything by itself, again and again.
#[test]
fn acks_that_come_only_with_data() {
    let told = |after: f64, times: u64, bare: u64, id: &dyn Fn(usize, u16) -> Option<u16>| {
        let mut talk = Talk::new(ISNS[0]);
        let mut n = 0;
        let mut at = |talk: &mut Talk, ms: f64, mut p: P| {
            n += 1;
            p.packet.ip_id = id(p.from, n);
            talk.at(ms, p);
        };
        at(&mut talk, 0.0, syn(0));
        at(&mut talk, 10.0, syn(1));
        at(&mut talk, 10.01, c(0, 0));
        for n in 0..times {
            let (ms, position) = (11.0 + (after + 100.0) * n as f64, 100 * n);
            at(&mut talk, ms, s(position, 100).ack(position));
            if n < bare {
                at(&mut talk, ms + 1.0, c(position, 0).ack(position + 100));
            }
            at(&mut talk, ms + after, c(position, 100).ack(position + 100));
            at(&mut talk, ms + after + 10.0, s(position + 100, 0).ack(position + 100));
        }
        // Who closes acknowledges alone.
        let (ms, end) = (20.0 + (after + 100.0) * times as f64, 100 * times);
        at(&mut talk, ms, s(end, 0).ack(end).with(Control::FIN));
        at(&mut talk, ms + 1.0, c(end, 0).ack(end + 1));
        at(&mut talk, ms + 2.0, c(end, 0).ack(end + 1).with(Control::FIN));
        at(&mut talk, ms + 12.0, s(end + 1, 0).ack(end + 1));
        !talk.one().unanswered
    };
    let none = |_, _| None;
    let often = [(600.0, 3), (600.0, 2), (400.0, 9)].map(|(ms, n)| told(ms, n, 0, &none));
    assert_eq!((often, told(600.0, 9, 1, &none)), ([false, true, true], true));
    // One counter for both ends, which no ACK of the server passes either.
    let one = |_, n| Some(n);
    let two = |end: usize, n| Some(n + [0, 2000][end]);
    let [one, two, quick] =
        [told(300.0, 3, 0, &one), told(300.0, 3, 0, &two), told(150.0, 3, 0, &one)];
    assert_eq!([one, two, quick, told(300.0, 3, 1, &|_, n| Some(n))], [false, true, true, true]);
}

/// The same, where a timer has sent what the server says before all that: so often no ACK had come,
/// and so many more must be missing.
#[test]
fn acks_that_come_only_with_data_beside_timeouts() {
    let told = |times: u64, timeouts: u64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(10.0, syn(1)).at(10.01, c(0, 0));
        for n in 0..times + timeouts {
            let (ms, position) = (11.0 + 800.0 * n as f64, 100 * n);
            talk.at(ms, s(position, 100).ack(position));
            if n < timeouts {
                talk.at(ms + 400.0, s(position, 100).ack(position));
            }
            talk.at(ms + 600.0, c(position, 100).ack(position + 100));
            talk.at(ms + 610.0, s(position + 100, 0).ack(position + 100));
        }
        !talk.one().unanswered
    };
    assert_eq!([told(3, 0), told(3, 1), told(4, 1), told(4, 2)], [false, true, false, true]);
}

/// The client acknowledges an answer so many ms later, with its next request, which goes out when
/// nobody's timer has sent anything: it had acknowledged it before, and the capture does not have
/// that. The numbers of its packets may say that it has not. Returns why the server had stalled,
/// and for how long it had repaired losses; `None` if nothing is told since there are no ACKs
/// without data.
fn acknowledged_with_data(after: f64, bare: bool, skips: bool) -> Option<(StallCause, Span)> {
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, syn(0).id(1)).at(10.0, syn(1));
    let first = if bare { 2 } else { 1 };
    if bare {
        talk.at(10.01, c(0, 0).id(2));
    }
    for n in 0..10u16 {
        let (at, position) = (20.0 * f64::from(n) + 11.0, 100 * u64::from(n));
        talk.at(at, c(position, 100).ack(position).id(first + 1 + n));
        talk.at(at + 10.0, s(position, 100).ack(position + 100));
    }
    let last = first + 11 + u16::from(skips);
    talk.at(201.0 + after, c(1000, 100).ack(1000).id(last));
    talk.at(211.0 + after, s(1000, 100).ack(1100));
    let one = talk.one();
    assert_eq!(one.unanswered, one.from_server.lifetime.main().is_none());
    let stall = one.from_server.stalls.first()?;
    Some((stall.cause, one.from_server.lifetime.of(Limit::Recovery)))
}

#[test]
fn an_ack_that_comes_with_data_is_overdue() {
    let (gap, late) = (StallCause::CaptureGap, StallCause::Network);
    let told = |after, bare, skips| acknowledged_with_data(after, bare, skips);
    assert_eq!(told(20_000.0, true, true), Some((gap, Span::ZERO)));
    assert_eq!(told(20_000.0, true, false).map(|(cause, _)| cause), Some(late));
    // One that is missing does not say that there are none.
    assert_eq!(told(20_000.0, false, true), Some((gap, Span::ZERO)));
    // A timer may wait for as long.
    assert_eq!(told(2900.0, false, false).map(|(cause, _)| cause), Some(late));
}

/// All ACKs without data are filtered out: those of the answers are missing whenever the client
/// pauses.
#[test]
fn what_the_capture_never_has_is_not_told() {
    let told = |pause: f64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(10.0, syn(1));
        for n in 0..10u16 {
            let (at, position) = (pause * f64::from(n) + 11.0, 100 * u64::from(n));
            talk.at(at, c(position, 100).ack(position));
            talk.at(at + 10.0, s(position, 100).ack(position + 100));
        }
        !talk.one().unanswered
    };
    assert_eq!([told(20.0), told(20_000.0)], [true, false]);
}

/// The same at the server, where an ACK may be late on the path. It is not each time, if the ACK of
/// the handshake is missing as well.
#[test]
fn what_the_capture_at_the_server_never_has() {
    let told = |handshake: bool, pause: f64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0)).at(0.02, syn(1));
        if handshake {
            talk.at(40.0, c(0, 0));
        }
        for n in 0..4 {
            let (at, position) = ((pause + 40.0) * f64::from(n) + 40.1, 100 * n as u64);
            talk.at(at, c(position, 100).ack(position));
            talk.at(at + 0.1, s(position, 100).ack(position + 100));
        }
        !talk.one().unanswered
    };
    assert_eq!([told(false, 700.0), told(true, 700.0), told(false, 300.0)], [false, true, true]);
}

#[test]
fn what_the_capture_has_twice_counts_once() {
    each(|mut talk| {
        talk.open();
        talk.at(11.0, c(0, 1460).id(1))
            .at(11.0, c(0, 1460).id(1))
            .at(11.1, c(1460, 1460).id(2))
            .at(11.2, c(1460, 1460).id(2));
        talk.at(21.0, s(0, 0).ack(2920).id(9)).at(21.0, s(0, 0).ack(2920).id(9));
        let one = talk.one();
        assert_eq!((one.from_client.segments, &one.from_client.retransmissions[..]), (3, &[][..]));
        let twice = "2 packets were captured twice, up to 0.100 ms apart: the copies are left out";
        assert_eq!(one.from_client.doubts, [twice]);
        assert_eq!(one.from_server.doubts, ["a packet was captured twice"]);
        assert_eq!(one.copies, 3);
    });
    // Without identifications and timestamps what is the same may have gone again: how far copies
    // are apart is not known.
    each(|mut talk| {
        talk.open();
        for n in [0, 1460, 0, 1460] {
            talk.at(11.0, c(n, 1460));
        }
        talk.at(21.0, s(0, 0).ack(2920));
        let one = talk.one();
        let twice = "2 packets were captured twice: the copies are left out";
        assert_eq!(one.from_client.doubts, [twice]);
    });
    // Without identifications timestamps tell, of all but ACKs.
    each(|mut talk| {
        talk.at(0.0, syn(0).ts(1, 0))
            .at(0.0, syn(0).ts(1, 0))
            .at(10.0, syn(1).ts(7, 1))
            .at(10.1, syn(1).ts(7, 1));
        talk.at(11.0, c(0, 100).ts(11, 7))
            .at(11.1, c(0, 100).ts(11, 7))
            .at(311.0, c(0, 100).ts(311, 7));
        let one = talk.one();
        assert_eq!(
            (one.from_client.retransmissions.len(), one.from_server.retransmissions.len()),
            (1, 0)
        );
        assert_eq!(one.copies, 3);
    });
    // Without either, only what comes at once: 0.02 ms later, and not 0.2.
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(0.02, syn(0)).at(10.0, syn(1)).at(10.02, syn(1));
        talk.at(10.1, c(0, 0)).at(11.0, c(0, 100)).at(11.02, c(0, 100)).at(11.22, c(0, 100));
        let one = talk.one();
        assert_eq!(one.from_client.retransmissions.len(), 1);
        assert_eq!(one.copies, 3);
    });
    // Another identification, or the same much later, is another transmission.
    each(|mut talk| {
        talk.open()
            .at(11.0, c(0, 1460).id(1))
            .at(11.5, c(0, 1460).id(2))
            .at(300.0, c(0, 1460).id(1));
        let one = talk.one();
        assert_eq!(
            (one.from_client.retransmissions.len(), &one.from_client.doubts[..]),
            (2, &[][..])
        );
    });
}

/// Two interfaces with a slow path between them. What is sent again has another timestamp. Where
/// there are none, the number may have come round. A SYN that goes again may have both.
#[test]
fn copies_far_apart() {
    for stamps in [true, false] {
        each(|mut talk| {
            let ts = |p: P, val| if stamps { p.ts(val, 7) } else { p };
            talk.open().at(11.0, ts(c(0, 1460).id(1), 11)).at(311.0, ts(c(0, 1460).id(1), 11));
            talk.at(700.0, ts(c(0, 1460).id(1), 700));
            let one = talk.one();
            let again = one.from_client.retransmissions.len();
            assert_eq!((one.copies, again), if stamps { (1, 1) } else { (0, 2) });
        });
    }
    each(|mut talk| {
        let syn = |from| syn(from).id(1).ts(1, 0);
        talk.at(0.0, syn(0)).at(1000.0, syn(0)).at(1010.0, syn(1)).at(2010.0, syn(1));
        let one = talk.one();
        let again = [one.from_client, one.from_server].map(|flow| flow.retransmissions.len());
        assert_eq!((one.copies, again), (0, [1, 1]));
    });
}

/// Two hosts whose clocks are three seconds apart, with more packets in between than are kept: once
/// a copy is found, timestamps tell the others. Those of the SYNs are the same.
#[test]
fn copies_of_a_host_with_another_clock() {
    each(|mut talk| {
        let mut packets = vec![(0.0, syn(0).id(1).ts(1000, 0)), (10.0, syn(1).ts(7000, 1000))];
        packets.push((10.1, c(0, 0).id(2).ts(1010, 7000)));
        for n in 0..18_000u32 {
            let (at, position) = (20.0 + f64::from(n) * 0.4, u64::from(n) * 1448);
            let ticks = at as u32;
            packets.push((at, c(position, 1448).id(3 + n as u16).ts(1000 + ticks, 7000)));
            let ack = s(0, 0).ack(position + 1448).id(1 + n as u16).ts(7010 + ticks, 1000 + ticks);
            packets.push((at + 10.0, ack));
        }
        let copies: Vec<_> = packets.iter().map(|&(at, p)| (at + 3000.0, p)).collect();
        packets.extend(copies);
        packets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let count = packets.len() as u64 / 2;
        packets.into_iter().for_each(|(at, p)| {
            talk.at(at, p);
        });
        let one = talk.one();
        let again = [&one.from_client, &one.from_server].map(|flow| flow.retransmissions.len());
        assert_eq!((one.copies, again), (count, [0, 0]));
        assert_eq!(one.end.since(one.start), Span(7_229_600_000));
    });
}

/// A SYN of before is captured on the other side of a router as well, a second later.
#[test]
fn a_syn_with_another_time_to_live() {
    for ttl in [63, 64] {
        each(|mut talk| {
            let syn = |from| syn(from).id(1).ts(1, 0);
            talk.at(0.0, syn(0)).at(10.0, syn(1));
            talk.at(1000.0, syn(0).ttl(ttl)).at(1010.0, syn(1).ttl(ttl));
            let one = talk.one();
            let again = [one.from_client, one.from_server].map(|flow| flow.retransmissions.len());
            assert_eq!((one.copies, again), if ttl == 63 { (2, [0, 0]) } else { (0, [1, 1]) });
        });
    }
}

/// One interface of a host shows super-segments, the other one what they are cut into or put
/// together to; the segments of each number themselves. They may be shorter than the SYNs say. Far
/// away, no copy has come when the first super-segments do.
#[test]
fn super_segments_are_copies_of_their_segments() {
    let near: &[_] = &[0..4, 4..6, 6..8];
    let far: &[_] = &[0..4, 4..8];
    for full in [1448, 1348, 600] {
        for (whole_first, later, supers) in
            [(true, 0.05, near), (false, 0.05, near), (true, 20.0, far), (true, 3000.0, far)]
        {
            each(|mut talk| {
                let ts = |p: P| p.ts(11, 7);
                // Eight segments, the last one not full.
                let segment = |n: u64| {
                    let p = ts(c(n * u64::from(full), if n == 7 { 100 } else { full }));
                    if n == 7 { p.with(Control::PSH) } else { p }.id(10 + n as u16)
                };
                let whole = |segments: std::ops::Range<u64>| {
                    let mut p = segment(segments.end - 1);
                    p.position = segments.start * u64::from(full);
                    p.packet.len = segments.clone().map(|n| segment(n).packet.len).sum();
                    p.id(10 + segments.start as u16)
                };
                let mut packets: Vec<(f64, P)> = vec![
                    (0.0, syn(0).id(1).ts(1, 0)),
                    (10.0, syn(1).ts(7, 1)),
                    (10.2, ts(c(0, 0)).id(2)),
                    // A retransmission has another number.
                    (300.0, ts(segment(0).id(18))),
                ];
                let mut copies = packets.clone();
                if later > 1.0 {
                    copies.drain(..2);
                }
                let wholes = if whole_first { &mut packets } else { &mut copies };
                wholes.extend(supers.iter().map(|n| (11.0, whole(n.clone()))));
                let cut = if whole_first { &mut copies } else { &mut packets };
                cut.extend((0..8).map(|n| (11.0, segment(n))));
                let count = copies.len() as u64;
                packets.extend(copies.into_iter().map(|(at, p)| (at + later, p)));
                packets.sort_by(|a, b| a.0.total_cmp(&b.0));
                packets.into_iter().for_each(|(at, p)| {
                    talk.at(at, p);
                });
                let one = talk.one();
                let again = one.from_client.retransmissions.len();
                assert_eq!((one.copies, again), (count, 1), "{full} {whole_first} {later}");
                assert_eq!(one.from_client.bytes, 7 * u64::from(full) + 100);
            });
        }
    }
}

/// The ACK of the handshake is lost, so that the SYN/ACK of a server that sends no data goes again,
/// and later its FIN.
#[test]
fn a_syn_ack_and_a_fin_of_an_end_without_data() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(10.0, syn(1)).at(10.01, c(0, 0)).at(1010.0, syn(1));
        talk.at(1010.01, c(0, 0)).at(1011.0, c(0, 100)).at(1021.0, s(0, 0).ack(100));
        for at in [2000.0, 2300.0] {
            talk.at(at, s(0, 0).ack(100).with(Control::FIN));
        }
        talk.at(2300.01, c(100, 0).ack(1));
        let again = talk.one().from_server.retransmissions;
        assert_eq!(
            again.iter().map(|r| (r.position, r.syn)).collect::<Vec<_>>(),
            [(0, true), (0, false)]
        );
    });
}

/// A D-SACK of the first data is none of a SYN/ACK.
#[test]
fn no_duplicate_report_is_of_a_syn() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(0.01, syn(1)).at(1000.0, syn(1)).at(1040.0, c(0, 0));
        talk.at(1041.0, c(0, 10)).at(1041.1, s(0, 1448).ack(10)).at(1300.0, s(0, 1448).ack(10));
        talk.sacked(1340.0, c(10, 0).ack(1448), &[(0, 1448)]);
        let again = talk.one().from_server.retransmissions;
        let told: Vec<_> = again.iter().map(|r| (r.len, r.spurious)).collect();
        assert_eq!(told, [(0, None), (1448, Some(Spurious::Dsack))]);
    });
}

/// Near the receiver: of a segment that goes again the first part has arrived, and the rest was
/// lost before the capture.
#[test]
fn a_duplicate_with_data_that_was_lost_is_not_spurious() {
    for (len, spurious) in [(720, None), (180, Some(Spurious::Dsack))] {
        each(|mut talk| {
            talk.at(0.0, syn(0)).at(0.01, syn(1)).at(40.0, c(0, 0));
            talk.at(41.0, c(0, 180)).at(41.01, s(0, 0).ack(180));
            talk.at(700.0, c(0, len));
            talk.sacked(700.01, s(0, 0).ack(u64::from(len)), &[(0, 180)]);
            let again = talk.one().from_client.retransmissions;
            let told: Vec<_> = again.iter().map(|r| (r.len, r.spurious, r.known)).collect();
            assert_eq!(told, [(180, spurious, true)]);
        });
    }
}

/// IPv6 has no identifications, and segments that leave together have the same timestamp.
#[test]
fn segments_of_any_size_are_not_taken_for_copies() {
    for len in [8928, 1208, 1428, 1 << 14] {
        each(|mut talk| {
            talk.at(0.0, syn(0).ts(1, 0)).at(10.0, syn(1).ts(7, 1));
            (0..64).for_each(|n| {
                talk.at(11.0 + n as f64 * 0.01, c(n * u64::from(len), len).ts(11, 7));
            });
            let one = talk.one();
            assert_eq!((one.from_client.bytes, one.from_client.unseen), (64 * u64::from(len), 0));
            assert_eq!(one.from_client.doubts, [""; 0]);
        });
    }
}

#[test]
fn blocks_that_make_no_sense_are_left_out() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 14_600));
        let far = 1 << 28;
        talk.sacked(21.0, s(0, 0), &[(1460, 2920), (5000, 4000), (far, far + 10)]);
        let one = talk.one();
        assert_eq!(one.from_client.doubts, ["2 SACK blocks were ignored that make no sense"]);
        assert_eq!(one.from_client.dsacks, 0);
    });
}

#[test]
fn duplicates_are_reported_below_the_ack_or_within_the_next_block() {
    for blocks in [&[(0, 1460)][..], &[(4380, 5840), (4380, 7300)]] {
        each(|mut talk| {
            talk.open().at(11.0, c(0, 14_600)).at(21.0, s(0, 0).ack(1460)).at(300.0, c(0, 1460));
            talk.sacked(310.0, s(0, 0).ack(1460), blocks);
            assert_eq!(talk.one().from_client.dsacks, 1);
        });
    }
    each(|mut talk| {
        talk.open().at(11.0, c(0, 14_600));
        talk.sacked(21.0, s(0, 0).ack(1460), &[(4380, 5840), (7300, 8760)]);
        assert_eq!(talk.one().from_client.dsacks, 0);
    });
}

#[test]
fn a_capture_that_begins_later_has_room_for_older_data() {
    each(|mut talk| {
        let at = 1 << 20;
        for n in 0..40u32 {
            let ms = f64::from(n) * 10.0;
            let position = at + 2896 * u64::from(n);
            talk.at(ms, c(position, 2896)).at(ms + 9.0, s(0, 0).ack(position + 2896));
        }
        talk.at(2000.0, c(at - 1448, 1448));
        let one = talk.one();
        let client = &one.from_client;
        // 2896 is two segments of 1448: the size that usual Ethernet leaves with timestamps.
        assert_eq!((client.mss, client.segments, client.bytes), (1448, 81, 40 * 2896));
        assert_eq!(client.retransmissions.len(), 1);
        assert_eq!(client.retransmissions[0].position, crate::open::end::positions::ROOM - 1448);
        assert_eq!(
            client.doubts[..2],
            [
                "the capture began mid-connection: SMSS is learned from sizes",
                "the scale of the receiver's window is not known: full windows may be missed"
            ]
        );
    });
}

#[test]
fn one_way_is_enough_to_count() {
    each(|mut talk| {
        for n in 0..40 {
            talk.at(f64::from(n), c(1460 * n as u64, 1460));
        }
        let one = talk.one();
        assert_eq!((one.from_client.bytes, one.from_client.segments), (40 * 1460, 40));
        assert!(one.from_client.doubts.iter().any(|d| d.starts_with("no ACK was captured")));
    });
    each(|mut talk| {
        for n in 1..40 {
            talk.at(f64::from(n), c(0, 0).ack(1460 * n as u64));
        }
        let one = talk.one();
        assert_eq!((one.from_server.bytes, one.from_server.segments), (0, 0));
        let doubts = ["only one direction was captured", "its data was not captured"];
        assert_eq!(one.from_server.doubts, doubts);
    });
}

#[test]
fn bytes_that_the_capture_has_lost_are_reported() {
    each(|mut talk| {
        talk.open()
            .at(11.0, c(0, 1460))
            .at(21.0, s(0, 0).ack(1460))
            .at(22.0, c(2920, 1460))
            .at(32.0, s(0, 0).ack(4380));
        let one = talk.one();
        assert_eq!((one.from_client.bytes, one.from_client.unseen), (2920, 1460));
        assert_eq!(one.from_client.retransmissions, []);
    });
}

#[test]
fn a_gap_is_silence_after_which_numbers_have_gone_on() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 1460)).at(21.0, s(0, 0).ack(1460));
        talk.at(5000.0, c(146_000, 1460)).at(5010.0, s(0, 0).ack(147_460));
        let one = talk.one();
        assert_eq!(
            (one.from_client.unseen, one.from_client.doubts),
            (
                144_540,
                [
                    "the capture has a gap",
                    "144540 bytes that were acknowledged are not in the capture"
                ]
                .map(String::from)
                .to_vec()
            )
        );
        let [stall] = one.from_client.stalls[..] else { panic!("{:?}", one.from_client.stalls) };
        assert_eq!(stall.cause, crate::connection::StallCause::CaptureGap);
    });
}

/// Nothing is told of what is mostly a gap, in which something was outstanding.
#[test]
fn nothing_is_told_of_a_gap() {
    let told = |end: f64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.open().at(11.0, c(0, 1460)).at(21.0, s(0, 0).ack(1460)).at(22.0, c(1460, 1460));
        talk.at(5000.0, c(146_000, 1460)).at(5010.0, s(0, 0).ack(147_460));
        talk.at(end, c(147_460, 1460)).at(end + 10.0, s(0, 0).ack(148_920));
        let one = talk.one();
        assert_eq!(one.unanswered, one.from_client.stalls.is_empty());
        !one.unanswered
    };
    assert_eq!([9000.0, 12_000.0].map(told), [false, true]);
}

#[test]
fn a_stream_that_has_jumped_far_is_found_again() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 1460)).at(21.0, s(0, 0).ack(1460));
        let far = 3 << 30;
        for n in 0..20 {
            talk.at(5000.0 + f64::from(n), c(far + 1460 * u64::from(n as u32), 1460));
        }
        let one = talk.one();
        // Seven were ignored.
        assert_eq!(
            (one.from_client.bytes, &one.from_client.retransmissions[..]),
            (14 * 1460, &[][..])
        );
        assert_eq!(
            one.from_client.doubts,
            [
                "8 packets were ignored whose numbers are far outside of the stream",
                "numbers have jumped farther than can be followed: positions after that are too low"
            ]
        );
    });
}

#[test]
fn one_number_far_ahead_does_not_move_the_stream() {
    let far = 500_000_000;
    for stray in [s(0, 0).ack(far), c(far, 1460), s(0, 0).ack(1460 + (1 << 26))] {
        each(|mut talk| {
            talk.open()
                .at(11.0, c(0, 1460))
                .at(20.0, s(0, 0).ack(1460))
                .at(20.1, stray)
                .at(20.3, stray);
            for n in 1..40u32 {
                let (ms, position) = (20.0 + f64::from(n) * 10.0, u64::from(n) * 1460);
                talk.at(ms + 1.0, c(position, 1460)).at(ms + 10.0, s(0, 0).ack(position + 1460));
            }
            let one = talk.one();
            let client = &one.from_client;
            assert_eq!(
                (client.bytes, client.unseen, &client.retransmissions[..]),
                (40 * 1460, 0, &[][..])
            );
            assert_eq!(
                client.doubts,
                ["2 packets were ignored whose numbers are far outside of the stream"]
            );
        });
    }
}

#[test]
fn a_gap_that_no_window_has_room_for_is_followed() {
    each(|mut talk| {
        let far = 300_000_000;
        talk.open().at(11.0, c(0, 1460)).at(21.0, s(0, 0).ack(1460)).at(5000.0, c(far, 1460));
        talk.at(5000.1, c(far + 1460, 1460)).at(5010.0, s(0, 0).ack(far + 2920));
        let one = talk.one();
        assert_eq!((one.from_client.bytes, one.from_client.unseen), (2920, far));
        assert_eq!(
            one.from_client.doubts,
            [
                "the capture has a gap",
                "a packet was ignored whose numbers are far outside of the stream",
                "300000000 bytes that were acknowledged are not in the capture"
            ]
        );
        let [stall] = one.from_client.stalls[..] else { panic!("{:?}", one.from_client.stalls) };
        assert_eq!(stall.cause, crate::connection::StallCause::CaptureGap);
    });
}

#[test]
fn times_that_go_back_are_taken_as_the_latest_so_far() {
    each(|mut talk| {
        talk.open()
            .at(11.0, c(0, 1460))
            .at(11.2, c(1460, 1460))
            .at(11.1, c(2920, 1460))
            .at(21.0, s(0, 0).ack(4380));
        let one = talk.one();
        assert_eq!((one.from_client.bytes, &one.from_client.retransmissions[..]), (4380, &[][..]));
        assert_eq!(one.end, Time(START + 21_000_000));
    });
}

/// Until the clock has caught up nothing can be measured, as it is where one time is far ahead.
#[test]
fn a_clock_that_goes_back_measures_nothing() {
    each(|mut talk| {
        talk.open();
        for n in 0..40u32 {
            let (ms, position) = (20.0 + f64::from(n) * 20.0, u64::from(n) * 1460);
            let ms = if n < 20 { ms } else { ms - 300.0 };
            talk.at(ms, c(position, 1460)).at(ms + 10.0, s(0, 0).ack(position + 1460));
        }
        let one = talk.one();
        assert_eq!(one.from_client.doubts, ["the clock of the capture went back"]);
        assert_eq!(one.position.to_server, Some(ackclock_tcp::Span::from_millis(10)));
        let rtt = one.from_client.rtt.map(|rtt| (rtt.min.0, rtt.max.0));
        assert_eq!(rtt, Some((10_000_000, 10_000_000)));
        assert_eq!(
            (&one.from_client.stalls[..], &one.from_client.retransmissions[..]),
            (&[][..], &[][..])
        );
    });
    each(|mut talk| {
        talk.open()
            .at(11.0, c(0, 1460))
            .at(21.0, s(0, 0).ack(1460))
            .at(9_000_500.0, c(1460, 1460))
            .at(32.0, s(0, 0).ack(2920));
        talk.at(33.0, c(2920, 1460)).at(43.0, s(0, 0).ack(4380));
        let one = talk.one();
        assert_eq!(one.from_client.doubts, ["the clock of the capture went back"]);
        assert_eq!(one.from_client.rtt.map(|rtt| (rtt.samples, rtt.max.0)), Some((1, 10_000_000)));
    });
}

/// Of 500 bytes asked after 11 ms, and acknowledged.
fn no_answer(isns: [u32; 2], then: impl Fn(&mut Talk)) -> Option<u64> {
    let mut talk = Talk::new(isns);
    talk.open().at(11.0, c(0, 500)).at(21.0, s(0, 0).ack(500));
    then(&mut talk);
    talk.all()[0].no_answer.map(|wait| wait.0 / 1_000_000)
}

/// The server's FIN overtakes its answer. Without the answer, or where an older one goes again, it
/// has closed instead.
#[test]
fn a_fin_that_overtakes_the_answer() {
    for isns in ISNS {
        let fin = |at: u64| s(at, 0).ack(500).with(Control::FIN);
        let answers = |talk: &mut Talk| {
            talk.at(200.0, fin(514)).at(201.0, s(0, 514).ack(500));
            talk.at(201.1, c(500, 0).ack(515).with(Control::FIN));
        };
        assert_eq!(no_answer(isns, answers), None);
        let closes = |talk: &mut Talk| {
            talk.at(200.0, fin(514)).at(201.0, c(500, 0).with(Control::FIN));
        };
        assert_eq!(no_answer(isns, closes), Some(189));
        let repeats = |talk: &mut Talk| {
            talk.at(22.0, s(0, 300).ack(500)).at(32.0, c(500, 200));
            talk.at(300.0, s(0, 300).ack(700)).at(400.0, s(300, 0).ack(700).with(Control::FIN));
        };
        assert_eq!(no_answer(isns, repeats), Some(368));
        // Nor does it answer behind the FIN, whether that has overtaken something or not.
        let again = |talk: &mut Talk| {
            talk.at(22.0, s(0, 300).ack(500)).at(32.0, c(500, 200).ack(0));
            talk.at(400.0, s(300, 0).ack(700).with(Control::FIN));
            talk.at(500.0, s(0, 300).ack(700)).at(600.0, c(700, 0).ack(301).with(Control::FIN));
        };
        assert_eq!(no_answer(isns, again), Some(368));
        let overtakes = |more: bool| {
            move |talk: &mut Talk| {
                talk.at(22.0, s(0, 300).ack(500)).at(32.0, c(500, 200).ack(0));
                talk.at(400.0, s(514, 0).ack(700).with(Control::FIN));
                talk.at(500.0, s(0, 300).ack(700));
                let then = if more { s(0, 301) } else { s(0, 300) };
                talk.at(501.0, then.ack(700)).at(600.0, c(700, 0).ack(0).with(Control::FIN));
            }
        };
        assert_eq!(no_answer(isns, overtakes(false)), Some(368));
        assert_eq!(no_answer(isns, overtakes(true)), None);
        // It answers nothing asked since; what the server was asked before it closed counts.
        let asks_once_more = |talk: &mut Talk| {
            talk.at(200.0, s(514, 0).ack(500).with(Control::FIN)).at(201.0, s(0, 514).ack(500));
            talk.at(211.0, c(500, 200).ack(0)).at(400.0, s(0, 514).ack(700));
            talk.at(600.0, c(700, 0).ack(515).with(Control::FIN));
        };
        assert_eq!(no_answer(isns, asks_once_more), Some(189));
    }
}

/// Until the capture ends, which another connection shows, or until either end gives up.
#[test]
fn what_the_server_never_answers() {
    for isns in ISNS {
        assert_eq!(no_answer(isns, |_| ()), Some(10));
        let other = |talk: &mut Talk| {
            let mut p = syn(0);
            p.packet.src.set_port(40_001);
            talk.at(30_011.0, p);
        };
        assert_eq!(no_answer(isns, other), Some(30_000));
        for control in [Control::FIN, Control::RST] {
            let gives_up = |talk: &mut Talk| {
                talk.at(5011.0, c(500, 0).with(control)).at(9011.0, s(0, 0).ack(501));
            };
            assert_eq!(no_answer(isns, gives_up), Some(5000));
            let refuses = |talk: &mut Talk| {
                talk.at(5011.0, s(0, 0).ack(500).with(control)).at(9011.0, c(500, 0));
            };
            assert_eq!(no_answer(isns, refuses), Some(5000));
        }
        // A capture without any packet for five minutes may have been stopped meanwhile.
        for (pause, waited) in [(300.0, 10), (290.0, 290_010)] {
            let other = |talk: &mut Talk| {
                let mut p = syn(0);
                p.packet.src.set_port(40_001);
                talk.at(21.0 + 1000.0 * pause, p);
            };
            assert_eq!(no_answer(isns, other), Some(waited));
        }
        // Frames without TCP show that it was running.
        let running = |seconds: &[u64], last: Option<f64>, waited| {
            let frames = |talk: &mut Talk| {
                let other = |at: &u64| talk.tracker.other(Time(START + at * 1_000_000_000));
                seconds.iter().for_each(other);
                let mut p = syn(0);
                p.packet.src.set_port(40_001);
                last.into_iter().for_each(|seconds| {
                    talk.at(1000.0 * seconds, p);
                });
            };
            assert_eq!(no_answer(isns, frames), Some(waited), "{seconds:?}, {last:?}");
        };
        running(&[250, 500], Some(700.0), 699_989);
        running(&[250, 500], None, 499_989);
        running(&[250, 600], Some(700.0), 249_989);
        running(&[250, 600], None, 249_989);
        running(&[400], Some(500.0), 10);
        // It is asked again, more of it. A keep-alive asks nothing.
        let more = |talk: &mut Talk| {
            talk.at(1011.0, c(500, 20)).at(1021.0, s(0, 0).ack(520));
            talk.at(9011.0, c(519, 0)).at(9021.0, s(0, 0).ack(520));
        };
        assert_eq!(no_answer(isns, more), Some(8010));
    }
}

/// The first byte of a capture may be a keep-alive, which asks nothing. A byte behind it does, and
/// so does one of a connection whose beginning was seen.
#[test]
fn one_byte_asks_nothing() {
    each(|mut talk| {
        talk.at(0.0, c(100, 1)).at(10.0, s(0, 0).ack(101));
        talk.at(9000.0, c(100, 1)).at(9010.0, s(0, 0).ack(101));
        assert_eq!(talk.one().no_answer, None);
    });
    each(|mut talk| {
        talk.at(0.0, c(100, 1)).at(10.0, s(0, 0).ack(101));
        talk.at(20.0, c(101, 1)).at(30.0, s(0, 0).ack(102)).at(9000.0, c(101, 0).ack(0));
        assert_eq!(talk.one().no_answer, Some(Span::from_millis(8980)));
    });
    each(|mut talk| {
        talk.open().at(20.0, c(0, 1)).at(30.0, s(0, 0).ack(1)).at(9000.0, c(0, 1));
        assert_eq!(talk.one().no_answer, Some(Span::from_millis(8980)));
    });
}

/// Of an end that closes at once, and not until the capture ends, which is much later.
#[test]
fn a_server_that_closes_at_once() {
    for isns in ISNS {
        let mut talk = Talk::new(isns);
        talk.open().at(11.0, c(0, 500)).at(11.4, s(0, 0).ack(500).with(Control::FIN));
        talk.at(11.5, c(500, 0).ack(1).with(Control::FIN)).at(11.6, s(1, 0).ack(501));
        let mut p = syn(0);
        p.packet.src.set_port(40_001);
        talk.at(9000.0, p);
        assert_eq!(talk.all()[0].no_answer, Some(Span::ZERO));
    }
}

/// A client that hands over its log closes its end when it has no more. One that resets the
/// connection, or leaves it open, may wait for an answer.
#[test]
fn a_server_that_has_nothing_to_say() {
    for isns in ISNS {
        let more = |talk: &mut Talk| {
            talk.at(31.0, c(500, 500)).at(41.0, s(0, 0).ack(1000));
        };
        assert_eq!(no_answer(isns, more), Some(10));
        for (control, waited) in [(Control::FIN, None), (Control::RST, Some(4970))] {
            let closes = |talk: &mut Talk| {
                more(talk);
                talk.at(5001.0, c(1000, 0).with(control)).at(5011.0, s(0, 0).ack(1001));
            };
            assert_eq!(no_answer(isns, closes), waited);
        }
        // At once, and of more than a request.
        let much = |len: u32| {
            let mut talk = Talk::new(isns);
            talk.open().at(11.0, c(0, len)).at(21.0, s(0, 0).ack(len.into()));
            talk.at(1011.0, c(len.into(), 0).with(Control::FIN));
            talk.one().no_answer
        };
        assert_eq!([4380, 4381].map(much), [Some(Span::from_secs(1)), None]);
    }
}

/// A client that closes its end as soon as it has asked waits all the same.
#[test]
fn a_client_that_has_said_all_waits() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 500).with(Control::FIN)).at(21.0, s(0, 0).ack(501));
        talk.at(3011.0, s(0, 0).ack(501).with(Control::FIN));
        assert_eq!(talk.one().no_answer, Some(Span::from_secs(3)));
    });
}

/// An answer, what was not acknowledged, and a few bytes of a client that has been answered.
#[test]
fn nothing_is_owed() {
    for isns in ISNS {
        assert_eq!(no_answer(isns, |talk| _ = talk.at(9011.0, s(0, 1))), None);
        let answered = |len: u32| {
            no_answer(isns, |talk| {
                talk.at(100.0, s(0, 1000).ack(500)).at(101.0, c(500, len).ack(1000));
                talk.at(111.0, s(1000, 0).ack(500 + u64::from(len)));
                talk.at(901.0, c(500 + u64::from(len), 0).ack(1000).with(Control::FIN));
            })
        };
        assert_eq!([80, 81].map(answered), [None, Some(800)]);
        assert_eq!(no_answer(isns, |talk| _ = talk.at(100.0, c(500, 100))), None);
    }
}

/// Two requests, the second in two segments and one of them twice, and their answers.
#[test]
fn ends_take_turns() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 100)).at(12.0, s(0, 50).ack(100)).at(12.1, c(100, 0).ack(50));
        talk.at(12.5, c(100, 50).ack(50)).at(15.0, c(150, 50).ack(50)).at(16.0, s(50, 50).ack(200));
        talk.at(17.0, c(150, 50).ack(50)).at(18.0, s(100, 50).ack(200));
        let one = talk.one();
        assert_eq!([one.from_client.turns, one.from_server.turns], [2, 2]);
    });
}

/// The timer sends 151 bytes and a FIN in one segment, of which the receiver has reported all but
/// the first 100: 51 bytes are no loss, and the FIN, reported or not, is no payload.
#[test]
fn what_of_a_retransmission_was_reported() {
    let missing = |reported: &[(u64, u64)], fin: &[P]| {
        let mut talk = Talk::new(ISNS[1]);
        talk.open().at(11.0, c(0, 100)).at(12.0, c(100, 51));
        fin.iter().for_each(|fin| _ = talk.at(12.0, *fin));
        talk.sacked(22.0, s(0, 0), reported);
        let (again, acked) = match fin {
            [] => (c(0, 151), s(0, 0).ack(151)),
            _ => (c(0, 151).with(Control::FIN), s(0, 0).ack(152)),
        };
        talk.at(400.0, again).at(410.0, acked);
        let again = talk.one().from_client.retransmissions;
        again.iter().map(|r| [r.len, r.sacked, r.missing()]).collect::<Vec<_>>()
    };
    assert_eq!(missing(&[(100, 151)], &[]), [[151, 51, 100]]);
    assert_eq!(missing(&[], &[]), [[151, 0, 151]]);
    let fin = [c(151, 0).with(Control::FIN)];
    assert_eq!(missing(&[(100, 152)], &fin), [[151, 51, 100]]);
    assert_eq!(missing(&[(151, 152)], &fin), [[151, 0, 151]]);
    assert_eq!(missing(&[(100, 151)], &fin), [[151, 51, 100]]);
}

/// A server greets that sends data or its FIN before it has any data of the client; not one that
/// only acknowledges, or answers.
#[test]
fn who_speaks_first() {
    let greeted = |first: P, second: P| {
        let mut talk = Talk::new(ISNS[0]);
        talk.open().at(11.0, first).at(12.0, second);
        talk.one().greeted
    };
    let fin = || s(0, 0).with(Control::FIN);
    assert!(greeted(s(0, 50), c(0, 100).ack(50)));
    assert!(greeted(fin(), c(0, 100)));
    assert!(!greeted(c(0, 100), s(0, 50)));
    assert!(!greeted(c(0, 100), fin()));
    assert!(!greeted(s(0, 0), c(0, 100)));
}

/// A round trip over the path takes 10 ms. What follows an answer after more than half of that, and
/// not after what the way to the client takes, is no request that has waited for it.
#[test]
fn who_types_takes_no_turns() {
    let turns = |after: f64| {
        let mut talk = Talk::new(ISNS[0]);
        talk.open();
        for n in 0..20 {
            let at = 100.0 + 100.0 * n as f64;
            talk.at(at, s(10 * n, 10).ack(10 * n));
            talk.at(at + after, c(10 * n, 10).ack(10 * n + 10));
        }
        let one = talk.one();
        [one.from_client.turns, one.from_server.turns]
    };
    assert_eq!([turns(5.0), turns(6.0)], [[20, 1], [0, 1]]);
}

/// An ACK whose checksum is wrong acknowledges nothing where those before were right, and one to
/// another port opens no connection. Where all are wrong, they are not filled in yet.
#[test]
fn what_was_damaged_is_left_out() {
    let acked = |right: u64, port: u16| {
        let mut talk = Talk::new(ISNS[0]);
        talk.open();
        for n in 0..20 {
            let at = 20.0 + n as f64;
            let mut ack = c(0, 0).ack(100 * n + 100);
            ack.packet.damaged = n >= right;
            talk.at(at, s(100 * n, 100)).at(at + 0.5, ack);
        }
        let mut damaged = c(0, 0).ack(100_000);
        damaged.packet.damaged = true;
        damaged.packet.dst.set_port(port);
        talk.at(50.0, damaged);
        let left_out = talk.tracker.damaged();
        let all = talk.all();
        (left_out, all.len(), all[0].from_server.unseen)
    };
    assert_eq!(acked(20, 80), (1, 1, 0));
    assert_eq!(acked(20, 81), (1, 1, 0));
    assert_eq!(acked(0, 80), (0, 1, 98_000));
}

/// Of ACKs with SACK blocks, which the snap length has cut, no checksum is known: that of others is
/// not wrong by that.
#[test]
fn a_checksum_that_was_cut_off_is_not_right() {
    let mut talk = Talk::new(ISNS[0]);
    talk.open();
    for n in 0..40 {
        let at = 20.0 + n as f64;
        let mut ack = c(0, 0).ack(100 * n + 100);
        (ack.packet.damaged, ack.packet.options_cut) = (n % 20 == 19, n % 20 < 19);
        talk.at(at, s(100 * n, 100)).at(at + 0.5, ack);
    }
    assert_eq!(talk.tracker.damaged(), 0);
}

/// On one device checksums are right, and on the other one they are not filled in: a SYN and its
/// answer count there.
#[test]
fn a_syn_whose_checksum_is_wrong() {
    let mut talk = Talk::new(ISNS[0]);
    talk.open();
    for n in 0..20 {
        talk.at(20.0 + n as f64, s(100 * n, 100));
        talk.at(20.5 + n as f64, c(0, 0).ack(100 * n + 100));
    }
    for (at, mut p) in [(50.0, syn(0)), (50.1, syn(1)), (50.2, c(0, 0)), (50.3, c(0, 100))] {
        let client = if p.from == 0 { &mut p.packet.src } else { &mut p.packet.dst };
        client.set_port(40_001);
        p.packet.damaged = p.packet.len == 0;
        talk.at(at, p);
    }
    assert_eq!(talk.tracker.damaged(), 0);
    let all = talk.all();
    assert_eq!((all.len(), all[1].packets, all[1].begun), (2, 4, true));
}
