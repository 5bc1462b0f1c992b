//! Which packets belong together, and how connections end.

use super::*;
use crate::connection::{Ended, Flow, Kind, Spurious, Vantage};
use crate::reset::{Reset, ResetBy};

/// Both FINs and the last ACK, from position `client` and `server` on.
fn close(talk: &mut Talk, ms: f64, client: u64, server: u64) {
    talk.at(ms, c(client, 0).ack(server).with(Control::FIN));
    talk.at(ms + 10.0, s(server, 0).ack(client + 1).with(Control::FIN));
    talk.at(ms + 10.01, c(client + 1, 0).ack(server + 1));
}

#[test]
fn both_ways_are_one_connection() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 100)).at(21.0, s(0, 200).ack(100));
        close(&mut talk, 30.0, 100, 200);
        let one = talk.one();
        assert_eq!((one.client.port(), one.server.port()), (40_000, 80));
        assert_eq!((one.number, one.packets, one.begun, one.ended), (0, 8, true, Ended::Fin));
        assert_eq!((one.start, one.end), (Time(START), Time(START + 40_010_000)));
        assert_eq!((one.from_client.bytes, one.from_server.bytes), (100, 200));
        // SYN, data, FIN.
        assert_eq!((one.from_client.segments, one.from_server.segments), (3, 3));
        assert!(one.from_client.doubts.is_empty() && one.from_server.doubts.is_empty());
    });
}

#[test]
fn a_syn_with_another_number_opens_another_connection_after_both_fins() {
    each(|mut talk| {
        talk.open();
        close(&mut talk, 20.0, 0, 0);
        // In TIME-WAIT, RFC 9293 section 3.6.1.
        talk.isns = talk.isns.map(|isn| isn.wrapping_add(70_000));
        talk.at(100.0, syn(0)).at(110.0, syn(1)).at(110.01, c(0, 0)).at(111.0, c(0, 5));
        let all = talk.all();
        assert_eq!(
            all.iter().map(|c| (c.number, c.packets, c.ended)).collect::<Vec<_>>(),
            [(0, 6, Ended::Fin), (1, 4, Ended::Open)]
        );
        assert_eq!((all[1].start, all[1].from_client.bytes), (Time(START + 100_000_000), 5));
    });
}

/// Of one direction, one FIN is all that a capture has.
#[test]
fn and_after_its_own_fin_where_one_direction_was_captured() {
    for from in [0, 1] {
        each(|mut talk| {
            for ms in [0.0, 5000.0, 10_000.0] {
                let data = |position, len| [c(position, len), s(position, len)][from];
                talk.at(ms, syn(from)).at(ms + 1.0, data(0, 100));
                talk.at(ms + 2.0, data(100, 0).with(Control::FIN));
                talk.isns = talk.isns.map(|isn| isn.wrapping_add(70_000));
            }
            let packets: Vec<_> = talk.all().iter().map(|c| (c.packets, c.ended)).collect();
            assert_eq!(packets, [(3, Ended::Reused), (3, Ended::Reused), (3, Ended::Open)]);
        });
    }
}

#[test]
fn the_same_syn_again_does_not() {
    each(|mut talk| {
        talk.at(0.0, syn(0))
            .at(1000.0, syn(0))
            .at(1010.0, syn(1))
            .at(2010.0, syn(1))
            .at(2010.01, c(0, 0));
        talk.at(2011.0, c(0, 5));
        let one = talk.one();
        assert_eq!((one.packets, one.ended), (6, Ended::Open));
        // Nor after the end: a late copy.
        let mut talk = Talk::new(ISNS[0]);
        talk.open();
        close(&mut talk, 20.0, 0, 0);
        talk.at(100.0, syn(0));
        assert_eq!(talk.one().ended, Ended::Fin);
    });
}

/// A capture of several queues exchanges the SYN/ACK and what answers it.
#[test]
fn the_handshake_ack_may_come_before_the_syn_ack() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(9.98, c(0, 0)).at(9.99, c(0, 100)).at(10.0, syn(1));
        talk.at(20.0, s(0, 500).ack(100)).at(20.02, c(100, 0).ack(500));
        let one = talk.one();
        assert_eq!((one.packets, one.from_server.bytes, one.from_server.segments), (6, 500, 2));
        assert_eq!(
            [one.from_client.doubts, one.from_server.doubts],
            [const { Vec::<String>::new() }; 2]
        );
        assert_eq!(one.from_client.offered.unwrap().mss, Some(1460));
        assert_eq!((one.from_client.window, one.from_server.unseen), (Some(60_000 << 7), 0));
    });
}

