//! Two whole connections over a network that drops, duplicates, reorders and delays as it likes,
//! with everything checked that must hold after each step: what was sent stays within the window
//! that the peer has offered and within the path, and what arrives is what was written.

use std::collections::VecDeque;

use ackclock_tcp::connection::{Connection, ConnectionConfig, Outgoing, TcpState};
use ackclock_tcp::wire::Control;
use ackclock_tcp::{
    Cause, Codepoint, DelayedAck, ReceiverConfig, Registry, SenderConfig, Seq, Span, Time,
};

/// One end.
#[derive(Clone, Debug)]
pub struct Setup {
    pub strategy: String,
    pub iss: u32,
    pub mss: u16,
    pub buffer: u32,
    pub wscale: Option<u8>,
    pub sack: bool,
    pub timestamps: bool,
    pub ecn: bool,
    pub nagle: bool,
    pub delayed_ack: bool,
    pub initial_window: u32,
}

impl Setup {
    pub fn plain(strategy: &str) -> Setup {
        Setup {
            strategy: strategy.to_string(),
            iss: 0u32.wrapping_sub(500),
            mss: 1000,
            buffer: 20_000,
            wscale: Some(3),
            sack: true,
            timestamps: false,
            ecn: false,
            nagle: false,
            delayed_ack: true,
            initial_window: 4,
        }
    }

    pub fn config(&self) -> ConnectionConfig {
        let delayed_ack = if self.delayed_ack {
            DelayedAck::After(Span::from_millis(200))
        } else {
            DelayedAck::Off
        };
        ConnectionConfig {
            iss: Seq(self.iss),
            local_mss: self.mss,
            path_mss: self.mss,
            wide_path_mss: None,
            least_path_mss: Some(self.mss / 2),
            sack: self.sack,
            timestamps: self.timestamps,
            ecn: self.ecn,
            wscale: self.wscale,
            sender: SenderConfig {
                nagle: self.nagle,
                initial_window: Some(self.initial_window),
                ..SenderConfig::default()
            },
            receiver: ReceiverConfig {
                delayed_ack,
                buffer: u64::from(self.buffer),
                ..ReceiverConfig::default()
            },
            syn_retries: u32::MAX,
            keep_alive: None,
            user_timeout: None,
            time_wait: Span::from_secs(1_000_000_000),
            fin_wait_2: Span::from_secs(1_000_000_000),
        }
    }

    pub fn connect(&self, now: Time) -> Connection {
        Connection::connect(
            now,
            self.config(),
            Registry::default().parse(&self.strategy).expect("a composition").build(),
        )
    }
}

/// What happens next; `side` 0 or 1, other numbers are taken modulo what there is.
#[derive(Clone, Debug)]
pub enum Op {
    Write {
        side: u8,
        bytes: u16,
    },
    Read {
        side: u8,
        bytes: u16,
    },
    Shutdown {
        side: u8,
    },
    /// The segment at this place of what is on its way to `side` arrives, and comes again if
    /// `twice`.
    Deliver {
        side: u8,
        index: u8,
        twice: bool,
    },
    Drop {
        side: u8,
        index: u8,
    },
    /// A router marks it with CE, if it may be marked.
    Mark {
        side: u8,
        index: u8,
    },
    /// All that is on its way arrives in order, but for what this mask loses.
    Round {
        lost: u16,
    },
    Wait(u16),
    /// The next deadline comes.
    Deadline,
    /// Both ends are told of a deadline, whether there is one or not.
    Early,
}

/// The most that one end writes, and in how many pieces at most.
const MOST: u64 = 50_000;
const PIECES: u64 = 200;

pub struct End {
    pub connection: Option<Connection>,
    setup: Setup,
    /// Which bytes have been placed, and the first that has not.
    held: Vec<bool>,
    next: u64,
    /// On the way to this end.
    wire: VecDeque<Outgoing>,
    /// The furthest edge that this end has been offered, as a stream position.
    edge: u64,
}

pub struct Duplex {
    pub ends: [End; 2],
    now: Time,
}

impl Duplex {
    /// Side 0 connects; side 1 listens, or connects as well.
    pub fn new(setups: [Setup; 2], simultaneous: bool) -> Duplex {
        let now = Time(1);
        let ends = setups.map(|setup| End {
            connection: None,
            setup,
            held: vec![false; MOST as usize],
            next: 0,
            wire: VecDeque::new(),
            edge: 0,
        });
        let mut duplex = Duplex { ends, now };
        for side in 0..=usize::from(simultaneous) {
            let end = &mut duplex.ends[side];
            end.connection = Some(end.setup.connect(now));
            duplex.drain(side);
        }
        duplex
    }

