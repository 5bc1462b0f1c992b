//! The registry: every mechanism and preset that a composition can name.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::presets::presets;
use super::{Composition, Mechanism, Preset};
use crate::recovery::row::{Row, WithoutSack};
use crate::recovery::{
    ambiguity, detect, ff96, fill, ns2, pacing, probe, regulate, response, retransmission,
    segmentation, select, timer, undo, window,
};

/// Every mechanism and preset that a composition can name: those of this crate, and those that were
/// added. It is a value that is passed down to whoever reads the name of a strategy.
#[derive(Clone, Debug)]
pub struct Registry {
    mechanisms: Vec<Mechanism>,
    presets: Vec<Preset>,
}

/// The text is not a composition: one of its names is neither a preset nor a mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The first such name; empty where there is none, as in `sack+`.
    pub name: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.name {
            "" => write!(f, "a name is missing, as beside a `+`"),
            name => write!(f, "`{name}` is neither a preset nor a mechanism"),
        }
    }
}

impl core::error::Error for UnknownName {}

/// Why the registry does not take a mechanism or a preset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// Another one has this name.
    NameTaken(String),
    /// A composition could not name it: only letters, digits, `-`, `.` and `_` can stand in a name.
    NotAName(String),
    /// The preset, or what is to stand in without SACK, names what nobody knows.
    Unknown(UnknownName),
    /// What is to stand in without SACK is a mechanism of another axis.
    OtherAxis(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NameTaken(name) => write!(f, "the name `{name}` is taken"),
            Refused::NotAName(name) => write!(
                f,
                "`{name}` cannot be a name: use letters, digits, `-`, `.` and `_`, at least one"
            ),
            Refused::Unknown(unknown) => unknown.fmt(f),
            Refused::OtherAxis(name) => {
                write!(f, "`{name}` is a mechanism of another axis, and cannot stand in")
            }
        }
    }
}

impl core::error::Error for Refused {}

impl From<UnknownName> for Refused {
    fn from(unknown: UnknownName) -> Refused {
        Refused::Unknown(unknown)
    }
}

/// The rows of a folder of this crate as mechanisms.
fn of<T: ?Sized>(folder: &str, rows: Vec<Row<T>>) -> impl Iterator<Item = Mechanism>
where
    Mechanism: From<Row<T>>,
{
    rows.into_iter().map(move |mut row| {
        row.file = format!("crates/ackclock-tcp/src/recovery/{folder}/{}.rs", row.file).into();
        Mechanism::from(row)
    })
}

impl Default for Registry {
    /// The mechanisms and presets of this crate.
    fn default() -> Registry {
        let mechanisms = of("detect", detect::rows())
            .chain(of("ns2", ns2::detect_rows()))
            .chain(of("ambiguity", ambiguity::rows()))
            .chain(of("ns2", ns2::ambiguity_rows()))
            .chain(of("retransmission", retransmission::rows()))
            .chain(of("response", response::rows()))
            .chain(of("select", select::rows()))
            .chain(of("ff96", ff96::select_rows()))
            .chain(of("ns2", ns2::select_rows()))
            .chain(of("fill", fill::rows()))
            .chain(of("regulate", regulate::rows()))
            .chain(of("ff96", ff96::regulate_rows()))
            .chain(of("ns2", ns2::regulate_rows()))
            .chain(of("segmentation", segmentation::rows()))
            .chain(of("pacing", pacing::rows()))
            .chain(of("probe", probe::rows()))
            .chain(of("ns2", ns2::probe_rows()))
            .chain(of("undo", undo::rows()))
            .chain(of("window", window::rows()))
            .chain(of("ns2", ns2::window_rows()))
            .chain(of("timer", timer::rows()))
            .chain(of("ns2", ns2::timer_rows()))
            .collect();
        let mut registry = Registry { mechanisms, presets: Vec::new() };
        for (name, composition, source) in presets() {
            let added = registry.add_preset(name, composition, source);
            debug_assert_eq!(added, Ok(()));
        }
        registry
    }
}

