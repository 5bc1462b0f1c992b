//! Connections and streams of datagrams.

use ackclock_tcp::recovery::detect::Notices;
use ackclock_tcp::{Composition, Registry, Span};

use super::names::check_ends;
use super::ranges::{positive_rate, size_within};
use super::source::check_source;
use super::tcp::check_tcp;
use crate::scenario::error::{Checked, fail, nearest};
use crate::scenario::model::{Arrivals, Cbr, Flow};
use crate::scenario::names::Names;
use crate::scenario::path::{Step, child};
use crate::scenario::units::Duration;

/// Checks the connection under the key `at`.
pub(super) fn check_flow(flow: &Flow, names: &Names, at: &[Step]) -> Checked {
    check_ends(&flow.from, &flow.to, flow.count, names, at)?;
    stop_after(flow.stop, flow.start, at)?;
    if let Some(Arrivals::Poisson(mean)) = flow.arrivals {
        if mean.0 == Span::ZERO {
            fail(&child(at, "arrivals.poisson"), "the mean distance of two arrivals is above 0s")?;
        }
        if flow.start_step.0 != Span::ZERO {
            fail(&child(at, "start_step"), "either `start_step` or `arrivals`, not both")?;
        }
    }
    check_tcp(&flow.tcp, &child(at, "tcp"))?;
    check_source(&flow.source, &child(at, "source"))
}

/// Checks the stream under the key `at`.
pub(super) fn check_cbr(cbr: &Cbr, names: &Names, at: &[Step]) -> Checked {
    check_ends(&cbr.from, &cbr.to, cbr.count, names, at)?;
    positive_rate(cbr.rate, &child(at, "rate"))?;
    size_within(cbr.packet_size, 65_535, &child(at, "packet_size"))?;
    stop_after(cbr.stop, cbr.start, at)
}

fn stop_after(stop: Option<Duration>, start: Duration, at: &[Step]) -> Checked {
    match stop {
        Some(stop) if stop <= start => {
            fail(&child(at, "stop"), format!("{stop} is not after the start at {start}"))
        }
        _ => Ok(()),
    }
}

/// Whether `text` is a composition of what is registered, such as `sack+lt`.
///
/// # Errors
/// What is wrong with it, and which name is most like it.
pub fn check_strategy(text: &str, registry: &Registry) -> Result<(), String> {
    let Err(unknown) = registry.parse(text) else { return Ok(()) };
    let names: Vec<&str> = registry.names().collect();
    let hint = match nearest(&unknown.name, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`ackclock strategies` lists them".into(),
    };
    Err(format!("{unknown}; {hint}"))
}

/// The composition that `text` names, if it needs no oracle: one that a sender can follow that no
/// network notifies of losses.
///
/// # Errors
/// As [`check_strategy`], and where it needs an oracle.
pub fn deployable(text: &str, registry: &Registry) -> Result<Composition, String> {
    check_strategy(text, registry)?;
    let composition = registry.parse(text).map_err(|e| e.to_string())?;
    if composition.build().detect.notices() != Notices::Never {
        return Err(format!(
            "`{text}` has to be notified of losses, which only a simulated network does"
        ));
    }
    Ok(composition)
}
