//! The proxies of an API, each with its conditions.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use ackclock_tcp::Registry;
use ackclock_tcp::strategy::Composition;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Condition, Problem};
use crate::args::{listen_address, resolve};
use crate::{Conditions, Error, Proxy, ProxyConfig, ProxyReport};

/// The most proxies, each of which has a thread, and the most conditions of one of them, each of
/// which every packet meets.
const MOST_PROXIES: usize = 1000;
const MOST_CONDITIONS: usize = 32;

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
    #[serde(default)]
    pub(crate) conditions: Vec<Condition>,
}

fn any_port() -> String {
    "127.0.0.1:0".into()
}

fn yes() -> bool {
    true
}

/// What may change of a proxy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Changes {
    listen: Option<String>,
    upstream: Option<String>,
    enabled: Option<bool>,
}

/// Changes with the addresses that they name.
pub(crate) struct Found {
    listen: Option<(String, SocketAddr)>,
    upstream: Option<(String, Vec<SocketAddr>)>,
    enabled: Option<bool>,
}

impl Changes {
    /// Finds the addresses out, which may take a while.
    pub(crate) fn found(self) -> Result<Found, Error> {
        let listen = self.listen.as_deref().map(|text| listen_address("--listen", text));
        let upstream = self.upstream.as_deref().map(|text| resolve("--upstream", text));
        Ok(Found {
            listen: self.listen.clone().zip(listen.transpose()?),
            upstream: self.upstream.clone().zip(upstream.transpose()?),
            enabled: self.enabled,
        })
    }
}

/// Where a proxy listens, and the addresses of its server.
type Addresses = (SocketAddr, Vec<SocketAddr>);

/// A proxy that may run, as it is now.
struct Managed {
    /// As it was made, but for what was changed of itself since.
    made: NewProxy,
    config: ProxyConfig,
    proxy: Option<Proxy>,
    seed: u64,
    conditions: Vec<InForce>,
    /// Conditions that came into force since it was made, or since it was set back.
    count: u64,
    next_place: u32,
}

/// A condition with its place in the proxy's row.
struct InForce {
    place: u32,
    name: String,
    condition: Condition,
    seed: u64,
}

/// Proxies by name, and what they have in common.
pub(crate) struct Proxies {
    proxies: BTreeMap<String, Managed>,
    strategy: Composition,
    max_connections: u32,
    seed: u64,
    registry: Registry,
}

impl NewProxy {
    /// Where it listens and where it leads, which may take a while to find out.
    pub(crate) fn addresses(&self) -> Result<Addresses, Error> {
        Ok((listen_address("--listen", &self.listen)?, resolve("--upstream", &self.upstream)?))
    }
}

impl Proxies {
    /// Proxies with senders of this strategy, for so many clients each, and with this seed.
    pub(crate) fn new(
        strategy: Composition,
        max_connections: u32,
        seed: u64,
        registry: Registry,
    ) -> Proxies {
        Proxies { proxies: BTreeMap::new(), strategy, max_connections, seed, registry }
    }

    /// All of them, by name.
    pub(crate) fn show(&self) -> Value {
        self.proxies.values().map(|managed| (managed.made.name.clone(), managed.show())).collect()
    }

    pub(crate) fn show_one(&self, name: &str) -> Result<Value, Problem> {
        Ok(self.find(name)?.show())
    }

    /// Makes a proxy, and starts it if it is to be enabled.
    pub(crate) fn add(&mut self, new: NewProxy, addresses: Addresses) -> Result<Value, Problem> {
        if self.proxies.contains_key(&new.name) {
            let text = format!("name: there is a proxy `{}` already; remove it first", new.name);
            return Err(Problem::new(409, text));
        }
        self.replace(new, addresses)
    }

    /// Makes a proxy unless there is one that was made just so, which stays as it is. Another one
    /// of this name goes.
    pub(crate) fn populate(
        &mut self,
        new: NewProxy,
        addresses: Addresses,
    ) -> Result<Value, Problem> {
        match self.proxies.get(&new.name) {
            Some(managed) if managed.made == new => Ok(managed.show()),
            _ => self.replace(new, addresses),
        }
    }

    /// Makes a proxy, and removes one of this name first if nothing is wrong with the new one.
    fn replace(&mut self, new: NewProxy, (listen, to): Addresses) -> Result<Value, Problem> {
        let name = new.name.clone();
        check_name(&name)?;
        if self.proxies.len() >= MOST_PROXIES && !self.proxies.contains_key(&name) {
            let text = format!("there are {MOST_PROXIES} proxies, which is all there may be");
            return Err(Problem::new(409, text));
        }
        let (strategy, max_connections) = (self.strategy.clone(), self.max_connections);
        let mut managed = Managed {
            config: ProxyConfig { listen: vec![listen], to, strategy, max_connections },
            proxy: None,
            seed: new.seed.unwrap_or(self.seed),
            conditions: Vec::new(),
            count: 0,
            next_place: 0,
            made: new,
        };
        managed.set_back(&self.registry)?;
        // The new one may listen where this one does.
        let mut old = self.proxies.remove(&name);
        let ran = old.as_mut().is_some_and(|old| old.proxy.take().is_some());
        if managed.made.enabled
            && let Err(problem) = managed.start(&self.registry)
        {
            if let Some(mut old) = old {
                if ran {
                    old.start(&self.registry)?;
                }
                self.proxies.insert(name, old);
            }
            return Err(problem);
        }
        let shown = managed.show();
        self.proxies.insert(name, managed);
        Ok(shown)
    }