    pub fn run(&mut self, ops: &[Op]) {
        for op in ops {
            self.apply(op);
        }
    }

    fn apply(&mut self, op: &Op) {
        let pick = |len: usize, index: u8| (len > 0).then(|| usize::from(index) % len);
        match *op {
            Op::Write { side, bytes } => {
                let most = self.most(usize::from(side % 2));
                self.input(side, |c, now| c.write(now, u64::from(bytes).min(most - c.written())));
            }
            Op::Read { side, bytes } => self.read(usize::from(side % 2), u64::from(bytes)),
            Op::Shutdown { side } => self.input(side, |c, now| c.shutdown(now)),
            Op::Deliver { side, index, twice } => {
                let wire = &mut self.ends[usize::from(side % 2)].wire;
                if let Some(index) = pick(wire.len(), index) {
                    let segment = if twice { wire.get(index).copied() } else { wire.remove(index) };
                    self.deliver(usize::from(side % 2), &segment.expect("there is one"));
                }
            }
            Op::Drop { side, index } => {
                let wire = &mut self.ends[usize::from(side % 2)].wire;
                pick(wire.len(), index).and_then(|index| wire.remove(index));
            }
            Op::Mark { side, index } => {
                let wire = &mut self.ends[usize::from(side % 2)].wire;
                if let Some(index) = pick(wire.len(), index)
                    && wire[index].header.codepoint != Codepoint::NotEct
                {
                    wire[index].header.codepoint = Codepoint::Ce;
                }
            }
            Op::Round { lost } => self.round(lost),
            Op::Wait(ms) => {
                self.now += Span::from_millis(u64::from(ms));
                self.early();
            }
            Op::Deadline => {
                let next = self.next_deadline();
                if next != Time::NEVER {
                    self.now = self.now.max(next);
                }
                self.early();
            }
            Op::Early => self.early(),
        }
    }

    fn most(&self, side: usize) -> u64 {
        let piece =
            u64::from(self.ends[1 - side].setup.buffer).min(u64::from(self.ends[side].setup.mss));
        (PIECES * piece).min(MOST)
    }

    fn next_deadline(&self) -> Time {
        let deadline = |end: &End| match &end.connection {
            // TIME-WAIT would end too late for anything.
            Some(c) if c.state() != TcpState::TimeWait => c.next_deadline(),
            _ => Time::NEVER,
        };
        deadline(&self.ends[0]).min(deadline(&self.ends[1]))
    }

    fn early(&mut self) {
        for side in 0..2 {
            self.input(side, |c, now| c.on_deadline(now));
        }
    }

    fn round(&mut self, lost: u16) {
        self.now += Span::from_millis(10);
        for side in 0..2 {
            for (n, segment) in std::mem::take(&mut self.ends[side].wire).into_iter().enumerate() {
                if lost >> (n % 16) & 1 == 0 {
                    self.deliver(side, &segment);
                }
            }
        }
        self.early();
    }

    fn input(&mut self, side: u8, f: impl FnOnce(&mut Connection, Time)) {
        let side = usize::from(side % 2);
        if let Some(c) = &mut self.ends[side].connection {
            f(c, self.now);
            self.drain(side);
        }
    }

    fn deliver(&mut self, side: usize, segment: &Outgoing) {
        let now = self.now;
        self.note_window(side, segment);
        let end = &mut self.ends[side];
        let Some(c) = &mut end.connection else {
            // What a listener does.
            let listened = Control::SYN.with(Control::ACK);
            if segment.header.control.0 & listened.0 == Control::SYN.0 {
                let strategy =
                    Registry::default().parse(&end.setup.strategy).expect("a composition").build();
                end.connection =
                    Some(Connection::accept(now, end.setup.config(), strategy, &segment.header));
                self.drain(side);
            }
            return;
        };
        if let Some(place) = c.on_segment(now, &segment.header, segment.len) {
            assert!(place.len > 0 && place.offset + place.len <= segment.len);
            assert_eq!(
                place.position,
                segment.position + u64::from(place.offset),
                "belongs elsewhere"
            );
            let limit = c.read_position() + u64::from(end.setup.buffer);
            assert!(place.position + u64::from(place.len) <= limit, "more than the buffer holds");
            end.held[place.position as usize..][..place.len as usize].fill(true);
            while end.held.get(end.next as usize) == Some(&true) {
                end.next += 1;
            }
        }
        self.drain(side);
    }

