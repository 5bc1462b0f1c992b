//! Where the proxy listens, and where connections go on to: from options, or from a file.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ackclock_impair::names;
use ackclock_net::scenario::deployable;
use ackclock_run::{FileError, error_at, parse};
use ackclock_stack::overlap;
use ackclock_tcp::Registry;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Ecn;
use super::daemon::{Found, Listening, MOST_RATE, Own, SourceLimits};
use super::keep_alive::KeepAlives;
use super::prefix::Prefix;
use super::proxy_protocol::ProxyProtocol;
use super::split::Split;
use crate::error::Error;
use crate::input::text_of;

/// Where connections to a listener go on to.
#[derive(Clone)]
pub(crate) struct Route {
    /// The backend's addresses, in the order to try; none while its name is not found.
    pub to: Vec<SocketAddr>,
    /// Its name and port, for which these addresses were found.
    pub name: Option<String>,
    pub proxy_protocol: Option<ProxyProtocol>,
    /// The backend sees the client's address as that of its peer.
    pub transparent: bool,
    pub own: Own,
}

/// Routes by the address that is listened at.
pub(crate) type Routes = BTreeMap<SocketAddr, Arc<Route>>;

/// How many names of backends were looked up, and whether addresses were found.
#[derive(Default)]
pub(crate) struct LookUps {
    found: AtomicU64,
    failed: AtomicU64,
}

impl LookUps {
    /// By what came of them.
    pub fn counts(&self) -> [(&'static str, u64); 2] {
        [("found", &self.found), ("failed", &self.failed)]
            .map(|(result, count)| (result, count.load(Ordering::Relaxed)))
    }
}

/// Where to listen for these.
pub(crate) fn listening(routes: &Routes) -> Vec<Listening> {
    routes.iter().map(|(&address, route)| (address, route.own.clone())).collect()
}

/// Where the proxy listens, and which strategies it sends by.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "listeners")]
struct RoutesFile {
    /// One for each address to listen at.
    #[schemars(length(min = 1))]
    listener: Vec<Listener>,
    /// Clients that get another strategy than that of their listener.
    #[serde(default)]
    split: Vec<Part>,
}

/// An address to listen at.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listener {
    /// An address of our stack and a port, such as `10.77.0.2:80`.
    #[schemars(with = "String")]
    listen: SocketAddr,
    /// The backend: a name or an address, and a port.
    to: String,
    /// The header by which the backend hears the client's address. None without.
    proxy_protocol: Option<ProxyProtocol>,
    /// Whether to connect to the backend from the client's own address, as `--transparent`.
    #[serde(default)]
    transparent: bool,
    /// When clients have ECN: `off`, or `accept` where they ask for it. That of `--ecn` without.
    ecn: Option<OwnEcn>,
    /// After how long a client that says nothing is asked whether it is there, or `off`. That of
    /// `--keep-alive` without.
    #[schemars(with = "Option<String>")]
    keep_alive: Option<KeepAlives>,
    /// The strategy of its clients, as `--strategy`. `[[split]]` goes before it.
    strategy: Option<String>,
    /// The most connections to it from one address, as `--max-per-source`. A listener with this or
    /// the following key counts for itself.
    #[schemars(range(min = 1))]
    max_per_source: Option<u32>,
    /// The most new connections to it a second from one address, as `--max-rate-per-source`.
    #[schemars(range(min = 1, max = MOST_RATE))]
    max_rate_per_source: Option<u32>,
}

impl Listener {
    /// What it has of its own. An error has the key that is wrong.
    fn own(&self, registry: &Registry) -> Result<Own, (&'static str, String)> {
        let number = |key, value: Option<u32>, most| match value {
            Some(n) if !(1..=most).contains(&n) => {
                Err((key, format!("{n} is no limit; write a number from 1 to {most}")))
            }
            value => Ok(value),
        };
        let connections = number("max_per_source", self.max_per_source, u32::MAX)?;
        let rate = number("max_rate_per_source", self.max_rate_per_source, MOST_RATE)?;
        let strategy = self.strategy.as_ref().map(|text| deployable(text, registry));
        Ok(Own {
            ecn: self.ecn.map(Ecn::from),
            keep_alive: self.keep_alive,
            strategy: strategy.transpose().map_err(|message| ("strategy", message))?,
            limits: SourceLimits { connections, rate },
        })
    }
}

