//! A router that asks for shorter packets, as captures show it.

use ackclock_tcp::Span;

use super::*;
use crate::connection::{Flow, Kind};
use crate::packet::TooBig;

impl Talk {
    /// After `ms`, a router says that what this end has sent from `position` on was too big.
    fn told(&mut self, ms: f64, from: usize, position: u64) -> &mut Talk {
        let p = packet(from).packet;
        self.frame += 1;
        let message = TooBig {
            frame: self.frame,
            at: Time(START + (ms * 1e6).round() as u64),
            router: "10.0.9.9".parse().unwrap(),
            mtu: Some(1400),
            len: 1500,
            src: p.src,
            dst: p.dst,
            seq: Seq::at(Seq(self.isns[from]) + 1, position),
        };
        self.tracker.too_big(&message);
        self
    }

    /// Ten segments of 1460 bytes from 20 ms on, of which a router says at 25 ms that those from
    /// `told` on are too big, and what follows where it is heeded.
    fn ten(&mut self, told: u64) -> Flow {
        self.open();
        self.at(20.0, c(0, 1460)).at(20.01, c(1460, 1460));
        self.told(25.0, 0, told);
        self.at(25.02, c(0, 1360)).at(25.03, c(1360, 100));
        self.at(25.04, c(1460, 1360)).at(25.05, c(2820, 100));
        self.at(35.1, s(0, 0).ack(2920)).at(40.0, c(2920, 1360)).at(50.0, s(0, 0).ack(4280));
        let isns = self.isns;
        std::mem::replace(self, Talk::new(isns)).one().from_client
    }
}

fn too_big(flow: &Flow) -> usize {
    flow.retransmissions.iter().filter(|r| r.kind == Kind::TooBig).count()
}

/// RFC 5927 section 4.1: only what is outstanding can have been too big.
#[test]
fn only_what_is_outstanding_is_believed() {
    for (position, is_it) in [(0, true), (1460, true), (2919, true), (2920, false)] {
        each(|mut talk| {
            let flow = talk.ten(position);
            assert_eq!(too_big(&flow), if is_it { 4 } else { 0 }, "{position}");
            assert_eq!(flow.asked_shorter.is_some(), is_it);
            assert_eq!(flow.recoveries, []);
            if is_it {
                let asked = flow.asked_shorter.unwrap();
                assert_eq!((asked.messages, asked.mtu, flow.mss), (1, Some(1400), 1360));
                assert_eq!(asked.first, Time(START + 25_000_000));
            }
        });
    }
    // The last byte of the SYN, and 4 GiB before.
    each(|mut talk| assert_eq!(too_big(&talk.ten(u64::MAX)), 0));
}

/// What was acknowledged is old.
#[test]
fn what_was_acknowledged_is_not_believed() {
    each(|mut talk| {
        talk.open().at(20.0, c(0, 1460)).at(30.0, s(0, 0).ack(1460)).at(40.0, c(1460, 1460));
        talk.told(41.0, 0, 0).told(41.1, 0, 1459);
        assert_eq!(talk.one().from_client.asked_shorter, None);
    });
}

/// It is no packet of the connection, nor of any other, nor does it open one.
#[test]
fn a_message_is_no_packet() {
    let mut talk = Talk::new(ISNS[0]);
    talk.told(0.0, 0, 0);
    assert_eq!((talk.tracker.open(), talk.tracker.damaged()), (0, 0));
    talk.open().at(20.0, c(0, 1460)).told(500.0, 0, 0).told(600.0, 1, 0);
    let one = talk.one();
    assert_eq!((one.packets, one.end), (4, Time(START + 20_000_000)));
    assert!(one.from_client.asked_shorter.is_some() && one.from_server.asked_shorter.is_none());
}

/// The server's segments are too big, and the capture is at the client: the router is beyond it.
#[test]
fn the_other_end() {
    each(|mut talk| {
        talk.open().at(20.0, c(0, 100)).at(30.0, s(0, 1460).ack(100)).at(30.01, s(1460, 1460));
        talk.told(30.1, 1, 0);
        talk.at(40.2, s(0, 1360).ack(100)).at(40.3, s(1360, 100).ack(100));
        talk.at(40.4, s(1460, 1360).ack(100)).at(40.5, s(2820, 100).ack(100));
        talk.at(40.6, c(100, 0).ack(2920));
        let one = talk.one();
        assert_eq!((too_big(&one.from_server), too_big(&one.from_client)), (4, 0));
        assert_eq!(one.from_server.asked_shorter.unwrap().router.to_string(), "10.0.9.9");
    });
}

