//! The commands on the wire.

mod daemon;
mod files;
mod metrics;
mod options;
mod proxy;
mod recv;
mod send;
mod serve;

pub(crate) use options::{DEFAULT_STRATEGY, WireArgs, open_host, strategy};
pub(crate) use proxy::{ProxyArgs, proxy};
pub(crate) use recv::{RecvArgs, recv};
pub(crate) use send::{SendArgs, send};
pub(crate) use serve::{ServeArgs, serve};
