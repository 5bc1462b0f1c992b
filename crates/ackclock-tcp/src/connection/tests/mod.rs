//! Worked examples: every segment that comes and goes, and the state after it. Each script runs
//! with sequence numbers as they stand, with ones that wrap right after either SYN, and with ones
//! that pass 2^31 there.
//!
//! A segment is written as flags, sequence number and length, acknowledgment, window, options: `PA
//! 1+500 a1 w9000 ts7/3 k501-1001`. What an example does not vary is left out: window 10000.

mod black_hole;
mod close;
mod data;
mod ecn;
mod negotiation;
mod open;
mod path;
mod paws;
mod reset;
mod syn_loss;
mod time_wait;
mod timers;
mod validation;

use std::fmt::Write;

use super::*;
use crate::Registry;
use crate::receiver::{DelayedAck, ReceiverConfig};
use crate::sender::SenderConfig;
use crate::time::Span;
use crate::wire::Control;
use crate::{Codepoint, SackBlock, Timestamps};

pub(super) use super::TcpState::*;

const WINDOW: u16 = 10_000;
const FLAGS: [(char, Control); 7] = [
    ('S', Control::SYN),
    ('F', Control::FIN),
    ('R', Control::RST),
    ('P', Control::PSH),
    ('A', Control::ACK),
    ('E', Control::ECE),
    ('W', Control::CWR),
];

/// Segments of 1000 bytes, a buffer of 10 segments, every segment acknowledged at once, no option
/// but MSS.
pub(super) fn config() -> ConnectionConfig {
    ConnectionConfig {
        iss: Seq(0),
        local_mss: 1000,
        path_mss: 1000,
        wide_path_mss: None,
        least_path_mss: None,
        sack: false,
        timestamps: false,
        ecn: false,
        wscale: None,
        sender: SenderConfig { initial_window: Some(4), ..SenderConfig::default() },
        receiver: ReceiverConfig {
            delayed_ack: DelayedAck::Off,
            buffer: u64::from(WINDOW),
            ..ReceiverConfig::default()
        },
        syn_retries: 3,
        keep_alive: None,
        user_timeout: None,
        time_wait: Span::from_secs(60),
        fin_wait_2: Span::from_secs(30),
    }
}

fn strategy(config: &ConnectionConfig) -> Strategy {
    Registry::default()
        .parse(if config.sack { "sack" } else { "newreno" })
        .expect("a composition")
        .build()
}

/// One end of a connection, driven by hand. Our sequence numbers count from `ours`, the peer's from
/// `theirs`.
pub(super) struct Script {
    pub c: Connection,
    pub now: Time,
    ours: u32,
    theirs: u32,
    config: ConnectionConfig,
    sent: String,
    placed: Option<(u64, u32, u32)>,
}

/// Runs a script at each pair of origins, first with a closed connection.
pub(super) fn run(config: ConnectionConfig, script: impl Fn(&mut Script)) {
    let first = config.iss.0;
    let wraps = |from: u32| (0u32.wrapping_sub(from), 0u32.wrapping_sub(301));
    for (ours, theirs) in
        [(0, 0), wraps(first + 1), (0x8000_0000 - first - 1, 0x8000_0000 - 1), wraps(first + 700)]
    {
        let config = ConnectionConfig { iss: config.iss + ours, ..config.clone() };
        let mut c = Connection::connect(Time::ZERO, config.clone(), strategy(&config));
        c.abort(Time::ZERO);
        let mut x =
            Script { c, now: Time::ZERO, ours, theirs, config, sent: String::new(), placed: None };
        script(&mut x);
        assert_eq!(x.sent, "", "sent and not asserted");
    }
}

/// Runs a script on a connection that `established` has opened with these options on the SYNs.
pub(super) fn run_established(config: ConnectionConfig, script: impl Fn(&mut Script)) {
    run(config, |x| {
        x.establish();
        script(x);
    });
}