/// Two SYNs got two SYN/ACKs, with numbers of their own. The client keeps to the one that it has
/// answered. Before it has answered any, the last one that was seen counts.
#[test]
fn a_second_answer_with_another_number() {
    for answered in [true, false] {
        each(|mut talk| {
            let isn = talk.isns[1];
            talk.at(0.0, syn(0)).at(1000.0, syn(0)).at(1010.0, syn(1));
            if answered {
                talk.at(1010.1, c(0, 0));
            }
            talk.isns[1] = isn.wrapping_add(500_000_000);
            talk.at(1020.0, syn(1));
            talk.isns[1] = if answered { isn } else { talk.isns[1] };
            talk.at(1020.1, c(0, 0)).at(1021.0, c(0, 100));
            talk.at(1031.0, s(0, 500).ack(100)).at(1031.1, c(100, 0).ack(500));
            let one = talk.one();
            assert_eq!((one.from_client.bytes, one.from_server.bytes), (100, 500));
        });
    }
}

/// Each of them answers a SYN, so that both have come, and the second was not needed. Of three, the
/// last one was not. One that goes again says nothing, nor does what opens another connection.
#[test]
fn two_answers_to_two_syns() {
    let check =
        |syns: u32, other: u32, of_client: u32, fates: &[(Option<Spurious>, Option<bool>)]| {
            each(|mut talk| {
                let [client, server] = talk.isns;
                for n in 0..syns {
                    talk.at(1000.0 * f64::from(n), syn(0));
                }
                talk.at(3500.0, syn(1)).at(3500.1, c(0, 0)).at(3501.0, c(0, 100));
                talk.isns = [client.wrapping_add(of_client), server.wrapping_add(other)];
                talk.at(3900.0, syn(1));
                talk.isns = [client, server];
                talk.at(3900.1, c(100, 0)).at(3990.0, s(0, 0).ack(100));
                let flow = &talk.all()[0].from_client;
                let all: Vec<_> =
                    flow.retransmissions.iter().map(|r| (r.spurious, r.lost)).collect();
                assert_eq!(all, fates, "{syns} {other} {of_client}");
                let timeouts = flow.timeouts.iter().map(|timeout| timeout.spurious);
                assert!(timeouts.eq(fates.iter().map(|fate| fate.0)));
            });
        };
    let by = Some(Spurious::DuplicateAck);
    check(2, 500_000_000, 0, &[(by, Some(false))]);
    check(3, 500_000_000, 0, &[(None, None), (by, None)]);
    check(2, 0, 0, &[(None, None)]);
    check(2, 500_000_000, 77, &[(None, None)]);
    check(1, 500_000_000, 0, &[]);
    // The client answers neither until both have come. A proxy's comes another way.
    for (ttl, by) in [(64, by), (60, None)] {
        each(|mut talk| {
            let isn = talk.isns[1];
            talk.at(0.0, syn(0)).at(1000.0, syn(0)).at(1010.0, syn(1).ttl(64));
            talk.isns[1] = isn.wrapping_add(500_000_000);
            talk.at(1020.0, syn(1).ttl(ttl)).at(1020.1, c(0, 0)).at(1021.0, c(0, 100));
            assert_eq!(talk.one().from_client.timeouts[0].spurious, by);
        });
    }
}

/// The SYN/ACK was lost behind the capture, and the client begins anew, in vain.
#[test]
fn a_client_may_begin_anew_behind_a_syn_ack() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(50.0, syn(1));
        talk.isns[0] = talk.isns[0].wrapping_add(500_000_000);
        talk.at(3000.0, syn(0)).at(4000.0, syn(0)).at(6000.0, syn(0));
        let one = talk.one();
        assert_eq!((one.packets, one.from_client.timeouts.len()), (5, 2));
    });
}

