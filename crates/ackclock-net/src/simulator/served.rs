//! Packets at links that vary, whose transmitters have events of their own.

use super::Simulator;
use super::transit::Crossing;
use crate::heap::Key;
use crate::link::Served;
use crate::packet::Packet;
use crate::recorder::Recorder;

impl Simulator {
    /// A packet comes to the link at its hop.
    #[cold]
    pub(super) fn cross_served(&mut self, now: u64, index: usize, packet: &Packet) -> Crossing {
        let flows = &self.flows;
        let mss = || flows[packet.flow as usize].mss();
        let admitted = self.links[index].admit_served(now, packet, mss);
        self.visits.take_of(index as u32, &mut self.links[index]);
        if let Err(why) = admitted {
            return Crossing::Dropped(why);
        }
        self.note_transmitter(index);
        Crossing::Affected
    }

    /// Something is due at a link's transmitter, or was.
    #[cold]
    pub(super) fn transmitter_due<R: Recorder>(
        &mut self,
        now: u64,
        index: usize,
        recorder: &mut R,
    ) {
        self.heap.take();
        self.links[index].advance_transmitter(now);
        loop {
            let flows = &self.flows;
            let mss = |flow: u32| flows[flow as usize].mss();
            match self.links[index].next_served(now, mss) {
                None => break,
                Some(Served::Leaves { packet, arrival, effects }) => {
                    let packet = Packet { hop: packet.hop + 1, ..packet };
                    self.put_affected(index, (arrival, now), &packet, effects);
                }
                Some(Served::Dropped { packet, why }) => {
                    self.dropped(now, index as u32, &packet, why, recorder);
                }
            }
        }
        self.visits.take_of(index as u32, &mut self.links[index]);
        self.note_transmitter(index);
    }

    fn note_transmitter(&mut self, index: usize) {
        if let Some(due) = self.links[index].transmitter_due() {
            self.heap.push(Key::transmitter(due, index as u32));
        }
    }
}
