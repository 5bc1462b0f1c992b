//! What is said of a connection when it is over.

use ackclock_tcp::Span;

use super::{Budget, Open, vantage};
use crate::connection::{Connection, Ended, Flow};
use crate::sender::{Found, Sight};

impl Open {
    /// `why` counts where its packets do not say how it ended.
    pub fn finish(mut self, why: Ended, budget: &mut Budget) -> Connection {
        self.warm_up(budget);
        for end in [0, 1] {
            // A SYN that nobody answered, and that was sent again.
            if !self.feeds[end].begun() && self.halves[end].syn.is_some() {
                self.begin(end, budget);
            }
        }
        let trips = [0, 1].map(|end| self.trips[end].least);
        let position = vantage::position(trips, self.halves.each_ref().map(|half| half.ttl));
        let ended = if self.halves.iter().all(|half| half.fin.is_some()) {
            Ended::Fin
        } else if self.is_reset() {
            Ended::Reset
        } else {
            why
        };
        let [client, server] = self.ends;
        Connection {
            number: self.number,
            client,
            server,
            start: self.start,
            end: self.last,
            packets: self.packets,
            begun: self.begun,
            ended,
            position,
            from_client: self.flow(0, budget),
            from_server: self.flow(1, budget),
        }
    }

    fn flow(&mut self, end: usize, budget: &mut Budget) -> Flow {
        let delay = self.delay(end);
        let feed = std::mem::take(&mut self.feeds[end]);
        let found = feed.finish(self.last, delay, &mut budget.held);
        let doubts = self.doubts(end, found.is_some());
        let found = found.unwrap_or_default();
        let Found { retransmissions, timeouts, recoveries, stalls, probes_of_new_data, segments, .. } = found;
        let seen = &self.halves[end].seen;
        Flow {
            mss: self.mss(end),
            offered: self.halves[end].offered,
            sack: self.sack().unwrap_or(seen.sack),
            timestamps: self.timestamps(end),
            bytes: found.bytes,
            segments,
            dsacks: found.dsacks,
            rtt: found.rtt,
            retransmissions,
            timeouts,
            recoveries,
            stalls,
            probes_of_new_data,
            unseen: found.unseen,
            events: found.events,
            doubts: doubts.into_iter().chain(found.doubts).collect(),
        }
    }

    /// What could not be known of what an end sent.
    fn doubts(&self, end: usize, sent: bool) -> Vec<String> {
        let (half, peer) = (&self.halves[end], &self.halves[1 - end]);
        let seen = &half.seen;
        let mut doubts = Vec::new();
        let mut doubt = |holds: bool, what: &str| {
            if holds {
                doubts.push(what.to_owned());
            }
        };
        if sent {
            doubt(!self.begun, "the capture began mid-connection: SMSS is learned from sizes");
            doubt(self.begun && !self.both_syns(), "only one SYN was captured: options of the other end are not known");
            doubt(
                seen.acks && peer.shift.is_none(),
                "the scale of the receiver's window is not known: full windows may be missed",
            );
            doubt(!seen.acks, "no ACK was captured: what was lost and when it was repaired is a guess");
            doubt(
                self.sights[end] != Sight::Sent && self.delay(end) == Span::ZERO,
                "the round trip between the capture and this end is not known: ACKs seem to arrive too early",
            );
        }
        doubt(seen.acks && !seen.data && half.una > half.first(), "its data was not captured");
        doubt(self.cut, "options were cut off by the snap length");
        let mut count = |n: u64, one: &str, many: &str| match n {
            0 => {}
            1 => doubts.push(one.to_owned()),
            _ => doubts.push(format!("{n} {many}")),
        };
        count(self.gaps, "the capture has a gap", "gaps in the capture");
        count(self.went_back, "the clock of the capture went back", "times the clock of the capture went back");
        count(seen.duplicates, "a packet was captured twice", "packets were captured twice");
        count(
            seen.strays,
            "a packet was ignored whose numbers are far outside of the stream",
            "packets were ignored whose numbers are far outside of the stream",
        );
        count(
            seen.jumps,
            "numbers have jumped farther than can be followed: positions after that are too low",
            "times numbers have jumped farther than can be followed: positions after that are too low",
        );
        count(
            seen.bad_blocks,
            "a SACK block was ignored that makes no sense",
            "SACK blocks were ignored that make no sense",
        );
        doubts
    }
}
