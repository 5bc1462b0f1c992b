//! The clock of a driver begins where it likes: nothing depends on that, and nothing overflows near
//! its end.

use ackclock_tcp::connection::{Connection, ConnectionConfig, KeepAlive};
use ackclock_tcp::recovery::detect::{Notice, Transmission};
use ackclock_tcp::{
    Codepoint, DelayedAck, Ecn, Receiver, ReceiverConfig, Registry, SackBlock, SackBlocks, Segment,
    Sender, SenderConfig, Seq, Span, Time, Timestamps, Transmit,
};
use proptest::{collection::vec, option, prelude::*, sample::select};

use crate::pair::{op, setup};
use crate::rig::{Op, Pair, Setup};

/// What is sent, and how long after the origin, but for timestamps.
fn sent(setup: &Setup, ops: &[Op], origin: Time) -> Vec<(Span, Transmit)> {
    let mut pair = Pair::new(setup);
    pair.begin(origin);
    pair.run(ops);
    pair.finish();
    let plain = |(at, mut transmit): (Time, Transmit)| {
        transmit.segment.timestamps = None;
        (at.since(origin), transmit)
    };
    pair.sent.into_iter().map(plain).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    })]

    /// Timestamps of the upper half, and such as wrap. The origins are multiples of 500 ms, the
    /// coarsest tick of a timer. The first one leaves room for a round trip, which Linux takes for
    /// one of a millisecond at least. BBR takes a hash of the time for a random number.
    #[test]
    fn the_origin_changes_nothing(
        setup in setup(Just(1_000_000)).prop_filter("BBR", |s| !s.strategy.contains("bbr")),
        ops in vec(op(), 1..120),
    ) {
        let from = |ms| sent(&setup, &ops, Time::ZERO + Span::from_millis(ms));
        let first = from(1000);
        for ms in [3_000_000_000, (1 << 32) - 1296] {
            prop_assert_eq!(&first, &from(ms), "{} ms", ms);
        }
    }
}

/// What comes above the first segment, which is lost, has the timestamp of the handshake echoed.
/// Once 0 was, which is a time in the future from 2^31 ms on.
#[test]
fn an_echo_of_the_handshake_is_old() {
    for preset in Registry::default().presets().iter().filter(|p| !p.name.contains("bbr")) {
        let setup = Setup { timestamps: true, ..Setup::plain(&preset.name) };
        for data_lost in (1..64).step_by(2) {
            let first = Op::Round { data_lost, acks_lost: 0 };
            let ops = [Op::Write(4_000), first, Op::Round { data_lost: 0, acks_lost: 0 }];
            let from = |ms| sent(&setup, &ops, Time::ZERO + Span::from_millis(ms));
            assert_eq!(from(1000), from(3_000_000_000), "{} {data_lost:b}", preset.name);
        }
    }
}

/// A time or span: small, large, or near the end.
fn nanos() -> impl Strategy<Value = u64> {
    prop_oneof![
        (0..10_000u64).prop_map(|ms| ms * 1_000_000),
        (0..64u32).prop_map(|bit| 1 << bit),
        any::<u64>(),
        (0..10_000u64).prop_map(|ms| u64::MAX - ms * 1_000_000),
        Just(u64::MAX),
    ]
}

fn span() -> impl Strategy<Value = Span> {
    nanos().prop_map(Span)
}

/// What a sender or a receiver with extreme times is given.
#[derive(Clone, Debug)]
enum Input {
    /// So many segments more are acknowledged, and those above the first one by bits SACKed.
    Ack {
        segments: u64,
        sacked: u8,
        echo: Option<u32>,
        ece: bool,
    },
    /// The clock goes on by so much, or to so much.
    Wait(u64),
    At(u64),
    Deadline,
    Write(u16),
    Notice(u8),
}

