//! A schedule: what the path does to single packets of a connection.

use ackclock_tcp::{Span, Time};

/// What the path does to single packets. What is not named arrives in its turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The transmissions of each segment that are lost: bit `n - 1` for transmission `n`.
    lost: Vec<u32>,
    late: Vec<(u64, u32, Span)>,
    lost_acks: Vec<u64>,
    late_acks: Vec<(u64, Span)>,
    spikes: Vec<Spike>,
}

/// A time in which both directions of the path take longer. Packets keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spike {
    /// When it begins.
    pub at: Time,
    /// How long it lasts.
    pub lasts: Span,
    /// How much longer a packet takes that leaves the transmitter meanwhile.
    pub delay: Span,
}

impl Schedule {
    /// Transmission `transmission` of `segment` is lost; 1 is the first.
    pub fn lose(&mut self, segment: u64, transmission: u32) {
        let place = segment as usize;
        if self.lost.len() <= place {
            self.lost.resize(place + 1, 0);
        }
        self.lost[place] |= 1 << (transmission - 1);
    }

    /// It arrives so much later, and those behind it overtake it.
    pub fn delay(&mut self, segment: u64, transmission: u32, by: Span) {
        self.late.push((segment, transmission, by));
    }

    /// The ACK of this number is lost; 1 is the first of the connection.
    pub fn lose_ack(&mut self, number: u64) {
        self.lost_acks.push(number);
    }

    /// It arrives so much later.
    pub fn delay_ack(&mut self, number: u64, by: Span) {
        self.late_acks.push((number, by));
    }

    /// The path takes longer for a while.
    pub fn spike(&mut self, spike: Spike) {
        self.spikes.push(spike);
    }

    /// Takes everything back.
    pub fn clear(&mut self) {
        let Schedule { lost, late, lost_acks, late_acks, spikes } = self;
        lost.clear();
        late.clear();
        lost_acks.clear();
        late_acks.clear();
        spikes.clear();
    }

    /// The losses of data, in the order of segments: segment and transmission.
    pub fn losses(&self) -> impl Iterator<Item = (u64, u32)> {
        (0..).zip(&self.lost).flat_map(|(segment, &bits)| {
            (1..=32).filter(move |n| bits >> (n - 1) & 1 == 1).map(move |n| (segment, n))
        })
    }

    /// The transmissions that are late, and by how much.
    pub fn late(&self) -> &[(u64, u32, Span)] {
        &self.late
    }

    /// The ACKs that are lost.
    pub fn lost_acks(&self) -> &[u64] {
        &self.lost_acks
    }

    /// The ACKs that are late, and by how much.
    pub fn late_acks(&self) -> &[(u64, Span)] {
        &self.late_acks
    }

    /// When the path takes longer.
    pub fn spikes(&self) -> &[Spike] {
        &self.spikes
    }

    pub(crate) fn loses(&self, segment: u64, transmission: u32) -> bool {
        let bits = self.lost.get(segment as usize).copied().unwrap_or(0);
        transmission <= 32 && bits >> transmission.saturating_sub(1) & 1 == 1
    }

    pub(crate) fn lateness(&self, segment: u64, transmission: u32) -> Option<Span> {
        let mut named = self.late.iter().filter(|(s, t, _)| (*s, *t) == (segment, transmission));
        named.next().map(|&(.., by)| by)
    }

    pub(crate) fn loses_ack(&self, number: u64) -> bool {
        self.lost_acks.contains(&number)
    }

    pub(crate) fn ack_lateness(&self, number: u64) -> Option<Span> {
        self.late_acks.iter().find(|(n, _)| *n == number).map(|&(_, by)| by)
    }
}
