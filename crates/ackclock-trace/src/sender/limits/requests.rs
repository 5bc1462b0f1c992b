//! What the other end asks for: requests that let data go, and the time until an answer goes out.

use ackclock_tcp::Span;

use super::super::stream::Stream;
use super::{Limits, follows_within};
use crate::lifetime::Limit;

/// What an end says before it closes an idle connection, in bytes: GOAWAY of HTTP/2 (RFC 9113
/// section 6.8) has 17 and an alert of TLS has 2 (RFC 8446 section 6), in records of 22 to 29 bytes
/// more each. An answer has a header that is longer.
pub(crate) const FAREWELL: u64 = 80;

/// So many times in a row data followed what the other end sent, and ACKs let nothing go. Chosen:
/// with 2 to 6 all shares are the same.
const ASKED: u8 = 3;

/// Whether what the other end sends lets data go.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// ACKs since new data last went out that made room, and packets of the other end's data.
    unused: u8,
    asked: u8,
    /// Times in a row that new data followed such a packet, and not such an ACK.
    by_request: u8,
}

/// How long the other end waits for answers.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Of the application's share, how long the other end waited for an answer.
    answering: Span,
    /// Of `answering`, how long it waited for the last one, which begins at this position.
    last_answer: (Span, u64),
    /// How long it waited for the longest one before that.
    longest: Span,
}

impl Limits {
    /// An answer goes out with nothing outstanding, from this position on, so long after what the
    /// other end asked.
    pub fn answers(&mut self, after: Span, position: u64) {
        self.answers.goes_out(after, position, self.found.of(Limit::Application));
    }

    /// What goes out next answers what the other end asked so long after the last byte was
    /// acknowledged: until then it had asked for nothing.
    pub fn unasked(&mut self, span: Span) {
        if span > Span::ZERO {
            self.unasked = (self.unasked + span).min(self.found.of(Limit::Application));
        }
    }

    /// The FIN goes out alone, so long after anybody sent data.
    pub fn closes_late(&mut self, span: Span) {
        let span = span.min(self.found.of(Limit::Application));
        if span > Span::ZERO {
            self.waits.get_or_insert_default().closing = span;
        }
    }

    /// A FIN goes out at this position, a moment after what was said last.
    pub fn closes(&mut self, position: u64) {
        self.answers.closes(position);
    }

    /// An ACK reaches the sender, with data of the other end.
    #[inline]
    pub fn hears_data(&mut self) {
        self.requests.hears_data();
    }
}

impl Requests {
    /// An ACK has made room.
    #[inline]
    pub fn made_room(&mut self) {
        self.unused = self.unused.saturating_add(1);
    }

    /// An ACK reaches the sender, with data of the other end.
    #[inline]
    pub fn hears_data(&mut self) {
        self.asked = self.asked.saturating_add(1);
    }

    /// Whether the application gives data only when the other end asks for it, though cwnd lets
    /// more go: windows above TCP (HTTP/2, SSH) and requests that are limited in number (SMB). ACKs
    /// alone, which make as much room, release nothing then. `since`: the other end's data came.
    #[inline]
    pub fn is_asked(&mut self, since: Span, stream: &Stream) -> bool {
        let (unused, asked) = (std::mem::take(&mut self.unused), std::mem::take(&mut self.asked));
        let unused = unused.saturating_sub(asked);
        if since > follows_within(stream) || unused > 0 && asked == 0 {
            self.by_request = if unused > 0 { 0 } else { self.by_request };
        } else if unused >= asked.saturating_mul(2) && asked > 0 {
            self.by_request = self.by_request.saturating_add(1);
        }
        self.by_request >= ASKED
    }
}

impl Answers {
    /// An answer goes out with nothing outstanding, from this position on, so long after what the
    /// other end asked. `most`: the application's share so far.
    pub fn goes_out(&mut self, after: Span, position: u64, most: Span) {
        let before = self.answering;
        self.longest = self.longest();
        self.answering = (before + after).min(most);
        self.last_answer = (self.answering - before, position);
    }

    /// A FIN goes out at this position, a moment after what was said last. Of an end that has
    /// answered before that is a farewell when it is no longer than one.
    pub fn closes(&mut self, position: u64) {
        let (waited, from) = self.last_answer;
        if from > 0 && position.saturating_sub(from) <= FAREWELL {
            self.answering = self.answering - waited;
            self.last_answer.0 = Span::ZERO;
        }
    }

    /// Of the application's share, how long the other end waited.
    pub fn waited(&self) -> Span {
        self.answering
    }

    /// How long it waited for the answer that took longest.
    pub fn longest(&self) -> Span {
        self.longest.max(self.last_answer.0)
    }
}
