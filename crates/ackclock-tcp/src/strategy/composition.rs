//! A composition: the mechanisms that a strategy is made of.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{Axis, Mechanism, Strategy};

/// The presets that bound others ([`Composition::bound`]): a sender that is notified of a loss a
/// round trip after it sent the segment, and one that is notified at the drop.
pub const ORACLES: [&str; 2] = ["oracle", "oracle-drop"];

/// A parsed composition such as `newreno+lt`, from which any number of strategies can be built.
#[derive(Clone)]
pub struct Composition {
    pub(super) name: String,
    pub(super) mechanisms: Vec<Mechanism>,
    pub(super) without_sack: Option<Vec<Mechanism>>,
}

impl Composition {
    /// The text it was parsed from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its mechanisms, in the order in which they are put together.
    pub fn mechanisms(&self) -> &[Mechanism] {
        &self.mechanisms
    }

    /// The mechanisms that take their place where SACK was not negotiated
    /// ([`Mechanism::without_sack`]); `None` if these stay.
    pub fn without_sack(&self) -> Option<&[Mechanism]> {
        self.without_sack.as_deref()
    }

    /// A fresh strategy for one connection.
    pub fn build(&self) -> Strategy {
        let without_sack = self.without_sack.as_deref().map(|m| Box::new(assemble(m)));
        Strategy { without_sack, ..assemble(&self.mechanisms) }
    }

    /// This composition with a mechanism before all of its own, so that one of them on the same
    /// axis replaces it.
    pub fn or(mut self, mechanism: &Mechanism) -> Composition {
        for mechanisms in [Some(&mut self.mechanisms), self.without_sack.as_mut()] {
            mechanisms.into_iter().for_each(|m| m.insert(0, mechanism.clone()));
        }
        self
    }

    /// The name of the composition that bounds this one (`recovery/detect/notified.rs`): one of
    /// [`ORACLES`] with the same window law, and with the same timer, whose RTO says
    /// after what pause cwnd falls back.
    pub fn bound(&self, oracle: &str) -> String {
        let on = |axis| self.mechanisms.iter().filter(move |m| m.axis == axis);
        let names = on(Axis::Timer).map(|m| &*m.name);
        let names = names.chain([oracle]).chain(on(Axis::Window).map(|m| &*m.name));
        names.collect::<Vec<_>>().join("+")
    }
}

/// A strategy of these mechanisms.
pub(super) fn assemble(mechanisms: &[Mechanism]) -> Strategy {
    let mut strategy = Strategy::default();
    for mechanism in mechanisms {
        mechanism.install(&mut strategy);
    }
    strategy
}

impl fmt::Debug for Composition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Composition").field(&self.name).finish()
    }
}
