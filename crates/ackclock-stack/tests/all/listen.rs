//! Listeners: backlogs, floods, cookies; TIME-WAIT and ports.

use std::net::SocketAddr;

use ackclock_stack::{Error, Ready, SocketId, Stack, StackConfig, TcpConfig};
use ackclock_tcp::connection::{CloseReason, TcpState};
use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{Seq, Span, Time, TimeoutClass, Timestamps};

use crate::rig::{App, Fate, MS, World, drain, header, host_config, parse, tcp_packet, v4, v6};

const NOW: Time = Time(1_000 * MS);
const ACK: Control = Control::ACK;
const SYN_ACK: Control = Control(0x12);
const RST: Control = Control::RST;

/// A listening host that a test talks to packet by packet, from host 0.
struct Target {
    stack: Stack,
    now: Time,
}

impl Target {
    fn new(half_open: usize, config: TcpConfig, backlog: usize) -> Target {
        let mut stack = Stack::new(StackConfig { half_open, ..host_config(1, false) });
        stack.listen(SocketAddr::new(v4(1), 80), config, backlog).unwrap();
        Target { stack, now: NOW }
    }

    /// Its answers to a segment.
    fn say(&mut self, header: Repr, payload: &[u8]) -> Vec<Repr> {
        self.stack.on_packet(self.now, &tcp_packet(v4(0), v4(1), &header, payload), false);
        self.answers()
    }

    fn answers(&mut self) -> Vec<Repr> {
        drain(&mut self.stack, self.now).iter().map(|packet| parse(packet).0).collect()
    }

    fn later(&mut self, span: Span) -> Vec<Repr> {
        let until = self.now + span;
        let mut answers = Vec::new();
        while self.stack.next_deadline() <= until {
            self.now = self.now.max(self.stack.next_deadline());
            self.stack.on_deadline(self.now);
            answers.extend(self.answers());
        }
        self.now = until;
        answers
    }

    fn accept(&mut self) -> Option<SocketId> {
        while let Some(ready) = self.stack.poll_ready() {
            if let Ready::Accept(listener) = ready {
                return Some(self.stack.accept(listener).unwrap());
            }
        }
        None
    }
}

fn syn(port: u16, seq: u32) -> Repr {
    let options = Options {
        mss: Some(1400),
        wscale: Some(5),
        sack_permitted: true,
        timestamps: Some(Timestamps { val: 77, ecr: 0 }),
        ..Options::default()
    };
    Repr { options, ..header(port, 80, Control::SYN, seq, 0) }
}

/// The ACK that completes a handshake.
fn reply(to: &Repr, control: Control) -> Repr {
    let timestamps =
        to.options.timestamps.map(|timestamps| Timestamps { val: 78, ecr: timestamps.val });
    let options = Options { timestamps, ..Options::default() };
    Repr {
        options,
        ..header(to.dst_port, to.src_port, control, to.ack.0, to.seq.0.wrapping_add(1))
    }
}

/// What the timestamps for a port of host 0 have beyond the clock.
fn ts_offset(port: u16) -> u32 {
    let answer = Target::new(64, TcpConfig::default(), 16).say(syn(port, 5000), b"")[0];
    answer.options.timestamps.unwrap().val.wrapping_sub(NOW.timestamp())
}

#[test]
fn addresses_that_cannot_be() {
    let mut stack = Stack::new(host_config(0, false));
    let config = TcpConfig::default;
    let at = |text: &str| -> SocketAddr { text.parse().unwrap() };
    assert_eq!(stack.listen(at("10.0.0.9:80"), config(), 1), Err(Error::NoAddress));
    let all = stack.listen(at("0.0.0.0:80"), config(), 1).unwrap();
    assert_eq!(stack.listen(at("10.0.0.1:80"), config(), 1), Err(Error::InUse));
    assert!(stack.listen(at("[::]:80"), config(), 1).is_ok());
    assert!(stack.listen(at("10.0.0.1:81"), config(), 1).is_ok());
    assert_eq!(stack.listen(at("0.0.0.0:81"), config(), 1), Err(Error::InUse));
    let any = stack.listen(at("10.0.0.1:0"), config(), 1).unwrap();
    assert!(stack.listener_address(any).unwrap().port() >= 32_768);
    stack.unlisten(NOW, all);
    assert_eq!(stack.listener_address(all), Err(Error::NoSocket));
    assert_eq!(stack.accept(all), Err(Error::NoSocket));
    assert!(stack.listen(at("10.0.0.1:80"), config(), 1).is_ok());
    for remote in [
        "10.0.0.1:80",
        "0.0.0.0:80",
        "0.1.2.3:80",
        "255.255.255.255:80",
        "224.0.0.1:80",
        "127.0.0.1:80",
        "10.0.0.2:0",
        "[::]:80",
        "[::1]:80",
        "[ff02::1]:80",
        "[::ffff:10.0.0.2]:80",
        "[fd00::1]:80",
    ] {
        assert_eq!(stack.connect(NOW, at(remote), config()), Err(Error::NoAddress), "{remote}");
    }
    let mut only_v4 = Stack::new(StackConfig { addresses: vec![v4(0)], ..host_config(0, false) });
    assert_eq!(only_v4.connect(NOW, at("[fd00::2]:80"), config()), Err(Error::NoAddress));
    assert_eq!(only_v4.listen(at("[::]:80"), config(), 1), Err(Error::NoAddress));
}

