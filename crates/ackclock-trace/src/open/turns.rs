//! How often the ends take turns in sending: a request, its answer, the next request.

use ackclock_tcp::Span;

#[derive(Clone, Copy, Default)]
pub(super) struct Turns {
    /// The end that has sent data last, counted from 1; 0 if none has.
    last: u8,
    /// Of each end.
    taken: [u32; 2],
}

impl Turns {
    /// An end sends data that is new, so long `since` the other end's data. Where it has waited for
    /// that, it comes `within` some time.
    #[inline]
    pub fn sent(&mut self, end: usize, since: Span, within: Span) {
        let end_now = end as u8 + 1;
        if self.last != end_now {
            if self.last == 0 || since <= within {
                self.taken[end] = self.taken[end].saturating_add(1);
            }
            self.last = end_now;
        }
    }

    /// How often this end began to send, at first or at once after the other one.
    pub fn of(&self, end: usize) -> u64 {
        self.taken[end].into()
    }
}
