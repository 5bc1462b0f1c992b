//! Peers and strangers that lie. Nothing makes the host crash, send more than it may, believe a
//! stranger, or keep more than it should.

use std::net::SocketAddr;

use ackclock_stack::{Ready, SocketId, Stack, StackConfig, TcpConfig};
use ackclock_tcp::connection::TcpState;
use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{Registry, SackBlock, SackBlocks, Seq, Span, Time, Timestamps};
use proptest::prelude::*;

use crate::rig::{MS, drain, header, host_config, ip_packet, parse, tcp_packet, v4};

const ACK: Control = Control::ACK;
const SYN_ACK: Control = Control(0x12);

/// A host with one connection, and its peer as far as it has to be known to lie. The peer has seen
/// everything that was sent.
struct Victim {
    stack: Stack,
    socket: SocketId,
    now: Time,
    /// The peer's next header, and our first data byte.
    peer: Repr,
    isn: Seq,
    sack: bool,
    /// The furthest byte sent; the furthest that the peer allowed; all the payload bytes and
    /// segments sent.
    sent: u32,
    allowed: u32,
    bytes: u64,
    segments: u64,
}

impl Victim {
    /// The peer offers this much, unscaled, and this MSS. The host has a megabyte to send to it.
    fn new(strategy: &str, wnd: u16, mss: u16) -> Victim {
        Victim::with(
            TcpConfig {
                strategy: Registry::default().parse(strategy).unwrap(),
                ..TcpConfig::default()
            },
            wnd,
            mss,
        )
    }

    fn with(config: TcpConfig, wnd: u16, mss: u16) -> Victim {
        let mut stack = Stack::new(host_config(1, false));
        stack.listen(SocketAddr::new(v4(1), 80), config, 16).unwrap();
        let now = Time(1000 * MS);
        let sack = true;
        let options =
            Options { mss: Some(mss), sack_permitted: sack, wscale: Some(0), ..Options::default() };
        let syn = Repr { wnd, options, ..header(1000, 80, Control::SYN, 4999, 0) };
        stack.on_packet(now, &tcp_packet(v4(0), v4(1), &syn, b""), false);
        let answer = parse(&drain(&mut stack, now)[0]).0;
        assert_eq!(answer.control, SYN_ACK);
        let isn = answer.seq + 1;
        let peer = Repr { wnd, ..header(1000, 80, ACK, 5000, isn.0) };
        stack.on_packet(now, &tcp_packet(v4(0), v4(1), &peer, b""), false);
        let Some(Ready::Accept(listener)) = stack.poll_ready() else { panic!() };
        let socket = stack.accept(listener).unwrap();
        let (sent, allowed) = (0, u32::from(wnd));
        let mut victim =
            Victim { stack, socket, now, peer, isn, sack, sent, allowed, bytes: 0, segments: 0 };
        victim.stack.write(now, socket, &[b'x'; 1 << 20]).unwrap();
        victim.drain();
        victim
    }

    /// What the host sends, none of it beyond what the peer ever allowed.
    fn drain(&mut self) -> Vec<Repr> {
        let mut headers = Vec::new();
        for packet in drain(&mut self.stack, self.now) {
            let (header, payload) = parse(&packet);
            if !payload.is_empty() {
                let end = header.seq.distance_from(self.isn) + payload.len() as u32;
                self.sent = self.sent.max(end);
                self.bytes += payload.len() as u64;
                self.segments += 1;
                assert!(self.sent <= self.allowed, "{} of {}", self.sent, self.allowed);
            }
            headers.push(header);
        }
        headers
    }

    fn say(&mut self, header: Repr, payload: &[u8]) -> Vec<Repr> {
        self.stack.on_packet(self.now, &tcp_packet(v4(0), v4(1), &header, payload), false);
        self.drain()
    }

    /// The peer acknowledges up to a byte of our stream, and so moves its window.
    fn ack(&mut self, upto: u32) -> Vec<Repr> {
        self.allowed = self.allowed.max(upto + u32::from(self.peer.wnd));
        self.say(Repr { ack: self.isn + upto, ..self.peer }, b"")
    }

    fn wait(&mut self, span: Span) -> Vec<Repr> {
        let until = self.now + span;
        let mut headers = Vec::new();
        while self.stack.next_deadline() <= until {
            self.now = self.now.max(self.stack.next_deadline());
            self.stack.on_deadline(self.now);
            headers.extend(self.drain());
        }
        self.now = until;
        headers
    }

    fn cwnd(&self) -> u64 {
        self.stack.sender(self.socket).unwrap().state().cwnd
    }

    fn acked(&self) -> u64 {
        self.stack.sender(self.socket).unwrap().acked()
    }

