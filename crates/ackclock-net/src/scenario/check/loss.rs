//! Losses and fates on links.

use ackclock_tcp::Span;

use super::ranges::{positive_rate, size_within};
use crate::scenario::error::{Checked, fail, nearest};
use crate::scenario::model::{Fate, Loss};
use crate::scenario::names::Names;
use crate::scenario::path::{Step, child};

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
        size_within(Some(l.burst), u64::from(u32::MAX), &child(&at, "burst"))?;
    }
    if let Loss::Drop(l) = loss
        && l.segments.is_empty()
        && l.retransmissions.is_empty()
    {
        fail(&at, "what is dropped? `segments = [14, 26]` or `retransmissions = [\"14:1\"]`")?;
    }
    known_flow(flow.as_ref(), names, &at)
}

pub(super) fn check_fate(fate: &Fate, names: &Names, at: &[Step]) -> Checked {
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