#[test]
fn a_handshake_is_answered_and_accepted() {
    let mut target = Target::new(64, TcpConfig::default(), 16);
    let [answer] = target.say(syn(1000, 5000), b"")[..] else { panic!() };
    assert_eq!((answer.control, answer.ack, answer.wnd), (SYN_ACK, Seq(5001), 65_535));
    let options = answer.options;
    assert_eq!((options.mss, options.wscale, options.sack_permitted), (Some(1460), Some(7), true));
    assert_eq!(options.timestamps.unwrap().ecr, 77);
    assert_eq!(target.accept(), None);
    assert_eq!(target.say(reply(&answer, ACK), b""), []);
    let socket = target.accept().unwrap();
    let status = target.stack.status(socket).unwrap();
    assert_eq!(
        (status.state, status.remote),
        (TcpState::Established, SocketAddr::new(v4(0), 1000))
    );
    assert_eq!((target.stack.connections(), target.stack.stats().opened), (1, 1));
}

/// No sender counts the timer of a SYN/ACK.
#[test]
fn a_syn_ack_that_goes_again_is_counted_with_its_connection() {
    let mut target = Target::new(64, TcpConfig::default(), 16);
    target.say(syn(1000, 5000), b"");
    let answer = target.later(Span::from_millis(1004))[0];
    target.say(reply(&answer, ACK), b"");
    let socket = target.accept().unwrap();
    let stats = target.stack.counted(socket).unwrap();
    assert_eq!((stats.timeouts, stats.timeouts_by_class[TimeoutClass::Handshake as usize]), (1, 1));
    // The echo came within the tick of its timestamp.
    assert_eq!(stats.rtt_least, Span::from_millis(1));
    assert_eq!(target.stack.sender(socket).unwrap().stats().timeouts, 0);
}

/// RFC 7323 section 7: each connection has an offset, always the same for its tuple, and goes by
/// the clock within.
#[test]
fn timestamps_do_not_tell_the_clock() {
    assert_eq!(ts_offset(1000), ts_offset(1000));
    assert!(ts_offset(1000).abs_diff(ts_offset(1001)) > 1 << 16);
    for half_open in [64, 0] {
        let mut target = Target::new(half_open, TcpConfig::default(), 16);
        let mut answer = target.say(syn(1000, 5000), b"")[0];
        if half_open > 0 {
            // With two SYN/ACKs only the echo says which round trip that was.
            answer = target.later(Span::from_millis(1004))[0];
        }
        target.later(Span::from_millis(50));
        target.say(reply(&answer, ACK), b"");
        let socket = target.accept().unwrap();
        let now = target.now;
        let srtt = |stack: &Stack| stack.sender(socket).unwrap().state().srtt;
        if half_open > 0 {
            assert_eq!(srtt(&target.stack), Span::from_millis(50));
        }
        target.stack.write(now, socket, b".").unwrap();
        let data = target.answers()[0];
        let val = data.options.timestamps.unwrap().val;
        assert_eq!(val, now.timestamp().wrapping_add(ts_offset(1000)));
        target.later(Span::from_millis(50));
        target.say(reply(&data, ACK), b"");
        assert!(srtt(&target.stack) > Span::from_millis(20), "{:?}", srtt(&target.stack));
        assert!(srtt(&target.stack) < Span::from_millis(90), "{:?}", srtt(&target.stack));
    }
}

