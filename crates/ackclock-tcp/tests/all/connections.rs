//! Two connections over a network that drops, duplicates, reorders and delays (see `duplex`): every
//! byte arrives exactly once, both ends close, and nobody sends beyond the window or the path. And
//! peers that send anything: no segment makes a connection panic, send without end, or send more
//! than it may.

use ackclock_tcp::connection::{Connection, TcpState};
use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{Registry, SackBlock, SackBlocks, Seq, Span, Time, Timestamps};
use proptest::prelude::*;

use crate::duplex::{Duplex, Op, Setup};
use crate::rig::{is_notified, strategies};

fn strategy() -> impl Strategy<Value = String> {
    let names: Vec<String> = strategies().into_iter().filter(|name| !is_notified(name)).collect();
    prop_oneof![1 => Just("linux".to_string()), 1 => Just("newreno".to_string()), 3 => proptest::sample::select(names)]
}

fn iss() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(1_000_000u32),
        (0..40_000u32).prop_map(u32::wrapping_neg),
        (0..40_000u32).prop_map(|n| 0x8000_0000 - n)
    ]
}

prop_compose! {
    fn setup()(
        strategy in strategy(),
        iss in iss(),
        mss in prop_oneof![Just(1460u16), Just(536), 48..200u16],
        buffer in prop_oneof![Just(65_535u32), Just(4_000), 1..3_000u32, Just(300_000)],
        wscale in prop_oneof![1 => Just(None), 3 => (0..=8u8).prop_map(Some)],
        sack in prop_oneof![3 => Just(true), 1 => Just(false)],
        timestamps in any::<bool>(),
        ecn in any::<bool>(),
        nagle in any::<bool>(),
        delayed_ack in any::<bool>(),
        initial_window in 1..=10u32,
    ) -> Setup {
        // A window in units larger than the buffer would stay closed for ever.
        let wscale = wscale.map(|shift: u8| shift.min((buffer / 2).max(1).ilog2() as u8));
        Setup { strategy, iss, mss, buffer, wscale, sack, timestamps, ecn, nagle, delayed_ack, initial_window }
    }
}

fn op() -> impl Strategy<Value = Op> {
    let lost =
        prop_oneof![3 => Just(0u16), 3 => (0..16u32).prop_map(|bit| 1 << bit), 1 => any::<u16>()];
    prop_oneof![
        3 => (0..2u8, any::<u16>()).prop_map(|(side, bytes)| Op::Write { side, bytes }),
        1 => (0..2u8, 0..100u16).prop_map(|(side, bytes)| Op::Write { side, bytes }),
        3 => (0..2u8, any::<u16>()).prop_map(|(side, bytes)| Op::Read { side, bytes }),
        1 => (0..2u8).prop_map(|side| Op::Shutdown { side }),
        8 => (0..2u8, 0..3u8).prop_map(|(side, index)| Op::Deliver { side, index, twice: false }),
        2 => (0..2u8, any::<u8>()).prop_map(|(side, index)| Op::Deliver { side, index, twice: true }),
        2 => (0..2u8, any::<u8>()).prop_map(|(side, index)| Op::Drop { side, index }),
        2 => (0..2u8, any::<u8>()).prop_map(|(side, index)| Op::Mark { side, index }),
        8 => lost.prop_map(|lost| Op::Round { lost }),
        2 => (0..3000u16).prop_map(Op::Wait),
        2 => Just(Op::Deadline),
        1 => Just(Op::Early),
    ]
}

fn holds(setups: [Setup; 2], simultaneous: bool, ops: &[Op]) {
    let mut duplex = Duplex::new(setups, simultaneous);
    duplex.run(ops);
    duplex.finish();
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 5_000,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn everything_arrives_once_and_both_ends_close(
        a in setup(),
        b in setup(),
        simultaneous in prop_oneof![3 => Just(false), 1 => Just(true)],
        ops in proptest::collection::vec(op(), 1..80),
    ) {
        holds([a, b], simultaneous, &ops);
    }
}

// Failures that the property above found, shrunk.

/// The SYN/ACK that ends a simultaneous open was taken for a segment with a scaled window.
#[test]
fn a_simultaneous_open_keeps_to_the_window_of_the_syn_ack() {
    let a = Setup {
        buffer: 4000,
        wscale: Some(1),
        mss: 1460,
        initial_window: 1,
        ..Setup::plain("linux")
    };
    let b = Setup { buffer: 65_535, wscale: Some(0), ..a.clone() };
    holds([a, b], true, &[Op::Write { side: 1, bytes: 4000 }, Op::Round { lost: 0 }]);
}

