//! A proxy that may run, with its conditions.

use std::net::SocketAddr;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::wanted::{Found, NewProxy, Wanted};
use super::{Condition, Problem};
use crate::address::check_server;
use crate::links::LinkCounts;
use crate::{Conditions, Error, Proxy, ProxyConfig, ProxyReport, files, names};

/// The most conditions of a proxy, each of which every packet meets.
const MOST_CONDITIONS: usize = 32;

/// A proxy as it is now.
pub(super) struct Managed {
    /// As somebody asked for it.
    asked: NewProxy,
    /// As it was made, but for what was changed of itself since; and the links of its conditions.
    pub(super) made: NewProxy,
    made_links: Vec<Conditions>,
    pub(super) config: ProxyConfig,
    pub(super) proxy: Option<Proxy>,
    seed: u64,
    pub(super) conditions: Vec<InForce>,
    /// Conditions that came into force since it was made, or since it was set back.
    count: u64,
    /// Conditions that got names of their own. No name comes twice: who had one that is gone is not
    /// to remove another one.
    named: u64,
    next_place: u32,
    /// What it did before it was last started.
    pub(super) past: ProxyReport,
}

/// A condition with its place in the proxy's row.
#[derive(Clone)]
pub(super) struct InForce {
    place: u32,
    pub(super) name: String,
    pub(super) condition: Condition,
    seed: u64,
    /// With this seed.
    pub(super) links: Conditions,
}

impl Managed {
    /// One that does not run yet, with what `config` has for all, and random numbers of this seed
    /// unless it has its own.
    pub(super) fn new(
        Wanted { new, listen, to, links }: Wanted,
        config: &ProxyConfig,
        seed: u64,
    ) -> Result<Managed, Problem> {
        check_name(&new.name)?;
        let mut managed = Managed {
            config: ProxyConfig {
                listen: vec![listen],
                to,
                server: names::name(&new.upstream),
                ..config.clone()
            },
            proxy: None,
            seed: new.seed.unwrap_or(seed),
            conditions: Vec::new(),
            count: 0,
            named: 0,
            next_place: 0,
            past: ProxyReport::default(),
            asked: new.clone(),
            made: new,
            made_links: links,
        };
        managed.set_back()?;
        Ok(managed)
    }

    /// The same with these changes. It does not run, and has done nothing yet.
    pub(super) fn changed(&self, changes: Found) -> Result<Managed, Problem> {
        let mut next = Managed {
            asked: self.asked.clone(),
            made: self.made.clone(),
            made_links: self.made_links.clone(),
            config: self.config.clone(),
            proxy: None,
            seed: self.seed,
            conditions: self.conditions.clone(),
            count: self.count,
            named: self.named,
            next_place: self.next_place,
            past: ProxyReport::default(),
        };
        next.made.enabled = changes.enabled.unwrap_or(self.proxy.is_some());
        if let Some((text, listen)) = changes.listen
            && next.config.listen != [listen]
        {
            (next.config.listen, next.made.listen) = (vec![listen], text);
        }
        if let Some((text, to)) = changes.upstream {
            next.config.server = names::name(&text);
            (next.config.to, next.made.upstream) = (to, text);
        }
        check_server("upstream", &next.made.upstream, &next.config.to, next.config.listen[0])?;
        Ok(next)
    }

    /// The same as it was made, and running. It has done nothing yet.
    pub(super) fn anew(&self) -> Result<Managed, Problem> {
        let enabled = Found { listen: None, upstream: None, enabled: Some(true) };
        let mut next = self.changed(enabled)?;
        next.set_back()?;
        next.start()?;
        Ok(next)
    }

    /// Whether somebody asked for the same one, and it listens where it did when it was made.
    pub(super) fn was_asked_for_as(&self, new: &NewProxy) -> bool {
        self.asked == *new && self.made.listen == new.listen
    }

    /// What has to change of it, with this address of its server, so that it is as it was made;
    /// `None` if its conditions at most differ.
    pub(super) fn back(&self, to: Vec<SocketAddr>) -> Option<Found> {
        let NewProxy { upstream, enabled, .. } = self.asked.clone();
        let is_as_asked = self.made.upstream == upstream && self.runs() == enabled;
        (!is_as_asked).then_some(Found {
            listen: None,
            upstream: Some((upstream, to)),
            enabled: Some(enabled),
        })
    }

    /// Whether its conditions are those with which it was made, and have not been changed.
    pub(super) fn has_its_conditions(&self) -> bool {
        let made = self.made.conditions.len();
        self.conditions.len() == made && self.count == made as u64
    }

    /// Whether it takes clients. One may be enabled whose thread has ended, for the system refused
    /// it something.
    pub(super) fn runs(&self) -> bool {
        self.proxy.as_ref().is_some_and(|proxy| !proxy.has_ended())
    }

    /// Whether it runs where `next` would, in the same way.
    pub(super) fn runs_as(&self, next: &Managed) -> bool {
        self.config.listen == next.config.listen
            && self.made.upstream == next.made.upstream
            && self.proxy.is_some() == next.made.enabled
    }

    /// The port at which it listens.
    pub(super) fn port(&self) -> u16 {
        self.config.listen[0].port()
    }

