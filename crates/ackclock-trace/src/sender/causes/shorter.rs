//! Was it retransmitted since a router has asked for shorter packets?
//!
//! What was too big goes again at once, and cwnd stays (RFC 1191 section 6.4, RFC 8201 section 5.4;
//! Linux's `tcp_simple_retransmit`). What cwnd has no room for goes on the ACKs that follow. Others
//! send all that was outstanding, whatever its size. A host may ignore such messages: then a timer
//! sends it again, later.

use ackclock_tcp::{Span, Time};

use super::trigger::Trigger;
use crate::connection::AskedShorter;
use crate::sender::input::{Sent, Shorter};
use crate::sender::stream::Stream;
use crate::sender::stream::moments::HOST_BUSY;

#[derive(Debug, Default)]
pub(crate) struct Shortened {
    asked: Option<Box<AskedShorter>>,
    /// When the last message reached the sender.
    at: Time,
    /// What was outstanding then ends here.
    end: u64,
    /// The sender has begun to do as it was asked.
    answers: bool,
}

impl Shortened {
    /// A router asks for shorter packets, with so much outstanding.
    pub fn ask(&mut self, asked: &Shorter, una: u64, max: u64) {
        let &Shorter { at, router, mtu } = asked;
        let sum = self
            .asked
            .get_or_insert_with(|| Box::new(AskedShorter { messages: 0, first: at, mtu, router }));
        sum.messages = sum.messages.saturating_add(1);
        let less = |mtu: u32| sum.mtu.is_none_or(|least| mtu < least);
        if mtu.is_some_and(less) {
            (sum.mtu, sum.router) = (mtu, router);
        }
        self.answers &= una < self.end;
        (self.at, self.end) = (at, max);
    }

    /// Whether it may be what was outstanding when a router asked, `before` it went out last.
    pub fn concerns(&self, sent: &Sent, before: Time, stream: &Stream) -> bool {
        let soon = self.soon(stream);
        stream.outstanding.una() < self.end
            && sent.position < self.end
            && before <= self.at
            && sent.at + soon >= self.at
    }

    /// Whether it goes out for that, if it is of what [concerns](Shortened::concerns) that and
    /// otherwise `trigger` would have sent it.
    pub fn sends(&self, sent: &Sent, trigger: Trigger, stream: &Stream) -> bool {
        let at_once = sent.at.since(self.at) <= HOST_BUSY + self.soon(stream);
        at_once || trigger == Trigger::Unknown || self.answers && trigger == Trigger::Ack
    }

    /// Something has gone out for it.
    pub fn answered(&mut self) {
        self.answers = true;
    }

    /// Away from the sender only about when it has heard of it is known.
    fn soon(&self, stream: &Stream) -> Span {
        if stream.terms.at_sender() {
            stream.moments.lag()
        } else {
            Span(stream.timers.srtt().0 / 4)
        }
    }

    /// At the end.
    pub fn into_asked(self) -> Option<Box<AskedShorter>> {
        self.asked
    }
}
