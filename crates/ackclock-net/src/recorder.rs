//! Who wants to know what happens.

use ackclock_tcp::wire::{Control, Repr};
use ackclock_tcp::{Cause, Event, Segment, Time};

use crate::config::FlowId;

/// Which way a packet goes at the sender's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It leaves: a data segment, or what opens and closes the connection.
    Sent,
    /// It arrives.
    Received,
}

/// Takes what happens in a run, in the order of time. `()` takes nothing and costs nothing.
pub trait Recorder {
    /// Whether [`Recorder::event`] is to be called. Must not change during a run.
    fn wants_events(&self) -> bool {
        true
    }

    /// Whether [`Recorder::packet`] is to be called. Must not change during a run.
    fn wants_packets(&self) -> bool {
        true
    }

    /// The simulated time has come so far; called now and then, for a progress bar.
    fn progress(&mut self, _now: Time) {}

    /// Something happened on a connection. The sender's own events come only if it was built with `events: true`.
    fn event(&mut self, flow: FlowId, event: &Event);

    /// A packet as seen at the sender's host. `sent` gives the cause and the number of the transmission (1 is the
    /// first) of a data segment.
    fn packet(
        &mut self,
        _flow: FlowId,
        _at: Time,
        _direction: Direction,
        _segment: &Segment,
        _sent: Option<(Cause, u32)>,
    ) {
    }

    /// As [`Recorder::packet`], which it calls unless it is overridden, for a connection that opens and closes. Of what is no
    /// segment of an established connection, SYNs and resets, only the header tells.
    fn header(
        &mut self,
        flow: FlowId,
        at: Time,
        direction: Direction,
        header: &Repr,
        len: u32,
        sent: Option<(Cause, u32)>,
    ) {
        if is_segment(header) {
            self.packet(flow, at, direction, &header.segment(len), sent);
        }
    }
}

/// Whether this is the header of a segment of an established connection.
fn is_segment(header: &Repr) -> bool {
    header.control.contains(Control::ACK)
        && !header.control.contains(Control::SYN)
        && !header.control.contains(Control::RST)
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

    fn packet(&mut self, flow: FlowId, at: Time, direction: Direction, segment: &Segment, sent: Option<(Cause, u32)>) {
        self.iter_mut().for_each(|r| r.packet(flow, at, direction, segment, sent));
    }

    fn header(
        &mut self,
        flow: FlowId,
        at: Time,
        direction: Direction,
        header: &Repr,
        len: u32,
        sent: Option<(Cause, u32)>,
    ) {
        self.iter_mut().for_each(|r| r.header(flow, at, direction, header, len, sent));
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

    fn packet(&mut self, flow: FlowId, at: Time, direction: Direction, segment: &Segment, sent: Option<(Cause, u32)>) {
        self.0.packet(flow, at, direction, segment, sent);
        self.1.packet(flow, at, direction, segment, sent);
    }

    fn header(
        &mut self,
        flow: FlowId,
        at: Time,
        direction: Direction,
        header: &Repr,
        len: u32,
        sent: Option<(Cause, u32)>,
    ) {
        self.0.header(flow, at, direction, header, len, sent);
        self.1.header(flow, at, direction, header, len, sent);
    }
}
