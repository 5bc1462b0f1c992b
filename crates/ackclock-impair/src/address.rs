//! Where proxies listen and lead to: addresses of a text, and what cannot be right about them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::{Error, names};

/// The address that a text such as `:8080` names.
pub(crate) fn listen_address(option: &str, text: &str) -> Result<SocketAddr, Error> {
    let all = text.strip_prefix(':').map(|port| format!("{}:{port}", all_addresses()));
    let text = all.as_deref().unwrap_or(text);
    resolve(option, text)?.first().copied().ok_or_else(|| {
        Error::Usage(format!(
            "{option} {text}: it has no address; write for example 127.0.0.1:8080"
        ))
    })
}

/// All addresses of the system: those of both families, unless it has no IPv6.
fn all_addresses() -> &'static str {
    // To bind a datagram socket asks whether there is IPv6, and sends nothing.
    if UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).is_ok() { "[::]" } else { "0.0.0.0" }
}

fn resolve(option: &str, text: &str) -> Result<Vec<SocketAddr>, Error> {
    names::addresses(text).map_err(|error| {
        Error::Usage(format!("{option} {text}: {error}; write for example 127.0.0.1:8080"))
    })
}

/// The addresses of a server.
pub(crate) fn server_addresses(option: &str, text: &str) -> Result<Vec<SocketAddr>, Error> {
    let found = resolve(option, text)?;
    let checked = names::check_servers(&found);
    checked.map_err(|why| Error::Usage(format!("{option} {text}: {why}")))?;
    Ok(found)
}

/// The addresses that a server has by now. Its name may come to stand for one later, as that of a
/// container that is not there yet.
pub(crate) fn server_addresses_so_far(option: &str, text: &str) -> Result<Vec<SocketAddr>, Error> {
    // RFC 1123 section 2.1; and `_`, as containers have it. The last label is not numeric.
    let is_name = |host: &str| {
        let last = host.rsplit('.').next().unwrap_or_default();
        host.chars().all(|c| c.is_alphanumeric() || "-._".contains(c))
            && last.chars().any(char::is_alphabetic)
    };
    let may_be_a_name = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| is_name(host) && port.parse().is_ok_and(|port: u16| port > 0));
    match server_addresses(option, text) {
        Err(_) if may_be_a_name => Ok(Vec::new()),
        found => found,
    }
}

/// Refuses a server that is the proxy itself, which listens at `listen`: its connections would go
/// round and round. `text` has the addresses `to`.
pub(crate) fn check_server(
    option: &str,
    text: &str,
    to: &[SocketAddr],
    listen: SocketAddr,
) -> Result<(), Error> {
    match to.iter().any(|&to| reaches(to, listen)) {
        true => Err(Error::Usage(format!(
            "{option} {text}: the proxy itself listens at {listen}; write the address of the server"
        ))),
        false => Ok(()),
    }
}

/// Whether who connects to `to` comes to `listen`.
fn reaches(to: SocketAddr, listen: SocketAddr) -> bool {
    // What leads to all addresses leads to this machine.
    let to_ip = match to.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip.to_canonical(),
    };
    let takes = match listen.ip() {
        // That of IPv6 takes IPv4, too.
        ip if ip.is_unspecified() => (ip.is_ipv6() || to_ip.is_ipv4()) && is_of_this_machine(to_ip),
        ip => ip.to_canonical() == to_ip,
    };
    to.port() == listen.port() && takes
}

fn is_of_this_machine(ip: IpAddr) -> bool {
    let any: IpAddr = match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // What goes to an address of its own the machine sends from there. To connect a datagram socket
    // asks for that, and sends nothing.
    let from = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((ip, 1))?;
        socket.local_addr()
    });
    ip.is_loopback() || from.is_ok_and(|from| from.ip() == ip)
}

#[cfg(test)]
mod tests;