impl Script {
    fn input(&mut self, f: impl FnOnce(&mut Connection, Time)) -> &mut Script {
        assert_eq!(self.sent, "", "sent and not asserted");
        f(&mut self.c, self.now);
        self.drain();
        self
    }

    fn drain(&mut self) {
        for _ in 0..1000 {
            let Some(o) = self.c.poll_transmit(self.now) else { return };
            if !self.sent.is_empty() {
                self.sent += " | ";
            }
            self.print(&o);
        }
        panic!("it never stops sending: {}", self.sent);
    }

    fn print(&mut self, o: &Outgoing) {
        let (h, out) = (&o.header, &mut self.sent);
        out.extend(
            FLAGS.iter().filter(|(_, flag)| h.control.contains(*flag)).map(|(letter, _)| letter),
        );
        let _ = write!(out, " {}", h.seq.0.wrapping_sub(self.ours));
        if o.len > 0 {
            let _ = write!(out, "+{}", o.len);
            assert_eq!(h.seq, Seq::at(self.config.iss + 1, o.position), "position");
        }
        if h.control.contains(Control::ACK) {
            let _ = write!(out, " a{}", h.ack.0.wrapping_sub(self.theirs));
        } else {
            assert_eq!(h.ack, Seq(0));
        }
        match h.codepoint {
            Codepoint::NotEct => {}
            codepoint => {
                let _ = write!(out, " {codepoint:?}");
            }
        }
        if h.wnd != WINDOW && !h.control.contains(Control::RST) {
            let _ = write!(out, " w{}", h.wnd);
        }
        let options = &h.options;
        if let Some(mss) = options.mss {
            let _ = write!(out, " mss{mss}");
        }
        if let Some(shift) = options.wscale {
            let _ = write!(out, " ws{shift}");
        }
        if options.sack_permitted {
            *out += " sack";
        }
        if let Some(t) = options.timestamps {
            let _ = write!(out, " ts{}/{}", t.val, t.ecr);
        }
        for b in options.sack.as_slice() {
            let relative = |seq: Seq| seq.0.wrapping_sub(self.theirs);
            let _ = write!(out, " k{}-{}", relative(b.left), relative(b.right));
        }
    }

    /// The header and length of a segment of the peer.
    pub fn parse(&self, text: &str) -> (Repr, u32) {
        let mut header = Repr { wnd: WINDOW, ..Repr::default() };
        let mut words = text.split(' ');
        for letter in words.next().expect("flags").chars() {
            let flag = FLAGS.iter().find(|(l, _)| *l == letter).expect("a flag").1;
            header.control = header.control.with(flag);
        }
        let number = |text: &str| text.parse::<u32>().expect("a number");
        let (seq, len) =
            words.next().expect("a sequence number").split_once('+').unwrap_or((text, "0"));
        let seq = if len == "0" { text.split(' ').nth(1).expect("a sequence number") } else { seq };
        header.seq = Seq(number(seq).wrapping_add(self.theirs));
        for word in words {
            if word == "Ce" {
                header.codepoint = Codepoint::Ce;
                continue;
            }
            let split = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
            let (name, value) = word.split_at(split);
            let (first, second) = value.split_once(['/', '-']).unwrap_or((value, "0"));
            match name {
                "a" => header.ack = Seq(number(first).wrapping_add(self.ours)),
                "w" => header.wnd = number(first) as u16,
                "mss" => header.options.mss = Some(number(first) as u16),
                "ws" => header.options.wscale = Some(number(first) as u8),
                "sack" => header.options.sack_permitted = true,
                "ts" => {
                    header.options.timestamps =
                        Some(Timestamps { val: number(first), ecr: number(second) })
                }
                "k" => {
                    let [left, right] =
                        [first, second].map(|n| Seq(number(n).wrapping_add(self.ours)));
                    header.options.sack.push(SackBlock { left, right });
                }
                _ => panic!("{word}"),
            }
        }
        (header, number(len))
    }

