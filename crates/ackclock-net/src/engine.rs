//! The event loop.
//!
//! A packet costs an event only where packets from different places meet. Where a link is fed by one other link that
//! keeps the order of its packets, nothing else can reach it in between, so what the second link does with a packet is
//! worked out as soon as it is known when the packet gets there. The same holds for the two ends of a connection whose
//! host sends nothing else, as long as no timer of that end is due earlier. [`Engine::horizon`] can switch this
//! off: the results are the same, and everything happens in the order of time, which a recorder needs, and so do flows whose
//! sender is told of losses ([`crate::notice`]).

use ackclock_tcp::axes::Told;
use ackclock_tcp::wire::Repr;
use ackclock_tcp::{Event, EventKind, Time};

use crate::config::{FlowId, NodeId};
use crate::flow::{Agent, Flow};
use crate::heap::{Heap, Key, Kind};
use crate::link::{Fate, InFlight, Link};
use crate::notice::Notices;
use crate::packet::{Kind as PacketKind, Options, Packet};
use crate::recorder::{Place, Recorder, Sighting};

/// In the table of paths: the packet has reached its host.
pub(crate) const DELIVER: u32 = u32::MAX;
/// In the table of paths: the link has this one feeder, so it may be entered ahead of time.
pub(crate) const AHEAD: u32 = 1 << 31;

/// So many events pass between two calls of [`Recorder::progress`].
const PROGRESS_EVERY: u32 = 1 << 14;

/// Everything that the event loop touches.
#[derive(Default)]
pub(crate) struct Engine {
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    /// The links of each flow's two ways, each way ended by `DELIVER`.
    pub(crate) paths: Vec<u32>,
    pub(crate) heap: Heap,
    /// Of the packets under way.
    pub(crate) options: Options,
    pub(crate) notices: Notices,
    /// The last moment of this run.
    pub(crate) until: u64,
    /// Packets are carried ahead of time if they arrive before this; 0 switches that off.
    pub(crate) horizon: u64,
}

