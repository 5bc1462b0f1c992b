//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod common;
mod gateway;
mod hardship;
mod nothing_lost;
mod queues;
mod rests;
mod sockets;
mod transfers;
mod tun;
