//! The simulated network at work.
//!
//! [`Simulator`] holds the state. `transit` takes packets over links, `served` over those that
//! vary, `handshake` serves connections that open and close, and `event_loop` does what is due, one
//! event after the other.

mod event_loop;
mod handshake;
mod served;
mod transit;

use ackclock_tcp::{Event, EventKind, Sighting, Time};

use crate::flow::{Agent, Flow};
use crate::heap::Heap;
use crate::ids::FlowId;
use crate::link::{Link, Wires};
use crate::loss_notices::LossNotices;
use crate::packet::{Kind, Options, Packet};
use crate::paths::Paths;
use crate::recorder::{Place, Recorder};
use crate::visits::Visits;

/// The state of a run: everything that the event loop touches.
#[derive(Default)]
pub(crate) struct Simulator {
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    /// The paths of each flow's data and of its ACKs.
    pub(crate) paths: Paths,
    pub(crate) heap: Heap,
    /// The packets on links.
    pub(crate) wires: Wires,
    /// Of the packets under way.
    pub(crate) options: Options,
    pub(crate) loss_notices: LossNotices,
    /// The last moment of this run.
    pub(crate) until: u64,
    /// Packets that arrive before this time may move ahead of the clock ([`crate::lookahead`]); 0
    /// switches that off.
    pub(crate) lookahead_until: u64,
    /// What the recorder has not got yet; `None` if it does not want it.
    pub(crate) visits: Visits,
    /// Since when, and how many, deadlines of senders had passed as they were set.
    passed: (u64, usize),
    /// The flow whose deadline does not go on, and when that was noticed: then the run ends.
    pub(crate) stands: Option<(usize, u64)>,
}

/// More deadlines that had passed as they were set, within this many nanoseconds, mean that time
/// goes on by a nanosecond each, and the run for ever: so many in all, or so many of each flow. A
/// sender sets few such.
const MOST_PASSED: usize = 100_000;
const MOST_OF_EACH: usize = 100;
const AT_ONCE: u64 = 1_000_000;

impl Simulator {
    /// A deadline of a flow's sender had passed as it was set behind another one.
    #[cold]
    fn note_passed(&mut self, now: u64, index: usize) {
        if now - self.passed.0 >= AT_ONCE {
            self.passed = (now, 0);
        }
        self.passed.1 += 1;
        if self.passed.1 > MOST_PASSED.max(self.flows.len().saturating_mul(MOST_OF_EACH)) {
            self.stands = Some((index, now));
            self.until = 0;
        }
    }

    /// Hands a packet of a connection to the recorder, at a place that it has got to.
    #[cold]
    fn record_packet<R: Recorder>(
        &self,
        now: u64,
        place: Place,
        packet: &Packet,
        recorder: &mut R,
    ) {
        let Some((header, mark)) = self.options.marked(packet).filter(|_| !packet.corrupt) else {
            return;
        };
        let flow = &self.flows[packet.flow as usize];
        let to_receiver = packet.kind == Kind::Data;
        let path = if to_receiver { flow.data_path } else { flow.ack_path };
        let crossed = self.paths.links(path).take((packet.hop - path) as usize);
        let is_link = |&link: &u32| self.links[link as usize].processor.is_none();
        let sighting = Sighting {
            at: Time(now),
            to_receiver,
            header,
            len: packet.len,
            sent: mark.sent,
            number: mark.number,
            hops: crossed.filter(is_link).count() as u32,
        };
        recorder.packet(FlowId(packet.flow), place, &sighting);
    }

    /// Hands an event of the network to the recorder, with the sender's state.
    fn record_event<R: Recorder>(&self, now: u64, flow: usize, kind: EventKind, recorder: &mut R) {
        let mut event =
            Event { at: Time(now), cwnd: 0, ssthresh: u64::MAX, snd_una: 0, snd_nxt: 0, kind };
        let sender = match &self.flows[flow].agent {
            Agent::Established(tcp) => Some(&tcp.sender),
            Agent::Handshake(connections) => connections.client().map(|client| client.sender()),
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
}
