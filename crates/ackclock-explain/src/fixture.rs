//! A connection made by hand, for the tests of outputs.

use ackclock_tcp::{Cause, Event, EventKind, Seq, Span, Time, TimeoutClass};
use ackclock_trace::connection::RoundTrip;
use ackclock_trace::{
    Connection, Ended, Flow, Kind, Position, Recovery, Retransmission, Spurious, Stall, StallCause,
    State, Timeout, Vantage,
};

use crate::explained::{Capture, End, Explained, Found, Saved};
use crate::replay::Rescue;

/// When the connection began: 2023-11-14 22:13:20.5.
const START: u64 = 1_700_000_000_500_000_000;

/// So many milliseconds after the start.
pub(crate) fn at(millis: u64) -> Time {
    Time(START + millis * 1_000_000)
}

fn event(millis: u64, una: u64, nxt: u64, kind: EventKind) -> Event {
    Event { at: at(millis), cwnd: 3000, ssthresh: u64::MAX, snd_una: una, snd_nxt: nxt, kind }
}

fn sent(seq: u64, cause: Cause, transmission: u32) -> EventKind {
    EventKind::Sent { seq, len: 1000, cause, transmission, detected_by: None }
}

fn acked(ack: u64, dupacks: u32, edge: u64, sack: Option<(u64, u64)>, dsack: bool) -> EventKind {
    let mut ranges = [(0, 0); 4];
    ranges[0] = sack.unwrap_or_default();
    EventKind::Acked {
        ack,
        dupacks,
        newly_acked: 0,
        newly_sacked: 0,
        window_edge: edge,
        sack: ranges,
        sacks: sack.is_some().into(),
        dsack,
    }
}

/// The server sends three segments. The second is lost, and so is its fast retransmission; the
/// timer repairs it, and sends the third again, which was spurious. Then the client's window is
/// closed for a while.
fn events() -> Vec<Event> {
    let class = TimeoutClass::LostRetransmission;
    let timed_out = EventKind::TimedOut {
        seq: 1000,
        class,
        backoff: 0,
        flight: 2000,
        cwnd_before: 2000,
        rto: 900_000_000,
    };
    vec![
        event(0, 0, 1000, sent(0, Cause::New, 1)),
        event(0, 0, 2000, sent(1000, Cause::New, 1)),
        event(0, 0, 3000, sent(2000, Cause::New, 1)),
        event(100, 1000, 3000, acked(1000, 0, 3000, None, false)),
        event(110, 1000, 3000, acked(1000, 1, 3000, Some((2000, 3000)), false)),
        event(110, 1000, 3000, sent(1000, Cause::FastRetransmit, 2)),
        event(1000, 1000, 3000, timed_out),
        event(1000, 1000, 3000, sent(1000, Cause::Timeout, 3)),
        event(1050, 1000, 3000, sent(2000, Cause::SlowStart, 2)),
        event(1100, 3000, 3000, acked(3000, 0, 3000, None, false)),
        event(1150, 3000, 3000, acked(3000, 0, 3000, Some((2000, 3000)), true)),
        event(1500, 3000, 3000, acked(3000, 0, 11000, None, false)),
    ]
}

fn retransmission(
    frame: u64,
    millis: u64,
    position: u64,
    kind: Kind,
    transmission: u32,
) -> Retransmission {
    Retransmission {
        frame,
        seq: Seq::at(Seq(0xffff_fff0), position),
        position,
        len: 1000,
        transmission,
        ..again(at(millis), kind)
    }
}

