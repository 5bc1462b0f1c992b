//! Two endpoints and a network between them in virtual time. Every step checks what must hold
//! whatever the network does.

use std::collections::VecDeque;

use ackclock_tcp::{
    Cause, DelayedAck, Phase, Receiver, ReceiverConfig, Registry, Segment, Sender, SenderConfig,
    Seq, Span, Time, Transmit,
    recovery::detect::{Notice, Notices, Transmission},
    strategy::Axis,
};
use proptest::{collection::vec, prelude::*, sample::select};

/// Both ends of a connection.
#[derive(Clone, Debug)]
pub struct Setup {
    pub strategy: String,
    pub isn: u32,
    pub mss: u32,
    pub initial_window: u32,
    /// Receive buffer in segments.
    pub buffer: u32,
    pub wscale: u8,
    /// Delay of ACKs in milliseconds; 0 for none.
    pub delayed_ack: u64,
    pub sack: bool,
    pub timestamps: bool,
    pub nagle: bool,
    pub max_burst: Option<u32>,
    pub auto_read: bool,
}

impl Setup {
    /// Five segments of 100 bytes at first, SACK, nothing delayed; sequence numbers wrap early.
    pub fn plain(strategy: &str) -> Setup {
        Setup {
            strategy: strategy.into(),
            isn: u32::MAX - 500,
            mss: 100,
            initial_window: 5,
            buffer: 64,
            wscale: 0,
            delayed_ack: 0,
            sack: true,
            timestamps: false,
            nagle: false,
            max_burst: None,
            auto_read: true,
        }
    }
}

/// What happens to a packet: it is the `index`-th in flight (modulo their number), so an index
/// above 0 reorders.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    Deliver(u8),
    Drop(u8),
    Duplicate(u8),
}

/// A step of a scenario.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// The application writes this many bytes.
    Write(u16),
    /// The receiving application reads up to this many bytes.
    Read(u16),
    /// A data segment in flight.
    Data(Fate),
    /// An ACK in flight.
    Ack(Fate),
    /// Everything in flight arrives in order, except where the bit of its number (modulo 16) is
    /// set; then the ACKs.
    Round { data_lost: u16, acks_lost: u16 },
    /// Milliseconds go by.
    Wait(u16),
    /// Time passes until the next deadline.
    Deadline,
    /// Both endpoints are told of a deadline, whether there is one or not.
    Early,
    /// The path's MTU changes: segments have so many bytes from now on, modulo twice the first MSS,
    /// and at least an eighth of it.
    Mss(u16),
}

/// Compositions to test: every preset, alone and with each mechanism that combines with any.
pub fn strategies() -> Vec<String> {
    let extras = [
        "",
        "+lt",
        "+abc",
        "+abe",
        "+dctcp",
        "+tolerant-start",
        "+linux-timer",
        "+bsd-timer",
        "+lt+half-window+no-bugfix",
        "+lrxt+b2b+resend",
        "+marks-ts+header-only",
        "+eifel+f-rto+rfc4015",
    ];
    let mut names: Vec<String> = Registry::default()
        .presets()
        .iter()
        .flat_map(|p| extras.map(|extra| format!("{}{extra}", p.name)))
        .collect();
    names.extend(["sack", "prr", "rack-tlp", "linux"].map(|p| format!("{p}+recovery-probe")));
    names.extend(
        ["newreno+slow-but-steady", "reno+bugfix", "newreno+inflate-bsd"].map(String::from),
    );
    names
}

