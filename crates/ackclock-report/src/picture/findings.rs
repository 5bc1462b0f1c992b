//! What an analysis says of a flow beyond its events.

use ackclock_tcp::Time;
use serde::Serialize;

/// Verdicts on a flow, drawn into its panel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Findings<'a> {
    /// Times in which nothing went on.
    pub stalls: &'a [Band],
    /// What became of retransmissions.
    pub fates: &'a [Fate],
    /// The classes of timeouts, by the time of the event, in order. They stand in place of those
    /// of the events, which have none for what the capture does not show.
    pub classes: &'a [(Time, &'static str)],
}

/// A time that is shaded, with its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// From here on.
    pub start: Time,
    /// Until then.
    pub end: Time,
    /// Its colour.
    pub tone: Tone,
    /// A few words that stand in it.
    pub label: String,
    /// Sentences for who hovers over it.
    pub why: String,
}

/// What held a flow up, as far as colours show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// The repair of a loss.
    Loss,
    /// The receiver's window.
    Window,
    /// Something else, or nobody knows.
    Other,
}

impl Tone {
    /// The name of its layer.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Tone::Loss => "loss",
            Tone::Window => "window",
            Tone::Other => "other",
        }
    }
}

/// What became of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Its first byte.
    pub seq: u64,
    /// Which transmission of this segment; 1 is the first.
    pub transmission: u32,
    /// It was lost.
    pub lost: bool,
    /// It was not needed, and this is the proof.
    pub spurious: Option<&'static str>,
    /// A router had asked for it, which is no cause of an engine's.
    pub too_big: bool,
}