#[test]
fn a_stray_syn_does_not_end_an_open_connection() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 100));
        let isns = talk.isns;
        talk.isns[0] = talk.isns[0].wrapping_add(500_000_000);
        talk.at(12.0, syn(0));
        talk.isns = isns;
        talk.at(21.0, s(0, 0).ack(100)).at(22.0, c(100, 100));
        let one = talk.one();
        assert_eq!((one.packets, one.from_client.bytes), (7, 200));
        assert_eq!(
            one.from_client.doubts,
            ["a packet was ignored whose numbers are far outside of the stream"]
        );
        assert_eq!(one.from_client.retransmissions, []);
    });
}

#[test]
fn a_stray_syn_that_is_answered_is_none() {
    each(|mut talk| {
        talk.at(0.0, c(0, 100)).at(10.0, s(0, 0).ack(100));
        talk.isns = talk.isns.map(|isn| isn.wrapping_add(500_000_000));
        talk.at(20.0, syn(0)).at(30.0, syn(1)).at(30.01, c(0, 0)).at(31.0, c(0, 7));
        let all = talk.all();
        assert_eq!(
            all.iter().map(|c| (c.packets, c.begun, c.ended)).collect::<Vec<_>>(),
            [(2, false, Ended::Reused), (4, true, Ended::Open)]
        );
        assert_eq!((all[1].from_client.bytes, all[1].client.port()), (7, 40_000));
    });
}

/// An address translator gives the port of a client that is gone to another one.
#[test]
fn an_answered_syn_opens_another_connection_however_often_it_came() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 100)).at(21.0, s(0, 0).ack(100));
        talk.isns = talk.isns.map(|isn| isn.wrapping_add(500_000_000));
        talk.at(30_000.0, syn(0)).at(31_000.0, syn(0)).at(31_010.0, syn(1));
        talk.at(31_010.01, c(0, 0)).at(31_011.0, c(0, 7));
        let [old, new] = <[Connection; 2]>::try_from(talk.all()).unwrap();
        assert_eq!((old.packets, old.ended), (5, Ended::Reused));
        assert_eq!(old.end, Time(START + 21_000_000));
        assert_eq!((new.packets, new.start), (5, Time(START + 30_000_000_000)));
        assert_eq!((new.from_client.bytes, new.from_client.retransmissions.len()), (7, 1));
        for flow in [old.from_client, old.from_server, new.from_client, new.from_server] {
            assert_eq!(flow.doubts, Vec::<String>::new());
        }
    });
}

#[test]
fn after_a_minute_of_silence_it_does() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 100));
        talk.isns[0] = talk.isns[0].wrapping_add(500_000_000);
        talk.at(60_011.0, syn(0));
        let all = talk.all();
        assert_eq!(all.iter().map(|c| c.ended).collect::<Vec<_>>(), [Ended::Reused, Ended::Open]);
    });
}

#[test]
fn a_client_that_was_not_answered_tries_again() {
    each(|mut talk| {
        talk.at(0.0, syn(0));
        talk.isns[0] = talk.isns[0].wrapping_add(7);
        talk.at(3000.0, syn(0)).at(3010.0, syn(1));
        let all = talk.all();
        assert_eq!(
            all.iter().map(|c| (c.packets, c.ended)).collect::<Vec<_>>(),
            [(1, Ended::Reused), (2, Ended::Open)]
        );
    });
}

#[test]
fn simultaneous_opening_is_one_connection() {
    each(|mut talk| {
        let mut other = syn(1);
        (other.control, other.ack) = (Control::SYN, None);
        let ack = Control::ACK;
        talk.at(0.0, syn(0)).at(1.0, other);
        let (mut answer, mut back) = (syn(0).with(ack), syn(1).with(ack));
        (answer.ack, back.ack) = (Some(0), Some(0));
        talk.at(2.0, answer).at(10.0, back).at(11.0, c(0, 50)).at(12.0, s(0, 60).ack(50));
        let one = talk.one();
        assert_eq!((one.packets, one.client.port()), (6, 40_000));
        assert_eq!((one.from_client.bytes, one.from_server.bytes), (50, 60));
        // The SYN that goes again, now with an ACK, is no retransmission.
        assert_eq!(
            (one.from_client.retransmissions, one.from_server.retransmissions),
            (vec![], vec![])
        );
    });
}

#[test]
fn a_reset_ends_it_and_late_packets_still_belong() {
    each(|mut talk| {
        talk.open().at(11.0, c(0, 100)).at(12.0, s(0, 0).with(Control::RST)).at(500.0, c(0, 100));
        let one = talk.one();
        let reset = Reset { by: ResetBy::Server, cuts_off: true };
        assert_eq!((one.packets, one.ended), (6, Ended::Reset(reset)));
    });
}