/// RFC 9293 section 3.7.1 (MUST-15), with a cookie as without.
#[test]
fn the_default_mss_is_that_of_the_family() {
    for (remote, local, mss) in [(v4(0), v4(1), 536), (v6(0), v6(1), 1220)] {
        for half_open in [64, 0] {
            let mut stack = Stack::new(StackConfig { half_open, ..host_config(1, false) });
            let listener =
                stack.listen(SocketAddr::new(local, 80), TcpConfig::default(), 16).unwrap();
            let syn = header(1000, 80, Control::SYN, 5000, 0);
            stack.on_packet(NOW, &tcp_packet(remote, local, &syn, b""), false);
            let (answer, _) = parse(&drain(&mut stack, NOW)[0]);
            stack.on_packet(NOW, &tcp_packet(remote, local, &reply(&answer, ACK), b""), false);
            let socket = stack.accept(listener).unwrap();
            assert_eq!(stack.sender(socket).unwrap().state().mss, mss);
        }
    }
}

/// RFC 9293 section 3.10.7.1, and what must not be answered.
#[test]
fn strays_are_reset() {
    let mut target = Target::new(64, TcpConfig::default(), 16);
    let reset = |seq, ack, control| Repr { wnd: 0, ..header(9, 1000, control, seq, ack) };
    let rst_ack = RST.with(ACK);
    assert_eq!(target.say(header(1000, 9, Control::SYN, 5000, 7), b""), [reset(0, 5001, rst_ack)]);
    assert_eq!(
        target.say(header(1000, 9, Control::FIN, 5000, 7), b"abc"),
        [reset(0, 5004, rst_ack)]
    );
    assert_eq!(target.say(header(1000, 9, ACK, 5000, 7), b"abc"), [reset(7, 0, RST)]);
    assert_eq!(target.say(header(1000, 9, SYN_ACK, 5000, 7), b""), [reset(7, 0, RST)]);
    assert_eq!(target.say(header(1000, 9, RST, 5000, 7), b""), []);
    assert_eq!(target.say(header(1000, 9, rst_ack, 5000, 7), b""), []);
    // The listening port: an ACK that no cookie explains; a reset; a SYN that also ends.
    let to_80 = Repr { src_port: 80, ..reset(7, 0, RST) };
    assert_eq!(target.say(header(1000, 80, ACK, 5000, 7), b"abc"), [to_80]);
    assert_eq!(target.say(header(1000, 80, SYN_ACK, 5000, 7), b""), [to_80]);
    assert_eq!(target.say(header(1000, 80, RST, 5000, 7), b""), []);
    assert_eq!(target.say(header(1000, 80, Control::SYN.with(Control::FIN), 5000, 7), b""), []);
    assert_eq!(target.stack.stats().resets_out, 6);
    // Who claims to be us, nobody, or everybody; then what is for others.
    for src in [
        v4(1),
        [0, 0, 0, 0].into(),
        [255, 255, 255, 255].into(),
        [224, 0, 0, 1].into(),
        [127, 0, 0, 1].into(),
    ] {
        let packet = tcp_packet(src, v4(1), &syn(80, 1), b"");
        target.stack.on_packet(NOW, &packet, false);
    }
    for dst in
        [v4(2), [10, 255, 255, 255].into(), [255, 255, 255, 255].into(), [224, 0, 0, 1].into()]
    {
        target.stack.on_packet(NOW, &tcp_packet(v4(0), dst, &syn(80, 1), b""), false);
    }
    assert_eq!(target.answers(), []);
    let stats = target.stack.stats();
    assert_eq!((target.stack.connections(), stats.malformed, stats.ignored), (0, 5, 4));
    // A fragment is in order, but is not put together with others.
    let mut fragment = tcp_packet(v4(0), v4(1), &syn(80, 1), b"");
    let checksum = u16::from_be_bytes([fragment[10], fragment[11]]);
    let flags = u16::from_be_bytes([fragment[6], fragment[7]]);
    fragment[6..8].copy_from_slice(&0x2000_u16.to_be_bytes());
    // RFC 1624: ~(~HC + ~m + m').
    let sum = u32::from(!checksum) + u32::from(!flags) + 0x2000;
    let folded = (sum & 0xffff) + (sum >> 16);
    fragment[10..12]
        .copy_from_slice(&(!(((folded & 0xffff) + (folded >> 16)) as u16)).to_be_bytes());
    target.stack.on_packet(NOW, &fragment, false);
    let stats = target.stack.stats();
    assert_eq!((stats.fragments, stats.malformed), (1, 5));
}

