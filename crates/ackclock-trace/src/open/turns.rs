//! How often the ends take turns in sending: a request, its answer, the next request.

#[derive(Clone, Copy, Default)]
pub(super) struct Turns {
    /// The end that has sent data last, counted from 1; 0 if none has.
    last: u8,
    /// Of each end.
    taken: [u32; 2],
    /// The server has begun.
    greeted: bool,
}

impl Turns {
    /// An end sends data that is new. `at_once`: whether that comes as soon after the other end's
    /// data as if it had waited for it.
    #[inline]
    pub fn sent(&mut self, end: usize, at_once: impl FnOnce() -> bool) {
        let end_now = end as u8 + 1;
        if self.last != end_now {
            if self.last == 0 || at_once() {
                self.taken[end] = self.taken[end].saturating_add(1);
            }
            self.last = end_now;
        }
    }

    /// The server sends data or its FIN, and the client has not sent any data.
    pub fn greets(&mut self) {
        self.greeted = true;
    }

    /// It has done so.
    pub fn has_greeted(&self) -> bool {
        self.greeted
    }

    /// How often this end began to send, at first or at once after the other one.
    pub fn of(&self, end: usize) -> u64 {
        self.taken[end].into()
    }
}
