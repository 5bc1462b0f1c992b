//! Whom to talk to, and whether there is a way.

use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use ackclock_impair::names;

use super::WireArgs;
use crate::error::Error;

/// The address that a name stands for, of a family that our stack has.
pub(crate) fn resolve(peer: &str, args: &WireArgs) -> Result<SocketAddr, Error> {
    let wrong = |why: &str| {
        Error::Usage(format!("{peer}: {why}; write for example 10.77.0.1:5001 or [fd77::1]:5001"))
    };
    let all = names::addresses(peer).map_err(|e| wrong(&e.to_string()))?;
    let ours = |a: &&SocketAddr| args.addr.iter().any(|own| own.addr.is_ipv4() == a.is_ipv4());
    let Some(&address) = all.iter().find(ours) else {
        return Err(wrong("our stack has no address of this family (--addr)"));
    };
    if address.port() == 0 || address.ip().is_unspecified() || address.ip().is_multicast() {
        return Err(wrong("this is no address of a peer"));
    }
    if args.addr.iter().any(|own| own.addr == address.ip()) {
        return Err(wrong("this is our own stack's address"));
    }
    if address.ip().is_loopback() {
        let kernel = args.kernel()?.into_iter().find(|k| k.is_ipv4() == address.is_ipv4());
        let kernel = kernel.map_or_else(String::new, |k| format!(", which our stack knows as {k}"));
        return Err(Error::Usage(format!(
            "{peer}: our stack is a host of its own, and {} is a host's way to itself; take an \
             address of this host{kernel}",
            address.ip()
        )));
    }
    Ok(address)
}

/// Checks, once our device is up, that the kernel hands our packets on: to itself, or as a router.
pub(crate) fn check_way(peer: IpAddr, args: &WireArgs) -> Result<(), Error> {
    // What is no address of the host cannot be bound to; one that is being tried out for duplicates
    // cannot yet (RFC 4862).
    if args.kernel()?.contains(&peer) || UdpSocket::bind((peer, 0)).is_ok() {
        return Ok(());
    }
    let switch =
        if peer.is_ipv4() { "net/ipv4/ip_forward" } else { "net/ipv6/conf/all/forwarding" };
    match fs::read_to_string(format!("/proc/sys/{switch}")) {
        Ok(value) if value.trim() == "0" => Err(Error::NoWay(setup(peer, args, switch))),
        _ => Ok(()),
    }
}

/// What to do so that a peer beyond this host can be reached.
fn setup(peer: IpAddr, args: &WireArgs, switch: &str) -> String {
    let (family, tables) = if peer.is_ipv4() { ("ip", "iptables") } else { ("ip6", "ip6tables") };
    let ours = args.addr.iter().find(|own| own.addr.is_ipv4() == peer.is_ipv4());
    let network = ours.map_or_else(String::new, |own| own.network().to_string());
    let switch = switch.replace('/', ".");
    format!(
        "{peer} is none of this host's addresses, and the host forwards nothing. Our stack is a \
         host of its own behind it; to let \
         it out, as root:
  sysctl -w {switch}=1
and, since others know no way back to {network}, either of
  {tables} -t nat -A POSTROUTING -s {network} ! -d {network} -j MASQUERADE
  nft 'add table {family} ackclock; add chain {family} ackclock out {{ type nat hook postrouting \
  priority srcnat; }}; \
         add rule {family} ackclock out {family} saddr {network} {family} daddr != {network} \
         masquerade'
To undo it: the same sysctl with 0, and {tables} with -D for -A, or `nft delete table {family} \
ackclock`."
    )
}
