//! What applications send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::is_default;
use super::distribution::Distribution;
use crate::scenario::units::{Amount, Duration, Rate, Size};

/// What an application writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Source {
    /// Without end.
    #[default]
    Bulk,
    /// So many bytes, then it closes.
    Bytes(Size),
    /// So many full segments, then it closes.
    Segments(u64),
    /// As many bytes as are drawn from a distribution, then it closes. Each copy of the flow draws
    /// its own.
    Draw(Distribution),
    /// By turns at a constant rate and silent; begins with a burst.
    OnOff(OnOff),
    /// An application that stalls: so much at each time, in ascending order; then it closes.
    Writes(Vec<Write>),
    /// A Web server on a persistent connection; then it closes.
    Web(Web),
}

/// An on-off source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OnOff {
    /// Length of a burst.
    pub on: Duration,
    /// Length of the silence between two bursts.
    pub off: Duration,
    /// Rate during a burst.
    pub rate: Rate,
    /// What is written at once; one segment if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Amount>,
    /// `on` and `off` are means of exponential distributions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exponential: bool,
}

impl OnOff {
    /// A source whose bursts and silences are always this long.
    pub fn new(on: Duration, off: Duration, rate: Rate) -> Self {
        OnOff { on, off, rate, write: None, exponential: false }
    }
}

/// Responses over a persistent connection. Each is one write; the next one follows when the last
/// one has been acknowledged in full, after a think time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Web {
    /// The mean number of responses on a connection, 1 to 1,000,000; geometrically distributed.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub responses: f64,
    /// Every connection has exactly `responses` of them, which is then a whole number.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exactly: bool,
    /// The size of each response.
    pub size: Distribution,
    /// Mean of the exponentially distributed think time before the next response; `0s` for none.
    pub think: Duration,
}

impl Web {
    /// Responses whose number is geometrically distributed.
    pub fn new(responses: f64, size: Distribution, think: Duration) -> Self {
        Web { responses, exactly: false, size, think }
    }
}

/// One write of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// When, from the start of the flow.
    pub at: Duration,
    /// How much.
    pub amount: Amount,
}