/// How far a packet was carried.
enum Carried {
    /// It waits on a wire for its event.
    OnWire,
    /// It reached its host, at this time.
    ToEnd(u64),
    /// A link dropped it.
    Dropped { at: u64, link: u32, why: &'static str },
}

impl Engine {
    /// Handles all events up to `until`.
    pub(crate) fn run<R: Recorder>(&mut self, recorder: &mut R) {
        let mut handled = 0u32;
        while let Some(key) = self.heap.peek() {
            let now = key.time();
            if now > self.until {
                break;
            }
            handled = handled.wrapping_add(1);
            if handled.is_multiple_of(PROGRESS_EVERY) {
                recorder.progress(Time(now));
            }
            match key.kind() {
                Kind::Notice => self.notice_due(now, key.index(), recorder),
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
        self.heap.take();
        let Some(packet) = self.links[link].take(late, &mut self.heap) else { return };
        match self.paths[packet.hop as usize] {
            DELIVER => {
                let flow = &mut self.flows[packet.flow as usize];
                if packet.kind == PacketKind::Ack {
                    flow.pending_acks -= 1;
                    self.deliver_ack(now, &packet, recorder);
                } else {
                    flow.pending_data -= 1;
                    self.deliver_data(now, &packet, recorder);
                }
            }
            hop => {
                if recorder.wants_packets() {
                    self.seen(now, Place::Node(NodeId(self.links[link].to)), &packet, recorder);
                }
                if hop & AHEAD != 0 {
                    self.links[(hop & !AHEAD) as usize].pending -= 1;
                }
                self.forward(now, &packet, recorder);
            }
        }
    }

    /// Sends a packet on over the link at its hop, and over those after it as long as that can be done now.
    #[inline]
    pub(crate) fn forward<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        match self.carry(now, packet) {
            Carried::OnWire => {}
            Carried::ToEnd(at) if packet.kind == PacketKind::Ack => self.deliver_ack(at, packet, recorder),
            Carried::ToEnd(at) => self.deliver_data(at, packet, recorder),
            Carried::Dropped { at, link, why } => self.dropped(at, link, packet, why, recorder),
        }
    }

    /// The part of [`Engine::forward`] that takes the packet over links.
    fn carry(&mut self, mut now: u64, packet: &Packet) -> Carried {
        let links = self.links.as_mut_slice();
        let mut at = packet.hop;
        let mut index = (self.paths[at as usize] & !AHEAD) as usize;
        loop {
            at += 1;
            let hop = self.paths[at as usize];
            let link = &mut links[index];
            let (arrival, fate) = match link.admit_if_idle(now, packet.size) {
                Some(arrival) => (arrival, Fate::default()),
                None => {
                    let flows = &self.flows;
                    match link.admit(now, packet, || flows[packet.flow as usize].mss()) {
                        Ok(arrival) => (arrival, link.fate()),
                        Err(why) => return Carried::Dropped { at: now, link: index as u32, why },
                    }
                }
            };
            let next = (hop & !AHEAD) as usize;
            if arrival < self.horizon && !fate.twice && !fate.corrupt {
                if hop == DELIVER {
                    let flow = &self.flows[packet.flow as usize];
                    let ahead = match packet.kind {
                        PacketKind::Ack => flow.takes_ack_ahead(arrival),
                        PacketKind::Data | PacketKind::Datagram => flow.takes_data_ahead(arrival),
                    };
                    if ahead {
                        return Carried::ToEnd(arrival);
                    }
                } else if hop & AHEAD != 0 && links[next].pending == 0 {
                    now = arrival;
                    index = next;
                    continue;
                }
            }
            if fate != Fate::default() {
                self.put_fated(index, (arrival, now), &Packet { hop: at, ..*packet }, fate);
                return Carried::OnWire;
            }
            let key = Key::new(arrival, now, Kind::Wire, index as u32);
            links[index].put(InFlight { key, packet: Packet { hop: at, ..*packet } }, false, &mut self.heap);
            self.expect(packet, hop, 1);
            return Carried::OnWire;
        }
    }

    /// Puts a packet on the wire of a link that does more to it than delay it. Apart, since almost no packet needs it.
    #[cold]
    fn put_fated(&mut self, index: usize, (arrival, now): (u64, u64), packet: &Packet, fate: Fate) {
        let key = Key::new(arrival, now, if fate.late { Kind::Late } else { Kind::Wire }, index as u32);
        let packet = Packet { corrupt: packet.corrupt || fate.corrupt, ..*packet };
        self.links[index].put(InFlight { key, packet }, fate.late, &mut self.heap);
        if fate.twice {
            let packet = packet.duplicate(&mut self.options);
            self.links[index].put(InFlight { key, packet }, fate.late, &mut self.heap);
        }
        self.expect(&packet, self.paths[packet.hop as usize], 1 + u32::from(fate.twice));
    }

    /// Counts copies of a packet that wait for their event, where `hop` comes next.
    #[inline(always)]
    fn expect(&mut self, packet: &Packet, hop: u32, copies: u32) {
        if hop == DELIVER {
            let flow = &mut self.flows[packet.flow as usize];
            match packet.kind {
                PacketKind::Ack => flow.pending_acks += copies,
                PacketKind::Data | PacketKind::Datagram => flow.pending_data += copies,
            }
        } else if hop & AHEAD != 0 {
            self.links[(hop & !AHEAD) as usize].pending += copies;
        }
    }

    /// An ACK reaches the sender.
    pub(crate) fn deliver_ack<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        if packet.corrupt {
            return self.corrupted(now, packet, recorder);
        }
        if recorder.wants_packets() && now < self.flows[packet.flow as usize].stop {
            self.seen(now, Place::Sender, packet, recorder);
        }
        let flow = &mut self.flows[packet.flow as usize];
        let Agent::Tcp(tcp) = &mut flow.agent else { return self.deliver_to_client(now, packet, recorder) };
        let segment = packet.into_segment(&mut self.options);
        if now >= flow.stop {
            return;
        }
        tcp.sender.on_segment(Time(now), &segment);
        if let Some(at) = flow.check_completion(now) {
            self.heap.push(Key::new(at, at, Kind::Source, packet.flow));
        }
        self.pump_sender(now, now, packet.flow as usize, recorder);
    }

