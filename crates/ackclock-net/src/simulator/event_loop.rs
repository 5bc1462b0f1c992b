//! The event loop: what is due is done, one event after the other.

use ackclock_tcp::recovery::detect::{Notice, Transmission};
use ackclock_tcp::wire::Repr;
use ackclock_tcp::{EventKind, Sending, Time};

use super::Simulator;
use super::transit::Transit;
use crate::flow::Agent;
use crate::heap::{Key, Kind};
use crate::ids::{FlowId, NodeId};
use crate::loss_notices::{LossNotice, Stage};
use crate::packet::{Kind as PacketKind, Packet};
use crate::paths::Hop;
use crate::recorder::{Place, Recorder};

/// So many events pass between two calls of [`Recorder::progress`].
const PROGRESS_EVERY: u32 = 1 << 14;

impl Simulator {
    /// Handles all events up to `until`, unless the recorder breaks off.
    pub(crate) fn run<R: Recorder>(&mut self, recorder: &mut R) {
        let mut handled = 0u32;
        while let Some(key) = self.heap.peek() {
            let now = key.time();
            if now > self.until {
                break;
            }
            handled = handled.wrapping_add(1);
            if handled.is_multiple_of(PROGRESS_EVERY) && recorder.progress(Time(now)).is_break() {
                break;
            }
            if recorder.wants_queues() {
                self.hand_over_visits(recorder);
            }
            // Almost every event. A branch of its own is cheaper than the table of `match`.
            if key.is_wire() {
                self.first_arrives(key, recorder);
                continue;
            }
            match key.kind() {
                Kind::LossNotice => self.loss_notice_due(now, key.index(), recorder),
                Kind::Wire => unreachable!("it went on above"),
                Kind::Late => self.late_arrives(key, recorder),
                Kind::SenderTimer => self.sender_timer(now, key.index(), recorder),
                Kind::ReceiverTimer => self.receiver_timer(now, key.index(), recorder),
                Kind::Source => self.source(now, key.index(), recorder),
                Kind::Transmitter => self.transmitter_due(now, key.index(), recorder),
            }
        }
        self.hand_over_visits(recorder);
    }

    fn hand_over_visits<R: Recorder>(&mut self, recorder: &mut R) {
        self.visits.drain().for_each(|(link, visit)| recorder.queue(link, &visit));
    }

    /// The first packet on a link's wire arrives.
    #[inline(always)]
    fn first_arrives<R: Recorder>(&mut self, key: Key, recorder: &mut R) {
        let link = &mut self.links[key.index()];
        let Some(first) = self.wires.first(&link.wire) else { return };
        let mut packet = first.packet;
        link.pass_first(&mut self.heap, &mut self.wires);
        self.leaves_link(key, &mut packet, recorder);
    }

    /// The first of a link's late packets arrives.
    #[cold]
    #[inline(never)]
    fn late_arrives<R: Recorder>(&mut self, key: Key, recorder: &mut R) {
        let link = &mut self.links[key.index()];
        if let Some(mut packet) = link.take(key, &mut self.heap, &mut self.wires) {
            self.leaves_link(key, &mut packet, recorder);
        }
    }

    /// A packet has come to the end of the link with this key.
    #[inline(always)]
    fn leaves_link<R: Recorder>(&mut self, key: Key, packet: &mut Packet, recorder: &mut R) {
        let (now, link) = (key.time(), key.index());
        match self.paths.at(packet.hop) {
            Hop::HOST => {
                self.flows[packet.flow as usize].gates.come(packet.kind);
                if packet.kind == PacketKind::Ack {
                    self.deliver_ack(now, packet, recorder);
                } else {
                    self.deliver_data(now, packet, recorder);
                }
            }
            hop => {
                if recorder.wants_packets() && self.links[link].processor.is_none() {
                    self.record_packet(
                        now,
                        Place::Node(NodeId(self.links[link].to)),
                        packet,
                        recorder,
                    );
                }
                if hop.allows_lookahead() {
                    self.links[hop.link()].pending -= 1;
                }
                let transit = self.transit(now, hop.link(), packet);
                self.arrive(transit, packet, recorder);
            }
        }
    }

    /// Sends a packet over the link at its hop, and over later ones as far as lookahead allows.
    #[inline(never)]
    pub(super) fn forward<R: Recorder>(&mut self, now: u64, packet: &mut Packet, recorder: &mut R) {
        self.send(now, packet, recorder);
    }

    /// The same without a call.
    #[inline(always)]
    fn send<R: Recorder>(&mut self, now: u64, packet: &mut Packet, recorder: &mut R) {
        let transit = self.transit(now, self.paths.at(packet.hop).link(), packet);
        self.arrive(transit, packet, recorder);
    }

