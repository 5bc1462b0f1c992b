//! The event loop.
//!
//! A packet costs an event only where packets from different places meet. Where a link is fed by one other link that
//! keeps the order of its packets, nothing else can reach it in between, so what the second link does with a packet is
//! worked out as soon as it is known when the packet gets there. The same holds for the two ends of a connection whose
//! host sends nothing else, as long as no timer of that end is due earlier. [`Engine::ahead`] switches this off:
//! the results are the same, and everything happens in the order of time, which a recorder needs.

use ackclock_tcp::{Event, EventKind, Time};

use crate::config::FlowId;
use crate::flow::{Agent, Flow};
use crate::heap::{Heap, Key, Kind};
use crate::link::{InFlight, Link, Passage};
use crate::packet::{Kind as PacketKind, Packet};
use crate::recorder::{Direction, Recorder};

/// In the table of paths: the packet has reached its host.
pub(crate) const DELIVER: u32 = u32::MAX;
/// In the table of paths: the link has this one feeder, so it may be entered ahead of time.
pub(crate) const AHEAD: u32 = 1 << 31;

/// Everything that the event loop touches.
#[derive(Default)]
pub(crate) struct Engine {
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    /// The links of each flow's two ways, each way ended by `DELIVER`.
    pub(crate) paths: Vec<u32>,
    pub(crate) heap: Heap,
    /// The last moment of this run.
    pub(crate) until: u64,
    /// Whether packets are carried ahead of time.
    pub(crate) ahead: bool,
}

impl Engine {
    /// Handles all events up to `until`.
    pub(crate) fn run<R: Recorder>(&mut self, recorder: &mut R) {
        while let Some(key) = self.heap.peek() {
            let now = key.time();
            if now > self.until {
                break;
            }
            match key.kind() {
                Kind::Wire => self.first_arrives(now, key.index(), false, recorder),
                Kind::Late => self.first_arrives(now, key.index(), true, recorder),
                Kind::SenderTimer => self.sender_timer(now, key.index(), recorder),
                Kind::ReceiverTimer => self.receiver_timer(now, key.index(), recorder),
                Kind::Source => self.source(now, key.index(), recorder),
            }
        }
    }

    /// The first packet on a link's wire, or the first of its late ones, arrives.
    fn first_arrives<R: Recorder>(&mut self, now: u64, link: usize, late: bool, recorder: &mut R) {
        let link = &mut self.links[link];
        let wire = link.wire(late);
        let first = wire.pop_front();
        match wire.front() {
            Some(next) => self.heap.replace_top(next.key),
            None => {
                self.heap.pop();
            }
        }
        let Some(InFlight { mut packet, .. }) = first else { return };
        match self.paths[packet.hop as usize] {
            DELIVER => {
                let flow = &mut self.flows[packet.flow as usize];
                match packet.kind {
                    PacketKind::Ack => flow.pending_acks -= 1,
                    _ => flow.pending_data -= 1,
                }
                self.deliver(now, &packet, recorder);
            }
            hop => {
                if hop & AHEAD != 0 {
                    self.links[(hop & !AHEAD) as usize].pending -= 1;
                }
                self.forward(now, &mut packet, recorder);
            }
        }
    }

    /// Sends a packet on over the link at its hop, and over those after it as long as that can be done now.
    fn forward<R: Recorder>(&mut self, mut now: u64, packet: &mut Packet, recorder: &mut R) {
        let mut link = (self.paths[packet.hop as usize] & !AHEAD) as usize;
        loop {
            packet.hop += 1;
            let flows = &self.flows;
            let passage = match self.links[link].admit(now, packet, || flows[packet.flow as usize].mss()) {
                Ok(passage) => passage,
                Err(why) => return self.dropped(now, link as u32, packet, why, recorder),
            };
            let hop = self.paths[packet.hop as usize];
            if self.ahead && passage.arrival <= self.until && !passage.twice {
                if hop == DELIVER {
                    if self.may_deliver(passage.arrival, packet) {
                        return self.deliver(passage.arrival, packet, recorder);
                    }
                } else if hop & AHEAD != 0 && self.links[(hop & !AHEAD) as usize].pending == 0 {
                    now = passage.arrival;
                    link = (hop & !AHEAD) as usize;
                    continue;
                }
            }
            return self.put_on_wire(now, link, passage, packet);
        }
    }