    fn state(&self) -> TcpState {
        self.stack.status(self.socket).unwrap().state
    }
}

const STRATEGIES: [&str; 7] = ["linux", "newreno", "sack", "prr", "rack-tlp", "net-reno", "reno"];

/// Savage et al. 1999: an ACK for each byte must not open the window faster than an ACK for all of
/// them.
#[test]
fn splitting_acks_gains_nothing() {
    for strategy in STRATEGIES {
        let mut honest = Victim::new(strategy, 65_535, 1460);
        let mut liar = Victim::new(strategy, 65_535, 1460);
        assert_eq!((honest.sent, honest.cwnd()), (14_600, 14_600));
        for segment in 1..=10 {
            honest.ack(segment * 1460);
        }
        for byte in 1..=14_600 {
            liar.ack(byte);
        }
        assert!(liar.cwnd() <= honest.cwnd(), "{strategy}: {} {}", liar.cwnd(), honest.cwnd());
        assert!(liar.bytes <= honest.bytes, "{strategy}");
    }
}

/// What was never sent cannot be acknowledged (RFC 5961 section 5.2).
#[test]
fn acknowledging_what_was_not_sent_gains_nothing() {
    for strategy in STRATEGIES {
        let mut victim = Victim::new(strategy, 65_535, 1460);
        for ahead in [1, 1460, 65_535, 1 << 20, 1 << 30, 0x7fff_ffff] {
            let header = Repr { ack: victim.isn + 14_600 + ahead, ..victim.peer };
            let answers = victim.say(header, b"");
            assert!(
                answers
                    .iter()
                    .all(|answer| answer.control == ACK && answer.seq == victim.isn + 14_600)
            );
        }
        assert_eq!(
            (victim.acked(), victim.sent, victim.bytes, victim.cwnd()),
            (0, 14_600, 14_600, 14_600)
        );
        assert_eq!(victim.state(), TcpState::Established);
    }
}

/// Duplicates without end. To a sender that counts them, each says that a segment has left, those
/// included that it draws, so that only the peer's window ends it (RFC 5681 section 5), if
/// anything. One that believes SACK only is not moved.
#[test]
fn forged_duplicates_gain_nothing_where_sack_counts() {
    for strategy in STRATEGIES {
        let mut victim = Victim::new(strategy, 65_535, 1460);
        for _ in 0..10_000 {
            let peer = victim.peer;
            victim.say(peer, b"");
        }
        let most = match strategy {
            "newreno" | "reno" => 65_535 / 1460 + 2,
            // Lin & Kung section 6.5: beyond the window too, a duplicate draws a segment; never
            // two.
            "net-reno" => 10 + 10_000,
            _ => 10 + 2,
        };
        assert!(victim.segments <= most, "{strategy}: {}", victim.segments);
    }
}

/// SACK blocks of what was not sent, below the acknowledgment, upside down or everything.
#[test]
fn false_sack_blocks_gain_nothing() {
    for strategy in STRATEGIES {
        let mut victim = Victim::new(strategy, 65_535, 1460);
        assert!(victim.sack);
        let before = victim.bytes;
        for (left, right) in [
            (14_600u32, 16_060),
            (20_000, 30_000),
            (1460, 14_601),
            (5000, 1000),
            (0, 0),
            (1 << 31, 1 << 30),
        ] {
            let mut sack = SackBlocks::NONE;
            sack.push(SackBlock { left: victim.isn + left, right: victim.isn + right });
            let options = Options { sack, ..Options::default() };
            let answers = victim.say(Repr { options, ..victim.peer }, b"");
            assert!(answers.iter().all(|answer| answer.seq.distance_from(victim.isn) <= 16_060));
        }
        // They are six duplicates all the same.
        assert!(victim.bytes <= before + 4 * 1460, "{strategy}: {} {before}", victim.bytes);
        // The connection goes on.
        victim.wait(Span::from_secs(2));
        let sent = victim.sent;
        victim.ack(sent);
        assert_eq!(victim.acked(), u64::from(sent));
    }
}

