//! Packets that come at once are answered in fewer packets, with offload.

use ackclock_stack::{SocketId, Stack, TcpConfig};
use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{Registry, Seq, Span, Time, Timestamps};

use crate::rig::{cut, header, host_config, parse, tcp_packet, v4};

const MSS: usize = 1448;

/// A sender with a full window on its way; what it sent, and where its stream begins.
pub fn sender(offload: bool) -> (Stack, SocketId, Vec<Vec<u8>>, Seq, Time) {
    let now = Time(1_000_000_000);
    let mut stack = Stack::new(host_config(0, offload));
    let strategy = Registry::default().parse("sack").unwrap();
    let config = TcpConfig { strategy, ..TcpConfig::default() };
    let id = stack.connect(now, (v4(1), 80).into(), config).unwrap();
    let syn = parse(&cut(&stack.poll_transmit(now).unwrap())[0]).0;
    let options = Options {
        mss: Some(1460),
        wscale: Some(7),
        sack_permitted: true,
        timestamps: syn.options.timestamps.map(|ts| Timestamps { val: 1, ecr: ts.val }),
        ..Options::default()
    };
    let control = Control::SYN.with(Control::ACK);
    let answer = header(80, syn.src_port, control, 700, syn.seq.0.wrapping_add(1));
    let now = now + Span::from_millis(10);
    stack.on_packet(now, &tcp_packet(v4(1), v4(0), &Repr { options, ..answer }, &[]), false);
    assert!(stack.poll_transmit(now).is_some_and(|packet| packet.payload[0].is_empty()));
    assert_eq!(stack.write(now, id, &vec![7; 1_000_000]), Ok(1_000_000));
    let mut sent = Vec::new();
    while let Some(packet) = stack.poll_transmit(now) {
        sent.extend(cut(&packet));
    }
    assert_eq!(sent.len(), 10);
    (stack, id, sent, syn.seq + 1, now + Span::from_millis(10))
}

/// The ACK of so many segments, which the peer says at `val`.
fn ack(sent: &[Vec<u8>], isn: Seq, segments: usize, val: u32) -> Vec<u8> {
    let (ours, _) = parse(&sent[0]);
    let ecr = ours.options.timestamps.unwrap().val;
    let options = Options { timestamps: Some(Timestamps { val, ecr }), ..Options::default() };
    let to = (isn + (segments * MSS) as u32).0;
    let ack = header(80, ours.src_port, Control::ACK, 701, to);
    tcp_packet(v4(1), v4(0), &Repr { options, wnd: 60_000, ..ack }, &[])
}

/// In slow start each ACK of two segments releases three. All that four of them release leaves in
/// one packet, and says what the last of them has changed.
#[test]
fn what_several_acks_release_leaves_in_one_packet() {
    let (mut stack, _, sent, isn, now) = sender(true);
    for n in 1..=4 {
        stack.on_packet(now, &ack(&sent, isn, 2 * n, n as u32 + 1), false);
        assert!(stack.poll_transmit_full(now).is_none());
    }
    let packet = stack.poll_transmit(now).unwrap();
    assert_eq!(usize::from(packet.segment), MSS);
    let segments = cut(&packet);
    assert_eq!(segments.len(), 12);
    for (n, segment) in segments.iter().enumerate() {
        let (header, payload) = parse(segment);
        assert_eq!((header.seq, payload.len()), (isn + ((10 + n) * MSS) as u32, MSS));
        assert_eq!(header.options.timestamps.unwrap().ecr, 5);
    }
    assert!(stack.poll_transmit(now).is_none());
}

/// A packet holds 64 KiB: what is full leaves at once.
#[test]
fn what_is_full_leaves_at_once() {
    let (mut stack, _, sent, isn, now) = sender(true);
    let mut packets = Vec::new();
    for acked in (2..).step_by(2).take_while(|acked| *acked <= 120) {
        stack.on_packet(now, &ack(&sent, isn, acked, 2), false);
        while let Some(packet) = stack.poll_transmit_full(now) {
            packets.push(cut(&packet).len());
        }
    }
    // 45 segments and their headers have 65,212 bytes, 46 would have 66,660.
    assert_eq!(packets, [45, 45]);
}

/// Without offload each segment is a packet, and none waits.
#[test]
fn without_offload_nothing_waits() {
    let (mut stack, _, sent, isn, now) = sender(false);
    stack.on_packet(now, &ack(&sent, isn, 2, 2), false);
    let sent = std::iter::from_fn(|| stack.poll_transmit_full(now).map(|_| ())).count();
    assert_eq!(sent, 3);
    assert!(stack.poll_transmit(now).is_none());
}

/// What a socket has gathered is gone with it: a reset came, and the reset of ours is no answer to
/// it.
#[test]
fn what_was_gathered_goes_with_its_socket() {
    let (mut stack, id, sent, isn, now) = sender(true);
    stack.on_packet(now, &ack(&sent, isn, 2, 2), false);
    assert!(stack.poll_transmit_full(now).is_none());
    let port = parse(&sent[0]).0.src_port;
    let reset = header(80, port, Control::RST, 701, 0);
    stack.on_packet(now, &tcp_packet(v4(1), v4(0), &reset, &[]), false);
    assert!(stack.poll_transmit_full(now).is_none());
    stack.close(now, id);
    while stack.poll_transmit(now).is_some() {}
    assert_eq!(stack.connections(), 0);

    // Our own reset comes behind it.
    let (mut stack, id, sent, isn, now) = sender(true);
    stack.on_packet(now, &ack(&sent, isn, 2, 2), false);
    assert!(stack.poll_transmit_full(now).is_none());
    stack.abort(now, id);
    let mut left = Vec::new();
    while let Some(packet) = stack.poll_transmit(now) {
        left.extend(cut(&packet).iter().map(|packet| parse(packet).0.control));
    }
    assert_eq!(left.len(), 4);
    assert!(left[3].contains(Control::RST), "{left:?}");
}
