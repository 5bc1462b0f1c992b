//! What the model of a sender begins with: what is known of the connection when its first data goes
//! out. And what turns out later of the place of the capture.

use std::sync::Arc;

use ackclock_tcp::wire::DEFAULT_MSS;

use super::Open;
use super::budget::Budget;
use crate::sender::{Acked, Opening, Terms};

impl Open {
    /// The first data of an end: now its model is needed.
    #[cold]
    pub(super) fn begin(&mut self, end: usize, budget: &mut Budget) {
        let terms = Terms {
            start: self.clock.start(),
            sight: self.place.settle(end),
            near: self.is_near(end),
            opening: match (self.begun, self.place.is_made_up()) {
                (false, _) => Opening::Unseen,
                (true, true) => Opening::MadeUp,
                (true, false) => Opening::Seen,
            },
            opens: end == 0,
            mss: self.mss(end),
            header: self.header(end),
            // Where SACK blocks are cut off, duplicates have to do.
            sack: !self.options_cut && self.handshake.sack().unwrap_or(true),
            cut: self.options_cut,
            timestamps: self.timestamps(end),
            handshake_rtt: self.place.whole_trip().filter(|_| self.begun).into(),
            events: self.events,
        };
        let sender = &mut self.senders[end];
        sender.begin(terms, Arc::clone(&self.paths[end]), self.place.lag(end));
        if let Some(isn) = self.handshake.isn(end) {
            for syn in self.handshake.syns(end) {
                sender.syn(syn, isn);
            }
        }
        let last = [end, 1 - end].map(|end| self.handshake.syns(end).last().copied());
        sender.replay_early_acks(self.place.delay(end), last, &mut budget.places);
    }

    /// SMSS of an end.
    pub(super) fn mss(&self, end: usize) -> u32 {
        if self.learned[end] > 0 {
            return self.learned[end].into();
        }
        let default = if self.hosts[0].is_ipv4() { DEFAULT_MSS } else { 1220 };
        self.handshake.mss(default, self.timestamps(end), self.warm_up.mss(end))
    }

    /// Bytes of the headers of IP and TCP of a data segment without SACK blocks (RFC 7323 appendix
    /// A: timestamps take 12).
    fn header(&self, end: usize) -> u32 {
        let ip = if self.hosts[end].is_ipv4() { 20 } else { 40 };
        ip + 20 + if self.timestamps(end) { 12 } else { 0 }
    }

    pub(super) fn timestamps(&self, end: usize) -> bool {
        self.handshake.timestamps().unwrap_or(self.ends[end].has_timestamps())
    }

    /// `one` acknowledges, what is behind `una` for the first time. An ACK of more than a full
    /// segment cannot wait (RFC 5681 section 4.2, Linux's `__tcp_ack_snd_check`), nor that of a
    /// SYN, and no timer of ACKs sends data.
    #[inline]
    pub(super) fn measure(&mut self, one: usize, acked: &Acked, una: u64) {
        let all = self.ends[1 - one].is_owed_nothing();
        if let Some(trip) = self.place.acked(one, acked.ack, all, acked.at) {
            let much = || acked.ack > una + u64::from(self.mss(1 - one));
            let at_once = acked.ack == 0 || acked.with_data || much();
            self.place.measures(one, trip, at_once);
        }
    }

    /// Whether hardly any time passes between `end` and the capture, and some beyond.
    fn is_near(&self, end: usize) -> bool {
        let position = self.place.position();
        position.is_near(end) && !position.is_on_one_host()
    }

    /// The place of the capture may be another than was thought.
    #[cold]
    pub(super) fn look_again(&mut self, budget: &mut Budget) {
        for end in [0, 1] {
            if self.senders[end].has_begun() && self.place.turns_out_near(end) {
                self.senders[end].is_here(self.place.lag(end), &mut budget.places);
            }
        }
    }

    /// Packets of `one` were lost before the capture: it was not taken there. Or what seemed so was
    /// dropped by the capture itself.
    #[cold]
    pub(super) fn settle_lost_before(&mut self, one: usize, lost: bool, budget: &mut Budget) {
        let less = self.place.set_lost_before(one, lost);
        for end in [0, 1].into_iter().filter(|end| less[*end]) {
            self.senders[end].is_away(self.is_near(end));
        }
        if !lost {
            self.look_again(budget);
        }
    }
}