/// A retransmission of a full segment that has arrived.
pub(crate) fn again(at: Time, kind: Kind) -> Retransmission {
    Retransmission {
        frame: 9,
        at,
        seq: Seq(1),
        position: 0,
        len: 1448,
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

/// A stall in which the other end sent nothing.
pub(crate) fn stall(start: Time, end: Time, cause: StallCause) -> Stall {
    let (frame, newest) = (9, start);
    Stall { start, end, frame, cause, timeout: None, came_twice: false, alone: true, newest }
}

/// A timeout of the first segment, alone on its way.
pub(crate) fn timeout(at: Time, class: TimeoutClass, state: State) -> Timeout {
    Timeout {
        at,
        seq: Seq(1),
        position: 0,
        retransmission: 0,
        class,
        state,
        flight: 1448,
        cwnd: 1448,
        waited: Span::ZERO,
        spurious: None,
        passed: Time::ZERO,
        episode: None,
    }
}

/// Nothing was sent.
pub(crate) fn idle() -> Flow {
    Flow { mss: 1000, sack: true, ..Flow::default() }
}

/// Round trips that are all as long.
pub(crate) fn round_trip(long: Span, samples: u64) -> RoundTrip {
    RoundTrip { min: long, mean: long, median: long, p99: long, max: long, samples, delayable: 0 }
}

fn lossy() -> Flow {
    let timeout = Timeout {
        seq: Seq(0xffff_fff0) + 1000,
        position: 1000,
        retransmission: 1,
        flight: 2000,
        cwnd: 3000,
        waited: Span::from_millis(900),
        ..timeout(at(1000), TimeoutClass::LostRetransmission, State::Recovery)
    };
    let recovery = Recovery {
        start: at(110),
        end: Some(at(1000)),
        by_timeout: true,
        flight: 2000,
        retransmissions: 1,
        spurious: false,
    };
    let stall =
        |from, to, cause, timeout| Stall { frame: 12, timeout, ..stall(at(from), at(to), cause) };
    let rtt = Span::from_millis(100);
    Flow {
        window: Some(65_535),
        bytes: 3000,
        segments: 6,
        dsacks: 1,
        rtt: Some(round_trip(rtt, 2)),
        retransmissions: vec![
            Retransmission {
                lost: Some(true),
                ..retransmission(8, 110, 1000, Kind::FastRetransmit, 2)
            },
            retransmission(9, 1000, 1000, Kind::Timeout, 3),
            Retransmission {
                spurious: Some(Spurious::Dsack),
                ..retransmission(10, 1050, 2000, Kind::SlowStart, 2)
            },
        ],
        timeouts: vec![timeout],
        recoveries: vec![recovery],
        stalls: vec![
            stall(110, 1100, StallCause::Timeout(TimeoutClass::LostRetransmission), Some(0)),
            stall(1100, 1500, StallCause::ZeroWindow, None),
        ],
        events: events(),
        doubts: vec!["<b>the scale</b> of windows was not seen".into()],
        ..idle()
    }
}

/// Two connections in one capture: one in which time was lost, and one in which nothing happened.
pub(crate) fn explained() -> Explained {
    let connection = Connection {
        number: 0,
        client: "192.0.2.1:40000".parse().unwrap(),
        server: "[2001:db8::2]:443".parse().unwrap(),
        start: at(0),
        end: at(2000),
        packets: 15,
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
        ended: Ended::Open,
        position: Position {
            vantage: Vantage::Server,
            confidence: 0.9,
            to_client: None,
            to_server: None,
            lost_before: [false; 2],
        },
        numbers: [None; 2],
        from_client: idle(),
        from_server: lossy(),
    };
    let quiet = Connection { number: 1, from_server: idle(), packets: 3, ..connection.clone() };
    let rescue = |strategy, mechanism, avoided, saved_s| Rescue {
        strategy,
        mechanism,
        avoided,
        took_s: 1.0,
        saved_s,
        saved_90_s: avoided.then_some([saved_s - 0.25, saved_s + 0.125]),
    };
    let by = vec![
        rescue("sack", "RFC 6675", false, 0.0),
        rescue("sack+lrx-linux", "lost-retransmission recovery", true, 0.5),
        rescue("rack-tlp", "RACK-TLP", true, 0.75),
    ];
    let saved = vec![Saved { from: End::Server, timeout: 0, by }];
    let capture =
        Capture { path: "<slow>.pcap".into(), packets: 18, segments: 18, ..Capture::default() };
    let found = |number, connection, saved| Found {
        number,
        capture: 0,
        same_as: None,
        connection: Box::new(connection),
        saved,
        set_ahead: Default::default(),
        got_through: Vec::new(),
    };
    Explained {
        captures: vec![capture],
        connections: vec![found(0, connection, saved), found(1, quiet, Vec::new())],
        replayable: 1,
        replayed: 1,
    }
}
