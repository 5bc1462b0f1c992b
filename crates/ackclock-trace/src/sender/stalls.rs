//! Stalls: no progress for longer than max(2 SRTT, RTO / 2).

use ackclock_tcp::Time;

use super::SenderModel;

#[derive(Debug, Default)]
pub(super) struct Watch {
    /// A gap in the capture ended here.
    pub gap: Time,
}

impl SenderModel {
    pub(super) fn stall_idle(&mut self, _at: Time) {}

    pub(super) fn stall_over(&mut self, _at: Time) {}
}