/// When the clients of a listener have ECN: who listens asks nobody.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OwnEcn {
    /// Never.
    Off,
    /// Where they ask for it.
    Accept,
}

impl From<OwnEcn> for Ecn {
    fn from(ecn: OwnEcn) -> Ecn {
        match ecn {
            OwnEcn::Off => Ecn::Off,
            OwnEcn::Accept => Ecn::Accept,
        }
    }
}

/// Clients that get a strategy of their own. Prefixes go before shares, and of several prefixes
/// that hold a client the longest.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    /// The strategy, as for `--strategy`.
    strategy: String,
    /// A share of the connections such as `10%`, or a prefix such as `198.51.100.0/24`.
    clients: String,
}

/// What a file of listeners says.
#[derive(Clone)]
pub(crate) struct Listeners {
    pub routes: Routes,
    pub split: Split,
    /// What there is to say of names that are not found: of each of them, why.
    pub unknown: Vec<String>,
}

/// Why a backend has no address.
pub(crate) enum NoAddress {
    /// Nobody can connect to what is written.
    Wrong(String),
    /// Its name is not found: it may be later.
    NotFound(String),
}

impl NoAddress {
    pub fn text(self) -> String {
        match self {
            NoAddress::Wrong(text) | NoAddress::NotFound(text) => text,
        }
    }
}

/// The JSON Schema of a file of listeners.
pub(crate) fn json_schema() -> serde_json::Value {
    schemars::schema_for!(RoutesFile).to_value()
}

/// The addresses of a backend; our stack has those of `own`.
pub(crate) fn resolve(
    to: &str,
    own: &[Prefix],
    look_ups: &LookUps,
) -> Result<Vec<SocketAddr>, NoAddress> {
    use NoAddress::{NotFound, Wrong};
    let found = names::addresses(to);
    // A text such as `host:x` asks nobody.
    let asked = found.as_ref().map_or_else(|e| e.kind() != io::ErrorKind::InvalidInput, |_| true);
    if names::name(to).is_some() && asked {
        let count = if found.is_ok() { &look_ups.found } else { &look_ups.failed };
        count.fetch_add(1, Ordering::Relaxed);
    }
    let found = found.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => {
            Wrong(format!("{to}: {error}; write for example 127.0.0.1:8080"))
        }
        _ => NotFound(format!("{to}: {error}")),
    })?;
    names::check_servers(&found).map_err(|why| Wrong(format!("{to}: {why}")))?;
    match found.iter().find(|address| own.iter().any(|own| own.addr == address.ip())) {
        Some(address) => Err(Wrong(format!(
            "{to}: {} is an address of our own stack (--addr), where the proxy listens; write the \
             address of the backend",
            address.ip()
        ))),
        None => Ok(found),
    }
}

/// Leads to where names of backends were found. Of one that is not found the addresses stay.
/// Returns what there is to say: of each name that it is elsewhere by now, or what went wrong.
pub(crate) fn follow(routes: &mut Routes, found: &[Found]) -> Vec<(String, String)> {
    let mut said = Vec::new();
    for (name, to) in found {
        match to {
            Ok(to) => {
                let of_it = |route: &&mut Arc<Route>| route.name.as_ref() == Some(name);
                let moved = |route: &&mut Arc<Route>| route.to != *to;
                let mut any = false;
                for route in routes.values_mut().filter(of_it).filter(moved) {
                    *route = Arc::new(Route { to: to.clone(), ..Route::clone(route) });
                    any = true;
                }
                if any {
                    said.push((name.clone(), is_at(name, to)));
                }
            }
            Err(why) => said.push((name.clone(), why.clone())),
        }
    }
    said
}

/// What a name stands for.
pub(crate) fn is_at(name: &str, to: &[SocketAddr]) -> String {
    let found: Vec<String> = to.iter().map(|to| to.ip().to_string()).collect();
    format!("{name} is at {}", found.join(" and "))
}