/// The clock is set ahead by 5 s: packets wait until both ends have told that, and a message about
/// them waits with them.
#[test]
fn while_packets_wait() {
    let stamp = |p: P, ms: f64| p.ts(5000 + ms as u32, 5000 + ms as u32);
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, stamp(syn(0), 0.0)).at(10.0, stamp(syn(1), 10.0));
    talk.at(10.01, stamp(c(0, 0), 10.0));
    for n in 1..11_u64 {
        let (from, to, ms) = (1448 * (n - 1), 1448 * n, 20.0 * n as f64);
        talk.at(ms, stamp(c(from, 1448), ms));
        talk.at(ms + 10.0, stamp(s(0, 0).ack(to), ms + 10.0));
    }
    let wall = |ms: f64| ms + 5000.0;
    talk.at(wall(220.0), stamp(c(14_480, 1448), 220.0)).told(wall(220.1), 0, 14_480);
    talk.at(wall(220.12), stamp(c(14_480, 1348), 220.0));
    talk.at(wall(220.13), stamp(c(15_828, 100), 220.0));
    talk.at(wall(230.2), stamp(s(0, 0).ack(15_928), 230.0));
    assert_eq!(talk.tracker.jumps().len(), 1);
    let flow = talk.one().from_client;
    assert_eq!(too_big(&flow), 2);
    let asked = flow.asked_shorter.unwrap();
    assert_eq!(asked.messages, 1);
    // By the clock as it was before, give or take what the jump took itself.
    assert!(asked.first.since(Time(START)) < Span::from_millis(240), "{asked:?}");
}

/// It is the first frame after the clock was set ahead: the packets behind it tell when it came.
#[test]
fn the_first_frame_after_a_silence() {
    let stamp = |p: P, ms: f64| p.ts(5000 + ms as u32, 5000 + ms as u32);
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, stamp(syn(0), 0.0)).at(10.0, stamp(syn(1), 10.0));
    talk.at(10.01, stamp(c(0, 0), 10.0));
    for n in 1..11_u64 {
        let (from, to, ms) = (1448 * (n - 1), 1448 * n, 20.0 * n as f64);
        talk.at(ms, stamp(c(from, 1448), ms));
        talk.at(ms + 10.0, stamp(s(0, 0).ack(to), ms + 10.0));
    }
    let wall = |ms: f64| ms + 5000.0;
    talk.at(215.0, stamp(c(14_480, 1448), 215.0)).told(wall(220.0), 0, 14_480);
    talk.at(wall(220.02), stamp(c(14_480, 1348), 220.0));
    talk.at(wall(220.03), stamp(c(15_828, 100), 220.0));
    talk.at(wall(230.2), stamp(s(0, 0).ack(15_928), 230.0));
    assert_eq!(talk.tracker.jumps().len(), 1);
    let flow = talk.one().from_client;
    assert_eq!(too_big(&flow), 2);
    let first = flow.asked_shorter.unwrap().first;
    assert!(first.since(Time(START)) < Span::from_millis(240), "{first:?}");
}

/// They take no places of the packets from which SMSS is learned where no SYN was seen.
#[test]
fn messages_beside_the_first_packets() {
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, c(0, 1222));
    (0..40).for_each(|n| _ = talk.told(1.0 + 0.01 * f64::from(n), 0, 0));
    talk.at(2.0, c(1222, 1222)).at(2.1, c(2444, 1222));
    let flow = talk.one().from_client;
    assert_eq!((flow.mss, flow.asked_shorter.map(|asked| asked.messages)), (1222, Some(32)));
}

/// The message passes the capture before the sender hears of it, and so does data that went out
/// meanwhile: that is cut, too.
#[test]
fn what_is_sent_while_a_message_is_on_its_way() {
    each(|mut talk| {
        talk.at(0.0, syn(0)).at(10.0, syn(1)).at(30.0, c(0, 0));
        talk.at(40.0, c(0, 1460)).told(45.0, 0, 0).at(50.0, c(1460, 1460));
        talk.told(55.0, 0, 1460);
        talk.at(65.02, c(0, 1360)).at(65.03, c(1360, 100));
        talk.at(65.04, c(1460, 1360)).at(65.05, c(2820, 100));
        // The second part of the first one is lost.
        talk.sacked(75.1, s(0, 0).ack(1360), &[(1460, 2920)]);
        talk.at(85.1, c(1360, 100)).at(95.2, s(0, 0).ack(2920));
        let flow = talk.one().from_client;
        let kinds: Vec<_> = flow.retransmissions.iter().map(|r| r.kind).collect();
        assert_eq!(too_big(&flow), 4, "{kinds:?}");
        assert_eq!(kinds.len(), 5);
    });
}

/// Linux at the capture: a super-segment goes again as it was, and is cut as asked behind that.
#[test]
fn super_segments() {
    each(|mut talk| {
        talk.open().at(20.0, c(0, 7300)).told(25.0, 0, 0).at(25.02, c(0, 7300));
        talk.at(35.1, s(0, 0).ack(7300)).at(35.12, c(7300, 1360)).at(35.13, c(8660, 13_600));
        talk.at(46.0, s(0, 0).ack(22_260));
        let flow = talk.one().from_client;
        let again: Vec<_> = flow.retransmissions.iter().map(|r| (r.len, r.kind)).collect();
        let cut = [1360, 1360, 1360, 1360, 1360, 500].map(|len| (len, Kind::TooBig));
        assert_eq!((&again[..], flow.mss), (&cut[..], 1360));
    });
}
