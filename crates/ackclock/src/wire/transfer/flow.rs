//! One connection of a transfer.

use std::net::SocketAddr;

use ackclock_net::FlowId;
use ackclock_net::scenario::BuiltFlow;
use ackclock_report::FlowSummary;
use ackclock_stack::{SocketId, Stack, TcpConfig};
use ackclock_tcp::connection::{CloseReason, TcpState};
use ackclock_tcp::{Span, Stats, Time};

use super::super::connection::{WireConnection, story};
use super::super::source::Source;
use ackclock_report::counted;

/// One connection.
pub(super) struct Flow {
    pub(super) socket: SocketId,
    pub(super) source: Source,
    /// How long it took, our address, and whether there is ECN, once established.
    pub(super) handshake: Option<(Span, SocketAddr, bool)>,
    /// It is in the queue of those that can be written to.
    pub(super) queued: bool,
    /// FIN follows what was written.
    pub(super) finished: bool,
    /// Everything has been acknowledged.
    pub(super) done: bool,
    /// Nothing more will happen.
    pub(super) over: bool,
    /// From the beginning of the transfer to its completion, or to when it was given up.
    pub(super) lasted: Span,
    pub(super) bytes_acked: u64,
    pub(super) stats: Stats,
    /// Timeouts of its SYN.
    syn_timeouts: u64,
}

/// What a look at a connection shows.
pub(super) enum News {
    /// It is not established yet, or nothing is left of it.
    None,
    /// It may take more data.
    Open,
    /// It has failed.
    Failed(CloseReason),
}

impl Flow {
    pub(super) fn new(socket: SocketId, source: Source) -> Flow {
        Flow {
            socket,
            source,
            handshake: None,
            queued: false,
            finished: false,
            done: false,
            over: false,
            lasted: Span::ZERO,
            bytes_acked: 0,
            stats: Stats::default(),
            syn_timeouts: 0,
        }
    }

    /// Takes note of what happened to the socket. The transfer's connections were opened and began
    /// to send at these times.
    pub(super) fn look(&mut self, stack: &mut Stack, now: Time, opened: Time, began: Time) -> News {
        // Nothing is expected, but what comes must not fill the window.
        let mut scratch = [0; 4096];
        while matches!(stack.read(now, self.socket, &mut scratch), Ok(1..)) {}
        let Ok(status) = stack.status(self.socket) else {
            self.over = true;
            return News::None;
        };
        if let Some(reason) = status.reason {
            self.settle(stack, now, began);
            self.over = true;
            return News::Failed(reason);
        }
        match status.state {
            TcpState::SynSent | TcpState::SynReceived => return News::None,
            _ if self.handshake.is_none() => {
                self.handshake = Some((now.since(opened), status.local, status.ecn));
            }
            TcpState::FinWait2 | TcpState::TimeWait | TcpState::Closed if !self.done => {
                self.settle(stack, now, began);
                self.done = true;
            }
            _ => {}
        }
        self.over = matches!(status.state, TcpState::TimeWait | TcpState::Closed);
        News::Open
    }

    /// Keeps the counters as they are now.
    pub(super) fn settle(&mut self, stack: &Stack, now: Time, began: Time) {
        if let (Ok(sender), Ok(all)) = (stack.sender(self.socket), stack.counted(self.socket)) {
            // A FIN counts as a byte of the stream.
            self.bytes_acked = sender.acked().min(self.source.written);
            self.stats = *sender.stats();
            self.syn_timeouts = all.timeouts - self.stats.timeouts;
        }
        self.lasted = now.since(began);
    }

    /// Why the connection failed, for whoever reads errors.
    pub(super) fn story(&self, peer: SocketAddr, tcp: &TcpConfig, reason: CloseReason) -> String {
        let why = match reason {
            CloseReason::Refused => {
                "the connection was refused: nobody listens there (`nc -l` takes one connection \
                 only)"
            }
            CloseReason::TimedOut if self.handshake.is_none() => {
                "no answer; is the peer there, and where it is another host, does this one forward \
                 and translate addresses?"
            }
            reason => story(reason),
        };
        let so_far = if self.handshake.is_some() {
            format!(" after {}", counted(self.bytes_acked, "byte"))
        } else {
            String::new()
        };
        format!("{peer}: {}: {why}{so_far}", tcp.strategy.name())
    }

    /// The connection as recorders know it.
    pub(super) fn built(&self, number: u32, stack: &Stack, tcp: &TcpConfig) -> BuiltFlow {
        let state = stack.sender(self.socket).ok().map(|sender| sender.state());
        let mss = state.map_or(0, |s| s.mss as u32);
        let name = format!("connection {number}");
        let mut flow = BuiltFlow::new(FlowId(number), name, tcp.strategy.name(), mss);
        flow.sack = state.is_some_and(|s| s.sack);
        flow.ecn = self.handshake.is_some_and(|(_, _, ecn)| ecn);
        flow.timestamps = tcp.timestamps;
        flow.rwnd = state.map_or(0, |s| s.window_edge);
        flow
    }

    /// What only a connection on the wire has; `None` if it was never established.
    pub(super) fn connection(&self, built: &BuiltFlow, peer: SocketAddr) -> Option<WireConnection> {
        let (handshake, local, ecn) = self.handshake?;
        Some(WireConnection {
            strategy: built.strategy.clone(),
            flow: built.id.0,
            local,
            peer,
            mss: built.mss,
            handshake_s: handshake.secs_f64(),
            ecn,
        })
    }

    pub(super) fn summary(&self, built: &BuiltFlow) -> FlowSummary {
        let seconds = self.lasted.secs_f64();
        FlowSummary {
            bytes_acked: self.bytes_acked,
            goodput_bps: (seconds > 0.0).then(|| 8.0 * self.bytes_acked as f64 / seconds),
            name: built.name.clone(),
            completion_s: self.done.then_some(seconds),
            syn_timeouts: self.syn_timeouts,
            ..FlowSummary::of_sender(&built.strategy, 0, built.id.0, &self.stats)
        }
    }
}
