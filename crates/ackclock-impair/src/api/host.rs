//! Which hosts requests may name.
//!
//! A page of any site can have the name of that site lead to this machine once it is there (DNS
//! rebinding). What it asks for then is of its own site to the browser: no `Origin`, and the page
//! reads the answer. But `Host` has its name.

use std::net::{IpAddr, SocketAddr};

use hyper::header::HOST;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Version};

use super::Problem;

/// The hosts that requests may name.
pub(super) enum Hosts {
    Any,
    /// Addresses, `localhost` and this name.
    Local(String),
}

impl Hosts {
    /// Those of an API that listens at this address, which the command was told as `name`.
    pub(super) fn of(address: SocketAddr, name: &str) -> Hosts {
        match address.ip().to_canonical().is_loopback() {
            true => Hosts::Local(name.into()),
            // Other machines know this one by names that it does not know itself, as in a network
            // of containers. Who listens at such an address lets in whoever can reach it.
            false => Hosts::Any,
        }
    }

    /// Refuses a request for another host, and one of HTTP/1.1 without one (RFC 9112 section 3.2).
    pub(super) fn check(&self, version: Version, headers: &HeaderMap) -> Result<(), Problem> {
        if version == Version::HTTP_11 && headers.get_all(HOST).iter().count() != 1 {
            return Err(Problem::new(400, "a request of HTTP/1.1 has one Host"));
        }
        let Hosts::Local(name) = self else { return Ok(()) };
        for value in headers.get_all(HOST) {
            let authority = Authority::try_from(value.as_bytes()).ok();
            let host = authority.as_ref().map_or("", Authority::host);
            let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
            let is = |known: &str| !host.is_empty() && known.eq_ignore_ascii_case(host);
            if ip.is_err() && !is("localhost") && !is(name) {
                let text = format!(
                    "Host: `{}` is not served; write an address, localhost, or the name that --api \
                     has",
                    String::from_utf8_lossy(value.as_bytes())
                );
                return Err(Problem::new(403, text));
            }
        }
        Ok(())
    }
}
