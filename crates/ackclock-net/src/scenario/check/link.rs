//! Links.

use ackclock_tcp::Span;

use super::loss::{check_fate, check_loss};
use super::queue::check_queue;
use super::varying::check_varying;
use crate::scenario::error::{Checked, fail};
use crate::scenario::model::Link;
use crate::scenario::names::Names;
use crate::scenario::path::{Step, child, steps};

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
