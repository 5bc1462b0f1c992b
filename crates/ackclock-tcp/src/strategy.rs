//! A strategy is a named composition of mechanisms, one for each axis; this is the list of the names.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::axes::{
    Ambiguity, Detect, DetectRetransmission, Fill, Probe, Regulate, Response, Select, Timer, Undo, Window,
};
use crate::recovery::{
    AckClock, AckHeuristic, BackToBack, BsdTimer, Bugfix, DupackCount, Eifel, Ff96Holes, Ff96Pipe, GoBackN, Head,
    HeaderOnly, Inflate, IsLost, LimitedTransmit, LinuxTimer, LossSensitive, LowerTwice, Lrx, LrxSack, NewReno,
    NextSeg, NoBugfix, Ns2Inflate, Ns2Pipe, Ns2Window, OrderGuard, PastRecoveryPoint, Pipe, RenoWindow, Resend,
    Response1, Response2, Response3, ResponseDac, ResponseDacRevised, Rfc6298, SmallWindow, TsHeuristic,
};

/// One mechanism an axis: what a connection needs to know of loss recovery.
pub struct Strategy {
    /// Whether it makes use of SACK, so that SACK is worth negotiating.
    pub uses_sack: bool,
    /// What is lost now.
    pub detect: Box<dyn Detect>,
    /// May these duplicates begin a recovery.
    pub ambiguity: Box<dyn Ambiguity>,
    /// Is a retransmission lost.
    pub retransmission: Option<Box<dyn DetectRetransmission>>,
    /// What a lost retransmission does to the windows.
    pub response: Box<dyn Response>,
    /// What goes next.
    pub select: Box<dyn Select>,
    /// What goes in place of new data.
    pub fill: Option<Box<dyn Fill>>,
    /// How much may go.
    pub regulate: Box<dyn Regulate>,
    /// What is sent before recovery begins.
    pub probes: Vec<Box<dyn Probe>>,
    /// Was it spurious.
    pub undo: Vec<Box<dyn Undo>>,
    /// The window law.
    pub window: Box<dyn Window>,
    /// The retransmission timer.
    pub timer: Box<dyn Timer>,
}

/// An axis of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// What is lost now, or when will we know.
    Detect,
    /// What goes next.
    Select,
    /// How much this ACK may release.
    Regulate,
    /// What is sent before recovery begins.
    Probe,
    /// Was it spurious.
    Undo,
    /// Target after a loss, growth.
    Window,
    /// When does the RTO fire.
    Timer,
}

impl Axis {
    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::Detect => "detect",
            Axis::Select => "select",
            Axis::Regulate => "regulate",
            Axis::Probe => "probe",
            Axis::Undo => "undo",
            Axis::Window => "window",
            Axis::Timer => "timer",
        }
    }
}

/// A mechanism as the list names it.
pub struct Mechanism {
    /// Its name in a composition.
    pub name: &'static str,
    /// Its axis.
    pub axis: Axis,
    /// Where it is specified.
    pub source: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    apply: fn(&mut Strategy),
}

/// A named composition.
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The mechanisms it is made of, by name.
    pub mechanisms: &'static [&'static str],
    /// Where it is specified.
    pub source: &'static str,
}

