//! Mechanisms and presets as the registry lists them.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::mem::replace;

use super::Strategy;
use crate::recovery::ambiguity::{Ambiguity, NoBugfix};
use crate::recovery::detect::{Detect, DupackCount};
use crate::recovery::fill::Fill;
use crate::recovery::pacing::Pacing;
use crate::recovery::probe::Probe;
use crate::recovery::regulate::{Pipe, Regulate};
use crate::recovery::response::{LowerTwice, Response};
use crate::recovery::retransmission::DetectRetransmission;
use crate::recovery::row::Make;
use crate::recovery::segmentation::Segmentation;
use crate::recovery::select::{Head, Select};
use crate::recovery::timer::{Rfc6298Timer, Timer};
use crate::recovery::undo::Undo;
use crate::recovery::window::{RenoWindow, Window};
use crate::recovery::{Row, WithoutSack};

/// An axis of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// When may a segment leave.
    Segmentation,
    /// At what rate may segments leave.
    Pacing,
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
    /// All axes, in the order in which an ACK meets them.
    pub const ALL: [Axis; 13] = [
        Axis::Detect,
        Axis::Ambiguity,
        Axis::Retransmission,
        Axis::Response,
        Axis::Select,
        Axis::Fill,
        Axis::Regulate,
        Axis::Segmentation,
        Axis::Pacing,
        Axis::Probe,
        Axis::Undo,
        Axis::Window,
        Axis::Timer,
    ];

    /// The question that the axis answers.
    pub const fn question(self) -> &'static str {
        match self {
            Axis::Detect => "what is lost now, or when will we know",
            Axis::Ambiguity => "may these duplicates begin a recovery",
            Axis::Retransmission => "is a retransmission lost",
            Axis::Response => "what does a lost retransmission do to the windows",
            Axis::Select => "what goes next, and when is recovery over",
            Axis::Fill => "what goes when there is no new data",
            Axis::Regulate => "how much may this ACK release",
            Axis::Segmentation => "when may a segment leave, and which one asks for an ACK",
            Axis::Pacing => "at what rate may segments leave",
            Axis::Probe => "what is sent before recovery begins",
            Axis::Undo => "was it spurious, and what follows if so",
            Axis::Window => "growth, and the target after a loss",
            Axis::Timer => "when does the retransmission timer expire",
        }
    }

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
            Axis::Segmentation => "segmentation",
            Axis::Pacing => "pacing",
            Axis::Probe => "probe",
            Axis::Undo => "undo",
            Axis::Window => "window",
            Axis::Timer => "timer",
        }
    }
}

/// A mechanism as the registry lists it, whatever its axis. A [`Row`] becomes one.
#[derive(Clone)]
#[non_exhaustive]
pub struct Mechanism {
    /// Its name in a composition.
    pub name: Cow<'static, str>,
    /// Its axis.
    pub axis: Axis,
    /// Where it is specified.
    pub source: Cow<'static, str>,
    /// The one sentence of the source that it implements.
    pub sentence: Cow<'static, str>,
    /// What it does, in a line.
    pub summary: Cow<'static, str>,
    /// The file that implements it.
    pub file: Cow<'static, str>,
    /// Connections negotiate SACK for it.
    pub needs_sack: bool,
    /// What becomes of it where SACK was not negotiated.
    pub without_sack: WithoutSack,
    /// Whether it changes the one before it on its axis, and does not replace it.
    wraps: bool,
    install: Arc<dyn Fn(&mut Strategy) + Send + Sync>,
}

impl Mechanism {
    fn new<T: ?Sized>(
        axis: Axis,
        row: Row<T>,
        install: impl Fn(&mut Strategy) + Send + Sync + 'static,
    ) -> Mechanism {
        Mechanism {
            name: row.name,
            axis,
            source: row.source,
            sentence: row.sentence,
            summary: row.summary,
            file: row.file,
            needs_sack: row.needs_sack,
            without_sack: row.without_sack,
            wraps: matches!(row.make, Make::Around(_)),
            install: Arc::new(install),
        }
    }

    /// Whether it takes the place of one that a composition names before it. Probes and undo
    /// mechanisms add up.
    pub fn replaces(&self, earlier: &Mechanism) -> bool {
        let adds_up = matches!(self.axis, Axis::Probe | Axis::Undo);
        self.axis == earlier.axis && !self.wraps && !adds_up
    }

    /// Puts a fresh one into a strategy.
    pub(super) fn install(&self, s: &mut Strategy) {
        s.uses_sack |= self.needs_sack;
        (self.install)(s);
    }
}

impl fmt::Debug for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mechanism").field(&self.name).finish()
    }
}

/// How a row of an axis becomes a mechanism: what is taken out of the strategy to be wrapped, and
/// where the new one goes.
macro_rules! axis {
    ($trait:ident, $axis:ident, $take:expr, $put:expr) => {
        impl From<Row<dyn $trait>> for Mechanism {
            fn from(row: Row<dyn $trait>) -> Mechanism {
                let make = row.make.clone();
                Mechanism::new(Axis::$axis, row, move |s| {
                    let take: fn(&mut Strategy) -> Option<Box<dyn $trait>> = $take;
                    let put: fn(&mut Strategy, Box<dyn $trait>) = $put;
                    match &make {
                        Make::New(make) => put(s, make()),
                        // Where there is nothing to wrap, there is nothing.
                        Make::Around(make) => {
                            if let Some(inner) = take(s) {
                                put(s, make(inner));
                            }
                        }
                    }
                })
            }
        }
    };
}

/// Adds one to a list. Most flows have one at most, and a list that grows by itself has room for
/// four.
fn add<T>(list: &mut Vec<T>, one: T) {
    list.reserve_exact(1);
    list.push(one);
}

axis!(Detect, Detect, |s| Some(replace(&mut s.detect, Box::new(DupackCount))), |s, d| s.detect = d);
axis!(Ambiguity, Ambiguity, |s| Some(replace(&mut s.ambiguity, Box::new(NoBugfix))), |s, a| {
    s.ambiguity = a
});
axis!(DetectRetransmission, Retransmission, |s| s.retransmission.take(), |s, r| {
    s.retransmission = Some(r)
});
axis!(Response, Response, |s| Some(replace(&mut s.response, Box::new(LowerTwice))), |s, r| {
    s.response = r
});
axis!(Select, Select, |s| Some(replace(&mut s.select, Box::new(Head))), |s, x| s.select = x);
axis!(Fill, Fill, |s| s.fill.take(), |s, f| s.fill = Some(f));
axis!(Regulate, Regulate, |s| Some(replace(&mut s.regulate, Box::new(Pipe))), |s, r| {
    s.regulate = r
});
axis!(Segmentation, Segmentation, |s| s.segmentation.take(), |s, x| s.segmentation = Some(x));
axis!(Pacing, Pacing, |s| s.pacing.take(), |s, p| s.pacing = Some(p));
axis!(Probe, Probe, |s| s.probes.pop(), |s, p| add(&mut s.probes, p));
axis!(Undo, Undo, |s| s.undo.pop(), |s, u| add(&mut s.undo, u));
axis!(Window, Window, |s| Some(replace(&mut s.window, Box::new(RenoWindow))), |s, w| s.window = w);
axis!(Timer, Timer, |s| Some(replace(&mut s.timer, Box::new(Rfc6298Timer::default()))), |s, t| {
    s.timer = t
});

/// A named composition.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Preset {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it is made of, by name; mechanisms only.
    pub mechanisms: Vec<Cow<'static, str>>,
    /// Where it is specified.
    pub source: Cow<'static, str>,
}
