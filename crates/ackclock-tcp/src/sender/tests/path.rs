//! A path that keeps order and loses what the test names, and a receiver that acknowledges each
//! segment at once.

use std::collections::{BTreeSet, VecDeque};

use super::*;

pub(super) struct Path<'a> {
    x: &'a mut Script,
    /// Segments on their way, in order.
    wire: VecDeque<u64>,
    received: BTreeSet<u64>,
    lost: &'a [(u64, u32)],
}

impl<'a> Path<'a> {
    /// Loses these transmissions, given as segment and the how-manieth time it is sent. What is
    /// outstanding is on the wire.
    pub fn new(x: &'a mut Script, lost: &'a [(u64, u32)]) -> Path<'a> {
        let outstanding: Vec<u64> = x.sender.state().board.iter().map(|r| r.seq / MSS).collect();
        let received = (0..x.sender.state().snd_una / MSS).collect();
        let wire = outstanding.into_iter().filter(|&n| !lost.contains(&(n, 1))).collect();
        Path { x, wire, received, lost }
    }

    /// The first segment on the wire arrives, and a millisecond after the last one its ACK: what
    /// the ACK released, as in [`Script::sends`].
    pub fn step(&mut self) -> String {
        let Some(n) = self.wire.pop_front() else { return "nothing arrives".into() };
        self.x.now += Span::from_millis(1);
        self.received.insert(n);
        let ack = (0..).find(|n| !self.received.contains(n)).unwrap_or(0);
        let mut segment = self.x.header(ack);
        segment.sack = self.x.blocks(&self.blocks(ack, n));
        self.x.sender.on_segment(self.x.now, &segment);
        let mut sent = Vec::new();
        while let Some(t) = self.x.sender.poll_transmit(self.x.now) {
            let n = t.position / MSS;
            sent.push(format!("{n}{}", letter(&t)));
            if !self.lost.contains(&(n, t.transmission)) {
                self.wire.push_back(n);
            }
        }
        sent.join(" ")
    }

    /// RFC 2018 section 4: the block of the segment that arrived stands first.
    fn blocks(&self, ack: u64, arrived: u64) -> Vec<(u64, u64)> {
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for &n in self.received.range(ack..) {
            match blocks.last_mut() {
                Some(last) if last.1 == n => last.1 = n + 1,
                _ => blocks.push((n, n + 1)),
            }
        }
        blocks.sort_by_key(|&(l, r)| (!(l..r).contains(&arrived), u64::MAX - l));
        blocks.truncate(3);
        blocks
    }

    /// Segments on their way.
    pub fn in_network(&self) -> usize {
        self.wire.len()
    }

    /// cwnd and ssthresh, in bytes.
    pub fn windows(&self) -> (u64, u64) {
        (self.x.sender.state().cwnd, self.x.sender.state().ssthresh)
    }

    pub fn phase(&self) -> Phase {
        self.x.sender.state().phase
    }
}
