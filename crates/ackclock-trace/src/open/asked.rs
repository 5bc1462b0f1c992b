//! What the client asked last, and whether the server owes an answer.

use super::input::Data;
use crate::sender::FAREWELL;

/// One request has so many bytes at most: what goes out at once (the initial window of RFC 3390).
const REQUEST: u16 = 4380;

#[derive(Default)]
pub(super) struct Asked {
    /// Bytes that the client has sent since the server last sent data, at most 65535.
    bytes: u16,
    /// It sent more when the server had acknowledged all of them.
    more: bool,
    /// The server has sent data before.
    spoken: bool,
}

impl Asked {
    /// An end sends data that is new, or that its FIN has overtaken. `taken`: all before is
    /// acknowledged.
    #[inline]
    pub fn sent(&mut self, end: usize, data: &Data, taken: bool) {
        if data.len == 0 {
            return;
        }
        if end == 1 {
            *self = Asked { spoken: true, ..Asked::default() };
        } else {
            self.more |= self.bytes > 0 && taken;
            self.bytes = self.bytes.saturating_add(u16::try_from(data.len).unwrap_or(u16::MAX));
        }
    }

    /// The client waits for an answer. A server that has spoken owes none to a few bytes: control
    /// frames acknowledge what it said, or are a farewell.
    pub fn is_owed(&self) -> bool {
        u64::from(self.bytes) > if self.spoken { FAREWELL } else { 0 }
    }

    /// A server may have nothing to say, as one that collects logs. It has spoken, or was asked
    /// once, for no more than a request has.
    pub fn is_answered(&self) -> bool {
        self.spoken || !self.more && self.bytes <= REQUEST
    }
}
