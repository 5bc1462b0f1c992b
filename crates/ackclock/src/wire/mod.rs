//! The commands on the wire.

mod capture;
mod connection;
mod daemon;
mod drops;
mod files;
mod gateway;
mod histogram;
mod interrupt;
mod live;
mod metrics;
mod options;
mod pattern;
mod prefix;
mod privileges;
mod proxy;
mod proxy_protocol;
mod recv;
mod routes;
mod send;
mod serve;
mod source;
mod split;
mod target;
mod transfer;
mod wait;
mod watch;

pub(crate) use connection::{WireConnection, connection_table};
pub(crate) use gateway::{GatewayArgs, gateway};
pub(crate) use interrupt::{Interrupt, cancel_on_signals};
pub(crate) use options::{DEFAULT_STRATEGY, Ecn, WireArgs, open_host, open_hosts, strategy};
pub(crate) use proxy::{ProxyArgs, proxy};
pub(crate) use recv::{RecvArgs, recv};
pub(crate) use routes::json_schema as listeners_schema;
pub(crate) use send::{SendArgs, send};
pub(crate) use serve::{ServeArgs, serve};
pub(crate) use watch::{Watch, watch};
