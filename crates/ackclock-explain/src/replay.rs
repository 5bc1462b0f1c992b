//! What would have saved it: the time around a timeout, again, under other strategies.

use ackclock_tcp::Span;
use ackclock_trace::Timeout;
use serde::Serialize;

/// What one strategy would have made of an episode, by estimate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rescue {
    /// The strategy, as `ackclock strategies` names it.
    pub strategy: &'static str,
    /// The one mechanism that it has and the baseline has not, or the name of the whole.
    pub mechanism: &'static str,
    /// Whether it repairs the losses without a timeout.
    pub avoided: bool,
    /// Estimated seconds from the first transmission of the episode to the end of the repair.
    pub took_s: f64,
    /// Estimated seconds saved against what was observed; negative if it would have taken longer.
    pub saved_s: f64,
}

/// Each strategy that may have saved a timeout; empty if the episode is not known.
pub fn replay(_timeout: &Timeout) -> Vec<Rescue> {
    let _: Option<Span> = None;
    todo!()
}
