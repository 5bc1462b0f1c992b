//! The commands on the wire.

mod options;
mod recv;
mod send;

pub(crate) use options::{DEFAULT_STRATEGY, WireArgs, open_host, strategy};
pub(crate) use recv::{RecvArgs, recv};
pub(crate) use send::{SendArgs, send};
