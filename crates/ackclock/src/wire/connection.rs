//! What only connections on the wire have.

use std::net::SocketAddr;

use ackclock_report::{Align, align_within};
use ackclock_tcp::connection::CloseReason;
use serde::Serialize;

/// What only a connection on the wire has.
#[derive(Serialize)]
pub(crate) struct WireConnection {
    pub strategy: String,
    pub flow: u32,
    /// Our address, and the peer's.
    pub local: SocketAddr,
    pub peer: SocketAddr,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// From the first SYN until the connection was established.
    pub handshake_s: f64,
    /// Whether ECN was negotiated.
    pub ecn: bool,
}

/// Why a connection ended before its time, for whoever reads errors.
pub(crate) fn story(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Refused => "the connection was refused",
        CloseReason::Reset => "the peer reset the connection",
        CloseReason::Aborted => "the connection was aborted",
        CloseReason::TimedOut => "the peer does not answer any more",
        CloseReason::Unreachable => "the peer cannot be reached",
    }
}

/// One aligned line for each connection.
pub(crate) fn connection_table(connections: &[WireConnection], width: Option<usize>) -> String {
    let heading =
        ["strategy", "flow", "local", "peer", "mss", "handshake"].map(String::from).to_vec();
    let line = |c: &WireConnection| {
        vec![
            c.strategy.clone(),
            c.flow.to_string(),
            c.local.to_string(),
            c.peer.to_string(),
            c.mss.to_string(),
            format!("{:.3}ms", 1e3 * c.handshake_s),
        ]
    };
    align_within(
        &std::iter::once(heading).chain(connections.iter().map(line)).collect::<Vec<_>>(),
        Align::Right,
        width,
    )
}
