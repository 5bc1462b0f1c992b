//! The MTU of paths that are narrower than the link, as ICMP told (RFC 1191, RFC 8201) or a
//! connection found out, for connections to come.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackclock_tcp::{Span, Time};

/// RFC 1191 section 6.3 and RFC 8201 section 5.3: after ten minutes a path may be tried for more.
const LIFETIME: Span = Span::from_secs(600);
/// Destinations remembered.
const MOST: usize = 1024;

/// MTUs of paths by destination. A clone is the same table.
#[derive(Clone, Default)]
pub(crate) struct PathMtus(Arc<Mutex<Paths>>);

/// The table.
#[derive(Default)]
struct Paths {
    mtus: HashMap<IpAddr, (u16, Time)>,
    /// In the order of coming, so that the oldest gives way.
    order: VecDeque<IpAddr>,
}

impl PathMtus {
    fn paths(&self) -> MutexGuard<'_, Paths> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The MTU of the path to a destination, at most that of the link; and until when it is
    /// remembered, if it is less than that.
    pub(crate) fn mtu(&self, now: Time, destination: IpAddr, link: u16) -> (u16, Option<Time>) {
        match self.paths().mtus.get(&destination) {
            Some(&(mtu, until)) if now < until && mtu < link => (mtu, Some(until)),
            _ => (link, None),
        }
    }

    /// Remembers one.
    pub(crate) fn learn(&self, now: Time, destination: IpAddr, mtu: u16) {
        let mut paths = self.paths();
        if paths.mtus.insert(destination, (mtu, now + LIFETIME)).is_none() {
            paths.order.push_back(destination);
            if paths.order.len() > MOST
                && let Some(oldest) = paths.order.pop_front()
            {
                paths.mtus.remove(&oldest);
            }
        }
    }
}