/// RFC 5961: who does not see the connection cannot end it, or put data into it, even with
/// addresses and ports right.
#[test]
fn blind_attacks_fail() {
    let mut victim = Victim::new("linux", 65_535, 1460);
    let (good, isn) = (victim.peer, victim.isn);
    let mut answers = 0;
    for ahead in (1..1u64 << 32).step_by(1 << 16) {
        let seq = good.seq + ahead as u32;
        answers += victim.say(Repr { seq, control: Control::RST, ..good }, b"").len();
        answers += victim.say(Repr { seq, control: Control::SYN, ack: Seq(0), ..good }, b"").len();
        // Data at the right place, with acknowledgments all over the place but for what the largest
        // window covers.
        let ack = isn + 14_601 + ahead as u32;
        if isn.0.wrapping_sub(ack.0) > 65_535 {
            victim.say(Repr { seq: good.seq, ack, ..good }, b"evil");
        }
        victim.now = Time(victim.now.0 + 10_000);
    }
    // A SYN at the right place is no better.
    victim.say(Repr { control: Control::SYN, ..good }, b"");
    assert_eq!(victim.state(), TcpState::Established);
    assert_eq!(victim.stack.status(victim.socket).unwrap().readable, 0);
    assert_eq!((victim.acked(), victim.cwnd()), (0, 14_600));
    // Challenge ACKs are limited: 10 in 5 s.
    assert!(answers <= 10, "{answers}");
    // The right reset counts.
    victim.say(Repr { control: Control::RST, ..good }, b"");
    assert_eq!(victim.state(), TcpState::Closed);
}

/// A window that is a byte wide, for ever: no flood of small segments.
#[test]
fn tiny_windows_draw_little() {
    for wnd in [0u16, 1, 100] {
        let mut victim = Victim::new("linux", wnd, 1460);
        let mut upto = 0;
        for _ in 0..1000 {
            victim.wait(Span::from_millis(10));
            upto = upto.max(victim.sent);
            victim.ack(upto);
        }
        // In ten seconds, with the timer's silly window avoidance (RFC 9293 section 3.8.6.2.1), a
        // segment a round trip at most.
        assert!(victim.segments <= 1001, "{wnd}: {}", victim.segments);
        assert!(victim.bytes <= 1001 * u64::from(wnd));
    }
}

/// The smallest MSS that is believed keeps the number of packets in bounds.
#[test]
fn an_mss_of_one_is_not_believed() {
    for mss in [0, 1, 40] {
        let victim = Victim::new("linux", 65_535, mss);
        let state = victim.stack.sender(victim.socket).unwrap().state();
        assert_eq!(state.mss, u64::from(mss.max(48)));
        assert!(victim.segments <= 10);
    }
}

#[test]
fn option_garbage_is_survived() {
    let mut victim = Victim::new("linux", 65_535, 1460);
    let mut garbage = 1u64;
    for round in 0..20_000u32 {
        let mut bytes = [0; 40];
        for byte in &mut bytes {
            garbage = garbage.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = [0, 1, 2, 3, 4, 5, 8, 10, 255, (garbage >> 40) as u8]
                [(garbage >> 33) as usize % 10];
        }
        let len = (round % 11) as usize * 4;
        let mut segment = vec![0; 20];
        victim.peer.emit_header(&mut segment).unwrap();
        segment[12] = ((5 + len / 4) << 4) as u8;
        segment.extend_from_slice(&bytes[..len]);
        victim.stack.on_packet(victim.now, &ip_packet(v4(0), v4(1), 6, &segment), true);
        victim.drain();
    }
    assert_eq!(victim.stack.stats().packets_in, 20_002);
    assert_eq!(victim.state(), TcpState::Established);
}

/// Every other byte of a receive window, from its end to its beginning: memory does not grow with
/// the holes.
#[test]
fn a_window_full_of_holes_is_bounded() {
    let mut victim = Victim::with(TcpConfig::default(), 65_535, 1460);
    let good = victim.peer;
    // The window is scaled from the second segment on, so that it covers 4 MiB.
    for position in (1..600_000u32).rev().step_by(2) {
        victim.say(Repr { seq: good.seq + position, ..good }, b"y");
    }
    // Buffers, which double, and the scoreboard.
    assert_eq!(victim.stack.memory(), (2 << 20) + 640);
    // What was kept or not, the stream comes out right.
    for position in (0..600_000).step_by(1000) {
        victim.say(Repr { seq: good.seq + position, ..good }, &[b'y'; 1000]);
    }
    let mut bytes = vec![0; 1_000_000];
    let (now, socket) = (victim.now, victim.socket);
    assert_eq!(victim.stack.read(now, socket, &mut bytes), Ok(600_000));
    assert!(bytes[..600_000].iter().all(|byte| *byte == b'y'));
}

/// A segment of a peer that says anything, mostly near to what the connection expects, and what the
/// application does then.
#[derive(Clone, Debug)]
struct Said {
    /// Counted from what the peer would say next, and from our first byte.
    seq: u32,
    ack: u32,
    control: Control,
    wnd: u16,
    sack: Vec<(u32, u32)>,
    timestamps: Option<(u32, u32)>,
    len: usize,
    does: u8,
    /// Microseconds until the next segment.
    wait: Option<u64>,
}