    /// What each of these did, in all the times that it ran. All are asked before the first one is
    /// waited for.
    pub(super) fn counted<'a>(
        all: impl Iterator<Item = &'a Managed>,
    ) -> impl Iterator<Item = (&'a Managed, ProxyReport)> {
        let asked: Vec<_> = all.map(|one| (one, one.ask())).collect();
        asked.into_iter().map(|(one, answer)| (one, one.counts(answer)))
    }

    /// Asks for what [`Managed::counts`] waits for.
    pub(super) fn ask(&self) -> Option<Receiver<ProxyReport>> {
        self.proxy.as_ref().map(Proxy::ask)
    }

    /// What it did, in all the times that it ran.
    pub(super) fn counts(&self, answer: Option<Receiver<ProxyReport>>) -> ProxyReport {
        let mut counts = answer.and_then(|answer| answer.recv().ok()).unwrap_or_default();
        counts.add(&self.past);
        counts
    }

    /// As the API has one that did this.
    pub(super) fn show(&self, counts: &ProxyReport) -> Value {
        let conditions: Vec<Value> = self.conditions.iter().map(InForce::show).collect();
        let dropped: Map<String, Value> =
            self.conditions.iter().map(|one| (one.name.clone(), one.dropped(counts))).collect();
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
            "packets": counts.passed.packets,
            "lost": counts.passed.lost,
            "dropped": dropped,
        })
    }

    /// Starts it, with the conditions that are in force. A free port stays its own from then on.
    pub(super) fn start(&mut self) -> Result<(), Problem> {
        let links: Vec<_> = self.conditions.iter().map(|one| one.links.clone()).collect();
        let proxy = Proxy::start(&self.config, &links).map_err(|error| {
            let Problem { status, text } = error.into();
            let text = text.strip_prefix("listen at ").unwrap_or(&text);
            Problem { status, text: format!("listen: {text}") }
        })?;
        files::left_over().map_err(Error::system("listen"))?;
        self.config.listen = proxy.addresses().to_vec();
        for (one, place) in self.conditions.iter_mut().zip(0..) {
            one.place = place;
        }
        self.next_place = self.conditions.len() as u32;
        self.proxy = Some(proxy);
        Ok(())
    }

    /// Ends it at once, if it runs: whether it did.
    pub(super) fn stop(&mut self) -> bool {
        let Some(proxy) = self.proxy.take() else { return false };
        // One that the system has ended says nothing any more.
        if let Ok(report) = proxy.finish(Duration::ZERO) {
            self.past.add(&report);
        }
        true
    }

    /// Puts the conditions in force with which it was made, and no others.
    pub(super) fn set_back(&mut self) -> Result<(), Problem> {
        for one in std::mem::take(&mut self.conditions) {
            self.set(one.place, None)?;
        }
        self.count = 0;
        let conditions = self.made.conditions.clone().into_iter().zip(self.made_links.clone());
        for (index, (condition, links)) in conditions.enumerate() {
            self.add(condition, &links)
                .map_err(|problem| problem.within(&format!("conditions[{index}].")))?;
            // It keeps the name that it got.
            self.made.conditions[index].name = self.conditions.last().map(|one| one.name.clone());
        }
        Ok(())
    }

    /// Puts a condition with these links behind the others.
    pub(super) fn add(
        &mut self,
        mut condition: Condition,
        links: &Conditions,
    ) -> Result<Value, Problem> {
        let free = |name: &String| self.position(name).is_err();
        let mut named = self.named;
        let any = || loop {
            named += 1;
            let name = format!("condition-{named}");
            if free(&name) {
                return name;
            }
        };
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
        let (place, links) = (self.next_place, links.with_seed(seed));
        self.set(place, Some(&links))?;
        self.next_place += 1;
        self.count += 1;
        self.named = named;
        let one = InForce { place, name, condition, seed, links };
        let shown = one.show();
        self.conditions.push(one);
        Ok(shown)
    }

    /// Puts another condition of the same name in the place of one.
    pub(super) fn change(
        &mut self,
        at: usize,
        condition: Condition,
        links: &Conditions,
    ) -> Result<Value, Problem> {
        let seed = condition.seed.unwrap_or(self.seed.wrapping_add(self.count));
        let (place, links) = (self.conditions[at].place, links.with_seed(seed));
        self.set(place, Some(&links))?;
        self.count += 1;
        let name = self.conditions[at].name.clone();
        self.conditions[at] = InForce { place, name, condition, seed, links };
        Ok(self.conditions[at].show())
    }

    pub(super) fn remove(&mut self, at: usize) -> Result<(), Problem> {
        self.set(self.conditions[at].place, None)?;
        self.conditions.remove(at);
        Ok(())
    }

    /// What its packets meet at a place from now on, if it runs.
    fn set(&self, place: u32, links: Option<&Conditions>) -> Result<(), Problem> {
        Ok(self.proxy.as_ref().map_or(Ok(()), |proxy| proxy.set(place, links))?)
    }

    pub(super) fn position(&self, name: &str) -> Result<usize, Problem> {
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
    /// The packets that its links have dropped, of both directions, since it is in force.
    fn dropped(&self, counts: &ProxyReport) -> Value {
        self.links_of(counts).map(LinkCounts::dropped).sum::<u64>().into()
    }

    /// What its links counted.
    pub(super) fn links_of<'a>(
        &self,
        counts: &'a ProxyReport,
    ) -> impl Iterator<Item = &'a LinkCounts> + use<'a> {
        let place = self.place;
        counts.links.iter().filter(move |link| link.place == place)
    }

    pub(super) fn show(&self) -> Value {
        let seed = Some(self.seed);
        serde_json::to_value(Condition { seed, ..self.condition.clone() }).unwrap_or_default()
    }
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
