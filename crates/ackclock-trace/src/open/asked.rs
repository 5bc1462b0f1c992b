//! What the client asked last, and whether the server owes an answer.

use super::input::Data;
use crate::sender::FAREWELL;

#[derive(Default)]
pub(super) struct Asked {
    /// Bytes that the client has sent since the server last sent data, at most 255.
    bytes: u8,
    /// The server has sent data before.
    spoken: bool,
}

impl Asked {
    /// An end sends data that is new.
    #[inline]
    pub fn sent(&mut self, end: usize, data: &Data) {
        if data.len == 0 {
            return;
        }
        if end == 1 {
            *self = Asked { bytes: 0, spoken: true };
        } else {
            self.bytes = self.bytes.saturating_add(u8::try_from(data.len).unwrap_or(u8::MAX));
        }
    }

    /// The client waits for an answer. A server that has spoken owes none to a few bytes: control
    /// frames acknowledge what it said, or are a farewell.
    pub fn is_owed(&self) -> bool {
        u64::from(self.bytes) > if self.spoken { FAREWELL } else { 0 }
    }
}
