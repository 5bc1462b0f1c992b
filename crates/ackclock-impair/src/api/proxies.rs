//! The proxies of an API, by name.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::managed::{InForce, Managed};
use super::wanted::{Found, Wanted};
use super::{Condition, Problem, metrics};
use crate::{Conditions, Error, ProxyConfig, ProxyReport};

/// The most proxies, each of which has a thread.
const MOST_PROXIES: usize = 1000;

/// Proxies by name, and what they have in common.
pub(crate) struct Proxies {
    proxies: BTreeMap<String, Managed>,
    /// What they have in common.
    config: ProxyConfig,
    seed: u64,
    /// What those did that are gone.
    past: ProxyReport,
}

impl Proxies {
    /// Proxies like this, but for where they listen and lead, and with this seed.
    pub(crate) fn new(config: ProxyConfig, seed: u64) -> Proxies {
        let (proxies, past) = (BTreeMap::new(), ProxyReport::default());
        Proxies { proxies, config, seed, past }
    }

    /// All of them, by name.
    pub(crate) fn show(&self) -> Value {
        let counted = Managed::counted(self.proxies.values());
        counted.map(|(one, counts)| (one.made.name.clone(), one.show(&counts))).collect()
    }

    /// What all of them counted, for Prometheus.
    pub(crate) fn metrics(&self) -> String {
        metrics::text(self.proxies.values())
    }

    pub(crate) fn show_one(&self, name: &str) -> Result<Value, Problem> {
        let one = self.find(name)?;
        Ok(one.show(&one.counts(one.ask())))
    }

    /// Makes a proxy, and starts it if it is to be enabled.
    pub(crate) fn add(&mut self, wanted: Wanted) -> Result<Value, Problem> {
        let name = wanted.new.name.clone();
        if self.proxies.contains_key(&name) {
            let text = format!("name: there is a proxy `{name}` already; remove it first");
            return Err(Problem::new(409, text));
        }
        let managed = self.managed(wanted, self.proxies.len() + 1)?;
        self.put(vec![(managed, false)]).map_err(|(_, problem)| problem)?;
        self.show_one(&name)
    }

    /// Makes proxies, each unless there is one that was made just so. That one stays, with what was
    /// changed of it brought back. Others of these names go. If something is wrong with one,
    /// nothing is made.
    pub(crate) fn populate(&mut self, all: Vec<Wanted>) -> Result<Value, Problem> {
        let within = |index: usize| move |problem: Problem| problem.within(&format!("[{index}]."));
        let names: Vec<String> = all.iter().map(|wanted| wanted.new.name.clone()).collect();
        let (mut indices, mut next) = (Vec::new(), Vec::new());
        let mut proxies = self.proxies.len();
        for (index, wanted) in all.into_iter().enumerate() {
            let name = &names[index];
            if let Some(first) = names[..index].iter().position(|other| other == name) {
                let text = format!("name: [{first}] is called `{name}`, too");
                return Err(within(index)(Problem::new(400, text)));
            }
            let there = self.proxies.get(name);
            match there.filter(|there| there.was_asked_for_as(&wanted.new)) {
                Some(there) => {
                    let Some(back) = there.back(wanted.to) else { continue };
                    let mut changed = there.changed(back).map_err(within(index))?;
                    changed.set_back().map_err(within(index))?;
                    next.push((changed, true));
                }
                None => {
                    proxies += usize::from(there.is_none());
                    let managed = self.managed(wanted, proxies).map_err(within(index))?;
                    next.push((managed, false));
                }
            }
            indices.push(index);
        }
        self.put(next).map_err(|(n, problem)| within(indices[n])(problem))?;
        for (index, name) in names.iter().enumerate() {
            let managed = self.find_mut(name)?;
            if !managed.has_its_conditions() {
                managed.set_back().map_err(within(index))?;
            }
        }
        let made = names.iter().filter_map(|name| self.proxies.get(name));
        let shown = Managed::counted(made).map(|(one, counts)| one.show(&counts));
        Ok(json!({ "proxies": shown.collect::<Vec<_>>() }))
    }

    /// A proxy that does not run yet; there are so many with it.
    fn managed(&self, wanted: Wanted, proxies: usize) -> Result<Managed, Problem> {
        if proxies > MOST_PROXIES {
            let text = format!("name: there are {MOST_PROXIES} proxies, which is all there may be");
            return Err(Problem::new(409, text));
        }
        Managed::new(wanted, &self.config, self.seed)
    }