    /// Changes a proxy. If it listens elsewhere or leads elsewhere from now on, its connections are
    /// reset. If it cannot listen there, it stays as it was, but for these.
    pub(crate) fn change(&mut self, name: &str, changes: Found) -> Result<Value, Problem> {
        let registry = &self.registry;
        let managed = self.proxies.get_mut(name).ok_or_else(|| no_proxy(name))?;
        let before = (managed.made.clone(), managed.config.clone(), managed.proxy.is_some());
        let enabled = changes.enabled.unwrap_or(managed.proxy.is_some());
        let mut same = true;
        if let Some((text, listen)) = changes.listen
            && managed.config.listen != [listen]
        {
            (managed.config.listen, managed.made.listen, same) = (vec![listen], text, false);
        }
        if let Some((text, to)) = changes.upstream {
            same &= managed.made.upstream == text;
            (managed.config.to, managed.made.upstream) = (to, text);
        }
        managed.made.enabled = enabled;
        if !same || !enabled {
            managed.proxy = None;
        }
        if enabled
            && managed.proxy.is_none()
            && let Err(problem) = managed.start(registry)
        {
            let was_running;
            (managed.made, managed.config, was_running) = before;
            if was_running {
                managed.start(registry)?;
            }
            return Err(problem);
        }
        Ok(managed.show())
    }

    pub(crate) fn remove(&mut self, name: &str) -> Result<(), Problem> {
        self.proxies.remove(name).map(drop).ok_or_else(|| no_proxy(name))
    }

    /// All proxies are enabled, with the conditions with which they were made, and random numbers
    /// begin anew.
    pub(crate) fn reset(&mut self) -> Result<(), Problem> {
        let mut first = Ok(());
        for managed in self.proxies.values_mut() {
            managed.made.enabled = true;
            let mut done = managed.set_back(&self.registry);
            if done.is_ok() && managed.proxy.is_none() {
                done = managed.start(&self.registry);
            }
            // One that cannot listen keeps none of the others back.
            first = first.and(done);
        }
        first
    }

    /// The conditions of a proxy.
    pub(crate) fn conditions(&self, name: &str) -> Result<Value, Problem> {
        Ok(self.find(name)?.conditions.iter().map(InForce::show).collect())
    }

    pub(crate) fn condition(&self, proxy: &str, name: &str) -> Result<Value, Problem> {
        let managed = self.find(proxy)?;
        Ok(managed.conditions[managed.position(name)?].show())
    }

    pub(crate) fn add_condition(
        &mut self,
        proxy: &str,
        condition: Condition,
    ) -> Result<Value, Problem> {
        let managed = self.proxies.get_mut(proxy).ok_or_else(|| no_proxy(proxy))?;
        managed.add(condition, &self.registry)
    }

    pub(crate) fn change_condition(
        &mut self,
        proxy: &str,
        name: &str,
        body: &[u8],
    ) -> Result<Value, Problem> {
        let managed = self.proxies.get_mut(proxy).ok_or_else(|| no_proxy(proxy))?;
        let at = managed.position(name)?;
        let condition = managed.conditions[at].condition.patched(body)?;
        if condition.name.as_deref() != Some(name) {
            return Err(Problem::new(400, format!("name: it stays `{name}`; leave the key out")));
        }
        let seed = condition.seed.unwrap_or(managed.seed.wrapping_add(managed.count));
        let place = managed.conditions[at].place;
        managed.set(place, Some(&condition.links(Some(seed), &self.registry)?))?;
        managed.count += 1;
        managed.conditions[at] = InForce { place, name: name.into(), condition, seed };
        Ok(managed.conditions[at].show())
    }

    pub(crate) fn remove_condition(&mut self, proxy: &str, name: &str) -> Result<(), Problem> {
        let managed = self.proxies.get_mut(proxy).ok_or_else(|| no_proxy(proxy))?;
        let at = managed.position(name)?;
        managed.set(managed.conditions[at].place, None)?;
        managed.conditions.remove(at);
        Ok(())
    }

    /// What makes all proxies end at once.
    pub(crate) fn cutters(&self) -> Vec<Box<dyn Fn() + Send>> {
        let running = self.proxies.values().filter_map(|managed| managed.proxy.as_ref());
        running.map(|proxy| Box::new(proxy.cutter()) as _).collect()
    }

