//! How links change with time.

use ackclock_tcp::Span;

use super::loss::check_loss;
use super::queue::check_queue;
use super::ranges::{period, positive_rate};
use crate::scenario::error::{Checked, fail};
use crate::scenario::model::{Change, Link, Loss, Outage, Queue, is_no_rate};
use crate::scenario::names::Names;
use crate::scenario::path::{Step, child};

/// Checks the rate of a link, and what changes with time.
pub(super) fn check_varying(link: &Link, names: &Names, at: &[Step]) -> Checked {
    match (&link.trace, is_no_rate(&link.rate)) {
        (None, true) => {
            fail(at, "the key `rate` is missing; or `trace`, a file with its opportunities")?
        }
        (Some(_), false) => fail(&child(at, "trace"), "either `rate` or `trace`, not both")?,
        _ => positive_rate(link.rate, &child(at, "rate"))?,
    }
    for (i, change) in link.changes.iter().enumerate() {
        let at = child(&child(at, "change"), i);
        check_change(change, link, names, &at)?;
        check_alone(change, &link.changes[..i], &at)?;
    }
    for (i, outage) in link.outages.iter().enumerate() {
        check_outage(outage, &child(&child(at, "outage"), i))?;
    }
    // Of all the time, the share that each takes.
    let share = |outage: &Outage| {
        outage.every.map_or(0.0, |every| outage.lasts.0.secs_f64() / every.0.secs_f64())
    };
    if link.outages.iter().map(share).sum::<f64>() >= 1.0 {
        fail(&child(at, "outage"), "together these never end; leave time between them")?;
    }
    if let Some(aggregate) = &link.aggregate {
        let at = child(at, "aggregate");
        if aggregate.lasts.0 == Span::ZERO {
            fail(&child(&at, "for"), "a burst gathers for longer than 0s")?;
        }
        if aggregate.packets == 0 {
            fail(&child(&at, "packets"), "a burst is at least 1 packet")?;
        }
    }
    Ok(())
}

fn check_change(change: &Change, link: &Link, names: &Names, at: &[Step]) -> Checked {
    let Change { every, rate, delay, loss, queue, overtake, .. } = change;
    period(*every, &child(at, "every"))?;
    if rate.is_none() && delay.is_none() && loss.is_none() && queue.is_none() {
        fail(at, "what changes? `rate`, `delay`, `loss` or `queue`")?;
    }
    if let Some(rate) = *rate {
        positive_rate(rate, &child(at, "rate"))?;
        if link.trace.is_some() {
            fail(&child(at, "rate"), "the link has a trace, which sets the rate; leave it out")?;
        }
    }
    if *overtake && delay.is_none() {
        fail(&child(at, "overtake"), "it says what a new `delay` does; this sets none")?;
    }
    for (i, loss) in loss.iter().flatten().enumerate() {
        let at = child(&child(at, "loss"), i);
        check_loss(loss, names, &at)?;
        if matches!(loss, Loss::Drop(_)) {
            fail(&at, "a drop list names packets at any time; put it into the link's own `loss`")?;
        }
    }
    if let Some(queue) = queue {
        check_queue(Some(queue), &child(at, "queue"))?;
        let droptail = |queue: &Queue| matches!(queue, Queue::Droptail(_));
        if !droptail(queue) || !link.queue.as_ref().is_none_or(droptail) {
            let message = "only a drop-tail queue changes, and stays one: \
                           `queue = { droptail = { packets = 20 } }`";
            fail(&child(at, "queue"), message)?;
        }
    }
    Ok(())
}

/// Two changes that always come together do not set the same.
fn check_alone(change: &Change, before: &[Change], at: &[Step]) -> Checked {
    for (i, other) in before.iter().enumerate() {
        if (other.at, other.every) != (change.at, change.every) {
            continue;
        }
        let both = [
            ("rate", other.rate.is_some() && change.rate.is_some()),
            ("delay", other.delay.is_some() && change.delay.is_some()),
            ("loss", other.loss.is_some() && change.loss.is_some()),
            ("queue", other.queue.is_some() && change.queue.is_some()),
        ];
        if let Some((key, _)) = both.iter().find(|(_, both)| *both) {
            let message =
                format!("change[{i}] sets it at the same time, {}; leave one out", other.at);
            fail(&child(at, *key), message)?;
        }
    }
    Ok(())
}

fn check_outage(outage: &Outage, at: &[Step]) -> Checked {
    if outage.lasts.0 == Span::ZERO {
        fail(&child(at, "for"), "an outage lasts longer than 0s")?;
    }
    period(outage.every, &child(at, "every"))?;
    if let Some(every) = outage.every
        && every <= outage.lasts
    {
        let least =
            format!("this outage never ends; `every` is longer than `for`, {}", outage.lasts);
        fail(&child(at, "every"), least)?;
    }
    Ok(())
}
