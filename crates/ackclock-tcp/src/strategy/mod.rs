//! A strategy is a named composition of mechanisms, one for each axis; this is the list of the names.

mod mechanisms;
mod presets;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::axes::{
    Ambiguity, Detect, DetectRetransmission, Fill, Probe, Regulate, Response, Select, Timer, Undo, Window,
};
use crate::recovery::{DupackCount, Head, Inflate, LowerTwice, NoBugfix, RenoWindow, Rfc6298};

pub use mechanisms::MECHANISMS;
pub use presets::PRESETS;

/// One mechanism an axis: what a connection needs to know of loss recovery.
pub struct Strategy {
    /// Whether it makes use of SACK, so that SACK is worth negotiating.
    pub uses_sack: bool,
    /// What is lost now.
    pub detect: Box<dyn Detect>,
    /// May these duplicates begin a recovery.
    pub ambiguity: Box<dyn Ambiguity>,
    /// Is a retransmission lost.
    pub retransmission: Option<Box<dyn DetectRetransmission>>,
    /// What a lost retransmission does to the windows.
    pub response: Box<dyn Response>,
    /// What goes next.
    pub select: Box<dyn Select>,
    /// What goes in place of new data.
    pub fill: Option<Box<dyn Fill>>,
    /// How much may go.
    pub regulate: Box<dyn Regulate>,
    /// What is sent before recovery begins.
    pub probes: Vec<Box<dyn Probe>>,
    /// Was it spurious.
    pub undo: Vec<Box<dyn Undo>>,
    /// The window law.
    pub window: Box<dyn Window>,
    /// The retransmission timer.
    pub timer: Box<dyn Timer>,
}

/// An axis of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// What is lost now, or when will we know.
    Detect,
    /// May these duplicates begin a recovery.
    Ambiguity,
    /// Is a retransmission lost.
    Retransmission,
    /// What a lost retransmission does to the windows.
    Response,
    /// What goes next.
    Select,
    /// What goes when there is no new data.
    Fill,
    /// How much this ACK may release.
    Regulate,
    /// What is sent before recovery begins.
    Probe,
    /// Was it spurious.
    Undo,
    /// Target after a loss, growth.
    Window,
    /// When does the RTO fire.
    Timer,
}

impl Axis {
    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::Detect => "detect",
            Axis::Ambiguity => "ambiguity",
            Axis::Retransmission => "retransmission",
            Axis::Response => "response",
            Axis::Select => "select",
            Axis::Fill => "fill",
            Axis::Regulate => "regulate",
            Axis::Probe => "probe",
            Axis::Undo => "undo",
            Axis::Window => "window",
            Axis::Timer => "timer",
        }
    }
}

/// A mechanism as the list names it.
pub struct Mechanism {
    /// Its name in a composition.
    pub name: &'static str,
    /// Its axis.
    pub axis: Axis,
    /// Where it is specified.
    pub source: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    apply: fn(&mut Strategy),
}

/// A named composition.
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The mechanisms it is made of, by name.
    pub mechanisms: &'static [&'static str],
    /// Where it is specified.
    pub source: &'static str,
}

/// Why a composition is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName(pub String);

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is neither a preset nor a mechanism", self.0)
    }
}

impl core::error::Error for UnknownName {}

/// A parsed composition such as `newreno+lt`, from which any number of strategies can be built.
#[derive(Clone)]
pub struct Composition {
    name: String,
    mechanisms: Vec<&'static Mechanism>,
}

impl Composition {
    /// Parses a preset, or mechanisms, joined by `+`. What no part of it names is as in Reno. A name that is both stands
    /// for the preset in first place, and for the mechanism after that.
    ///
    /// # Errors
    /// The first name that stands in neither list.
    pub fn parse(text: &str) -> Result<Composition, UnknownName> {
        let mut mechanisms = Vec::new();
        for (place, name) in text.split('+').enumerate() {
            let shadowed = place > 0 && MECHANISMS.iter().any(|m| m.name == name);
            let preset = PRESETS.iter().find(|p| p.name == name && !shadowed).map(|p| p.mechanisms);
            for part in preset.unwrap_or(&[name]) {
                let found = MECHANISMS.iter().find(|m| m.name == *part);
                mechanisms.push(found.ok_or_else(|| UnknownName(part.to_string()))?);
            }
        }
        Ok(Composition { name: text.to_string(), mechanisms })
    }

    /// This composition with a mechanism before all of its own, so that one of them on the same axis replaces it.
    ///
    /// # Errors
    /// The name, if no mechanism has it.
    pub fn or(mut self, mechanism: &str) -> Result<Composition, UnknownName> {
        let found = MECHANISMS.iter().find(|m| m.name == mechanism);
        self.mechanisms.insert(0, found.ok_or_else(|| UnknownName(mechanism.to_string()))?);
        Ok(self)
    }

    /// The name of the composition that bounds this one (`recovery/oracle.rs`): the preset `oracle` or `oracle-drop` with the same
    /// window law, and with the same timer, whose RTO says after what pause cwnd falls back.
    pub fn bound(&self, oracle: &str) -> String {
        let on = |axis| self.mechanisms.iter().filter(move |m| m.axis == axis).map(|m| m.name);
        let names: Vec<&str> = on(Axis::Timer).chain([oracle]).chain(on(Axis::Window)).collect();
        names.join("+")
    }

    /// The text it was parsed from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A fresh strategy for one connection.
    pub fn build(&self) -> Strategy {
        let mut strategy = Strategy {
            uses_sack: false,
            detect: Box::new(DupackCount),
            ambiguity: Box::new(NoBugfix),
            retransmission: None,
            response: Box::new(LowerTwice),
            select: Box::new(Head),
            fill: None,
            regulate: Box::new(Inflate::to_ssthresh()),
            probes: Vec::new(),
            undo: Vec::new(),
            window: Box::new(RenoWindow::per_ack()),
            timer: Box::new(Rfc6298::default()),
        };
        for mechanism in &self.mechanisms {
            (mechanism.apply)(&mut strategy);
        }
        strategy
    }
}

impl fmt::Debug for Composition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Composition").field(&self.name).finish()
    }
}