#[test]
fn a_full_backlog_takes_no_more() {
    let mut target = Target::new(64, TcpConfig::default(), 2);
    let answers: Vec<Repr> = (0..3).map(|port| target.say(syn(1000 + port, 9), b"")[0]).collect();
    for answer in &answers[..2] {
        assert_eq!(target.say(reply(answer, ACK), b""), []);
    }
    // The third handshake cannot end, and no further one begins.
    assert_eq!(target.say(reply(&answers[2], ACK), b"early"), []);
    assert_eq!(target.say(syn(2000, 9), b""), []);
    assert_eq!((target.stack.stats().opened, target.stack.connections()), (2, 3));
    let first = target.accept().unwrap();
    assert_eq!(target.stack.status(first).unwrap().remote.port(), 1000);
    // Now the peer's data, retransmitted, ends it.
    assert_eq!(target.say(reply(&answers[2], ACK), b"early").len(), 0);
    assert_eq!(target.stack.stats().opened, 3);
    assert_eq!(target.say(syn(2000, 9), b""), []);
    // A reset makes no room: whoever accepts it hears of the reset.
    assert_eq!(target.say(reply(&answers[1], RST), b""), []);
    assert_eq!(target.say(syn(2000, 9), b""), []);
    let listener = ackclock_stack::ListenerId(0);
    let second = target.stack.accept(listener).unwrap();
    assert_eq!(target.stack.status(second).unwrap().reason, Some(CloseReason::Reset));
    let mut bytes = [0; 9];
    let reset = Err(Error::Closed(CloseReason::Reset));
    assert_eq!(target.stack.read(target.now, second, &mut bytes), reset);
    assert_eq!(target.say(syn(2000, 9), b"").len(), 1);
    let third = target.stack.accept(listener).unwrap();
    assert_eq!(target.stack.status(third).unwrap().readable, 5);
    assert_eq!(target.stack.accept(listener), Err(Error::WouldBlock));
}

/// As in Linux: what came before the reset is read first, and what is let go leaves nothing.
#[test]
fn what_came_before_a_reset_can_be_read_by_who_accepts_later() {
    let mut target = Target::new(64, TcpConfig::default(), 2);
    let answer = target.say(syn(1000, 9), b"")[0];
    assert_eq!(target.say(reply(&answer, ACK), b"early"), []);
    assert_eq!(target.stack.waiting_alive(), 1);
    let reset = Repr { seq: answer.ack + 5, ..reply(&answer, RST) };
    assert_eq!(target.say(reset, b""), []);
    assert_eq!((target.stack.connections(), target.stack.waiting()), (0, 1));
    assert_eq!(target.stack.waiting_alive(), 0);
    let socket = target.accept().unwrap();
    let mut bytes = [0; 9];
    assert_eq!(target.stack.read(target.now, socket, &mut bytes), Ok(5));
    assert_eq!(&bytes[..5], b"early");
    let reset = Err(Error::Closed(CloseReason::Reset));
    assert_eq!(target.stack.read(target.now, socket, &mut bytes), reset);
    target.stack.close(target.now, socket);
    assert_eq!(target.answers(), []);
    assert_eq!((target.stack.status(socket), target.stack.memory()), (Err(Error::NoSocket), 0));
}

#[test]
fn half_open_connections_go_away() {
    let mut target = Target::new(64, TcpConfig::default(), 2);
    for port in 0..64 {
        assert_eq!(target.say(syn(1000 + port, 9), b"").len(), 1);
    }
    assert_eq!((target.stack.connections(), target.stack.stats().cookies_sent), (64, 0));
    // Five retransmissions of each SYN/ACK.
    assert_eq!(target.later(Span::from_secs(120)).len(), 64 * 5);
    assert_eq!((target.stack.connections(), target.stack.stats().opened), (0, 0));
    assert_eq!(target.stack.next_deadline(), Time::NEVER);
    assert_eq!(target.say(syn(1000, 9), b"").len(), 1);
    assert_eq!(target.stack.stats().cookies_sent, 0);
}

#[test]
fn who_stops_listening_resets_those_who_wait() {
    let mut target = Target::new(64, TcpConfig::default(), 4);
    let answer = target.say(syn(1000, 9), b"")[0];
    target.say(reply(&answer, ACK), b"");
    let half = target.say(syn(1001, 9), b"")[0];
    target.stack.unlisten(target.now, ackclock_stack::ListenerId(0));
    let resets = target.answers();
    assert_eq!(
        resets.iter().map(|reset| reset.control.contains(RST)).collect::<Vec<_>>(),
        [true, true]
    );
    assert_eq!((resets[0].seq, resets[1].seq), (answer.seq + 1, half.seq + 1));
    assert_eq!((target.stack.connections(), target.stack.stats().closed), (0, 2));
}