    /// The window that this segment offers to `side`.
    fn note_window(&mut self, side: usize, segment: &Outgoing) {
        let peer = &self.ends[1 - side].setup;
        let syn = segment.header.control.contains(Control::SYN);
        if !segment.header.control.contains(Control::ACK) && !syn {
            return;
        }
        let both = peer.wscale.is_some() && self.ends[side].setup.wscale.is_some();
        let shift = peer.wscale.filter(|_| both && !syn).unwrap_or(0);
        let end = &mut self.ends[side];
        let isn = Seq(end.setup.iss.wrapping_add(1));
        let ack = if segment.header.control.contains(Control::ACK) {
            segment
                .header
                .ack
                .position(isn, end.connection.as_ref().map_or(0, Connection::acked))
                .expect("an ACK of ours")
        } else {
            0
        };
        end.edge = end.edge.max(ack + (u64::from(segment.header.wnd) << shift));
    }

    fn drain(&mut self, side: usize) {
        let path = usize::from(self.ends[side].setup.mss.min(self.ends[1 - side].setup.mss));
        let end = &mut self.ends[side];
        let Some(c) = &mut end.connection else { return };
        let isn = Seq(end.setup.iss.wrapping_add(1));
        let mut segments = Vec::new();
        while let Some(o) = c.poll_transmit(self.now) {
            assert!(segments.len() < 10_000, "it never stops sending");
            let fin = u64::from(o.header.control.contains(Control::FIN));
            if o.len > 0 || fin > 0 {
                assert_eq!(o.header.seq, Seq::at(isn, o.position));
                let after = o.position + u64::from(o.len);
                assert!(
                    after <= c.written() && after + fin <= end.edge,
                    "{after} beyond {}",
                    end.edge
                );
                assert!(fin == 0 || after == c.written(), "a FIN before the end");
            }
            assert!(!o.header.control.contains(Control::RST), "an honest peer is reset");
            // RFC 3168 sections 6.1.1, 6.1.4 to 6.1.6.
            // To Linux what fills a small window is data (`tcp_write_wakeup`).
            let linux =
                ["linux", "bbr", "last-mile"].iter().any(|n| end.setup.strategy.contains(n));
            let first = o.sent.filter(|s| o.len > 0 && s.transmission == 1);
            let new = first.is_some_and(|s| linux || s.cause != Cause::WindowProbe);
            let capable = o.header.codepoint == Codepoint::Ect0;
            assert!(!capable || (new && end.setup.ecn), "ECN-capable");
            assert!(o.header.header_len() <= 60);
            if !o.header.control.contains(Control::SYN) && o.len > 0 {
                assert!(o.header.options.len() + o.len as usize <= path, "too big for the path");
            }
            segments.push(o);
        }
        let state = c.state();
        assert_eq!(c.reason(), None, "an honest connection fails");
        assert!(c.acked() <= c.written());
        assert_eq!(c.read_position() + c.readable(), end.next);
        assert_eq!(c.sender().state().board.pipe(), c.sender().state().board.recomputed_pipe());
        assert!(state != TcpState::Closed || c.next_deadline() == Time::NEVER);
        self.ends[1 - side].wire.extend(segments);
    }

    fn read(&mut self, side: usize, bytes: u64) {
        let end = &mut self.ends[side];
        let Some(c) = &mut end.connection else { return };
        let (from, bytes) = (c.read_position(), bytes.min(c.readable()));
        c.read(self.now, bytes);
        assert_eq!(c.read_position(), from + bytes);
        self.drain(side);
    }

    /// Both write no more, read everything, and the network loses nothing: both ends are over, and
    /// have all that was written.
    pub fn finish(&mut self) {
        for steps in 0.. {
            assert!(
                steps < 200_000,
                "it does not end: {:?}",
                self.ends.each_ref().map(|e| e.connection.as_ref().map(Connection::state))
            );
            for side in 0..2 {
                self.input(side, |c, now| c.shutdown(now));
                self.read(usize::from(side), u64::MAX);
            }
            if self.ends.iter().any(|end| !end.wire.is_empty()) {
                self.round(0);
            } else if self.is_over() {
                break;
            } else {
                self.apply(&Op::Deadline);
            }
        }
        for side in 0..2 {
            let [this, peer] = [&self.ends[side], &self.ends[1 - side]]
                .map(|end| end.connection.as_ref().expect("open"));
            assert!(this.at_end());
            assert_eq!((this.read_position(), this.acked()), (peer.written(), this.written()));
        }
        assert!(
            self.ends.iter().any(|end| end
                .connection
                .as_ref()
                .is_some_and(|c| c.state() == TcpState::TimeWait))
        );
    }

    fn is_over(&self) -> bool {
        let over = |state| matches!(state, TcpState::TimeWait | TcpState::Closed);
        self.ends.iter().all(|end| end.connection.as_ref().is_some_and(|c| over(c.state())))
    }
}
