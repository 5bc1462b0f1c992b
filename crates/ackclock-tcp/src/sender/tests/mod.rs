//! Worked examples: every segment sent, and the windows after every ACK. Each script runs twice,
//! with sequence numbers from 0 and with sequence numbers that wrap within the fourth segment.

mod abe;
mod b2b;
mod cause;
mod cubic;
mod dctcp;
mod dsack_undo;
mod dyn_dupthresh;
mod ecn;
mod eifel;
mod er;
mod f_rto;
mod fack;
mod fin;
mod flow;
mod hystart;
mod inflate;
mod known_bugs;
mod linux_alert;
mod linux_cubic;
mod linux_f_rto;
mod linux_lost_first;
mod linux_prr;
mod linux_rack;
mod linux_reno;
mod linux_timer;
mod linux_tlp;
mod linux_tso;
mod linux_undo;
mod loss_sensitive;
mod lrx;
mod lrx_linux;
mod lrxt;
mod mss;
mod next_seg;
mod notified;
mod ns2;
mod one_timer;
mod pacing;
mod path;
mod plain;
mod prr;
mod rack;
mod rate_halving;
mod rates;
mod recovery_probe;
mod resend;
mod rfc4015;
mod rto_restart;
mod smallwnd;
mod timers;
mod tlp;
mod tolerant_start;
mod ts_heuristic;
mod without_sack;

use std::fmt::Write;

use super::*;
use crate::event::TimeoutClass;
use crate::seq::Seq;
use crate::state::{Phase, State};
use crate::strategy::Registry;
use crate::time::Span;
use crate::{Codepoint, Ecn, Flags, SackBlock, SackBlocks, Timestamps};

pub(super) const MSS: u64 = 1000;
/// An ssthresh that is not set yet.
pub(super) const UNSET: u64 = u64::MAX;

/// A sender with segments of 1000 bytes, driven by hand. Positions are counted in segments.
pub(super) struct Script {
    pub sender: Sender,
    pub now: Time,
    /// The window of the ACKs to come, in bytes.
    pub window: u16,
    /// The timestamp that the ACKs to come echo.
    pub echo: Option<u32>,
    pub isn: Seq,
    pub sent: String,
}

/// The letter that stands for a cause after a segment's number; new data has none. P and L are the
/// later retransmissions of a recovery, P the first of its segment, L any further one.
fn letter(t: &Transmit) -> &'static str {
    match t.cause {
        Cause::New => "",
        Cause::FastRetransmit => "F",
        Cause::Recovery if t.transmission > 2 => "L",
        Cause::Recovery => "P",
        Cause::SlowStart => "S",
        Cause::Timeout | Cause::BackedOffTimeout => "T",
        Cause::LimitedTransmit
        | Cause::FRto
        | Cause::TailLossProbe
        | Cause::Marker
        | Cause::WindowProbe => "+",
        Cause::Filler => "D",
        _ => "?",
    }
}

/// Runs `script` with a sender of this composition and initial window, at two initial sequence
/// numbers.
pub(super) fn run(composition: &str, initial_window: u32, script: impl Fn(&mut Script)) {
    run_with(composition, window(initial_window), script);
}

pub(super) fn config() -> SenderConfig {
    SenderConfig { mss: 1000, initial_rwnd: 64_000, wscale: 0, ..SenderConfig::default() }
}

/// Segments of 1000 bytes, and this initial window.
pub(super) fn window(initial_window: u32) -> SenderConfig {
    SenderConfig { initial_window: Some(initial_window), ..config() }
}

/// When a timer of Linux expires that was set at this millisecond for so many: ticks of 4 ms, from
/// the last one on, and one more.
pub(super) fn expiry(set: u64, wait: u64) -> u64 {
    4 * (set / 4 + wait.div_ceil(4) + 1)
}

/// These segments, as [`Script::sends`] has them.
pub(super) fn numbers(from: u64, to: u64) -> String {
    (from..to).map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
}

/// As [`run`], with a configuration.
pub(super) fn run_with(composition: &str, config: SenderConfig, script: impl Fn(&mut Script)) {
    for isn in [0, 3500u32.wrapping_neg()] {
        let strategy = Registry::default().parse(composition).expect("a composition").build();
        let config = SenderConfig { isn: Seq(isn), ..config.clone() };
        let mut x = Script {
            sender: Sender::new(config, strategy),
            now: Time::ZERO,
            window: 64_000,
            echo: None,
            isn: Seq(isn),
            sent: String::new(),
        };
        script(&mut x);
        assert_eq!(x.sent, "", "sent and not asserted");
        let expected_pipe = x.sender.state().board.recomputed_pipe();
        assert_eq!(x.sender.state().board.pipe(), expected_pipe);
    }
}

impl Script {
    fn input(&mut self, f: impl FnOnce(&mut Sender, Time)) -> &mut Script {
        assert_eq!(self.sent, "", "sent and not asserted");
        f(&mut self.sender, self.now);
        self.drain();
        self
    }

