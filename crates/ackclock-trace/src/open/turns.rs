//! How often the ends take turns in sending: a request, its answer, the next request.

#[derive(Clone, Copy, Default)]
pub(super) struct Turns {
    /// The end that has sent data last, counted from 1; 0 if none has.
    last: u8,
    /// Of each end.
    taken: [u32; 2],
}

impl Turns {
    /// An end sends data that is new.
    #[inline]
    pub fn sent(&mut self, end: usize) {
        let end_now = end as u8 + 1;
        if self.last != end_now {
            self.last = end_now;
            self.taken[end] = self.taken[end].saturating_add(1);
        }
    }

    /// How often this end began to send, at first or after the other one.
    pub fn of(&self, end: usize) -> u64 {
        self.taken[end].into()
    }
}
