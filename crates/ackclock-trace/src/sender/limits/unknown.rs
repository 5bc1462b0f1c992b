//! Silence that is none of loss recovery's: nothing was outstanding.

use ackclock_tcp::Time;

use super::Limits;

impl Limits {
    /// When a keep-alive last went out.
    pub fn alive(&self) -> Time {
        self.waits.as_ref().map_or(Time::ZERO, |waits| waits.silence.alive())
    }
}
