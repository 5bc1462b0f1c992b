//! Plays path and receiver to a connection of the kernel, in real time, and records it.
//!
//! After each input all that the kernel sends is read before the next one goes in. A packet that is
//! written to a TUN device is taken through TCP before the call returns, so what can be read then
//! is the answer to it. What comes later was sent by a timer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::io;

use ackclock_replay::{Ack, FORMAT, Header, Sent, Step, Vector, What};
use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{
    Codepoint, DelayedAck, Ecn, Receiver, ReceiverConfig, Segment, Seq, Span, Time, Timestamps,
};

use super::host::{Connection, Host, Received, SETTINGS, now};
use super::scenario::Scenario;

/// Our initial sequence number.
const ISS: u32 = 1_000_000;
const WINDOW_SCALE: u8 = 7;
/// Ticks of the kernel's clock a second, and how long one takes. They lie at multiples of it on the
/// monotonic clock.
pub(super) const HZ: u32 = 250;
pub(super) const JIFFY: u64 = 1_000_000_000 / HZ as u64;
/// Packets on the link have headers, too.
const HEADERS: u64 = 40;
/// A recording that takes longer is given up.
const LONGEST: Span = Span::from_secs(60);
/// Segments that a timer sends come within this time of one another.
const TOGETHER: u64 = 1000;

/// What happens next, and when: nanoseconds since the origin.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    /// Ties are broken by the order in which events were made.
    number: u64,
    what: Happening,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Arrival { position: u64, len: u32, tsval: Option<u32>, marked: bool, cwr: bool },
    Acknowledge(usize),
    ReceiverTimer,
    Read,
    Write(u64),
}

struct Recorder<'a> {
    host: &'a mut Host,
    connection: Connection,
    scenario: &'a Scenario,
    /// A tick of the kernel's clock, not after its SYN.
    origin: Time,
    /// Sequence number of the first byte of data.
    isn: Seq,
    /// The kernel's timestamp of the origin.
    timestamp_origin: u32,
    /// When the handshake was over.
    established: u64,
    events: BinaryHeap<Reverse<Event>>,
    made: u64,
    receiver: Receiver,
    /// ACKs on their way.
    acks: Vec<Segment>,
    /// How many the receiver has sent.
    ack_number: u64,
    /// When the link has sent each packet in its queue.
    queue: Vec<u64>,
    /// Of each position: its number in the order of first transmissions, and how often it was sent.
    transmissions: HashMap<u64, (u64, u32)>,
    written: u64,
    /// What the kernel knows to have arrived.
    acked: u64,
    /// When the last ACK arrives that may not be overtaken.
    last_ack_at: u64,
    steps: Vec<Step>,
}

/// Records a scenario.
///
/// # Errors
/// What the kernel says; or it took too long, or did what no TCP does.
pub(super) fn record(host: &mut Host, scenario: &Scenario, kernel: &str) -> io::Result<Vector> {
    let (connection, syn, syn_at) = open(host, scenario)?;
    let origin = Time(syn_at.0 / JIFFY * JIFFY);
    let timestamps = scenario.timestamps && syn.options.timestamps.is_some();
    let isn = syn.seq + 1;
    let receiver = Receiver::new(ReceiverConfig {
        isn,
        local_seq: Seq(ISS + 1),
        mss: scenario.payload() as u32,
        delayed_ack: match scenario.delayed_ack {
            0 => DelayedAck::Off,
            ms => DelayedAck::After(Span::from_millis(ms)),
        },
        sack: scenario.sack,
        ecn: offers_ecn(scenario, &syn),
        dsack: scenario.dsack,
        timestamps,
        buffer: scenario.buffer,
        wscale: WINDOW_SCALE,
        auto_read: scenario.reads.is_none(),
        ..ReceiverConfig::default()
    });
    let tsval = syn.options.timestamps.map_or(0, |t| t.val);
    let mut recorder = Recorder {
        host,
        connection,
        scenario,
        origin,
        isn,
        timestamp_origin: tsval.wrapping_sub((syn_at.0 / 1_000_000 - origin.0 / 1_000_000) as u32),
        established: 0,
        events: BinaryHeap::new(),
        made: 0,
        receiver,
        acks: Vec::new(),
        ack_number: 0,
        queue: Vec::new(),
        transmissions: HashMap::new(),
        written: 0,
        acked: 0,
        last_ack_at: 0,
        steps: Vec::new(),
    };
    let header = recorder.handshake(&syn, timestamps, kernel)?;
    recorder.run()?;
    Ok(Vector { header, steps: recorder.steps })
}

