//! Links, their queues and their losses.

use ackclock_tcp::Span;

use super::ranges::{period, positive_rate, size_within};
use super::varying::check_varying;
use crate::scenario::error::{Checked, fail, nearest};
use crate::scenario::model::{Codel, Fate, FqCodel, Link, Loss, Pie, Queue};
use crate::scenario::names::Names;
use crate::scenario::path::{Step, child, steps};
use crate::scenario::units::{Duration, Size};

/// Checks the link under the key `at`.
pub(super) fn check_link(link: &Link, names: &Names, at: &[Step]) -> Checked {
    check_varying(link, names, at)?;
    if link.delay_to.is_some() && link.count == 1 {
        fail(
            &child(at, "delay_to"),
            "it is the delay of the last of several copies; this link has no `count`",
        )?;
    }
    if link.reorder.as_ref().is_some_and(|r| r.p.is_none() && r.segments.is_empty()) {
        fail(&child(at, "reorder"), "which packets are late? `p = \"1%\"` or `segments = [14]`")?;
    }
    for (i, spike) in link.spikes.iter().enumerate() {
        for (key, duration) in [("for", spike.lasts), ("delay", spike.delay)] {
            if duration.0 == Span::ZERO {
                let at = [at, &steps!["spikes", i, key]].concat();
                fail(&at, "a spike lasts longer than 0s and adds a delay above 0s")?;
            }
        }
    }
    check_queue(link.queue.as_ref(), &child(at, "queue"))?;
    for (i, fate) in link.fates.iter().enumerate() {
        check_fate(fate, names, &child(&child(at, "fate"), i))?;
    }
    for (i, loss) in link.loss.iter().enumerate() {
        check_loss(loss, names, &child(&child(at, "loss"), i))?;
    }
    Ok(())
}

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
    size_within(queue.mtu, 1, u64::from(u32::MAX), &child(at, "mtu"))
}

fn check_fq_codel(queue: &FqCodel, at: &[Step]) -> Checked {
    let FqCodel { limit, memory, flows, quantum, target, interval, mtu, .. } = queue.clone();
    check_codel(&Codel { limit, target, interval, mtu, ecn: false }, at)?;
    size_within(memory, 1, u64::MAX, &child(at, "memory"))?;
    if flows.is_some_and(|flows| !(1..=65_536).contains(&flows)) {
        fail(&child(at, "flows"), "there are 1 to 65536 queues; RFC 8290 has 1024")?;
    }
    size_within(quantum, 1, u64::from(u32::MAX), &child(at, "quantum"))
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
    size_within(queue.mean_packet_size, 1, u64::from(u32::MAX), &child(at, "mean_packet_size"))
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
    size_within(mean_packet_size, 1, u64::from(u32::MAX), &child(at, "mean_packet_size"))
}

pub(super) fn check_loss(loss: &Loss, names: &Names, at: &[Step]) -> Checked {
    let (kind, flow) = match loss {
        Loss::Drop(l) => ("drop", &l.flow),
        Loss::Bernoulli(l) => ("bernoulli", &l.flow),
        Loss::GilbertElliott(l) => ("gilbert_elliott", &l.flow),
        Loss::ThreeState(l) => ("three_state", &l.flow),
        Loss::Policer(l) => ("policer", &l.flow),
    };
    let at = child(at, kind);
    if let Loss::Policer(l) = loss {
        positive_rate(l.rate, &child(&at, "rate"))?;
        size_within(Some(l.burst), 1, u64::from(u32::MAX), &child(&at, "burst"))?;
    }
    if let Loss::Drop(l) = loss
        && l.segments.is_empty()
        && l.retransmissions.is_empty()
    {
        fail(&at, "what is dropped? `segments = [14, 26]` or `retransmissions = [\"14:1\"]`")?;
    }
    known_flow(flow.as_ref(), names, &at)
}

fn check_fate(fate: &Fate, names: &Names, at: &[Step]) -> Checked {
    let Fate { segment, transmission, ack, ref flow, lose, late } = *fate;
    let from_one = |key: &str| fail(&child(at, key), "it counts from 1");
    match (segment, ack) {
        (None, None) => fail(at, "which packet? `segment = 14` or `ack = 7`")?,
        (Some(_), Some(_)) => fail(at, "either `segment` or `ack`, not both")?,
        (None, Some(_)) if transmission.is_some() => {
            fail(&child(at, "transmission"), "an ACK is sent once; leave it out")?
        }
        (None, Some(0)) => from_one("ack")?,
        (Some(_), None) if transmission == Some(0) => from_one("transmission")?,
        _ => {}
    }
    match (lose, late) {
        (false, None) => fail(at, "what becomes of it? `lose = true` or `late = \"5ms\"`")?,
        (true, Some(_)) => fail(at, "either `lose` or `late`, not both")?,
        (false, Some(late)) if late.0 == Span::ZERO => {
            fail(&child(at, "late"), "a late packet is late by more than 0s")?
        }
        _ => {}
    }
    known_flow(flow.as_ref(), names, at)
}

/// Checks that there is a flow of this name. The key `flow` is under `at`.
fn known_flow(flow: Option<&String>, names: &Names, at: &[Step]) -> Checked {
    let Some(flow) = flow else { return Ok(()) };
    if names.flow(flow).is_some() {
        return Ok(());
    }
    let some: Vec<&String> = names.flows.iter().take(1000).collect();
    let hint =
        nearest(flow, &some).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    fail(&child(at, "flow"), format!("there is no flow `{flow}`{hint}"))
}
