//! What was measured, under names such as `timeouts/newreno`.

use std::collections::BTreeMap;

/// Something measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Measurement {
    /// One number for each run, in the order of the seeds; NaN where it does not exist, such as the
    /// completion of a transfer that is not complete, or a share of nothing.
    Samples(Vec<f64>),
    /// A sequence, or a word for what did not happen.
    Text(String),
}

/// By their names: `MEASURE/STRATEGY`, `MEASURE/STRATEGY/FLOW` or `STEP/STRATEGY/ASPECT`.
pub(crate) type Measurements = BTreeMap<String, Measurement>;