    /// Ends all proxies, once their connections have finished, after `drain` at the latest. Returns
    /// what they did.
    pub(crate) fn finish(&mut self, drain: Duration) -> Result<Vec<ProxyReport>, Error> {
        let proxies = std::mem::take(&mut self.proxies);
        let running: Vec<_> = proxies.into_values().filter_map(|managed| managed.proxy).collect();
        running.iter().for_each(|proxy| proxy.drain(drain));
        running.into_iter().map(|proxy| proxy.finish(drain)).collect()
    }

    fn find(&self, name: &str) -> Result<&Managed, Problem> {
        self.proxies.get(name).ok_or_else(|| no_proxy(name))
    }
}

impl Managed {
    fn show(&self) -> Value {
        let conditions: Vec<Value> = self.conditions.iter().map(InForce::show).collect();
        let counts = self.proxy.as_ref().and_then(Proxy::report).unwrap_or_default();
        json!({
            "name": self.made.name,
            "listen": self.config.listen[0].to_string(),
            "upstream": self.made.upstream,
            "enabled": self.proxy.is_some(),
            "seed": self.seed,
            "conditions": conditions,
            "accepted": counts.accepted,
            "open": counts.open,
            "reset": counts.reset,
            "unreachable": counts.unreachable,
            "bytes_up": counts.bytes[0],
            "bytes_down": counts.bytes[1],
        })
    }

    /// Starts it, with the conditions that are in force. A free port stays its own from then on.
    fn start(&mut self, registry: &Registry) -> Result<(), Problem> {
        let links = self.conditions.iter().map(|one| one.condition.links(Some(one.seed), registry));
        let links = links.collect::<Result<Vec<_>, _>>()?;
        let proxy = Proxy::start(&self.config, &links).map_err(|error| {
            let Problem { status, text } = error.into();
            Problem { status, text: format!("listen: {text}; the proxy does not run") }
        })?;
        self.config.listen = proxy.addresses().to_vec();
        for (one, place) in self.conditions.iter_mut().zip(0..) {
            one.place = place;
        }
        self.next_place = self.conditions.len() as u32;
        self.proxy = Some(proxy);
        Ok(())
    }

    /// Puts the conditions in force with which it was made, and no others.
    fn set_back(&mut self, registry: &Registry) -> Result<(), Problem> {
        for one in std::mem::take(&mut self.conditions) {
            self.set(one.place, None)?;
        }
        self.count = 0;
        for (condition, index) in self.made.conditions.clone().into_iter().zip(0..) {
            self.add(condition, registry).map_err(|Problem { status, text }| Problem {
                status,
                text: format!("conditions[{index}].{text}"),
            })?;
        }
        Ok(())
    }

    fn add(&mut self, mut condition: Condition, registry: &Registry) -> Result<Value, Problem> {
        let free = |name: &String| self.position(name).is_err();
        let any = || (1..).map(|n| format!("condition-{n}")).find(free).unwrap_or_default();
        let name = condition.name.take().unwrap_or_else(any);
        check_name(&name)?;
        if !free(&name) {
            let text = format!("name: there is a condition `{name}` already; change that one");
            return Err(Problem::new(409, text));
        }
        if self.conditions.len() >= MOST_CONDITIONS {
            let text = format!("there are {MOST_CONDITIONS} conditions, which is all there may be");
            return Err(Problem::new(409, text));
        }
        condition.name = Some(name.clone());
        let seed = condition.seed.unwrap_or(self.seed.wrapping_add(self.count));
        let place = self.next_place;
        self.set(place, Some(&condition.links(Some(seed), registry)?))?;
        self.next_place += 1;
        self.count += 1;
        let one = InForce { place, name, condition, seed };
        let shown = one.show();
        self.conditions.push(one);
        Ok(shown)
    }

    /// What its packets meet at a place from now on, if it runs.
    fn set(&self, place: u32, links: Option<&Conditions>) -> Result<(), Problem> {
        Ok(self.proxy.as_ref().map_or(Ok(()), |proxy| proxy.set(place, links))?)
    }

    fn position(&self, name: &str) -> Result<usize, Problem> {
        self.conditions.iter().position(|one| one.name == name).ok_or_else(|| {
            let names: Vec<_> = self.conditions.iter().map(|c| format!("`{}`", c.name)).collect();
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            let proxy = &self.made.name;
            let text = format!("`{proxy}` has no condition `{name}`; it has {names}");
            Problem::new(404, text)
        })
    }
}

impl InForce {
    fn show(&self) -> Value {
        let seed = Some(self.seed);
        serde_json::to_value(Condition { seed, ..self.condition.clone() }).unwrap_or_default()
    }
}

fn no_proxy(name: &str) -> Problem {
    Problem::new(404, format!("there is no proxy `{name}`; GET /proxies lists those there are"))
}

/// Names are parts of paths.
fn check_name(name: &str) -> Result<(), Problem> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    // `.` and `..` are steps in paths.
    let steps = name.chars().all(|c| c == '.');
    if !steps && name.len() <= 64 && name.chars().all(fits) {
        return Ok(());
    }
    let text = "name: write 1 to 64 letters, digits, `.`, `_` or `-`, and not dots alone";
    Err(Problem::new(400, text))
}
