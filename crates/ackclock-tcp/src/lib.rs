//! TCP loss recovery as a sans-I/O engine.
//!
//! A [`Sender`] and a [`Receiver`] are the two halves of an established connection. Neither reads a clock, opens a
//! socket, starts a thread, draws a random number or logs. Time and segments come in; segments, deadlines and events
//! come out.
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
//! `now` never goes backwards. Payload bytes stay with the caller: a [`Transmit`] names them by stream position.
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