    /// The packet waits on the wire for its event.
    fn put_on_wire(&mut self, now: u64, index: usize, passage: Passage, packet: &Packet) {
        let copies = 1 + u32::from(passage.twice);
        match self.paths[packet.hop as usize] {
            DELIVER => {
                let flow = &mut self.flows[packet.flow as usize];
                match packet.kind {
                    PacketKind::Ack => flow.pending_acks += copies,
                    _ => flow.pending_data += copies,
                }
            }
            hop if hop & AHEAD != 0 => self.links[(hop & !AHEAD) as usize].pending += copies,
            _ => {}
        }
        let link = &mut self.links[index];
        let kind = if passage.late { Kind::Late } else { Kind::Wire };
        let wire = link.wire(passage.late);
        let key = Key::new(passage.arrival, now, kind, index as u32);
        if wire.is_empty() {
            self.heap.push(key);
        }
        wire.push_back(InFlight { key, packet: *packet });
        if passage.twice {
            wire.push_back(InFlight { key, packet: Packet { copy: true, ..*packet } });
        }
    }

    /// Whether the packet may be handed over at `at` before the clock has got there: nothing else can reach that end
    /// of the connection earlier.
    fn may_deliver(&self, at: u64, packet: &Packet) -> bool {
        let flow = &self.flows[packet.flow as usize];
        match (&flow.agent, packet.kind) {
            (Agent::Tcp(tcp), PacketKind::Data) => {
                flow.receiver_ahead && flow.pending_data == 0 && tcp.receiver.next_deadline().0 >= at
            }
            (Agent::Tcp(tcp), PacketKind::Ack) => {
                flow.sender_ahead
                    && flow.pending_acks == 0
                    && tcp.sender.next_deadline().0 >= at
                    && flow.next_write >= at
            }
            _ => true,
        }
    }

