//! Without SACK: a receiver that answers each packet by one ACK, in order, which acknowledges all
//! that it can have got by then.
//!
//! From the first retransmission on, each packet that is on its way says what the next ACK will be
//! if nothing is lost: what a retransmission brings had come before, so that its ACK repeats the
//! one ahead of it (RFC 9293 section 3.10.7.4). If ACKs are so, one for each packet, the
//! retransmissions were not needed. Had one been, there would be an ACK less, and each later one
//! would acknowledge too much. That shows when the next one advances, so that this is waited for.
//! One ACK that is not so ends it: the receiver delays ACKs, or something was lost. So does one
//! that repeats the last after more than twice the longest round trip so far, or behind a
//! keep-alive, which a receiver answers so as well (RFC 9293 section 3.8.4).

use std::collections::VecDeque;

use ackclock_tcp::{Span, Time};

use crate::sender::input::{Acked, Sent};
use crate::sender::stream::outstanding::Outstanding;

/// So many packets are followed at most.
const MOST: usize = 1 << 12;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// What its ACK acknowledges.
    ack: u64,
    /// Number of the retransmission; 0 of new data.
    number: u32,
    at: Time,
}

#[derive(Debug, Default)]
pub(crate) struct OneByOne {
    packets: VecDeque<Packet>,
    /// The last ACK, and its window.
    last: (u64, u64),
    /// The longest time from a packet to its ACK.
    trip: Span,
    /// Retransmissions whose ACKs were so since one advanced.
    answered: Vec<u32>,
    /// What was outstanding when an ACK was not so, below which something may be missing.
    ended: u64,
}

impl OneByOne {
    /// Packets are followed, or an ACK that advances is waited for.
    pub fn is_on(&self) -> bool {
        !self.packets.is_empty() || !self.answered.is_empty()
    }

    /// What goes out is not followed any more.
    pub fn ends(&mut self) {
        *self = OneByOne { ended: self.ended, ..OneByOne::default() };
    }

    fn goes(&mut self, ack: u64, number: u32, at: Time) {
        self.packets.push_back(Packet { ack, number, at });
        if self.packets.len() > MOST {
            self.ends();
        }
    }

    /// The retransmission with this `number` goes out, one of these that are outstanding.
    pub fn again(&mut self, sent: &Sent, number: u32, outstanding: &Outstanding) {
        let may_begin = self.ended <= outstanding.una() && outstanding.retransmitted() <= 1;
        if !self.is_on() && may_begin && outstanding.len() < MOST {
            self.begins(outstanding);
        }
        let max = outstanding.max();
        if self.is_on() && sent.end() <= max {
            self.goes(max, number, sent.at);
        } else {
            self.ends();
        }
    }

    /// What is outstanding went out once, and nothing is known to be missing.
    fn begins(&mut self, outstanding: &Outstanding) {
        self.ends();
        let mut next = outstanding.una();
        for segment in (0..outstanding.len()).filter_map(|index| outstanding.get(index)) {
            if segment.position != next || segment.unseen || segment.transmissions > 2 {
                return self.ends();
            }
            next = segment.end();
            self.goes(next, 0, segment.first_at);
        }
    }

    /// New data goes out, with this much before it.
    pub fn new_data(&mut self, sent: &Sent, max: u64) {
        match sent.position == max {
            _ if !self.is_on() => {}
            true => self.goes(sent.end(), 0, sent.at),
            false => self.ends(),
        }
    }

    /// An ACK comes; what is outstanding ends at `max`. Returns the retransmissions that it proves
    /// to have been duplicates.
    pub fn acked(&mut self, a: &Acked, max: u64) -> Vec<u32> {
        let Some(packet) = self.packets.pop_front() else {
            self.ends();
            return Vec::new();
        };
        let trip = a.at.since(packet.at);
        let longest = self.trip;
        self.trip = longest.max(trip);
        let (ack, window) = std::mem::replace(&mut self.last, (a.ack, a.window));
        let advances = a.ack > ack;
        let in_time = trip <= longest.times(2);
        let same = packet.number == 0 || !advances && a.window == window && in_time;
        if a.ack != packet.ack || a.with_data || !same {
            self.ended = max;
            self.ends();
        } else if advances {
            return std::mem::take(&mut self.answered);
        } else {
            self.answered.push(packet.number);
        }
        Vec::new()
    }
}