    /// Moves the clock to this many milliseconds.
    pub fn at(&mut self, ms: u64) -> &mut Script {
        self.now = Time(ms * 1_000_000);
        self
    }

    pub fn connect(&mut self) -> &mut Script {
        self.c = Connection::connect(self.now, self.config.clone(), strategy(&self.config));
        self.drain();
        self
    }

    pub fn accept(&mut self, syn: &str) -> &mut Script {
        let (syn, _) = self.parse(syn);
        self.c = Connection::accept(self.now, self.config.clone(), strategy(&self.config), &syn);
        self.drain();
        self
    }

    /// An active open at time 0; SYN 0 is ours and SYN 300 the peer's.
    pub fn establish(&mut self) -> &mut Script {
        self.connect();
        self.sent.clear();
        let mut syn = String::from("SA 300 a1 mss1000");
        if self.config.sack {
            syn += " sack";
        }
        if self.config.timestamps {
            syn += " ts1000/0";
        }
        if self.config.wscale.is_some() {
            syn += " ws3";
        }
        self.gets(&syn);
        self.sent.clear();
        self.in_state(Established)
    }

    pub fn gets(&mut self, segment: &str) -> &mut Script {
        let (header, len) = self.parse(segment);
        assert_eq!(self.sent, "", "sent and not asserted");
        self.placed =
            self.c.on_segment(self.now, &header, len).map(|p| (p.position, p.offset, p.len));
        self.drain();
        self
    }

    /// Where the payload of the last segment belongs: position, offset and length.
    pub fn keeps(&mut self, position: u64, offset: u32, len: u32) -> &mut Script {
        assert_eq!(self.placed, Some((position, offset, len)), "placement");
        self
    }

    pub fn keeps_nothing(&mut self) -> &mut Script {
        assert_eq!(self.placed, None, "placement");
        self
    }

    /// What the last input sent, separated by ` | `.
    pub fn sends(&mut self, expected: &str) -> &mut Script {
        assert_eq!(std::mem::take(&mut self.sent), expected);
        self
    }

    pub fn in_state(&mut self, state: TcpState) -> &mut Script {
        assert_eq!((self.c.state(), self.c.reason()), (state, None));
        self
    }

    pub fn ended(&mut self, reason: CloseReason) -> &mut Script {
        assert_eq!((self.c.state(), self.c.reason()), (Closed, Some(reason)));
        assert_eq!(self.c.next_deadline(), Time::NEVER);
        self
    }

    pub fn write(&mut self, bytes: u64) -> &mut Script {
        self.input(|c, now| c.write(now, bytes))
    }

    pub fn read(&mut self, bytes: u64) -> &mut Script {
        self.input(|c, now| c.read(now, bytes))
    }

    pub fn shutdown(&mut self) -> &mut Script {
        self.input(|c, now| c.shutdown(now))
    }

    pub fn close(&mut self) -> &mut Script {
        self.input(|c, now| c.close(now))
    }

    pub fn abort(&mut self) -> &mut Script {
        self.input(|c, now| c.abort(now))
    }

    pub fn readable(&mut self, bytes: u64) -> &mut Script {
        assert_eq!(self.c.readable(), bytes, "readable");
        self
    }

    /// The clock moves to the next deadline, which is at this many milliseconds.
    pub fn fire(&mut self, ms: u64) -> &mut Script {
        self.deadline(ms).at(ms).input(|c, now| c.on_deadline(now))
    }

    pub fn deadline(&mut self, ms: u64) -> &mut Script {
        assert_eq!(self.c.next_deadline(), Time(ms * 1_000_000), "deadline");
        self
    }

    pub fn no_deadline(&mut self) -> &mut Script {
        assert_eq!(self.c.next_deadline(), Time::NEVER, "deadline");
        self
    }
}