prop_compose! {
    fn said()(
        seq in prop_oneof![4 => 0..5i32, 2 => -70_000i32..70_000, 1 => any::<i32>()],
        ack in prop_oneof![4 => 0..30_000u32, 1 => any::<u32>()],
        control in prop_oneof![6 => Just(ACK), 1 => any::<u8>().prop_map(Control)],
        wnd: u16,
        sack in prop::collection::vec((0..40_000u32, 0..3000u32), 0..4),
        timestamps in prop::option::of((900..1100u32, any::<u32>())),
        len in prop_oneof![2 => Just(0usize), 1 => 0..3000usize],
        does in 0..16u8,
        wait in prop::option::of(0..400_000u64),
    ) -> Said {
        Said { seq: seq as u32, ack, control, wnd, sack, timestamps, len, does, wait }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    /// A peer that says anything at any time, while the application reads, writes and closes.
    #[test]
    fn a_peer_may_say_anything(
        segments in prop::collection::vec(said(), 1..60),
        strategy in prop::sample::select(STRATEGIES.to_vec()),
    ) {
        let mut victim = Victim::new(strategy, 20_000, 1000);
        for said in segments {
            let (seq, ack) = (victim.peer.seq + said.seq, victim.isn + said.ack);
            let mut sack = SackBlocks::NONE;
            // Three beside timestamps.
            for (left, len) in said.sack.into_iter().take(3) {
                let left = victim.isn + left;
                sack.push(SackBlock { left, right: left + len });
            }
            let timestamps = said.timestamps.map(|(val, ecr)| Timestamps { val, ecr });
            let options = Options { sack, timestamps, ..Options::default() };
            let header = Repr { seq, ack, wnd: said.wnd, options, ..header(1000, 80, said.control, 0, 0) };
            // Whatever it acknowledges, its windows are offers.
            victim.allowed = victim.allowed.max(said.ack.min(1 << 24) + u32::from(said.wnd));
            victim.say(header, &vec![b'y'; said.len]);
            let (now, socket) = (victim.now, victim.socket);
            match said.does {
                0 => victim.stack.close(now, socket),
                1 => victim.stack.abort(now, socket),
                2 => drop(victim.stack.shutdown(now, socket)),
                3 | 4 => drop(victim.stack.read(now, socket, &mut [0; 1000])),
                5 => drop(victim.stack.write(now, socket, &[b'z'; 100])),
                _ => {}
            }
            victim.drain();
            if let Some(wait) = said.wait {
                victim.wait(Span::from_micros(wait));
            }
        }
        // Everybody is silent, and the application lets go: nothing stays.
        let (now, socket) = (victim.now, victim.socket);
        victim.stack.close(now, socket);
        victim.drain();
        victim.wait(Span::from_secs(1000));
        prop_assert_eq!(victim.stack.connections(), 0);
        prop_assert_eq!(victim.stack.next_deadline(), Time::NEVER);
    }

    /// Strangers that send any bytes, or damaged packets, to a host with a listener, connections
    /// and little room.
    #[test]
    fn anybody_may_send_anything(
        packets in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..120), 0..8u8, any::<u16>(), any::<u16>()), 0..100),
    ) {
        let mut stack = Stack::new(StackConfig { half_open: 4, ..host_config(1, true) });
        stack.listen(SocketAddr::new(v4(1), 80), TcpConfig::default(), 2).unwrap();
        let mut now = Time(1000 * MS);
        for (bytes, kind, bit, port) in packets {
            let packet = match kind {
                0 => bytes,
                1..=4 => ip_packet(v4(0), v4(1), [6, 1, 6, 1][usize::from(kind) - 1], &bytes),
                _ => {
                    let control = if kind == 5 { Control::SYN } else { Control(bytes.first().copied().unwrap_or(2)) };
                    let seq = u32::from(bit) << 16;
                    let mut packet = tcp_packet(v4(0), v4(1), &header(port % 16, 80, control, seq, 7), &bytes);
                    if kind == 7 {
                        let at = usize::from(bit) % (packet.len() * 8);
                        packet[at / 8] ^= 1 << (at % 8);
                    }
                    packet
                }
            };
            // Half as where others share its address: what it does not take, it does not answer.
            let trusted = bit % 2 == 0;
            let taken = port & 16 > 0 && stack.offer(now, &packet, trusted);
            if !taken {
                prop_assert!(drain(&mut stack, now).is_empty());
                stack.on_packet(now, &packet, trusted);
            }
            for answer in drain(&mut stack, now) {
                prop_assert!(answer.len() <= 1500);
            }
            while stack.poll_ready().is_some() {}
            now = Time(now.0 + u64::from(bit) * 1000);
            stack.on_deadline(now);
            drain(&mut stack, now);
        }
        prop_assert!(stack.connections() <= 6);
    }
}