/// With the table full, a cookie holds MSS, window scale, SACK and timestamps.
#[test]
fn a_cookie_remembers_what_was_offered() {
    let mut target = Target::new(0, TcpConfig::default(), 4);
    for (with_timestamps, mss, wnd_shift) in [(true, 1400, 5), (false, 1400, 0)] {
        let port = if with_timestamps { 1000 } else { 1001 };
        let mut request = syn(port, 5000);
        request.options.timestamps = request.options.timestamps.filter(|_| with_timestamps);
        let answer = target.say(request, b"")[0];
        assert_eq!((answer.control, answer.ack), (SYN_ACK, Seq(5001)));
        let options = answer.options;
        assert_eq!(options.mss, Some(1460));
        assert_eq!(
            (options.wscale, options.sack_permitted),
            (with_timestamps.then_some(7), with_timestamps)
        );
        assert_eq!(
            options.timestamps.map(|timestamps| timestamps.ecr),
            with_timestamps.then_some(77)
        );
        if let Some(timestamps) = options.timestamps {
            // The low five bits are SACK and the shift; it is not ahead of the clock.
            assert_eq!(timestamps.val & 31, 16 + 5);
            assert!(ts_offset(port).wrapping_add(1000).wrapping_sub(timestamps.val) < 32);
        }
        assert_eq!((target.stack.connections(), target.stack.next_deadline()), (0, Time::NEVER));
        // The ACK carries the first data, at once.
        let mut ack = reply(&answer, ACK);
        ack.wnd = 3200 >> wnd_shift;
        target.say(ack, b"GET /");
        let socket = target.accept().unwrap();
        let status = target.stack.status(socket).unwrap();
        assert_eq!((status.state, status.readable), (TcpState::Established, 5));
        let state = target.stack.sender(socket).unwrap().state();
        assert_eq!(state.mss, if with_timestamps { mss - 12 } else { mss });
        assert_eq!(state.window_edge, 3200);
        // It works both ways.
        let now = target.now;
        assert_eq!(target.stack.write(now, socket, b"answer"), Ok(6));
        let data = target.answers();
        assert_eq!((data[0].seq, data[0].ack), (answer.seq + 1, Seq(5006)));
        target.stack.abort(now, socket);
        target.answers();
    }
    let stats = target.stack.stats();
    assert_eq!(
        (stats.cookies_sent, stats.cookies_accepted, stats.opened, stats.closed),
        (2, 2, 2, 2)
    );
}

/// What all cookies of a moment have in common is hidden.
#[test]
fn no_bits_of_a_cookie_are_known_to_others() {
    let mut target = Target::new(0, TcpConfig::default(), 4);
    let mut tops: Vec<u32> =
        (0..64).map(|n| target.say(syn(1000 + n, 5000), b"")[0].seq.0 >> 24).collect();
    tops.sort_unstable();
    tops.dedup();
    assert!(tops.len() > 32, "{tops:x?}");
}

#[test]
fn a_cookie_is_for_one_peer_and_a_short_time() {
    let mut target = Target::new(0, TcpConfig::default(), 4);
    let answer = target.say(syn(1000, 5000), b"")[0];
    let good = reply(&answer, ACK);
    let ts =
        |ecr: u32| Options { timestamps: Some(Timestamps { val: 78, ecr }), ..Options::default() };
    let val = answer.options.timestamps.unwrap().val;
    let wrong = [
        Repr { src_port: 1001, ..good },
        Repr { ack: good.ack + 1, ..good },
        Repr { ack: good.ack + (1 << 24), ..good },
        Repr { ack: good.ack + (1 << 27), ..good },
        Repr { seq: good.seq + 1, ..good },
        // Another shift than the peer offered.
        Repr { options: ts(val ^ 1), ..good },
        Repr { options: Options::default(), ..good },
    ];
    for wrong in wrong {
        assert_eq!(target.say(wrong, b"")[0].control, RST, "{wrong:?}");
    }
    assert_eq!(target.stack.stats().cookies_accepted, 0);
    // Made in period 0, it holds until the end of period 1, at 128 s.
    target.now = Time(127_999 * MS);
    assert_eq!(target.say(good, b""), []);
    assert_eq!(target.stack.stats().cookies_accepted, 1);
    let socket = target.accept().unwrap();
    let now = target.now;
    target.stack.abort(now, socket);
    target.answers();
    target.now = Time(128_000 * MS);
    // Others keep cookies in use.
    target.say(syn(2000, 1), b"");
    assert_eq!(target.say(good, b"")[0].control, RST);
    // And without one sent in two periods, none is looked at.
    let mut idle = Target::new(64, TcpConfig::default(), 4);
    assert_eq!(idle.say(good, b"")[0].control, RST);
    assert_eq!(idle.stack.stats().cookies_accepted, 0);
}

