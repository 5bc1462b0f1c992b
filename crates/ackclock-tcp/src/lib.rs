//! TCP loss recovery as a sans-I/O engine.
//!
//! ```
//! use ackclock_tcp::{Cause, Registry, Segment, Sender, SenderConfig, Seq, Time};
//!
//! let strategy = Registry::default().parse("newreno").unwrap().build();
//! let config = SenderConfig { mss: 1000, initial_window: Some(4), wscale: 0, ..Default::default() };
//! let mut sender = Sender::new(config, strategy);
//! sender.write(Time::ZERO, 4_000);
//! while sender.poll_transmit(Time::ZERO).is_some() {}
//!
//! // The first of the four segments is lost. Each of the others draws a duplicate ACK.
//! let duplicate = Segment { ack: Seq(0), wnd: u16::MAX, ..Segment::default() };
//! let now = Time(100_000_000);
//! for _ in 0..3 {
//!     assert_eq!(sender.poll_transmit(now), None);
//!     sender.on_segment(now, &duplicate);
//! }
//! let again = sender.poll_transmit(now).unwrap();
//! assert_eq!((again.position, again.cause), (0, Cause::FastRetransmit));
//! ```
//!
//! A [`Sender`] and a [`Receiver`] are the two halves of an established connection. A
//! [`Connection`](connection::Connection) is all of RFC 9293 around them: it opens, validates,
//! closes and resets. None of them reads a clock, opens a socket, starts a thread, draws a random
//! number or logs. Time and segments come in. Segments, deadlines and events come out. A simulated
//! network drives the halves, a host whole connections. [`wire`] has the headers, [`recovery`] the
//! mechanisms, [`strategy`] their names.
//!
//! # The contract
//! After **every** input (`on_segment`, `on_deadline`, `write`, ...):
//! 1. Call `poll_transmit(now)` until it returns `None`. Send what it returned, in that order.
//! 2. Read `next_deadline()`. Call `on_deadline(now)` at that time, or as soon after it as
//!    possible. A call that comes too early is harmless. The deadline is valid until the next
//!    input.
//! 3. If events are recorded, drain `poll_event()`.
//!
//! Where [`Sender::notices`] asks for it, the driver also notifies the sender of what the network
//! lost (`on_notice`). Only a simulated network can. So the strategies that ask, `oracle` and
//! `oracle-drop`, are of no use outside of one.
//!
//! `now` never goes backwards. Payload bytes stay with the caller: a [`Transmit`] names them by
//! stream position, and so does what a connection sends and receives.
//!
//! # A connection
//! ```
//! use ackclock_tcp::connection::{Connection, ConnectionConfig, TcpState};
//! use ackclock_tcp::{Registry, Seq, Time};
//!
//! let config = |iss| ConnectionConfig { iss: Seq(iss), ..ConnectionConfig::default() };
//! let strategy = || Registry::default().parse("rack-tlp").unwrap().build();
//! let now = Time::ZERO;
//! let mut client = Connection::connect(now, config(1000), strategy());
//! client.write(now, 5000);
//! client.shutdown(now);
//! let syn = client.poll_transmit(now).unwrap();
//! let mut server = Connection::accept(now, config(2000), strategy(), &syn.header);
//! // The bytes from `segment.position` on, `segment.len` of them, go along. The answer says where to
//! // keep them.
//! while server.state() != TcpState::CloseWait {
//!     while let Some(segment) = server.poll_transmit(now) {
//!         client.on_segment(now, &segment.header, segment.len);
//!     }
//!     while let Some(segment) = client.poll_transmit(now) {
//!         server.on_segment(now, &segment.header, segment.len);
//!     }
//! }
//! assert_eq!(server.readable(), 5000);
//! ```
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod buffers;
pub mod connection;
#[cfg(test)]
mod dice;
mod event;
mod receiver;
pub mod recovery;
mod scoreboard;
mod segment;
mod sender;
mod seq;
mod sighting;
mod state;
pub mod strategy;
mod summary;
mod time;
pub mod wire;

pub use event::{Cause, Event, EventKind, SackRanges, Sending, TimeoutClass};
pub use receiver::{DelayedAck, Receiver, ReceiverConfig};
pub use scoreboard::{Record, Scoreboard};
pub use segment::{Codepoint, Ecn, Flags, SackBlock, SackBlocks, Segment, Timestamps};
pub use sender::{Sender, SenderConfig, Stats, Transmit};
pub use seq::Seq;
pub use sighting::Sighting;
pub use state::{DUPTHRESH, Phase, State};
pub use strategy::{Composition, Registry, Strategy};
pub use summary::AckSummary;
pub use time::{Span, Time};

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