/// A header-only segment beyond all that its sender ever sent set SND.WL1, so that no later window
/// was taken.
#[test]
fn a_header_only_segment_does_not_close_the_window() {
    let a = Setup {
        wscale: None,
        timestamps: false,
        nagle: false,
        delayed_ack: false,
        initial_window: 1,
        ..Setup::plain("linux")
    };
    let b = Setup {
        strategy: "net-reno+marks-ts+header-only".into(),
        buffer: 1,
        initial_window: 7,
        ..a.clone()
    };
    let deliver = |side| Op::Deliver { side, index: 0, twice: false };
    let write = |side, bytes| Op::Write { side, bytes };
    let ops = [
        deliver(1),
        deliver(0),
        deliver(1),
        write(1, 10_221),
        write(0, 1),
        Op::Round { lost: 2 },
        Op::Round { lost: 0 },
        write(0, 0),
    ];
    holds([a, b], false, &ops);
}

/// A forged segment, near what the connection takes for right.
#[derive(Clone, Debug)]
struct Forged {
    control: u8,
    seq: i32,
    ack: i32,
    len: u32,
    wnd: u16,
    timestamps: Option<(i32, u32)>,
    blocks: Vec<(i32, u32)>,
    syn: (Option<u16>, Option<u8>, bool),
}

fn near() -> impl Strategy<Value = i32> {
    prop_oneof![4 => Just(0), 4 => -2..3i32, 3 => -3000..3000i32, 1 => -70_000..70_000i32, 1 => any::<i32>()]
}

prop_compose! {
    fn forged()(
        // Mostly ACKs.
        control in prop_oneof![5 => Just(0x10u8), 2 => Just(0x11), 1 => Just(0x12), 1 => Just(0x02), 2 => any::<u8>()],
        seq in near(),
        ack in near(),
        len in prop_oneof![3 => Just(0u32), 3 => 0..2000u32, 1 => any::<u32>()],
        wnd in prop_oneof![3 => any::<u16>(), 1 => Just(0), 1 => 0..2000u16],
        timestamps in prop_oneof![1 => Just(None), 3 => (near(), any::<u32>()).prop_map(Some)],
        blocks in proptest::collection::vec((near(), prop_oneof![0..3000u32, any::<u32>()]), 0..5),
        syn in (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>()),
    ) -> Forged {
        Forged { control, seq, ack, len, wnd, timestamps, blocks, syn }
    }
}

#[derive(Clone, Debug)]
enum Hostile {
    Segment(Forged),
    Write(u16),
    Read(u16),
    Shutdown,
    Close,
    Abort,
    Wait(u32),
    Deadline,
    PathMss(i32, u16),
    Unreachable(i32, bool),
}

fn hostile() -> impl Strategy<Value = Hostile> {
    prop_oneof![
        20 => forged().prop_map(Hostile::Segment),
        3 => any::<u16>().prop_map(Hostile::Write),
        3 => any::<u16>().prop_map(Hostile::Read),
        1 => Just(Hostile::Shutdown),
        1 => Just(Hostile::Close),
        1 => prop_oneof![9 => Just(Hostile::Deadline), 1 => Just(Hostile::Abort)],
        2 => prop_oneof![0..5000u32, any::<u32>()].prop_map(Hostile::Wait),
        3 => Just(Hostile::Deadline),
        1 => (near(), any::<u16>()).prop_map(|(seq, mss)| Hostile::PathMss(seq, mss)),
        1 => (near(), any::<bool>()).prop_map(|(seq, hard)| Hostile::Unreachable(seq, hard)),
    ]
}

/// The victim, and what its peer is told of it.
struct Victim {
    c: Connection,
    setup: Setup,
    now: Time,
    /// RCV.NXT as our segments say.
    rcv_nxt: Seq,
    /// The furthest edge of the peer's window.
    edge: u64,
}

impl Victim {
    fn header(&self, forged: &Forged) -> Repr {
        let una = Seq::at(Seq(self.setup.iss) + 1, self.c.acked());
        let near = |seq: Seq, offset: i32| Seq(seq.0.wrapping_add_signed(offset));
        let mut sack = SackBlocks::NONE;
        for &(left, len) in &forged.blocks {
            let left = near(una, left);
            sack.push(SackBlock { left, right: left + len });
        }
        let (mss, wscale, sack_permitted) = forged.syn;
        let stamp = |(val, ecr): (i32, u32)| Timestamps {
            val: self.now.timestamp().wrapping_add_signed(val),
            ecr,
        };
        Repr {
            seq: near(self.rcv_nxt, forged.seq),
            ack: near(una, forged.ack),
            control: Control(forged.control),
            wnd: forged.wnd,
            options: Options {
                mss,
                wscale: wscale.map(|shift| shift.min(14)),
                sack_permitted,
                timestamps: forged.timestamps.map(stamp),
                sack,
            },
            ..Repr::default()
        }
    }