impl Registry {
    /// Adds a mechanism.
    ///
    /// # Errors
    /// Where a mechanism or preset has the name already, no composition could name it, or what
    /// takes its place without SACK is no mechanism of its axis that is registered.
    pub fn add(&mut self, mechanism: impl Into<Mechanism>) -> Result<(), Refused> {
        let mechanism = mechanism.into();
        let taken =
            self.mechanism(&mechanism.name).is_some() || self.preset(&mechanism.name).is_some();
        check_name(&mechanism.name, taken)?;
        if let WithoutSack::Becomes(name) = &mechanism.without_sack {
            match self.mechanism(name) {
                None => return Err(UnknownName { name: name.to_string() }.into()),
                Some(other) if other.axis != mechanism.axis => {
                    return Err(Refused::OtherAxis(name.to_string()));
                }
                Some(_) => {}
            }
        }
        self.mechanisms.push(mechanism);
        Ok(())
    }

    /// Adds a preset: a name for a composition of what is registered already. It may have the name
    /// of a mechanism.
    ///
    /// # Errors
    /// Where a preset has the name already, no composition could name it, or the
    /// composition names what is not registered.
    pub fn add_preset(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        composition: &str,
        source: impl Into<Cow<'static, str>>,
    ) -> Result<(), Refused> {
        let name = name.into();
        check_name(&name, self.preset(&name).is_some())?;
        let mechanisms = self.parse(composition)?.mechanisms.into_iter().map(|m| m.name).collect();
        self.presets.push(Preset { name, mechanisms, source: source.into() });
        Ok(())
    }

    /// Parses a preset, or mechanisms, joined by `+`. Further mechanisms replace the one on the
    /// same axis, but probes and undo mechanisms add up, and a mechanism that wraps another keeps
    /// it. What no part names is as in Reno. A name that is both a preset's and a mechanism's
    /// stands for the preset in first place, and for the mechanism after that: `prr` is RFC 6675
    /// with PRR, `newreno+prr` NewReno with PRR.
    ///
    /// # Errors
    /// The first name that is not registered.
    pub fn parse(&self, text: &str) -> Result<Composition, UnknownName> {
        let mut mechanisms = Vec::new();
        for (place, name) in text.split('+').enumerate() {
            let mechanism = self.mechanism(name);
            match self.preset(name).filter(|_| place == 0 || mechanism.is_none()) {
                Some(preset) => {
                    mechanisms.extend(
                        preset.mechanisms.iter().filter_map(|m| self.mechanism(m)).cloned(),
                    );
                }
                None => {
                    let unknown = || UnknownName { name: name.to_string() };
                    mechanisms.push(mechanism.ok_or_else(unknown)?.clone());
                }
            }
        }
        let without_sack = self.without_sack(&mechanisms);
        Ok(Composition { name: text.to_string(), mechanisms, without_sack })
    }

    /// What takes the place of these mechanisms where SACK was not negotiated, unless the sender is
    /// notified of losses ([`Composition::without_sack`]).
    fn without_sack(&self, mechanisms: &[Mechanism]) -> Option<Vec<Mechanism>> {
        let goes = |m: &Mechanism| m.needs_sack && m.without_sack != WithoutSack::Stays;
        if !mechanisms.iter().any(goes) {
            return None;
        }
        let others = mechanisms.iter().filter_map(|m| match &m.without_sack {
            WithoutSack::Stays => Some(m),
            WithoutSack::Becomes(name) => self.mechanism(name),
            WithoutSack::Off => None,
        });
        Some(others.cloned().collect())
    }

    /// All mechanisms, by axis; those that were added last.
    pub fn mechanisms(&self) -> &[Mechanism] {
        &self.mechanisms
    }

    /// All presets; those that were added last.
    pub fn presets(&self) -> &[Preset] {
        &self.presets
    }

    /// The mechanism of this name.
    pub fn mechanism(&self, name: &str) -> Option<&Mechanism> {
        self.mechanisms.iter().find(|m| m.name == name)
    }

    /// The preset of this name.
    pub fn preset(&self, name: &str) -> Option<&Preset> {
        self.presets.iter().find(|p| p.name == name)
    }

    /// Every name that a composition can have: presets, then mechanisms. Some names are both.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.presets.iter().map(|p| &*p.name).chain(self.mechanisms.iter().map(|m| &*m.name))
    }
}

fn check_name(name: &str, taken: bool) -> Result<(), Refused> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if name.is_empty() || !name.chars().all(allowed) {
        return Err(Refused::NotAName(name.to_string()));
    }
    if taken { Err(Refused::NameTaken(name.to_string())) } else { Ok(()) }
}
