//! What an end sends that carries nothing to the other one.

use ackclock_tcp::{Span, Time};

use super::{DelayedSender, Places};

impl DelayedSender {
    /// The end sends a keep-alive.
    #[cold]
    pub fn keeps_alive(&mut self, at: Time) {
        match &mut self.model {
            Some(model) => model.sender.keeps_alive(at),
            None => self.early.get_or_insert_default().alive = at,
        }
    }

    /// The end asks for room once more. `delay` as in [`DelayedSender::data`].
    #[cold]
    pub fn asks_again(&mut self, at: Time, frame: u64, delay: Span, places: &mut Places) {
        let Some(model) = &mut self.model else { return };
        model.arrive(at, delay, places);
        model.now = model.now.max(at);
        model.sender.asks_again(model.now, frame);
    }
}