/// Every mechanism that a composition can name.
pub static MECHANISMS: &[Mechanism] = &[
    Mechanism {
        name: "dupack",
        axis: Axis::Detect,
        source: "RFC 5681 section 3.2",
        summary: "the third duplicate ACK means that the first unacknowledged segment is lost",
        apply: |s| s.detect = Box::new(DupackCount),
    },
    Mechanism {
        name: "is-lost",
        axis: Axis::Detect,
        source: "RFC 6675 section 4",
        summary: "lost is what has three SACKed ranges, or more than two segments' worth of SACKed bytes, above it",
        apply: |s| {
            s.uses_sack = true;
            s.detect = Box::new(IsLost::rfc6675());
        },
    },
    Mechanism {
        name: "is-lost-3517",
        axis: Axis::Detect,
        source: "RFC 3517 section 4",
        summary: "as is-lost, with three segments' worth of SACKed bytes, and a recovery begun by the third duplicate only",
        apply: |s| {
            s.uses_sack = true;
            s.detect = Box::new(IsLost::rfc3517());
        },
    },
    Mechanism {
        name: "lower-twice",
        axis: Axis::Window,
        source: "RFC 5681 section 4.3",
        summary: "a lost retransmission halves ssthresh once more",
        apply: |s| s.response = Box::new(LowerTwice),
    },
    Mechanism {
        name: "lrx",
        axis: Axis::Detect,
        source: "Miyake & Inamura 2005 section 3.1",
        summary: "a retransmission is lost when the duplicates exceed what was sent before it",
        apply: |s| s.retransmission = Some(Box::new(Lrx::default())),
    },
    Mechanism {
        name: "lrx-sack",
        axis: Axis::Detect,
        source: "Miyake & Inamura 2005 figure 9",
        summary: "a retransmission is lost when data sent after it is SACKed",
        apply: |s| {
            s.uses_sack = true;
            s.retransmission = Some(Box::new(LrxSack::default()));
        },
    },
    Mechanism {
        name: "response-1",
        axis: Axis::Window,
        source: "Miyake & Inamura 2005 section 3.2",
        summary: "a lost retransmission leaves the windows alone",
        apply: |s| s.response = Box::new(Response1),
    },
    Mechanism {
        name: "response-2",
        axis: Axis::Window,
        source: "Miyake & Inamura 2005 section 3.2",
        summary: "a lost retransmission halves ssthresh once more, but only once a recovery, and cwnd at its end",
        apply: |s| s.response = Box::new(Response2::default()),
    },
    Mechanism {
        name: "response-3",
        axis: Axis::Window,
        source: "Miyake & Inamura 2005 section 3.2",
        summary: "a recovery that lost a retransmission ends with cwnd = 1 segment",
        apply: |s| s.response = Box::new(Response3::default()),
    },
    Mechanism {
        name: "response-dac",
        axis: Axis::Window,
        source: "Miyake & Inamura 2005 section 2, on Kim & Lee 2004",
        summary: "the ACK that shows a retransmission lost inflates cwnd as well, so that two segments go",
        apply: |s| s.response = Box::new(ResponseDac),
    },
    Mechanism {
        name: "response-dac-revised",
        axis: Axis::Window,
        source: "Miyake & Inamura 2005 section 2, on Kim et al. 2004",
        summary: "a lost retransmission sets ssthresh and cwnd, inflation and all, to half of ssthresh",
        apply: |s| s.response = Box::new(ResponseDacRevised),
    },
    Mechanism {
        name: "no-bugfix",
        axis: Axis::Detect,
        source: "RFC 5681 section 3.2",
        summary: "duplicates may begin a recovery at any time, also right after another one or after a timeout",
        apply: |s| s.ambiguity = Box::new(NoBugfix),
    },
    Mechanism {
        name: "bugfix",
        axis: Axis::Detect,
        source: "RFC 6582 section 3.2 step 2",
        summary: "duplicates begin a recovery only if they acknowledge more than the last recovery point",
        apply: |s| s.ambiguity = Box::new(Bugfix),
    },
    Mechanism {
        name: "recovery-point",
        axis: Axis::Detect,
        source: "RFC 6675 section 5.1",
        summary: "duplicates begin a recovery only once the last recovery point is acknowledged",
        apply: |s| s.ambiguity = Box::new(PastRecoveryPoint),
    },
    Mechanism {
        name: "ack-heuristic",
        axis: Axis::Detect,
        source: "Gurtov & Floyd 2004 section III.A",
        summary: "as bugfix, and below the recovery point if the last new ACK jumped by at most three segments",
        apply: |s| s.ambiguity = Box::new(AckHeuristic::default()),
    },
    Mechanism {
        name: "ts-heuristic",
        axis: Axis::Detect,
        source: "Gurtov & Floyd 2004 section III.B",
        summary: "as bugfix, and below the recovery point if the last new ACK echoed the last segment it acknowledged",
        apply: |s| s.ambiguity = Box::new(TsHeuristic::default()),
    },
    Mechanism {
        name: "lrxt",
        axis: Axis::Detect,
        source: "Lin & Kung section 6.2",
        summary: "a retransmission is lost if the ACK clock shows a round trip and three duplicates more",
        apply: |s| s.retransmission = Some(Box::new(AckClock::default())),
    },
    Mechanism {
        name: "marks-ts",
        axis: Axis::Detect,
        source: "Lin & Kung section 6.3",
        summary: "as lrxt, with new segments on the fifth and seventh duplicate, whose timestamp ends the first round trip",
        apply: |s| s.retransmission = Some(Box::new(AckClock::marked_by_timestamps())),
    },
    Mechanism {
        name: "marks-sack",
        axis: Axis::Detect,
        source: "Lin & Kung section 6.3",
        summary: "as lrxt, with new segments on the fifth and seventh duplicate, whose SACK ends the first round trip",
        apply: |s| {
            s.uses_sack = true;
            s.retransmission = Some(Box::new(AckClock::marked_by_sack()));
        },
    },
    Mechanism {
        name: "go-back-n",
        axis: Axis::Select,
        source: "Jacobson 1988; Fall & Floyd 1996 section 2",
        summary: "slow start again from the first unacknowledged segment (Tahoe)",
        apply: |s| s.select = Box::new(GoBackN),
    },
    Mechanism {
        name: "head",
        axis: Axis::Select,
        source: "RFC 5681 section 3.2",
        summary: "one retransmission, then new data; any new acknowledgment ends recovery (Reno)",
        apply: |s| s.select = Box::new(Head),
    },
    Mechanism {
        name: "partial-ack",
        axis: Axis::Select,
        source: "RFC 6582 section 3.2",
        summary: "a further retransmission for each partial ACK; the first one restarts the timer (impatient)",
        apply: |s| s.select = Box::new(NewReno::impatient()),
    },
    Mechanism {
        name: "slow-but-steady",
        axis: Axis::Select,
        source: "RFC 2582 section 4",
        summary: "as partial-ack, but every partial ACK restarts the timer",
        apply: |s| s.select = Box::new(NewReno::slow_but_steady()),
    },
    Mechanism {
        name: "order-guard",
        axis: Axis::Select,
        source: "Lin & Kung 1998 section 5.3",
        summary: "as slow-but-steady, but a partial ACK close to the last retransmission's marker waits for duplicates",
        apply: |s| s.select = Box::new(OrderGuard::default()),
    },
    Mechanism {
        name: "next-seg",
        axis: Axis::Select,
        source: "RFC 6675 section 4",
        summary: "the four rules of NextSeg, rescue retransmission included",
        apply: |s| s.select = Box::new(NextSeg::rfc6675()),
    },
    Mechanism {
        name: "next-seg-3517",
        axis: Axis::Select,
        source: "RFC 3517 section 4",
        summary: "the three rules of NextSeg, without rescue retransmission",
        apply: |s| s.select = Box::new(NextSeg::rfc3517()),
    },
    Mechanism {
        name: "ff96-holes",
        axis: Axis::Select,
        source: "Fall & Floyd 1996 section 3.4",
        summary: "any hole below the highest SACKed byte once, then new data",
        apply: |s| {
            s.uses_sack = true;
            s.select = Box::new(Ff96Holes::default());
        },
    },
    Mechanism {
        name: "resend",
        axis: Axis::Select,
        source: "Lin & Kung 1998 section 6.5",
        summary: "without new data, the outstanding segments again from the first one on, one for each ACK",
        apply: |s| s.fill = Some(Box::new(Resend::default())),
    },
    Mechanism {
        name: "header-only",
        axis: Axis::Select,
        source: "Lin & Kung 1998 section 6.5",
        summary: "without new data, a segment without data above the window, one for each ACK",
        apply: |s| s.fill = Some(Box::new(HeaderOnly)),
    },
    Mechanism {
        name: "inflate",
        axis: Axis::Regulate,
        source: "RFC 5681 section 3.2; RFC 6582 section 3.2",
        summary: "cwnd grows by a segment for each duplicate; at the end at most one segment beyond what is outstanding",
        apply: |s| s.regulate = Box::new(Inflate::limited_exit()),
    },
    Mechanism {
        name: "inflate-to-ssthresh",
        axis: Axis::Regulate,
        source: "RFC 5681 section 3.2; RFC 6582 section 3.2 option 2",
        summary: "as inflate, but recovery ends with cwnd = ssthresh",
        apply: |s| s.regulate = Box::new(Inflate::to_ssthresh()),
    },
    Mechanism {
        name: "inflate-bsd",
        axis: Axis::Regulate,
        source: "Wright & Stevens 1995 section 29.4",
        summary: "as inflate-to-ssthresh, and the ACK that ends recovery opens the window as well",
        apply: |s| s.regulate = Box::new(Inflate::bsd()),
    },
    Mechanism {
        name: "loss-sensitive",
        axis: Axis::Regulate,
        source: "Lin & Kung 1998 sections 5.1 and 5.2",
        summary: "past half of the window one segment for each ACK; at the end at most one segment beyond what is outstanding",
        apply: |s| s.regulate = Box::new(LossSensitive),
    },
    Mechanism {
        name: "ff96-pipe",
        axis: Axis::Regulate,
        source: "Fall & Floyd 1996 section 3.4",
        summary: "a count of segments sent less ACKs received is held at ssthresh",
        apply: |s| s.regulate = Box::new(Ff96Pipe::default()),
    },
    Mechanism {
        name: "pipe",
        axis: Axis::Regulate,
        source: "RFC 6675 section 5",
        summary: "an estimate of the bytes in the network is held at ssthresh",
        apply: |s| s.regulate = Box::new(Pipe),
    },
    Mechanism {
        name: "lt",
        axis: Axis::Probe,
        source: "RFC 3042; RFC 6675 section 5 step 3",
        summary: "limited transmit: a new segment for each of the first two duplicates",
        apply: |s| s.probes.push(Box::new(LimitedTransmit)),
    },
    Mechanism {
        name: "eifel",
        axis: Axis::Undo,
        source: "RFC 3522",
        summary: "a response was needless if the first new ACK after it echoes a timestamp from before the retransmission",
        apply: |s| s.undo.push(Box::new(Eifel::default())),
    },
    Mechanism {
        name: "smallwnd",
        axis: Axis::Probe,
        source: "Lin & Kung 1998 section 4.2",
        summary: "a new segment for each of the first two duplicates while cwnd is below ten segments, accounted for exactly",
        apply: |s| s.probes.push(Box::new(SmallWindow::below_ten())),
    },
    Mechanism {
        name: "smallwnd-any",
        axis: Axis::Probe,
        source: "Lin & Kung 1998 sections 4.2 and 8",
        summary: "as smallwnd, at every window",
        apply: |s| s.probes.push(Box::new(SmallWindow::at_any_window())),
    },
    Mechanism {
        name: "b2b",
        axis: Axis::Probe,
        source: "Lin & Kung 1998 section 6.4",
        summary: "a recovery that ends with an ACK of less than was expected counts two duplicates towards the next one",
        apply: |s| s.probes.push(Box::new(BackToBack)),
    },
    Mechanism {
        name: "reno-window",
        axis: Axis::Window,
        source: "RFC 5681 section 3.1",
        summary: "slow start, additive increase per ACK, half the flight after a loss",
        apply: |s| s.window = Box::new(RenoWindow::per_ack()),
    },
    Mechanism {
        name: "abc",
        axis: Axis::Window,
        source: "RFC 3465",
        summary: "as reno-window, with the increase counted in bytes acknowledged (L = 2)",
        apply: |s| s.window = Box::new(RenoWindow::byte_counting()),
    },
    Mechanism {
        name: "half-window",
        axis: Axis::Window,
        source: "Wright & Stevens 1995 section 29.4",
        summary: "as reno-window, but a loss halves min(cwnd, rwnd), and every timeout does",
        apply: |s| s.window = Box::new(RenoWindow::halving_window()),
    },
    Mechanism {
        name: "ns2-inflate",
        axis: Axis::Regulate,
        source: "ns-2.35",
        summary: "as inflate-to-ssthresh, with half a segment kept in cwnd, and the ACK that ends recovery grows it",
        apply: |s| s.regulate = Box::new(Ns2Inflate::to_half_window()),
    },
    Mechanism {
        name: "ns2-inflate-limited",
        axis: Axis::Regulate,
        source: "ns-2.35",
        summary: "as ns2-inflate, with the end of inflate",
        apply: |s| s.regulate = Box::new(Ns2Inflate::limited_exit()),
    },
    Mechanism {
        name: "ns2-pipe",
        axis: Axis::Regulate,
        source: "ns-2.35",
        summary: "as ff96-pipe, with half a segment kept in cwnd",
        apply: |s| s.regulate = Box::new(Ns2Pipe::default()),
    },
    Mechanism {
        name: "ns2-window",
        axis: Axis::Window,
        source: "ns-2.35",
        summary: "as reno-window, but min(cwnd, rwnd) is halved, on every timeout, and to whole segments",
        apply: |s| s.window = Box::new(Ns2Window::halving()),
    },
    Mechanism {
        name: "rfc6298-timer",
        axis: Axis::Timer,
        source: "RFC 6298",
        summary: "a sample each round trip, at least 1 s",
        apply: |s| s.timer = Box::new(Rfc6298::default()),
    },
    Mechanism {
        name: "careful-timer",
        axis: Axis::Timer,
        source: "RFC 6298; RFC 6675 section 6",
        summary: "as rfc6298-timer, restarted by each retransmission within recovery too",
        apply: |s| s.timer = Box::new(Rfc6298::careful()),
    },
    Mechanism {
        name: "ns2-timer",
        axis: Axis::Timer,
        source: "ns-2.35",
        summary: "as rfc6298-timer, restarted by the retransmissions that duplicates draw too",
        apply: |s| s.timer = Box::new(Rfc6298::ns2()),
    },
    Mechanism {
        name: "ns2-timer-6s",
        axis: Axis::Timer,
        source: "ns-2.26",
        summary: "as ns2-timer, with 6 s before the first sample",
        apply: |s| s.timer = Box::new(Rfc6298::ns2_until_2006()),
    },
    Mechanism {
        name: "linux-timer",
        axis: Axis::Timer,
        source: "Linux tcp_input.c, tcp_rtt_estimator",
        summary: "a sample each ACK, a variance that falls slowly and is at least 200 ms",
        apply: |s| s.timer = Box::new(LinuxTimer::default()),
    },
    Mechanism {
        name: "bsd-timer",
        axis: Axis::Timer,
        source: "Wright & Stevens 1995 chapter 25; Lin & Kung section 3",
        summary: "500 ms ticks with a phase, at least two of them",
        apply: |s| s.timer = Box::new(BsdTimer::default()),
    },
];