/// One of [`strategies`], or any preset with up to five mechanisms that take the place of its own.
/// Not DAC with these, which releases two segments for one that has left: with `resend` they draw
/// duplicates without end. Nor ns-2's regulators, which hold what `ns2-window` halves, the window,
/// and not what the other laws do, FlightSize. Nor the timers of 6 s, until which fillers draw more
/// ACKs than the rig waits for. Who is notified of losses needs a selection that sends what is
/// lost, and a regulation that counts it as gone: the oracle takes a window law, timers and probes
/// besides.
pub fn composition() -> impl Strategy<Value = String> {
    let registry = Registry::default();
    let ordinary = |name: &String| name != "dac" && !is_notified(name);
    let presets: Vec<String> =
        registry.presets().iter().map(|p| p.name.to_string()).filter(ordinary).collect();
    let apart = [
        "response-dac",
        "ns2-inflate",
        "ns2-inflate-limited",
        "ns2-pipe",
        "ns2-timer-6s",
        "ns2-timer-100ms",
        "notified",
        "notified-at-once",
    ];
    let beside = |axis| matches!(axis, Axis::Window | Axis::Timer | Axis::Probe);
    let fit = || registry.mechanisms().iter().filter(|m| !apart.contains(&&*m.name));
    let beside: Vec<String> =
        fit().filter(|m| beside(m.axis)).map(|m| m.name.to_string()).collect();
    let notified = (select(vec!["oracle", "oracle-drop"]), vec(select(beside), 1..4))
        .prop_map(|(preset, extras)| format!("{preset}+{}", extras.join("+")));
    let mechanisms: Vec<String> = fit().map(|m| m.name.to_string()).collect();
    let random = (select(presets), vec(select(mechanisms), 1..6))
        .prop_map(|(preset, extras)| format!("{preset}+{}", extras.join("+")));
    prop_oneof![4 => select(strategies()), 4 => random, 1 => notified]
}

/// Whether the network has to notify the sender of what it loses.
pub fn is_notified(strategy: &str) -> bool {
    Registry::default().parse(strategy).unwrap().build().detect.notices() != Notices::Never
}

/// Fillers may draw an ACK a millisecond, two steps each, until the timer expires after 60 s at
/// most, ten times.
const MOST_STEPS: u32 = 1_200_000;

/// The most segments' worth of bytes that a scenario writes.
const MOST: u64 = 300;

pub struct Pair {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Time,
    /// All that the sender has sent, and when.
    pub sent: Vec<(Time, Transmit)>,
    /// Data segments in flight.
    pub data: VecDeque<Transmit>,
    /// ACKs in flight.
    pub acks: VecDeque<Segment>,
    /// Losses of which the sender will be notified, if at all, in the next round.
    lost: VecDeque<Transmit>,
    setup: Setup,
    /// What the path takes at present.
    mss: u32,
    /// The MSS has just changed.
    stale: bool,
    /// After a timeout the strategy retransmits what was SACKed, too.
    ignores_sacks_after_timeout: bool,
    written: u64,
    read: u64,
    /// Which bytes have arrived.
    arrived: Vec<bool>,
    /// The first byte that has not.
    missing: u64,
    /// The furthest right edge that the receiver has offered, and that the sender has seen.
    offered: u64,
    seen: u64,
}

impl Pair {
    pub fn new(setup: &Setup) -> Pair {
        let buffer = u64::from(setup.buffer) * u64::from(setup.mss);
        // A window of one unit at least, so that it can be offered at all.
        let wscale = setup.wscale.min(buffer.ilog2() as u8);
        let setup = &Setup { wscale, ..setup.clone() };
        let window = (buffer >> setup.wscale).min(65_535) << setup.wscale;
        let sender = SenderConfig {
            isn: Seq(setup.isn),
            mss: setup.mss,
            initial_window: Some(setup.initial_window),
            initial_rwnd: window,
            wscale: setup.wscale,
            sack: setup.sack,
            timestamps: setup.timestamps,
            nagle: setup.nagle,
            max_burst: setup.max_burst,
            ..SenderConfig::default()
        };
        let receiver = ReceiverConfig {
            isn: Seq(setup.isn),
            mss: setup.mss,
            delayed_ack: match setup.delayed_ack {
                0 => DelayedAck::Off,
                ms => DelayedAck::After(Span::from_millis(ms)),
            },
            sack: setup.sack,
            timestamps: setup.timestamps,
            buffer,
            wscale: setup.wscale,
            auto_read: setup.auto_read,
            ..ReceiverConfig::default()
        };
        let strategy =
            Registry::default().parse(&setup.strategy).expect("a known strategy").build();
        Pair {
            ignores_sacks_after_timeout: !strategy.select.uses_sacks_after_timeout(),
            sender: Sender::new(sender, strategy),
            receiver: Receiver::new(receiver),
            now: Time::ZERO,
            sent: Vec::new(),
            data: VecDeque::new(),
            acks: VecDeque::new(),
            lost: VecDeque::new(),
            setup: setup.clone(),
            mss: setup.mss,
            stale: false,
            written: 0,
            read: 0,
            arrived: Vec::new(),
            missing: 0,
            offered: window,
            seen: window,
        }
    }

