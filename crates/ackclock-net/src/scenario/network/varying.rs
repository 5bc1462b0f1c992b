//! How links change with time.

use ackclock_tcp::{Span, Time};

use crate::scenario::error::{Checked, fail};
use crate::scenario::model::{Change, DropTail, Link, Loss, Outage, Queue, Scenario};
use crate::scenario::path::steps;
use crate::scenario::units::Duration;
use crate::{InOutage, Limit, Varying};

impl Scenario {
    /// Checks that all traces have been read, and that outages leave something of them.
    pub(crate) fn check_traces(&self) -> Checked {
        for (i, link) in self.links.iter().enumerate() {
            let Some(file) = &link.trace else { continue };
            let Some(trace) = &file.trace else {
                return fail(
                    &steps!["link", i, "trace"],
                    "this trace has not been read; a trace is a file beside that of a scenario, \
                     and is not read from elsewhere",
                );
            };
            let swallows = |outage: &Outage| build_outage(outage).swallows(trace);
            if let Some(j) = link.outages.iter().position(swallows) {
                return fail(
                    &steps!["link", i, "outage", j, "every"],
                    "the trace never delivers once this outage has begun: all its times fall into \
                     it; choose another `every`, or a shorter `for`",
                );
            }
        }
        Ok(())
    }

    /// Checks that each link may send something before the run ends.
    pub(super) fn check_delivers(&self) -> Checked {
        let lasts = self.duration.0;
        for (i, link) in self.links.iter().enumerate() {
            let trace = link.trace.as_ref().and_then(|file| file.trace.as_ref());
            if let Some(first) = trace.and_then(|trace| trace.times().next())
                && first > lasts.nanos()
            {
                let first = Duration(Span(first));
                let message = format!(
                    "the trace delivers nothing before the run ends, at {}: its first time is \
                     {first}",
                    self.duration
                );
                return fail(&steps!["link", i, "trace"], message);
            }
            let silent = |outage: &Outage| outage.from.0 == Span::ZERO && outage.lasts.0 >= lasts;
            if let Some(j) = link.outages.iter().position(silent) {
                let message = format!(
                    "nothing goes over this link before the run ends, at {}; a shorter `for`, or a \
                     later `from`",
                    self.duration
                );
                return fail(&steps!["link", i, "outage", j, "for"], message);
            }
        }
        Ok(())
    }
}

/// The rate in bits per second; of a trace, its mean.
pub(super) fn rate(link: &Link) -> u64 {
    let trace = link.trace.as_ref().and_then(|trace| trace.trace.as_ref());
    trace.map_or(link.rate.0, |trace| trace.mean_rate())
}

pub(super) fn build_varying(link: &Link, build_loss: impl Fn(&Loss) -> crate::Loss) -> Varying {
    Varying {
        trace: link.trace.as_ref().and_then(|trace| trace.trace.clone()),
        changes: link.changes.iter().map(|change| build_change(change, &build_loss)).collect(),
        outages: link.outages.iter().map(build_outage).collect(),
        aggregate: link.aggregate.as_ref().map(|aggregate| crate::Aggregate {
            lasts: aggregate.lasts.0,
            packets: aggregate.packets,
        }),
    }
}

fn build_change(change: &Change, build_loss: impl Fn(&Loss) -> crate::Loss) -> crate::Change {
    crate::Change {
        at: Time::ZERO + change.at.0,
        every: change.every.map(|every| every.0),
        rate: change.rate.map(|rate| rate.0),
        delay: change.delay.map(|delay| delay.0),
        overtake: change.overtake,
        loss: change.loss.as_ref().map(|loss| loss.iter().map(build_loss).collect()),
        limit: match &change.queue {
            Some(Queue::Droptail(queue)) => Some(limit(queue)),
            _ => None,
        },
    }
}

fn build_outage(outage: &Outage) -> crate::Outage {
    crate::Outage {
        from: Time::ZERO + outage.from.0,
        lasts: outage.lasts.0,
        every: outage.every.map(|every| every.0),
        queued: match outage.queued {
            crate::scenario::Queued::Hold => InOutage::Hold,
            crate::scenario::Queued::Drop => InOutage::Drop,
        },
    }
}

/// How much a drop-tail queue holds: one of its keys is set.
pub(super) fn limit(queue: &DropTail) -> Limit {
    match (queue.packets, queue.bytes) {
        (Some(packets), _) => Limit::Packets(packets),
        (None, bytes) => Limit::Bytes(bytes.map_or(0, |bytes| bytes.0)),
    }
}
