//! The mechanisms by name.

use alloc::boxed::Box;
use core::mem::replace;

use super::{Axis, Mechanism, Strategy};
use crate::axes::Detect;
use crate::recovery::{
    AckClock, AckHeuristic, BackToBack, BsdTimer, Bugfix, Conserve, Cubic, DsackUndo, DupackCount, DynamicDupthresh,
    EarlyRetransmit, Eifel, FRto, Fack, Ff96Holes, Ff96Pipe, GoBackN, Head, HeaderOnly, HyStart, Inflate, IsLost,
    LimitedTransmit, LinuxTimer, LossSensitive, LostFirst, LowerTwice, Lrx, LrxLinux, LrxSack, NewReno, NextSeg,
    NoBugfix, Ns2Inflate, Ns2Pipe, Ns2Window, Oracle, OrderGuard, PastRecoveryPoint, Pipe, Prr, Rack, RateHalving,
    RenoWindow, Resend, Response1, Response2, Response3, ResponseDac, ResponseDacRevised, Rfc4015, Rfc6298, RtoRestart,
    SmallWindow, Tlp, TsHeuristic,
};

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
        name: "rack",
        axis: Axis::Detect,
        source: "RFC 8985 section 6",
        summary: "lost is what was sent before a segment that arrived, and is missing a reordering window after its round trip",
        apply: |s| {
            s.uses_sack = true;
            s.detect = Box::new(Rack::default());
        },
    },
    Mechanism {
        name: "fack",
        axis: Axis::Detect,
        source: "Mathis & Mahdavi 1996; Dukkipati et al. 2011 section 3.2",
        summary: "everything below the highest SACKed byte is lost once that is more than three segments above snd_una",
        apply: |s| {
            s.uses_sack = true;
            s.detect = Box::new(Fack::every_hole());
        },
    },
    Mechanism {
        name: "fack-linux",
        axis: Axis::Detect,
        source: "Dukkipati et al. 2011 figure 3",
        summary: "as fack, but a hole has to be three segments below the highest SACKed byte",
        apply: |s| {
            s.uses_sack = true;
            s.detect = Box::new(Fack::linux());
        },
    },
    Mechanism {
        name: "er",
        axis: Axis::Detect,
        source: "RFC 5827 section 3.2",
        summary: "early retransmit, added to the detection named before it: with two or three segments outstanding and no new \
                  data, one duplicate less than that is enough",
        apply: |s| s.detect = Box::new(EarlyRetransmit::naive(take_detect(s))),
    },
    Mechanism {
        name: "er-1",
        axis: Axis::Detect,
        source: "RFC 5827; Dukkipati et al. 2011 section 6",
        summary: "as er, off once reordering was seen",
        apply: |s| s.detect = Box::new(EarlyRetransmit::off_after_reordering(take_detect(s))),
    },
    Mechanism {
        name: "er-2",
        axis: Axis::Detect,
        source: "RFC 5827; Dukkipati et al. 2011 section 6",
        summary: "as er-1, after a quarter of a round trip (25 to 500 ms) without an ACK",
        apply: |s| s.detect = Box::new(EarlyRetransmit::delayed(take_detect(s))),
    },
    Mechanism {
        name: "told",
        axis: Axis::Detect,
        source: "own: a bound, not a protocol",
        summary: "lost is what the simulated network says is lost, when its ACK would have come; no retransmission timer",
        apply: |s| {
            s.uses_sack = true;
            s.detect = Box::new(Oracle::after_round_trip());
        },
    },
    Mechanism {
        name: "told-at-once",
        axis: Axis::Detect,
        source: "own: a bound, not a protocol",
        summary: "as told, at the moment of the loss",
        apply: |s| {
            s.uses_sack = true;
            s.detect = Box::new(Oracle::at_once());
        },
    },
    Mechanism {
        name: "dyn-dupthresh",
        axis: Axis::Detect,
        source: "Dukkipati et al. 2011 table 4; Linux",
        summary: "added to the detection named before it: the threshold of three duplicates grows with the reordering seen, and fack \
                  falls back to counting them",
        apply: |s| {
            s.uses_sack = true;
            s.detect = Box::new(DynamicDupthresh::new(take_detect(s)));
        },
    },
    Mechanism {
        name: "no-bugfix",
        axis: Axis::Ambiguity,
        source: "RFC 5681 section 3.2",
        summary: "duplicates may begin a recovery at any time, also right after another one or after a timeout",
        apply: |s| s.ambiguity = Box::new(NoBugfix),
    },
    Mechanism {
        name: "bugfix",
        axis: Axis::Ambiguity,
        source: "RFC 6582 section 3.2 step 2",
        summary: "duplicates begin a recovery only if they acknowledge more than the last recovery point",
        apply: |s| s.ambiguity = Box::new(Bugfix),
    },
    Mechanism {
        name: "recovery-point",
        axis: Axis::Ambiguity,
        source: "RFC 6675 section 5.1",
        summary: "duplicates begin a recovery only once the last recovery point is acknowledged",
        apply: |s| s.ambiguity = Box::new(PastRecoveryPoint),
    },
    Mechanism {
        name: "ack-heuristic",
        axis: Axis::Ambiguity,
        source: "Gurtov & Floyd 2004 section III.A",
        summary: "as bugfix, and below the recovery point if the last new ACK jumped by at most three segments",
        apply: |s| s.ambiguity = Box::new(AckHeuristic::default()),
    },
    Mechanism {
        name: "ts-heuristic",
        axis: Axis::Ambiguity,
        source: "Gurtov & Floyd 2004 section III.B",
        summary: "as bugfix, and below the recovery point if the last new ACK echoed the last segment it acknowledged",
        apply: |s| s.ambiguity = Box::new(TsHeuristic::default()),
    },
    Mechanism {
        name: "lrx",
        axis: Axis::Retransmission,
        source: "Miyake & Inamura 2005 section 3.1",
        summary: "a retransmission is lost when the duplicates exceed what was sent before it",
        apply: |s| s.retransmission = Some(Box::new(Lrx::default())),
    },
    Mechanism {
        name: "lrx-sack",
        axis: Axis::Retransmission,
        source: "Miyake & Inamura 2005 figure 9",
        summary: "a retransmission is lost when data sent after it is SACKed",
        apply: |s| {
            s.uses_sack = true;
            s.retransmission = Some(Box::new(LrxSack::default()));
        },
    },
    Mechanism {
        name: "lrx-linux",
        axis: Axis::Retransmission,
        source: "Dukkipati et al. 2011 section 3.2",
        summary: "as lrx-sack, for every hole and not only the first; off once reordering was seen",
        apply: |s| {
            s.uses_sack = true;
            s.retransmission = Some(Box::new(LrxLinux::default()));
        },
    },
    Mechanism {
        name: "lrxt",
        axis: Axis::Retransmission,
        source: "Lin & Kung section 6.2",
        summary: "a retransmission is lost if the ACK clock shows a round trip and three duplicates more",
        apply: |s| s.retransmission = Some(Box::new(AckClock::default())),
    },
    Mechanism {
        name: "marks-ts",
        axis: Axis::Retransmission,
        source: "Lin & Kung section 6.3",
        summary: "as lrxt, with new segments on the fifth and seventh duplicate, whose timestamp ends the first round trip",
        apply: |s| s.retransmission = Some(Box::new(AckClock::marked_by_timestamps())),
    },
    Mechanism {
        name: "marks-sack",
        axis: Axis::Retransmission,
        source: "Lin & Kung section 6.3",
        summary: "as lrxt, with new segments on the fifth and seventh duplicate, whose SACK ends the first round trip",
        apply: |s| {
            s.uses_sack = true;
            s.retransmission = Some(Box::new(AckClock::marked_by_sack()));
        },
    },
    Mechanism {
        name: "lower-twice",
        axis: Axis::Response,
        source: "RFC 5681 section 4.3",
        summary: "a lost retransmission halves ssthresh once more",
        apply: |s| s.response = Box::new(LowerTwice),
    },
    Mechanism {
        name: "response-1",
        axis: Axis::Response,
        source: "Miyake & Inamura 2005 section 3.2",
        summary: "a lost retransmission leaves the windows alone",
        apply: |s| s.response = Box::new(Response1),
    },
    Mechanism {
        name: "response-2",
        axis: Axis::Response,
        source: "Miyake & Inamura 2005 section 3.2",
        summary: "a lost retransmission halves ssthresh once more, but only once a recovery, and cwnd at its end",
        apply: |s| s.response = Box::new(Response2::default()),
    },
    Mechanism {
        name: "response-3",
        axis: Axis::Response,
        source: "Miyake & Inamura 2005 section 3.2",
        summary: "a recovery that lost a retransmission ends with cwnd = 1 segment",
        apply: |s| s.response = Box::new(Response3::default()),
    },
    Mechanism {
        name: "response-dac",
        axis: Axis::Response,
        source: "Miyake & Inamura 2005 section 2, on Kim & Lee 2004",
        summary: "the ACK that shows a retransmission lost inflates cwnd as well, so that two segments go",
        apply: |s| s.response = Box::new(ResponseDac),
    },
    Mechanism {
        name: "response-dac-revised",
        axis: Axis::Response,
        source: "Miyake & Inamura 2005 section 2, on Kim et al. 2004",
        summary: "a lost retransmission sets ssthresh and cwnd, inflation and all, to half of ssthresh",
        apply: |s| s.response = Box::new(ResponseDacRevised),
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
        name: "lost-first",
        axis: Axis::Select,
        source: "RFC 8985 sections 3.4 and 9.2",
        summary: "what is lost, retransmissions included, then new data",
        apply: |s| s.select = Box::new(LostFirst::marked()),
    },
    Mechanism {
        name: "lost-first-rule-3",
        axis: Axis::Select,
        source: "RFC 3517 section 4; Dukkipati et al. 2011 section 3.2",
        summary: "as lost-first, and without new data any hole below the highest SACKed byte",
        apply: |s| s.select = Box::new(LostFirst::below_sacked()),
    },
    Mechanism {
        name: "resend",
        axis: Axis::Fill,
        source: "Lin & Kung 1998 section 6.5",
        summary: "without new data, the outstanding segments again from the first one on, one for each ACK",
        apply: |s| s.fill = Some(Box::new(Resend::default())),
    },
    Mechanism {
        name: "header-only",
        axis: Axis::Fill,
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
        name: "prr-crb",
        axis: Axis::Regulate,
        source: "Dukkipati et al. 2011 algorithm 2; RFC 6937 section 3",
        summary: "sends in proportion to what arrives; below ssthresh no more than was delivered",
        apply: |s| s.regulate = Box::new(Prr::conservative()),
    },
    Mechanism {
        name: "prr-ssrb",
        axis: Axis::Regulate,
        source: "Dukkipati et al. 2011 algorithm 2; RFC 6937 section 3",
        summary: "as prr-crb, below ssthresh a segment more for each ACK",
        apply: |s| s.regulate = Box::new(Prr::slow_start()),
    },
    Mechanism {
        name: "prr-ub",
        axis: Axis::Regulate,
        source: "RFC 6937 section 5",
        summary: "as prr-crb, below ssthresh up to it at once",
        apply: |s| s.regulate = Box::new(Prr::unlimited()),
    },
    Mechanism {
        name: "prr",
        axis: Axis::Regulate,
        source: "RFC 9937",
        summary: "as prr-crb in bytes, below ssthresh a segment more for an ACK that advances and tells of no further loss",
        apply: |s| s.regulate = Box::new(Prr::rfc9937()),
    },
    Mechanism {
        name: "conserve",
        axis: Axis::Regulate,
        source: "own: a bound, not a protocol",
        summary: "as much in proportion as has left the network, lost or delivered; up to ssthresh at once below it",
        apply: |s| s.regulate = Box::new(Conserve::default()),
    },
    Mechanism {
        name: "rate-halving",
        axis: Axis::Regulate,
        source: "Dukkipati et al. 2011 section 3.2",
        summary: "one segment for two ACKs, and cwnd held at pipe + 1",
        apply: |s| s.regulate = Box::new(RateHalving::to_half()),
    },
    Mechanism {
        name: "rate-halving-to-ssthresh",
        axis: Axis::Regulate,
        source: "Dukkipati et al. 2011 section 3.2; Linux",
        summary: "as rate-halving, and halving stops at ssthresh, as Linux has it with CUBIC",
        apply: |s| s.regulate = Box::new(RateHalving::to_ssthresh()),
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
        name: "lt",
        axis: Axis::Probe,
        source: "RFC 3042; RFC 6675 section 5 step 3",
        summary: "limited transmit: a new segment for each of the first two duplicates",
        apply: |s| s.probes.push(Box::new(LimitedTransmit)),
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
        name: "tlp",
        axis: Axis::Probe,
        source: "RFC 8985 section 7",
        summary: "two round trips without an ACK draw one by a new segment, or by the last one again",
        apply: |s| {
            s.uses_sack = true;
            s.probes.push(Box::new(Tlp::default()));
        },
    },
    Mechanism {
        name: "tlp-fin",
        axis: Axis::Probe,
        source: "RFC 8985 section 7; own",
        summary: "as tlp, but a last segment with a FIN is probed for as others are, without allowance for a delayed ACK",
        apply: |s| {
            s.uses_sack = true;
            s.probes.push(Box::new(Tlp::fin_at_once()));
        },
    },
    Mechanism {
        name: "eifel",
        axis: Axis::Undo,
        source: "RFC 3522",
        summary: "a response was needless if the first new ACK after it echoes a timestamp from before the retransmission",
        apply: |s| s.undo.push(Box::new(Eifel::default())),
    },
    Mechanism {
        name: "f-rto",
        axis: Axis::Undo,
        source: "RFC 5682",
        summary: "after a timeout and an ACK that advances, two new segments; if the next ACK answers originals, it was needless",
        apply: |s| s.undo.push(Box::<FRto>::default()),
    },
    Mechanism {
        name: "dsack-undo",
        axis: Axis::Undo,
        source: "RFC 3708 section 3",
        summary: "a response was needless if D-SACKs report every segment that was sent again",
        apply: |s| {
            s.uses_sack = true;
            s.undo.push(Box::<DsackUndo>::default());
        },
    },
    Mechanism {
        name: "rfc4015",
        axis: Axis::Undo,
        source: "RFC 4015",
        summary: "after a spurious timeout at most IW goes at once, up to the old window by slow start, and the timer adapts",
        apply: |s| s.undo.push(Box::<Rfc4015>::default()),
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
        name: "ns2-window",
        axis: Axis::Window,
        source: "ns-2.35",
        summary: "as reno-window, but min(cwnd, rwnd) is halved, on every timeout, and to whole segments",
        apply: |s| s.window = Box::new(Ns2Window::halving()),
    },
    Mechanism {
        name: "cubic",
        axis: Axis::Window,
        source: "RFC 9438",
        summary: "a cubic curve over time, at least as fast as Reno; a loss takes 0.7 of the flight",
        apply: |s| s.window = Box::new(Cubic::default()),
    },
    Mechanism {
        name: "hystart",
        axis: Axis::Window,
        source: "RFC 9406",
        summary: "HyStart++ around the law named before it: slow start ends when the round-trip time rises",
        apply: |s| {
            let law = core::mem::replace(&mut s.window, Box::new(RenoWindow::per_ack()));
            s.window = Box::new(HyStart::new(law));
        },
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
    Mechanism {
        name: "rto-restart",
        axis: Axis::Timer,
        source: "RFC 7765 section 4",
        summary: "added to the timer named before it: with fewer than four segments to go, it runs from the earliest one's sending",
        apply: |s| {
            let timer = replace(&mut s.timer, Box::new(Rfc6298::default()));
            s.timer = Box::new(RtoRestart(timer));
        },
    },
];

/// The detection that another one is added to.
fn take_detect(s: &mut Strategy) -> Box<dyn Detect> {
    replace(&mut s.detect, Box::new(DupackCount))
}
