//! How long packets may lie in the device, so that one wake-up takes several ACKs: what the
//! interrupt moderation of a network card does.
//!
//! Linux has a receiver hold ACKs back for a twentieth of the round-trip time
//! (`__tcp_ack_snd_check` in `net/ipv4/tcp_input.c`, `tcp_comp_sack_rtt_percent`). Here it is the
//! sender that waits, for the same twentieth at most: only for ACKs of new data outside recovery
//! and outside slow start, where they come close together and each releases twice as much; only
//! where enough of them come to save wake-ups; and not for more than five of them, which release
//! ten segments at once. They are expected to come evenly over a round trip. Where they come closer
//! together, more is released: what the receiver acknowledged in the wait.

#[cfg(test)]
mod tests;

use ackclock_tcp::connection::TcpState;
use ackclock_tcp::{Phase, Span, Time};

use crate::socket::Socket;

/// The share of the round-trip time.
const SHARE: u64 = 20;
/// The longest wait: what another connection may lose that opens meanwhile.
const MOST: Span = Span::from_millis(2);
/// A shorter one is not worth it: a timer may be 50 us late (`prctl(2)`, `PR_SET_TIMERSLACK`).
const LEAST: Span = Span::from_micros(200);
/// ACKs to be expected within it: at least so many, or nothing is gained, and at most so many.
const ACKS: (u64, u64) = (2, 5);
/// A packet that must not wait is followed by others: so long none waits.
const HURRY: Span = Span::from_millis(100);

/// What the packets since the last look said.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// The least wait that one of them allows; `None` without any.
    least: Option<Span>,
    /// When the last one came that allows none.
    hurried: Option<Time>,
}

impl Patience {
    /// A packet came after which the next one may wait so long.
    pub(crate) fn note(&mut self, now: Time, wait: Span) {
        self.least = Some(self.least.map_or(wait, |least| least.min(wait)));
        if wait == Span::ZERO {
            self.hurried = Some(now);
        }
    }

    /// How long the next packets may wait.
    pub(crate) fn take(&mut self, now: Time) -> Span {
        let least = self.least.take().unwrap_or(Span::ZERO);
        match self.hurried {
            Some(at) if now.since(at) < HURRY => Span::ZERO,
            _ => least,
        }
    }
}

/// How long what comes next for a socket may wait after a segment with so many bytes of payload.
pub(crate) fn wait(socket: &Socket, payload: usize) -> Span {
    let s = socket.connection.sender().state();
    let open = socket.connection.state() == TcpState::Established && s.phase == Phase::Open;
    // A window of which not half is used does not grow (Linux's `tcp_is_cwnd_limited`).
    let grows = s.cwnd < s.ssthresh && s.cwnd < 2 * s.flight();
    let calm = open && !grows && payload == 0 && s.dupacks == 0 && s.board.sacked_segments() == 0;
    if calm { between(s.srtt, s.flight(), s.mss) } else { Span::ZERO }
}

/// With so much in flight in a round trip. The receiver acknowledges every second segment (RFC 5681
/// section 4.2).
fn between(srtt: Span, flight: u64, mss: u64) -> Span {
    let acks = (flight / (2 * mss.max(1))).max(1);
    let apart = srtt.nanos() / acks;
    let wait = (srtt.nanos() / SHARE).min(MOST.nanos()).min(ACKS.1 * apart);
    if wait >= LEAST.nanos().max(ACKS.0 * apart) { Span(wait) } else { Span::ZERO }
}
