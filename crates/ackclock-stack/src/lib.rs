//! A TCP/IP host without I/O: IP packets and time come in, IP packets and deadlines come out.
//!
//! A [`Stack`] holds listeners and sockets around `ackclock_tcp::connection::Connection`, with
//! their buffers. It reads no clock and opens no device; `ackclock-live` gives it a TUN device,
//! tests a simulated network.
//!
//! # The contract
//! After **every** input (`on_packet`, `on_deadline`, `write`, `read`, `connect`, ...):
//! 1. call [`Stack::poll_transmit`] until it returns `None`, and send what it returned, in that
//!    order;
//! 2. read [`Stack::next_deadline`]; call [`Stack::on_deadline`] at that time or as soon after it
//!    as possible;
//! 3. drain [`Stack::poll_ready`], and [`Stack::poll_event`] if events are recorded.
//!
//! Time never goes backwards. A host with the same secret and the same inputs does the same things.
//!
//! # What it speaks
//! TCP over IPv4 and IPv6; ICMP echo, destination unreachable and packet too big of either. It has
//! no routes, no link layer, no fragments (those that arrive are dropped, those that leave say
//! don't fragment), no UDP, and one interface.
//!
//! # Example
//! ```
//! use std::net::SocketAddr;
//!
//! use ackclock_stack::{Ready, Stack, StackConfig, TcpConfig};
//! use ackclock_tcp::Time;
//!
//! let host = |last| Stack::new(StackConfig {
//!     addresses: vec![[10, 0, 0, last].into()],
//!     secret: [last; 16], // Draw it at random.
//!     ..StackConfig::default()
//! });
//! let mut hosts = [host(1), host(2)];
//! let now = Time::ZERO;
//!
//! let server = SocketAddr::from(([10, 0, 0, 2], 80));
//! hosts[1].listen(server, TcpConfig::default(), 16)?;
//! let client = hosts[0].connect(now, server, TcpConfig::default())?;
//!
//! // What one sends, the other receives, until nobody has more to say.
//! fn exchange([a, b]: &mut [Stack; 2], now: Time) {
//!     while carry(a, b, now) | carry(b, a, now) {}
//! }
//! fn carry(from: &mut Stack, to: &mut Stack, now: Time) -> bool {
//!     let mut any = false;
//!     while let Some(outgoing) = from.poll_transmit(now) {
//!         let packet = [outgoing.header, outgoing.payload[0], outgoing.payload[1]].concat();
//!         to.on_packet(now, &packet, false);
//!         any = true;
//!     }
//!     any
//! }
//! exchange(&mut hosts, now);
//! hosts[0].write(now, client, b"hello")?;
//! hosts[0].shutdown(now, client)?;
//! exchange(&mut hosts, now);
//!
//! let Some(Ready::Accept(listener)) = hosts[1].poll_ready() else { panic!() };
//! let socket = hosts[1].accept(listener)?;
//! let mut buffer = [0; 100];
//! assert_eq!(hosts[1].read(now, socket, &mut buffer), Ok(5));
//! assert_eq!(&buffer[..5], b"hello");
//! assert_eq!(hosts[1].read(now, socket, &mut buffer), Ok(0));
//! # Ok::<(), ackclock_stack::Error>(())
//! ```

mod buffer;
mod icmp;
mod input;
mod lifecycle;
mod limits;
mod listener;
mod memory;
mod messages;
mod output;
mod paths;
mod patience;
mod ports;
mod said;
mod socket;
mod stack;
mod table;
mod time_wait;
mod timers;
mod transmit;
mod tuple;
mod types;

pub use limits::{Limit, Limits};
pub use stack::{Stack, overlap};
pub use types::{
    EcnUse, Error, ListenerId, Outgoing, Ready, SocketId, StackConfig, StackStats, Status,
    TcpConfig, Timeouts,
};

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