/// What the reset acknowledges, and a FIN, is no data that it cuts off.
#[test]
fn a_reset_may_acknowledge_what_came() {
    for (ack, fin, cuts_off) in
        [(0, false, true), (100, false, false), (100, true, false), (50, true, true)]
    {
        each(|mut talk| {
            talk.open().at(11.0, c(0, 100).ack(0)).at(12.0, s(0, 100).ack(50));
            talk.at(23.0, c(100, 0).ack(100));
            let flags = if fin { Control(Control::FIN.0 | Control::ACK.0) } else { Control::ACK };
            talk.at(24.0, c(100, 0).ack(100).with(flags));
            talk.at(34.0, s(100, 0).ack(ack).with(Control(Control::RST.0 | Control::ACK.0)));
            let reset = Reset { by: ResetBy::Server, cuts_off };
            assert_eq!(talk.one().ended, Ended::Reset(reset), "{ack}, {fin}");
        });
    }
}

/// RFC 5961 section 3.
#[test]
fn a_reset_outside_of_the_window_is_none() {
    let reset = |by| Ended::Reset(Reset { by, cuts_off: false });
    for (position, ended) in [
        (700_000_000, Ended::Open),
        ((1 << 32) - 700_000_000, Ended::Open),
        (100, reset(ResetBy::Server)),
    ] {
        each(|mut talk| {
            talk.open()
                .at(11.0, c(0, 100))
                .at(12.0, s(0, 100).ack(100))
                .at(12.1, c(100, 0).ack(100));
            let mut reset = s(position, 0);
            reset.control = Control::RST;
            talk.at(13.0, reset).at(500.0, c(100, 0).ack(100));
            assert_eq!(talk.one().ended, ended);
        });
    }
    // Who has sent nothing yet resets with any number, here as the answer to a SYN, which is
    // refused.
    each(|mut talk| {
        let refused = P { position: 1 << 31, ..s(0, 0).with(Control::RST) };
        talk.at(0.0, syn(0)).at(1.0, refused);
        assert_eq!(talk.one().ended, Ended::Refused);
    });
    // The client gives up by itself, or after an answer.
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(1.0, c(0, 0).with(Control::RST));
        assert_eq!(talk.one().ended, reset(ResetBy::Client));
    });
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(1.0, syn(1)).at(2.0, s(0, 0).with(Control::RST));
        assert_eq!(talk.one().ended, reset(ResetBy::Server));
    });
}

#[test]
fn what_is_over_is_let_go_after_ten_seconds() {
    each(|mut talk| {
        talk.open();
        close(&mut talk, 20.0, 0, 0);
        let mut elsewhere = syn(0);
        elsewhere.packet.src.set_port(50_000);
        talk.at(10_000.0, elsewhere);
        assert!(talk.tracker.poll_ended().is_none());
        talk.at(10_030.02, elsewhere);
        assert_eq!(talk.tracker.poll_ended().map(|c| (c.number, c.ended)), Some((0, Ended::Fin)));
    });
}

/// What lasts for long is told of in parts, and each but the first knows what the SYNs said.
#[test]
fn the_rest_of_a_connection_knows_its_windows() {
    each(|mut talk| {
        talk.open()
            .at(11.0, c(0, 1000))
            .at(21.0, s(0, 300).ack(1000))
            .at(21.1, c(1000, 0).ack(300));
        talk.tracker.cut(Time(START + 1));
        assert_eq!((talk.tracker.open(), talk.tracker.poll_ended().unwrap().packets), (1, 6));
        // The server's window, of 20 * 128 bytes, is full.
        talk.at(1000.0, c(1000, 1460).ack(300)).at(1000.1, c(2460, 1460).ack(300));
        talk.at(1010.0, s(300, 0).ack(3920).wnd(20));
        talk.at(1010.1, c(3920, 1460).ack(300)).at(1020.1, s(300, 0).ack(5380).wnd(20));
        talk.at(1020.2, c(5380, 1460).ack(300)).at(1030.2, s(300, 0).ack(6840).wnd(20));
        let one = talk.one();
        assert_eq!((one.number, one.packets, one.begun, one.client.port()), (1, 7, false, 40_000));
        assert_eq!((one.start, one.from_client.bytes), (Time(START + 21_100_000), 5840));
        let flow = &one.from_client;
        assert_eq!((flow.mss, flow.full_window, flow.offered.is_some()), (1460, 2560, true));
        assert_eq!((flow.unseen, &flow.doubts[..]), (0, &[][..]));
        assert_eq!(one.from_server.doubts, Vec::<String>::new());
    });
    // Nothing is told of what is quiet ever after.
    each(|mut talk| {
        talk.open();
        talk.tracker.cut(Time(START + 1));
        assert!(talk.tracker.poll_ended().is_some());
        talk.tracker.cut(Time(START + 60_000_000_000));
        assert_eq!((talk.tracker.open(), talk.all().len()), (0, 0));
    });
    each(|mut talk| {
        talk.open();
        talk.tracker.cut(Time(START + 60_000_000_000));
        assert_eq!((talk.tracker.open(), talk.all().len()), (0, 1));
    });
}