    fn drain(&mut self) {
        for _ in 0..1000 {
            let Some(t) = self.sender.poll_transmit(self.now) else { return };
            let below = u64::from(t.transmission == 0 && t.cause == Cause::WindowProbe);
            assert_eq!(t.segment.seq, Seq::at(self.isn, t.position - below));
            let space = if self.sent.is_empty() { "" } else { " " };
            let (segment, rest) = (t.position / MSS, t.position % MSS);
            let _ = write!(self.sent, "{space}{segment}");
            if rest > 0 || (u64::from(t.segment.len) != MSS && t.transmission > 0) {
                let _ = write!(self.sent, "[{rest}..{}]", rest + u64::from(t.segment.len));
            }
            let _ = write!(self.sent, "{}", letter(&t));
            if t.transmission == 0 {
                self.sent.push('w');
            }
            self.sent += match (t.segment.ecn.codepoint(), t.segment.ecn.cwr()) {
                (Codepoint::NotEct, false) => "",
                (Codepoint::Ect0, false) => "e",
                (Codepoint::Ect0, true) => "ecwr",
                other => panic!("{other:?}"),
            };
        }
        panic!("it never stops sending: {}", self.sent);
    }

    /// Moves the clock to this many milliseconds.
    pub fn at(&mut self, ms: u64) -> &mut Script {
        self.now = Time(ms * 1_000_000);
        self
    }

    /// The application writes this many bytes.
    pub fn write(&mut self, bytes: u64) -> &mut Script {
        self.input(|s, now| s.write(now, bytes))
    }

    /// The application closes.
    pub fn close_now(&mut self) -> &mut Script {
        self.input(|s, now| s.close(now))
    }

    /// The last byte written is a FIN.
    pub fn close_with_fin(&mut self) -> &mut Script {
        self.input(|s, now| s.close_with_fin(now))
    }

    /// The header of an ACK up to segment `n`.
    pub fn header(&self, n: u64) -> Segment {
        let timestamps = self.echo.map(|ecr| Timestamps { val: 0, ecr });
        Segment {
            ack: Seq::at(self.isn, n * MSS),
            wnd: self.window,
            timestamps,
            ..Segment::default()
        }
    }

    /// The segment arrives.
    pub fn segment(&mut self, segment: Segment) -> &mut Script {
        self.input(|s, now| s.on_segment(now, &segment))
    }

    /// An ACK up to segment `n` arrives.
    pub fn ack(&mut self, n: u64) -> &mut Script {
        let segment = self.header(n);
        self.segment(segment)
    }

    /// ACKs up to segment `n` arrive, one after the other, and each sends this.
    pub fn acks<const N: usize>(&mut self, n: u64, sends: [&str; N]) -> &mut Script {
        for expected in sends {
            self.ack(n).sends(expected);
        }
        self
    }

    /// An ACK with ECN-Echo up to segment `n` arrives.
    pub fn echoes(&mut self, n: u64) -> &mut Script {
        let segment = Segment { ecn: Ecn::NONE.with_ece(), ..self.header(n) };
        self.segment(segment)
    }

    /// An ACK of `bytes` bytes arrives.
    pub fn ack_bytes(&mut self, bytes: u64) -> &mut Script {
        let segment = Segment { ack: Seq::at(self.isn, bytes), ..self.header(0) };
        self.segment(segment)
    }

    /// An ACK up to segment `n` arrives, with SACK blocks given as first segment and the one after
    /// the last.
    pub fn sack(&mut self, n: u64, blocks: &[(u64, u64)]) -> &mut Script {
        let mut segment = self.header(n);
        segment.sack = self.blocks(blocks);
        self.segment(segment)
    }

    pub fn blocks(&self, blocks: &[(u64, u64)]) -> SackBlocks {
        let mut sack = SackBlocks::NONE;
        for &(l, r) in blocks {
            sack.push(SackBlock {
                left: Seq::at(self.isn, l * MSS),
                right: Seq::at(self.isn, r * MSS),
            });
        }
        sack
    }

    /// The clock moves to the next deadline, which is at this many milliseconds.
    pub fn fire(&mut self, ms: u64) -> &mut Script {
        assert_eq!(self.sender.next_deadline(), Time(ms * 1_000_000), "deadline");
        self.at(ms).input(|s, now| s.on_deadline(now))
    }

    /// What the last inputs sent: segment numbers with the letter of their cause.
    pub fn sends(&mut self, expected: &str) -> &mut Script {
        assert_eq!(std::mem::take(&mut self.sent), expected);
        self
    }

    /// cwnd and ssthresh, in bytes.
    pub fn windows(&mut self, cwnd: u64, ssthresh: u64) -> &mut Script {
        let s = self.sender.state();
        assert_eq!((s.cwnd, s.ssthresh), (cwnd, ssthresh));
        self
    }

    /// The pipe, in segments.
    pub fn pipe(&mut self, segments: u64) -> &mut Script {
        assert_eq!(self.sender.state().board.pipe(), segments * MSS);
        self
    }

    pub fn phase(&mut self, phase: Phase) -> &mut Script {
        assert_eq!(self.sender.state().phase, phase);
        self
    }

    /// The deadline, in milliseconds.
    pub fn deadline(&mut self, ms: u64) -> &mut Script {
        assert_eq!(self.sender.next_deadline(), Time(ms * 1_000_000), "deadline");
        self
    }

    pub fn no_deadline(&mut self) -> &mut Script {
        assert_eq!(self.sender.next_deadline(), Time::NEVER);
        self
    }

    /// Timeouts by class: non-trigger, multiple losses, lost retransmission.
    pub fn classes<const N: usize>(&mut self, expected: [u64; N]) -> &mut Script {
        let mut all = [0; TimeoutClass::ALL.len()];
        all[..N].copy_from_slice(&expected);
        assert_eq!(self.sender.stats().timeouts_by_class, all);
        self
    }
}

/// A segment that carries data, or FIN: no duplicate (RFC 5681 section 2).
pub(super) fn with_payload(segment: Segment, fin: bool) -> Segment {
    Segment { len: u32::from(!fin), flags: Flags::new(false, fin), ..segment }
}