    /// A packet reaches its host.
    fn deliver<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        let mut needless = false;
        match (&mut flow.agent, packet.kind) {
            (Agent::Tcp(tcp), PacketKind::Ack) => {
                if now >= flow.stop {
                    return;
                }
                if recorder.wants_packets() {
                    recorder.packet(FlowId(packet.flow), Time(now), Direction::Received, &packet.segment, None);
                }
                tcp.sender.on_segment(Time(now), &packet.segment);
                flow.check_completion(now);
                return self.pump_sender(now, now, index, recorder);
            }
            (Agent::Tcp(tcp), _) => {
                needless = !tcp.receiver.on_segment(Time(now), &packet.segment);
                flow.spurious_retransmissions += u64::from(needless && packet.transmission > 1 && !packet.copy);
            }
            (Agent::Cbr(cbr), _) => cbr.bytes_arrived += u64::from(packet.size),
        }
        flow.arrived += 1;
        if recorder.wants_events() {
            let kind = EventKind::Arrived { seq: packet.position, len: packet.segment.len, needless };
            self.record(now, index, kind, recorder);
        }
        self.pump_receiver(now, now, index, recorder);
    }

    /// The network drops a packet.
    #[cold]
    fn dropped<R: Recorder>(&mut self, now: u64, link: u32, packet: &Packet, why: &'static str, recorder: &mut R) {
        let flow = &mut self.flows[packet.flow as usize];
        let kind = if packet.kind == PacketKind::Ack {
            flow.ack_drops += 1;
            EventKind::AckDropped { ack: packet.position, link, why }
        } else {
            flow.drops += 1;
            EventKind::Dropped { seq: packet.position, len: packet.segment.len, link, why }
        };
        if recorder.wants_events() {
            self.record(now, packet.flow as usize, kind, recorder);
        }
    }

    /// Hands an event of the network to the recorder, with the sender's state.
    fn record<R: Recorder>(&mut self, now: u64, flow: usize, kind: EventKind, recorder: &mut R) {
        let mut event = Event { at: Time(now), cwnd: 0, ssthresh: u64::MAX, snd_una: 0, snd_nxt: 0, kind };
        if let Agent::Tcp(tcp) = &self.flows[flow].agent {
            let state = tcp.sender.state();
            event = Event {
                cwnd: state.cwnd,
                ssthresh: state.ssthresh,
                snd_una: state.snd_una,
                snd_nxt: state.snd_nxt,
                ..event
            };
        }
        recorder.event(FlowId(flow as u32), &event);
    }

    /// Sends what the sender has to send, hands its events on and sets its timer, to `earliest` or later.
    fn pump_sender<R: Recorder>(&mut self, now: u64, earliest: u64, index: usize, recorder: &mut R) {
        loop {
            let flow = &mut self.flows[index];
            let Agent::Tcp(tcp) = &mut flow.agent else { return };
            let transmit = tcp.sender.poll_transmit(Time(now));
            if recorder.wants_events() {
                while let Some(event) = tcp.sender.poll_event() {
                    recorder.event(FlowId(index as u32), &event);
                }
            }
            let Some(transmit) = transmit else {
                let due = tcp.sender.next_deadline().0;
                if due < tcp.sender_timer {
                    let due = due.max(earliest);
                    tcp.sender_timer = due;
                    self.heap.push(Key::new(due, due, Kind::SenderTimer, index as u32));
                }
                return;
            };
            if recorder.wants_packets() {
                let sent = Some((transmit.cause, transmit.transmission));
                recorder.packet(FlowId(index as u32), Time(now), Direction::Sent, &transmit.segment, sent);
            }
            let mut packet = tcp.data(&transmit, index as u32, flow.data_path);
            self.forward(now, &mut packet, recorder);
        }
    }

    /// Sends the ACKs that are due and sets the receiver's timer, to `earliest` or later.
    fn pump_receiver<R: Recorder>(&mut self, now: u64, earliest: u64, index: usize, recorder: &mut R) {
        loop {
            let flow = &mut self.flows[index];
            let Agent::Tcp(tcp) = &mut flow.agent else { return };
            let Some(segment) = tcp.receiver.poll_transmit(Time(now)) else {
                let due = tcp.receiver.next_deadline().0;
                if due < tcp.receiver_timer {
                    let due = due.max(earliest);
                    tcp.receiver_timer = due;
                    self.heap.push(Key::new(due, due, Kind::ReceiverTimer, index as u32));
                }
                return;
            };
            let mut packet = tcp.ack(segment, index as u32, flow.ack_path);
            self.forward(now, &mut packet, recorder);
        }
    }

    /// An entry for a sender's timer has come up. It may be stale: entries are neither moved nor removed when a deadline
    /// changes, only a deadline earlier than all entries makes a new one.
    fn sender_timer<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        self.heap.pop();
        let flow = &mut self.flows[index];
        let Agent::Tcp(tcp) = &mut flow.agent else { return };
        if tcp.sender_timer != now || now >= flow.stop {
            return;
        }
        tcp.sender_timer = u64::MAX;
        if tcp.sender.next_deadline().0 <= now {
            tcp.sender.on_deadline(Time(now));
        }
        self.pump_sender(now, now.saturating_add(1), index, recorder);
    }

    /// As [`Engine::sender_timer`], for a receiver.
    fn receiver_timer<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        self.heap.pop();
        let Agent::Tcp(tcp) = &mut self.flows[index].agent else { return };
        if tcp.receiver_timer != now {
            return;
        }
        tcp.receiver_timer = u64::MAX;
        if tcp.receiver.next_deadline().0 <= now {
            tcp.receiver.on_deadline(Time(now));
        }
        self.pump_receiver(now, now.saturating_add(1), index, recorder);
    }

    /// An application writes, or a CBR stream sends a packet.
    fn source<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        self.heap.pop();
        let flow = &mut self.flows[index];
        if now >= flow.stop {
            flow.next_write = u64::MAX;
            return;
        }
        let datagram = match &mut flow.agent {
            Agent::Tcp(tcp) => {
                let write = tcp.writer.write(now);
                tcp.sender.write(Time(now), write.bytes);
                if write.last {
                    tcp.sender.close(Time(now));
                }
                flow.next_write = write.next;
                flow.check_completion(now);
                None
            }
            Agent::Cbr(cbr) => {
                flow.next_write = cbr.next(now);
                Some(cbr.datagram(index as u32, flow.data_path))
            }
        };
        if flow.next_write != u64::MAX {
            self.heap.push(Key::new(flow.next_write, flow.next_write, Kind::Source, index as u32));
        }
        match datagram {
            Some(mut packet) => self.forward(now, &mut packet, recorder),
            None => self.pump_sender(now, now, index, recorder),
        }
    }
}
