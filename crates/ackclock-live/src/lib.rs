//! ackclock's TCP on the wire.
//!
//! - [`Tun`]: a TUN device with `vnet_hdr` and segmentation offload.
//! - [`Host`]: a `Stack` on a TUN device, driven by its owner's event loop; non-blocking.
//! - [`Net`]: a [`Host`] in a thread of its own, with blocking sockets ([`TcpStream`],
//!   [`TcpListener`]).
//! - [`Namespace`]: a network namespace that lives as long as somebody holds it.
//! - [`RealTimeGateway`]: the simulated network's links in real time, between TUN devices.
//!
//! All of it is for Linux, and takes root: `CAP_NET_ADMIN` for devices, `CAP_SYS_ADMIN` for
//! namespaces. What is made here is gone with the process, however that ends.
//!
//! A connection from our stack to a server of the kernel, in a namespace of their own:
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpListener;
//! use std::time::Duration;
//!
//! use ackclock_live::{Host, Namespace, Net, Tun, TunConfig};
//! use ackclock_stack::{StackConfig, TcpConfig};
//!
//! # fn main() -> std::io::Result<()> {
//! # let root = Namespace::new().and_then(|n| n.run(|| Tun::open(&TunConfig {
//! #     name: "probe".into(), addresses: vec![], mtu: 1500, offload: true,
//! # }))?);
//! # if root.is_err() { eprintln!("skipped: needs root and /dev/net/tun"); return Ok(()) }
//! let namespace = Namespace::new()?;
//! let device = TunConfig { name: "tun0".into(), addresses: vec![([10, 0, 0, 1].into(), 24)], mtu: 1500, offload: true };
//! let tun = namespace.run(|| Tun::open(&device))??;
//! let server = namespace.run(|| TcpListener::bind("10.0.0.1:80"))??;
//!
//! // Outside of tests, draw `secret` at random.
//! let config = StackConfig { addresses: vec![[10, 0, 0, 2].into()], ..StackConfig::default() };
//! let net = Net::start(Host::new(tun, config))?;
//! let mut stream = net.connect("10.0.0.1:80".parse().unwrap(), TcpConfig::default())?;
//! stream.write_all(b"hello")?;
//! drop(stream);
//! net.shutdown(Duration::from_secs(5))?; // waits until the server's kernel has it
//!
//! let mut received = String::new();
//! server.accept()?.0.read_to_string(&mut received)?;
//! assert_eq!(received, "hello");
//! # Ok(())
//! # }
//! ```

mod gateway;
mod host;
mod link;
mod namespace;
mod net;
mod shared;
mod socket;
mod tun;

pub use gateway::{
    Attachment, DropLog, Dropped, GatewayReport, Lateness, Logs, QueueLog, RealTimeGateway,
    be_prompt,
};
pub use host::{Crossing, Host, Stray};
pub use namespace::Namespace;
pub use net::Net;
pub use socket::{Info, TcpListener, TcpStream};
pub use tun::{DeviceDrops, Frame, Gso, Tun, TunConfig};

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