    /// What follows once a packet has come so far.
    #[inline(always)]
    fn arrive<R: Recorder>(&mut self, transit: Transit, packet: &Packet, recorder: &mut R) {
        match transit {
            Transit::OnWire => {}
            Transit::AtHost(at) if packet.kind == PacketKind::Ack => {
                self.deliver_ack(at, packet, recorder)
            }
            Transit::AtHost(at) => self.deliver_data(at, packet, recorder),
            Transit::Dropped { at, link, why } => self.dropped(at, link, packet, why, recorder),
        }
    }

    /// An ACK reaches the sender.
    fn deliver_ack<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        if packet.corrupt {
            return self.corrupted(now, packet, recorder);
        }
        if recorder.wants_packets() && now < self.flows[packet.flow as usize].stop {
            self.record_packet(now, Place::Sender, packet, recorder);
        }
        let flow = &mut self.flows[packet.flow as usize];
        let Agent::Established(tcp) = &mut flow.agent else {
            return self.deliver_to_client(now, packet, recorder);
        };
        let segment = packet.into_segment(&mut self.options);
        if now >= flow.stop {
            return;
        }
        tcp.note_timestamp(&segment);
        tcp.sender.on_segment(Time(now), &segment);
        if let Some(at) = flow.check_completion(now) {
            self.heap.push(Key::new(at, at, Kind::Source, packet.flow));
        }
        self.pump_sender_inline(now, now, packet.flow as usize, recorder);
    }

    /// A data segment or a datagram reaches its receiver.
    fn deliver_data<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        if packet.corrupt {
            return self.corrupted(now, packet, recorder);
        }
        if recorder.wants_packets() {
            self.record_packet(now, Place::Receiver, packet, recorder);
        }
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        let mut spurious = false;
        match &mut flow.agent {
            Agent::Handshake(_) => return self.deliver_to_server(now, packet, recorder),
            Agent::Established(tcp) => {
                let segment = packet.into_segment(&mut self.options);
                spurious = !tcp.receiver.on_segment(Time(now), &segment);
                if spurious && packet.transmission > 1 && !packet.copy {
                    flow.spurious_retransmissions += 1;
                }
            }
            Agent::Cbr(cbr) => {
                packet.into_segment(&mut self.options);
                cbr.bytes_arrived += u64::from(packet.size);
            }
        }
        flow.arrived += 1;
        if recorder.wants_events() {
            let kind = EventKind::Arrived { seq: packet.position, len: packet.len, spurious };
            self.record_event(now, index, kind, recorder);
        }
        self.pump_receiver_inline(now, now, index, recorder);
    }

    /// Sends what the sender has to send, passes its events on, and sets its timer to `earliest` or
    /// later.
    #[inline(never)]
    fn pump_sender<R: Recorder>(
        &mut self,
        now: u64,
        earliest: u64,
        index: usize,
        recorder: &mut R,
    ) {
        self.pump_sender_inline(now, earliest, index, recorder);
    }

    /// The same without a call.
    #[inline(always)]
    fn pump_sender_inline<R: Recorder>(
        &mut self,
        now: u64,
        earliest: u64,
        index: usize,
        recorder: &mut R,
    ) {
        loop {
            let flow = &mut self.flows[index];
            let Agent::Established(tcp) = &mut flow.agent else {
                return self.pump_client(now, earliest, index, recorder);
            };
            let mut transmit = tcp.sender.poll_transmit(Time(now));
            if recorder.wants_events() {
                while let Some(event) = tcp.sender.poll_event() {
                    recorder.event(FlowId(index as u32), &event);
                }
            }
            let Some(transmit) = &mut transmit else {
                let due = tcp.sender.next_deadline().0;
                flow.gates.set(PacketKind::Ack, due.min(flow.next_write));
                if due < tcp.sender_timer {
                    let due = due.max(earliest);
                    tcp.sender_timer = due;
                    self.heap.push(Key::new(due, due, Kind::SenderTimer, index as u32));
                }
                return;
            };
            tcp.echo(&mut transmit.segment);
            let mut packet = tcp.data(transmit, index as u32, flow.data_path, &mut self.options);
            if recorder.wants_packets() {
                let (cause, transmission) = (transmit.cause, transmit.transmission);
                let sent = Some(Sending { cause, transmission });
                self.options.mark(&mut packet, &Repr::from_segment(&transmit.segment), sent);
                self.record_packet(now, Place::Sender, &packet, recorder);
            }
            self.send(now, &mut packet, recorder);
        }
    }

    /// Sends the ACKs that are due and sets the receiver's timer, to `earliest` or later.
    #[inline(never)]
    fn pump_receiver<R: Recorder>(
        &mut self,
        now: u64,
        earliest: u64,
        index: usize,
        recorder: &mut R,
    ) {
        self.pump_receiver_inline(now, earliest, index, recorder);
    }

    /// The same without a call.
    #[inline(always)]
    fn pump_receiver_inline<R: Recorder>(
        &mut self,
        now: u64,
        earliest: u64,
        index: usize,
        recorder: &mut R,
    ) {
        loop {
            let flow = &mut self.flows[index];
            let Agent::Established(tcp) = &mut flow.agent else { return };
            let segment = tcp.receiver.poll_transmit(Time(now));
            let Some(segment) = &segment else {
                let due = tcp.receiver.next_deadline().0;
                flow.gates.set(PacketKind::Data, due);
                if due < tcp.receiver_timer {
                    let due = due.max(earliest);
                    tcp.receiver_timer = due;
                    self.heap.push(Key::new(due, due, Kind::ReceiverTimer, index as u32));
                }
                return;
            };
            let mut packet = tcp.ack(segment, index as u32, flow.ack_path, &mut self.options);
            if recorder.wants_packets() {
                self.options.mark(&mut packet, &Repr::from_segment(segment), None);
                self.record_packet(now, Place::Receiver, &packet, recorder);
            }
            self.send(now, &mut packet, recorder);
        }
    }

    /// An entry for a sender's timer has come up. It may be stale: entries are neither moved nor
    /// removed when a deadline changes. Only a deadline earlier than all entries makes a new one.
    fn sender_timer<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        self.heap.take();
        let flow = &mut self.flows[index];
        let Agent::Established(tcp) = &mut flow.agent else {
            return self.client_timer(now, index, recorder);
        };
        if tcp.sender_timer != now || now >= flow.stop {
            return;
        }
        let due = tcp.sender.next_deadline().0;
        if due > now {
            tcp.sender_timer = due;
            return self.put_off(due, Kind::SenderTimer, index);
        }
        tcp.sender_timer = u64::MAX;
        tcp.sender.on_deadline(Time(now));
        let earliest = now.saturating_add(1);
        self.pump_sender(now, earliest, index, recorder);
        if let Agent::Established(tcp) = &self.flows[index].agent
            && tcp.sender_timer == earliest
        {
            self.note_passed(now, index);
        }
    }

    /// As [`Simulator::sender_timer`], for a receiver.
    fn receiver_timer<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        self.heap.take();
        let Agent::Established(tcp) = &mut self.flows[index].agent else {
            return self.server_timer(now, index, recorder);
        };
        if tcp.receiver_timer != now {
            return;
        }
        let due = tcp.receiver.next_deadline().0;
        if due > now {
            tcp.receiver_timer = due;
            return self.put_off(due, Kind::ReceiverTimer, index);
        }
        tcp.receiver_timer = u64::MAX;
        tcp.receiver.on_deadline(Time(now));
        self.pump_receiver(now, now.saturating_add(1), index, recorder);
    }

    /// A deadline has moved on: its entry comes up again at `due`, if there still is one. An end
    /// that nothing has happened to has nothing to send.
    fn put_off(&mut self, due: u64, kind: Kind, index: usize) {
        if due < u64::MAX {
            self.heap.push(Key::new(due, due, kind, index as u32));
        }
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
            Agent::Established(tcp) => {
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
            Agent::Handshake(connections) => {
                flow.next_write = connections.write(now);
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
            Some(mut packet) => self.forward(now, &mut packet, recorder),
            None => self.pump_sender(now, now, index, recorder),
        }
    }

    /// A notice is due, or has come to the end of a link.
    fn loss_notice_due<R: Recorder>(&mut self, now: u64, number: usize, recorder: &mut R) {
        self.heap.take();
        let Some(mut notice) = self.loss_notices.take(number) else { return };
        let LossNotice { packet, stage } = notice;
        if stage == Stage::AtDrop {
            return self.notify_loss(now, &packet, true, recorder);
        }
        if self.paths.at(packet.hop) != Hop::HOST {
            return self.send_notice(now, notice);
        }
        if packet.kind == PacketKind::Ack {
            return self.deliver_ack(now, &packet, recorder);
        }
        if stage == Stage::AsAck {
            return self.notify_loss(now, &packet, false, recorder);
        }
        let flow = &self.flows[packet.flow as usize];
        let Agent::Established(tcp) = &flow.agent else { return };
        (notice.packet.hop, notice.packet.size, notice.stage) =
            (flow.ack_path, tcp.sizes.ack_size, Stage::AsAck);
        self.send_notice(now, notice);
    }

    /// Notifies the sender of a lost segment.
    fn notify_loss<R: Recorder>(
        &mut self,
        now: u64,
        packet: &Packet,
        at_once: bool,
        recorder: &mut R,
    ) {
        let flow = &mut self.flows[packet.flow as usize];
        let Agent::Established(tcp) = &mut flow.agent else { return };
        if now < flow.stop {
            let lost = Transmission { seq: packet.position, number: packet.transmission };
            tcp.sender.on_notice(Time(now), Notice { lost, at_once });
            self.pump_sender(now, now, packet.flow as usize, recorder);
        }
    }
}