/// The canonical compositions. Further mechanisms are appended with `+`, and replace the one on the same axis
/// (probes and undo mechanisms add up).
pub static PRESETS: &[Preset] = &[
    Preset { name: "tahoe", mechanisms: &["go-back-n", "bugfix"], source: "Fall & Floyd 1996 section 2" },
    Preset { name: "reno", mechanisms: &["head", "inflate-to-ssthresh"], source: "RFC 5681 section 3.2" },
    Preset { name: "newreno", mechanisms: &["partial-ack", "inflate", "bugfix"], source: "RFC 6582" },
    Preset {
        name: "newreno-bugfix",
        mechanisms: &["partial-ack", "inflate", "bugfix"],
        source: "Gurtov & Floyd 2004 section I; RFC 6582",
    },
    Preset {
        name: "newreno-nobugfix",
        mechanisms: &["partial-ack", "inflate", "no-bugfix"],
        source: "Gurtov & Floyd 2004 section II",
    },
    Preset {
        name: "newreno-ack",
        mechanisms: &["partial-ack", "inflate", "ack-heuristic", "eifel"],
        source: "Gurtov & Floyd 2004 section III.A; RFC 3522",
    },
    Preset {
        name: "newreno-ts",
        mechanisms: &["partial-ack", "inflate", "ts-heuristic", "eifel"],
        source: "Gurtov & Floyd 2004 section III.B; RFC 3522",
    },
    Preset { name: "sack", mechanisms: &["is-lost", "recovery-point", "next-seg", "pipe"], source: "RFC 6675" },
    Preset {
        name: "rfc3517",
        mechanisms: &["is-lost-3517", "recovery-point", "next-seg-3517", "pipe"],
        source: "RFC 3517",
    },
    Preset {
        name: "sack-ff96",
        mechanisms: &["dupack", "recovery-point", "ff96-holes", "ff96-pipe"],
        source: "Fall & Floyd 1996 section 3.4",
    },
    // NetBSD 1.2 restarts the timer on every ACK of new data, and lets duplicates begin a recovery at any time.
    Preset {
        name: "newreno-ls",
        mechanisms: &["slow-but-steady", "loss-sensitive", "no-bugfix"],
        source: "Lin & Kung 1998 section 5.1",
    },
    Preset {
        name: "sack-ls",
        mechanisms: &["dupack", "ff96-holes", "loss-sensitive", "no-bugfix"],
        source: "Lin & Kung 1998 section 5.2",
    },
    Preset {
        name: "net-reno",
        mechanisms: &[
            "order-guard",
            "loss-sensitive",
            "no-bugfix",
            "smallwnd",
            "marks-ts",
            "response-1",
            "b2b",
            "resend",
        ],
        source: "Lin & Kung 1998",
    },
    Preset {
        name: "net-reno-sack",
        mechanisms: &[
            "dupack",
            "ff96-holes",
            "loss-sensitive",
            "no-bugfix",
            "smallwnd",
            "marks-sack",
            "response-1",
            "b2b",
            "resend",
        ],
        source: "Lin & Kung 1998",
    },
    Preset {
        name: "newreno-lrx-1",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-1"],
        source: "Miyake & Inamura 2005 section 3.2 option I",
    },
    Preset {
        name: "newreno-lrx-2",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-2"],
        source: "Miyake & Inamura 2005 section 3.2 option II",
    },
    Preset {
        name: "newreno-lrx-3",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-3"],
        source: "Miyake & Inamura 2005 section 3.2 option III",
    },
    Preset {
        name: "reno-lrx",
        mechanisms: &["head", "inflate-to-ssthresh", "bugfix", "lrx", "response-1"],
        source: "Miyake & Inamura 2005 section 4.2",
    },
    Preset {
        name: "sack-lrx",
        mechanisms: &["dupack", "recovery-point", "ff96-holes", "ff96-pipe", "lrx-sack", "response-1"],
        source: "Miyake & Inamura 2005 figure 9",
    },
    Preset {
        name: "dac",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-dac"],
        source: "Miyake & Inamura 2005 section 2, on Kim & Lee 2004",
    },
    Preset {
        name: "dac-revised",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-dac-revised"],
        source: "Miyake & Inamura 2005 section 2, on Kim et al. 2004",
    },
    Preset {
        name: "ns2-tahoe",
        mechanisms: &["go-back-n", "bugfix", "ns2-window", "ns2-timer"],
        source: "ns-2.35 Agent/TCP",
    },
    Preset {
        name: "ns2-reno",
        mechanisms: &["head", "ns2-inflate", "ns2-window", "ns2-timer"],
        source: "ns-2.35 Agent/TCP/Reno",
    },
    Preset {
        name: "ns2-newreno",
        mechanisms: &["partial-ack", "ns2-inflate-limited", "bugfix", "ns2-window", "ns2-timer"],
        source: "ns-2.35 Agent/TCP/Newreno",
    },
    Preset {
        name: "ns2-sack",
        mechanisms: &["dupack", "recovery-point", "ff96-holes", "ns2-pipe", "ns2-window", "ns2-timer"],
        source: "ns-2.35 Agent/TCP/Sack1",
    },
];

