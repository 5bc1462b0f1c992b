//! A strategy: one mechanism for each axis; and the names under which they are put together.

mod composition;
mod mechanism;
mod presets;
mod registry;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::recovery::ambiguity::{Ambiguity, NoBugfix};
use crate::recovery::detect::{Detect, DupackCount};
use crate::recovery::fill::Fill;
use crate::recovery::pacing::Pacing;
use crate::recovery::probe::Probe;
use crate::recovery::regulate::{Inflate, Regulate};
use crate::recovery::response::{LowerTwice, Response};
use crate::recovery::retransmission::DetectRetransmission;
use crate::recovery::segmentation::Segmentation;
use crate::recovery::select::{Head, Select};
use crate::recovery::timer::{Rfc6298Timer, Timer};
use crate::recovery::undo::Undo;
use crate::recovery::window::{RenoWindow, Window};
use crate::state::State;

pub use composition::{Composition, ORACLES};
pub use mechanism::{Axis, Mechanism, Preset};
pub use registry::{Refused, Registry, UnknownName};

/// One mechanism for each axis: all that a connection needs to know of loss recovery. What is asked
/// on every ACK stands first.
#[repr(C)]
pub struct Strategy {
    /// The retransmission timer.
    pub timer: Box<dyn Timer>,
    /// The window law.
    pub window: Box<dyn Window>,
    /// What is lost now.
    pub detect: Box<dyn Detect>,
    /// How much may go.
    pub regulate: Box<dyn Regulate>,
    /// What is sent before recovery begins.
    pub probes: Vec<Box<dyn Probe>>,
    /// May these duplicates begin a recovery.
    pub ambiguity: Box<dyn Ambiguity>,
    /// What goes next.
    pub select: Box<dyn Select>,
    /// Was it spurious.
    pub undo: Vec<Box<dyn Undo>>,
    /// Is a retransmission lost.
    pub retransmission: Option<Box<dyn DetectRetransmission>>,
    /// What a lost retransmission does to the windows.
    pub response: Box<dyn Response>,
    /// What goes in place of new data.
    pub fill: Option<Box<dyn Fill>>,
    /// When may a segment leave; `None` for as soon as the windows let it.
    pub segmentation: Option<Box<dyn Segmentation>>,
    /// At what rate segments leave; `None` for as soon as they may.
    pub pacing: Option<Box<dyn Pacing>>,
    /// What takes its place where SACK was not negotiated; `None` for the strategy itself.
    pub without_sack: Option<Box<Strategy>>,
    /// Whether it makes use of SACK, so that SACK is worth negotiating.
    pub uses_sack: bool,
}

/// Mechanisms do not say what they are: [`Composition`] has the names.
impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strategy")
            .field("probes", &self.probes.len())
            .field("undo", &self.undo.len())
            .field("segmentation", &self.segmentation.is_some())
            .field("pacing", &self.pacing.is_some())
            .field("uses_sack", &self.uses_sack)
            .finish_non_exhaustive()
    }
}

impl Strategy {
    /// SACK was negotiated, or not: then what stands in for the strategy takes its place. Returns
    /// whether it makes use of SACK.
    pub(crate) fn settle_sack(&mut self, negotiated: bool) -> bool {
        let sack = negotiated && self.uses_sack;
        if !sack && let Some(other) = self.without_sack.take() {
            *self = *other;
        }
        sack
    }

    /// The rate of pacing may have changed.
    pub(crate) fn update_pacing(&mut self, s: &State) {
        if let Some(pacing) = &mut self.pacing {
            pacing.update(s, self.window.pacing_rate(s));
        }
    }
}

/// The mechanisms of [`Strategy::default`] by name, one for each axis that cannot be empty.
pub const DEFAULTS: [&str; 7] = [
    "dupack",
    "no-bugfix",
    "lower-twice",
    "head",
    "inflate-to-ssthresh",
    "reno-window",
    "rfc6298-timer",
];

impl Default for Strategy {
    /// What stands where a composition names no mechanism of an axis: Reno.
    fn default() -> Strategy {
        Strategy {
            uses_sack: false,
            without_sack: None,
            detect: Box::new(DupackCount),
            ambiguity: Box::new(NoBugfix),
            retransmission: None,
            response: Box::new(LowerTwice),
            select: Box::new(Head),
            fill: None,
            regulate: Box::new(Inflate::to_ssthresh()),
            probes: Vec::new(),
            undo: Vec::new(),
            segmentation: None,
            pacing: None,
            window: Box::new(RenoWindow),
            timer: Box::new(Rfc6298Timer::default()),
        }
    }
}
