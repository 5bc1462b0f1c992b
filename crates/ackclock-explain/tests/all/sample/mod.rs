//! Connections as a capture would show them, made by hand.

use ackclock_explain::{Capture, End, Explained, Found, Rescue, Saved};
use ackclock_tcp::wire::Options;
use ackclock_tcp::{SackBlocks, Seq, Span, Time, TimeoutClass};
use ackclock_trace::connection::RoundTrip;
use ackclock_trace::{
    Connection, Ended, Flow, Kind, Lifetime, Limit, Position, Recovery, Retransmission, Spurious,
    Stall, StallCause, State, Timeout, Vantage,
};

/// Of all times: 2023-11-14, with a nanosecond that no `f64` holds.
pub const START: u64 = 1_700_000_000_123_456_789;

pub fn at_ms(ms: u64) -> Time {
    Time(START + 1_000_000 * ms)
}

pub fn flow() -> Flow {
    Flow { mss: 1000, ..Flow::default() }
}

pub fn connection() -> Connection {
    Connection {
        number: 0,
        client: "10.0.0.1:40000".parse().unwrap(),
        server: "[2001:db8::2]:443".parse().unwrap(),
        start: at_ms(0),
        end: at_ms(5_000),
        packets: 250,
        copies: 0,
        copies_after: Span::ZERO,
        deferred: 0,
        greeted: false,
        begun: true,
        opened: true,
        one_way: false,
        unanswered: false,
        whole_seconds: false,
        no_answer: None,
        ended: Ended::Fin,
        position: Position {
            vantage: Vantage::Server,
            confidence: 0.75,
            to_client: Some(Span::from_millis(100)),
            to_server: None,
            lost_before: [true, false],
        },
        numbers: [None; 2],
        from_client: flow(),
        from_server: flow(),
    }
}

fn retransmission(frame: u64, ms: u64, position: u64, kind: Kind) -> Retransmission {
    Retransmission {
        frame,
        at: at_ms(ms),
        seq: Seq(5_000 + position as u32),
        position,
        len: 1000,
        kind,
        probability: None,
        syn: false,
        spurious: None,
        known: true,
        lost: Some(false),
        transmission: 2,
        sacked: 0,
        too_big: kind == Kind::TooBig,
        all_seen: false,
    }
}

fn lifetime(parts: &[(Limit, u64)]) -> Lifetime {
    let mut lifetime = Lifetime::default();
    parts.iter().for_each(|(limit, ms)| lifetime.add(*limit, Span::from_millis(*ms)));
    lifetime
}

/// A server that loses a segment and its fast retransmission, so that its timer expires, once more
/// since that is lost too; what slow start retransmits after that was not needed. The client sends
/// one request.
pub fn stalled() -> Connection {
    let retransmissions = vec![
        Retransmission {
            lost: Some(true),
            ..retransmission(50, 1_000, 20_000, Kind::FastRetransmit)
        },
        Retransmission {
            lost: None,
            known: false,
            ..retransmission(52, 1_010, 22_000, Kind::Recovery)
        },
        Retransmission {
            transmission: 3,
            lost: Some(true),
            ..retransmission(60, 1_500, 20_000, Kind::Timeout)
        },
        Retransmission {
            transmission: 4,
            ..retransmission(61, 2_500, 20_000, Kind::BackedOffTimeout)
        },
        Retransmission {
            spurious: Some(Spurious::Dsack),
            ..retransmission(64, 2_601, 23_000, Kind::SlowStart)
        },
    ];
    let timeout = |ms, place, class, state| Timeout {
        at: at_ms(ms),
        seq: Seq(25_000),
        position: 20_000,
        retransmission: place,
        class,
        state,
        flight: 8_000,
        cwnd: 12_500,
        waited: Span::from_millis(500),
        spurious: None,
        passed: ackclock_tcp::Time::ZERO,
        episode: None,
    };
    let from_server = Flow {
        offered: Some(Options {
            mss: Some(1460),
            wscale: Some(7),
            sack_permitted: true,
            timestamps: None,
            sack: SackBlocks::NONE,
        }),
        sack: true,
        bytes: 90_000,
        segments: 95,
        dsacks: 1,
        rtt: Some(RoundTrip {
            min: Span::from_millis(100),
            mean: Span::from_millis(110),
            median: Span::from_millis(105),
            p99: Span::from_millis(190),
            max: Span::from_millis(200),
            samples: 30,
            delayable: 0,
        }),
        retransmissions,
        timeouts: vec![
            timeout(1_500, 2, TimeoutClass::LostRetransmission, State::Recovery),
            timeout(2_500, 3, TimeoutClass::BackedOff, State::Loss),
        ],
        recoveries: vec![Recovery {
            start: at_ms(1_000),
            end: Some(at_ms(1_500)),
            by_timeout: true,
            flight: 12_000,
            retransmissions: 2,
            spurious: false,
        }],
        stalls: vec![
            Stall {
                start: at_ms(1_000),
                end: at_ms(2_600),
                frame: 62,
                cause: StallCause::Timeout(TimeoutClass::LostRetransmission),
                timeout: Some(0),
                came_twice: false,
                alone: true,
                newest: Time::ZERO,
            },
            Stall {
                start: at_ms(3_000),
                end: at_ms(4_500),
                frame: 70,
                cause: StallCause::Application,
                timeout: None,
                came_twice: false,
                alone: true,
                newest: Time::ZERO,
            },
        ],
        probes_of_new_data: 1,
        window: Some(131_072),
        full_window: 65_536,
        lifetime: lifetime(&[
            (Limit::Application, 1_500),
            (Limit::ReceiveWindow, 600),
            (Limit::Recovery, 2_700),
            (Limit::Path, 200),
        ]),
        unseen: 300,
        doubts: vec!["300 bytes were never seen".into()],
        ..flow()
    };
    let from_client = Flow { bytes: 500, segments: 1, sack: true, ..flow() };
    Connection { from_client, from_server, ..connection() }
}

/// One capture with a quiet connection and one that stalled.
pub fn explained() -> Explained {
    let rescue = |strategy, mechanism, avoided, saved_s| Rescue {
        strategy,
        mechanism,
        avoided,
        took_s: 1.6 - saved_s,
        saved_s,
        saved_90_s: avoided.then_some([saved_s - 0.25, saved_s + 0.125]),
    };
    let saved = Saved {
        from: End::Server,
        timeout: 0,
        by: vec![
            rescue("sack", "RFC 6675", false, 0.25),
            rescue("sack+lrx-linux", "lost-retransmission recovery", true, 1.25),
            rescue("rack-tlp", "RACK-TLP", true, 1.0),
        ],
    };
    let found = |number: usize, connection, saved| Found {
        number,
        capture: 0,
        same_as: None,
        connection: Box::new(Connection { number: number as u64, ..connection }),
        saved,
        set_ahead: Default::default(),
        got_through: Vec::new(),
    };
    Explained {
        captures: vec![Capture {
            path: "slow.pcap".into(),
            packets: 260,
            segments: 257,
            ignored: [("not_tcp", 3)].into(),
            start: Some(at_ms(0)),
            ..Capture::default()
        }],
        connections: vec![found(0, connection(), vec![]), found(1, stalled(), vec![saved])],
        replayable: 2,
        replayed: 1,
    }
}