/// A million SYNs leave nothing behind but the half-open connections allowed, and a client that
/// answers gets in.
#[test]
fn a_flood_is_survived() {
    let mut target = Target::new(64, TcpConfig::default(), 16);
    let mut cookies = 0;
    let mut flood = tcp_packet(v4(0), v4(1), &syn(1000, 0), b"");
    for n in 0..1_000_000u32 {
        // Another source each: 11.x.y.z.
        flood[12..16].copy_from_slice(&(0x0b00_0000 + n).to_be_bytes());
        flood[10..12].copy_from_slice(&[0, 0]);
        let checksum = ackclock_tcp::wire::Checksum::default().then(&flood[..20]).value();
        flood[10..12].copy_from_slice(&checksum.to_be_bytes());
        target.now = Time(target.now.0 + 1000);
        target.stack.on_packet(target.now, &flood, true);
        while target.stack.poll_transmit(target.now).is_some() {
            cookies += 1;
        }
        if n == 500_000 {
            let answer = target.say(syn(7, 5000), b"")[0];
            target.say(reply(&answer, ACK), b"hello");
            let socket = target.accept().unwrap();
            assert_eq!(target.stack.status(socket).unwrap().readable, 5);
        }
    }
    assert_eq!(cookies, 1_000_000);
    assert_eq!(target.stack.stats().cookies_sent, 1_000_000 - 64 + 1);
    assert_eq!(target.stack.connections(), 64 + 1);
}

/// A flood that nobody drains: answers wait in a bounded number.
#[test]
fn answers_that_nobody_takes_are_bounded() {
    let mut target = Target::new(0, TcpConfig::default(), 16);
    for port in 1..5000 {
        target.stack.on_packet(NOW, &tcp_packet(v4(0), v4(1), &syn(port, 0), b""), false);
    }
    assert_eq!(target.answers().len(), 1024);
}

/// Goes through a connection that the target closes first, so that it is in TIME-WAIT.
fn into_time_wait(target: &mut Target, port: u16, seq: u32) -> (Repr, Repr) {
    let answer = target.say(syn(port, seq), b"")[0];
    target.say(reply(&answer, ACK), b"");
    let socket = target.accept().unwrap();
    let now = target.now;
    target.stack.close(now, socket);
    let fin = target.answers()[0];
    assert!(fin.control.contains(Control::FIN));
    let last = reply(&fin, ACK.with(Control::FIN));
    let ack = target.say(last, b"");
    assert_eq!((ack[0].control, ack[0].ack), (ACK, last.seq + 1));
    assert_eq!(
        (target.stack.connections(), target.stack.status(socket)),
        (1, Err(Error::NoSocket))
    );
    (last, ack[0])
}

#[test]
fn time_wait_answers_the_fin_again_and_ends() {
    let mut target = Target::new(64, TcpConfig::default(), 16);
    let (fin, ack) = into_time_wait(&mut target, 1000, 5000);
    target.later(Span::from_secs(50));
    // The peer's FIN again: the same ACK, and 2 MSL from now.
    let again = target.say(fin, b"")[0];
    let val = target.now.timestamp().wrapping_add(ts_offset(1000));
    let timestamps = Some(Timestamps { val, ecr: ack.options.timestamps.unwrap().ecr });
    assert_eq!(again, Repr { options: Options { timestamps, ..Options::default() }, ..ack });
    // Its pure ACK does nothing, nor does a reset elsewhere than where the peer is.
    assert_eq!(target.say(Repr { seq: ack.ack, control: ACK, ..fin }, b""), []);
    assert_eq!(target.say(Repr { seq: ack.ack + 1, control: RST, ..fin }, b""), []);
    // Segments that are not acceptable draw one ACK in 500 ms.
    target.later(Span::from_millis(500));
    let old = Repr { seq: Seq(1), control: ACK, ..fin };
    assert_eq!((target.say(old, b"x").len(), target.say(old, b"x").len()), (1, 0));
    target.later(Span::from_millis(59_499));
    assert_eq!((target.stack.connections(), target.stack.stats().closed), (1, 0));
    target.later(Span::from_millis(1));
    assert_eq!((target.stack.connections(), target.stack.stats().closed), (0, 1));
    assert_eq!(target.say(fin, b"")[0].control, RST);
}

