//! Recorders: they get what happens in a run.

use std::ops::ControlFlow;

use ackclock_tcp::{Event, Sighting, Span, Time};

use crate::ids::{FlowId, LinkId, NodeId};

/// Where a packet is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the host that sends the data: packets that leave it and packets that reach it.
    Sender,
    /// At the host that receives the data, likewise.
    Receiver,
    /// At a node in between: packets that reach it, those included that one of its queues then
    /// drops.
    Node(NodeId),
}

/// A packet at the queue of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// When it came.
    pub came: Time,
    /// Its bytes.
    pub size: u32,
    /// Packets that it found: those that waited, and the one in transmission.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// How long it waited until its transmission began, or until it was dropped.
    pub waited: Span,
    /// Why the queue dropped it, if it did: `queue` for want of room, `early` by its discipline,
    /// `outage`.
    pub dropped: Option<&'static str>,
    /// The queue marked it (CE).
    pub marked: bool,
    /// It still waits as the run ends, at a link of which it is not known for how long. Of others
    /// `came` and `waited` say it.
    pub waits: bool,
}

/// Gets what happens in a run, in the order of time. `()` takes nothing and costs nothing.
pub trait Recorder {
    /// Whether [`Recorder::event`] is to be called. Must not change during a run.
    fn wants_events(&self) -> bool {
        true
    }

    /// Whether [`Recorder::packet`] is to be called. Must not change between the runs of a network.
    fn wants_packets(&self) -> bool {
        true
    }

    /// Whether [`Recorder::queue`] is to be called. Must not change between the runs of a network.
    fn wants_queues(&self) -> bool {
        false
    }

    /// The simulated time is `now`. Called every few thousand events, for a progress bar. The run
    /// ends here if this breaks off.
    fn progress(&mut self, _now: Time) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Something happened on a connection. The sender's own events come only if it was built with
    /// `events: true`.
    fn event(&mut self, flow: FlowId, event: &Event);

    /// A packet is seen. Its effects on the host that it reaches come after this call. A packet
    /// that was corrupted on the way to this place is not seen.
    fn packet(&mut self, _flow: FlowId, _place: Place, _sighting: &Sighting) {}

    /// A packet has come to the queue of a link, and it is known what becomes of it: at a link
    /// whose rate stays and whose queue judges what comes, as it comes, otherwise as it leaves, or
    /// with [`Network::waiting`](crate::Network::waiting). What a loss model takes comes to no
    /// queue.
    fn queue(&mut self, _link: LinkId, _visit: &Visit) {}
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

    fn wants_queues(&self) -> bool {
        self.as_ref().is_some_and(R::wants_queues)
    }

    fn progress(&mut self, now: Time) -> ControlFlow<()> {
        self.iter_mut().try_for_each(|r| r.progress(now))
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        self.iter_mut().for_each(|r| r.event(flow, event));
    }

    fn packet(&mut self, flow: FlowId, place: Place, sighting: &Sighting) {
        self.iter_mut().for_each(|r| r.packet(flow, place, sighting));
    }

    fn queue(&mut self, link: LinkId, visit: &Visit) {
        self.iter_mut().for_each(|r| r.queue(link, visit));
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

    fn wants_queues(&self) -> bool {
        self.0.wants_queues() || self.1.wants_queues()
    }

    fn progress(&mut self, now: Time) -> ControlFlow<()> {
        self.0.progress(now)?;
        self.1.progress(now)
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        self.0.event(flow, event);
        self.1.event(flow, event);
    }

    fn packet(&mut self, flow: FlowId, place: Place, sighting: &Sighting) {
        self.0.packet(flow, place, sighting);
        self.1.packet(flow, place, sighting);
    }

    fn queue(&mut self, link: LinkId, visit: &Visit) {
        self.0.queue(link, visit);
        self.1.queue(link, visit);
    }
}
