//! A TCP/IP host without I/O: IP packets and time come in, IP packets and deadlines come out.
//!
//! A [`Stack`] holds listeners and sockets around `ackclock_tcp::connection::Connection`, with their buffers. It reads no
//! clock and opens no device; `ackclock-live` gives it a TUN device, tests a simulated network.
//!
//! # The contract
//! After **every** input (`on_packet`, `on_deadline`, `write`, `read`, `connect`, ...):
//! 1. call [`Stack::poll_transmit`] until it returns `None`, and send what it returned, in that order;
//! 2. read [`Stack::next_deadline`]; call [`Stack::on_deadline`] at that time or as soon after it as possible;
//! 3. drain [`Stack::poll_ready`], and [`Stack::poll_event`] if events are recorded.

mod buffer;
mod input;
mod listener;
mod messages;
mod output;
mod paths;
mod ports;
mod socket;
mod stack;
mod time_wait;
mod timers;
mod tuple;
mod types;
pub mod wire;

pub use stack::Stack;
pub use types::{Error, ListenerId, Outgoing, Ready, SocketId, StackConfig, StackStats, Status, TcpConfig};
