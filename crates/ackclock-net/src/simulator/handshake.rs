//! Connections that open with a handshake and close with FINs, at work.
//!
//! These connections do without lookahead. So they add no cost to established flows.

use ackclock_tcp::{EventKind, Time};

use super::Simulator;
use crate::connections::Side;
use crate::flow::Agent;
use crate::heap::{Key, Kind};
use crate::ids::FlowId;
use crate::packet::Packet;
use crate::recorder::{Place, Recorder};

impl Simulator {
    /// A packet from the server reaches the client.
    #[cold]
    #[inline(never)]
    pub(super) fn deliver_to_client<R: Recorder>(
        &mut self,
        now: u64,
        packet: &Packet,
        recorder: &mut R,
    ) {
        let header = packet.into_header(&mut self.options);
        let flow = &mut self.flows[packet.flow as usize];
        let Agent::Handshake(connections) = &mut flow.agent else { return };
        if now >= flow.stop {
            return;
        }
        if let (Some(client), _) = connections.end(Side::Client) {
            client.on_segment(Time(now), &header, packet.len);
        }
        if let Some(at) = flow.check_completion(now) {
            self.heap.push(Key::new(at, at, Kind::Source, packet.flow));
        }
        self.pump_end(now, now, packet.flow as usize, Side::Client, recorder);
    }

    /// A packet from the client reaches the server.
    #[cold]
    #[inline(never)]
    pub(super) fn deliver_to_server<R: Recorder>(
        &mut self,
        now: u64,
        packet: &Packet,
        recorder: &mut R,
    ) {
        let index = packet.flow as usize;
        let header = packet.into_header(&mut self.options);
        let flow = &mut self.flows[index];
        let Agent::Handshake(connections) = &mut flow.agent else { return };
        let spurious = connections.arrives(now, &header, packet);
        if packet.transmission > 0 {
            flow.arrived += 1;
            flow.spurious_retransmissions +=
                u64::from(spurious && packet.transmission > 1 && !packet.copy);
            if recorder.wants_events() {
                let kind =
                    EventKind::Arrived { seq: packet.position, len: packet.bytes(), spurious };
                self.record_event(now, index, kind, recorder);
            }
        }
        self.pump_end(now, now, index, Side::Server, recorder);
    }

    /// The client's application has written, or its timer has expired.
    #[cold]
    #[inline(never)]
    pub(super) fn pump_client<R: Recorder>(
        &mut self,
        now: u64,
        earliest: u64,
        index: usize,
        recorder: &mut R,
    ) {
        self.pump_end(now, earliest, index, Side::Client, recorder);
    }

    /// An entry for the client's timer has come up, which may be stale.
    #[cold]
    #[inline(never)]
    pub(super) fn client_timer<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        if now < self.flows[index].stop {
            self.end_timer(now, index, Side::Client, recorder);
        }
    }

    /// As [`Simulator::client_timer`], for the server.
    #[cold]
    #[inline(never)]
    pub(super) fn server_timer<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        self.end_timer(now, index, Side::Server, recorder);
    }

    fn end_timer<R: Recorder>(&mut self, now: u64, index: usize, side: Side, recorder: &mut R) {
        let Agent::Handshake(connections) = &mut self.flows[index].agent else { return };
        let (connection, timer) = connections.end(side);
        let Some(connection) = connection.filter(|_| *timer == now) else { return };
        *timer = u64::MAX;
        if connection.next_deadline().0 <= now {
            connection.on_deadline(Time(now));
        }
        let earliest = now.saturating_add(1);
        self.pump_end(now, earliest, index, side, recorder);
        if let Agent::Handshake(connections) = &mut self.flows[index].agent
            && *connections.end(side).1 == earliest
        {
            self.note_passed(now, index);
        }
    }

    /// Sends what an end has to send, passes the client's events on, and sets the end's timer to
    /// `earliest` or later.
    fn pump_end<R: Recorder>(
        &mut self,
        now: u64,
        earliest: u64,
        index: usize,
        side: Side,
        recorder: &mut R,
    ) {
        let (id, client) = (FlowId(index as u32), side == Side::Client);
        loop {
            let flow = &mut self.flows[index];
            let Agent::Handshake(connections) = &mut flow.agent else { return };
            let (Some(connection), timer) = connections.end(side) else { return };
            let out = connection.poll_transmit(Time(now));
            if client && recorder.wants_events() {
                while let Some(event) = connection.poll_event() {
                    recorder.event(id, &event);
                }
            }
            let Some(out) = out else {
                let due = connection.next_deadline().0;
                if due < *timer {
                    *timer = due.max(earliest);
                    let kind = if client { Kind::SenderTimer } else { Kind::ReceiverTimer };
                    self.heap.push(Key::new(*timer, *timer, kind, id.0));
                }
                return;
            };
            let (hop, place) = if client {
                (flow.data_path, Place::Sender)
            } else {
                (flow.ack_path, Place::Receiver)
            };
            let mut packet =
                Packet { flow: id.0, hop, ..connections.packet(&out, side, &mut self.options) };
            if recorder.wants_packets() {
                self.options.mark(&mut packet, &out.header, out.sent.filter(|_| client));
                self.record_packet(now, place, &packet, recorder);
            }
            self.forward(now, &mut packet, recorder);
        }
    }
}
