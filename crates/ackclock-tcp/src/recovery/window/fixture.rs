//! What the tests of laws by rate begin with, in segments of 1000 bytes on a path of 10 ms.

use super::by_rate::RateSample;
use crate::state::State;
use crate::time::{Span, Time};
use crate::{Registry, Sender, SenderConfig};

/// A sender with so many segments in flight and as large a cwnd, after a handshake of 10 ms.
pub(super) fn flying(segments: u32) -> State {
    let config = SenderConfig {
        mss: 1000,
        initial_rwnd: 1 << 20,
        initial_window: Some(segments),
        handshake_rtt: Some(Span::from_millis(10)),
        sack: true,
        ..SenderConfig::default()
    };
    let mut sender = Sender::new(config, Registry::default().parse("linux").unwrap().build());
    sender.write(Time::ZERO, 1 << 20);
    while sender.poll_transmit(Time::ZERO).is_some() {}
    sender.state().clone()
}

pub(super) fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

/// Ten segments delivered in 10 ms: the `n`-th round of them ends.
pub(super) fn round(s: &mut State, n: u64) -> RateSample {
    s.now = ms(10 * n);
    RateSample {
        delivered: Some(10),
        interval: Some(Span::from_millis(10)),
        prior_delivered: 10 * n - 9,
        tx_in_flight: 10,
        total_delivered: 10 * n + 1,
        delivered_at: s.now,
        acked: 1,
        rtt: Some(Span::from_millis(10)),
        departs: s.now,
        prior_in_flight: s.packets_in_flight(),
        ..RateSample::default()
    }
}
