//! Miyake & Inamura 2005, section 3.2, option I: a lost retransmission changes no window.

use super::Response;
use crate::recovery::window::{Window, Windows};
use crate::state::State;

/// Option I: nothing, since both losses lie "within a single transmission window".
pub struct Response1;

impl Response for Response1 {
    fn on_lost(&mut self, s: &State, _law: &mut dyn Window) -> Windows {
        Windows::unchanged(s)
    }
}
