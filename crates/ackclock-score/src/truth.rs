//! What was true of a simulated run, and what was to be seen of it at three places.

use std::collections::{BTreeMap, HashSet};

use ackclock_net::scenario::{BuiltFlow, Scenario};
use ackclock_net::{FlowId, NodeId, Place, Recorder};
use ackclock_tcp::wire::Control;
use ackclock_tcp::{Cause, Event, EventKind, Sending, Sighting, Time, TimeoutClass};
use ackclock_trace::{Kind, Lifetime, State};

use crate::division::{Division, capacity};
use crate::places::PLACES;

/// What is true of a segment that was retransmitted and that the capture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmitted {
    /// Why it was sent.
    pub kind: Kind,
    /// Whether the receiver had, or got, the same bytes by an earlier transmission; `None` if that
    /// is not known.
    pub spurious: Option<bool>,
    /// Whether the receiver reports it if it is (D-SACK or timestamps).
    pub reported: bool,
    /// Whether it was lost; `None` if that is not known.
    pub lost: Option<bool>,
}

/// What is true of an expiry of the retransmission timer whose retransmission the capture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Its class.
    pub class: TimeoutClass,
    /// The state before it; `None` if that is not known.
    pub state: Option<State>,
}

/// Takes a run down.
pub struct Recording {
    router: NodeId,
    /// What each of the flows was.
    pub flows: Vec<FlowTruth>,
    /// What limited each of them.
    divisions: Vec<Division>,
    /// What the path holds, in bytes.
    capacity: u64,
    /// What was seen at each of [`PLACES`], in order of time, by number of the flow.
    pub seen: [Vec<(u32, Sighting)>; PLACES.len()],
}

/// What was true of a flow.
#[derive(Default)]
pub struct FlowTruth {
    /// What the sender sent, by the number of the packet.
    pub transmissions: BTreeMap<u32, Transmission>,
    /// Whether D-SACK or timestamps report spurious retransmissions.
    reported: bool,
    syns: u32,
    states: States,
    /// Of a timeout that has sent nothing yet.
    expiry: Option<Expiry>,
    /// The packet that is just reaching the receiver.
    arriving: u32,
}

/// A data segment or SYN as it was sent.
pub struct Transmission {
    position: u64,
    nth: u32,
    /// Of a retransmission its kind.
    kind: Option<Kind>,
    /// The timeout that sent it.
    pub expiry: Option<Expiry>,
    arrived: bool,
    dropped: bool,
    spurious: bool,
    reported: bool,
}

impl Transmission {
    /// What there is to be found; `None` of a first transmission.
    pub fn retransmitted(&self) -> Option<Retransmitted> {
        let lost = if self.arrived { Some(false) } else { self.dropped.then_some(true) };
        Some(Retransmitted {
            kind: self.kind?,
            spurious: lost.map(|_| self.spurious),
            reported: self.reported,
            lost,
        })
    }
}

impl Recording {
    /// Of these flows over this router.
    pub fn new(flows: &[BuiltFlow], router: NodeId, scenario: &Scenario) -> Recording {
        let dsack = scenario.tcp.dsack.unwrap_or(true);
        let truth = |flow: &BuiltFlow| FlowTruth {
            reported: flow.timestamps || flow.sack && dsack,
            ..FlowTruth::default()
        };
        let mss = flows.iter().map(|flow| flow.mss).max().unwrap_or(1);
        let division = |flow: &BuiltFlow| Division::new(flow.mss);
        Recording {
            router,
            flows: flows.iter().map(truth).collect(),
            divisions: flows.iter().map(division).collect(),
            capacity: capacity(scenario, mss),
            seen: Default::default(),
        }
    }

    /// What limited a flow, as long as packets of it came to this one of [`PLACES`].
    pub fn lifetime(&self, flow: usize, place: usize) -> Option<Lifetime> {
        self.divisions.get(flow)?.lifetime(place)
    }

