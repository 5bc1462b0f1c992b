//! Addresses of our stack, and whether they are free.

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::str::FromStr;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::SockaddrStorage;

use crate::error::Error;

/// An address, and how many of its bits name the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub addr: IpAddr,
    pub len: u8,
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{text}` is not an address with a prefix length: write for example 10.77.0.2/24"
            )
        };
        let (addr, len) = text.split_once('/').ok_or_else(bad)?;
        let addr: IpAddr = addr.parse().map_err(|_| bad())?;
        let len: u8 = len.parse().map_err(|_| bad())?;
        let bits = if addr.is_ipv4() { 32 } else { 128 };
        // Two hosts, the network itself and, in IPv4, its broadcast address.
        let most = bits - 2;
        if len > most {
            return Err(format!(
                "`{text}`: a prefix of at most {most} bits has room for us and the kernel"
            ));
        }
        let prefix = Prefix { addr, len };
        match prefix.unfit() {
            None => Ok(prefix),
            Some(why) => Err(format!("`{text}`: {why}; write for example 10.77.0.2/24")),
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.addr, self.len)
    }
}

impl Prefix {
    /// The network, its own address in place of ours.
    pub fn network(self) -> Prefix {
        let addr = match self.addr {
            IpAddr::V4(a) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.len)).unwrap_or(0);
                IpAddr::V4((a.to_bits() & mask).into())
            }
            IpAddr::V6(a) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.len)).unwrap_or(0);
                IpAddr::V6((a.to_bits() & mask).into())
            }
        };
        Prefix { addr, ..self }
    }

    /// Why no host can have the address (RFC 1122 section 3.2.1.3, RFC 4291 section 2.6.1).
    pub fn unfit(self) -> Option<&'static str> {
        let network = self.network().addr;
        let broadcast = match (self.addr, network) {
            (IpAddr::V4(addr), IpAddr::V4(network)) => {
                let hosts = u32::MAX >> self.len;
                addr.to_bits() == network.to_bits() | hosts
            }
            _ => false,
        };
        let reserved = match self.addr {
            IpAddr::V4(addr) => addr.octets()[0] == 0 || addr.octets()[0] >= 240,
            IpAddr::V6(addr) => addr.to_ipv4_mapped().is_some(),
        };
        if self.addr.is_loopback() {
            Some("a loopback address never leaves the kernel")
        } else if self.addr.is_multicast() || self.addr.is_unspecified() || reserved {
            Some("no host can have this address")
        } else if self.addr == network {
            Some("this is the address of the network, not of a host in it")
        } else if broadcast {
            Some("this is the broadcast address of the network, not of a host in it")
        } else {
            None
        }
    }

    /// Whether an address lies in it.
    pub fn contains(self, addr: IpAddr) -> bool {
        addr.is_ipv4() == self.addr.is_ipv4() && Prefix { addr, ..self }.network() == self.network()
    }

    /// Whether they have addresses in common: then one of them lies in the other.
    pub fn overlaps(self, other: Prefix) -> bool {
        self.contains(other.addr) || other.contains(self.addr)
    }

    /// The first address of the prefix that is not ours, for the kernel.
    pub fn kernel(self) -> IpAddr {
        let nth = |n: u8| match self.network().addr {
            IpAddr::V4(network) => IpAddr::V4((network.to_bits() + u32::from(n)).into()),
            IpAddr::V6(network) => IpAddr::V6((network.to_bits() + u128::from(n)).into()),
        };
        if self.addr == nth(1) { nth(2) } else { nth(1) }
    }
}

/// Refuses a prefix of which a device of this namespace has a part: packets would go to the one or
/// the other. Of the prefix of a LAN our stack may have a part, for which the kernel then answers
/// (proxy ARP). `option` has it, for the error.
///
/// # Errors
/// [`Error::Usage`] says whose the prefix is.
pub(crate) fn check_free(option: &str, ours: Prefix) -> Result<(), Error> {
    let devices = getifaddrs().map_err(|e| Error::system("addresses of devices")(e.into()))?;
    for device in devices {
        let addr = device.address.as_ref().and_then(ip);
        let mask = device.netmask.as_ref().and_then(ip);
        let (Some(addr), Some(mask)) = (addr, mask) else { continue };
        let len = match mask {
            IpAddr::V4(mask) => mask.to_bits().leading_ones(),
            IpAddr::V6(mask) => mask.to_bits().leading_ones(),
        };
        let theirs = Prefix { addr, len: len as u8 };
        let part_of_lan = device.flags.contains(InterfaceFlags::IFF_BROADCAST)
            && theirs.len < ours.len
            && !ours.contains(addr);
        if ours.overlaps(theirs) && !part_of_lan {
            return Err(Error::Usage(format!(
                "{option} {ours}: device {} has {theirs}; choose a prefix that nothing else uses, \
                 or end what uses it",
                device.interface_name
            )));
        }
    }
    Ok(())
}

/// Refuses an address to which the kernel of this namespace does not send by our device, where it
/// has the addresses `from`: another route has it, or they are in different prefixes. `option` has
/// it, for the error.
///
/// # Errors
/// [`Error::Usage`] says what to look at.
pub(crate) fn check_reached(option: &str, ours: IpAddr, from: &[IpAddr]) -> Result<(), Error> {
    let any: IpAddr = match ours {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // To connect a datagram socket asks for the route, and sends nothing.
    let sends_from = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((ours, 9))?;
        socket.local_addr()
    });
    match sends_from {
        Ok(address) if from.contains(&address.ip()) => Ok(()),
        _ => {
            let from: Vec<String> = from.iter().map(IpAddr::to_string).collect();
            let from = from.join(" and ");
            Err(Error::Usage(format!(
                "{option} {ours}: packets for it do not come to our device, where the kernel is \
                 {from}; see `ip route get {ours}`, and choose a prefix without another route, \
                 with both addresses in it"
            )))
        }
    }
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip())))
}
