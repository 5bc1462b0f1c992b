//! Who wants to know what happens.

use ackclock_tcp::wire::Repr;
use ackclock_tcp::{Cause, Event, Segment, Time};

use crate::config::{FlowId, NodeId};

/// Where a packet is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The host that sends the data: what leaves it and what reaches it.
    Sender,
    /// The host that receives the data, likewise.
    Receiver,
    /// A node in between: what reaches it. What one of its own queues drops is seen.
    Node(NodeId),
}

/// A packet of a connection somewhere on its way. What was corrupted before it got there is not seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// Whose it is.
    pub flow: FlowId,
    /// When it is seen.
    pub at: Time,
    /// Where.
    pub place: Place,
    /// Whether it comes from the sender of the data.
    pub to_receiver: bool,
    /// Its header, without ports. Only a connection that opens and closes has other segments than an established one.
    pub header: Repr,
    /// Bytes of payload.
    pub len: u32,
    /// Of a data segment the cause and the number of the transmission; 1 is the first.
    pub sent: Option<(Cause, u32)>,
    /// The how-manieth packet of this connection its host has sent with it, from 1. A duplicate made by a link has the number of
    /// its original.
    pub number: u32,
    /// Links that it has come over.
    pub hops: u32,
}

impl Sighting {
    /// What the engine needs of it.
    pub fn segment(&self) -> Segment {
        self.header.segment(self.len)
    }
}

/// Takes what happens in a run, in the order of time. `()` takes nothing and costs nothing.
pub trait Recorder {
    /// Whether [`Recorder::event`] is to be called. Must not change during a run.
    fn wants_events(&self) -> bool {
        true
    }

    /// Whether [`Recorder::packet`] is to be called. Must not change between the runs of a network.
    fn wants_packets(&self) -> bool {
        true
    }

    /// The simulated time has come so far; called now and then, for a progress bar.
    fn progress(&mut self, _now: Time) {}

    /// Something happened on a connection. The sender's own events come only if it was built with `events: true`.
    fn event(&mut self, flow: FlowId, event: &Event);

    /// A packet is seen. What it does to the host that it reaches comes after that.
    fn packet(&mut self, _sighting: &Sighting) {}
}

impl Recorder for () {
    fn wants_events(&self) -> bool {
        false
    }

    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, _flow: FlowId, _event: &Event) {}
}

/// A recorder that may be left out.
impl<R: Recorder> Recorder for Option<R> {
    fn wants_events(&self) -> bool {
        self.as_ref().is_some_and(R::wants_events)
    }

    fn wants_packets(&self) -> bool {
        self.as_ref().is_some_and(R::wants_packets)
    }

    fn progress(&mut self, now: Time) {
        self.iter_mut().for_each(|r| r.progress(now));
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        self.iter_mut().for_each(|r| r.event(flow, event));
    }

    fn packet(&mut self, sighting: &Sighting) {
        self.iter_mut().for_each(|r| r.packet(sighting));
    }
}

/// Two recorders of the same run; each takes what either of them wants.
impl<A: Recorder, B: Recorder> Recorder for (A, B) {
    fn wants_events(&self) -> bool {
        self.0.wants_events() || self.1.wants_events()
    }

    fn wants_packets(&self) -> bool {
        self.0.wants_packets() || self.1.wants_packets()
    }

    fn progress(&mut self, now: Time) {
        self.0.progress(now);
        self.1.progress(now);
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        self.0.event(flow, event);
        self.1.event(flow, event);
    }

    fn packet(&mut self, sighting: &Sighting) {
        self.0.packet(sighting);
        self.1.packet(sighting);
    }
}
