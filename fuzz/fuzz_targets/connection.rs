//! Bytes as operations on two whole connections over a hostile network, with all that the property
//! tests check; or as segments that a peer makes up, which must neither make a connection panic nor
//! send more than it may.
#![no_main]

#[path = "../../crates/ackclock-tcp/tests/all/duplex/mod.rs"]
mod duplex;

use ackclock_tcp::connection::Connection;
use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{SackBlock, SackBlocks, Seq, Span, Time, Timestamps};
use duplex::{Duplex, Op, Setup};
use libfuzzer_sys::fuzz_target;

const STRATEGIES: [&str; 8] =
    ["linux", "newreno", "sack", "rack-tlp", "net-reno", "prr", "fack", "newreno+eifel+f-rto"];

fuzz_target!(|bytes: &[u8]| {
    let Some((head, ops)) = bytes.split_first_chunk::<20>() else { return };
    let (a, rest) = head.split_at(10);
    let (a, b) = (setup(a), setup(rest));
    if head[9] % 2 == 0 { honest([a, b], head[19] % 2 == 0, ops) } else { forged(&a, ops) }
});

fn setup(head: &[u8]) -> Setup {
    let buffer = u32::from(u16::from_be_bytes([head[4], head[5]])) + 1;
    let most = (buffer / 2).max(1).ilog2() as u8;
    Setup {
        iss: u32::from_be_bytes([head[1], head[1], head[2], head[3]]),
        mss: [28, 50, 100, 536, 1000, 1460, 33, 9000][usize::from(head[6] % 8)],
        buffer,
        wscale: (head[7] % 4 > 0).then_some((head[7] / 4 % 15).min(most)),
        sack: head[8] & 1 == 0,
        timestamps: head[8] & 2 != 0,
        nagle: head[8] & 4 != 0,
        delayed_ack: head[8] & 8 != 0,
        initial_window: u32::from(head[8] >> 4) % 10 + 1,
        ..Setup::plain(STRATEGIES[usize::from(head[0] % 8)])
    }
}

fn honest(setups: [Setup; 2], simultaneous: bool, ops: &[u8]) {
    let ops = ops.as_chunks::<3>().0.iter().take(300).map(|&[kind, a, b]| {
        let (side, both) = (kind >> 7, u16::from_be_bytes([a, b]));
        match kind % 11 {
            0 => Op::Write { side, bytes: both },
            1 => Op::Read { side, bytes: both },
            2 if a % 8 == 0 => Op::Shutdown { side },
            2 | 3 => Op::Deliver { side, index: a, twice: b % 8 == 0 },
            4 => Op::Drop { side, index: a },
            5 | 6 => Op::Round { lost: both },
            7 => Op::Round { lost: 0 },
            8 => Op::Wait(both % 5000),
            9 => Op::Deadline,
            _ => Op::Early,
        }
    });
    let mut duplex = Duplex::new(setups, simultaneous);
    duplex.run(&ops.collect::<Vec<_>>());
    duplex.finish();
}

fn forged(setup: &Setup, ops: &[u8]) {
    let mut now = Time(1);
    let mut c = setup.connect(now);
    let mut rcv_nxt = Seq(0);
    let mut edge = 0;
    for op in ops.as_chunks::<16>().0.iter().take(300) {
        let una = Seq::at(Seq(setup.iss) + 1, c.acked());
        let near = |base: Seq, a: u8, b: u8| Seq(base.0.wrapping_add_signed(spread(a, b)));
        let both = u16::from_be_bytes([op[1], op[2]]);
        let mut sack = SackBlocks::NONE;
        for block in op[12..].chunks_exact(2).take(usize::from(op[3] % 3)) {
            let left = near(una, block[0], op[11]);
            sack.push(SackBlock { left, right: left + u32::from(block[1]) * 20 });
        }
        let header = Repr {
            seq: near(rcv_nxt, op[4], op[5]),
            ack: near(una, op[6], op[7]),
            control: Control(if op[3] & 4 == 0 { 0x10 } else { op[8] }),
            wnd: u16::from_be_bytes([op[9], op[10]]),
            options: Options {
                mss: (op[3] & 8 == 0).then_some(both),
                wscale: (op[3] & 16 == 0).then_some(op[12] % 15),
                sack_permitted: op[3] & 32 == 0,
                timestamps: (op[3] & 64 == 0)
                    .then_some(Timestamps { val: u32::from(op[14]), ecr: u32::from(op[15]) }),
                sack,
            },
            ..Repr::default()
        };
        match op[0] % 16 {
            0 => c.write(now, u64::from(both)),
            1 => c.read(now, u64::from(both)),
            2 if op[1] % 16 == 0 => c.shutdown(now),
            2 if op[1] % 16 == 1 => c.close(now),
            2 if op[1] % 16 == 2 => c.abort(now),
            2 => c.on_path_mss(now, near(una, op[6], op[7]), both),
            3 => c.on_unreachable(now, near(una, op[6], op[7]), op[1] % 2 == 0),
            4 | 5 => now += Span(u64::from(both) << (op[3] % 32)),
            _ => {
                if let Some(place) = c.on_segment(now, &header, u32::from(both)) {
                    assert!(place.offset + place.len <= u32::from(both));
                    assert!(
                        place.position + u64::from(place.len)
                            <= c.read_position() + u64::from(setup.buffer)
                    );
                }
            }
        }
        for _ in 0..2 {
            edge = edge.max(c.sender().state().window_edge);
            drain(&mut c, now, &mut rcv_nxt, edge);
            c.on_deadline(now);
        }
        drain(&mut c, now, &mut rcv_nxt, edge);
    }
}

fn spread(a: u8, b: u8) -> i32 {
    if b == 255 { i32::from(a) << 24 } else { i32::from(a as i8) * i32::from(b % 64) }
}

fn drain(c: &mut Connection, now: Time, rcv_nxt: &mut Seq, edge: u64) {
    for sent in 0.. {
        assert!(sent < 100_000, "sends without end");
        let Some(o) = c.poll_transmit(now) else { break };
        let fin = u64::from(o.header.control.contains(Control::FIN));
        assert!(
            o.len == 0
                || o.position + u64::from(o.len) + fin <= edge.max(c.sender().state().window_edge)
        );
        if o.header.control.contains(Control::ACK) {
            *rcv_nxt = o.header.ack;
        }
    }
    assert!(c.acked() <= c.written());
    let board = &c.sender().state().board;
    assert_eq!(board.pipe(), board.recomputed_pipe());
}