fn input() -> impl Strategy<Value = Input> {
    let echo = option::of(any::<u32>());
    let ack = (prop_oneof![3 => Just(0), 2 => 0..4u64], any::<u8>(), echo, any::<bool>());
    prop_oneof![
        8 => ack.prop_map(|(segments, sacked, echo, ece)| Input::Ack { segments, sacked, echo, ece }),
        3 => nanos().prop_map(Input::Wait),
        1 => nanos().prop_map(Input::At),
        3 => Just(Input::Deadline),
        1 => any::<u16>().prop_map(Input::Write),
        1 => any::<u8>().prop_map(Input::Notice),
    ]
}

prop_compose! {
    fn sender_config()(
        (tick_phase, rtt, end) in (span(), option::of(span()), span()),
        initial in option::of(span()),
        (min_rto, max_rto) in (option::of(span()), option::of(span())),
        (sack, timestamps, ecn, idle_restart) in any::<(bool, bool, bool, bool)>(),
        (mss, initial_window) in (prop_oneof![Just(1000), 1..9000u32], option::of(1..20u32)),
    ) -> SenderConfig {
        SenderConfig {
            tick_phase,
            handshake_rtt: rtt,
            handshake_end: Time::ZERO + end,
            initial_rto: initial,
            min_rto,
            max_rto,
            sack,
            timestamps,
            ecn,
            idle_restart,
            mss,
            initial_window,
            events: true,
            ..SenderConfig::default()
        }
    }
}

/// Each mechanism beside those of one preset, and each preset.
fn names() -> impl Strategy<Value = String> {
    let registry = Registry::default();
    let presets: Vec<String> = registry.presets().iter().map(|p| p.name.to_string()).collect();
    let mechanisms: Vec<String> =
        registry.mechanisms().iter().map(|m| m.name.to_string()).collect();
    let beside = (select(presets.clone()), select(mechanisms));
    prop_oneof![select(presets), beside.prop_map(|(preset, beside)| format!("{preset}+{beside}"))]
}

fn endures(name: &str, config: SenderConfig, inputs: &[Input]) {
    let strategy = Registry::default().parse(name).expect("a composition").build();
    let (mss, isn) = (u64::from(config.mss), config.isn);
    let mut sender = Sender::new(config, strategy);
    let mut now = Time::ZERO;
    sender.write(now, 20 * mss);
    for input in inputs {
        match *input {
            Input::Ack { segments, sacked, echo, ece } => {
                let una = sender.acked() + segments * mss;
                let at = |k: u64| Seq::at(isn, una + k * mss);
                let mut sack = SackBlocks::NONE;
                for k in (0..8).filter(|k| sacked >> k & 1 == 1) {
                    sack.push(SackBlock { left: at(k + 1), right: at(k + 2) });
                }
                let timestamps = echo.map(|ecr| Timestamps { val: 0, ecr });
                let ecn = Ecn::new(Codepoint::NotEct, ece, false);
                let ack =
                    Segment { ack: at(0), wnd: 5000, sack, timestamps, ecn, ..Segment::default() };
                sender.on_segment(now, &ack);
            }
            Input::Wait(nanos) => now += Span(nanos),
            Input::At(nanos) => now = now.max(Time(nanos)),
            Input::Deadline => {
                if sender.next_deadline() != Time::NEVER {
                    now = now.max(sender.next_deadline());
                }
                sender.on_deadline(now);
            }
            Input::Write(bytes) => sender.write(now, bytes.into()),
            Input::Notice(segment) => {
                let seq = sender.acked() + u64::from(segment % 8) * mss;
                let lost = Transmission { seq, number: u32::from(segment / 128) + 1 };
                sender.on_notice(now, Notice { lost, at_once: segment & 64 == 0 });
            }
        }
        for sent in 0.. {
            assert!(sent < 10_000, "{name}: sends without end");
            if sender.poll_transmit(now).is_none() {
                break;
            }
        }
        while sender.poll_event().is_some() {}
    }
}

prop_compose! {
    fn connection_config()(
        sender in sender_config(),
        (idle, interval, count) in (span(), span(), 0..4u32),
        (user_timeout, time_wait, fin_wait_2) in (option::of(span()), span(), span()),
        (keeps_alive, timestamps) in any::<(bool, bool)>(),
    ) -> ConnectionConfig {
        ConnectionConfig {
            sender,
            timestamps,
            keep_alive: keeps_alive.then_some(KeepAlive { idle, interval, count }),
            user_timeout,
            time_wait,
            fin_wait_2,
            ..ConnectionConfig::default()
        }
    }
}