/// Behind an address translator another host has the port now, and begins with a lower number: it
/// resets the connection of which it knows nothing, and its SYN that comes again opens its own
/// (RFC 9293 sections 3.10.7.3 and 3.10.7.4).
#[test]
fn a_reset_ends_time_wait() {
    let mut target = Target::new(64, TcpConfig::default(), 16);
    let (fin, ack) = into_time_wait(&mut target, 1000, 5000);
    let syn = Repr {
        seq: Seq(10),
        ack: Seq(0),
        control: Control::SYN,
        options: Options::default(),
        ..fin
    };
    let [answer] = target.say(syn, b"")[..] else { panic!("no answer") };
    assert_eq!((answer.control, answer.ack), (ACK, ack.ack));
    let reset = Repr { seq: answer.ack, control: RST, ..syn };
    assert_eq!(target.say(reset, b""), []);
    assert_eq!((target.stack.connections(), target.stack.stats().closed), (0, 1));
    let [answer] = target.say(syn, b"")[..] else { panic!("no answer") };
    assert_eq!((answer.control, answer.ack), (SYN_ACK, Seq(11)));
}

#[test]
fn a_new_syn_reopens_a_connection_in_time_wait() {
    for held in [false, true] {
        for (timestamp, seq, opens) in
            [(79, 9000, true), (79, 10, true), (78, 9000, true), (78, 10, false), (1, 9000, false)]
        {
            let mut target = Target::new(64, TcpConfig::default(), 16);
            let (answer, last);
            if held {
                // The application still holds the socket.
                answer = target.say(syn(1000, 5000), b"")[0];
                target.say(reply(&answer, ACK), b"");
                let socket = target.accept().unwrap();
                let now = target.now;
                target.stack.shutdown(now, socket).unwrap();
                let fin = target.answers()[0];
                last = target.say(reply(&fin, ACK.with(Control::FIN)), b"")[0];
                assert_eq!(target.stack.status(socket).unwrap().state, TcpState::TimeWait);
            } else {
                last = into_time_wait(&mut target, 1000, 5000).1;
            }
            target.later(Span::from_secs(1));
            let mut again = syn(1000, seq);
            again.options.timestamps = Some(Timestamps { val: timestamp, ecr: 0 });
            let reply = target.say(again, b"")[0];
            if opens {
                assert_eq!(
                    (reply.control, reply.ack),
                    (SYN_ACK, Seq(seq + 1)),
                    "{held} {timestamp} {seq}"
                );
                assert!(reply.seq.ahead_of(last.seq) > 0);
                assert_eq!((target.stack.connections(), target.stack.stats().closed), (1, 1));
            } else {
                assert_eq!(
                    (reply.control, reply.seq, reply.ack),
                    (ACK, last.seq, last.ack),
                    "{held} {timestamp} {seq}"
                );
            }
        }
    }
}

/// RFC 6191 section 2: timestamps that the connection before had not, and the new one would have,
/// are enough.
#[test]
fn a_new_syn_reopens_with_timestamps_where_there_were_none() {
    for (timestamps, opens) in [(true, true), (false, false)] {
        let mut target = Target::new(64, TcpConfig { timestamps, ..TcpConfig::default() }, 16);
        let mut first = syn(1000, 5000);
        first.options.timestamps = None;
        let answer = target.say(first, b"")[0];
        target.say(reply(&answer, ACK), b"");
        let socket = target.accept().unwrap();
        let now = target.now;
        target.stack.close(now, socket);
        let fin = target.answers()[0];
        target.say(reply(&fin, ACK.with(Control::FIN)), b"");
        let control = target.say(syn(1000, 10), b"")[0].control;
        assert_eq!(control, if opens { SYN_ACK } else { ACK });
    }
}

/// 10,000 connections one after the other to one address: ports come again as late as possible,
/// TIME-WAIT holds them all.
#[test]
fn ports_are_not_used_again_soon() {
    let mut world = World::new(false);
    world.delay = Span::ZERO;
    world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(0, 2, 1));
    let mut ports = std::collections::HashSet::new();
    for _ in 0..10_000 {
        let client = world.connect(v4(1), TcpConfig::default(), App::new(0, 1, 2));
        world.run_for(Span::from_micros(1));
        let status = world.status(0, client);
        assert!(ports.insert(status.local.port()) && status.local.port() >= 32_768);
        world.close_all();
    }
    // Both close at the same time, so both wait.
    assert_eq!(world.hosts.each_ref().map(|host| host.stack.connections()), [10_000; 2]);
    world.run_for(Span::from_secs(61));
    assert_eq!(world.hosts[0].stack.connections() + world.hosts[1].stack.connections(), 0);
}

