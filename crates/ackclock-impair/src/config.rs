//! The settings of a proxy.

use std::net::SocketAddr;
use std::time::Duration;

use ackclock_tcp::Registry;
use ackclock_tcp::strategy::Composition;

/// What stays the same while a proxy runs.
#[derive(Clone, Debug)]
pub struct ProxyConfig {
    /// Where it listens; port 0 takes a free one. `[::]` is all addresses, also those of IPv4.
    pub listen: Vec<SocketAddr>,
    /// The addresses of the server, tried in this order.
    pub to: Vec<SocketAddr>,
    /// The strategy of both hosts' senders.
    pub strategy: Composition,
    /// The most clients at the same time; others wait until one is done.
    pub max_connections: u32,
    /// How long the server may take to accept a connection, over all its addresses. Then the client
    /// is reset.
    pub connect_timeout: Duration,
    /// The server's name and port, such as `db.example:5432`. It is looked up again where none of
    /// the addresses takes a connection, once a second at most. Without it they stay what they are.
    pub server: Option<String>,
    /// How long a connection may rest that one side has reset, while the other side does not take
    /// what was sent before. Then that side is reset, too.
    pub rest_after_reset: Duration,
}

impl ProxyConfig {
    /// The strategy `linux`, at most 1000 clients, 10 s for the server, no name of it, and 60 s
    /// after a reset.
    pub fn new(listen: Vec<SocketAddr>, to: Vec<SocketAddr>) -> ProxyConfig {
        let strategy = Registry::default().parse("linux").expect("a preset");
        ProxyConfig {
            listen,
            to,
            strategy,
            max_connections: 1000,
            connect_timeout: Duration::from_secs(10),
            server: None,
            // As long as Linux waits for a connection that its application has let go of
            // (tcp_fin_timeout).
            rest_after_reset: Duration::from_secs(60),
        }
    }
}