/// All that `from` has to send arrives, or is lost.
fn exchange(from: &mut Connection, to: &mut Connection, now: Time, arrives: bool) {
    for sent in 0.. {
        assert!(sent < 10_000, "sends without end");
        let Some(out) = from.poll_transmit(now) else { break };
        if arrives {
            to.on_segment(now, &out.header, out.len);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn extreme_times_overflow_nothing_in_a_connection(
        configs in [connection_config(), connection_config()],
        begins in nanos(),
        steps in vec((option::of(nanos()), any::<[bool; 2]>(), 0..8u8), 1..30),
    ) {
        let mut now = Time(begins);
        let strategy = || Registry::default().parse("linux").unwrap().build();
        let [ours, theirs] = configs;
        let mut a = Connection::connect(now, ours, strategy());
        let syn = a.poll_transmit(now).unwrap().header;
        let mut b = Connection::accept(now, theirs, strategy(), &syn);
        for (wait, [there, back], what) in steps {
            match wait {
                Some(nanos) => now += Span(nanos),
                None => now = now.max(a.next_deadline().min(b.next_deadline())),
            }
            match what {
                0..3 => a.write(now, 5_000),
                3 => a.shutdown(now),
                4 => b.close(now),
                _ => {}
            }
            exchange(&mut b, &mut a, now, back);
            exchange(&mut a, &mut b, now, there);
            a.on_deadline(now);
            b.on_deadline(now);
        }
    }

    #[test]
    fn extreme_times_overflow_nothing_in_a_sender(
        name in names(),
        config in sender_config(),
        inputs in vec(input(), 1..40),
    ) {
        endures(&name, config, &inputs);
    }

    #[test]
    fn extreme_times_overflow_nothing_in_a_receiver(
        delay in span(),
        which in 0..5u8,
        mss in 1..9000u32,
        inputs in vec((nanos(), 0..8u64, any::<bool>()), 1..40),
    ) {
        let delayed_ack = match which {
            0 => DelayedAck::Off,
            1 => DelayedAck::After(delay),
            2 => DelayedAck::FastTimer(delay),
            3 => DelayedAck::Linux(delay),
            _ => DelayedAck::Ns2(delay),
        };
        let config = ReceiverConfig { mss, delayed_ack, timestamps: true, ..Default::default() };
        let mut receiver = Receiver::new(config);
        let mut now = Time::ZERO;
        for (nanos, segment, waits) in inputs {
            now += Span(if waits { nanos } else { 0 });
            let seq = Seq::at(Seq(0), receiver.rcv_nxt() + segment / 3 * u64::from(mss));
            let timestamps = Some(Timestamps { val: nanos as u32, ecr: 0 });
            let data = Segment { seq, len: mss, timestamps, ..Segment::default() };
            receiver.on_segment(now, &data);
            while receiver.poll_transmit(now).is_some() {}
            if waits && receiver.next_deadline() != Time::NEVER {
                now = now.max(receiver.next_deadline());
                receiver.on_deadline(now);
                while receiver.poll_transmit(now).is_some() {}
            }
        }
    }
}

/// An ACK of what was SACKed before a timeout shows no spurious timeout. Where it did, and
/// detection then found nothing lost, each segment that was left waited for a timeout of its own.
#[test]
fn what_was_sacked_before_a_timeout_undoes_none() {
    let lost = |data_lost| Op::Round { data_lost, acks_lost: 0 };
    let ops = [
        Op::Write(33_581),
        lost(0),
        lost(0),
        Op::Write(49_641),
        lost(2),
        lost(30_071),
        Op::Wait(656),
        lost(0),
    ];
    let setup = Setup {
        initial_window: 6,
        buffer: 64,
        wscale: 1,
        mss: 1460,
        ..Setup::plain("linux+ns2-dupack")
    };
    sent(&setup, &ops, Time::ZERO + Span::from_millis(1000));
}