/// All 32,768 ports to one peer are taken; another peer's are free.
#[test]
fn ports_run_out() {
    let mut stack = Stack::new(host_config(0, false));
    let config = TcpConfig { send_buffer: 1, receive_buffer: 1, ..TcpConfig::default() };
    let remote = SocketAddr::new(v4(1), 80);
    for _ in 0..32_768 {
        let id = stack.connect(NOW, remote, config.clone()).unwrap();
        drain(&mut stack, NOW);
        assert_eq!(stack.status(id).unwrap().state, TcpState::SynSent);
    }
    assert_eq!(stack.connect(NOW, remote, config.clone()), Err(Error::InUse));
    assert!(stack.connect(NOW, SocketAddr::new(v4(1), 81), config.clone()).is_ok());
    assert!(stack.connect(NOW, SocketAddr::new(v6(1), 80), config).is_ok());
}

/// RFC 6528: to the same peer they grow with the clock, to others they are unrelated; another
/// secret gives others.
#[test]
fn initial_sequence_numbers() {
    let isn = |secret: u8, ms: u64, port: u16| {
        let mut target = Target::new(64, TcpConfig::default(), 16);
        target.stack = Stack::new(StackConfig { secret: [secret; 16], ..host_config(1, false) });
        target.stack.listen(SocketAddr::new(v4(1), 80), TcpConfig::default(), 16).unwrap();
        target.now = Time(ms * MS);
        target.say(syn(port, 5000), b"")[0].seq.0
    };
    assert_eq!(isn(1, 1000, 7), isn(1, 1000, 7));
    assert_eq!(isn(1, 1001, 7).wrapping_sub(isn(1, 1000, 7)), 250);
    assert_ne!(isn(1, 1000, 7) >> 16, isn(1, 1000, 8) >> 16);
    assert_ne!(isn(1, 1000, 7) >> 16, isn(2, 1000, 7) >> 16);
}

/// The same secret and the same input give the same output.
#[test]
fn a_host_is_deterministic() {
    let run = || {
        let log = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let seen = std::rc::Rc::clone(&log);
        let mut world = World::new(false);
        let mut n = 0;
        world.fate = Box::new(move |_, packet| {
            seen.borrow_mut().push(packet.to_vec());
            n += 1;
            if n % 50 == 0 { Fate::Drop } else { Fate::Deliver }
        });
        world.listen(v4(1), TcpConfig::default(), 16, |_| App::new(1000, 2, 1));
        for _ in 0..20 {
            world.connect(v4(1), TcpConfig::default(), App::new(20_000, 1, 2));
        }
        world.run();
        log.take()
    };
    assert!(run() == run());
}

/// Two stacks with one address: what is for a connection of the other one is neither answered nor
/// counted, and SYNs are taken by the one where they come.
#[test]
fn stacks_that_share_an_address_leave_each_other_s_segments_alone() {
    for half_open in [64, 0] {
        let [mut first, mut second] =
            [(); 2].map(|()| Target::new(half_open, TcpConfig::default(), 16));
        let offer = |target: &mut Target, header: &Repr, payload: &[u8]| {
            let packet = tcp_packet(v4(0), v4(1), header, payload);
            let taken = target.stack.offer(NOW, &packet, false);
            (taken, target.answers())
        };
        let (true, answers) = offer(&mut first, &syn(1000, 5000), b"") else { panic!() };
        let [answer] = answers[..] else { panic!() };
        let ack = reply(&answer, ACK);
        let counted = *second.stack.stats();
        // The end of the handshake, data, and a reset.
        assert_eq!(offer(&mut second, &ack, b""), (false, vec![]));
        assert_eq!(offer(&mut second, &ack, b"hello"), (false, vec![]));
        assert_eq!(offer(&mut second, &Repr { control: RST, ..ack }, b""), (false, vec![]));
        assert_eq!((*second.stack.stats(), second.stack.connections()), (counted, 0));
        assert!(offer(&mut first, &ack, b"hello").0);
        let socket = first.accept().unwrap();
        assert_eq!(first.stack.status(socket).unwrap().readable, 5);
        // Nobody's: whoever is asked last answers.
        let [reset] = second.say(Repr { src_port: 1001, ..ack }, b"")[..] else { panic!() };
        assert_eq!((reset.control, reset.seq), (RST, ack.ack));
        assert_eq!(second.stack.stats().packets_in, counted.packets_in + 1);
        // What is no packet at all is nobody else's either.
        assert!(second.stack.offer(NOW, &[0x45, 0], false));
        let mut damaged = tcp_packet(v4(0), v4(1), &ack, b"hello");
        *damaged.last_mut().unwrap() ^= 1;
        assert!(second.stack.offer(NOW, &damaged, false));
        let stats = second.stack.stats();
        assert_eq!((stats.malformed, stats.bad_checksums), (1, 1));
    }
}
