//! The windows of ns-2's agents, in numbers; `crosscheck/` compares whole transfers with ns-2
//! itself.

use ackclock_tcp::{Registry, Segment, Sender, SenderConfig, Seq, Span, Time};

/// Fifteen segments of 1000 bytes are outstanding, from segment 5 on; cwnd is 15 segments.
fn sender(strategy: &str) -> Sender {
    let config = SenderConfig {
        mss: 1000,
        initial_rwnd: 64_000,
        wscale: 0,
        min_rto: Some(Span::from_secs(1)),
        ..SenderConfig::default()
    };
    let mut sender = Sender::new(config, Registry::default().parse(strategy).unwrap().build());
    sender.write(Time::ZERO, 100_000);
    assert_eq!(drain(&mut sender, Time::ZERO), 10);
    for segment in 1..=5 {
        ack(&mut sender, segment * 1000);
    }
    assert_eq!((sender.state().cwnd, sender.state().flight()), (15_000, 15_000));
    sender
}

const ACK_AT: Time = Time(100_000_000);

fn ack(sender: &mut Sender, ack: u32) {
    sender.on_segment(ACK_AT, &Segment { ack: Seq(ack), wnd: 64_000, ..Segment::default() });
    drain(sender, ACK_AT);
}

fn drain(sender: &mut Sender, now: Time) -> usize {
    std::iter::from_fn(|| sender.poll_transmit(now)).count()
}

fn windows(sender: &Sender) -> (u64, u64) {
    (sender.state().cwnd, sender.state().ssthresh)
}

#[test]
fn an_odd_window_leaves_half_a_segment_in_cwnd_and_whole_ones_in_ssthresh() {
    let mut sender = sender("ns2-reno");
    for _ in 0..3 {
        ack(&mut sender, 5000);
    }
    assert_eq!(windows(&sender), (10_500, 7000));
}

#[test]
fn the_ack_that_ends_recovery_grows_cwnd_and_growth_keeps_fractions() {
    let mut sender = sender("ns2-reno");
    for _ in 0..3 {
        ack(&mut sender, 5000);
    }
    let cwnd: Vec<u64> = [20_000, 21_000, 22_000, 23_000]
        .map(|to| {
            ack(&mut sender, to);
            sender.state().cwnd
        })
        .into();
    // 7500 + 1000000/7500 = 7633.3; then 7764.01, 7892.81 and 8019.51, where rounding down each
    // time gives 8018.
    assert_eq!(cwnd, [7633, 7764, 7892, 8019]);
}

#[test]
fn every_timeout_halves_the_window_without_its_inflation() {
    let mut sender = sender("ns2-reno");
    for _ in 0..3 {
        ack(&mut sender, 5000);
    }
    let mut ssthresh = Vec::new();
    for _ in 0..2 {
        let now = sender.next_deadline();
        sender.on_deadline(now);
        drain(&mut sender, now);
        ssthresh.push(windows(&sender));
    }
    assert_eq!(ssthresh, [(1000, 3000), (1000, 2000)]);
}

#[test]
fn the_third_duplicate_restarts_the_timer() {
    let mut sender = sender("ns2-newreno");
    assert_eq!(sender.next_deadline(), Time(1_100_000_000));
    for _ in 0..3 {
        sender.on_segment(
            Time(150_000_000),
            &Segment { ack: Seq(5000), wnd: 64_000, ..Segment::default() },
        );
        drain(&mut sender, Time(150_000_000));
    }
    assert_eq!(sender.next_deadline(), Time(1_150_000_000));
}
