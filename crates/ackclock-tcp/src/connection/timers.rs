//! The timers that are not about loss: of the SYN, of keep-alives, of what is not acknowledged, and
//! of the states that end by themselves.

use super::{CloseReason, Connection, TcpState, black_hole};
use crate::time::{Span, Time};

/// The user timeout after [`Connection::close`] where there is none (R2 of RFC 9293 section 3.8.3).
const ORPHAN_TIMEOUT: Span = Span::from_secs(100);

pub(super) fn next(c: &Connection) -> Time {
    match c.state {
        TcpState::Closed => Time::NEVER,
        TcpState::SynSent | TcpState::SynReceived => c.handshake.at,
        _ => c
            .sender
            .next_deadline()
            .min(c.receiver.next_deadline())
            .min(user_timeout(c))
            .min(keep_alive(c))
            .min(c.wait_until),
    }
}

pub(super) fn on_deadline(c: &mut Connection, now: Time) {
    match c.state {
        TcpState::Closed => {}
        TcpState::SynSent | TcpState::SynReceived => on_syn_deadline(c, now),
        _ if user_timeout(c) <= now => c.end(Some(CloseReason::TimedOut)),
        _ => {
            if keep_alive(c) <= now {
                on_keep_alive(c, now);
            }
            if c.wait_until <= now {
                let reason =
                    if c.state == TcpState::TimeWait { None } else { Some(CloseReason::TimedOut) };
                c.end(reason);
            }
            let timeouts = c.sender.stats().timeouts;
            c.sender.on_deadline(now);
            if c.sender.stats().timeouts > timeouts {
                black_hole::on_timeout(c, now);
            }
            c.receiver.on_deadline(now);
        }
    }
}

fn on_syn_deadline(c: &mut Connection, now: Time) {
    if c.handshake.at > now {
        return;
    }
    if c.sender.gives_up_syn(c.handshake.waited, c.config.syn_retries) {
        c.end(Some(CloseReason::TimedOut));
    } else {
        c.handshake.expiries += 1;
        c.handshake.answering += u32::from(c.state == TcpState::SynReceived);
        c.handshake.losses += 1;
        c.handshake.due = true;
    }
}

/// RFC 9293 section 3.8.3, RFC 5482.
fn user_timeout(c: &Connection) -> Time {
    match c.config.user_timeout.or(c.closed.then_some(ORPHAN_TIMEOUT)) {
        Some(timeout) if c.is_pending() => c.progress + timeout,
        _ => Time::NEVER,
    }
}

/// RFC 9293 section 3.8.4: only "when no sent data is outstanding, and no data or acknowledgment
/// packets have been received for the connection within an interval".
fn keep_alive(c: &Connection) -> Time {
    let Some(config) = c.config.keep_alive else { return Time::NEVER };
    if c.is_pending() || c.state == TcpState::TimeWait {
        Time::NEVER
    } else if c.keep_alives == 0 {
        c.heard + config.idle
    } else {
        c.keep_alive_sent + config.interval
    }
}

fn on_keep_alive(c: &mut Connection, now: Time) {
    let count = c.config.keep_alive.map_or(0, |config| config.count);
    if c.keep_alives >= count {
        return c.end(Some(CloseReason::TimedOut));
    }
    c.keep_alives += 1;
    c.keep_alive_sent = now;
    c.keep_alive_due = true;
}
