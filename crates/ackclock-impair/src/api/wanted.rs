//! What a proxy is to be, as JSON has it, and what takes a while to find out for that: addresses
//! of names, and links of scenarios. Nothing here is under the lock of the proxies.

use std::net::SocketAddr;

use ackclock_tcp::Registry;
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Condition, Problem};
use crate::address::{check_server, listen_address, server_addresses_so_far};
use crate::{Conditions, Error};

/// What a proxy is to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewProxy {
    pub(crate) name: String,
    #[serde(default = "any_port")]
    pub(crate) listen: String,
    pub(crate) upstream: String,
    #[serde(default = "yes")]
    pub(crate) enabled: bool,
    /// Of the random numbers; left out, it is the one that the command has.
    #[serde(default)]
    pub(crate) seed: Option<u64>,
    #[serde(default, deserialize_with = "super::objects")]
    pub(crate) conditions: Vec<Condition>,
    #[serde(default, skip_serializing, deserialize_with = "no_toxics")]
    pub(crate) toxics: (),
}

fn any_port() -> String {
    "127.0.0.1:0".into()
}

fn yes() -> bool {
    true
}

/// A proxy that is to be made, with all that takes a while.
pub(crate) struct Wanted {
    pub(super) new: NewProxy,
    pub(super) listen: SocketAddr,
    /// The addresses of its server; none if its name is not known yet.
    pub(super) to: Vec<SocketAddr>,
    /// Of its conditions, each.
    pub(super) links: Vec<Conditions>,
}

impl NewProxy {
    /// Finds out what takes a while.
    pub(crate) fn found(self, registry: &Registry) -> Result<Wanted, Problem> {
        let listen = listen_address("listen", &self.listen)?;
        let to = server_addresses_so_far("upstream", &self.upstream)?;
        check_server("upstream", &self.upstream, &to, listen)?;
        let links = self.conditions.iter().enumerate().map(|(index, condition)| {
            let links = condition.links(None, registry).map_err(Problem::from);
            links.map_err(|problem| problem.within(&format!("conditions[{index}].")))
        });
        let links = links.collect::<Result<_, _>>()?;
        Ok(Wanted { new: self, listen, to, links })
    }
}

/// What may change of a proxy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Changes {
    /// It stays. A change may name the proxy, as those of Toxiproxy's clients do.
    #[serde(default, deserialize_with = "given")]
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "given")]
    listen: Option<String>,
    #[serde(default, deserialize_with = "given")]
    upstream: Option<String>,
    #[serde(default, deserialize_with = "given")]
    enabled: Option<bool>,
    #[serde(default, deserialize_with = "no_toxics")]
    #[expect(dead_code, reason = "it says nothing")]
    toxics: (),
}

/// Toxiproxy's client in Go posts the key with each proxy, as `null` or an empty list
/// (`ActiveToxics`). One that holds something is not to be dropped unseen.
fn no_toxics<'de, D: Deserializer<'de>>(from: D) -> Result<(), D::Error> {
    let toxics = Option::<Vec<IgnoredAny>>::deserialize(from)?;
    if toxics.is_none_or(|toxics| toxics.is_empty()) {
        return Ok(());
    }
    Err(D::Error::custom("conditions take the place of toxics: write `conditions`"))
}

/// `null` is refused: it would change nothing.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Changes with the addresses that they name.
pub(crate) struct Found {
    pub(super) listen: Option<(String, SocketAddr)>,
    pub(super) upstream: Option<(String, Vec<SocketAddr>)>,
    pub(super) enabled: Option<bool>,
}

impl Changes {
    /// Finds the addresses out, which may take a while.
    pub(crate) fn found(self) -> Result<Found, Error> {
        let listen = self.listen.as_deref().map(|text| listen_address("listen", text));
        let upstream = self.upstream.as_deref();
        let upstream = upstream.map(|text| server_addresses_so_far("upstream", text));
        Ok(Found {
            listen: self.listen.clone().zip(listen.transpose()?),
            upstream: self.upstream.clone().zip(upstream.transpose()?),
            enabled: self.enabled,
        })
    }
}