    /// Time goes on, for all flows.
    fn elapse(&mut self, at: Time) {
        let full = self.divisions.iter().map(Division::flight).sum::<u64>() >= self.capacity;
        for (division, flow) in self.divisions.iter_mut().zip(&self.flows) {
            division.elapse(at, full, flow.states.is_repairing());
        }
    }

    /// At the end: what was dropped was spurious, too, if an earlier transmission arrived. Nothing
    /// reports that.
    pub fn settle(&mut self) {
        for flow in &mut self.flows {
            let mut arrived = HashSet::new();
            for t in flow.transmissions.values_mut() {
                if t.arrived {
                    arrived.insert(t.position);
                } else if t.dropped && arrived.contains(&t.position) {
                    (t.spurious, t.reported) = (true, false);
                }
            }
        }
    }
}

impl Recorder for Recording {
    fn event(&mut self, flow: FlowId, event: &Event) {
        self.elapse(event.at);
        if let Some(division) = self.divisions.get_mut(flow.0 as usize) {
            division.event(event);
        }
        let Some(flow) = self.flows.get_mut(flow.0 as usize) else { return };
        match event.kind {
            EventKind::TimedOut { class, .. } => {
                let class = if flow.states.backed_off { TimeoutClass::BackedOff } else { class };
                flow.expiry = Some(Expiry { class, state: Some(flow.states.now()) });
            }
            EventKind::Arrived { spurious, .. } => flow.arrived(spurious),
            EventKind::Dropped { seq, transmission, .. } => {
                let same = |t: &&mut Transmission| (t.position, t.nth) == (seq, transmission);
                flow.transmissions.values_mut().filter(same).for_each(|t| t.dropped = true);
            }
            _ => {}
        }
        flow.states.event(event);
    }

    fn packet(&mut self, FlowId(flow): FlowId, place: Place, sighting: &Sighting) {
        let index = match place {
            Place::Sender => 0,
            Place::Node(node) if node == self.router => 1,
            Place::Node(_) => return,
            Place::Receiver => 2,
        };
        self.seen[index].push((flow, *sighting));
        let leaves = sighting.to_receiver.then_some(sighting.number);
        if place == Place::Sender {
            self.elapse(sighting.at);
            if let Some(division) = self.divisions.get_mut(flow as usize) {
                division.passes(sighting.at, leaves);
                if !(sighting.header.control.contains(Control::SYN) && sighting.to_receiver) {
                    division.established();
                }
            }
        }
        if let (Some(division), Some(number)) = (self.divisions.get_mut(flow as usize), leaves) {
            division.comes(index, number);
        }
        let from_sender = self.flows.get_mut(flow as usize).filter(|_| sighting.to_receiver);
        let Some(truth) = from_sender else { return };
        match place {
            Place::Sender => truth.sent(sighting),
            Place::Receiver => truth.arriving = sighting.number,
            Place::Node(_) => {}
        }
    }
}

impl FlowTruth {
    /// A packet leaves the sender.
    fn sent(&mut self, sighting: &Sighting) {
        let expiry = self
            .expiry
            .take_if(|_| matches!(sighting.sent, Some(Sending { cause, .. }) if is_timeout(cause)));
        // The engine classifies a FIN like data.
        let expiry = expiry.map(|expiry| match expiry.class {
            TimeoutClass::NonTrigger if sighting.len == 0 => {
                Expiry { class: TimeoutClass::Handshake, ..expiry }
            }
            _ => expiry,
        });
        let (nth, kind, expiry) = match sighting.sent {
            // A segment without data that keeps ACKs coming is none.
            Some(Sending { transmission: 0, .. }) => return,
            Some(Sending { transmission: 1, .. }) => (1, None, None),
            Some(Sending { cause, transmission: nth }) => {
                (nth, Some(kind(cause, expiry.as_ref())), expiry)
            }
            None if sighting.header.control.contains(Control::SYN) => {
                self.syns += 1;
                let class =
                    if self.syns == 2 { TimeoutClass::Handshake } else { TimeoutClass::BackedOff };
                let expiry = (self.syns > 1).then_some(Expiry { class, state: None });
                (
                    self.syns,
                    expiry.as_ref().map(|expiry| kind(Cause::Timeout, Some(expiry))),
                    expiry,
                )
            }
            None => return,
        };
        let position = self.states.last_sent;
        let transmission = Transmission {
            position,
            nth,
            kind,
            expiry,
            arrived: false,
            dropped: false,
            spurious: false,
            reported: self.reported,
        };
        self.transmissions.insert(sighting.number, transmission);
    }

