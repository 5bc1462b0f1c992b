//! Bytes as operations: on two honest endpoints over a hostile network, with all that the property
//! tests check; or as lies told to a sender and a receiver, which must neither panic nor send
//! without end.
#![no_main]

// The property tests use the rest of it.
#[allow(dead_code)]
#[path = "../../crates/ackclock-tcp/tests/all/rig/mod.rs"]
mod rig;

use ackclock_tcp::{
    DelayedAck, Flags, Receiver, ReceiverConfig, Registry, SackBlock, SackBlocks, Segment, Sender,
    SenderConfig, Seq, Span, Time, Timestamps,
};
use libfuzzer_sys::fuzz_target;
use rig::{Fate, Op, Pair, Setup, strategies};

fuzz_target!(|bytes: &[u8]| {
    let Some((head, ops)) = bytes.split_first_chunk::<10>() else { return };
    let names = strategies();
    let strategy = names[usize::from(head[1]) % names.len()].clone();
    if head[0] % 2 == 0 { honest(strategy, head, ops) } else { lies(&strategy, head, ops) }
});

fn honest(strategy: String, head: &[u8; 10], ops: &[u8]) {
    let setup = Setup {
        strategy,
        isn: u32::from_be_bytes([head[2], head[2], head[3], head[4]]),
        mss: [1, 7, 100, 536, 1000, 1460, 3, 50][usize::from(head[5] % 8)],
        initial_window: u32::from(head[6] % 10) + 1,
        buffer: u32::from(head[7] % 64) + 1,
        wscale: head[8] % 15,
        delayed_ack: u64::from(head[9] & 1) * 200,
        sack: head[9] & 2 == 0,
        timestamps: head[9] & 4 != 0,
        nagle: head[9] & 8 != 0,
        max_burst: (head[9] & 16 != 0).then_some(u32::from(head[6] / 10 % 5) + 1),
        auto_read: head[9] & 32 == 0,
    };
    let mut pair = Pair::new(&setup);
    for &[kind, a, b] in ops.as_chunks::<3>().0.iter().take(300) {
        let both = u16::from_be_bytes([a, b]);
        let fate = match b % 4 {
            0 => Fate::Drop(a),
            1 => Fate::Duplicate(a),
            _ => Fate::Deliver(a),
        };
        pair.apply(match kind % 9 {
            0 => Op::Write(both),
            1 => Op::Read(both),
            2 => Op::Data(fate),
            3 => Op::Ack(fate),
            4 => Op::Round { data_lost: both, acks_lost: 0 },
            5 => Op::Round { data_lost: 0, acks_lost: both },
            6 => Op::Wait(both % 5000),
            7 => Op::Deadline,
            _ => Op::Early,
        });
    }
    pair.finish();
}

fn lies(strategy: &str, head: &[u8; 10], ops: &[u8]) {
    let isn = Seq(u32::from_be_bytes([head[2], head[2], head[3], head[4]]));
    let mss = u32::from(head[5]);
    let timestamps = head[9] & 4 != 0;
    let sender = SenderConfig {
        isn,
        mss,
        initial_window: (head[6] % 32 > 0).then_some(u32::from(head[6] % 32)),
        initial_rwnd: u64::from(head[7]) * 100,
        wscale: head[8],
        timestamps,
        nagle: head[9] & 8 != 0,
        max_burst: (head[9] & 16 != 0).then_some(u32::from(head[6] / 32)),
        events: true,
        tick_phase: Span(u64::from(head[8]) << 22),
        ..SenderConfig::default()
    };
    let receiver = ReceiverConfig {
        isn,
        mss,
        delayed_ack: if head[9] & 1 == 0 {
            DelayedAck::Off
        } else {
            DelayedAck::After(Span(u64::from(head[8]) << 20))
        },
        timestamps,
        buffer: u64::from(head[7]) * 100,
        wscale: head[8],
        auto_read: head[9] & 32 == 0,
        ..ReceiverConfig::default()
    };
    let Ok(strategy) = Registry::default().parse(strategy) else { return };
    let (mut sender, mut receiver) =
        (Sender::new(sender, strategy.build()), Receiver::new(receiver));
    let mut now = Time::ZERO;
    for op in ops.as_chunks::<12>().0.iter().take(300) {
        let near =
            |base: u64, a: u8, b: u8| Seq(Seq::at(isn, base).0.wrapping_add_signed(spread(a, b)));
        let mut sack = SackBlocks::NONE;
        for block in op[5..11].chunks_exact(2).take(usize::from(op[1] % 4)) {
            let left = near(sender.acked(), block[0], op[11]);
            sack.push(SackBlock { left, right: left + u32::from(block[1]) * (mss / 2) });
        }
        let segment = Segment {
            seq: near(receiver.rcv_nxt(), op[2], op[11]),
            ack: near(sender.acked(), op[3], op[11]),
            len: u32::from(op[4]) * u32::from(op[11] % 16),
            wnd: u16::from_be_bytes([op[9], op[10]]),
            flags: Flags::new(op[1] & 4 != 0, op[1] & 8 != 0),
            ecn: Default::default(),
            timestamps: (op[1] & 16 == 0).then_some(Timestamps {
                val: u32::from(op[9]) << 24,
                ecr: u32::from(op[10]) << 20,
            }),
            sack,
        };
        match op[0] % 7 {
            0 => sender.write(now, u64::from(segment.wnd)),
            1 | 2 => sender.on_segment(now, &segment),
            3 => drop(receiver.on_segment(now, &segment)),
            4 => drop(receiver.read(now, u64::from(segment.wnd))),
            5 => now = now + Span(u64::from(segment.wnd) << (op[11] % 32)),
            _ => sender.close(now),
        }
        for _ in 0..2 {
            drain(&mut sender, &mut receiver, now);
            sender.on_deadline(now);
            receiver.on_deadline(now);
        }
        drain(&mut sender, &mut receiver, now);
    }
}

fn spread(a: u8, b: u8) -> i32 {
    if b == 255 { i32::from(a) << 24 } else { i32::from(a as i8) * i32::from(b % 64) }
}

fn drain(sender: &mut Sender, receiver: &mut Receiver, now: Time) {
    for sent in 0.. {
        assert!(sent < 100_000, "sends without end: {:?}", sender.state());
        if sender.poll_transmit(now).is_none() {
            break;
        }
    }
    while sender.poll_event().is_some() {}
    receiver.poll_transmit(now);
    assert_eq!(receiver.poll_transmit(now), None);
    let s = sender.state();
    assert!(s.snd_una <= s.snd_nxt && s.snd_nxt <= s.snd_max && s.snd_max <= s.written);
    assert_eq!(s.board.pipe(), s.board.recomputed_pipe());
}
