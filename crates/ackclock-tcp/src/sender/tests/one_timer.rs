//! One timer for all ends: Linux's window probes (`tcp_probe_timer`, `tcp_send_probe0`,
//! `tcp_ack_probe`), and what its timeouts share with them.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::*;
use crate::recovery::probe::{Probe, ProbeNow};

/// The handshake took so long. 50 ms and a variance of 200 ms make a timeout of 63 ticks, 252 ms.
fn handshake(ms: u64) -> SenderConfig {
    SenderConfig { handshake_rtt: Some(Span::from_millis(ms)), ..window(10) }
}

/// `icsk_rto` is in ticks: rounded up, and so is what back-off doubles. Both expire a tick later.
#[test]
fn timeouts_take_whole_ticks() {
    for (rtt, rto) in [(51, 252), (52, 252), (53, 256)] {
        run_with("linux-rack+linux-timer", handshake(rtt), |x| {
            x.write(1_000).sends("0").fire(rto + 4).sends("0T").fire(3 * rto + 8).sends("0T");
        });
    }
}

/// `TCP_RTO_MAX`, unless the configuration says otherwise.
#[test]
fn timeouts_grow_to_two_minutes() {
    for (max_rto, longest) in [(None, 120), (Some(Span::from_secs(60)), 60)] {
        run_with("linux-rack+linux-timer", SenderConfig { max_rto, ..window(10) }, |x| {
            x.write(1_000).sends("0");
            let mut at = 0;
            for interval in [1, 2, 4, 8, 16, 32, 64, 128, 128] {
                at = expiry(at, 1000 * longest.min(interval));
                x.fire(at).sends("0T");
            }
        });
    }
}

/// Nor does a probe wait for longer, though the last round trip took ten minutes (a machine that
/// was suspended): SRTT is 75 s then.
#[test]
fn a_probe_waits_no_longer_than_a_timeout() {
    run_with("linux", SenderConfig { max_rto: Some(Span::from_secs(60)), ..handshake(50) }, |x| {
        x.write(2_000).sends("0 1").at(600_000).ack(1).write(1_000).sends("2");
        x.deadline(660_004);
    });
}

/// The first probe waits for a timeout interval. A probe and its answer start the next interval,
/// which doubles with each probe; a window that opens ends that.
#[test]
fn an_answer_restarts_the_wait_for_a_window_probe() {
    run_with("linux", handshake(50), |x| {
        x.write(40_000).sends(&numbers(0, 10)).at(50);
        x.window = 0;
        x.ack(10).sends("");
        assert_eq!(x.sender.waits_for(), Some(Axis::Timer));
        x.fire(304).sends("10+w").deadline(812);
        x.at(352).ack(10).sends("").fire(860).sends("10+w").deadline(1872);
        x.window = 10_000;
        x.at(900).ack(10).sends(&numbers(10, 20)).at(950);
        x.window = 0;
        x.ack(20).sends("").deadline(1204);
    });
}

/// `tcp_probe0_base`: 200 ms at least, though a timeout takes 28 ms.
#[test]
fn a_window_probe_waits_for_200_ms_at_least() {
    let min_rto = Some(Span::from_millis(20));
    run_with("linux", SenderConfig { min_rto, ..handshake(5) }, |x| {
        x.write(40_000).sends(&numbers(0, 10)).at(5);
        x.window = 0;
        x.ack(10).sends("").fire(208).sends("10+w").deadline(612);
    });
}

/// A timeout without a sample since counts as a probe would, and the interval begins with what it
/// has doubled: 504 ms, then 504 * 2^2.
#[test]
fn window_probes_share_the_back_off_of_timeouts() {
    run_with("linux", handshake(50), |x| {
        x.write(40_000).sends(&numbers(0, 10)).fire(108).sends("10+").fire(364).sends("0T");
        x.window = 0;
        x.at(400).ack(11).sends("").fire(908).sends("11+w").deadline(2928);
        x.at(950).ack(11).sends("").deadline(2968);
    });
    // A sample ends both: 450 ms, which makes SRTT 100, and the deviation 100 + 375.
    run_with("linux", handshake(50), |x| {
        x.write(40_000).sends(&numbers(0, 10)).fire(108).sends("10+").fire(364).sends("0T");
        x.window = 0;
        x.at(450).sack(0, &[(3, 4)]).sends("").ack(11).sends("");
        x.fire(1028).sends("11+w").deadline(2184);
    });
}

/// What a window probe takes along is followed by the timeout, and by no tail loss probe
/// (`tcp_write_wakeup`). It ends the back-off.
#[test]
fn no_tail_loss_probe_follows_a_window_probe() {
    run_with("linux", handshake(50), |x| {
        x.write(40_000).sends(&numbers(0, 10)).at(50);
        x.window = 500;
        x.ack(10).sends("").fire(304).sends("10[0..500]+");
        // Nor is cwnd validated, which went unused for a timeout interval.
        x.windows(20_000, UNSET).fire(560).sends("10[0..500]T");
    });
    run_with("linux", handshake(50), |x| {
        x.write(40_000).sends(&numbers(0, 10)).at(50);
        x.window = 500;
        x.ack(10).sends("").fire(304).sends("10[0..500]+").at(352);
        x.window = 0;
        x.ack_bytes(10_500).sends("").deadline(608);
    });
}

/// A probe that comes 10 ms after the last advance, once.
struct Early(Arc<AtomicU32>);

impl Probe for Early {
    fn deadline(&self, s: &State) -> Time {
        let wants = !s.board.is_empty() && self.0.load(Relaxed) == 0;
        if wants { s.advanced + Span::from_millis(10) } else { Time::NEVER }
    }

    fn on_deadline(&mut self, _s: &State) -> ProbeNow {
        self.0.fetch_add(1, Relaxed);
        ProbeNow::Nothing
    }
}

/// Of several probes the timer serves the one that is due first, wherever it is named.
#[test]
fn the_probe_that_is_due_first_is_asked() {
    let calls = Arc::new(AtomicU32::new(0));
    let mut strategy = Registry::default().parse("linux").expect("a strategy").build();
    strategy.probes.push(Box::new(Early(calls.clone())));
    let config = SenderConfig { handshake_rtt: Some(Span::from_millis(50)), ..window(4) };
    let mut sender = Sender::new(config, strategy);
    sender.write(Time::ZERO, 4_000);
    while sender.poll_transmit(Time::ZERO).is_some() {}
    // 10 ms in ticks.
    assert_eq!(sender.next_deadline(), Time(16_000_000));
    sender.on_deadline(sender.next_deadline());
    assert_eq!(calls.load(Relaxed), 1);
}
