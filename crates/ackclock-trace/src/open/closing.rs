//! A FIN that goes again, and is only an ACK.

use ackclock_tcp::Time;

use super::Open;
use super::input::Data;

impl Open {
    /// A FIN or a reset of `one`, which had acknowledged up to `una` before. Returns whether it is
    /// nothing but an ACK.
    #[cold]
    pub(super) fn ends_or_answers(
        &mut self,
        one: usize,
        data: Option<&Data>,
        una: u64,
        at: Time,
    ) -> bool {
        if self.waits() {
            self.clock.gives_up(self.senders[1].since_asked(at));
        }
        data.is_some_and(|data| self.answers_fin(one, data, una, at))
    }

    /// Whether this acknowledges the other end's FIN, and goes for that. In CLOSING, when both ends
    /// have closed at the same time, a bare ACK does that (RFC 9293 section 3.6, figure 13). But
    /// stacks that descend from 4.4BSD go back to their own FIN for it (`tcp_output`), if that was
    /// not acknowledged. It goes at once, for the first time, so that no timer has expired. Its own
    /// FIN may still be on its way then, in queues as long as the path: one that would have come
    /// was lost, and this repairs that.
    fn answers_fin(&self, one: usize, data: &Data, una: u64, at: Time) -> bool {
        let other = &self.ends[1 - one];
        let first = una < other.una() && other.is_closed();
        let [own, others] = [one, 1 - one].map(|end| at.since(self.place.last_data(end)));
        let crossed = self.place.whole_trip().is_some_and(|trip| own < trip.times(2));
        let at_once = crossed && others <= self.place.at_once(one);
        data.again && data.fin && data.len == 0 && first && at_once
    }
}
