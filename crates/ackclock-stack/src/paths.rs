//! The MTU of paths that are narrower than the link, as ICMP told (RFC 1191, RFC 8201), for
//! connections to come.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use ackclock_tcp::{Span, Time};

/// RFC 1191 section 6.3 and RFC 8201 section 5.3: after ten minutes a path may be tried for more.
const LIFETIME: Span = Span::from_secs(600);
/// Destinations remembered.
const MOST: usize = 1024;

/// MTUs by destination.
#[derive(Default)]
pub(crate) struct Paths {
    mtus: HashMap<IpAddr, (u16, Time)>,
    /// In the order of coming, so that the oldest gives way.
    order: VecDeque<IpAddr>,
}

impl Paths {
    /// The MTU of the path to a destination, at most that of the link.
    pub(crate) fn mtu(&self, now: Time, destination: IpAddr, link: u16) -> u16 {
        match self.mtus.get(&destination) {
            Some(&(mtu, until)) if now < until => mtu.min(link),
            _ => link,
        }
    }

    /// Remembers one.
    pub(crate) fn learn(&mut self, now: Time, destination: IpAddr, mtu: u16) {
        if self.mtus.insert(destination, (mtu, now + LIFETIME)).is_none() {
            self.order.push_back(destination);
            if self.order.len() > MOST
                && let Some(oldest) = self.order.pop_front()
            {
                self.mtus.remove(&oldest);
            }
        }
    }
}
