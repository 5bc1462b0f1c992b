//! Quantities of standards and of Linux that several files go by.

use std::ops::Range;

use ackclock_tcp::wire::ip::{v4, v6};
use ackclock_tcp::{Span, Time};

/// No window is larger, in bytes (RFC 7323 section 2.3).
pub(crate) const LARGEST_WINDOW: u64 = 1 << 30;

/// Hosts make no packets shorter than this for a path, whatever a router asks for: each of IPv6
/// takes as much (RFC 8200 section 5), and Linux believes in no path of IPv4 that takes less.
/// `header`: [`Terms::header`](crate::sender::Terms), which is at least 60 bytes in IPv6 alone.
pub(crate) fn least_packet(header: u32) -> u32 {
    if header < 60 { v4::LEAST_PATH_MTU.into() } else { v6::LEAST_MTU.into() }
}

/// Full segments have so many bytes where no end says another number (RFC 9293 section 3.7.1).
pub(crate) const DEFAULT_SMSS: u32 = 536;

/// The least retransmission timeout of Linux (`TCP_RTO_MIN`): most senders wait no shorter.
pub(crate) const LEAST_RTO: Span = Span::from_millis(200);

/// RFC 6298 section 2.4 rounds shorter timeouts up to this.
pub(crate) const LEAST_RTO_OF_RFC: Span = Span::from_secs(1);

/// A receiver delays an ACK for less (RFC 9293 section 3.8.6.3).
pub(crate) const LONGEST_DELAY: Span = Span::from_millis(500);

/// How long a timer takes to expire so often, if it waits for `first` at first and for twice as
/// long each time (RFC 6298 section 5.5). From the 16th time on it is no more.
pub(crate) fn expiries(first: Span, times: u32) -> Span {
    first.times((1 << times.min(16)) - 1)
}

/// A timer does not expire more often than this in a row (Linux's `tcp_retries2`).
pub(crate) const MOST_EXPIRIES: u32 = 15;

/// The timeout before the first round trip (RFC 6298 section 2.1).
pub(crate) const FIRST_RTO: Span = Span::from_secs(1);

/// Both least timeouts: those that most senders have.
pub(crate) const LEAST_RTOS: [Span; 2] = [LEAST_RTO, LEAST_RTO_OF_RFC];

/// The years 2001 to 2011: tail loss probes were proposed and built in 2012. A clock that was never
/// set begins with 1970, 1980 or 2000, and so do captures of simulations.
pub(crate) const WITHOUT_PROBES: Range<Time> =
    Time(Span::from_secs(978_307_200).0)..Time(Span::from_secs(1_325_376_000).0);