    /// The handshake ends at this time, before anything is sent.
    pub fn begin(&mut self, at: Time) {
        self.now = at;
        self.receiver.set_ts_recent(Some(at.timestamp()));
    }

    pub fn run(&mut self, ops: &[Op]) {
        for &op in ops {
            self.apply(op);
        }
    }

    pub fn apply(&mut self, op: Op) {
        match op {
            Op::Write(bytes) => {
                let bytes = u64::from(bytes).min(MOST * u64::from(self.setup.mss) - self.written);
                self.written += bytes;
                self.arrived.resize(self.written as usize, false);
                self.sender.write(self.now, bytes);
                self.drain_sender();
            }
            Op::Read(bytes) => self.read(u64::from(bytes)),
            Op::Data(fate) => {
                if let Some((transmit, arrives)) = settle(&mut self.data, fate) {
                    self.settle_data(&transmit, arrives);
                }
            }
            Op::Ack(fate) => {
                if let Some((ack, arrives)) = settle(&mut self.acks, fate) {
                    self.settle_ack(&ack, arrives);
                }
            }
            Op::Round { data_lost, acks_lost } => self.round(data_lost, acks_lost),
            Op::Wait(ms) => self.wait_until(self.now + Span::from_millis(u64::from(ms))),
            Op::Deadline => {
                let next = self.next_deadline();
                if next != Time::NEVER {
                    self.wait_until(next);
                }
            }
            Op::Early => self.early(),
            Op::Mss(mss) => {
                self.mss = (u32::from(mss) % (2 * self.setup.mss)).max(self.setup.mss.div_ceil(8));
                self.sender.set_mss(self.now, self.mss);
                // To Linux what goes again has the time of the input before.
                self.stale = true;
                self.drain_sender();
                self.stale = false;
            }
        }
        self.check();
    }

    /// The network stops losing and the application reads: everything must arrive.
    pub fn finish(&mut self) {
        self.sender.close(self.now);
        self.drain_sender();
        let mut steps = 0;
        let before = self.sender.stats().timeouts;
        while !self.sender.is_idle() || self.under_way() || self.read < self.written {
            steps += 1;
            let timeouts = self.sender.stats().timeouts - before;
            assert!(
                timeouts <= 10 && steps < MOST_STEPS,
                "does not terminate: {:?}",
                self.sender.state()
            );
            self.read(u64::MAX);
            self.tell();
            if let Some(transmit) = self.data.pop_front() {
                self.deliver_data(&transmit.segment);
            } else if let Some(ack) = self.acks.pop_front() {
                self.wait_until(self.now + Span::from_millis(1));
                self.deliver_ack(&ack);
            } else if !self.sender.is_idle() {
                self.wait_until(self.next_deadline());
            }
            self.check();
        }
        assert_eq!(self.missing, self.written);
        assert_eq!(self.sender.acked(), self.written);
        assert_eq!(self.sender.next_deadline(), Time::NEVER, "nothing is left to wait for");
        assert_eq!(self.receiver.next_deadline(), Time::NEVER);
    }

    fn round(&mut self, data_lost: u16, acks_lost: u16) {
        self.wait_until(self.now + Span::from_millis(50));
        for k in 0..self.data.len() {
            let Some(transmit) = self.data.pop_front() else { break };
            self.settle_data(&transmit, data_lost >> (k % 16) & 1 == 0);
        }
        for k in 0..self.acks.len() {
            let Some(ack) = self.acks.pop_front() else { break };
            self.settle_ack(&ack, acks_lost >> (k % 16) & 1 == 0);
        }
        self.tell();
    }

    fn under_way(&self) -> bool {
        !self.data.is_empty() || !self.acks.is_empty() || !self.lost.is_empty()
    }

    fn settle_data(&mut self, transmit: &Transmit, arrives: bool) {
        if arrives {
            return self.deliver_data(&transmit.segment);
        }
        if self.sender.notices() != Notices::Never {
            self.lost.push_back(*transmit);
        }
        if self.sender.notices() == Notices::AtOnce {
            self.notify(transmit.position, transmit.transmission, true);
            self.drain_sender();
        }
    }

    /// Who is notified of losses gets every ACK: it says what became of segments.
    fn settle_ack(&mut self, ack: &Segment, arrives: bool) {
        if arrives || self.sender.notices() != Notices::Never {
            self.deliver_ack(ack);
        }
    }

