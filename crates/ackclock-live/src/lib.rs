//! ackclock's TCP on the wire.
//!
//! - [`Tun`]: a TUN device with `vnet_hdr` and segmentation offload.
//! - [`Host`]: a `Stack` on a TUN device, driven by its owner's event loop; non-blocking.
//! - [`Net`]: a [`Host`] in a thread of its own, with blocking sockets ([`TcpStream`], [`TcpListener`]).
//! - [`Namespace`]: a network namespace that lives as long as somebody holds it.
//! - [`RealTimeGateway`]: the simulated network's links in real time, between TUN devices.

mod gateway;
mod host;
mod namespace;
mod net;
mod socket;
mod tun;

pub use gateway::{Attachment, GatewayReport, Lateness, RealTimeGateway};
pub use host::{Host, Tap};
pub use namespace::Namespace;
pub use net::Net;
pub use socket::{Info, TcpListener, TcpStream};
pub use tun::{Frame, Gso, Tun, TunConfig};