/// Checks that the backend can see a client's address: one that has another family it cannot. A
/// name may have one of this family later.
pub(crate) fn check_families(listen: SocketAddr, route: &Route) -> Result<(), String> {
    let Route { to, transparent, name, .. } = route;
    if !transparent || name.is_some() || to.iter().any(|to| to.is_ipv4() == listen.is_ipv4()) {
        return Ok(());
    }
    let (own, others) = if listen.is_ipv4() { ("IPv4", "IPv6") } else { ("IPv6", "IPv4") };
    Err(format!(
        "clients of {listen} have {own}, and the backend {others} alone, so that none of them can \
         connect from its own address; write a backend of the same family, or have the PROXY \
         protocol in its place"
    ))
}

/// Checks where to listen; our stack has the addresses of `own`.
pub(crate) fn check_listen(listen: SocketAddr, own: &[Prefix]) -> Result<(), String> {
    let ip = listen.ip();
    let is_there =
        |own: &Prefix| own.addr == ip || ip.is_unspecified() && own.addr.is_ipv4() == ip.is_ipv4();
    if listen.port() == 0 {
        return Err(format!("{listen}: no client can know port 0; write the port to listen at"));
    }
    if !own.iter().any(is_there) {
        let own: Vec<String> = own.iter().map(|own| own.addr.to_string()).collect();
        return Err(format!(
            "{listen}: our stack does not have this address; --addr gives it {}",
            own.join(" and ")
        ));
    }
    Ok(())
}

/// A file of listeners; our stack has the addresses of `own`.
pub(crate) fn read(
    path: &Path,
    registry: &Registry,
    own: &[Prefix],
    look_ups: &LookUps,
) -> Result<Listeners, Error> {
    let text = text_of(path)?;
    let file = path.display().to_string();
    let wrong = |error| Error::Run(ackclock_run::Error::Scenario(error));
    let RoutesFile { listener, split: parts } = parse(&file, &text).map_err(wrong)?;
    let at = |key: String, message: String| {
        let error = error_at(&key, message).located(&text);
        wrong(FileError { file: file.clone(), error })
    };
    if listener.is_empty() {
        let message =
            "without a listener nobody is served; write one [[listener]] for each address";
        return Err(at("listener".into(), message.into()));
    }
    // Those that share a name have the same addresses.
    let names: BTreeSet<&str> = listener.iter().map(|listener| &listener.to[..]).collect();
    let find = |to: &str| (to.to_string(), resolve(to, own, look_ups));
    let found: BTreeMap<_, _> =
        names::each(names.into_iter().collect(), find).into_iter().collect();
    let (mut routes, mut unknown) = (Routes::new(), BTreeSet::new());
    for (i, listener) in listener.into_iter().enumerate() {
        let its = listener
            .own(registry)
            .map_err(|(key, message)| at(format!("listener[{i}].{key}"), message))?;
        let Listener { listen, to, proxy_protocol, transparent, .. } = listener;
        check_listen(listen, own)
            .map_err(|message| at(format!("listener[{i}].listen"), message))?;
        if let Some(other) = routes.keys().filter(|other| overlap(**other, listen)).min() {
            let message = format!(
                "{listen}: another listener has {other}; write another port (an address of zeros \
                 stands for all addresses)"
            );
            return Err(at(format!("listener[{i}].listen"), message));
        }
        let addresses = match &found[&to] {
            Ok(addresses) => addresses.clone(),
            Err(NoAddress::Wrong(why)) => return Err(at(format!("listener[{i}].to"), why.clone())),
            Err(NoAddress::NotFound(why)) => {
                unknown.insert(why.clone());
                Vec::new()
            }
        };
        let route =
            Route { to: addresses, name: names::name(&to), proxy_protocol, transparent, own: its };
        check_families(listen, &route)
            .map_err(|why| at(format!("listener[{i}].transparent"), why))?;
        routes.insert(listen, Arc::new(route));
    }
    let mut split = Split::default();
    for (i, Part { strategy, clients }) in parts.iter().enumerate() {
        let clients =
            clients.parse().map_err(|message| at(format!("split[{i}].clients"), message))?;
        split
            .push(strategy, clients, registry)
            .map_err(|(key, message)| at(format!("split[{i}].{key}"), message))?;
    }
    Ok(Listeners { routes, split, unknown: unknown.into_iter().collect() })
}

#[cfg(test)]
mod tests;
