//! Was it retransmitted since a router has asked for shorter packets?
//!
//! What was too big goes again at once, and cwnd stays (RFC 1191 section 6.4, RFC 8201 section 5.4;
//! Linux's `tcp_simple_retransmit`). What cwnd has no room for goes on the ACKs that follow. Others
//! send all that was outstanding, whatever its size. A host may ignore such messages: then a timer
//! sends it again, later.

use std::ops::Range;

use ackclock_tcp::{Span, Time};

use super::trigger::{Situation, Trigger};
use crate::connection::{AskedShorter, Kind};
use crate::sender::input::{Sent, Shorter};
use crate::sender::stream::Stream;
use crate::sender::stream::moments::HOST_BUSY;
use crate::sender::stream::segment::Segment;
use crate::standards::least_packet;

/// So many outstanding segments are looked at for a message, of which each may bring one.
const MOST: usize = 1 << 12;

#[derive(Debug, Default)]
pub(crate) struct Shortened {
    asked: Option<Box<AskedShorter>>,
    /// When the last message that says something new reached the sender.
    at: Time,
    /// What was outstanding then ends here.
    end: u64,
    /// The longest packet that passes, by that message.
    most: u32,
    /// What was outstanding then in longer ones, and has not been cut since.
    long: Vec<Range<u64>>,
    /// When the sender last did as it was asked; `None` as long as it has not, or if it has
    /// forgotten that.
    answered: Option<Time>,
}

impl Shortened {
    /// A router asks for shorter packets, with so much outstanding. Each packet on its way brings a
    /// message: one that asks for no less than what the sender does says nothing new to it (Linux's
    /// `icsk_pmtu_cookie > mtu`).
    pub fn ask(&mut self, asked: &Shorter, stream: &Stream) {
        let Stream { outstanding, terms, .. } = stream;
        let &Shorter { at, router, mtu, len } = asked;
        let sum = self.asked.get_or_insert_with(|| {
            Box::new(AskedShorter { messages: 0, first: at, mtu, router, ignored: false })
        });
        sum.messages = sum.messages.saturating_add(1);
        let less = |mtu: u32| sum.mtu.is_none_or(|least| mtu < least);
        if mtu.is_some_and(less) {
            (sum.mtu, sum.router) = (mtu, router);
        }
        let most = mtu.unwrap_or(len.saturating_sub(1)).max(least_packet(terms.header));
        if self.answered.is_none() || most < self.most {
            if most < self.most || outstanding.max() > self.end {
                self.long.clear();
                let all = (0..outstanding.len()).map_while(|index| outstanding.get(index));
                let long = |segment: &&Segment| segment.len + terms.header > most;
                all.take(MOST).filter(long).for_each(|s| self.note_long(s.position..s.end()));
            }
            self.answered = self.answered.filter(|_| outstanding.una() < self.end);
            (self.at, self.end, self.most) = (at, outstanding.max(), most);
        }
    }

    fn note_long(&mut self, segment: Range<u64>) {
        match self.long.last_mut().filter(|last| last.end == segment.start) {
            Some(last) => last.end = segment.end,
            None => self.long.push(segment),
        }
    }

    /// The sender makes packets of so many bytes: if these are longer, it has forgotten what it was
    /// asked for (RFC 1191 section 6.3).
    pub fn makes(&mut self, packet: u32) {
        self.answered = self.answered.filter(|_| packet <= self.most);
    }

    /// Whether it may be what was outstanding when a router asked, `before` it went out last.
    pub fn concerns(&self, sent: &Sent, before: Time, stream: &Stream) -> bool {
        let soon = self.soon(stream);
        // Away from the sender, what the capture shows since may have gone out before it heard.
        stream.outstanding.una() < sent.end()
            && (sent.position < self.end && before <= self.at || before < self.at)
            && self.asked.as_ref().is_some_and(|asked| sent.at + soon >= asked.first)
    }

    /// Whether it goes out for that, if it is of what [concerns](Shortened::concerns) that.
    pub fn sends(&self, sent: &Sent, situation: &Situation<'_>, stream: &Stream) -> bool {
        let (trigger, soon) = (situation.trigger(), HOST_BUSY + self.soon(stream));
        let at_once = sent.at.since(self.at) <= soon;
        let since = sent.at.since(self.answered.unwrap_or(self.at).max(self.at));
        let goes_on = match trigger {
            // What else might have sent it takes as long.
            Trigger::Unknown => since <= stream.timers.srtt().max(stream.timers.min_rtt()) + soon,
            Trigger::Ack => self.answered.is_some() && since < stream.timers.rto(),
            Trigger::Probe | Trigger::ProbeOrTimer | Trigger::Timer => false,
        };
        if !self.is_long(sent, stream) {
            return at_once || goes_on;
        }
        // Linux sends both parts of a segment as one, which is cut behind a capture at the sender
        // (GSO). If its length does not say that it heeds, nothing else may have sent it.
        let alone = trigger == Trigger::Unknown || situation.since_evidence.is_none();
        stream.terms.at_sender() && (at_once && alone || self.answered.is_some() && goes_on)
    }

    /// Whether it carries what was outstanding in packets that were too long, and is shorter, as
    /// far as is known or by its `kind`. What it has cut so, and is lost then, is lost like any
    /// other.
    pub fn cuts(&mut self, sent: &Sent, kind: Kind, stream: &Stream) -> bool {
        let (start, end) = (sent.position, sent.end());
        let first = self.long.partition_point(|long| long.end <= start);
        let behind = self.long.partition_point(|long| long.start < end);
        let is_cut = kind == Kind::TooBig || !self.is_long(sent, stream);
        if first == behind || !is_cut {
            return kind == Kind::TooBig;
        }
        let rest = [self.long[first].start..start, end..self.long[behind - 1].end];
        self.long.splice(first..behind, rest.into_iter().filter(|rest| !rest.is_empty()));
        true
    }

    /// It has gone out for this reason. A timer's is cut before it goes out: if it is not, its
    /// sender does not heed, or the message was lost, and the next one is new to it.
    pub fn went(&mut self, sent: &Sent, kind: Kind, before: Option<Time>, stream: &Stream) {
        let Some(asked) = &self.asked else { return };
        let later = sent.at > self.at + HOST_BUSY + self.soon(stream);
        let concerns = before.is_some_and(|before| self.concerns(sent, before, stream));
        let ignored = kind.is_by_timer() && later && concerns && self.is_long(sent, stream);
        if kind == Kind::TooBig {
            // What it has cut is no answer to messages that are still on their way.
            self.at = self.at.min(Time(sent.at.0.saturating_sub(1)));
            self.answered = Some(sent.at);
        } else if ignored {
            self.answered = None;
        }
        let ignored = ignored || asked.ignored && kind != Kind::TooBig;
        self.asked.iter_mut().for_each(|asked| asked.ignored = ignored);
    }

    /// It is one segment, and longer than what passes.
    fn is_long(&self, sent: &Sent, stream: &Stream) -> bool {
        let (len, terms) = (sent.payload(), &stream.terms);
        len <= terms.mss && len + terms.header > self.most
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
