//! SYNs that do not belong to a connection, which goes on. If one is answered, it opens another.

use ackclock_tcp::Seq;
use ackclock_tcp::wire::Control;
use thin_vec::ThinVec;

use super::Open;
use super::end::positions::ROOM;
use crate::packet::Packet;

/// Stray SYNs that are kept: Linux sends one eleven times, at even intervals before they double
/// (`tcp_syn_retries` is 6, `tcp_syn_linear_timeouts` 4).
const MOST_STRAYS: usize = 11;

impl Open {
    pub(super) fn answers_stray(&self, p: &Packet) -> bool {
        let stray = self.strays.first();
        let answers = |stray: &Packet| stray.src == p.dst && stray.seq + 1 == p.ack;
        p.control.contains(Control::ACK) && stray.is_some_and(answers)
    }

    /// The strays that belong to the connection that `p` opens.
    pub fn take_strays(&mut self, p: &Packet, from_low: bool) -> ThinVec<Packet> {
        let answered = self.answers_stray(p);
        let again = |stray: &Packet| (stray.src, stray.seq) == (p.src, p.seq);
        if !answered && !self.strays.first().is_some_and(again) {
            return ThinVec::new();
        }
        let from = if answered { 1 - self.from(from_low) } else { self.from(from_low) };
        self.ends[from].forget_strays(self.strays.len() as u32);
        self.clock.forget(self.strays.len() as u64);
        std::mem::take(&mut self.strays)
    }

    /// Whether a SYN or SYN/ACK does not belong here. A client that has answered a SYN/ACK takes no
    /// other one (RFC 9293 section 3.10.7.4).
    #[cold]
    pub(super) fn is_stray(&mut self, p: &Packet, one: usize) -> bool {
        let end = &self.ends[one];
        let answered = one == 1 && end.has_acks() && self.handshake.isn(one).is_some();
        let begun = end.has_begun() || answered;
        if !self.handshake.is_new(one, p.seq) || !begun {
            return false;
        }
        let early = self.warm_up.is_empty() && self.ends[one].forget_early_ack(p.seq + 1);
        if early {
            self.senders[one].forget_early_acks();
        }
        !early
    }

    /// Whether a packet is of an older connection, as long as no SYN of the server has come: it
    /// does not acknowledge the client's SYN, of the number `isn`. The client discards it (RFC 9293
    /// section 3.10.7.3), and answers by a reset without an ACK, which is for the older one. Where
    /// the server still has that, its ACK answers the SYN (RFC 5961 section 4). A reset with a
    /// number far from the SYN's is nobody's.
    #[cold]
    pub(super) fn is_of_older(&mut self, p: &Packet, one: usize, isn: Seq) -> bool {
        let has = |control| p.control.contains(control);
        // The client acknowledges what was not captured, so that its SYN was answered.
        let opened = self.ends[1].has_acks();
        let is_near = |seq: Seq| (1..=ROOM as i32).contains(&seq.ahead_of(isn));
        let older = if one == 0 {
            let asked = self.ends[1].strays() > 0 && !has(Control::ACK);
            !opened && p.seq != isn + 1 && (asked || !is_near(p.seq))
        } else {
            let near = is_near(p.ack);
            let bare = !opened && p.len == 0 && !has(Control::FIN) && !has(Control::RST);
            has(Control::ACK) && !(near && (!bare || p.ack == isn + 1))
        };
        let answers = one == 1 && has(Control::ACK) && !has(Control::FIN) && p.len == 0;
        self.answered |= answers && has(Control::RST) != older;
        if older {
            self.clock.count();
            self.ends[one].stray();
        }
        older
    }

    /// A SYN that was there before, however long ago: one that goes again has a newer timestamp in
    /// most stacks. It was captured on the other side of a router, or data has been acknowledged,
    /// so that none goes again.
    #[cold]
    pub(super) fn is_copied_syn(&self, p: &Packet, one: usize) -> bool {
        let elsewhere = self.place.usual_ttl(one) != p.ttl;
        let opened = || self.ends.iter().any(|end| end.una() > 0);
        self.handshake.has_seen(one, p) && (elsewhere || opened())
    }

    /// A SYN or SYN/ACK that does not belong here, and says nothing of how long this connection
    /// lasts.
    #[cold]
    pub(super) fn stray(&mut self, p: &Packet, one: usize) {
        self.clock.count();
        self.ends[one].stray();
        self.handshake.stray(one, p);
        if p.control.contains(Control::ACK) || p.control.contains(Control::RST) {
            return;
        }
        self.strays.retain(|stray| (stray.src, stray.seq) == (p.src, p.seq));
        if self.strays.len() < MOST_STRAYS {
            self.strays.push(*p);
        }
    }
}
