//! The PROXY protocol (HAProxy, "The PROXY protocol", versions 1 and 2): a header before the stream
//! that tells the backend who the client is.

use std::net::{IpAddr, SocketAddr};

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Deserialize;

/// A version of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ProxyProtocol {
    /// A line of text (section 2.1).
    V1,
    /// Binary (section 2.2).
    V2,
}

/// Section 2.2.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2, command PROXY.
const V2_PROXY: u8 = 0x21;
/// TCP over IPv4, TCP over IPv6.
const FAMILIES: [u8; 2] = [0x11, 0x21];

impl ProxyProtocol {
    /// The header for a connection from `client` to `server`, two addresses of one family.
    pub fn header(self, client: SocketAddr, server: SocketAddr) -> Vec<u8> {
        match self {
            ProxyProtocol::V1 => {
                let family = if client.is_ipv4() { "TCP4" } else { "TCP6" };
                let ports = [client, server].map(|a| a.port());
                let [from, to] = [client, server].map(|a| a.ip());
                format!("PROXY {family} {from} {to} {} {}\r\n", ports[0], ports[1]).into_bytes()
            }
            ProxyProtocol::V2 => {
                let mut addresses = Vec::new();
                for address in [client, server] {
                    match address.ip() {
                        IpAddr::V4(ip) => addresses.extend(ip.octets()),
                        IpAddr::V6(ip) => addresses.extend(ip.octets()),
                    }
                }
                for address in [client, server] {
                    addresses.extend(address.port().to_be_bytes());
                }
                let mut header = SIGNATURE.to_vec();
                header.extend([V2_PROXY, FAMILIES[usize::from(client.is_ipv6())]]);
                header.extend((addresses.len() as u16).to_be_bytes());
                header.extend(addresses);
                header
            }
        }
    }
}

#[cfg(test)]
mod tests;
