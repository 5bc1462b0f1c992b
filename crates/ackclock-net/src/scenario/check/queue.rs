//! Queues of links.

use ackclock_tcp::Span;

use super::ranges::{period, size_within};
use crate::scenario::error::{Checked, fail};
use crate::scenario::model::{Codel, FqCodel, Pie, Queue};
use crate::scenario::path::{Step, child};
use crate::scenario::units::{Duration, Size};

pub(super) fn check_queue(queue: Option<&Queue>, at: &[Step]) -> Checked {
    match queue {
        None => {}
        Some(Queue::Droptail(q)) => match (q.packets, q.bytes) {
            (Some(1..), None) | (None, Some(Size(1..))) => {}
            (Some(_), Some(_)) => {
                fail(&child(at, "droptail"), "either `packets` or `bytes`, not both")?
            }
            (None, None) => fail(
                &child(at, "droptail"),
                "how much does it hold? `packets = 20` or `bytes = \"64kb\"`",
            )?,
            _ => fail(
                &child(at, "droptail"),
                "a queue holds at least 1: the packet in transmission counts",
            )?,
        },
        Some(Queue::Red(q)) => {
            let at = child(at, "red");
            check_early_drop(q.limit, (q.min, 0), q.max, q.weight, q.mean_packet_size, &at)?;
        }
        Some(Queue::Fred(q)) => {
            let at = child(at, "fred");
            check_early_drop(q.limit, (q.min, 1), q.max, q.weight, q.mean_packet_size, &at)?;
        }
        Some(Queue::Codel(q)) => check_codel(q, &child(at, "codel"))?,
        Some(Queue::FqCodel(q)) => check_fq_codel(q, &child(at, "fq_codel"))?,
        Some(Queue::Pie(q)) => check_pie(q, &child(at, "pie"))?,
    }
    Ok(())
}

fn check_codel(queue: &Codel, at: &[Step]) -> Checked {
    if queue.limit == Some(0) {
        fail(&child(at, "limit"), "a queue holds at least 1 packet")?;
    }
    check_target(queue.target, queue.interval, at)?;
    size_within(queue.mtu, u64::from(u32::MAX), &child(at, "mtu"))
}

fn check_fq_codel(queue: &FqCodel, at: &[Step]) -> Checked {
    let FqCodel { limit, memory, flows, quantum, target, interval, mtu, .. } = queue.clone();
    check_codel(&Codel { limit, target, interval, mtu, ecn: false }, at)?;
    size_within(memory, u64::MAX, &child(at, "memory"))?;
    if flows.is_some_and(|flows| !(1..=65_536).contains(&flows)) {
        fail(&child(at, "flows"), "there are 1 to 65536 queues; RFC 8290 has 1024")?;
    }
    size_within(quantum, u64::from(u32::MAX), &child(at, "quantum"))
}

fn check_pie(queue: &Pie, at: &[Step]) -> Checked {
    if queue.limit == Some(0) {
        fail(&child(at, "limit"), "a queue holds at least 1 packet")?;
    }
    for (key, duration) in [("target", queue.target), ("update", queue.update)] {
        if duration.is_some_and(|duration| duration.0 == Span::ZERO) {
            fail(&child(at, key), "it is longer than 0s; RFC 8033 has 15ms")?;
        }
    }
    period(queue.update, &child(at, "update"))?;
    for (key, weight) in [("alpha", queue.alpha), ("beta", queue.beta)] {
        if weight.is_some_and(|weight| !(weight.is_finite() && weight >= 0.0)) {
            fail(&child(at, key), "a weight is a number, 0 or more")?;
        }
    }
    size_within(queue.mean_packet_size, u64::from(u32::MAX), &child(at, "mean_packet_size"))
}

/// What CoDel and FQ-CoDel have in common.
fn check_target(target: Option<Duration>, interval: Option<Duration>, at: &[Step]) -> Checked {
    let default = crate::Codel::new(1);
    let target = target.map_or(default.target, |target| target.0);
    let interval = interval.map_or(default.interval, |interval| interval.0);
    if target == Span::ZERO {
        fail(&child(at, "target"), "a target is longer than 0s; RFC 8289 has 5ms")?;
    }
    if interval < target {
        fail(&child(at, "interval"), "an interval is at least as long as `target`")?;
    }
    Ok(())
}

/// What RED and FRED have in common; `min` comes with the least that it may be.
fn check_early_drop(
    limit: u32,
    (min, least): (f64, u32),
    max: f64,
    weight: Option<f64>,
    mean_packet_size: Option<Size>,
    at: &[Step],
) -> Checked {
    if limit == 0 {
        fail(&child(at, "limit"), "a queue holds at least 1 packet")?;
    }
    if !(min.is_finite() && min >= f64::from(least)) {
        fail(&child(at, "min"), format!("a threshold is a number of packets, {least} or more"))?;
    }
    if !(max.is_finite() && max > min) {
        fail(&child(at, "max"), "`max` must be above `min`")?;
    }
    if !weight.is_none_or(|w| w > 0.0 && w <= 1.0) {
        fail(&child(at, "weight"), "a weight is above 0 and at most 1")?;
    }
    size_within(mean_packet_size, u64::from(u32::MAX), &child(at, "mean_packet_size"))
}