    fn notify(&mut self, seq: u64, number: u32, at_once: bool) {
        let lost = Transmission { seq, number };
        self.sender.on_notice(self.now, Notice { lost, at_once });
    }

    fn tell(&mut self) {
        while let Some(Transmit { position, transmission, .. }) = self.lost.pop_front() {
            self.notify(position, transmission, false);
            self.drain_sender();
        }
    }

    fn next_deadline(&self) -> Time {
        self.sender.next_deadline().min(self.receiver.next_deadline())
    }

    /// Lets time pass; deadlines are served when they come.
    fn wait_until(&mut self, target: Time) {
        assert_ne!(target, Time::NEVER, "nobody waits for anything: {:?}", self.sender.state());
        let mut served = 0;
        while self.next_deadline() <= target {
            served += 1;
            assert!(served < 5_000, "deadlines do not advance: {:?}", self.sender.state());
            self.now = self.now.max(self.next_deadline());
            if self.sender.next_deadline() <= self.now {
                self.sender.on_deadline(self.now);
                self.drain_sender();
            }
            if self.receiver.next_deadline() <= self.now {
                self.receiver.on_deadline(self.now);
                self.drain_receiver();
            }
        }
        self.now = self.now.max(target);
    }

    /// A call of `on_deadline` that comes too early is harmless.
    fn early(&mut self) {
        let before = self.next_deadline();
        if before <= self.now || self.setup.max_burst.is_some() {
            return;
        }
        self.sender.on_deadline(self.now);
        self.receiver.on_deadline(self.now);
        assert_eq!(self.sender.poll_transmit(self.now), None, "sent too early");
        assert_eq!(self.receiver.poll_transmit(self.now), None, "acknowledged too early");
        // What recovery would select is not known before it is asked: pacing may ask once more.
        if self.sender.waits_for() != Some(Axis::Pacing) {
            assert_eq!(self.next_deadline(), before, "{:?}", self.sender.state());
        }
    }

    fn read(&mut self, bytes: u64) {
        let readable = if self.setup.auto_read { 0 } else { self.missing - self.read };
        let got = self.receiver.read(self.now, bytes);
        assert_eq!(got, bytes.min(readable));
        self.read = if self.setup.auto_read { self.missing } else { self.read + got };
        self.drain_receiver();
    }

    fn deliver_data(&mut self, segment: &Segment) {
        let mut fresh = false;
        if segment.len > 0 {
            let left = segment
                .seq
                .position(Seq(self.setup.isn), self.missing)
                .expect("data lies in the stream");
            for byte in &mut self.arrived[left as usize..(left + u64::from(segment.len)) as usize] {
                fresh |= !*byte;
                *byte = true;
            }
            while self.arrived.get(self.missing as usize) == Some(&true) {
                self.missing += 1;
            }
        }
        assert_eq!(
            self.receiver.on_segment(self.now, segment),
            fresh,
            "whether {segment:?} brings anything"
        );
        if self.setup.auto_read {
            self.read = self.missing;
        }
        self.drain_receiver();
    }

    fn deliver_ack(&mut self, ack: &Segment) {
        let position =
            ack.ack.position(Seq(self.setup.isn), self.missing).expect("an ACK of this stream");
        self.seen = self.seen.max(position + (u64::from(ack.wnd) << self.setup.wscale));
        self.sender.on_segment(self.now, ack);
        self.drain_sender();
    }

    fn drain_receiver(&mut self) {
        let Some(ack) = self.receiver.poll_transmit(self.now) else { return };
        assert_eq!(
            self.receiver.poll_transmit(self.now),
            None,
            "one input makes at most one ACK due"
        );
        assert_eq!(
            ack.ack,
            Seq::at(Seq(self.setup.isn), self.missing),
            "bytes are acknowledged once and in order"
        );
        for block in ack.sack.as_slice() {
            let position = |q: Seq| {
                q.position(Seq(self.setup.isn), self.missing).expect("a block of this stream")
            };
            let (left, right) = (position(block.left), position(block.right));
            assert!(left < right && self.all_arrived(left, right), "{block:?} has not arrived");
        }
        let edge = self.missing + (u64::from(ack.wnd) << self.setup.wscale);
        let buffer = u64::from(self.setup.buffer) * u64::from(self.setup.mss);
        assert!(edge <= self.read + buffer, "offers more than the buffer holds");
        assert!(
            edge + (1 << self.setup.wscale) > self.offered,
            "shrinks the window by a unit or more"
        );
        self.offered = self.offered.max(edge);
        self.acks.push_back(ack);
    }

