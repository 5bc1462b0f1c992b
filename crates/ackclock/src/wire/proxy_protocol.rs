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
mod tests {
    use super::ProxyProtocol::{V1, V2};

    #[test]
    fn headers_are_those_of_the_specification() {
        let (client, server) = ("192.168.0.1:56324", "192.168.0.11:443");
        let [client, server] = [client, server].map(|a| a.parse().unwrap());
        // The example of section 2.1.
        let line = b"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n";
        assert_eq!(V1.header(client, server), line);
        let bytes = b"\x0d\x0a\x0d\x0a\x00\x0d\x0a\x51\x55\x49\x54\x0a\x21\x11\x00\x0c\
            \xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb";
        assert_eq!(V2.header(client, server), bytes);

        let [client, server] = ["[fd00::1]:1", "[fd00::2]:80"].map(|a| a.parse().unwrap());
        assert_eq!(V1.header(client, server), b"PROXY TCP6 fd00::1 fd00::2 1 80\r\n");
        let header = V2.header(client, server);
        assert_eq!(header[12..16], [0x21, 0x21, 0, 36]);
        assert_eq!((header.len(), &header[48..]), (52, &[0, 1, 0, 80][..]));
    }
}
