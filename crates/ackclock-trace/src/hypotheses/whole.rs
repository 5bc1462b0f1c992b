//! Candidates that explain all of a connection.

use ackclock_tcp::{Span, Time};

use super::Passed;
use super::division::Divided;
use super::script::Script;
use super::start::Start;
use super::trial::{Budget, Lists, Setting, Trial};
use crate::sender::Terms;

/// The best candidates that explain all of a connection, from its beginning on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wholes {
    pub any: Option<Whole>,
    /// Of those that have retransmitted nothing. Others may cost less: a timer that expires just
    /// before something was seen says when that was sent, and a pause of the application does not.
    pub calm: Option<Whole>,
}

/// A candidate that explains all of a connection.
#[derive(Clone, Copy)]
pub(crate) struct Whole {
    pub cost: f32,
    pub(super) start: Start,
    pub(super) paused: bool,
    pub(super) setting: Setting,
}

impl Whole {
    /// What limited it until `end` at least. `least`: no round trip is shorter.
    pub fn divided(
        &self,
        terms: Terms,
        passed: Passed<'_>,
        end: Time,
        least: Span,
    ) -> Option<Divided> {
        let script = Script::new(terms, passed.entries, &self.start, self.paused)?;
        let mut lists = Lists::default();
        let mut trial = Trial::divided(&script, &self.setting, &mut lists, passed, least);
        trial.go(&Budget { most: f32::INFINITY, best: &[] });
        trial.into_divided(end)
    }
}
