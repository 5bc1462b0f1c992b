//! TCP loss recovery as a sans-I/O engine.
//!
//! A [`Sender`] and a [`Receiver`] are the two halves of an established connection, and a
//! [`Connection`](connection::Connection) is all of RFC 9293 around them: it opens, validates, closes and resets. None of
//! them reads a clock, opens a socket, starts a thread, draws a random number or logs. Time and segments come in; segments,
//! deadlines and events come out. A simulated network drives the halves, a host whole connections; [`wire`] has the headers.
//!
//! # The contract
//! After **every** input (`on_segment`, `on_deadline`, `write`, ...):
//! 1. call `poll_transmit(now)` until it returns `None`, and send what it returned, in that order;
//! 2. read `next_deadline()`; call `on_deadline(now)` at that time or as soon after it as possible. A call that
//!    comes too early is harmless. The deadline is valid until the next input;
//! 3. if events are recorded, drain `poll_event()`.
//!
//! Where [`Sender::told`] asks for it, the driver also tells what the network lost (`on_lost`). Only a simulated network can,
//! so the strategies that ask, `oracle` and `oracle-drop`, are of no use outside of one.
//!
//! `now` never goes backwards. Payload bytes stay with the caller: a [`Transmit`] names them by stream position, and so does what
//! a connection sends and receives.
//!
//! ```
//! use ackclock_tcp::connection::{Connection, ConnectionConfig, TcpState};
//! use ackclock_tcp::{Composition, ReceiverConfig, SenderConfig, Seq, Span, Time};
//!
//! let config = |iss| ConnectionConfig {
//!     iss: Seq(iss),
//!     local_mss: 1460,
//!     path_mss: 1460,
//!     sack: true,
//!     timestamps: true,
//!     wscale: Some(7),
//!     sender: SenderConfig::default(),
//!     receiver: ReceiverConfig::default(),
//!     syn_retries: 5,
//!     keep_alive: None,
//!     user_timeout: Some(Span::from_secs(300)),
//!     time_wait: Span::from_secs(60),
//!     fin_wait_2: Span::from_secs(60),
//! };
//! let strategy = || Composition::parse("rack-tlp").unwrap().build();
//! let now = Time::ZERO;
//! let mut client = Connection::connect(now, config(1000), strategy());
//! client.write(now, 5000);
//! client.shutdown(now);
//! let syn = client.poll_transmit(now).unwrap();
//! let mut server = Connection::accept(now, config(2000), strategy(), &syn.header);
//! // The bytes from `segment.position` on, `segment.len` of them, go along; the answer says where to keep them.
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

pub mod axes;
pub mod connection;
mod event;
mod receiver;
pub mod recovery;
mod scoreboard;
mod segment;
mod sender;
mod seq;
pub mod strategy;
mod time;
pub mod wire;

pub use event::{Cause, Event, EventKind, SackRanges, TimeoutClass};
pub use receiver::{DelayedAck, Receiver, ReceiverConfig};
pub use scoreboard::{Record, Scoreboard};
pub use segment::{Flags, SackBlock, SackBlocks, Segment, Timestamps};
pub use sender::{Phase, Sender, SenderConfig, State, Stats, Transmit};
pub use seq::Seq;
pub use strategy::{Composition, Strategy};
pub use time::{Span, Time};