/// The SYN is an ECN-setup SYN (RFC 3168 section 6.1.1), and the receiver agrees.
fn offers_ecn(scenario: &Scenario, syn: &Repr) -> bool {
    scenario.ecn && syn.control.contains(Control::ECE.with(Control::CWR))
}

/// Has the kernel send its SYN; when it did. Where that is not known to the millisecond of the
/// timestamp clock, it is tried again.
pub(super) fn open(host: &mut Host, scenario: &Scenario) -> io::Result<(Connection, Repr, Time)> {
    for _ in 0..100 {
        let before = now();
        let mut connection = host.connect(scenario)?;
        let syn = host.receive(&connection)?;
        let sent = now();
        let Some(Received { header, .. }) = syn else {
            return Err(io::Error::other("no SYN"));
        };
        // The sysctls take most of the time between, and come first.
        let certain = sent.0 / 1_000_000 == (sent.0 - 100_000).max(before.0) / 1_000_000;
        if certain {
            connection.kernel_port = header.src_port;
            return Ok((connection, header, sent));
        }
    }
    Err(io::Error::other("the clock is too coarse"))
}

impl Recorder<'_> {
    fn time(&self) -> u64 {
        now().since(self.origin).0
    }

    fn push(&mut self, at: u64, what: Happening) {
        self.made += 1;
        self.events.push(Reverse(Event { at, number: self.made, what }));
    }

    fn handshake(&mut self, syn: &Repr, timestamps: bool, kernel: &str) -> io::Result<Header> {
        let s = self.scenario;
        // The SYN left a few microseconds before it was read.
        let syn_at = self.time();
        let at = syn_at + 2 * s.delay * 1000;
        while self.time() < at {
            if self.host.wait(self.origin + Span(at))?
                && self.host.receive(&self.connection)?.is_some()
            {
                return Err(io::Error::other("a SYN goes twice"));
            }
        }
        let window = s.buffer.min(65_535) as u16;
        let options = Options {
            mss: Some(s.mss),
            wscale: Some(WINDOW_SCALE),
            sack_permitted: s.sack,
            timestamps: timestamps.then(|| Timestamps {
                val: Time(self.time()).timestamp(),
                ecr: syn.options.timestamps.map_or(0, |t| t.val),
            }),
            ..Options::default()
        };
        let (ecn, control) = (offers_ecn(s, syn), Control::SYN.with(Control::ACK));
        let answer = Repr {
            seq: Seq(ISS),
            ack: self.isn,
            control: if ecn { control.with(Control::ECE) } else { control },
            wnd: window,
            options,
            ..Repr::default()
        };
        self.established = self.host.send(&self.connection, &answer)?.since(self.origin).0;
        while self.host.receive(&self.connection)?.is_some_and(|r| r.len == 0) {}
        let info = self.host.info(&self.connection)?;
        for &(ms, bytes) in &s.writes {
            self.push(self.established + 500_000 + ms * 1_000_000, Happening::Write(bytes));
        }
        if let Some((every, _)) = s.reads {
            self.push(self.established + every * 1_000_000, Happening::Read);
        }
        let settings: BTreeMap<String, i64> = SETTINGS
            .iter()
            .map(|(key, default)| {
                (key.to_string(), s.settings.get(*key).copied().unwrap_or(*default))
            })
            .collect();
        Ok(Header {
            format: FORMAT.into(),
            kernel: kernel.into(),
            hz: HZ,
            congestion: s.congestion.clone(),
            settings,
            mss: s.payload() as u32,
            initial_window: info.cwnd,
            sack: s.sack,
            ecn,
            timestamps,
            window_scale: WINDOW_SCALE,
            window: window.into(),
            syn_at: syn_at / 1000,
            round_trip: Some((self.established - syn_at) / 1000),
            syn_retransmissions: 0,
            syn_spurious: false,
            nagle: false,
            offload: s.offload,
            family: s.family.clone(),
            seed: s.seed,
            scenario: serde_json::to_value(s).unwrap_or_default(),
        })
    }

    fn run(&mut self) -> io::Result<()> {
        while let Some(Reverse(next)) = self.events.pop() {
            loop {
                let time = self.time();
                if self.read_segments()? == 0 && time >= next.at {
                    break;
                }
                // What came may have changed what comes next.
                if self.events.peek().is_some_and(|Reverse(first)| *first < next) {
                    break;
                }
                self.host.wait(self.origin + Span(next.at))?;
            }
            if self.events.peek().is_some_and(|Reverse(first)| *first < next) {
                self.events.push(Reverse(next));
                continue;
            }
            self.happen(next)?;
            if self.is_over() {
                return Ok(());
            }
            if self.time() > LONGEST.0 {
                break;
            }
            // A timer of the kernel is all that can go on.
            while self.events.is_empty() && self.time() < LONGEST.0 {
                self.host.wait(self.origin + LONGEST)?;
                self.read_segments()?;
            }
        }
        Err(io::Error::other("it took too long"))
    }

    /// All that will be written has been, and the kernel knows that it arrived.
    fn is_over(&self) -> bool {
        let total = self.scenario.bytes();
        let acked = self
            .steps
            .last()
            .is_some_and(|step| matches!(&step.what, What::Ack(ack) if ack.to == total));
        acked && self.written == total
    }

    fn happen(&mut self, event: Event) -> io::Result<()> {
        let at = Time(event.at);
        match event.what {
            Happening::Write(bytes) => {
                let data = vec![0; bytes as usize];
                let time = self.time();
                let written = rustix::io::write(&self.connection.socket, &data)?;
                if written as u64 != bytes {
                    return Err(io::Error::other("the send buffer is full"));
                }
                self.written += bytes;
                self.input(time, What::Write(bytes))?;
            }
            Happening::Arrival { position, len, tsval, marked, cwr } => {
                let codepoint = if marked { Codepoint::Ce } else { Codepoint::NotEct };
                let segment = Segment {
                    seq: Seq::at(self.isn, position),
                    len,
                    timestamps: tsval.map(|val| Timestamps { val, ecr: 0 }),
                    ecn: Ecn::new(codepoint, false, cwr),
                    ..Segment::default()
                };
                self.receiver.on_segment(at, &segment);
                self.acknowledge(at);
            }
            Happening::ReceiverTimer => {
                self.receiver.on_deadline(at);
                self.acknowledge(at);
            }
            Happening::Read => {
                if let Some((every, bytes)) = self.scenario.reads {
                    self.receiver.read(at, bytes);
                    self.acknowledge(at);
                    self.push(event.at + every * 1_000_000, Happening::Read);
                }
            }
            Happening::Acknowledge(which) => self.deliver(which)?,
        }
        Ok(())
    }

    /// An ACK reaches the kernel.
    fn deliver(&mut self, which: usize) -> io::Result<()> {
        let segment = self.acks[which];
        let near = self.receiver.rcv_nxt();
        let position = |seq: Seq| seq.position(self.isn, near).unwrap_or(0);
        let blocks = segment.sack.as_slice().iter();
        let ack = Ack {
            to: position(segment.ack),
            window: u64::from(segment.wnd) << WINDOW_SCALE,
            sack: blocks.map(|b| (position(b.left), position(b.right))).collect(),
            echo: segment.timestamps.map(|t| Timestamps::ticks_since(self.timestamp_origin, t.ecr)),
            ece: segment.ecn.ece(),
        };
        let header = Repr::from_segment(&segment);
        let time = self.host.send(&self.connection, &header)?.since(self.origin).0;
        self.acked = self.acked.max(ack.to);
        self.input(time, What::Ack(ack))
    }

    /// An input has gone in: the answer is there already.
    fn input(&mut self, time: u64, what: What) -> io::Result<()> {
        self.steps.push(Step { at: time / 1000, what, sent: Vec::new(), info: Default::default() });
        while let Some(received) = self.receive()? {
            self.sent(time, &received);
        }
        self.note_info()
    }

    /// The next segment of the kernel's stream: data, or a window probe, which stands below what is
    /// acknowledged. ACKs of the kernel are none of it.
    fn receive(&mut self) -> io::Result<Option<Received>> {
        while let Some(received) = self.host.receive(&self.connection)? {
            if received.len > 0 || received.header.seq == Seq::at(self.isn, self.acked) + u32::MAX {
                return Ok(Some(received));
            }
        }
        Ok(None)
    }

    fn note_info(&mut self) -> io::Result<()> {
        if let Some(step) = self.steps.last_mut() {
            step.info = self.host.info(&self.connection)?;
        }
        Ok(())
    }

    /// Reads what timers sent; how many segments.
    fn read_segments(&mut self) -> io::Result<usize> {
        let mut count = 0;
        while let Some(received) = self.receive()? {
            let time = self.time();
            let at = time / 1000;
            let goes_on = self
                .steps
                .last()
                .is_some_and(|step| step.what == What::Timer && step.at + TOGETHER > at);
            if !goes_on {
                self.steps.push(Step {
                    at,
                    what: What::Timer,
                    sent: Vec::new(),
                    info: Default::default(),
                });
            }
            self.sent(time, &received);
            count += 1;
        }
        if count > 0 {
            self.note_info()?;
        }
        Ok(count)
    }

    /// The kernel has sent a segment: into the link it goes.
    fn sent(&mut self, time: u64, received: &Received) {
        let position = received.header.seq.position(self.isn, self.receiver.rcv_nxt()).unwrap_or(0);
        let len = received.len;
        let (number, transmission) = if len == 0 {
            (u64::MAX, 0)
        } else {
            let number = self.transmissions.len() as u64;
            let entry = self.transmissions.entry(position).or_insert((number, 0));
            entry.1 += 1;
            *entry
        };
        let cwr = received.header.control.contains(Control::CWR);
        let capable = received.header.codepoint != Codepoint::NotEct;
        let marked = capable && self.scenario.mark.contains(&(number, transmission));
        if let Some(step) = self.steps.last_mut() {
            let push = self.scenario.offload && received.header.control.contains(Control::PSH);
            step.sent.push(Sent { position, len, transmission, push, cwr });
        }
        let s = self.scenario;
        if s.drop.contains(&(number, transmission)) {
            return;
        }
        self.queue.retain(|departs| *departs > time);
        if self.queue.len() >= s.queue {
            return;
        }
        let begins = self.queue.last().copied().unwrap_or(0).max(time);
        let departs = begins + (u64::from(len) + HEADERS) * 8 * 1_000_000 / s.rate.max(1);
        self.queue.push(departs);
        let tsval = received.header.options.timestamps.map(|t| t.val);
        let arrives = departs + s.delay * 1000;
        let more = |list: &[(u64, u32, u64)]| {
            list.iter().find(|(n, t, _)| (*n, *t) == (number, transmission)).map(|(.., ms)| *ms)
        };
        let late = more(&s.late).unwrap_or(0);
        let again = more(&s.twice);
        let held = |at: u64| {
            let since = (at.saturating_sub(self.established)) / 1_000_000;
            let hold = s.holds.iter().find(|(from, to)| (*from..*to).contains(&since));
            hold.map_or(at, |(_, to)| self.established + to * 1_000_000)
        };
        let first = held(arrives + late * 1_000_000);
        let second = again.map(|ms| held(arrives + ms * 1_000_000));
        for at in [Some(first), second].into_iter().flatten() {
            self.push(at, Happening::Arrival { position, len, tsval, marked, cwr });
        }
    }

    /// Sends the ACK that the receiver has due, if one is, and keeps its timer.
    fn acknowledge(&mut self, at: Time) {
        while let Some(ack) = self.receiver.poll_transmit(at) {
            let number = self.ack_number;
            self.ack_number += 1;
            if self.scenario.drop_acks.contains(&number) {
                continue;
            }
            let late = self.scenario.late_acks.iter().find(|(n, _)| *n == number);
            let late = late.map_or(0, |(_, ms)| *ms);
            self.acks.push(ack);
            let mut arrives = at.0 + self.scenario.delay * 1000 + late * 1_000_000;
            if ack.timestamps.is_some() {
                // PAWS drops an ACK that was overtaken (RFC 7323 section 5).
                arrives = arrives.max(self.last_ack_at);
                self.last_ack_at = arrives;
            }
            self.push(arrives, Happening::Acknowledge(self.acks.len() - 1));
        }
        if self.receiver.next_deadline() != Time::NEVER {
            self.push(self.receiver.next_deadline().0, Happening::ReceiverTimer);
        }
    }
}