    fn apply(&mut self, op: &Hostile) {
        let now = self.now;
        let una = Seq::at(Seq(self.setup.iss) + 1, self.c.acked());
        let near = |offset: i32| Seq(una.0.wrapping_add_signed(offset));
        match op {
            Hostile::Segment(forged) => {
                let header = self.header(forged);
                let (before, limit) = (self.c.written() > self.c.acked(), self.c.read_position());
                let place = self.c.on_segment(now, &header, forged.len);
                if let Some(place) = place {
                    assert!(
                        u64::from(place.offset) + u64::from(place.len) <= u64::from(forged.len)
                    );
                    assert!(
                        place.position + u64::from(place.len)
                            <= limit + u64::from(self.setup.buffer)
                    );
                }
                let sent = self.drain();
                assert!(
                    before || sent <= 2,
                    "{sent} segments in answer to one, with nothing to send"
                );
            }
            &Hostile::Write(bytes) => self.c.write(now, u64::from(bytes)),
            &Hostile::Read(bytes) => self.c.read(now, u64::from(bytes)),
            Hostile::Shutdown => self.c.shutdown(now),
            Hostile::Close => self.c.close(now),
            Hostile::Abort => self.c.abort(now),
            &Hostile::Wait(ms) => {
                self.now += Span::from_millis(u64::from(ms));
                self.c.on_deadline(self.now);
            }
            Hostile::Deadline => {
                let next = self.c.next_deadline();
                if next != Time::NEVER {
                    self.now = self.now.max(next);
                    self.c.on_deadline(self.now);
                }
            }
            &Hostile::PathMss(seq, mss) => self.c.on_path_mss(now, near(seq), mss),
            &Hostile::Unreachable(seq, hard) => self.c.on_unreachable(now, near(seq), hard),
        }
        self.drain();
    }

    fn drain(&mut self) -> u32 {
        let mut segments = 0;
        self.edge = self.edge.max(self.c.sender().state().window_edge);
        while let Some(o) = self.c.poll_transmit(self.now) {
            segments += 1;
            assert!(segments < 100_000, "sends without end");
            let fin = u64::from(o.header.control.contains(Control::FIN));
            if o.len > 0 || fin > 0 {
                let after = o.position + u64::from(o.len);
                assert!(
                    after <= self.c.written() && after + fin <= self.edge,
                    "{after} beyond {}",
                    self.edge
                );
            }
            assert!(o.header.header_len() <= 60);
            if o.header.control.contains(Control::ACK) {
                self.rcv_nxt = o.header.ack;
            }
        }
        let c = &self.c;
        assert!(c.acked() <= c.written() && c.readable() <= u64::from(self.setup.buffer));
        assert!(c.state() != TcpState::Closed || c.next_deadline() == Time::NEVER);
        assert_eq!(c.sender().state().board.pipe(), c.sender().state().board.recomputed_pipe());
        segments
    }
}

/// How the victim began.
#[derive(Clone, Copy, Debug)]
enum Start {
    Connect,
    Accept,
    Established,
}

fn survives(setup: Setup, start: Start, syn: &Forged, ops: &[Hostile]) {
    let now = Time(1_000_000_000);
    let mut victim = Victim {
        c: setup.connect(now),
        setup: setup.clone(),
        now,
        rcv_nxt: Seq(u32::MAX - 5),
        edge: 0,
    };
    let header = victim.header(syn);
    let strategy = Registry::default().parse(&setup.strategy).expect("a composition").build();
    match start {
        Start::Connect => {}
        Start::Accept => victim.c = Connection::accept(now, setup.config(), strategy, &header),
        Start::Established => {
            victim.rcv_nxt = header.seq + 1;
            let ack = Repr { control: Control::ACK, ..victim.header(syn) };
            victim.c = Connection::established(
                now,
                setup.config(),
                strategy,
                header.seq,
                &header.options,
                &ack,
            );
        }
    }
    victim.drain();
    for op in ops {
        victim.apply(op);
    }
}

proptest! {
    #![proptest_config(config(5_000))]

    #[test]
    fn no_segment_panics_or_makes_it_send_more_than_it_may(
        setup in setup(),
        start in prop_oneof![Just(Start::Connect), Just(Start::Accept), Just(Start::Established)],
        syn in forged(),
        ops in proptest::collection::vec(hostile(), 1..100),
    ) {
        survives(setup, start, &syn, &ops);
    }
}

/// A window of 9 bytes is one of 8, once it is scaled. ACKs that stood at its edge, behind what had
/// been received, were dropped for ever.
#[test]
fn a_scale_takes_no_window_back() {
    let a =
        Setup { buffer: 9, wscale: Some(1), mss: 1460, initial_window: 2, ..Setup::plain("linux") };
    let b = Setup { buffer: 954, wscale: Some(2), initial_window: 1, ..a.clone() };
    let writes = [(1, 9), (0, 0), (0, 953)].map(|(side, bytes)| Op::Write { side, bytes });
    let marks = [0, 0].map(|index| Op::Mark { side: 0, index });
    let ops: Vec<Op> = writes.into_iter().chain(marks).collect();
    holds([a, b], true, &ops);
}