/// Why a composition is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName(pub String);

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is neither a preset nor a mechanism", self.0)
    }
}

impl core::error::Error for UnknownName {}

/// A parsed composition such as `newreno+lt`, from which any number of strategies can be built.
#[derive(Clone)]
pub struct Composition {
    name: String,
    mechanisms: Vec<&'static Mechanism>,
}

impl Composition {
    /// Parses a preset, or mechanisms, joined by `+`. What no part of it names is as in Reno.
    ///
    /// # Errors
    /// The first name that stands in neither list.
    pub fn parse(text: &str) -> Result<Composition, UnknownName> {
        let mut mechanisms = Vec::new();
        for name in text.split('+') {
            let preset = PRESETS.iter().find(|p| p.name == name).map(|p| p.mechanisms);
            for part in preset.unwrap_or(&[name]) {
                let found = MECHANISMS.iter().find(|m| m.name == *part);
                mechanisms.push(found.ok_or_else(|| UnknownName(part.to_string()))?);
            }
        }
        Ok(Composition { name: text.to_string(), mechanisms })
    }

    /// The text it was parsed from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A fresh strategy for one connection.
    pub fn build(&self) -> Strategy {
        let mut strategy = Strategy {
            uses_sack: false,
            detect: Box::new(DupackCount),
            ambiguity: Box::new(NoBugfix),
            retransmission: None,
            response: Box::new(LowerTwice),
            select: Box::new(Head),
            fill: None,
            regulate: Box::new(Inflate::to_ssthresh()),
            probes: Vec::new(),
            undo: Vec::new(),
            window: Box::new(RenoWindow::per_ack()),
            timer: Box::new(Rfc6298::default()),
        };
        for mechanism in &self.mechanisms {
            (mechanism.apply)(&mut strategy);
        }
        strategy
    }
}

impl fmt::Debug for Composition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Composition").field(&self.name).finish()
    }
}
