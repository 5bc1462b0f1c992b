//! Why packets were lost, and how long they wait.

use ackclock_trace::connection::RoundTrip;
use ackclock_trace::{LossCause, Losses};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct LossesJson {
    counted: u32,
    episodes: u32,
    cause: Option<&'static str>,
    policer_rate_bps: Option<f64>,
    policer_burst: Option<u64>,
    queue_delay_s: Option<f64>,
    queue_size: Option<u64>,
    random_rate: Option<f64>,
    random_run: Option<f64>,
    mtu_passed: Option<u32>,
    mtu_lost: Option<u32>,
}

/// What round trips take beyond the shortest.
#[derive(Serialize)]
pub(super) struct QueueingJson {
    median_s: f64,
    p99_s: f64,
}

impl QueueingJson {
    pub fn of(rtt: RoundTrip) -> Self {
        QueueingJson {
            median_s: (rtt.median - rtt.min).secs_f64(),
            p99_s: (rtt.p99 - rtt.min).secs_f64(),
        }
    }
}

impl LossesJson {
    pub fn of(losses: &Losses) -> Self {
        let mut json = LossesJson {
            counted: losses.counted,
            episodes: losses.episodes,
            cause: losses.cause.map(|cause| cause.name()),
            policer_rate_bps: None,
            policer_burst: None,
            queue_delay_s: None,
            queue_size: None,
            random_rate: None,
            random_run: None,
            mtu_passed: None,
            mtu_lost: None,
        };
        match losses.cause {
            Some(LossCause::Policer { rate_bps, burst }) => {
                (json.policer_rate_bps, json.policer_burst) = (Some(rate_bps), burst);
            }
            Some(LossCause::DropTail { delay, size }) => {
                (json.queue_delay_s, json.queue_size) = (Some(delay.secs_f64()), size);
            }
            Some(LossCause::Random { rate, run }) => {
                (json.random_rate, json.random_run) = (Some(rate), Some(run));
            }
            Some(LossCause::PathMtu { passed, lost }) => {
                (json.mtu_passed, json.mtu_lost) = (Some(passed), Some(lost));
            }
            None => {}
        }
        json
    }
}
