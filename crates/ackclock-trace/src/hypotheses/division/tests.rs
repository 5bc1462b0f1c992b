use ackclock_tcp::{Registry, SenderConfig};

use super::*;
use crate::sender::Dsack;

const MSS: u32 = 1000;

fn ms(t: u64) -> Time {
    Time::ZERO + Span::from_millis(t)
}

/// A sender with a window of four segments that has more, and so many bytes of the receiver's
/// window. It sends this many segments; what limits it is asked at these times, at each of which
/// but the last the SYN/ACK comes again.
fn divided(window: u64, segments: usize, times: &[u64], timer: bool) -> Divided {
    let terms = Terms {
        start: ms(0),
        handshake_rtt: None.into(),
        ..crate::hypotheses::tests::terms(false)
    };
    let config = SenderConfig {
        mss: MSS,
        initial_window: Some(4),
        initial_rwnd: window,
        ..SenderConfig::default()
    };
    let strategy = Registry::default().parse("newreno").unwrap().build();
    let mut sender = Sender::new(config, strategy);
    let passed = Passed { entries: &[], others: &[], all: true, timed: false, arrivals: None };
    let mut division = Division::new(&terms, ms(0), passed, Span::ZERO);
    sender.write(ms(0), 9 * u64::from(MSS));
    for _ in 0..segments {
        division.sent(&sender.poll_transmit(ms(0)).unwrap());
    }
    for (n, t) in times.iter().enumerate() {
        division.elapse(ms(*t), &sender);
        if n + 1 < times.len() {
            division.acked([0, 0], &syn_ack(ms(*t)));
        }
    }
    if timer {
        division.waited();
    }
    let end = ms(times[times.len() - 1]);
    division.into_divided(end, &sender, None)
}

fn syn_ack(at: Time) -> Acked {
    Acked {
        frame: 0,
        at,
        ack: 0,
        window: 0,
        scaled: true,
        sack: [(0, 0); 4],
        sacks: 0,
        dsack: Dsack::None,
        tsecr: None,
        stamp: None,
        with_data: true,
        ece: false,
        timed: true,
        skips: false,
        overdue: false,
    }
}

/// The time before a timer expires is recovery's, from the last event on; a SYN/ACK that comes
/// again is none. Of the congestion window none is left, in
/// which the bottleneck could have been idle or busy.
#[test]
fn a_timer_takes_the_time_before_it() {
    let lifetime = divided(60_000, 4, &[100, 250], true).lifetime;
    let shares = [Limit::CongestionWindow, Limit::Recovery].map(|limit| lifetime.of(limit));
    assert_eq!(shares, [Span::ZERO, Span::from_millis(250)]);
    assert_eq!((lifetime.idle(), lifetime.full()), (Span::ZERO, Span::ZERO));
}

/// What is paced below the receiver's window is limited by it in the end, which was not full so
/// far.
#[test]
fn a_window_that_was_full() {
    for (segments, full) in [(2, 0), (3, 3500)] {
        let Divided { lifetime, full_window, .. } = divided(3500, segments, &[100], false);
        let share = lifetime.of(Limit::ReceiveWindow);
        assert_eq!((share, full_window), (Span::from_millis(100), full));
    }
}