    fn drain_sender(&mut self) {
        let mut sent = 0;
        while let Some(transmit) = self.sender.poll_transmit(self.now) {
            sent += 1;
            assert!(sent < 5_000, "sends without end: {:?}", self.sender.state());
            let segment = transmit.segment;
            let end = transmit.position + u64::from(segment.len);
            if segment.len > 0 {
                assert!(end <= self.written, "sends what was not written");
                assert!(end <= self.seen, "sends beyond the offered window: {transmit:?}");
                assert_eq!(segment.seq, Seq::at(Seq(self.setup.isn), transmit.position));
                assert!(segment.len <= self.mss, "too big: {transmit:?}");
                let s = self.sender.state();
                assert!(end > s.snd_una, "sends what was acknowledged: {transmit:?}");
                let record = s
                    .board
                    .get(s.board.find(transmit.position))
                    .expect("what is sent is on the scoreboard");
                assert_eq!((record.seq, record.len), (transmit.position, segment.len));
                assert!(record.last_sent == self.now || self.stale && record.last_sent < self.now);
                assert!(record.last_sent >= record.first_sent, "sent again before it was sent");
                assert_eq!(u32::from(record.transmissions), transmit.transmission);
                if transmit.cause == Cause::New && s.phase == Phase::Open && s.board.len() > 1 {
                    assert!(s.flight() <= s.cwnd, "sends beyond cwnd: {transmit:?}");
                }
                let ignores_sacks =
                    self.ignores_sacks_after_timeout && transmit.cause == Cause::SlowStart;
                assert!(
                    !record.sacked || ignores_sacks,
                    "sends what was selectively acknowledged: {transmit:?}"
                );
            }
            assert_eq!(segment.timestamps.is_some(), self.setup.timestamps);
            self.sent.push((self.now, transmit));
            self.data.push_back(transmit);
        }
        if let Some(limit) = self.setup.max_burst {
            assert!(sent <= limit.max(1) + 1, "{sent} segments in a burst of at most {limit}");
        }
    }

    fn all_arrived(&self, left: u64, right: u64) -> bool {
        self.arrived
            .get(left as usize..right as usize)
            .is_some_and(|bytes| bytes.iter().all(|b| *b))
    }

    /// What holds between any two inputs.
    fn check(&self) {
        let s = self.sender.state();
        assert_eq!(s.board.pipe(), s.board.recomputed_pipe());
        assert!(
            s.snd_una <= s.snd_nxt && s.snd_nxt <= s.snd_max && s.snd_max <= self.written,
            "{s:?}"
        );
        assert!(s.snd_una <= self.missing, "acknowledged what has not arrived");
        assert!(s.cwnd > 0);
        let mut next = s.snd_una;
        for record in s.board.iter() {
            assert_eq!(record.seq, next, "the scoreboard has a gap");
            next = record.end();
            assert!(
                !record.sacked || self.all_arrived(record.seq, record.end()),
                "{record:?} has not arrived"
            );
        }
        assert_eq!(next, s.snd_max);
        if self.sender.is_idle() {
            assert_eq!(self.sender.next_deadline(), Time::NEVER, "a timer runs for nothing");
        } else {
            // Who is notified needs no timer of its own as long as notices are to come.
            let news = self.under_way() || self.receiver.next_deadline() != Time::NEVER;
            let waits = self.sender.next_deadline() != Time::NEVER
                || (self.sender.notices() != Notices::Never && news);
            assert!(waits, "stalls: {s:?}");
        }
    }
}

/// What the fate befalls, and whether it arrives.
fn settle<T: Copy>(queue: &mut VecDeque<T>, fate: Fate) -> Option<(T, bool)> {
    if queue.is_empty() {
        return None;
    }
    let at = |index: u8| usize::from(index) % queue.len();
    match fate {
        Fate::Deliver(index) => queue.remove(at(index)).map(|it| (it, true)),
        Fate::Duplicate(index) => queue.get(at(index)).map(|it| (*it, true)),
        Fate::Drop(index) => queue.remove(at(index)).map(|it| (it, false)),
    }
}