    /// Ends the proxies of these names, and has these take their places; where it is still the same
    /// one, it goes on counting. If one of them cannot run, all is as before. Only if it was to
    /// have a port that one of the others had, those are started anew. Returns which of them that
    /// was.
    fn put(&mut self, all: Vec<(Managed, bool)>) -> Result<(), (usize, Problem)> {
        let (mut all, same): (Vec<Managed>, Vec<bool>) = all.into_iter().unzip();
        let names: Vec<String> = all.iter().map(|managed| managed.made.name.clone()).collect();
        let there = names.iter().filter_map(|name| self.proxies.get(name));
        let ports: Vec<u16> = there.filter(|old| old.runs()).map(Managed::port).collect();
        for (index, managed) in all.iter_mut().enumerate() {
            if managed.made.enabled && !ports.contains(&managed.port()) {
                managed.start().map_err(|problem| (index, problem))?;
            }
        }
        let before: Vec<(Managed, bool)> = names
            .iter()
            .filter_map(|name| self.proxies.remove(name))
            .map(|mut managed| {
                let ran = managed.stop();
                (managed, ran)
            })
            .collect();
        for (index, mut managed) in all.into_iter().enumerate() {
            if managed.made.enabled
                && managed.proxy.is_none()
                && let Err(mut problem) = managed.start()
            {
                names[..index].iter().for_each(|name| drop(self.proxies.remove(name)));
                for (mut managed, ran) in before {
                    let name = managed.made.name.clone();
                    // Where it listened is free again, unless somebody was faster.
                    if ran && managed.start().is_err() {
                        managed.made.enabled = false;
                        problem.text +=
                            &format!("; `{name}` could not start again and is disabled");
                    }
                    self.proxies.insert(name, managed);
                }
                return Err((index, problem));
            }
            self.proxies.insert(names[index].clone(), managed);
        }
        for (old, _) in before {
            let is_same = names.iter().zip(&same).any(|(name, is)| *name == old.made.name && *is);
            match self.proxies.get_mut(&old.made.name) {
                Some(new) if is_same => new.past.add(&old.past),
                _ => self.past.add(&old.past),
            }
        }
        Ok(())
    }

    /// Changes a proxy. If it listens elsewhere or leads elsewhere from now on, its connections are
    /// reset.
    pub(crate) fn change(&mut self, name: &str, changes: Found) -> Result<Value, Problem> {
        let managed = self.proxies.get_mut(name).ok_or_else(|| no_proxy(name))?;
        let next = managed.changed(changes)?;
        if managed.runs_as(&next) {
            (managed.made, managed.config) = (next.made, next.config);
        } else {
            self.put(vec![(next, true)]).map_err(|(_, problem)| problem)?;
        }
        self.show_one(name)
    }

    pub(crate) fn remove(&mut self, name: &str) -> Result<(), Problem> {
        let mut managed = self.proxies.remove(name).ok_or_else(|| no_proxy(name))?;
        managed.stop();
        self.past.add(&managed.past);
        Ok(())
    }

    /// All proxies are enabled, with the conditions with which they were made, and random numbers
    /// begin anew; or nothing changes.
    pub(crate) fn reset(&mut self) -> Result<(), Problem> {
        let of = |name: &str| {
            let name = format!("`{name}`: ");
            move |problem: Problem| problem.within(&name)
        };
        // Those that do not run can be refused, as somebody else has their port. They come first.
        let mut started = BTreeMap::new();
        for (name, managed) in self.proxies.iter().filter(|(_, managed)| !managed.runs()) {
            started.insert(name.clone(), managed.anew().map_err(of(name))?);
        }
        for (name, managed) in &mut self.proxies {
            match started.remove(name) {
                Some(mut new) => {
                    managed.stop();
                    new.past.add(&managed.past);
                    *managed = new;
                }
                None => managed.set_back().map_err(of(name))?,
            }
        }
        Ok(())
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
        links: &Conditions,
    ) -> Result<Value, Problem> {
        self.find_mut(proxy)?.add(condition, links)
    }

    /// The keys of a condition, to be changed, and its links.
    pub(crate) fn keys(&self, proxy: &str, name: &str) -> Result<(Condition, Conditions), Problem> {
        let managed = self.find(proxy)?;
        let one = &managed.conditions[managed.position(name)?];
        Ok((one.condition.clone(), one.links.clone()))
    }

    /// Changes a condition, if its keys are still those of `before`; `None` if they are not.
    pub(crate) fn change_condition(
        &mut self,
        proxy: &str,
        name: &str,
        before: &Condition,
        after: Condition,
        links: &Conditions,
    ) -> Result<Option<Value>, Problem> {
        let managed = self.find_mut(proxy)?;
        let at = managed.position(name)?;
        if managed.conditions[at].condition != *before {
            return Ok(None);
        }
        managed.change(at, after, links).map(Some)
    }

    pub(crate) fn remove_condition(&mut self, proxy: &str, name: &str) -> Result<(), Problem> {
        let managed = self.find_mut(proxy)?;
        let at = managed.position(name)?;
        managed.remove(at)
    }

    /// What makes all proxies end at once.
    pub(crate) fn cutters(&self) -> Vec<Box<dyn Fn() + Send>> {
        let running = self.proxies.values().filter_map(|managed| managed.proxy.as_ref());
        running.map(|proxy| Box::new(proxy.cutter()) as _).collect()
    }

    /// Ends all proxies, once their connections have finished, after `drain` at the latest. Returns
    /// what they did.
    pub(crate) fn finish(&mut self, drain: Duration) -> Result<Vec<ProxyReport>, Error> {
        let mut past = std::mem::take(&mut self.past);
        let proxies = std::mem::take(&mut self.proxies);
        proxies.values().for_each(|managed| past.add(&managed.past));
        let running: Vec<_> = proxies.into_values().filter_map(|managed| managed.proxy).collect();
        running.iter().for_each(|proxy| proxy.drain(drain));
        let ended = running.into_iter().map(|proxy| proxy.finish(drain));
        [Ok(past)].into_iter().chain(ended).collect()
    }

    fn find_mut(&mut self, name: &str) -> Result<&mut Managed, Problem> {
        self.proxies.get_mut(name).ok_or_else(|| no_proxy(name))
    }

    fn find(&self, name: &str) -> Result<&Managed, Problem> {
        self.proxies.get(name).ok_or_else(|| no_proxy(name))
    }
}

fn no_proxy(name: &str) -> Problem {
    Problem::new(404, format!("there is no proxy `{name}`; GET /proxies lists those there are"))
}