    /// A data segment or a datagram reaches its receiver.
    fn deliver_data<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        if packet.corrupt {
            return self.corrupted(now, packet, recorder);
        }
        if recorder.wants_packets() {
            self.seen(now, Place::Receiver, packet, recorder);
        }
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        let mut needless = false;
        match &mut flow.agent {
            Agent::Whole(_) => return self.deliver_to_server(now, packet, recorder),
            Agent::Tcp(tcp) => {
                let segment = packet.into_segment(&mut self.options);
                needless = !tcp.receiver.on_segment(Time(now), &segment);
                flow.spurious_retransmissions += u64::from(needless && packet.transmission > 1 && !packet.copy);
            }
            Agent::Cbr(cbr) => {
                packet.into_segment(&mut self.options);
                cbr.bytes_arrived += u64::from(packet.size);
            }
        }
        flow.arrived += 1;
        if recorder.wants_events() {
            let kind = EventKind::Arrived { seq: packet.position, len: packet.len, needless };
            self.record(now, index, kind, recorder);
        }
        self.pump_receiver(now, now, index, recorder);
    }

    /// A packet's host drops it for its checksum: as if the last link had.
    #[cold]
    fn corrupted<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        let ahead = self.paths[packet.hop as usize..].iter().take_while(|&&hop| hop != DELIVER).count();
        let hop = packet.hop + ahead as u32;
        let link = self.paths[hop as usize - 1] & !AHEAD;
        self.dropped(now, link, &Packet { hop, corrupt: false, ..*packet }, "corrupt", recorder);
    }

    /// The network drops a packet.
    #[cold]
    fn dropped<R: Recorder>(&mut self, now: u64, link: u32, packet: &Packet, why: &'static str, recorder: &mut R) {
        let told = self.flows[packet.flow as usize].told != Told::Never;
        if !(told && self.note_loss(now, link, packet)) {
            packet.into_segment(&mut self.options);
        }
        let flow = &mut self.flows[packet.flow as usize];
        let kind = if packet.kind == PacketKind::Ack {
            flow.ack_drops += 1;
            EventKind::AckDropped { ack: packet.position, link, why }
        } else {
            flow.drops += 1;
            let (seq, len) = (packet.position, packet.bytes());
            EventKind::Dropped { seq, len, transmission: packet.transmission, link, why }
        };
        if recorder.wants_events() {
            self.record(now, packet.flow as usize, kind, recorder);
        }
    }

    /// A packet of a connection has got to a place where it is seen.
    #[cold]
    pub(crate) fn seen<R: Recorder>(&self, now: u64, place: Place, packet: &Packet, recorder: &mut R) {
        let Some((header, mark)) = self.options.marked(packet).filter(|_| !packet.corrupt) else { return };
        let flow = &self.flows[packet.flow as usize];
        let to_receiver = packet.kind == PacketKind::Data;
        recorder.packet(&Sighting {
            flow: FlowId(packet.flow),
            at: Time(now),
            place,
            to_receiver,
            header,
            len: packet.len,
            sent: mark.sent,
            number: mark.number,
            hops: packet.hop - if to_receiver { flow.data_path } else { flow.ack_path },
        });
    }

    /// Hands an event of the network to the recorder, with the sender's state.
    pub(crate) fn record<R: Recorder>(&mut self, now: u64, flow: usize, kind: EventKind, recorder: &mut R) {
        let mut event = Event { at: Time(now), cwnd: 0, ssthresh: u64::MAX, snd_una: 0, snd_nxt: 0, kind };
        let sender = match &self.flows[flow].agent {
            Agent::Tcp(tcp) => Some(&tcp.sender),
            Agent::Whole(whole) => whole.client().map(|client| client.sender()),
            Agent::Cbr(_) => None,
        };
        if let Some(sender) = sender {
            let state = sender.state();
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
    pub(crate) fn pump_sender<R: Recorder>(&mut self, now: u64, earliest: u64, index: usize, recorder: &mut R) {
        loop {
            let flow = &mut self.flows[index];
            let Agent::Tcp(tcp) = &mut flow.agent else { return self.pump_client(now, earliest, index, recorder) };
            let transmit = tcp.sender.poll_transmit(Time(now));
            if recorder.wants_events() {
                while let Some(event) = tcp.sender.poll_event() {
                    recorder.event(FlowId(index as u32), &event);
                }
            }
            let Some(transmit) = &transmit else {
                let due = tcp.sender.next_deadline().0;
                if due < tcp.sender_timer {
                    let due = due.max(earliest);
                    tcp.sender_timer = due;
                    self.heap.push(Key::new(due, due, Kind::SenderTimer, index as u32));
                }
                return;
            };
            let mut packet = tcp.data(transmit, index as u32, flow.data_path, &mut self.options);
            if recorder.wants_packets() {
                let sent = Some((transmit.cause, transmit.transmission));
                self.options.mark(&mut packet, &Repr::from_segment(0, 0, &transmit.segment), sent);
                self.seen(now, Place::Sender, &packet, recorder);
            }
            self.forward(now, &packet, recorder);
        }
    }

    /// Sends the ACKs that are due and sets the receiver's timer, to `earliest` or later.
    fn pump_receiver<R: Recorder>(&mut self, now: u64, earliest: u64, index: usize, recorder: &mut R) {
        loop {
            let flow = &mut self.flows[index];
            let Agent::Tcp(tcp) = &mut flow.agent else { return };
            let segment = tcp.receiver.poll_transmit(Time(now));
            let Some(segment) = &segment else {
                let due = tcp.receiver.next_deadline().0;
                if due < tcp.receiver_timer {
                    let due = due.max(earliest);
                    tcp.receiver_timer = due;
                    self.heap.push(Key::new(due, due, Kind::ReceiverTimer, index as u32));
                }
                return;
            };
            let mut packet = tcp.ack(segment, index as u32, flow.ack_path, &mut self.options);
            if recorder.wants_packets() {
                self.options.mark(&mut packet, &Repr::from_segment(0, 0, segment), None);
                self.seen(now, Place::Receiver, &packet, recorder);
            }
            self.forward(now, &packet, recorder);
        }
    }

    /// An entry for a sender's timer has come up. It may be stale: entries are neither moved nor removed when a deadline
    /// changes, only a deadline earlier than all entries makes a new one.
    fn sender_timer<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        self.heap.take();
        let flow = &mut self.flows[index];
        let Agent::Tcp(tcp) = &mut flow.agent else { return self.client_timer(now, index, recorder) };
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
        self.heap.take();
        let Agent::Tcp(tcp) = &mut self.flows[index].agent else { return self.server_timer(now, index, recorder) };
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
        self.heap.take();
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
                tcp.total = tcp.writer.total();
                flow.next_write = write.next;
                flow.check_completion(now);
                None
            }
            Agent::Whole(whole) => {
                flow.next_write = whole.write(now);
                flow.check_completion(now);
                None
            }
            Agent::Cbr(cbr) => {
                flow.next_write = cbr.next(now);
                Some(cbr.datagram(index as u32, flow.data_path, &mut self.options))
            }
        };
        if flow.next_write != u64::MAX {
            self.heap.push(Key::new(flow.next_write, flow.next_write, Kind::Source, index as u32));
        }
        match datagram {
            Some(packet) => self.forward(now, &packet, recorder),
            None => self.pump_sender(now, now, index, recorder),
        }
    }
}
