//! TIME-WAIT (RFC 9293 section 3.3.2) without the connection: what is left to do needs a few
//! numbers only.

use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{Seq, Span, Time, Timestamps};

use crate::said::{Said, control_len};
use crate::socket::Socket;
use crate::tuple::Tuple;

/// Least time between two answers to segments that are not acceptable, so that two ends that
/// disagree do not answer each other for ever (as RFC 5961 section 7 has it for challenge ACKs).
const ANSWER_INTERVAL: Span = Span::from_millis(500);

/// A connection in TIME-WAIT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeWait {
    pub(crate) tuple: Tuple,
    pub(crate) said: Said,
    /// 2 MSL, and when it is over.
    pub(crate) span: Span,
    pub(crate) until: Time,
    answered: Option<Time>,
    /// A new connection would have timestamps if the peer offers them.
    timestamps: bool,
    /// What its timestamps have beyond the clock.
    ts_offset: u32,
}

/// What a segment for a connection in TIME-WAIT brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ignore,
    Answer(Repr),
    /// The connection is over.
    Over,
    /// It is a SYN that may take the place of the connection; ours needs a sequence number above
    /// this one.
    MayReopen(Seq),
}

impl TimeWait {
    pub(crate) fn new(now: Time, socket: &Socket) -> TimeWait {
        let &Socket { tuple, said, time_wait: span, timestamps, ts_offset, .. } = socket;
        TimeWait { tuple, said, span, until: now + span, answered: None, timestamps, ts_offset }
    }

    /// A segment with `len` bytes of payload.
    pub(crate) fn on_segment(&mut self, now: Time, header: &Repr, len: u32) -> Outcome {
        let control = header.control;
        let ahead = header.seq.ahead_of(self.said.ack);
        // RFC 9293 section 3.10.7.4, and as Linux does (`tcp_rfc1337` is off): a peer that has
        // taken the ACK of an earlier connection for an answer to its SYN resets it, to open its
        // own. RFC 1337 section 3 would ignore that. Only the next sequence number counts (RFC 5961
        // section 3).
        if control.contains(Control::RST) {
            return if ahead == 0 { Outcome::Over } else { Outcome::Ignore };
        }
        if control.contains(Control::SYN) && !control.contains(Control::ACK) {
            if self.may_reopen(header, ahead) {
                return Outcome::MayReopen(self.said.snd_max);
            }
        } else if ahead == 0 && len + control_len(control) == 0 {
            return Outcome::Ignore;
        }
        // RFC 9293 section 3.10.7.4: the peer's FIN again restarts the timer.
        if control.contains(Control::FIN) && (header.seq + len + 1) == self.said.ack {
            self.until = now + self.span;
        }
        if self.answered.is_some_and(|at| now.since(at) < ANSWER_INTERVAL) {
            return Outcome::Ignore;
        }
        self.answered = Some(now);
        Outcome::Answer(self.ack(now))
    }

    /// RFC 6191 section 2: by timestamps where both connections have them, else by sequence numbers
    /// (RFC 9293 section 3.10.7.4).
    fn may_reopen(&self, header: &Repr, ahead: i32) -> bool {
        let would_have = header.options.timestamps.filter(|_| self.timestamps);
        Timestamps::reopens(self.said.ts_recent, would_have, ahead >= 0)
    }

    fn ack(&self, now: Time) -> Repr {
        let val = now.timestamp().wrapping_add(self.ts_offset);
        let timestamps = self.said.ts_recent.map(|ecr| Timestamps { val, ecr });
        Repr {
            src_port: self.tuple.local_port,
            dst_port: self.tuple.remote_port,
            seq: self.said.snd_max,
            ack: self.said.ack,
            control: Control::ACK,
            wnd: self.said.wnd,
            options: Options { timestamps, ..Options::default() },
            ..Repr::default()
        }
    }
}