#[test]
fn those_idle_for_longest_make_room() {
    let mut talk = Talk::new(ISNS[0]);
    talk.tracker = Tracker::new(Settings { max_open: 16, ..Settings::default() });
    let from = |port: u16| {
        let mut p = syn(0);
        p.packet.src.set_port(port);
        p
    };
    for port in 0..16 {
        talk.at(f64::from(port), from(1000 + port));
    }
    // The first one is heard of again, so that the next two are idle for longer.
    talk.at(20.0, from(1000));
    assert!(talk.tracker.poll_ended().is_none());
    talk.at(21.0, from(2000));
    let ended: Vec<_> = std::iter::from_fn(|| talk.tracker.poll_ended()).collect();
    assert_eq!(
        ended.iter().map(|c| (c.number, c.client.port(), c.ended)).collect::<Vec<_>>(),
        [(1, 1001, Ended::Idle), (2, 1002, Ended::Idle)]
    );
    assert_eq!(talk.all().len(), 15);
}

#[test]
fn the_client_of_a_connection_that_began_earlier_has_the_higher_port() {
    each(|mut talk| {
        talk.at(0.0, s(5000, 100)).at(1.0, c(0, 0).ack(5100));
        let one = talk.one();
        assert_eq!((one.client.port(), one.begun, one.from_server.bytes), (40_000, false, 100));
    });
    each(|mut talk| {
        // A SYN/ACK says more than ports.
        let mut answer = syn(1);
        answer.packet.src.set_port(60_000);
        talk.at(0.0, answer);
        assert_eq!(talk.one().server.port(), 60_000);
    });
}

/// Of three SYN/ACKs the second answers a SYN that came again, and the third comes by the timer.
#[test]
fn a_syn_ack_that_answers_a_syn_is_no_timeout() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(0.02, syn(1));
        talk.at(1000.0, syn(0))
            .at(1000.02, syn(1))
            .at(1004.0, syn(1))
            .at(1044.0, c(0, 0))
            .at(1045.0, s(0, 5));
        let one = talk.one();
        assert_eq!(one.position.vantage, Vantage::Server);
        let again: Vec<_> = one
            .from_server
            .retransmissions
            .iter()
            .map(|r| (r.frame, r.kind, r.transmission))
            .collect();
        assert_eq!(again, [(4, Kind::Unknown, 2), (5, Kind::Timeout, 3)]);
        assert_eq!(
            one.from_server.timeouts.iter().map(|t| t.retransmission).collect::<Vec<_>>(),
            [1]
        );
        let client: Vec<_> =
            one.from_client.retransmissions.iter().map(|r| (r.frame, r.kind)).collect();
        assert_eq!(client, [(3, Kind::Timeout)]);
    });
}

/// The client's SYN went out three times, and its answer echoes the second one: the third was not
/// needed. That of the server went out twice, and its first one arrived.
#[test]
fn what_is_echoed_of_a_handshake_has_arrived() {
    each(|mut talk| {
        talk.at(0.0, syn(0).ts(100, 0)).at(1000.0, syn(0).ts(1100, 0));
        talk.at(3000.0, syn(0).ts(3100, 0)).at(3000.02, syn(1).ts(50, 1100));
        talk.at(4000.0, syn(1).ts(1050, 1100)).at(4000.1, c(0, 0).ts(4100, 50));
        talk.at(4001.0, s(0, 5).ts(1051, 4100)).at(4002.0, c(0, 5).ts(4102, 1051));
        let one = talk.one();
        let spurious = |flow: &Flow| {
            flow.retransmissions.iter().map(|r| (r.frame, r.spurious)).collect::<Vec<_>>()
        };
        let known = Some(Spurious::Timestamp);
        assert_eq!(spurious(&one.from_client), [(2, None), (3, known)]);
        assert_eq!(spurious(&one.from_server), [(5, known)]);
    });
}