    /// The packet whose number is in `arriving` has reached the receiver. Spurious is what the
    /// receiver holds already, and what it gets by an earlier transmission later.
    fn arrived(&mut self, spurious: bool) {
        let Some(t) = self.transmissions.get_mut(&self.arriving).filter(|t| !t.arrived) else {
            return;
        };
        t.arrived = true;
        t.spurious = spurious;
        let position = t.position;
        let later = self.transmissions.range_mut(self.arriving + 1..).map(|(_, t)| t);
        later.filter(|t| t.position == position && t.arrived).for_each(|t| t.spurious = true);
    }
}

/// The kind of a retransmission. What keeps ACKs coming in a recovery belongs to it.
fn kind(cause: Cause, expiry: Option<&Expiry>) -> Kind {
    match cause {
        Cause::FastRetransmit => Kind::FastRetransmit,
        Cause::Recovery | Cause::Filler => Kind::Recovery,
        Cause::SlowStart => Kind::SlowStart,
        cause if is_timeout(cause) => {
            let backed_off = expiry.is_some_and(|expiry| expiry.class == TimeoutClass::BackedOff);
            if backed_off { Kind::BackedOffTimeout } else { Kind::Timeout }
        }
        Cause::TailLossProbe => Kind::TailLossProbe,
        _ => Kind::Unknown,
    }
}

fn is_timeout(cause: Cause) -> bool {
    matches!(cause, Cause::Timeout | Cause::BackedOffTimeout)
}

/// The state of a sender after its events.
#[derive(Default)]
struct States {
    disorder: bool,
    recovery: bool,
    /// What a timeout found outstanding has to be acknowledged for Loss to end.
    loss: Option<u64>,
    /// The timer has expired, and nothing has been acknowledged since. The engine's back-off lasts
    /// longer, until there is a sample of the round trip (RFC 6298 section 5).
    backed_off: bool,
    snd_max: u64,
    last_sent: u64,
}

impl States {
    fn is_repairing(&self) -> bool {
        self.recovery || self.loss.is_some()
    }

    fn now(&self) -> State {
        match self {
            States { loss: Some(_), .. } => State::Loss,
            States { recovery: true, .. } => State::Recovery,
            States { disorder: true, .. } => State::Disorder,
            _ => State::Open,
        }
    }

    fn event(&mut self, event: &Event) {
        match event.kind {
            EventKind::Sent { seq, len, .. } => {
                self.last_sent = seq;
                self.snd_max = self.snd_max.max(seq + u64::from(len));
            }
            EventKind::Acked { ack, dupacks, newly_acked, newly_sacked, sacks, dsack, .. } => {
                let beyond = sacks > u8::from(dsack);
                self.disorder = if newly_acked > 0 {
                    beyond
                } else {
                    self.disorder || dupacks > 0 || newly_sacked > 0
                };
                self.loss = self.loss.filter(|end| ack < *end);
                self.backed_off &= newly_acked == 0;
            }
            EventKind::RecoveryEntered { .. } => (self.recovery, self.loss) = (true, None),
            // The timeout comes right after this.
            EventKind::RecoveryLeft { by_timeout: false, .. } => self.recovery = false,
            EventKind::TimedOut { .. } => {
                (self.recovery, self.loss, self.backed_off) = (false, Some(self.snd_max), true);
            }
            EventKind::Undone { .. } => (self.recovery, self.loss) = (false, None),
            _ => {}
        }
    }
}
