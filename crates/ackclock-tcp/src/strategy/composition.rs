//! A composition: the mechanisms that a strategy is made of.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{Axis, Mechanism, Strategy};
use crate::recovery::detect::Notices;

/// The presets that bound others ([`Composition::bound`]): a sender that is notified of a loss a
/// round trip after it sent the segment, and one that is notified at the drop.
pub const ORACLES: [&str; 2] = ["oracle", "oracle-drop"];

/// A parsed composition such as `newreno+lt`, from which any number of strategies can be built.
#[derive(Clone)]
pub struct Composition {
    pub(super) name: String,
    pub(super) mechanisms: Vec<Mechanism>,
    /// Unless the sender is notified of losses. Its mechanism has to be built to be asked that, and
    /// one of others may fail then: so it is asked for a connection, and not for a name.
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
        let others = self.without_sack.as_deref()?;
        infers(&assemble(&self.mechanisms)).then_some(others)
    }

    /// A fresh strategy for one connection.
    pub fn build(&self) -> Strategy {
        let strategy = assemble(&self.mechanisms);
        let others = self.without_sack.as_deref().filter(|_| infers(&strategy));
        Strategy { without_sack: others.map(|m| Box::new(assemble(m))), ..strategy }
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

/// Whether it infers losses. A sender that is notified of them does not, with or without SACK.
fn infers(strategy: &Strategy) -> bool {
    strategy.detect.notices() == Notices::Never
}

/// A strategy of these mechanisms.
fn assemble(mechanisms: &[Mechanism]) -> Strategy {
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