/// A path takes less than the SYNs say. The rest of the connection has learned it, too.
#[test]
fn the_rest_of_a_connection_knows_its_segment_size() {
    each(|mut talk| {
        talk.open();
        let write = |talk: &mut Talk, ms: f64, first: u64| {
            (0..10).for_each(|n| {
                talk.at(ms, c(1380 * (first + n), 1380));
            });
            talk.at(ms + 10.0, s(0, 0).ack(1380 * (first + 10)));
        };
        write(&mut talk, 11.0, 0);
        talk.tracker.cut(Time(START + 1));
        assert_eq!(talk.tracker.poll_ended().unwrap().from_client.mss, 1380);
        write(&mut talk, 1000.0, 10);
        assert_eq!(talk.one().from_client.mss, 1380);
    });
}

/// The capture has both sides of a translator: the same numbers, by other addresses or ports.
#[test]
fn a_connection_on_both_sides_of_a_translator() {
    let again = |isns: [u32; 2], later: f64, begun: bool| {
        let mut inside = Talk::new(isns);
        let mut packets = Vec::new();
        for (ms, p) in [(0.0, syn(0)), (10.0, syn(1)), (10.1, c(0, 0)), (11.0, c(0, 500))] {
            if begun || !p.control.contains(Control::SYN) {
                let mut q = inside.on_wire(ms, p, &[]);
                packets.push(q);
                let outside: SocketAddr = "203.0.113.1:50000".parse().unwrap();
                let client = if p.from == 0 { &mut q.src } else { &mut q.dst };
                *client = outside;
                q.at = Time(q.at.0 + (later * 1e6) as u64);
                packets.push(q);
            }
        }
        packets.sort_by_key(|p| p.at);
        packets.iter().for_each(|p| inside.tracker.packet(p));
        crate::translated::again(&inside.all())
    };
    for isns in ISNS {
        assert_eq!(again(isns, 0.005, true), [None, Some(0)]);
        assert_eq!(again(isns, 0.005, false), [None, Some(0)]);
        // Later it is another one that somebody sends again.
        assert_eq!(again(isns, 1500.0, true), [None, None]);
    }
    // All simulated connections may begin with the same number.
    assert_eq!(again([7, 7], 0.005, true), [None, None]);
}

/// A client that takes its numbers from a clock is refused twice at once, by two servers or by one.
/// A RST in answer to a SYN has the number 0. The same from another address is beyond a translator.
#[test]
fn refused_connections_are_not_the_same() {
    let again = |clients: [&str; 2], servers: [&str; 2]| {
        let mut talk = Talk::new([7, 0]);
        for (client, server) in clients.into_iter().zip(servers) {
            let mut asks = talk.on_wire(0.0, syn(0), &[]);
            (asks.src, asks.dst) = (client.parse().unwrap(), server.parse().unwrap());
            talk.tracker.packet(&asks);
            let refuses = Packet {
                at: asks.at + ackclock_tcp::Span::from_millis(1),
                src: asks.dst,
                dst: asks.src,
                seq: ackclock_tcp::Seq(0),
                ack: asks.seq + 1,
                control: Control(Control::RST.0 | Control::ACK.0),
                ..asks
            };
            talk.tracker.packet(&refuses);
        }
        let both = talk.all();
        assert_eq!(both.len(), 2);
        assert!(both.iter().all(|one| one.ended == Ended::Refused));
        crate::translated::again(&both)
    };
    let [one, two] = ["10.0.0.1:4000", "10.0.0.1:4001"];
    let [server, other] = ["198.51.100.1:6346", "198.51.100.2:6346"];
    assert_eq!(again([one, one], [server, other]), [None, None]);
    assert_eq!(again([one, two], [server, server]), [None, None]);
    assert_eq!(again([one, "203.0.113.1:4000"], [server, server]), [None, Some(0)]);
    assert_eq!(again([one, "203.0.113.1:4000"], [server, other]), [None, None]);
}
